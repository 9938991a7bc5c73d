//! `tablefunc`.
//!
//! What a call's rows must look like is told first, as [`user_type::told_fields`] writes it.

use std::collections::HashMap;

use rand::Rng as _;
use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::types::format_type;
use rowferry_dialect::values::{self, Settings};
use rowferry_dialect::{Condition, Error, Result, Type, stack, user_type, work};

use super::RowsMember;
use crate::functions::rows::Source;
use crate::functions::rows_sources::Arguments;
use crate::functions::{Context, Queried};

pub(super) const ROWS: &[RowsMember] = &[
    ("normal_rand", normal_rand),
    ("crosstab", crosstab),
    ("crosstab_hash", crosstab_by_categories),
    ("connectby_text", |call| connect_by(call, false)),
    ("connectby_text_serial", |call| connect_by(call, true)),
];

fn normal_rand(call: &Arguments<'_>) -> Result<Source> {
    let count = call.integer(0)?.unwrap_or(0);
    if count < 0 {
        return Err(Error::new(Condition::InvalidParameterValue, "number of rows cannot be negative"));
    }
    let number = |at: usize| match call.value(at) {
        Some(Value::Real(value)) => *value,
        Some(Value::Integer(value)) => *value as f64,
        _ => f64::NAN,
    };
    let (mean, deviation) = (number(1), number(2));
    Ok(Box::new((0..count).map(move |_| {
        // Box and Muller's way from two even numbers to a normal one.
        let mut random = rand::rng();
        let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        Ok(vec![Value::Real(mean + deviation * normal)])
    })))
}

fn rows(rows: Vec<Vec<Value>>) -> Result<Source> {
    Ok(Box::new(rows.into_iter().map(Ok)))
}

/// The types of the columns that the call's rows must have.
fn wanted(call: &Arguments<'_>) -> Result<Vec<Type>> {
    let fields = user_type::fields_from_told(call.needed(0)?);
    let fields = fields.ok_or_else(|| Error::internal("a function that is not told its columns"))?;
    Ok(fields.into_iter().map(|field| field.ty).collect())
}

fn syntax(message: &str) -> Error {
    Error::new(Condition::SyntaxError, message.to_owned())
}

fn no_source(columns: &str) -> Error {
    let message = "invalid source data SQL statement";
    Error::new(Condition::InvalidParameterValue, message).detail(format!("The provided SQL must return 3 {columns}"))
}

/// What a query has found, with its values as texts.
struct Texts<'a> {
    found: &'a Queried,
    settings: &'a Settings,
}

impl Texts<'_> {
    /// `None` for NULL.
    fn at(&self, row: &[Value], column: usize) -> Result<Option<String>> {
        match &row[column] {
            Value::Null => Ok(None),
            value => Ok(Some(values::output(value, &self.found.columns[column].1, self.settings)?)),
        }
    }
}

/// A text as a value of a column's type.
fn read(text: Option<&str>, ty: &Type, settings: &Settings) -> Result<Value> {
    text.map_or(Ok(Value::Null), |text| values::input(text, ty, settings))
}

/// A row for each run of rows of one name: the name, and the values of its rows one after the other.
fn crosstab(call: &Arguments<'_>) -> Result<Source> {
    let wanted = wanted(call)?;
    let found = call.context.state().query(call.needed(1)?)?;
    if found.rows.is_empty() {
        return rows(Vec::new());
    }
    if found.columns.len() != 3 {
        return Err(no_source("columns: rowid, category, and values."));
    }
    if wanted.len() >= 2 && !wanted[0].same_base(&found.columns[0].1) {
        return Err(no_type("SQL rowid datatype does not match return rowid datatype.".to_owned()));
    }
    let fits = wanted.len() >= 2 && wanted[1..].iter().all(|ty| ty.same_base(&found.columns[2].1));
    if !fits {
        return Err(syntax("return and sql tuple descriptions are incompatible"));
    }
    let settings = call.context.settings();
    let texts = Texts { found: &found, settings: &settings };
    let mut made: Vec<Vec<Value>> = Vec::new();
    let mut last: Option<Option<String>> = None;
    for row in &found.rows {
        work::step(wanted.len())?;
        let name = texts.at(row, 0)?;
        if last.as_ref() != Some(&name) {
            made.push(vec![row[0].clone()]);
            last = Some(name);
        }
        // Values that there is no column for are left out.
        if let Some(values) = made.last_mut().filter(|values| values.len() < wanted.len()) {
            values.push(row[2].clone());
        }
    }
    made.iter_mut().for_each(|values| values.resize(wanted.len(), Value::Null));
    rows(made)
}

/// The places of categories, by their texts.
fn categories(context: &Context, settings: &Settings, query: &str) -> Result<HashMap<String, usize>> {
    let found = context.state().query(query)?;
    let texts = Texts { found: &found, settings };
    let mut places = HashMap::new();
    if !found.rows.is_empty() && found.columns.len() != 1 {
        return Err(syntax("provided \"categories\" SQL must return 1 column of at least one row"));
    }
    for row in &found.rows {
        let Some(name) = texts.at(row, 0)? else {
            return Err(syntax("provided \"categories\" SQL must not return NULL values"));
        };
        let place = places.len();
        if places.insert(name, place).is_some() {
            return Err(Error::new(Condition::DuplicateObject, "duplicate category name"));
        }
    }
    Ok(places)
}

/// The same with a column for each category.
fn crosstab_by_categories(call: &Arguments<'_>) -> Result<Source> {
    let wanted = wanted(call)?;
    let settings = call.context.settings();
    let categories = categories(call.context, &settings, call.needed(2)?)?;
    let found = call.context.state().query(call.needed(1)?)?;
    if found.rows.is_empty() {
        return rows(Vec::new());
    }
    if categories.is_empty() {
        return Err(syntax("provided \"categories\" SQL must return 1 column of at least one row"));
    }
    let columns = found.columns.len();
    if columns < 3 {
        return Err(no_source(" columns; rowid, category, and values."));
    }
    let count = columns - 2 + categories.len();
    if wanted.len() != count {
        let detail = format!("Query-specified return tuple has {} columns but crosstab returns {count}.", wanted.len());
        return Err(syntax("invalid return type").detail(detail));
    }
    let texts = Texts { found: &found, settings: &settings };
    let mut made: Vec<Vec<Option<String>>> = Vec::new();
    for row in &found.rows {
        work::step(count)?;
        let name = texts.at(row, 0)?;
        if made.last().is_none_or(|values| values[0] != name) {
            let mut values = vec![name];
            for column in 1..columns - 2 {
                values.push(texts.at(row, column)?);
            }
            values.resize(count, None);
            made.push(values);
        }
        let place = texts.at(row, columns - 2)?.and_then(|category| categories.get(&category));
        if let (Some(place), Some(values)) = (place, made.last_mut()) {
            values[columns - 2 + place] = texts.at(row, columns - 1)?;
        }
    }
    let value = |(text, ty): (Option<String>, &Type)| read(text.as_deref(), ty, &settings);
    let row = |texts: Vec<Option<String>>| texts.into_iter().zip(&wanted).map(value).collect::<Result<Vec<_>>>();
    rows(made.into_iter().map(row).collect::<Result<_>>()?)
}

/// A walk down a tree whose rows name their parents.
struct Walk<'a> {
    context: &'a Context,
    settings: Settings,
    wanted: Vec<Type>,
    key: &'a str,
    parent: &'a str,
    table: &'a str,
    order: Option<&'a str>,
    delimiter: &'a str,
    deepest: i64,
    branch: bool,
    made: Vec<Vec<Value>>,
}

fn connect_by(call: &Arguments<'_>, serial: bool) -> Result<Source> {
    let (order, next) = if serial { (Some(call.needed(4)?), 5) } else { (None, 4) };
    let delimiter = call.text(next + 2)?;
    let mut walk = Walk {
        context: call.context,
        settings: call.context.settings(),
        wanted: wanted(call)?,
        table: call.needed(1)?,
        key: call.needed(2)?,
        parent: call.needed(3)?,
        order,
        delimiter: delimiter.unwrap_or("~"),
        deepest: call.integer(next + 1)?.unwrap_or(0),
        branch: delimiter.is_some(),
        made: Vec::new(),
    };
    walk.check()?;
    let root = call.needed(next)?;
    walk.add(Some(root), None, 0, root)?;
    walk.below(root, root, 1)?;
    rows(walk.made)
}

fn no_type(detail: String) -> Error {
    Error::new(Condition::DatatypeMismatch, "invalid return type").detail(detail)
}

impl Walk<'_> {
    /// The columns are: key, parent, level, the branch and the serial number where these are wanted.
    fn check(&self) -> Result<()> {
        if self.wanted.len() != 3 + usize::from(self.branch) + usize::from(self.order.is_some()) {
            return Err(no_type("Query-specified return tuple has wrong number of columns.".to_owned()));
        }
        if !self.wanted[0].same_base(&self.wanted[1]) {
            return Err(no_type("First two columns must be the same type.".to_owned()));
        }
        if self.wanted[2] != Type::Int4 {
            return Err(no_type("Third column must be type integer.".to_owned()));
        }
        if self.branch && self.wanted[3] != Type::Text {
            return Err(no_type("Fourth column must be type text.".to_owned()));
        }
        if self.order.is_some() && self.wanted.last() != Some(&Type::Int4) {
            let which = if self.branch { "fifth" } else { "fourth" };
            let message =
                format!("query-specified return tuple not valid for Connectby: {which} column must be type integer");
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        Ok(())
    }

    fn add(&mut self, key: Option<&str>, parent: Option<&str>, level: i64, branch: &str) -> Result<()> {
        work::step(branch.len() + 4 * size_of::<Value>())?;
        let mut row = vec![
            read(key, &self.wanted[0], &self.settings)?,
            read(parent, &self.wanted[1], &self.settings)?,
            Value::Integer(level),
        ];
        if self.branch {
            row.push(Value::Text(branch.to_owned()));
        }
        if self.order.is_some() {
            row.push(Value::Integer(self.made.len() as i64 + 1));
        }
        self.made.push(row);
        Ok(())
    }

    fn below(&mut self, start: &str, branch: &str, level: i64) -> Result<()> {
        if self.deepest > 0 && level > self.deepest {
            return Ok(());
        }
        let (key, parent, table) = (self.key, self.parent, self.table);
        let order = self.order.map(|order| format!(" ORDER BY {order}")).unwrap_or_default();
        let start = rowferry_dialect::postgres::quote_literal(start);
        let query = format!(
            "SELECT {key}, {parent} FROM {table} WHERE {parent} = {start} AND {key} IS NOT NULL AND {key} <> {parent}{order}"
        );
        let found = self.context.state().query(&query)?;
        if found.rows.is_empty() {
            return Ok(());
        }
        self.check_found(&found)?;
        let delimiter = self.delimiter;
        let passed = format!("{delimiter}{branch}{delimiter}");
        let settings = self.settings.clone();
        let texts = Texts { found: &found, settings: &settings };
        for row in &found.rows {
            let (key, parent) = (texts.at(row, 0)?, texts.at(row, 1)?);
            let Some(key) = key else {
                self.add(None, parent.as_deref(), level, branch)?;
                continue;
            };
            if passed.contains(&format!("{delimiter}{key}{delimiter}")) {
                return Err(Error::new(Condition::InvalidRecursion, "infinite recursion detected"));
            }
            let branch = format!("{branch}{delimiter}{key}");
            self.add(Some(&key), parent.as_deref(), level, &branch)?;
            stack::deeper(|| self.below(&key, &branch, level + 1))?;
        }
        Ok(())
    }

    fn check_found(&self, found: &Queried) -> Result<()> {
        if found.columns.len() < 2 {
            return Err(no_type("Query must return at least two columns.".to_owned()));
        }
        for (at, what) in ["key", "parent key"].into_iter().enumerate() {
            let (wanted, given) = (&self.wanted[at], &found.columns[at].1);
            if !wanted.same_base(given) {
                let (wanted, given) = (format_type(wanted), format_type(given));
                return Err(no_type(format!(
                    "SQL {what} field type {wanted} does not match return {what} field type {given}."
                )));
            }
        }
        Ok(())
    }
}
