//! Statements that are neither queries nor changes of data or schema: transactions, settings, cursors and their kin.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::binder::{Binder, Clause, computed};
use super::names;
use crate::ir::{
    Discard, Explain, ExplainFormat, FetchDirection, Isolation, LockMode, LockTable, Notify, SetVariable, Statement,
    Transaction, TransactionModes,
};
use crate::plan::ResultColumn;
use crate::schema::QualifiedName;
use crate::values::Interval;
use crate::{Condition, Error, Result, Type};

/// Options of DECLARE that matter here (`CURSOR_OPT_*` of PostgreSQL's parsenodes.h).
const CURSOR_BINARY: i32 = 0x0001;
/// NO SCROLL.
const CURSOR_NO_SCROLL: i32 = 0x0004;
const CURSOR_SCROLL: i32 = 0x0002;
const CURSOR_HOLD: i32 = 0x0020;

impl Binder<'_> {
    /// The arguments of EXECUTE.
    pub(super) fn arguments_of_execute(&mut self, execute: &pg::ExecuteStmt) -> Result<Vec<crate::ir::Expr>> {
        let args = self.within(Clause::Execute, |binder| binder.placed_all(&execute.params))?;
        args.into_iter().map(|(arg, location)| self.settle(arg, location)).collect()
    }

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
                let args = self.arguments_of_execute(execute)?;
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
                Ok(Some((
                    Statement::Explain(Box::new(explain)),
                    vec![computed(if self.is_mysql() { "EXPLAIN" } else { "QUERY PLAN" }, ty)],
                )))
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
            N::LoadStmt(load) => {
                let name = load.filename.rsplit('/').next().unwrap_or_default();
                match name.strip_suffix(".so").unwrap_or(name) {
                    // What it brings is there: see its settings.
                    "auto_explain" => plain(Statement::Nothing { tag: "LOAD" }),
                    _ => Err(Error::unsupported(format!("LOAD of {}", load.filename))),
                }
            }
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
                "TRANSACTION SNAPSHOT" => {
                    self.effects.transaction = true;
                    let id = text_of(statement.args.first());
                    Statement::Transaction(Transaction::ImportSnapshot(id))
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
