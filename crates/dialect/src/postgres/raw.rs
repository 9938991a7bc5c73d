//! The one foreign call: PostgreSQL's parser in libpg_query, with the error position that the crate's own API drops.

use std::ffi::{CStr, CString, c_char, c_int};

use pg_query::protobuf::{Node, ParseResult, RawStmt, SelectStmt, node};
use prost::Message as _;

use crate::stack;

/// Levels that a tree can have at most: the library walks it by recursion, and gives up after two megabytes of stack.
const MAX_LEVELS: usize = 20_000;
/// Bytes of a serialised tree that one level takes at least, wrappers and lengths included.
const LEVEL_BYTES: usize = 12;
/// Stack that one level takes where prost makes or drops it: 10 KB were measured in a release build, which differ as the
/// compiler inlines. Only pages that are touched cost memory.
const LEVEL_STACK: usize = if cfg!(debug_assertions) { 48 * 1024 } else { 24 * 1024 };

/// The stack that a tree of so many bytes needs at most to be read or dropped.
fn room(bytes: usize) -> usize {
    (bytes / LEVEL_BYTES).min(MAX_LEVELS) * LEVEL_STACK
}

/// A statement's tree, which may be deeper than its owner's stack when it is dropped.
#[derive(Debug)]
pub(super) struct Tree {
    node: Option<Box<node::Node>>,
    room: usize,
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

/// `PgQueryProtobuf` of `pg_query.h`.
#[repr(C)]
struct Protobuf {
    length: usize,
    data: *mut c_char,
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

/// `PgQueryProtobufParseResult` of `pg_query.h`.
#[repr(C)]
struct CParseResult {
    tree: Protobuf,
    stderr: *mut c_char,
    error: *mut CError,
}

unsafe extern "C" {
    fn pg_query_parse_protobuf_opts(input: *const c_char, options: c_int) -> CParseResult;
    fn pg_query_free_protobuf_parse_result(result: CParseResult);
}

/// `PG_QUERY_DISABLE_STANDARD_CONFORMING_STRINGS` and `PG_QUERY_DISABLE_ESCAPE_STRING_WARNING`: the library would write
/// its warnings to where nobody reads them.
const BACKSLASHES_ESCAPE: c_int = 32 | 64;

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
    // SAFETY: `input` is a NUL-terminated string that lives through the call. The library keeps its state in
    // thread-local memory and initialises itself, so that calls from several threads are sound.
    let result =
        unsafe { pg_query_parse_protobuf_opts(input.as_ptr(), if standard_strings { 0 } else { BACKSLASHES_ESCAPE }) };
    let parsed = if result.error.is_null() {
        let bytes = if result.tree.data.is_null() {
            &[][..]
        } else {
            // SAFETY: without an error, `data` points to `length` bytes that stay until the result is freed below.
            unsafe { std::slice::from_raw_parts(result.tree.data.cast::<u8>(), result.tree.length) }
        };
        match stack::with_room(room(bytes.len()), || ParseResult::decode(bytes)) {
            Some(Ok(tree)) => Ok(tree),
            Some(Err(error)) => {
                Err(ParseError { message: format!("the parser's tree cannot be read: {error}"), position: 0 })
            }
            None => Err(ParseError { message: "stack depth limit exceeded".to_owned(), position: 0 }),
        }
    } else {
        // SAFETY: a non-null `error` points to the library's structure, whose message is a NUL-terminated string; both
        // stay until the result is freed below.
        let (message, position) = unsafe {
            (CStr::from_ptr((*result.error).message).to_string_lossy().into_owned(), (*result.error).position)
        };
        Err(ParseError { message, position: u32::try_from(position).unwrap_or(0) })
    };
    let room = room(result.tree.length);
    // SAFETY: `result` came from the parse call above, is freed once, and nothing borrows from it any more.
    unsafe { pg_query_free_protobuf_parse_result(result) };
    let statements = parsed?.stmts.into_iter().filter_map(|statement| {
        let node = statement.stmt?.node?;
        Some(Statement {
            tree: Tree { node: Some(Box::new(node)), room },
            start: usize::try_from(statement.stmt_location).unwrap_or(0),
            length: usize::try_from(statement.stmt_len).unwrap_or(0),
        })
    });
    Ok(statements.collect())
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
