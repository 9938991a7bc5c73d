//! The parser's tree, read where the parser has made it: what [`super::nodes`] is written in.
//!
//! libpg_query hands its trees out as protobuf or as JSON. Both are larger than the tree and take longer than parsing;
//! so the C structures are read in place, into the types that the protobuf would become.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use pg_query::protobuf::node::Node as N;
use pg_query::protobuf::{self as p, Node, a_const};

use super::nodes::{at, tag};
use crate::stack;

/// How deep a tree may nest, in nodes. The library's own limit, which chains of operators meet first.
const MAX_LEVELS: u32 = 5_000;

/// What lies in the parser's memory: a node, a list or a text.
///
/// Made of the parser's own pointers only. What it reads is what the parser wrote if the offset is that of a field of the
/// structure that lies there, which [`super::nodes`] takes from the parser's headers.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    start: *const u8,
    memory: PhantomData<&'a ()>,
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the parser's nodes are read where they lie on machines with pointers of 64 bits");

impl<'a> Place<'a> {
    /// A node that the parser has made.
    ///
    /// # Safety
    ///
    /// `start` is null, or points to a node of the parser that lives through `'a`.
    pub(super) unsafe fn new(start: *const u8) -> Option<Place<'a>> {
        (!start.is_null()).then_some(Place { start, memory: PhantomData })
    }

    /// What lies there.
    fn read<T: Copy>(self, offset: usize) -> T {
        // SAFETY: there lies a structure of the parser, aligned as C does, and the offset is of a field of this type; so
        // say the headers that the offsets are from.
        unsafe { self.start.add(offset).cast::<T>().read() }
    }

    pub(super) fn i16(self, offset: usize) -> i16 {
        self.read(offset)
    }

    pub(super) fn i32(self, offset: usize) -> i32 {
        self.read(offset)
    }

    pub(super) fn i64(self, offset: usize) -> i64 {
        self.read(offset)
    }

    pub(super) fn u32(self, offset: usize) -> u32 {
        self.read(offset)
    }

    pub(super) fn bool(self, offset: usize) -> bool {
        self.read::<u8>(offset) != 0
    }

    /// A field of the type `char`: no text for NUL.
    pub(super) fn letter(self, offset: usize) -> String {
        match self.read::<u8>(offset) {
            0 => String::new(),
            byte => char::from(byte).to_string(),
        }
    }

    /// What a field points to; `None` for NULL.
    pub(super) fn pointer(self, offset: usize) -> Option<Place<'a>> {
        let start = self.read::<*const u8>(offset);
        (!start.is_null()).then_some(Place { start, ..self })
    }

    /// What lies within it.
    pub(super) fn within(self, offset: usize) -> Place<'a> {
        // SAFETY: the offset is that of a structure within this one.
        Place { start: unsafe { self.start.add(offset) }, ..self }
    }
}

/// What keeps a tree from being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// It nests deeper than [`MAX_LEVELS`], or there is no memory for the stack to read it.
    Deep,
    /// A text is not UTF-8.
    NotText,
    /// A node of a kind that the parser was not known to make.
    Unknown(u32),
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Obstacle::Deep => to.write_str("stack depth limit exceeded"),
            Obstacle::NotText => to.write_str("invalid byte sequence for encoding \"UTF8\""),
            Obstacle::Unknown(tag) => write!(to, "the parser's node {tag} is not supported"),
        }
    }
}

/// A tree's reader.
#[derive(Default)]
pub(super) struct Reader {
    depth: u32,
    /// The levels of what has been read.
    pub(super) deepest: u32,
    /// The first thing that kept a part from being read: then the tree is not whole.
    pub(super) obstacle: Option<Obstacle>,
}

impl Reader {
    pub(super) fn stopped_by(&mut self, obstacle: Obstacle) {
        self.obstacle.get_or_insert(obstacle);
    }

    /// One level further down. What is read is put where it belongs by `read`: the nodes are too large to be handed up.
    fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_LEVELS {
            self.stopped_by(Obstacle::Deep);
        }
        if self.obstacle.is_some() {
            return;
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let level = || {
            read(self);
            Ok(())
        };
        if stack::deeper(level).is_err() {
            self.stopped_by(Obstacle::Deep);
        }
        self.depth -= 1;
    }

    /// A node of any kind.
    pub(super) fn node(&mut self, at: Option<Place<'_>>) -> Option<Box<Node>> {
        let at = at?;
        let mut found = Box::new(Node { node: None });
        self.deeper(|reader| reader.any(at, &mut found.node));
        Some(found)
    }

    /// A node whose kind the field tells.
    pub(super) fn inner<T>(
        &mut self,
        at: Option<Place<'_>>,
        read: impl FnOnce(&mut Self, Place<'_>) -> T,
    ) -> Option<T> {
        let at = at?;
        let mut found = None;
        self.deeper(|reader| found = Some(read(reader, at)));
        found
    }

    /// The members of a list, none of NULL.
    pub(super) fn items(&mut self, list: Option<Place<'_>>) -> Vec<Node> {
        let Some(list) = list else { return Vec::new() };
        let length = usize::try_from(list.i32(at::LIST_LENGTH)).unwrap_or(0);
        let Some(elements) = list.pointer(at::LIST_ELEMENTS) else { return Vec::new() };
        let element = |index| elements.pointer(index * size_of::<*const u8>());
        let mut items = vec![Node { node: None }; length];
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(at) = element(index) {
                self.deeper(|reader| reader.any(at, &mut item.node));
            }
        }
        items
    }

    /// A text of C, empty for NULL.
    pub(super) fn text(&mut self, at: Option<Place<'_>>) -> String {
        let Some(at) = at else { return String::new() };
        // SAFETY: a field of the type `char *` points to a text that ends with NUL.
        let text = unsafe { CStr::from_ptr(at.start.cast::<c_char>()) };
        text.to_str().map(str::to_owned).unwrap_or_else(|_| {
            self.stopped_by(Obstacle::NotText);
            String::new()
        })
    }

    fn any(&mut self, at: Place<'_>, to: &mut Option<N>) {
        *to = Some(match at.u32(0) {
            tag::LIST => N::List(p::List { items: self.items(Some(at)) }),
            tag::A_CONST => N::AConst(self.constant(at)),
            tag::INTEGER => N::Integer(integer(at)),
            tag::BOOLEAN => N::Boolean(boolean(at)),
            tag::FLOAT => N::Float(self.float(at)),
            tag::STRING => N::String(self.read_string(at)),
            tag::BIT_STRING => N::BitString(self.bit_string(at)),
            other => return self.tagged(other, at, to),
        });
    }

    /// A literal: the value lies within it.
    fn constant(&mut self, at: Place<'_>) -> p::AConst {
        let (isnull, location) = (at.bool(at::A_CONST_ISNULL), at.i32(at::A_CONST_LOCATION));
        let value = at.within(at::A_CONST);
        let val = match value.u32(0) {
            _ if isnull => None,
            tag::INTEGER => Some(a_const::Val::Ival(integer(value))),
            tag::BOOLEAN => Some(a_const::Val::Boolval(boolean(value))),
            tag::FLOAT => Some(a_const::Val::Fval(self.float(value))),
            tag::STRING => Some(a_const::Val::Sval(self.read_string(value))),
            tag::BIT_STRING => Some(a_const::Val::Bsval(self.bit_string(value))),
            other => {
                self.stopped_by(Obstacle::Unknown(other));
                None
            }
        };
        p::AConst { isnull, location, val }
    }

    fn float(&mut self, at: Place<'_>) -> p::Float {
        p::Float { fval: self.text(at.pointer(at::FLOAT)) }
    }

    pub(super) fn read_string(&mut self, at: Place<'_>) -> p::String {
        p::String { sval: self.text(at.pointer(at::STRING)) }
    }

    fn bit_string(&mut self, at: Place<'_>) -> p::BitString {
        p::BitString { bsval: self.text(at.pointer(at::BIT_STRING)) }
    }
}

fn integer(at: Place<'_>) -> p::Integer {
    p::Integer { ival: at.i32(at::INTEGER) }
}

fn boolean(at: Place<'_>) -> p::Boolean {
    p::Boolean { boolval: at.bool(at::BOOLEAN) }
}
