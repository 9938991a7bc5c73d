//! What is kept in Informix's words in those of PostgreSQL, for dumps: expressions of defaults, checks and keys, and the
//! queries of views.
//!
//! Only what means the same there is written; everything else has no such text, and is shown as it was written.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::ast::{Ast, Body, Call, Item, Node, NodeKind, OrderKey, Over, Query, Select, Source, TrimSide, TypeName};
use super::parser::Parser;
use crate::Type;
use crate::ir::{JoinKind, LikeKind, SetOp};
use crate::postgres::types::{format_type, import};
use crate::postgres::words::{quote_ident, quote_literal};
use crate::types::{Field, IntervalQualifier, Qualifier};

/// A table, as views name it.
pub struct Table {
    /// Its name in PostgreSQL's words.
    pub name: String,
    /// Its columns that are CHAR or NCHAR.
    pub chars: BTreeSet<String>,
}

/// An expression over a table whose columns of these names are CHAR or NCHAR; `None` when a part of it has no equal.
pub fn expression(text: &str, chars: BTreeSet<String>) -> Option<String> {
    let words = Words { tables: &|_| None, chars: RefCell::new(chars) };
    words.node(&Parser::new(text).ok()?.whole_expression().ok()?)
}

/// True for a literal: what it is depends on nobody's name and on no clock.
pub fn is_constant(text: &str) -> bool {
    let found = Parser::new(text).and_then(|mut parser| parser.whole_expression());
    let kind = found.map(|node| match node.kind {
        NodeKind::Negate(arg) => arg.kind,
        kind => kind,
    });
    kind.is_ok_and(|kind| {
        matches!(
            kind,
            NodeKind::Null
                | NodeKind::Number(_)
                | NodeKind::String(_)
                | NodeKind::DatetimeLiteral(..)
                | NodeKind::IntervalLiteral(..)
        )
    })
}

/// The query of a view whose columns have these names; `None` when a part of it has no equal. `tables` knows the
/// tables that are named.
pub fn view(definition: &str, columns: &[&str], tables: &dyn Fn(&str) -> Option<Table>) -> Option<String> {
    let statements = super::parse(definition).ok()?;
    let [statement] = statements.as_slice() else { return None };
    let Ast::Query(found) = &statement.ast else { return None };
    // A name of the query's own WITH is no table's.
    let tables = |name: &str| if found.ctes.iter().any(|cte| cte.name == name) { None } else { tables(name) };
    Words { tables: &tables, chars: RefCell::default() }.query(found, Some(columns))
}

/// Who writes.
struct Words<'t> {
    tables: &'t dyn Fn(&str) -> Option<Table>,
    /// Names of columns that are CHAR or NCHAR in what was met so far.
    chars: RefCell<BTreeSet<String>>,
}

impl Words<'_> {
    fn list(&self, nodes: &[Node]) -> Option<String> {
        Some(nodes.iter().map(|part| self.node(part)).collect::<Option<Vec<_>>>()?.join(", "))
    }

    fn node(&self, of: &Node) -> Option<String> {
        Some(match &of.kind {
            NodeKind::Null => "NULL".to_owned(),
            NodeKind::Number(digits) => digits.clone(),
            NodeKind::String(text) => quote_literal(text),
            NodeKind::Name(parts) => name(parts)?,
            NodeKind::Star(None) => "*".to_owned(),
            NodeKind::Star(Some(table)) => format!("{}.*", quote_ident(table)),
            NodeKind::Call(found) => self.call(found)?,
            NodeKind::Cast(arg, ty) => self.cast(arg, ty)?,
            NodeKind::Negate(arg) => format!("(- {})", self.node(arg)?),
            NodeKind::Arithmetic(op, left, right) => self.arithmetic(op, left, right)?,
            NodeKind::Compare(op, left, right) => format!("({} {} {})", self.node(left)?, op.sign(), self.node(right)?),
            NodeKind::And(parts) => self.joined(parts, " AND ")?,
            NodeKind::Or(parts) => self.joined(parts, " OR ")?,
            NodeKind::Not(arg) => format!("(NOT {})", self.node(arg)?),
            NodeKind::IsNull { arg, negated } => format!("({} IS {}NULL)", self.node(arg)?, not(*negated)),
            NodeKind::Between { arg, low, high, negated } => {
                format!("({} {}BETWEEN {} AND {})", self.node(arg)?, not(*negated), self.node(low)?, self.node(high)?)
            }
            NodeKind::InList { arg, list: of, negated } => {
                format!("({} {}IN ({}))", self.node(arg)?, not(*negated), self.list(of)?)
            }
            NodeKind::InQuery { row, query: of, negated } => {
                let row = if let [one] = row.as_slice() { self.node(one)? } else { format!("({})", self.list(row)?) };
                format!("({row} {}IN ({}))", not(*negated), self.query(of, None)?)
            }
            NodeKind::Exists(of) => format!("(EXISTS ({}))", self.query(of, None)?),
            NodeKind::Scalar(of) => format!("({})", self.query(of, None)?),
            NodeKind::Quantified { op, all, arg, query: of } => {
                let word = if *all { "ALL" } else { "ANY" };
                format!("({} {} {word} ({}))", self.node(arg)?, op.sign(), self.query(of, None)?)
            }
            NodeKind::Like { kind, text, pattern, escape, negated } => {
                let pattern = match (kind, &pattern.kind, escape) {
                    (LikeKind::Like, _, None) => self.node(pattern)?,
                    (LikeKind::Like, _, Some(escape)) => {
                        format!("{} ESCAPE {}", self.node(pattern)?, self.node(escape)?)
                    }
                    (LikeKind::Matches, NodeKind::String(pattern), None) => quote_literal(&matches_as_like(pattern)?),
                    _ => return None,
                };
                format!("({} {}LIKE {pattern})", self.node(text)?, not(*negated))
            }
            NodeKind::Case { operand, branches, otherwise } => {
                let mut out = "CASE".to_owned();
                if let Some(operand) = operand {
                    out = format!("{out} {}", self.node(operand)?);
                }
                for (condition, value) in branches {
                    out = format!("{out} WHEN {} THEN {}", self.node(condition)?, self.node(value)?);
                }
                if let Some(otherwise) = otherwise {
                    out = format!("{out} ELSE {}", self.node(otherwise)?);
                }
                format!("{out} END")
            }
            NodeKind::Current(qualifier) => current(*qualifier)?,
            NodeKind::Today => "CURRENT_DATE".to_owned(),
            NodeKind::User => "CURRENT_USER".to_owned(),
            NodeKind::DatetimeLiteral(text, qualifier) => match import(&Type::Datetime(*qualifier)) {
                ty @ (Type::Date | Type::Timestamp(_) | Type::Time(_)) => {
                    // PostgreSQL reads no hour alone.
                    if qualifier.last <= Field::Hour && qualifier.last != Field::Day {
                        return None;
                    }
                    format!("{}::{}", quote_literal(text.trim()), format_type(&ty))
                }
                _ => return None,
            },
            NodeKind::IntervalLiteral(text, qualifier) => interval(text.trim(), *qualifier)?,
            NodeKind::Trim { side, characters, text } => {
                let side = match side {
                    TrimSide::Both => "BOTH",
                    TrimSide::Leading => "LEADING",
                    TrimSide::Trailing => "TRAILING",
                };
                let characters = characters.as_ref().map_or(Some("' '".to_owned()), |given| self.node(given))?;
                format!("TRIM({side} {characters} FROM {})", self.node(text)?)
            }
            NodeKind::Slice { arg, from, to } => {
                let length = to.unwrap_or(*from).checked_sub(*from)?.checked_add(1)?;
                format!("substr({}, {from}, {length})", self.node(arg)?)
            }
            NodeKind::Role { .. }
            | NodeKind::Sitename
            | NodeKind::Units(..)
            | NodeKind::Extend(..)
            | NodeKind::Spliced { .. }
            | NodeKind::Field { .. }
            | NodeKind::Row(_)
            | NodeKind::Collection(..)
            | NodeKind::Default
            | NodeKind::Named(..)
            | NodeKind::Prior(_)
            | NodeKind::Root(_)
            | NodeKind::Param(_) => return None,
        })
    }

    /// True for what may be a CHAR: the blanks behind it are part of it here, and are not there.
    fn is_padded(&self, of: &Node) -> bool {
        match &of.kind {
            NodeKind::Name(parts) => parts.last().is_some_and(|name| self.chars.borrow().contains(name)),
            NodeKind::Cast(_, to) => matches!(to.ty, Type::Char(_) | Type::Nchar(_)),
            NodeKind::Slice { arg, .. } => self.is_padded(arg),
            NodeKind::Case { branches, otherwise, .. } => {
                branches.iter().any(|(_, value)| self.is_padded(value))
                    || otherwise.as_ref().is_some_and(|value| self.is_padded(value))
            }
            NodeKind::Call(found) => {
                let keeps = ["coalesce", "initcap", "lower", "max", "min", "nullif", "nvl", "upper"];
                keeps.contains(&found.name.as_str()) && found.args.iter().any(|arg| self.is_padded(arg))
            }
            NodeKind::Scalar(query) => items(query).iter().any(|item| self.is_padded(&item.expr)),
            _ => false,
        }
    }

    /// Takes note of what the columns of a query are called outside.
    fn note(&self, of: &Query, names: &[String]) {
        for (at, item) in items(of).iter().enumerate() {
            if let Some(name) = names.get(at).or(item.alias.as_ref()).filter(|_| self.is_padded(&item.expr)) {
                self.chars.borrow_mut().insert(name.clone());
            }
        }
    }

    fn joined(&self, parts: &[Node], word: &str) -> Option<String> {
        let parts = parts.iter().map(|part| self.node(part)).collect::<Option<Vec<_>>>()?;
        Some(format!("({})", parts.join(word)))
    }

    /// Whole numbers are divided to decimals here, and to whole numbers there.
    fn arithmetic(&self, op: &str, left: &Node, right: &Node) -> Option<String> {
        let spans = |of: &Node| matches!(of.kind, NodeKind::Units(..));
        if let (NodeKind::Today, NodeKind::Units(count, unit), "+" | "-") = (&left.kind, &right.kind, op)
            && unit.first == Field::Day
        {
            return Some(format!("(CURRENT_DATE {op} {})", self.node(count)?));
        }
        if let (NodeKind::Current(_), NodeKind::Units(count, unit), "+" | "-") = (&left.kind, &right.kind, op) {
            return Some(format!(
                "({} {op} {} * INTERVAL '1 {}')",
                self.node(left)?,
                self.node(count)?,
                unit_of(unit.first)?
            ));
        }
        if spans(left) || spans(right) {
            return None;
        }
        let padded = |of: &Node| op == "||" && self.is_padded(of);
        let (left, right, padded) = (self.node(left)?, self.node(right)?, padded(left) || padded(right));
        match op {
            _ if padded => None,
            "+" | "-" | "*" | "||" => Some(format!("({left} {op} {right})")),
            "/" => Some(format!("({left} / ({right})::numeric)")),
            _ => None,
        }
    }

    /// Only conversions that both do alike: a decimal becomes an integer by cutting here, by rounding there.
    fn cast(&self, arg: &Node, to: &TypeName) -> Option<String> {
        let alike = matches!(
            to.ty,
            Type::Char(_)
                | Type::Nchar(_)
                | Type::Varchar(Some(_))
                | Type::Nvarchar(_)
                | Type::Lvarchar(_)
                | Type::Numeric(_)
                | Type::Float8
        );
        (alike && to.serial.is_none()).then_some(())?;
        Some(format!("({})::{}", self.node(arg)?, format_type(&import(&to.ty))))
    }

    fn call(&self, of: &Call) -> Option<String> {
        if of.ignore_nulls {
            return None;
        }
        let over = of.over.as_ref().map_or(Some(String::new()), |of| self.over(of))?;
        if of.star {
            return (of.name == "count").then(|| format!("count(*){over}"));
        }
        let args = of.args.iter().map(|part| self.node(part)).collect::<Option<Vec<_>>>()?;
        let counts = ["char_length", "character_length", "concat", "lpad", "replace", "reverse", "right", "rpad"];
        if counts.contains(&of.name.as_str()) && of.args.iter().any(|arg| self.is_padded(arg)) {
            return None;
        }
        let whole = args.join(", ");
        let positive = |at: usize| match of.args.get(at).map(|arg| &arg.kind) {
            Some(NodeKind::Number(digits)) => digits.parse::<u32>().is_ok_and(|number| number > 0),
            _ => false,
        };
        Some(match (of.name.as_str(), args.as_slice()) {
            ("count" | "sum" | "avg" | "min" | "max", [arg]) => {
                format!("{}({}{arg}){over}", of.name, if of.distinct { "DISTINCT " } else { "" })
            }
            ("row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist", []) if !over.is_empty() => {
                format!("{}(){over}", of.name)
            }
            _ if !over.is_empty() || of.distinct => return None,
            (
                "upper" | "lower" | "initcap" | "abs" | "ceil" | "floor" | "sqrt" | "exp" | "reverse" | "char_length"
                | "character_length" | "octet_length" | "ltrim" | "rtrim" | "ln" | "sin" | "cos" | "tan" | "asin"
                | "acos" | "atan" | "sign",
                [_],
            )
            | ("lpad" | "rpad", [_, _] | [_, _, _])
            | ("replace", [_, _, _])
            | ("atan2" | "nullif" | "power" | "mod", [_, _])
            | ("coalesce", [_, ..]) => format!("{}({whole})", of.name),
            ("round" | "trunc", [_]) => return None,
            ("round" | "trunc", [value, _]) if positive(1) => format!("{}({value}, {})", of.name, args[1]),
            ("substr" | "substring" | "left" | "right", _) if positive(1) => format!("{}({whole})", of.name),
            ("pow", [_, _]) => format!("power({whole})"),
            ("logn", [_]) => format!("ln({whole})"),
            ("log10", [_]) => format!("log({whole})"),
            ("nvl", [_, _]) => format!("COALESCE({whole})"),
            ("concat", [left, right]) => format!("({left} || {right})"),
            ("replace", [text, what]) => format!("replace({text}, {what}, '')"),
            ("length" | "len", [text]) => format!("octet_length(rtrim({text}))"),
            ("year" | "month" | "day", [date]) => {
                format!("(EXTRACT({} FROM {date}))::smallint", of.name.to_ascii_uppercase())
            }
            ("weekday", [date]) => format!("(EXTRACT(DOW FROM {date}))::smallint"),
            ("mdy", [month, day, year]) => format!("make_date({year}, {month}, {day})"),
            _ => return None,
        })
    }

    fn over(&self, of: &Over) -> Option<String> {
        if of.frame.is_some() {
            return None;
        }
        let mut parts = Vec::new();
        if !of.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", self.list(&of.partition_by)?));
        }
        if !of.order_by.is_empty() {
            parts.push(format!("ORDER BY {}", self.keys(&of.order_by)?));
        }
        Some(format!(" OVER ({})", parts.join(" ")))
    }

    /// NULL is less than every value here, and greater there.
    fn keys(&self, of: &[OrderKey]) -> Option<String> {
        let key = |key: &OrderKey| {
            let direction = if key.descending { " DESC" } else { "" };
            let first = key.nulls_first.unwrap_or(!key.descending);
            Some(format!("{}{direction} NULLS {}", self.node(&key.expr)?, if first { "FIRST" } else { "LAST" }))
        };
        Some(of.iter().map(key).collect::<Option<Vec<_>>>()?.join(", "))
    }

    fn query(&self, of: &Query, names: Option<&[&str]>) -> Option<String> {
        let inner_with = names.is_none() && !of.ctes.is_empty();
        if of.siblings || of.for_update || of.into.is_some() || inner_with {
            return None;
        }
        let mut out = String::new();
        if !of.ctes.is_empty() {
            let cte = |cte: &super::ast::Cte| {
                let query = self.query(&cte.query, None)?;
                self.note(&cte.query, &cte.columns);
                Some(format!("{}{} AS ({query})", quote_ident(&cte.name), columns(&cte.columns)))
            };
            let ctes = of.ctes.iter().map(cte).collect::<Option<Vec<_>>>()?;
            out = format!("WITH RECURSIVE {} ", ctes.join(", "));
        }
        out += &match &of.body {
            Body::Select(found) => self.select(found, names)?,
            Body::Set { op, all, left, right } => {
                let word = match op {
                    SetOp::Except => "EXCEPT",
                    SetOp::Intersect => "INTERSECT",
                    SetOp::Union => "UNION",
                };
                let all = if *all { " ALL" } else { "" };
                format!("({}) {word}{all} ({})", self.query(left, names)?, self.query(right, None)?)
            }
        };
        if !of.order_by.is_empty() {
            out += &format!(" ORDER BY {}", self.keys(&of.order_by)?);
        }
        if let Some(skip) = &of.skip {
            out += &format!(" OFFSET {}", self.node(skip)?);
        }
        if let Some(first) = &of.first {
            out += &format!(" LIMIT {}", self.node(first)?);
        }
        Some(out)
    }

    fn select(&self, of: &Select, names: Option<&[&str]>) -> Option<String> {
        if of.connect.is_some() || names.is_some_and(|names| names.len() != of.items.len()) {
            return None;
        }
        // It says what the columns are.
        let from = of.from.iter().map(|part| self.source(part)).collect::<Option<Vec<_>>>()?;
        let item = |(at, item): (usize, &Item)| {
            let shown = self.node(&item.expr)?;
            let alias = names.map(|names| names[at]).or(item.alias.as_deref());
            match alias {
                Some(_) if matches!(item.expr.kind, NodeKind::Star(_)) => None,
                Some(alias) => Some(format!("{shown} AS {}", quote_ident(alias))),
                None => Some(shown),
            }
        };
        let items = of.items.iter().enumerate().map(item).collect::<Option<Vec<_>>>()?.join(", ");
        let mut out = format!("SELECT {}{items}", if of.distinct { "DISTINCT " } else { "" });
        if !from.is_empty() {
            out += &format!(" FROM {}", from.join(", "));
        }
        if let Some(filter) = &of.filter {
            out += &format!(" WHERE {}", self.node(filter)?);
        }
        if !of.group_by.is_empty() {
            out += &format!(" GROUP BY {}", self.list(&of.group_by)?);
        }
        if let Some(having) = &of.having {
            out += &format!(" HAVING {}", self.node(having)?);
        }
        Some(out)
    }

    fn source(&self, of: &Source) -> Option<String> {
        Some(match of {
            Source::Table { name, alias } => {
                if name.database.is_some() || name.server.is_some() {
                    return None;
                }
                // An owner says nothing of where a table is.
                let shown = match (self.tables)(&name.name) {
                    Some(table) => {
                        self.chars.borrow_mut().extend(table.chars);
                        table.name
                    }
                    None => quote_ident(&name.name),
                };
                match alias {
                    Some(alias) => format!("{shown} {}", quote_ident(alias)),
                    None => shown,
                }
            }
            Source::Query { query: of, alias, columns: names, lateral } => {
                let alias = alias.as_ref()?;
                let word = if *lateral { "LATERAL " } else { "" };
                let query = self.query(of, None)?;
                self.note(of, names);
                format!("{word}({query}) {}{}", quote_ident(alias), columns(names))
            }
            Source::Join { kind, left, right, on } => {
                let word = match (kind, on) {
                    (JoinKind::Inner, None) => "CROSS JOIN",
                    (JoinKind::Inner, Some(_)) => "JOIN",
                    (JoinKind::Left, _) => "LEFT JOIN",
                    (JoinKind::Right, _) => "RIGHT JOIN",
                    (JoinKind::Full, _) => "FULL JOIN",
                };
                let (left, right) = (self.source(left)?, self.source(right)?);
                let on = on.as_ref().map_or(Some(String::new()), |on| Some(format!(" ON {}", self.node(on)?)))?;
                format!("({left} {word} {right}{on})")
            }
            Source::Expression { .. } | Source::Outer(_) => return None,
        })
    }
}

/// What a query selects, its first part if there are several.
fn items(of: &Query) -> &[Item] {
    match &of.body {
        Body::Select(found) => &found.items,
        Body::Set { left, .. } => items(left),
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

/// A column, perhaps with its table.
fn name(parts: &[String]) -> Option<String> {
    let shown: Vec<String> = parts.iter().map(|part| quote_ident(part)).collect();
    let known = !matches!(parts.last()?.as_str(), "rowid" | "level" | "sysdate" | "nextval" | "currval");
    (known && shown.len() <= 2).then(|| shown.join("."))
}

fn unit_of(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Year => "year",
        Field::Month => "month",
        Field::Day => "day",
        Field::Hour => "hour",
        Field::Minute => "minute",
        Field::Second => "second",
        Field::Fraction(_) => return None,
    })
}

fn interval(text: &str, qualifier: IntervalQualifier) -> Option<String> {
    if qualifier.first == qualifier.last {
        let text = format!("{text} {}", unit_of(qualifier.first)?);
        return Some(format!("{}::interval", quote_literal(&text)));
    }
    let seconds = matches!(qualifier.last, Field::Second | Field::Fraction(_));
    let read_alike = match qualifier.first {
        Field::Year => true,
        // A sign stands before the whole here, and before each part there.
        Field::Day => seconds && !text.starts_with('-'),
        Field::Hour => seconds,
        _ => false,
    };
    read_alike.then(|| format!("{}::interval", quote_literal(text)))
}

/// CURRENT: fields behind the last are cut off.
fn current(qualifier: Option<Qualifier>) -> Option<String> {
    let qualifier = qualifier.unwrap_or(Qualifier { first: Field::Year, last: Field::Fraction(3) });
    let cut = match qualifier.last {
        Field::Fraction(3) => "date_trunc('milliseconds', LOCALTIMESTAMP)".to_owned(),
        Field::Fraction(digits) => format!("LOCALTIMESTAMP({digits})"),
        last => format!("date_trunc('{}', LOCALTIMESTAMP)", unit_of(last)?),
    };
    match import(&Type::Datetime(qualifier)) {
        Type::Timestamp(_) => Some(cut),
        ty @ (Type::Date | Type::Time(_)) => Some(format!("({cut})::{}", format_type(&ty))),
        _ => None,
    }
}

/// A pattern of MATCHES in the signs of LIKE.
fn matches_as_like(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        match c {
            '*' => out.push('%'),
            '?' => out.push('_'),
            '[' | ']' => return None,
            '\\' => out.extend(['\\', characters.next()?]),
            '%' | '_' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    Some(out)
}

fn columns(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("({})", names.iter().map(|name| quote_ident(name)).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_is_written_in_postgresqls_words() {
        for (text, expected) in [
            ("today", "CURRENT_DATE"),
            ("user", "CURRENT_USER"),
            ("current year to second", "date_trunc('second', LOCALTIMESTAMP)"),
            ("current hour to minute", "(date_trunc('minute', LOCALTIMESTAMP))::time(0) without time zone"),
            ("a > 0 and b[1,3] matches 'a?_*'", r"((a > 0) AND (substr(b, 1, 3) LIKE E'a_\\_%'))"),
            ("today - 3 units day", "(CURRENT_DATE - 3)"),
            ("nvl(a, 1) / 2", "(COALESCE(a, 1) / (2)::numeric)"),
            ("interval(5) day to day", "'5 day'::interval"),
        ] {
            assert_eq!(expression(text, BTreeSet::new()).as_deref(), Some(expected), "{text}");
        }
        for text in ["sitename", "a matches '[a-c]*'", "a::int", "extend(a, year to day)", "d + 1 units month"] {
            assert_eq!(expression(text, BTreeSet::new()), None, "{text}");
        }
    }

    #[test]
    fn blanks_of_a_char_that_count_have_no_equal() {
        let chars = || BTreeSet::from(["c".to_owned()]);
        for text in ["c || 'x'", "upper(c[1,2]) || v", "char_length(nvl(c, v))", "reverse(c)", "v::char(3) || v"] {
            assert_eq!(expression(text, chars()), None, "{text}");
        }
        assert_eq!(expression("trim(c) || v", chars()).as_deref(), Some("(TRIM(BOTH ' ' FROM c) || v)"));
        assert_eq!(expression("c = 'x'", chars()).as_deref(), Some("(c = 'x')"));
        let table = |name: &str| Some(Table { name: name.to_owned(), chars: chars() });
        for text in [
            "select c || 'x' from t",
            "select d || 'x' from (select c as d from t) as s",
            "select d || 'x' from (select c from t) as s (d)",
        ] {
            assert_eq!(view(text, &["a"], &table), None, "{text}");
        }
        assert_eq!(view("select v || 'x' from t", &["a"], &table).as_deref(), Some("SELECT (v || 'x') AS a FROM t"));
    }

    #[test]
    fn a_view_has_the_names_of_its_columns_and_its_order_of_null() {
        let text = "select first 3 a, sum(b) from bob.t x, outer_one y where x.a = y.a group by 1 order by 2 desc";
        let expected = "SELECT a AS p, sum(b) AS q FROM t x, outer_one y WHERE (x.a = y.a) GROUP BY 1 \
                        ORDER BY 2 DESC NULLS LAST LIMIT 3";
        assert_eq!(view(text, &["p", "q"], &|_| None).as_deref(), Some(expected));
        assert_eq!(view("select a from t, outer u where t.a = u.a", &["a"], &|_| None), None);
        assert_eq!(view("select * from t", &["a"], &|_| None), None);
    }
}
