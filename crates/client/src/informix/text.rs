use rowferry_wire::civil;
use rowferry_wire_sqli::client::Column;
use rowferry_wire_sqli::values::{Cell, CellFormat};

/// A cell as Informix would print it; `None` for NULL. Blanks that pad a `CHAR` are cut off. Texts are what was stored, in whatever
/// code set that is.
pub fn cell_bytes(column: &Column, cell: &Cell<'_>) -> Option<Vec<u8>> {
    let printed = match (column.format, cell) {
        (_, Cell::Null) => return None,
        (CellFormat::Char(_), Cell::Text(text)) => {
            let len = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            return Some(text[..len].to_vec());
        }
        (_, Cell::Text(text)) => return Some(text.to_vec()),
        (_, Cell::Int(value)) => value.to_string(),
        (_, Cell::Float(value)) => value.to_string(),
        (_, Cell::SmallFloat(value)) => value.to_string(),
        (CellFormat::Decimal { scale, .. }, Cell::Decimal(number)) => number.to_text(scale),
        (_, Cell::Decimal(number)) => number.to_text(None),
        (_, Cell::Date(days)) => {
            let (year, month, day) = civil::civil_from_days(i64::from(*days) + civil::DAYS_TO_1899_12_31);
            format!("{year:04}-{month:02}-{day:02}")
        }
        (CellFormat::DateTime(qualifier), Cell::DateTime(value)) => value.to_text(qualifier),
        (CellFormat::Interval(qualifier), Cell::Interval(value)) => value.to_text(qualifier),
        (_, Cell::Boolean(value)) => if *value { "t" } else { "f" }.into(),
        (_, Cell::Opaque(bytes)) => hex(bytes),
        (_, Cell::SimpleLob(lob)) => format!("<{} of {} bytes>", column.type_words(), lob.size()),
        (_, other) => format!("{other:?}"),
    };
    Some(printed.into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
