//! Expressions.

use super::Binder;
use super::casts::{is_distinct, plain};
use super::coerce::{call, words};
use super::scope::Visible;
use crate::bind::scope::{self, Found, Spelling};
use crate::informix::ast::{Node, NodeKind, TrimSide};
use crate::informix::types::{LVARCHAR_MAX, YEAR_TO_FRACTION3, YEAR_TO_FRACTION5, type_words};
use crate::informix::values::composite::{self, Shape};
use crate::informix::values::{Decimal, Moment, Span};
use crate::ir::{CastContext, ColumnIndex, ColumnRef, CompareOp, Expr, ExprKind, Value};
use crate::schema::QualifiedName;
use crate::types::{Field, IntervalQualifier, Qualifier};
use crate::uses::NamedColumn;
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// Binds an expression; literals and parameters whose type no place has decided yet are [`Type::Unknown`].
    pub fn expr(&mut self, node: &Node) -> Result<Expr> {
        crate::budget::ask()?;
        let at = node.at;
        Ok(match &node.kind {
            NodeKind::Null => Expr::new(ExprKind::Literal(Value::Null), Type::Unknown),
            NodeKind::Number(digits) => self.number(digits, at)?,
            NodeKind::String(value) => Expr::new(ExprKind::Literal(Value::Text(value.clone())), Type::Unknown),
            NodeKind::Param(index) => {
                let ty = self.params[*index].clone().unwrap_or(Type::Unknown);
                Expr::new(ExprKind::Param(*index), ty)
            }
            NodeKind::Name(names) => self.name(names, at)?,
            NodeKind::Star(_) => {
                return Err(self.error(Condition::SyntaxError, "* cannot stand here", at));
            }
            NodeKind::Call(node) => self.call(node, at)?,
            NodeKind::Cast(arg, ty) => {
                let expr = self.expr(arg)?;
                let ty = self.named_type(&ty.ty, at)?;
                match expr.kind {
                    // A field of a document by its value.
                    ExprKind::Call { function, mut args }
                        if function.name == "bson_get" && !matches!(ty, Type::Json | Type::Jsonb) =>
                    {
                        args.truncate(2);
                        args.push(words(&ty));
                        call("ifx_bson_value", args, ty)
                    }
                    _ => self.cast(expr, &ty, at)?,
                }
            }
            NodeKind::Negate(arg) => self.negate(arg, at)?,
            NodeKind::Arithmetic(op, left, right) => self.arithmetic(op, left, right, at)?,
            NodeKind::Compare(op, left, right) => {
                if let (NodeKind::Row(left), NodeKind::Row(right)) = (&left.kind, &right.kind) {
                    return self.compare_rows(*op, left, right, at);
                }
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                self.compare(*op, left, right, at)?
            }
            NodeKind::And(members) => {
                let members = self.conditions(members)?;
                Expr::new(ExprKind::And(members), Type::Bool)
            }
            NodeKind::Or(members) => {
                let members = self.conditions(members)?;
                Expr::new(ExprKind::Or(members), Type::Bool)
            }
            NodeKind::Not(arg) => {
                let arg = self.condition(arg)?;
                Expr::new(ExprKind::Not(Box::new(arg)), Type::Bool)
            }
            NodeKind::IsNull { arg, negated } => {
                let arg = self.expr(arg)?;
                let arg = self.decided(arg, at)?;
                Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated: *negated }, Type::Bool)
            }
            NodeKind::Between { arg, low, high, negated } => {
                let low = Node { kind: NodeKind::Compare(CompareOp::GreaterOrEqual, arg.clone(), low.clone()), at };
                let high = Node { kind: NodeKind::Compare(CompareOp::LessOrEqual, arg.clone(), high.clone()), at };
                let both = self.conditions(&[low, high])?;
                let between = Expr::new(ExprKind::And(both), Type::Bool);
                if *negated { Expr::new(ExprKind::Not(Box::new(between)), Type::Bool) } else { between }
            }
            NodeKind::InList { arg, list, negated } => self.in_list(arg, list, *negated, at)?,
            NodeKind::InQuery { row, query, negated } => {
                let query = self.subquery(query)?;
                if query.columns.len() != row.len() {
                    return Err(self.error(
                        Condition::ColumnCountMismatch,
                        "the subquery has another number of columns",
                        at,
                    ));
                }
                let mut members = Vec::new();
                for (node, column) in row.iter().zip(&query.columns) {
                    let member = self.expr(node)?;
                    members.push(self.compared_with(CompareOp::Equal, member, &column.ty, at)?);
                }
                Expr::new(ExprKind::InQuery { row: members, negated: *negated, query: Box::new(query) }, Type::Bool)
            }
            NodeKind::Exists(query) => {
                let query = self.subquery(query)?;
                Expr::new(ExprKind::Exists(Box::new(query)), Type::Bool)
            }
            NodeKind::Like { kind, text, pattern, escape, negated } => {
                let text = self.expr(text)?;
                let mut text = self.as_text(text, at)?;
                // Blanks at the end of a CHAR are not looked at.
                if let ExprKind::Cast { context, .. } = &mut text.kind {
                    *context = CastContext::Explicit;
                }
                let pattern = self.expr(pattern)?;
                let pattern = self.as_text(pattern, at)?;
                let escape = match escape {
                    Some(escape) => {
                        let escape = self.expr(escape)?;
                        Some(Box::new(self.as_text(escape, at)?))
                    }
                    None => None,
                };
                let like = ExprKind::Like {
                    kind: *kind,
                    negated: *negated,
                    text: Box::new(text),
                    pattern: Box::new(pattern),
                    escape,
                };
                Expr::new(like, Type::Bool)
            }
            NodeKind::Quantified { op, all, arg, query } => {
                let query = self.subquery(query)?;
                let [column] = &query.columns[..] else {
                    return Err(self.error(Condition::ColumnCountMismatch, "the subquery must have one column", at));
                };
                let arg = self.expr(arg)?;
                let ty = column.ty.clone();
                let arg = self.compared_with(*op, arg, &ty, at)?;
                let kind = ExprKind::Quantified { op: *op, all: *all, arg: Box::new(arg), query: Box::new(query) };
                Expr::new(kind, Type::Bool)
            }
            NodeKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), at)?
            }
            NodeKind::Scalar(query) => {
                let query = self.subquery(query)?;
                let [column] = &query.columns[..] else {
                    return Err(self.error(Condition::ColumnCountMismatch, "the subquery must have one column", at));
                };
                let ty = column.ty.clone();
                Expr::new(ExprKind::Scalar(Box::new(query)), ty)
            }
            NodeKind::Current(qualifier) => {
                let ty = Type::Datetime(qualifier.unwrap_or(YEAR_TO_FRACTION3));
                self.effects.volatile = true;
                call("ifx_current", vec![words(&ty)], ty)
            }
            NodeKind::Today => {
                self.effects.volatile = true;
                call("ifx_today", Vec::new(), Type::Date)
            }
            NodeKind::User => Expr::new(ExprKind::Literal(Value::Text(self.context.user.clone())), Type::Char(32)),
            NodeKind::Role { current } => {
                self.effects.volatile = true;
                let name = if *current { "ifx_current_role" } else { "ifx_default_role" };
                call(name, Vec::new(), Type::Char(32))
            }
            NodeKind::Sitename => {
                Expr::new(ExprKind::Literal(Value::Text(self.context.server.clone())), Type::Varchar(Some(128)))
            }
            NodeKind::DatetimeLiteral(text, qualifier) => {
                let moment = Moment::parse(text, *qualifier, Moment::LEAST);
                let text = self.placed(moment, at)?.format(*qualifier);
                Expr::new(ExprKind::Literal(Value::Text(text)), Type::Datetime(*qualifier))
            }
            NodeKind::IntervalLiteral(text, qualifier) => {
                let span = Span::parse(text, *qualifier).and_then(|span| span.format(*qualifier));
                let text = self.placed(span, at)?;
                Expr::new(ExprKind::Literal(Value::Text(text)), Type::QualifiedInterval(*qualifier))
            }
            NodeKind::Units(count, qualifier) => {
                let ty = Type::QualifiedInterval(*qualifier);
                let count = plain(self.expr(count)?);
                let count = self.coerce(count, &Type::Numeric(None), at)?;
                call("ifx_units", vec![count, words(&ty)], ty)
            }
            NodeKind::Extend(arg, qualifier) => {
                let arg = plain(self.expr(arg)?);
                let arg = if arg.ty == Type::Unknown {
                    self.coerce(arg, &Type::Datetime(YEAR_TO_FRACTION5), at)?
                } else {
                    arg
                };
                let default = match arg.ty {
                    Type::Date => Qualifier { first: Field::Year, last: Field::Day },
                    Type::Datetime(qualifier) => qualifier,
                    _ => YEAR_TO_FRACTION5,
                };
                self.coerce(arg, &Type::Datetime(qualifier.unwrap_or(default)), at)?
            }
            NodeKind::Trim { side, characters, text } => {
                let text = plain(self.expr(text)?);
                let ty = super::texts::result_type("trim", std::slice::from_ref(&text)).unwrap_or(Type::Text);
                let text = self.as_text(text, at)?;
                let characters = match characters {
                    Some(characters) => {
                        let characters = self.expr(characters)?;
                        self.as_text(characters, at)?
                    }
                    None => Expr::text(" "),
                };
                let name = match side {
                    TrimSide::Both => "trim",
                    TrimSide::Leading => "ltrim",
                    TrimSide::Trailing => "rtrim",
                };
                self.resolved(name, vec![text, characters], at)?.retyped(ty)
            }
            NodeKind::Field { row, names } => self.field_of_variable(row, names, at)?,
            NodeKind::Slice { arg, from, to } => {
                let arg = plain(self.expr(arg)?);
                if *from == 0 || to.is_some_and(|to| to < *from) {
                    return Err(self.error(
                        Condition::IllegalSubscript,
                        "a subscript begins with 1 and does not fall",
                        at,
                    ));
                }
                let length = to.unwrap_or(*from) + 1 - from;
                // A part of a CHAR is a CHAR.
                let ty = match &arg.ty {
                    Type::Char(_) => Type::Char(length),
                    Type::Nchar(_) => Type::Nchar(length),
                    Type::Nvarchar(_) => Type::Nvarchar(length),
                    _ => super::texts::sized(Some(length)).unwrap_or(Type::Text),
                };
                let arg = self.as_text(arg, at)?;
                let args = vec![
                    arg,
                    Expr::integer(i64::from(*from), Type::Int4),
                    Expr::integer(i64::from(length), Type::Int4),
                ];
                let name = if self.context.multibyte { "ifx_part" } else { "substr" };
                let part = self.resolved(name, args, at)?;
                // Its blanks are the type's business.
                let part = match &ty {
                    Type::Char(_) | Type::Nchar(_) => self.resolved("rtrim", vec![part], at)?,
                    _ => part,
                };
                part.retyped(ty)
            }
            NodeKind::Spliced { column, from, to, value } => self.spliced(column, (*from, *to), value, at)?,
            NodeKind::Row(members) => self.composite("ROW", members, at)?,
            NodeKind::Collection(kind, members) => self.composite(kind, members, at)?,
            NodeKind::Named(..) => {
                return Err(self.error(Condition::SyntaxError, "name = value cannot stand here", at));
            }
            NodeKind::Prior(operand) => self.prior(operand, at)?,
            NodeKind::Root(operand) => self.of_root(operand, at)?,
            // No word is reserved: `sysdefaults` has a column of this name.
            NodeKind::Default => {
                self.name(&["default".to_owned()], at).unwrap_or_else(|_| Expr::new(ExprKind::Default, Type::Unknown))
            }
        })
    }

    /// An expression that is true or false.
    pub fn condition(&mut self, node: &Node) -> Result<Expr> {
        let expr = self.expr(node)?;
        if expr.ty == Type::Bool {
            return Ok(expr);
        }
        Err(self.error(Condition::SyntaxError, "a condition is expected here", node.at))
    }

    fn conditions(&mut self, nodes: &[Node]) -> Result<Vec<Expr>> {
        nodes.iter().map(|node| self.condition(node)).collect()
    }

    fn number(&self, digits: &str, at: usize) -> Result<Expr> {
        if let Ok(number) = digits.parse::<i64>() {
            let ty = if i32::try_from(number).is_ok_and(|small| small != i32::MIN) { Type::Int4 } else { Type::Int8 };
            return Ok(Expr::integer(number, ty));
        }
        let decimal = self.placed(Decimal::parse(digits), at)?;
        if digits.contains(['e', 'E']) {
            let real: f64 = digits.parse().unwrap_or(f64::INFINITY);
            if real.is_finite() {
                return Ok(Expr::new(ExprKind::Literal(Value::Real(real)), Type::Float8));
            }
        }
        let scale = decimal.scale.max(0);
        let precision = i32::try_from(decimal.digits.len()).unwrap_or(i32::MAX).max(scale).max(1);
        let text = decimal.to_string();
        let ty = if precision <= 32 {
            Type::Numeric(Some(crate::types::NumericModifier { precision: precision as u16, scale: scale as i16 }))
        } else {
            Type::FloatingDecimal(32)
        };
        Ok(Expr::new(ExprKind::Literal(Value::Text(text)), ty))
    }

    fn name(&mut self, names: &[String], at: usize) -> Result<Expr> {
        let (qualifier, column) = match names {
            [column] => (None, column.as_str()),
            [.., table, column] => (Some(table.as_str()), column.as_str()),
            [] => return Err(self.error(Condition::SyntaxError, "a name is expected here", at)),
        };
        for depth in (0..self.scopes.len()).rev() {
            if let Some(column) = self.column_at(depth, qualifier, column, at)? {
                return Ok(column);
            }
            if qualifier.is_none()
                && let Some(value) = self.pseudo_column(depth, column, at)?
            {
                return Ok(value);
            }
        }
        if let [first, field] = names
            && (field == "nextval" || field == "currval")
        {
            let name = QualifiedName::bare(first.clone());
            let function = if field == "nextval" { "ifx_nextval" } else { "ifx_currval" };
            if let Some(value) = self.sequence_value(function, &name) {
                self.effects.volatile = true;
                return Ok(value);
            }
        }
        if let Some(document) = self.field_of_document(names, at)? {
            return Ok(document);
        }
        if let Some((field, row)) = names.split_last()
            && !row.is_empty()
            && let Ok(row) = self.name(row, at)
            && let Some(field) = self.field(row, field, at)?
        {
            return Ok(field);
        }
        Err(self
            .error(Condition::UndefinedColumn, format!("column ({column}) not found in any table in the query"), at)
            .column(column))
    }

    /// What a name means among the relations of a FROM clause; `None` where it means no column of theirs.
    fn column_at(&mut self, depth: usize, qualifier: Option<&str>, column: &str, at: usize) -> Result<Option<Expr>> {
        let relations = self.scopes[depth].relations.iter();
        let named = relations.filter(|shown| qualifier.is_none_or(|name| shown.name.eq_ignore_ascii_case(name)));
        let has_rowid = |shown: &&Visible| shown.relation.as_ref().is_some_and(|table| !table.without_identity);
        let mut rowids = named.clone().filter(|shown| column == "rowid" && has_rowid(shown));
        let (shown, position) = match scope::column(named, column, Spelling::AnyCase) {
            Found::One(shown, position) => (shown, Some(position)),
            Found::Nothing => match (rowids.next(), rowids.next()) {
                (None, _) => return Ok(None),
                (Some(shown), None) => (shown, None),
                (Some(_), Some(_)) => return Err(self.ambiguous(column, at)),
            },
            Found::Several => return Err(self.ambiguous(column, at)),
        };
        let (index, ty) = match position {
            Some(position) => (ColumnIndex::At(position), shown.columns[position].ty.clone()),
            None => (ColumnIndex::RowIdentity, Type::Int8),
        };
        let (relation, behind) = (shown.id, shown.behind);
        self.touched.push(relation);
        if let Some(position) = position {
            self.needs.read_of(behind, position);
            let named = NamedColumn { id: behind, position, place: Some(at), whole: false };
            self.note(|uses| uses.columns.push(named));
        }
        Ok(Some(Expr::new(ExprKind::Column(ColumnRef { relation, column: index }), ty)))
    }

    fn ambiguous(&self, column: &str, at: usize) -> crate::Error {
        self.error(Condition::AmbiguousColumn, format!("ambiguous column ({column})"), at).column(column)
    }

    /// A field of a row; `None` of what has no such field.
    fn field(&mut self, row: Expr, name: &str, at: usize) -> Result<Option<Expr>> {
        let Type::Composite(words) = row.ty.without_distinct() else { return Ok(None) };
        let Some((index, ty)) = Shape::of(words).and_then(|shape| shape.field(name)) else { return Ok(None) };
        let text = call("ifx_row_field", vec![plain(row), Expr::integer(index, Type::Int4)], Type::Text);
        self.coerce(text, &ty, at).map(Some)
    }

    /// `variable.field.field`; a column's name where the variable is no such row.
    fn field_of_variable(&mut self, row: &Node, names: &[String], at: usize) -> Result<Expr> {
        let mut value = self.expr(row)?;
        for name in &names[1..] {
            match self.field(value, name, at)? {
                Some(field) => value = field,
                None => return self.name(names, at),
            }
        }
        Ok(value)
    }

    /// `document.field.field`, with its table before it or without.
    fn field_of_document(&mut self, names: &[String], at: usize) -> Result<Option<Expr>> {
        for column in 1..names.len().min(3) {
            let (document, fields) = names.split_at(column);
            if let Ok(document) = self.name(document, at)
                && document.ty == Type::Jsonb
            {
                let args = vec![document, Expr::text(fields.join("."))];
                return self.resolved("bson_get", args, at).map(Some);
            }
        }
        Ok(None)
    }

    fn negate(&mut self, arg: &Node, at: usize) -> Result<Expr> {
        let arg = self.expr(arg)?;
        if arg.ty.distinct().is_some()
            && let Some(found) = self.routine_of("negate", vec![arg.clone()], at)?
        {
            return Ok(found);
        }
        let arg = plain(arg);
        if let Type::QualifiedInterval(_) = arg.ty {
            let ty = arg.ty.clone();
            let factor = Expr::new(ExprKind::Literal(Value::Real(-1.0)), Type::Float8);
            return Ok(call("ifx_interval_mul", vec![arg, words(&ty), factor, words(&ty)], ty));
        }
        let ty = match arg.ty.clone() {
            Type::Unknown => super::numbers::FLOATING,
            ty if ty.is_text() => super::numbers::FLOATING,
            Type::Int2 => Type::Int4,
            Type::Float4 => Type::Float8,
            ty => ty,
        };
        let arg = self.coerce(arg, &ty, at)?;
        let operand = if ty.is_decimal() { Type::Numeric(None) } else { ty.clone() };
        let arg = self.coerce(arg, &operand, at)?;
        let negated = self.resolved("-", vec![arg], at)?;
        Ok(if ty.is_decimal() { negated.retyped(ty) } else { negated })
    }

    fn arithmetic(&mut self, op: &'static str, left: &Node, right: &Node, at: usize) -> Result<Expr> {
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        let function = match op {
            "+" => "plus",
            "-" => "minus",
            "*" => "times",
            "/" => "divide",
            "||" => "concat",
            other => other,
        };
        if let Some(found) = self.by_operator(function, &left, &right, at)? {
            return Ok(found);
        }
        let (left, right) = match op {
            // A function that takes the source types.
            "||" => (plain(left), plain(right)),
            _ if is_distinct(&left, &right) => self.evened(function, left, right, at)?,
            _ => (left, right),
        };
        if op == "||" {
            let total = [&left, &right]
                .iter()
                .map(|side| text_length(side))
                .try_fold(0_u32, |sum, length| Some(sum.saturating_add(length?)));
            // The blanks of a CHAR belong to its text when more text follows.
            let left = self.padded(left, at)?;
            let right = self.padded(right, at)?;
            let ty = match total {
                Some(length @ 1..=255) => Type::Varchar(Some(length)),
                Some(length @ 256..=32_739) => Type::Lvarchar(length),
                _ => Type::Text,
            };
            return Ok(self.resolved("||", vec![left, right], at)?.retyped(ty));
        }
        if let Some(expr) = self.temporal(op, &left, &right, at)? {
            return Ok(expr);
        }
        self.number_arithmetic(op, left, right, at)
    }

    /// A string with the blanks of its CHAR type.
    pub(super) fn padded(&mut self, expr: Expr, at: usize) -> Result<Expr> {
        match expr.ty {
            Type::Char(length) | Type::Nchar(length) if !matches!(expr.kind, ExprKind::Literal(_)) => {
                let text = self.as_text(expr, at)?;
                let length = Expr::integer(i64::from(length), Type::Int4);
                self.resolved("rpad", vec![text, length], at)
            }
            _ => self.as_text(expr, at),
        }
    }

    /// Arithmetic on dates, datetimes and intervals; `None` for other operands.
    pub(super) fn temporal(&mut self, op: &'static str, left: &Expr, right: &Expr, at: usize) -> Result<Option<Expr>> {
        let moment = |ty: &Type| matches!(ty, Type::Date | Type::Datetime(_) | Type::Timestamp(_));
        let sign = |op: &str| Expr::integer(if op == "-" { -1 } else { 1 }, Type::Int4);
        let open = |side: &Expr| matches!(side.kind, ExprKind::Param(_) | ExprKind::Literal(Value::Null));
        let (left, right) = (left.clone(), right.clone());
        let expr = match (&left.ty, op, &right.ty) {
            (Type::Date, "+" | "-", number) if number.is_number() || *number == Type::Unknown && op == "+" => {
                let days = self.coerce(right, &Type::Int4, at)?;
                let days = if op == "-" { self.resolved("-", vec![days], at)? } else { days };
                call("ifx_add_days", vec![left, days], Type::Date)
            }
            (number, "+", Type::Date) if number.is_number() => {
                let days = self.coerce(left, &Type::Int4, at)?;
                call("ifx_add_days", vec![right, days], Type::Date)
            }
            (Type::Date, "-", Type::Date | Type::Unknown) => {
                let right = self.coerce(right, &Type::Date, at)?;
                call("ifx_days_between", vec![left, right], Type::Int4)
            }
            // Nothing but a span can be added to a moment; what is taken away is a moment itself, unless a cast says more.
            (Type::Datetime(_), "+", Type::Unknown) if open(&right) => {
                let span = IntervalQualifier { first: Field::Day, precision: 9, last: Field::Fraction(5) };
                let right = self.coerce(right, &Type::QualifiedInterval(span), at)?;
                return self.temporal(op, &left, &right, at);
            }
            (Type::Unknown, "+", Type::Datetime(_)) if open(&left) => {
                return self.temporal(op, &right, &left, at);
            }
            (Type::Datetime(_), "-", Type::Unknown) if open(&right) => {
                let right = self.coerce(right, &left.ty, at)?;
                return self.temporal(op, &left, &right, at);
            }
            (first, "+" | "-", Type::QualifiedInterval(interval)) if moment(first) => {
                let ty = match first {
                    Type::Date if interval.last <= Field::Day => Type::Date,
                    Type::Date => Type::Datetime(Qualifier { first: Field::Year, last: interval.last }),
                    other => other.clone(),
                };
                let args = vec![words(&left.ty), right.clone(), words(&right.ty), sign(op), words(&ty)];
                call("ifx_datetime_add", std::iter::once(left).chain(args).collect(), ty)
            }
            (Type::QualifiedInterval(_), "+", second) if moment(second) => {
                return self.temporal(op, &right, &left, at);
            }
            (first, "-", second) if moment(first) && moment(second) => {
                let last = match (first, second) {
                    (Type::Datetime(a), Type::Datetime(b)) => a.last.max(b.last),
                    (Type::Datetime(a), _) | (_, Type::Datetime(a)) => a.last,
                    _ => Field::Fraction(5),
                };
                let first = match (first, second) {
                    (Type::Datetime(a), Type::Datetime(_)) if a.first > Field::Day => a.first,
                    _ if last <= Field::Month => Field::Year,
                    _ => Field::Day,
                };
                let ty = Type::QualifiedInterval(IntervalQualifier {
                    first,
                    precision: if first == Field::Year { 4 } else { 8 },
                    last,
                });
                let (left_words, right_words) = (words(&left.ty), words(&right.ty));
                call("ifx_datetime_sub", vec![left, left_words, right, right_words, words(&ty)], ty)
            }
            (Type::QualifiedInterval(a), "+" | "-", Type::QualifiedInterval(b)) => {
                let ty = Type::QualifiedInterval(IntervalQualifier {
                    first: a.first.min(b.first),
                    precision: 9,
                    last: a.last.max(b.last),
                });
                let (left_words, right_words) = (words(&left.ty), words(&right.ty));
                call("ifx_interval_add", vec![left, left_words, right, right_words, sign(op), words(&ty)], ty)
            }
            (Type::QualifiedInterval(qualifier), "*" | "/", number)
                if number.is_number() || *number == Type::Unknown =>
            {
                let ty = Type::QualifiedInterval(IntervalQualifier { precision: 9, ..*qualifier });
                let factor = self.coerce(right, &Type::Float8, at)?;
                let factor = if op == "/" {
                    self.resolved("/", vec![Expr::new(ExprKind::Literal(Value::Real(1.0)), Type::Float8), factor], at)?
                } else {
                    factor
                };
                let interval_words = words(&left.ty);
                call("ifx_interval_mul", vec![left, interval_words, factor, words(&ty)], ty)
            }
            (number, "*", Type::QualifiedInterval(_)) if number.is_number() => {
                return self.temporal(op, &right, &left, at);
            }
            (first, _, second)
                if moment(first)
                    || moment(second)
                    || matches!(first, Type::QualifiedInterval(_))
                    || matches!(second, Type::QualifiedInterval(_)) =>
            {
                return Err(self.error(
                    Condition::IncompatibleIntervals,
                    format!("{} {op} {} is not defined", type_words(first), type_words(second)),
                    at,
                ));
            }
            _ => return Ok(None),
        };
        Ok(Some(expr))
    }

    /// `left op right`.
    pub fn compare(&mut self, op: CompareOp, left: Expr, right: Expr, at: usize) -> Result<Expr> {
        if let Some(found) = self.compared_by(op, &left, &right, at)? {
            return Ok(found);
        }
        let (left, right) =
            if is_distinct(&left, &right) { self.compared(op, left, right, at)? } else { (left, right) };
        let (left, right) = self.matched(left, right, at)?;
        let left = sortable(left);
        let right = sortable(right);
        Ok(Expr::new(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::Bool))
    }

    fn compare_rows(&mut self, op: CompareOp, left: &[Node], right: &[Node], at: usize) -> Result<Expr> {
        if op != CompareOp::Equal || left.len() != right.len() {
            return self.unsupported("comparing rows other than for equality", at);
        }
        let mut members = Vec::new();
        for (left, right) in left.iter().zip(right) {
            let left = self.expr(left)?;
            let right = self.expr(right)?;
            members.push(self.compare(op, left, right, at)?);
        }
        Ok(Expr::new(ExprKind::And(members), Type::Bool))
    }

    fn in_list(&mut self, arg: &Node, list: &[Node], negated: bool, at: usize) -> Result<Expr> {
        if let [of] = list
            && let Some(expr) = self.in_collection(arg, of, negated, at)?
        {
            return Ok(expr);
        }
        let arg = self.expr(arg)?;
        let mut members = Vec::new();
        let mut bound_arg = None;
        for node in list {
            let member = self.expr(node)?;
            let (left, right) = self.matched(arg.clone(), member, at)?;
            bound_arg.get_or_insert(left);
            members.push(right);
        }
        // One type for all: that of the first match, which the others are brought to.
        let arg = bound_arg.unwrap_or(arg);
        let ty = arg.ty.clone();
        let mut list = Vec::new();
        for member in members {
            list.push(sortable(self.coerce(member, &ty, at)?));
        }
        Ok(Expr::new(ExprKind::InList { arg: Box::new(sortable(arg)), negated, list }, Type::Bool))
    }

    fn case(
        &mut self,
        operand: Option<&Node>,
        branches: &[(Node, Node)],
        otherwise: Option<&Node>,
        at: usize,
    ) -> Result<Expr> {
        let mut conditions = Vec::new();
        let mut results = Vec::new();
        for (condition, result) in branches {
            conditions.push(match operand {
                Some(operand) => {
                    let left = self.expr(operand)?;
                    let right = self.expr(condition)?;
                    self.compare(CompareOp::Equal, left, right, condition.at)?
                }
                None => self.condition(condition)?,
            });
            results.push(self.expr(result)?);
        }
        if let Some(otherwise) = otherwise {
            results.push(self.expr(otherwise)?);
        }
        let (mut results, ty) = self.united(results, at)?;
        let otherwise = if otherwise.is_some() { results.pop().map(Box::new) } else { None };
        let branches = conditions.into_iter().zip(results).collect();
        Ok(Expr::new(ExprKind::Case { branches, otherwise }, ty))
    }

    /// A row or collection, in the text form in which it is stored and sent.
    fn composite(&mut self, kind: &str, members: &[Node], at: usize) -> Result<Expr> {
        let (open, close) = if kind == "ROW" { ('(', ')') } else { ('{', '}') };
        let mut constant = format!("{kind}{open}");
        // What stands before the constant, when a member is none.
        let mut before: Option<Expr> = None;
        for (place, member) in members.iter().enumerate() {
            if place > 0 {
                constant.push(',');
            }
            let expr = self.expr(member)?;
            let nested = matches!(member.kind, NodeKind::Row(_) | NodeKind::Collection(..));
            match &expr.kind {
                ExprKind::Literal(Value::Text(text)) if nested => constant.push_str(text),
                ExprKind::Literal(value) => {
                    let ty = if expr.ty == Type::Unknown { &Type::Text } else { expr.ty.without_distinct() };
                    constant.push_str(&self.placed(composite::printed(value, ty), member.at)?);
                }
                _ => {
                    let ty = if expr.ty == Type::Unknown { Type::Lvarchar(LVARCHAR_MAX) } else { expr.ty.clone() };
                    let expr = self.coerce(expr, &ty, member.at)?;
                    let text = if nested { expr } else { call("ifx_member", vec![expr, words(&ty)], Type::Text) };
                    let constant = Expr::text(std::mem::take(&mut constant));
                    let left = match before.take() {
                        Some(before) => self.resolved("||", vec![before, constant], at)?,
                        None => constant,
                    };
                    before = Some(self.resolved("||", vec![left, text], at)?);
                }
            }
        }
        constant.push(close);
        Ok(match before {
            Some(before) => self.resolved("||", vec![before, Expr::text(constant)], at)?.retyped(Type::Text),
            None => Expr::new(ExprKind::Literal(Value::Text(constant)), Type::Unknown),
        })
    }

    /// `element IN collection`; `None` when `of` is no collection.
    fn in_collection(&mut self, arg: &Node, of: &Node, negated: bool, at: usize) -> Result<Option<Expr>> {
        let literal = matches!(of.kind, NodeKind::Collection(..));
        if !literal && !matches!(of.kind, NodeKind::Name(_)) {
            return Ok(None);
        }
        let collection = self.expr(of)?;
        let element = match &collection.ty {
            Type::Composite(words) => match Shape::of(words) {
                Some(Shape::Collection { element, .. }) => Some(element),
                _ => None,
            },
            _ => None,
        };
        if element.is_none() && !literal {
            return Ok(None);
        }
        let arg = self.expr(arg)?;
        let ty = match element {
            Some(element) => element,
            None if arg.ty == Type::Unknown => Type::Lvarchar(LVARCHAR_MAX),
            None => arg.ty.clone(),
        };
        let arg = self.coerce(arg, &ty, at)?;
        // A NULL is in no collection, and is not outside of one either.
        let known = Expr::new(ExprKind::IsNull { arg: Box::new(arg.clone()), negated: true }, Type::Bool);
        let member = call("ifx_member", vec![arg, words(&ty)], Type::Text);
        let collection = self.coerce(collection, &Type::Text, at)?;
        let holds = call("ifx_holds", vec![collection, member], Type::Bool);
        let holds = if negated { Expr::new(ExprKind::Not(Box::new(holds)), Type::Bool) } else { holds };
        Ok(Some(Expr::new(ExprKind::And(vec![known, holds]), Type::Bool)))
    }
}

/// An expression that sorts and compares as its type does.
pub(super) fn sortable(expr: Expr) -> Expr {
    if let Type::QualifiedInterval(_) = expr.ty.without_distinct() {
        let interval_words = words(&expr.ty);
        return call("ifx_interval_key", vec![expr, interval_words], Type::Int8);
    }
    expr
}

/// A string type of at most the length of another, for functions that only shorten.
pub(super) fn bounded(ty: &Type) -> Type {
    match ty {
        Type::Char(n) | Type::Nchar(n) if *n <= 255 => Type::Varchar(Some(*n)),
        Type::Char(n) | Type::Nchar(n) => Type::Lvarchar(*n),
        Type::Nvarchar(n) => Type::Varchar(Some(*n)),
        Type::Varchar(Some(_)) | Type::Lvarchar(_) => ty.clone(),
        _ => Type::Text,
    }
}

/// The longest text that an expression can have, when its type says.
pub(super) fn text_length(expr: &Expr) -> Option<u32> {
    match (&expr.kind, &expr.ty) {
        (ExprKind::Literal(Value::Text(text)), Type::Unknown) => u32::try_from(text.len()).ok(),
        (_, Type::Char(n) | Type::Nchar(n) | Type::Varchar(Some(n)) | Type::Nvarchar(n) | Type::Lvarchar(n)) => {
            Some(*n)
        }
        (_, Type::Int2 | Type::Int4 | Type::Int8 | Type::IfxInt8 | Type::Date) => Some(20),
        _ => None,
    }
}

/// Retyping of a call whose row says less than the front end knows.
pub(super) trait Retyped {
    /// The same expression with another type of the same storage.
    fn retyped(self, ty: Type) -> Self;
}

impl Retyped for Expr {
    fn retyped(mut self, ty: Type) -> Self {
        self.ty = ty;
        self
    }
}
