use std::collections::BTreeMap;

use rowferry_wire::Malformed;

use crate::messages::handshake::Handshake;
use crate::messages::session_state::StateChange;

/// What the server has said about itself and the session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// As the server spells it, without MariaDB's compatibility prefix.
    pub server_version: String,
    /// What `KILL` takes.
    pub connection_id: u32,
    /// True when the server is MariaDB.
    pub is_mariadb: bool,
    /// Capabilities in force.
    pub capabilities: u64,
    /// The flags of the last answer; see [`status_flag`](crate::messages::status::status_flag).
    pub status: u16,
    /// The plugin that let us in.
    pub auth_plugin: String,
    /// What the server has told of changes.
    pub state: SessionState,
}

impl Session {
    pub(super) fn greeted(&mut self, handshake: &Handshake) {
        // MariaDB before 11 puts this in front, for old replicas that would not talk to a version 10.
        let version = &handshake.server_version;
        self.server_version = version.strip_prefix("5.5.5-").unwrap_or(version).to_owned();
        self.connection_id = handshake.connection_id;
        self.is_mariadb = handshake.is_mariadb();
        self.status = handshake.status;
    }

    /// True when the capability is in force.
    pub const fn has(&self, flag: u64) -> bool {
        self.capabilities & flag != 0
    }
}

/// Session state as far as the server has told of its changes. What has not changed since the login is not known.
#[derive(Clone, Debug, Default)]
pub struct SessionState {
    /// The default database; empty for none.
    pub schema: Option<String>,
    /// System variables by their names.
    pub variables: BTreeMap<String, String>,
    /// The transactions that the last statement with any has committed.
    pub gtids: Option<String>,
    /// SQL that would begin the open transaction anew; empty when none is open.
    pub transaction_characteristics: Option<String>,
    /// What the open transaction has done, in eight letters.
    pub transaction_state: Option<String>,
    /// How often something has changed.
    pub revision: u64,
}

impl SessionState {
    /// Takes changes over that came with an OK.
    pub(super) fn apply(&mut self, state: &[u8]) -> Result<(), Malformed> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.revision += 1;
        StateChange::visit(state, |change| match change {
            StateChange::Variable { name, value } => {
                self.variables.insert(text(name), text(value));
            }
            StateChange::Schema(name) => self.schema = Some(text(name)),
            StateChange::Gtids(gtids) => self.gtids = Some(text(gtids)),
            StateChange::TransactionCharacteristics(sql) => self.transaction_characteristics = Some(text(sql)),
            StateChange::TransactionState(letters) => self.transaction_state = Some(text(letters)),
            StateChange::Any(_) | StateChange::Unknown(..) => {}
        })
    }
}
