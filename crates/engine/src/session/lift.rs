//! Plans of simple queries' texts that need no parsing: of a text that has come before, and of texts that differ from it in
//! their literals alone.
//!
//! When the shape of a text ([`postgres::shape`]) comes for the second time, its literals become parameters where they may
//! ([`postgres::lifted`]), and the text with parameters is compiled beside the text itself. Both must come to the same columns and
//! to the same steps of the back end; where they do not, texts of this shape stay as they are. A literal that its
//! parameter's type does not take is no error here: the text itself is compiled then, and says what is wrong and where.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowferry_dialect::ir::{Statement, Value};
use rowferry_dialect::postgres::{self, LiteralKind, LiteralPlace, Shape};
use rowferry_dialect::values;
use rowferry_dialect::{Language, Result, Type, mysql};

use super::variables::PlanMode;
use super::{Prepared, Session};
use crate::backend::Operation;
use crate::plans::{Kept, PlanKey};

/// Plans of one shape, by the literals that are no parameters; more are not kept.
const VARIANTS: usize = 8;

/// A plan, and where its parameters come from.
#[derive(Clone, Debug)]
struct Variant {
    plan: Arc<Prepared>,
    places: Arc<[LiteralPlace]>,
    /// The literals that are no parameters: the plan is for texts that have these.
    fixed: Arc<[Box<str>]>,
}

/// What is known of a shape; nothing is lifted where there is no plan.
#[derive(Clone, Debug, Default)]
pub struct Lifts(Vec<Variant>);

impl Kept for Arc<Lifts> {
    fn size(&self) -> usize {
        let variant = |variant: &Variant| variant.plan.size + size_of::<Variant>() + variant.places.len() * 4;
        size_of::<Lifts>() + self.0.iter().map(variant).sum::<usize>()
    }
}

impl Lifts {
    fn of(&self, sql: &str, shape: &Shape) -> Option<&Variant> {
        self.0.iter().find(|variant| shape.fixed(sql, &variant.places).eq(variant.fixed.iter().map(|text| &**text)))
    }
}

/// Shapes that have come once, as far as one forgets none for another.
#[derive(Debug)]
pub struct Seen(Box<[AtomicU64]>);

impl Default for Seen {
    fn default() -> Self {
        Self((0..1_024).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Seen {
    /// True when the shape has come before.
    fn before(&self, key: &PlanKey) -> bool {
        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        self.0[hash as usize % self.0.len()].swap(hash, Ordering::Relaxed) == hash
    }
}

impl Session {
    /// The plan of a simple query's text, with the values of its parameters, where there is one already; `None` when the text
    /// must be parsed.
    pub fn recall(&mut self, sql: &str) -> Option<(Arc<Prepared>, Vec<Value>)> {
        if self.transaction.failed || !self.settings().strings.is_usual() {
            return None;
        }
        let shape = match self.language {
            Language::Postgres => postgres::shape(sql),
            // Elsewhere quotes and backslashes say something else.
            Language::Mysql if self.mysql_modes().reads_strings_as_usual() => mysql::shape(sql),
            Language::Mysql => None,
            _ => return None,
        };
        self.refresh_schema();
        let mode = self.state.variables.read().plan_mode();
        if mode == PlanMode::Custom {
            return None;
        }
        if let Some(shape) = shape.filter(|shape| !shape.literals.is_empty())
            && let Some(found) = self.recall_shape(sql, &shape, mode)
        {
            self.state.tally.work.plan_found();
            return Some(found);
        }
        let plan = self.database.shared.plans.get(&self.plan_key(sql.into(), &[]))?;
        plan.bound.params.is_empty().then(|| {
            self.state.tally.work.plan_found();
            (plan, Vec::new())
        })
    }

    fn recall_shape(&mut self, sql: &str, shape: &Shape, mode: PlanMode) -> Option<(Arc<Prepared>, Vec<Value>)> {
        let shared = self.database.shared.clone();
        let key = self.plan_key(shape.key.as_str().into(), &[]);
        let known = shared.lifts.get(&key);
        let variant = match &known {
            Some(lifts) => match lifts.of(sql, shape) {
                Some(variant) => Some(variant.clone()),
                None if lifts.0.is_empty() || lifts.0.len() >= VARIANTS => return None,
                None => None,
            },
            None if mode == PlanMode::Auto && !shared.shapes_seen.before(&key) => return None,
            None => None,
        };
        let variant = match variant {
            Some(variant) => variant,
            None => {
                let lifted = self.lift(sql, shape);
                let mut lifts = known.map_or_else(Lifts::default, |known| (*known).clone());
                lifts.0.extend(lifted.clone());
                shared.lifts.insert(key, Arc::new(lifts));
                lifted?
            }
        };
        let settings = self.settings();
        let language = self.language;
        let values = variant.places.iter().zip(&variant.plan.bound.params).map(|(place, ty)| {
            let text = shape.value(sql, *place)?;
            if is_time(ty) && text.trim_start().starts_with(|first: char| first.is_ascii_alphabetic()) {
                // `now`, `today`: what they are is for the statement to say.
                return None;
            }
            let is_string = shape.literals[usize::from(place.literal)].kind == LiteralKind::String;
            if language == Language::Mysql && is_string && !reads_alike(&text, ty) {
                return None;
            }
            values::input(&text, ty, &settings).ok()
        });
        let values = values.collect::<Option<Vec<_>>>()?;
        Some((variant.plan, values))
    }

    /// The plan with parameters in the place of literals, if it is the same but for them.
    fn lift(&mut self, sql: &str, shape: &Shape) -> Option<Variant> {
        let statements = self.parse(sql).ok()?;
        let [statement] = statements.as_slice() else { return None };
        let tree = statement.postgres().filter(|tree| tree.then().is_empty() && tree.control().is_none())?;
        let told = self.state.notices.lock().len();
        let mut stays = Vec::new();
        let found = loop {
            let lifted = postgres::lifted(tree, sql, shape, &stays)?;
            let plans = self.both(statement, &lifted.text, &self.parameter_types(shape, &lifted.literals));
            let Ok(Some((plain, plan))) = plans else { break None };
            if plan.bound.params.len() != lifted.literals.len() {
                break None;
            }
            let unfit = lifted.literals.iter().zip(&plan.bound.params).filter(|(_, ty)| !self.is_liftable(ty));
            let before = stays.len();
            stays.extend(unfit.map(|(place, _)| place.literal));
            // How many digits a number of MySQL's has may be a part of the plan.
            if plain.bound.effects.tells_digits
                || self.language == Language::Mysql && plain.bound.columns != plan.bound.columns
            {
                let is_decimal =
                    |place: &&LiteralPlace| shape.literals[usize::from(place.literal)].kind == LiteralKind::Numeric;
                stays.extend(lifted.literals.iter().filter(is_decimal).map(|place| place.literal));
            }
            if stays.len() == before {
                break Some((lifted, plain, plan));
            }
        };
        self.state.notices.lock().truncate(told);
        let (lifted, plain, plan) = found?;
        let same = plain.bound.columns == plan.bound.columns
            && plain.command == plan.command
            && plain.bound.effects == plan.bound.effects
            && self.steps_of(&plain)? == self.steps_of(&plan)?;
        let fixed = shape.fixed(sql, &lifted.literals).map(Box::from).collect();
        plan.stands_for(sql);
        same.then(|| Variant { plan, places: lifted.literals.into(), fixed })
    }

    /// Its input asks neither the schema nor the role, and reads what the language's literals are.
    fn is_liftable(&self, ty: &Type) -> bool {
        match self.language {
            Language::Mysql => is_read_alike(ty),
            _ => is_liftable(ty),
        }
    }

    fn parameter_types(&self, shape: &Shape, places: &[LiteralPlace]) -> Vec<Option<Type>> {
        places.iter().map(|place| shape.literals[usize::from(place.literal)].kind.ty()).collect()
    }

    /// The plans of a statement as it is, and with parameters.
    fn both(
        &mut self,
        statement: &super::Parsed,
        text: &str,
        types: &[Option<Type>],
    ) -> Result<Option<(Arc<Prepared>, Arc<Prepared>)>> {
        let plain = self.prepare_parsed(statement, &[])?;
        Ok(self.prepare(text, types)?.map(|plan| (plain, plan)))
    }

    /// What the back end would do for a plan; `None` for plans that it has no single program for.
    fn steps_of(&mut self, plan: &Prepared) -> Option<Vec<Operation>> {
        let simple = matches!(plan.bound.statement, Statement::Query(_) | Statement::Dml(_));
        let program = plan.program.as_ref().filter(|_| simple && !plan.in_parts && plan.direct.is_none())?;
        let handle = self.handle().ok()?;
        let guard = handle.lock();
        guard.make_known(&program.catalogs, &self.state).ok()?;
        let steps = guard.plan(program).ok()?;
        Some(steps.into_iter().map(|step| step.operation).collect())
    }
}

/// Types whose input asks neither the schema nor the role.
fn is_liftable(ty: &Type) -> bool {
    is_time(ty)
        || matches!(
            ty,
            Type::Bool
                | Type::Int2
                | Type::Int4
                | Type::Int8
                | Type::Float4
                | Type::Float8
                | Type::Numeric(_)
                | Type::Text
                | Type::Varchar(_)
                | Type::Char(_)
                | Type::Name
                | Type::Bytea
                | Type::Uuid
                | Type::Json
                | Type::Jsonb
        )
}

/// Types that read what [`reads_alike`] says in MySQL's way.
fn is_read_alike(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Int2
            | Type::Int4
            | Type::Int8
            | Type::Float4
            | Type::Float8
            | Type::Numeric(_)
            | Type::Text
            | Type::Varchar(_)
            | Type::Date
            | Type::Time(_)
            | Type::Timestamp(_)
    )
}

/// A string of MySQL's that a type's input takes for what MySQL does: the usual spelling of a number or a moment. What others
/// mean (`'7 apples'`, `'24-1-1'`) is for the statement itself to say.
fn reads_alike(text: &str, ty: &Type) -> bool {
    /// `9` stands for a digit.
    fn is(text: &str, form: &str) -> bool {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                b'9' => byte.is_ascii_digit(),
                other => byte == other,
            })
    }
    match ty {
        Type::Text | Type::Varchar(_) => true,
        Type::Date => is(text, "9999-99-99"),
        Type::Time(_) => is(text, "99:99:99"),
        Type::Timestamp(_) => is(text, "9999-99-99") || is(text, "9999-99-99 99:99:99"),
        _ => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
            let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            all_digits(whole) && all_digits(fraction)
        }
    }
}

/// Types whose input knows words for times.
fn is_time(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Date | Type::Time(_) | Type::TimeTz(_) | Type::Timestamp(_) | Type::TimestampTz(_) | Type::Interval(_)
    )
}
