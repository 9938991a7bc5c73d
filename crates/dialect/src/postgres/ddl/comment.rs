//! COMMENT ON.

use pg_query::protobuf::{self as pg, ObjectType, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::Binder;
use super::super::{names, types};
use crate::access::relation_words;
use crate::ir::{AlterUserType, Ddl, UserTypeChange};
use crate::schema::QualifiedName;
use crate::{Condition, Error, Result};

impl Binder<'_> {
    pub(super) fn comment(&mut self, comment: &pg::CommentStmt) -> Result<Ddl> {
        let parts: Vec<String> = match comment.object.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::List(list)) => names::strings(&list.items).into_iter().map(str::to_owned).collect(),
            Some(N::String(name)) => vec![name.sval.clone()],
            _ => Vec::new(),
        };
        let text = (!comment.comment.is_empty()).then(|| comment.comment.clone());
        if let (ObjectType::ObjectOperator | ObjectType::ObjectCast, Some(object)) =
            (comment.objtype(), comment.object.as_deref())
            && let Some((oid, kind, name)) = self.comment_on_built_in(comment.objtype(), object)?
        {
            return Ok(Ddl::CommentObject { oid: Some(oid), kind, name, owner: None, text });
        }
        if let Some(done) = self.comment_on_small_object(comment, &parts, &text)? {
            return Ok(done);
        }
        if let Some(done) = self.comment_on_object(comment, &text)? {
            return Ok(done);
        }
        let (object, member) = match comment.objtype() {
            ObjectType::ObjectColumn | ObjectType::ObjectTabconstraint => match parts.split_last() {
                Some((member, object)) => (object, Some(member.clone())),
                None => return Err(Error::internal("a comment on nothing")),
            },
            ObjectType::ObjectTable
            | ObjectType::ObjectView
            | ObjectType::ObjectMatview
            | ObjectType::ObjectIndex
            | ObjectType::ObjectSequence => (parts.as_slice(), None),
            other => {
                let words = super::super::refused::object(other);
                return Err(self.unsupported(format!("COMMENT ON {words}"), -1));
            }
        };
        let name = match object {
            [name] => QualifiedName::bare(name.clone()),
            [.., schema, name] => QualifiedName::new(schema.clone(), name.clone()),
            [] => return Err(Error::new(Condition::SyntaxError, "column name must be qualified")),
        };
        let missing = || Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"));
        match comment.objtype() {
            ObjectType::ObjectIndex => {
                let Some((relation, at)) = self.schema.index(&name) else { return Err(missing()) };
                let part = relation.indexes[at].name.clone();
                return Ok(Ddl::CommentPart { relation, part, index: true, text });
            }
            ObjectType::ObjectSequence => {
                let Some(sequence) = self.schema.sequence(&name) else { return Err(missing()) };
                let name = QualifiedName::new(sequence.namespace.clone(), sequence.name.clone());
                return Ok(Ddl::CommentSequence { name, text });
            }
            _ => {}
        }
        let Some(relation) = self.schema.relation(&name) else {
            return match (comment.objtype(), &member) {
                (ObjectType::ObjectColumn, Some(member)) => self.comment_on_attribute(&name, member, text),
                _ => Err(missing()),
            };
        };
        let wanted = match comment.objtype() {
            ObjectType::ObjectTable => "table",
            ObjectType::ObjectView => "view",
            ObjectType::ObjectMatview => "materialized view",
            _ => relation_words(&relation),
        };
        if wanted != relation_words(&relation) {
            let message = format!("\"{}\" is not a {wanted}", relation.name);
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        let Some(member) = member else { return Ok(Ddl::Comment { relation, column: None, text }) };
        if comment.objtype() == ObjectType::ObjectTabconstraint {
            let known = relation.checks.iter().any(|check| check.name == member)
                || relation.foreign_keys.iter().any(|key| key.name == member)
                || relation.indexes.iter().any(|index| index.constraint && index.name == member);
            if !known {
                let message = format!("constraint \"{member}\" for table \"{}\" does not exist", relation.name);
                return Err(Error::new(Condition::UndefinedObject, message));
            }
            return Ok(Ddl::CommentPart { relation, part: member, index: false, text });
        }
        match relation.column(&member) {
            Some(position) => Ok(Ddl::Comment { relation, column: Some(position), text }),
            None => {
                let message = format!("column \"{member}\" of relation \"{}\" does not exist", relation.name);
                Err(Error::new(Condition::UndefinedColumn, message))
            }
        }
    }

    /// COMMENT ON COLUMN of an attribute of a composite type.
    fn comment_on_attribute(&mut self, name: &QualifiedName, attribute: &str, text: Option<String>) -> Result<Ddl> {
        let found = self.schema.user_type(name).filter(|ty| ty.composite().is_some());
        let Some(ty) = found else {
            return Err(Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")));
        };
        let composite = ty.composite().into_iter().flat_map(|composite| composite.live());
        let Some((place, _)) = composite.into_iter().find(|(_, field)| field.name == attribute) else {
            let message = format!("column \"{attribute}\" of relation \"{}\" does not exist", ty.name);
            return Err(Error::new(Condition::UndefinedColumn, message));
        };
        let action = AlterUserType::CommentField(place, text);
        Ok(Ddl::UserType(UserTypeChange::Alter { ty, action, tag: "COMMENT" }))
    }

    /// The same on what is no relation and no part of one.
    fn comment_on_small_object(
        &mut self,
        comment: &pg::CommentStmt,
        parts: &[String],
        text: &Option<String>,
    ) -> Result<Option<Ddl>> {
        let text = text.clone();
        let ddl = match comment.objtype() {
            kind if super::user_type::is_type(kind) => self.comment_on_type(comment),
            ObjectType::ObjectDomconstraint => self.comment_on_domain_constraint(comment, text),
            ObjectType::ObjectExtension => self.comment_on_extension(parts, text),
            ObjectType::ObjectCollation => self.comment_on_collation(parts, text),
            ObjectType::ObjectOperator => self.comment_on_operator(comment, text),
            ObjectType::ObjectCast => self.comment_on_cast(comment, text),
            ObjectType::ObjectStatisticExt => self.comment_on_statistics(comment, text),
            kind if let Some(kind) = super::text_search::kind_of(kind) => {
                self.comment_on_search_object(comment, kind, text)
            }
            ObjectType::ObjectTrigger => self.comment_on_trigger(parts, text),
            ObjectType::ObjectPolicy => self.comment_on_policy(parts, text),
            ObjectType::ObjectRule => self.comment_on_rule(parts, text),
            _ => return Ok(None),
        };
        ddl.map(Some)
    }

    /// What is known by its object id alone.
    fn comment_on_object(&mut self, comment: &pg::CommentStmt, text: &Option<String>) -> Result<Option<Ddl>> {
        let Some(object) = comment.object.as_deref() else { return Ok(None) };
        let name = match &object.node {
            Some(N::String(name)) => name.sval.clone(),
            _ => String::new(),
        };
        let (oid, kind, name) = match comment.objtype() {
            ObjectType::ObjectSchema => {
                if !self.schema.has_namespace(&name) {
                    let message = format!("schema \"{name}\" does not exist");
                    return Err(Error::new(Condition::InvalidSchemaName, message));
                }
                (None, "schema", name)
            }
            kind if super::is_function(kind) => {
                let Some(function) = self.named_function(object, kind, false)? else {
                    return Err(Error::internal("a function went astray"));
                };
                (Some(function.oid), "function", function.name.clone())
            }
            _ => match self.comment_on_own(comment.objtype(), object)? {
                Some((oid, kind, name)) => (Some(oid), kind, name),
                None => return Ok(None),
            },
        };
        Ok(Some(Ddl::CommentObject { oid, kind, name, owner: None, text: text.clone() }))
    }

    /// What PostgreSQL brings along, of kinds of which users can make nothing here: object id, kind and name.
    fn comment_on_own(&mut self, kind: ObjectType, object: &pg::Node) -> Result<Option<(u32, &'static str, String)>> {
        let missing = |what: String| Error::new(Condition::UndefinedObject, format!("{what} does not exist"));
        let parts: Vec<String> = match &object.node {
            Some(N::List(list)) => names::strings(&list.items).into_iter().map(str::to_owned).collect(),
            Some(N::String(name)) => vec![name.sval.clone()],
            _ => Vec::new(),
        };
        let last = parts.last().cloned().unwrap_or_default();
        Ok(Some(match kind {
            ObjectType::ObjectLanguage => {
                let found = facts::Language::all().iter().find(|language| language.name == last).map(|known| known.oid);
                let found = found.or_else(|| (last == "plpgsql").then_some(crate::stored_function::PLPGSQL));
                (found.ok_or_else(|| missing(format!("language \"{last}\"")))?, "language", last)
            }
            ObjectType::ObjectAccessMethod => {
                let found = facts::AccessMethod::all().iter().find(|method| method.name == last);
                (found.ok_or_else(|| missing(format!("access method \"{last}\"")))?.oid, "access method", last)
            }
            ObjectType::ObjectConversion => {
                let found = facts::Conversion::all().iter().find(|conversion| conversion.name == last);
                (found.ok_or_else(|| missing(format!("conversion \"{last}\"")))?.oid, "conversion", last)
            }
            ObjectType::ObjectOpclass | ObjectType::ObjectOpfamily => {
                let [method, .., name] = parts.as_slice() else { return Ok(None) };
                let Some(of) = facts::AccessMethod::all().iter().find(|known| known.name == method) else {
                    return Err(missing(format!("access method \"{method}\"")));
                };
                let (kind, found) = if kind == ObjectType::ObjectOpclass {
                    let mut classes = facts::OperatorClass::all().iter();
                    let found = classes.find(|known| known.method == of.oid && known.name == name);
                    ("operator class", found.map(|known| known.oid))
                } else {
                    let mut families = facts::OperatorFamily::all().iter();
                    let found = families.find(|known| known.method == of.oid && known.name == name);
                    ("operator family", found.map(|known| known.oid))
                };
                let unknown = || {
                    let message = format!("{kind} \"{name}\" does not exist for access method \"{method}\"");
                    Error::new(Condition::UndefinedObject, message)
                };
                (found.ok_or_else(unknown)?, kind, name.clone())
            }
            _ => return Ok(None),
        }))
    }

    /// A cast or an operator of PostgreSQL's own.
    fn comment_on_built_in(
        &mut self,
        kind: ObjectType,
        object: &pg::Node,
    ) -> Result<Option<(u32, &'static str, String)>> {
        let mut sides: Vec<u32> = Vec::with_capacity(2);
        let (name, nodes) = match &object.node {
            Some(N::ObjectWithArgs(named)) => {
                (names::strings(&named.objname).last().map_or("", |name| name), named.objargs.as_slice())
            }
            Some(N::List(list)) => ("", list.items.as_slice()),
            _ => return Ok(None),
        };
        for node in nodes {
            sides.push(match &node.node {
                Some(N::TypeName(name)) => types::oid(&self.resolve_type(name)?),
                // NONE, of an operator with one side.
                _ => 0,
            });
        }
        Ok(if kind == ObjectType::ObjectCast {
            let mut casts = facts::Cast::all().iter();
            let found = casts.find(|cast| sides.as_slice() == [cast.source, cast.target]);
            found.map(|cast| (cast.oid, "cast", "cast".to_owned()))
        } else {
            let mut operators = facts::Operator::named(name).iter();
            let found = operators.find(|operator| sides.as_slice() == [operator.left_type, operator.right_type]);
            found.map(|operator| (operator.oid, "operator", name.to_owned()))
        })
    }
}
