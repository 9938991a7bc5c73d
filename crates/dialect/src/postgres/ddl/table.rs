//! CREATE TABLE: columns, constraints, their names.

use pg_query::NodeRef;
use pg_query::protobuf::{self as pg, ConstrType, Node, OnCommitAction, node::Node as N};

use super::super::binder::{Binder, Clause, Entry, EntryColumn};
use super::super::clauses::Property;
use super::super::names;
use crate::bind::names::{Unnamed, postgres_name};
use crate::ir::{
    ColumnDefinition, Constraint, CreateTable, Ddl, Expr, IdentityDefinition, Like, OnCommit, Statement, Text,
};
use crate::mysql::VIRTUAL;
use crate::schema::{QualifiedName, Relation};
use crate::{Condition, Result, Type};

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
    /// It has partitions.
    pub(super) partitioned: bool,
    /// It is one.
    pub(super) is_partition: bool,
}

impl Draft {
    /// A column of the table goes, with the keys and constraints that name it: what comes behind may take their names.
    pub(super) fn drop_column(&mut self, table: &Relation, at: usize) {
        self.columns[at].name = format!("........pg.dropped.{}........", at + 1);
        let indexes = table.indexes.iter().filter(|index| index.columns.contains(&Some(at))).map(|index| &index.name);
        let keys = table.foreign_keys.iter().filter(|key| key.columns.contains(&at)).map(|key| &key.name);
        let gone: Vec<&String> = indexes.chain(keys).collect();
        self.taken.retain(|name| !gone.contains(&name));
        self.constraints.retain(|constraint| !gone.contains(&&constraint.name));
    }

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

    /// Keys of the same columns that one statement declares are one, as in PostgreSQL: the primary key or else the first,
    /// by whichever name is given.
    fn merge_keys(&mut self) {
        let primary = self.constraints.iter().position(|known| known.kind.primary_key().is_some());
        let mut gone = Vec::new();
        for at in (0..self.constraints.len()).filter(|at| Some(*at) != primary) {
            let included = |at: usize| -> Vec<(&str, &str)> {
                let own = self.properties.iter().filter(|(part, ..)| *part == self.constraints[at].name);
                own.map(|(_, name, value)| (name.as_str(), value.as_str())).collect()
            };
            let alike = |known: &usize| {
                self.constraints[*known].kind.is_same_key(&self.constraints[at].kind)
                    && included(*known) == included(at)
            };
            let before = primary.into_iter().chain((0..at).filter(|known| !gone.contains(known)));
            let Some(first) = before.into_iter().find(alike) else { continue };
            let dropped = self.constraints[at].name.clone();
            self.properties.retain(|(part, ..)| *part != dropped);
            if self.constraints[at].named && !self.constraints[first].named {
                let old = std::mem::replace(&mut self.constraints[first].name, dropped.clone());
                self.constraints[first].named = true;
                self.properties
                    .iter_mut()
                    .filter(|(part, ..)| *part == old)
                    .for_each(|(part, ..)| part.clone_from(&dropped));
            }
            gone.push(at);
        }
        let mut place = 0..;
        self.constraints.retain(|_| place.next().is_some_and(|at| !gone.contains(&at)));
    }

    pub(super) fn constraint_name(&mut self, given: &str, columns: &[String], what: Unnamed) -> (String, bool) {
        if !given.is_empty() {
            self.taken.push(given.to_owned());
            return (given.to_owned(), true);
        }
        let columns = columns.iter().map(String::as_str);
        let name = postgres_name(what, &self.name.name, columns, |name| self.taken.iter().any(|taken| taken == name));
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
        if !matches!(create.access_method.as_str(), "" | "heap") {
            return Err(self.unsupported("a table access method", range.location));
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
            partitioned: create.partspec.is_some(),
            is_partition: create.partbound.is_some(),
        };
        let mut inheritance = self.inheritance(&create.inh_relations, &name, create.partbound.is_some())?;
        let mut definitions = Vec::new();
        let mut likes = Vec::new();
        if let Some(of) = &create.of_typename {
            self.columns_of_type(of, &mut draft)?;
        }
        let mut table_constraints = Vec::new();
        for node in &create.table_elts {
            match &node.node {
                Some(N::ColumnDef(column)) if create.of_typename.is_some() => {
                    let at = self.typed_column(column, &mut draft, &definitions)?;
                    definitions.push((at, &**column));
                }
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
        draft.merge_keys();
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
            language: self.language,
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
                    if self.is_mysql() {
                        definition.not_null = true;
                        let start = constraint.options.first().and_then(first_number).unwrap_or(1);
                        definition.identity =
                            Some(IdentityDefinition { always: false, zero_is_next: true, start, increment: 1 });
                        continue;
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
                    if constraint.generated_kind == "v" && self.is_mysql() {
                        // MySQL's are kept like any others; what was said is shown.
                        draft.properties.push((name.clone(), VIRTUAL.to_owned(), "yes".to_owned()));
                    } else if constraint.generated_kind == "v" {
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
        let mut text = self.definition(expr, Vec::new(), Clause::Default, Some((name, ty))).map_err(|error| {
            let is_of_value = error.condition().sqlstate().starts_with("22");
            match self.is_mysql() && is_of_value {
                true => {
                    crate::Error::new(Condition::InvalidTableDefinition, format!("Invalid default value for '{name}'"))
                        .with_mysql(1067, "42000")
                }
                false => error,
            }
        })?;
        self.derive_collations_over(&mut text.expr, &[])?;
        let null = matches!(text.expr.kind, crate::ir::ExprKind::Literal(crate::ir::Value::Null));
        Ok((!null).then_some(text))
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
/// START WITH, as MySQL's AUTO_INCREMENT = n has become it.
fn first_number(option: &Node) -> Option<i64> {
    let Some(N::DefElem(option)) = &option.node else { return None };
    match option.arg.as_deref()?.node.as_ref()? {
        N::AConst(pg::AConst { val: Some(pg::a_const::Val::Ival(value)), .. }) => Some(i64::from(value.ival)),
        N::AConst(pg::AConst { val: Some(pg::a_const::Val::Fval(value)), .. }) => value.fval.parse().ok(),
        _ => None,
    }
}

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
