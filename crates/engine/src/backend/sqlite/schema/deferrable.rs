//! UNIQUE … DEFERRABLE and EXCLUDE: an index that lets rows be alike, and a trigger that looks for such rows when it is
//! time. Foreign keys of the engine: a trigger that looks for what a row refers to.

use std::sync::Arc;

use rowferry_dialect::exclusion::Exclusion;
use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerState, TriggerTime};
use rowferry_dialect::postgres::quote_ident as quote;
use rowferry_dialect::schema::{ConstraintTrigger, ForeignKey, Index, Relation, Trigger, TriggerKey};

use crate::catalog::describe::constraint_oid;

/// The triggers of a table's deferrable keys. As PostgreSQL's do, they become due for a row that shares its key when it is
/// written, and find out at the end whether it still does.
pub(super) fn triggers(relation: &Relation) -> impl Iterator<Item = Arc<Trigger>> + '_ {
    let of_indexes = relation.indexes.iter().filter_map(|index| trigger(relation, index));
    // A partitioned table has no rows that refer to anything.
    let keys = relation.foreign_keys.iter().filter(|key| key.by_engine && !relation.is_partitioned());
    of_indexes.chain(keys.map(of_foreign_key)).map(Arc::new)
}

/// The trigger of a foreign key at the table that refers.
fn of_foreign_key(key: &ForeignKey) -> Trigger {
    let deferrable = key.rules.deferrable || key.rules.deferred;
    Trigger {
        oid: key.oid,
        name: format!("RI_ConstraintTrigger_c_{}", key.oid),
        function: 0,
        time: TriggerTime::After,
        level: TriggerLevel::Row,
        events: TriggerEvent::Insert.bit() | TriggerEvent::Update.bit(),
        columns: Vec::new(),
        condition: None,
        args: Vec::new(),
        old_table: None,
        new_table: None,
        constraint: deferrable.then_some(ConstraintTrigger { deferrable, deferred: key.rules.deferred, from: 0 }),
        state: if key.disabled.here { TriggerState::Disabled } else { TriggerState::Origin },
        comment: None,
        key: Some(TriggerKey::Refers(key.oid)),
    }
}

fn trigger(relation: &Relation, index: &Index) -> Option<Trigger> {
    if let Some(exclusion) = &index.exclusion {
        return Some(of_exclusion(index, exclusion));
    }
    let deferred = index.deferred?;
    let columns = index.columns.iter().flatten().map(|column| quote(&relation.columns[*column].name));
    let alike: Vec<String> = columns.map(|column| format!("alike.{column} = new.{column}")).collect();
    let table = format!("{}.{}", quote(&relation.namespace), quote(&relation.name));
    // A key is of a table's own rows, and not of its heirs'; a partitioned table's are those of its partitions.
    let only = if relation.is_partitioned() { "" } else { "only " };
    let oid = constraint_oid(index);
    Some(Trigger {
        oid,
        name: format!("PK_ConstraintTrigger_{oid}"),
        function: 0,
        time: TriggerTime::After,
        level: TriggerLevel::Row,
        events: TriggerEvent::Insert.bit() | TriggerEvent::Update.bit(),
        columns: Vec::new(),
        condition: Some(format!("exists (select from {only}{table} as alike where {} offset 1)", alike.join(" and "))),
        args: Vec::new(),
        old_table: None,
        new_table: None,
        constraint: Some(ConstraintTrigger { deferrable: true, deferred, from: 0 }),
        state: TriggerState::Origin,
        comment: None,
        key: Some(TriggerKey::Index(index.name.clone())),
    })
}

/// The trigger of an EXCLUDE: the session itself knows what to ask. Replicas keep it, too.
fn of_exclusion(index: &Index, exclusion: &Exclusion) -> Trigger {
    let oid = constraint_oid(index);
    Trigger {
        oid,
        name: format!("PK_ConstraintTrigger_{oid}"),
        function: 0,
        time: TriggerTime::After,
        level: TriggerLevel::Row,
        events: TriggerEvent::Insert.bit() | TriggerEvent::Update.bit(),
        columns: Vec::new(),
        condition: None,
        args: Vec::new(),
        old_table: None,
        new_table: None,
        constraint: exclusion.deferred.map(|deferred| ConstraintTrigger { deferrable: true, deferred, from: 0 }),
        state: TriggerState::Always,
        comment: None,
        key: Some(TriggerKey::Index(index.name.clone())),
    }
}
