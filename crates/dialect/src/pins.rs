//! What the names in a view's text stand for, whatever things are called today.
//!
//! The text of a view speaks of tables and columns by the names that they had when the view was made. Beside it stands
//! which relation each of these names meant, by object id, and which columns that relation had then. Names that change
//! later change nothing in the text: whoever binds it looks a relation up by its id, and gives its columns the names of
//! then. Columns that came later are not there, and a `*` covers what it covered.

use serde_json::Value;

use crate::schema::RelationKind;
use crate::uses::{Edit, Uses};

/// The relations that a view's text names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Pins(Vec<Pin>);

/// A relation that the text names at one place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pin {
    /// Where its name begins, in bytes from the beginning of the text.
    pub place: usize,
    /// Its object id.
    pub oid: u32,
    /// The schema in which it was.
    pub namespace: String,
    /// The columns that it had.
    pub columns: Vec<PinnedColumn>,
}

/// A column that a relation had when the view was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PinnedColumn {
    /// Its name then, which is that of the text.
    pub name: String,
    /// Its name today; `None` once it has been dropped.
    pub now: Option<String>,
}

impl Pins {
    /// What a text names, as it has just been bound. Catalogs are found by their names.
    pub fn of(uses: &Uses) -> Self {
        let pins = uses.relations.iter().filter_map(|named| {
            let relation = &named.relation;
            if !relation.keeps_rows() && !matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView)
            {
                return None;
            }
            let column = |name: &String| PinnedColumn { name: name.clone(), now: Some(name.clone()) };
            let columns = relation.columns.iter().map(|known| column(&known.name)).collect();
            Some(Pin { place: named.place?, oid: relation.oid, namespace: relation.namespace.clone(), columns })
        });
        Self(pins.collect())
    }

    /// What is named at a place.
    pub fn at(&self, place: usize) -> Option<&Pin> {
        self.0.iter().find(|pin| pin.place == place)
    }

    /// True when nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// After the text has been changed elsewhere; changes are in the order of their places.
    pub fn moved(&self, edits: &[Edit]) -> Self {
        let moved = |place: usize| {
            let before = edits.iter().filter(|(span, _)| span.start < place);
            before.fold(place, |place, (span, new)| place + new.len() - span.len())
        };
        Self(self.0.iter().map(|pin| Pin { place: moved(pin.place), ..pin.clone() }).collect())
    }

    /// A column of a relation has another name, or is dropped.
    pub fn rename(&mut self, oid: u32, from: &str, to: Option<&str>) {
        let columns = self.0.iter_mut().filter(|pin| pin.oid == oid).flat_map(|pin| pin.columns.iter_mut());
        for column in columns.filter(|column| column.now.as_deref() == Some(from)) {
            column.now = to.map(str::to_owned);
        }
    }

    /// As a text of JSON: `[[place, oid, schema, [["then", "now"], "both", ["dropped"]]], …]`.
    pub fn to_json(&self) -> String {
        let column = |column: &PinnedColumn| match &column.now {
            Some(now) if *now == column.name => Value::from(now.as_str()),
            Some(now) => Value::from(vec![column.name.as_str(), now.as_str()]),
            None => Value::from(vec![column.name.as_str()]),
        };
        let pin = |pin: &Pin| {
            let columns: Vec<Value> = pin.columns.iter().map(column).collect();
            serde_json::json!([pin.place, pin.oid, pin.namespace, columns])
        };
        Value::from(self.0.iter().map(pin).collect::<Vec<_>>()).to_string()
    }

    /// Reads what [`Self::to_json`] has written; `None` for a text that somebody else has damaged.
    pub fn from_json(text: &str) -> Option<Self> {
        let pins: Vec<(usize, u32, String, Vec<Value>)> = serde_json::from_str(text).ok()?;
        let column = |value: &Value| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            Some(match value {
                Value::String(name) => PinnedColumn { name: name.clone(), now: Some(name.clone()) },
                Value::Array(names) => match names.as_slice() {
                    [then] => PinnedColumn { name: text(then)?, now: None },
                    [then, now] => PinnedColumn { name: text(then)?, now: Some(text(now)?) },
                    _ => return None,
                },
                _ => return None,
            })
        };
        let pin = |(place, oid, namespace, columns): (usize, u32, String, Vec<Value>)| {
            Some(Pin { place, oid, namespace, columns: columns.iter().map(column).collect::<Option<_>>()? })
        };
        Some(Self(pins.into_iter().map(pin).collect::<Option<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_survive_their_text_and_follow_names() {
        let column = |name: &str| PinnedColumn { name: name.to_owned(), now: Some(name.to_owned()) };
        let columns = vec![column("a"), column("b"), column("c")];
        let mut pins = Pins(vec![Pin { place: 14, oid: 16_400, namespace: "public".to_owned(), columns }]);
        let moved = pins.moved(&[(0..1, "abc".to_owned()), (20..21, String::new())]);
        assert_eq!(moved.at(16).map(|pin| pin.oid), Some(16_400));
        pins.rename(16_400, "a", Some("x"));
        pins.rename(16_400, "x", Some("y"));
        pins.rename(16_400, "b", None);
        // A column of that name that comes later is another.
        pins.rename(16_400, "b", Some("z"));
        pins.rename(16_401, "c", Some("z"));
        assert_eq!(pins.to_json(), r#"[[14,16400,"public",[["a","y"],["b"],"c"]]]"#);
        assert_eq!(Pins::from_json(&pins.to_json()), Some(pins));
        assert_eq!(Pins::from_json(r#"[[1,2,"public",[3]]]"#), None);
    }
}
