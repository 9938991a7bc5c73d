//! Query attributes: named values that travel with a statement, for the server's functions, plugins and audit.

use rowferry_wire::Writer;

use super::statement::Params;
use crate::lenenc;

/// Named values.
///
/// Wire, in front of the text of `COM_QUERY`: their number and a count of 1 as length-encoded integers; unless there are
/// none, a bit for each NULL, `01`, type, sign and name of each, then the values that are not NULL. In
/// `COM_STMT_EXECUTE` they stand behind the statement's own values, which then have (empty) names, and are counted, too.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Attributes {
    pub(super) names: Vec<Vec<u8>>,
    pub(super) values: Params,
}

impl Attributes {
    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Begins an attribute: exactly one value must be added to what this answers.
    pub fn add(&mut self, name: &[u8]) -> &mut Params {
        self.names.push(name.to_vec());
        &mut self.values
    }

    /// Appends what stands in front of a query's text.
    pub fn encode_query(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        lenenc::put_integer(&mut writer, self.values.len() as u64);
        lenenc::put_integer(&mut writer, 1);
        if !self.values.is_empty() {
            self.values.encode_named(None, self, bytes);
        }
    }
}
