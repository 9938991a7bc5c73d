//! What compiling one statement may make.
//!
//! A short text can mean very much: views upon views that each name the one below twice, CASE or BETWEEN whose operand
//! is repeated, nested. And a mistake of ours can make a pass over a statement endless. So everything that a
//! compilation makes is counted, and the compiler asks wherever it goes one level down ([`deeper`]) and whenever it has
//! written a piece of text ([`written`]):
//!
//! - the *nodes*, which [`Expr`](crate::ir::Expr) itself counts when one is made or copied, and *levels*: so many, and more
//!   for every byte of the texts that say what is meant, the statement's own and those of the views behind it;
//! - the length of the *text* for the back end, likewise;
//! - whether the statement was cancelled, its time is over, or its session's memory is used up: [`work`] is told.
//!
//! Whoever compiles a statement says [`begin`] and holds what that returns. Without it (tests, tools, and what is lowered
//! outside of any statement) nothing is bounded, but everything still asks.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use crate::{Condition, Error, Result, stack, work};

/// Nodes that any statement may come to: far beyond every real one, and some seconds of work.
pub const NODES: usize = 2_000_000;
/// The bytes that the text for the back end may have.
pub const TEXT: usize = 32 << 20;

/// Nodes for every byte of text that was given: a literal of two bytes is copied by several passes.
const NODES_A_BYTE: usize = 64;
/// Bytes of text for every byte that was given.
const TEXT_A_BYTE: usize = 32;
/// Units of [`work`] that a node is.
const NODE: usize = 64;

/// The thread's compilation.
struct Spent {
    compiling: Cell<bool>,
    nodes: Cell<usize>,
    /// As many nodes there were when this was last asked.
    asked: Cell<usize>,
    most_nodes: Cell<usize>,
    most_text: Cell<usize>,
}

thread_local! {
    static SPENT: Spent = const {
        Spent {
            compiling: Cell::new(false),
            nodes: Cell::new(0),
            asked: Cell::new(0),
            most_nodes: Cell::new(usize::MAX),
            most_text: Cell::new(usize::MAX),
        }
    };
    /// Where the texts lie that have been given, so that none counts twice.
    static GIVEN: RefCell<HashSet<usize>> = RefCell::default();
}

/// The compilation of a statement; it is over when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Compiling {
    /// It is a part of another, which goes on.
    within: bool,
}

/// A statement of so many bytes is compiled from now on; within the compilation of another it is a part of that.
pub fn begin(text: usize) -> Compiling {
    let (nodes, bytes) = (text.saturating_mul(NODES_A_BYTE), text.saturating_mul(TEXT_A_BYTE));
    begin_with(nodes.saturating_add(NODES), bytes.saturating_add(TEXT))
}

/// The same with so many nodes and so many bytes of text for the back end, for tests.
#[doc(hidden)]
pub fn begin_with(nodes: usize, text: usize) -> Compiling {
    SPENT.with(|spent| {
        let within = spent.compiling.replace(true);
        if !within {
            spent.nodes.set(0);
            spent.asked.set(0);
            spent.most_nodes.set(nodes);
            spent.most_text.set(text);
        }
        Compiling { within }
    })
}

impl Drop for Compiling {
    fn drop(&mut self) {
        if self.within {
            return;
        }
        SPENT.with(|spent| {
            spent.compiling.set(false);
            spent.nodes.set(0);
            spent.asked.set(0);
            spent.most_nodes.set(usize::MAX);
            spent.most_text.set(usize::MAX);
        });
        GIVEN.with(|given| given.borrow_mut().clear());
    }
}

/// The statement means what stands in this stored text, too, a view's: there may be more of everything for it, once.
pub fn given(text: &str) {
    SPENT.with(|spent| {
        let is_new = || GIVEN.with(|given| given.borrow_mut().insert(text.as_ptr() as usize));
        if spent.compiling.get() && is_new() {
            let (nodes, bytes) = (text.len().saturating_mul(NODES_A_BYTE), text.len().saturating_mul(TEXT_A_BYTE));
            spent.most_nodes.set(spent.most_nodes.get().saturating_add(nodes));
            spent.most_text.set(spent.most_text.get().saturating_add(bytes));
        }
    });
}

/// So many nodes are made: nobody is asked yet.
#[inline]
pub(crate) fn made(nodes: usize) {
    SPENT.with(|spent| spent.nodes.set(spent.nodes.get().wrapping_add(nodes)));
}

/// Nodes that the compilation under way has made so far.
#[doc(hidden)]
pub fn nodes() -> usize {
    SPENT.with(|spent| spent.nodes.get())
}

/// Asks whether the compilation may go on.
///
/// # Errors
/// `54001` when it has made too much, and as [`work::step`].
#[inline]
pub fn ask() -> Result<()> {
    let (nodes, before, most) =
        SPENT.with(|spent| (spent.nodes.get(), spent.asked.replace(spent.nodes.get()), spent.most_nodes.get()));
    if nodes > most {
        return Err(too_complex(format!("It comes to more than {most} nodes.")));
    }
    work::step(nodes.wrapping_sub(before).saturating_mul(NODE))
}

/// Goes one level down, on a new piece of stack when little is left of this one.
///
/// # Errors
/// As [`ask`] and [`stack::deeper`].
#[inline]
pub fn deeper<T>(level: impl FnOnce() -> Result<T>) -> Result<T> {
    made(1);
    ask()?;
    stack::deeper(level)
}

/// A piece of text of so many bytes has been written.
///
/// # Errors
/// `54001` when it is too long, and as [`work::step`].
#[inline]
pub fn written(bytes: usize) -> Result<()> {
    let most = SPENT.with(|spent| spent.most_text.get());
    if bytes > most {
        return Err(too_complex(format!("What the storage is told of it takes more than {most} bytes.")));
    }
    work::step(bytes)
}

#[cold]
fn too_complex(detail: String) -> Error {
    Error::new(Condition::StatementTooComplex, "statement too complex").detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;
    use crate::ir::Expr;

    #[test]
    fn nodes_are_counted_when_they_are_made_and_when_they_are_copied() {
        let _compiling = begin(0);
        let one = Expr::null(Type::Text);
        assert_eq!(nodes(), 1);
        let pair = Expr::new(crate::ir::ExprKind::And(vec![one.clone(), one]), Type::Bool);
        assert_eq!(nodes(), 3);
        drop(pair.clone());
        assert_eq!(nodes(), 6);
    }

    #[test]
    fn what_is_beyond_the_budget_is_refused_and_the_next_statement_is_not() {
        let compiling = begin(10);
        made(NODES + 10 * NODES_A_BYTE);
        ask().unwrap();
        made(1);
        assert_eq!(ask().unwrap_err().condition(), Condition::StatementTooComplex);
        written(TEXT + 10 * TEXT_A_BYTE).unwrap();
        let error = written(TEXT + 10 * TEXT_A_BYTE + 1).unwrap_err();
        assert_eq!(error.condition(), Condition::StatementTooComplex);
        drop(compiling);
        let _compiling = begin(10);
        ask().unwrap();
    }

    #[test]
    fn a_stored_text_gives_room_once() {
        let _compiling = begin(0);
        let text = "x".repeat(100);
        for _ in 0..3 {
            given(&text);
        }
        made(NODES + 100 * NODES_A_BYTE);
        ask().unwrap();
        made(1);
        ask().unwrap_err();
    }

    #[test]
    fn a_compilation_within_another_spends_the_same() {
        let _outer = begin(0);
        made(NODES);
        {
            let _inner = begin(1_000_000);
            made(1);
            ask().unwrap_err();
        }
        ask().unwrap_err();
    }

    #[test]
    fn without_a_statement_nothing_is_bounded() {
        made(NODES + 1);
        ask().unwrap();
        written(TEXT + 1).unwrap();
    }
}
