//! Whether a change of the schema is allowed to the role that asks.

use rowferry_dialect::access::{
    DATABASE, DatabaseRights, ObjectClass, Privileges, Rights, denied, denied_as, is_open, not_owner, relation_words,
};
use rowferry_dialect::collation::Collation;
use rowferry_dialect::extension::Installed;
use rowferry_dialect::ir::{
    AlterTable, AlterUserType, AlterView, CastChange, CollationChange, ConstraintKind, CreateTable, Ddl, Drop,
    ExtensionChange, NewUserType, ObjectKind, OperatorChange, OtherOperator, PolicyChange, SearchChange,
    StatisticsChange, TriggerChange, UserTypeChange,
};
use rowferry_dialect::schema::{QualifiedName, Relation, RelationKind};
use rowferry_dialect::statistics::StatisticsObject;
use rowferry_dialect::text_search::SearchObject;
use rowferry_dialect::user_operator::UserOperator;
use rowferry_dialect::{Condition, Error, Language, Schema as _};

use super::{Changer, Done};
use crate::backend::Failed;
use crate::schema::{PG_TEMP, SessionSchema};
use crate::session::Session;

impl Changer<'_> {
    /// Whether the role may make a table.
    pub(super) fn check_creation(&self, table: &CreateTable) -> Done {
        let schema = self.schema();
        if !schema.is_restricted() {
            return Ok(());
        }
        let rights = schema.rights();
        Allowed { schema: &schema, rights: &rights, session: self.session }.create_table(table)
    }

    /// Whether the role owns a relation.
    pub(super) fn check_owner(&self, relation: &Relation) -> Done {
        let schema = self.schema();
        if !schema.is_restricted() {
            return Ok(());
        }
        let rights = schema.rights();
        Allowed { schema: &schema, rights: &rights, session: self.session }.owner(relation)
    }

    /// Refuses what the role may not do: to make things in a schema, to change what is somebody else's.
    pub(super) fn check_allowed(&self, ddl: &Ddl) -> Done {
        let schema = self.schema();
        if !schema.is_restricted() {
            return Ok(());
        }
        let rights = schema.rights();
        let check = Allowed { schema: &schema, rights: &rights, session: self.session };
        match ddl {
            Ddl::CreateTable(table) => check.create_table(table),
            Ddl::Partition(change) => {
                check.owner(&change.parent)?;
                check.owner(&change.partition)
            }
            Ddl::CreateIndex(index) => {
                if rights.may_in(&index.table.namespace, DatabaseRights::INDEX) {
                    return Ok(());
                }
                if !rights.owns(index.table.oid) {
                    let message = format!("must be owner of {} {}", relation_words(&index.table), index.table.name);
                    return Err(Error::new(Condition::NoIndexPermission, message).into());
                }
                check.schema_privilege(&index.table.namespace, Privileges::CREATE)
            }
            Ddl::CreateView(view) => {
                let old = schema.relation(&view.name).filter(|_| view.replace);
                check.create_by(&view.name, view.temporary, DatabaseRights::CREATE_VIEW, "CREATE VIEW")?;
                old.map_or(Ok(()), |old| check.changes(&old, DatabaseRights::DROP, "DROP"))
            }
            Ddl::AlterView { view, actions, .. } => {
                check.owner(view)?;
                match actions.iter().any(|action| matches!(action, AlterView::Rename(_))) {
                    true => check.schema_privilege(&view.namespace, Privileges::CREATE),
                    false => Ok(()),
                }
            }
            Ddl::CreateSequence(sequence) => check.create_in(&sequence.name, false),
            Ddl::CreateSynonym { name, .. } => check.create_in(name, false),
            Ddl::CreateSchema { name, owner, .. } => {
                if !check.keeps_types(Some(name)) && !rights.may_in(name, DatabaseRights::CREATE) {
                    let done = check.database(Privileges::CREATE);
                    done.map_err(|failed| match self.session.language() {
                        Language::Mysql => self.session.denied_database(name).into(),
                        _ => failed,
                    })?;
                }
                owner.as_ref().map_or(Ok(()), |owner| self.check_member(&rights, self.role(owner)?))
            }
            Ddl::AlterSequence { sequence, .. } => check.sequence(&sequence.name),
            Ddl::Rename { kind: ObjectKind::Sequence, name, .. } => check.sequence(name),
            Ddl::Rename { kind: ObjectKind::Schema, name, .. } => {
                check.owned(schema.namespace_oid(&name.name), "schema", &name.name)?;
                check.database(Privileges::CREATE)
            }
            Ddl::Rename { name, .. } => check.index(name),
            Ddl::SetSchema { name, to, .. } => {
                match schema.relation(name) {
                    Some(relation) => check.owner(&relation)?,
                    None => check.sequence(name)?,
                }
                check.schema_privilege(to, Privileges::CREATE)
            }
            Ddl::AlterTable { table, actions, heirs } => {
                check.changes(table, DatabaseRights::ALTER, "ALTER")?;
                heirs.iter().try_for_each(|(heir, _)| check.changes(heir, DatabaseRights::ALTER, "ALTER"))?;
                let may_create = || rights.may_in(&table.namespace, DatabaseRights::CREATE);
                if !may_create() && actions.iter().any(|action| matches!(action, AlterTable::RenameTable(_))) {
                    check.schema_privilege(&table.namespace, Privileges::CREATE)?;
                }
                actions.iter().try_for_each(|action| check.references(action))
            }
            Ddl::Drop(drop) => check.drop(drop),
            Ddl::Truncate { tables, .. } => {
                // Who may empty a table may empty those that inherit from it.
                let below = |table: &Relation| tables.iter().any(|other| table.parents().contains(&other.oid));
                let named = tables.iter().filter(|table| !below(table));
                named.into_iter().try_for_each(|table| {
                    let done = check.relation(table, Privileges::TRUNCATE);
                    done.map_err(|failed| check.told("DROP", &table.name, failed))
                })
            }
            Ddl::Comment { relation, column: Some(_), .. } => check.owned(relation.oid, "relation", &relation.name),
            Ddl::Comment { relation, .. } | Ddl::CommentPart { relation, .. } => {
                check.changes(relation, DatabaseRights::ALTER, "ALTER")
            }
            Ddl::CommentObject { owner: Some((oid, name)), .. } => check.owned(*oid, "type", name),
            Ddl::CommentObject { oid: Some(oid), kind, .. } if schema.function_by_oid(*oid).is_some() => {
                check.owned(*oid, kind, &check.function_shown(*oid))
            }
            Ddl::CommentObject { oid: Some(oid), kind: "type", name, .. } => {
                check.owned(*oid, "type", &check.type_shown(*oid, name))
            }
            Ddl::CommentObject { oid, kind, name, .. } => {
                check.owned(oid.unwrap_or_else(|| schema.namespace_oid(name)), kind, name)
            }
            Ddl::CommentSequence { name, .. } => check.sequence(name),
            Ddl::CreateRoutine(_) | Ddl::CreateType(_) | Ddl::CreateAggregate(_) | Ddl::CreateInformixCast(_) => {
                check.schema_privilege("public", Privileges::CREATE)
            }
            Ddl::UserType(UserTypeChange::Create { name, kind }) => {
                if !check.keeps_types(name.schema.as_deref()) {
                    check.create_in(name, false)?;
                }
                match kind {
                    NewUserType::Range { multirange, .. } => check.create_in(multirange, false),
                    _ => Ok(()),
                }
            }
            Ddl::UserType(UserTypeChange::AlterFields { ty, .. }) => {
                check.owned(ty.oid, "type", &check.type_shown(ty.oid, &ty.name))
            }
            Ddl::UserType(UserTypeChange::Alter { ty, action, .. }) => {
                check.owned(ty.kept_as(), "type", &check.type_shown(ty.oid, &ty.name))?;
                match action {
                    AlterUserType::Rename(_) => check.schema_privilege(&ty.namespace, Privileges::CREATE),
                    AlterUserType::SetSchema(to) => check.schema_privilege(to, Privileges::CREATE),
                    _ => Ok(()),
                }
            }
            Ddl::UserType(UserTypeChange::Drop { types, .. }) => types.iter().try_for_each(|ty| {
                let inside = rights.owns(schema.namespace_oid(&ty.namespace));
                if inside { Ok(()) } else { check.owned(ty.oid, "type", &check.type_shown(ty.oid, &ty.name)) }
            }),
            Ddl::Extension(change) => check.extension(change),
            Ddl::Collation(change) => check.collation(change),
            Ddl::Search(change) => check.search_objects(change),
            Ddl::Operator(change) => check.operator(change),
            Ddl::Cast(change) => check.cast(change),
            Ddl::Statistics(change) => check.statistics(change),
            Ddl::CreateFunction(create) => {
                if !rights.may_in(&create.namespace, DatabaseRights::CREATE_ROUTINE) {
                    check.schema_privilege(&create.namespace, Privileges::CREATE)?;
                }
                check.leakproof(create.leakproof)?;
                create.replaces.map_or(Ok(()), |oid| check.owned(oid, "function", &create.name))
            }
            Ddl::AlterFunction(alter) => {
                check.function(alter.function)?;
                check.leakproof(alter.leakproof)
            }
            Ddl::DropFunctions { functions, .. } => functions.iter().try_for_each(|oid| check.function(*oid)),
            Ddl::DropRoutine(routine) => check.owned(routine.oid, "function", ""),
            Ddl::DropType { oid } => check.owned(*oid, "type", ""),
            Ddl::DropAggregate { oid } => check.owned(*oid, "aggregate", ""),
            Ddl::DropInformixCast { oid } => check.owned(*oid, "cast", ""),
            Ddl::Rule(rule) => check.owner(&rule.relation),
            Ddl::Policy(policy) => match policy.change {
                PolicyChange::Drop(_) | PolicyChange::Comment(..) => {
                    check.owned(policy.table.oid, "relation", &policy.table.name)
                }
                _ => check.owner(&policy.table),
            },
            Ddl::Trigger(trigger) => match trigger.change {
                TriggerChange::Create { .. } | TriggerChange::Actions { .. } => {
                    let done = check.relation(&trigger.relation, Privileges::TRIGGER);
                    done.map_err(|failed| check.told("TRIGGER", &trigger.relation.name, failed))
                }
                _ => check.changes(&trigger.relation, DatabaseRights::TRIGGER, "TRIGGER"),
            },
            // These ask themselves.
            Ddl::Access { .. } => Ok(()),
        }
    }
}

struct Allowed<'a> {
    schema: &'a SessionSchema,
    rights: &'a Rights,
    session: &'a Session,
}

impl Allowed<'_> {
    /// Who may make things in the database may have an extension there.
    fn extension(&self, change: &ExtensionChange) -> Done {
        let owned = |extension: &Installed| self.owned(extension.oid, "extension", extension.name());
        match change {
            ExtensionChange::Create { namespace, .. } => {
                self.database(Privileges::CREATE)?;
                self.schema_privilege(namespace, Privileges::CREATE)
            }
            ExtensionChange::SetSchema { extension, to } => {
                owned(extension)?;
                self.schema_privilege(to, Privileges::CREATE)
            }
            ExtensionChange::Comment { extension, .. } => owned(extension),
            ExtensionChange::Drop { extensions, .. } => extensions.iter().try_for_each(|extension| owned(extension)),
        }
    }

    fn search_objects(&self, change: &SearchChange) -> Done {
        let owned = |object: &SearchObject| self.owned(object.oid, object.kind().words(), &object.name);
        match change {
            SearchChange::Create { name, .. } => self.create_in(name, false),
            SearchChange::Alter { object, .. } | SearchChange::Comment { object, .. } => owned(object),
            SearchChange::Move { object, to } => {
                owned(object)?;
                self.schema_privilege(to.schema.as_deref().unwrap_or_default(), Privileges::CREATE)
            }
            SearchChange::Drop { objects, .. } => objects.iter().try_for_each(|object| owned(object)),
        }
    }

    fn statistics(&self, change: &StatisticsChange) -> Done {
        let owned = |object: &StatisticsObject| self.owned(object.oid, "statistics object", &object.name);
        match change {
            StatisticsChange::Create { name, table, .. } => {
                self.owner(table)?;
                self.create_in(name, false)
            }
            StatisticsChange::Alter { object, .. } | StatisticsChange::Comment { object, .. } => owned(object),
            StatisticsChange::Move { object, to } => {
                owned(object)?;
                self.schema_privilege(to.schema.as_deref().unwrap_or_default(), Privileges::CREATE)
            }
            StatisticsChange::Drop(objects) => objects.iter().try_for_each(|object| owned(object)),
        }
    }

    fn operator(&self, change: &OperatorChange) -> Done {
        let owned = |operator: &UserOperator| self.owned(operator.oid, "operator", &operator.name);
        match change {
            OperatorChange::Create { name, commutator, negator, .. } => {
                self.create_in(name, false)?;
                [commutator, negator].into_iter().flatten().try_for_each(|other| match other {
                    OtherOperator::Shell { name, .. } => self.create_in(name, false),
                    OtherOperator::Known(_) | OtherOperator::Itself => Ok(()),
                })
            }
            OperatorChange::Alter { operator, .. } | OperatorChange::Comment { operator, .. } => owned(operator),
            OperatorChange::Move { operator, to } => {
                owned(operator)?;
                self.schema_privilege(to, Privileges::CREATE)
            }
            OperatorChange::Drop { operators, .. } => operators.iter().try_for_each(|operator| owned(operator)),
        }
    }

    /// Who owns one of its types may change a cast.
    fn cast(&self, change: &CastChange) -> Done {
        let (source, target) = change.types();
        // PostgreSQL's own belong to nobody who is asked here.
        let owned = |oid: u32| match self.schema.user_type_by_oid(oid) {
            Some(ty) => self.rights.owns(ty.kept_as()),
            None => false,
        };
        if owned(source) || owned(target) {
            return Ok(());
        }
        let words = |oid: u32| rowferry_dialect::postgres::regtype::shown_in(self.schema, oid, None);
        let words = |oid: u32| words(oid).unwrap_or_else(|| oid.to_string());
        let message = format!("must be owner of type {} or type {}", words(source), words(target));
        Err(Error::new(Condition::InsufficientPrivilege, message).into())
    }

    fn collation(&self, change: &CollationChange) -> Done {
        let owned = |collation: &Collation| self.owned(collation.oid, "collation", &collation.name);
        match change {
            CollationChange::Create { name, .. } => self.create_in(name, false),
            CollationChange::Rename { collation, .. } => {
                owned(collation)?;
                self.schema_privilege(&collation.namespace, Privileges::CREATE)
            }
            CollationChange::SetSchema { collation, to } => {
                owned(collation)?;
                self.schema_privilege(to, Privileges::CREATE)
            }
            CollationChange::Comment { collation, .. } => owned(collation),
            CollationChange::Drop { collations, .. } => collations.iter().try_for_each(|collation| owned(collation)),
        }
    }

    /// A function is said to tell nothing of its arguments.
    fn leakproof(&self, wanted: bool) -> Done {
        if wanted && !self.rights.is_superuser() {
            let message = "only superuser can define a leakproof function";
            return Err(Error::new(Condition::InsufficientPrivilege, message).into());
        }
        Ok(())
    }

    fn create_table(&self, table: &CreateTable) -> Done {
        self.create_by(&table.name, table.temporary, DatabaseRights::CREATE, "CREATE")?;
        table.parents.iter().try_for_each(|parent| self.owner(parent))?;
        let copied = table.likes.iter().map(|like| &like.source).filter(|source| !is_open(source));
        copied.into_iter().try_for_each(|source| self.relation(source, Privileges::SELECT))?;
        table.constraints.iter().try_for_each(|constraint| self.key(&constraint.kind))
    }

    /// Whether a schema is that of MySQL's types, which a table makes that first has columns of them.
    fn keeps_types(&self, schema: Option<&str>) -> bool {
        self.session.language() == Language::Mysql && schema == Some(rowferry_dialect::mysql::types::SCHEMA)
    }

    /// Who may make something in a schema, and who has a right of MySQL's in that database.
    fn create_by(&self, name: &QualifiedName, temporary: bool, right: DatabaseRights, command: &str) -> Done {
        let namespace = name.schema.clone().or_else(|| self.schema.creation_namespace());
        if !temporary && namespace.is_some_and(|namespace| self.rights.may_in(&namespace, right)) {
            return Ok(());
        }
        self.create_in(name, temporary).map_err(|failed| self.told(command, &name.name, failed))
    }

    /// Whose a relation is may change it, and who has a right of MySQL's in its database.
    fn changes(&self, relation: &Relation, right: DatabaseRights, command: &str) -> Done {
        if self.rights.may_in(&relation.namespace, right) {
            return Ok(());
        }
        self.owner(relation).map_err(|failed| self.told(command, &relation.name, failed))
    }

    /// A refusal as the session's language tells it.
    fn told(&self, command: &str, name: &str, failed: Failed) -> Failed {
        match self.session.language() {
            Language::Mysql => self.session.denied_table(command, name).into(),
            _ => failed,
        }
    }

    fn create_in(&self, name: &QualifiedName, temporary: bool) -> Done {
        if temporary || name.schema.as_deref() == Some(PG_TEMP) {
            return match self.rights.may(ObjectClass::Database, DATABASE, Privileges::TEMPORARY) {
                true => Ok(()),
                false => Err(rowferry_dialect::Error::new(
                    rowferry_dialect::Condition::InsufficientPrivilege,
                    format!(
                        "permission denied to create temporary tables in database \"{}\"",
                        self.session.database.name()
                    ),
                )
                .into()),
            };
        }
        let namespace = name.schema.clone().or_else(|| self.schema.creation_namespace());
        namespace.map_or(Ok(()), |namespace| self.schema_privilege(&namespace, Privileges::CREATE))
    }

    fn schema_privilege(&self, namespace: &str, wanted: Privileges) -> Done {
        if self.schema.may(namespace, wanted) {
            return Ok(());
        }
        let creates = wanted == Privileges::CREATE;
        let condition = if creates { Condition::NoResourcePermission } else { Condition::InsufficientPrivilege };
        Err(denied_as(condition, "schema", namespace).into())
    }

    fn database(&self, wanted: Privileges) -> Done {
        match self.rights.may(ObjectClass::Database, DATABASE, wanted) {
            true => Ok(()),
            false => Err(denied_as(Condition::NoDbaPermission, "database", self.session.database.name()).into()),
        }
    }

    fn owned(&self, oid: u32, kind: &str, name: &str) -> Done {
        if self.rights.owns(oid) { Ok(()) } else { Err(not_owner(kind, name).into()) }
    }

    fn function(&self, oid: u32) -> Done {
        let function = self.schema.stored_functions().find(|function| function.oid == oid);
        let Some(function) = function else { return Ok(()) };
        let inside = self.rights.owns(self.schema.namespace_oid(&function.namespace))
            || self.rights.may_in(&function.namespace, DatabaseRights::ALTER_ROUTINE);
        let kind = if function.definition.procedure { "procedure" } else { "function" };
        if inside { Ok(()) } else { self.owned(oid, kind, &self.function_shown(oid)) }
    }

    /// A function's name, with its schema where it is not found without.
    fn function_shown(&self, oid: u32) -> String {
        let Some(function) = self.schema.function_by_oid(oid) else { return String::new() };
        let found = self.schema.functions(&QualifiedName::bare(function.name.clone()));
        match found.iter().any(|found| found.oid == oid) {
            true => function.name.clone(),
            false => format!("{}.{}", function.namespace, function.name),
        }
    }

    /// A type's name as messages have it; `name` where nothing is known of it.
    fn type_shown(&self, oid: u32, name: &str) -> String {
        rowferry_dialect::postgres::regtype::shown_in(self.schema, oid, None).unwrap_or_else(|| name.to_owned())
    }

    fn owner(&self, relation: &Relation) -> Done {
        self.owned(relation.oid, relation_words(relation), &relation.name)
    }

    fn relation(&self, relation: &Relation, wanted: Privileges) -> Done {
        match self.rights.may(ObjectClass::Relation, relation.oid, wanted) {
            true => Ok(()),
            false => Err(denied(relation_words(relation), &relation.name).into()),
        }
    }

    fn sequence(&self, name: &QualifiedName) -> Done {
        match self.schema.sequence(name) {
            Some(sequence) => self.owned(sequence.oid, "sequence", &sequence.name),
            None => Ok(()),
        }
    }

    fn index(&self, name: &QualifiedName) -> Done {
        match self.schema.index(name) {
            Some((table, at)) => self.owned(table.oid, "index", &table.indexes[at].name),
            None => Ok(()),
        }
    }

    /// What may be dropped is one's own, or in a schema of one's own.
    fn drop(&self, drop: &Drop) -> Done {
        for name in &drop.names {
            if let Some(schema) = &name.schema {
                self.schema_privilege(schema, Privileges::USAGE)?;
            }
            let inside = |namespace: &str| self.rights.owns(self.schema.namespace_oid(namespace));
            match drop.kind {
                ObjectKind::Table | ObjectKind::View | ObjectKind::MaterializedView => match self.schema.relation(name)
                {
                    Some(relation) if !inside(&relation.namespace) => {
                        self.changes(&relation, DatabaseRights::DROP, "DROP")?;
                    }
                    _ => {}
                },
                ObjectKind::Index => match self.schema.index(name) {
                    Some((table, _))
                        if !inside(&table.namespace)
                            && !self.rights.may_in(&table.namespace, DatabaseRights::INDEX) =>
                    {
                        self.index(name)?;
                    }
                    _ => {}
                },
                ObjectKind::Sequence => match self.schema.sequence(name) {
                    Some(sequence) if !inside(&sequence.namespace) => self.sequence(name)?,
                    _ => {}
                },
                ObjectKind::Schema if self.rights.may_in(&name.name, DatabaseRights::DROP) => {}
                ObjectKind::Schema => {
                    self.owned(self.schema.namespace_oid(&name.name), "schema", &name.name)?;
                }
                ObjectKind::Synonym => {}
            }
        }
        Ok(())
    }

    /// Foreign keys that ALTER TABLE adds.
    fn references(&self, action: &AlterTable) -> Done {
        match action {
            AlterTable::AddConstraint(constraint) | AlterTable::AddKeyUsing { constraint, .. } => {
                self.key(&constraint.kind)
            }
            AlterTable::AddColumn { constraints, .. } => constraints.iter().try_for_each(|c| self.key(&c.kind)),
            _ => Ok(()),
        }
    }

    fn key(&self, kind: &ConstraintKind) -> Done {
        let ConstraintKind::ForeignKey(key) = kind else { return Ok(()) };
        let Some(target) = self.schema.relation(&key.target) else { return Ok(()) };
        if target.kind != RelationKind::Table
            || self.rights.may(ObjectClass::Relation, target.oid, Privileges::REFERENCES)
        {
            return Ok(());
        }
        let of_column = |name: &String| {
            let held = self.rights.column_held_by(self.rights.role(), target.oid, name).0;
            held.contains(Privileges::REFERENCES)
        };
        match !key.target_columns.is_empty() && key.target_columns.iter().all(of_column) {
            true => Ok(()),
            false => Err(denied("table", &target.name).into()),
        }
    }
}
