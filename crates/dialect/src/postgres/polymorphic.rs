//! PostgreSQL's polymorphic types, and what they stand for in one call.
//!
//! There are two families. The arguments of `anyelement` and its kin are of one type, or of an array, range or multirange
//! of it, just as they are; those of `anycompatible` and its kin are brought to a type that all of them become.

use serde_json::Value as Json;

use super::coerce::{implicit, same};
use crate::scalar::ranges;
use crate::{Type, user_type};

/// A polymorphic type.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Polymorphic {
    /// `anyelement`
    Element,
    /// `anyarray`
    Array,
    /// `anynonarray`
    NonArray,
    /// `anyenum`
    Enum,
    /// `anyrange`
    Range,
    /// `anymultirange`
    Multirange,
    /// `anycompatible`
    Compatible,
    /// `anycompatiblearray`
    CompatibleArray,
    /// `anycompatiblenonarray`
    CompatibleNonArray,
    /// `anycompatiblerange`
    CompatibleRange,
    /// `anycompatiblemultirange`
    CompatibleMultirange,
}

impl Polymorphic {
    const ALL: [(Self, &'static str, u32); 11] = [
        (Self::Enum, "anyenum", 3_500),
        (Self::Element, "anyelement", 2_283),
        (Self::Array, "anyarray", 2_277),
        (Self::NonArray, "anynonarray", 2_776),
        (Self::Range, "anyrange", 3_831),
        (Self::Multirange, "anymultirange", 4_537),
        (Self::Compatible, "anycompatible", 5_077),
        (Self::CompatibleArray, "anycompatiblearray", 5_078),
        (Self::CompatibleNonArray, "anycompatiblenonarray", 5_079),
        (Self::CompatibleRange, "anycompatiblerange", 5_080),
        (Self::CompatibleMultirange, "anycompatiblemultirange", 4_538),
    ];

    /// The type of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(ty, ..)| *ty)
    }

    /// The type of this object id.
    pub fn of_oid(oid: u32) -> Option<Self> {
        Self::ALL.iter().find(|(.., known)| *known == oid).map(|(ty, ..)| *ty)
    }

    fn row(self) -> (&'static str, u32) {
        let row = Self::ALL.iter().find(|(ty, ..)| *ty == self);
        row.map_or(("anyelement", 2_283), |(_, name, oid)| (*name, *oid))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Its object id.
    pub fn oid(self) -> u32 {
        self.row().1
    }

    /// It stands for an array of what others of its family stand for.
    pub const fn is_array(self) -> bool {
        matches!(self, Self::Array | Self::CompatibleArray)
    }

    /// What each member of an array of VARIADIC is of.
    pub const fn of_member(self) -> Self {
        match self {
            Self::Array => Self::Element,
            Self::CompatibleArray => Self::Compatible,
            other => other,
        }
    }

    /// It stands for a range or multirange of what others of its family stand for.
    pub const fn is_of_ranges(self) -> bool {
        matches!(self, Self::Range | Self::Multirange | Self::CompatibleRange | Self::CompatibleMultirange)
    }

    /// Its arguments are brought to a common type.
    pub const fn is_compatible(self) -> bool {
        matches!(
            self,
            Self::Compatible
                | Self::CompatibleArray
                | Self::CompatibleNonArray
                | Self::CompatibleRange
                | Self::CompatibleMultirange
        )
    }

    /// What it asks of arguments, whatever its family.
    const fn shape(self) -> Shape {
        match self {
            Self::Element | Self::Compatible => Shape::Any,
            Self::NonArray | Self::CompatibleNonArray => Shape::NonArray,
            Self::Enum => Shape::Enum,
            Self::Array | Self::CompatibleArray => Shape::Array,
            Self::Range | Self::CompatibleRange => Shape::Range,
            Self::Multirange | Self::CompatibleMultirange => Shape::Multirange,
        }
    }
}

/// What a polymorphic type asks of an argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Shape {
    Any,
    Array,
    Enum,
    Multirange,
    NonArray,
    Range,
}

/// What the polymorphic types of one family stand for.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Family {
    /// The element; `None` while no argument tells.
    element: Option<Type>,
    /// The range type.
    range: Option<Type>,
}

/// What polymorphic types stand for in a call, and the collation of its arguments.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Standing {
    exact: Family,
    common: Family,
    /// Its object id; 0 where texts are compared by their bytes.
    collation: u32,
}

/// Why polymorphic types stand for nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unsettled {
    /// The arguments contradict each other, or are of no fitting types.
    Unfit,
    /// No argument tells anything.
    Unknown,
    /// No argument tells what this one stands for.
    UnknownRange(Polymorphic),
}

impl Standing {
    /// What the types stand for when these arguments, of base types, are given for them.
    ///
    /// # Errors
    /// Why they stand for nothing.
    pub fn of(arguments: &[(Polymorphic, &Type)]) -> Result<Self, Unsettled> {
        let family = |compatible: bool| {
            let own = arguments.iter().filter(|(any, _)| any.is_compatible() == compatible);
            Family::of(&own.copied().collect::<Vec<_>>(), compatible)
        };
        Ok(Self { exact: family(false)?, common: family(true)?, collation: 0 })
    }

    /// The same for arguments in a collation, by its object id.
    pub fn in_collation(self, collation: u32) -> Self {
        Self { collation, ..self }
    }

    /// The object id of the collation that the arguments are in; `None` where texts are compared by their bytes.
    pub fn collation(&self) -> Option<u32> {
        Some(self.collation).filter(|oid| *oid != 0)
    }

    /// What one of the types stands for; text where nothing is known.
    pub fn settled(&self, any: Polymorphic) -> Type {
        let family = if any.is_compatible() { &self.common } else { &self.exact };
        let element = || family.element.clone().unwrap_or(Type::Text);
        let of_ranges = || family.range.as_ref().and_then(ranges::of_range);
        match any.shape() {
            Shape::Any | Shape::Enum | Shape::NonArray => element(),
            Shape::Array => array_of(element()),
            Shape::Range => family.range.clone().unwrap_or(Type::Text),
            Shape::Multirange => of_ranges().map_or(Type::Text, |family| family.multirange),
        }
    }

    /// It as words, in which functions inside the back end are told of it.
    pub fn words(&self) -> String {
        let words = |ty: &Option<Type>| ty.as_ref().map_or(Json::Null, user_type::type_words);
        let all = [&self.exact.element, &self.exact.range, &self.common.element, &self.common.range];
        let collation = self.collation().map(Json::from);
        Json::Array(all.into_iter().map(words).chain(collation).collect()).to_string()
    }

    /// The inverse of [`Standing::words`].
    pub fn from_words(words: &str) -> Option<Self> {
        let mut all: Vec<Json> = serde_json::from_str(words).ok()?;
        let collation = match all.len() {
            5 => u32::try_from(all.pop()?.as_u64()?).ok()?,
            _ => 0,
        };
        let mut types = Vec::with_capacity(all.len());
        for words in &all {
            types.push(match words {
                Json::Null => None,
                words => Some(user_type::type_from_words(words)?),
            });
        }
        let [element, range, common, common_range] = <[Option<Type>; 4]>::try_from(types).ok()?;
        let (exact, common) = (Family { element, range }, Family { element: common, range: common_range });
        Some(Self { exact, common, collation })
    }
}

impl Family {
    fn of(arguments: &[(Polymorphic, &Type)], compatible: bool) -> Result<Self, Unsettled> {
        let mut family = Self::default();
        let mut multirange: Option<ranges::Family> = None;
        for (any, ty) in arguments.iter().filter(|(_, ty)| **ty != Type::Unknown) {
            let told = match (any.shape(), ty) {
                (Shape::Array, Type::Array(element)) if **element == Type::Unknown => continue,
                (Shape::Array, Type::Array(element)) => (**element).clone(),
                (Shape::Array, _) => return Err(Unsettled::Unfit),
                (Shape::Range, ty) => {
                    let of = ranges::of_range(ty).ok_or(Unsettled::Unfit)?;
                    family.is_of(&of)?;
                    continue;
                }
                (Shape::Multirange, ty) => {
                    let of = ranges::of_multirange(ty).ok_or(Unsettled::Unfit)?;
                    if multirange.as_ref().is_some_and(|known| known.multirange != of.multirange) {
                        return Err(Unsettled::Unfit);
                    }
                    multirange = Some(of);
                    continue;
                }
                (_, ty) => (*ty).clone(),
            };
            family.tell(told, compatible)?;
        }
        if let Some(of) = &multirange {
            family.is_of(of)?;
        }
        if let Some(of) = family.range.as_ref().and_then(ranges::of_range) {
            let subtype = of.subtype.ty();
            family.tell(subtype.clone(), compatible)?;
            // A range is of its subtype alone.
            if family.element.as_ref().is_none_or(|element| !same(element, &subtype)) {
                return Err(Unsettled::Unfit);
            }
        }
        family.check(arguments, compatible)
    }

    /// What is told of the element.
    fn tell(&mut self, told: Type, compatible: bool) -> Result<(), Unsettled> {
        self.element = Some(match self.element.take() {
            None => told,
            Some(known) if same(&known, &told) => known,
            Some(known) if compatible && implicit(&told, &known) => known,
            Some(known) if compatible && implicit(&known, &told) => told,
            Some(_) => return Err(Unsettled::Unfit),
        });
        Ok(())
    }

    /// What is told of the range type.
    fn is_of(&mut self, of: &ranges::Family) -> Result<(), Unsettled> {
        match &self.range {
            Some(known) if *known != of.range => Err(Unsettled::Unfit),
            _ => {
                self.range = Some(of.range.clone());
                Ok(())
            }
        }
    }

    /// Checks that each of the types stands for something fitting.
    fn check(mut self, arguments: &[(Polymorphic, &Type)], compatible: bool) -> Result<Self, Unsettled> {
        // An enum type follows from nothing but a value of it.
        if self.element.is_none() && arguments.iter().any(|(any, _)| *any == Polymorphic::Enum) {
            return Err(Unsettled::Unfit);
        }
        if self.element.is_none() && !compatible && !arguments.is_empty() {
            return Err(Unsettled::Unknown);
        }
        if let Some((any, _)) = arguments.iter().find(|(any, _)| any.is_of_ranges() && self.range.is_none()) {
            return Err(Unsettled::UnknownRange(*any));
        }
        if compatible && !arguments.is_empty() {
            self.element.get_or_insert(Type::Text);
        }
        for (any, _) in arguments {
            let fits = match (any.shape(), &self.element) {
                (Shape::Enum, Some(element)) => element.labels().is_some(),
                (Shape::NonArray, Some(element)) => !matches!(element, Type::Array(_)),
                _ => true,
            };
            if !fits {
                return Err(Unsettled::Unfit);
            }
        }
        Ok(self)
    }
}

fn array_of(element: Type) -> Type {
    match element {
        Type::Array(_) => element,
        element => Type::Array(Box::new(element)),
    }
}

impl Unsettled {
    /// What PostgreSQL says where no argument tells.
    pub fn message(self) -> Option<String> {
        match self {
            Self::Unknown => Some("could not determine polymorphic type because input has type unknown".to_owned()),
            Self::UnknownRange(any) => {
                Some(format!("could not determine polymorphic type {} because input has type unknown", any.name()))
            }
            Self::Unfit => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::ranges::{INT4MULTIRANGE, INT4RANGE, NUMRANGE};

    const INTS: Type = Type::Scalar(&INT4RANGE, None);
    const MANY: Type = Type::Scalar(&INT4MULTIRANGE, None);
    const NUMBERS: Type = Type::Scalar(&NUMRANGE, None);

    fn settled(arguments: &[(Polymorphic, Type)], wanted: Polymorphic) -> Result<String, Unsettled> {
        let arguments: Vec<_> = arguments.iter().map(|(any, ty)| (*any, ty)).collect();
        let standing = Standing::of(&arguments)?;
        for standing in [standing.clone(), standing.clone().in_collation(16_400)] {
            assert_eq!(Standing::from_words(&standing.words()), Some(standing));
        }
        Ok(super::super::types::words(&standing.settled(wanted)))
    }

    #[test]
    fn types_stand_for_what_arguments_tell() {
        use Polymorphic::*;
        let ints = || Type::Array(Box::new(Type::Int4));
        assert_eq!(settled(&[(Element, Type::Int4)], Array).as_deref(), Ok("integer[]"));
        assert_eq!(settled(&[(Array, ints())], Element).as_deref(), Ok("integer"));
        assert_eq!(settled(&[(Range, INTS)], Element).as_deref(), Ok("integer"));
        assert_eq!(settled(&[(Range, INTS)], Multirange).as_deref(), Ok("int4multirange"));
        assert_eq!(settled(&[(Multirange, MANY)], Range).as_deref(), Ok("int4range"));
        assert_eq!(settled(&[(Element, Type::Unknown), (Range, INTS)], Element).as_deref(), Ok("integer"));
        assert_eq!(settled(&[(Element, Type::Int8), (Range, INTS)], Element), Err(Unsettled::Unfit));
        assert_eq!(settled(&[(Range, INTS), (Range, NUMBERS)], Range), Err(Unsettled::Unfit));
        assert_eq!(
            settled(&[(Element, Type::Int4), (Range, Type::Unknown)], Range),
            Err(Unsettled::UnknownRange(Range))
        );
        assert_eq!(settled(&[(Element, Type::Unknown)], Element), Err(Unsettled::Unknown));
        assert_eq!(settled(&[(NonArray, ints())], Element), Err(Unsettled::Unfit));
        assert_eq!(settled(&[(Range, Type::Int4)], Range), Err(Unsettled::Unfit));
    }

    #[test]
    fn compatible_types_stand_for_what_all_arguments_become() {
        use Polymorphic::*;
        let numeric = Type::Numeric(None);
        assert_eq!(
            settled(&[(Compatible, Type::Int4), (Compatible, numeric.clone())], Compatible).as_deref(),
            Ok("numeric")
        );
        assert_eq!(settled(&[(Compatible, Type::Unknown)], Compatible).as_deref(), Ok("text"));
        assert_eq!(
            settled(&[(Compatible, Type::Int4), (CompatibleRange, NUMBERS)], CompatibleMultirange).as_deref(),
            Ok("nummultirange")
        );
        // A range becomes no other.
        assert_eq!(settled(&[(Compatible, numeric), (CompatibleRange, INTS)], Compatible), Err(Unsettled::Unfit));
        assert_eq!(
            settled(&[(Compatible, Type::Int4), (CompatibleRange, Type::Unknown)], Compatible),
            Err(Unsettled::UnknownRange(CompatibleRange))
        );
        let both = [(Element, Type::Bool), (Compatible, Type::Int4)];
        assert_eq!(settled(&both, Array).as_deref(), Ok("boolean[]"));
        assert_eq!(settled(&both, CompatibleArray).as_deref(), Ok("integer[]"));
    }
}
