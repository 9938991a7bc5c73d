//! Bound expressions as PostgreSQL prints them: what `pg_get_expr`, `pg_get_constraintdef` and `pg_get_indexdef` show.
//!
//! PostgreSQL prints the tree that its analysis has made, not what the user wrote: `a IN (1, 2)` comes out as
//! `(a = ANY (ARRAY[1, 2]))`, and a literal with the type that it was given. In the plain form every operator stands in
//! parentheses; the pretty form leaves out those that precedence makes needless.

mod constants;
mod keys;

use constants::constant_of;
pub use keys::{joined, key, looks_called};

use super::expr::rows::field_of;
use super::types::format_type;
use super::words::quote_ident;
use crate::Type;
use crate::collation::Collation;
use crate::functions::{self, FunctionKind, Subscripts};
use crate::ir::{CastContext, CollateRole, ColumnRef, CompareOp, Expr, ExprKind, LikeKind, Value};
use crate::types::Reg;
use crate::values::Settings;

/// What an expression speaks of, by its names.
pub trait Names {
    /// A column.
    fn column(&self, column: ColumnRef) -> Option<String>;
    /// Columns are no columns of a table: they stand in parentheses before subscripts.
    fn is_value(&self) -> bool {
        false
    }
    /// What the texts of constants depend on; where a text is to be kept, nothing.
    fn settings(&self) -> Option<&Settings> {
        None
    }
    /// An object, as `regclass` and its kin print it.
    fn object(&self, reg: Reg, oid: u32) -> Option<String>;
    /// A type with its modifier.
    fn type_words(&self, ty: &Type) -> String {
        format_type(ty)
    }
    /// A collation.
    fn collation(&self, collation: &Collation) -> String {
        quote_ident(&collation.name)
    }
    /// A function of users, by its object id.
    fn routine(&self, _oid: u32) -> Option<String> {
        None
    }
    /// An operator of users over operands of these types, by its object id: with its schema where its name means another.
    fn operator(&self, _oid: u32) -> Option<String> {
        None
    }
    /// The whole row of a relation, whose columns these are.
    fn row(&self, _members: &[Expr]) -> Option<String> {
        None
    }
    /// What the printer knows nothing of: aggregates, windows, queries.
    fn other(&self, _expr: &Expr, _pretty: bool) -> Option<String> {
        None
    }
}

/// Prints an expression; `None` for one that has a part which is not printed yet, a query for example.
///
/// Conversions that the place itself asks for, at the top, are not shown.
pub fn expression(expr: &Expr, names: &dyn Names, pretty: bool) -> Option<String> {
    let mut printer = Printer { names, pretty, out: String::new() };
    printer.expr(expr, false)?;
    Some(printer.out)
}

/// The same for an argument of a function, whose implicit conversions are shown.
pub fn argument(expr: &Expr, names: &dyn Names, pretty: bool) -> Option<String> {
    let mut printer = Printer { names, pretty, out: String::new() };
    printer.expr(expr, true)?;
    Some(printer.out)
}

fn names_columns(expr: &Expr) -> bool {
    let mut found = false;
    crate::ir::walk::expr(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Column(_));
        !found && part.kind.query().is_none()
    });
    found
}

/// Calls without arguments that are words of SQL.
const VALUES: &[&str] = &[
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "user",
];

struct Printer<'a> {
    names: &'a dyn Names,
    pretty: bool,
    out: String,
}

/// A name that is compared, without its conversion to text.
fn named(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { arg, context: CastContext::Implicit } if expr.ty == Type::Text && arg.ty == Type::Name => arg,
        _ => expr,
    }
}

/// What decides about parentheses in the pretty form.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Needs none wherever it stands: a name, a constant, a call.
    Simple,
    /// An operator that precedence is known of.
    Binary(u8),
    /// Any other operator or test.
    Test,
    /// AND, NOT.
    And,
    /// OR.
    Or,
    /// `op ANY (…)`.
    Quantified,
}

/// `+` and `-`.
const LOW: u8 = 1;
/// `*`, `/` and `%`.
const HIGH: u8 = 2;
/// Operators without a precedence that is worth knowing.
const OTHER: u8 = 0;

/// Where an operand stands.
#[derive(Clone, Copy, PartialEq)]
enum Parent {
    /// Of an operator: its precedence, and whether the operand is its left one.
    Binary(u8, bool),
    /// Of AND or NOT.
    And,
    /// Of OR.
    Or,
    /// Of a cast.
    Cast,
    /// Of IS NULL and its kin.
    Test,
}

fn precedence(sign: &str) -> u8 {
    match sign {
        "+" | "-" => LOW,
        "*" | "/" | "%" => HIGH,
        _ => OTHER,
    }
}

/// Numbers whose operators take each other without a conversion.
fn one_family(a: &Type, b: &Type) -> bool {
    let float = |ty: &Type| matches!(ty, Type::Float4 | Type::Float8);
    if a.is_domain() != b.is_domain() {
        return false;
    }
    // A length of it says nothing.
    if let (Type::Char(_), Type::Char(_)) = (a, b) {
        return true;
    }
    let moment = |ty: &Type| matches!(ty, Type::Date | Type::Timestamp(_) | Type::TimestampTz(_));
    (a.is_integer() && b.is_integer()) || (float(a) && float(b)) || (moment(a) && moment(b))
}

/// The cast that shows, when a conversion by itself is hidden or needless under an operator.
fn shown(expr: &Expr, under_operator: bool) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { arg, context }
            if under_operator && *context != CastContext::Explicit && one_family(&arg.ty, &expr.ty) =>
        {
            arg
        }
        _ => expr,
    }
}

/// The operands of a users' operator, whatever carries it out.
fn operands_of(called: &Expr) -> Option<&[Expr]> {
    match &called.kind {
        ExprKind::Call { function, args } if function.name == "stored function" => args.get(2..),
        ExprKind::Call { args, .. } => Some(args),
        _ => None,
    }
}

/// What a users' cast takes, whatever carries it out.
fn source_of_cast(made: &Expr) -> Option<&Expr> {
    match &made.kind {
        ExprKind::Call { function, args } if function.name == "stored function" => args.get(2),
        ExprKind::Call { args, .. } => args.first(),
        ExprKind::Cast { arg, .. } => match &arg.kind {
            ExprKind::Cast { arg, .. } => Some(arg),
            _ => Some(arg),
        },
        _ => Some(made),
    }
}

/// A row that is compared with that of a query.
fn is_row_and_query(row: &Expr, query: &Expr) -> bool {
    match (&row.kind, &query.kind) {
        (ExprKind::Row(members), ExprKind::Scalar(query)) => members.len() == query.columns.len(),
        _ => false,
    }
}

/// A form of Unicode as SQL's own words name it; another text is an argument like any other, and no word.
fn is_form(text: &str) -> bool {
    matches!(text, "NFC" | "NFD" | "NFKC" | "NFKD")
}

impl Printer<'_> {
    fn shape(&self, expr: &Expr) -> Shape {
        match &expr.kind {
            ExprKind::Call { function, args } if function.kind == FunctionKind::Operator => match args.len() {
                2 => Shape::Binary(precedence(function.name)),
                _ => Shape::Test,
            },
            ExprKind::Compare { left, right, .. } if is_row_and_query(left, right) => Shape::Simple,
            ExprKind::Compare { .. } | ExprKind::Like { .. } => Shape::Binary(OTHER),
            ExprKind::Distinct { .. } | ExprKind::IsNull { .. } | ExprKind::IsTruth { .. } => Shape::Test,
            ExprKind::And(_) | ExprKind::Not(_) => Shape::And,
            ExprKind::Or(_) => Shape::Or,
            ExprKind::InList { list, .. } if list.len() == 1 => Shape::Binary(OTHER),
            ExprKind::InList { negated, list, .. } if list.iter().any(names_columns) => {
                if *negated {
                    Shape::And
                } else {
                    Shape::Or
                }
            }
            ExprKind::InList { .. } | ExprKind::QuantifiedArray { .. } => Shape::Quantified,
            ExprKind::Collate { arg, role: CollateRole::Operand { .. }, .. } => self.shape(arg),
            // It never stands bare under an operator.
            ExprKind::Collate { .. } => Shape::Quantified,
            _ => Shape::Simple,
        }
    }

    /// An operand, in parentheses where the pretty form needs them; the plain form has its own.
    fn operand(&mut self, expr: &Expr, parent: Parent, implicit: bool) -> Option<()> {
        let expr = shown(expr, matches!(parent, Parent::Binary(..)));
        let bare = match (self.shape(expr), parent) {
            (Shape::Simple, _) => true,
            (Shape::Binary(own), Parent::Binary(of, left)) => {
                own != OTHER && of != OTHER && (own > of || (own == of && left))
            }
            (Shape::Binary(_) | Shape::Test, Parent::And | Parent::Or) => true,
            (Shape::And, Parent::And | Parent::Or) | (Shape::Or, Parent::Or) => true,
            _ => false,
        };
        let parentheses = self.pretty && !bare;
        if parentheses {
            self.out.push('(');
        }
        self.expr(expr, implicit)?;
        if parentheses {
            self.out.push(')');
        }
        Some(())
    }

    fn open(&mut self) {
        if !self.pretty {
            self.out.push('(');
        }
    }

    fn close(&mut self) {
        if !self.pretty {
            self.out.push(')');
        }
    }

    fn list(&mut self, members: &[Expr]) -> Option<()> {
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.expr(member, true)?;
        }
        Some(())
    }

    /// Prints an expression; `implicit` shows conversions that nobody asked for.
    fn expr(&mut self, expr: &Expr, implicit: bool) -> Option<()> {
        match &expr.kind {
            ExprKind::Literal(value) => self.literal(value, &expr.ty, implicit),
            ExprKind::Column(column) => {
                let name = self.names.column(*column)?;
                self.out.push_str(&name);
                Some(())
            }
            ExprKind::Call { function, args } if function.kind == FunctionKind::Operator => {
                self.operator(function.name, args)
            }
            ExprKind::Call { function, args } if function.is(Subscripts::Element.function()) => match args.as_slice() {
                [array, index] => self.element(array, index),
                _ => None,
            },
            _ if let Some((row, at)) = field_of(expr) => self.field(row, at),
            ExprKind::Call { function, args }
                if functions::is_called_variadic(function) || function.name == "multirange of a user by array" =>
            {
                let name = constructor(function.name, &expr.ty).unwrap_or_else(|| quote_ident(function.name));
                self.out.push_str(&format!("{name}("));
                for (at, arg) in args.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    self.out.push_str(if at + 1 == args.len() { "VARIADIC " } else { "" });
                    self.expr(arg, true)?;
                }
                self.out.push(')');
                Some(())
            }
            ExprKind::Call { function, args } => match constructor(function.name, &expr.ty) {
                Some(name) => self.named(&name, args),
                None => self.call(function.name, args),
            },
            ExprKind::Cast { arg, context } | ExprKind::Checked { arg, context, .. } => {
                self.cast(arg, *context, &expr.ty, implicit)
            }
            // A row beside a query.
            ExprKind::Compare { left, right, .. } if is_row_and_query(left, right) => {
                self.out.push_str(&self.names.other(expr, self.pretty)?);
                Some(())
            }
            // Names have comparisons of their own, with names and with texts.
            ExprKind::Compare { op, left, right } => self.binary(op.sign(), named(left), named(right)),
            ExprKind::Like { kind, negated, text, pattern, escape } => {
                let sign = match (kind, negated) {
                    (LikeKind::Like, false) => "~~",
                    (LikeKind::Like, true) => "!~~",
                    (LikeKind::ILike, false) => "~~*",
                    (LikeKind::ILike, true) => "!~~*",
                    (LikeKind::Matches, _) => return None,
                };
                if escape.is_some() {
                    return None;
                }
                // Its patterns are looked for in a `bpchar` as it is.
                let text = match &text.kind {
                    ExprKind::Cast { arg, context: CastContext::Implicit } if matches!(arg.ty, Type::Char(_)) => arg,
                    _ => text,
                };
                self.binary(sign, text, pattern)
            }
            ExprKind::Distinct { negated, left, right } => {
                self.binary(if *negated { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" }, left, right)
            }
            ExprKind::And(members) => self.logic(" AND ", members, Parent::And),
            ExprKind::Or(members) => self.logic(" OR ", members, Parent::Or),
            ExprKind::Not(arg) => {
                self.open();
                self.out.push_str("NOT ");
                self.operand(arg, Parent::And, false)?;
                self.close();
                Some(())
            }
            ExprKind::IsNull { arg, negated } => self.test(arg, if *negated { "IS NOT NULL" } else { "IS NULL" }),
            ExprKind::IsTruth { arg, test, negated } => {
                let words = match test {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "UNKNOWN",
                };
                self.test(arg, &format!("IS {}{words}", if *negated { "NOT " } else { "" }))
            }
            ExprKind::InList { arg, negated, list } => self.in_list(arg, *negated, list),
            ExprKind::QuantifiedArray { op, all, arg, array } => {
                self.open();
                self.operand(arg, Parent::Binary(OTHER, true), true)?;
                self.out.push_str(&format!(" {} {} (", op.sign(), if *all { "ALL" } else { "ANY" }));
                match array.kind {
                    // Without the type it would be read as a query of many rows.
                    ExprKind::Scalar(_) => {
                        self.out.push_str(if self.pretty { "(" } else { "" });
                        self.expr(array, true)?;
                        self.out.push_str(if self.pretty { ")" } else { "" });
                        self.out.push_str(&format!("::{}", self.names.type_words(&array.ty)));
                    }
                    _ => self.expr(array, true)?,
                }
                self.out.push(')');
                self.close();
                Some(())
            }
            ExprKind::Case { branches, otherwise } => self.case(branches, otherwise.as_deref()),
            ExprKind::Collate { arg, role: CollateRole::Operand { .. }, .. } => self.expr(arg, implicit),
            ExprKind::Collate { arg, collation, .. } => {
                self.open();
                self.operand(arg, Parent::Binary(OTHER, false), true)?;
                self.out.push_str(&format!(" COLLATE {}", self.names.collation(collation)));
                self.close();
                Some(())
            }
            ExprKind::Coalesce(members) => self.named("COALESCE", members),
            ExprKind::Greatest(members) => self.named("GREATEST", members),
            ExprKind::Least(members) => self.named("LEAST", members),
            ExprKind::NullIf(left, right) => {
                self.out.push_str("NULLIF(");
                self.expr(left, true)?;
                self.out.push_str(", ");
                self.expr(right, true)?;
                self.out.push(')');
                Some(())
            }
            ExprKind::Row(members) => match self.names.row(members) {
                Some(whole) => {
                    self.out.push_str(&whole);
                    Some(())
                }
                None => {
                    self.named("ROW", members)?;
                    if !matches!(expr.ty, Type::Record(_)) {
                        self.out.push_str(&format!("::{}", self.names.type_words(&expr.ty)));
                    }
                    Some(())
                }
            },
            ExprKind::Array(members) => {
                self.out.push_str("ARRAY[");
                self.list(members)?;
                self.out.push(']');
                if members.is_empty() {
                    self.out.push_str(&format!("::{}", self.names.type_words(&expr.ty)));
                }
                Some(())
            }
            _ => {
                let text = self.names.other(expr, self.pretty)?;
                self.out.push_str(&text);
                Some(())
            }
        }
    }

    /// `array[index]`
    fn element(&mut self, array: &Expr, index: &Expr) -> Option<()> {
        let array = match &array.kind {
            ExprKind::Cast { arg, context: CastContext::Implicit } if arg.ty.is_domain() => arg,
            _ => array,
        };
        let simple = matches!(array.kind, ExprKind::Column(_)) && !array.ty.is_domain() && !self.names.is_value();
        if !simple {
            self.out.push('(');
        }
        self.expr(array, true)?;
        if !simple {
            self.out.push(')');
        }
        self.out.push('[');
        self.expr(index, false)?;
        self.out.push(']');
        Some(())
    }

    /// A field of a row; the fields of rows without a type of their own have no names that can be printed.
    fn field(&mut self, row: &Expr, at: usize) -> Option<()> {
        let name = match row.ty.through_domains() {
            Type::User(user) => user.composite()?.fields.get(at)?.name.clone(),
            // A function names what it returns.
            ty if matches!(row.kind, ExprKind::Call { .. }) => ty.row_fields()?.get(at)?.name.clone(),
            _ => return None,
        };
        let row = match &row.kind {
            ExprKind::Cast { arg, context: CastContext::Implicit } if arg.ty.is_domain() => arg,
            _ => row,
        };
        let member = |function| Subscripts::Element.function().is(function);
        let bare = field_of(row).is_some() || matches!(&row.kind, ExprKind::Call { function, .. } if member(*function));
        self.out.push_str(if bare { "" } else { "(" });
        self.expr(row, true)?;
        self.out.push_str(if bare { "" } else { ")" });
        self.out.push('.');
        self.out.push_str(&quote_ident(&name));
        Some(())
    }

    fn is_normalized(&mut self, text: &Expr, form: &str) -> Option<()> {
        self.out.push('(');
        self.operand(text, Parent::Binary(OTHER, true), false)?;
        self.out.push_str(&format!(" IS {form}NORMALIZED)"));
        Some(())
    }

    fn named(&mut self, name: &str, args: &[Expr]) -> Option<()> {
        self.out.push_str(name);
        self.out.push('(');
        self.list(args)?;
        self.out.push(')');
        Some(())
    }

    fn call(&mut self, name: &str, args: &[Expr]) -> Option<()> {
        match (name, args) {
            (name, []) if VALUES.contains(&name) => {
                self.out.push_str(&name.to_uppercase());
                Some(())
            }
            ("extract", [Expr { kind: ExprKind::Literal(Value::Text(field)), .. }, value]) => {
                self.out.push_str(&format!("EXTRACT({field} FROM "));
                self.expr(value, true)?;
                self.out.push(')');
                Some(())
            }
            ("overlaps", [start, end, other, last]) => {
                for (words, value) in [("((", start), (", ", end), (") OVERLAPS (", other), (", ", last)] {
                    self.out.push_str(words);
                    self.expr(value, false)?;
                }
                self.out.push_str("))");
                Some(())
            }
            ("is_normalized", [text]) => self.is_normalized(text, ""),
            ("is_normalized", [text, Expr { kind: ExprKind::Literal(Value::Text(form)), .. }]) if is_form(form) => {
                self.is_normalized(text, &format!("{form} "))
            }
            ("normalize", [text]) => {
                self.out.push_str("NORMALIZE(");
                self.expr(text, false)?;
                self.out.push(')');
                Some(())
            }
            ("normalize", [text, Expr { kind: ExprKind::Literal(Value::Text(form)), .. }]) if is_form(form) => {
                self.out.push_str("NORMALIZE(");
                self.expr(text, false)?;
                self.out.push_str(&format!(", {form})"));
                Some(())
            }
            ("pg_collation_for", [value]) => {
                self.out.push_str("COLLATION FOR (");
                self.expr(value, false)?;
                self.out.push(')');
                Some(())
            }
            ("timezone", [zone, value]) => {
                self.out.push('(');
                self.operand(value, Parent::Binary(OTHER, true), true)?;
                self.out.push_str(" AT TIME ZONE ");
                self.operand(zone, Parent::Binary(OTHER, false), true)?;
                self.out.push(')');
                Some(())
            }
            ("stored function", [Expr { kind: ExprKind::Literal(Value::Integer(oid)), .. }, _, args @ ..]) => {
                let name = self.names.routine(u32::try_from(*oid).ok()?)?;
                self.named(&name, args)
            }
            ("operator of users", [Expr { kind: ExprKind::Literal(Value::Integer(oid)), .. }, called]) => {
                let sign = self.names.operator(u32::try_from(*oid).ok()?)?;
                let operands = operands_of(called)?;
                self.operator(&sign, operands)
            }
            ("cast of users", [value, Expr { kind: ExprKind::Literal(asked), .. }]) => {
                let source = source_of_cast(value)?;
                let context = match asked {
                    Value::Integer(0) => CastContext::Implicit,
                    _ => CastContext::Explicit,
                };
                let kind = ExprKind::Cast { arg: Box::new(source.clone()), context };
                self.expr(&Expr::new(kind, value.ty.clone()), true)
            }
            ("stored aggregate result", [_, _, state]) => self.expr(state, true),
            ("counted from zero", [vector]) => self.expr(vector, true),
            ("members of a vector", [array, _]) => self.expr(array, true),
            ("substring", [text, pattern, escape]) if pattern.ty == Type::Text => {
                self.out.push_str("SUBSTRING(");
                for (word, arg) in [("", text), (" SIMILAR ", pattern), (" ESCAPE ", escape)] {
                    self.out.push_str(word);
                    self.expr(arg, true)?;
                }
                self.out.push(')');
                Some(())
            }
            ("grouping of keys", args) => self.named("GROUPING", args),
            // A construct of the grammar that has no name.
            (name, _) if name.contains(' ') => None,
            (name, args) => self.named(&quote_ident(name), args),
        }
    }

    fn operator(&mut self, sign: &str, args: &[Expr]) -> Option<()> {
        match args {
            [left, right] => self.binary(sign, left, right),
            [arg] => {
                self.open();
                self.out.push_str(sign);
                self.out.push(' ');
                self.operand(arg, Parent::Binary(OTHER, false), true)?;
                self.close();
                Some(())
            }
            _ => None,
        }
    }

    fn binary(&mut self, sign: &str, left: &Expr, right: &Expr) -> Option<()> {
        let own = precedence(sign);
        self.open();
        self.operand(left, Parent::Binary(own, true), true)?;
        self.out.push_str(&format!(" {sign} "));
        self.operand(right, Parent::Binary(own, false), true)?;
        self.close();
        Some(())
    }

    fn logic(&mut self, word: &str, members: &[Expr], parent: Parent) -> Option<()> {
        self.open();
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                self.out.push_str(word);
            }
            self.operand(member, parent, false)?;
        }
        self.close();
        Some(())
    }

    fn test(&mut self, arg: &Expr, words: &str) -> Option<()> {
        self.open();
        self.operand(arg, Parent::Test, true)?;
        self.out.push(' ');
        self.out.push_str(words);
        self.close();
        Some(())
    }

    fn in_list(&mut self, arg: &Expr, negated: bool, list: &[Expr]) -> Option<()> {
        let constant = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_));
        let (op, word) = if negated { (CompareOp::NotEqual, "ALL") } else { (CompareOp::Equal, "ANY") };
        if let [only] = list {
            return self.binary(op.sign(), arg, only);
        }
        // Members that are made of columns are compared one by one.
        let (made, others): (Vec<&Expr>, Vec<&Expr>) = list.iter().partition(|member| names_columns(member));
        if !made.is_empty() {
            let test = |member: &Expr| {
                let (left, right) = (Box::new(arg.clone()), Box::new(member.clone()));
                Expr::new(ExprKind::Compare { op, left, right }, Type::Bool)
            };
            let mut tests = Vec::with_capacity(list.len());
            if others.len() > 1 {
                let (arg, list) = (Box::new(arg.clone()), others.into_iter().cloned().collect());
                tests.push(Expr::new(ExprKind::InList { arg, negated, list }, Type::Bool));
                tests.extend(made.into_iter().map(test));
            } else {
                tests.extend(list.iter().map(test));
            }
            // Two at a time.
            let pair = |left: Expr, right: Expr| {
                let both = vec![left, right];
                Expr::new(if negated { ExprKind::And(both) } else { ExprKind::Or(both) }, Type::Bool)
            };
            let whole = tests.into_iter().reduce(pair)?;
            return self.expr(&whole, false);
        }
        self.open();
        self.operand(arg, Parent::Binary(OTHER, true), true)?;
        self.out.push_str(&format!(" {} {word} (", op.sign()));
        // The members of a list for a varchar column are varchar, and the whole becomes text.
        let varchar = matches!(&arg.kind, ExprKind::Cast { arg, .. } if matches!(arg.ty, Type::Varchar(_)));
        if varchar && list.iter().all(constant) {
            self.open();
            self.out.push_str("ARRAY[");
            for (at, member) in list.iter().enumerate() {
                let ExprKind::Literal(value) = &member.kind else { return None };
                if at > 0 {
                    self.out.push_str(", ");
                }
                self.literal(value, &Type::Varchar(None), true)?;
            }
            self.out.push(']');
            self.close();
            self.out.push_str("::text[]");
        } else {
            self.out.push_str("ARRAY[");
            self.list(list)?;
            self.out.push(']');
        }
        self.out.push(')');
        self.close();
        Some(())
    }

    /// Each word begins a line of its own.
    fn case(&mut self, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> Option<()> {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push_str("\nCASE");
        for (condition, result) in branches {
            self.out.push_str("\n    WHEN ");
            self.expr(condition, false)?;
            self.out.push_str(" THEN ");
            self.expr(result, true)?;
        }
        self.out.push_str("\n    ELSE ");
        match otherwise {
            Some(otherwise) => self.expr(otherwise, true)?,
            None => {
                let ty = branches.first().map_or(Type::Text, |(_, result)| result.ty.clone());
                self.literal(&Value::Null, &ty, true)?;
            }
        }
        self.out.push_str("\nEND");
        Some(())
    }

    fn cast(&mut self, arg: &Expr, context: CastContext, ty: &Type, implicit: bool) -> Option<()> {
        if let (
            ExprKind::Call { function, args },
            Type::Time(Some(digits))
            | Type::TimeTz(Some(digits))
            | Type::Timestamp(Some(digits))
            | Type::TimestampTz(Some(digits)),
        ) = (&arg.kind, ty)
            && args.is_empty()
            // A column's length is its own affair.
            && context == CastContext::Explicit
            && matches!(function.name, "current_time" | "current_timestamp" | "localtime" | "localtimestamp")
        {
            self.out.push_str(&format!("{}({digits})", function.name.to_uppercase()));
            return Some(());
        }
        let blanks = matches!((arg.ty.through_domains(), ty), (Type::Char(_), Type::Char(0)));
        let hidden = context != CastContext::Explicit && (!implicit || blanks);
        match constant_of(arg, ty) {
            Some(value) => {
                if hidden {
                    let bare = match ty {
                        Type::Varchar(_) => Type::Varchar(None),
                        Type::Char(_) => return self.labelled(value, "bpchar"),
                        Type::Array(element) => {
                            let words = match &**element {
                                Type::Char(_) => "bpchar[]".to_owned(),
                                _ => self.names.type_words(&super::resolve::unmodified(ty)),
                            };
                            return self.labelled(value, &words);
                        }
                        _ => arg.ty.clone(),
                    };
                    return self.literal(value, &bare, false);
                }
                self.labelled(value, &self.names.type_words(ty))
            }
            None if hidden => self.expr(arg, false),
            None => {
                self.open();
                self.operand(arg, Parent::Cast, false)?;
                self.close();
                self.out.push_str(&format!("::{}", self.names.type_words(ty)));
                Some(())
            }
        }
    }
}

/// The name of the function that makes ranges or multiranges of a user's type, which a row without a name carries out.
fn constructor(row: &str, result: &Type) -> Option<String> {
    let Type::User(user) = result else { return None };
    let (namespace, name) = match row {
        "range of a user" => &user.range()?.constructors.range,
        "multirange of a user" | "multirange of a user by array" => {
            &user.range_of_multirange()?.range()?.constructors.multirange
        }
        _ => return None,
    };
    Some(match namespace.as_str() {
        "public" => quote_ident(name),
        namespace => format!("{}.{}", quote_ident(namespace), quote_ident(name)),
    })
}
