//! Where the server listens, decided before anything is opened.

use std::net::SocketAddr;
use std::path::PathBuf;

use rowferry_server::Endpoint;
use rowferry_server::auth::Users;

use super::{Arguments, INFORMIX_PORT, METRICS_PORT, MYSQL_PORT, POSTGRES_PORT, WEB_PORT};
use crate::Failure;
use crate::service::Handed;

/// Where to listen, before anything is opened.
#[derive(Debug)]
pub(super) struct Doors {
    pub(super) postgres: Option<SocketAddr>,
    pub(super) unix_dir: Option<PathBuf>,
    pub(super) informix: Option<SocketAddr>,
    pub(super) mysql: Option<SocketAddr>,
    pub(super) mysql_socket: Option<PathBuf>,
    /// Where figures are told.
    pub(super) metrics: Option<SocketAddr>,
    /// Where the page is.
    pub(super) web: Option<SocketAddr>,
    /// Where a service manager listens for us.
    handed: Vec<SocketAddr>,
}

impl Doors {
    pub(super) fn plan(arguments: &Arguments, handed: &[Handed]) -> Result<Self, Failure> {
        let tcp = |option: &str, text: &str, port| match Endpoint::parse_tcp(text, port) {
            Ok(Endpoint::Tcp(address)) => Ok(address),
            Ok(Endpoint::Unix(_)) | Err(_) => {
                Err(Failure::new(format!("{option}: \"{text}\" is no address to listen at"))
                    .hint("write 127.0.0.1:5432, :5432, 0.0.0.0 or [::1]:5432")
                    .usage())
            }
        };
        let mut postgres =
            arguments.postgres.as_deref().map(|text| tcp("--postgres", text, POSTGRES_PORT)).transpose()?;
        let informix = arguments.informix.as_deref().map(|text| tcp("--informix", text, INFORMIX_PORT)).transpose()?;
        let mysql = arguments.mysql.as_deref().map(|text| tcp("--mysql", text, MYSQL_PORT)).transpose()?;
        let mysql_socket = arguments.mysql_socket.clone();
        let metrics = arguments.metrics.as_deref().map(|text| tcp("--metrics", text, METRICS_PORT)).transpose()?;
        let web = arguments.web.as_deref().map(|text| tcp("--web", text, WEB_PORT)).transpose()?;
        let other = informix.is_some() || mysql.is_some() || mysql_socket.is_some();
        if postgres.is_none() && arguments.unix_dir.is_none() && !other && handed.is_empty() {
            postgres = Some(SocketAddr::from(([127, 0, 0, 1], POSTGRES_PORT)));
        }
        let handed = handed.iter().filter_map(|handed| match handed.socket.endpoint() {
            Endpoint::Tcp(address) => Some(*address),
            Endpoint::Unix(_) => None,
        });
        let unix_dir = arguments.unix_dir.clone();
        Ok(Self { postgres, unix_dir, informix, mysql, mysql_socket, metrics, web, handed: handed.collect() })
    }

    /// Without passwords nobody but this machine is let in, unless that is wanted.
    pub(super) fn check_trust(&self, arguments: &Arguments, users: &Users) -> Result<(), Failure> {
        // In front of a PostgreSQL server that one asks for passwords itself, and sees whoever comes through here as this machine.
        let relays = super::upstream::relays(arguments);
        if let Some(address) = self.postgres.filter(|address| relays && !address.ip().is_loopback())
            && !arguments.trust_network
        {
            return Err(Failure::new(format!(
                "--postgres: refusing to pass clients on from {address}: to the server behind they would come from this machine"
            ))
            .hint("look what its pg_hba.conf asks of this machine's clients, then say --trust-network"));
        }
        let postgres = self.postgres.filter(|_| !relays);
        let all = postgres.into_iter().chain(self.informix).chain(self.mysql).chain(self.handed.iter().copied());
        let trusts = users.is_empty() && arguments.hba.is_none() && !arguments.trust_network;
        if let Some(address) = self.metrics.filter(|address| trusts && !address.ip().is_loopback()) {
            return Err(Failure::new(format!(
                "--metrics: refusing to listen at {address} without users: everybody on the network could read the figures"
            ))
            .hint("configure users with --user or --password-file, write rules (--hba), or say --trust-network"));
        }
        if let Some(address) = self.web.filter(|address| !address.ip().is_loopback()) {
            if trusts {
                return Err(Failure::new(format!(
                    "--web: refusing to listen at {address} without users: everybody on the network could read the database"
                ))
                .hint("configure users with --user or --password-file, write rules (--hba), or say --trust-network"));
            }
            if !arguments.tls() {
                return Err(Failure::new(format!(
                    "--web: refusing to listen at {address} without TLS: passwords would travel in the clear"
                ))
                .hint("give a certificate with --tls-cert and --tls-key, or have one made with --tls; or put it behind a proxy on this machine"));
            }
        }
        let far = all.into_iter().find(|address| !address.ip().is_loopback());
        match far {
            // Rules say for themselves whom they trust.
            Some(address) if trusts => Err(Failure::new(format!(
                "refusing to listen at {address} without users: everybody on the network could read and write the database"
            ))
            .hint("configure users with --user or --password-file, write rules (--hba), or say --trust-network")),
            _ => Ok(()),
        }
    }
}
