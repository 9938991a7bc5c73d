//! SQL/JSON paths, run over `jsonb`.
//!
//! A fault that a path's semantics allow for (a member that is not there in strict mode, a text where a number is
//! wanted) makes a predicate unknown, and is left out where the caller asks for silence; any other error stays one.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::jsonpath::{self, Arithmetic, Comparison, Expr, Method, Path, Step};
use rowferry_dialect::values::{Decimal, float, json};
use rowferry_dialect::{Condition, Error, Result, stack, work};
use serde_json::Value as Json;

use super::call::boolean;
use super::jsonpath_datetime::{Moment, Zone};
use super::{Call, Row, regex};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_jsonb_path_exists", 2, |call| {
        let silent = given(call, 3)?;
        let found = run(call, silent)?;
        Ok(found.map_or(Value::Null, |found| Value::Integer(i64::from(!found.is_empty()))))
    })
    .optional(3),
    Row::new("rf_jsonb_path_exists_quietly", 2, |call| {
        let found = run(call, true)?;
        Ok(found.map_or(Value::Null, |found| Value::Integer(i64::from(!found.is_empty()))))
    }),
    Row::new("rf_jsonb_path_match", 2, |call| matches(call, given(call, 3)?)).optional(3),
    Row::new("rf_jsonb_path_match_quietly", 2, |call| matches(call, true)),
    Row::new("rf_jsonb_path_query_array", 2, |call| {
        let found = all(call, given(call, 3)?)?;
        normal(&Json::Array(found.into_iter().map(Item::into_json).collect()))
    })
    .optional(3),
    Row::new("rf_jsonb_path_query_first", 2, |call| {
        let found = all(call, given(call, 3)?)?;
        found.into_iter().next().map_or(Ok(Value::Null), |first| normal(&first.into_json()))
    })
    .optional(3),
];

fn given(call: &Call<'_>, at: usize) -> Result<bool> {
    if at < call.len() { call.boolean(at) } else { Ok(false) }
}

fn optional<'c>(call: &'c Call<'_>, at: usize) -> Result<Option<&'c str>> {
    if at < call.len() { call.text(at).map(Some) } else { Ok(None) }
}

fn path(call: &Call<'_>) -> Result<std::sync::Arc<Path>> {
    call.prepared(1, || jsonpath::parse(call.text(1)?).map(std::sync::Arc::new))
}

/// The session's zone where a function may use it: the fifth argument of the `_tz` forms.
fn zone(call: &Call<'_>) -> Result<Option<Zone>> {
    Ok(if given(call, 4)? { Some(Zone::of(call.context())) } else { None })
}

/// All that a call's path finds.
fn all(call: &Call<'_>, silent: bool) -> Result<Vec<Item>> {
    sequence(call.text(0)?, &*path(call)?, optional(call, 2)?, silent, zone(call)?.as_ref())
}

fn normal(value: &Json) -> Result<Value> {
    let mut out = String::new();
    json::write(&mut out, value)?;
    Ok(Value::Text(out))
}

/// What the path finds; `None` when a fault was left out.
fn run(call: &Call<'_>, silent: bool) -> Result<Option<Vec<Item>>> {
    let path = path(call)?;
    let target = json::parse(call.text(0)?)?;
    let vars = variables(optional(call, 2)?)?;
    let mut found = Vec::new();
    let zone = zone(call)?;
    match Run::new(&path, &target, vars.as_ref(), zone.as_ref()).some(&path.root, Ref::Json(&target), &mut found) {
        Ok(()) => Ok(Some(found)),
        // Something was found before: that is enough where structural errors are none.
        Err(Fault::Allowed(_)) if !path.strict && !found.is_empty() => Ok(Some(found)),
        Err(Fault::Allowed(_)) if silent => Ok(None),
        Err(Fault::Allowed(error) | Fault::Error(error)) => Err(error),
    }
}

fn matches(call: &Call<'_>, silent: bool) -> Result<Value> {
    let found = all(call, silent)?;
    match found.as_slice() {
        [Item::Json(Json::Bool(value))] => boolean(*value),
        [Item::Json(Json::Null)] => Ok(Value::Null),
        _ if silent => Ok(Value::Null),
        _ => Err(Error::new(Condition::SingletonSqlJsonItemRequired, "single boolean result is expected")),
    }
}

/// All that a path finds; with silence, what it found before a fault.
pub(super) fn sequence(
    target: &str,
    path: &Path,
    vars: Option<&str>,
    silent: bool,
    zone: Option<&Zone>,
) -> Result<Vec<Item>> {
    let target = json::parse(target)?;
    let vars = variables(vars)?;
    let mut found = Vec::new();
    let mut run = Run::new(path, &target, vars.as_ref(), zone);
    match run.expr(&path.root, Ref::Json(&target), &mut found) {
        Err(Fault::Allowed(_)) if silent => Ok(found),
        Err(Fault::Allowed(error) | Fault::Error(error)) => Err(error),
        Ok(()) => Ok(found),
    }
}

fn variables(text: Option<&str>) -> Result<Option<Json>> {
    let Some(text) = text else { return Ok(None) };
    let vars = json::parse(text)?;
    if vars.is_object() {
        return Ok(Some(vars));
    }
    Err(Error::new(Condition::InvalidParameterValue, "\"vars\" argument is not an object")
        .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."))
}

/// What a path finds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A JSON value.
    Json(Json),
    /// What `.datetime()` has made of a text.
    Moment(Moment),
}

/// An item that a step goes from.
#[derive(Clone, Copy)]
enum Ref<'i> {
    Json(&'i Json),
    Moment(&'i Moment),
}

impl From<Json> for Item {
    fn from(value: Json) -> Self {
        Self::Json(value)
    }
}

impl Item {
    fn as_ref(&self) -> Ref<'_> {
        match self {
            Self::Json(value) => Ref::Json(value),
            Self::Moment(moment) => Ref::Moment(moment),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Json(Json::Number(_)))
    }

    /// As `jsonb` shows it: a date or time is its text.
    pub(super) fn into_json(self) -> Json {
        match self {
            Self::Json(value) => value,
            Self::Moment(moment) => Json::String(moment.text()),
        }
    }
}

impl<'i> Ref<'i> {
    fn json(self) -> Option<&'i Json> {
        match self {
            Self::Json(value) => Some(value),
            Self::Moment(_) => None,
        }
    }

    fn text(self) -> Option<&'i str> {
        self.json().and_then(Json::as_str)
    }

    fn to_item(self) -> Item {
        match self {
            Self::Json(value) => Item::Json(value.clone()),
            Self::Moment(moment) => Item::Moment(*moment),
        }
    }
}

/// Why a path stopped.
enum Fault {
    /// What predicates and silence catch.
    Allowed(Error),
    /// What nobody catches.
    Error(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

type Outcome<T = ()> = std::result::Result<T, Fault>;

/// Goes deeper where the stack has room.
fn deeper<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    stack::deeper(|| Ok(work()))?
}

fn fault<T>(condition: Condition, message: impl Into<String>) -> Outcome<T> {
    Err(Fault::Allowed(Error::new(condition, message.into())))
}

/// A running path.
struct Run<'a> {
    strict: bool,
    /// Structural errors are none: in lax mode, and below `**`.
    lenient: bool,
    root: &'a Json,
    vars: Option<&'a Json>,
    /// The last subscript of the innermost array.
    last: Option<i64>,
    /// Where a time without a zone may be compared with one that has it.
    zone: Option<&'a Zone>,
}

impl<'a> Run<'a> {
    fn new(path: &Path, target: &'a Json, vars: Option<&'a Json>, zone: Option<&'a Zone>) -> Self {
        Self { strict: path.strict, lenient: !path.strict, root: target, vars, last: None, zone }
    }

    /// What an expression comes to where `@` is `current`.
    fn expr(&mut self, expr: &Expr, current: Ref<'_>, found: &mut Vec<Item>) -> Outcome {
        work::step(16)?;
        match expr {
            Expr::Steps(start, steps) => {
                let mut starts = Vec::new();
                self.expr(start, current, &mut starts)?;
                for start in &starts {
                    self.steps(steps, start.as_ref(), true, found)?;
                }
                return Ok(());
            }
            Expr::Null => found.push(Json::Null.into()),
            Expr::Bool(value) => found.push(Json::Bool(*value).into()),
            Expr::Number(number) => found.push(number_of(number)?.into()),
            Expr::String(text) => found.push(Json::from(text.as_str()).into()),
            Expr::Variable(name) => found.push(self.variable(name)?.into()),
            Expr::Root => found.push(self.root.clone().into()),
            Expr::Current => found.push(current.to_item()),
            Expr::Last => match self.last {
                Some(last) => found.push(Json::from(last).into()),
                None => return Err(Error::internal("evaluating jsonpath LAST outside of array subscript").into()),
            },
            Expr::Sign { minus, arg } => {
                let sign = if *minus { "-" } else { "+" };
                for operand in deeper(|| self.unwrapped(arg, current))? {
                    let Some(number) = decimal_of(operand.as_ref())? else {
                        let message = format!("operand of unary jsonpath operator {sign} is not a numeric value");
                        return fault(Condition::SqlJsonNumberNotFound, message);
                    };
                    found.push(number_of(&if *minus { number.neg() } else { number })?.into());
                }
            }
            Expr::Arithmetic(op, left, right) => {
                found.push(deeper(|| self.arithmetic(*op, left, right, current))?.into());
            }
            predicate => {
                let truth = self.truth(predicate, current)?;
                found.push(truth.map_or(Json::Null, Json::Bool).into());
            }
        }
        Ok(())
    }

    /// What tells whether an expression comes to anything: in lax mode a sign looks for one number, and for no more.
    fn some(&mut self, expr: &Expr, current: Ref<'_>, found: &mut Vec<Item>) -> Outcome {
        match expr {
            Expr::Sign { arg, .. } if !self.strict => {
                found.extend(self.unwrapped(arg, current)?.into_iter().filter(Item::is_number));
                Ok(())
            }
            expr => self.expr(expr, current, found),
        }
    }

    fn variable(&self, name: &str) -> Outcome<Json> {
        match self.vars.and_then(|vars| vars.get(name)) {
            Some(value) => Ok(value.clone()),
            None => {
                let message = format!("could not find jsonpath variable \"{name}\"");
                Err(Error::new(Condition::UndefinedObject, message).into())
            }
        }
    }

    /// What an expression comes to; in lax mode arrays give their elements.
    fn unwrapped(&mut self, expr: &Expr, current: Ref<'_>) -> Outcome<Vec<Item>> {
        let mut found = Vec::new();
        self.expr(expr, current, &mut found)?;
        if self.strict {
            return Ok(found);
        }
        let members = |item| match item {
            Item::Json(Json::Array(inner)) => inner.into_iter().map(Item::Json).collect(),
            single => vec![single],
        };
        Ok(found.into_iter().flat_map(members).collect())
    }

    fn arithmetic(&mut self, op: Arithmetic, left: &Expr, right: &Expr, current: Ref<'_>) -> Outcome<Json> {
        // Both are worked out before one is judged.
        let (left, right) = (self.unwrapped(left, current)?, self.unwrapped(right, current)?);
        let operand = |side: &str, items: &[Item]| -> Outcome<Decimal> {
            if let [single] = items
                && let Some(number) = decimal_of(single.as_ref())?
            {
                return Ok(number);
            }
            let sign = op.sign();
            let message = format!("{side} operand of jsonpath operator {sign} is not a single numeric value");
            fault(Condition::SingletonSqlJsonItemRequired, message)
        };
        let (left, right) = (operand("left", &left)?, operand("right", &right)?);
        let result = match op {
            Arithmetic::Add => left.add(&right),
            Arithmetic::Subtract => left.sub(&right),
            Arithmetic::Multiply => left.mul(&right),
            Arithmetic::Divide => left.div(&right),
            Arithmetic::Modulo => left.rem(&right),
        };
        Ok(number_of(&result.map_err(Fault::Allowed)?)?)
    }

    /// Goes the steps from an item. `unwrap` lets a step that wants no array take an array's elements, in lax mode.
    fn steps(&mut self, steps: &[Step], item: Ref<'_>, unwrap: bool, found: &mut Vec<Item>) -> Outcome {
        work::step(16)?;
        let Some((step, rest)) = steps.split_first() else {
            found.push(item.to_item());
            return Ok(());
        };
        deeper(|| self.step(step, steps, rest, item, unwrap && !self.strict, found))
    }

    fn step(
        &mut self,
        step: &Step,
        steps: &[Step],
        rest: &[Step],
        item: Ref<'_>,
        unwrap: bool,
        found: &mut Vec<Item>,
    ) -> Outcome {
        if let (true, Some(Json::Array(elements)), true) = (unwrap, item.json(), takes_no_array(step)) {
            for element in elements {
                self.steps(steps, Ref::Json(element), false, found)?;
            }
            return Ok(());
        }
        match step {
            Step::Key(key) => match item.json() {
                Some(Json::Object(members)) => match members.get(key) {
                    Some(member) => self.steps(rest, Ref::Json(member), true, found),
                    None if self.lenient => Ok(()),
                    None => {
                        fault(Condition::SqlJsonMemberNotFound, format!("JSON object does not contain key \"{key}\""))
                    }
                },
                _ if self.lenient => Ok(()),
                _ => {
                    fault(Condition::SqlJsonMemberNotFound, "jsonpath member accessor can only be applied to an object")
                }
            },
            Step::AnyKey => match item.json() {
                Some(Json::Object(members)) => {
                    let mut members = sorted(members).into_iter();
                    members.try_for_each(|(_, member)| self.steps(rest, Ref::Json(member), true, found))
                }
                _ if self.lenient => Ok(()),
                _ => fault(
                    Condition::SqlJsonObjectNotFound,
                    "jsonpath wildcard member accessor can only be applied to an object",
                ),
            },
            Step::AnyElement => match item.json() {
                Some(Json::Array(elements)) => {
                    elements.iter().try_for_each(|element| self.steps(rest, Ref::Json(element), true, found))
                }
                _ if !self.strict => self.steps(rest, item, true, found),
                _ if self.lenient => Ok(()),
                _ => fault(
                    Condition::SqlJsonArrayNotFound,
                    "jsonpath wildcard array accessor can only be applied to an array",
                ),
            },
            Step::Elements(subscripts) => self.elements(subscripts, rest, item, found),
            Step::Any(first, last) => {
                let lenient = std::mem::replace(&mut self.lenient, true);
                let outcome = self.any(rest, item, 0, (*first, *last), found);
                self.lenient = lenient;
                outcome
            }
            Step::Filter(predicate) => match self.truth(predicate, item)? {
                Some(true) => self.steps(rest, item, true, found),
                _ => Ok(()),
            },
            Step::Method(method) => self.method(*method, rest, item, found),
            Step::Datetime(template) => {
                let Some(Json::String(text)) = item.json() else {
                    let message = "jsonpath item method .datetime() can only be applied to a string";
                    return fault(Condition::InvalidJsonDatetime, message);
                };
                let moment = Moment::read(text, template.as_deref()).map_err(Fault::Allowed)?;
                self.steps(rest, Ref::Moment(&moment), true, found)
            }
        }
    }

    /// The item itself and all that it holds, at the levels that are asked for.
    fn any(
        &mut self,
        rest: &[Step],
        item: Ref<'_>,
        level: u32,
        levels: (Option<u32>, Option<u32>),
        found: &mut Vec<Item>,
    ) -> Outcome {
        work::step(16)?;
        let (first, last) = levels;
        let holds = match item.json() {
            Some(Json::Array(elements)) => !elements.is_empty(),
            Some(Json::Object(members)) => !members.is_empty(),
            _ => false,
        };
        // `last` alone is the level of what holds nothing, and is in something.
        let wanted = match (first, last) {
            (Some(first), _) => level >= first,
            (None, None) => level > 0 && !matches!(item.json(), Some(Json::Array(_) | Json::Object(_))),
            (None, Some(_)) => false,
        };
        if wanted && last.is_none_or(|last| level <= last) {
            self.steps(rest, item, true, found)?;
        }
        if !holds || last.is_some_and(|last| level >= last) {
            return Ok(());
        }
        deeper(|| match item.json() {
            Some(Json::Array(elements)) => {
                elements.iter().try_for_each(|element| self.any(rest, Ref::Json(element), level + 1, levels, found))
            }
            Some(Json::Object(members)) => {
                let mut members = sorted(members).into_iter();
                members.try_for_each(|(_, member)| self.any(rest, Ref::Json(member), level + 1, levels, found))
            }
            _ => Ok(()),
        })
    }

    fn elements(
        &mut self,
        subscripts: &[(Expr, Option<Expr>)],
        rest: &[Step],
        item: Ref<'_>,
        found: &mut Vec<Item>,
    ) -> Outcome {
        let elements: Vec<Ref<'_>> = match item.json() {
            Some(Json::Array(elements)) => elements.iter().map(Ref::Json).collect(),
            _ if !self.strict => vec![item],
            _ if self.lenient => return Ok(()),
            _ => {
                return fault(
                    Condition::SqlJsonArrayNotFound,
                    "jsonpath array accessor can only be applied to an array",
                );
            }
        };
        let size = elements.len() as i64;
        let outer = self.last.replace(size - 1);
        let mut outcome = Ok(());
        for (from, to) in subscripts {
            let range = self
                .subscript(from, item)
                .and_then(|from| Ok((from, to.as_ref().map_or(Ok(from), |to| self.subscript(to, item))?)));
            outcome = match range {
                Ok((from, to)) if !self.lenient && (from < 0 || from > to || to >= size) => {
                    fault(Condition::InvalidSqlJsonSubscript, "jsonpath array subscript is out of bounds")
                }
                Ok((from, to)) => (from.max(0)..=to.min(size - 1)).try_for_each(|at| {
                    elements.get(at as usize).map_or(Ok(()), |element| self.steps(rest, *element, true, found))
                }),
                Err(fault) => Err(fault),
            };
            if outcome.is_err() {
                break;
            }
        }
        self.last = outer;
        outcome
    }

    fn subscript(&mut self, expr: &Expr, item: Ref<'_>) -> Outcome<i64> {
        let mut found = Vec::new();
        self.expr(expr, item, &mut found)?;
        let number = match found.as_slice() {
            [single] => decimal_of(single.as_ref())?,
            _ => None,
        };
        let Some(number) = number else {
            return fault(Condition::InvalidSqlJsonSubscript, "jsonpath array subscript is not a single numeric value");
        };
        match number.truncated(0).to_integer(&rowferry_dialect::Type::Int4) {
            Ok(subscript) => Ok(subscript),
            Err(_) => fault(Condition::InvalidSqlJsonSubscript, "jsonpath array subscript is out of integer range"),
        }
    }

    fn method(&mut self, method: Method, rest: &[Step], item: Ref<'_>, found: &mut Vec<Item>) -> Outcome {
        let name = method.name();
        let result = match method {
            Method::Type => Json::from(match item {
                Ref::Json(Json::Null) => "null",
                Ref::Json(Json::Bool(_)) => "boolean",
                Ref::Json(Json::Number(_)) => "number",
                Ref::Json(Json::String(_)) => "string",
                Ref::Json(Json::Array(_)) => "array",
                Ref::Json(Json::Object(_)) => "object",
                Ref::Moment(moment) => moment.words(),
            }),
            Method::Size => match item.json() {
                Some(Json::Array(elements)) => Json::from(elements.len()),
                _ if !self.strict => Json::from(1),
                _ if self.lenient => return Ok(()),
                _ => {
                    let message = format!("jsonpath item method .{name}() can only be applied to an array");
                    return fault(Condition::SqlJsonArrayNotFound, message);
                }
            },
            Method::Abs | Method::Floor | Method::Ceiling => {
                let Some(number) = decimal_of(item)? else {
                    let message = format!("jsonpath item method .{name}() can only be applied to a numeric value");
                    return fault(Condition::NonNumericSqlJsonItem, message);
                };
                number_of(&match method {
                    Method::Abs => number.abs(),
                    Method::Floor => number.floor(),
                    _ => number.neg().floor().neg(),
                })?
            }
            Method::Double => double(item)?,
            Method::KeyValue => return self.key_values(rest, item, found),
        };
        self.steps(rest, Ref::Json(&result), true, found)
    }

    fn key_values(&mut self, rest: &[Step], item: Ref<'_>, found: &mut Vec<Item>) -> Outcome {
        let Some(Json::Object(members)) = item.json() else {
            return fault(
                Condition::SqlJsonObjectNotFound,
                "jsonpath item method .keyvalue() can only be applied to an object",
            );
        };
        // The number of an inner object is its place in PostgreSQL's storage.
        if item.json() != Some(self.root) && !members.is_empty() {
            return Err(Error::unsupported("the jsonpath method .keyvalue() of an inner object").into());
        }
        for (key, value) in sorted(members) {
            let mut pair = serde_json::Map::new();
            pair.insert("id".to_owned(), Json::from(0));
            pair.insert("key".to_owned(), Json::from(key.as_str()));
            pair.insert("value".to_owned(), value.clone());
            self.steps(rest, Ref::Json(&Json::Object(pair)), true, found)?;
        }
        Ok(())
    }

    /// True, false, or `None` for unknown.
    fn truth(&mut self, predicate: &Expr, current: Ref<'_>) -> Outcome<Option<bool>> {
        deeper(|| match predicate {
            Expr::And(left, right) => {
                let left = self.truth(left, current)?;
                if left == Some(false) {
                    return Ok(left);
                }
                let right = self.truth(right, current)?;
                Ok(if right == Some(true) { left } else { right })
            }
            Expr::Or(left, right) => {
                let left = self.truth(left, current)?;
                if left == Some(true) {
                    return Ok(left);
                }
                let right = self.truth(right, current)?;
                Ok(if right == Some(false) { left } else { right })
            }
            Expr::Not(arg) => Ok(self.truth(arg, current)?.map(|truth| !truth)),
            Expr::IsUnknown(arg) => Ok(Some(self.truth(arg, current)?.is_none())),
            Expr::Compare(op, left, right) => {
                let Some(left) = self.quietly(left, current, true)? else { return Ok(None) };
                let Some(right) = self.quietly(right, current, true)? else { return Ok(None) };
                let zone = self.zone;
                self.any_pair(&left, &right, |left, right| compared(*op, left, right, zone))
            }
            Expr::StartsWith(left, right) => {
                let Some(left) = self.quietly(left, current, true)? else { return Ok(None) };
                let Some(right) = self.quietly(right, current, false)? else { return Ok(None) };
                self.any_pair(&left, &right, |left, right| {
                    Ok(left.text().zip(right.text()).map(|(left, right)| left.starts_with(right)))
                })
            }
            Expr::LikeRegex { text, pattern, flags } => {
                let Some(texts) = self.quietly(text, current, true)? else { return Ok(None) };
                let flags = regex_flags(flags);
                self.any_pair(&texts, &[Json::Null.into()], |text, _| {
                    text.text().map(|text| regex::is_match(text, pattern, &flags)).transpose()
                })
            }
            Expr::Exists(arg) => {
                let mut found = Vec::new();
                match self.some(arg, current, &mut found) {
                    // In lax mode the first item decides.
                    Err(Fault::Allowed(_)) if found.is_empty() || self.strict => Ok(None),
                    Err(Fault::Error(error)) => Err(Fault::Error(error)),
                    _ => Ok(Some(!found.is_empty())),
                }
            }
            other => Err(Error::internal(format!("no jsonpath predicate: {other:?}")).into()),
        })
    }

    /// The items of an operand; `None` for a fault.
    fn quietly(&mut self, expr: &Expr, current: Ref<'_>, unwrap: bool) -> Outcome<Option<Vec<Item>>> {
        let mut found = Vec::new();
        let outcome =
            if unwrap { self.unwrapped(expr, current) } else { self.expr(expr, current, &mut found).map(|()| found) };
        match outcome {
            Ok(found) => Ok(Some(found)),
            Err(Fault::Allowed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// True if a pair passes the test. In strict mode one of which nothing is known decides.
    fn any_pair(
        &self,
        left: &[Item],
        right: &[Item],
        test: impl Fn(Ref<'_>, Ref<'_>) -> Result<Option<bool>>,
    ) -> Outcome<Option<bool>> {
        let (mut unknown, mut found) = (false, false);
        for left in left {
            for right in right {
                work::step(16)?;
                match test(left.as_ref(), right.as_ref())? {
                    None if self.strict => return Ok(None),
                    None => unknown = true,
                    Some(true) if !self.strict => return Ok(Some(true)),
                    Some(truth) => found |= truth,
                }
            }
        }
        Ok(if found {
            Some(true)
        } else if unknown {
            None
        } else {
            Some(false)
        })
    }
}

/// Steps that a lax path takes from the elements of an array instead.
fn takes_no_array(step: &Step) -> bool {
    match step {
        Step::Key(_) | Step::AnyKey | Step::Filter(_) | Step::Datetime(_) => true,
        Step::Method(method) => !matches!(method, Method::Size | Method::Type),
        Step::AnyElement | Step::Elements(_) | Step::Any(..) => false,
    }
}

/// The members in the order of `jsonb`: short keys first.
fn sorted(members: &serde_json::Map<String, Json>) -> Vec<(&String, &Json)> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    sorted
}

fn decimal_of(item: Ref<'_>) -> Result<Option<Decimal>> {
    match item {
        Ref::Json(Json::Number(number)) => Decimal::parse(&number.to_string()).map(Some),
        _ => Ok(None),
    }
}

fn number_of(number: &Decimal) -> Result<Json> {
    serde_json::from_str(&number.to_string()).map_err(|_| Error::internal(format!("no JSON number: {number}")))
}

fn double(item: Ref<'_>) -> Outcome<Json> {
    let invalid = |message: &str| fault(Condition::NonNumericSqlJsonItem, message);
    match item.json() {
        Some(Json::Number(number)) => match float::parse8(&number.to_string()) {
            Ok(_) => Ok(Json::Number(number.clone())),
            Err(_) => {
                invalid("numeric argument of jsonpath item method .double() is out of range for type double precision")
            }
        },
        Some(Json::String(text)) => match float::parse8(text) {
            Ok(value) if value.is_finite() => Ok(number_of(&Decimal::from_f64(value))?),
            Ok(_) | Err(_) => invalid(
                "string argument of jsonpath item method .double() is not a valid representation of a double precision \
                 number",
            ),
        },
        _ => invalid("jsonpath item method .double() can only be applied to a string or numeric value"),
    }
}

/// Two items compared; `None` when they cannot be.
fn compared(op: Comparison, left: Ref<'_>, right: Ref<'_>, zone: Option<&Zone>) -> Result<Option<bool>> {
    let order = match (left, right) {
        (Ref::Json(Json::Null), Ref::Json(Json::Null)) => std::cmp::Ordering::Equal,
        // NULL differs from everything else, and is neither less nor greater.
        (Ref::Json(Json::Null), _) | (_, Ref::Json(Json::Null)) => return Ok(Some(op == Comparison::NotEqual)),
        (Ref::Json(Json::Bool(left)), Ref::Json(Json::Bool(right))) => left.cmp(right),
        (Ref::Json(Json::String(left)), Ref::Json(Json::String(right))) => left.cmp(right),
        (Ref::Json(Json::Number(_)), Ref::Json(Json::Number(_))) => match (decimal_of(left)?, decimal_of(right)?) {
            (Some(left), Some(right)) => left.compare(&right),
            _ => return Ok(None),
        },
        (Ref::Moment(left), Ref::Moment(right)) => match left.compare(right, zone)? {
            Some(order) => order,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(match op {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }))
}

/// Paths with patterns that are no regular expressions are refused as they are read.
pub(super) fn look_at_patterns() {
    use rowferry_dialect::values::jsonpath::check_patterns_with;
    check_patterns_with(|pattern, flags| regex::compiled(pattern, &regex_flags(flags)).map(drop));
}

/// XQuery's flags as options of PostgreSQL's expressions: the dot takes no newline unless it is told to.
fn regex_flags(flags: &str) -> String {
    let mut options = String::new();
    if flags.contains('i') {
        options.push('i');
    }
    if flags.contains('q') {
        options.push('q');
        return options;
    }
    match (flags.contains('s'), flags.contains('m')) {
        (false, false) => options.push('p'),
        (false, true) => options.push('n'),
        (true, true) => options.push('w'),
        (true, false) => {}
    }
    options
}
