//! Expressions.

use super::ast::{Bound, Call, Frame, Node, NodeKind, Over, TrimSide};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::ir::{CompareOp, LikeKind};
use crate::{Condition, Result};

impl Parser<'_> {
    /// An expression or condition.
    pub fn expression(&mut self) -> Result<Node> {
        self.nested(Self::or)
    }

    fn or(&mut self) -> Result<Node> {
        let at = self.start();
        let mut members = vec![self.and()?];
        while self.word("or") {
            members.push(self.and()?);
        }
        Ok(single(members, at, NodeKind::Or))
    }

    fn and(&mut self) -> Result<Node> {
        let at = self.start();
        let mut members = vec![self.not()?];
        while self.word("and") {
            members.push(self.not()?);
        }
        Ok(single(members, at, NodeKind::And))
    }

    fn not(&mut self) -> Result<Node> {
        let at = self.start();
        if self.word("not") {
            let arg = self.nested(Self::not)?;
            return Ok(Node { kind: NodeKind::Not(Box::new(arg)), at });
        }
        self.beside(Self::comparison)
    }

    fn comparison(&mut self) -> Result<Node> {
        let at = self.start();
        let mut left = self.additive()?;
        loop {
            if let Some(op) = self.compare_op() {
                self.link()?;
                left = self.compared(left, op, at)?;
                continue;
            }
            if self.word("is") {
                self.link()?;
                let negated = self.word("not");
                self.expect_word("null")?;
                left = Node { kind: NodeKind::IsNull { arg: Box::new(left), negated }, at };
                continue;
            }
            let negated =
                self.is_word("not") && ["between", "in", "like", "matches"].iter().any(|word| self.is_word_at(1, word));
            if negated {
                self.take();
            }
            let kind = if self.word("between") {
                let low = self.additive()?;
                self.expect_word("and")?;
                let high = self.additive()?;
                NodeKind::Between { arg: Box::new(left), low: Box::new(low), high: Box::new(high), negated }
            } else if self.word("in") {
                self.in_list(left, negated)?
            } else if self.is_word("like") || self.is_word("matches") {
                let kind = if self.word("like") {
                    LikeKind::Like
                } else {
                    self.take();
                    LikeKind::Matches
                };
                let pattern = self.additive()?;
                let escape = if self.word("escape") { Some(Box::new(self.additive()?)) } else { None };
                NodeKind::Like { kind, text: Box::new(left), pattern: Box::new(pattern), escape, negated }
            } else {
                return Ok(left);
            };
            self.link()?;
            left = Node { kind, at };
        }
    }

    fn compare_op(&mut self) -> Option<CompareOp> {
        let TokenKind::Sign(sign) = self.peek() else { return None };
        let op = match *sign {
            "=" | "==" => CompareOp::Equal,
            "<>" | "!=" => CompareOp::NotEqual,
            "<" => CompareOp::Less,
            "<=" => CompareOp::LessOrEqual,
            ">" => CompareOp::Greater,
            ">=" => CompareOp::GreaterOrEqual,
            _ => return None,
        };
        self.take();
        Some(op)
    }

    fn compared(&mut self, left: Node, op: CompareOp, at: usize) -> Result<Node> {
        let all = self.is_word("all");
        if (all || self.is_word("any") || self.is_word("some")) && self.is_sign_at(1, "(") {
            self.take();
            self.take();
            let query = Box::new(self.query()?);
            self.expect_sign(")")?;
            return Ok(Node { kind: NodeKind::Quantified { op, all, arg: Box::new(left), query }, at });
        }
        let right = self.additive()?;
        Ok(Node { kind: NodeKind::Compare(op, Box::new(left), Box::new(right)), at })
    }

    fn in_list(&mut self, left: Node, negated: bool) -> Result<NodeKind> {
        if !self.is_sign("(") {
            // A collection without parentheses: a literal, or a column of one.
            let of = self.additive()?;
            if !matches!(of.kind, NodeKind::Collection(..) | NodeKind::Name(_)) {
                return Err(self.error_at(
                    Condition::SyntaxError,
                    "IN takes a list in parentheses, a query or a collection",
                    of.at,
                ));
            }
            return Ok(NodeKind::InList { arg: Box::new(left), list: vec![of], negated });
        }
        if self.opens_query() {
            self.take();
            let query = Box::new(self.query()?);
            self.expect_sign(")")?;
            let row = match left {
                Node { kind: NodeKind::Row(members), .. } => members,
                other => vec![other],
            };
            return Ok(NodeKind::InQuery { row, query, negated });
        }
        self.take();
        let list = self.list(Self::expression)?;
        self.expect_sign(")")?;
        Ok(NodeKind::InList { arg: Box::new(left), list, negated })
    }

    /// True when `(` opens a query.
    pub fn opens_query(&self) -> bool {
        let mut ahead = 0;
        while self.is_sign_at(ahead, "(") {
            ahead += 1;
        }
        let begins = ahead > 0 && (self.is_word_at(ahead, "select") || (self.is_word_at(ahead, "with") && ahead == 1));
        begins && (ahead == 1 || self.closes_query(ahead))
    }

    /// True when `(` before each of the `ahead` parentheses opens a query, which ends behind them or goes on: in
    /// `((SELECT …) / 2)` the outer one does not.
    fn closes_query(&self, ahead: usize) -> bool {
        const GOES_ON: [&str; 7] = ["union", "intersect", "minus", "except", "order", "limit", "into"];
        let (mut depth, mut at, mut innermost) = (ahead, ahead, ahead);
        while depth > 1 {
            match self.peek_at(at) {
                TokenKind::Sign("(") => depth += 1,
                TokenKind::Sign(")") => {
                    depth -= 1;
                    let whole =
                        || self.is_sign_at(at + 1, ")") || GOES_ON.iter().any(|word| self.is_word_at(at + 1, word));
                    if depth < innermost {
                        innermost = depth;
                        if !whole() {
                            return false;
                        }
                    }
                }
                // The statement ends too early: whoever reads the query says so.
                TokenKind::End => return true,
                _ => {}
            }
            at += 1;
        }
        true
    }

    fn additive(&mut self) -> Result<Node> {
        self.nested(|parser| {
            let at = parser.start();
            let mut left = parser.beside(Self::multiplicative)?;
            loop {
                let op = match parser.peek() {
                    TokenKind::Sign("+") => "+",
                    TokenKind::Sign("-") => "-",
                    TokenKind::Sign("||") => "||",
                    _ => return Ok(left),
                };
                parser.take();
                parser.link()?;
                let right = parser.beside(Self::multiplicative)?;
                left = Node { kind: NodeKind::Arithmetic(op, Box::new(left), Box::new(right)), at };
            }
        })
    }

    fn multiplicative(&mut self) -> Result<Node> {
        let at = self.start();
        let mut left = self.unary()?;
        loop {
            let op = match self.peek() {
                TokenKind::Sign("*") => "*",
                TokenKind::Sign("/") => "/",
                TokenKind::Word(word) if word == "mod" => "mod",
                _ => return Ok(left),
            };
            self.take();
            self.link()?;
            let right = self.unary()?;
            left = Node { kind: NodeKind::Arithmetic(op, Box::new(left), Box::new(right)), at };
        }
    }

    fn unary(&mut self) -> Result<Node> {
        let at = self.start();
        if self.sign("-") {
            let arg = self.nested(Self::unary)?;
            // A negative number is one literal, so that `-32768::smallint` and the smallest BIGINT work; a cast binds
            // the number with its sign, too.
            return Ok(negated(arg, at));
        }
        if self.sign("+") {
            return self.nested(Self::unary);
        }
        self.beside(Self::postfix)
    }

    fn postfix(&mut self) -> Result<Node> {
        let at = self.start();
        let mut node = self.primary()?;
        loop {
            if self.sign("::") {
                self.link()?;
                let ty = self.type_name()?;
                node = Node { kind: NodeKind::Cast(Box::new(node), ty), at };
            } else if self.word("units") {
                self.link()?;
                let qualifier = self.units()?;
                node = Node { kind: NodeKind::Units(Box::new(node), qualifier), at };
            } else if self.is_sign("[") {
                self.take();
                self.link()?;
                let from = self.unsigned()?;
                let to = if self.sign(",") { Some(self.unsigned()?) } else { None };
                self.expect_sign("]")?;
                node = Node { kind: NodeKind::Slice { arg: Box::new(node), from, to }, at };
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Result<Node> {
        let at = self.start();
        let kind = match self.peek().clone() {
            TokenKind::Number(digits) => {
                self.take();
                NodeKind::Number(digits)
            }
            TokenKind::String(value) => {
                self.take();
                NodeKind::String(value)
            }
            TokenKind::Quoted(value) => {
                self.take();
                if self.delimited || self.is_sign(".") {
                    return self.column(value, at);
                }
                NodeKind::String(value)
            }
            TokenKind::Param => return self.param(),
            TokenKind::Sign("*") => {
                self.take();
                NodeKind::Star(None)
            }
            TokenKind::Sign("(") => return self.parenthesised(at),
            TokenKind::Word(word) => return self.word_primary(&word, at),
            _ => return Err(self.unexpected()),
        };
        Ok(Node { kind, at })
    }

    fn parenthesised(&mut self, at: usize) -> Result<Node> {
        if self.opens_query() {
            self.take();
            let query = Box::new(self.query()?);
            self.expect_sign(")")?;
            return Ok(Node { kind: NodeKind::Scalar(query), at });
        }
        self.take();
        let mut members = self.list(Self::expression)?;
        self.expect_sign(")")?;
        if members.len() == 1
            && let Some(member) = members.pop()
        {
            return Ok(member);
        }
        Ok(Node { kind: NodeKind::Row(members), at })
    }

    fn word_primary(&mut self, word: &str, at: usize) -> Result<Node> {
        let called = self.is_sign_at(1, "(");
        let kind = match word {
            "null" => {
                self.take();
                NodeKind::Null
            }
            "default" if !called => {
                self.take();
                NodeKind::Default
            }
            "case" => {
                self.take();
                return self.case(at);
            }
            "exists" if called => {
                self.take();
                self.take();
                let query = Box::new(self.query()?);
                self.expect_sign(")")?;
                NodeKind::Exists(query)
            }
            "current" | "sysdate" if !called && !self.is_sign_at(1, ".") => {
                self.take();
                let qualifier = if self.is_qualifier() {
                    Some(self.qualifier()?)
                } else if word == "sysdate" {
                    Some(super::types::YEAR_TO_FRACTION5)
                } else {
                    None
                };
                NodeKind::Current(qualifier)
            }
            "today" if !called && !self.is_sign_at(1, ".") => {
                self.take();
                NodeKind::Today
            }
            "user" | "current_user" if !called && !self.is_sign_at(1, ".") => {
                self.take();
                NodeKind::User
            }
            "current_role" | "default_role" if !called && !self.is_sign_at(1, ".") => {
                self.take();
                NodeKind::Role { current: word == "current_role" }
            }
            "sitename" | "dbservername" if !called && !self.is_sign_at(1, ".") => {
                self.take();
                NodeKind::Sitename
            }
            "datetime" if called => {
                self.take();
                let text = self.raw_parentheses()?;
                NodeKind::DatetimeLiteral(text, self.qualifier()?)
            }
            "interval" if called => {
                self.take();
                let text = self.raw_parentheses()?;
                NodeKind::IntervalLiteral(text, self.interval_qualifier()?)
            }
            "extend" if called => {
                self.take();
                self.take();
                let arg = Box::new(self.expression()?);
                let qualifier = if self.sign(",") { Some(self.qualifier()?) } else { None };
                self.expect_sign(")")?;
                NodeKind::Extend(arg, qualifier)
            }
            "trim" if called => {
                self.take();
                self.take();
                self.trim()?
            }
            "cast" if called => {
                self.take();
                self.take();
                let arg = Box::new(self.expression()?);
                self.expect_word("as")?;
                let ty = self.type_name()?;
                self.expect_sign(")")?;
                NodeKind::Cast(arg, ty)
            }
            "row" if called => {
                self.take();
                self.take();
                let members = self.list(Self::expression)?;
                self.expect_sign(")")?;
                NodeKind::Row(members)
            }
            "set" | "multiset" | "list" if self.is_sign_at(1, "{") => {
                self.take();
                self.take();
                let members = if self.is_sign("}") { Vec::new() } else { self.list(Self::expression)? };
                self.expect_sign("}")?;
                let kind = match word {
                    "set" => "SET",
                    "multiset" => "MULTISET",
                    _ => "LIST",
                };
                NodeKind::Collection(kind, members)
            }
            "substring" if called => {
                self.take();
                self.take();
                let mut args = vec![self.expression()?];
                if self.word("from") {
                    args.push(self.expression()?);
                    if self.word("for") {
                        args.push(self.expression()?);
                    }
                } else {
                    while self.sign(",") {
                        args.push(self.expression()?);
                    }
                }
                self.expect_sign(")")?;
                call("substring", args)
            }
            "prior" if self.connects && !self.is_sign_at(1, ".") => {
                self.take();
                NodeKind::Prior(Box::new(self.nested(Self::primary)?))
            }
            "connect_by_root" => {
                self.take();
                NodeKind::Root(Box::new(self.nested(Self::primary)?))
            }
            _ if !called && RESERVED.contains(&word) => return Err(self.unexpected()),
            _ => {
                self.take();
                if called {
                    return self.call(word.to_owned(), at);
                }
                return self.column(word.to_owned(), at);
            }
        };
        Ok(Node { kind, at })
    }

    /// `a.b.c`, `a.*`, `owner.function(…)`; the first name has been taken.
    fn column(&mut self, first: String, at: usize) -> Result<Node> {
        // `database:function(…)`
        if self.is_sign(":") && matches!(self.peek_at(1), TokenKind::Word(_)) && self.is_sign_at(2, "(") {
            self.take();
            let name = self.name()?;
            return self.call_in(Some(first), name, at);
        }
        let mut names = vec![first];
        while self.sign(".") {
            if self.sign("*") {
                return Ok(Node { kind: NodeKind::Star(names.pop()), at });
            }
            names.push(self.name()?);
            self.link()?;
            if self.is_sign("(") && names.len() == 2 {
                let name = names.pop().unwrap_or_default();
                return self.call(name, at);
            }
        }
        if let [name] = names.as_slice()
            && let Some(variable) = self.variable(name, at)
        {
            return Ok(variable);
        }
        if let [name, _, ..] = names.as_slice()
            && self.is_row_variable(name)
            && let Some(variable) = self.variable(name, at)
        {
            return Ok(Node { kind: NodeKind::Field { row: Box::new(variable), names }, at });
        }
        if let [name] = names.as_slice()
            && let Some(slot) = self.event_variable(name)
            && let Some(variable) = self.parameter_of(slot, at)
        {
            return Ok(variable);
        }
        if let [row, column] = names.as_slice()
            && let Some(slot) = self.row_variable(row, column)
            && let Some(variable) = self.parameter_of(slot, at)
        {
            return Ok(variable);
        }
        Ok(Node { kind: NodeKind::Name(names), at })
    }

    /// A call whose name has been taken.
    fn call(&mut self, name: String, at: usize) -> Result<Node> {
        self.call_in(None, name, at)
    }

    /// A call of a database's routine whose names have been taken.
    fn call_in(&mut self, database: Option<String>, name: String, at: usize) -> Result<Node> {
        self.expect_sign("(")?;
        self.called(&name);
        let mut call = Call { database, ..Call::of(name, Vec::new()) };
        if self.is_sign("*") && self.is_sign_at(1, ")") {
            self.take();
            call.star = true;
        } else if !self.is_sign(")") {
            call.distinct = self.word("distinct") || self.word("unique");
            if !call.distinct {
                self.word("all");
            }
            call.args = vec![self.argument()?];
            // Behind the first argument or behind them all.
            self.null_treatment(&mut call)?;
            while self.sign(",") {
                call.args.push(self.argument()?);
            }
        }
        self.expect_sign(")")?;
        self.null_treatment(&mut call)?;
        if self.is_word("over") && self.is_sign_at(1, "(") {
            self.take();
            self.take();
            let mut over = Over { partition_by: Vec::new(), order_by: Vec::new(), frame: None };
            if self.words(&["partition", "by"]) {
                over.partition_by = self.list(Self::expression)?;
            }
            if self.words(&["order", "by"]) {
                over.order_by = self.list(Self::order_key)?;
            }
            over.frame = self.frame()?;
            self.expect_sign(")")?;
            call.over = Some(over);
        }
        Ok(Node { kind: NodeKind::Call(Box::new(call)), at })
    }

    /// `IGNORE NULLS`, `RESPECT NULLS`
    fn null_treatment(&mut self, call: &mut Call) -> Result<()> {
        if matches!(call.name.as_str(), "lag" | "lead" | "first_value" | "last_value") && self.is_word_at(1, "nulls") {
            call.ignore_nulls = self.is_word("ignore");
            if !self.word("ignore") {
                self.expect_word("respect")?;
            }
            self.take();
        }
        Ok(())
    }

    /// `ROWS BETWEEN … AND …`, `RANGE …`
    fn frame(&mut self) -> Result<Option<Frame>> {
        let rows = self.is_word("rows");
        if !rows && !self.is_word("range") {
            return Ok(None);
        }
        self.take();
        if self.word("between") {
            let start = self.frame_bound()?;
            self.expect_word("and")?;
            return Ok(Some(Frame { rows, start, end: self.frame_bound()? }));
        }
        Ok(Some(Frame { rows, start: self.frame_bound()?, end: Bound::CurrentRow }))
    }

    fn frame_bound(&mut self) -> Result<Bound> {
        if self.words(&["unbounded", "preceding"]) {
            return Ok(Bound::UnboundedPreceding);
        }
        if self.words(&["unbounded", "following"]) {
            return Ok(Bound::UnboundedFollowing);
        }
        if self.words(&["current", "row"]) {
            return Ok(Bound::CurrentRow);
        }
        let offset = Box::new(self.additive()?);
        if self.word("preceding") {
            return Ok(Bound::Preceding(offset));
        }
        self.expect_word("following")?;
        Ok(Bound::Following(offset))
    }

    /// An argument, perhaps `name = value` for a parameter of a routine.
    pub fn argument(&mut self) -> Result<Node> {
        let named = matches!(self.peek(), TokenKind::Word(_)) && self.is_sign_at(1, "=");
        if !named {
            return self.expression();
        }
        let (name, at) = self.name_at()?;
        self.take();
        let value = Box::new(self.expression()?);
        Ok(Node { kind: NodeKind::Named(name, value), at })
    }

    fn case(&mut self, at: usize) -> Result<Node> {
        let operand = if self.is_word("when") { None } else { Some(Box::new(self.expression()?)) };
        let mut branches = Vec::new();
        while self.word("when") {
            let condition = self.expression()?;
            self.expect_word("then")?;
            branches.push((condition, self.expression()?));
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = if self.word("else") { Some(Box::new(self.expression()?)) } else { None };
        self.expect_word("end")?;
        Ok(Node { kind: NodeKind::Case { operand, branches, otherwise }, at })
    }

    fn trim(&mut self) -> Result<NodeKind> {
        let side = if self.word("leading") {
            Some(TrimSide::Leading)
        } else if self.word("trailing") {
            Some(TrimSide::Trailing)
        } else if self.word("both") {
            Some(TrimSide::Both)
        } else {
            None
        };
        let first = if self.is_word("from") { None } else { Some(self.expression()?) };
        let kind = if self.word("from") {
            let text = Box::new(self.expression()?);
            NodeKind::Trim { side: side.unwrap_or(TrimSide::Both), characters: first.map(Box::new), text }
        } else {
            match (side, first) {
                (None, Some(text)) => NodeKind::Trim { side: TrimSide::Both, characters: None, text: Box::new(text) },
                _ => return Err(self.unexpected()),
            }
        };
        self.expect_sign(")")?;
        Ok(kind)
    }
}

/// Words that cannot begin an expression.
const RESERVED: &[&str] =
    &["from", "where", "select", "group", "having", "union", "into", "then", "when", "end", "as", "on"];

fn call(name: &str, args: Vec<Node>) -> NodeKind {
    NodeKind::Call(Box::new(Call::of(name.to_owned(), args)))
}

fn single(mut members: Vec<Node>, at: usize, many: fn(Vec<Node>) -> NodeKind) -> Node {
    if members.len() == 1
        && let Some(member) = members.pop()
    {
        return member;
    }
    Node { kind: many(members), at }
}

fn negated(arg: Node, at: usize) -> Node {
    match arg.kind {
        NodeKind::Number(digits) if !digits.starts_with('-') => {
            Node { kind: NodeKind::Number(format!("-{digits}")), at }
        }
        NodeKind::Cast(inner, ty) if matches!(&inner.kind, NodeKind::Number(digits) if !digits.starts_with('-')) => {
            Node { kind: NodeKind::Cast(Box::new(negated(*inner, at)), ty), at }
        }
        _ => Node { kind: NodeKind::Negate(Box::new(arg)), at },
    }
}
