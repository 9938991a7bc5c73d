//! ALTER TABLE, and sequences.

use super::ddl::pads_in_keys;
use super::{Lowering, fits, missing, name_of, quote, type_words};
use crate::Result;
use crate::ir::{AlterTable, ConstraintKind, CreateSequence, ObjectKind};
use crate::schema::{Index, QualifiedName, Relation};

impl Lowering<'_> {
    pub(super) fn alter_table(&mut self, table: &Relation, actions: &[AlterTable]) -> Result<String> {
        let mut bare: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        let mut collations: Vec<_> = table.columns.iter().map(|column| column.collation.clone()).collect();
        let mut padded: Vec<bool> =
            table.columns.iter().map(|column| pads_in_keys(&column.ty, column.collation.as_deref())).collect();
        let mut name = table.name.clone();
        let mut statements = Vec::with_capacity(actions.len());
        let mut behind = Vec::new();
        for action in actions {
            // What the catalogs show of it, and nothing more.
            if matches!(action, AlterTable::SetProperty { .. }) {
                continue;
            }
            // Where a column stands is known to who reads and writes it by its name.
            if matches!(action, AlterTable::MoveColumn { .. }) && self.known.is_some() {
                continue;
            }
            if let AlterTable::AddColumn { column, .. } = action {
                bare.push(column.name.clone());
                collations.push(column.collation.clone());
                padded.push(pads_in_keys(&column.ty, column.collation.as_deref()));
            }
            let names: Vec<String> = bare.iter().map(|name| quote(name)).collect();
            self.enter_columns(names.clone(), collations.clone());
            if let Some(statement) = self.padded_change(action, table, &name, &names, &padded)? {
                statements.push(statement);
                continue;
            }
            if let (AlterTable::AddIdentity { column, .. }, true) = (action, self.known.is_some()) {
                behind.push(super::behind_greatest(table, &name, &table.columns[*column].name));
            }
            if let (AlterTable::SetIdentity { column, restart: Some(restart), .. }, true) =
                (action, self.known.is_some())
            {
                behind.push(super::number_from(table, &name, &table.columns[*column].name, *restart));
                continue;
            }
            let change = self.table_change(action, &names, &bare)?;
            statements.push(format!("ALTER TABLE {} {change}", super::qualified(&table.namespace, &name)));
            match action {
                AlterTable::SetType { column, ty, collation, .. } => {
                    padded[*column] = pads_in_keys(ty, collation.as_deref());
                    collations[*column].clone_from(collation);
                }
                AlterTable::RenameTable(to) => {
                    // Indexes that are called by their table's name are called by its new one.
                    for index in table.indexes.iter().filter(|index| self.known.is_some() && index.stands_alone()) {
                        let own = index.name.strip_prefix(table.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
                        if let Some(own) = own {
                            let there = super::qualified(&table.namespace, &index.name);
                            statements.push(format!("ALTER INDEX {there} RENAME TO {}", quote(&format!("{to}.{own}"))));
                        }
                    }
                    name.clone_from(to);
                }
                AlterTable::RenameColumn { column, to } => {
                    let known = table.columns.get(*column);
                    if known.is_some_and(|known| super::mysql::range(&known.ty, "").is_some()) {
                        let (from, to) = (super::mysql::range_name(&bare[*column]), super::mysql::range_name(to));
                        let table = super::qualified(&table.namespace, &name);
                        let (from, to) = (quote(&from), quote(&to));
                        statements.push(format!("ALTER TABLE {table} RENAME CONSTRAINT {from} TO {to}"));
                    }
                    bare[*column].clone_from(to);
                }
                _ => {}
            }
        }
        let names: Vec<String> = bare.iter().map(|name| quote(name)).collect();
        statements.extend(self.shortened_keys(actions, table, &name, &names, &padded)?);
        statements.extend(behind);
        Ok(statements.join("; "))
    }

    /// Keys of several columns of which some go: what is left of them, as MySQL has it. The server drops them whole.
    fn shortened_keys(
        &mut self,
        actions: &[AlterTable],
        table: &Relation,
        name: &str,
        names: &[String],
        padded: &[bool],
    ) -> Result<Vec<String>> {
        let goes = |at: &Option<usize>| {
            actions.iter().any(|action| matches!(action, AlterTable::DropColumn { column, .. } if Some(*column) == *at))
        };
        let prefix = format!("{}.", table.name);
        let mut made = Vec::new();
        for index in &table.indexes {
            // MySQL's own are called by their table.
            let is_own = self.known.is_some() && index.stands_alone() && index.name.starts_with(&prefix);
            let is_plain = index.columns.iter().all(Option::is_some) && index.predicate.is_none();
            if !is_own || !is_plain || !index.columns.iter().any(goes) || index.columns.iter().all(goes) {
                continue;
            }
            let mut columns = Vec::new();
            for (at, column) in index.columns.iter().enumerate().filter(|(_, column)| !goes(column)) {
                let Some(column) = column else { continue };
                let pads = |at: &usize| padded.get(*at).copied().unwrap_or_default();
                let descends = index.keys.get(at).is_some_and(|key| key.descending);
                let of = self.key_columns(&[*column], names, pads)?;
                columns.push(if descends { format!("{of} DESC") } else { of });
            }
            let unique = if index.unique { "UNIQUE " } else { "" };
            let place = super::qualified(&table.namespace, name);
            made.push(format!("CREATE {unique}INDEX {} ON {place} ({})", quote(&index.name), columns.join(", ")));
        }
        Ok(made)
    }

    /// A change of keys over what texts are compared as, in whose collation blanks at the end do not count; `None` for others.
    fn padded_change(
        &mut self,
        action: &AlterTable,
        table: &Relation,
        name: &str,
        names: &[String],
        padded: &[bool],
    ) -> Result<Option<String>> {
        let place = super::qualified(&table.namespace, name);
        let pads = |at: &usize| padded.get(*at).copied().unwrap_or_default();
        let on_index = |index: &Index| index.columns.iter().flatten().any(pads);
        Ok(match action {
            AlterTable::AddColumn { constraints, .. }
                if constraints.iter().any(|constraint| columns_of(&constraint.kind).iter().any(pads)) =>
            {
                return Err(missing("a new column with a key over texts in which blanks at the end do not count"));
            }
            AlterTable::AddConstraint(constraint) if columns_of(&constraint.kind).iter().any(pads) => {
                let columns = columns_of(&constraint.kind);
                let mut out = String::new();
                match &constraint.kind {
                    ConstraintKind::PrimaryKey(_) => {
                        for at in columns {
                            let name = &names[*at];
                            out.push_str(&format!("ALTER TABLE {place} ALTER COLUMN {name} SET NOT NULL; "));
                        }
                    }
                    ConstraintKind::Unique(_) => {}
                    _ => return Err(super::ddl::foreign_key()),
                }
                let columns = self.key_columns(columns, names, pads)?;
                Some(format!("{out}CREATE UNIQUE INDEX {} ON {place} ({columns})", quote(&constraint.name)))
            }
            AlterTable::DropConstraint { name, if_exists, .. }
                if table.indexes.iter().any(|index| index.constraint && index.name == *name && on_index(index)) =>
            {
                let when = if *if_exists { "IF EXISTS " } else { "" };
                Some(format!("DROP INDEX {when}{}", super::qualified(&table.namespace, name)))
            }
            AlterTable::RenameConstraint { from, to }
                if table.indexes.iter().any(|index| index.constraint && index.name == *from && on_index(index)) =>
            {
                Some(format!("ALTER INDEX {} RENAME TO {}", super::qualified(&table.namespace, from), quote(to)))
            }
            AlterTable::SetType { column, ty, collation, .. }
                if pads(column) != pads_in_keys(ty, collation.as_deref())
                    && table.indexes.iter().any(|index| index.columns.contains(&Some(*column))) =>
            {
                return Err(missing(
                    "another collation of a key's texts, in which blanks at the end do not count where they did, or do",
                ));
            }
            _ => None,
        })
    }

    /// `names` of the columns are quoted, `bare` are the same names.
    fn table_change(&mut self, action: &AlterTable, names: &[String], bare: &[String]) -> Result<String> {
        Ok(match action {
            AlterTable::AddColumn { column, constraints, if_not_exists } => {
                let unless = if *if_not_exists { "IF NOT EXISTS " } else { "" };
                let mut out = format!("ADD COLUMN {unless}{}", self.column_definition(column)?);
                for constraint in constraints {
                    out.push_str(&format!(", ADD {}", self.named_constraint(constraint, names)?));
                }
                out
            }
            AlterTable::MoveColumn { .. } => return Err(missing("the place of a column (BEFORE, FIRST, AFTER)")),
            AlterTable::DropColumn { column, cascade } => {
                format!("DROP COLUMN {}{}", names[*column], if *cascade { " CASCADE" } else { "" })
            }
            AlterTable::RenameColumn { column, to } => {
                fits(to)?;
                format!("RENAME COLUMN {} TO {}", names[*column], quote(to))
            }
            AlterTable::RenameTable(to) => {
                fits(to)?;
                format!("RENAME TO {}", quote(to))
            }
            AlterTable::RenameConstraint { from, to } => format!("RENAME CONSTRAINT {} TO {}", quote(from), quote(to)),
            AlterTable::SetType { column, ty, collation, using } => {
                let order = match collation {
                    Some(named) if named.namespace == crate::mysql::types::SCHEMA => {
                        self.own()?;
                        format!(" COLLATE {}", super::mysql::collation(named))
                    }
                    Some(named) => format!(" COLLATE {}", quote(&named.name)),
                    None => String::new(),
                };
                let words = type_words(ty)?;
                let range = quote(&super::mysql::range_name(&bare[*column]));
                let mut before = String::new();
                let mut behind = String::new();
                if self.manner.mysql {
                    before = format!("DROP CONSTRAINT IF EXISTS {range}, ");
                    if let Some(condition) = super::mysql::range(ty, &names[*column]) {
                        behind = format!(", ADD CONSTRAINT {range} CHECK ({condition})");
                    }
                }
                format!(
                    "{before}ALTER COLUMN {} TYPE {words}{order} USING {}{behind}",
                    names[*column],
                    self.expr(using)?
                )
            }
            AlterTable::SetNotNull { column, not_null } => {
                format!("ALTER COLUMN {} {} NOT NULL", names[*column], if *not_null { "SET" } else { "DROP" })
            }
            AlterTable::SetDefault { column, default } => match default {
                Some(default) => format!("ALTER COLUMN {} SET DEFAULT {}", names[*column], self.expr(&default.expr)?),
                None => format!("ALTER COLUMN {} DROP DEFAULT", names[*column]),
            },
            AlterTable::AddConstraint(constraint) => format!("ADD {}", self.named_constraint(constraint, names)?),
            AlterTable::AddIdentity { column, identity, .. } if self.known.is_some() => format!(
                "ALTER COLUMN {0} SET NOT NULL, ALTER COLUMN {0} ADD GENERATED BY DEFAULT AS IDENTITY (START WITH {1} \
                 INCREMENT BY {2})",
                names[*column], identity.start, identity.increment
            ),
            AlterTable::SetIdentity { column, always: None, sequence: None, restart: Some(restart) }
                if self.known.is_some() =>
            {
                format!("ALTER COLUMN {} RESTART WITH {restart}", names[*column])
            }
            AlterTable::DropIdentity { column } if self.known.is_some() => {
                format!("ALTER COLUMN {} DROP IDENTITY IF EXISTS", names[*column])
            }
            AlterTable::DropConstraint { name, if_exists, cascade } => {
                let (when, cascade) =
                    (if *if_exists { "IF EXISTS " } else { "" }, if *cascade { " CASCADE" } else { "" });
                format!("DROP CONSTRAINT {when}{}{cascade}", quote(name))
            }
            _ => return Err(missing("this change of a table")),
        })
    }

    fn named_constraint(&mut self, constraint: &crate::ir::Constraint, names: &[String]) -> Result<String> {
        let options = constraint.options;
        if options.not_valid && self.manner.mysql && !options.no_inherit {
            let valid = crate::ir::Constraint { options: Default::default(), ..constraint.clone() };
            return Ok(format!("{} NOT VALID", self.named_constraint(&valid, names)?));
        }
        if options != Default::default() {
            return Err(missing("a constraint's options"));
        }
        if let ConstraintKind::Check(check) = &constraint.kind {
            return Ok(format!("CONSTRAINT {} CHECK ({})", quote(&constraint.name), self.expr(&check.expr)?));
        }
        Ok(format!("CONSTRAINT {} {}", quote(&constraint.name), self.constraint(&constraint.kind, names)?))
    }
}

/// The columns of a key.
fn columns_of(kind: &ConstraintKind) -> &[usize] {
    match kind {
        ConstraintKind::PrimaryKey(columns)
        | ConstraintKind::Unique(columns)
        | ConstraintKind::UniqueNullsAlike(columns)
        | ConstraintKind::DeferrableUnique { columns, .. } => columns,
        ConstraintKind::ForeignKey(key) => &key.columns,
        ConstraintKind::Check(_) | ConstraintKind::Exclusion(_) => &[],
    }
}

/// CREATE SEQUENCE.
pub(super) fn create_sequence(sequence: &CreateSequence) -> Result<String> {
    let unless = if sequence.if_not_exists { "IF NOT EXISTS " } else { "" };
    Ok(format!("CREATE SEQUENCE {unless}{} {}", name_of(&sequence.name), parameters(sequence)?))
}

/// ALTER SEQUENCE.
pub(super) fn alter_sequence(sequence: &CreateSequence, restart: Option<i64>) -> Result<String> {
    let restart = restart.map_or_else(String::new, |next| format!(" RESTART WITH {next}"));
    Ok(format!("ALTER SEQUENCE {} {}{restart}", name_of(&sequence.name), parameters(sequence)?))
}

fn parameters(sequence: &CreateSequence) -> Result<String> {
    if sequence.owner.is_some() {
        return Err(missing("a sequence's owner"));
    }
    let ty = if sequence.ty == crate::Type::IfxInt8 { "bigint".to_owned() } else { type_words(&sequence.ty)? };
    Ok(format!(
        "AS {ty} INCREMENT BY {} MINVALUE {} MAXVALUE {} START WITH {} CACHE {} {}CYCLE",
        sequence.increment,
        sequence.min,
        sequence.max,
        sequence.start,
        sequence.cache,
        if sequence.cycle { "" } else { "NO " }
    ))
}

/// A new name for an index or a sequence.
pub(super) fn rename(kind: ObjectKind, name: &QualifiedName, to: &str) -> Result<String> {
    let kind = match kind {
        ObjectKind::Index => "INDEX",
        ObjectKind::Sequence => "SEQUENCE",
        _ => return Err(missing("this RENAME")),
    };
    Ok(format!("ALTER {kind} {} RENAME TO {}", name_of(name), quote(to)))
}
