//! What PostgreSQL has and is not here: to be told apart from what nobody has.

use super::choice::{self, Choice};
use super::types;
use crate::Type;

/// The object id of `unknown`: the type of a literal that has none yet.
const UNKNOWN: u32 = 705;

/// What PostgreSQL makes of arguments or operands that nothing here takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// It has what takes them.
    Has,
    /// It has several, and cannot choose.
    Ambiguous,
    /// It has nothing for them.
    Nothing,
}

impl<T> From<Choice<T>> for Verdict {
    fn from(choice: Choice<T>) -> Self {
        match choice {
            Choice::One(_) => Self::Has,
            Choice::Several => Self::Ambiguous,
            Choice::None => Self::Nothing,
        }
    }
}

/// PostgreSQL's functions of a name, for arguments of these types.
pub(super) fn function(name: &str, inputs: &[Type]) -> Verdict {
    choice::function(name, &oids(inputs), |_| true).into()
}

/// PostgreSQL's operators of a name, for operands of these types.
pub(super) fn operator(name: &str, inputs: &[Type]) -> Verdict {
    choice::operator(name, &oids(inputs)).into()
}

/// The object ids of types.
pub(super) fn oids(types: &[Type]) -> Vec<u32> {
    let is_enum = |ty: &Type| matches!(ty.through_domains(), Type::User(user) if user.labels().is_some());
    let mut enums = types.iter().filter(|ty| is_enum(ty)).map(Type::through_domains);
    let alike = enums.next().is_none_or(|first| enums.all(|other| other == first));
    // A user's enum is in none of PostgreSQL's own rows: it stands for what takes any. Two are not of one type.
    let number = |ty: &Type| match ty {
        Type::Unknown => UNKNOWN,
        ty if alike && is_enum(ty) => choice::ANY_ENUM,
        ty => types::oid(ty),
    };
    types.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_postgresql_are_known_by_their_arguments() {
        assert_eq!(function("ts_headline", &[Type::Unknown, Type::Unknown]), Verdict::Has);
        assert_eq!(
            function("numrange", &[Type::Int4, Type::Int4]),
            Verdict::Has,
            "integers become numerics by themselves"
        );
        assert_eq!(
            function("concat_ws", &[Type::Text, Type::Int4, Type::Bool]),
            Verdict::Has,
            "any number of arguments"
        );
        assert_eq!(function("jsonb_path_query", &[Type::Jsonb, Type::Unknown]), Verdict::Has, "two of four arguments");
        assert_eq!(function("array_length", &[Type::Array(Box::new(Type::Text)), Type::Int4]), Verdict::Has);
        assert_eq!(function("array_length", &[Type::Text, Type::Int4]), Verdict::Nothing);
        assert_eq!(function("lower", &[Type::Int4]), Verdict::Nothing, "no integer becomes a text by itself");
        assert_eq!(function("lower", &[Type::Text, Type::Text]), Verdict::Nothing);
        assert_eq!(function("no_such_function", &[]), Verdict::Nothing);
    }

    #[test]
    fn operators_of_postgresql_are_known_by_their_operands() {
        let int4range = || types::from_oid(3904).unwrap();
        assert_eq!(operator("@>", &[int4range(), Type::Int4]), Verdict::Has);
        let of_its_own = "an element is of the range's own type";
        assert_eq!(operator("@>", &[int4range(), Type::Int8]), Verdict::Nothing, "{of_its_own}");
        assert_eq!(operator("&&", &[int4range(), types::from_oid(3926).unwrap()]), Verdict::Nothing);
        assert_eq!(operator("<->", &[Type::Unknown, Type::Unknown]), Verdict::Ambiguous);
        assert_eq!(operator("@-@", &[Type::Unknown]), Verdict::Ambiguous);
        assert_eq!(operator("<->", &[Type::Int4, Type::Int4]), Verdict::Nothing);
        assert_eq!(operator("<=>", &[Type::Int4, Type::Int4]), Verdict::Nothing);
        assert_eq!(operator("+", &[Type::Bool, Type::Bool]), Verdict::Nothing);
    }
}
