use std::ffi::CString;
use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rowferry_client::mysql::parse_tls_mode;
use rowferry_client::{Address, PassPhrase, Timeouts, TlsOptions};
use rowferry_wire::Secret;
use rowferry_wire_mysql::Algorithm;
use rowferry_wire_mysql::client::{Compression, Options};
use rowferry_wire_mysql::messages::handshake::Login;

use super::columns::{Taste, ZeroDates};
use super::driver::Driver;
use super::local_file::Allowed;
use super::values::Encoding;
use crate::errors::{Class, error};
use crate::pump::limits::Limits;

/// The attributes of `rowferry.mysql._settings.Settings`, where they are explained.
#[derive(FromPyObject)]
pub struct Settings {
    host: String,
    port: u16,
    unix_socket: Option<PathBuf>,
    bind_address: Option<String>,
    user: String,
    password: Vec<u8>,
    more_passwords: Vec<Vec<u8>>,
    database: String,
    collation: u8,
    encoding: Option<String>,
    capabilities: u64,
    max_allowed_packet: u32,
    attributes: Vec<(String, String)>,
    server_public_key: Option<Vec<u8>>,
    compression: Vec<String>,
    compression_required: bool,
    zstd_level: u8,
    tls_mode: String,
    tls_ca: Option<PathBuf>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    tls_key_password: Option<Vec<u8>>,
    tls_ca_directory: Option<PathBuf>,
    tls_authorities: Vec<Vec<u8>>,
    tls_fingerprints: Vec<[u8; 32]>,
    tls_versions: Vec<String>,
    tls_ciphers: Vec<String>,
    tls_name: Option<String>,
    connect_timeout: Option<f64>,
    read_timeout: Option<f64>,
    write_timeout: Option<f64>,
    query_timeout: Option<f64>,
    give_up_after: Option<f64>,
    decoders: Option<Py<PyDict>>,
    encoders: Option<Py<PyDict>>,
    raw: bool,
    zero_dates: String,
    presentation: Presentation,
    binary_prefix: bool,
    local_files: Option<Vec<PathBuf>>,
}

/// The attributes of `rowferry.mysql._parameters.Presentation`, where they are explained.
#[derive(FromPyObject)]
struct Presentation {
    decoders: Py<PyDict>,
    dumps: Option<Py<PyAny>>,
    sets: bool,
    zone: Option<Py<PyAny>>,
    zone_name: Option<String>,
    session_zone: Option<Py<PyAny>>,
}

impl Settings {
    /// Where the server listens.
    pub fn address(&self) -> Address {
        match &self.unix_socket {
            Some(path) => Address::Unix(path.clone()),
            None => Address::Tcp(self.host.clone(), self.port),
        }
    }

    /// The address to connect from.
    pub fn bind_address(&self) -> Option<std::net::IpAddr> {
        self.bind_address.as_ref()?.parse().ok()
    }

    /// The name that the certificate must be issued for.
    pub fn tls_name(&self) -> String {
        match (&self.tls_name, &self.unix_socket) {
            (Some(name), _) => name.clone(),
            (None, Some(_)) => "localhost".into(),
            (None, None) => self.host.clone(),
        }
    }

    /// How to encrypt.
    pub fn tls(&self, py: Python<'_>) -> PyResult<TlsOptions> {
        let mode = parse_tls_mode(&self.tls_mode).ok_or_else(|| {
            let message = format!(
                "ssl_mode `{}` is none of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY",
                self.tls_mode
            );
            error(py, Class::Interface, None, &message)
        })?;
        Ok(TlsOptions {
            mode,
            ca: self.tls_ca.clone(),
            certificate: self.tls_cert.clone(),
            key: self.tls_key.clone(),
            key_password: self.tls_key_password.clone().map(PassPhrase::from),
            ca_directory: self.tls_ca_directory.clone(),
            authorities: self.tls_authorities.clone(),
            fingerprints: self.tls_fingerprints.clone(),
            versions: self.tls_versions.clone(),
            ciphers: self.tls_ciphers.clone(),
        })
    }

    /// How long to wait.
    pub fn timeouts(&self) -> Timeouts {
        let Limits { read, write, .. } = self.limits();
        Timeouts { connect: seconds(self.connect_timeout), read, write }
    }

    /// How long an operation may take.
    pub fn limits(&self) -> Limits {
        Limits {
            read: seconds(self.read_timeout),
            write: seconds(self.write_timeout),
            query: seconds(self.query_timeout),
            whole: seconds(self.give_up_after),
        }
    }

    /// How the core introduces itself.
    pub fn options(&self, py: Python<'_>) -> PyResult<Options> {
        let secret = |password: &Vec<u8>| match String::from_utf8(password.clone()) {
            Ok(password) => Ok(Secret::new(password)),
            Err(_) => Err(error(py, Class::Interface, None, "the password is no UTF-8")),
        };
        let mut seed = [0; 32];
        rand::RngCore::fill_bytes(&mut rand::rng(), &mut seed);
        Ok(Options {
            login: Login {
                user: self.user.clone(),
                password: secret(&self.password)?,
                database: self.database.clone(),
            },
            tls: self.tls(py)?.mode.into(),
            secure_transport: self.unix_socket.is_some(),
            capabilities: self.capabilities,
            collation: self.collation,
            max_packet: self.max_allowed_packet,
            attributes: self.attributes.clone(),
            server_public_key: self.server_public_key.clone(),
            compression: Compression {
                algorithms: self
                    .compression
                    .iter()
                    .map(|name| match name.as_str() {
                        "zstd" => Algorithm::Zstd { level: self.zstd_level },
                        _ => Algorithm::Zlib,
                    })
                    .collect(),
                required: self.compression_required,
            },
            more_passwords: self.more_passwords.iter().map(secret).collect::<PyResult<_>>()?,
            seed,
        })
    }

    /// The conversations' half without colour.
    pub fn driver(&self, py: Python<'_>) -> PyResult<Driver> {
        let zero_dates = match self.zero_dates.as_str() {
            "text" => ZeroDates::Text,
            "none" => ZeroDates::Null,
            "error" => ZeroDates::Refuse,
            other => {
                let message = format!("zero_dates `{other}` is none of `text`, `none`, `error`");
                return Err(error(py, Class::Interface, None, &message));
            }
        };
        let encoding = match &self.encoding {
            Some(name) => Some(CString::new(name.as_bytes())?),
            None => None,
        };
        let share = |dict: &Option<Py<PyDict>>| dict.as_ref().map(|dict| dict.clone_ref(py));
        let Presentation { decoders, dumps, sets, zone, zone_name, session_zone } = &self.presentation;
        let copy = |object: &Option<Py<PyAny>>| object.as_ref().map(|object| object.clone_ref(py));
        let taste = Taste {
            encoding,
            zero_dates,
            converters: share(&self.decoders),
            raw: self.raw,
            shown: (!decoders.bind(py).is_empty()).then(|| decoders.clone_ref(py)),
            zone: copy(zone).zip(zone_name.clone()),
        };
        let encoding = Encoding {
            name: self.encoding.clone(),
            no_backslash_escapes: false,
            binary_prefix: self.binary_prefix,
            encoders: share(&self.encoders),
            dumps: copy(dumps),
            sets: *sets,
            zone: copy(session_zone),
        };
        let allowed = match &self.local_files {
            None => Allowed::Nothing,
            Some(places) if places.is_empty() => Allowed::Named,
            Some(places) => Allowed::Within(places.clone()),
        };
        Ok(Driver::new(taste, encoding, allowed))
    }
}

/// A time-out as Python says it; zero and None are none.
fn seconds(seconds: Option<f64>) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds?).ok().filter(|limit| !limit.is_zero())
}
