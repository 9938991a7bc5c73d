//! Queries.

use super::ast::{Body, Connect, Cte, Into, Item, Node, NodeKind, OrderKey, Query, Select, Source};
use super::lexer::TokenKind;
use super::parser::Parser;
use super::spl::STATEMENT_WORDS;
use crate::Result;
use crate::ir::{JoinKind, SetOp};

impl Parser<'_> {
    /// A query with all its clauses.
    pub fn query(&mut self) -> Result<Query> {
        self.nested(Self::query_inner)
    }

    fn query_inner(&mut self) -> Result<Query> {
        let at = self.start();
        let ctes = if self.word("with") { self.ctes()? } else { Vec::new() };
        let mut query = self.set_operation()?;
        query.at = at;
        if !ctes.is_empty() {
            query.ctes = ctes;
        }
        self.tail(&mut query)?;
        Ok(query)
    }

    fn ctes(&mut self) -> Result<Vec<Cte>> {
        self.word("recursive");
        self.list(|parser| {
            let name = parser.name()?;
            let columns = if parser.is_sign("(") { parser.name_list()? } else { Vec::new() };
            parser.expect_word("as")?;
            parser.expect_sign("(")?;
            let query = parser.query()?;
            parser.expect_sign(")")?;
            Ok(Cte { name, columns, query })
        })
    }

    fn set_operation(&mut self) -> Result<Query> {
        let at = self.start();
        let mut left = self.set_member()?;
        loop {
            let op = if self.word("union") {
                SetOp::Union
            } else if self.word("intersect") {
                SetOp::Intersect
            } else if self.word("minus") || self.word("except") {
                SetOp::Except
            } else {
                return Ok(left);
            };
            self.link()?;
            let all = self.word("all");
            if !all {
                self.word("distinct");
            }
            let right = self.set_member()?;
            left = Query {
                ctes: Vec::new(),
                body: Body::Set { op, all, left: Box::new(left), right: Box::new(right) },
                order_by: Vec::new(),
                siblings: false,
                skip: None,
                first: None,
                for_update: false,
                update_of: Vec::new(),
                into: None,
                at,
            };
        }
    }

    fn set_member(&mut self) -> Result<Query> {
        if self.sign("(") {
            let query = self.query()?;
            self.expect_sign(")")?;
            return Ok(query);
        }
        self.select()
    }

    fn select(&mut self) -> Result<Query> {
        let at = self.start();
        self.expect_word("select")?;
        let mut skip = None;
        let mut first = None;
        loop {
            let counted = self.is_count_at(1);
            if counted && self.is_word("skip") {
                self.take();
                skip = Some(self.count()?);
            } else if counted && (self.is_word("first") || self.is_word("limit")) {
                self.take();
                first = Some(self.count()?);
            } else {
                break;
            }
        }
        let distinct = self.word("distinct") || self.word("unique");
        if !distinct {
            self.word("all");
        }
        let items = self.list(Self::item)?;
        // INTO TEMP stands at the end.
        self.take_into()?;
        let from = if self.word("from") { self.list(Self::linked_source)? } else { Vec::new() };
        let filter = if self.word("where") { Some(self.expression()?) } else { None };
        let connect = self.connect_by()?;
        let group_by = if self.words(&["group", "by"]) { self.list(Self::expression)? } else { Vec::new() };
        let having = if self.word("having") { Some(self.expression()?) } else { None };
        Ok(Query {
            ctes: Vec::new(),
            body: Body::Select(Box::new(Select { distinct, items, from, filter, connect, group_by, having })),
            order_by: Vec::new(),
            siblings: false,
            skip,
            first,
            for_update: false,
            update_of: Vec::new(),
            into: None,
            at,
        })
    }

    /// `[START WITH condition] CONNECT BY [NOCYCLE] condition`
    fn connect_by(&mut self) -> Result<Option<Connect>> {
        let at = self.start();
        let start = if self.words(&["start", "with"]) { Some(self.expression()?) } else { None };
        if !self.words(&["connect", "by"]) {
            return if start.is_some() { Err(self.unexpected()) } else { Ok(None) };
        }
        let nocycle = self.word("nocycle");
        let outside = std::mem::replace(&mut self.connects, true);
        let condition = self.expression();
        self.connects = outside;
        Ok(Some(Connect { start, nocycle, condition: condition?, at }))
    }

    /// ORDER BY, LIMIT, FOR UPDATE, INTO TEMP.
    fn tail(&mut self, query: &mut Query) -> Result<()> {
        query.siblings = self.words(&["order", "siblings", "by"]);
        if query.siblings || self.words(&["order", "by"]) {
            query.order_by = self.list(Self::order_key)?;
        }
        loop {
            if self.word("skip") {
                query.skip = Some(self.count()?);
            } else if self.word("limit") || self.word("first") {
                query.first = Some(self.count()?);
                if self.sign(",") {
                    query.skip = query.first.take();
                    query.first = Some(self.count()?);
                }
            } else if self.word("offset") {
                query.skip = Some(self.count()?);
            } else {
                break;
            }
        }
        if self.words(&["for", "update"]) {
            query.for_update = true;
            if self.word("of") {
                query.update_of = self.list(Self::name_at)?;
            }
        } else if self.is_word("for") && self.is_word_at(1, "read") {
            self.words(&["for", "read", "only"]);
        }
        if self.word("into") {
            if self.is_word("external") {
                return Err(self.unsupported("INTO EXTERNAL"));
            }
            let temporary = self.word("temp");
            if !temporary {
                self.word("raw");
                self.word("standard");
            }
            let (name, at) = self.name_at()?;
            query.into = Some(Into { name, temporary, at });
            self.storage_clauses()?;
        }
        Ok(())
    }

    pub fn order_key(&mut self) -> Result<OrderKey> {
        let expr = self.expression()?;
        let descending = self.word("desc");
        if !descending {
            self.word("asc");
        }
        let nulls_first = if self.words(&["nulls", "first"]) {
            Some(true)
        } else if self.words(&["nulls", "last"]) {
            Some(false)
        } else {
            None
        };
        Ok(OrderKey { expr, descending, nulls_first })
    }

    fn item(&mut self) -> Result<Item> {
        let expr = self.expression()?;
        if matches!(expr.kind, NodeKind::Star(_)) {
            return Ok(Item { expr, alias: None });
        }
        Ok(Item { expr, alias: self.alias()? })
    }

    /// `[AS] name`
    pub fn alias(&mut self) -> Result<Option<String>> {
        if self.word("as") {
            return self.name().map(Some);
        }
        let in_routine = self.spl.is_some();
        match self.peek() {
            TokenKind::Word(word) if in_routine && STATEMENT_WORDS.contains(&word.as_str()) => Ok(None),
            TokenKind::Word(word) if !NO_ALIAS.contains(&word.as_str()) => self.name().map(Some),
            TokenKind::Quoted(_) => self.name().map(Some),
            _ => Ok(None),
        }
    }

    /// A table of FROM: one more to be joined.
    fn linked_source(&mut self) -> Result<Source> {
        self.link()?;
        self.source()
    }

    /// A table of FROM with its joins.
    fn source(&mut self) -> Result<Source> {
        let mut left = self.source_primary()?;
        loop {
            let kind = if self.word("join") || self.words(&["inner", "join"]) {
                JoinKind::Inner
            } else if self.words(&["left", "outer", "join"]) || self.words(&["left", "join"]) {
                JoinKind::Left
            } else if self.words(&["right", "outer", "join"]) || self.words(&["right", "join"]) {
                JoinKind::Right
            } else if self.words(&["full", "outer", "join"]) || self.words(&["full", "join"]) {
                JoinKind::Full
            } else if self.words(&["cross", "join"]) {
                self.link()?;
                let right = self.source_primary()?;
                left = Source::Join { kind: JoinKind::Inner, left: Box::new(left), right: Box::new(right), on: None };
                continue;
            } else {
                return Ok(left);
            };
            self.link()?;
            let right = self.nested(Self::source)?;
            self.expect_word("on")?;
            let on = Some(self.expression()?);
            left = Source::Join { kind, left: Box::new(left), right: Box::new(right), on };
        }
    }

    pub fn source_primary(&mut self) -> Result<Source> {
        if self.is_word("outer") && !self.is_sign_at(1, ".") {
            self.take();
            if self.sign("(") {
                let members = self.list(Self::source)?;
                self.expect_sign(")")?;
                return Ok(Source::Outer(members));
            }
            return Ok(Source::Outer(vec![self.nested(Self::source_primary)?]));
        }
        if self.is_word("table") && self.is_sign_at(1, "(") {
            self.take();
            self.take();
            if self.is_word("function") || self.is_word("procedure") {
                self.take();
            }
            if self.is_word("multiset") && self.is_sign_at(1, "(") {
                self.take();
                self.take();
                let query = Box::new(self.query()?);
                self.expect_sign(")")?;
                self.expect_sign(")")?;
                let alias = self.alias()?;
                let columns = if self.is_sign("(") { self.name_list()? } else { Vec::new() };
                return Ok(Source::Query { query, alias, columns, lateral: false });
            }
            let expr = self.expression()?;
            self.expect_sign(")")?;
            let alias = self.alias()?;
            let columns = if self.is_sign("(") { self.name_list()? } else { Vec::new() };
            return Ok(Source::Expression { expr, alias, columns });
        }
        let lateral = self.is_word("lateral") && self.is_sign_at(1, "(");
        if lateral {
            self.take();
        }
        if self.is_sign("(") {
            if self.opens_query() {
                self.take();
                let query = Box::new(self.query()?);
                self.expect_sign(")")?;
                let alias = self.alias()?;
                let columns = if self.is_sign("(") { self.name_list()? } else { Vec::new() };
                return Ok(Source::Query { query, alias, columns, lateral });
            }
            self.take();
            let source = self.nested(Self::source)?;
            self.expect_sign(")")?;
            return Ok(source);
        }
        let name = self.object_name()?;
        let alias = self.alias()?;
        Ok(Source::Table { name, alias })
    }

    /// A query on its own, for a view's text.
    pub fn whole_query(&mut self) -> Result<Query> {
        let query = self.query()?;
        self.sign(";");
        if self.at_end() { Ok(query) } else { Err(self.unexpected()) }
    }

    /// An expression on its own, for a default's or check's text.
    pub fn whole_expression(&mut self) -> Result<Node> {
        let node = self.expression()?;
        if self.at_end() { Ok(node) } else { Err(self.unexpected()) }
    }
}

/// Words that end a table or select item instead of naming it.
const NO_ALIAS: &[&str] = &[
    "and",
    "as",
    "between",
    "connect",
    "cross",
    "else",
    "end",
    "except",
    "for",
    "from",
    "full",
    "group",
    "having",
    "in",
    "inner",
    "intersect",
    "into",
    "is",
    "join",
    "left",
    "like",
    "limit",
    "matches",
    "minus",
    "not",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "returning",
    "right",
    "set",
    "start",
    "then",
    "union",
    "units",
    "using",
    "values",
    "when",
    "where",
    "with",
];
