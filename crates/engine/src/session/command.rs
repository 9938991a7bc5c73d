//! What the completion of a statement is called.

use rowferry_dialect::Language;
use rowferry_dialect::ir::{
    AlterTable, Ddl, DmlAction, Maintenance, ObjectKind, Part, PolicyChange, RoutineKind, RuleChange, Statement,
    Transaction, TriggerChange, TriggerEvent,
};
use rowferry_dialect::plan::Command;

/// The word with which a statement's completion is reported.
pub(super) fn command(statement: &Statement) -> Command {
    let words = match statement {
        Statement::Query(_) => return Command::Select,
        Statement::Dml(dml) => {
            return match dml.action {
                DmlAction::Insert { .. } => Command::Insert,
                DmlAction::Update { .. } => Command::Update,
                DmlAction::Delete { .. } => Command::Delete,
            };
        }
        Statement::Rewritten(rewritten) => {
            return match rewritten.event {
                TriggerEvent::Insert => Command::Insert,
                TriggerEvent::Update => Command::Update,
                TriggerEvent::Delete | TriggerEvent::Truncate => Command::Delete,
            };
        }
        Statement::CreateTableAs(create) if create.no_data && create.definition.is_some() => "CREATE MATERIALIZED VIEW",
        Statement::CreateTableAs(create) if create.no_data => "CREATE TABLE AS",
        Statement::RefreshView(_) => "REFRESH MATERIALIZED VIEW",
        Statement::CreateTableAs(_) | Statement::CreateTableOfPrepared(_) => return Command::Select,
        // Informix counts rows as an UPDATE's.
        Statement::Merge(merge) => {
            return match merge.language {
                Language::Informix => Command::Update,
                _ => Command::Merge,
            };
        }
        Statement::Copy(_) => return Command::Copy,
        Statement::Fetch { no_rows: true, .. } => return Command::Move,
        Statement::Fetch { .. } => return Command::Fetch,
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::CreateTable(_) => "CREATE TABLE",
            Ddl::CreateIndex(_) => "CREATE INDEX",
            Ddl::CreateView(_) => "CREATE VIEW",
            Ddl::CreateSequence(_) => "CREATE SEQUENCE",
            Ddl::CreateSchema { .. } => "CREATE SCHEMA",
            Ddl::CreateSynonym { .. } => "CREATE SYNONYM",
            Ddl::AlterSequence { .. } => "ALTER SEQUENCE",
            Ddl::Rename { tag, .. } | Ddl::SetSchema { tag, .. } => tag,
            Ddl::AlterTable { actions, .. }
                if actions
                    .iter()
                    .all(|action| matches!(action, AlterTable::SetProperty { part: Part::Index(_), .. })) =>
            {
                "ALTER INDEX"
            }
            Ddl::AlterTable { table, .. } if table.is_materialized() => "ALTER MATERIALIZED VIEW",
            Ddl::AlterTable { .. } | Ddl::Partition(_) => "ALTER TABLE",
            Ddl::AlterView { tag, .. } => tag,
            Ddl::Access { tag, .. } => tag,
            Ddl::Truncate { .. } => "TRUNCATE TABLE",
            Ddl::Rule(change) => match change.change {
                RuleChange::Create(_) => "CREATE RULE",
                RuleChange::Drop(_) => "DROP RULE",
                RuleChange::Rename(..) => "ALTER RULE",
                RuleChange::Comment(..) => "COMMENT",
            },
            Ddl::Policy(change) => match change.change {
                PolicyChange::Create { .. } => "CREATE POLICY",
                PolicyChange::Alter(..) | PolicyChange::Rename(..) => "ALTER POLICY",
                PolicyChange::Drop(_) => "DROP POLICY",
                PolicyChange::Comment(..) => "COMMENT",
            },
            Ddl::Trigger(change) => match &change.change {
                TriggerChange::Actions { made, .. } if made.is_empty() => "DROP TRIGGER",
                TriggerChange::Create { .. } | TriggerChange::Actions { .. } => "CREATE TRIGGER",
                TriggerChange::Drop(_) => "DROP TRIGGER",
                TriggerChange::Rename(..) => "ALTER TRIGGER",
                TriggerChange::Comment(..) => "COMMENT",
            },
            Ddl::Comment { .. } | Ddl::CommentPart { .. } | Ddl::CommentObject { .. } | Ddl::CommentSequence { .. } => {
                "COMMENT"
            }
            Ddl::CreateRoutine(_) => "CREATE FUNCTION",
            Ddl::DropRoutine(_) => "DROP FUNCTION",
            Ddl::CreateFunction(create) => match create.kind {
                RoutineKind::Function => "CREATE FUNCTION",
                RoutineKind::Procedure => "CREATE PROCEDURE",
                RoutineKind::Aggregate => "CREATE AGGREGATE",
            },
            Ddl::AlterFunction(alter) => alter.tag,
            Ddl::DropFunctions { tag, .. } => tag,
            Ddl::UserType(change) => change.tag(),
            Ddl::Extension(change) => change.tag(),
            Ddl::Collation(change) => change.tag(),
            Ddl::Search(change) => change.tag(),
            Ddl::Operator(change) => change.tag(),
            Ddl::Cast(change) => change.tag(),
            Ddl::Statistics(change) => change.tag(),
            Ddl::CreateAggregate(_) => "CREATE AGGREGATE",
            Ddl::DropAggregate { .. } => "DROP AGGREGATE",
            Ddl::CreateInformixCast(_) => "CREATE CAST",
            Ddl::DropInformixCast { .. } => "DROP CAST",
            Ddl::CreateType(_) => "CREATE TYPE",
            Ddl::DropType { .. } => "DROP TYPE",
            Ddl::Drop(drop) => match drop.kind {
                ObjectKind::Index => "DROP INDEX",
                ObjectKind::MaterializedView => "DROP MATERIALIZED VIEW",
                ObjectKind::Schema => "DROP SCHEMA",
                ObjectKind::Sequence => "DROP SEQUENCE",
                ObjectKind::Synonym => "DROP SYNONYM",
                ObjectKind::Table => "DROP TABLE",
                ObjectKind::View => "DROP VIEW",
            },
        },
        Statement::Transaction(transaction) => match transaction {
            Transaction::Begin(_) => "BEGIN",
            Transaction::Start(_) => "START TRANSACTION",
            Transaction::Commit { .. } => "COMMIT",
            Transaction::Rollback { .. } | Transaction::RollbackTo(_) => "ROLLBACK",
            Transaction::Savepoint(_) => "SAVEPOINT",
            Transaction::Release(_) => "RELEASE",
            Transaction::SetModes { .. } | Transaction::ImportSnapshot(_) => "SET",
        },
        Statement::Set(set) if set.reset => "RESET",
        Statement::Set(_) => "SET",
        Statement::Show(_) => "SHOW",
        Statement::Explain(_) => "EXPLAIN",
        Statement::Prepare { .. } => "PREPARE",
        Statement::ExecutePrepared { .. } => "EXECUTE",
        Statement::Deallocate(None) => "DEALLOCATE ALL",
        Statement::Deallocate(_) => "DEALLOCATE",
        Statement::DeclareCursor { .. } => "DECLARE CURSOR",
        Statement::CloseCursor(None) => "CLOSE CURSOR ALL",
        Statement::CloseCursor(_) => "CLOSE CURSOR",
        Statement::Discard(rowferry_dialect::ir::Discard::All) => "DISCARD ALL",
        Statement::Discard(rowferry_dialect::ir::Discard::Plans) => "DISCARD PLANS",
        Statement::Discard(rowferry_dialect::ir::Discard::Sequences) => "DISCARD SEQUENCES",
        Statement::Discard(rowferry_dialect::ir::Discard::Temp) => "DISCARD TEMP",
        Statement::Notify(rowferry_dialect::ir::Notify::Listen(_)) => "LISTEN",
        Statement::Notify(rowferry_dialect::ir::Notify::Unlisten(_)) => "UNLISTEN",
        Statement::Notify(rowferry_dialect::ir::Notify::Notify(..)) => "NOTIFY",
        Statement::CallRoutine(_) => "EXECUTE FUNCTION",
        Statement::CallProcedure(_) => "CALL",
        Statement::Do(_) => "DO",
        Statement::Lock(_) => "LOCK TABLE",
        Statement::Maintain(Maintenance::Analyze { .. }) => "ANALYZE",
        Statement::Maintain(Maintenance::Checkpoint) => "CHECKPOINT",
        Statement::Maintain(Maintenance::Reindex { .. }) => "REINDEX",
        Statement::Maintain(Maintenance::Vacuum { .. }) => "VACUUM",
        Statement::Database(change) => change.tag(),
        Statement::SetConstraints { .. } => "SET CONSTRAINTS",
        Statement::Nothing { tag } => tag,
    };
    Command::Utility(words)
}
