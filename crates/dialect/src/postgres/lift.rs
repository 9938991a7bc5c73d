//! Literals lifted out of texts, so that texts that differ in them alone have one plan.
//!
//! Clients that write values into their statements (psycopg2, Django, psql) never send the same text twice. A [`Shape`] is a
//! text without its literals, found by the scanner alone: it is what a plan is looked for by. Which of the literals may be
//! parameters the parser's tree says ([`lifted`]): those that stand for a value beside a column or in its place, as `$1` would
//! with the same type. All others (`ORDER BY 1`, `interval '1 day'`, formats, templates) stay in the text, and a plan is for
//! texts that have the same there.

use std::borrow::Cow;
use std::ops::Range;

use pg_query::protobuf::{
    self as pg, AExprKind, LimitOption, Node, SelectStmt, TypeCast, UpdateStmt, a_const, node::Node as N,
};

use super::parse::Parsed;
use super::spelling::{Kind, Scanner};
use crate::Type;

/// Longer texts are not looked at: they are rarely asked twice.
pub(crate) const LONGEST: usize = 16 * 1024;

/// Most literals of a text that is looked at.
const MOST: usize = 256;

/// The bytes that stand for literals in a shape: no text has them outside of quotes.
const MARK: char = '\u{1}';

/// A text without its literals.
#[derive(Debug)]
pub struct Shape {
    /// The text, with a mark and its kind for each literal.
    pub key: String,
    /// What stood there.
    pub literals: Vec<Literal>,
    spelling: Spelling,
    /// What is in the key already ends here.
    copied: usize,
}

/// How a language writes what is lifted, and what takes its place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spelling {
    /// `'it''s'`, `$1`.
    Postgres,
    /// `'it\'s'` or `"it's"`, `?`.
    Mysql,
}

/// A literal of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Literal {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// What it is.
    pub kind: LiteralKind,
}

/// What a literal is, which says the type of a parameter in its place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LiteralKind {
    /// A plain string, whose type the context decides.
    String,
    /// A whole number that `integer` holds.
    Int4,
    /// A whole number that `bigint` holds.
    Int8,
    /// Any other number.
    Numeric,
}

impl LiteralKind {
    /// The type that a parameter in its place has; `None` where the context decides.
    pub fn ty(self) -> Option<Type> {
        match self {
            Self::String => None,
            Self::Int4 => Some(Type::Int4),
            Self::Int8 => Some(Type::Int8),
            Self::Numeric => Some(Type::Numeric(None)),
        }
    }

    fn mark(self) -> char {
        match self {
            Self::String => 's',
            Self::Int4 => 'i',
            Self::Int8 => 'l',
            Self::Numeric => 'n',
        }
    }
}

/// A text with parameters in the place of some of its literals.
#[derive(Debug)]
pub struct Lifted {
    /// The text.
    pub text: String,
    /// Which literals of the shape have become parameters, in order.
    pub literals: Vec<Place>,
}

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// The literal, counted from 0.
    pub literal: u16,
    /// A minus stands in front of it that belongs to it.
    pub negative: bool,
}

/// The shape of a text; `None` for texts that are no query or change of rows, have parameters of their own, or are long.
pub fn shape(sql: &str) -> Option<Shape> {
    if sql.len() > LONGEST || !may_have_shape(sql) {
        return None;
    }
    let mut shape = Shape::new(sql, Spelling::Postgres);
    let (mut before, mut ended) = (Kind::Other, false);
    let mut scanner = Scanner::standard(sql);
    while let Some(token) = scanner.next() {
        let text = &sql[token.range.clone()];
        if ended {
            return None;
        }
        let kind = match token.kind {
            Kind::Number { junk: true } | Kind::Parameter { .. } => return None,
            Kind::Number { junk: false } => number_kind(text),
            // `n'…'` has a type.
            Kind::String { plain: true, .. } if before != Kind::National && content(text).is_some() => {
                Some(LiteralKind::String)
            }
            _ => None,
        };
        ended = text == ";";
        before = token.kind;
        let Some(kind) = kind else { continue };
        shape.push(sql, token.range, kind)?;
    }
    Some(shape.ended(sql))
}

/// A quick look at the first word.
fn may_have_shape(sql: &str) -> bool {
    let text = sql.trim_start().as_bytes();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    [&b"select"[..], b"insert", b"update", b"delete", b"with"].into_iter().any(begins)
}

/// What a number is; `None` for those whose type a minus in front would change.
pub(crate) fn number_kind(digits: &str) -> Option<LiteralKind> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(LiteralKind::Numeric);
    }
    match digits.parse::<u64>() {
        Ok(value) if value <= i32::MAX as u64 => Some(LiteralKind::Int4),
        Ok(value) if value == i32::MAX as u64 + 1 || value == i64::MAX as u64 + 1 => None,
        Ok(value) if value <= i64::MAX as u64 => Some(LiteralKind::Int8),
        _ => Some(LiteralKind::Numeric),
    }
}

/// The characters of a plain string; `None` for one that goes on in another line.
fn content(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    let Some(first) = inner.find('\'') else { return Some(inner.into()) };
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    let mut at = Some(first);
    while let Some(quote) = at {
        text.push_str(&rest[..=quote]);
        rest = rest[quote + 1..].strip_prefix('\'')?;
        at = rest.find('\'');
    }
    text.push_str(rest);
    Some(text.into())
}

impl Shape {
    pub(crate) fn new(sql: &str, spelling: Spelling) -> Self {
        Self { key: String::with_capacity(sql.len()), literals: Vec::new(), spelling, copied: 0 }
    }

    /// The next literal; `None` where there are too many.
    pub(crate) fn push(&mut self, sql: &str, range: Range<usize>, kind: LiteralKind) -> Option<()> {
        if self.literals.len() == MOST {
            return None;
        }
        self.key.push_str(&sql[self.copied..range.start]);
        self.key.push(MARK);
        self.key.push(kind.mark());
        self.copied = range.end;
        self.literals.push(Literal { range, kind });
        Some(())
    }

    /// With what stands behind the last literal.
    pub(crate) fn ended(mut self, sql: &str) -> Self {
        self.key.push_str(&sql[self.copied..]);
        self
    }

    /// The text of a parameter's value, as its type's input takes it.
    pub fn value<'t>(&self, sql: &'t str, place: Place) -> Option<Cow<'t, str>> {
        let literal = self.literals.get(usize::from(place.literal))?;
        let text = sql.get(literal.range.clone())?;
        match literal.kind {
            LiteralKind::String => match self.spelling {
                Spelling::Postgres => content(text),
                Spelling::Mysql => crate::mysql::content(text),
            },
            _ if place.negative => Some(format!("-{text}").into()),
            _ => Some(text.into()),
        }
    }

    /// The literals that are no parameters, in order.
    pub fn fixed<'t>(&'t self, sql: &'t str, places: &'t [Place]) -> impl Iterator<Item = &'t str> {
        let mut places = places.iter().peekable();
        self.literals.iter().enumerate().filter_map(move |(index, literal)| {
            if places.next_if(|place| usize::from(place.literal) == index).is_some() {
                return None;
            }
            sql.get(literal.range.clone())
        })
    }
}

/// A statement with parameters in the place of the literals that may be some, but for those that `stays` names by their
/// number; `None` when none may.
pub fn lifted(parsed: &Parsed, sql: &str, shape: &Shape, stays: &[u16]) -> Option<Lifted> {
    let mut finder = Finder { found: Vec::new() };
    finder.statement(&*parsed.tree().ok()?);
    let mut found = finder.found;
    found.sort_unstable();
    found.dedup();
    let mut lifted = Lifted { text: String::with_capacity(sql.len()), literals: Vec::with_capacity(found.len()) };
    let mut copied = 0;
    for start in found {
        let Some((index, negative)) = literal_at(sql, shape, start) else { continue };
        let literal = u16::try_from(index).ok()?;
        if stays.contains(&literal) {
            continue;
        }
        lifted.literals.push(Place { literal, negative });
        lifted.text.push_str(&sql[copied..start]);
        // Blanks, so that what stands beside it stays a token of its own.
        match shape.spelling {
            Spelling::Postgres => lifted.text.push_str(&format!(" ${} ", lifted.literals.len())),
            Spelling::Mysql => lifted.text.push_str(" ? "),
        }
        copied = shape.literals[index].range.end;
    }
    lifted.text.push_str(&sql[copied..]);
    (!lifted.literals.is_empty()).then_some(lifted)
}

/// The literal that begins at a byte, or whose minus stands there.
fn literal_at(sql: &str, shape: &Shape, start: usize) -> Option<(usize, bool)> {
    let next = shape.literals.partition_point(|literal| literal.range.start < start);
    let literal = shape.literals.get(next)?;
    if literal.range.start == start {
        return Some((next, false));
    }
    let between = sql.get(start..literal.range.start)?.strip_prefix('-')?;
    let is_number = literal.kind != LiteralKind::String;
    (is_number && between.bytes().all(|byte| byte == b' ')).then_some((next, true))
}

/// Finds the literals that may be parameters.
struct Finder {
    /// Where they begin, in bytes.
    found: Vec<usize>,
}

impl Finder {
    fn statement(&mut self, statement: &N) {
        match statement {
            N::SelectStmt(select) => self.select(select),
            N::InsertStmt(insert) => {
                self.with(insert.with_clause.as_ref());
                if let Some(N::SelectStmt(source)) = insert.select_stmt.as_ref().and_then(|node| node.node.as_ref()) {
                    let rows = source.values_lists.iter().filter_map(|row| match &row.node {
                        Some(N::List(row)) => Some(&row.items),
                        _ => None,
                    });
                    rows.flatten().for_each(|item| self.constant(item));
                    self.select(source);
                }
                if let Some(conflict) = &insert.on_conflict_clause {
                    self.assignments(&conflict.target_list);
                    self.condition(conflict.where_clause.as_deref());
                }
            }
            N::UpdateStmt(update) => self.update(update),
            N::DeleteStmt(delete) => {
                self.with(delete.with_clause.as_ref());
                self.sources(&delete.using_clause);
                self.condition(delete.where_clause.as_deref());
            }
            _ => {}
        }
    }

    fn update(&mut self, update: &UpdateStmt) {
        self.with(update.with_clause.as_ref());
        self.assignments(&update.target_list);
        self.sources(&update.from_clause);
        self.condition(update.where_clause.as_deref());
    }

    /// `SET a = 1, b = b + 1`.
    fn assignments(&mut self, targets: &[Node]) {
        for target in targets {
            let Some(N::ResTarget(target)) = &target.node else { continue };
            let Some(value) = target.val.as_deref().filter(|_| target.indirection.is_empty()) else { continue };
            self.constant(value);
            if let Some(N::AExpr(expr)) = &value.node
                && expr.kind() == AExprKind::AexprOp
                && matches!(operator(&expr.name), Some("+" | "-" | "*"))
                && let (Some(left), Some(right)) = (expr.lexpr.as_deref(), expr.rexpr.as_deref())
                && is_column(left)
                && is_number(right)
            {
                self.constant(right);
            }
        }
    }

    fn with(&mut self, with: Option<&pg::WithClause>) {
        for member in with.map_or(&[][..], |with| &with.ctes) {
            let Some(N::CommonTableExpr(member)) = &member.node else { continue };
            if let Some(query) = member.ctequery.as_ref().and_then(|query| query.node.as_ref()) {
                self.statement(query);
            }
        }
    }

    fn select(&mut self, select: &SelectStmt) {
        self.with(select.with_clause.as_ref());
        self.sources(&select.from_clause);
        self.condition(select.where_clause.as_deref());
        if select.limit_option() != LimitOption::WithTies {
            for count in [&select.limit_count, &select.limit_offset].into_iter().flatten() {
                if is_number(count) {
                    self.constant(count);
                }
            }
        }
        for member in [&select.larg, &select.rarg].into_iter().flatten() {
            self.select(member);
        }
    }

    fn sources(&mut self, sources: &[Node]) {
        sources.iter().for_each(|source| self.source(source));
    }

    fn source(&mut self, source: &Node) {
        match &source.node {
            Some(N::RangeSubselect(subselect)) => self.subquery(subselect.subquery.as_deref()),
            Some(N::JoinExpr(join)) => {
                [&join.larg, &join.rarg].into_iter().flatten().for_each(|side| self.source(side));
                self.condition(join.quals.as_deref());
            }
            _ => {}
        }
    }

    fn subquery(&mut self, query: Option<&Node>) {
        if let Some(N::SelectStmt(select)) = query.and_then(|query| query.node.as_ref()) {
            self.select(select);
        }
    }

    fn condition(&mut self, condition: Option<&Node>) {
        match condition.and_then(|condition| condition.node.as_ref()) {
            Some(N::BoolExpr(all)) => all.args.iter().for_each(|arg| self.condition(Some(arg))),
            Some(N::SubLink(link)) => self.subquery(link.subselect.as_deref()),
            Some(N::AExpr(expr)) => self.comparison(expr),
            _ => {}
        }
    }

    fn comparison(&mut self, expr: &pg::AExpr) {
        let (Some(left), Some(right)) = (expr.lexpr.as_deref(), expr.rexpr.as_deref()) else { return };
        match (expr.kind(), operator(&expr.name)) {
            (AExprKind::AexprOp, Some("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=")) => {
                if is_column(left) {
                    self.constant(right);
                } else if is_column(right) {
                    self.constant(left);
                }
                for side in [left, right] {
                    if matches!(side.node, Some(N::SubLink(_))) {
                        self.condition(Some(side));
                    }
                }
            }
            (AExprKind::AexprIn | AExprKind::AexprBetween, _) if is_column(left) => {
                if let Some(N::List(list)) = &right.node
                    && list.items.iter().all(|item| constant_at(item).is_some())
                {
                    list.items.iter().for_each(|item| self.constant(item));
                }
            }
            _ => {}
        }
    }

    fn constant(&mut self, node: &Node) {
        self.found.extend(constant_at(node));
    }
}

/// Where a literal stands that is nothing but a value; `None` for anything else.
fn constant_at(node: &Node) -> Option<usize> {
    match &node.node {
        Some(N::AConst(constant)) => match &constant.val {
            Some(a_const::Val::Ival(_) | a_const::Val::Fval(_) | a_const::Val::Sval(_)) if !constant.isnull => {
                usize::try_from(constant.location).ok()
            }
            _ => None,
        },
        Some(N::TypeCast(cast)) => cast_string(cast),
        _ => None,
    }
}

/// `'2024-01-01'::date`; not `date '2024-01-01'`, where the string is part of the syntax.
fn cast_string(cast: &TypeCast) -> Option<usize> {
    let Some(N::AConst(constant)) = cast.arg.as_ref().and_then(|arg| arg.node.as_ref()) else { return None };
    let name = cast.type_name.as_ref()?;
    let plain = name.typmods.is_empty() && name.array_bounds.is_empty() && !name.setof && !name.pct_type;
    let is_string = matches!(constant.val, Some(a_const::Val::Sval(_)));
    (plain && is_string && cast.location > constant.location).then(|| usize::try_from(constant.location).ok())?
}

fn is_number(node: &Node) -> bool {
    let Some(N::AConst(constant)) = &node.node else { return false };
    matches!(constant.val, Some(a_const::Val::Ival(_) | a_const::Val::Fval(_)))
}

fn is_column(node: &Node) -> bool {
    let Some(N::ColumnRef(column)) = &node.node else { return false };
    column.fields.iter().all(|field| matches!(field.node, Some(N::String(_))))
}

/// The name of an operator without a schema.
fn operator(name: &[Node]) -> Option<&str> {
    match name {
        [Node { node: Some(N::String(name)) }] => Some(&name.sval),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with its parameters, and their values.
    fn parts(sql: &str) -> Option<(String, Vec<String>)> {
        let shape = shape(sql)?;
        let statements = super::super::parse(sql).expect("parses");
        let lifted = lifted(&statements[0], sql, &shape, &[])?;
        let values = lifted.literals.iter().map(|place| shape.value(sql, *place).expect("is there").into_owned());
        Some((lifted.text.split_whitespace().collect::<Vec<_>>().join(" "), values.collect()))
    }

    #[test]
    fn values_beside_columns_become_parameters() {
        for (sql, text, values) in [
            ("select * from t where a = 5", "select * from t where a = $1", &["5"][..]),
            (
                "select * from t where -7 < a and b='it''s'and c",
                "select * from t where $1 < a and b= $2 and c",
                &["-7", "it's"],
            ),
            (
                "select * from t where a in (1, 2.50, 3e1)",
                "select * from t where a in ( $1 , $2 , $3 )",
                &["1", "2.50", "3e1"],
            ),
            (
                "select 1 from t where not (t.a between 1 and 2 or d >= '2024-01-01'::date)",
                "select 1 from t where not (t.a between $1 and $2 or d >= $3 ::date)",
                &["1", "2", "2024-01-01"],
            ),
            (
                "select a from t order by 1 limit 10 offset 20;",
                "select a from t order by 1 limit $1 offset $2 ;",
                &["10", "20"],
            ),
            (
                "insert into t (a, b) values (1, 'x'), (2, null), (default, -3.5)",
                "insert into t (a, b) values ( $1 , $2 ), ( $3 , null), (default, $4 )",
                &["1", "x", "2", "-3.5"],
            ),
            (
                "insert into t values (1) on conflict (a) do update set n = t.n + 1 where t.n < 9 returning 'x'",
                "insert into t values ( $1 ) on conflict (a) do update set n = t.n + $2 where t.n < $3 returning 'x'",
                &["1", "1", "9"],
            ),
            (
                "update t set a = a + 1, b = 'x', c = c || 'y' where id = 3",
                "update t set a = a + $1 , b = $2 , c = c || 'y' where id = $3",
                &["1", "x", "3"],
            ),
            (
                "delete from t using u where t.a = u.a and u.b <> 'x'",
                "delete from t using u where t.a = u.a and u.b <> $1",
                &["x"],
            ),
            (
                "select * from (select 1 from u where x = 1) s join v on v.a = 2 where exists (select 1 from w where y = 3)",
                "select * from (select 1 from u where x = $1 ) s join v on v.a = $2 where exists (select 1 from w where y = $3 )",
                &["1", "2", "3"],
            ),
        ] {
            let found = parts(sql).unwrap_or_else(|| panic!("nothing is lifted: {sql}"));
            assert_eq!((found.0.as_str(), found.1), (text, values.iter().map(|v| v.to_string()).collect()), "{sql}");
        }
    }

    #[test]
    fn what_is_more_than_a_value_stays() {
        for sql in [
            "select 1, 'x' from t group by 1 order by 1",
            "select * from t where a = date '2024-01-01' or a > interval '1 day'",
            "select * from t where a like 'x%' or a ~ 'x' or lower(a) = 'x' or 1 = 1",
            "select * from t where a = n'x' or a = E'x' or a = U&'x' or a = b'1' or a = true or a = null",
            "select * from t where a = 'x'\n'y'",
            "select * from t where a = 2147483648 or a = -9223372036854775808",
            "select * from t where a = '5'::numeric(3, 1) or a = '{}'::int[]",
            "select count(*) from t having count(*) > 5",
            "select * from t order by a fetch first 5 rows with ties",
            "values (1, 'x')",
            "select a from t where a in (1, b)",
            "update t set a[1] = 5",
        ] {
            assert_eq!(parts(sql), None, "{sql}");
        }
        for sql in ["select * from t where a = $1 and b = 5", "select 1; select 2", "create table t (a int default 5)"]
        {
            assert!(shape(sql).is_none(), "{sql}");
        }
    }

    #[test]
    fn texts_with_other_literals_have_one_shape() {
        let key = |sql: &str| shape(sql).expect("has a shape").key;
        assert_eq!(key("select 'a', 1 from t"), key("select 'b''c', 2147483647 from t"));
        assert_ne!(key("select 1"), key("select 3000000000"));
        assert_ne!(key("select 1"), key("select 1.0"));
        assert_ne!(key("select '1'"), key("select 1"));
        assert_ne!(key("select \"a\""), key("select \"b\""));
        let sql = "select a from t where b = 7 order by 1";
        let found = shape(sql).expect("has a shape");
        let places = [Place { literal: 0, negative: false }];
        assert_eq!(found.fixed(sql, &places).collect::<Vec<_>>(), ["1"]);
    }
}
