//! Aggregates that users have made: what makes a function one, and what the engine is told of a call.
//!
//! An aggregate is a [`crate::stored_function::StoredFunction`] without a body: its definition has an
//! [`AggregatePart`] that names the functions behind it by their object ids. A call is lowered to two functions inside
//! the back end, of which the first carries the state from row to row and the second makes the result of it; both are told a
//! [`Plan`].

use serde_json::{Value as Json, json};

use crate::Type;
use crate::ir::{Expr, ExprKind, Value};
use crate::postgres::polymorphic::Standing;
use crate::stored_function::TypeRef;

/// What CREATE AGGREGATE says besides the arguments. A function that is not there has the object id 0.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregatePart {
    /// What it is computed of.
    pub kind: AggregateKind,
    /// How many of its arguments are told it directly, before ORDER BY.
    pub direct: usize,
    /// SFUNC
    pub transition: u32,
    /// FINALFUNC
    pub finish: u32,
    /// COMBINEFUNC
    pub combine: u32,
    /// SERIALFUNC
    pub serialize: u32,
    /// DESERIALFUNC
    pub deserialize: u32,
    /// MSFUNC
    pub moving_transition: u32,
    /// MINVFUNC
    pub moving_inverse: u32,
    /// MFINALFUNC
    pub moving_finish: u32,
    /// FINALFUNC_EXTRA
    pub finish_extra: bool,
    /// MFINALFUNC_EXTRA
    pub moving_finish_extra: bool,
    /// FINALFUNC_MODIFY
    pub finish_modify: Modify,
    /// MFINALFUNC_MODIFY
    pub moving_finish_modify: Modify,
    /// The operator of SORTOP.
    pub sort_operator: u32,
    /// STYPE
    pub state: TypeRef,
    /// SSPACE
    pub state_space: i32,
    /// MSTYPE
    pub moving_state: Option<TypeRef>,
    /// MSSPACE
    pub moving_state_space: i32,
    /// INITCOND
    pub initial: Option<String>,
    /// MINITCOND
    pub moving_initial: Option<String>,
}

/// What an aggregate is computed of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AggregateKind {
    /// Rows.
    Normal,
    /// Rows in an order, WITHIN GROUP.
    OrderedSet,
    /// The same, and a row that might be among them.
    HypotheticalSet,
}

impl AggregateKind {
    /// The letter in `aggkind`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Normal => "n",
            Self::OrderedSet => "o",
            Self::HypotheticalSet => "h",
        }
    }

    /// Its words in messages.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Normal => "an ordinary aggregate function",
            Self::OrderedSet => "an ordered-set aggregate",
            Self::HypotheticalSet => "a hypothetical-set aggregate",
        }
    }
}

/// What a final function does to the state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Modify {
    /// Nothing.
    ReadOnly,
    /// No row can be added any more.
    Shareable,
    /// It can be used by nobody any more.
    ReadWrite,
}

impl Modify {
    /// The letter in `aggfinalmodify`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::ReadOnly => "r",
            Self::Shareable => "s",
            Self::ReadWrite => "w",
        }
    }

    /// Its word in CREATE AGGREGATE.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Shareable => "shareable",
            Self::ReadWrite => "read_write",
        }
    }

    /// The one of a word.
    pub fn named(word: &str) -> Option<Self> {
        [Self::ReadOnly, Self::Shareable, Self::ReadWrite].into_iter().find(|known| known.word() == word)
    }
}

impl AggregatePart {
    /// The functions behind it.
    pub fn functions(&self) -> impl Iterator<Item = u32> + use<> {
        let all = [
            self.transition,
            self.finish,
            self.combine,
            self.serialize,
            self.deserialize,
            self.moving_transition,
            self.moving_inverse,
            self.moving_finish,
        ];
        all.into_iter().filter(|oid| *oid != 0)
    }

    /// The types of its states.
    pub fn states(&self) -> impl Iterator<Item = &TypeRef> {
        std::iter::once(&self.state).chain(&self.moving_state)
    }

    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut TypeRef> {
        std::iter::once(&mut self.state).chain(&mut self.moving_state)
    }
}

/// How a call of an aggregate is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The aggregate, for whoever shows the call.
    pub aggregate: u32,
    /// So many keys of its order are written in the call; `None` for one that is not written as `name(…)`.
    pub keys: Option<usize>,
    /// Adds a row to the state.
    pub transition: Callee,
    /// Takes the oldest row out of the state again.
    pub inverse: Option<Callee>,
    /// Makes the result of the state.
    pub finish: Option<Callee>,
    /// So many NULLs follow the state and the direct arguments of `finish`.
    pub extra: usize,
    /// Rows leave again, in the order that they came in.
    pub leaving: bool,
    /// What is known of one whose functions are routines in SPL.
    pub spl: Option<Spl>,
}

/// An aggregate of routines in SPL. The types of each of them are that of the state and that of its parameter for it; those
/// of [`Spl::init`] are that of what it returns and that of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Spl {
    /// Makes what the state begins with.
    pub init: Option<Callee>,
    /// The routines may not change data.
    pub only_reads: bool,
    /// Rows whose argument is NULL do not count.
    pub skips_nulls: bool,
}

/// A function that an aggregate calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Callee {
    /// Which.
    pub function: u32,
    /// It is not called with NULLs.
    pub strict: bool,
    /// What the polymorphic types of a user's function stand for.
    pub standing: Option<Standing>,
    /// The types of the arguments and of the result, for one of PostgreSQL's own.
    pub types: Vec<Type>,
}

impl Plan {
    /// What the engine is told.
    pub fn to_text(&self) -> String {
        let words: fn(&Type) -> String = if self.spl.is_some() { crate::informix::type_words } else { words_of };
        let callee = |callee: &Option<Callee>| callee.as_ref().map_or(Json::Null, |callee| callee.to_json(words));
        let spl = self.spl.as_ref().map(
            |spl| json!({ "init": callee(&spl.init), "only_reads": spl.only_reads, "skips_nulls": spl.skips_nulls }),
        );
        json!({
            "spl": spl,
            "aggregate": self.aggregate,
            "keys": self.keys,
            "transition": self.transition.to_json(words),
            "inverse": callee(&self.inverse),
            "finish": callee(&self.finish),
            "extra": self.extra,
            "leaving": self.leaving,
        })
        .to_string()
    }

    /// The inverse of [`Plan::to_text`]; `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        let json: Json = serde_json::from_str(text).ok()?;
        let spl = &json["spl"];
        let read: fn(&str) -> Option<Type> =
            if spl.is_null() { type_of_words } else { |words| crate::informix::type_from_words(words).ok() };
        let optional = |json: &Json| match json {
            Json::Null => Some(None),
            json => Callee::from_json(json, read).map(Some),
        };
        let spl = match spl {
            Json::Null => None,
            spl => Some(Spl {
                init: optional(&spl["init"])?,
                only_reads: spl["only_reads"].as_bool()?,
                skips_nulls: spl["skips_nulls"].as_bool()?,
            }),
        };
        let keys = &json["keys"];
        Some(Self {
            aggregate: u32::try_from(json["aggregate"].as_u64()?).ok()?,
            keys: if keys.is_null() { None } else { Some(usize::try_from(keys.as_u64()?).ok()?) },
            spl,
            transition: Callee::from_json(&json["transition"], read)?,
            inverse: optional(&json["inverse"])?,
            finish: optional(&json["finish"])?,
            extra: usize::try_from(json["extra"].as_u64()?).ok()?,
            leaving: json["leaving"].as_bool()?,
        })
    }
}

/// Tells the plan of a call, as the IR has it, the collation of the call's arguments, by its object id.
pub fn tell_collation(plan: &mut Expr, collation: u32) {
    let ExprKind::Literal(Value::Text(text)) = &plan.kind else { return };
    let Some(mut told) = Plan::from_text(text) else { return };
    for callee in std::iter::once(&mut told.transition).chain(&mut told.inverse).chain(&mut told.finish) {
        callee.standing = Some(callee.standing.take().unwrap_or_default().in_collation(collation));
    }
    *plan = Expr::text(told.to_text());
}

/// A type's words in a plan.
fn words_of(ty: &Type) -> String {
    crate::user_type::told(ty).unwrap_or_else(|| crate::postgres::types::words(ty))
}

fn type_of_words(words: &str) -> Option<Type> {
    crate::user_type::from_told(words).or_else(|| crate::postgres::type_from_words(words).ok())
}

impl Callee {
    fn to_json(&self, words: fn(&Type) -> String) -> Json {
        let types: Vec<String> = self.types.iter().map(words).collect();
        json!({
            "function": self.function,
            "strict": self.strict,
            "standing": self.standing.as_ref().map(Standing::words),
            "types": types,
        })
    }

    fn from_json(json: &Json, read: fn(&str) -> Option<Type>) -> Option<Self> {
        let read = |json: &Json| read(json.as_str()?);
        Some(Self {
            function: u32::try_from(json["function"].as_u64()?).ok()?,
            strict: json["strict"].as_bool()?,
            standing: match json["standing"].as_str() {
                None => None,
                Some(words) => Some(Standing::from_words(words)?),
            },
            types: json["types"].as_array()?.iter().map(read).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored_function::Polymorphic;

    #[test]
    fn a_plan_arrives_as_it_was_sent() {
        let callee =
            |function, standing, types: &[Type]| Callee { function, strict: true, standing, types: types.to_vec() };
        let plan = Plan {
            aggregate: 16_500,
            keys: Some(0),
            transition: callee(1_841, None, &[Type::Int8, Type::Int4, Type::Int8]),
            inverse: Some(callee(16_400, Standing::of(&[(Polymorphic::Element, &Type::Float8)]).ok(), &[])),
            finish: None,
            extra: 2,
            leaving: true,
            spl: None,
        };
        assert_eq!(Plan::from_text(&plan.to_text()), Some(plan));
        assert_eq!(Plan::from_text("{}"), None);
        assert_eq!(Plan::from_text("nothing"), None);
    }
}
