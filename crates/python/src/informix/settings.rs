use std::path::PathBuf;
use std::time::Duration;

use std::ops::Deref;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use rowferry_client::informix::{Known, this_application, this_process};
use rowferry_client::mysql::parse_tls_mode;
use rowferry_client::{Address, Timeouts, TlsOptions};
use rowferry_wire_sqli::client::Options;

use super::driver::Driver;
use super::text::Encoding;
use crate::errors::{Class, error};

/// The attributes of `rowferry.informix._settings.Settings`, where they are explained.
#[derive(FromPyObject)]
pub struct Settings {
    host: String,
    port: u16,
    user: Vec<u8>,
    password: Vec<u8>,
    database: Option<Vec<u8>>,
    server: Vec<u8>,
    client_locale: Vec<u8>,
    encoding: String,
    env: Vec<(Vec<u8>, Vec<u8>)>,
    tls_mode: Option<String>,
    tls_ca: Option<PathBuf>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tls_authorities: Vec<Vec<u8>>,
    tls_name: Option<String>,
    connect_timeout: Option<f64>,
    read_timeout: Option<f64>,
    write_timeout: Option<f64>,
    pub keepalive: bool,
    fetch_bytes: i32,
    statement_cache_size: usize,
    early: bool,
}

/// Settings that were read once, for every connection by them.
#[pyclass(frozen, module = "rowferry._core.informix")]
#[derive(Clone)]
pub struct SettingsRead(Arc<Settings>);

impl SettingsRead {
    /// Reads a `Settings` of Python's, which keeps what was read.
    pub fn of(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let core = intern!(settings.py(), "core");
        if let Ok(read) = settings.getattr(core)?.cast::<Self>() {
            return Ok(read.get().clone());
        }
        let read = Self(Arc::new(settings.extract()?));
        settings.setattr(core, Bound::new(settings.py(), read.clone())?)?;
        Ok(read)
    }
}

impl Deref for SettingsRead {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0
    }
}

impl Settings {
    /// Where the server listens.
    pub fn address(&self) -> Address {
        Address::Tcp(self.host.clone(), self.port)
    }

    /// The name that the certificate must be issued for.
    pub fn tls_name(&self) -> &str {
        self.tls_name.as_deref().unwrap_or(&self.host)
    }

    /// How to encrypt; `None` for plain text.
    pub fn tls(&self, py: Python<'_>) -> PyResult<Option<TlsOptions>> {
        let Some(name) = &self.tls_mode else { return Ok(None) };
        let mode = parse_tls_mode(name).ok_or_else(|| {
            let message = format!("tls `{name}` is none of REQUIRED, VERIFY_CA, VERIFY_IDENTITY");
            error(py, Class::Interface, None, &message)
        })?;
        Ok(Some(TlsOptions {
            mode,
            ca: self.tls_ca.clone(),
            certificate: self.tls_certificate.clone(),
            key: self.tls_key.clone(),
            authorities: self.tls_authorities.clone(),
            ..TlsOptions::default()
        }))
    }

    /// How long to wait.
    pub fn timeouts(&self) -> Timeouts {
        let limit = |seconds: Option<f64>| Duration::try_from_secs_f64(seconds?).ok().filter(|limit| !limit.is_zero());
        Timeouts {
            connect: limit(self.connect_timeout),
            read: limit(self.read_timeout),
            write: limit(self.write_timeout),
        }
    }

    /// How the core introduces itself.
    pub fn options(&self) -> Options {
        let mut options = Options::new(&self.user, &self.password, &self.server)
            .with_environment(&self.client_locale, &self.env)
            .with_process(this_process(), this_application());
        options.database.clone_from(&self.database);
        options.fetch_bytes = self.fetch_bytes;
        options.kept_statements = self.statement_cache_size;
        options.ahead = self.early && self.known().takes_groups_ahead();
        options
    }

    fn known(&self) -> Known {
        Known::of(self.address(), &self.user, &self.server, self.database.as_deref())
    }

    /// The conversations' half without colour.
    pub fn driver(&self) -> PyResult<Driver> {
        Ok(Driver::new(Encoding::named(&self.encoding)?, self.known()))
    }
}
