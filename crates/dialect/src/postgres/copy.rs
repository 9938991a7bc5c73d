//! COPY.

use pg_query::protobuf::{self as pg, Node, node::Node as N};
use rowferry_encodings::Encoding;

use super::binder::{Binder, Clause, Entry, Scope, computed, outputs};
use super::names;
use super::target::{Change, Target, barrier};
use super::utility::text_of;
use crate::access::Privileges;
use crate::ir::{
    self, Body, CastContext, Copy, CopyFormat, CopyHeader, CopyOptions, Dml, DmlAction, Expr, ExprKind, From,
    InsertSource, Query, Select, Statement, walk,
};
use crate::schema::{Relation, RelationKind};
use crate::{Condition, Error, Result};

/// Columns that an option names.
#[derive(Debug, Default)]
enum Named {
    /// None.
    #[default]
    None,
    /// These.
    These(Vec<String>),
    /// `*`.
    All,
}

impl Named {
    fn is_some(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// The places of the named ones among columns.
    fn places(&self, columns: &[&str], missing: impl Fn(&str) -> String) -> Result<Vec<usize>> {
        match self {
            Self::None => Ok(Vec::new()),
            Self::All => Ok((0..columns.len()).collect()),
            Self::These(names) => names
                .iter()
                .map(|name| {
                    let found = columns.iter().position(|column| column == name);
                    found.ok_or_else(|| Error::new(Condition::UndefinedColumn, missing(name)))
                })
                .collect(),
        }
    }
}

/// The columns of FORCE_QUOTE, FORCE_NOT_NULL and FORCE_NULL.
#[derive(Debug, Default)]
struct Forced {
    quote: Named,
    not_null: Named,
    null: Named,
}

/// The options as they are written.
#[derive(Debug, Default)]
struct Written {
    format: Option<CopyFormat>,
    freeze: bool,
    delimiter: Option<String>,
    null: Option<String>,
    header: CopyHeader,
    quote: Option<String>,
    escape: Option<String>,
    encoding: Option<&'static Encoding>,
}

impl Binder<'_> {
    /// Binds COPY.
    pub(super) fn copy(&mut self, copy: &pg::CopyStmt) -> Result<Statement> {
        if copy.is_program || !copy.filename.is_empty() {
            return Err(Error::unsupported("COPY between the database and a file or program of the server")
                .hint("Use COPY … FROM STDIN or TO STDOUT, or psql's \\copy."));
        }
        let (options, forced) = self.copy_options(&copy.options, copy.is_from)?;
        if let Some(query) = &copy.query {
            let returned;
            let select = match &query.node {
                Some(N::SelectStmt(select)) if select.into_clause.is_some() => {
                    let message = "COPY (SELECT INTO) is not supported";
                    return Err(Error::new(Condition::FeatureNotSupported, message));
                }
                Some(N::SelectStmt(select)) => select,
                _ => {
                    returned = returned_rows(query)?;
                    &returned
                }
            };
            self.without_params = true;
            let bound = self.query(select, true)?;
            let origins = bound.columns.iter().map(|column| column.origin).collect();
            let names: Vec<&str> = bound.columns.iter().map(|column| column.name.as_str()).collect();
            let missing = |name: &str| format!("column \"{name}\" does not exist");
            let options = CopyOptions { force_quote: forced.quote.places(&names, missing)?, ..options };
            return Ok(Statement::Copy(Box::new(Copy {
                from: None,
                to: Some(bound.query),
                table: false,
                origins,
                options,
            })));
        }
        let Some(range) = &copy.relation else { return Err(Error::internal("COPY of nothing")) };
        // PostgreSQL tells no place in COPY.
        let range = &pg::RangeVar { location: -1, ..range.clone() };
        let relation = self.relation(range)?;
        let columns = self.column_positions(&relation, &names::strings(&copy.attlist), range.location)?;
        let options = self.forced_columns(options, &forced, &relation, &columns)?;
        if !copy.is_from {
            if matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView)
                || relation.is_materialized()
            {
                let words = crate::access::relation_words(&relation);
                let message = format!("cannot copy from {words} \"{}\"", relation.name);
                return Err(
                    Error::new(Condition::WrongObjectType, message).hint("Try the COPY (SELECT ...) TO variant.")
                );
            }
            if relation.is_partitioned() {
                let message = format!("cannot copy from partitioned table \"{}\"", relation.name);
                return Err(
                    Error::new(Condition::WrongObjectType, message).hint("Try the COPY (SELECT ...) TO variant.")
                );
            }
            self.effects.reads = true;
            let (from, entry) = self.table(&relation, None, range.location)?;
            let (items, described): (Vec<_>, Vec<_>) = columns
                .iter()
                .map(|at| {
                    let column = &entry.columns[*at];
                    self.read_column(column);
                    (column.expr.clone(), computed(column.name.clone(), column.expr.ty.clone()))
                })
                .unzip();
            let select = Select {
                distinct: crate::ir::Distinct::All,
                items,
                from: Some(from),
                filter: None,
                group_by: crate::ir::GroupBy::None,
                having: None,
            };
            let output = self.ids.relation();
            let query = Query::of(Body::Select(Box::new(select)), outputs(&described), output);
            let origins = columns.iter().map(|at| entry.columns[*at].origin).collect();
            return Ok(Statement::Copy(Box::new(Copy { from: None, to: Some(query), table: true, origins, options })));
        }
        let takes_rows =
            relation.has_trigger(ir::TriggerTime::InsteadOf, ir::TriggerLevel::Row, ir::TriggerEvent::Insert);
        let target = match relation.kind {
            RelationKind::View { .. } if takes_rows => self.target(Some(range), Change::Insert)?,
            RelationKind::MaterializedView { .. } => {
                let message = format!("cannot copy to materialized view \"{}\"", relation.name);
                return Err(Error::new(Condition::WrongObjectType, message));
            }
            RelationKind::View { .. } | RelationKind::NativeView => {
                let message = format!("cannot copy to view \"{}\"", relation.name);
                return Err(Error::new(Condition::WrongObjectType, message)
                    .hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger."));
            }
            _ => {
                let relation = self.own_table(range)?;
                let id = self.ids.relation();
                self.need(id, &relation, Privileges::INSERT);
                // Refused when it runs, where policies concern it.
                self.secured(id, &relation);
                let routing = self.routing(&relation, id)?;
                let mut target = Target::table(relation, id);
                target.routing = routing;
                target
            }
        };
        self.effects.writes = true;
        columns.iter().for_each(|at| self.needs.change_column(target.id, (relation.oid, *at), true));
        let values = columns
            .iter()
            .enumerate()
            .map(|(param, at)| {
                let ty = relation.columns[*at].ty.clone();
                let told = super::types::import(&ty);
                self.params.push(Some(told.clone()));
                let value = self.param_of(param, told)?;
                Ok(value.cast(ty, CastContext::Assignment))
            })
            .collect::<Result<_>>()?;
        let mut columns = columns;
        let source = match copy.where_clause.as_deref() {
            None => self.add_defaults(&target, &mut columns, InsertSource::Values(vec![values]))?,
            Some(condition) => InsertSource::Query(self.copied_row(&target, &mut columns, values, condition)?),
        };
        let Target { id, relation, rows: view, routing, .. } = target;
        let from = Dml {
            family: None,
            routing,
            heir: None,
            ctes: Vec::new(),
            id,
            target: relation,
            view,
            action: DmlAction::Insert { columns, source, on_conflict: None },
            checks: Vec::new(),
            guards: None,
            one_by_one: None,
            returning: Vec::new(),
            columns: Vec::new(),
        };
        Ok(Statement::Copy(Box::new(Copy { from: Some(from), to: None, table: true, origins: Vec::new(), options })))
    }

    /// The row that comes, as a query that has none where the condition is not true.
    fn copied_row(
        &mut self,
        target: &Target,
        columns: &mut Vec<usize>,
        mut values: Vec<Expr>,
        condition: &Node,
    ) -> Result<Box<Query>> {
        let relation = target.relation.clone();
        // The condition may ask for what the data do not bring, so no default is left to the back end.
        for (position, column) in relation.columns.iter().enumerate() {
            if !columns.contains(&position) && column.generated.is_none() {
                values.push(self.target_default(target, position, false, -1)?);
                columns.push(position);
            }
        }
        let described: Vec<_> = columns
            .iter()
            .map(|at| computed(relation.columns[*at].name.clone(), relation.columns[*at].ty.clone()))
            .collect();
        let output = self.ids.relation();
        let mut row = Query::of(Body::Select(Box::new(Select::of(values, None))), outputs(&described), output);
        // Values are computed once, and before the condition: a sequence goes on for rows that are left out, too.
        row.offset = Some(barrier());
        let id = self.ids.relation();
        let mut entry = Entry::of_relation(&relation, id, None);
        entry.relation = None;
        for (position, column) in entry.columns.iter_mut().enumerate() {
            let own = &relation.columns[position];
            column.expr = match columns.iter().position(|at| *at == position) {
                Some(at) => {
                    Expr::column(id, at, own.ty.clone()).cast(super::types::import(&own.ty), CastContext::Implicit)
                }
                None => Expr::column(id, GENERATED + position, own.ty.clone()),
            };
        }
        let scope = Scope { entries: vec![entry], clause: Clause::CopyWhere, ..Scope::default() };
        let (filter, _) = self.with_scope(scope, |binder| {
            let (filter, at) = binder.placed(condition)?;
            binder.condition(filter, "WHERE", at)
        })?;
        let mut generated = None;
        walk::expr(&filter, &mut |part| {
            if let ExprKind::Column(ir::ColumnRef { relation, column: ir::ColumnIndex::At(at) }) = part.kind
                && relation == id
                && at >= GENERATED
            {
                generated = Some(at - GENERATED);
            }
            generated.is_none()
        });
        if let Some(position) = generated {
            let message = "generated columns are not supported in COPY FROM WHERE conditions";
            let detail = format!("Column \"{}\" is a generated column.", relation.columns[position].name);
            return Err(Error::new(Condition::InvalidColumnReference, message).detail(detail));
        }
        let items = described.iter().enumerate().map(|(at, column)| Expr::column(id, at, column.ty.clone())).collect();
        let mut select = Select::of(items, Some(From::Query { id, query: Box::new(row), lateral: false }));
        select.filter = Some(filter);
        let output = self.ids.relation();
        Ok(Box::new(Query::of(Body::Select(Box::new(select)), outputs(&described), output)))
    }

    /// Where the columns of FORCE_* are in what is copied.
    fn forced_columns(
        &self,
        mut options: CopyOptions,
        forced: &Forced,
        relation: &Relation,
        columns: &[usize],
    ) -> Result<CopyOptions> {
        let places = |named: &Named, option: &str| -> Result<Vec<usize>> {
            let Named::These(names) = named else { return named.places(&vec![""; columns.len()], |_| String::new()) };
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if names.is_empty() {
                return Ok(Vec::new());
            }
            let found = self.column_positions(relation, &names, -1)?;
            let place = |position: &usize| {
                columns.iter().position(|at| at == position).ok_or_else(|| {
                    let name = &relation.columns[*position].name;
                    let message = format!("{option} column \"{name}\" not referenced by COPY");
                    Error::new(Condition::InvalidColumnReference, message)
                })
            };
            found.iter().map(place).collect()
        };
        options.force_quote = places(&forced.quote, "FORCE_QUOTE")?;
        options.force_not_null = places(&forced.not_null, "FORCE_NOT_NULL")?;
        options.force_null = places(&forced.null, "FORCE_NULL")?;
        Ok(options)
    }

    /// Reads the options, in PostgreSQL's order: each by itself, then together.
    fn copy_options(&self, nodes: &[Node], is_from: bool) -> Result<(CopyOptions, Forced)> {
        let (mut written, mut forced) = (Written::default(), Forced::default());
        let mut seen: Vec<&str> = Vec::new();
        for node in nodes {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let name = option.defname.as_str();
            if seen.contains(&name) {
                return Err(self.error(Condition::SyntaxError, "conflicting or redundant options", option.location));
            }
            seen.push(name);
            let arg = option.arg.as_deref();
            match name {
                "format" => written.format = Some(self.copy_format(option)?),
                "freeze" => {
                    let needed = || Error::new(Condition::SyntaxError, format!("{name} requires a Boolean value"));
                    written.freeze = boolean(arg).ok_or_else(needed)?;
                }
                "delimiter" => written.delimiter = Some(required_text(option)?),
                "null" => written.null = Some(required_text(option)?),
                "header" => written.header = header(arg, is_from)?,
                "quote" => written.quote = Some(required_text(option)?),
                "escape" => written.escape = Some(required_text(option)?),
                "force_quote" => forced.quote = self.named_columns(option, true)?,
                "force_not_null" => forced.not_null = self.named_columns(option, false)?,
                "force_null" => forced.null = self.named_columns(option, false)?,
                "encoding" => written.encoding = Some(self.copy_encoding(option)?),
                "convert_selectively" => {
                    return Err(self.unsupported("COPY option convert_selectively", option.location));
                }
                _ => {
                    let message = format!("option \"{name}\" not recognized");
                    return Err(self.error(Condition::SyntaxError, message, option.location));
                }
            }
        }
        Ok((together(written, &forced, is_from)?, forced))
    }

    fn copy_format(&self, option: &pg::DefElem) -> Result<CopyFormat> {
        match required_text(option)?.as_str() {
            "text" => Ok(CopyFormat::Text),
            "csv" => Ok(CopyFormat::Csv),
            "binary" => Ok(CopyFormat::Binary),
            other => {
                let message = format!("COPY format \"{other}\" not recognized");
                Err(self.error(Condition::InvalidParameterValue, message, option.location))
            }
        }
    }

    fn copy_encoding(&self, option: &pg::DefElem) -> Result<&'static Encoding> {
        let name = required_text(option)?;
        let unknown = "argument to option \"encoding\" must be a valid encoding name";
        let encoding = Encoding::find(&name)
            .ok_or_else(|| self.error(Condition::InvalidParameterValue, unknown, option.location))?;
        if !encoding.converts() {
            return Err(self.unsupported(format!("COPY in encoding \"{name}\""), option.location));
        }
        Ok(encoding)
    }

    fn named_columns(&self, option: &pg::DefElem, star: bool) -> Result<Named> {
        match option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
            Some(N::AStar(_)) if star => Ok(Named::All),
            Some(N::List(list)) => Ok(Named::These(list.items.iter().map(|item| text_of(Some(item))).collect())),
            _ => {
                let message = format!("argument to option \"{}\" must be a list of column names", option.defname);
                Err(self.error(Condition::InvalidParameterValue, message, option.location))
            }
        }
    }

    /// Places of named columns; of all that can be written when none is named.
    pub(super) fn column_positions(
        &self,
        relation: &crate::schema::Relation,
        names: &[&str],
        location: i32,
    ) -> Result<Vec<usize>> {
        if names.is_empty() {
            return Ok((0..relation.columns.len()).filter(|at| relation.columns[*at].generated.is_none()).collect());
        }
        let mut positions = Vec::with_capacity(names.len());
        for name in names {
            let at = relation.column(name).ok_or_else(|| {
                self.error(
                    Condition::UndefinedColumn,
                    format!("column \"{name}\" of relation \"{}\" does not exist", relation.name),
                    location,
                )
            })?;
            if relation.columns[at].generated.is_some() {
                let message = format!("column \"{name}\" is a generated column");
                return Err(Error::new(Condition::InvalidColumnReference, message)
                    .detail("Generated columns cannot be used in COPY."));
            }
            if positions.contains(&at) {
                return Err(self.error(
                    Condition::DuplicateColumn,
                    format!("column \"{name}\" specified more than once"),
                    location,
                ));
            }
            positions.push(at);
        }
        Ok(positions)
    }
}

/// Generated columns in a COPY's condition are numbered from here while it is bound, to be found and refused.
const GENERATED: usize = 1 << 20;

/// `SELECT *` from what a changing statement returns.
fn returned_rows(query: &Node) -> Result<pg::SelectStmt> {
    let returning = match &query.node {
        Some(N::InsertStmt(insert)) => &insert.returning_clause,
        Some(N::UpdateStmt(update)) => &update.returning_clause,
        Some(N::DeleteStmt(delete)) => &delete.returning_clause,
        _ => return Err(Error::unsupported("COPY of a statement that is not a query")),
    };
    if returning.is_none() {
        let message = "COPY query must have a RETURNING clause";
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    const NAME: &str = "copied";
    let node = |node| Node { node: Some(node) };
    let cte = pg::CommonTableExpr {
        ctename: NAME.to_owned(),
        ctematerialized: pg::CteMaterialize::Default.into(),
        ctequery: Some(Box::new(query.clone())),
        location: -1,
        ..pg::CommonTableExpr::default()
    };
    let all = pg::ColumnRef { fields: vec![node(N::AStar(pg::AStar {}))], location: -1 };
    let item = pg::ResTarget { val: Some(Box::new(node(N::ColumnRef(all)))), location: -1, ..pg::ResTarget::default() };
    let range = pg::RangeVar { relname: NAME.to_owned(), inh: true, location: -1, ..pg::RangeVar::default() };
    Ok(pg::SelectStmt {
        with_clause: Some(pg::WithClause {
            ctes: vec![node(N::CommonTableExpr(Box::new(cte)))],
            recursive: false,
            location: -1,
        }),
        target_list: vec![node(N::ResTarget(Box::new(item)))],
        from_clause: vec![node(N::RangeVar(range))],
        limit_option: pg::LimitOption::Default.into(),
        op: pg::SetOperation::SetopNone.into(),
        ..pg::SelectStmt::default()
    })
}

/// A text that an option must have.
fn required_text(option: &pg::DefElem) -> Result<String> {
    match option.arg.as_deref() {
        Some(arg) => Ok(text_of(Some(arg))),
        None => Err(Error::new(Condition::SyntaxError, format!("{} requires a parameter", option.defname))),
    }
}

/// A boolean as options have it; without a value it is true.
fn boolean(arg: Option<&Node>) -> Option<bool> {
    if arg.is_none() {
        return Some(true);
    }
    match text_of(arg).to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// HEADER's value.
fn header(arg: Option<&Node>, is_from: bool) -> Result<CopyHeader> {
    match boolean(arg) {
        Some(true) => Ok(CopyHeader::Named),
        Some(false) => Ok(CopyHeader::None),
        None => {
            let text = text_of(arg);
            if !text.eq_ignore_ascii_case("match") {
                let message = "header requires a Boolean value or \"match\"";
                return Err(Error::new(Condition::SyntaxError, message));
            }
            if !is_from {
                let message = format!("cannot use \"{text}\" with HEADER in COPY TO");
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            Ok(CopyHeader::Match)
        }
    }
}

/// What the options are together; refused are those that do not go with each other.
fn together(written: Written, forced: &Forced, is_from: bool) -> Result<CopyOptions> {
    use Condition::{FeatureNotSupported, InvalidParameterValue, SyntaxError};
    let format = written.format.unwrap_or(CopyFormat::Text);
    let (binary, csv) = (format == CopyFormat::Binary, format == CopyFormat::Csv);
    let check = |wrong: bool, condition: Condition, message: &str| match wrong {
        true => Err(Error::new(condition, message)),
        false => Ok(()),
    };
    check(binary && written.delimiter.is_some(), SyntaxError, "cannot specify DELIMITER in BINARY mode")?;
    check(binary && written.null.is_some(), SyntaxError, "cannot specify NULL in BINARY mode")?;
    let delimiter = written.delimiter.unwrap_or_else(|| if csv { "," } else { "\t" }.to_owned());
    let null = written.null.unwrap_or_else(|| if csv { "" } else { "\\N" }.to_owned());
    let one = |text: &str, what: &str| match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(Error::new(FeatureNotSupported, format!("COPY {what} must be a single one-byte character"))),
    };
    let delimiter = one(&delimiter, "delimiter")?;
    let breaks = |byte: u8| matches!(byte, b'\r' | b'\n');
    check(breaks(delimiter), InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")?;
    let message = "COPY null representation cannot use newline or carriage return";
    check(null.bytes().any(breaks), InvalidParameterValue, message)?;
    let means_else = matches!(delimiter, b'\\' | b'.' | b'a'..=b'z' | b'0'..=b'9');
    let message = format!("COPY delimiter cannot be \"{}\"", char::from(delimiter));
    check(!csv && means_else, InvalidParameterValue, &message)?;
    let header = written.header != CopyHeader::None;
    check(binary && header, FeatureNotSupported, "cannot specify HEADER in BINARY mode")?;
    check(!csv && written.quote.is_some(), FeatureNotSupported, "COPY quote available only in CSV mode")?;
    let quote = written.quote.map_or(Ok(b'"'), |text| one(&text, "quote"))?;
    check(csv && delimiter == quote, InvalidParameterValue, "COPY delimiter and quote must be different")?;
    check(!csv && written.escape.is_some(), FeatureNotSupported, "COPY escape available only in CSV mode")?;
    let escape = written.escape.map_or(Ok(quote), |text| one(&text, "escape"))?;
    for (named, words, from) in
        [(&forced.quote, "quote", false), (&forced.not_null, "not null", true), (&forced.null, "null", true)]
    {
        let message = format!("COPY force {words} available only in CSV mode");
        check(!csv && named.is_some(), FeatureNotSupported, &message)?;
        let message = format!("COPY force {words} only available using COPY {}", if from { "FROM" } else { "TO" });
        check(named.is_some() && is_from != from, FeatureNotSupported, &message)?;
    }
    let message = "COPY delimiter must not appear in the NULL specification";
    check(!binary && null.bytes().any(|byte| byte == delimiter), FeatureNotSupported, message)?;
    let message = "CSV quote character must not appear in the NULL specification";
    check(csv && null.bytes().any(|byte| byte == quote), FeatureNotSupported, message)?;
    Ok(CopyOptions {
        format,
        delimiter,
        null,
        header: written.header,
        freeze: written.freeze,
        quote,
        escape,
        encoding: written.encoding,
        force_quote: Vec::new(),
        force_not_null: Vec::new(),
        force_null: Vec::new(),
    })
}
