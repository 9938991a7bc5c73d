//! Sequences: CREATE, ALTER, DROP, RENAME, and those that belong to columns.

use std::sync::Arc;

use rowferry_dialect::ir::{ColumnDefinition, CreateSequence, Expr, ExprKind, IdentityDefinition, Value};
use rowferry_dialect::schema::{Column, QualifiedName, Relation, Schema as _};
use rowferry_dialect::{Condition, Error, Language, Type};

use super::dependencies::Needed;
use super::new_names::NewNames;
use super::{Changer, Done, cannot_drop, describe};
use crate::backend::Fact;
use crate::schema::SequenceDetails;
use crate::session::sequences::Counter;

/// The longest name, in bytes.
const NAME_LENGTH: usize = 63;

impl Changer<'_> {
    pub(super) fn create_sequence(&self, sequence: &CreateSequence) -> Done {
        let (namespace, database, _) = self.place(&sequence.name, false)?;
        if !self.is_free(&namespace, &sequence.name.name, sequence.if_not_exists)? {
            return Ok(());
        }
        let owner = sequence.owner.as_ref().and_then(|owner| owner.as_ref());
        let owner = owner.map(|(table, at)| (table.physical.name.as_str(), table.columns[*at].name.as_str()));
        self.add_sequence(sequence, database, &namespace, owner).map(|_| ())
    }

    fn add_sequence(
        &self,
        sequence: &CreateSequence,
        database: &str,
        namespace: &str,
        owner: Option<(&str, &str)>,
    ) -> Done<u32> {
        let oid = self.record(database, "sequence", namespace, &sequence.name.name, None, Language::Postgres, None)?;
        self.store.record_sequence(database, oid, sequence, owner, new_stamp(0))?;
        Ok(oid)
    }

    /// Makes the sequence of a column that needs one; its whole name.
    pub(super) fn sequence_of_column(
        &self,
        table: (&str, &str),
        column: &ColumnDefinition,
        database: &'static str,
        namespace: &str,
    ) -> Done<String> {
        let (name, physical) = table;
        let sequence = match (&column.sequence, &column.identity) {
            (Some(sequence), _) => sequence.clone(),
            (None, Some(identity)) => of_informix(column, identity),
            (None, None) => return Err(Error::internal("a column without numbers has a sequence").into()),
        };
        let given = sequence.name.name.as_str();
        let (namespace, name) = if given.is_empty() {
            (namespace.to_owned(), self.free_name(namespace, &object_name(name, &column.name, "seq")))
        } else {
            let own = sequence.name.schema.clone().unwrap_or_else(|| namespace.to_owned());
            self.is_free(&own, given, false)?;
            (own, given.to_owned())
        };
        let sequence = CreateSequence { name: QualifiedName::new(namespace.clone(), name.clone()), ..sequence };
        self.add_sequence(&sequence, database, &namespace, Some((physical, &column.name)))?;
        Ok(format!("{namespace}.{name}"))
    }

    /// Says that a column has got a sequence, to clients that want to know such things.
    pub(super) fn tell_of_sequence(&self, command: &str, whole: &str, table: &str, column: &str) {
        let name = whole.split_once('.').map_or(whole, |(_, name)| name);
        self.detail(format!(
            "{command} will create implicit sequence \"{name}\" for serial column \"{table}.{column}\""
        ));
    }

    /// The sequence whose next number an expression is, and nothing else.
    pub(super) fn next_of(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Cast { arg, .. } => self.next_of(arg),
            ExprKind::Call { function, args } if function.name == "nextval" => match args.as_slice() {
                [Expr { kind: ExprKind::Literal(Value::Integer(oid)), .. }] => {
                    let schema = self.schema();
                    let details = schema.sequence_by_oid(u32::try_from(*oid).ok()?)?;
                    Some(format!("{}.{}", details.sequence.namespace, details.sequence.name))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// ALTER SEQUENCE.
    pub(super) fn alter_sequence(&self, sequence: &CreateSequence, restart: Option<i64>) -> Done {
        let Some(details) = self.schema().sequence_details(&sequence.name) else {
            return Err(Error::internal("ALTER of a sequence that is gone").into());
        };
        if details.rowid_of.is_some() {
            return Err(Error::unsupported("ALTER of a sequence that the identities of rows are").into());
        }
        if let Some(owner) = &sequence.owner {
            self.set_owner(&details, owner.as_ref())?;
        }
        let counter = self.session.state.sequence_counter(self.handle.connection(), &details)?;
        if restart.is_none() {
            check_stands_within(counter.last, sequence)?;
        }
        let (oid, database) = (details.sequence.oid, details.database);
        self.touch(database, oid);
        self.store.change_sequence(database, oid, sequence)?;
        restart.map_or(Ok(()), |next| self.restart_sequence(&details, next))
    }

    /// A sequence begins again: under another stamp, so that it goes on as before if this is rolled back.
    pub(super) fn restart_sequence(&self, details: &Arc<SequenceDetails>, next: i64) -> Done {
        let (oid, database) = (details.sequence.oid, details.database);
        self.touch(database, oid);
        let stamp = new_stamp(details.stamp);
        self.store.restart_sequence(database, oid, next, stamp)?;
        let known = self.store.greatest_identity(details)?;
        let renewed = SequenceDetails { stamp, ..(**details).clone() };
        if let Some(database) = self.session.state.database.upgrade() {
            let counter = Counter::at(next, false, known.unwrap_or(i64::MIN));
            database.sequences.lock().insert(renewed.key(self.session.state.pid), counter);
        }
        Ok(())
    }

    /// TRUNCATE … RESTART IDENTITY.
    pub(super) fn restart_identity(&self, table: &Relation) -> Done {
        let schema = self.schema();
        for details in schema.sequences_of(table.oid) {
            if details.rowid_of.is_none() {
                self.restart_sequence(details, details.start)?;
                continue;
            }
            if let Some(database) = self.session.state.database.upgrade() {
                database.sequences.lock().remove(&details.key(self.session.state.pid));
            }
            self.store.forget_identities(table)?;
        }
        Ok(())
    }

    /// OWNED BY.
    fn set_owner(&self, details: &SequenceDetails, owner: Option<&(Arc<Relation>, usize)>) -> Done {
        let schema = self.schema();
        if let Some((table, column)) = details.owner
            && let Some(table) = schema.relation_by_oid(table)
            && table.columns.get(column).is_some_and(|column| column.identity.is_some())
        {
            let detail = format!("Sequence \"{}\" is linked to table \"{}\".", details.sequence.name, table.name);
            let message = "cannot change ownership of identity sequence";
            return Err(Error::new(Condition::FeatureNotSupported, message).detail(detail).into());
        }
        self.touch(details.database, details.sequence.oid);
        let owner = owner.map(|(table, at)| (&**table, *at));
        self.store.set_sequence_owner(details.database, details.sequence.oid, owner)
    }

    /// RENAME SEQUENCE.
    pub(super) fn rename_sequence(&self, details: &SequenceDetails, to: &str) -> Done {
        let sequence = &details.sequence;
        self.is_free(&sequence.namespace, to, false)?;
        let names = NewNames::of(sequence.oid, &sequence.name, &sequence.namespace, Some(to));
        let renamed = self.rename_in_texts(&names)?;
        self.store.change_entry(details.database, sequence.oid, Fact::Name, Some(to))?;
        self.renumber(details, &sequence.namespace, to)?;
        self.check_renamed(&renamed)
    }

    /// ALTER SEQUENCE … SET SCHEMA.
    pub(super) fn move_sequence(&self, details: &SequenceDetails, namespace: &str) -> Done {
        let sequence = &details.sequence;
        if let Some(table) = details.owner.and_then(|(oid, _)| self.schema().relation_by_oid(oid)) {
            let message = "cannot move an owned sequence into another schema";
            let detail = format!("Sequence \"{}\" is linked to table \"{}\".", sequence.name, table.name);
            return Err(Error::new(Condition::FeatureNotSupported, message).detail(detail).into());
        }
        if self.collision(namespace, &sequence.name).is_some() {
            let message = format!("relation \"{}\" already exists in schema \"{namespace}\"", sequence.name);
            return Err(Error::new(Condition::DuplicateTable, message).into());
        }
        let renamed = self.rename_in_texts(&NewNames::of(sequence.oid, &sequence.name, namespace, None))?;
        self.place_sequence(details, namespace)?;
        self.check_renamed(&renamed)
    }

    /// A sequence is in another schema from now on.
    pub(super) fn place_sequence(&self, details: &SequenceDetails, namespace: &str) -> Done {
        self.store.change_entry(details.database, details.sequence.oid, Fact::Namespace, Some(namespace))?;
        self.renumber(details, namespace, &details.sequence.name)
    }

    /// Columns go on to take their numbers from a sequence under its new name.
    fn renumber(&self, details: &SequenceDetails, namespace: &str, name: &str) -> Done {
        let sequence = &details.sequence;
        self.touch(details.database, sequence.oid);
        for (relation, _) in self.schema().numbered_by(sequence) {
            self.touch(relation.physical.database, relation.oid);
            let from = format!("{}.{}", sequence.namespace, sequence.name);
            self.store.rename_numbering(relation.physical.database, &from, &format!("{namespace}.{name}"))?;
        }
        Ok(())
    }

    /// DROP SEQUENCE.
    pub(super) fn drop_sequence(&self, details: &SequenceDetails, cascade: bool) -> Done {
        let schema = self.schema();
        let name = &details.sequence.name;
        if let Some((oid, at)) = details.owner
            && let Some(table) = schema.relation_by_oid(oid)
            && let Some(column) = table.columns.get(at)
            && column.identity.is_some()
        {
            let of = format!("column {} of {}", column.name, describe(&table));
            return Err(Error::new(
                Condition::DependentObjectsStillExist,
                format!("cannot drop sequence {name} because {of} requires it"),
            )
            .hint(format!("You can drop {of} instead."))
            .into());
        }
        self.drop_defaults_of(details, &format!("sequence {name}"), cascade, &[])?;
        let needed = Needed::sequence(details.sequence.oid, name);
        self.drop_dependents(&format!("sequence {name}"), vec![needed], cascade)?;
        self.forget(details.database, details.sequence.oid)
    }

    /// The defaults that take their numbers from a sequence go with it, or it stays. Those of `going` go anyhow.
    pub(super) fn drop_defaults_of(
        &self,
        details: &SequenceDetails,
        object: &str,
        cascade: bool,
        going: &[Arc<Relation>],
    ) -> Done {
        let columns = self.schema().numbered_by(&details.sequence);
        let columns: Vec<_> =
            columns.into_iter().filter(|(table, _)| !going.iter().any(|other| other.oid == table.oid)).collect();
        let shown = |(table, at): &(Arc<Relation>, usize)| {
            format!("default value for column {} of {}", table.columns[*at].name, describe(table))
        };
        if columns.is_empty() {
            return Ok(());
        }
        if !cascade {
            let on = format!("sequence {}", details.sequence.name);
            let lines: Vec<_> = columns.iter().map(|column| (shown(column), on.clone())).collect();
            return Err(cannot_drop(object, &lines));
        }
        self.tell_cascade(&columns.iter().map(shown).collect::<Vec<_>>());
        for (table, at) in &columns {
            self.touch(table.physical.database, table.oid);
            self.store.forget_numbering(table, *at)?;
        }
        Ok(())
    }

    /// ALTER COLUMN … ADD GENERATED AS IDENTITY.
    pub(super) fn add_identity(
        &self,
        table: &Relation,
        at: usize,
        identity: &IdentityDefinition,
        sequence: &CreateSequence,
    ) -> Done {
        let column = &table.columns[at];
        let mut sequence = sequence.clone();
        if identity.zero_is_next || self.session.language() == Language::Mysql {
            // SERIAL and AUTO_INCREMENT go on behind the numbers that are there.
            let greatest = self.store.greatest_number(table, at)?;
            let next = greatest.map_or(1, |greatest| greatest.saturating_add(1));
            sequence.start = sequence.start.max(next).min(sequence.max);
        }
        let definition = ColumnDefinition {
            name: column.name.clone(),
            ty: column.ty.clone(),
            not_null: true,
            default: None,
            identity: Some(identity.clone()),
            sequence: Some(sequence),
            generated: None,
            collation: column.collation.clone(),
        };
        let names = (table.name.as_str(), table.physical.name.as_str());
        let name = self.sequence_of_column(names, &definition, table.physical.database, &table.namespace)?;
        let kind = match (identity.zero_is_next, identity.always) {
            (true, _) => "serial",
            (false, true) => "always",
            (false, false) => "by default",
        };
        self.set_numbering(table, at, Some(kind), Some(&name))
    }

    /// ALTER COLUMN … SET GENERATED, SET of options, RESTART.
    pub(super) fn set_identity(
        &self,
        table: &Relation,
        at: usize,
        always: Option<bool>,
        sequence: Option<&CreateSequence>,
        restart: Option<i64>,
    ) -> Done {
        let name = table.columns[at].numbering().map(QualifiedName::to_string);
        if let Some(always) = always {
            self.set_numbering(table, at, Some(if always { "always" } else { "by default" }), name.as_deref())?;
        }
        match (sequence, restart) {
            (Some(sequence), restart) => self.alter_sequence(sequence, restart),
            (None, Some(next)) => self.go_on_at(table, at, next),
            (None, None) => Ok(()),
        }
    }

    /// Informix's MODIFY of a SERIAL: the next number, where that is greater than those that were given. MySQL's
    /// AUTO_INCREMENT = n goes back to it where no row has a greater one.
    fn go_on_at(&self, table: &Relation, at: usize, next: i64) -> Done {
        let Some(name) = table.columns[at].numbering() else {
            self.entry(table)?;
            return self.store.number_rows_from(table, next, self.session.language() == Language::Mysql);
        };
        let Some(details) = self.schema().sequence_details(name) else {
            return Err(Error::internal("the sequence of a SERIAL is gone").into());
        };
        if self.session.language() == Language::Mysql {
            let greatest = self.store.greatest_number(table, at)?;
            return self.restart_sequence(&details, greatest.map_or(next, |known| next.max(known.saturating_add(1))));
        }
        let counter = self.session.state.sequence_counter(self.handle.connection(), &details)?;
        if next > counter.last { self.restart_sequence(&details, next) } else { Ok(()) }
    }

    /// ALTER COLUMN … DROP IDENTITY.
    pub(super) fn drop_identity(&self, table: &Relation, at: usize) -> Done {
        let schema = self.schema();
        let sequence = table.columns[at].numbering().and_then(|name| schema.sequence_details(name));
        self.set_numbering(table, at, None, None)?;
        match sequence {
            Some(details) => self.forget(details.database, details.sequence.oid),
            None => Ok(()),
        }
    }

    /// The sequence of an identity has its column's type; a bound that was the old type's becomes the new one's.
    pub(super) fn retype_sequence(&self, column: &Column, ty: &Type) -> Done {
        let schema = self.schema();
        let found = column.numbering().and_then(|name| schema.sequence_definition(name));
        let Some(mut sequence) = found.filter(|sequence| sequence.ty != *ty && ty.is_integer()) else {
            return Ok(());
        };
        let (old, new) = (crate::schema::integer_range(&sequence.ty), crate::schema::integer_range(ty));
        if sequence.max == old.1 {
            sequence.max = new.1;
        }
        if sequence.min == old.0 {
            sequence.min = new.0;
        }
        sequence.ty = ty.clone();
        self.alter_sequence(&sequence, None)
    }

    fn set_numbering(&self, table: &Relation, at: usize, identity: Option<&str>, sequence: Option<&str>) -> Done {
        self.entry(table)?;
        self.store.record_numbering(table, at, identity, sequence)
    }

    /// A name that nothing has: the wish, with a number behind it if need be.
    fn free_name(&self, namespace: &str, wish: &str) -> String {
        let mut name = wish.to_owned();
        let mut number = 0;
        while self.collision(namespace, &name).is_some() {
            number += 1;
            name = format!("{wish}{number}");
        }
        name
    }
}

/// What Informix's SERIAL counts where the rows' identities cannot.
fn of_informix(column: &ColumnDefinition, identity: &IdentityDefinition) -> CreateSequence {
    let ty = crate::schema::counted(&column.ty);
    let (least, greatest) = crate::schema::integer_range(&ty);
    let up = identity.increment > 0;
    CreateSequence {
        name: QualifiedName::bare(""),
        if_not_exists: false,
        ty,
        start: identity.start,
        increment: identity.increment,
        min: if up { 1 } else { least },
        max: if up { greatest } else { -1 },
        cache: 1,
        cycle: false,
        owner: None,
    }
}

/// New bounds must leave room for where the sequence stands.
fn check_stands_within(last: i64, sequence: &CreateSequence) -> Result<(), Error> {
    let refused = |relation: &str, bound: &str, value: i64| {
        let message = format!("RESTART value ({last}) cannot be {relation} than {bound} ({value})");
        Err(Error::new(Condition::InvalidParameterValue, message))
    };
    if last < sequence.min {
        return refused("less", "MINVALUE", sequence.min);
    }
    if last > sequence.max {
        return refused("greater", "MAXVALUE", sequence.max);
    }
    Ok(())
}

/// A stamp that no counter of the sequence has had.
fn new_stamp(old: i64) -> i64 {
    crate::session::state::now().max(old + 1)
}

/// `table_column_suffix` within the length of a name; the longer of both parts gives way.
fn object_name(table: &str, column: &str, suffix: &str) -> String {
    let room = NAME_LENGTH - suffix.len() - 2;
    let (mut first, mut second) = (table.len(), column.len());
    while first + second > room {
        if first > second {
            first -= 1;
        } else {
            second -= 1;
        }
    }
    let cut = |text: &str, mut end: usize| {
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text[..end].to_owned()
    };
    format!("{}_{}_{suffix}", cut(table, first), cut(column, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_where_they_are_longest() {
        assert_eq!(object_name("orders", "id", "seq"), "orders_id_seq");
        let long = "a".repeat(63);
        assert_eq!(object_name(&long, "id", "seq"), format!("{}_id_seq", "a".repeat(56)));
        assert_eq!(object_name(&long, &long, "seq").len(), 63);
        assert!(object_name(&"ö".repeat(31), "id", "seq").starts_with("öö"));
    }
}
