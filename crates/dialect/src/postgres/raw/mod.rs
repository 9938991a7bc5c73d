//! The foreign calls: PostgreSQL's parser in libpg_query, with the error position that the crate's own API drops, its tree
//! read where it lies.

mod nodes;
mod tree;

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use pg_query::protobuf::{Node, ParseResult, RawStmt, SelectStmt, node};

use self::tree::{Place, Reader};
use crate::stack;

/// Stack that one level takes where a tree is dropped: 10 KB were measured in a release build, which differ as the compiler
/// inlines. Only pages that are touched cost memory.
const LEVEL_STACK: usize = if cfg!(debug_assertions) { 48 * 1024 } else { 24 * 1024 };

/// A statement's tree, which may be deeper than its owner's stack when it is dropped.
#[derive(Debug)]
pub(super) struct Tree {
    node: Option<Box<node::Node>>,
    room: usize,
}

impl Tree {
    /// One that another parser has made, of so many levels.
    pub(super) fn made(node: node::Node, depth: usize) -> Self {
        Self { node: Some(Box::new(node)), room: depth * LEVEL_STACK }
    }

    /// Its text, as PostgreSQL's deparser prints it.
    pub(super) fn print(&self) -> Option<String> {
        stack::with_room(self.room, || print((**self).clone())).flatten()
    }
}

impl std::ops::Deref for Tree {
    type Target = node::Node;

    fn deref(&self) -> &node::Node {
        self.node.as_deref().expect("it is taken away only when the tree is dropped")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let node = std::mem::ManuallyDrop::new(self.node.take());
        // Without memory for the stack that it takes, the tree stays where it is.
        let _ = stack::with_room(self.room, || drop(std::mem::ManuallyDrop::into_inner(node)));
    }
}

/// What the parser says of a text that is not SQL.
#[derive(Debug)]
pub(super) struct ParseError {
    /// PostgreSQL's message.
    pub(super) message: String,
    /// 1-based position in characters; 0 when there is none.
    pub(super) position: u32,
}

/// `PgQueryError` of `pg_query.h`.
#[repr(C)]
struct CError {
    message: *mut c_char,
    function: *mut c_char,
    file: *mut c_char,
    line: c_int,
    position: c_int,
    context: *mut c_char,
}

/// `PgQueryInternalParsetreeAndError` of `pg_query_internal.h`.
#[repr(C)]
struct CParsed {
    /// A list of `RawStmt`, in the memory that was entered.
    tree: *const u8,
    /// What the parser had to warn of; the caller's.
    stderr: *mut c_char,
    /// The caller's.
    error: *mut CError,
}

unsafe extern "C" {
    fn pg_query_enter_memory_context() -> *mut c_void;
    fn pg_query_exit_memory_context(memory: *mut c_void);
    fn pg_query_raw_parse(input: *const c_char, options: c_int) -> CParsed;
    fn pg_query_free_error(error: *mut CError);
    fn free(memory: *mut c_void);
}

/// `PG_QUERY_DISABLE_STANDARD_CONFORMING_STRINGS` and `PG_QUERY_DISABLE_ESCAPE_STRING_WARNING`: the library would write
/// its warnings to where nobody reads them.
const BACKSLASHES_ESCAPE: c_int = 32 | 64;

/// The memory in which the parser makes a tree.
struct Memory(*mut c_void);

impl Memory {
    fn enter() -> Memory {
        // SAFETY: the library keeps its state in thread-local memory and initialises itself, so that calls from several
        // threads are sound; this one makes memory of its own.
        Memory(unsafe { pg_query_enter_memory_context() })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was entered by this thread, since `Memory` is not sent to another, and is left once.
        unsafe { pg_query_exit_memory_context(self.0) }
    }
}

/// One statement of a text.
pub(super) struct Statement {
    /// Its tree.
    pub(super) tree: Tree,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// How long it is; 0 is up to the text's end.
    pub(super) length: usize,
}

/// Parses a text into its statements.
pub(super) fn parse(sql: &str) -> Result<Vec<Statement>, ParseError> {
    parse_as(sql, true)
}

/// Parses a text; unless its strings are standard ones, backslashes escape in all of them.
pub(super) fn parse_as(sql: &str, standard_strings: bool) -> Result<Vec<Statement>, ParseError> {
    let Ok(input) = CString::new(sql) else {
        return Err(ParseError {
            message: "invalid byte sequence for encoding \"UTF8\": 0x00".to_owned(),
            position: 0,
        });
    };
    let memory = Memory::enter();
    // SAFETY: `input` is a NUL-terminated string that lives through the call, and memory for the tree has been entered.
    let parsed = unsafe { pg_query_raw_parse(input.as_ptr(), if standard_strings { 0 } else { BACKSLASHES_ESCAPE }) };
    // SAFETY: the library has it from `malloc`, or it is null, and nobody else has it.
    unsafe { free(parsed.stderr.cast()) };
    if !parsed.error.is_null() {
        // SAFETY: a non-null `error` points to the library's structure, whose message is a NUL-terminated string; both
        // stay until they are freed here, once.
        let (message, position) = unsafe {
            let error = &*parsed.error;
            let said = (CStr::from_ptr(error.message).to_string_lossy().into_owned(), error.position);
            pg_query_free_error(parsed.error);
            said
        };
        return Err(ParseError { message, position: u32::try_from(position).unwrap_or(0) });
    }
    // SAFETY: without an error, `tree` is null or a list of the parser's nodes, which live as long as `memory`.
    let list = unsafe { Place::new(parsed.tree) };
    let mut reader = Reader::default();
    let statements = reader.items(list);
    drop(memory);
    let room = reader.deepest as usize * LEVEL_STACK;
    let statements = statements.into_iter().filter_map(|statement| {
        let Some(node::Node::RawStmt(statement)) = statement.node else { return None };
        Some(Statement {
            tree: Tree { node: Some(Box::new(statement.stmt?.node?)), room },
            start: usize::try_from(statement.stmt_location).unwrap_or(0),
            length: usize::try_from(statement.stmt_len).unwrap_or(0),
        })
    });
    let statements = statements.collect();
    match reader.obstacle {
        None => Ok(statements),
        Some(obstacle) => Err(ParseError { message: obstacle.to_string(), position: 0 }),
    }
}

/// The text of a SELECT, as PostgreSQL's deparser prints it.
pub(super) fn print_select(select: &SelectStmt) -> Option<String> {
    print(node::Node::SelectStmt(Box::new(select.clone())))
}

/// The text of an expression, as PostgreSQL's deparser prints it.
pub(super) fn print_expression(expression: &Node) -> Option<String> {
    use pg_query::protobuf::{LimitOption, ResTarget, SetOperation};
    let target = ResTarget { val: Some(Box::new(expression.clone())), ..Default::default() };
    let select = SelectStmt {
        target_list: vec![Node { node: Some(node::Node::ResTarget(Box::new(target))) }],
        limit_option: LimitOption::Default as i32,
        op: SetOperation::SetopNone as i32,
        ..Default::default()
    };
    let text = print(node::Node::SelectStmt(Box::new(select)))?;
    text.strip_prefix("SELECT ").map(str::to_owned)
}

/// The text of any statement.
pub(super) fn print(statement: node::Node) -> Option<String> {
    let tree = ParseResult {
        version: 180_000,
        stmts: vec![RawStmt { stmt: Some(Box::new(Node { node: Some(statement) })), stmt_location: 0, stmt_len: 0 }],
    };
    pg_query::deparse(&tree, pg_query::DeparseOptions::default()).ok()
}

#[cfg(test)]
mod tests;
