//! Column references.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::{Beyond, Binder, Clause, Entry, EntryColumn, Locker};
use super::super::names;
use super::{any_of, rows};
use crate::bind::scope::{self, Found, Spelling};
use crate::composite;
use crate::ir::trigger::NEW_ROW;
use crate::ir::{self, CastContext, ColumnIndex, ColumnRef, Expr, ExprKind};
use crate::scalar::{numbers, vectors};
use crate::schema::RelationKind;
use crate::uses::{NamedColumn, Star};
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// `column`, `table.column`, `schema.table.column`, or a whole row.
    pub(in super::super) fn column_reference(&mut self, reference: &pg::ColumnRef) -> Result<Expr> {
        Ok(self.column_entry(reference)?.expr)
    }

    /// The column that a reference means, with what is known of it.
    pub(in super::super) fn column_entry(&mut self, reference: &pg::ColumnRef) -> Result<EntryColumn> {
        let place = reference.location;
        if reference.fields.iter().any(|field| matches!(field.node, Some(N::AStar(_)))) {
            // `table.*` as a value is the whole row.
            let parts = names::strings(&reference.fields);
            let (schema, table) = match parts.as_slice() {
                [.., schema, table] => (Some(*schema), *table),
                [table] => (None, *table),
                [] => (None, ""),
            };
            if let Some((level, entry)) = self.find_entry(schema, table) {
                return Ok(self.whole_row(level, &entry, place));
            }
            if let Some(variable) = self.variable(schema, table, |_| true) {
                return Ok(variable);
            }
            if table.is_empty() {
                return Err(self.error(Condition::SyntaxError, "row expansion via \"*\" is not supported here", place));
            }
            return Err(self.missing_entry(table, place));
        }
        match names::strings(&reference.fields).as_slice() {
            [name] => self.bare_column(name, place),
            [table, name] => self.qualified_column(None, table, name, place),
            [schema, table, name] => self.qualified_column(Some(schema), table, name, place),
            [database, schema, table, name] if *database == self.context.database => {
                self.qualified_column(Some(schema), table, name, place)
            }
            parts => Err(self.error(
                Condition::SyntaxError,
                format!("improper qualified name (too many dotted names): {}", parts.join(".")),
                place,
            )),
        }
    }

    fn bare_column(&mut self, name: &str, place: i32) -> Result<EntryColumn> {
        if let Some(variable) = self.preferred_variable(name) {
            return Ok(variable);
        }
        for level in (0..self.scopes.len()).rev() {
            let entries = self.scopes[level].entries.iter().filter(|entry| entry.unqualified);
            match scope::column(entries, name, Spelling::ExactFirst) {
                Found::Nothing => {
                    if let Some(output) = self.output_named(level, name) {
                        return Ok(output);
                    }
                }
                Found::One(entry, at) => {
                    let column = entry.columns[at].clone();
                    self.check_conflict(name, level, place)?;
                    self.note_use(level, &column, place);
                    return Ok(column);
                }
                Found::Several => return Err(self.ambiguous_column(name, place)),
            }
        }
        // A relation's name alone means its whole row.
        let levels = if self.is_mysql() { 0 } else { self.scopes.len() };
        for level in (0..levels).rev() {
            if let Some(entry) = self.scopes[level].entries.iter().find(|entry| entry.qualified && entry.name == name) {
                let entry = entry.clone();
                return Ok(self.whole_row(level, &entry, place));
            }
        }
        if let Some(column) = self.system_column(None, name, place)? {
            return Ok(column);
        }
        if self.is_mysql() {
            return Err(self.mysql_unknown_column(name));
        }
        let mut error = self.error(Condition::UndefinedColumn, format!("column \"{name}\" does not exist"), place);
        if let Some(hint) = self.column_out_of_reach(name).or_else(|| self.similar_column(None, name)) {
            error = error.hint(hint);
        }
        Err(error)
    }

    fn qualified_column(&mut self, schema: Option<&str>, table: &str, name: &str, place: i32) -> Result<EntryColumn> {
        let Some((level, entry)) = self.find_entry(schema, table) else {
            if let Some(row) = self.row_variable(schema, table) {
                let expr = self.field(row.expr.clone(), name, place)?;
                return Ok(EntryColumn { name: name.to_owned(), expr, ..row });
            }
            if self.is_mysql() {
                return Err(self.mysql_unknown_column(&format!("{table}.{name}")));
            }
            return Err(self.missing_entry(table, place));
        };
        if schema.is_none() && self.is_shared(level, table) {
            let message = format!("table reference \"{table}\" is ambiguous");
            return Err(self.error(Condition::AmbiguousAlias, message, place));
        }
        match scope::column(std::iter::once(&entry), name, Spelling::ExactFirst) {
            Found::Nothing => {
                if let Some(row) = self.labelled_row(level, &entry, name) {
                    return Ok(self.whole_row(level, &row, place));
                }
                if let Some(error) = self.missing_field(level, &entry, name) {
                    return Err(error);
                }
                if entry.unqualified && self.variables.as_ref().is_some_and(|variables| level < variables.levels) {
                    // A label is no table.
                    return Err(self.missing_entry(table, place));
                }
                if let Some(column) = self.system_column(Some(&entry), name, place)? {
                    return Ok(column);
                }
                if !entry.row_is_value {
                    let row = self.whole_row(level, &entry, place);
                    if let Some(expr) = self.function_of_row(&row.expr, name, place)? {
                        return Ok(EntryColumn { name: name.to_owned(), expr, ..row });
                    }
                }
                if self.is_mysql() {
                    return Err(self.mysql_unknown_column(&format!("{table}.{name}")));
                }
                let mut error =
                    self.error(Condition::UndefinedColumn, format!("column {table}.{name} does not exist"), place);
                if let Some(hint) = self.similar_column(Some(&entry), name) {
                    error = error.hint(hint);
                }
                Err(error)
            }
            Found::One(_, at) => {
                let column = entry.columns[at].clone();
                self.note_use(level, &column, place);
                Ok(column)
            }
            Found::Several => Err(self.ambiguous_column(name, place)),
        }
    }

    fn ambiguous_column(&self, name: &str, place: i32) -> crate::Error {
        if self.is_mysql() {
            return self.mysql_ambiguous_column(name);
        }
        self.error(Condition::AmbiguousColumn, format!("column reference \"{name}\" is ambiguous"), place)
    }

    /// In HAVING and ORDER BY of MySQL's, a name of the list of SELECT means what it stands for.
    fn output_named(&self, level: usize, name: &str) -> Option<EntryColumn> {
        let scope = &self.scopes[level];
        if !matches!(scope.clause, Clause::Having | Clause::OrderBy) {
            return None;
        }
        let (name, expr) = scope.outputs.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        let (name, expr) = (name.clone(), expr.clone());
        Some(EntryColumn { name, expr, origin: None, not_null: false, identity: false })
    }

    /// The innermost relation name in scope that a qualifier means.
    pub(in super::super) fn find_entry(&self, schema: Option<&str>, table: &str) -> Option<(usize, Entry)> {
        for level in (0..self.scopes.len()).rev() {
            for exact in [true, false] {
                let found = self.scopes[level].entries.iter().find(|entry| {
                    entry.qualified
                        && (if exact { entry.name == table } else { entry.name.eq_ignore_ascii_case(table) })
                        && schema.is_none_or(|schema| entry.schema.as_deref() == Some(schema))
                });
                if let Some(entry) = found {
                    return Some((level, entry.clone()));
                }
            }
        }
        None
    }

    /// Two relations of a level have the name: they stand in different schemas, or one is called as the row that ON
    /// CONFLICT proposes. Labels of blocks hide each other instead.
    fn is_shared(&self, level: usize, table: &str) -> bool {
        if self.variables.as_ref().is_some_and(|variables| level < variables.levels) {
            return false;
        }
        let called = |entry: &&Entry| entry.qualified && entry.name == table;
        self.scopes[level].entries.iter().filter(called).nth(1).is_some()
    }

    /// A variable of rows in a block of a function, by the block's label and its own name.
    fn labelled_row(&self, level: usize, label: &Entry, name: &str) -> Option<Entry> {
        let known = self.variables.as_ref().is_some_and(|variables| level < variables.levels);
        let is_it =
            |entry: &&Entry| !entry.unqualified && entry.name == name && entry.schema.as_ref() == Some(&label.name);
        self.scopes[level].entries.iter().filter(|_| known && label.unqualified).find(is_it).cloned()
    }

    /// A variable of a function that holds a row as one value: what a qualifier may mean that is no relation's.
    fn row_variable(&self, label: Option<&str>, name: &str) -> Option<EntryColumn> {
        self.variable(label, name, Type::is_row)
    }

    fn variable(&self, label: Option<&str>, name: &str, wanted: fn(&Type) -> bool) -> Option<EntryColumn> {
        let levels = self.variables.as_ref()?.levels;
        let entries = self.scopes[..levels].iter().rev().flat_map(|scope| &scope.entries);
        let mut known = entries.filter(|entry| entry.unqualified && label.is_none_or(|label| entry.name == label));
        known
            .find_map(|entry| entry.columns.iter().find(|column| column.name == name && wanted(&column.expr.ty)))
            .cloned()
    }

    /// The error for a qualifier that names nothing in scope.
    pub(in super::super) fn missing_entry(&self, table: &str, place: i32) -> crate::Error {
        let behind_alias = self.scopes.iter().rev().flat_map(|scope| &scope.entries).find(|entry| {
            entry.name != table && entry.relation.as_ref().is_some_and(|(_, relation)| relation.name == table)
        });
        if let Some((_, why)) = self.beyond.iter().find(|(name, _)| name == table) {
            let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
            let error = self.error(Condition::InvalidColumnReference, message, place);
            return match why {
                Beyond::Join => error.detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference."),
                Beyond::Target => error.hint(format!(
                    "There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."
                )),
            };
        }
        let mut out_of_reach = self.scopes.iter().flat_map(|scope| &scope.out_of_reach);
        let names = |entry: &&Entry| match &entry.relation {
            Some((_, relation)) => entry.name == table || relation.name == table,
            None => entry.qualified && entry.name == table,
        };
        if let Some(entry) = out_of_reach.find(names) {
            let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
            let table = &entry.name;
            return self.error(Condition::UndefinedTable, message, place).hint(format!(
                "There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."
            ));
        }
        match behind_alias {
            Some(entry) => self
                .error(
                    Condition::UndefinedTable,
                    format!("invalid reference to FROM-clause entry for table \"{table}\""),
                    place,
                )
                .hint(format!("Perhaps you meant to reference the table alias \"{}\".", entry.name)),
            None => {
                self.error(Condition::UndefinedTable, format!("missing FROM-clause entry for table \"{table}\""), place)
            }
        }
    }

    /// Remembers that a column was named, for those who ask what a text names.
    pub(in super::super) fn note_column(&mut self, expr: &Expr, place: i32) {
        self.note_column_of(expr, place, false);
    }

    fn note_column_of(&mut self, expr: &Expr, place: i32, whole: bool) {
        if let Some(ColumnRef { relation: id, column: ColumnIndex::At(position) }) = column_of(expr) {
            let place = usize::try_from(place).ok();
            self.note(|uses| uses.columns.push(NamedColumn { id, position, place, whole }));
        }
    }

    /// Remembers where a column was named, for messages about grouping.
    fn note_use(&mut self, level: usize, used: &EntryColumn, place: i32) {
        self.note_use_of(level, used, place, false);
    }

    fn note_use_of(&mut self, level: usize, used: &EntryColumn, place: i32, whole: bool) {
        self.read_column(used);
        self.note_column_of(&used.expr, place, whole);
        let Some(column) = column_of(&used.expr) else { return };
        let scope = &mut self.scopes[level];
        if !scope.inside.aggregate {
            scope.uses.push((column, place));
        }
    }

    fn whole_row(&mut self, level: usize, entry: &Entry, place: i32) -> EntryColumn {
        if let Some(value) = &entry.value {
            return EntryColumn {
                name: entry.name.clone(),
                expr: value.clone(),
                origin: None,
                not_null: false,
                identity: false,
            };
        }
        let is_value = entry.columns.len() == 1 && entry.row_is_value;
        for column in &entry.columns {
            self.note_use_of(level, column, place, !is_value);
        }
        // A function of one value: what has its name is the value, not a row around it.
        if let ([column], true) = (entry.columns.as_slice(), entry.row_is_value) {
            return EntryColumn { name: entry.name.clone(), ..column.clone() };
        }
        // A row has the columns that its table got after the text of a view was written, too.
        let whole = entry.relation.as_ref().filter(|(_, relation)| relation.columns.len() > entry.columns.len());
        let whole = whole.map(|(id, relation)| Entry::of_relation(relation, *id, None).columns);
        let columns = whole.as_ref().unwrap_or(&entry.columns);
        let members: Vec<Expr> = columns.iter().map(|column| column.expr.clone()).collect();
        let relation = entry.relation.as_ref().map(|(_, relation)| relation.clone());
        let behind = || match members.first().and_then(column_of) {
            Some(column) => self.views_behind.get(&column.relation).or(self.families.get(&column.relation)).cloned(),
            None => None,
        };
        let relation = relation.or_else(behind).filter(|relation| relation.columns.len() == members.len());
        let known = entry.row.as_ref().map(|ty| (ty, ty.row_fields().unwrap_or_default()));
        let known = known.filter(|(_, fields)| composite::live(fields).count() == members.len());
        let expr = match relation {
            _ if let Some((ty, fields)) = known => {
                let mut given = members.into_iter();
                let member = |field: &composite::Field| match field.dropped {
                    true => Expr::null(Type::Text),
                    false => given.next().unwrap_or_else(|| Expr::null(Type::Text)),
                };
                Expr::new(ExprKind::Row(fields.iter().map(member).collect()), ty.clone())
            }
            Some(relation) => {
                Expr::new(ExprKind::Row(members), Type::User(std::sync::Arc::new(composite::row_type(&relation))))
            }
            None => rows::record(entry.columns.iter().map(|column| column.name.clone()), members),
        };
        // Nobody runs what is bound to be printed.
        let expr = if entry.nullable && self.shown.is_none() { self.row_or_null(expr, entry) } else { expr };
        EntryColumn { name: entry.name.clone(), expr, origin: None, not_null: false, identity: false }
    }

    /// The whole row of a relation of which an outer join may have found none: NULL then.
    fn row_or_null(&self, row: Expr, entry: &Entry) -> Expr {
        let is_there = |arg: Expr| Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated: true }, Type::Bool);
        let certain = entry.columns.iter().find(|column| column.not_null);
        let table = entry.relation.as_ref().filter(|(id, relation)| {
            relation.keeps_rows()
                && !relation.without_identity
                && !self.families.contains_key(id)
                && !self.views_behind.contains_key(id)
        });
        let condition = match (certain, table) {
            (Some(column), _) => is_there(column.expr.clone()),
            (None, Some((id, _))) => {
                let rowid = ColumnRef { relation: *id, column: ColumnIndex::RowIdentity };
                is_there(Expr::new(ExprKind::Column(rowid), Type::Int8))
            }
            // A row of NULLs alone is taken for none.
            (None, None) => any_of(entry.columns.iter().map(|column| is_there(column.expr.clone())).collect()),
        };
        let ty = row.ty.clone();
        Expr::new(ExprKind::Case { branches: vec![(condition, row)], otherwise: None }, ty)
    }

    /// `tableoid` and `ctid` are known. A catalog's rows are all written anew by whoever changes the schema, and nobody locks
    /// them. Of users' rows nobody notes who has written them, and a number that never changes would let programs that wait
    /// for it to change (optimistic locks) overwrite what others have written: those columns are refused. `xmax` of a row
    /// that a statement has itself written or deleted is known.
    fn system_column(&mut self, entry: Option<&Entry>, name: &str, place: i32) -> Result<Option<EntryColumn>> {
        if !matches!(name, "tableoid" | "ctid" | "xmin" | "xmax" | "cmin" | "cmax") {
            return Ok(None);
        }
        let table = match entry {
            Some(entry) => entry.relation.clone(),
            None => {
                let mut entries = self.scopes.iter().rev().flat_map(|scope| &scope.entries);
                entries.find_map(|entry| entry.relation.clone())
            }
        };
        let Some((id, relation)) = table else { return Ok(None) };
        if id == NEW_ROW
            && let Some(scope) = self.scopes.last_mut()
        {
            // Not every condition of a trigger may ask for it.
            scope.uses.push((ColumnRef { relation: id, column: ColumnIndex::RowIdentity }, place));
        }
        if !relation.keeps_rows() && relation.kind != RelationKind::Catalog {
            return Ok(None);
        }
        let catalog = relation.kind == RelationKind::Catalog;
        // PostgreSQL has views there.
        if catalog && rowferry_facts::Relation::named(&relation.namespace, &relation.name).is_none_or(|r| r.kind != 'r')
        {
            return Ok(None);
        }
        let scalar = |scalar| Type::Scalar(scalar, None);
        let call =
            |name: &str, args, ty| Expr::new(ExprKind::Call { function: crate::functions::internal(name), args }, ty);
        let expr = match name {
            "tableoid" => self.table_of_row(id, &relation),
            "xmin" if catalog => call("writer of a catalog", Vec::new(), scalar(&numbers::XID)),
            "xmax" if self.scopes.iter().rev().any(|scope| scope.lockers.is_some_and(|(changed, _)| changed == id)) => {
                if relation.is_partitioned() {
                    let message = "cannot retrieve a system column in this context";
                    return Err(self.error(Condition::FeatureNotSupported, message, -1));
                }
                self.effects.volatile = true;
                match self.scopes.iter().rev().find_map(|scope| scope.lockers.filter(|(changed, _)| *changed == id)) {
                    Some((_, Locker::Nobody)) | None => Expr::integer(0, scalar(&numbers::XID)),
                    Some((_, Locker::Own)) => call("own number", Vec::new(), scalar(&numbers::XID)),
                    Some((_, Locker::OwnIfMet)) => ir::met::locker(),
                }
            }
            "xmax" if catalog => Expr::integer(0, scalar(&numbers::XID)),
            "cmin" | "cmax" if catalog => Expr::integer(0, scalar(&numbers::CID)),
            "ctid" if !catalog && !relation.without_identity && !self.families.contains_key(&id) => {
                let identity = ColumnRef { relation: id, column: ColumnIndex::RowIdentity };
                let identity = Expr::new(ExprKind::Column(identity), Type::Int8);
                call("place of a row", vec![identity], scalar(&numbers::TID))
            }
            _ => return Err(self.unsupported(format!("the system column \"{name}\""), place)),
        };
        Ok(Some(EntryColumn { name: name.to_owned(), expr, origin: None, not_null: true, identity: false }))
    }

    /// True for a catalog column of PostgreSQL's `int2vector` or `oidvector`, whose members count from 0.
    pub(in super::super) fn is_vector(&self, expr: &Expr) -> bool {
        self.origin_of(expr).is_some_and(|origin| self.is_vector_column(origin))
    }

    /// The relation and the column that a column in reach is of.
    pub(super) fn origin_of(&self, expr: &Expr) -> Option<(u32, usize)> {
        let ExprKind::Column(_) = &expr.kind else { return None };
        let columns = self.scopes.iter().rev().flat_map(|scope| &scope.entries).flat_map(|entry| &entry.columns);
        columns.into_iter().find(|column| column.expr == *expr).and_then(|column| column.origin)
    }

    /// True for a column of a relation that is one of those.
    pub(in super::super) fn is_vector_column(&self, origin: (u32, usize)) -> bool {
        matches!(self.catalogs_own_type(origin), Some(Type::Scalar(..)))
    }

    /// The type that clients are told of a catalog column whose values are, to statements, an array.
    pub(in super::super) fn catalogs_own_type(&self, (oid, position): (u32, usize)) -> Option<Type> {
        let relation = self.schema.relation_by_oid(oid).filter(|relation| relation.kind == RelationKind::Catalog)?;
        let column = relation.columns.get(position)?;
        match column.name.as_str() {
            "indkey" | "indoption" | "partattrs" | "stxkeys" | "tgattr" => {
                Some(Type::Scalar(&vectors::INT2VECTOR, None))
            }
            "indclass" | "indcollation" | "proargtypes" | "partclass" | "partcollation" => {
                Some(Type::Scalar(&vectors::OIDVECTOR, None))
            }
            _ => None,
        }
    }

    /// A hint for a misspelt column: the nearest name in the innermost scope, or the two nearest.
    fn similar_column(&self, entry: Option<&Entry>, name: &str) -> Option<String> {
        let entries: Vec<&Entry> = match entry {
            Some(entry) => vec![entry],
            None => self.scopes.last()?.entries.iter().filter(|entry| entry.unqualified).collect(),
        };
        let limit = (name.chars().count() / 2).min(3);
        // How far away the nearest may be, and those that are as near.
        let (mut least, mut found) = (limit, Vec::new());
        for entry in entries {
            for column in &entry.columns {
                let far = distance(name, &column.name);
                if far > least {
                    continue;
                }
                if far < least {
                    (least, found) = (far, Vec::new());
                } else if found.len() == 2 {
                    // Too many are as near; only nearer ones are meant.
                    let nearer = far.checked_sub(1)?;
                    (least, found) = (nearer, Vec::new());
                    continue;
                }
                found.push(if entry.name.is_empty() {
                    column.name.clone()
                } else {
                    format!("{}.{}", entry.name, column.name)
                });
            }
        }
        match found.as_slice() {
            [] => None,
            [one] => Some(format!("Perhaps you meant to reference the column \"{one}\".")),
            [one, other, ..] => {
                Some(format!("Perhaps you meant to reference the column \"{one}\" or the column \"{other}\"."))
            }
        }
    }

    /// Where a column of the name stands that this clause cannot name.
    fn column_out_of_reach(&self, name: &str) -> Option<String> {
        let has = |entry: &&Entry| entry.unqualified && entry.columns.iter().any(|column| column.name == name);
        let entry = self.scopes.iter().flat_map(|scope| &scope.out_of_reach).rfind(has)?;
        let table = &entry.name;
        Some(format!(
            "There is a column named \"{name}\" in table \"{table}\", but it cannot be referenced from this part of the query."
        ))
    }

    /// Members of ROW(…), `table.*` spread out.
    pub(in super::super) fn row_members(&mut self, nodes: &[Node]) -> Result<Vec<Expr>> {
        Ok(self.placed_members(nodes)?.into_iter().map(|(member, _)| member).collect())
    }

    /// The same, with their places.
    pub(super) fn placed_members(&mut self, nodes: &[Node]) -> Result<Vec<(Expr, i32)>> {
        let mut members = Vec::new();
        for node in nodes {
            if let Some(N::ColumnRef(reference)) = &node.node
                && reference.fields.iter().any(|field| matches!(field.node, Some(N::AStar(_))))
            {
                let at = reference.location;
                members.extend(self.star(reference)?.into_iter().map(|column| (column.expr, at)));
            } else if let Some((value, at)) = self.spread_value(node)? {
                members.extend(self.fields_of(value, at)?.into_iter().map(|column| (column.expr, at)));
            } else {
                members.push(self.placed(node)?);
            }
        }
        Ok(members)
    }

    /// `*` or `table.*`: the columns that it covers.
    pub(in super::super) fn star(&mut self, reference: &pg::ColumnRef) -> Result<Vec<EntryColumn>> {
        let place = reference.location;
        let (entries, level): (Vec<Entry>, usize) = match names::strings(&reference.fields).as_slice() {
            [] => {
                let level = self.scopes.len().saturating_sub(1);
                let entries: Vec<Entry> = self
                    .scopes
                    .last()
                    .map(|scope| scope.entries.iter().filter(|entry| entry.unqualified).cloned().collect())
                    .unwrap_or_default();
                if entries.is_empty() {
                    return Err(self.error(
                        Condition::SyntaxError,
                        "SELECT * with no tables specified is not valid",
                        place,
                    ));
                }
                (entries, level)
            }
            [table] => match self.find_entry(None, table) {
                Some((level, entry)) => (vec![entry], level),
                None if let Some(row) = self.row_variable(None, table) => return self.fields_of(row.expr, place),
                None => return Err(self.missing_entry(table, place)),
            },
            [schema, table] | [_, schema, table] => match self.find_entry(Some(schema), table) {
                Some((level, entry)) => (vec![entry], level),
                None => return Err(self.missing_entry(table, place)),
            },
            _ => return Err(self.error(Condition::SyntaxError, "improper qualified name", place)),
        };
        if let Some(error) = entries.iter().find_map(|entry| self.unassigned_fields(level, entry)) {
            return Err(error);
        }
        self.note(|uses| {
            let Ok(place) = usize::try_from(place) else { return };
            let columns = entries.iter().flat_map(|entry| {
                let table = (entry.qualified && !entry.name.is_empty()).then(|| entry.name.clone());
                entry.columns.iter().map(move |column| (table.clone(), column.name.clone()))
            });
            uses.stars.push(Star { place, columns: columns.collect() });
        });
        let spread = |entry: Entry| {
            let count = entry.columns.len() - entry.hidden.min(entry.columns.len());
            entry.columns.into_iter().take(count)
        };
        let columns: Vec<EntryColumn> = entries.into_iter().flat_map(spread).collect();
        for column in &columns {
            self.note_use(level, column, place);
        }
        Ok(columns)
    }
}

/// The column that an entry's expression is.
pub(in super::super) fn column_of(expr: &Expr) -> Option<ColumnRef> {
    match &expr.kind {
        ExprKind::Column(column) => Some(*column),
        ExprKind::Cast { arg, context: CastContext::Implicit } => match arg.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        },
        _ => None,
    }
}

/// Levenshtein distance, for hints.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
