//! Which database is open, and its transactions.

use rowferry_dialect::informix::Control;
use rowferry_dialect::ir::TransactionModes;
use rowferry_engine::{Condition, Error, Language, Session, SessionOptions, TransactionStatus};
use rowferry_wire_sqli::messages::{Done, ServerMessage, XactStat, warning};

use super::{Commands, Obeyed, Open, SYSMASTER};
use crate::sqli::objects::Objects;

impl Commands {
    pub(super) fn session(&mut self) -> Obeyed<&mut Session> {
        match &mut self.open {
            Some(open) => Ok(&mut open.session),
            None => Err(Error::new(Condition::NoDatabase, "no database has been selected").into()),
        }
    }

    pub(super) fn in_transaction(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.session.transaction_status() != TransactionStatus::Idle)
    }

    pub(super) fn open_database(&mut self, name: &str) -> Obeyed {
        let name = name.split('@').next().unwrap_or_default().trim();
        if name != self.database.name() && name != SYSMASTER {
            return Err(Error::new(Condition::InvalidCatalogName, format!("database {name} is not served here"))
                .table("", name)
                .into());
        }
        self.close_database();
        let logged = true;
        let mut session = self.database.session(SessionOptions {
            user: self.user.clone(),
            application_name: String::new(),
            language: Language::Informix,
            client_address: self.peer.clone(),
        });
        session.set_variable("informix.database", name)?;
        session.set_variable("informix.server", &self.server)?;
        *self.interrupt.lock() = Some(session.interrupter());
        self.open = Some(Open { session, name: name.to_owned(), logged });
        let logging = if logged { warning::LOGGED } else { 0 };
        self.send(&ServerMessage::Done(Done {
            warnings: logging | warning::DYNAMIC_SERVER | warning::UNKNOWN_10,
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
        match control {
            Control::Database(name) => return self.open_database(name),
            Control::CloseDatabase => self.close_database(),
            Control::CreateDatabase { name, if_not_exists, .. } => {
                let exists = name == self.database.name() || name == SYSMASTER;
                if !exists {
                    return Err(Error::unsupported("CREATE DATABASE: one file is served, and").into());
                }
                if !if_not_exists {
                    return Err(Error::new(Condition::DuplicateDatabase, format!("database {name} exists"))
                        .table("", name.clone())
                        .into());
                }
            }
            Control::DropDatabase { name, if_exists } => {
                let exists = name == self.database.name() || name == SYSMASTER;
                if exists {
                    return Err(Error::new(Condition::ObjectInUse, format!("database {name} is being served")).into());
                }
                if !if_exists {
                    return Err(Error::new(Condition::InvalidCatalogName, format!("database {name} is not there"))
                        .table("", name.clone())
                        .into());
                }
            }
        }
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    // Transactions.

    pub(super) fn begin(&mut self) -> Obeyed {
        let Some(open) = &mut self.open else {
            return Err(Error::new(Condition::NoDatabase, "no database has been selected").into());
        };
        if !open.logged {
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
        self.send(&ServerMessage::XactStat(XactStat::COMMIT));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    pub(super) fn rollback(&mut self) -> Obeyed {
        self.in_progress()?;
        self.session()?.rollback()?;
        self.send(&ServerMessage::XactStat(XactStat::ROLLBACK));
        self.send(&ServerMessage::Done(Done::default()));
        Ok(())
    }

    pub(super) fn in_progress(&mut self) -> Obeyed {
        if self.session()?.transaction_status() == TransactionStatus::Idle {
            return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction").into());
        }
        Ok(())
    }
}
