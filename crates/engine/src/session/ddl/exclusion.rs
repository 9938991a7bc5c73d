//! EXCLUDE: the index behind one, and rows that are in its way.

use std::sync::Arc;

use rowferry_dialect::exclusion::{self, Exclusion as Rule};
use rowferry_dialect::ir::{CreateIndex, Exclusion, Expr, IndexKeyDefinition, Value};
use rowferry_dialect::postgres::{Against, exclusion_query};
use rowferry_dialect::schema::{Index, Relation};
use rowferry_dialect::{Condition, Error, values};

use super::{Changer, Done, cannot_drop, described};
use crate::catalog::describe;

/// The rule of an index that stands for an EXCLUDE.
fn rule(index: &CreateIndex) -> Option<Rule> {
    let (_, text) = index.properties.iter().find(|(name, _)| name == exclusion::PROPERTY)?;
    Rule::from_property(text)
}

/// An index as the back end is to have it, where that is not as it is declared.
pub(super) fn stored(index: &CreateIndex) -> Option<CreateIndex> {
    let rule = rule(index)?;
    let keys = rule.order.iter().filter_map(|at| index.keys.get(*at).cloned()).collect();
    Some(CreateIndex { keys, ..index.clone() })
}

impl Changer<'_> {
    /// The index of a new EXCLUDE; [`crate::session::Session`] looks for rows in conflict.
    pub(super) fn add_exclusion(&self, table: &Relation, name: &str, exclusion: &Exclusion) -> Done {
        if table.without_identity {
            return Err(Error::unsupported("EXCLUDE of a table WITHOUT ROWID").into());
        }
        self.create_index(&CreateIndex {
            name: name.to_owned(),
            table: Arc::new(table.clone()),
            unique: false,
            nulls_alike: false,
            if_not_exists: false,
            lenient: true,
            keys: exclusion.keys.clone(),
            predicate: exclusion.predicate.clone(),
            concurrently: false,
            only: false,
            properties: exclusion.properties.clone(),
        })
    }

    /// An EXCLUDE whose expressions or condition name a column does not go with it by itself.
    pub(super) fn check_excluded_column(&self, table: &Relation, column: usize, cascade: bool) -> Done {
        let of = described(&self.schema(), table);
        let names = |text: &str| self.names_column(table, text, column);
        let depends = |index: &&Index| {
            let mut keys = index.columns.iter().zip(&index.keys).filter(|(own, _)| own.is_none());
            index.exclusion.is_some()
                && (keys.any(|(_, key)| names(&key.text)) || index.predicate.as_deref().is_some_and(names))
        };
        let shown = |index: &Index| format!("constraint {} on {of}", index.name);
        let found: Vec<String> = table.indexes.iter().filter(depends).map(shown).collect();
        if cascade {
            self.tell_cascade(&found);
            return Ok(());
        }
        if found.is_empty() {
            return Ok(());
        }
        let column = format!("column {} of {of}", table.columns[column].name);
        let needs: Vec<_> = found.into_iter().map(|constraint| (constraint, column.clone())).collect();
        Err(cannot_drop(&column, &needs))
    }

    /// Refuses an EXCLUDE that rows already violate.
    pub(super) fn check_exclusion(&self, index: &CreateIndex) -> Done {
        let Some(rule) = rule(index) else { return Ok(()) };
        let (schema, settings) = (self.schema(), self.session.settings());
        let keys: Vec<Expr> = index.keys.iter().map(|key| key.key.expr.clone()).collect();
        let predicate = index.predicate.as_ref().map(|predicate| &predicate.expr);
        let context = self.session.postgres_context();
        let query = exclusion_query(&index.table, &keys, predicate, &rule.operators, Against::Each, &schema, &context)?;
        let Some(found) = self.store.first_row(&query, &self.session.state)? else { return Ok(()) };
        let name =
            |key: &IndexKeyDefinition| describe::key_text(&schema, &index.table, &key.key.expr, &key.key.text, true);
        let names: Vec<String> = index.keys.iter().map(name).collect();
        let message = format!("could not create exclusion constraint \"{}\"", index.name);
        let error = refusal(message, &index.table, &index.name);
        Err(
            match shown(&names, &query.columns.iter().map(|column| &column.ty).collect::<Vec<_>>(), &found, &settings) {
                Some([mine, other]) => error.detail(format!("Key {mine} conflicts with key {other}.")).into(),
                None => error.into(),
            },
        )
    }
}

/// 23P01.
pub(in crate::session) fn refusal(message: String, table: &Relation, constraint: &str) -> Error {
    Error::new(Condition::ExclusionViolation, message)
        .table(table.namespace.clone(), table.name.clone())
        .constraint(constraint)
}

/// Two rows' keys as PostgreSQL shows them.
pub(in crate::session) fn shown(
    names: &[String],
    types: &[&rowferry_dialect::Type],
    found: &[Value],
    settings: &values::Settings,
) -> Option<[String; 2]> {
    let show = |(value, ty): (&Value, &&rowferry_dialect::Type)| match value {
        Value::Null => Some("null".to_owned()),
        value => values::output(value, ty, settings).ok(),
    };
    let shown: Vec<String> = found.iter().zip(types).map(show).collect::<Option<_>>()?;
    let (mine, other) = shown.split_at_checked(names.len())?;
    let row = |values: &[String]| format!("({})=({})", names.join(", "), values.join(", "));
    Some([row(mine), row(other)])
}
