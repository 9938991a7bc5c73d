//! Rows and collections as IBM's JDBC driver binds them and reads them: with a description of their types in front.
//!
//! Nobody has documented this form; it was found by what the driver sends and accepts (`docs/protocol/sqli/values.md`).
//!
//! Layout, big-endian: 134 bytes 0; `i16` number of nodes; the nodes of 414 bytes; 4 bytes 0; `i32` length of the data; `i32`
//! 1, or `80000000` for NULL; the data. The first node is the composite's own, the others are its fields, or the one of its
//! elements.
//!
//! A node: `i16` its number from 1, `i16` level, `i16` number of its parent, `i16` 1 when it has a name, the name padded with
//! blanks to 128 bytes, `i16` 0, `u16` type with its flags, `u16` encoded length, 8 bytes 0, 128 blanks, `i16` 0, 128 blanks, 6
//! bytes 0.
//!
//! The data: the cells one after the other. Where one of the types has cells of different lengths, `i32` -1 and the places of
//! all cells follow, the last one's first.

use rowferry_wire::{Malformed, Reader, Writer};

use crate::messages::TypeDescription;
use crate::types::type_flag;
use crate::values::{Cell, CellFormat};
use crate::{DecodeError, TypeCode, Widths};

/// A field of a row, or the elements of a collection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Node {
    /// A field's name, in the client's code set; empty for elements.
    pub name: Vec<u8>,
    /// The type.
    pub code: TypeCode,
    /// Width, digits and scale, or qualifier, by type.
    pub length: u16,
}

impl Node {
    /// The layout of its cells.
    pub fn format(&self) -> Result<CellFormat, DecodeError> {
        let description = TypeDescription {
            type_word: u16::from(self.code.0),
            encoded_length: i32::from(self.length),
            ..TypeDescription::default()
        };
        CellFormat::described(&description, Widths::default())
    }
}

/// A value with its description.
#[derive(Clone, Debug, PartialEq)]
pub struct Described<'a> {
    /// `ROW`, `SET`, `MULTISET` or `LIST`.
    pub kind: TypeCode,
    /// The fields, or the elements.
    pub nodes: Vec<Node>,
    /// The values; `None` for NULL.
    pub cells: Option<Vec<Cell<'a>>>,
}

const HEAD: usize = 134;
const NAME: usize = 128;
/// The most fields of a row.
const MAX_NODES: usize = 1_024;
const NULL: u32 = 0x8000_0000;

/// Appends a value whose cells are encoded already, each as its node's format says.
pub fn encode(kind: TypeCode, nodes: &[Node], cells: Option<&[Vec<u8>]>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    out.resize(out.len() + HEAD, 0);
    let count = u16::try_from(nodes.len() + 1).map_err(|_| Malformed::new("number of fields"))?;
    Writer::new(out).u16(count);
    put_node(1, &Node { name: Vec::new(), code: kind, length: 0 }, false, out);
    for (at, node) in (2..).zip(nodes) {
        put_node(at, node, kind == TypeCode::ROW, out);
    }
    out.extend_from_slice(&[0; 4]);
    let mut data = Vec::new();
    let mut places = Vec::new();
    for cell in cells.unwrap_or_default() {
        places.push(data.len() as u32);
        data.extend_from_slice(cell);
    }
    if !places.is_empty() && any_varies(nodes)? {
        let mut w = Writer::new(&mut data);
        w.i32(-1);
        for place in places.iter().rev() {
            w.u32(*place);
        }
    }
    let length = i32::try_from(data.len()).map_err(|_| Malformed::new("length of a composite"))?;
    Writer::new(out).i32(length).u32(if cells.is_some() { 1 } else { NULL }).raw(&data);
    Ok(())
}

fn put_node(number: u16, node: &Node, named: bool, out: &mut Vec<u8>) {
    let is_inner = u16::from(number > 1);
    let mut name = node.name.clone();
    name.resize(NAME, b' ');
    // Elements and fields say that they are not NULL, as the driver does.
    let word = u16::from(node.code.0) | if number > 1 { type_flag::NOT_NULL } else { 0 };
    Writer::new(out).u16(number).u16(is_inner).u16(is_inner).u16(u16::from(named && number > 1)).raw(&name).u16(0);
    Writer::new(out).u16(word).u16(node.length).raw(&[0; 8]).raw(&[b' '; NAME]).u16(0).raw(&[b' '; NAME]).raw(&[0; 6]);
}

fn any_varies(nodes: &[Node]) -> Result<bool, DecodeError> {
    for node in nodes {
        if node.format()?.fixed_width().is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a value.
pub fn decode(bytes: &[u8]) -> Result<Described<'_>, DecodeError> {
    const WHAT: &str = "description of a row or collection";
    let mut reader = Reader::new(bytes);
    reader.take(HEAD, WHAT)?;
    let count = usize::from(reader.u16(WHAT)?);
    if !(2..=MAX_NODES).contains(&count) {
        return Err(Malformed::new(WHAT).into());
    }
    let kind = take_node(&mut reader)?.code;
    let nodes = (1..count).map(|_| take_node(&mut reader)).collect::<Result<Vec<_>, _>>()?;
    let is_row = kind == TypeCode::ROW;
    if !is_row && (!matches!(kind, TypeCode::SET | TypeCode::MULTISET | TypeCode::LIST) || nodes.len() != 1) {
        return Err(DecodeError::Unsupported("rows and collections within others, bound as objects"));
    }
    reader.take(4, WHAT)?;
    let length = usize::try_from(reader.i32(WHAT)?).map_err(|_| Malformed::new(WHAT))?;
    let flag = reader.u32(WHAT)?;
    let data = reader.take(length, WHAT)?;
    if flag == NULL && data.is_empty() {
        return Ok(Described { kind, nodes, cells: None });
    }
    let formats = nodes.iter().map(Node::format).collect::<Result<Vec<_>, _>>()?;
    let (data, places) = if !data.is_empty() && any_varies(&nodes)? { without_places(data)? } else { (data, None) };
    let mut values = Reader::new(data);
    let mut cells = Vec::new();
    while if is_row { cells.len() < formats.len() } else { !values.is_empty() } {
        let format = formats[cells.len() % formats.len()];
        cells.push(format.decode(&mut values)?);
    }
    if places.is_some_and(|places| places != cells.len()) {
        return Err(Malformed::new("number of a composite's values").into());
    }
    values.finish("values of a row or collection")?;
    Ok(Described { kind, nodes, cells: Some(cells) })
}

fn take_node(reader: &mut Reader<'_>) -> Result<Node, Malformed> {
    const WHAT: &str = "node of a row or collection";
    let _numbers = (reader.u16(WHAT)?, reader.u16(WHAT)?, reader.u16(WHAT)?, reader.u16(WHAT)?);
    let name = reader.take(NAME, WHAT)?;
    reader.u16(WHAT)?;
    let (word, length) = (reader.u16(WHAT)?, reader.u16(WHAT)?);
    reader.take(8 + NAME + 2 + NAME + 6, WHAT)?;
    Ok(Node { name: name.trim_ascii_end().to_vec(), code: TypeCode(word as u8), length })
}

/// The cells without the places behind them, and how many places there are.
fn without_places(data: &[u8]) -> Result<(&[u8], Option<usize>), Malformed> {
    let mut end = data.len();
    let mut count = 0;
    while let Some((before, place)) = data[..end].split_last_chunk::<4>() {
        end = before.len();
        if *place == [0xff; 4] {
            return Ok((before, Some(count)));
        }
        count += 1;
    }
    Err(Malformed::new("places of a composite's values"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, code: TypeCode, length: u16) -> Node {
        Node { name: name.into(), code, length }
    }

    #[test]
    fn lists_are_as_the_driver_binds_them() {
        let mut bytes = Vec::new();
        let cells = [4_i32, 5].map(|number| number.to_be_bytes().to_vec());
        encode(TypeCode::LIST, &[node("", TypeCode::INTEGER, 4)], Some(&cells), &mut bytes).unwrap();
        assert_eq!(bytes.len(), 984);
        assert_eq!((bytes[135], bytes[137], bytes[275], bytes[551], bytes[553], bytes[555]), (2, 1, 21, 2, 1, 1));
        assert_eq!(bytes[688..692], [1, 2, 0, 4]);
        assert_eq!(bytes[968..], [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5]);
        let read = decode(&bytes).unwrap();
        assert_eq!(read.kind, TypeCode::LIST);
        assert_eq!(read.cells, Some(vec![Cell::Int(4), Cell::Int(5)]));
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn rows_have_names_and_places() {
        let nodes = [node("a", TypeCode::INTEGER, 4), node("b", TypeCode::VARCHAR, 9)];
        let cells = [vec![0, 0, 0, 5], vec![2, b's', b't']];
        let mut bytes = Vec::new();
        encode(TypeCode::ROW, &nodes, Some(&cells), &mut bytes).unwrap();
        assert_eq!((bytes[557], &bytes[558..560], bytes[965]), (1, &b"a "[..], 3));
        assert_eq!(bytes[1390..], [0, 0, 0, 5, 2, b's', b't', 255, 255, 255, 255, 0, 0, 0, 4, 0, 0, 0, 0]);
        let read = decode(&bytes).unwrap();
        assert_eq!(read.nodes, nodes);
        assert_eq!(read.cells, Some(vec![Cell::Int(5), Cell::Text(b"st")]));
    }

    #[test]
    fn null_is_none_and_empty_is_some() {
        for cells in [None, Some(&[][..])] {
            let mut bytes = Vec::new();
            encode(TypeCode::SET, &[node("", TypeCode::VARCHAR, 9)], cells, &mut bytes).unwrap();
            assert_eq!(decode(&bytes).unwrap().cells.is_some(), cells.is_some());
        }
    }
}
