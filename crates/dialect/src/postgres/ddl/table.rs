//! CREATE TABLE: columns, constraints, their names.

use pg_query::NodeRef;
use pg_query::protobuf::{self as pg, ConstrType, Node, OnCommitAction, node::Node as N};

use super::super::binder::{Binder, Clause, Entry, EntryColumn};
use super::super::clauses::Property;
use super::super::{coerce, names};
use super::unused;
use crate::ir::{
    ColumnDefinition, Constraint, ConstraintKind, ConstraintOptions, CreateTable, Ddl, Expr, IdentityDefinition, Like,
    OnCommit, Statement, Text,
};
use crate::schema::{QualifiedName, ReferentialAction, Relation};
use crate::{Condition, Language, Result, Type};

/// A table under definition, as far as it goes.
pub(super) struct Draft {
    pub(super) name: QualifiedName,
    pub(super) columns: Vec<ColumnDefinition>,
    pub(super) constraints: Vec<Constraint>,
    /// Names of constraints that are taken already.
    pub(super) taken: Vec<String>,
    /// Facts that change no row.
    pub(super) properties: Vec<Property>,
    /// Columns that are computed from others.
    pub(super) generated: Vec<String>,
    /// The index that the last key takes the place of.
    pub(super) using_index: Option<String>,
    /// Names of its checks that parents have given, and that it does not declare itself.
    pub(super) inherited: Vec<String>,
}

/// A key that may be referenced: whether it is the primary one, and its columns.
type ReferencedKey = (bool, Vec<String>);

impl Draft {
    /// The columns as names in scope.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            name: self.name.name.clone(),
            schema: self.name.schema.clone(),
            columns: self
                .columns
                .iter()
                .enumerate()
                .map(|(position, column)| EntryColumn {
                    name: column.name.clone(),
                    expr: Expr::column(Text::TABLE, position, column.ty.clone()),
                    origin: None,
                    not_null: column.not_null,
                    identity: column.identity.is_some(),
                })
                .collect(),
            row_is_value: false,
            row: None,
            nullable: false,
            hidden: 0,
            value: None,
            qualified: true,
            unqualified: true,
            relation: None,
        }
    }

    pub(super) fn constraint_name(&mut self, given: &str, columns: &[String], suffix: &str) -> (String, bool) {
        if !given.is_empty() {
            self.taken.push(given.to_owned());
            return (given.to_owned(), true);
        }
        let base = std::iter::once(self.name.name.as_str())
            .chain(columns.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("_");
        let name = unused(&base, suffix, |name| self.taken.iter().any(|taken| taken == name));
        self.taken.push(name.clone());
        (name, false)
    }
}

impl Binder<'_> {
    /// ON COMMIT, which is for temporary tables.
    pub(super) fn on_commit(&self, action: OnCommitAction, temporary: bool) -> Result<OnCommit> {
        let on_commit = match action {
            OnCommitAction::OncommitDeleteRows => OnCommit::DeleteRows,
            OnCommitAction::OncommitDrop => OnCommit::Drop,
            OnCommitAction::OncommitPreserveRows => OnCommit::PreserveRows,
            _ => return Ok(OnCommit::PreserveRows),
        };
        if temporary {
            return Ok(on_commit);
        }
        let message = "ON COMMIT can only be used on temporary tables";
        Err(crate::Error::new(Condition::InvalidTableDefinition, message))
    }

    pub(super) fn create_table(&mut self, create: &pg::CreateStmt) -> Result<Statement> {
        let Some(range) = &create.relation else { return Err(crate::Error::internal("a table without a name")) };
        let gap = if create.of_typename.is_some() {
            Some("CREATE TABLE OF")
        } else if !matches!(create.access_method.as_str(), "" | "heap") {
            Some("a table access method")
        } else {
            None
        };
        if let Some(feature) = gap {
            return Err(self.unsupported(feature, range.location));
        }
        let name = self.new_name(range)?;
        if let Some(instead) = self.check_free(&name, create.if_not_exists, "CREATE TABLE", range.location)? {
            return Ok(instead);
        }
        if create.partspec.is_some() && create.partbound.is_none() && !create.inh_relations.is_empty() {
            let message = "cannot create partitioned table as inheritance child";
            return Err(crate::Error::new(Condition::InvalidObjectDefinition, message));
        }
        let properties = self.table_clauses(create)?;
        let mut draft = Draft {
            name: name.clone(),
            columns: Vec::new(),
            constraints: Vec::new(),
            taken: Vec::new(),
            properties,
            generated: Vec::new(),
            using_index: None,
            inherited: Vec::new(),
        };
        let mut inheritance = self.inheritance(&create.inh_relations, &name, create.partbound.is_some())?;
        let mut definitions = Vec::new();
        let mut likes = Vec::new();
        let mut table_constraints = Vec::new();
        for node in &create.table_elts {
            match &node.node {
                Some(N::ColumnDef(column)) => {
                    let definition = match inheritance.parents.first().filter(|_| inheritance.partition) {
                        Some(parent) => self.partition_column(column, parent, &draft)?,
                        None => self.column_definition(column, &mut draft)?,
                    };
                    draft.columns.push(definition);
                    definitions.push((draft.columns.len() - 1, &**column));
                }
                Some(N::Constraint(constraint)) => table_constraints.push(&**constraint),
                Some(N::TableLikeClause(like)) => {
                    likes.push(self.like_columns(like, &mut draft)?);
                }
                _ => return Err(self.unsupported("this element of a table", range.location)),
            }
        }
        let places = self.merge_inherited(&mut inheritance, &mut draft)?;
        definitions.iter_mut().for_each(|(position, _)| *position = places[*position]);
        likes.iter_mut().for_each(|like| like.move_to(&places));
        // Constraints may name columns that come later, so they wait until all are known.
        for (position, column) in &definitions {
            self.column_expressions(column, *position, &mut draft)?;
        }
        for like in &likes {
            self.like_expressions(like, &mut draft)?;
        }
        self.inherited_expressions(&inheritance, &definitions, &mut draft)?;
        self.inherited_checks(&inheritance, &mut draft)?;
        for (position, column) in &definitions {
            self.column_constraints(column, *position, &mut draft)?;
        }
        for constraint in table_constraints {
            if create.partspec.is_some() {
                self.refuse_exclusion(constraint)?;
            }
            self.table_constraint(constraint, &mut draft)?;
        }
        // Rows that are there already are none.
        for constraint in &mut draft.constraints {
            constraint.options.not_valid = false;
        }
        for like in &likes {
            self.like_constraints(like, &mut draft)?;
        }
        let mut partition = None;
        if let (Some(spec), Some(parent)) = (&create.partbound, inheritance.parents.first()) {
            self.partition_constraints(parent, &mut draft)?;
            partition = Some(self.new_partition(spec, parent)?);
        }
        if let Some(spec) = &create.partspec {
            self.partition_by(spec, &mut draft)?;
        }
        inheritance.note(&mut draft);
        let copied = inheritance.parents.iter().map(|parent| Like {
            source: parent.clone(),
            comments: false,
            indexes: inheritance.partition,
            properties: vec!["storage", "compression"],
        });
        let likes = copied.chain(likes.into_iter().map(|like| like.copied)).collect();
        Ok(Statement::Ddl(Box::new(Ddl::CreateTable(CreateTable {
            on_commit: self.on_commit(create.oncommit(), name.schema.as_deref() == Some("pg_temp"))?,
            temporary: name.schema.as_deref() == Some("pg_temp"),
            name,
            if_not_exists: create.if_not_exists,
            language: Language::Postgres,
            properties: with_collations(draft.properties, &draft.columns),
            columns: draft.columns,
            constraints: draft.constraints,
            likes,
            parents: inheritance.parents,
            partition,
        }))))
    }

    /// Name, type, NOT NULL and identity of a column.
    pub(super) fn column_definition(&mut self, column: &pg::ColumnDef, draft: &mut Draft) -> Result<ColumnDefinition> {
        let place = column.location;
        if draft.columns.iter().any(|known| known.name == column.colname) {
            return Err(self.error(
                Condition::DuplicateColumn,
                format!("column \"{}\" specified more than once", column.colname),
                place,
            ));
        }
        if matches!(column.colname.as_str(), "tableoid" | "ctid" | "xmin" | "xmax" | "cmin" | "cmax") {
            return Err(crate::Error::new(
                Condition::DuplicateColumn,
                format!("column name \"{}\" conflicts with a system column name", column.colname),
            ));
        }
        let Some(type_name) = &column.type_name else {
            return Err(crate::Error::internal("a column without a type"));
        };
        let ty = self.resolve_type(type_name)?;
        self.needs.declare(&ty);
        if matches!(ty, Type::Unknown | Type::Record(_) | Type::Void) {
            return Err(self.error(
                Condition::InvalidTableDefinition,
                format!("column \"{}\" has pseudo-type {}", column.colname, super::super::types::words(&ty)),
                place,
            ));
        }
        if ty.has_user_type() {
            let own = self.schema.relation(&draft.name);
            let own = own.as_ref().map(|own| (crate::composite::row_type_oid(own.oid), own.name.as_str()));
            crate::composite::check_part(&ty, own)?;
        }
        let (_, word) = names::of_type(type_name);
        let serial = matches!(word, "serial" | "serial2" | "serial4" | "serial8" | "bigserial" | "smallserial");
        let sequence = if serial { Some(self.column_sequence(&[], &ty)?) } else { None };
        let mut definition = ColumnDefinition {
            name: column.colname.clone(),
            ty,
            not_null: column.is_not_null || serial,
            default: None,
            identity: None,
            sequence,
            generated: None,
            collation: None,
        };
        draft.properties.extend(self.column_clauses(column, &definition.ty)?);
        definition.collation = match self.declared_collation(column.coll_clause.as_deref(), &definition.ty)? {
            Some(named) => Some(named),
            // A domain's is its columns'.
            None => crate::collation::Collation::of_domain(&definition.ty).cloned(),
        };
        if let Some(named) = &definition.collation {
            let property = crate::collation::PROPERTY.to_owned();
            draft.properties.push((column.colname.clone(), property, named.property()));
        }
        let nullable =
            |node: &Node| matches!(&node.node, Some(N::Constraint(c)) if c.contype() == ConstrType::ConstrNull);
        let nullable = column.constraints.iter().any(nullable);
        for node in &column.constraints {
            let Some(N::Constraint(constraint)) = &node.node else { continue };
            match constraint.contype() {
                ConstrType::ConstrNotnull | ConstrType::ConstrPrimary => definition.not_null = true,
                ConstrType::ConstrIdentity | ConstrType::ConstrNull
                    if nullable
                        && (definition.sequence.is_some()
                            || definition.not_null
                            || constraint.contype() == ConstrType::ConstrIdentity) =>
                {
                    return Err(self.error(
                        Condition::SyntaxError,
                        format!(
                            "conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"",
                            column.colname, draft.name.name
                        ),
                        constraint.location,
                    ));
                }
                ConstrType::ConstrGenerated => draft.generated.push(column.colname.clone()),
                ConstrType::ConstrIdentity => {
                    if definition.identity.is_some() {
                        return Err(self.error(
                            Condition::SyntaxError,
                            format!(
                                "multiple identity specifications for column \"{}\" of table \"{}\"",
                                column.colname, draft.name.name
                            ),
                            constraint.location,
                        ));
                    }
                    if definition.sequence.is_some() {
                        return Err(self.error(
                            Condition::SyntaxError,
                            format!(
                                "both default and identity specified for column \"{}\" of table \"{}\"",
                                column.colname, draft.name.name
                            ),
                            constraint.location,
                        ));
                    }
                    self.check_identity_type(&definition.ty)?;
                    let sequence = self.column_sequence(&constraint.options, &definition.ty)?;
                    definition.not_null = true;
                    definition.identity = Some(identity(constraint, &sequence));
                    definition.sequence = Some(sequence);
                }
                _ => {}
            }
        }
        Ok(definition)
    }

    /// A generated column is computed from columns that are not.
    fn check_generated_of_stored(&self, expr: &Node, draft: &Draft) -> Result<()> {
        let Some(root) = &expr.node else { return Ok(()) };
        for (node, ..) in root.nodes() {
            let NodeRef::ColumnRef(reference) = node else { continue };
            let parts = names::strings(&reference.fields);
            let Some(name) = parts.last().filter(|name| draft.generated.iter().any(|known| known == **name)) else {
                continue;
            };
            let message = format!("cannot use generated column \"{name}\" in column generation expression");
            return Err(self
                .error(Condition::InvalidObjectDefinition, message, reference.location)
                .detail("A generated column cannot reference another generated column."));
        }
        Ok(())
    }

    /// An identity column holds integers.
    pub(super) fn check_identity_type(&self, ty: &Type) -> Result<()> {
        if matches!(ty, Type::Int2 | Type::Int4 | Type::Int8) {
            return Ok(());
        }
        let message = "identity column type must be smallint, integer, or bigint";
        Err(crate::Error::new(Condition::InvalidParameterValue, message))
    }

    /// DEFAULT and GENERATED of a column.
    pub(super) fn column_expressions(
        &mut self,
        column: &pg::ColumnDef,
        position: usize,
        draft: &mut Draft,
    ) -> Result<()> {
        for node in &column.constraints {
            let Some(N::Constraint(constraint)) = &node.node else { continue };
            let place = constraint.location;
            let (name, ty) = {
                let definition = &draft.columns[position];
                (definition.name.clone(), definition.ty.clone())
            };
            match constraint.contype() {
                ConstrType::ConstrDefault => {
                    let Some(expr) = constraint.raw_expr.as_deref() else { continue };
                    if draft.columns[position].identity.is_some() {
                        return Err(self.error(
                            Condition::SyntaxError,
                            format!(
                                "both default and identity specified for column \"{name}\" of table \"{}\"",
                                draft.name.name
                            ),
                            place,
                        ));
                    }
                    if draft.columns[position].sequence.is_some() {
                        return Err(self.error(
                            Condition::SyntaxError,
                            format!(
                                "multiple default values specified for column \"{name}\" of table \"{}\"",
                                draft.name.name
                            ),
                            place,
                        ));
                    }
                    draft.columns[position].default = self.default_text(expr, &name, &ty)?;
                }
                ConstrType::ConstrGenerated => {
                    let Some(expr) = constraint.raw_expr.as_deref() else { continue };
                    if constraint.generated_kind == "v" {
                        return Err(self.unsupported("a virtual generated column", place).hint("Use STORED."));
                    }
                    let already = &draft.columns[position];
                    let both = if already.generated.is_some() {
                        Some("multiple generation clauses")
                    } else if already.default.is_some() || already.sequence.is_some() && already.identity.is_none() {
                        Some("both default and generation expression")
                    } else if already.identity.is_some() {
                        Some("both identity and generation expression")
                    } else {
                        None
                    };
                    if let Some(both) = both {
                        let message =
                            format!("{both} specified for column \"{name}\" of table \"{}\"", draft.name.name);
                        return Err(self.error(Condition::SyntaxError, message, place));
                    }
                    let volatile = std::mem::take(&mut self.effects.volatile);
                    let mut text = self.definition(expr, vec![draft.entry()], Clause::Generated, Some((&name, &ty)))?;
                    self.derive_collations_over(&mut text.expr, &draft.columns)?;
                    self.check_generated_of_stored(expr, draft)?;
                    if std::mem::replace(&mut self.effects.volatile, volatile) {
                        return Err(self.error(
                            Condition::InvalidObjectDefinition,
                            "generation expression is not immutable",
                            -1,
                        ));
                    }
                    draft.columns[position].generated = Some(text);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A default; `DEFAULT NULL` is none.
    pub(super) fn default_text(&mut self, expr: &Node, name: &str, ty: &Type) -> Result<Option<Text>> {
        let mut text = self.definition(expr, Vec::new(), Clause::Default, Some((name, ty)))?;
        self.derive_collations_over(&mut text.expr, &[])?;
        let null = matches!(text.expr.kind, crate::ir::ExprKind::Literal(crate::ir::Value::Null));
        Ok((!null).then_some(text))
    }

    /// PRIMARY KEY, UNIQUE, CHECK and REFERENCES written at a column.
    pub(super) fn column_constraints(
        &mut self,
        column: &pg::ColumnDef,
        position: usize,
        draft: &mut Draft,
    ) -> Result<()> {
        for (index, node) in column.constraints.iter().enumerate() {
            let Some(N::Constraint(constraint)) = &node.node else { continue };
            // DEFERRABLE and INITIALLY DEFERRED stand behind the constraint that they belong to.
            let mut constraint = (**constraint).clone();
            for node in &column.constraints[index + 1..] {
                let Some(N::Constraint(attribute)) = &node.node else { continue };
                match attribute.contype() {
                    ConstrType::ConstrAttrDeferrable => constraint.deferrable = true,
                    ConstrType::ConstrAttrDeferred => constraint.initdeferred = true,
                    ConstrType::ConstrAttrNotDeferrable | ConstrType::ConstrAttrImmediate => {}
                    _ => break,
                }
            }
            let kind = constraint.contype();
            self.constraint_clauses(&constraint)?;
            match kind {
                ConstrType::ConstrPrimary | ConstrType::ConstrUnique => {
                    self.key_constraint(&constraint, vec![position], draft)?;
                }
                ConstrType::ConstrCheck => self.check_constraint(&constraint, Some(position), draft)?,
                ConstrType::ConstrForeign => self.foreign_key(&constraint, Some(position), draft)?,
                ConstrType::ConstrExclusion => {
                    return Err(self.unsupported("EXCLUDE", constraint.location));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn table_constraint(&mut self, constraint: &pg::Constraint, draft: &mut Draft) -> Result<()> {
        self.constraint_clauses(constraint)?;
        match constraint.contype() {
            ConstrType::ConstrPrimary | ConstrType::ConstrUnique => {
                if !constraint.indexname.is_empty() {
                    return self.key_using_index(constraint, draft);
                }
                let columns = self.draft_columns(&constraint.keys, draft, constraint.location)?;
                self.key_constraint(constraint, columns, draft)
            }
            ConstrType::ConstrCheck => self.check_constraint(constraint, None, draft),
            ConstrType::ConstrForeign => self.foreign_key(constraint, None, draft),
            ConstrType::ConstrNotnull => {
                for position in self.draft_columns(&constraint.keys, draft, constraint.location)? {
                    draft.columns[position].not_null = true;
                }
                Ok(())
            }
            ConstrType::ConstrExclusion => self.exclusion_constraint(constraint, draft),
            _ => Err(self.unsupported("this constraint", constraint.location)),
        }
    }

    fn draft_columns(&self, nodes: &[Node], draft: &Draft, place: i32) -> Result<Vec<usize>> {
        let mut positions = Vec::with_capacity(nodes.len());
        for name in names::strings(nodes) {
            let Some(position) = draft.columns.iter().position(|column| column.name == name) else {
                return Err(self.error(
                    Condition::UndefinedColumn,
                    format!("column \"{name}\" named in key does not exist"),
                    place,
                ));
            };
            if positions.contains(&position) {
                return Err(self.error(
                    Condition::DuplicateColumn,
                    format!("column \"{name}\" appears twice in unique constraint"),
                    place,
                ));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// A key that an index stands for already.
    fn key_using_index(&mut self, constraint: &pg::Constraint, draft: &mut Draft) -> Result<()> {
        if constraint.deferrable || constraint.initdeferred {
            return Err(self.unsupported("a deferrable unique constraint", constraint.location));
        }
        let (name, place) = (&constraint.indexname, constraint.location);
        let found = self.schema.index(&QualifiedName { schema: draft.name.schema.clone(), name: name.clone() });
        let Some((table, at)) = found else {
            return Err(self.error(Condition::UndefinedObject, format!("index \"{name}\" does not exist"), place));
        };
        let index = &table.indexes[at];
        let state = |message: String| self.error(Condition::ObjectNotInPrerequisiteState, message, place);
        if index.constraint {
            return Err(state(format!("index \"{name}\" is already associated with a constraint")));
        }
        if table.name != draft.name.name {
            return Err(state(format!("index \"{name}\" does not belong to table \"{}\"", draft.name.name)));
        }
        if index.nulls_alike {
            return Err(self.unsupported("a key USING an INDEX that is NULLS NOT DISTINCT", place));
        }
        let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
        let wrong = if !index.unique {
            Some(format!("\"{name}\" is not a unique index"))
        } else if columns.is_none() {
            Some(format!("index \"{name}\" contains expressions"))
        } else if index.predicate.is_some() {
            Some(format!("\"{name}\" is a partial index"))
        } else {
            let sorted = index.keys.iter().position(|key| key.descending);
            sorted.map(|at| format!("index \"{name}\" column number {} does not have default sorting behavior", at + 1))
        };
        if let Some(message) = wrong {
            return Err(self
                .error(Condition::WrongObjectType, message, place)
                .detail("Cannot create a primary key or unique constraint using such an index."));
        }
        let columns = columns.unwrap_or_default();
        let kind = if constraint.contype() == ConstrType::ConstrPrimary {
            if draft.constraints.iter().any(|known| matches!(known.kind, ConstraintKind::PrimaryKey(_))) {
                let message = format!("multiple primary keys for table \"{}\" are not allowed", draft.name.name);
                return Err(self.error(Condition::InvalidTableDefinition, message, place));
            }
            columns.iter().for_each(|column| draft.columns[*column].not_null = true);
            ConstraintKind::PrimaryKey(columns)
        } else {
            ConstraintKind::Unique(columns)
        };
        let named = !constraint.conname.is_empty();
        let key = if named { constraint.conname.clone() } else { name.clone() };
        if key != *name {
            self.remark(format!("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{name}\" to \"{key}\""));
        }
        draft.taken.push(key.clone());
        draft.constraints.push(Constraint { name: key, named, kind, options: Default::default() });
        draft.using_index = Some(name.clone());
        Ok(())
    }

    fn key_constraint(&mut self, constraint: &pg::Constraint, columns: Vec<usize>, draft: &mut Draft) -> Result<()> {
        let deferrable = constraint.deferrable || constraint.initdeferred;
        if deferrable && constraint.contype() == ConstrType::ConstrPrimary {
            return Err(self.unsupported("a deferrable primary key", constraint.location));
        }
        let nulls_alike = constraint.nulls_not_distinct;
        if nulls_alike && deferrable {
            return Err(self.unsupported("NULLS NOT DISTINCT and DEFERRABLE", constraint.location));
        }
        if nulls_alike && columns.iter().any(|at| draft.columns[*at].collation.is_some()) {
            return Err(self.unsupported("NULLS NOT DISTINCT of a column with a collation", constraint.location));
        }
        if constraint.without_overlaps {
            return Err(self.unsupported("WITHOUT OVERLAPS", constraint.location));
        }
        let mut included = Vec::new();
        for position in self.draft_columns(&constraint.including, draft, constraint.location)? {
            included.push(draft.columns[position].name.clone());
        }
        for position in &columns {
            super::index::check_key_type(&draft.columns[*position].ty, "")?;
        }
        if constraint.contype() == ConstrType::ConstrPrimary {
            if draft.constraints.iter().any(|known| matches!(known.kind, ConstraintKind::PrimaryKey(_))) {
                return Err(self.error(
                    Condition::InvalidTableDefinition,
                    format!("multiple primary keys for table \"{}\" are not allowed", draft.name.name),
                    constraint.location,
                ));
            }
            for position in &columns {
                draft.columns[*position].not_null = true;
                self.check_unique_rows(&draft.columns[*position].ty)?;
            }
            let (name, named) = draft.constraint_name(&constraint.conname, &[], "pkey");
            draft.constraints.push(Constraint {
                name,
                named,
                kind: ConstraintKind::PrimaryKey(columns),
                options: Default::default(),
            });
        } else {
            columns.iter().try_for_each(|position| self.check_unique_rows(&draft.columns[*position].ty))?;
            let keys = columns.iter().map(|position| draft.columns[*position].name.clone());
            let words: Vec<String> = keys.chain(included.iter().cloned()).collect();
            let (name, named) = draft.constraint_name(&constraint.conname, &words, "key");
            draft.constraints.push(Constraint {
                name,
                named,
                kind: if deferrable {
                    ConstraintKind::DeferrableUnique { columns, deferred: constraint.initdeferred }
                } else if nulls_alike {
                    ConstraintKind::UniqueNullsAlike(columns)
                } else {
                    ConstraintKind::Unique(columns)
                },
                options: Default::default(),
            });
        }
        if let (Some((name, value)), Some(made)) = (super::index::list_property(&included), draft.constraints.last()) {
            draft.properties.push((made.name.clone(), name, value));
        }
        Ok(())
    }

    fn check_constraint(
        &mut self,
        constraint: &pg::Constraint,
        position: Option<usize>,
        draft: &mut Draft,
    ) -> Result<()> {
        let Some(node) = constraint.raw_expr.as_deref() else {
            return Err(crate::Error::internal("a check without a condition"));
        };
        let mut text = self.definition(node, vec![draft.entry()], Clause::Check, None)?;
        text.expr = self.condition(text.expr, "CHECK", super::super::expr::location(node))?;
        self.derive_collations_over(&mut text.expr, &draft.columns)?;
        let mut used = std::collections::BTreeSet::new();
        let mut subquery = false;
        crate::ir::walk::expr(&text.expr, &mut |part| {
            match &part.kind {
                crate::ir::ExprKind::Column(column) => {
                    if let crate::ir::ColumnIndex::At(at) = column.column {
                        used.insert(at);
                    }
                }
                kind => subquery |= kind.query().is_some(),
            }
            true
        });
        if subquery {
            return Err(self.error(
                Condition::FeatureNotSupported,
                "cannot use subquery in check constraint",
                constraint.location,
            ));
        }
        let options = ConstraintOptions { not_valid: constraint.skip_validation, no_inherit: constraint.is_no_inherit };
        if draft.inherited.contains(&constraint.conname) {
            return self.merge_declared_check(&constraint.conname, &text, options, draft);
        }
        // PostgreSQL names a check after its column when there is just one.
        let words = match (position, used.len()) {
            (Some(position), _) => vec![draft.columns[position].name.clone()],
            (None, 1) => used.iter().map(|position| draft.columns[*position].name.clone()).collect(),
            _ => Vec::new(),
        };
        let (name, named) = draft.constraint_name(&constraint.conname, &words, "check");
        draft.constraints.push(Constraint { name, named, kind: ConstraintKind::Check(text), options });
        Ok(())
    }

    /// Temporary tables refer to temporary tables, others to others.
    fn check_persistence(&self, target: &Relation, draft: &Draft) -> Result<()> {
        let temporary = draft.name.schema.as_deref() == Some("pg_temp");
        if temporary == target.is_temporary() {
            return Ok(());
        }
        let kind = if temporary { "temporary" } else { "permanent" };
        let message = format!("constraints on {kind} tables may reference only {kind} tables");
        Err(crate::Error::new(Condition::InvalidTableDefinition, message))
    }

    fn foreign_key(&mut self, constraint: &pg::Constraint, position: Option<usize>, draft: &mut Draft) -> Result<()> {
        let place = constraint.location;
        let columns = match position {
            Some(position) => vec![position],
            None => {
                let mut columns = Vec::new();
                for name in names::strings(&constraint.fk_attrs) {
                    let Some(position) = draft.columns.iter().position(|column| column.name == name) else {
                        return Err(self.error(
                            Condition::UndefinedColumn,
                            format!("column \"{name}\" referenced in foreign key constraint does not exist"),
                            place,
                        ));
                    };
                    columns.push(position);
                }
                columns
            }
        };
        let Some(range) = &constraint.pktable else {
            return Err(crate::Error::internal("a foreign key without its target"));
        };
        if constraint.fk_matchtype == "p" {
            return Err(crate::Error::new(Condition::FeatureNotSupported, "MATCH PARTIAL not yet implemented"));
        }
        let itself = range.relname == draft.name.name
            && (range.schemaname.is_empty() || Some(&range.schemaname) == draft.name.schema.as_ref());
        let given: Vec<String> = names::strings(&constraint.pk_attrs).into_iter().map(str::to_owned).collect();
        // Names and types of the target's columns, and the keys that may be referenced.
        let (target, known, keys): (QualifiedName, Vec<(String, Type)>, Vec<ReferencedKey>) = if itself {
            let name_of = |position: &usize| draft.columns[*position].name.clone();
            (
                draft.name.clone(),
                draft.columns.iter().map(|column| (column.name.clone(), column.ty.clone())).collect(),
                draft
                    .constraints
                    .iter()
                    .filter_map(|constraint| match &constraint.kind {
                        ConstraintKind::PrimaryKey(columns) => Some((true, columns.iter().map(name_of).collect())),
                        ConstraintKind::Unique(columns) => Some((false, columns.iter().map(name_of).collect())),
                        _ => None,
                    })
                    .collect(),
            )
        } else {
            let relation = self.relation(range)?;
            if relation.is_materialized() {
                let message = format!("referenced relation \"{}\" is not a table", relation.name);
                return Err(crate::Error::new(Condition::WrongObjectType, message));
            }
            let relation = self.own_table(range)?;
            self.check_persistence(&relation, draft)?;
            if relation.is_partitioned() {
                return Err(self.unsupported("a foreign key to a partitioned table", place));
            }
            (
                QualifiedName::new(relation.namespace.clone(), relation.name.clone()),
                relation.columns.iter().map(|column| (column.name.clone(), column.ty.clone())).collect(),
                relation
                    .indexes
                    .iter()
                    .filter(|index| index.unique && !index.nulls_alike && index.predicate.is_none())
                    .filter_map(|index| {
                        let columns: Option<Vec<String>> = index
                            .columns
                            .iter()
                            .map(|position| position.map(|position| relation.columns[position].name.clone()))
                            .collect();
                        columns.map(|columns| (index.primary, columns))
                    })
                    .collect(),
            )
        };
        let target_columns = if given.is_empty() {
            match keys.iter().find(|(primary, _)| *primary) {
                Some((_, columns)) => columns.clone(),
                None => {
                    return Err(self.error(
                        Condition::UndefinedObject,
                        format!("there is no primary key for referenced table \"{}\"", target.name),
                        -1,
                    ));
                }
            }
        } else {
            given
        };
        if target_columns.len() != columns.len() {
            return Err(self.error(
                Condition::InvalidForeignKey,
                "number of referencing and referenced columns for foreign key disagree",
                -1,
            ));
        }
        for name in &target_columns {
            if !known.iter().any(|(column, _)| column == name) {
                return Err(self.error(
                    Condition::UndefinedColumn,
                    format!("column \"{name}\" referenced in foreign key constraint does not exist"),
                    -1,
                ));
            }
        }
        let mut sorted = target_columns.clone();
        sorted.sort();
        let unique = keys.iter().any(|(_, columns)| {
            let mut columns = columns.clone();
            columns.sort();
            columns == sorted
        });
        // A table's own keys may be declared behind the foreign key.
        if !unique && !itself {
            return Err(self.error(
                Condition::InvalidForeignKey,
                format!("there is no unique constraint matching given keys for referenced table \"{}\"", target.name),
                -1,
            ));
        }
        let words: Vec<String> = columns.iter().map(|position| draft.columns[*position].name.clone()).collect();
        let (name, named) = draft.constraint_name(&constraint.conname, &words, "fkey");
        for (position, target) in columns.iter().zip(&target_columns) {
            let here = &draft.columns[*position].ty;
            let Some((_, there)) = known.iter().find(|(column, _)| column == target) else { continue };
            if !key_serves(there, here) {
                let message = format!("foreign key constraint \"{name}\" cannot be implemented");
                let detail = format!(
                    "Key columns \"{}\" and \"{target}\" are of incompatible types: {} and {}.",
                    draft.columns[*position].name,
                    super::super::types::words(here),
                    super::super::types::words(there)
                );
                return Err(crate::Error::new(Condition::DatatypeMismatch, message).detail(detail));
            }
        }
        if !constraint.fk_del_set_cols.is_empty() {
            return Err(self.unsupported("ON DELETE SET of some columns", place));
        }
        let mut alike = columns.iter().filter_map(|position| draft.columns[*position].collation.clone());
        if alike.any(|collation| !collation.deterministic)
            && !matches!(action(&constraint.fk_upd_action), ReferentialAction::NoAction | ReferentialAction::Restrict)
        {
            // A back end may do nothing where the old key and the new one are equal in the collation.
            return Err(self.unsupported("ON UPDATE of a key in a nondeterministic collation", place));
        }
        draft.constraints.push(Constraint {
            name,
            named,
            kind: ConstraintKind::ForeignKey {
                columns,
                target,
                target_columns,
                on_delete: action(&constraint.fk_del_action),
                on_update: action(&constraint.fk_upd_action),
                full: constraint.fk_matchtype == "f",
                deferrable: constraint.deferrable || constraint.initdeferred,
                deferred: constraint.initdeferred,
            },
            options: ConstraintOptions { not_valid: constraint.skip_validation, no_inherit: false },
        });
        Ok(())
    }
}

/// True when PostgreSQL has an equality by which a referencing column's values are looked up in the referenced key: one
/// of the key's operator family for both types, or one for the key's type that the other becomes by itself.
fn key_serves(key: &Type, referencing: &Type) -> bool {
    let moment = |ty: &Type| matches!(ty, Type::Date | Type::Timestamp(_) | Type::TimestampTz(_));
    let float = |ty: &Type| matches!(ty, Type::Float4 | Type::Float8);
    let textual = |ty: &Type| matches!(ty, Type::Text | Type::Varchar(_) | Type::Name);
    coerce::same(key, referencing)
        || (key.is_integer() && referencing.is_integer())
        || (float(key) && float(referencing))
        || (moment(key) && moment(referencing))
        || (textual(key) && (textual(referencing) || coerce::implicit(referencing, &Type::Text)))
        || coerce::implicit(referencing, &coerce::base(key))
}

/// A referential action, by the letter of `pg_constraint`.
fn action(letter: &str) -> ReferentialAction {
    match letter {
        "r" => ReferentialAction::Restrict,
        "c" => ReferentialAction::Cascade,
        "n" => ReferentialAction::SetNull,
        "d" => ReferentialAction::SetDefault,
        _ => ReferentialAction::NoAction,
    }
}

/// GENERATED … AS IDENTITY with its sequence.
pub(super) fn identity(constraint: &pg::Constraint, sequence: &crate::ir::CreateSequence) -> IdentityDefinition {
    IdentityDefinition {
        always: constraint.generated_when == "a",
        zero_is_next: false,
        start: sequence.start,
        increment: sequence.increment,
    }
}

/// The properties of a table with those that say its columns' collations.
fn with_collations(
    mut properties: Vec<(String, String, String)>,
    columns: &[ColumnDefinition],
) -> Vec<(String, String, String)> {
    let known: Vec<String> = (properties.iter())
        .filter(|(_, name, _)| name == crate::collation::PROPERTY)
        .map(|(column, ..)| column.clone())
        .collect();
    let named = columns.iter().filter(|column| !known.contains(&column.name)).filter_map(|column| {
        let collation = column.collation.as_ref()?;
        Some((column.name.clone(), crate::collation::PROPERTY.to_owned(), collation.property()))
    });
    properties.extend(named);
    properties
}
