//! CREATE TABLE … PARTITION BY and PARTITION OF, ALTER TABLE … ATTACH and DETACH PARTITION.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::{Binder, Clause, Scope};
use super::super::expr::location;
use super::super::{names, partitions, types};
use super::table::Draft;
use crate::bind::names::Unnamed;
use crate::collation::Collation;
use crate::ir::{
    BoundExprs, CastContext, ChangePartition, ColumnDefinition, Constraint, ConstraintKind, ConstraintOptions, Ddl,
    EdgeExpr, Expr, ExprKind, NewPartition, Statement, Value, walk,
};
use crate::partition::{KeyType, PARTITION_BY, Partitioning, Strategy, is_hashed};
use crate::schema::{Relation, RelationKind};
use crate::{Condition, Error, Result, Type};

/// PostgreSQL's limit of columns in a partition key.
const MAX_KEYS: usize = 32;

fn definition_error(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidTableDefinition, message)
}

impl Binder<'_> {
    /// PARTITION BY: the key is noted, and the constraints of the draft have to go with it.
    pub(super) fn partition_by(&mut self, spec: &pg::PartitionSpec, draft: &mut Draft) -> Result<()> {
        let Some(mut partitioning) = partitions::of_spec(spec) else {
            return Err(self.unsupported("this partition key", spec.location));
        };
        let object = |message: String| Error::new(Condition::InvalidObjectDefinition, message);
        if partitioning.strategy == Strategy::List && partitioning.keys.len() > 1 {
            return Err(object("cannot use \"list\" partition strategy with more than one column".to_owned()));
        }
        if partitioning.keys.len() > MAX_KEYS {
            let message = format!("cannot partition using more than {MAX_KEYS} columns");
            return Err(Error::new(Condition::TooManyColumns, message));
        }
        for (node, key) in spec.part_params.iter().zip(&mut partitioning.keys) {
            let Some(N::PartitionElem(element)) = &node.node else { continue };
            let ty = match element.expr.as_deref() {
                None => self.column_key(&element.name, element.location, draft)?,
                Some(expr) => self.expression_key(expr, draft)?,
            };
            let column = draft.columns.iter().find(|column| column.name == element.name);
            let column = column.and_then(|column| column.collation.clone());
            let own = column.or_else(|| Collation::of_type(&ty).cloned());
            let named = self.check_key(element, &ty, partitioning.strategy)?;
            let nondeterministic = |one: &Arc<Collation>| !one.deterministic;
            if partitioning.strategy == Strategy::Hash && named.as_ref().or(own.as_ref()).is_some_and(nondeterministic)
            {
                let what = "a hash-partitioned table by a key in a nondeterministic collation";
                return Err(self.unsupported(what, element.location));
            }
            let is_by_bytes = !named.as_ref().or(own.as_ref()).is_some_and(|one| one.is_unicode());
            key.opclass = self.class_of_key(element, &ty, partitioning.strategy, is_by_bytes)?;
            // A column's own is not told.
            key.collation = named.filter(|named| own.as_ref() != Some(named)).map(|named| named.property());
        }
        if let Some(check) = draft.constraints.iter().find(|constraint| constraint.options.no_inherit) {
            let _ = check;
            let message = format!("cannot add NO INHERIT constraint to partitioned table \"{}\"", draft.name.name);
            return Err(definition_error(message));
        }
        for constraint in &draft.constraints {
            check_constraint(constraint, &partitioning, draft)?;
        }
        draft.properties.push((String::new(), PARTITION_BY.to_owned(), partitioning.to_string()));
        Ok(())
    }

    /// A column by which rows are parted; its type.
    fn column_key(&self, name: &str, place: i32, draft: &Draft) -> Result<Type> {
        if matches!(name, "tableoid" | "ctid" | "xmin" | "xmax" | "cmin" | "cmax") {
            let message = format!("cannot use system column \"{name}\" in partition key");
            return Err(self.error(Condition::InvalidObjectDefinition, message, place));
        }
        let Some(column) = draft.columns.iter().find(|column| column.name == name) else {
            let message = format!("column \"{name}\" named in partition key does not exist");
            return Err(self.error(Condition::UndefinedColumn, message, place));
        };
        if draft.generated.iter().any(|known| known == name) {
            let message = "cannot use generated column in partition key";
            return Err(self
                .error(Condition::InvalidObjectDefinition, message, place)
                .detail(format!("Column \"{name}\" is a generated column.")));
        }
        Ok(column.ty.clone())
    }

    /// An expression by which rows are parted; its type.
    fn expression_key(&mut self, node: &Node, draft: &Draft) -> Result<Type> {
        let volatile = std::mem::take(&mut self.effects.volatile);
        let text = self.definition(node, vec![draft.entry()], Clause::PartitionKey, None);
        let changes = std::mem::replace(&mut self.effects.volatile, volatile);
        let expr = text?.expr;
        let object = |message: &str| Error::new(Condition::InvalidObjectDefinition, message);
        let mut columns = 0;
        let mut generated = None;
        walk::expr(&expr, &mut |part| {
            if let ExprKind::Column(column) = part.kind {
                columns += 1;
                if let crate::ir::ColumnIndex::At(at) = column.column
                    && draft.columns.get(at).is_some_and(|column| draft.generated.contains(&column.name))
                {
                    generated = Some(draft.columns[at].name.clone());
                }
            }
            true
        });
        if let Some(name) = generated {
            return Err(object("cannot use generated column in partition key")
                .detail(format!("Column \"{name}\" is a generated column.")));
        }
        if changes {
            return Err(object("functions in partition key expression must be marked IMMUTABLE"));
        }
        if columns == 0 {
            return Err(object("cannot use constant expression as partition key"));
        }
        Ok(expr.ty)
    }

    /// The operator class that a key names, unless it is the type's own. Those for patterns order by bytes, as every collation does
    /// that is not of ICU.
    fn class_of_key(
        &self,
        element: &pg::PartitionElem,
        ty: &Type,
        strategy: Strategy,
        is_by_bytes: bool,
    ) -> Result<Option<String>> {
        let Some(name) = names::strings(&element.opclass).last().copied() else { return Ok(None) };
        if name == super::index::default_class(ty) {
            return Ok(None);
        }
        let method = method_of(strategy);
        let Some(class) = self.named_class(&element.opclass, ty, method)? else {
            let message = format!("operator class \"{name}\" does not exist for access method \"{method}\"");
            return Err(Error::new(Condition::UndefinedObject, message));
        };
        match class.name {
            _ if class.is_default => Ok(None),
            "text_pattern_ops" | "varchar_pattern_ops" | "bpchar_pattern_ops" if is_by_bytes => {
                Ok(Some(class.name.to_owned()))
            }
            name => Err(self.unsupported(format!("the operator class {name} of a partition key"), element.location)),
        }
    }

    /// A key's type has an order, or a hash. The collation that it names.
    fn check_key(
        &mut self,
        element: &pg::PartitionElem,
        ty: &Type,
        strategy: Strategy,
    ) -> Result<Option<Arc<Collation>>> {
        let place = element.location;
        let named = match element.collation.is_empty() {
            true => None,
            false => {
                self.check_collatable(ty, place)?;
                Some(self.collation(&element.collation, place)?)
            }
        };
        let method = method_of(strategy);
        if !(ty.is_ordered() || strategy == Strategy::Hash && ty.is_comparable()) {
            let message =
                format!("data type {} has no default operator class for access method \"{method}\"", types::words(ty));
            return Err(self.error(Condition::UndefinedObject, message, -1).hint(format!(
                "You must specify a {method} operator class or define a default {method} operator class for the data \
                 type."
            )));
        }
        if strategy == Strategy::Hash && !is_hashed(ty) {
            let what = format!("a hash-partitioned table by a key of type {}", types::words(ty));
            return Err(self.unsupported(what, place));
        }
        Ok(named)
    }

    /// The table that PARTITION OF names.
    pub(super) fn check_partitioned(&self, parent: &Relation, temporary: bool) -> Result<()> {
        if !parent.is_partitioned() {
            let message = format!("\"{}\" is not partitioned", parent.name);
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        if temporary != parent.is_temporary() {
            let (new, old) = if temporary { ("temporary", "permanent") } else { ("permanent", "temporary") };
            let message = format!("cannot create a {new} relation as partition of {old} relation \"{}\"", parent.name);
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        Ok(())
    }

    /// A column that PARTITION OF says more of.
    pub(super) fn partition_column(
        &mut self,
        column: &pg::ColumnDef,
        parent: &Relation,
        draft: &Draft,
    ) -> Result<ColumnDefinition> {
        let name = &column.colname;
        if draft.columns.iter().any(|known| known.name == *name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(self.error(Condition::DuplicateColumn, message, column.location));
        }
        let Some(known) = parent.columns.iter().find(|known| known.name == *name) else {
            return Err(Error::new(Condition::UndefinedColumn, format!("column \"{name}\" does not exist")));
        };
        let says = |wanted: &[pg::ConstrType]| {
            let mut each = column.constraints.iter();
            each.any(|node| matches!(&node.node, Some(N::Constraint(own)) if wanted.contains(&own.contype())))
        };
        if says(&[pg::ConstrType::ConstrIdentity]) {
            let message = "identity columns are not supported on partitions";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        Ok(ColumnDefinition {
            name: name.clone(),
            ty: types::import(&known.ty),
            not_null: known.not_null || says(&[pg::ConstrType::ConstrNotnull, pg::ConstrType::ConstrPrimary]),
            default: None,
            identity: None,
            sequence: None,
            generated: None,
            collation: known.collation.clone(),
        })
    }

    /// Keys and foreign keys that a partition has because its parent has them.
    pub(super) fn partition_constraints(&mut self, parent: &Relation, draft: &mut Draft) -> Result<()> {
        let place_of = |draft: &Draft, at: &usize| {
            let name = &parent.columns[*at].name;
            draft.columns.iter().position(|column| column.name == *name).unwrap_or(*at)
        };
        for index in parent.indexes.iter().filter(|index| index.constraint) {
            let columns: Vec<usize> = index.columns.iter().flatten().map(|at| place_of(draft, at)).collect();
            // Whether it waits does not matter for a key to be a part of another.
            let same = |known: &Constraint| match &known.kind {
                ConstraintKind::PrimaryKey(own)
                | ConstraintKind::DeferrableUnique { columns: own, primary: true, .. } => {
                    index.primary && *own == columns
                }
                ConstraintKind::Unique(own) | ConstraintKind::DeferrableUnique { columns: own, .. } => {
                    !index.primary && !index.nulls_alike && *own == columns
                }
                ConstraintKind::UniqueNullsAlike(own) => index.nulls_alike && *own == columns,
                _ => false,
            };
            if draft.constraints.iter().any(same) {
                continue;
            }
            if index.primary {
                if draft.constraints.iter().any(|known| known.kind.primary_key().is_some()) {
                    let message = format!("multiple primary keys for table \"{}\" are not allowed", draft.name.name);
                    return Err(definition_error(message));
                }
                columns.iter().for_each(|at| draft.columns[*at].not_null = true);
            }
            let kind = ConstraintKind::of_index(index, columns.clone());
            let words: Vec<String> = columns.iter().map(|at| draft.columns[*at].name.clone()).collect();
            let what = if index.primary { Unnamed::PrimaryKey } else { Unnamed::Unique };
            let (name, named) = draft.constraint_name("", &words, what);
            draft.constraints.push(Constraint { name, named, kind, options: ConstraintOptions::default() });
        }
        for key in &parent.foreign_keys {
            let columns: Vec<usize> = key.columns.iter().map(|at| place_of(draft, at)).collect();
            let words: Vec<String> = columns.iter().map(|at| draft.columns[*at].name.clone()).collect();
            let given = if draft.taken.contains(&key.name) { "" } else { key.name.as_str() };
            let (name, _) = draft.constraint_name(given, &words, Unnamed::ForeignKey);
            draft.constraints.push(Constraint {
                name,
                named: true,
                kind: ConstraintKind::of_key(key, columns),
                options: ConstraintOptions::default(),
            });
        }
        Ok(())
    }

    /// FOR VALUES, or DEFAULT.
    pub(super) fn new_partition(
        &mut self,
        spec: &pg::PartitionBoundSpec,
        parent: &Arc<Relation>,
    ) -> Result<Box<NewPartition>> {
        let Some(partitioning) = parent.partitioning.clone() else {
            return Err(Error::internal("a partition of a table that is not partitioned"));
        };
        let keys = self.key_types(parent)?;
        let place = |binder: &Self, at: i32| binder.error(Condition::InternalError, "", at).position;
        let mut places = Vec::new();
        let strategy = partitioning.strategy;
        let wrong = |binder: &Self| {
            let word = strategy.word().to_lowercase();
            let message = format!("invalid bound specification for a {word} partition");
            Err(binder.error(Condition::InvalidTableDefinition, message, spec.location))
        };
        if spec.is_default {
            if strategy == Strategy::Hash {
                return Err(definition_error("a hash-partitioned table may not have a default partition"));
            }
            return Ok(Box::new(NewPartition { parent: parent.clone(), bound: BoundExprs::Default, places }));
        }
        let letter = spec.strategy.as_str();
        if letter != strategy.letter() {
            return wrong(self);
        }
        let bound = match strategy {
            Strategy::Hash => {
                places.push(place(self, spec.location));
                check_hash(spec)?
            }
            Strategy::List => {
                let mut values = Vec::with_capacity(spec.listdatums.len());
                for node in &spec.listdatums {
                    values.push(self.bound_value(node, &keys[0], &partitioning.keys[0].text)?);
                    places.push(place(self, location(node)));
                }
                BoundExprs::List(values)
            }
            Strategy::Range => {
                for (word, edges) in [("FROM", &spec.lowerdatums), ("TO", &spec.upperdatums)] {
                    if edges.len() != keys.len() {
                        let message = format!("{word} must specify exactly one value per partitioning column");
                        return Err(definition_error(message));
                    }
                }
                let mut edges = |nodes: &[Node], binder: &mut Self| -> Result<Vec<EdgeExpr>> {
                    let mut edges = Vec::with_capacity(nodes.len());
                    for ((node, key), named) in nodes.iter().zip(&keys).zip(&partitioning.keys) {
                        places.push(place(binder, location(node)));
                        edges.push(binder.edge_value(node, key, &named.text)?);
                    }
                    binder.check_infinite(&edges, nodes)?;
                    Ok(edges)
                };
                let from = edges(&spec.lowerdatums, self)?;
                BoundExprs::Range(from, edges(&spec.upperdatums, self)?)
            }
        };
        Ok(Box::new(NewPartition { parent: parent.clone(), bound, places }))
    }

    /// What stands behind MINVALUE or MAXVALUE is the same.
    fn check_infinite(&self, edges: &[EdgeExpr], nodes: &[Node]) -> Result<()> {
        for (at, pair) in edges.windows(2).enumerate() {
            let word = match (&pair[0], &pair[1]) {
                (EdgeExpr::Min, other) if *other != EdgeExpr::Min => "MINVALUE",
                (EdgeExpr::Max, other) if *other != EdgeExpr::Max => "MAXVALUE",
                _ => continue,
            };
            let message = format!("every bound following {word} must also be {word}");
            return Err(self.error(Condition::DatatypeMismatch, message, location(&nodes[at + 1])));
        }
        Ok(())
    }

    fn edge_value(&mut self, node: &Node, key: &KeyType, name: &str) -> Result<EdgeExpr> {
        if let Some(N::ColumnRef(reference)) = &node.node {
            match names::strings(&reference.fields).as_slice() {
                ["minvalue"] => return Ok(EdgeExpr::Min),
                ["maxvalue"] => return Ok(EdgeExpr::Max),
                _ => {}
            }
        }
        let value = self.bound_value(node, key, name)?;
        if matches!(value.kind, ExprKind::Literal(Value::Null)) {
            return Err(definition_error("cannot specify NULL in range bound"));
        }
        Ok(EdgeExpr::Value(value))
    }

    /// A value of a bound, as one of the key's type.
    fn bound_value(&mut self, node: &Node, key: &KeyType, name: &str) -> Result<Expr> {
        if let Some(N::ColumnRef(_)) = &node.node {
            let message = "cannot use column reference in partition bound expression";
            return Err(self.error(Condition::InvalidColumnReference, message, location(node)));
        }
        let scope = Scope { clause: Clause::PartitionBound, ..Scope::default() };
        let ((value, at), _) = self.with_scope(scope, |binder| binder.placed(node))?;
        let mut subquery = false;
        walk::expr(&value, &mut |part| {
            subquery |= part.kind.query().is_some();
            !subquery
        });
        if subquery {
            let message = "cannot use subquery in partition bound";
            return Err(self.error(Condition::FeatureNotSupported, message, at));
        }
        let ty = types::import(&key.ty);
        let value = self.try_coerce(value, &ty, CastContext::Assignment, at)?.map_err(|_| {
            let message =
                format!("specified value cannot be cast to type {} for column \"{name}\"", types::words(&key.ty));
            self.error(Condition::DatatypeMismatch, message, at)
        })?;
        Ok(if ty == key.ty { value } else { value.cast(key.ty.clone(), CastContext::Assignment) })
    }

    /// ATTACH PARTITION and DETACH PARTITION.
    pub(super) fn change_partition(&mut self, table: &Arc<Relation>, command: &pg::AlterTableCmd) -> Result<Statement> {
        let Some(N::PartitionCmd(change)) = command.def.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(Error::internal("a partition without its name"));
        };
        let Some(range) = &change.name else { return Err(Error::internal("a partition without its name")) };
        if !table.is_partitioned() {
            let message = format!("\"{}\" is not partitioned", table.name);
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        let partition = self.relation(range)?;
        if command.subtype() == pg::AlterTableType::AtDetachPartitionFinalize {
            // Here a partition is detached at once, or not at all.
            if !partition.parents().contains(&table.oid) {
                return Err(no_partition(&partition, table));
            }
            let message = format!("cannot complete detaching partition \"{}\"", partition.name);
            return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message)
                .detail("There's no pending concurrent detach."));
        }
        let is_default = |heir: &Arc<Relation>| matches!(heir.bound(), Some(crate::partition::Bound::Default));
        if change.concurrent && self.schema.heirs(table.oid).iter().any(is_default) {
            let message = "cannot detach partitions concurrently when a default partition exists";
            return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message));
        }
        if partition.kind != RelationKind::Table {
            let message = format!("\"{}\" is not a table or foreign table", partition.name);
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        let parent = table.clone();
        let attached = match &change.bound {
            None => {
                if !partition.parents().contains(&parent.oid) {
                    return Err(no_partition(&partition, &parent));
                }
                None
            }
            Some(spec) => {
                self.check_attached(&parent, &partition)?;
                Some(self.new_partition(spec, &parent)?)
            }
        };
        Ok(Statement::Ddl(Box::new(Ddl::Partition(ChangePartition {
            parent,
            partition,
            attached,
            concurrently: change.concurrent,
        }))))
    }

    /// A table may become a partition.
    fn check_attached(&mut self, parent: &Arc<Relation>, partition: &Arc<Relation>) -> Result<()> {
        let wrong = |message: String| Error::new(Condition::WrongObjectType, message);
        if partition.bound().is_some() {
            return Err(wrong(format!("\"{}\" is already a partition", partition.name)));
        }
        if !partition.parents().is_empty() {
            return Err(wrong("cannot attach inheritance child as partition".to_owned()));
        }
        if !partition.is_partitioned() && !self.schema.heirs(partition.oid).is_empty() {
            return Err(wrong("cannot attach inheritance parent as partition".to_owned()));
        }
        let around = crate::heritage::family(self.schema, partition);
        if around.iter().any(|known| known.oid == parent.oid) {
            return Err(Error::new(Condition::DuplicateTable, "circular inheritance not allowed")
                .detail(format!("\"{}\" is already a child of \"{}\".", parent.name, partition.name)));
        }
        if partition.is_temporary() != parent.is_temporary() {
            let (new, old) =
                if partition.is_temporary() { ("temporary", "permanent") } else { ("permanent", "temporary") };
            return Err(wrong(format!(
                "cannot attach a {new} relation as partition of {old} relation \"{}\"",
                parent.name
            )));
        }
        if partition.language == crate::Language::Informix || partition.without_identity {
            return Err(self.unsupported("ATTACH of a table that was not made in PostgreSQL's way", -1));
        }
        if let Some(column) = partition.columns.iter().find(|own| !parent.columns.iter().any(|c| c.name == own.name)) {
            let message = format!(
                "table \"{}\" contains column \"{}\" not found in parent \"{}\"",
                partition.name, column.name, parent.name
            );
            return Err(Error::new(Condition::DatatypeMismatch, message)
                .detail("The new partition may contain only the columns present in parent."));
        }
        if partition.of_type().is_some() {
            return Err(Error::new(Condition::WrongObjectType, "cannot attach a typed table as partition"));
        }
        let draft = Self::draft_of(partition);
        self.check_child(partition, &draft, parent)
    }
}

/// True for a collation whose order is that of bytes.
fn no_partition(partition: &Relation, parent: &Relation) -> Error {
    let message = format!("relation \"{}\" is not a partition of relation \"{}\"", partition.name, parent.name);
    Error::new(Condition::UndefinedTable, message)
}

/// WITH (MODULUS, REMAINDER).
fn check_hash(spec: &pg::PartitionBoundSpec) -> Result<BoundExprs> {
    let (modulus, remainder) = (spec.modulus, spec.remainder);
    if modulus <= 0 {
        return Err(definition_error("modulus for hash partition must be an integer value greater than zero"));
    }
    if remainder < 0 {
        let message = "remainder for hash partition must be an integer value greater than or equal to zero";
        return Err(definition_error(message));
    }
    if remainder >= modulus {
        return Err(definition_error("remainder for hash partition must be less than modulus"));
    }
    Ok(BoundExprs::Hash(modulus as u32, remainder as u32))
}

/// What a partitioned table's constraints may be.
pub(super) fn check_constraint(constraint: &Constraint, partitioning: &Partitioning, draft: &Draft) -> Result<()> {
    let name_of = |at: &usize| draft.columns[*at].name.as_str();
    let (words, columns): (&str, Vec<&str>) = match &constraint.kind {
        ConstraintKind::PrimaryKey(columns) | ConstraintKind::DeferrableUnique { columns, primary: true, .. } => {
            ("PRIMARY KEY", columns.iter().map(name_of).collect())
        }
        ConstraintKind::Unique(columns)
        | ConstraintKind::UniqueNullsAlike(columns)
        | ConstraintKind::DeferrableUnique { columns, .. } => ("UNIQUE", columns.iter().map(name_of).collect()),
        ConstraintKind::Exclusion(_) => {
            let message = "exclusion constraints are not supported on partitioned tables";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        ConstraintKind::ForeignKey(key) if constraint.options.not_valid => {
            let message = format!(
                "cannot add NOT VALID foreign key on partitioned table \"{}\" referencing relation \"{}\"",
                draft.name.name, key.target.name
            );
            return Err(Error::new(Condition::WrongObjectType, message)
                .detail("This feature is not yet supported on partitioned tables."));
        }
        ConstraintKind::ForeignKey(_) | ConstraintKind::Check(_) => return Ok(()),
    };
    check_unique(words, &columns, partitioning, &draft.name.name)
}

/// A unique key has all columns by which rows are parted.
///
/// # Errors
/// `0A000`, in PostgreSQL's words.
pub(super) fn check_unique(words: &str, columns: &[&str], partitioning: &Partitioning, table: &str) -> Result<()> {
    for key in &partitioning.keys {
        let Some(name) = key.column.as_deref() else {
            let message = format!("unsupported {words} constraint with partition key definition");
            return Err(Error::new(Condition::FeatureNotSupported, message)
                .detail(format!("{words} constraints cannot be used when partition keys include expressions.")));
        };
        if !columns.contains(&name) {
            let message = "unique constraint on partitioned table must include all partitioning columns";
            return Err(Error::new(Condition::FeatureNotSupported, message).detail(format!(
                "{words} constraint on table \"{table}\" lacks column \"{name}\" which is part of the partition key."
            )));
        }
    }
    Ok(())
}

/// The access method whose operator classes part rows.
const fn method_of(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Hash => "hash",
        Strategy::List | Strategy::Range => "btree",
    }
}
