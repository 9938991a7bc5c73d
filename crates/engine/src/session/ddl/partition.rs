//! Partitions: their bounds, the rows that these must hold, ATTACH and DETACH.

use std::sync::Arc;

use rowferry_dialect::heritage::{INHERITED_CHECK, INHERITED_COLUMN, INHERITS};
use rowferry_dialect::ir::build::select;
use rowferry_dialect::ir::{
    BoundExprs, CastContext, ChangePartition, Constraint, ConstraintKind, ConstraintOptions, EdgeExpr, Expr, ExprKind,
    From, NewPartition, Text, Value,
};
use rowferry_dialect::partition::{
    EdgeValue, Edges, Level, NewBound, PARTITION_BOUND, Strategy, Values, adopted_indexes, adopted_key,
};
use rowferry_dialect::postgres::{Unnamed, postgres_name};
use rowferry_dialect::schema::{ForeignKey, Relation};
use rowferry_dialect::values::{self, Settings};
use rowferry_dialect::{Condition, Error, Schema as _, heritage, postgres};

use super::{Changer, Done};

/// A bound that goes with those that are there.
pub(super) struct Checked {
    values: Values,
    /// As the file keeps it.
    pub(super) text: String,
    level: Level,
    siblings: Vec<Arc<Relation>>,
}

impl Checked {
    /// The default partition beside it.
    fn default_sibling(&self) -> Option<&Arc<Relation>> {
        self.siblings.get(self.level.default_place()?)
    }
}

/// Whether a row, by the values of a level's keys, is one that is looked for.
type Wanted<'a> = dyn Fn(&Level, &[Value]) -> Result<bool, Error> + 'a;

impl Changer<'_> {
    /// The bound of a table that is to be a partition, its values computed.
    pub(super) fn checked_bound(&self, new: &NewPartition, name: &str) -> Done<Checked> {
        let schema = self.schema();
        let context = self.session.postgres_context();
        let (level, siblings, _) = postgres::bind_partition(&new.parent, &new.parent, &schema, &context)?;
        let settings = self.session.state.settings();
        let values = self.bound_values(&new.bound, &level, &settings)?;
        let names: Vec<String> = siblings.iter().map(|sibling| sibling.name.clone()).collect();
        NewBound { name, values: &values, places: &new.places }.check(&level, &names, &settings)?;
        let text = values.text(&level.keys)?;
        Ok(Checked { values, text, level, siblings })
    }

    fn bound_values(&self, bound: &BoundExprs, level: &Level, settings: &Settings) -> Done<Values> {
        let edges = |edges: &[EdgeExpr]| -> Done<Edges> {
            let edges = edges.iter().map(|edge| match edge {
                EdgeExpr::Min => Ok(EdgeValue::Min),
                EdgeExpr::Max => Ok(EdgeValue::Max),
                EdgeExpr::Value(expr) => match self.bound_value(expr, settings)? {
                    Value::Null => {
                        let message = "cannot specify NULL in range bound";
                        Err(Error::new(Condition::InvalidTableDefinition, message).into())
                    }
                    value => Ok(EdgeValue::Value(value)),
                },
            });
            edges.collect()
        };
        Ok(match bound {
            BoundExprs::Default => Values::Default,
            BoundExprs::Hash(modulus, remainder) => Values::Hash(*modulus, *remainder),
            BoundExprs::List(list) => {
                let mut values: Vec<Value> = Vec::with_capacity(list.len());
                for expr in list {
                    let value = self.bound_value(expr, settings)?;
                    let same =
                        |known: &Value| rowferry_dialect::partition::order(known, &value, &level.keys[0]).is_eq();
                    if !values.iter().any(same) {
                        values.push(value);
                    }
                }
                Values::List(values)
            }
            BoundExprs::Range(from, to) => Values::Range(edges(from)?, edges(to)?),
        })
    }

    /// A value of a bound: of a literal by the session's settings, of anything else by the back end.
    fn bound_value(&self, expr: &Expr, settings: &Settings) -> Done<Value> {
        if let Some(value) = literal(expr, settings)? {
            return Ok(value);
        }
        let value = self.handle.evaluate(expr)??;
        // What the back end has computed in a form of its own becomes the type's.
        match value {
            Value::Null => Ok(Value::Null),
            value => Ok(values::cast(&value, &expr.ty, &expr.ty, CastContext::Assignment, settings)?),
        }
    }

    /// A new partition: what the default one beside it has must not be its rows.
    pub(super) fn check_default_rows(&self, checked: &Checked, parent: &Arc<Relation>) -> Done {
        let Some(default) = checked.default_sibling() else { return Ok(()) };
        let taken = |level: &Level, keys: &[Value]| -> Result<bool, Error> {
            let mut level = level.clone();
            level.places.truncate(0);
            level.places.push(rowferry_dialect::partition::Place {
                values: checked.values.clone(),
                target: rowferry_dialect::partition::Target::Elsewhere,
            });
            Ok(level.place(keys)?.is_some())
        };
        match self.find_row(parent, default, &taken)? {
            None => Ok(()),
            Some(_) => {
                let message = format!(
                    "updated partition constraint for default partition \"{}\" would be violated by some row",
                    default.name
                );
                let (namespace, name) = (default.namespace.clone(), default.name.clone());
                Err(Error::new(Condition::CheckViolation, message).table(namespace, name).into())
            }
        }
    }

    /// A row of a table, or of those below it, of whose key something is true; the table that has it.
    fn find_row(
        &self,
        parent: &Arc<Relation>,
        table: &Arc<Relation>,
        wanted: &Wanted<'_>,
    ) -> Done<Option<Arc<Relation>>> {
        let schema = self.schema();
        let context = self.session.postgres_context();
        for leaf in heritage::family(&schema, table).into_iter().filter(|member| !member.is_partitioned()) {
            let (mut level, _, keys) = postgres::bind_partition(parent, &leaf, &schema, &context)?;
            level.first = 0;
            let from = From::Relation { id: Text::TABLE, relation: leaf.clone(), filter: None };
            let query = select(keys, Vec::new(), Some(from), None);
            let found = self.handle.any_row(&self.session.state, &query, &mut |keys| wanted(&level, keys))?;
            if found? {
                return Ok(Some(leaf));
            }
        }
        Ok(None)
    }

    /// ATTACH PARTITION, DETACH PARTITION.
    pub(super) fn change_partition(&self, change: &ChangePartition) -> Done {
        match &change.attached {
            Some(new) => self.attach(&change.partition, new),
            None => {
                // What a hash asks says nothing once its parent is gone.
                let hashed = change.parent.partitioning.as_ref().is_some_and(|by| by.strategy == Strategy::Hash);
                let held = (change.concurrently && !hashed)
                    .then(|| crate::catalog::partitions::constraint(&self.schema(), change.partition.oid));
                self.detach(&change.parent, &change.partition)?;
                held.flatten().map_or(Ok(()), |text| self.keep_bound(change.partition.oid, &text))
            }
        }
    }

    fn attach(&self, table: &Arc<Relation>, new: &NewPartition) -> Done {
        let parent = &new.parent;
        if let Some(key) = parent.foreign_keys.iter().find(|key| key.leads_to(table)) {
            let message = format!(
                "cannot attach table \"{}\" as a partition because it is referenced by foreign key \"{}\"",
                table.name, key.name
            );
            return Err(Error::new(Condition::FeatureNotSupported, message).into());
        }
        let checked = self.checked_bound(new, &table.name)?;
        // All rows have to be those of the partition.
        let misfit = |level: &Level, keys: &[Value]| -> Result<bool, Error> {
            let mut level = level.clone();
            let place = rowferry_dialect::partition::Place {
                values: checked.values.clone(),
                target: rowferry_dialect::partition::Target::Elsewhere,
            };
            level.places.push(place);
            Ok(level.place(keys)? != Some(level.places.len() - 1))
        };
        if let Some(leaf) = self.find_row(parent, table, &misfit)? {
            let message = format!("partition constraint of relation \"{}\" is violated by some row", leaf.name);
            let (namespace, name) = (leaf.namespace.clone(), leaf.name.clone());
            return Err(Error::new(Condition::CheckViolation, message).table(namespace, name).into());
        }
        self.check_default_rows(&checked, parent)?;
        let database = table.physical.database;
        let oid = self.entry(table)?;
        self.enter_parents(std::slice::from_ref(parent), database)?;
        self.set_property(database, oid, "", INHERITS, Some(&parent.oid.to_string()))?;
        self.set_property(database, oid, "", PARTITION_BOUND, Some(&checked.text))?;
        for column in &parent.columns {
            self.set_property(database, oid, &column.name, INHERITED_COLUMN, Some("true"))?;
        }
        for check in parent.checks.iter().filter(|check| !check.no_inherit) {
            self.set_property(database, oid, &check.name, INHERITED_CHECK, Some("true"))?;
        }
        self.touch(database, oid);
        self.settle()?;
        self.take_moving_keys(oid)?;
        self.adopt(parent, oid)?;
        // What leads from here counts as its parent's now.
        for key in self.current(oid)?.foreign_keys.iter().filter(|key| key.by_engine) {
            self.name_parts(oid, &key.name)?;
        }
        self.name_parts_at(parent)
    }

    /// What has left a partitioned table goes on to have no other rows.
    fn keep_bound(&self, oid: u32, text: &str) -> Done {
        self.settle()?;
        let table = self.current(oid)?;
        let expr = self.session.bind_expression(text, &table, &self.schema())?;
        let mut named = std::collections::BTreeSet::new();
        rowferry_dialect::ir::walk::expr(&expr, &mut |part| {
            if let ExprKind::Column(column) = &part.kind
                && let rowferry_dialect::ir::ColumnIndex::At(at) = column.column
            {
                named.insert(at);
            }
            true
        });
        let base = match named.iter().collect::<Vec<_>>().as_slice() {
            [only] => format!("{}_{}_check", table.name, table.columns[**only].name),
            _ => format!("{}_check", table.name),
        };
        let name = (0..)
            .map(|number| if number == 0 { base.clone() } else { format!("{base}{number}") })
            .find(|name| table.check(name).is_none() && !table.foreign_keys.iter().any(|key| key.name == *name))
            .unwrap_or_default();
        self.add_key(&table, name, ConstraintKind::Check(Text { text: text.to_owned(), expr }))
    }

    fn detach(&self, parent: &Arc<Relation>, table: &Arc<Relation>) -> Done {
        self.check_leaving(parent, table)?;
        let database = table.physical.database;
        let oid = self.entry(table)?;
        for name in [INHERITS, PARTITION_BOUND] {
            self.set_property(database, oid, "", name, None)?;
        }
        for column in &table.columns {
            self.set_property(database, oid, &column.name, INHERITED_COLUMN, None)?;
        }
        for check in &table.checks {
            self.set_property(database, oid, &check.name, INHERITED_CHECK, None)?;
        }
        self.drop_cloned_triggers(parent, table)?;
        self.touch(database, oid);
        self.touch(parent.physical.database, parent.oid);
        self.settle()?;
        for key in table.foreign_keys.iter().filter(|key| key.by_engine) {
            self.name_parts(oid, &key.name)?;
        }
        self.name_parts_at(&self.current(parent.oid)?)
    }

    /// The indexes, keys, foreign keys and row triggers of the parent that a table has not yet.
    pub(super) fn adopt(&self, parent: &Arc<Relation>, oid: u32) -> Done {
        for at in 0..parent.indexes.len() {
            self.adopt_index(parent, at, oid)?;
        }
        for key in &parent.foreign_keys {
            let mut table = self.current(oid)?;
            // What the engine keeps for the parent it keeps for the partition.
            let ours = ForeignKey { by_engine: false, ..key.clone() };
            if key.by_engine
                && adopted_key(parent, key, &table).is_none()
                && let Some(own) = adopted_key(parent, &ours, &table)
            {
                self.give_to_engine(oid, &own.name)?;
                table = self.current(oid)?;
            }
            if adopted_key(parent, key, &table).is_some() {
                continue;
            }
            let columns: Vec<usize> =
                key.columns.iter().filter_map(|at| table.column(&parent.columns[*at].name)).collect();
            let taken = |name: &str| {
                table.foreign_keys.iter().any(|own| own.name == name)
                    || table.checks.iter().any(|own| own.name == name)
                    || table.indexes.iter().any(|own| own.name == name)
            };
            let name = (0..)
                .map(|number| if number == 0 { key.name.clone() } else { format!("{}{number}", key.name) })
                .find(|name| !taken(name))
                .unwrap_or_default();
            self.add_key(&table, name, ConstraintKind::of_key(key, columns))?;
        }
        self.clone_triggers(parent, &self.current(oid)?)?;
        self.settle()?;
        for child in self.schema().heirs(oid) {
            let parent = self.current(oid)?;
            self.adopt(&parent, child.oid)?;
        }
        Ok(())
    }

    fn add_key(&self, table: &Arc<Relation>, name: String, kind: ConstraintKind) -> Done {
        let constraint = Constraint { name, named: true, kind, options: ConstraintOptions::default() };
        self.alter_table(table, &[rowferry_dialect::ir::AlterTable::AddConstraint(constraint)])?;
        self.settle()
    }

    /// An index of the parent in a partition: one that is there, or a new one.
    pub(super) fn adopt_index(&self, parent: &Arc<Relation>, at: usize, oid: u32) -> Done {
        let (table, index) = (self.current(oid)?, &parent.indexes[at]);
        if adopted_indexes(parent, &table)[at].is_some() {
            return Ok(());
        }
        if !index.constraint {
            self.copy_index(&table, parent, index)?;
            return self.settle();
        }
        if index.primary && table.primary_key().is_some() {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
            return Err(Error::new(Condition::InvalidTableDefinition, message).into());
        }
        let columns: Vec<usize> =
            index.columns.iter().flatten().filter_map(|at| table.column(&parent.columns[*at].name)).collect();
        let name = self.key_name(&table, index.primary, &columns);
        self.add_key(&table, name, ConstraintKind::of_index(index, columns))
    }

    /// The name that PostgreSQL gives a key of a table.
    fn key_name(&self, table: &Relation, primary: bool, columns: &[usize]) -> String {
        let what = if primary { Unnamed::PrimaryKey } else { Unnamed::Unique };
        let names = columns.iter().map(|at| table.columns[*at].name.as_str());
        postgres_name(what, &table.name, names, |name| self.collision(&table.namespace, name).is_some())
    }
}

/// The value of a literal, and of casts of one.
fn literal(expr: &Expr, settings: &Settings) -> Result<Option<Value>, Error> {
    Ok(match &expr.kind {
        ExprKind::Literal(Value::Null) => Some(Value::Null),
        ExprKind::Literal(value) => Some(value.clone()),
        ExprKind::Cast { arg, context } => match literal(arg, settings)? {
            Some(Value::Null) => Some(Value::Null),
            Some(value) => Some(values::cast(&value, &arg.ty, &expr.ty, *context, settings)?),
            None => None,
        },
        _ => None,
    })
}
