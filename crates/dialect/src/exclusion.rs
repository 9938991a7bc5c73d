//! EXCLUDE constraints: no two rows of a table for whose keys all operators hold.

use serde_json::{Value, json};

/// The property of an index that stands for one.
pub const PROPERTY: &str = "index_exclusion";

/// How an EXCLUDE compares rows, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Exclusion {
    /// The operators, one for each key as it is declared.
    pub operators: Vec<String>,
    /// Which key stands at each place of the back end's index: those that are compared by `=` first, so that it finds by
    /// them the few rows that can conflict.
    pub order: Vec<usize>,
    /// DEFERRABLE (true: INITIALLY DEFERRED).
    pub deferred: Option<bool>,
}

impl Exclusion {
    /// One with these operators.
    pub fn new(operators: Vec<String>, deferred: Option<bool>) -> Self {
        let mut order: Vec<usize> = (0..operators.len()).collect();
        order.sort_by_key(|at| operators[*at] != "=");
        Self { operators, order, deferred }
    }

    /// As a property keeps it.
    pub fn property(&self) -> String {
        let checked = self.deferred.map(|deferred| if deferred { "deferred" } else { "immediate" });
        json!({ "operators": self.operators, "order": self.order, "deferrable": checked }).to_string()
    }

    /// Reads what [`Self::property`] has written; `None` for anything else.
    pub fn from_property(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let words = |name: &str| value.get(name).and_then(Value::as_array);
        let operators: Option<Vec<String>> =
            words("operators")?.iter().map(|word| word.as_str().map(str::to_owned)).collect();
        let place = |place: &Value| usize::try_from(place.as_u64()?).ok();
        let order: Option<Vec<usize>> = words("order")?.iter().map(place).collect();
        let (operators, order) = (operators?, order?);
        let mut each = order.clone();
        each.sort_unstable();
        if !each.into_iter().eq(0..operators.len()) {
            return None;
        }
        let deferred = value.get("deferrable").and_then(Value::as_str).map(|word| word == "deferred");
        Some(Self { operators, order, deferred })
    }

    /// Puts what stands in the order of the back end's index into that of the declaration.
    pub fn as_declared<T: Clone>(&self, parts: &mut [T]) {
        let stored = parts.to_vec();
        for (part, place) in stored.into_iter().zip(&self.order) {
            if let Some(slot) = parts.get_mut(*place) {
                *slot = part;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exclusion;

    #[test]
    fn equality_comes_first_in_the_file_and_is_put_back() {
        let exclusion = Exclusion::new(["&&", "=", "<>"].map(str::to_owned).to_vec(), Some(true));
        assert_eq!(exclusion.order, [1, 0, 2]);
        let mut stored = ["room", "during", "who"];
        exclusion.as_declared(&mut stored);
        assert_eq!(stored, ["during", "room", "who"]);
        assert_eq!(Exclusion::from_property(&exclusion.property()), Some(exclusion));
    }

    #[test]
    fn what_somebody_has_damaged_is_none() {
        for text in ["", "{}", r#"{"operators":["="],"order":[1]}"#, r#"{"operators":["=","="],"order":[0,0]}"#] {
            assert_eq!(Exclusion::from_property(text), None, "{text}");
        }
    }
}
