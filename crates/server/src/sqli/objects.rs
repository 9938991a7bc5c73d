//! Large objects of a session: what clients fetch by handle or locator, and the routines that IBM's driver calls for them.

use std::collections::{BTreeMap, HashMap};

use rowferry_dialect::ir::Value;
use rowferry_engine::{Condition, Error, Result, smart_objects};
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::messages::{LoAction, LoRequest, Param, ParamValue};

use super::store::Store;
use super::values::Bound;

/// Bytes of a locator.
const LOCATOR: usize = 72;
/// What a locator of ours begins with.
const LOCATOR_MAGIC: &[u8; 8] = b"rowferry";
/// Bytes of `ifx_lo_stat`; the size stands at offset 4.
const STAT: usize = 644;
/// Bytes of `ifx_lo_spec`.
const SPEC: usize = 596;
/// What an `ifx_lo_spec` begins with.
const SPEC_MAGIC: [u8; 4] = [0xda, 0xda, 0xfe, 0xed];

/// Bytes of smart large objects that are kept for locators of closed cursors; the oldest go first.
const MAX_LOCATED: usize = 64 * 1024 * 1024;

/// Objects that clients fetch after the row that mentions them.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By handle, oldest first.
    kept: BTreeMap<u64, Kept>,
    next: u64,
    /// Bytes behind locators.
    located: usize,
    /// BYTE and TEXT values of open cursors, by statement.
    values: HashMap<usize, Values>,
    /// How many of these there have been.
    cursors: u64,
}

/// BYTE and TEXT values of one cursor: as many as it has rows, so they do not stay in memory.
#[derive(Debug)]
struct Values {
    /// Which cursor of the session this is: handles of earlier ones are not taken for its own.
    serial: u64,
    /// What stands before a value besides its length, with its place: a place that somebody made up is not followed.
    key: u64,
    store: Store,
}

/// Bits of a handle that are the value's place; the rest is the cursor's serial.
const PLACE_BITS: u32 = 40;
/// Bytes before a value.
const HEADER: usize = 16;

impl Values {
    fn keep(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.store.end();
        self.store.add(&(bytes.len() as u64).to_be_bytes())?;
        self.store.add(&(at ^ self.key).to_be_bytes())?;
        self.store.add(bytes)?;
        Ok((self.serial << PLACE_BITS) | at)
    }

    fn get(&self, at: u64) -> Result<Option<Vec<u8>>> {
        let header = self.store.read(at, HEADER)?;
        let word = |at: usize| {
            header.get(at..at + 8).and_then(|bytes| bytes.first_chunk::<8>()).copied().map(u64::from_be_bytes)
        };
        match (word(0), word(8)) {
            (Some(length), Some(mark)) if mark == at ^ self.key => {
                self.store.read(at + HEADER as u64, usize::try_from(length).unwrap_or(0)).map(Some)
            }
            _ => Ok(None),
        }
    }
}

#[derive(Debug)]
struct Kept {
    /// A number made from that of the open object by which the client writes it; `None`: it is written.
    statement: Option<usize>,
    bytes: Vec<u8>,
}

impl Objects {
    /// Keeps a value until its statement's cursor closes; yields its handle.
    pub fn keep(&mut self, statement: usize, bytes: &[u8]) -> Result<u64> {
        let cursors = &mut self.cursors;
        let values = self.values.entry(statement).or_insert_with(|| {
            *cursors += 1;
            // What is left of the serial is enough to tell a session's cursors apart.
            let serial = *cursors & ((1 << (u64::BITS - PLACE_BITS)) - 1);
            Values { serial, key: rand::random(), store: Store::default() }
        });
        values.keep(bytes)
    }

    fn insert(&mut self, statement: Option<usize>, bytes: Vec<u8>) -> u64 {
        self.next += 1;
        self.kept.insert(self.next, Kept { statement, bytes });
        self.next
    }

    /// A statement's cursor is closed.
    pub fn forget(&mut self, statement: usize) {
        self.values.remove(&statement);
    }

    /// Keeps a smart large object; yields the 72 bytes by which the client knows it.
    ///
    /// A locator outlives its cursor: IBM's driver opens the object when the program asks for its bytes.
    pub fn locator(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        self.located += bytes.len();
        while self.located > MAX_LOCATED {
            let oldest = self.kept.iter().find(|(_, kept)| kept.statement.is_none()).map(|(handle, _)| *handle);
            let Some(evicted) = oldest.and_then(|handle| self.kept.remove(&handle)) else { break };
            self.located = self.located.saturating_sub(evicted.bytes.len());
        }
        locator_of(self.insert(None, bytes))
    }

    /// The value that a BYTE or TEXT descriptor stands for.
    pub fn by_descriptor(&self, descriptor: &[u8]) -> Result<Vec<u8>> {
        let handle = descriptor.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let (serial, at) = (handle >> PLACE_BITS, handle & ((1 << PLACE_BITS) - 1));
        let values = self.values.values().find(|values| values.serial == serial).ok_or_else(gone)?;
        values.get(at)?.ok_or_else(gone)
    }

    /// The value that a locator stands for.
    pub fn by_locator(&self, locator: &[u8]) -> Result<Vec<u8>> {
        let kept = self.kept_at(locator)?;
        // IBM's driver binds what it has made without closing it.
        match kept.statement.and_then(written_by) {
            Some(fd) => smart_objects::with(|open| open.get(fd).map(|object| object.bytes.clone())),
            None => Ok(kept.bytes.clone()),
        }
    }

    fn kept_at(&self, locator: &[u8]) -> Result<&Kept> {
        locator_handle(locator).and_then(|handle| self.kept.get(&handle)).ok_or_else(gone)
    }
}

fn locator_of(handle: u64) -> Vec<u8> {
    let mut locator = vec![0; LOCATOR];
    locator[..8].copy_from_slice(LOCATOR_MAGIC);
    locator[8..16].copy_from_slice(&handle.to_be_bytes());
    locator
}

fn locator_handle(locator: &[u8]) -> Option<u64> {
    let rest = locator.strip_prefix(LOCATOR_MAGIC)?;
    rest.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))
}

fn gone() -> Error {
    Error::new(Condition::InvalidLargeObject, "this large object is not known any more: select its row again")
}

/// A routine of the fast path; its place in [`ROUTINES`], from 1, is its handle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Routine {
    Close,
    ColumnInfo,
    Create,
    Open,
    Release,
    Seek,
    Stat,
    Tell,
    Truncate,
}

/// The routines by name.
const ROUTINES: &[(&str, Routine)] = &[
    ("ifx_lo_close", Routine::Close),
    ("ifx_lo_col_sbinfo", Routine::ColumnInfo),
    ("ifx_lo_create", Routine::Create),
    ("ifx_lo_open", Routine::Open),
    ("ifx_lo_release", Routine::Release),
    ("ifx_lo_seek", Routine::Seek),
    ("ifx_lo_stat", Routine::Stat),
    ("ifx_lo_tell", Routine::Tell),
    ("ifx_lo_truncate", Routine::Truncate),
];

/// The handle of the routine that a signature such as `function informix.ifx_lo_close(integer)` names.
pub(super) fn routine(signature: &str) -> Result<i32> {
    let before = signature.split('(').next().unwrap_or_default().trim();
    let name = before.rsplit(['.', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    let found = ROUTINES.iter().position(|(known, _)| *known == name);
    found
        .map(|at| at as i32 + 1)
        .ok_or_else(|| Error::new(Condition::UndefinedFunction, format!("routine ({name}) cannot be resolved")))
}

/// A value that a routine returns.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Returned {
    Integer(i32),
    Int8(i64),
    Opaque(&'static str, Vec<u8>),
}

impl Returned {
    /// The value as it travels.
    pub fn param(&self) -> Param<'_> {
        match self {
            Self::Integer(number) => Param::new(TypeCode::INTEGER, 0x0a00, ParamValue::Integer(*number)),
            Self::Int8(number) => Param::new(TypeCode::INT8, 0x1300, ParamValue::Int8(*number)),
            Self::Opaque(name, bytes) => Param {
                code: TypeCode::SENDRECV,
                owner: b"informix",
                name: name.as_bytes(),
                precision: 0,
                value: ParamValue::Opaque(bytes),
            },
        }
    }
}

/// A routine's argument, before it is known what the routine makes of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    Value(Bound),
    /// Bytes of a type that only routines have, or a locator.
    Opaque(Vec<u8>),
}

impl Argument {
    fn integer(arguments: &[Self], at: usize) -> Result<i64> {
        match arguments.get(at) {
            Some(Self::Value(Bound { value: Value::Integer(number), .. })) => Ok(*number),
            _ => Err(Error::new(Condition::InvalidParameterValue, "a number is expected here")),
        }
    }

    fn opaque(arguments: &[Self], at: usize) -> Result<&[u8]> {
        match arguments.get(at) {
            Some(Self::Opaque(bytes)) => Ok(bytes),
            _ => Err(Error::new(Condition::InvalidParameterValue, "a large object is expected here")),
        }
    }
}

impl Objects {
    /// Calls a routine: what it returns, OUT parameters first.
    pub fn call(&mut self, handle: i32, arguments: &[Argument]) -> Result<Vec<Returned>> {
        let routine = usize::try_from(handle).ok().and_then(|at| ROUTINES.get(at.wrapping_sub(1)));
        let Some((_, routine)) = routine else {
            return Err(Error::new(Condition::UndefinedFunction, format!("there is no routine {handle}")));
        };
        let number = |at| Argument::integer(arguments, at).map(|number| i32::try_from(number).unwrap_or(-1));
        Ok(match routine {
            Routine::Close => {
                let number = number(0)?;
                let closed = smart_objects::with(|open| open.close(number))?;
                if let Some(handle) = self.created(number)
                    && let Some(kept) = self.kept.get_mut(&handle)
                {
                    self.located += closed.bytes.len();
                    kept.bytes = closed.bytes;
                    kept.statement = None;
                }
                vec![Returned::Integer(0)]
            }
            Routine::ColumnInfo => {
                let mut spec = vec![0; SPEC];
                spec[..4].copy_from_slice(&SPEC_MAGIC);
                vec![Returned::Opaque("ifx_lo_spec", spec), Returned::Integer(0)]
            }
            Routine::Create => {
                let fd = smart_objects::with(|open| open.open(Vec::new()))?;
                // Until it is closed, the number of the open object says which kept one it will fill.
                let handle = self.insert(Some(being_written(fd)), Vec::new());
                vec![Returned::Opaque("blob", locator_of(handle)), Returned::Integer(fd)]
            }
            Routine::Open => {
                let bytes = self.by_locator(Argument::opaque(arguments, 0)?)?;
                vec![Returned::Integer(smart_objects::with(|open| open.open(bytes))?)]
            }
            Routine::Release => {
                // An object that the client has made and will not bind.
                let handle = Argument::opaque(arguments, 0).ok().and_then(locator_handle);
                if let Some(released) = handle.and_then(|handle| self.kept.remove(&handle)) {
                    self.located = self.located.saturating_sub(released.bytes.len());
                }
                vec![Returned::Integer(0)]
            }
            Routine::Seek => {
                let fd = number(0)?;
                let offset = Argument::integer(arguments, 1)?;
                let whence = Argument::integer(arguments, 2)?;
                let position = seek(fd, offset, whence)?;
                vec![Returned::Int8(position), Returned::Integer(0)]
            }
            Routine::Stat => {
                let fd = number(0)?;
                let size = smart_objects::with(|open| open.get(fd).map(|object| object.bytes.len()))? as u64;
                let mut stat = vec![0; STAT];
                stat[4..8].copy_from_slice(&(size as u32).to_be_bytes());
                stat[8..12].copy_from_slice(&((size >> 32) as u32).to_be_bytes());
                stat[12..14].copy_from_slice(&1_i16.to_be_bytes());
                vec![Returned::Opaque("ifx_lo_stat", stat), Returned::Integer(0)]
            }
            Routine::Tell => {
                let fd = number(0)?;
                let position = smart_objects::with(|open| open.get(fd).map(|object| object.position))?;
                vec![Returned::Int8(position as i64), Returned::Integer(0)]
            }
            Routine::Truncate => {
                let fd = number(0)?;
                let size = usize::try_from(Argument::integer(arguments, 1)?).unwrap_or(0);
                smart_objects::with(|open| open.get(fd).map(|object| object.bytes.truncate(size)))?;
                vec![Returned::Integer(0)]
            }
        })
    }

    /// The kept object that an open one will fill.
    fn created(&self, fd: i32) -> Option<u64> {
        let mark = Some(being_written(fd));
        self.kept.iter().find(|(_, kept)| kept.statement == mark).map(|(handle, _)| *handle)
    }
}

/// A statement number that no statement has, for an object that is being written.
const fn being_written(fd: i32) -> usize {
    usize::MAX - fd as usize
}

/// The open object of such a number.
fn written_by(statement: usize) -> Option<i32> {
    i32::try_from(usize::MAX - statement).ok()
}

fn seek(fd: i32, offset: i64, whence: i64) -> Result<i64> {
    smart_objects::with(|open| {
        let object = open.get(fd)?;
        let base = match whence {
            1 => object.position,
            2 => object.bytes.len(),
            _ => 0,
        };
        let position = (base as i64).saturating_add(offset);
        object.position = usize::try_from(position)
            .map_err(|_| Error::new(Condition::InvalidParameterValue, "a position before the object's beginning"))?;
        Ok(position)
    })
}

/// Reads from an open object, as `SQ_LODATA` asks.
pub(super) fn read(request: &LoRequest) -> Result<Vec<u8>> {
    if let LoAction::SeekRead { offset, whence } = request.action {
        seek(request.lofd.into(), offset.unwrap_or(0), whence.into())?;
    }
    smart_objects::with(|open| {
        let object = open.get(request.lofd.into())?;
        let start = object.position.min(object.bytes.len());
        let end = start.saturating_add(usize::try_from(request.bytes).unwrap_or(0)).min(object.bytes.len());
        object.position = end;
        Ok(object.bytes[start..end].to_vec())
    })
}

/// Writes to an open object.
pub(super) fn write(lofd: i16, bytes: &[u8]) -> Result<()> {
    smart_objects::with(|open| {
        let object = open.get(lofd.into())?;
        let end = object.position + bytes.len();
        if object.bytes.len() < end {
            object.bytes.resize(end, 0);
        }
        object.bytes[object.position..end].copy_from_slice(bytes);
        object.position = end;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routines_are_found_by_their_signature() {
        assert_eq!(routine("function informix.ifx_lo_close(integer)").unwrap(), 1);
        assert!(routine("function informix.no_such(integer)").is_err());
    }

    #[test]
    fn values_are_found_by_their_descriptors_and_no_others() {
        let mut objects = Objects::default();
        let first = objects.keep(3, b"first").unwrap();
        let second = objects.keep(3, b"").unwrap();
        assert_eq!(objects.by_descriptor(&first.to_be_bytes()).unwrap(), b"first");
        assert_eq!(objects.by_descriptor(&second.to_be_bytes()).unwrap(), b"");
        for made_up in [first + 1, first ^ (1 << PLACE_BITS), u64::MAX, 0] {
            assert!(objects.by_descriptor(&made_up.to_be_bytes()).is_err(), "{made_up:x}");
        }
        objects.forget(3);
        objects.keep(3, b"another").unwrap();
        assert!(objects.by_descriptor(&first.to_be_bytes()).is_err());
    }

    #[test]
    fn an_object_is_written_then_bound_by_its_locator() {
        smart_objects::with(|open| open.reset(Box::new(crate::sqli::text::CodeSet::LATIN_1)));
        let mut objects = Objects::default();
        let created = objects.call(3, &[]).unwrap();
        let [Returned::Opaque(_, locator), Returned::Integer(fd)] = &created[..] else { panic!("{created:?}") };
        write(*fd as i16, b"data").unwrap();
        let fd = Argument::Value(Bound {
            value: Value::Integer((*fd).into()),
            ty: rowferry_engine::Type::Int4,
            awaits_data: false,
        });
        objects.call(1, &[fd]).unwrap();
        assert_eq!(objects.by_locator(locator).unwrap(), b"data");
        assert!(objects.by_locator(&[0; 72]).is_err());
    }
}
