//! What a session keeps under names that clients give: prepared statements and portals.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};
use parking_lot::Mutex;
use rowferry_dialect::{Condition, Error, Result};

use crate::memory::Charge;

/// The most prepared statements, and the most portals, that one session may hold.
const MAX_NAMED: usize = 10_000;

/// A thing that is kept under a name.
pub trait Thing {
    /// What catalogs show of it.
    type Facts;

    /// The same.
    fn facts(&self) -> Self::Facts;

    /// What the things are, for the limit's message.
    const PLURAL: &'static str;

    /// About how many bytes of memory it keeps.
    fn size(&self) -> usize;

    /// The error for a name that is taken.
    fn taken(name: &str) -> Error;

    /// The error for a name that nothing has.
    fn missing(name: &str) -> Error;
}

/// What catalogs show of things, by name.
pub type Shown<F> = Arc<Mutex<BTreeMap<Box<str>, F>>>;

/// A thing that counts as the session's memory.
#[derive(Debug)]
struct Kept<T> {
    thing: T,
    _charge: Charge,
}

/// Things by name; the empty name is the unnamed one, which is replaced without a word.
#[derive(Debug)]
pub struct Names<T: Thing> {
    unnamed: Option<T>,
    named: HashMap<Box<str>, Kept<T>>,
    shown: Shown<T::Facts>,
}

impl<T: Thing> Names<T> {
    /// None yet. What there will be is also told to `shown`, but for the unnamed one.
    pub fn new(shown: Shown<T::Facts>) -> Self {
        Self { unnamed: None, named: HashMap::new(), shown }
    }

    /// Fails when `name` cannot be given to a new thing.
    pub fn check_free(&self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        if self.named.contains_key(name) {
            return Err(T::taken(name));
        }
        if self.named.len() >= MAX_NAMED {
            let message = format!("a session cannot hold more than {MAX_NAMED} {}", T::PLURAL);
            return Err(
                Error::new(Condition::ProgramLimitExceeded, message).hint("Close those that are not needed any more.")
            );
        }
        Ok(())
    }

    /// Keeps a thing under a name that [`check_free`](Names::check_free) allowed.
    ///
    /// # Errors
    /// `53200` when the session has no room for it.
    pub fn insert(&mut self, name: &str, thing: T) -> Result<()> {
        if name.is_empty() {
            self.unnamed = Some(thing);
        } else {
            let charge = Charge::new(thing.size())?;
            self.shown.lock().insert(name.into(), thing.facts());
            self.named.insert(name.into(), Kept { thing, _charge: charge });
        }
        Ok(())
    }

    /// The thing of a name.
    pub fn get(&self, name: &str) -> Result<&T> {
        let found = if name.is_empty() { self.unnamed.as_ref() } else { self.named.get(name).map(|kept| &kept.thing) };
        found.ok_or_else(|| T::missing(name))
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Result<&mut T> {
        let found =
            if name.is_empty() { self.unnamed.as_mut() } else { self.named.get_mut(name).map(|kept| &mut kept.thing) };
        found.ok_or_else(|| T::missing(name))
    }

    /// Forgets a thing; true when there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        if name.is_empty() {
            return self.unnamed.take().is_some();
        }
        self.shown.lock().remove(name);
        self.named.remove(name).is_some()
    }

    /// Forgets all that have a name.
    pub fn clear_named(&mut self) {
        self.shown.lock().clear();
        self.named.clear();
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.unnamed = None;
        self.clear_named();
    }

    /// Forgets all for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        if self.unnamed.as_mut().is_some_and(|thing| !keep(thing)) {
            self.unnamed = None;
        }
        if !self.named.is_empty() {
            let mut shown = self.shown.lock();
            self.named.retain(|name, kept| {
                let keeps = keep(&mut kept.thing);
                if !keeps {
                    shown.remove(name);
                }
                keeps
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Number(usize);

    impl Thing for Number {
        type Facts = usize;
        const PLURAL: &'static str = "numbers";

        fn facts(&self) -> usize {
            self.0
        }

        fn size(&self) -> usize {
            1
        }

        fn taken(name: &str) -> Error {
            Error::new(Condition::DuplicateCursor, name)
        }

        fn missing(name: &str) -> Error {
            Error::new(Condition::InvalidCursorName, name)
        }
    }

    #[test]
    fn names_are_unique_and_the_unnamed_is_replaced() {
        let shown = Shown::default();
        let mut things = Names::new(shown.clone());
        assert_eq!(things.get("").unwrap_err().condition(), Condition::InvalidCursorName);
        things.insert("", Number(1)).unwrap();
        things.check_free("").unwrap();
        things.insert("", Number(2)).unwrap();
        assert_eq!(things.get("").unwrap(), &Number(2));
        things.insert("a", Number(3)).unwrap();
        things.insert("b", Number(4)).unwrap();
        assert_eq!(things.check_free("a").unwrap_err().condition(), Condition::DuplicateCursor);
        assert_eq!(shown.lock().values().copied().collect::<Vec<_>>(), [3, 4]);
        things.retain(|thing| thing.0 == 4);
        assert!(things.get("").is_err() && things.get("a").is_err());
        assert_eq!(shown.lock().values().copied().collect::<Vec<_>>(), [4]);
        assert!(things.remove("b") && !things.remove("b"));
        things.check_free("b").unwrap();
        assert!(shown.lock().is_empty());
    }

    #[test]
    fn one_thing_beyond_the_limit_is_refused() {
        let mut things = Names::new(Shown::default());
        for number in 0..MAX_NAMED {
            let name = number.to_string();
            things.check_free(&name).unwrap();
            things.insert(&name, Number(number)).unwrap();
        }
        assert_eq!(things.check_free("x").unwrap_err().condition(), Condition::ProgramLimitExceeded);
        things.check_free("").unwrap();
    }
}
