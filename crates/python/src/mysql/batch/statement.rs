//! What can be done with the statement of a batch.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rowferry_client::mysql::{Outline, Piece, Template, TemplateError, question_marks, split_insert};
use rowferry_wire_mysql::messages::statement::Bind;

use crate::errors::{Class, error};
use crate::mysql::values::Encoding;

/// A part of the statement and its placeholders.
pub struct Part {
    text: Vec<u8>,
    template: Template,
}

impl Part {
    fn new(py: Python<'_>, text: Vec<u8>, escapes: bool) -> PyResult<Self> {
        let invalid = |invalid: TemplateError| error(py, Class::Programming, None, &invalid.to_string());
        let template = Template::parse(&text, escapes).map_err(invalid)?;
        Ok(Self { text, template })
    }

    /// Appends the part with the row's values in.
    pub fn fill(&self, encoding: &Encoding, out: &mut Vec<u8>, row: &Bound<'_, PyAny>) -> PyResult<()> {
        encoding.fill(out, &self.text, &self.template, row)
    }
}

/// An INSERT whose list of values is repeated for each row.
pub struct Insert {
    pub head: Vec<u8>,
    pub values: Part,
    pub tail: Vec<u8>,
}

/// The statement with `?` for its placeholders.
pub struct Marked {
    pub sql: Vec<u8>,
    /// The names of the values in their order; empty for values that come in a sequence.
    names: Vec<String>,
    pub params: usize,
}

/// See the module.
pub struct Statement {
    pub whole: Part,
    pub insert: Option<Insert>,
    /// The statement for a server that executes many rows at once.
    pub marked: Option<Marked>,
    /// Several of it may be sent as one text.
    pub is_joinable: bool,
    pub ends_in_line_comment: bool,
}

/// Statements that are answered by one packet each.
const ONE_PACKET: [&str; 4] = ["insert", "replace", "update", "delete"];

impl Statement {
    pub fn new(py: Python<'_>, sql: &[u8], encoding: &Encoding) -> PyResult<Self> {
        let escapes = !encoding.no_backslash_escapes;
        let outline = Outline::of(sql, escapes);
        let is_single = outline.is_single;
        let end = if is_single { outline.end } else { sql.len() };
        let whole = Part::new(py, sql[..end].to_vec(), escapes)?;
        let keyword = outline.keyword.as_str();
        // A `?` of the caller's own would be one parameter more to the server.
        let binds = is_single && question_marks(sql, escapes) == Some(0) && encoding.encoders.is_none();
        let insert = insert(py, sql, encoding)?;
        // An INSERT is one statement to MariaDB, however many rows there are. An UPDATE or DELETE is executed anew for
        // each; when such an execution is killed, MariaDB (10.11, 11.8) reports success for rows that it has left out.
        let marked = (binds && insert.is_some()).then(|| mark(&whole));
        Ok(Self {
            insert,
            marked: marked.flatten().filter(|marked| marked.params > 0),
            is_joinable: is_single && ONE_PACKET.contains(&keyword),
            ends_in_line_comment: outline.ends_in_line_comment,
            whole,
        })
    }
}

impl Statement {
    /// The text of an INSERT for all `rows` at once; of another statement, that for the last row.
    pub fn text(&self, encoding: &Encoding, rows: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let mut text = Vec::new();
        for (at, row) in rows.try_iter()?.enumerate() {
            let row = row?;
            match &self.insert {
                Some(insert) => {
                    text.extend_from_slice(if at == 0 { &insert.head } else { b"," });
                    insert.values.fill(encoding, &mut text, &row)?;
                }
                None => {
                    text.clear();
                    self.whole.fill(encoding, &mut text, &row)?;
                }
            }
        }
        if let Some(insert) = &self.insert {
            text.extend_from_slice(&insert.tail);
        }
        Ok(text)
    }
}

fn insert(py: Python<'_>, sql: &[u8], encoding: &Encoding) -> PyResult<Option<Insert>> {
    let escapes = !encoding.no_backslash_escapes;
    let Some(parts) = split_insert(sql, escapes) else { return Ok(None) };
    // Head and tail are constant, but their `%%` still stands for one.
    let constant = |part: &[u8]| -> PyResult<Vec<u8>> {
        let mut text = Vec::new();
        let part = Part::new(py, part.to_vec(), escapes)?;
        part.fill(encoding, &mut text, PyTuple::empty(py).as_any())?;
        Ok(text)
    };
    Ok(Some(Insert {
        head: constant(&sql[parts.head])?,
        tail: constant(&sql[parts.tail])?,
        values: Part::new(py, sql[parts.values].to_vec(), escapes)?,
    }))
}

/// `None` when a placeholder stands inside quotes, or when names and `%s` are mixed.
fn mark(part: &Part) -> Option<Marked> {
    let mut marked = Marked { sql: Vec::with_capacity(part.text.len()), names: Vec::new(), params: 0 };
    for piece in &part.template.pieces {
        match piece {
            Piece::Text(range) => marked.sql.extend_from_slice(&part.text[range.clone()]),
            Piece::Percent => marked.sql.push(b'%'),
            Piece::Next { quoted: false } => {
                marked.sql.push(b'?');
                marked.params += 1;
            }
            Piece::Named { name, quoted: false } => {
                marked.sql.push(b'?');
                marked.params += 1;
                marked.names.push(String::from_utf8(part.text[name.clone()].to_vec()).ok()?);
            }
            Piece::Next { quoted: true } | Piece::Named { quoted: true, .. } => return None,
        }
    }
    (marked.names.is_empty() || marked.names.len() == marked.params).then_some(marked)
}

impl Marked {
    /// Binds the values of a row in the order of the `?`. False when the row is none that fits: as text, it is either
    /// taken or refused for a reason that can be told.
    pub fn bind(&self, encoding: &Encoding, params: &mut impl Bind, row: &Bound<'_, PyAny>) -> bool {
        self.try_bind(encoding, params, row).is_ok_and(|fits| fits)
    }

    fn try_bind(&self, encoding: &Encoding, params: &mut impl Bind, row: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(dict) = row.cast::<PyDict>() {
            for name in &self.names {
                let Some(value) = dict.get_item(name)? else { return Ok(false) };
                encoding.bind(params, &value)?;
            }
            return Ok(!self.names.is_empty());
        }
        if !self.names.is_empty() {
            return Ok(false);
        }
        if let Ok(tuple) = row.cast::<PyTuple>() {
            for at in 0..tuple.len() {
                encoding.bind(params, &*tuple.get_borrowed_item(at)?)?;
            }
            return Ok(tuple.len() == self.params);
        }
        if let Ok(list) = row.cast::<PyList>() {
            for value in list.iter() {
                encoding.bind(params, &value)?;
            }
            return Ok(list.len() == self.params);
        }
        encoding.bind(params, row)?;
        Ok(self.params == 1)
    }
}
