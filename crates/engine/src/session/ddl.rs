//! Changes of the schema: what is allowed, what goes along, what is kept, all of it in one transaction.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use rowferry_dialect::access::relation_words;
use rowferry_dialect::ir::{CreateTableAs, CreateTableOfPrepared, Ddl, ObjectKind, Statement as Ir, Value};
use rowferry_dialect::postgres;
use rowferry_dialect::schema::{ForeignKey, QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Language, Result, Schema};

use super::transaction::{Block, Open};
use super::variables::MessageLevel;
use super::{Outcome, Prepared, Session};
use crate::backend::{CheckRecord, ColumnRecord, Done, Entry, Fact, Failed, Handle, Mark, Point, Store, errors};
use crate::schema::{PG_TEMP, SessionSchema, Touched, metadata, physical_name};

mod accounts;
mod allowed;
mod alter;
mod collation;
pub(crate) mod constraints;
mod create;
mod dependencies;
mod domain;
mod drop;
pub(crate) mod exclusion;
mod extension;
mod fields;
mod foreign_keys;
mod fulltext;
mod function;
mod function_uses;
mod grants;
mod heirs;
mod large_objects;
mod like;
mod matview;
mod named_type;
mod names;
mod new_names;
mod operator;
mod owned;
mod owners;
mod partition;
mod pending;
mod policy;
mod positions;
mod rename;
mod retype;
mod roles;
mod routine;
mod rule;
mod schemas;
mod sequences;
mod statistics;
mod text_search;
mod trigger;
mod user_type;
mod view;

/// What changes a schema needs to know.
struct Changer<'a> {
    handle: &'a Handle,
    /// Writes what is decided.
    store: Store<'a>,
    session: &'a Session,
    /// The schema as the steps until now have left it.
    schema: RefCell<SessionSchema>,
    /// What the steps since then have touched.
    touched: RefCell<[Touched; 2]>,
    /// How far it had grown then.
    marks: Cell<[Mark; 2]>,
    /// The transaction has not looked into the file, and must not.
    only_temporary: bool,
    /// What ALTER TABLE has still to write.
    deferred: RefCell<Option<alter::Deferred>>,
    /// Checks of columns that ALTER TABLE gives other types.
    lifted: RefCell<Vec<retype::LiftedCheck>>,
    /// What goes with objects, as long as it is to be told together.
    gone: RefCell<Option<Vec<String>>>,
    /// Indexes that an ALTER TABLE has taken away, to bring them back.
    lifted_indexes: RefCell<Vec<retype::LiftedIndex>>,
}

/// What a property can be about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PartKind {
    Column,
    Constraint,
    Index,
}

impl PartKind {
    /// True for the names of its properties.
    fn has(self, property: &str) -> bool {
        match self {
            Self::Constraint => property.starts_with("constraint_"),
            Self::Index => property.starts_with("index_") || property.starts_with(rowferry_dialect::mysql::PREFIX),
            Self::Column => !Self::Constraint.has(property) && !Self::Index.has(property),
        }
    }
}

/// Where objects are kept, in the order of [`Changer::touched`]: what all sessions share, and what is this one's own.
const DATABASES: [&str; 2] = ["main", "temp"];

impl Session {
    pub(super) fn run_ddl(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        match &prepared.bound.statement {
            Ir::CreateTableAs(_) => self.create_table_as(prepared, params),
            Ir::CreateTableOfPrepared(create) => self.create_table_of_prepared(prepared, create),
            Ir::RefreshView(_) => self.refresh_view(prepared),
            Ir::Ddl(ddl) => match ddl.as_ref() {
                Ddl::CreateSchema { name, elements, .. } if !elements.is_empty() => {
                    self.as_one_transaction(|session| {
                        let outcome = session.run_change(prepared)?;
                        session.create_elements(name, elements)?;
                        Ok(outcome)
                    })
                }
                _ => self.run_change(prepared),
            },
            _ => self.run_change(prepared),
        }
    }

    /// Makes what CREATE SCHEMA makes with the schema, which is the first of the search path meanwhile.
    fn create_elements(&mut self, schema: &str, elements: &[String]) -> Result<()> {
        let _nested = self.enter_routine()?;
        let path = self.state.variables.read().search_path();
        let path = std::iter::once(schema.to_owned()).chain(path.iter().cloned()).collect();
        let restore = self.apply_settings(&[("search_path".to_owned(), path)])?;
        let result = elements.iter().try_for_each(|text| match self.prepare(text, &[])? {
            Some(plan) => self.execute(&plan, &[]).map(|_| ()),
            None => Ok(()),
        });
        self.restore_settings(restore);
        result
    }

    fn run_change(&mut self, prepared: &Arc<Prepared>) -> Result<Outcome> {
        let words = super::execute::command_words(prepared.command);
        if let Some(named) = &prepared.uses.named {
            self.lock_named(named)?;
        }
        if let Ir::Ddl(ddl) = &prepared.bound.statement {
            self.check_outside_block(ddl)?;
        }
        self.open_change(prepared, words)?;
        self.drop_checks()?;
        // The file is ours alone from here on, so the plan is of its newest schema.
        let plan = self.renew(prepared)?;
        let Ir::Ddl(ddl) = &plan.bound.statement else { return Err(Error::internal("a schema change without one")) };
        match ddl.as_ref() {
            Ddl::Truncate { tables, cascade, .. } => {
                let tables = self.truncated(tables, *cascade);
                self.gather();
                // Each row that goes is a change of its own, if somebody wants to know.
                self.truncate_under_triggers(&tables, |session| session.change(|changer| changer.run(ddl), false))?;
                tables.iter().for_each(|table| self.is_fresh(table.oid));
                self.count_truncated(&tables);
            }
            Ddl::CreateTable(table) => {
                let known = self.schema.relation(&table.name).map(|relation| relation.oid);
                self.change_schema(|changer| changer.run(ddl))?;
                let made = self.schema.relation(&table.name).map(|relation| relation.oid);
                made.filter(|_| made != known).into_iter().for_each(|oid| self.is_fresh(oid));
            }
            _ => self.change_schema(|changer| changer.run(ddl))?,
        }
        self.settle_rows(&plan, false, true)?;
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(Outcome::Done { command: plan.command, rows: 0 })
    }

    /// The transaction has made a table, or emptied it.
    fn is_fresh(&mut self, table: u32) {
        let level = self.transaction.savepoints.len();
        self.transaction.fresh.push((table, level));
    }

    /// What PostgreSQL does in several transactions is not for a transaction block.
    fn check_outside_block(&self, ddl: &Ddl) -> Result<()> {
        let words = match ddl {
            Ddl::CreateIndex(index) if index.concurrently => "CREATE INDEX CONCURRENTLY",
            Ddl::Drop(drop) if drop.concurrently => "DROP INDEX CONCURRENTLY",
            Ddl::Partition(change) if change.concurrently => "ALTER TABLE ... DETACH CONCURRENTLY",
            _ => return Ok(()),
        };
        self.need_no_block(words)
    }

    /// Drops tables of ON COMMIT DROP.
    pub(super) fn drop_at_commit(&mut self, tables: &[Arc<Relation>]) -> Result<()> {
        self.change_schema(|changer| changer.drop_relations(tables, true))
    }

    /// Enum labels that the transaction has added become values as it ends.
    pub(super) fn settle_labels(&mut self) -> Result<()> {
        if !self.transaction.schema_changed || !matches!(self.transaction.open, Open::Write { .. }) {
            return Ok(());
        }
        let added = |ty: &&Arc<rowferry_dialect::user_type::UserType>| {
            ty.labels().is_some_and(|labels| labels.all().iter().any(|label| label.uncommitted))
        };
        let types: Vec<_> = self.schema.main.user_types.iter().filter(added).cloned().collect();
        if types.is_empty() {
            return Ok(());
        }
        self.change_schema(|changer| changer.settle_labels(&types))
    }

    /// Runs a change of the schema, all of it or nothing, and reads anew what it has touched.
    fn change_schema<T>(&mut self, change: impl FnOnce(&Changer<'_>) -> Done<T>) -> Result<T> {
        self.change(change, true)
    }

    /// As [`Self::change_schema`]; without `reforms` the tables keep their form.
    fn change<T>(&mut self, change: impl FnOnce(&Changer<'_>) -> Done<T>, reforms: bool) -> Result<T> {
        self.on_handle(|handle| handle.set_point(Point::Change))?;
        self.remember_schema();
        let handle = self.handle()?;
        let guard = handle.lock();
        errors::clear();
        // The file is not looked at for what is this session's alone.
        let reforms = reforms && !matches!(self.transaction.open, Open::Temporary);
        let lifted = if reforms { guard.lift_captures().map_err(Failed::from) } else { Ok(Default::default()) };
        let result = lifted.and_then(|lifted| {
            let changer = Changer::new(&guard, self)?;
            changer.trace_views()?;
            let value = change(&changer)?;
            guard.restore_captures(&lifted)?;
            changer.settle()?;
            changer.settle_fulltext()?;
            changer.refuse_users_of_temporary_functions()?;
            Ok((value, changer.schema.into_inner()))
        });
        drop(guard);
        let result = result.map_err(|failed| match failed {
            Failed::Other(error) => error,
            Failed::Storage(failure) => errors::of_change(&failure, &self.interrupter),
        });
        if result.is_err() {
            if !handle.lock().is_in_transaction() {
                return result.map(|(value, _)| value);
            }
            self.on_handle(|handle| handle.go_back_to(Point::Change))?;
        }
        self.on_handle(|handle| handle.forget_point(Point::Change))?;
        let (value, schema) = result?;
        self.transaction.schema_changed = true;
        self.schema.main = schema.main;
        self.schema.temp = schema.temp;
        if let Some(overlay) = &mut self.schema.overlay {
            *overlay = Arc::new(overlay.renewed());
        }
        self.schema_moved();
        Ok(value)
    }

    fn create_table_as(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        self.open_change(prepared, "CREATE TABLE AS")?;
        self.drop_checks()?;
        let plan = self.renew(prepared)?;
        let Ir::CreateTableAs(create) = &plan.bound.statement else {
            return Err(Error::internal("CREATE TABLE AS without a table"));
        };
        let rows = self.create_filled(create, params)?;
        Ok(Outcome::Done { command: plan.command, rows })
    }

    /// CREATE TABLE … AS EXECUTE: the prepared statement's query is known by now.
    fn create_table_of_prepared(
        &mut self,
        prepared: &Arc<Prepared>,
        create: &CreateTableOfPrepared,
    ) -> Result<Outcome> {
        let (plan, params) = self.prepared_with(&create.statement, &create.args)?;
        let Ir::Query(query) = &plan.bound.statement else {
            return Err(Error::new(Condition::WrongObjectType, "prepared statement is not a SELECT"));
        };
        self.check_needs(&plan)?;
        self.open_change(prepared, "CREATE TABLE AS")?;
        self.drop_checks()?;
        let context = self.postgres_context();
        let create = postgres::table_of_prepared(create, (**query).clone(), &self.schema, &context)?;
        let rows = self.create_filled(&create, &params)?;
        Ok(Outcome::Done { command: prepared.command, rows })
    }

    /// Makes a table with the rows of its query, and tells how many they are.
    pub(super) fn create_filled(&mut self, create: &CreateTableAs, params: &[Value]) -> Result<u64> {
        let settings = self.state.settings();
        let rows = self.change_schema(|changer| {
            changer.check_creation(&create.table)?;
            let Some((physical, oid)) = changer.create_table(&create.table, create.definition.as_deref())? else {
                return Ok(0);
            };
            if let Some(definition) = &create.definition {
                changer.record_query(oid, definition, !create.no_data)?;
            }
            if create.no_data {
                return Ok(0);
            }
            let database = if create.table.temporary { "temp" } else { "main" };
            let state = &changer.session.state;
            changer.store.insert_query((database, &physical), &create.query, params, &settings, state)
        })?;
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(rows)
    }

    /// Drops what the session has in `temp`.
    pub(super) fn drop_temporary_objects(&mut self) -> Result<()> {
        if self.schema.temp.is_empty() {
            return Ok(());
        }
        self.database.shared.forget_sequences_of(self.state.pid);
        let relations: Vec<Arc<Relation>> = self.schema.temp.relations().cloned().collect();
        let handle = self.handle()?;
        let guard = handle.lock();
        let store = Store::new(&guard);
        let dropped = relations.iter().try_for_each(|relation| store.drop_temporary(relation));
        let forgotten = dropped.and_then(|()| store.forget_temporary());
        drop(guard);
        self.settled(forgotten)?;
        self.load_temporary_schema()
    }
}

impl Session {
    /// What a step that nobody needs to explain has come to.
    fn settled<T>(&self, done: Done<T>) -> Result<T> {
        done.map_err(|failed| match failed {
            Failed::Other(error) => error,
            Failed::Storage(failure) => errors::translate(&failure, &self.interrupter, None),
        })
    }
}

impl<'a> Changer<'a> {
    fn new(handle: &'a Handle, session: &'a Session) -> Done<Self> {
        let store = Store::new(handle);
        // A look at the file would take a snapshot of it.
        let only_temporary = matches!(session.transaction.open, Open::Temporary);
        let main = if only_temporary { Mark::default() } else { store.mark(DATABASES[0])? };
        let marks = [main, store.mark(DATABASES[1])?];
        Ok(Self {
            handle,
            store,
            session,
            schema: RefCell::new(session.schema.clone()),
            touched: RefCell::default(),
            marks: Cell::new(marks),
            deferred: RefCell::default(),
            lifted: RefCell::default(),
            lifted_indexes: RefCell::default(),
            gone: RefCell::default(),
            only_temporary,
        })
    }

    /// The schema as the last settled step has left it.
    fn schema(&self) -> SessionSchema {
        self.schema.borrow().clone()
    }

    /// An object's entry, or a relation, is no longer what the snapshot says.
    fn touch(&self, database: &str, oid: u32) {
        self.touched.borrow_mut()[usize::from(database == "temp")].oids.insert(oid);
    }

    /// Roles, owners or privileges are no longer what the snapshot says.
    fn touch_access(&self, database: &str) {
        self.touched.borrow_mut()[usize::from(database == "temp")].access = true;
    }

    /// Brings the schema up to what has been done.
    fn settle(&self) -> Done {
        for (at, database) in DATABASES.into_iter().enumerate() {
            if self.only_temporary && database == "main" {
                continue;
            }
            let touched = std::mem::take(&mut self.touched.borrow_mut()[at]);
            let mut marks = self.marks.get();
            let mark = self.store.mark(database)?;
            if touched.oids.is_empty() && !touched.access && mark == marks[at] {
                continue;
            }
            let schema = self.schema();
            let before = if database == "temp" { &schema.temp } else { &schema.main };
            let after = self.store.refresh(database, before, &touched, marks[at])?;
            let mut schema = self.schema.borrow_mut();
            *(if database == "temp" { &mut schema.temp } else { &mut schema.main }) = Arc::new(after);
            marks[at] = mark;
            self.marks.set(marks);
        }
        Ok(())
    }
}

impl Changer<'_> {
    fn run(&self, ddl: &Ddl) -> Done {
        self.check_allowed(ddl)?;
        self.check_nothing_waits(ddl)?;
        let renames = matches!(
            ddl,
            Ddl::Rename { .. }
                | Ddl::SetSchema { .. }
                | Ddl::AlterTable { .. }
                | Ddl::AlterView { .. }
                | Ddl::AlterFunction(_)
                | Ddl::UserType(_)
                | Ddl::Extension(_)
        );
        let bodies = if renames { self.bodies_before() } else { None };
        self.run_one(ddl)?;
        bodies.map_or(Ok(()), |before| self.rename_in_bodies(&before))
    }

    fn run_one(&self, ddl: &Ddl) -> Done {
        match ddl {
            Ddl::CreateTable(table) => self.create_table(table, None).map(|_| ()),
            Ddl::Partition(change) => self.change_partition(change),
            Ddl::CreateIndex(index) => self.create_index(index),
            Ddl::CreateView(view) => self.create_view(view),
            Ddl::CreateSequence(sequence) => self.create_sequence(sequence),
            Ddl::CreateSchema { name, if_not_exists, owner, .. } => {
                self.create_schema(name, *if_not_exists, owner.as_ref())
            }
            Ddl::Access { change, .. } => self.change_access(change),
            Ddl::CreateSynonym { name, target, elsewhere, if_not_exists } => {
                self.create_synonym(name, target, elsewhere.as_deref(), *if_not_exists)
            }
            Ddl::AlterSequence { sequence, restart } => self.alter_sequence(sequence, *restart),
            Ddl::Rename { kind: ObjectKind::Schema, name, to, .. } => self.rename_schema(&name.name, to),
            Ddl::Rename { kind, name, to, .. } => self.rename_object(*kind, name, to),
            Ddl::SetSchema { name, to, .. } => self.move_object(name, to),
            Ddl::AlterTable { table, actions, heirs } => self.alter_family(table, actions, heirs),
            Ddl::AlterView { view, actions, .. } => self.alter_view(view, actions),
            Ddl::Drop(drop) => self.drop_objects(drop),
            Ddl::Truncate { tables, restart_identity, cascade } => self.truncate(tables, *restart_identity, *cascade),
            Ddl::CreateRoutine(routine) => self.create_routine(routine),
            Ddl::DropRoutine(routine) => self.drop_routine(routine.oid),
            Ddl::CreateFunction(create) => self.create_function(create),
            Ddl::AlterFunction(alter) => self.alter_function(alter),
            Ddl::DropFunctions { functions, cascade, .. } => self.drop_functions(functions, *cascade),
            Ddl::UserType(change) => self.change_user_type(change),
            Ddl::Extension(change) => self.change_extension(change),
            Ddl::Collation(change) => self.change_collation(change),
            Ddl::Operator(change) => self.change_operator(change),
            Ddl::Cast(change) => self.change_cast(change),
            Ddl::Statistics(change) => self.change_statistics(change),
            Ddl::Search(change) => self.change_search_objects(change),
            Ddl::CreateAggregate(create) => self.create_informix_aggregate(create),
            Ddl::DropAggregate { oid } => self.drop_entry(*oid),
            Ddl::CreateInformixCast(create) => self.create_informix_cast(create),
            Ddl::DropInformixCast { oid } => self.drop_entry(*oid),
            Ddl::CreateType(create) => self.create_type(create),
            Ddl::DropType { oid } => self.drop_type(*oid),
            Ddl::Trigger(change) => self.change_trigger(change),
            Ddl::Policy(change) => self.change_policy(change),
            Ddl::Rule(change) => self.change_rule(change),
            Ddl::Comment { relation, column, text } => self.comment(relation, *column, text.as_deref()),
            Ddl::CommentPart { relation, part, index, text } => {
                let oid = self.entry(relation)?;
                let property = if *index { "index_comment" } else { "constraint_comment" };
                self.set_property(relation.physical.database, oid, part, property, text.as_deref())
            }
            Ddl::CommentObject { oid, kind, name, text, .. } => {
                let oid = oid.unwrap_or_else(|| self.schema().namespace_oid(name));
                self.touch("main", oid);
                self.store.comment_object(oid, kind, text.as_deref())
            }
            Ddl::CommentSequence { name, text } => {
                let Some(details) = self.schema().sequence_details(name) else { return Ok(()) };
                self.touch(details.database, details.sequence.oid);
                if let Some(relation) = details.owner.and_then(|(oid, _)| self.schema().relation_by_oid(oid)) {
                    self.touch(relation.physical.database, relation.oid);
                }
                self.store.change_entry(details.database, details.sequence.oid, Fact::Comment, text.as_deref())
            }
        }
    }

    fn notice(&self, condition: Condition, message: String) {
        self.session.warn(condition, &message);
    }

    /// A message for those who ask for DEBUG1.
    fn detail(&self, message: String) {
        if self.session.state.variables.read().message_level() != MessageLevel::Debug {
            return;
        }
        let message = Error::new(Condition::SuccessfulCompletion, message);
        self.session.remark(message.with_severity(rowferry_dialect::error::Severity::Debug));
    }

    /// Namespace, where it is kept, and under which name, of an object to be.
    fn place(&self, name: &QualifiedName, temporary: bool) -> Done<(String, &'static str, String)> {
        if temporary {
            return Ok((PG_TEMP.to_owned(), "temp", name.name.clone()));
        }
        let namespace = match &name.schema {
            Some(namespace) if namespace == PG_TEMP => return Ok((PG_TEMP.to_owned(), "temp", name.name.clone())),
            Some(namespace) => namespace.clone(),
            None => self
                .schema()
                .creation_namespace()
                .ok_or_else(|| Error::new(Condition::InvalidSchemaName, "no schema has been selected to create in"))?,
        };
        if !self.schema().has_namespace(&namespace) {
            return Err(
                Error::new(Condition::InvalidSchemaName, format!("schema \"{namespace}\" does not exist")).into()
            );
        }
        if crate::schema::is_system(&namespace) && self.session.language() != Language::Informix {
            return Err(Error::new(
                Condition::InsufficientPrivilege,
                format!("permission denied to create \"{namespace}.{}\"", name.name),
            )
            .detail("System catalog modifications are currently disallowed.")
            .into());
        }
        let namespace = if crate::schema::is_system(&namespace) { "public".to_owned() } else { namespace };
        let physical = physical_name(&namespace, &name.name);
        Ok((namespace, "main", physical))
    }

    /// The object of this name in the namespace that something new would collide with.
    fn collision(&self, namespace: &str, name: &str) -> Option<&'static str> {
        let schema = self.schema();
        let snapshot = if namespace == PG_TEMP { &schema.temp } else { &schema.main };
        if snapshot.relation(namespace, name).is_some() {
            Some("relation")
        } else if snapshot.index(namespace, name).is_some_and(|(relation, at)| relation.indexes[at].name == name) {
            Some("index")
        } else if snapshot.sequence(namespace, name).is_some() {
            Some("sequence")
        } else if snapshot.synonyms.iter().any(|synonym| synonym.namespace == namespace && synonym.name == name) {
            Some("synonym")
        } else {
            None
        }
    }

    /// Refuses a name that is taken; false when IF NOT EXISTS lets it pass.
    fn is_free(&self, namespace: &str, name: &str, if_not_exists: bool) -> Done<bool> {
        if metadata::is_internal(name) {
            return Err(Error::new(Condition::ReservedName, format!("the name \"{name}\" is reserved"))
                .detail(format!("Names that begin with {} belong to the storage.", metadata::RESERVED.join(" or ")))
                .into());
        }
        match self.collision(namespace, name) {
            None => Ok(true),
            Some(_) if if_not_exists => {
                self.notice(Condition::DuplicateTable, format!("relation \"{name}\" already exists, skipping"));
                Ok(false)
            }
            Some(_) => Err(Error::new(Condition::DuplicateTable, format!("relation \"{name}\" already exists")).into()),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a row of a wide table")]
    fn record(
        &self,
        database: &str,
        kind: &str,
        namespace: &str,
        name: &str,
        physical: Option<&str>,
        language: Language,
        definition: Option<&str>,
    ) -> Done<u32> {
        if let Some(stale) = self.store.entry_of(database, kind, namespace, name)? {
            self.forget(database, stale)?;
        }
        let oid = self.store.record(database, &Entry { kind, namespace, name, physical, language, definition })?;
        self.touch(database, oid);
        self.give_birth(database, kind, namespace, oid)?;
        Ok(oid)
    }

    fn forget(&self, database: &str, oid: u32) -> Done {
        self.touch(database, oid);
        self.store.forget(database, oid)?;
        self.forget_privileges(database, oid)
    }

    /// The metadata entry of a table; made now for one that somebody else has created.
    fn entry(&self, relation: &Relation) -> Done<u32> {
        self.touch(relation.physical.database, relation.oid);
        let recorded = self.schema().details(relation.oid).is_some_and(|details| details.recorded);
        if recorded {
            return Ok(relation.oid);
        }
        self.store.adopt(relation)?;
        Ok(relation.oid)
    }

    fn record_column(&self, database: &str, oid: u32, record: &ColumnRecord, sequence: Option<&str>) -> Done {
        let empty = ColumnRecord { name: record.name.clone(), position: record.position, ..Default::default() };
        if *record == empty {
            return Ok(());
        }
        self.touch(database, oid);
        self.store.record_column(database, oid, record, sequence)
    }

    fn record_check(&self, database: &str, oid: u32, check: &CheckRecord) -> Done {
        self.touch(database, oid);
        self.store.record_check(database, oid, check)
    }

    /// Notes a fact about a relation that has an entry, or a part of it; `None` strikes it.
    fn set_property(&self, database: &'static str, oid: u32, part: &str, name: &str, value: Option<&str>) -> Done {
        self.touch(database, oid);
        self.store.set_property(database, oid, part, name, value)
    }

    /// The facts of a kind about a part go with it, or are told of its new name.
    fn move_properties(&self, table: &Relation, kind: PartKind, part: &str, to: Option<&str>) -> Done {
        let Some(details) = self.schema().details(table.oid).cloned() else { return Ok(()) };
        for (_, name, value) in details.properties.all().filter(|(of, name, _)| *of == part && kind.has(name)) {
            self.set_property(table.physical.database, table.oid, part, name, None)?;
            if let Some(to) = to {
                self.set_property(table.physical.database, table.oid, to, name, Some(value))?;
            }
        }
        Ok(())
    }

    /// The stored name of the table that a foreign key refers to.
    fn target_name(&self, name: &QualifiedName) -> String {
        match self.schema().relation(name) {
            Some(relation) => relation.physical.name.clone(),
            None => match &name.schema {
                Some(namespace) => physical_name(namespace, &name.name),
                None => name.name.clone(),
            },
        }
    }

    fn truncate(&self, tables: &[Arc<Relation>], restart_identity: bool, cascade: bool) -> Done {
        let schema = self.schema();
        let mut tables = tables.to_vec();
        let unchecked = self.session.postgres_context().keys_unchecked;
        let mut at = 0;
        while at < tables.len() {
            let parent = tables[at].clone();
            at += 1;
            for child in &schema.referring(&parent) {
                if tables.iter().any(|table| table.oid == child.oid) || unchecked {
                    continue;
                }
                if !cascade && self.session.language() == Language::Mysql {
                    let refers = |key: &&ForeignKey| key.target.name.eq_ignore_ascii_case(&parent.name);
                    let key = child.foreign_keys.iter().find(refers).map_or("", |key| &key.name);
                    let message = format!(
                        "Cannot truncate a table referenced in a foreign key constraint (`{}`.`{}`, CONSTRAINT `{key}`)",
                        self.session.mysql_database_of(&child.namespace),
                        child.name
                    );
                    let error = Error::new(Condition::FeatureNotSupported, message);
                    return Err(error.with_mysql(1701, "42000").into());
                }
                if !cascade {
                    return Err(Error::new(
                        Condition::FeatureNotSupported,
                        "cannot truncate a table referenced in a foreign key constraint",
                    )
                    .detail(format!("Table \"{}\" references \"{}\".", child.name, parent.name))
                    .hint(format!("Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.", child.name))
                    .into());
                }
                self.notice(Condition::SuccessfulCompletion, format!("truncate cascades to table \"{}\"", child.name));
                tables.push(child.clone());
            }
        }
        // Rows that refer to each other go together; what is checked afterwards finds none.
        self.store.defer_keys(true)?;
        for table in tables.iter().rev() {
            self.store.empty(table)?;
            if restart_identity {
                self.restart_identity(table)?;
            }
        }
        self.store.defer_keys(false)
    }

    fn comment(&self, relation: &Relation, column: Option<usize>, text: Option<&str>) -> Done {
        let oid = self.entry(relation)?;
        match column {
            None => self.store.change_entry(relation.physical.database, oid, Fact::Comment, text),
            Some(position) => self.store.comment_column(relation, position, text),
        }
    }
}

/// `table orders`, `view totals`.
fn describe(relation: &Relation) -> String {
    format!("{} {}", relation_words(relation), relation.name)
}

/// As [`describe`], with its schema where its name alone does not find it.
fn described(schema: &SessionSchema, relation: &Relation) -> String {
    let visible = schema.relation(&QualifiedName::bare(relation.name.clone()));
    if visible.is_some_and(|found| found.oid == relation.oid) || relation.is_temporary() {
        return describe(relation);
    }
    format!("{} {}.{}", relation_words(relation), relation.namespace, relation.name)
}

/// Others need what is to go.
fn cannot_drop(object: &str, dependents: &[(String, String)]) -> Failed {
    cannot_drop_all(&[object], dependents)
}

/// The same of several objects that one statement names.
fn cannot_drop_all(objects: &[&str], dependents: &[(String, String)]) -> Failed {
    let lines: Vec<String> = dependents.iter().map(|(name, on)| format!("{name} depends on {on}")).collect();
    let message = match objects {
        [object] => format!("cannot drop {object} because other objects depend on it"),
        _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
    };
    Error::new(Condition::DependentObjectsStillExist, message)
        .detail(lines.join("\n"))
        .hint("Use DROP ... CASCADE to drop the dependent objects too.")
        .into()
}
