//! Partitioned tables, as statements meet them: where the rows go that are written.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, node::Node as N};

use super::binder::{Binder, Clause, Entry};
use super::{names, quote_ident, raw};
use crate::collation::Collation;
use crate::heritage;
use crate::ir::{Expr, RelId, Routing};
use crate::partition::{Above, Key, KeyType, Level, Partitioning, Place, Strategy, Target, Tree, Values};
use crate::plan::Context;
use crate::schema::Relation;
use crate::values::Settings;
use crate::{Error, Language, Result, Schema};

/// Reads PARTITION BY as a file keeps it; `None` for what somebody else has written there.
pub fn partitioning(text: &str) -> Option<Partitioning> {
    let statements = raw::parse(&format!("CREATE TABLE t () PARTITION BY {text}")).ok()?;
    match &*statements.first()?.tree {
        N::CreateStmt(create) => of_spec(create.partspec.as_ref()?),
        _ => None,
    }
}

/// PARTITION BY as the parser has read it.
pub(super) fn of_spec(spec: &pg::PartitionSpec) -> Option<Partitioning> {
    let strategy = match spec.strategy() {
        pg::PartitionStrategy::Hash => Strategy::Hash,
        pg::PartitionStrategy::List => Strategy::List,
        pg::PartitionStrategy::Range => Strategy::Range,
        pg::PartitionStrategy::Undefined => return None,
    };
    let keys = spec.part_params.iter().map(|node| match &node.node {
        Some(N::PartitionElem(element)) => {
            let text = match &element.expr {
                None => quote_ident(&element.name),
                Some(expr) => raw::print_expression(expr)?,
            };
            let called = element.expr.as_ref().is_none_or(|expr| matches!(expr.node, Some(N::FuncCall(_))));
            let bare = called || text.starts_with('(') && text.ends_with(')');
            Some(Key {
                column: element.expr.is_none().then(|| element.name.clone()),
                text: if bare { text } else { format!("({text})") },
                collation: names::strings(&element.collation).last().map(|name| (*name).to_owned()),
                opclass: names::strings(&element.opclass).last().map(|name| (*name).to_owned()),
            })
        }
        _ => None,
    });
    Some(Partitioning { strategy, keys: keys.collect::<Option<_>>()? })
}

/// The tree under construction.
struct Build {
    levels: Vec<Level>,
    members: Vec<Arc<Relation>>,
    keys: Vec<Expr>,
}

impl Binder<'_> {
    /// Where rows go that are written to a table; `None` where they go into the table itself, whatever they are.
    pub(super) fn routing(&mut self, relation: &Arc<Relation>, id: RelId) -> Result<Option<Box<Routing>>> {
        if !relation.is_partitioned() && relation.bound().is_none() {
            return Ok(None);
        }
        let entry = Entry::of_relation(relation, id, None);
        let mut build = Build { levels: Vec::new(), members: Vec::new(), keys: Vec::new() };
        if relation.is_partitioned() {
            // Which table a row is of is known when it has been written.
            self.families.insert(id, relation.clone());
            self.add_level(relation, &entry, &mut build)?;
        } else {
            build.members.push(relation.clone());
        }
        let mut above = Vec::new();
        let mut below = relation.clone();
        while below.bound().is_some() {
            let parents = heritage::parents(self.schema, &below);
            let Some(parent) = parents.into_iter().next() else {
                return Err(Error::internal(format!("\"{}\" is a partition of nothing", below.name)));
            };
            let mut level = self.level(&parent, &entry, &mut build.keys)?;
            let children = self.schema.heirs(parent.oid);
            for child in &children {
                level.places.push(Place { values: self.values_of(child, &level.keys)?, target: Target::Elsewhere });
            }
            let wanted = children.iter().position(|child| child.oid == below.oid);
            let wanted = wanted.ok_or_else(|| Error::internal("a partition that its parent does not know"))?;
            above.push(Above { level, wanted });
            below = parent;
        }
        let tree = Tree { head: relation.clone(), levels: build.levels, above };
        Ok(Some(Box::new(Routing::new(Arc::new(tree), build.members, build.keys))))
    }

    /// A partitioned table with all that is below it; its number.
    fn add_level(&mut self, relation: &Arc<Relation>, entry: &Entry, build: &mut Build) -> Result<usize> {
        let at = build.levels.len();
        let level = self.level(relation, entry, &mut build.keys)?;
        build.levels.push(level);
        for child in self.schema.heirs(relation.oid) {
            let values = self.values_of(&child, &build.levels[at].keys)?;
            let target = if child.is_partitioned() {
                Target::Level(self.add_level(&child, entry, build)?)
            } else {
                build.members.push(child);
                Target::Leaf(build.members.len() - 1)
            };
            build.levels[at].places.push(Place { values, target });
        }
        Ok(at)
    }

    /// A partitioned table by itself; its key joins the others.
    fn level(&mut self, relation: &Arc<Relation>, entry: &Entry, keys: &mut Vec<Expr>) -> Result<Level> {
        let Some(partitioning) = relation.partitioning.clone() else {
            return Err(Error::internal(format!("\"{}\" is not partitioned", relation.name)));
        };
        let first = keys.len();
        let mut own = Vec::with_capacity(partitioning.keys.len());
        for key in &partitioning.keys {
            let expr = self.partition_key(key, entry)?;
            let named = key.collation.as_deref().and_then(|property| Collation::of_property(property, self.schema));
            let column = key.column.as_deref().and_then(|name| relation.column(name));
            let column = column.and_then(|at| relation.columns[at].collation.clone());
            let collation = named.or(column).filter(|collation| collation.is_unicode());
            own.push(KeyType { ty: expr.ty.clone(), shown: key.text.clone(), collation });
            keys.push(expr);
        }
        let strategy = partitioning.strategy;
        Ok(Level { relation: relation.clone(), strategy, keys: own, first, places: Vec::new() })
    }

    /// A key over a row in scope.
    pub(super) fn partition_key(&mut self, key: &Key, entry: &Entry) -> Result<Expr> {
        if let Some(name) = &key.column {
            let found = entry.columns.iter().find(|column| column.name == *name);
            let found = found.ok_or_else(|| Error::internal(format!("the partition key \"{name}\" is no column")))?;
            return Ok(found.expr.clone());
        }
        self.stored(&key.text, Language::Postgres, vec![entry.clone()], Clause::Check)
    }

    /// The types of a table's partition key.
    pub(super) fn key_types(&mut self, relation: &Arc<Relation>) -> Result<Vec<KeyType>> {
        let entry = Entry::of_relation(relation, crate::ir::Text::TABLE, None);
        Ok(self.level(relation, &entry, &mut Vec::new())?.keys)
    }

    /// A partition's bound as values of its parent's key.
    pub(super) fn values_of(&self, partition: &Relation, keys: &[KeyType]) -> Result<Values> {
        let bound = partition.bound().ok_or_else(|| {
            Error::internal(format!("\"{}\" is a child of a partitioned table and has no bound", partition.name))
        })?;
        Values::of(bound, keys, &Settings::default())
    }

    /// A table that is partitioned, with its partitions as they are now.
    pub(super) fn level_of(&mut self, relation: &Arc<Relation>) -> Result<(Level, Vec<Arc<Relation>>)> {
        let entry = Entry::of_relation(relation, crate::ir::Text::TABLE, None);
        let mut level = self.level(relation, &entry, &mut Vec::new())?;
        let children = self.schema.heirs(relation.oid);
        for (at, child) in children.iter().enumerate() {
            let values = self.values_of(child, &level.keys)?;
            level.places.push(Place { values, target: Target::Leaf(at) });
        }
        Ok((level, children))
    }
}

/// True where PostgreSQL prints a bound's value of a type without quotes.
pub fn is_plain_literal(ty: &crate::Type, text: &str) -> bool {
    let starts = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
    match ty.through_domains() {
        crate::Type::Int4 => starts,
        crate::Type::Numeric(_) => starts && text.bytes().all(|byte| b"0123456789 +-eE.".contains(&byte)),
        crate::Type::Bool => true,
        _ => false,
    }
}

/// A partitioned table with its partitions as they are, and its key over the rows of a table that has its columns.
///
/// # Errors
/// As for any expression.
pub fn bind_partition(
    parent: &Arc<Relation>,
    over: &Arc<Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<(Level, Vec<Arc<Relation>>, Vec<Expr>)> {
    let mut binder = Binder::detached(schema, context);
    let (level, children) = binder.level_of(parent)?;
    let entry = Entry::of_relation(over, crate::ir::Text::TABLE, None);
    let mut keys = Vec::new();
    binder.level(parent, &entry, &mut keys)?;
    Ok((level, children, keys))
}

/// Where the rows of a table belong that are known as a whole; keys are over the relation [`crate::ir::Text::TABLE`].
///
/// # Errors
/// As for any expression.
pub fn bind_routing(relation: &Arc<Relation>, schema: &dyn Schema, context: &Context) -> Result<Option<Routing>> {
    let mut binder = Binder::detached(schema, context);
    Ok(binder.routing(relation, crate::ir::Text::TABLE)?.map(|routing| *routing))
}

/// True for an expression that names a column.
pub(super) fn names_column(text: &str, column: &str) -> bool {
    let Ok(statements) = raw::parse(&format!("SELECT {text}")) else { return true };
    let Some(statement) = statements.first() else { return true };
    statement.tree.nodes().iter().any(|(node, ..)| match node {
        pg_query::NodeRef::ColumnRef(reference) => names::strings(&reference.fields).last() == Some(&column),
        _ => false,
    })
}
