//! CREATE, ALTER and DROP of operators and casts, and what cannot stay without them.

use std::sync::Arc;

use rowferry_dialect::ir::{CastChange, OperatorChange, OtherOperator};
use rowferry_dialect::plan::Context;
use rowferry_dialect::postgres::{self, regproc, regtype};
use rowferry_dialect::schema::{QualifiedName, Relation, Trigger};
use rowferry_dialect::types::Reg;
use rowferry_dialect::user_cast::{self, UserCast};
use rowferry_dialect::user_operator::{Definition, UserOperator};
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Error, Language, Schema as _};

use super::dependencies::{Dependent, Needed};
use super::function_uses::Part;
use super::new_names::NewNames;
use super::policy::PolicyUser;
use super::{Changer, Done, cannot_drop, described};
use crate::backend::Fact;
use crate::schema::{PG_CATALOG, PUBLIC, SessionSchema};

/// An operator or cast that goes.
enum Going {
    Operator(Arc<UserOperator>),
    Cast(UserCast),
}

impl Going {
    fn oid(&self) -> u32 {
        match self {
            Self::Operator(operator) => operator.oid,
            Self::Cast(cast) => cast.oid,
        }
    }

    fn shown(&self, schema: &SessionSchema) -> String {
        match self {
            Self::Operator(operator) => shown_operator(schema, operator),
            Self::Cast(cast) => shown_cast(schema, cast),
        }
    }
}

/// What cannot stay without an operator or a cast.
struct Users {
    views: Vec<Dependent>,
    parts: Vec<(Arc<Relation>, Part)>,
    triggers: Vec<(Arc<Relation>, Arc<Trigger>)>,
    policies: Vec<PolicyUser>,
    checks: Vec<(Arc<UserType>, String)>,
}

impl Changer<'_> {
    pub(super) fn change_operator(&self, change: &OperatorChange) -> Done {
        match change {
            OperatorChange::Create { name, definition, commutator, negator, shell } => {
                self.create_operator(name, definition, [commutator.as_ref(), negator.as_ref()], *shell)?;
            }
            OperatorChange::Alter { operator, definition } => self.redefine_operator(operator.oid, definition)?,
            OperatorChange::Move { operator, to } => {
                let renamed = self.rename_in_texts(&NewNames::of(operator.oid, &operator.name, to, None))?;
                self.store.change_entry("main", operator.oid, Fact::Namespace, Some(to))?;
                self.touch("main", operator.oid);
                self.check_renamed(&renamed)?;
            }
            OperatorChange::Comment { operator, text } => {
                self.store.change_entry("main", operator.oid, Fact::Comment, text.as_deref())?;
                self.touch("main", operator.oid);
            }
            OperatorChange::Drop { operators, cascade } => {
                for operator in operators {
                    self.settle()?;
                    let Some(operator) = self.schema().operator_by_oid(operator.oid) else { continue };
                    self.drop_going(&Going::Operator(operator), *cascade)?;
                }
            }
        }
        self.bump()
    }

    pub(super) fn change_cast(&self, change: &CastChange) -> Done {
        match change {
            CastChange::Create(definition) => {
                self.make_room_for_cast(definition)?;
                let (entry, text) = (definition.entry(), definition.to_text());
                self.record("main", "cast", PG_CATALOG, &entry, None, Language::Postgres, Some(&text))?;
            }
            CastChange::Comment { cast, text } => {
                self.store.change_entry("main", cast.oid, Fact::Comment, text.as_deref())?;
                self.touch("main", cast.oid);
            }
            CastChange::Drop(cast) => self.drop_cast(*cast)?,
        }
        self.bump()
    }

    fn redefine_operator(&self, oid: u32, definition: &Definition) -> Done {
        self.store.change_entry("main", oid, Fact::Definition, Some(&definition.to_text()))?;
        self.touch("main", oid);
        Ok(())
    }

    fn record_operator(&self, name: &QualifiedName, definition: &Definition) -> Done<u32> {
        let namespace = name.schema.as_deref().unwrap_or(PUBLIC);
        let (entry, text) = (definition.entry(&name.name), definition.to_text());
        self.record("main", "operator", namespace, &entry, None, Language::Postgres, Some(&text))
    }

    fn create_operator(
        &self,
        name: &QualifiedName,
        definition: &Definition,
        kin: [Option<&OtherOperator>; 2],
        shell: Option<u32>,
    ) -> Done {
        let oid = match shell {
            Some(oid) => oid,
            None => self.record_operator(name, definition)?,
        };
        let mut definition = definition.clone();
        let mut made: Vec<(QualifiedName, u32, u32, u32)> = Vec::new();
        let [commutator, negator] = kin.map(|other| -> Done<u32> {
            Ok(match other {
                None => 0,
                Some(OtherOperator::Known(other)) => *other,
                Some(OtherOperator::Itself) => oid,
                Some(OtherOperator::Shell { name, left, right }) => {
                    let place = (name.clone(), *left, *right);
                    let known = made
                        .iter()
                        .find(|(name, left, right, _)| (name, *left, *right) == (&place.0, place.1, place.2));
                    match known {
                        Some((.., known)) => *known,
                        None => {
                            let shell = Definition { left: *left, right: *right, ..Definition::default() };
                            let other = self.record_operator(name, &shell)?;
                            made.push((place.0, place.1, place.2, other));
                            other
                        }
                    }
                }
            })
        });
        (definition.commutator, definition.negator) = (commutator?, negator?);
        // Others have named it already.
        if shell.is_some() {
            let schema = self.schema();
            let named = |mine: fn(&Definition) -> u32| {
                schema.main.operators.iter().find(|other| mine(&other.definition) == oid).map_or(0, |other| other.oid)
            };
            if definition.commutator == 0 {
                definition.commutator = named(|other| other.commutator);
            }
            if definition.negator == 0 {
                definition.negator = named(|other| other.negator);
            }
        }
        self.redefine_operator(oid, &definition)?;
        self.settle()?;
        let schema = self.schema();
        let kin = |of: u32| (of != oid).then(|| schema.operator_by_oid(of)).flatten();
        // What has no commutator or negator yet has this one.
        if let Some(other) = kin(definition.commutator).filter(|other| other.definition.commutator == 0) {
            self.redefine_operator(other.oid, &Definition { commutator: oid, ..other.definition.clone() })?;
            self.settle()?;
        }
        let schema = self.schema();
        let negator = (definition.negator != oid).then(|| schema.operator_by_oid(definition.negator)).flatten();
        if let Some(other) = negator.filter(|other| other.definition.negator == 0) {
            self.redefine_operator(other.oid, &Definition { negator: oid, ..other.definition.clone() })?;
        }
        Ok(())
    }

    fn drop_going(&self, going: &Going, cascade: bool) -> Done {
        let shown = going.shown(&self.schema());
        let users = self.users_of_going(going);
        let lines = self.lines_of(&users, &shown);
        if !(cascade || lines.is_empty()) {
            return Err(cannot_drop(&shown, &lines));
        }
        self.tell_cascade(&lines.into_iter().map(|(gone, _)| gone).collect::<Vec<_>>());
        self.take(going, users)
    }

    /// What is stored does not hang on a cast in PostgreSQL, whose trees name its function. Here texts mean the cast: it stays for
    /// them, out of everybody else's sight.
    fn drop_cast(&self, cast: UserCast) -> Done {
        if self.user_of_cast(cast).is_none() {
            return self.forget("main", cast.oid);
        }
        let UserCast { oid, definition } = cast;
        self.store.change_entry("main", oid, Fact::Definition, Some(&definition.to_text_of_dropped()))?;
        self.store.change_entry("main", oid, Fact::Name, Some(&definition.entry_of_dropped(oid)))?;
        self.store.change_entry("main", oid, Fact::Comment, None)?;
        self.touch("main", oid);
        Ok(())
    }

    /// What is stored and converts by a cast.
    fn user_of_cast(&self, cast: UserCast) -> Option<String> {
        let going = Going::Cast(cast);
        let shown = going.shown(&self.schema());
        self.lines_of(&self.users_of_going(&going), &shown).into_iter().next().map(|(user, _)| user)
    }

    /// A text cannot mean a cast that was dropped and another between the same types.
    fn make_room_for_cast(&self, definition: &user_cast::Definition) -> Done {
        let same = |known: &&UserCast| {
            (known.definition.source, known.definition.target) == (definition.source, definition.target)
        };
        let Some(cast) = self.schema().main.dropped_casts.iter().find(same).copied() else { return Ok(()) };
        if let Some(user) = self.user_of_cast(cast) {
            let shown = shown_cast(&self.schema(), &cast);
            let what = format!("another {shown} while {user} converts by the one that was dropped");
            return Err(Error::unsupported(what).into());
        }
        self.forget("main", cast.oid)?;
        self.settle()
    }

    /// What was dropped and stayed for what is stored goes at last with a type that it is about.
    pub(super) fn forget_dropped_casts_of(&self, ty: u32) -> Done {
        let schema = self.schema();
        let of_type = |cast: &&UserCast| [cast.definition.source, cast.definition.target].contains(&ty);
        schema.main.dropped_casts.iter().filter(of_type).try_for_each(|cast| self.forget("main", cast.oid))
    }

    /// The operators and casts behind which a function stands go with it, or keep it.
    pub(super) fn drop_operators_of_function(&self, function: u32, dropped: &str, cascade: bool) -> Done {
        // Views have gone already.
        self.settle()?;
        let schema = self.schema();
        let operators = schema.main.operators.iter().filter(|operator| operator.definition.function == function);
        let mut all: Vec<Going> = operators.cloned().map(Going::Operator).collect();
        let casts = schema.main.casts.iter().filter(|cast| cast.definition.method.function() == function);
        all.extend(casts.copied().map(Going::Cast));
        all.sort_by_key(Going::oid);
        let mut lines = Vec::new();
        for going in &all {
            let shown = going.shown(&schema);
            lines.push((shown.clone(), dropped.to_owned()));
            // What converts by a cast needs the cast's function, not the cast.
            let on = if matches!(going, Going::Cast(_)) { dropped } else { &shown };
            lines.extend(self.lines_of(&self.users_of_going(going), on));
        }
        let gone = schema.main.dropped_casts.iter().filter(|cast| cast.definition.method.function() == function);
        for cast in gone.copied().map(Going::Cast) {
            lines.extend(self.lines_of(&self.users_of_going(&cast), dropped));
            all.push(cast);
        }
        if !(cascade || lines.is_empty()) {
            return Err(cannot_drop(dropped, &lines));
        }
        self.tell_cascade(&lines.into_iter().map(|(gone, _)| gone).collect::<Vec<_>>());
        all.iter().try_for_each(|going| self.take(going, self.users_of_going(going)))
    }

    /// Drops an operator that goes with something else.
    pub(super) fn take_operator(&self, operator: &Arc<UserOperator>) -> Done {
        if self.schema().operator_by_oid(operator.oid).is_none() {
            return Ok(());
        }
        let going = Going::Operator(operator.clone());
        let users = self.users_of_going(&going);
        self.take(&going, users)
    }

    /// Drops a cast that goes with something else.
    pub(super) fn take_cast(&self, cast: UserCast) -> Done {
        if !self.schema().main.casts.iter().any(|known| known.oid == cast.oid) {
            return Ok(());
        }
        let going = Going::Cast(cast);
        let users = self.users_of_going(&going);
        self.take(&going, users)
    }

    fn take(&self, going: &Going, users: Users) -> Done {
        users.views.iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
        self.drop_triggers(users.triggers.iter().map(|(relation, trigger)| (&**relation, &**trigger)))?;
        self.drop_policies(&users.policies)?;
        self.drop_parts(users.parts)?;
        for (ty, check) in &users.checks {
            self.settle()?;
            self.drop_check_of_domain(ty.oid, check)?;
        }
        let oid = going.oid();
        if let Going::Operator(_) = going {
            self.settle()?;
            let schema = self.schema();
            for other in schema.main.operators.iter().filter(|other| other.oid != oid) {
                let mut definition = other.definition.clone();
                for kin in [&mut definition.commutator, &mut definition.negator] {
                    if *kin == oid {
                        *kin = 0;
                    }
                }
                if definition != other.definition {
                    self.redefine_operator(other.oid, &definition)?;
                }
            }
        }
        self.forget("main", oid)?;
        self.settle()
    }

    fn users_of_going(&self, going: &Going) -> Users {
        let schema = self.schema();
        let (oid, shown) = (going.oid(), going.shown(&schema));
        let needed = vec![Needed::function(oid, &shown)];
        let names = |table: &Arc<Relation>, text: &str| {
            // Without its sign an operator is not named; a cast may be meant by anything.
            let may = match going {
                Going::Operator(operator) => text.contains(&operator.name),
                Going::Cast(_) => true,
            };
            may && postgres::uses_of_stored(text, table, &schema, &Context::default())
                .is_ok_and(|uses| uses.routines.contains(&oid))
        };
        Users {
            policies: self.policies_needing(&needed).collect(),
            views: self.dependents(needed),
            parts: self.parts_with(&names, &|_, _| false),
            triggers: self.triggers_in(oid),
            checks: self.domain_checks_naming(oid),
        }
    }

    /// What messages call what cannot stay without something.
    fn lines_of(&self, users: &Users, on: &str) -> Vec<(String, String)> {
        let schema = self.schema();
        let line = |shown: String| (shown, on.to_owned());
        let mut lines: Vec<(String, String)> = Vec::new();
        lines.extend(users.views.iter().map(|user| (described(&schema, &user.view), user.on.clone())));
        lines.extend(users.parts.iter().map(|(table, part)| line(self.shown_part(table, part))));
        lines.extend(
            users
                .triggers
                .iter()
                .map(|(table, trigger)| line(format!("trigger {} on {}", trigger.name, described(&schema, table)))),
        );
        lines.extend(users.policies.iter().map(|user| line(user.shown.clone())));
        lines.extend(users.checks.iter().map(|(_, check)| line(format!("constraint {check}"))));
        lines
    }
}

/// `operator ===(integer,text)`
pub(super) fn shown_operator(schema: &SessionSchema, operator: &UserOperator) -> String {
    let name = regproc::name(schema, Reg::Operator, operator.oid).unwrap_or_else(|| operator.name.clone());
    format!("operator {name}")
}

/// `cast from integer to text`
pub(super) fn shown_cast(schema: &SessionSchema, cast: &UserCast) -> String {
    let words = |oid: u32| regtype::shown_in(schema, oid, None).unwrap_or_else(|| oid.to_string());
    format!("cast from {} to {}", words(cast.definition.source), words(cast.definition.target))
}
