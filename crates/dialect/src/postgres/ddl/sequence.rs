//! Sequences: CREATE and ALTER SEQUENCE, and the options that identity columns share with them.

use pg_query::protobuf::{self as pg, DefElem, Node, node::Node as N};

use super::super::binder::Binder;
use super::super::{names, types};
use crate::ir::{CreateSequence, Ddl, Statement};
use crate::postgres::quote_ident as quote;
use crate::schema::{QualifiedName, RelationKind};
use crate::{Condition, Error, Result, Type};

/// What the options of a statement say.
pub(super) struct Options {
    /// The parameters that follow from them.
    pub(super) sequence: CreateSequence,
    /// What it yields next, when RESTART says so.
    pub(super) restart: Option<i64>,
    /// SEQUENCE NAME of an identity column.
    name: Option<QualifiedName>,
}

/// The options as they stand in the statement.
#[derive(Default)]
struct Given<'a> {
    ty: Option<&'a DefElem>,
    increment: Option<&'a DefElem>,
    min: Option<&'a DefElem>,
    max: Option<&'a DefElem>,
    start: Option<&'a DefElem>,
    restart: Option<&'a DefElem>,
    cache: Option<&'a DefElem>,
    cycle: Option<&'a DefElem>,
    owner: Option<&'a DefElem>,
    name: Option<&'a DefElem>,
}

impl Binder<'_> {
    pub(super) fn create_sequence(&mut self, create: &pg::CreateSeqStmt) -> Result<Statement> {
        let Some(range) = &create.sequence else { return Err(Error::internal("a sequence without a name")) };
        let name = self.new_name(range)?;
        let tag = "CREATE SEQUENCE";
        let taken = |binder: &Self| {
            binder.schema.sequence(&name).is_some_and(|found| name.schema.as_deref() == Some(&*found.namespace))
                || binder.schema.index(&name).is_some()
        };
        if taken(self) && !self.is_taken(&name) {
            if !create.if_not_exists {
                let message = format!("relation \"{}\" already exists", name.name);
                return Err(Error::new(Condition::DuplicateTable, message));
            }
            self.skip_duplicate(&name.name);
            return Ok(Statement::Nothing { tag });
        }
        if let Some(instead) = self.check_free(&name, create.if_not_exists, tag, range.location)? {
            return Ok(instead);
        }
        if range.relpersistence == "u" {
            self.remark(format!("sequence \"{}\" is as durable as any other: UNLOGGED has no effect", range.relname));
        }
        let options = self.sequence_options(&create.options, None, &Type::Int8, false)?;
        if let Some(Some((table, _))) = &options.sequence.owner
            && name.schema.as_deref() != Some(&*table.namespace)
        {
            return Err(elsewhere());
        }
        let sequence = CreateSequence { name, if_not_exists: create.if_not_exists, ..options.sequence };
        Ok(Statement::Ddl(Box::new(Ddl::CreateSequence(sequence))))
    }

    pub(super) fn alter_sequence(&mut self, alter: &pg::AlterSeqStmt) -> Result<Statement> {
        let Some(range) = &alter.sequence else { return Err(Error::internal("a sequence without a name")) };
        let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
        let name = QualifiedName { schema, name: range.relname.clone() };
        let tag = "ALTER SEQUENCE";
        let Some(mut known) = self.schema.sequence_definition(&name) else {
            return match self.relation(range) {
                Ok(relation) => {
                    let message = format!("\"{}\" is not a sequence", relation.name);
                    Err(self.error(Condition::WrongObjectType, message, range.location))
                }
                Err(_) if alter.missing_ok => {
                    self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
                    Ok(Statement::Nothing { tag })
                }
                Err(error) => Err(error),
            };
        };
        known.owner = None;
        let ty = known.ty.clone();
        let options = self.sequence_options(&alter.options, Some(&known), &ty, false)?;
        if let Some(Some((table, _))) = &options.sequence.owner
            && known.name.schema.as_deref() != Some(&*table.namespace)
        {
            return Err(elsewhere());
        }
        Ok(Statement::Ddl(Box::new(Ddl::AlterSequence { sequence: options.sequence, restart: options.restart })))
    }

    /// The sequence of a column that numbers itself, its name yet to be found unless the user has given it.
    pub(super) fn column_sequence(&mut self, options: &[Node], ty: &Type) -> Result<CreateSequence> {
        let options = self.sequence_options(options, None, ty, true)?;
        Ok(CreateSequence { name: options.name.unwrap_or_else(|| QualifiedName::bare("")), ..options.sequence })
    }

    /// Parameters of a sequence from options; of one that is there, what they change.
    pub(super) fn sequence_options(
        &mut self,
        nodes: &[Node],
        known: Option<&CreateSequence>,
        default_type: &Type,
        identity: bool,
    ) -> Result<Options> {
        let given = self.given_options(nodes)?;
        let mut ty = default_type.clone();
        if let Some(option) = given.ty
            && let Some(N::TypeName(name)) = option.arg.as_deref().and_then(|node| node.node.as_ref())
        {
            ty = self.resolve_type(name)?;
            if !ty.is_integer() || !matches!(ty, Type::Int2 | Type::Int4 | Type::Int8) {
                let what = if identity { "identity column" } else { "sequence" };
                return Err(invalid(format!("{what} type must be smallint, integer, or bigint")));
            }
        }
        let increment = match (number(given.increment)?, known) {
            (Some(0), _) => return Err(invalid("INCREMENT must not be zero")),
            (Some(increment), _) => increment,
            (None, Some(known)) => known.increment,
            (None, None) => 1,
        };
        let (min, max) = bounds(&given, known, &ty, increment)?;
        let start = match (number(given.start)?, known) {
            (Some(start), _) => start,
            (None, Some(known)) => known.start,
            (None, None) if increment > 0 => min,
            (None, None) => max,
        };
        check_within("START", start, min, max)?;
        let restart = match given.restart {
            None => None,
            Some(option) => Some(number(Some(option))?.unwrap_or(start)),
        };
        restart.map_or(Ok(()), |restart| check_within("RESTART", restart, min, max))?;
        let cache = match (number(given.cache)?, known) {
            (Some(cache), _) if cache < 1 => {
                return Err(invalid(format!("CACHE ({cache}) must be greater than zero")));
            }
            (Some(cache), _) => cache,
            (None, known) => known.map_or(1, |known| known.cache),
        };
        let cycle = given.cycle.map_or_else(
            || known.is_some_and(|known| known.cycle),
            |option| {
                !matches!(option.arg.as_deref().and_then(|node| node.node.as_ref()),
                    Some(N::Boolean(value)) if !value.boolval)
            },
        );
        let owner = given.owner.map(|option| self.sequence_owner(option)).transpose()?;
        let name = given.name.and_then(|option| match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::List(list)) => match names::strings(&list.items).as_slice() {
                [name] => Some(QualifiedName::bare(*name)),
                [.., schema, name] => Some(QualifiedName::new(*schema, *name)),
                [] => None,
            },
            _ => None,
        });
        let own = known.map_or_else(|| QualifiedName::bare(""), |known| known.name.clone());
        let sequence = CreateSequence {
            name: own,
            if_not_exists: false,
            ty,
            start: match (restart, known) {
                // A new one begins where it is told to.
                (Some(restart), None) => restart,
                _ => start,
            },
            increment,
            min,
            max,
            cache,
            cycle,
            owner,
        };
        Ok(Options { sequence, restart, name })
    }

    fn given_options<'a>(&self, nodes: &'a [Node]) -> Result<Given<'a>> {
        let mut given = Given::default();
        for node in nodes {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let place = match option.defname.as_str() {
                "as" => &mut given.ty,
                "increment" => &mut given.increment,
                "minvalue" => &mut given.min,
                "maxvalue" => &mut given.max,
                "start" => &mut given.start,
                "restart" => &mut given.restart,
                "cache" => &mut given.cache,
                "cycle" => &mut given.cycle,
                "owned_by" => &mut given.owner,
                "sequence_name" => &mut given.name,
                other => return Err(self.unsupported(format!("the sequence option {other}"), option.location)),
            };
            if place.replace(option).is_some() {
                return Err(self.error(Condition::SyntaxError, "conflicting or redundant options", option.location));
            }
        }
        Ok(given)
    }

    /// OWNED BY: the table and the column; nobody for NONE.
    fn sequence_owner(&mut self, option: &DefElem) -> Result<Option<(std::sync::Arc<crate::schema::Relation>, usize)>> {
        let parts = match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::List(list)) => names::strings(&list.items),
            _ => Vec::new(),
        };
        let (name, column) = match parts.as_slice() {
            ["none"] => return Ok(None),
            [table, column] => (QualifiedName::bare(*table), *column),
            [.., schema, table, column] => (QualifiedName::new(*schema, *table), *column),
            _ => {
                return Err(Error::new(Condition::SyntaxError, "invalid OWNED BY option")
                    .hint("Specify OWNED BY table.column or OWNED BY NONE."));
            }
        };
        let Some(relation) = self.schema.relation(&name) else {
            let message = format!("relation \"{name}\" does not exist");
            return Err(Error::new(Condition::UndefinedTable, message));
        };
        let kind = match relation.kind {
            RelationKind::Table => None,
            RelationKind::Catalog => Some("tables"),
            RelationKind::View { .. } | RelationKind::NativeView => Some("views"),
            RelationKind::MaterializedView { .. } => Some("materialized views"),
            RelationKind::Sequence { .. } => Some("sequences"),
        };
        if let Some(kind) = kind {
            let message = format!("sequence cannot be owned by relation \"{}\"", relation.name);
            return Err(Error::new(Condition::WrongObjectType, message)
                .detail(format!("This operation is not supported for {kind}.")));
        }
        let Some(position) = relation.column(column) else {
            let message = format!("column \"{column}\" of relation \"{}\" does not exist", relation.name);
            return Err(Error::new(Condition::UndefinedColumn, message));
        };
        Ok(Some((relation, position)))
    }
}

/// MINVALUE and MAXVALUE. A bound that was the old type's follows the type.
fn bounds(given: &Given<'_>, known: Option<&CreateSequence>, ty: &Type, increment: i64) -> Result<(i64, i64)> {
    let (least, most) = range(ty);
    let retyped = known.filter(|known| known.ty != *ty).map(|known| range(&known.ty));
    let bound = |option: Option<&DefElem>, kept: Option<i64>, default: i64| -> Result<i64> {
        Ok(match (number(option)?, option, kept) {
            (Some(value), ..) => value,
            (None, None, Some(kept)) => kept,
            (None, ..) => default,
        })
    };
    let kept_max = known.map(|known| known.max).filter(|max| retyped.is_none_or(|(_, most)| *max != most));
    let kept_min = known.map(|known| known.min).filter(|min| retyped.is_none_or(|(least, _)| *min != least));
    let max = bound(given.max, kept_max, if increment > 0 { most } else { -1 })?;
    let words = types::words(ty);
    if max < least || max > most {
        return Err(invalid(format!("MAXVALUE ({max}) is out of range for sequence data type {words}")));
    }
    let min = bound(given.min, kept_min, if increment > 0 { 1 } else { least })?;
    if min < least || min > most {
        return Err(invalid(format!("MINVALUE ({min}) is out of range for sequence data type {words}")));
    }
    if min >= max {
        return Err(invalid(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")));
    }
    Ok((min, max))
}

/// The values of an integer type.
fn range(ty: &Type) -> (i64, i64) {
    match ty {
        Type::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

fn check_within(what: &str, value: i64, min: i64, max: i64) -> Result<()> {
    if value < min {
        return Err(invalid(format!("{what} value ({value}) cannot be less than MINVALUE ({min})")));
    }
    if value > max {
        return Err(invalid(format!("{what} value ({value}) cannot be greater than MAXVALUE ({max})")));
    }
    Ok(())
}

/// The number that an option has; `None` without one (NO MAXVALUE, RESTART).
fn number(option: Option<&DefElem>) -> Result<Option<i64>> {
    let Some(option) = option else { return Ok(None) };
    let Some(node) = option.arg.as_deref().and_then(|node| node.node.as_ref()) else { return Ok(None) };
    let value = match node {
        N::Integer(value) => Some(i64::from(value.ival)),
        N::Float(value) => value.fval.parse().ok(),
        _ => None,
    };
    match value {
        Some(value) => Ok(Some(value)),
        None => {
            let shown = match node {
                N::Float(value) => value.fval.clone(),
                _ => String::new(),
            };
            Err(Error::new(
                Condition::NumericValueOutOfRange,
                format!("value \"{shown}\" is out of range for type bigint"),
            ))
        }
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidParameterValue, message.into())
}

fn elsewhere() -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, "sequence must be in same schema as table it is linked to")
}

/// `nextval('q'::regclass)`, as a column's default prints it.
pub fn next_text(sequence: &QualifiedName) -> String {
    let shown = match &sequence.schema {
        Some(schema) if schema != "public" => format!("{}.{}", quote(schema), quote(&sequence.name)),
        _ => quote(&sequence.name),
    };
    format!("nextval('{}'::regclass)", shown.replace('\'', "''"))
}
