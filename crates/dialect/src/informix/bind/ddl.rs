//! Changes of the schema.

use std::sync::Arc;

use super::Binder;
use super::coerce::call;
use super::scope::{Scope, Visible};
use crate::bind::names::{Unnamed, informix_name, informix_number};
use crate::informix::ast::{self, Alter, Ast, DropKind, Node, ObjectName, Query, Renamed};
use crate::ir::{
    self, AlterTable, ColumnDefinition, Constraint, ConstraintKind, CreateIndex, CreateSequence, CreateTable,
    CreateTableAs, CreateView, Ddl, Drop, Expr, ForeignKeyDefinition, IdentityDefinition, IndexKeyDefinition,
    ObjectKind, RelId, Text,
};
use crate::schema::{Column, Index, KeyRules, Physical, QualifiedName, Relation, RelationKind};
use crate::uses::Uses;
use crate::{Condition, Result, Type};

impl Binder<'_> {
    pub(super) fn ddl(&mut self, ast: &Ast) -> Result<ir::Statement> {
        let ddl = match ast {
            Ast::CreateTable(table) => return self.create_table(table),
            Ast::CreateIndex { name, table, unique, if_not_exists, keys, ends } => {
                self.create_index(name, table, *unique, *if_not_exists, keys, ends)?
            }
            Ast::CreateView { checked, name, columns, query, text, if_not_exists } => {
                if *if_not_exists && self.find_relation(name).is_some() {
                    return Ok(ir::Statement::Nothing { tag: "CREATE VIEW" });
                }
                self.uses = Some(Uses::default());
                let bound = self.query(query);
                let uses = self.uses.take().unwrap_or_default();
                let (mut bound, _) = bound?;
                if uses.relations.iter().any(|named| named.relation.is_temporary()) {
                    return self.unsupported("a view over a temporary table", name.at);
                }
                if !columns.is_empty() {
                    if columns.len() != bound.columns.len() {
                        return Err(self.error(
                            Condition::ColumnCountMismatch,
                            "the view has another number of columns than its query",
                            name.at,
                        ));
                    }
                    for (column, name) in bound.columns.iter_mut().zip(columns) {
                        column.name.clone_from(name);
                    }
                }
                for (at, column) in bound.columns.iter().enumerate() {
                    if bound.columns[..at].iter().any(|other| other.name == column.name) {
                        let message = format!("column ({}) appears more than once in the view", column.name);
                        return Err(self
                            .error(Condition::DuplicateColumn, message, name.at)
                            .column(column.name.clone()));
                    }
                }
                if let Some(unnamed) = bound.columns.iter().find(|column| column.name.starts_with('(')) {
                    return Err(self.error(
                        Condition::ViewColumnWithoutName,
                        format!("the view's column {} needs a name", unnamed.name),
                        name.at,
                    ));
                }
                Ddl::CreateView(CreateView {
                    collations: Vec::new(),
                    name: self.created(name)?,
                    temporary: false,
                    replace: false,
                    language: Self::LANGUAGE,
                    text: self.without_stars(&self.kept(*text)),
                    query: bound,
                    options: crate::schema::ViewOptions(match checked {
                        true => vec![("check_option".to_owned(), "cascaded".to_owned())],
                        false => Vec::new(),
                    }),
                })
            }
            Ast::CreateSequence { name, if_not_exists, options } => {
                let increment = options.increment.unwrap_or(1);
                let (least, greatest) = if increment < 0 { (i64::MIN + 1, -1) } else { (1, i64::MAX) };
                let min = options.min.unwrap_or(least);
                let max = options.max.unwrap_or(greatest);
                Ddl::CreateSequence(CreateSequence {
                    name: self.created(name)?,
                    if_not_exists: *if_not_exists,
                    ty: Type::Int8,
                    start: options.start.unwrap_or(if increment < 0 { max } else { min }),
                    increment,
                    min,
                    max,
                    cache: 1,
                    cycle: options.cycle.unwrap_or(false),
                    owner: None,
                })
            }
            Ast::AlterSequence { name, options } => {
                let found = self.sequence_named(name)?;
                let Some(mut sequence) = self.schema.sequence_definition(&found) else {
                    return Err(crate::Error::internal("a sequence without parameters"));
                };
                if options.start.is_some() {
                    return Err(self.error(Condition::SyntaxError, "ALTER SEQUENCE has no START", name.at));
                }
                sequence.increment = options.increment.unwrap_or(sequence.increment);
                sequence.min = options.min.unwrap_or(sequence.min);
                sequence.max = options.max.unwrap_or(sequence.max);
                sequence.cycle = options.cycle.unwrap_or(sequence.cycle);
                let restart = options.restart.map(|number| number.unwrap_or(sequence.start));
                Ddl::AlterSequence { sequence, restart }
            }
            Ast::CreateSynonym { name, target, if_not_exists } => {
                let relation = self.placed(self.look_up(target), target.at)?;
                let (found, elsewhere) = match relation {
                    Some(found) => {
                        let target = QualifiedName::new(found.relation.namespace.clone(), found.relation.name.clone());
                        (target, found.elsewhere.map(|(database, _)| database))
                    }
                    None => (self.sequence_named(target)?, None),
                };
                let own = self.created(name)?;
                let bare = QualifiedName::bare(name.name.clone());
                let known = self.schema.synonym(&bare).is_some() || self.schema.synonym_elsewhere(&bare).is_some();
                if !*if_not_exists && known {
                    return Err(self.error(
                        Condition::DuplicateTable,
                        format!("synonym ({}) already exists", name.name),
                        name.at,
                    ));
                }
                Ddl::CreateSynonym { name: own, target: found, elsewhere, if_not_exists: *if_not_exists }
            }
            Ast::RenameOther { kind, name, to } => match kind {
                Renamed::Sequence => {
                    let found = self.sequence_named(name)?;
                    Ddl::Rename { kind: ObjectKind::Sequence, name: found, to: to.clone(), tag: "RENAME SEQUENCE" }
                }
                Renamed::Index => {
                    let Some((relation, at)) = self.schema.index(&QualifiedName::bare(name.name.clone())) else {
                        return Err(self.error(
                            Condition::UndefinedObject,
                            format!("index ({}) is not in the database", name.name),
                            name.at,
                        ));
                    };
                    let found = QualifiedName::new(relation.namespace.clone(), relation.indexes[at].name.clone());
                    Ddl::Rename { kind: ObjectKind::Index, name: found, to: to.clone(), tag: "RENAME INDEX" }
                }
                Renamed::Constraint => return self.unsupported("RENAME CONSTRAINT", name.at),
            },
            Ast::AlterTable { table, actions } => {
                let relation = self.base_table(table)?;
                let actions = self.alter(&relation, actions)?;
                if actions.is_empty() {
                    return Ok(ir::Statement::Nothing { tag: "ALTER TABLE" });
                }
                Ddl::AlterTable { table: relation, actions, heirs: Vec::new() }
            }
            Ast::RenameTable { table, to } => {
                let relation = self.base_table(table)?;
                Ddl::AlterTable {
                    table: relation,
                    actions: vec![AlterTable::RenameTable(to.clone())],
                    heirs: Vec::new(),
                }
            }
            Ast::RenameColumn { table, column: (name, at), to } => {
                let relation = self.base_table(table)?;
                let column = self.column_of(&relation, name, *at)?;
                Ddl::AlterTable {
                    table: relation,
                    actions: vec![AlterTable::RenameColumn { column, to: to.clone() }],
                    heirs: Vec::new(),
                }
            }
            Ast::Drop { kind, name, if_exists, cascade } => self.drop(*kind, name, *if_exists, *cascade)?,
            Ast::Truncate(name) => {
                Ddl::Truncate { tables: vec![self.base_table(name)?], restart_identity: false, cascade: false }
            }
            _ => return Err(crate::Error::internal("not a schema change")),
        };
        Ok(ir::Statement::Ddl(Box::new(ddl)))
    }

    /// The text of a view with every `*` spelled out: columns that a table gets later are none of the view's.
    fn without_stars(&self, text: &str) -> String {
        let uses = |text: &str| super::uses(text, self.schema, self.context).ok();
        let Some(written) = uses(text).filter(|written| !written.stars.is_empty()) else { return text.to_owned() };
        match written.without_stars(text, &|name| name.to_owned()) {
            Some(spelled) if uses(&spelled).is_some_and(|other| other.means_the_same(&written)) => spelled,
            _ => text.to_owned(),
        }
    }

    fn base_table(&mut self, name: &ObjectName) -> Result<Arc<Relation>> {
        let relation = self.relation(name)?;
        if relation.kind == RelationKind::Table {
            return Ok(relation);
        }
        Err(self
            .error(Condition::UndefinedTable, format!("{} is not a table", relation.name), name.at)
            .table(relation.namespace.clone(), relation.name.clone()))
    }

    fn column_of(&self, table: &Relation, name: &str, at: usize) -> Result<usize> {
        table.column(name).ok_or_else(|| {
            self.error(Condition::UndefinedColumn, format!("column ({name}) not found"), at).column(name)
        })
    }

    /// The name of an object to be; owners are not told apart.
    fn created(&self, name: &ObjectName) -> Result<QualifiedName> {
        if name.database.as_ref().is_some_and(|database| *database != self.context.database) {
            return self.unsupported("creating an object in another database", name.at);
        }
        let schema = self.schema.creation_namespace().unwrap_or_else(|| "public".into());
        Ok(QualifiedName::new(schema, name.name.clone()))
    }

    fn create_table(&mut self, table: &ast::CreateTable) -> Result<ir::Statement> {
        if let Some(query) = &table.query {
            let created = self.table_of_query(&table.name, table.temporary, table.if_not_exists, query)?;
            return Ok(created);
        }
        let mut columns = Vec::new();
        for column in &table.columns {
            if columns.iter().any(|other: &ColumnDefinition| other.name == column.name) {
                return Err(self
                    .error(Condition::DuplicateColumn, format!("column ({}) is defined twice", column.name), column.at)
                    .column(column.name.clone()));
            }
            // One SERIAL, and one SERIAL8 or BIGSERIAL.
            let long = |definition: &ColumnDefinition| definition.ty != Type::Int4;
            let definition = self.column_definition(column)?;
            if definition.identity.is_some()
                && columns.iter().any(|other| other.identity.is_some() && long(other) == long(&definition))
            {
                return Err(self.error(Condition::SecondSerial, "can have only one column of serial type", column.at));
            }
            columns.push(definition);
        }
        let mut own_keys = OwnKeys::default();
        for constraint in table.columns.iter().flat_map(|column| &column.constraints).chain(&table.constraints) {
            own_keys.add(constraint);
        }
        // What checks may name: a table that is not there yet.
        let shape = self.shape(&table.name, &columns);
        let mut constraints = Vec::new();
        let written = table.columns.iter().flat_map(|column| &column.constraints).chain(&table.constraints);
        for constraint in written {
            let bound = self.constraint(&shape, constraint, constraints.len() + 1, &own_keys)?;
            if let ConstraintKind::PrimaryKey(keys) = &bound.kind {
                for &key in keys {
                    columns[key].not_null = true;
                }
            }
            constraints.push(bound);
        }
        let name = if table.temporary {
            QualifiedName::new("pg_temp", table.name.name.clone())
        } else {
            self.created(&table.name)?
        };
        if !table.if_not_exists && self.schema.relation(&name).is_some() {
            return Err(self
                .error(Condition::DuplicateTable, format!("table ({}) already exists", table.name.name), table.name.at)
                .table(name.schema.clone().unwrap_or_default(), table.name.name.clone()));
        }
        let owner = table.name.owner.as_ref().filter(|owner| *owner != "informix");
        let properties = owner.map(|owner| (String::new(), crate::informix::OWNER.to_owned(), owner.clone()));
        let table = CreateTable {
            name,
            temporary: table.temporary,
            on_commit: ir::OnCommit::PreserveRows,
            if_not_exists: table.if_not_exists,
            language: Self::LANGUAGE,
            columns,
            constraints,
            properties: properties.into_iter().collect(),
            likes: Vec::new(),
            parents: Vec::new(),
            partition: None,
        };
        Ok(ir::Statement::Ddl(Box::new(Ddl::CreateTable(table))))
    }

    /// `SELECT … INTO TEMP t`.
    pub(super) fn select_into(&mut self, query: &Query) -> Result<ir::Statement> {
        let Some(into) = &query.into else { return Err(crate::Error::internal("no INTO")) };
        self.effects.reads = true;
        self.effects.writes = true;
        self.effects.schema = true;
        let name = ObjectName { database: None, server: None, owner: None, name: into.name.clone(), at: into.at };
        self.table_of_query(&name, into.temporary, false, query)
    }

    fn table_of_query(
        &mut self,
        name: &ObjectName,
        temporary: bool,
        if_not_exists: bool,
        query: &Query,
    ) -> Result<ir::Statement> {
        let (bound, result) = self.query(query)?;
        let mut columns: Vec<ColumnDefinition> = Vec::new();
        for column in &result {
            if column.name.starts_with('(') {
                return Err(self.error(
                    Condition::InvalidColumnDefinition,
                    "an expression needs a display label here",
                    name.at,
                ));
            }
            columns.push(ColumnDefinition::plain(&column.name, super::super::types::kept(&column.ty)));
        }
        let name = if temporary { QualifiedName::new("pg_temp", name.name.clone()) } else { self.created(name)? };
        let table = CreateTable {
            name,
            temporary,
            on_commit: ir::OnCommit::PreserveRows,
            if_not_exists,
            language: Self::LANGUAGE,
            columns,
            constraints: Vec::new(),
            properties: Vec::new(),
            likes: Vec::new(),
            parents: Vec::new(),
            partition: None,
        };
        Ok(ir::Statement::CreateTableAs(Box::new(CreateTableAs {
            table,
            query: bound,
            no_data: false,
            definition: None,
        })))
    }

    fn column_definition(&mut self, column: &ast::Column) -> Result<ColumnDefinition> {
        let ty = self.named_type(&column.ty.ty, column.at)?;
        let default = match &column.default {
            Some((node, _)) if super::super::parse_statement::is_null(node) => None,
            Some((node, text)) => {
                let expr = self.default_of(node, &ty)?;
                Some(Text { text: self.kept(*text), expr })
            }
            None => None,
        };
        let identity =
            column.ty.serial.map(|start| IdentityDefinition { always: false, zero_is_next: true, start, increment: 1 });
        Ok(ColumnDefinition {
            name: column.name.clone(),
            ty,
            not_null: column.not_null || identity.is_some(),
            default,
            identity,
            sequence: None,
            generated: None,
            collation: None,
        })
    }

    /// A table under definition as names in its constraints see it.
    fn shape(&self, name: &ObjectName, columns: &[ColumnDefinition]) -> Relation {
        Relation {
            oid: 0,
            namespace: String::new(),
            name: name.name.clone(),
            physical: Physical::shared(name.name.clone()),
            language: Self::LANGUAGE,
            kind: RelationKind::Table,
            columns: columns
                .iter()
                .map(|column| Column {
                    name: column.name.clone(),
                    ty: column.ty.clone(),
                    not_null: column.not_null,
                    default: None,
                    identity: None,
                    generated: None,
                    row_identity: false,
                    collation: None,
                })
                .collect(),
            dropped: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            without_identity: false,
            triggers: Vec::new(),
            heritage: None,
            partitioning: None,
            security: None,
            rules: Vec::new(),
        }
    }

    fn constraint(
        &mut self,
        table: &Relation,
        constraint: &ast::TableConstraint,
        number: usize,
        own_keys: &OwnKeys,
    ) -> Result<Constraint> {
        let positions = |binder: &Self, names: &[String]| -> Result<Vec<usize>> {
            names.iter().map(|name| binder.column_of(table, name, constraint.at)).collect()
        };
        let (what, kind) = match &constraint.kind {
            ast::ConstraintKind::PrimaryKey(names) => {
                (Unnamed::PrimaryKey, ConstraintKind::PrimaryKey(positions(self, names)?))
            }
            ast::ConstraintKind::Unique(names) => (Unnamed::Unique, ConstraintKind::Unique(positions(self, names)?)),
            ast::ConstraintKind::Check(node, text) => {
                self.scopes.push(Scope::of_table(Text::TABLE, table));
                let expr = self.condition(node);
                self.scopes.pop();
                (Unnamed::Check, ConstraintKind::Check(Text { text: self.kept(*text), expr: expr? }))
            }
            ast::ConstraintKind::ForeignKey { columns, target, target_columns, on_delete } => {
                let own = positions(self, columns)?;
                let (name, target_columns) = if target.name == table.name {
                    // The table itself, whose keys are not known to the schema before it exists.
                    let names =
                        if target_columns.is_empty() { own_keys.primary.clone() } else { target_columns.clone() };
                    if names.is_empty() {
                        return Err(self.error(
                            Condition::InvalidForeignKey,
                            format!("{} has no primary key to refer to", target.name),
                            target.at,
                        ));
                    }
                    if names.len() == own.len() && !own_keys.has(&names) {
                        return Err(self.not_unique(&target.name, target.at));
                    }
                    (self.created(target)?, names)
                } else {
                    let parent = self.relation(target)?;
                    let name = QualifiedName::new(parent.namespace.clone(), parent.name.clone());
                    let key = parent.primary_key().map(|key| key.columns.clone()).unwrap_or_default();
                    let names = if target_columns.is_empty() {
                        key.into_iter().flatten().map(|at| parent.columns[at].name.clone()).collect()
                    } else {
                        for name in target_columns {
                            self.column_of(&parent, name, target.at)?;
                        }
                        target_columns.clone()
                    };
                    self.check_parent_key(table, &own, &parent, &names, target.at)?;
                    (name, names)
                };
                if target_columns.len() != own.len() {
                    return Err(self.error(
                        Condition::InvalidForeignKey,
                        format!("the key of {} has another number of columns", target.name),
                        target.at,
                    ));
                }
                (
                    Unnamed::ForeignKey,
                    ConstraintKind::ForeignKey(Box::new(ForeignKeyDefinition {
                        columns: own,
                        target: name,
                        target_columns,
                        rules: KeyRules { on_delete: *on_delete, ..KeyRules::default() },
                        by_engine: false,
                        set_columns: Vec::new(),
                    })),
                )
            }
        };
        Ok(Constraint {
            name: constraint.name.clone().unwrap_or_else(|| informix_name(what, &table.name, number)),
            named: constraint.name.is_some(),
            kind,
            options: Default::default(),
        })
    }

    fn not_unique(&self, table: &str, at: usize) -> crate::Error {
        let message = format!("cannot find unique constraint or primary key on referenced table ({table})");
        self.error(Condition::InvalidForeignKey, message, at).table("", table.to_owned())
    }

    /// Refuses a foreign key whose columns in the parent are not unique there, or of another kind of type.
    fn check_parent_key(
        &self,
        table: &Relation,
        own: &[usize],
        parent: &Relation,
        names: &[String],
        at: usize,
    ) -> Result<()> {
        let there: Vec<usize> = names.iter().filter_map(|name| parent.column(name)).collect();
        let is_key = |index: &crate::schema::Index| {
            let same = index.columns.len() == there.len() && there.iter().all(|at| index.columns.contains(&Some(*at)));
            index.unique && index.predicate.is_none() && same
        };
        if own.len() == there.len() && !parent.indexes.iter().any(is_key) {
            return Err(self.not_unique(&parent.name, at));
        }
        let alike = |here: &Type, there: &Type| {
            let of_one_kind = |test: fn(&Type) -> bool| test(here) == test(there);
            of_one_kind(Type::is_text) && of_one_kind(Type::is_number) && super::coerce::common(here, there).is_some()
        };
        for (here, there) in own.iter().zip(&there) {
            let (here, there) = (&table.columns[*here], &parent.columns[*there]);
            let types = (super::super::types::kept(&here.ty), super::super::types::kept(&there.ty));
            if !alike(&types.0, &types.1) {
                let message = format!("the types of ({}) and ({}) do not match", here.name, there.name);
                return Err(self.error(Condition::ForeignKeyTypes, message, at).column(here.name.clone()));
            }
        }
        Ok(())
    }

    fn create_index(
        &mut self,
        name: &ObjectName,
        table: &ObjectName,
        unique: bool,
        if_not_exists: bool,
        keys: &[(Node, bool)],
        ends: &[usize],
    ) -> Result<Ddl> {
        let relation = self.base_table(table)?;
        let visible = Visible::of_table(Text::TABLE, relation.name.clone(), &relation, None);
        let bare = QualifiedName::bare(name.name.clone());
        if !if_not_exists && self.schema.index(&bare).is_some() {
            return Err(self.error(
                Condition::DuplicateIndex,
                format!("index ({}) already exists", name.name),
                name.at,
            ));
        }
        self.scopes.push(Scope { relations: vec![visible], ..Scope::default() });
        let mut bound = Vec::new();
        for (node, descending) in keys {
            let expr = self.expr(node)?;
            let text = match &expr.kind {
                ir::ExprKind::Column(column) => match column.column {
                    ir::ColumnIndex::At(at) => relation.columns[at].name.clone(),
                    ir::ColumnIndex::RowIdentity => return self.unsupported("an index on rowid", node.at),
                },
                _ => {
                    // The text of the key, as written.
                    let end = ends.get(bound.len()).copied().unwrap_or(node.at);
                    self.kept((node.at, end))
                }
            };
            bound.push(IndexKeyDefinition { key: Text { text, expr }, descending: *descending });
        }
        self.scopes.pop();
        Ok(Ddl::CreateIndex(CreateIndex {
            nulls_alike: false,
            name: name.name.clone(),
            table: relation,
            unique,
            if_not_exists,
            // Only a unique index says something about rows.
            lenient: !unique,
            keys: bound,
            predicate: None,
            concurrently: false,
            only: false,
            properties: Vec::new(),
        }))
    }

    /// Refuses the name of something in another database where that must be known by itself.
    fn must_be_own(&self, name: &ObjectName) -> Result<()> {
        self.check_server(name)?;
        let database = self.database_of(name);
        if database == self.context.database || database == "sysmaster" {
            return Ok(());
        }
        self.schema.neighbour(database)?;
        self.unsupported(&format!("this statement about an object of another database ({database})"), name.at)
    }

    fn drop(&mut self, kind: DropKind, name: &ObjectName, if_exists: bool, cascade: bool) -> Result<Ddl> {
        self.must_be_own(name)?;
        let found = match kind {
            DropKind::Table | DropKind::View => self
                .find_relation(name)
                .filter(|relation| {
                    matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView)
                        == (kind == DropKind::View)
                        && relation.kind != RelationKind::Catalog
                })
                .map(|relation| QualifiedName::new(relation.namespace.clone(), relation.name.clone())),
            DropKind::Index => {
                let bare = QualifiedName::bare(name.name.clone());
                self.schema.index(&bare).map(|(relation, at)| {
                    QualifiedName::new(relation.namespace.clone(), relation.indexes[at].name.clone())
                })
            }
            DropKind::Sequence => self
                .schema
                .sequence(&QualifiedName::bare(name.name.clone()))
                .map(|sequence| QualifiedName::new(sequence.namespace.clone(), sequence.name.clone())),
            DropKind::Synonym => {
                let bare = QualifiedName::bare(name.name.clone());
                let found = self.schema.synonym(&bare).is_some() || self.schema.synonym_elsewhere(&bare).is_some();
                found.then_some(bare)
            }
        };
        let object = match kind {
            DropKind::Index => ObjectKind::Index,
            DropKind::Sequence => ObjectKind::Sequence,
            DropKind::View => ObjectKind::View,
            DropKind::Synonym => ObjectKind::Synonym,
            _ => ObjectKind::Table,
        };
        let names = match found {
            Some(found) => vec![found],
            None if if_exists => Vec::new(),
            None => {
                let condition = match kind {
                    DropKind::Index => Condition::UndefinedObject,
                    DropKind::Synonym => Condition::UndefinedSynonym,
                    _ => Condition::UndefinedTable,
                };
                return Err(self
                    .error(condition, format!("{} is not in the database", name.name), name.at)
                    .table(name.owner.clone().unwrap_or_default(), name.name.clone()));
            }
        };
        Ok(Ddl::Drop(Drop { kind: object, names, concurrently: false, cascade }))
    }

    fn alter(&mut self, table: &Arc<Relation>, actions: &[Alter]) -> Result<Vec<AlterTable>> {
        let mut bound = Vec::new();
        let mut number = self.next_constraint(table);
        let mut next = || {
            number += 1;
            number - 1
        };
        // Positions count the columns that were there, and behind them those that are added.
        let mut shape = (**table).clone();
        let mut own_keys = OwnKeys::of(table);
        for action in actions {
            match action {
                Alter::Add(column, _) => column.constraints.iter().for_each(|constraint| own_keys.add(constraint)),
                Alter::AddConstraint { constraint, .. } => own_keys.add(constraint),
                _ => {}
            }
        }
        for action in actions {
            match action {
                Alter::Add(column, before) => {
                    let definition = self.column_definition(column)?;
                    shape.columns.push(Column {
                        name: definition.name.clone(),
                        ty: definition.ty.clone(),
                        not_null: definition.not_null,
                        default: None,
                        identity: None,
                        generated: None,
                        row_identity: false,
                        collation: None,
                    });
                    let mut constraints = Vec::new();
                    for constraint in &column.constraints {
                        constraints.push(self.constraint(&shape, constraint, next(), &own_keys)?);
                    }
                    bound.push(AlterTable::AddColumn { column: definition, constraints, if_not_exists: false });
                    if let Some((name, at)) = before {
                        let before = self.column_of(table, name, *at)?;
                        bound.push(AlterTable::MoveColumn { column: shape.columns.len() - 1, before });
                    }
                }
                Alter::Drop(names) => {
                    for (name, at) in names {
                        let column = self.column_of(table, name, *at)?;
                        bound.push(AlterTable::DropColumn { column, cascade: true });
                    }
                }
                Alter::Modify(column) => {
                    let at = self.column_of(table, &column.name, column.at)?;
                    let definition = self.column_definition(column)?;
                    let old = &table.columns[at];
                    let mut numbered = None;
                    match (&old.identity, &definition.identity) {
                        (Some(_), Some(identity)) if identity.start > 1 => bound.push(AlterTable::SetIdentity {
                            column: at,
                            always: None,
                            sequence: None,
                            restart: Some(identity.start),
                        }),
                        (None, Some(identity)) => {
                            let long = |ty: &Type| *ty != Type::Int4;
                            let mut others = table.columns.iter().filter(|other| other.identity.is_some());
                            if others.any(|other| long(&other.ty) == long(&definition.ty)) {
                                let message = "can have only one column of serial type";
                                return Err(self.error(Condition::SecondSerial, message, column.at));
                            }
                            numbered = Some(identity.clone());
                        }
                        (Some(_), None)
                            if table.primary_key().is_some_and(|key| key.constraint && key.columns == [Some(at)])
                                && definition.not_null =>
                        {
                            bound.push(AlterTable::DropIdentity { column: at });
                        }
                        // The file's own numbering stands in the table's definition.
                        (Some(_), None) => {
                            return self.unsupported(
                                "MODIFY of a SERIAL, but for a primary key that stays NOT NULL,",
                                column.at,
                            );
                        }
                        _ => {}
                    }
                    if old.ty != definition.ty {
                        let value = Expr::column(RelId(0), at, old.ty.clone());
                        let distinct = old.ty.distinct().is_some() || definition.ty.distinct().is_some();
                        let using = self.cast(value, &definition.ty, column.at).map_err(|error| {
                            match error.condition {
                                Condition::CannotCoerce if distinct => {
                                    let message = format!(
                                        "ALTER TABLE cannot modify column ({}) type: it needs a cast from the present type",
                                        column.name
                                    );
                                    self.error(Condition::ColumnNeedsCast, message, column.at).column(&*column.name)
                                }
                                _ => error,
                            }
                        })?;
                        let ty = definition.ty.clone();
                        bound.push(AlterTable::SetType { column: at, ty, collation: None, using });
                    }
                    if old.not_null != definition.not_null {
                        bound.push(AlterTable::SetNotNull { column: at, not_null: definition.not_null });
                    }
                    if definition.default.is_some() || old.default.is_some() {
                        bound.push(AlterTable::SetDefault { column: at, default: definition.default });
                    }
                    if let Some(identity) = numbered {
                        let sequence = CreateSequence {
                            name: QualifiedName::bare(""),
                            if_not_exists: false,
                            ty: definition.ty.clone(),
                            start: identity.start.max(1),
                            increment: 1,
                            min: 1,
                            max: if definition.ty == Type::Int4 { i32::MAX.into() } else { i64::MAX },
                            cache: 1,
                            cycle: false,
                            owner: None,
                        };
                        bound.push(AlterTable::AddIdentity { column: at, identity, sequence });
                    }
                    for constraint in &column.constraints {
                        // MODIFY says again what is to stay.
                        let primary = match &constraint.kind {
                            ast::ConstraintKind::PrimaryKey(_) => Some(true),
                            ast::ConstraintKind::Unique(_) => Some(false),
                            _ => None,
                        };
                        let same = |index: &Index| {
                            index.constraint && Some(index.primary) == primary && index.columns == [Some(at)]
                        };
                        if constraint.name.is_none() && table.indexes.iter().any(same) {
                            continue;
                        }
                        let constraint = self.constraint(table, constraint, next(), &own_keys)?;
                        bound.push(AlterTable::AddConstraint(constraint));
                    }
                }
                Alter::AddConstraint { constraint, if_not_exists } => {
                    let known = |name: &String| {
                        table.indexes.iter().any(|index| index.constraint && index.name == *name)
                            || table.foreign_keys.iter().any(|key| key.name == *name)
                            || table.checks.iter().any(|check| check.name == *name)
                    };
                    if *if_not_exists && constraint.name.as_ref().is_some_and(known) {
                        continue;
                    }
                    let constraint = self.constraint(table, constraint, next(), &own_keys)?;
                    bound.push(AlterTable::AddConstraint(constraint));
                }
                Alter::DropConstraint { name, if_exists } => {
                    let name = name.clone();
                    bound.push(AlterTable::DropConstraint { name, if_exists: *if_exists, cascade: true });
                }
                Alter::Nothing => {}
            }
        }
        Ok(bound)
    }

    fn next_constraint(&self, table: &Relation) -> usize {
        let indexes = table.indexes.iter().map(|index| index.name.as_str());
        let keys = table.foreign_keys.iter().map(|key| key.name.as_str());
        informix_number(&table.name, indexes.chain(keys).chain(table.checks.iter().map(|check| check.name.as_str())))
    }

    /// The sequence of a name, or of a synonym.
    fn sequence_named(&self, name: &ObjectName) -> Result<QualifiedName> {
        self.must_be_own(name)?;
        let bare = QualifiedName::bare(name.name.clone());
        let found = self.schema.sequence(&bare).or_else(|| self.schema.sequence(&self.schema.synonym(&bare)?));
        found.map(|sequence| QualifiedName::new(sequence.namespace.clone(), sequence.name.clone())).ok_or_else(|| {
            self.error(
                Condition::UndefinedTable,
                format!("the specified table ({}) is not in the database", name.name),
                name.at,
            )
        })
    }

    /// The next number of a sequence, by its name.
    pub(super) fn sequence_value(&mut self, function: &'static str, name: &QualifiedName) -> Option<Expr> {
        let sequence = self.schema.sequence(name).or_else(|| self.schema.sequence(&self.schema.synonym(name)?))?;
        self.note(|uses| {
            uses.sequences.insert(sequence.oid);
        });
        Some(call(function, vec![Expr::integer(sequence.oid.into(), Type::Oid)], Type::Int8))
    }
}

/// The keys of a table that a statement makes or changes, with those that it adds: what it may refer to itself by.
#[derive(Default)]
struct OwnKeys {
    /// Columns of the primary key; none without one.
    primary: Vec<String>,
    unique: Vec<Vec<String>>,
}

impl OwnKeys {
    /// Those that a table has.
    fn of(table: &Relation) -> Self {
        let names = |index: &Index| index.columns.iter().flatten().map(|at| table.columns[*at].name.clone()).collect();
        let whole =
            |index: &&Index| index.unique && index.predicate.is_none() && index.columns.iter().all(Option::is_some);
        Self {
            primary: table.primary_key().map(names).unwrap_or_default(),
            unique: table.indexes.iter().filter(whole).map(names).collect(),
        }
    }

    fn add(&mut self, constraint: &ast::TableConstraint) {
        match &constraint.kind {
            ast::ConstraintKind::PrimaryKey(names) => self.primary.clone_from(names),
            ast::ConstraintKind::Unique(names) => self.unique.push(names.clone()),
            _ => {}
        }
    }

    fn has(&self, names: &[String]) -> bool {
        let same = |key: &Vec<String>| key.len() == names.len() && names.iter().all(|name| key.contains(name));
        same(&self.primary) || self.unique.iter().any(same)
    }
}
