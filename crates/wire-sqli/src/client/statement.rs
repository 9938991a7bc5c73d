use rowferry_wire::{Malformed, Reader};

use crate::messages::{Describe, StatementId};
use crate::types::type_flag;
use crate::values::{Cell, CellFormat};
use crate::{DecodeError, StatementType, TypeCode, Widths};

/// A column of a prepared statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Column {
    /// Its name, in the code set of the client.
    pub name: Vec<u8>,
    /// Its type without flags.
    pub code: TypeCode,
    /// True when it is declared `NOT NULL`.
    pub not_null: bool,
    /// Name of an extended type such as `lvarchar`; else empty.
    pub type_name: Vec<u8>,
    /// Width, digits and scale, or qualifier, by type.
    pub encoded_length: i32,
    /// How its cells are laid out.
    pub format: CellFormat,
}

impl Column {
    /// The type in SQL words: `DECIMAL(10,2)`, `DATETIME YEAR TO SECOND`.
    pub fn type_words(&self) -> String {
        let code = self.code;
        if !self.type_name.is_empty() {
            return String::from_utf8_lossy(&self.type_name).into_owned();
        }
        let name = code.name().map_or_else(|| format!("TYPE {}", code.0), str::to_owned);
        match self.format {
            CellFormat::Char(width) => format!("{name}({width})"),
            CellFormat::VarChar(most) => format!("{name}({most})"),
            CellFormat::Decimal { precision, scale: Some(scale) } => format!("{name}({precision},{scale})"),
            CellFormat::Decimal { precision, scale: None } => format!("{name}({precision})"),
            CellFormat::DateTime(qualifier) => format!("{name} {}", qualifier.to_sql()),
            CellFormat::Interval(qualifier) => format!("{name} {}", qualifier.to_sql()),
            _ => name,
        }
    }
}

/// A statement that the server has prepared.
#[derive(Debug)]
pub struct Prepared {
    /// Its number.
    pub statement: StatementId,
    /// What it is, by the server's word.
    pub statement_type: StatementType,
    /// The columns that it returns, or those that an `INSERT` or `UPDATE` writes.
    pub columns: Vec<Column>,
    /// Bytes of its widest row, by the server's word.
    pub tuple_size: i32,
    /// The text, when the statement may be kept for another execution.
    pub(super) key: Option<Box<[u8]>>,
}

impl Prepared {
    /// A statement by its description; or, when it returns a column that cannot be read, what is wrong with that.
    pub(super) fn of(
        describe: &Describe<'_>,
        widths: Widths,
        key: Option<Box<[u8]>>,
    ) -> Result<Result<Self, String>, DecodeError> {
        let statement_type = describe.statement_type;
        let is_query = statement_type.needs_cursor(describe.fields.len());
        let mut columns = Vec::with_capacity(describe.fields.len());
        for field in &describe.fields {
            let name = describe.name(field)?;
            let format = match CellFormat::described(&field.ty, widths) {
                // Nobody reads the columns that an INSERT or UPDATE writes.
                Err(DecodeError::Unsupported(_)) if !is_query => CellFormat::LongText,
                Err(DecodeError::Unsupported(_)) => {
                    return Ok(Err(format!(
                        "the column `{}` has a type that this driver cannot read (code {} {}); select \
                         another expression of it, such as a cast to LVARCHAR",
                        String::from_utf8_lossy(name),
                        field.ty.code().0,
                        String::from_utf8_lossy(field.ty.type_name)
                    )));
                }
                other => other?,
            };
            columns.push(Column {
                name: name.to_vec(),
                code: field.ty.code(),
                not_null: field.ty.type_word & type_flag::NOT_NULL != 0,
                type_name: field.ty.type_name.to_vec(),
                encoded_length: field.ty.encoded_length,
                format,
            });
        }
        let key = key.filter(|_| is_reusable(statement_type));
        Ok(Ok(Self { statement: describe.statement, statement_type, columns, tuple_size: describe.tuple_size, key }))
    }

    /// True when it returns rows, so that a cursor is opened.
    pub fn is_query(&self) -> bool {
        self.statement_type.needs_cursor(self.columns.len())
    }

    /// True when rows hold descriptors of `BYTE` or `TEXT` values, which can be fetched while the cursor is open. Such a
    /// cursor is not closed by itself at its end.
    pub fn has_lobs(&self) -> bool {
        self.is_query() && self.columns.iter().any(|column| matches!(column.format, CellFormat::SimpleLob(_)))
    }

    /// Walks a row, which must be consumed exactly.
    pub fn decode_row<'a>(&self, payload: &'a [u8], mut each: impl FnMut(usize, Cell<'a>)) -> Result<(), Malformed> {
        let mut row = Reader::new(payload);
        for (index, column) in self.columns.iter().enumerate() {
            each(index, column.format.decode(&mut row)?);
        }
        row.finish("row longer than its columns")
    }
}

/// True for statements that are worth keeping: those that change nothing but rows.
fn is_reusable(statement_type: StatementType) -> bool {
    matches!(
        statement_type,
        StatementType::SELECT
            | StatementType::INSERT
            | StatementType::UPDATE_WHERE
            | StatementType::UPDATE_ALL
            | StatementType::DELETE_WHERE
            | StatementType::DELETE_ALL
    )
}

/// True for statements after which kept ones may not mean what they meant.
pub(super) fn changes_schema(statement_type: StatementType) -> bool {
    !is_reusable(statement_type)
        && !matches!(
            statement_type,
            StatementType::UPDATE_CURRENT
                | StatementType::DELETE_CURRENT
                | StatementType::BEGIN_WORK
                | StatementType::COMMIT_WORK
                | StatementType::ROLLBACK_WORK
                | StatementType::SAVEPOINT
                | StatementType::SET_ISOLATION
                | StatementType::SET_LOCK_MODE
                | StatementType::EXECUTE_PROCEDURE
        )
}
