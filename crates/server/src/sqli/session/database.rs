//! Which database is open, and its transactions.

use std::sync::Arc;

use rowferry_dialect::informix::Control;
use rowferry_dialect::ir::TransactionModes;
use rowferry_engine::{Condition, Database, Error, Language, Logging, Session, SessionOptions, TransactionStatus};
use rowferry_wire_sqli::messages::{Done, ServerMessage, XactStat, warning};

use crate::auth::hba::Method;
use crate::auth::{Client, Gate, Users};

use super::{Commands, Obeyed, Open, SYSMASTER};
use crate::sqli::objects::Objects;

/// How a client has come in: rules may ask for more at another database.
pub(in crate::sqli) struct Admission {
    pub(in crate::sqli) gate: Arc<Gate>,
    pub(in crate::sqli) client: Client,
    pub(in crate::sqli) users: Arc<Users>,
    /// What it has proved.
    pub(in crate::sqli) proved: Method,
    /// Which user of this machine it is, where that was asked.
    pub(in crate::sqli) machine_user: Option<String>,
}

impl Admission {
    /// As for PostgreSQL's clients: the roles of the file that the server was started for count, where it has any.
    fn check(&self, user: &str, database: &Database, main: &Database) -> Result<(), Error> {
        let roles_of = if main.has_roles() { main } else { database };
        let demand = self.gate.demand(&self.client, &self.users, user, database.name(), roles_of)?;
        demand.check_certificate(&self.client)?;
        demand.check_certificate_name(&self.client, user)?;
        let has_password = matches!(self.proved, Method::Scram | Method::Password);
        match demand.method {
            // A certificate has been looked at just now.
            Method::Trust | Method::Cert => Ok(()),
            Method::Scram | Method::Password if has_password => Ok(()),
            Method::Peer if self.machine_user.as_ref().is_some_and(|name| demand.admits(name, user)) => Ok(()),
            _ => Err(Error::new(
                Condition::InvalidAuthorizationSpecification,
                format!("database \"{}\" asks user \"{user}\" for more than was proved at the login", database.name()),
            )),
        }
    }
}

impl Commands {
    pub(super) fn session(&mut self) -> Obeyed<&mut Session> {
        match &mut self.open {
            Some(open) => Ok(&mut open.session),
            None => Err(Error::new(Condition::NoDatabase, "no database has been selected").into()),
        }
    }

    /// Why the session is over although its client has not said so.
    pub(super) fn ended(&self) -> Option<Error> {
        self.open.as_ref().and_then(|open| open.session.ended())
    }

    pub(super) fn in_transaction(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.session.transaction_status() != TransactionStatus::Idle)
    }

    pub(super) fn open_database(&mut self, name: &str) -> Obeyed {
        let name = name.split('@').next().unwrap_or_default().trim().to_ascii_lowercase();
        let database = match name.as_str() {
            SYSMASTER => self.databases.main().clone(),
            name => self.databases.open(name)?,
        };
        self.enter(&name, &database)
    }

    /// Makes a database the open one, and says what it is.
    fn enter(&mut self, name: &str, database: &Database) -> Obeyed {
        self.admission.check(&self.user, database, self.databases.main())?;
        database.login(&self.user).check()?;
        let mut session = database.session(SessionOptions {
            user: self.user.clone(),
            application_name: String::new(),
            language: Language::Informix,
            client_address: self.peer.clone(),
            server_address: String::new(),
        });
        session.begin_with("informix.database", name);
        session.begin_with("informix.server", &self.server_name);
        if self.delimited {
            session.begin_with(rowferry_dialect::informix::DELIMIDENT, "y");
        }
        if let Some(dates) = self.dates {
            session.begin_with(rowferry_dialect::informix::DATES, &dates.words());
        }
        if self.code_set.is_multibyte() {
            session.begin_with(rowferry_dialect::informix::MULTIBYTE, "y");
        }
        // What a session may not enter it may not look into.
        let (admission, user, databases) = (Arc::clone(&self.admission), self.user.clone(), self.databases.clone());
        session.see_neighbours(move |other| {
            admission.check(&user, other, databases.main())?;
            other.login(&user).check()
        });
        let logging = database.logging();
        self.close_database();
        *self.interrupt.lock() = Some(session.interrupter());
        let wake = Arc::clone(&self.wake);
        session.on_end(move || wake());
        self.open = Some(Open { session, name: name.to_owned(), logging });
        let flags = match logging {
            Logging::None => 0,
            Logging::Log | Logging::Buffered => warning::LOGGED,
            Logging::Ansi => warning::LOGGED | warning::ANSI,
        };
        self.send(&ServerMessage::Done(Done {
            warnings: flags | warning::DYNAMIC_SERVER | warning::UNKNOWN_10,
            ..Done::default()
        }));
        Ok(())
    }

    pub(super) fn close_database(&mut self) {
        self.statements.clear();
        self.objects = Objects::default();
        *self.interrupt.lock() = None;
        self.open = None;
    }

    pub(super) fn control(&mut self, control: &Control) -> Obeyed {
        if self.in_transaction() {
            return Err(Error::new(Condition::TransactionStillOpen, "end the transaction first").into());
        }
        match control {
            Control::Database(name) => return self.open_database(name),
            Control::CloseDatabase => {
                self.session()?;
                self.close_database();
            }
            Control::CreateDatabase { name, logging, if_not_exists } => {
                let made = if name == SYSMASTER {
                    Err(Error::new(Condition::DuplicateDatabase, "sysmaster is always there").table("", SYSMASTER))
                } else {
                    self.databases.create(name, *logging)
                };
                match made {
                    Ok(database) => return self.enter(name, &database),
                    Err(error) if *if_not_exists && error.condition() == Condition::DuplicateDatabase => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Control::DropDatabase { name, if_exists } => {
                let dropped = if name == SYSMASTER {
                    Err(Error::new(Condition::DatabaseInUse, "sysmaster cannot be dropped").table("", SYSMASTER))
                } else {
                    self.databases.drop(name)
                };
                match dropped {
                    Err(error) if *if_exists && error.condition() == Condition::InvalidCatalogName => {}
                    other => other?,
                }
            }
        }
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    // Transactions.

    /// Begins a transaction, by the message or by a statement that somebody has written.
    pub(super) fn begin(&mut self, written: bool) -> Obeyed {
        let Some(open) = &mut self.open else {
            return Err(Error::new(Condition::NoDatabase, "no database has been selected").into());
        };
        if open.logging == Logging::None && !written {
            // What a database without transactions says; informix-driver goes on without them.
            return Err(Error::new(Condition::SyntaxError, "this database has no transactions").into());
        }
        open.session.begin(TransactionModes::default())?;
        self.send(&ServerMessage::XactStat(XactStat::BEGIN));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Obeyed {
        self.in_progress()?;
        self.session()?.commit()?;
        self.end_cursors();
        self.send(&ServerMessage::XactStat(XactStat::COMMIT));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    pub(super) fn rollback(&mut self) -> Obeyed {
        self.in_progress()?;
        self.session()?.rollback()?;
        self.end_cursors();
        self.send(&ServerMessage::XactStat(XactStat::ROLLBACK));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    /// What a transaction has opened ends with it, but for what is held.
    fn end_cursors(&mut self) {
        for closed in self.statements.end_transaction() {
            self.objects.forget(closed);
        }
    }

    /// In a database of mode ANSI there is always a transaction.
    pub(super) fn begin_if_ansi(&mut self) -> Obeyed {
        if let Some(open) = &mut self.open
            && open.logging == Logging::Ansi
            && open.session.transaction_status() == TransactionStatus::Idle
        {
            open.session.begin(TransactionModes::default())?;
        }
        Ok(())
    }

    pub(super) fn in_progress(&mut self) -> Obeyed {
        if self.session()?.transaction_status() == TransactionStatus::Idle {
            return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction").into());
        }
        Ok(())
    }
}
