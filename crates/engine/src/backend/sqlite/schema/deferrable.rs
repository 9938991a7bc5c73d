//! UNIQUE … DEFERRABLE and EXCLUDE: an index that lets rows be alike, and a trigger that looks for such rows when it is
//! time.

use std::sync::Arc;

use rowferry_dialect::exclusion::Exclusion;
use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerState, TriggerTime};
use rowferry_dialect::postgres::quote;
use rowferry_dialect::schema::{ConstraintTrigger, Index, Relation, Trigger};

use crate::catalog::describe::constraint_oid;

/// The triggers of a table's deferrable keys. As PostgreSQL's do, they become due for a row that shares its key when it is
/// written, and find out at the end whether it still does.
pub(super) fn triggers(relation: &Relation) -> impl Iterator<Item = Arc<Trigger>> + '_ {
    relation.indexes.iter().filter_map(|index| trigger(relation, index)).map(Arc::new)
}

fn trigger(relation: &Relation, index: &Index) -> Option<Trigger> {
    if let Some(exclusion) = &index.exclusion {
        return Some(of_exclusion(index, exclusion));
    }
    let deferred = index.deferred?;
    let columns = index.columns.iter().flatten().map(|column| quote(&relation.columns[*column].name));
    let alike: Vec<String> = columns.map(|column| format!("alike.{column} = new.{column}")).collect();
    let table = format!("{}.{}", quote(&relation.namespace), quote(&relation.name));
    let oid = constraint_oid(index);
    Some(Trigger {
        oid,
        name: format!("PK_ConstraintTrigger_{oid}"),
        function: 0,
        time: TriggerTime::After,
        level: TriggerLevel::Row,
        events: TriggerEvent::Insert.bit() | TriggerEvent::Update.bit(),
        columns: Vec::new(),
        condition: Some(format!("exists (select from {table} as alike where {} offset 1)", alike.join(" and "))),
        args: Vec::new(),
        old_table: None,
        new_table: None,
        constraint: Some(ConstraintTrigger { deferrable: true, deferred, from: 0 }),
        state: TriggerState::Origin,
        comment: None,
        key: Some(index.name.clone()),
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
        key: Some(index.name.clone()),
    }
}
