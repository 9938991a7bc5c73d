//! Privileges and lists of grants.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use super::{PUBLIC, Roles};
use crate::{Condition, Error, Result};

/// A set of privileges.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Privileges(u16);

impl BitOr for Privileges {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Privileges {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Each privilege with its letter in a list, its words, and its bit, in PostgreSQL's order.
const PRIVILEGES: &[(char, &str, Privileges)] = &[
    ('a', "INSERT", Privileges::INSERT),
    ('r', "SELECT", Privileges::SELECT),
    ('w', "UPDATE", Privileges::UPDATE),
    ('d', "DELETE", Privileges::DELETE),
    ('D', "TRUNCATE", Privileges::TRUNCATE),
    ('x', "REFERENCES", Privileges::REFERENCES),
    ('t', "TRIGGER", Privileges::TRIGGER),
    ('X', "EXECUTE", Privileges::EXECUTE),
    ('U', "USAGE", Privileges::USAGE),
    ('C', "CREATE", Privileges::CREATE),
    ('T', "TEMPORARY", Privileges::TEMPORARY),
    ('c', "CONNECT", Privileges::CONNECT),
];

impl Privileges {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// INSERT.
    pub const INSERT: Self = Self(1);
    /// SELECT.
    pub const SELECT: Self = Self(1 << 1);
    /// UPDATE.
    pub const UPDATE: Self = Self(1 << 2);
    /// DELETE.
    pub const DELETE: Self = Self(1 << 3);
    /// TRUNCATE.
    pub const TRUNCATE: Self = Self(1 << 4);
    /// REFERENCES.
    pub const REFERENCES: Self = Self(1 << 5);
    /// TRIGGER.
    pub const TRIGGER: Self = Self(1 << 6);
    /// EXECUTE.
    pub const EXECUTE: Self = Self(1 << 7);
    /// USAGE.
    pub const USAGE: Self = Self(1 << 8);
    /// CREATE.
    pub const CREATE: Self = Self(1 << 9);
    /// TEMPORARY.
    pub const TEMPORARY: Self = Self(1 << 10);
    /// CONNECT.
    pub const CONNECT: Self = Self(1 << 11);

    /// None of them.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All of another set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Some of another set.
    pub const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Without those of another set.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many there are.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The privilege of a word, in upper case; TEMP is another name of TEMPORARY.
    pub fn of_word(word: &str) -> Option<Self> {
        let word = if word == "TEMP" { "TEMPORARY" } else { word };
        PRIVILEGES.iter().find(|(_, known, _)| *known == word).map(|(.., privilege)| *privilege)
    }

    /// Each of them alone, in PostgreSQL's order, with its word.
    pub fn each(self) -> impl Iterator<Item = (Self, &'static str)> {
        PRIVILEGES.iter().filter(move |(.., one)| self.contains(*one)).map(|(_, word, one)| (*one, *word))
    }

    /// Everything there is on a class of objects.
    pub const fn all_of(class: ObjectClass) -> Self {
        const RELATION: u16 = 0b111_1111;
        match class {
            ObjectClass::Relation => Self(RELATION),
            ObjectClass::Column => Self(Self::INSERT.0 | Self::SELECT.0 | Self::UPDATE.0 | Self::REFERENCES.0),
            ObjectClass::Sequence => Self(Self::USAGE.0 | Self::SELECT.0 | Self::UPDATE.0),
            ObjectClass::Database => Self(Self::CREATE.0 | Self::TEMPORARY.0 | Self::CONNECT.0),
            ObjectClass::Schema => Self(Self::USAGE.0 | Self::CREATE.0),
            ObjectClass::Routine => Self::EXECUTE,
            ObjectClass::Type | ObjectClass::Language => Self::USAGE,
            ObjectClass::Tablespace => Self::CREATE,
            ObjectClass::LargeObject => Self(Self::SELECT.0 | Self::UPDATE.0),
        }
    }
}

/// What has privileges.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ObjectClass {
    /// Tables, views and their kin.
    Relation,
    /// A column of one.
    Column,
    /// A sequence.
    Sequence,
    /// The database.
    Database,
    /// A schema.
    Schema,
    /// A function or procedure.
    Routine,
    /// A type or domain.
    Type,
    /// A language.
    Language,
    /// A tablespace.
    Tablespace,
    /// A large object, which has an object id of its own kind.
    LargeObject,
}

impl ObjectClass {
    /// The letter of `pg_default_acl`, `acldefault` and their kin.
    pub const fn letter(self) -> char {
        match self {
            Self::Relation => 'r',
            Self::Column => 'c',
            Self::Sequence => 's',
            Self::Database => 'd',
            Self::Schema => 'n',
            Self::Routine => 'f',
            Self::Type => 'T',
            Self::Language => 'l',
            Self::Tablespace => 't',
            Self::LargeObject => 'L',
        }
    }

    /// The class of a letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        let all = [
            Self::Relation,
            Self::Column,
            Self::Sequence,
            Self::Database,
            Self::Schema,
            Self::Routine,
            Self::Type,
            Self::Language,
            Self::Tablespace,
            Self::LargeObject,
        ];
        all.into_iter().find(|class| class.letter() == letter)
    }
}

/// Privileges that one role has been given by another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AclItem {
    /// Who has them; 0 is PUBLIC.
    pub grantee: u32,
    /// Who gave them.
    pub grantor: u32,
    /// Which.
    pub privileges: Privileges,
    /// Those that the grantee may grant to others.
    pub grantable: Privileges,
}

/// What has been granted on an object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Acl(pub Vec<AclItem>);

/// A change of a list by GRANT or REVOKE.
#[derive(Clone, Debug)]
pub struct GrantChange {
    /// GRANT; REVOKE otherwise.
    pub grant: bool,
    /// WITH GRANT OPTION, GRANT OPTION FOR.
    pub grant_option: bool,
    /// REVOKE … CASCADE.
    pub cascade: bool,
    /// To whom, from whom; 0 is PUBLIC.
    pub grantees: Vec<u32>,
    /// Which privileges.
    pub privileges: Privileges,
    /// Who grants.
    pub grantor: u32,
    /// The object's owner.
    pub owner: u32,
}

impl Acl {
    /// What an object of a class is born with.
    pub fn of_new(class: ObjectClass, owner: u32) -> Self {
        let everybody = match class {
            ObjectClass::Database => Privileges::TEMPORARY | Privileges::CONNECT,
            ObjectClass::Routine => Privileges::EXECUTE,
            ObjectClass::Type | ObjectClass::Language => Privileges::USAGE,
            _ => Privileges::NONE,
        };
        let own = if class == ObjectClass::Column { Privileges::NONE } else { Privileges::all_of(class) };
        let item = |grantee, privileges| AclItem { grantee, grantor: owner, privileges, grantable: Privileges::NONE };
        let items = [item(PUBLIC, everybody), item(owner, own)];
        Self(items.into_iter().filter(|item| !item.privileges.is_empty()).collect())
    }

    /// The privileges that a role has by the list, and those that it may grant: an owner may grant all.
    pub fn held_by(&self, roles: &Roles, role: u32, owner: u32, class: ObjectClass) -> (Privileges, Privileges) {
        let through = roles.memberships_of(role, true);
        let (mut held, mut grantable) = (Privileges::NONE, Privileges::NONE);
        if through.contains(&owner) {
            grantable = Privileges::all_of(class);
        }
        for item in self.0.iter().filter(|item| item.grantee == PUBLIC || through.contains(&item.grantee)) {
            held = held | item.privileges;
            grantable = grantable | item.grantable;
        }
        (held, grantable)
    }

    /// What a role may grant by entries for itself alone; an owner all of `wanted`.
    fn grantable_directly(&self, role: u32, owner: u32, wanted: Privileges) -> Privileges {
        if role == owner {
            return wanted;
        }
        let own = self.0.iter().filter(|item| item.grantee == role);
        own.fold(Privileges::NONE, |all, item| all | item.grantable) & wanted
    }

    /// In whose name a role grants some privileges, and which of them it may: the owner's if it can, else that of the
    /// role that may grant most.
    pub fn best_grantor(&self, roles: &Roles, role: u32, owner: u32, wanted: Privileges) -> (u32, Privileges) {
        if roles.has_privileges_of(role, owner) {
            return (owner, wanted);
        }
        let mut best = (role, Privileges::NONE);
        for candidate in roles.memberships_of(role, true) {
            let may = self.grantable_directly(candidate, owner, wanted);
            if may == wanted {
                return (candidate, may);
            }
            if may.count() > best.1.count() {
                best = (candidate, may);
            }
        }
        best
    }

    /// Adds to what a grantee has from a grantor.
    pub fn add(&mut self, new: AclItem) {
        match self.0.iter_mut().find(|item| item.grantee == new.grantee && item.grantor == new.grantor) {
            Some(item) => {
                item.privileges = item.privileges | new.privileges;
                item.grantable = item.grantable | new.grantable;
            }
            None => self.0.push(new),
        }
    }

    /// What GRANT or REVOKE makes of the list.
    ///
    /// # Errors
    /// `0LP01` for grant options that nobody can have; `2BP01` for what others have been given on, without CASCADE.
    pub fn change(&mut self, change: &GrantChange) -> Result<()> {
        for &grantee in &change.grantees {
            if change.grant && change.grant_option && grantee == PUBLIC {
                return Err(invalid_grant("grant options can only be granted to roles"));
            }
            let none = Privileges::NONE;
            let item = AclItem {
                grantee,
                grantor: change.grantor,
                privileges: if change.grant || !change.grant_option { change.privileges } else { none },
                grantable: if !change.grant || change.grant_option { change.privileges } else { none },
            };
            if change.grant {
                self.check_circle(&item, change.owner)?;
                self.add(item);
            } else {
                self.take(item, change.owner, change.cascade)?;
            }
        }
        Ok(())
    }

    /// Takes privileges away, and those that the grantee could grant because of them.
    fn take(&mut self, gone: AclItem, owner: u32, cascade: bool) -> Result<()> {
        let Some(at) = self.0.iter().position(|i| i.grantee == gone.grantee && i.grantor == gone.grantor) else {
            return Ok(());
        };
        let item = &mut self.0[at];
        let lost = item.grantable & gone.grantable;
        item.privileges = item.privileges.without(gone.privileges);
        item.grantable = item.grantable.without(gone.grantable);
        if item.privileges.is_empty() && item.grantable.is_empty() {
            self.0.remove(at);
        }
        if lost.is_empty() { Ok(()) } else { self.take_grants_of(gone.grantee, lost, owner, cascade) }
    }

    fn take_grants_of(&mut self, grantor: u32, lost: Privileges, owner: u32, cascade: bool) -> Result<()> {
        if grantor == owner {
            return Ok(());
        }
        let lost = lost.without(self.grantable_directly(grantor, owner, lost));
        while let Some(item) = self.0.iter().find(|i| i.grantor == grantor && i.privileges.overlaps(lost)).copied() {
            if !cascade {
                return Err(Error::new(Condition::DependentObjectsStillExist, "dependent privileges exist")
                    .hint("Use CASCADE to revoke them too."));
            }
            self.take(AclItem { privileges: lost, grantable: lost, ..item }, owner, true)?;
        }
        Ok(())
    }

    /// Grant options must not come back to who has given them: nothing could revoke them then.
    fn check_circle(&self, new: &AclItem, owner: u32) -> Result<()> {
        if new.grantable.is_empty() || new.grantor == owner {
            return Ok(());
        }
        let mut without = self.clone();
        while let Some(item) = without.0.iter().find(|i| i.grantee == new.grantee && !i.grantable.is_empty()).copied() {
            without.take(AclItem { privileges: item.grantable, ..item }, owner, true)?;
        }
        let mut left = without.grantable_directly(new.grantor, owner, new.grantable);
        if new.grantor == new.grantee {
            left = Privileges::NONE;
        }
        if left.contains(new.grantable) {
            return Ok(());
        }
        Err(invalid_grant("grant options cannot be granted back to your own grantor"))
    }

    /// The list after the object has got another owner: the old one's grants are the new one's.
    pub fn with_owner(&self, old: u32, new: u32) -> Self {
        let put = |role: u32| if role == old { new } else { role };
        let mut changed = Self::default();
        for item in &self.0 {
            changed.add(AclItem { grantee: put(item.grantee), grantor: put(item.grantor), ..*item });
        }
        changed
    }

    /// The same grants, in whatever order.
    pub fn same_as(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|item| other.0.contains(item))
    }

    /// The roles that it names.
    pub fn roles(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|item| [item.grantee, item.grantor]).filter(|role| *role != PUBLIC)
    }

    /// Its items as PostgreSQL prints them.
    pub fn texts(&self, mut name: impl FnMut(u32) -> String) -> Vec<String> {
        self.0.iter().map(|item| item.text(&mut name)).collect()
    }

    /// As it is kept in a file: items with the roles' numbers, a blank between.
    pub fn stored(&self) -> String {
        self.texts(|role| role.to_string()).join(" ")
    }

    /// Reads what [`Self::stored`] has written; `None` for anything else.
    pub fn from_stored(text: &str) -> Option<Self> {
        text.split_whitespace()
            .map(|item| AclItem::read(item, |role| role.parse().ok()))
            .collect::<Option<_>>()
            .map(Self)
    }
}

impl AclItem {
    /// `grantee=privileges/grantor`, a star behind what may be granted.
    pub fn text(&self, mut name: impl FnMut(u32) -> String) -> String {
        let mut text = if self.grantee == PUBLIC { String::new() } else { name(self.grantee) };
        text.push('=');
        for (letter, _, privilege) in PRIVILEGES {
            if self.privileges.contains(*privilege) {
                text.push(*letter);
                // A grant option without its privilege cannot be.
                if self.grantable.contains(*privilege) {
                    text.push('*');
                }
            }
        }
        text.push('/');
        text.push_str(&name(self.grantor));
        text
    }

    /// Reads `grantee=privileges/grantor`; `role` knows a name's number.
    pub fn read(text: &str, role: impl Fn(&str) -> Option<u32>) -> Option<Self> {
        let (grantee, rest) = text.split_once('=')?;
        let (letters, grantor) = rest.split_once('/')?;
        let (mut privileges, mut grantable, mut last) = (Privileges::NONE, Privileges::NONE, None);
        for letter in letters.chars() {
            if letter == '*' {
                grantable = grantable | last?;
                continue;
            }
            let (.., privilege) = PRIVILEGES.iter().find(|(known, ..)| *known == letter)?;
            privileges = privileges | *privilege;
            last = Some(*privilege);
        }
        let grantee = if grantee.is_empty() { PUBLIC } else { role(grantee)? };
        Some(Self { grantee, grantor: role(grantor)?, privileges, grantable })
    }
}

impl fmt::Display for Privileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.each().map(|(_, word)| word).collect();
        f.write_str(&words.join(", "))
    }
}

fn invalid_grant(message: &str) -> Error {
    Error::new(Condition::InvalidGrantOperation, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{BOOTSTRAP, Grants, Role};

    const ANN: u32 = 101;
    const BOB: u32 = 102;
    const CID: u32 = 103;

    fn change(grant: bool, grantor: u32, grantee: u32, privileges: Privileges, grant_option: bool) -> GrantChange {
        GrantChange { grant, grant_option, cascade: false, grantees: vec![grantee], privileges, grantor, owner: ANN }
    }

    fn chain() -> Acl {
        let mut list = Acl::of_new(ObjectClass::Relation, ANN);
        list.change(&change(true, ANN, BOB, Privileges::SELECT, true)).unwrap();
        list.change(&change(true, BOB, CID, Privileges::SELECT, true)).unwrap();
        list
    }

    #[test]
    fn lists_read_as_they_are_written() {
        let list = chain();
        assert_eq!(list.stored(), "101=arwdDxt/101 102=r*/101 103=r*/102");
        assert_eq!(Acl::from_stored(&list.stored()), Some(list));
        assert_eq!(Acl::from_stored("=r/101").unwrap().0[0].grantee, PUBLIC);
        for wrong in ["101", "101=r", "101=*/1", "101=q/1", "x=r/1"] {
            assert_eq!(Acl::from_stored(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_was_granted_on_goes_with_the_grant_option() {
        let mut list = chain();
        let mut revoke = change(false, ANN, BOB, Privileges::SELECT, true);
        let error = list.clone().change(&revoke).unwrap_err();
        assert_eq!(error.message, "dependent privileges exist");
        revoke.cascade = true;
        list.change(&revoke).unwrap();
        assert_eq!(list.stored(), "101=arwdDxt/101 102=r/101");
    }

    #[test]
    fn grant_options_do_not_go_in_circles() {
        let mut list = chain();
        assert!(list.change(&change(true, CID, BOB, Privileges::SELECT, true)).is_err());
        assert!(list.change(&change(true, ANN, PUBLIC, Privileges::SELECT, true)).is_err());
        list.change(&change(true, CID, BOB, Privileges::SELECT, false)).unwrap();
    }

    #[test]
    fn a_grantor_is_the_owner_or_who_may_grant_most() {
        let made = [Role::bootstrap("x"), Role::new(ANN, "ann"), Role::new(BOB, "bob")];
        let roles = Roles::new(made, Vec::new(), &Grants::default());
        let list = chain();
        assert_eq!(list.best_grantor(&roles, BOOTSTRAP, ANN, Privileges::UPDATE), (ANN, Privileges::UPDATE));
        let both = Privileges::SELECT | Privileges::UPDATE;
        assert_eq!(list.best_grantor(&roles, BOB, ANN, both), (BOB, Privileges::SELECT));
        assert_eq!(list.best_grantor(&roles, 105, ANN, both), (105, Privileges::NONE));
    }
}
