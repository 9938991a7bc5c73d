//! The tables that a statement uses, and the locks that it takes on them by itself.

use std::sync::Arc;

use super::lock::LockMode;
use super::{
    Body, ConflictAction, Cte, CteBody, CteId, Ddl, Dml, DmlAction, Expr, ExprKind, From, InsertSource, ObjectKind,
    PolicyChange, Query, RelId, RuleChange, Statement, TriggerChange, Value, walk,
};
use crate::schema::{QualifiedName, Relation, RelationKind};
use foldhash::HashMap;

/// A table and the lock that a statement takes on it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableLock {
    /// The table.
    pub relation: Arc<Relation>,
    /// How.
    pub mode: LockMode,
}

/// Objects that a change of the schema names, and the lock that it takes on their tables.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationLocks {
    /// Tables, or indexes of them.
    pub names: Vec<QualifiedName>,
    /// How.
    pub mode: LockMode,
}

/// What a statement drops.
pub fn named_locks(statement: &Statement) -> Option<RelationLocks> {
    match statement {
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::Drop(drop)
                if matches!(drop.kind, ObjectKind::Table | ObjectKind::MaterializedView | ObjectKind::Index) =>
            {
                Some(RelationLocks { names: drop.names.clone(), mode: LockMode::AccessExclusive })
            }
            _ => None,
        },
        _ => None,
    }
}

/// True when an UPDATE changes a column of a unique index or an identity: then its rows are locked as a DELETE's are.
pub fn changes_keys(statement: &Statement) -> bool {
    let changes = |dml: &Dml| {
        let changed: Vec<usize> = match &dml.action {
            DmlAction::Update { assignments, .. } => assignments.iter().map(|(at, _)| *at).collect(),
            DmlAction::Insert { on_conflict: Some(conflict), .. } => match &conflict.action {
                ConflictAction::Update { assignments, .. } => assignments.iter().map(|(at, _)| *at).collect(),
                ConflictAction::Nothing => Vec::new(),
            },
            DmlAction::Insert { .. } | DmlAction::Delete { .. } => Vec::new(),
        };
        // A member of a family has the changed columns elsewhere.
        let changes_key_of = |table: &Relation| {
            let unique = table.indexes.iter().filter(|index| index.unique);
            let keys: Vec<usize> = unique.flat_map(|index| index.columns.iter().flatten().copied()).collect();
            changed.iter().any(|at| {
                let Some(column) = dml.target.columns.get(*at) else { return false };
                let own = table.columns.iter().position(|known| known.name == column.name);
                own.is_some_and(|own| keys.contains(&own) || table.columns[own].row_identity)
            })
        };
        changes_key_of(&dml.target)
            || dml.family.iter().flat_map(|family| &family.members).any(|member| changes_key_of(member))
    };
    match statement {
        Statement::Dml(dml) => changes(dml),
        Statement::Merge(merge) => merge.changes().any(changes),
        _ => false,
    }
}

/// The table in which a statement numbers rows otherwise than by the sequence that numbers its identities.
pub fn numbered_by_hand(statement: &Statement) -> Option<u32> {
    let of = |dml: &Dml| {
        let numbered = |column: &crate::schema::Column| column.row_identity && column.numbering().is_some();
        let at = dml.target.columns.iter().position(numbered)?;
        let by_hand = match &dml.action {
            DmlAction::Insert { columns, source, .. } => {
                columns.iter().position(|column| *column == at).is_some_and(|place| match source {
                    InsertSource::Defaults => false,
                    InsertSource::Values(rows) => rows.iter().any(|row| row.get(place).and_then(next_of).is_none()),
                    InsertSource::Query(query) => match &query.body {
                        Body::Select(select) => select.items.get(place).and_then(next_of).is_none(),
                        _ => true,
                    },
                })
            }
            DmlAction::Update { assignments, .. } => assignments.iter().any(|(changed, _)| *changed == at),
            DmlAction::Delete { .. } => false,
        };
        by_hand.then_some(dml.target.oid)
    };
    match statement {
        Statement::Dml(dml) => of(dml),
        Statement::Merge(merge) => merge.changes().find_map(of),
        _ => None,
    }
}

/// The sequence whose next number a value is, under whatever casts.
pub fn next_of(value: &Expr) -> Option<u32> {
    match &value.kind {
        ExprKind::Cast { arg, .. } => next_of(arg),
        ExprKind::Call { function, args } if function.name == "nextval" => match args.first()?.kind {
            ExprKind::Literal(Value::Integer(oid)) => u32::try_from(oid).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// True for a statement that asks a sequence for a number.
pub fn asks_sequences(statement: &Statement) -> bool {
    let asks = |expr: &Expr| match &expr.kind {
        ExprKind::Call { function, .. } => {
            matches!(function.name, "ifx_nextval" | "ifx_currval" | "nextval" | "currval" | "lastval" | "setval")
        }
        _ => false,
    };
    let mut found = false;
    super::walk::statement(statement, &mut |expr| {
        found |= asks(expr);
        !found
    });
    found
}

/// The sequences that number the rows of an INSERT.
pub fn numbering(statement: &Statement) -> Vec<u32> {
    let Statement::Dml(dml) = statement else { return Vec::new() };
    let DmlAction::Insert { source, .. } = &dml.action else { return Vec::new() };
    match source {
        InsertSource::Defaults => Vec::new(),
        InsertSource::Values(rows) => rows.first().into_iter().flatten().filter_map(next_of).collect(),
        InsertSource::Query(query) => match &query.body {
            Body::Select(select) => select.items.iter().filter_map(next_of).collect(),
            _ => Vec::new(),
        },
    }
}

/// Tables of which a statement changes rows that cannot be told one by one: those without identities, those that it empties,
/// those whose identities it changes.
pub fn changes_whole(statement: &Statement) -> Vec<u32> {
    let whole = |dml: &Dml| {
        let numbered = |assignments: &[(usize, Expr)]| {
            assignments.iter().any(|(at, _)| dml.target.columns.get(*at).is_some_and(|column| column.row_identity))
        };
        !dml.target.is_temporary()
            && match &dml.action {
                DmlAction::Insert { on_conflict, .. } => dml.target.without_identity && on_conflict.is_some(),
                DmlAction::Update { assignments, .. } => dml.target.without_identity || numbered(assignments),
                DmlAction::Delete { filter, using, .. } => {
                    dml.target.without_identity || (filter.is_none() && using.is_none())
                }
            }
    };
    let of = |dml: &Dml| whole(dml).then_some(dml.target.oid);
    let one_by_one = |dml: &Dml| match &dml.family {
        Some(family) => renumbered(dml, family),
        None => of(dml).into_iter().collect(),
    };
    match statement {
        Statement::Dml(dml) => one_by_one(dml),
        // What it deletes is the row that is met.
        Statement::Merge(merge) => {
            let changes = merge.changes().filter(|dml| !matches!(dml.action, DmlAction::Delete { .. }));
            changes.flat_map(one_by_one).collect()
        }
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::Truncate { tables, .. } => tables.iter().map(|table| table.oid).collect(),
            Ddl::AlterTable { table, heirs, .. } => {
                std::iter::once(table).chain(heirs.iter().map(|(heir, _)| heir)).map(|table| table.oid).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The members of a family, whose rows are changed one by one, of which a change gives rows other identities.
fn renumbered(dml: &Dml, family: &super::Family) -> Vec<u32> {
    let DmlAction::Update { assignments, .. } = &dml.action else { return Vec::new() };
    let numbers = |member: &&Arc<Relation>| {
        let mut changed = assignments.iter().filter_map(|(at, _)| dml.target.columns.get(*at));
        changed.any(|column| member.columns.iter().any(|own| own.row_identity && own.name == column.name))
    };
    let members = family.members.iter().filter(|member| !member.is_temporary());
    members.filter(numbers).map(|member| member.oid).collect()
}

/// The tables that a statement uses, each once with the strongest of its locks, in the order of their ids: two
/// statements that take the same locks never wait for each other. Tables of the catalog are nobody's to lock, temporary
/// ones are seen by nobody else.
pub fn table_locks(statement: &Statement) -> Vec<TableLock> {
    let mut found = Found::default();
    found.statement(statement);
    found.locks.sort_by_key(|lock| lock.relation.oid);
    found.locks
}

/// What stands in a statement's FROM under a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// A table, or what else has rows of its own.
    Relation(Arc<Relation>),
    /// A member of WITH.
    Cte(String),
    /// A function.
    Function(&'static str),
}

/// The relations that a statement reads, by their numbers; subqueries have no name.
pub fn named_relations(statement: &Statement) -> HashMap<RelId, Named> {
    let mut found = Found::default();
    found.statement(statement);
    found.named
}

#[derive(Default)]
struct Found {
    locks: Vec<TableLock>,
    rows: Vec<u32>,
    named: HashMap<RelId, Named>,
    ctes: HashMap<CteId, String>,
}

impl Found {
    fn add(&mut self, relation: &Arc<Relation>, mode: LockMode) {
        if relation.kind == RelationKind::Catalog || relation.is_temporary() {
            return;
        }
        match self.locks.iter_mut().find(|lock| lock.relation.oid == relation.oid) {
            Some(lock) => lock.mode = lock.mode.max(mode),
            None => self.locks.push(TableLock { relation: relation.clone(), mode }),
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) | Statement::DeclareCursor { query, .. } => self.query(query),
            Statement::Dml(dml) => self.dml(dml),
            Statement::CreateTableAs(create) => self.query(&create.query),
            Statement::RefreshView(refresh) => {
                let mode = if refresh.concurrently { LockMode::Exclusive } else { LockMode::AccessExclusive };
                self.add(&refresh.view, mode);
                refresh.query.iter().for_each(|query| self.query(query));
            }
            Statement::Merge(merge) => {
                self.ctes(&merge.ctes);
                self.named.insert(merge.id, Named::Relation(merge.target.clone()));
                self.add(&merge.target, LockMode::RowExclusive);
                for member in merge.family.iter().flat_map(|family| &family.members) {
                    self.add(member, LockMode::RowExclusive);
                }
                self.from(&merge.source);
                merge.changes().for_each(|dml| self.dml(dml));
            }
            Statement::Explain(explain) => self.statement(&explain.statement),
            Statement::Copy(copy) => {
                if let Some(query) = &copy.to {
                    self.query(query);
                }
                if let Some(dml) = &copy.from {
                    self.dml(dml);
                }
            }
            Statement::CallRoutine(call) => {
                if let Some(query) = &call.args {
                    self.query(query);
                }
            }
            Statement::Ddl(ddl) => self.ddl(ddl),
            _ => {}
        }
        // Queries inside expressions.
        walk::statement(statement, &mut |expr| {
            if let Some(query) = expr.kind.query() {
                self.query(query);
            }
            true
        });
    }

    fn ddl(&mut self, ddl: &Ddl) {
        match ddl {
            Ddl::AlterTable { table, heirs, .. } => {
                self.add(table, LockMode::AccessExclusive);
                heirs.iter().for_each(|(heir, _)| self.add(heir, LockMode::AccessExclusive));
            }
            Ddl::CreateTable(create) => {
                create.parents.iter().for_each(|parent| self.add(parent, LockMode::ShareUpdateExclusive));
            }
            Ddl::Partition(change) => {
                self.add(&change.parent, LockMode::ShareUpdateExclusive);
                self.add(&change.partition, LockMode::AccessExclusive);
            }
            Ddl::CreateIndex(index) => self.add(&index.table, LockMode::Share),
            Ddl::Truncate { tables, .. } => {
                for table in tables {
                    self.add(table, LockMode::AccessExclusive);
                }
            }
            Ddl::Policy(change) => self.add(
                &change.table,
                match change.change {
                    PolicyChange::Comment(..) => LockMode::ShareUpdateExclusive,
                    _ => LockMode::AccessExclusive,
                },
            ),
            Ddl::Rule(change) => self.add(
                &change.relation,
                match change.change {
                    RuleChange::Comment(..) => LockMode::ShareUpdateExclusive,
                    _ => LockMode::AccessExclusive,
                },
            ),
            Ddl::Trigger(change) => self.add(
                &change.relation,
                match change.change {
                    TriggerChange::Create { .. } | TriggerChange::Actions { .. } => LockMode::ShareRowExclusive,
                    TriggerChange::Comment(..) => LockMode::ShareUpdateExclusive,
                    TriggerChange::Drop(_) | TriggerChange::Rename(..) => LockMode::AccessExclusive,
                },
            ),
            Ddl::Comment { relation, .. } | Ddl::CommentPart { relation, .. } => {
                self.add(relation, LockMode::ShareUpdateExclusive)
            }
            // What these drop is named, not resolved: the engine looks it up.
            _ => {}
        }
    }

    fn dml(&mut self, dml: &Dml) {
        self.ctes(&dml.ctes);
        self.named.insert(dml.id, Named::Relation(dml.target.clone()));
        self.add(&dml.target, LockMode::RowExclusive);
        for member in dml.family.iter().flat_map(|family| &family.members) {
            self.add(member, LockMode::RowExclusive);
        }
        for member in dml.routing.iter().flat_map(|routing| &routing.members) {
            self.add(member, LockMode::RowExclusive);
        }
        self.optional(dml.view.as_deref());
        match &dml.action {
            DmlAction::Insert { source: InsertSource::Query(query), .. } => self.query(query),
            DmlAction::Insert { .. } => {}
            DmlAction::Update { from, .. } => self.optional(from.as_ref()),
            DmlAction::Delete { using, .. } => self.optional(using.as_ref()),
        }
    }

    fn optional(&mut self, from: Option<&From>) {
        if let Some(from) = from {
            self.from(from);
        }
    }

    fn ctes(&mut self, ctes: &[Cte]) {
        for cte in ctes {
            self.ctes.insert(cte.id, cte.name.clone());
            match &cte.body {
                CteBody::Query(query) => self.query(query),
                CteBody::Dml(dml) => self.dml(dml),
            }
        }
    }

    fn query(&mut self, query: &Query) {
        self.ctes(&query.ctes);
        for lock in &query.locking {
            if lock.whole {
                let shared = lock.mode <= LockMode::RowShare;
                self.add(&lock.relation, if shared { LockMode::Share } else { LockMode::Exclusive });
                continue;
            }
            self.add(&lock.relation, LockMode::RowShare);
            self.rows.push(lock.relation.oid);
        }
        match &query.body {
            Body::Select(select) => self.optional(select.from.as_ref()),
            Body::Set { left, right, .. } => {
                self.query(left);
                self.query(right);
            }
            Body::Values(_) => {}
        }
    }

    fn from(&mut self, from: &From) {
        match from {
            From::Relation { id, relation, .. } => {
                self.named.insert(*id, Named::Relation(relation.clone()));
                self.add(relation, LockMode::AccessShare);
            }
            From::Query { query, .. } => self.query(query),
            From::Join { left, right, .. } => {
                self.from(left);
                self.from(right);
            }
            From::Cte { id, cte, .. } => {
                if let Some(name) = self.ctes.get(cte) {
                    self.named.insert(*id, Named::Cte(name.clone()));
                }
            }
            From::Function { id, function, .. } => {
                self.named.insert(*id, Named::Function(function.name));
            }
            From::Kept { .. } => {}
        }
    }
}

/// The tables whose rows a statement locks by FOR UPDATE and its kin, each once.
pub fn row_locks(statement: &Statement) -> Vec<u32> {
    let mut found = Found::default();
    found.statement(statement);
    found.rows.sort_unstable();
    found.rows.dedup();
    found.rows
}
