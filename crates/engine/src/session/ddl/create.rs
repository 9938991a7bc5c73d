//! CREATE TABLE, INDEX, VIEW, SEQUENCE and SCHEMA.

use rowferry_dialect::collation;
use rowferry_dialect::ir::{Constraint, ConstraintKind, CreateIndex, CreateTable, CreateView, ExprKind, RoleSpec};
use rowferry_dialect::lower::kept_words;
use rowferry_dialect::mysql::FULLTEXT;
use rowferry_dialect::partition::PARTITION_BOUND;
use rowferry_dialect::pins::Pins;
use rowferry_dialect::postgres::types::format_type;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Language, Schema};

use super::dependencies::Needed;
use super::{Changer, Done, describe};
use crate::backend::ColumnRecord;
use crate::schema::{INDEX_METHOD, MATERIALIZED_VIEW, NO_INHERIT, NULLS_ALIKE, physical_name};
use crate::session::temporary;

impl Changer<'_> {
    /// CREATE TABLE, or the table of a materialised view with this query; the stored name of it and its object id, or
    /// `None` when it was there already.
    pub(super) fn create_table(&self, table: &CreateTable, query: Option<&str>) -> Done<Option<(String, u32)>> {
        let (namespace, database, physical) = self.place(&table.name, table.temporary)?;
        if !self.is_free(&namespace, &table.name.name, table.if_not_exists)? {
            return Ok(None);
        }
        let bound = match &table.partition {
            Some(new) => Some((self.checked_bound(new, &table.name.name)?, &new.parent)),
            None => None,
        };
        // Of several keys of the same columns the back end keeps one.
        let (twins, own): (Vec<usize>, Vec<usize>) = (0..table.constraints.len()).partition(|&at| {
            let constraint = &table.constraints[at];
            matches!(constraint.kind, ConstraintKind::Unique(_))
                && table.constraints[..at].iter().any(|before| before.kind.key() == constraint.kind.key())
        });
        let constraints = |places: &[usize]| places.iter().map(|&at| table.constraints[at].clone()).collect();
        let twins: Vec<Constraint> = constraints(&twins);
        let table = &if twins.is_empty() {
            std::borrow::Cow::Borrowed(table)
        } else {
            std::borrow::Cow::Owned(CreateTable { constraints: constraints(&own), ..table.clone() })
        };
        let made = self.store.create_table(table, database, &physical, &|name| self.target_name(name))?;
        let kind = if query.is_some() { MATERIALIZED_VIEW } else { "table" };
        let oid = self.record(database, kind, &namespace, &table.name.name, Some(&physical), table.language, query)?;
        if let Some(words) = temporary::on_commit_words(table.on_commit) {
            self.set_property(database, oid, "", temporary::ON_COMMIT, Some(words))?;
        }
        for record in &made.columns {
            let column = &table.columns[record.position];
            let sequence = if record.sequence {
                let whole = self.sequence_of_column((&table.name.name, &physical), column, database, &namespace)?;
                self.tell_of_sequence("CREATE TABLE", &whole, &table.name.name, &column.name);
                Some(whole)
            } else {
                column.default.as_ref().and_then(|default| self.next_of(&default.expr))
            };
            self.record_column(database, oid, record, sequence.as_deref())?;
        }
        for check in &made.checks {
            self.record_check(database, oid, check)?;
        }
        for constraint in &table.constraints {
            let words = match constraint.kind {
                _ if constraint.kind.primary_key().is_some() => "PRIMARY KEY",
                ConstraintKind::Unique(_)
                | ConstraintKind::DeferrableUnique { .. }
                | ConstraintKind::UniqueNullsAlike(_) => "UNIQUE",
                _ => continue,
            };
            self.detail(format!(
                "CREATE TABLE / {words} will create implicit index \"{}\" for table \"{}\"",
                constraint.name, table.name.name
            ));
        }
        for constraint in table.constraints.iter().filter(|constraint| constraint.options.no_inherit) {
            self.set_property(database, oid, &constraint.name, NO_INHERIT, Some("true"))?;
        }
        for (part, name, value) in &table.properties {
            self.set_property(database, oid, part, name, Some(value))?;
        }
        if let Some((bound, _)) = &bound {
            self.set_property(database, oid, "", PARTITION_BOUND, Some(&bound.text))?;
        }
        for constraint in &table.constraints {
            let now = || -> Done<std::sync::Arc<Relation>> {
                self.touch(database, oid);
                self.settle()?;
                self.current(oid)
            };
            match &constraint.kind {
                ConstraintKind::DeferrableUnique { columns, deferred, primary } => {
                    self.add_deferrable_key(&*now()?, &constraint.name, columns, *deferred, *primary)?;
                }
                ConstraintKind::UniqueNullsAlike(columns) => {
                    self.add_key_of_nulls(&*now()?, &constraint.name, columns)?;
                }
                ConstraintKind::Exclusion(exclusion) => self.add_exclusion(&*now()?, &constraint.name, exclusion)?,
                ConstraintKind::ForeignKey(key) if key.by_engine => self.note_key(now()?.oid, constraint)?,
                _ => {}
            }
        }
        for twin in &twins {
            self.touch(database, oid);
            self.settle()?;
            self.add_twin(&*self.current(oid)?, &twin.name, twin.kind.key().unwrap_or_default())?;
        }
        if let Some((bound, parent)) = &bound {
            self.check_default_rows(bound, parent)?;
        }
        self.enter_parents(&table.parents, database)?;
        for like in &table.likes {
            self.copy_like(like, database, oid)?;
        }
        if let Some((_, parent)) = &bound {
            self.settle()?;
            self.clone_triggers(parent, &self.current(oid)?)?;
            self.name_parts_at(parent)?;
        }
        Ok(Some((physical, oid)))
    }

    /// CREATE INDEX; of a partitioned table, in each of its partitions, too.
    pub(super) fn create_index(&self, index: &CreateIndex) -> Done {
        self.create_one_index(index)?;
        if !index.table.is_partitioned() || index.only {
            return Ok(());
        }
        self.touch(index.table.physical.database, index.table.oid);
        self.settle()?;
        let parent = self.current(index.table.oid)?;
        let Some(at) = parent.indexes.iter().position(|known| known.name == index.name) else { return Ok(()) };
        for partition in self.schema().heirs(parent.oid) {
            self.adopt_index(&parent, at, partition.oid)?;
        }
        Ok(())
    }

    fn create_one_index(&self, index: &CreateIndex) -> Done {
        let table = &index.table;
        if !self.is_free(&table.namespace, &index.name, index.if_not_exists)? {
            return Ok(());
        }
        let physical = physical_name(&table.namespace, &index.name);
        let declared = index;
        let sorted = super::exclusion::stored(index);
        let index = sorted.as_ref().unwrap_or(index);
        if is_fulltext(index) {
            self.store.prepare_fulltext()?;
        }
        let made = self.store.create_index(index, &physical).map_err(|failed| self.duplicate_keys(failed, index))?;
        if index.nulls_alike && !index.properties.iter().any(|(name, _)| name == NULLS_ALIKE) {
            let oid = self.entry(table)?;
            self.set_property(table.physical.database, oid, &index.name, NULLS_ALIKE, Some("index"))?;
        }
        if !index.properties.is_empty() {
            let oid = self.entry(table)?;
            for (name, value) in &index.properties {
                self.set_property(table.physical.database, oid, &index.name, name, Some(value))?;
            }
        }
        // Plain names of columns are read back from what the back end keeps.
        let plain = made.predicate.is_none()
            && index.keys.iter().all(|key| matches!(key.key.expr.kind, ExprKind::Column(_)))
            && physical == index.name;
        if plain {
            return self.check_exclusion(declared);
        }
        let oid = self.record(
            table.physical.database,
            "index",
            &table.namespace,
            &index.name,
            Some(&physical),
            table.language,
            made.predicate.as_deref(),
        )?;
        for (position, text) in made.keys.iter().enumerate() {
            let record = ColumnRecord {
                name: position.to_string(),
                position,
                generated: Some(text.clone()),
                ..Default::default()
            };
            self.record_column(table.physical.database, oid, &record, None)?;
        }
        self.check_exclusion(declared)
    }

    pub(super) fn create_view(&self, view: &CreateView) -> Done {
        let (namespace, database, physical) = self.place(&view.name, view.temporary)?;
        let schema = self.schema();
        let snapshot = if database == "temp" { &schema.temp } else { &schema.main };
        let mut replaced = None;
        let mut defaults = Vec::new();
        if let Some(old) = snapshot.relation(&namespace, &view.name.name).filter(|_| view.replace) {
            if old.keeps_rows() {
                return Err(Error::new(Condition::WrongObjectType, format!("\"{}\" is not a view", old.name)).into());
            }
            match check_replacement(old, view) {
                Ok(()) => {
                    defaults = old.columns.iter().map(|column| Some(column.default.as_ref()?.text.clone())).collect();
                }
                // MySQL's views may become any others, as long as nobody else reads them.
                Err(_) if view.language == Language::Mysql => {
                    self.drop_dependents(&describe(old), vec![Needed::relation(&schema, old)], false)?;
                }
                Err(error) => return Err(error.into()),
            }
            let comment = schema.details(old.oid).and_then(|details| details.comment.clone());
            replaced = Some((old.oid, comment, self.privilege_rows(database, old.oid)?));
            self.drop_view(old)?;
        } else {
            self.is_free(&namespace, &view.name.name, false)?;
        }
        // A view of which the back end can make nothing is in our tables alone.
        let made = physical == view.name.name
            && !self.reads_family(&view.query)
            && self.store.make_view(database, &physical, &view.query);
        let kept = made.then_some(physical.as_str());
        let text = Some(view.text.as_str());
        let mut oid = self.record(database, "view", &namespace, &view.name.name, kept, view.language, text)?;
        if let Some((old, comment, privileges)) = replaced {
            // What depends on the view goes by its id.
            self.store.take_place(database, oid, old, comment.as_deref())?;
            self.forget_privileges(database, oid)?;
            self.put_privilege_rows(database, &privileges)?;
            oid = old;
        }
        let uses = self.session.uses(&view.text, None, view.language, &schema)?;
        self.record_needs(database, oid, &uses.dependencies())?;
        if view.language != Language::Informix {
            self.record_pins(database, oid, &Pins::of(&uses))?;
        }
        for (position, column) in view.query.columns.iter().enumerate() {
            let record = ColumnRecord {
                name: column.name.clone(),
                position,
                ty: Some(kept_words(&column.ty, view.language)),
                default_text: defaults.get(position).cloned().flatten(),
                ..Default::default()
            };
            self.record_column(database, oid, &record, None)?;
            let collation = view.collations.get(position).and_then(Option::as_ref).map(|named| named.property());
            self.set_property(database, oid, &column.name, collation::PROPERTY, collation.as_deref())?;
        }
        self.record_view_options(database, oid, &view.options)
    }

    pub(super) fn create_schema(&self, name: &str, if_not_exists: bool, owner: Option<&RoleSpec>) -> Done {
        let owner = owner.map(|owner| self.role(owner)).transpose()?;
        if self.schema().has_namespace(name) {
            if if_not_exists {
                self.notice(Condition::DuplicateSchema, format!("schema \"{name}\" already exists, skipping"));
                return Ok(());
            }
            return Err(Error::new(Condition::DuplicateSchema, format!("schema \"{name}\" already exists")).into());
        }
        if name.starts_with("pg_") {
            return Err(Error::new(Condition::ReservedName, format!("unacceptable schema name \"{name}\""))
                .detail("The prefix \"pg_\" is reserved for system schemas.")
                .into());
        }
        let oid = self.record("main", "schema", "", name, None, Language::Postgres, None)?;
        match owner {
            Some(owner) => self.give_to("main", oid, owner),
            None => Ok(()),
        }
    }
}

/// A view may be replaced by one with the same columns, and more behind them.
fn check_replacement(old: &Relation, new: &CreateView) -> Result<(), Error> {
    let refused = |message| Error::new(Condition::InvalidTableDefinition, message);
    if old.columns.len() > new.query.columns.len() {
        return Err(refused("cannot drop columns from view".to_owned()));
    }
    for (before, after) in old.columns.iter().zip(&new.query.columns) {
        if before.name != after.name {
            let message = format!("cannot change name of view column \"{}\" to \"{}\"", before.name, after.name);
            return Err(
                refused(message).hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
            );
        }
        if before.ty != after.ty {
            let (from, to) = (format_type(&before.ty), format_type(&after.ty));
            let message = format!("cannot change data type of view column \"{}\" from {from} to {to}", before.name);
            return Err(refused(message));
        }
    }
    Ok(())
}

/// An index of words.
fn is_fulltext(index: &CreateIndex) -> bool {
    index.properties.iter().any(|(name, value)| name == INDEX_METHOD && value == FULLTEXT)
}
