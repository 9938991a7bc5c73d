//! CREATE TYPE … AS RANGE: the range type, and the multirange type that is made with it.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::Binder;
use super::super::{coerce, names, types};
use super::user_type::{change, name_of_parts};
use crate::bind::names::{NAME_LENGTH, clipped};
use crate::collation::Collation;
use crate::functions::Volatility;
use crate::ir::{NewUserType, Statement, UserTypeChange};
use crate::schema::QualifiedName;
use crate::stored_function::TypeRef;
use crate::{Condition, Error, Result, Type};

/// The object id of the access method whose operator classes order values.
const BTREE: u32 = 403;

/// `double precision`
const FLOAT8: u32 = 701;

/// What stands behind AS RANGE.
#[derive(Default)]
struct Attributes<'a> {
    subtype: Option<Type>,
    operator_class: Option<Vec<&'a str>>,
    collation: Option<&'a [Node]>,
    canonical: bool,
    difference: Option<&'a [Node]>,
    multirange: Option<QualifiedName>,
}

impl Binder<'_> {
    pub(super) fn create_range(&mut self, create: &pg::CreateRangeStmt) -> Result<Statement> {
        let name = self.new_type_name(&create.type_name)?;
        let attributes = self.range_attributes(&create.params)?;
        let Some(subtype) = attributes.subtype else {
            return Err(Error::new(Condition::SyntaxError, "type attribute \"subtype\" is required"));
        };
        crate::composite::check_part(&subtype, None)?;
        let operator_class = operator_class(&subtype, attributes.operator_class.as_deref())?;
        let collation = self.range_collation(&subtype, attributes.collation)?;
        if attributes.canonical {
            let message = "cannot specify a canonical function without a pre-created shell type";
            return Err(Error::new(Condition::InvalidObjectDefinition, message).hint(
                "Create the type as a shell type, then create its canonicalization function, then do a full CREATE TYPE.",
            ));
        }
        let difference = match attributes.difference {
            Some(function) => self.subtype_difference(function, &subtype)?,
            None => 0,
        };
        let multirange = match attributes.multirange {
            Some(multirange) if multirange == name => return Err(already_exists(&multirange.name)),
            Some(multirange) => multirange,
            None => self.multirange_name(&name)?,
        };
        let kind = NewUserType::Range { subtype, operator_class, collation, difference, multirange };
        Ok(change(UserTypeChange::Create { name, kind }))
    }

    fn range_attributes<'a>(&mut self, params: &'a [Node]) -> Result<Attributes<'a>> {
        let mut found = Attributes::default();
        for node in params {
            let Some(N::DefElem(element)) = &node.node else { continue };
            let parts = || match element.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
                Some(N::TypeName(name)) => Ok(name.names.as_slice()),
                Some(N::List(list)) => Ok(list.items.as_slice()),
                _ => {
                    let message = format!("argument of {} must be a name", element.defname);
                    Err(Error::new(Condition::SyntaxError, message))
                }
            };
            let twice = match element.defname.as_str() {
                "subtype" => {
                    let twice = found.subtype.is_some();
                    found.subtype = Some(self.range_subtype(element)?);
                    twice
                }
                "subtype_opclass" => found.operator_class.replace(names::strings(parts()?)).is_some(),
                "collation" => found.collation.replace(parts()?).is_some(),
                "canonical" => std::mem::replace(&mut found.canonical, true),
                "subtype_diff" => found.difference.replace(parts()?).is_some(),
                "multirange_type_name" => {
                    let name = self.named_multirange(parts()?)?;
                    found.multirange.replace(name).is_some()
                }
                other => {
                    let message = format!("type attribute \"{other}\" not recognized");
                    return Err(Error::new(Condition::SyntaxError, message));
                }
            };
            if twice {
                return Err(self.error(Condition::SyntaxError, "conflicting or redundant options", element.location));
            }
        }
        Ok(found)
    }

    fn range_subtype(&mut self, element: &pg::DefElem) -> Result<Type> {
        let Some(N::TypeName(name)) = element.arg.as_deref().and_then(|arg| arg.node.as_ref()) else {
            let message = format!("{} requires a type name", element.defname);
            return Err(Error::new(Condition::SyntaxError, message));
        };
        let word = names::of_type(name).1;
        if let Some(pseudo) = facts::Type::named(word).filter(|fact| fact.kind == 'p' && name.array_bounds.is_empty()) {
            let message = format!("range subtype cannot be {}", pseudo.name);
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        let ty = self.resolve_type(name)?;
        self.needs.declare(&ty);
        // A modifier says nothing there.
        Ok(if matches!(ty, Type::User(_)) { ty } else { coerce::base(&ty) })
    }

    /// The name that is said for the multirange type.
    fn named_multirange(&self, parts: &[Node]) -> Result<QualifiedName> {
        let name = name_of_parts(parts);
        match name.schema.as_deref() {
            Some("pg_catalog") if types::is_known(&name.name) => Err(already_exists(&name.name)),
            _ => self.new_type_name_of(name),
        }
    }

    /// The name that the multirange type of a range type gets by itself.
    fn multirange_name(&self, range: &QualifiedName) -> Result<QualifiedName> {
        let name = multirange_name(&range.name);
        let name = QualifiedName { schema: range.schema.clone(), name };
        if self.schema.user_type(&name).is_some() || self.is_taken(&name) {
            return Err(already_exists(&name.name)
                .detail(format!("Failed while creating a multirange type for type \"{}\".", range.name))
                .hint(
                    "You can manually specify a multirange type name using the \"multirange_type_name\" attribute.",
                ));
        }
        Ok(name)
    }

    /// The collation, where the subtype has one.
    fn range_collation(&mut self, subtype: &Type, given: Option<&[Node]>) -> Result<Option<Arc<Collation>>> {
        let own = Collation::of_type(subtype).cloned();
        match given {
            None => Ok(own),
            Some(_) if own.is_none() => {
                let message = "range collation specified but subtype does not support collation";
                Err(Error::new(Condition::WrongObjectType, message))
            }
            Some(name) => self.collation(name, -1).map(Some),
        }
    }

    /// The object id of the function that says how far two values are from each other.
    fn subtype_difference(&self, parts: &[Node], subtype: &Type) -> Result<u32> {
        let name = name_of_parts(parts);
        let wanted = [types::oid(subtype); 2];
        let words = types::words(subtype);
        let shown = format!("{}({words}, {words})", names::strings(parts).join("."));
        let built_in = facts::Function::named(&name.name).iter().find(|fact| *fact.arguments == wanted);
        let found = match built_in.filter(|_| matches!(name.schema.as_deref(), None | Some("pg_catalog"))) {
            Some(fact) => Some((fact.oid, fact.result, fact.volatility == 'i')),
            None => self.schema.functions(&name).iter().find_map(|function| {
                let definition = &function.definition;
                let inputs = definition.inputs().map(|param| param.ty.oid(self.schema));
                let immutable = definition.volatility == Volatility::Immutable;
                let result = match &definition.returns {
                    TypeRef::Is(ty) if !definition.set => types::oid(ty),
                    _ => 0,
                };
                inputs.eq(wanted).then_some((function.oid, result, immutable))
            }),
        };
        let wrong = |message: String| Err(Error::new(Condition::InvalidObjectDefinition, message));
        match found {
            None => Err(Error::new(Condition::UndefinedFunction, format!("function {shown} does not exist"))),
            Some((_, result, _)) if result != FLOAT8 => {
                wrong(format!("range subtype diff function {shown} must return type double precision"))
            }
            Some((_, _, false)) => wrong(format!("range subtype diff function {shown} must be immutable")),
            Some((oid, ..)) => Ok(oid),
        }
    }
}

fn already_exists(name: &str) -> Error {
    Error::new(Condition::DuplicateObject, format!("type \"{name}\" already exists"))
}

/// `floatrange` has `floatmultirange`, `spans` has `spans_multirange`.
fn multirange_name(range: &str) -> String {
    let mut name = match range.find("range") {
        Some(at) => format!("{}multi{}", &range[..at], &range[at..]),
        None => format!("{}_multirange", clipped(range, NAME_LENGTH + 1 - "_multirange".len() - 1)),
    };
    name.truncate(clipped(&name, NAME_LENGTH).len());
    name
}

/// The object id of the operator class of a name, or of the one that orders a type by itself.
fn operator_class(subtype: &Type, given: Option<&[&str]>) -> Result<u32> {
    let shown = types::words(subtype);
    let base = subtype.through_domains();
    let classes = || facts::OperatorClass::all().iter().filter(|class| class.method == BTREE);
    let by_default = classes().find(|class| class.is_default && takes(class.input, base));
    let Some(name) = given else {
        let Some(class) = by_default.filter(|_| base.is_ordered()) else {
            let message = format!("data type {shown} has no default operator class for access method \"btree\"");
            return Err(Error::new(Condition::UndefinedObject, message).hint(
                "You must specify an operator class for the range type or define a default operator class for the subtype.",
            ));
        };
        return Ok(class.oid);
    };
    let own = name.len() == 1 || name.first() == Some(&"pg_catalog");
    let word = name.last().copied().unwrap_or_default();
    let Some(class) = classes().find(|class| own && class.name == word) else {
        let message = format!("operator class \"{}\" does not exist for access method \"btree\"", name.join("."));
        return Err(Error::new(Condition::UndefinedObject, message));
    };
    if !takes(class.input, base) {
        let message = format!("operator class \"{word}\" does not accept data type {shown}");
        return Err(Error::new(Condition::DatatypeMismatch, message));
    }
    // Texts are ordered by their bytes, as patterns ask for it.
    if by_default != Some(class) && !class.name.ends_with("_pattern_ops") {
        return Err(Error::unsupported(format!("a range type in the operator class \"{word}\"")));
    }
    Ok(class.oid)
}

/// True when operators of an operator class of some type take values of another as they are.
pub(super) fn takes(input: u32, ty: &Type) -> bool {
    let pseudo = match facts::Type::by_oid(input).map_or("", |fact| fact.name) {
        "anyarray" => matches!(ty, Type::Array(_)),
        "anyenum" => ty.labels().is_some(),
        "anyrange" => crate::scalar::ranges::of_range(ty).is_some(),
        "anymultirange" => crate::scalar::ranges::of_multirange(ty).is_some(),
        "record" => ty.is_row(),
        _ => false,
    };
    let oid = types::oid(ty);
    pseudo
        || input == oid
        || facts::Cast::between(oid, input).is_some_and(|cast| cast.method == 'b' && cast.context == 'i')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multirange_types_are_named_for_their_range_types() {
        assert_eq!(multirange_name("floatrange"), "floatmultirange");
        assert_eq!(multirange_name("textrange1"), "textmultirange1");
        assert_eq!(multirange_name("spans"), "spans_multirange");
        let long = "x".repeat(63);
        assert_eq!(multirange_name(&long), format!("{}_multirange", "x".repeat(52)));
        assert_eq!(multirange_name(&"é".repeat(31)), format!("{}_multirange", "é".repeat(26)));
        assert_eq!(multirange_name(&format!("{}range", "é".repeat(29))), format!("{}multi", "é".repeat(29)));
    }

    #[test]
    fn operator_classes_are_those_that_order_the_subtype() {
        let name = |ty: &Type, given: Option<&[&str]>| {
            let oid = operator_class(ty, given).map_err(|error| error.message.clone())?;
            Ok::<_, String>(facts::OperatorClass::all().iter().find(|class| class.oid == oid).unwrap().name)
        };
        assert_eq!(name(&Type::Float8, None), Ok("float8_ops"));
        assert_eq!(name(&Type::Varchar(None), None), Ok("text_ops"));
        assert_eq!(name(&Type::Array(Box::new(Type::Int4)), None), Ok("array_ops"));
        assert_eq!(name(&Type::Text, Some(&["text_pattern_ops"])), Ok("text_pattern_ops"));
        let none = "data type json has no default operator class for access method \"btree\"";
        assert_eq!(name(&Type::Json, None), Err(none.to_owned()));
        let wrong = "operator class \"int4_ops\" does not accept data type double precision";
        assert_eq!(name(&Type::Float8, Some(&["int4_ops"])), Err(wrong.to_owned()));
    }
}
