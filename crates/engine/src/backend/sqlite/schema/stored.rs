//! The rows of the metadata tables, as they are read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rowferry_dialect::Language;
use rowferry_dialect::access::PUBLIC;
use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerState, TriggerTime};
use rowferry_dialect::pins::Pins;
use rowferry_dialect::schema::{
    ConstraintTrigger, Policy, PolicyCommand, Relation, RowSecurity, Rule, Trigger, ViewOptions,
};
use rowferry_dialect::uses::Dependency;
use rusqlite::{Connection, Result};

use super::load::count_row;
use super::metadata;
use crate::schema::Properties;

/// The metadata tables' rows.
#[derive(Default)]
pub(super) struct Metadata {
    pub(super) objects: BTreeMap<u32, Object>,
    pub(super) by_physical_name: HashMap<(String, String), u32>,
    pub(super) columns: HashMap<u32, Vec<ColumnRow>>,
    pub(super) constraints: HashMap<u32, Vec<ConstraintRow>>,
    pub(super) sequences: BTreeMap<u32, SequenceRow>,
    pub(super) needs: HashMap<u32, Vec<Dependency>>,
    pub(super) properties: HashMap<u32, Properties>,
    pub(super) triggers: HashMap<u32, Vec<TriggerRow>>,
    pub(super) policies: HashMap<u32, Vec<Arc<Policy>>>,
    /// Rules by their relation.
    pub(super) rules: HashMap<u32, Vec<Arc<Rule>>>,
}

pub(super) struct TriggerRow {
    pub(super) name: String,
    pub(super) oid: u32,
    pub(super) function: u32,
    pub(super) time: String,
    pub(super) level: String,
    pub(super) events: String,
    pub(super) columns: Option<String>,
    pub(super) condition: Option<String>,
    pub(super) arguments: Option<String>,
    pub(super) old_table: Option<String>,
    pub(super) new_table: Option<String>,
    pub(super) checked: Option<String>,
    pub(super) referenced: Option<u32>,
    pub(super) enabled: String,
    pub(super) comment: Option<String>,
}

pub(super) struct Object {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) physical_name: Option<String>,
    pub(super) language: Language,
    pub(super) definition: Option<String>,
    pub(super) comment: Option<String>,
}

pub(super) struct ColumnRow {
    pub(super) name: String,
    pub(super) ty: Option<String>,
    pub(super) default_text: Option<String>,
    pub(super) identity: Option<String>,
    pub(super) sequence: Option<String>,
    pub(super) generated: Option<String>,
    pub(super) comment: Option<String>,
}

pub(super) struct ConstraintRow {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) text: Option<String>,
    pub(super) sql: Option<String>,
}

pub(super) struct SequenceRow {
    pub(super) ty: String,
    pub(super) start: i64,
    pub(super) increment: i64,
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) cycle: bool,
    pub(super) cache: i64,
    pub(super) stamp: i64,
    pub(super) owner_table: Option<String>,
    pub(super) owner_column: Option<String>,
}

/// Reads rows of a metadata table: all, or those of some objects.
fn each_row(
    connection: &Connection,
    query: &str,
    order: &str,
    only: Option<&BTreeSet<u32>>,
    mut visit: impl FnMut(&rusqlite::Row<'_>) -> Result<()>,
) -> Result<()> {
    let filter = if only.is_some() { "WHERE oid = ?1" } else { "WHERE ?1 IS NULL" };
    let mut statement = connection.prepare_cached(&format!("{query} {filter} ORDER BY {order}"))?;
    let mut visit_all = |oid: Option<u32>| -> Result<()> {
        let mut rows = statement.query([oid])?;
        while let Some(row) = rows.next()? {
            count_row();
            visit(row)?;
        }
        Ok(())
    };
    match only {
        Some(oids) => oids.iter().try_for_each(|oid| visit_all(Some(*oid))),
        None => visit_all(None),
    }
}

impl Metadata {
    pub(super) fn load(connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<Self> {
        let mut metadata = Self::default();
        if only.is_some_and(BTreeSet::is_empty) || !metadata::exist(connection, database)? {
            return Ok(metadata);
        }
        let query = format!(
            "SELECT oid, kind, namespace, name, physical_name, language, definition, comment FROM {database}.rowferry_objects"
        );
        each_row(connection, &query, "oid", only, |row| {
            let oid = row.get(0)?;
            let language: String = row.get(5)?;
            let object = Object {
                kind: row.get(1)?,
                namespace: row.get(2)?,
                name: row.get(3)?,
                physical_name: row.get(4)?,
                language: Language::from_name(&language).unwrap_or(Language::Native),
                definition: row.get(6)?,
                comment: row.get(7)?,
            };
            if let Some(name) = &object.physical_name {
                metadata.by_physical_name.insert((object.kind.clone(), name.to_lowercase()), oid);
            }
            metadata.objects.insert(oid, object);
            Ok(())
        })?;
        metadata.load_parts(connection, database, only)?;
        if metadata::has_dependencies(connection, database)? {
            let query = format!("SELECT oid, target, target_column FROM {database}.rowferry_dependencies");
            each_row(connection, &query, "oid, target, target_column", only, |row| {
                let (target, column): (u32, String) = (row.get(1)?, row.get(2)?);
                let needs = metadata.needs.entry(row.get(0)?).or_default();
                // A row of nothing says that there is nothing else to say.
                if target != 0 {
                    needs.push((target, (!column.is_empty()).then_some(column)));
                }
                Ok(())
            })?;
        }
        if metadata::has_properties(connection, database)? {
            let query = format!("SELECT oid, part, name, value FROM {database}.rowferry_properties");
            each_row(connection, &query, "oid, part, name", only, |row| {
                let (part, name): (String, String) = (row.get(1)?, row.get(2)?);
                metadata.properties.entry(row.get(0)?).or_default().insert(&part, &name, row.get(3)?);
                Ok(())
            })?;
        }
        if metadata::has_triggers(connection, database)? {
            metadata.load_triggers(connection, database, only)?;
        }
        if metadata::has_policies(connection, database)? {
            metadata.load_policies(connection, database, only)?;
        }
        if metadata::has_rules(connection, database)? {
            metadata.load_rules(connection, database, only)?;
        }
        Ok(metadata)
    }

    fn load_triggers(&mut self, connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<()> {
        let query = format!(
            "SELECT oid, name, trigger_oid, function, time, level, events, columns, condition, arguments, old_table,
                    new_table, checked, referenced, enabled, comment
             FROM {database}.rowferry_triggers"
        );
        each_row(connection, &query, "oid, name", only, |row| {
            self.triggers.entry(row.get(0)?).or_default().push(TriggerRow {
                name: row.get(1)?,
                oid: row.get(2)?,
                function: row.get(3)?,
                time: row.get(4)?,
                level: row.get(5)?,
                events: row.get(6)?,
                columns: row.get(7)?,
                condition: row.get(8)?,
                arguments: row.get(9)?,
                old_table: row.get(10)?,
                new_table: row.get(11)?,
                checked: row.get(12)?,
                referenced: row.get(13)?,
                enabled: row.get(14)?,
                comment: row.get(15)?,
            });
            Ok(())
        })
    }

    fn load_policies(&mut self, connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<()> {
        let query = format!(
            "SELECT oid, name, policy_oid, permissive, command, roles, using_text, check_text, needs, comment
             FROM {database}.rowferry_policies"
        );
        each_row(connection, &query, "oid, name", only, |row| {
            let (command, roles, needs): (String, String, String) = (row.get(4)?, row.get(5)?, row.get(8)?);
            // What somebody has damaged lets nobody through: it is for everybody, and nothing meets it.
            let read = PolicyCommand::from_word(&command)
                .zip(serde_json::from_str::<Vec<u32>>(&roles).ok())
                .zip(serde_json::from_str::<Vec<Dependency>>(&needs).ok());
            let policy = match read {
                Some(((command, roles), needs)) => Policy {
                    oid: row.get(2)?,
                    name: row.get(1)?,
                    permissive: row.get(3)?,
                    command,
                    roles,
                    using: row.get(6)?,
                    check: row.get(7)?,
                    comment: row.get(9)?,
                    needs,
                },
                None => Policy {
                    oid: row.get(2)?,
                    name: row.get(1)?,
                    permissive: false,
                    command: PolicyCommand::All,
                    roles: vec![PUBLIC],
                    using: Some("false".to_owned()),
                    check: None,
                    comment: None,
                    needs: Vec::new(),
                },
            };
            self.policies.entry(row.get(0)?).or_default().push(Arc::new(policy));
            Ok(())
        })
    }

    fn load_rules(&mut self, connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<()> {
        let query = format!(
            "SELECT oid, name, rule_oid, event, instead, condition, actions, enabled, needs, comment
             FROM {database}.rowferry_rules"
        );
        each_row(connection, &query, "oid, name", only, |row| {
            let (event, actions): (String, String) = (row.get(3)?, row.get(6)?);
            let (enabled, needs): (String, String) = (row.get(7)?, row.get(8)?);
            let event = TriggerEvent::ALL.into_iter().find(|known| known.words() == event);
            let read = event
                .zip(serde_json::from_str::<Vec<String>>(&actions).ok())
                .zip(TriggerState::from_letter(&enabled))
                .zip(serde_json::from_str::<Vec<Dependency>>(&needs).ok());
            // What somebody has damaged lets no change pass: its text cannot be read.
            let mut make = |event, ((actions, state), needs): ((Vec<String>, TriggerState), Vec<Dependency>)| {
                let rule = Rule {
                    oid: row.get(2)?,
                    name: row.get(1)?,
                    event,
                    instead: row.get(4)?,
                    condition: row.get(5)?,
                    actions,
                    state,
                    comment: row.get(9)?,
                    needs,
                };
                self.rules.entry(row.get(0)?).or_default().push(Arc::new(rule));
                Ok::<(), rusqlite::Error>(())
            };
            match read {
                Some((((event, actions), state), needs)) => make(event, ((actions, state), needs)),
                None => {
                    let damaged = || ((vec![actions.clone()], TriggerState::Origin), Vec::new());
                    make(TriggerEvent::Insert, damaged())?;
                    make(TriggerEvent::Update, damaged())?;
                    make(TriggerEvent::Delete, damaged())
                }
            }
        })
    }

    /// A table's row-level security; `None` where nothing has been said of it.
    pub(super) fn security(&self, oid: u32) -> Option<Arc<RowSecurity>> {
        let has = |name: &str| self.properties.get(&oid).is_some_and(|properties| properties.has("", name));
        let (enabled, forced) = (has("row_security"), has("force_row_security"));
        let policies = self.policies.get(&oid).cloned().unwrap_or_default();
        let said = enabled || forced || !policies.is_empty();
        said.then(|| Arc::new(RowSecurity { enabled, forced, policies }))
    }

    fn load_parts(&mut self, connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<()> {
        let query = format!(
            "SELECT oid, name, type, default_text, identity, sequence, generated, comment FROM {database}.rowferry_columns"
        );
        each_row(connection, &query, "oid, position", only, |row| {
            self.columns.entry(row.get(0)?).or_default().push(ColumnRow {
                name: row.get(1)?,
                ty: row.get(2)?,
                default_text: row.get(3)?,
                identity: row.get(4)?,
                sequence: row.get(5)?,
                generated: row.get(6)?,
                comment: row.get(7)?,
            });
            Ok(())
        })?;
        let query = format!("SELECT oid, name, kind, text, sql FROM {database}.rowferry_constraints");
        each_row(connection, &query, "oid, name", only, |row| {
            self.constraints.entry(row.get(0)?).or_default().push(ConstraintRow {
                name: row.get(1)?,
                kind: row.get(2)?,
                text: row.get(3)?,
                sql: row.get(4)?,
            });
            Ok(())
        })?;
        let stamps = if metadata::has_stamps(connection, database)? { "cache, stamp" } else { "1, 0" };
        let query = format!(
            "SELECT oid, type, start, increment, min, max, cycle, owner_table, owner_column, {stamps}
             FROM {database}.rowferry_sequences"
        );
        each_row(connection, &query, "oid", only, |row| {
            let sequence = SequenceRow {
                ty: row.get(1)?,
                start: row.get(2)?,
                increment: row.get(3)?,
                min: row.get(4)?,
                max: row.get(5)?,
                cycle: row.get(6)?,
                owner_table: row.get(7)?,
                owner_column: row.get(8)?,
                cache: row.get(9)?,
                stamp: row.get(10)?,
            };
            self.sequences.insert(row.get(0)?, sequence);
            Ok(())
        })
    }

    pub(super) fn object(&self, kind: &str, physical_name: &str) -> Option<(u32, &Object)> {
        let oid = *self.by_physical_name.get(&(kind.to_owned(), physical_name.to_lowercase()))?;
        Some((oid, &self.objects[&oid]))
    }

    pub(super) fn columns(&self, oid: u32) -> &[ColumnRow] {
        self.columns.get(&oid).map_or(&[], Vec::as_slice)
    }

    pub(super) fn column(&self, oid: u32, name: &str) -> Option<&ColumnRow> {
        self.columns(oid).iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// A relation's triggers, in the order of their names.
    pub(super) fn triggers(&self, relation: &Relation) -> Vec<Arc<Trigger>> {
        let rows = self.triggers.get(&relation.oid).map_or(&[][..], Vec::as_slice);
        rows.iter().filter_map(|row| row.trigger(relation)).map(Arc::new).collect()
    }

    /// What else has been noted about a relation.
    pub(super) fn properties(&self, oid: u32) -> Properties {
        self.properties.get(&oid).cloned().unwrap_or_default()
    }

    /// A view's options, in the order in which they were given.
    pub(super) fn view_options(&self, oid: u32) -> ViewOptions {
        let options = self.properties.get(&oid).and_then(|properties| properties.get("", "reloptions"));
        let options = options.unwrap_or_default().split(',').filter_map(|option| option.split_once('='));
        ViewOptions(options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// What the names in a view's text stand for.
    pub(super) fn pins(&self, oid: u32) -> Arc<Pins> {
        let text = self.properties.get(&oid).and_then(|properties| properties.get("", "pins"));
        Arc::new(text.and_then(Pins::from_json).unwrap_or_default())
    }

    pub(super) fn constraints(&self, oid: u32) -> &[ConstraintRow] {
        self.constraints.get(&oid).map_or(&[], Vec::as_slice)
    }
}

impl TriggerRow {
    /// The trigger; `None` for a row that somebody else has damaged.
    fn trigger(&self, relation: &Relation) -> Option<Trigger> {
        let times = [TriggerTime::Before, TriggerTime::After, TriggerTime::InsteadOf];
        let levels = [TriggerLevel::Row, TriggerLevel::Statement];
        let mut events = 0;
        for words in self.events.split_whitespace() {
            events |= TriggerEvent::ALL.into_iter().find(|event| event.words() == words)?.bit();
        }
        let columns: Option<Vec<usize>> =
            texts(self.columns.as_deref())?.iter().map(|name| relation.column(name)).collect();
        let constraint = self.checked.as_deref().map(|checked| ConstraintTrigger {
            deferrable: checked != "immediate",
            deferred: checked == "deferred",
            from: self.referenced.unwrap_or(0),
        });
        Some(Trigger {
            oid: self.oid,
            name: self.name.clone(),
            function: self.function,
            time: times.into_iter().find(|time| time.words() == self.time)?,
            level: levels.into_iter().find(|level| level.words() == self.level)?,
            events,
            columns: columns?,
            condition: self.condition.clone(),
            args: texts(self.arguments.as_deref())?,
            old_table: self.old_table.clone(),
            new_table: self.new_table.clone(),
            constraint,
            state: TriggerState::from_letter(&self.enabled)?,
            comment: self.comment.clone(),
            key: None,
        })
    }
}

/// The texts of a JSON array.
fn texts(json: Option<&str>) -> Option<Vec<String>> {
    json.map_or(Some(Vec::new()), |json| serde_json::from_str(json).ok())
}
