//! Tables and indexes.

use super::{Lowering, alter, fits, missing, mysql, name_of, named, quote, type_words};
use crate::collation::Collation;
use crate::ir::{
    Body, ColumnDefinition, ConstraintKind, CreateIndex, CreateTable, Ddl, Distinct, From, GroupBy, Like, ObjectKind,
    Select,
};
use crate::mysql::FULLTEXT;
use crate::schema::CheckOption;
use crate::{Error, Result, Type};

/// A key over a column of this type and collation is one over what its texts are compared as.
pub(super) fn pads_in_keys(ty: &Type, collation: Option<&Collation>) -> bool {
    collation.is_some_and(mysql::pads) && !mysql::keeps_no_blanks(ty)
}

/// Foreign keys there compare columns, and nothing else.
pub(super) fn foreign_key() -> Error {
    missing("a foreign key over texts in which blanks at the end do not count")
        .hint("Declare them in a collation of Unicode 9, as utf8mb4_0900_ai_ci, or as CHAR.")
}

impl Lowering<'_> {
    pub(super) fn ddl(&mut self, ddl: &Ddl) -> Result<String> {
        match ddl {
            Ddl::CreateTable(table) => self.create_table(table),
            Ddl::CreateIndex(index) => self.create_index(index),
            Ddl::CreateView(view) => {
                if view.temporary {
                    return Err(missing("a temporary view"));
                }
                fits(&view.name.name)?;
                let columns: Vec<String> = view.query.columns.iter().map(|column| quote(&column.name)).collect();
                let query = self.query(&view.query)?;
                let replace = if view.replace { "OR REPLACE " } else { "" };
                // Our clients' changes are checked as they are made; others' can be made where the view is one table's rows.
                let of_table = |select: &Select| {
                    matches!(select.from, Some(From::Relation { .. }))
                        && select.distinct == Distinct::All
                        && select.group_by == GroupBy::None
                        && select.having.is_none()
                };
                let is_plain = matches!(&view.query.body, Body::Select(select) if of_table(select))
                    && view.query.ctes.is_empty()
                    && view.query.limit.is_none()
                    && view.query.offset.is_none();
                let checked = match view.options.check().filter(|_| is_plain) {
                    None => "",
                    Some(CheckOption::Local) => " WITH LOCAL CHECK OPTION",
                    Some(CheckOption::Cascaded) => " WITH CASCADED CHECK OPTION",
                };
                let (name, columns) = (name_of(&view.name), columns.join(", "));
                Ok(format!("CREATE {replace}VIEW {name} ({columns}) AS {query}{checked}"))
            }
            Ddl::AlterTable { table, actions, heirs } if heirs.is_empty() => self.alter_table(table, actions),
            Ddl::CreateSequence(sequence) => alter::create_sequence(sequence),
            Ddl::AlterSequence { sequence, restart } => alter::alter_sequence(sequence, *restart),
            Ddl::Rename { kind, name, to, .. } => alter::rename(*kind, name, to),
            Ddl::Drop(drop) => {
                let kind = match drop.kind {
                    ObjectKind::Table => "TABLE",
                    ObjectKind::Index => "INDEX",
                    ObjectKind::Sequence => "SEQUENCE",
                    ObjectKind::View => "VIEW",
                    ObjectKind::Schema => "SCHEMA",
                    _ => return Err(missing("this DROP")),
                };
                let names: Vec<String> = drop.names.iter().map(name_of).collect();
                Ok(format!("DROP {kind} {}{}", names.join(", "), if drop.cascade { " CASCADE" } else { "" }))
            }
            Ddl::Truncate { tables, restart_identity, cascade } => {
                let names: Vec<String> = tables.iter().map(|table| named(table)).collect();
                let restart = if *restart_identity { " RESTART IDENTITY" } else { "" };
                let cascade = if *cascade { " CASCADE" } else { "" };
                Ok(format!("TRUNCATE {}{restart}{cascade}", names.join(", ")))
            }
            Ddl::CreateSchema { name, if_not_exists, owner: None, elements } if elements.is_empty() => {
                Ok(format!("CREATE SCHEMA {}{}", if *if_not_exists { "IF NOT EXISTS " } else { "" }, quote(name)))
            }
            _ => Err(missing("this change of the schema")),
        }
    }

    fn create_table(&mut self, table: &CreateTable) -> Result<String> {
        if !table.parents.is_empty() || !(table.likes.is_empty() || self.manner.mysql) {
            return Err(missing("INHERITS and LIKE"));
        }
        fits(&table.name.name)?;
        let names: Vec<String> = table.columns.iter().map(|column| quote(&column.name)).collect();
        let collations: Vec<_> = table.columns.iter().map(|column| column.collation.clone()).collect();
        let pads = |at: &usize| {
            table.columns.get(*at).is_some_and(|column| pads_in_keys(&column.ty, column.collation.as_deref()))
        };
        self.enter_columns(names.clone(), collations);
        let mut members = Vec::new();
        let unless = if table.if_not_exists { "IF NOT EXISTS " } else { "" };
        // Keys over what texts are compared as are no constraints there.
        let mut keys = String::new();
        let mut not_null = Vec::new();
        for constraint in &table.constraints {
            let (ConstraintKind::PrimaryKey(columns) | ConstraintKind::Unique(columns)) = &constraint.kind else {
                continue;
            };
            if columns.iter().any(pads) {
                if matches!(constraint.kind, ConstraintKind::PrimaryKey(_)) {
                    not_null.extend(columns);
                }
                let columns = self.key_columns(columns, &names, pads)?;
                let name = quote(&constraint.name);
                keys.push_str(&format!("; CREATE UNIQUE INDEX {unless}{name} ON {} ({columns})", name_of(&table.name)));
            }
        }
        for (at, column) in table.columns.iter().enumerate() {
            let mut member = self.column_definition(column)?;
            if !column.not_null && not_null.contains(&at) {
                member.push_str(" NOT NULL");
            }
            members.push(member);
        }
        for constraint in &table.constraints {
            match &constraint.kind {
                ConstraintKind::PrimaryKey(columns) | ConstraintKind::Unique(columns) if columns.iter().any(pads) => {
                    continue;
                }
                ConstraintKind::ForeignKey(key) if key.columns.iter().any(pads) => return Err(foreign_key()),
                _ => {}
            }
            members.push(format!(
                "CONSTRAINT {} {}",
                quote(&constraint.name),
                self.constraint(&constraint.kind, &names)?
            ));
        }
        for like in &table.likes {
            keys.push_str(&self.copied_indexes(table, like, &names, pads)?);
        }
        let temporary = if table.temporary { "TEMPORARY " } else { "" };
        Ok(format!("CREATE {temporary}TABLE {unless}{} ({}){keys}", name_of(&table.name), members.join(", ")))
    }

    /// The indexes that CREATE TABLE … LIKE of MySQL's copies; keys that are constraints stand among the table's own.
    fn copied_indexes(
        &mut self,
        table: &CreateTable,
        like: &Like,
        names: &[String],
        pads: impl Fn(&usize) -> bool,
    ) -> Result<String> {
        if self.known.is_some_and(|known| known.hides_defaults(&like.source)) {
            return Err(missing("LIKE a table with defaults that only the server knows"));
        }
        let mut out = String::new();
        for index in like.source.indexes.iter().filter(|index| like.indexes && !index.constraint) {
            let own = index.name.strip_prefix(like.source.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            let (Some(own), None, None) = (own, &index.predicate, &index.exclusion) else {
                return Err(missing("LIKE a table with an index that is not MySQL's"));
            };
            let place = |at: &usize| names.iter().position(|name| *name == quote(&like.source.columns[*at].name));
            let places: Option<Vec<usize>> = index.columns.iter().map(|at| at.as_ref().and_then(place)).collect();
            let Some(places) = places else { return Err(missing("LIKE a table with an index over what is computed")) };
            self.own()?;
            let keys: Vec<String> = places
                .iter()
                .zip(&index.keys)
                .map(|(at, key)| {
                    let column = if pads(at) { format!("rtrim({}, ' ')", names[*at]) } else { names[*at].clone() };
                    format!("{column}{}", if key.descending { " DESC" } else { "" })
                })
                .collect();
            let unless = if table.if_not_exists { "IF NOT EXISTS " } else { "" };
            let (unique, name) =
                (if index.unique { "UNIQUE " } else { "" }, quote(&format!("{}.{own}", table.name.name)));
            let keys = keys.join(", ");
            out.push_str(&format!("; CREATE {unique}INDEX {unless}{name} ON {} ({keys})", name_of(&table.name)));
        }
        Ok(out)
    }

    /// The columns of a key, as they are compared.
    pub(super) fn key_columns(
        &mut self,
        columns: &[usize],
        names: &[String],
        pads: impl Fn(&usize) -> bool,
    ) -> Result<String> {
        self.own()?;
        let key = |at: &usize| match pads(at) {
            true => format!("rtrim({}, ' ')", names[*at]),
            false => names[*at].clone(),
        };
        Ok(columns.iter().map(key).collect::<Vec<String>>().join(", "))
    }

    pub(super) fn column_definition(&mut self, column: &ColumnDefinition) -> Result<String> {
        fits(&column.name)?;
        let mut member = format!("{} {}", quote(&column.name), type_words(&column.ty)?);
        if let Some(collation) = &column.collation
            && collation.namespace == crate::mysql::types::SCHEMA
        {
            self.own()?;
            member.push_str(&format!(" COLLATE {}", mysql::collation(collation)));
        }
        if column.sequence.is_some() || column.identity.is_some() {
            member.push_str(" GENERATED BY DEFAULT AS IDENTITY");
            if let Some(identity) = &column.identity {
                member.push_str(&format!(" (START WITH {} INCREMENT BY {})", identity.start, identity.increment));
            }
        } else if let Some(default) = &column.default {
            member.push_str(&format!(" DEFAULT {}", self.expr(&default.expr)?));
        }
        if let Some(generated) = &column.generated {
            member.push_str(&format!(" GENERATED ALWAYS AS ({}) STORED", self.expr(&generated.expr)?));
        }
        if column.not_null {
            member.push_str(" NOT NULL");
        }
        if let Some(condition) = mysql::range(&column.ty, &quote(&column.name)) {
            member.push_str(&format!(" CONSTRAINT {} CHECK ({condition})", quote(&mysql::range_name(&column.name))));
        }
        Ok(member)
    }

    pub(super) fn constraint(&mut self, kind: &ConstraintKind, names: &[String]) -> Result<String> {
        let list = |columns: &[usize]| {
            let names: Vec<&str> = columns.iter().map(|at| names[*at].as_str()).collect();
            names.join(", ")
        };
        Ok(match kind {
            ConstraintKind::PrimaryKey(columns) => format!("PRIMARY KEY ({})", list(columns)),
            ConstraintKind::Unique(columns) => format!("UNIQUE ({})", list(columns)),
            ConstraintKind::UniqueNullsAlike(columns) => format!("UNIQUE NULLS NOT DISTINCT ({})", list(columns)),
            ConstraintKind::DeferrableUnique { columns, deferred, primary } => {
                let deferred = if *deferred { " INITIALLY DEFERRED" } else { "" };
                let words = if *primary { "PRIMARY KEY" } else { "UNIQUE" };
                format!("{words} ({}) DEFERRABLE{deferred}", list(columns))
            }
            ConstraintKind::Exclusion(_) => return Err(super::missing("EXCLUDE")),
            ConstraintKind::Check(condition) => format!("CHECK ({})", self.expr(&condition.expr)?),
            ConstraintKind::ForeignKey(key) => {
                let targets: Vec<String> = key.target_columns.iter().map(|name| quote(name)).collect();
                let set = &key.set_columns;
                let confined = if set.is_empty() { String::new() } else { format!(" ({})", list(set)) };
                format!(
                    "FOREIGN KEY ({}) REFERENCES {} ({}){} ON DELETE {}{confined} ON UPDATE {}{}{}",
                    list(&key.columns),
                    name_of(&key.target),
                    targets.join(", "),
                    if key.rules.full { " MATCH FULL" } else { "" },
                    key.rules.on_delete.words(),
                    key.rules.on_update.words(),
                    if key.rules.deferrable || self.manner.defers_keys { " DEFERRABLE" } else { "" },
                    if key.rules.deferred { " INITIALLY DEFERRED" } else { "" },
                )
            }
        })
    }

    fn create_index(&mut self, index: &CreateIndex) -> Result<String> {
        if index.properties.iter().any(|(name, value)| name == "index_method" && value == FULLTEXT) {
            return Err(missing("a FULLTEXT key"));
        }
        let columns = index.table.columns.iter().map(|column| quote(&column.name)).collect();
        self.enter_columns(columns, index.table.columns.iter().map(|column| column.collation.clone()).collect());
        let mut keys = Vec::with_capacity(index.keys.len());
        for key in &index.keys {
            keys.push(format!("({}){}", self.key(&key.key.expr)?, if key.descending { " DESC" } else { "" }));
        }
        let predicate = match &index.predicate {
            Some(predicate) => format!(" WHERE {}", self.expr(&predicate.expr)?),
            None => String::new(),
        };
        let (unique, name) = (if index.unique { "UNIQUE " } else { "" }, quote(&index.name));
        let name = if index.if_not_exists { format!("IF NOT EXISTS {name}") } else { name };
        Ok(format!("CREATE {unique}INDEX {name} ON {} ({}){predicate}", named(&index.table), keys.join(", ")))
    }
}
