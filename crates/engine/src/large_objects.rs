//! PostgreSQL's large objects as a session uses them: descriptors, places in them, and who may do what.

use rowferry_dialect::access::{Acl, ObjectClass, Privileges};
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result};

use crate::backend::{Connection, LargeObject, LargeObjects, MAX_LARGE_OBJECT};
use crate::session::state::State;

/// Bytes of a page, PostgreSQL's `LOBLKSIZE`.
pub const PAGE_BYTES: usize = 2_048;

/// How many descriptors a transaction may have open.
const MAX_OPEN: usize = 65_536;

/// The flags of `lo_open`.
const INV_WRITE: i32 = 0x0002_0000;
const INV_READ: i32 = 0x0004_0000;

/// What a client asks for: the functions `lo_…`, `loread` and `lowrite`.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// `lo_creat`, `lo_create`: 0 lets the server choose.
    Create(u32),
    /// `lo_open`: which object, and the flags.
    Open(u32, i32),
    /// `lo_close`.
    Close(i32),
    /// `loread`: how much.
    Read(i32, i32),
    /// `lowrite`.
    Write(i32, &'a [u8]),
    /// `lo_lseek`, `lo_lseek64`: how far, from where, and whether the answer has 64 bits.
    Seek(i32, i64, i32, bool),
    /// `lo_tell`, `lo_tell64`: whether the answer has 64 bits.
    Tell(i32, bool),
    /// `lo_truncate`, `lo_truncate64`.
    Truncate(i32, i64),
    /// `lo_unlink`.
    Unlink(u32),
    /// `lo_get`: from where on, and how much; all of it without that.
    Get(u32, Option<(i64, i32)>),
    /// `lo_put`.
    Put(u32, i64, &'a [u8]),
    /// `lo_from_bytea`.
    FromBytes(u32, &'a [u8]),
    /// `obj_description`.
    Comment(u32),
}

impl Call<'_> {
    /// It changes what is in the file.
    const fn writes(&self) -> bool {
        match self {
            Self::Create(_)
            | Self::Write(..)
            | Self::Truncate(..)
            | Self::Unlink(_)
            | Self::Put(..)
            | Self::FromBytes(..) => true,
            Self::Open(..)
            | Self::Close(_)
            | Self::Read(..)
            | Self::Seek(..)
            | Self::Tell(..)
            | Self::Get(..)
            | Self::Comment(_) => false,
        }
    }
}

/// An open object.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    object: u32,
    position: i64,
    writes: bool,
    /// Its place in the order in which the transaction has opened objects.
    serial: u64,
}

/// The objects that a transaction has open; a descriptor's number is its place.
#[derive(Debug, Default)]
pub struct Descriptors {
    open: Vec<Option<Descriptor>>,
    opened: u64,
}

impl Descriptors {
    /// How many have been opened: what a savepoint remembers.
    pub fn mark(&self) -> u64 {
        self.opened
    }

    /// What was opened behind a savepoint is closed.
    pub fn undo(&mut self, mark: u64) {
        for place in &mut self.open {
            if place.is_some_and(|descriptor| descriptor.serial >= mark) {
                *place = None;
            }
        }
    }

    fn add(&mut self, object: u32, writes: bool) -> Result<i32> {
        let place = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if place >= MAX_OPEN {
            return Err(Error::new(Condition::ProgramLimitExceeded, "too many large objects are open"));
        }
        let descriptor = Some(Descriptor { object, position: 0, writes, serial: self.opened });
        self.opened += 1;
        match self.open.get_mut(place) {
            Some(free) => *free = descriptor,
            None => self.open.push(descriptor),
        }
        Ok(place as i32)
    }

    fn place(&mut self, number: i32) -> Result<&mut Option<Descriptor>> {
        let place = usize::try_from(number).ok().and_then(|at| self.open.get_mut(at));
        place
            .filter(|place| place.is_some())
            .ok_or_else(|| Error::new(Condition::UndefinedObject, format!("invalid large-object descriptor: {number}")))
    }

    fn get(&mut self, number: i32) -> Result<&mut Descriptor> {
        self.place(number)?.as_mut().ok_or_else(|| Error::internal("an open large object"))
    }
}

impl State {
    /// Runs a function of large objects, on the handle of the statement that calls it.
    pub(crate) fn large_object(&self, connection: Connection<'_>, call: Call<'_>) -> Result<Value> {
        if call.writes() && self.write_serial.load(std::sync::atomic::Ordering::Relaxed) == 0 {
            // The transaction has not waited for its turn to write.
            return Err(Error::unsupported("a change of a large object in this place"));
        }
        let objects = LargeObjects::new(connection, &self.interrupter);
        let done = Ok(Value::Integer(0));
        match call {
            Call::Create(oid) => Ok(Value::Integer(objects.create(oid, self.large_object_owner())?.into())),
            Call::FromBytes(oid, bytes) => {
                let oid = objects.create(oid, self.large_object_owner())?;
                objects.write(oid, 0, bytes)?;
                Ok(Value::Integer(oid.into()))
            }
            Call::Open(oid, mode) => self.open_large_object(objects, oid, mode),
            Call::Close(number) => {
                *self.descriptors().place(number)? = None;
                done
            }
            Call::Read(number, length) => {
                let descriptor = *self.descriptors().get(number)?;
                let object = existing(objects, descriptor.object)?;
                self.check_large_object(descriptor.object, &object, Privileges::SELECT)?;
                let bytes = objects.read(descriptor.object, descriptor.position, length.max(0).into())?;
                self.descriptors().get(number)?.position += bytes.len() as i64;
                Ok(Value::Blob(bytes))
            }
            Call::Write(number, bytes) => {
                let descriptor = self.descriptor_to_write(number)?;
                let object = existing(objects, descriptor.object)?;
                self.check_large_object(descriptor.object, &object, Privileges::UPDATE)?;
                objects.write(descriptor.object, descriptor.position, bytes)?;
                self.descriptors().get(number)?.position += bytes.len() as i64;
                Ok(Value::Integer(bytes.len() as i64))
            }
            Call::Seek(number, offset, whence, wide) => {
                let place = self.seek_large_object(objects, number, offset, whence)?;
                narrow(place, wide, "lo_lseek", number)
            }
            Call::Tell(number, wide) => {
                let place = self.descriptors().get(number)?.position;
                narrow(place, wide, "lo_tell", number)
            }
            Call::Truncate(number, length) => {
                let descriptor = self.descriptor_to_write(number)?;
                let object = existing(objects, descriptor.object)?;
                self.check_large_object(descriptor.object, &object, Privileges::UPDATE)?;
                if !(0..=MAX_LARGE_OBJECT).contains(&length) {
                    let message = format!("invalid large object truncation target: {length}");
                    return Err(Error::new(Condition::InvalidParameterValue, message));
                }
                objects.truncate(descriptor.object, length)?;
                done
            }
            Call::Unlink(oid) => self.unlink_large_object(objects, oid),
            Call::Comment(oid) => {
                Ok(objects.find(oid)?.and_then(|object| object.comment).map_or(Value::Null, Value::Text))
            }
            Call::Get(oid, part) => {
                let object = existing(objects, oid)?;
                self.check_large_object(oid, &object, Privileges::SELECT)?;
                let (offset, length) = part.map_or((0, i64::MAX), |(offset, length)| (offset, length.into()));
                if length < 0 {
                    let message = "requested length cannot be negative";
                    return Err(Error::new(Condition::InvalidParameterValue, message));
                }
                if offset < 0 {
                    return Err(seek_target(offset));
                }
                Ok(Value::Blob(objects.read(oid, offset, length)?))
            }
            Call::Put(oid, offset, bytes) => {
                let object = existing(objects, oid)?;
                // Who writes can read, as with PostgreSQL.
                self.check_large_object(oid, &object, Privileges::SELECT)?;
                self.check_large_object(oid, &object, Privileges::UPDATE)?;
                if !(0..=MAX_LARGE_OBJECT).contains(&offset) {
                    return Err(seek_target(offset));
                }
                objects.write(oid, offset, bytes)?;
                Ok(Value::Text(String::new()))
            }
        }
    }

    fn descriptors(&self) -> parking_lot::MutexGuard<'_, Descriptors> {
        self.descriptors.lock()
    }

    fn large_object_owner(&self) -> u32 {
        self.schema.read().rights().role()
    }

    fn open_large_object(&self, objects: LargeObjects<'_>, oid: u32, mode: i32) -> Result<Value> {
        let writes = mode & INV_WRITE != 0;
        if !writes && mode & INV_READ == 0 {
            let message = format!("invalid flags for opening a large object: {mode}");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        let object = existing(objects, oid)?;
        // Who writes can read, as with PostgreSQL.
        self.check_large_object(oid, &object, Privileges::SELECT)?;
        if writes {
            self.check_large_object(oid, &object, Privileges::UPDATE)?;
        }
        self.has_descriptors.store(true, std::sync::atomic::Ordering::Release);
        Ok(Value::Integer(self.descriptors().add(oid, writes)?.into()))
    }

    fn descriptor_to_write(&self, number: i32) -> Result<Descriptor> {
        let descriptor = *self.descriptors().get(number)?;
        if descriptor.writes {
            return Ok(descriptor);
        }
        let message = format!("large object descriptor {number} was not opened for writing");
        Err(Error::new(Condition::ObjectNotInPrerequisiteState, message))
    }

    fn seek_large_object(&self, objects: LargeObjects<'_>, number: i32, offset: i64, whence: i32) -> Result<i64> {
        let descriptor = *self.descriptors().get(number)?;
        let from = match whence {
            0 => 0,
            1 => descriptor.position,
            2 => objects.size(descriptor.object)?,
            other => {
                let message = format!("invalid whence setting: {other}");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
        };
        let place = from.wrapping_add(offset);
        if !(0..=MAX_LARGE_OBJECT).contains(&place) {
            return Err(seek_target(place));
        }
        self.descriptors().get(number)?.position = place;
        Ok(place)
    }

    fn unlink_large_object(&self, objects: LargeObjects<'_>, oid: u32) -> Result<Value> {
        let object = existing(objects, oid)?;
        let rights = self.schema.read().rights();
        let owns = rights.is_superuser() || rights.roles.has_privileges_of(rights.role(), object.owner);
        if !owns && !self.has_open_large_objects() {
            let message = format!("must be owner of large object {oid}");
            return Err(Error::new(Condition::InsufficientPrivilege, message));
        }
        for place in &mut self.descriptors().open {
            if place.is_some_and(|descriptor| descriptor.object == oid) {
                *place = None;
            }
        }
        objects.remove(oid)?;
        Ok(Value::Integer(1))
    }

    /// `lo_compat_privileges`: everybody may do everything with large objects.
    fn has_open_large_objects(&self) -> bool {
        self.variables.read().get("lo_compat_privileges").as_deref() == Some("on")
    }

    fn check_large_object(&self, oid: u32, object: &LargeObject, wanted: Privileges) -> Result<()> {
        let rights = self.schema.read().rights();
        if rights.is_superuser() {
            return Ok(());
        }
        let class = ObjectClass::LargeObject;
        let (held, _) = object.privileges.held_by(&rights.roles, rights.role(), object.owner, class);
        if held.contains(wanted) || self.has_open_large_objects() {
            return Ok(());
        }
        Err(Error::new(Condition::InsufficientPrivilege, format!("permission denied for large object {oid}")))
    }
}

/// The object of an id.
pub(crate) fn existing(objects: LargeObjects<'_>, oid: u32) -> Result<LargeObject> {
    objects
        .find(oid)?
        .ok_or_else(|| Error::new(Condition::UndefinedObject, format!("large object {oid} does not exist")))
}

fn seek_target(place: i64) -> Error {
    Error::new(Condition::InvalidParameterValue, format!("invalid large object seek target: {place}"))
}

/// A place as an answer of 32 bits, unless it may have 64.
fn narrow(place: i64, wide: bool, function: &str, number: i32) -> Result<Value> {
    if wide || i32::try_from(place).is_ok() {
        return Ok(Value::Integer(place));
    }
    let message = format!("{function} result out of range for large-object descriptor {number}");
    Err(Error::new(Condition::NumericValueOutOfRange, message))
}

/// The list of an object after its owner has changed.
pub(crate) fn list_of_new_owner(object: &LargeObject, owner: u32) -> Option<Acl> {
    object.stored.as_ref().map(|list| list.with_owner(object.owner, owner))
}
