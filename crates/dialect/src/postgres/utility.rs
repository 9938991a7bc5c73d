//! Statements that are neither queries nor changes of data or schema: transactions, settings, cursors and their kin.

use pg_query::protobuf::{self as pg, Node, node::Node as N};
use rowferry_encodings::Encoding;

use super::binder::{Binder, Clause, computed};
use super::names;
use super::target::{Change, Target};
use crate::access::Privileges;
use crate::ir::{
    self, Copy, CopyFormat, CopyOptions, Discard, Dml, DmlAction, Explain, ExplainFormat, FetchDirection, InsertSource,
    Isolation, LockMode, LockTable, Notify, SetVariable, Statement, Transaction, TransactionModes,
};
use crate::plan::ResultColumn;
use crate::schema::{QualifiedName, RelationKind};
use crate::values::Interval;
use crate::{Condition, Error, Result, Type};

/// Options of DECLARE that matter here (`CURSOR_OPT_*` of PostgreSQL's parsenodes.h).
const CURSOR_BINARY: i32 = 0x0001;
/// NO SCROLL.
const CURSOR_NO_SCROLL: i32 = 0x0004;
const CURSOR_SCROLL: i32 = 0x0002;
const CURSOR_HOLD: i32 = 0x0020;

impl Binder<'_> {
    /// Binds a utility statement and tells what columns it returns; `None` for statements of other kinds.
    pub(super) fn utility(&mut self, node: &N) -> Result<Option<(Statement, Vec<ResultColumn>)>> {
        let plain = |statement| Ok(Some((statement, Vec::new())));
        match node {
            N::TransactionStmt(statement) => {
                self.effects.transaction = true;
                plain(Statement::Transaction(self.transaction(statement)?))
            }
            N::VariableSetStmt(statement) => {
                self.effects.volatile = true;
                plain(self.set(statement)?)
            }
            N::VariableShowStmt(show) => {
                self.effects.volatile = true;
                Ok(Some(show_variable(&show.name)))
            }
            N::DiscardStmt(discard) => {
                use pg::DiscardMode as Mode;
                plain(Statement::Discard(match discard.target() {
                    Mode::DiscardPlans => Discard::Plans,
                    Mode::DiscardSequences => Discard::Sequences,
                    Mode::DiscardTemp => Discard::Temp,
                    Mode::DiscardAll | Mode::Undefined => Discard::All,
                }))
            }
            N::PrepareStmt(prepare) => plain(self.prepare(prepare)?),
            N::ExecuteStmt(execute) => {
                let args = self.within(Clause::Execute, |binder| binder.placed_all(&execute.params))?;
                let args =
                    args.into_iter().map(|(arg, location)| self.settle(arg, location)).collect::<Result<Vec<_>>>()?;
                plain(Statement::ExecutePrepared { name: execute.name.clone(), args })
            }
            N::DeallocateStmt(deallocate) => {
                plain(Statement::Deallocate((!deallocate.isall).then(|| deallocate.name.clone())))
            }
            N::DeclareCursorStmt(declare) => plain(self.declare(declare)?),
            N::FetchStmt(fetch) => plain(self.fetch(fetch)?),
            N::ClosePortalStmt(close) => {
                plain(Statement::CloseCursor((!close.portalname.is_empty()).then(|| close.portalname.clone())))
            }
            N::ExplainStmt(explain) => {
                let explain = self.explain(explain)?;
                let ty = match explain.format {
                    ExplainFormat::Json => Type::Json,
                    ExplainFormat::Text | ExplainFormat::Xml | ExplainFormat::Yaml => Type::Text,
                };
                Ok(Some((Statement::Explain(Box::new(explain)), vec![computed("QUERY PLAN", ty)])))
            }
            N::ListenStmt(listen) => plain(Statement::Notify(Notify::Listen(listen.conditionname.clone()))),
            N::UnlistenStmt(unlisten) => {
                let channel = (!unlisten.conditionname.is_empty()).then(|| unlisten.conditionname.clone());
                plain(Statement::Notify(Notify::Unlisten(channel)))
            }
            N::NotifyStmt(notify) => {
                plain(Statement::Notify(Notify::Notify(notify.conditionname.clone(), notify.payload.clone())))
            }
            N::LockStmt(lock) => {
                let mut relations: Vec<std::sync::Arc<crate::schema::Relation>> = Vec::new();
                for relation in &lock.relations {
                    if let Some(N::RangeVar(range)) = &relation.node {
                        let relation = self.relation(range)?;
                        for member in self.meant(relation, range.inh) {
                            if !relations.iter().any(|known| known.oid == member.oid) {
                                relations.push(member);
                            }
                        }
                    }
                }
                let mode = LockMode::ALL.into_iter().find(|mode| *mode as i32 == lock.mode);
                let mode = mode.ok_or_else(|| Error::internal("LOCK TABLE in no mode"))?;
                plain(Statement::Lock(LockTable { relations, mode, nowait: lock.nowait }))
            }
            N::CopyStmt(copy) => plain(self.copy(copy)?),
            N::CheckPointStmt(_) => plain(Statement::Maintain(crate::ir::Maintenance::Checkpoint)),
            N::ConstraintsSetStmt(set) => {
                let names = set.constraints.iter().filter_map(|node| match &node.node {
                    Some(N::RangeVar(range)) => Some(QualifiedName {
                        schema: (!range.schemaname.is_empty()).then(|| range.schemaname.clone()),
                        name: range.relname.clone(),
                    }),
                    _ => None,
                });
                plain(Statement::SetConstraints { names: names.collect(), deferred: set.deferred })
            }
            N::ReindexStmt(reindex) => plain(self.reindex(reindex)?),
            N::VacuumStmt(vacuum) => plain(self.vacuum(vacuum)?),
            N::CreatedbStmt(create) => plain(Statement::Database(self.create_database(create)?)),
            N::DropdbStmt(drop) => plain(Statement::Database(self.drop_database(drop)?)),
            N::RenameStmt(rename) if rename.rename_type() == pg::ObjectType::ObjectDatabase => {
                let (name, to) = (rename.subname.clone(), rename.newname.clone());
                plain(Statement::Database(crate::ir::DatabaseChange::Rename { name, to }))
            }
            _ => Ok(None),
        }
    }

    fn transaction(&mut self, statement: &pg::TransactionStmt) -> Result<Transaction> {
        use pg::TransactionStmtKind as Kind;
        let name = || statement.savepoint_name.clone();
        Ok(match statement.kind() {
            Kind::TransStmtBegin => Transaction::Begin(self.modes(&statement.options)?),
            Kind::TransStmtStart => Transaction::Start(self.modes(&statement.options)?),
            Kind::TransStmtCommit => Transaction::Commit { chain: statement.chain },
            Kind::TransStmtRollback => Transaction::Rollback { chain: statement.chain },
            Kind::TransStmtSavepoint => Transaction::Savepoint(name()),
            Kind::TransStmtRelease => Transaction::Release(name()),
            Kind::TransStmtRollbackTo => Transaction::RollbackTo(name()),
            Kind::TransStmtPrepare
            | Kind::TransStmtCommitPrepared
            | Kind::TransStmtRollbackPrepared
            | Kind::Undefined => {
                return Err(self.unsupported("two-phase commit", statement.location));
            }
        })
    }

    fn modes(&self, options: &[Node]) -> Result<TransactionModes> {
        let mut modes = TransactionModes::default();
        for option in options {
            let Some(N::DefElem(option)) = &option.node else { continue };
            match option.defname.as_str() {
                "transaction_isolation" => {
                    modes.isolation = Some(match text_of(option.arg.as_deref()).as_str() {
                        "read uncommitted" => Isolation::ReadUncommitted,
                        "read committed" => Isolation::ReadCommitted,
                        "repeatable read" => Isolation::RepeatableRead,
                        "serializable" => Isolation::Serializable,
                        other => {
                            return Err(self.error(
                                Condition::InvalidParameterValue,
                                format!("unrecognized isolation level \"{other}\""),
                                option.location,
                            ));
                        }
                    });
                }
                "transaction_read_only" => modes.read_only = Some(is_true(option.arg.as_deref())),
                "transaction_deferrable" => modes.deferrable = Some(is_true(option.arg.as_deref())),
                other => return Err(self.unsupported(format!("transaction mode {other}"), option.location)),
            }
        }
        Ok(modes)
    }

    pub(super) fn set(&mut self, statement: &pg::VariableSetStmt) -> Result<Statement> {
        use pg::VariableSetKind as Kind;
        let variable = |values, reset| {
            let name = Some(statement.name.clone());
            Statement::Set(SetVariable { name, values, reset, local: statement.is_local })
        };
        Ok(match statement.kind() {
            Kind::VarSetValue => {
                variable(Some(statement.args.iter().map(setting_value).collect::<Result<_>>()?), false)
            }
            Kind::VarSetDefault => variable(None, false),
            Kind::VarReset => variable(None, true),
            Kind::VarResetAll => Statement::Set(SetVariable { name: None, values: None, reset: true, local: false }),
            Kind::VarSetCurrent => return Err(self.unsupported("SET … FROM CURRENT", statement.location)),
            Kind::VarSetMulti => match statement.name.as_str() {
                "TRANSACTION" | "SESSION CHARACTERISTICS" => {
                    self.effects.transaction = statement.name == "TRANSACTION";
                    Statement::Transaction(Transaction::SetModes {
                        session: statement.name != "TRANSACTION",
                        modes: self.modes(&statement.args)?,
                    })
                }
                other => return Err(self.unsupported(format!("SET {other}"), statement.location)),
            },
            Kind::Undefined => return Err(Error::internal("SET of no kind")),
        })
    }

    fn prepare(&mut self, prepare: &pg::PrepareStmt) -> Result<Statement> {
        let mut params = Vec::with_capacity(prepare.argtypes.len());
        for ty in &prepare.argtypes {
            if let Some(N::TypeName(name)) = &ty.node {
                params.push(self.resolve_type(name)?);
            }
        }
        let text = prepare
            .query
            .as_deref()
            .and_then(|query| query.node.clone())
            .and_then(super::raw::print)
            .ok_or_else(|| Error::unsupported("PREPARE of this statement"))?;
        Ok(Statement::Prepare { name: prepare.name.clone(), text, params })
    }

    fn declare(&mut self, declare: &pg::DeclareCursorStmt) -> Result<Statement> {
        let Some(N::SelectStmt(select)) = declare.query.as_deref().and_then(|query| query.node.as_ref()) else {
            return Err(Error::internal("a cursor without a query"));
        };
        let query = self.query(select, true)?.query;
        Ok(Statement::DeclareCursor {
            name: declare.portalname.clone(),
            scroll: declare.options & CURSOR_SCROLL != 0
                || declare.options & CURSOR_NO_SCROLL == 0 && scrolls_by_itself(&query),
            hold: declare.options & CURSOR_HOLD != 0,
            binary: declare.options & CURSOR_BINARY != 0,
            query: Box::new(query),
        })
    }

    fn fetch(&self, fetch: &pg::FetchStmt) -> Result<Statement> {
        use pg::FetchDirection as Kind;
        let count = fetch.how_many;
        Ok(Statement::Fetch {
            cursor: fetch.portalname.clone(),
            direction: match fetch.direction() {
                Kind::FetchForward if count < 0 => FetchDirection::Backward(count.saturating_neg()),
                Kind::FetchForward | Kind::Undefined => FetchDirection::Forward(count),
                Kind::FetchBackward if count < 0 => FetchDirection::Forward(count.saturating_neg()),
                Kind::FetchBackward => FetchDirection::Backward(count),
                Kind::FetchAbsolute => FetchDirection::Absolute(count),
                Kind::FetchRelative => FetchDirection::Relative(count),
            },
            no_rows: fetch.ismove,
        })
    }

    fn explain(&mut self, explain: &pg::ExplainStmt) -> Result<Explain> {
        let (mut analyze, mut verbose, mut wal) = (false, false, false);
        let (mut timing, mut summary, mut format) = (None, None, ExplainFormat::Text);
        let mut untold = Vec::new();
        for option in &explain.options {
            let Some(N::DefElem(option)) = &option.node else { continue };
            let on = option.arg.is_none() || is_true(option.arg.as_deref());
            match option.defname.as_str() {
                "analyze" => analyze = on,
                "verbose" => verbose = on,
                "timing" => timing = Some(on),
                "summary" => summary = Some(on),
                "wal" => wal = on,
                "format" => {
                    format = match text_of(option.arg.as_deref()).as_str() {
                        "text" => ExplainFormat::Text,
                        "xml" => ExplainFormat::Xml,
                        "json" => ExplainFormat::Json,
                        "yaml" => ExplainFormat::Yaml,
                        other => {
                            let message =
                                format!("unrecognized value for EXPLAIN option \"{}\": \"{other}\"", option.defname);
                            return Err(self.error(Condition::InvalidParameterValue, message, option.location));
                        }
                    }
                }
                // Of what these ask for there is nothing to tell; COSTS is on unless somebody says otherwise.
                "costs" => {}
                "buffers" | "settings" if on => untold.push(option.defname.to_uppercase()),
                "buffers" | "settings" => {}
                other => {
                    return Err(self.error(
                        Condition::SyntaxError,
                        format!("unrecognized EXPLAIN option \"{other}\""),
                        option.location,
                    ));
                }
            }
        }
        for (asked, name) in [(wal, "WAL"), (timing == Some(true), "TIMING")] {
            if asked && !analyze {
                let message = format!("EXPLAIN option {name} requires ANALYZE");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
        }
        if wal {
            untold.push("WAL".to_owned());
        }
        for name in untold {
            self.remark(format!("EXPLAIN option {name} has no effect: the plan does not tell of it"));
        }
        let Some(query) = explain.query.as_deref().and_then(|query| query.node.as_ref()) else {
            return Err(Error::internal("EXPLAIN of nothing"));
        };
        let (statement, columns) = self.statement(query)?;
        let (timing, summary) = (timing.unwrap_or(analyze), summary.unwrap_or(analyze));
        Ok(Explain { analyze, verbose, timing, summary, format, statement, columns })
    }

    fn copy(&mut self, copy: &pg::CopyStmt) -> Result<Statement> {
        if copy.is_program || !copy.filename.is_empty() {
            return Err(Error::unsupported("COPY between the database and a file or program of the server")
                .hint("Use COPY … FROM STDIN or TO STDOUT, or psql's \\copy."));
        }
        if copy.where_clause.is_some() {
            return Err(Error::unsupported("COPY FROM … WHERE"));
        }
        let options = self.copy_options(&copy.options)?;
        if let Some(query) = &copy.query {
            let Some(N::SelectStmt(select)) = &query.node else {
                return Err(Error::unsupported("COPY of a statement that is not a query"));
            };
            let bound = self.query(select, true)?;
            let origins = bound.columns.iter().map(|column| column.origin).collect();
            return Ok(Statement::Copy(Box::new(Copy {
                from: None,
                to: Some(bound.query),
                table: false,
                origins,
                options,
            })));
        }
        let Some(range) = &copy.relation else { return Err(Error::internal("COPY of nothing")) };
        let relation = self.relation(range)?;
        let columns = self.column_positions(&relation, &names::strings(&copy.attlist), range.location)?;
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
            let (items, outputs): (Vec<_>, Vec<_>) = columns
                .iter()
                .map(|at| {
                    let column = &entry.columns[*at];
                    self.read_column(column);
                    (column.expr.clone(), computed(column.name.clone(), column.expr.ty.clone()))
                })
                .unzip();
            let select = crate::ir::Select {
                distinct: crate::ir::Distinct::All,
                items,
                from: Some(from),
                filter: None,
                group_by: crate::ir::GroupBy::None,
                having: None,
            };
            let output = self.ids.relation();
            let query = Self::bare_query(crate::ir::Body::Select(Box::new(select)), &outputs, output);
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
                let told = |time| relation.has_trigger(time, ir::TriggerLevel::Statement, ir::TriggerEvent::Insert);
                if routing.is_some() && (told(ir::TriggerTime::Before) || told(ir::TriggerTime::After)) {
                    let what = "COPY FROM into a partitioned table, or a partition, with triggers for each statement";
                    return Err(self.unsupported(what, range.location));
                }
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
                Ok(value.cast(ty, crate::ir::CastContext::Assignment))
            })
            .collect::<Result<_>>()?;
        let mut columns = columns;
        let source = self.add_defaults(&target, &mut columns, InsertSource::Values(vec![values]))?;
        let Target { id, relation, rows: view, routing, .. } = target;
        let from = Dml {
            family: None,
            routing,
            heir: false,
            ctes: Vec::new(),
            id,
            target: relation,
            view,
            action: DmlAction::Insert { columns, source, on_conflict: None },
            checks: Vec::new(),
            guards: None,
            returning: Vec::new(),
            columns: Vec::new(),
        };
        Ok(Statement::Copy(Box::new(Copy { from: Some(from), to: None, table: true, origins: Vec::new(), options })))
    }

    fn copy_options(&self, nodes: &[Node]) -> Result<CopyOptions> {
        let option = |wanted: &str| {
            nodes.iter().rev().find_map(|node| match &node.node {
                Some(N::DefElem(option)) if option.defname == wanted => Some(option),
                _ => None,
            })
        };
        for node in nodes {
            if let Some(N::DefElem(option)) = &node.node
                && !matches!(
                    option.defname.as_str(),
                    "format" | "delimiter" | "null" | "header" | "quote" | "escape" | "encoding" | "freeze"
                )
            {
                return Err(self.unsupported(format!("COPY option {}", option.defname), option.location));
            }
        }
        if let Some(header) = option("header")
            && text_of(header.arg.as_deref()).eq_ignore_ascii_case("match")
        {
            return Err(self.unsupported("COPY (HEADER MATCH)", header.location));
        }
        let format = match option("format").map(|option| text_of(option.arg.as_deref())).as_deref() {
            None | Some("text") => CopyFormat::Text,
            Some("csv") => CopyFormat::Csv,
            Some("binary") => CopyFormat::Binary,
            Some(other) => {
                return Err(Error::new(
                    Condition::InvalidParameterValue,
                    format!("COPY format \"{other}\" not recognized"),
                ));
            }
        };
        let byte = |name: &str, default: u8| match option(name).map(|option| text_of(option.arg.as_deref())) {
            None => Ok(default),
            Some(text) if text.len() == 1 => Ok(text.as_bytes()[0]),
            Some(_) => Err(Error::new(
                Condition::InvalidParameterValue,
                format!("COPY {name} must be a single one-byte character"),
            )),
        };
        let csv = format == CopyFormat::Csv;
        let quote = byte("quote", b'"')?;
        let encoding = match option("encoding") {
            None => None,
            Some(option) => {
                let name = text_of(option.arg.as_deref());
                let unknown = "argument to option \"encoding\" must be a valid encoding name";
                let encoding = Encoding::find(&name)
                    .ok_or_else(|| self.error(Condition::InvalidParameterValue, unknown, option.location))?;
                if !encoding.converts() {
                    return Err(self.unsupported(format!("COPY in encoding \"{name}\""), option.location));
                }
                Some(encoding)
            }
        };
        Ok(CopyOptions {
            format,
            delimiter: byte("delimiter", if csv { b',' } else { b'\t' })?,
            null: option("null").map_or_else(
                || if csv { String::new() } else { "\\N".into() },
                |option| text_of(option.arg.as_deref()),
            ),
            header: option("header").is_some_and(|option| option.arg.is_none() || is_true(option.arg.as_deref())),
            quote,
            escape: byte("escape", quote)?,
            encoding,
        })
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

fn show_variable(name: &str) -> (Statement, Vec<ResultColumn>) {
    if name.eq_ignore_ascii_case("all") {
        let columns = ["name", "setting", "description"].map(|name| computed(name, Type::Text));
        return (Statement::Show(None), columns.to_vec());
    }
    let name = name.to_lowercase();
    let title = match name.as_str() {
        "timezone" => "TimeZone",
        "datestyle" => "DateStyle",
        "intervalstyle" => "IntervalStyle",
        name => name,
    };
    let columns = vec![computed(title, Type::Text)];
    (Statement::Show(Some(name)), columns)
}

/// A value of SET. `SET TIME ZONE INTERVAL` means hours east of Greenwich.
fn setting_value(node: &Node) -> Result<String> {
    let text = text_of(Some(node));
    let Some(N::TypeCast(cast)) = &node.node else { return Ok(text) };
    if cast.type_name.as_ref().is_none_or(|name| names::of_type(name).1 != "interval") {
        return Ok(text);
    }
    const MICROSECONDS_OF_AN_HOUR: f64 = 3_600_000_000.0;
    let refused = |unit| {
        let message = format!("invalid value for parameter \"TimeZone\": \"{text}\"");
        Err(Error::new(Condition::InvalidParameterValue, message)
            .detail(format!("Cannot specify {unit} in time zone interval.")))
    };
    let interval = Interval::parse(&text)?;
    match (interval.months, interval.days) {
        (0, 0) => Ok((interval.micros as f64 / MICROSECONDS_OF_AN_HOUR).to_string()),
        (0, _) => refused("days"),
        _ => refused("months"),
    }
}

/// The value of SET: a list is joined as PostgreSQL joins it.
fn setting(args: &[Node]) -> String {
    let part = |arg| {
        let text = text_of(Some(arg));
        let plain = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        // A list of names keeps what quotes would have kept.
        if args.len() == 1 || plain { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    args.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// A constant of an option as text.
pub(super) fn text_of(node: Option<&Node>) -> String {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::AConst(constant)) => match &constant.val {
            Some(pg::a_const::Val::Ival(value)) => value.ival.to_string(),
            Some(pg::a_const::Val::Fval(value)) => value.fval.clone(),
            Some(pg::a_const::Val::Boolval(value)) => on_off(value.boolval),
            Some(pg::a_const::Val::Sval(value)) => value.sval.clone(),
            Some(pg::a_const::Val::Bsval(value)) => value.bsval.clone(),
            None => String::new(),
        },
        Some(N::String(value)) => value.sval.clone(),
        Some(N::Integer(value)) => value.ival.to_string(),
        Some(N::Float(value)) => value.fval.clone(),
        Some(N::Boolean(value)) => on_off(value.boolval),
        Some(N::TypeName(name)) => names::of_type(name).1.to_owned(),
        // SET TIME ZONE INTERVAL '…', and the typed strings of time zones.
        Some(N::TypeCast(cast)) => text_of(cast.arg.as_deref()),
        Some(N::List(list)) => setting(&list.items),
        _ => String::new(),
    }
}

/// A boolean in the words of settings.
fn on_off(value: bool) -> String {
    if value { "on" } else { "off" }.to_owned()
}

pub(super) fn is_true(node: Option<&Node>) -> bool {
    matches!(text_of(node).to_ascii_lowercase().as_str(), "true" | "on" | "1" | "yes")
}

/// PostgreSQL lets a cursor go back without being asked to where that costs nothing: over a table, or over sorted rows.
fn scrolls_by_itself(query: &crate::ir::Query) -> bool {
    use crate::ir::{Body, Distinct, ExprKind, From, GroupBy, walk};
    if !query.locking.is_empty() {
        return false;
    }
    if !query.order_by.is_empty() {
        return true;
    }
    let Body::Select(select) = &query.body else { return false };
    let mut computed = false;
    for item in &select.items {
        walk::expr(item, &mut |expr| {
            computed |= matches!(expr.kind, ExprKind::Aggregate(_) | ExprKind::Window(_));
            !computed
        });
    }
    let plain = matches!(select.distinct, Distinct::All) && matches!(select.group_by, GroupBy::None);
    plain && !computed && query.ctes.is_empty() && matches!(select.from, Some(From::Relation { .. }))
}
