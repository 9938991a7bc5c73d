//! Which row was it? What the server says of a request for many rows, and what else it can be asked.

use rowferry_wire::Malformed;
use rowferry_wire_mysql::client::{Client, Misuse};
use rowferry_wire_mysql::messages::resultset::TextRow;
use rowferry_wire_mysql::messages::status::ServerError;

/// MariaDB 10.7: the row of the last error, and how many conditions there are. An error within a trigger counts the
/// trigger's own rows, and is followed by a note that says where it happened.
const DIAGNOSIS: [&[u8]; 3] = [
    b"GET DIAGNOSTICS @rowferry_conditions = NUMBER",
    b"GET DIAGNOSTICS CONDITION 1 @rowferry_row = ROW_NUMBER",
    b"SELECT @rowferry_row, @rowferry_conditions",
];

/// What MariaDB knows of its last error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diagnosis {
    row: Option<usize>,
    conditions: Option<usize>,
}

impl Diagnosis {
    /// Asks for it; three queries, of which the last is answered by a row.
    pub fn ask(client: &mut Client) -> Result<usize, Misuse> {
        for query in DIAGNOSIS {
            client.query(query)?;
        }
        Ok(DIAGNOSIS.len())
    }

    /// Takes the row of the answer.
    pub fn take(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let mut row = TextRow::new(payload);
        self.row = number(row.cell()?);
        self.conditions = number(row.cell()?);
        Ok(())
    }

    /// The row within the request, from 1 on.
    pub fn row(self) -> Option<usize> {
        self.row.filter(|row| *row > 1 || (*row == 1 && self.conditions == Some(1)))
    }
}

/// The row that the message names at its end, from 1 on: `Data too long for column 'a' at row 7`. The first row is not
/// believed, for an error within a trigger speaks of the trigger's first row.
pub fn row_of(refused: &ServerError) -> Option<usize> {
    let (_, row) = refused.message.rsplit_once(" at row ")?;
    row.parse().ok().filter(|row| *row > 1)
}

fn number(cell: Option<&[u8]>) -> Option<usize> {
    std::str::from_utf8(cell?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(message: &str) -> Option<usize> {
        row_of(&ServerError { code: 1406, sqlstate: "22001".into(), message: message.into() })
    }

    #[test]
    fn a_message_names_its_row_at_the_end() {
        assert_eq!(says("Data too long for column 'a' at row 7"), Some(7));
        assert_eq!(says("Data too long for column 'a' at row 1"), None);
        assert_eq!(says("Duplicate entry 'x at row 7' for key 't.PRIMARY'"), None);
        assert_eq!(says("Column 'a' cannot be null"), None);
    }

    #[test]
    fn the_first_row_is_believed_without_a_further_condition() {
        let known = |row: Option<usize>, conditions| Diagnosis { row, conditions: Some(conditions) }.row();
        assert_eq!([known(Some(1), 1), known(Some(1), 2), known(Some(5), 2)], [Some(1), None, Some(5)]);
        assert_eq!([known(None, 1), known(Some(0), 1)], [None, None]);
    }
}
