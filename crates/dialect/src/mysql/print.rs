//! MySQL's text of what a schema keeps: the queries of views, generated columns, checks and defaults. They are kept as
//! PostgreSQL's parser would have them ([the converter](super::tree) made them so), and are told in MySQL's words with names
//! in backquotes, as SHOW CREATE prints them; reading such a text makes the same tree again.
//!
//! What MySQL has no words for has no text here.

use pg_query::protobuf::{
    self as pg, AExprKind, BoolExprType, BoolTestType, JoinType, LockClauseStrength, LockWaitPolicy, MinMaxOp, Node,
    NullTestType, RangeVar, SetOperation, SortByDir, SortByNulls, SqlValueFunctionOp, SubLinkType, a_const,
    node::Node as N,
};

use crate::values::mysql::fulltext::Mode;

/// Where a text is read.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The database that the file is.
    pub database: &'a str,
    /// The schema that names without one are in.
    pub namespace: &'a str,
    /// What the relation is today whose name begins at a byte of what is kept; `None` for names of the text itself.
    pub relation: &'a dyn Fn(usize) -> Option<Today>,
}

/// A relation that a kept text names.
#[derive(Clone, Debug)]
pub struct Today {
    /// Its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What the text calls its columns, and what they are called today; nothing where all are called as they were.
    pub renamed: Vec<(String, String)>,
}

/// A name in MySQL's quotes.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in MySQL's quotes, on one line.
pub fn literal(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    format!("'{}'", escaped.replace('\'', "''"))
}

/// The text of a query that is kept; `None` where MySQL has no words for it.
pub fn query(kept: &str, place: Place<'_>) -> Option<String> {
    crate::postgres::with_tree(kept, |tree| match tree {
        N::SelectStmt(select) => place.select(select),
        _ => None,
    })?
}

/// The names of a query's columns where it says them.
pub fn columns(kept: &str) -> Option<Vec<String>> {
    let names = |tree: &N| {
        let N::SelectStmt(select) = tree else { return None };
        let mut first = &**select;
        while let Some(left) = first.larg.as_deref() {
            first = left;
        }
        first.target_list.iter().map(|target| Some(target_name(target)?.to_owned())).collect()
    };
    crate::postgres::with_tree(kept, names)?
}

/// The text of an expression that is kept; `None` where MySQL has no words for it.
pub fn expression(kept: &str, place: Place<'_>) -> Option<String> {
    crate::postgres::with_tree(&format!("SELECT {kept}"), |tree| {
        let N::SelectStmt(select) = tree else { return None };
        let [Node { node: Some(N::ResTarget(target)) }] = select.target_list.as_slice() else { return None };
        place.expr(target.val.as_deref()?)
    })?
}

/// What a column of a query is called.
fn target_name(target: &Node) -> Option<&str> {
    let Some(N::ResTarget(target)) = &target.node else { return None };
    if !target.name.is_empty() {
        return Some(&target.name);
    }
    match &target.val.as_deref()?.node {
        Some(N::ColumnRef(column)) => string(column.fields.last()?),
        _ => None,
    }
}

fn string(node: &Node) -> Option<&str> {
    match &node.node {
        Some(N::String(text)) => Some(&text.sval),
        _ => None,
    }
}

/// The text of a constant.
fn constant_text(node: &Node) -> Option<&str> {
    match &node.node {
        Some(N::AConst(pg::AConst { val: Some(a_const::Val::Sval(text)), .. })) => Some(&text.sval),
        _ => None,
    }
}

fn constant_integer(node: &Node) -> Option<i32> {
    match &node.node {
        Some(N::AConst(pg::AConst { val: Some(a_const::Val::Ival(value)), isnull: false, .. })) => Some(value.ival),
        _ => None,
    }
}

/// The name of a function of the system's, and its arguments.
fn system_call(node: &Node) -> Option<(&str, &[Node])> {
    match &node.node {
        Some(N::FuncCall(call)) => Some((system_name(call)?, &call.args)),
        _ => None,
    }
}

fn system_name(call: &pg::FuncCall) -> Option<&str> {
    match call.funcname.as_slice() {
        [name] => string(name),
        [schema, name] if string(schema) == Some("pg_catalog") => string(name),
        _ => None,
    }
}

/// Operators of MySQL's that are calls of the system's.
fn operator_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "mysql_integer_divide" => "DIV",
        "mysql_bit_and" | "mysql_bytes_and" => "&",
        "mysql_bit_or" | "mysql_bytes_or" => "|",
        "mysql_bit_xor" | "mysql_bytes_xor" => "^",
        "mysql_shift_left" | "mysql_bytes_shift_left" => "<<",
        "mysql_shift_right" | "mysql_bytes_shift_right" => ">>",
        "mysql_regexp" => "regexp",
        _ => return None,
    })
}

/// CAST to a type of values.
fn cast_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "mysql_to_text" => "char",
        "mysql_to_bytes" => "binary",
        "mysql_to_integer" => "signed",
        "mysql_to_unsigned" => "unsigned",
        "mysql_to_date" => "date",
        "mysql_to_time" => "time",
        "mysql_to_double" => "double",
        _ => return None,
    })
}

/// What a function of the system's is called by MySQL; those of our own have other words, or none.
fn function_name(name: &str) -> Option<&str> {
    match name {
        "mysql_str_to_date" | "mysql_str_to_datetime" | "mysql_str_to_time" => Some("str_to_date"),
        name if name.starts_with("mysql_") => None,
        name => Some(name),
    }
}

impl Place<'_> {
    fn database<'n>(&'n self, namespace: &'n str) -> &'n str {
        if namespace == "public" { self.database } else { namespace }
    }

    fn table(&self, namespace: &str, name: &str) -> String {
        if namespace.is_empty() || namespace == self.namespace {
            return quoted(name);
        }
        format!("{}.{}", quoted(self.database(namespace)), quoted(name))
    }

    fn exprs(&self, all: &[Node]) -> Option<Vec<String>> {
        all.iter().map(|node| self.expr(node)).collect()
    }

    fn list(&self, all: &[Node]) -> Option<String> {
        Some(self.exprs(all)?.join(","))
    }

    /// JSON_VALUE with the conversions to its type that are made around it, which its own words tell.
    fn returned(&self, node: &Node) -> Option<String> {
        let mut inner = node;
        for depth in 0..4 {
            if let Some((name, [document, told])) = system_call(inner)
                && name.starts_with(super::json_table::VALUE)
            {
                let (told, conversions) = super::json_table::printed_value(constant_text(told)?)?;
                return (conversions == depth).then_some(format!("json_value({}, {told})", self.expr(document)?));
            }
            inner = match &inner.node {
                Some(N::TypeCast(cast)) => cast.arg.as_deref()?,
                _ => system_call(inner)?.1.first()?,
            };
        }
        None
    }

    fn expr(&self, node: &Node) -> Option<String> {
        if let Some(told) = self.returned(node) {
            return Some(told);
        }
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.expr_inner(node))
    }

    fn boxed(&self, node: &Option<Box<Node>>) -> Option<String> {
        self.expr(node.as_deref()?)
    }

    fn expr_inner(&self, node: &Node) -> Option<String> {
        Some(match node.node.as_ref()? {
            N::ColumnRef(column) => self.column(&column.fields)?,
            N::AConst(constant) => constant_words(constant)?,
            N::FuncCall(call) => self.call(call)?,
            N::AExpr(expr) => self.operator(expr)?,
            N::BoolExpr(expr) => {
                let args = self.exprs(&expr.args)?;
                match expr.boolop() {
                    BoolExprType::AndExpr => format!("({})", args.join(" and ")),
                    BoolExprType::OrExpr => format!("({})", args.join(" or ")),
                    BoolExprType::NotExpr => format!("(not {})", args.first()?),
                    BoolExprType::Undefined => return None,
                }
            }
            N::NullTest(test) => {
                let word = if test.nulltesttype() == NullTestType::IsNull { "null" } else { "not null" };
                format!("({} is {word})", self.boxed(&test.arg)?)
            }
            N::BooleanTest(test) => {
                let word = match test.booltesttype() {
                    BoolTestType::IsTrue => "true",
                    BoolTestType::IsNotTrue => "not true",
                    BoolTestType::IsFalse => "false",
                    BoolTestType::IsNotFalse => "not false",
                    BoolTestType::IsUnknown => "unknown",
                    BoolTestType::IsNotUnknown => "not unknown",
                    BoolTestType::Undefined => return None,
                };
                format!("({} is {word})", self.boxed(&test.arg)?)
            }
            N::CaseExpr(case) => self.case(case)?,
            N::CoalesceExpr(coalesce) => format!("coalesce({})", self.list(&coalesce.args)?),
            N::SubLink(link) => self.sublink(link)?,
            N::RowExpr(row) => format!("({})", self.list(&row.args)?),
            N::CollateClause(collate) => {
                format!("({} collate {})", self.boxed(&collate.arg)?, string(collate.collname.last()?)?)
            }
            N::TypeCast(cast) => self.cast(cast)?,
            N::GroupingFunc(grouping) => format!("grouping({})", self.list(&grouping.args)?),
            N::SqlvalueFunction(function) => moment(function)?,
            _ => return None,
        })
    }

    fn column(&self, fields: &[Node]) -> Option<String> {
        let part = |(at, field): (usize, &Node)| match &field.node {
            Some(N::AStar(_)) => Some("*".to_owned()),
            // A schema stands before a table.
            Some(N::String(name)) if at == 0 && fields.len() == 3 => Some(quoted(self.database(&name.sval))),
            Some(N::String(name)) => Some(quoted(&name.sval)),
            _ => None,
        };
        Some(fields.iter().enumerate().map(part).collect::<Option<Vec<_>>>()?.join("."))
    }

    fn case(&self, case: &pg::CaseExpr) -> Option<String> {
        // GREATEST and LEAST are NULL where an argument is: the tree says so around them.
        if let Some(N::MinMaxExpr(extreme)) = case.defresult.as_deref().and_then(|otherwise| otherwise.node.as_ref()) {
            let word = if extreme.op() == MinMaxOp::IsGreatest { "greatest" } else { "least" };
            return Some(format!("{word}({})", self.list(&extreme.args)?));
        }
        let mut out = "(case".to_owned();
        if case.arg.is_some() {
            out.push_str(&format!(" {}", self.boxed(&case.arg)?));
        }
        for branch in &case.args {
            let Some(N::CaseWhen(when)) = &branch.node else { return None };
            out.push_str(&format!(" when {} then {}", self.boxed(&when.expr)?, self.boxed(&when.result)?));
        }
        if case.defresult.is_some() {
            out.push_str(&format!(" else {}", self.boxed(&case.defresult)?));
        }
        out.push_str(" end)");
        Some(out)
    }

    fn operator(&self, expr: &pg::AExpr) -> Option<String> {
        let name = string(expr.name.last()?)?;
        let right = expr.rexpr.as_deref()?;
        let left = || self.boxed(&expr.lexpr);
        Some(match expr.kind() {
            AExprKind::AexprOp => {
                if !["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"].contains(&name) {
                    return None;
                }
                let truth = |node: &Node| match system_call(node) {
                    Some(("mysql_truth", [arg])) => Some(self.expr(arg)),
                    _ => None,
                };
                match (&expr.lexpr, expr.lexpr.as_deref().and_then(truth), truth(right)) {
                    (Some(_), Some(left), Some(right)) if name == "<>" => format!("({} xor {})", left?, right?),
                    (Some(_), ..) => format!("({} {name} {})", left()?, self.expr(right)?),
                    (None, ..) if name == "-" => format!("-({})", self.expr(right)?),
                    (None, ..) => return None,
                }
            }
            AExprKind::AexprIn => {
                let Some(N::List(members)) = &right.node else { return None };
                let word = if name == "<>" { "not in" } else { "in" };
                format!("({} {word} ({}))", left()?, self.list(&members.items)?)
            }
            AExprKind::AexprBetween | AExprKind::AexprNotBetween => {
                let Some(N::List(bounds)) = &right.node else { return None };
                let [low, high] = bounds.items.as_slice() else { return None };
                let word = if expr.kind() == AExprKind::AexprBetween { "between" } else { "not between" };
                format!("({} {word} {} and {})", left()?, self.expr(low)?, self.expr(high)?)
            }
            AExprKind::AexprLike => {
                let word = match name {
                    "~~" => "like",
                    "!~~" => "not like",
                    _ => return None,
                };
                match system_call(right) {
                    Some(("like_escape", [pattern, escape])) => {
                        let (pattern, escape) = (self.expr(pattern)?, self.expr(escape)?);
                        format!("({} {word} {pattern} escape {escape})", left()?)
                    }
                    _ => format!("({} {word} {})", left()?, self.expr(right)?),
                }
            }
            AExprKind::AexprNotDistinct => format!("({} <=> {})", left()?, self.expr(right)?),
            AExprKind::AexprNullif => format!("nullif({},{})", left()?, self.expr(right)?),
            _ => return None,
        })
    }

    fn sublink(&self, link: &pg::SubLink) -> Option<String> {
        let Some(N::SelectStmt(select)) = &link.subselect.as_deref()?.node else { return None };
        let query = self.select(select)?;
        Some(match link.sub_link_type() {
            SubLinkType::ExistsSublink => format!("exists({query})"),
            SubLinkType::ExprSublink => format!("({query})"),
            SubLinkType::AnySublink if link.oper_name.is_empty() => {
                format!("({} in ({query}))", self.boxed(&link.testexpr)?)
            }
            kind @ (SubLinkType::AnySublink | SubLinkType::AllSublink) => {
                let word = if kind == SubLinkType::AnySublink { "any" } else { "all" };
                let name = string(link.oper_name.last()?)?;
                format!("({} {name} {word} ({query}))", self.boxed(&link.testexpr)?)
            }
            _ => return None,
        })
    }

    fn cast(&self, cast: &pg::TypeCast) -> Option<String> {
        let (arg, ty) = (cast.arg.as_deref()?, cast.type_name.as_ref()?);
        let digits = |at: usize| ty.typmods.get(at).and_then(constant_integer);
        let name = ty.names.last().and_then(string)?;
        let inner = system_call(arg);
        Some(match (name, inner) {
            // A number with an exponent.
            ("float4", Some(("mysql_to_double", [value]))) => format!("cast({} as float)", self.expr(value)?),
            ("float8", _) if matches!(&arg.node, Some(N::AConst(of)) if of.val.is_some()) => self.expr(arg)?,
            ("timestamp", Some(("mysql_to_datetime", [value]))) => {
                let value = self.expr(value)?;
                match digits(0).unwrap_or(6) {
                    0 => format!("cast({value} as datetime)"),
                    digits => format!("cast({value} as datetime({digits}))"),
                }
            }
            ("numeric", Some(("mysql_nearest", [value, _, _]))) => {
                let Some(("mysql_to_decimal", [value])) = system_call(value) else { return None };
                format!("cast({} as decimal({},{}))", self.expr(value)?, digits(0)?, digits(1)?)
            }
            // As it was made once, and as it is made now.
            ("json", Some(("mysql_to_text", [value]))) => format!("cast({} as json)", self.expr(value)?),
            ("json", _) => format!("cast({} as json)", self.expr(arg)?),
            _ => return None,
        })
    }

    fn call(&self, call: &pg::FuncCall) -> Option<String> {
        let own = match call.funcname.as_slice() {
            [schema, name] if string(schema) != Some("pg_catalog") => Some(self.table(string(schema)?, string(name)?)),
            _ => None,
        };
        let name = match &own {
            Some(own) => own.as_str(),
            None => {
                let name = system_name(call)?;
                if let Some(words) = self.special_call(name, &call.args) {
                    return Some(words);
                }
                function_name(name)?
            }
        };
        let mut out = format!("{name}(");
        if call.agg_distinct {
            out.push_str("distinct ");
        }
        let is_joined = name == "group_concat";
        out.push_str(&match call.args.as_slice() {
            _ if call.agg_star => "*".to_owned(),
            [joined, _] if is_joined => self.expr(joined)?,
            args => self.list(args)?,
        });
        if !call.agg_order.is_empty() {
            out.push_str(&format!(" order by {}", self.sort_keys(&call.agg_order)?));
        }
        if let ([_, separator], true) = (call.args.as_slice(), is_joined) {
            out.push_str(&format!(" separator {}", self.expr(separator)?));
        }
        out.push(')');
        if call.agg_filter.is_some() || call.agg_within_group || call.func_variadic {
            return None;
        }
        if let Some(window) = &call.over {
            match window.name.as_str() {
                "" => out.push_str(&format!(" over ({})", self.window(window)?)),
                name => out.push_str(&format!(" over {}", quoted(name))),
            }
        }
        Some(out)
    }

    /// What is written otherwise than it is called.
    fn special_call(&self, name: &str, args: &[Node]) -> Option<String> {
        if let ([left, right], Some(operator)) = (args, operator_of(name)) {
            return Some(format!("({} {operator} {})", self.expr(left)?, self.expr(right)?));
        }
        if let ([arg], Some(ty)) = (args, cast_of(name)) {
            return Some(format!("cast({} as {ty})", self.expr(arg)?));
        }
        Some(match (name, args) {
            ("mysql_filled", [value, length]) => {
                let Some(("left", [bytes, _])) = system_call(value) else { return None };
                let Some(("mysql_to_bytes", [value])) = system_call(bytes) else { return None };
                format!("cast({} as binary({}))", self.expr(value)?, constant_integer(length)?)
            }
            ("mysql_bit_not", [arg]) => format!("~({})", self.expr(arg)?),
            ("mysql_extract", [unit, moment]) => {
                format!("extract({} from {})", constant_text(unit)?, self.expr(moment)?)
            }
            ("mysql_trim", [side, what, value]) => {
                format!("trim({} {} from {})", constant_text(side)?, self.expr(what)?, self.expr(value)?)
            }
            ("mysql_in_charset", [value, charset]) => {
                format!("convert({} using {})", self.expr(value)?, constant_text(charset)?)
            }
            (search, [text, columns @ ..]) if search.strip_prefix(super::MATCH).and_then(Mode::named).is_some() => {
                let columns = columns.iter().map(|column| self.expr(column)).collect::<Option<Vec<_>>>()?;
                let mode = match search.strip_prefix(super::MATCH).and_then(Mode::named) {
                    Some(Mode::Boolean) => " in boolean mode",
                    Some(Mode::Expanded) => " with query expansion",
                    _ => "",
                };
                format!("(match {} against ({}{mode}))", columns.join(","), self.expr(text)?)
            }
            ("mysql_member_of", [value, array]) => format!("({} member of ({}))", self.expr(value)?, self.expr(array)?),
            ("mysql_date_add", [moment, value, unit, sign]) => {
                let sign = if constant_integer(sign)? < 0 { '-' } else { '+' };
                format!("({} {sign} interval {} {})", self.expr(moment)?, self.expr(value)?, constant_text(unit)?)
            }
            ("mysql_char_text", [bytes, charset]) => match system_call(bytes) {
                Some(("char", codes)) => format!("char({} using {})", self.list(codes)?, constant_text(charset)?),
                _ => return None,
            },
            ("timestampdiff" | "timestampadd" | "get_format", [word, rest @ ..]) => {
                format!("{name}({},{})", constant_text(word)?, self.list(rest)?)
            }
            ("mysql_variable" | "mysql_variable_number", [scope, variable]) => {
                match (constant_text(scope)?, constant_text(variable)?) {
                    ("", variable) => format!("@@{variable}"),
                    (scope, variable) => format!("@@{scope}.{variable}"),
                }
            }
            _ => return None,
        })
    }

    fn sort_keys(&self, keys: &[Node]) -> Option<String> {
        let key = |key: &Node| {
            let Some(N::SortBy(key)) = &key.node else { return None };
            let words = self.boxed(&key.node)?;
            match (key.sortby_dir(), key.sortby_nulls()) {
                (SortByDir::SortbyDesc, SortByNulls::SortbyNullsLast) => Some(format!("{words} desc")),
                (SortByDir::SortbyAsc | SortByDir::SortbyDefault, SortByNulls::SortbyNullsFirst) => Some(words),
                _ => None,
            }
        };
        Some(keys.iter().map(key).collect::<Option<Vec<_>>>()?.join(","))
    }

    fn window(&self, window: &pg::WindowDef) -> Option<String> {
        let mut parts = Vec::new();
        if !window.refname.is_empty() {
            parts.push(quoted(&window.refname));
        }
        if !window.partition_clause.is_empty() {
            parts.push(format!("partition by {}", self.list(&window.partition_clause)?));
        }
        if !window.order_clause.is_empty() {
            parts.push(format!("order by {}", self.sort_keys(&window.order_clause)?));
        }
        // PostgreSQL's FRAMEOPTION_ bits, as the converter sets them.
        let options = window.frame_options;
        if options & 0x0001 != 0 {
            let units = match options & 0x000e {
                0x0002 => "range",
                0x0004 => "rows",
                0x0008 => "groups",
                _ => return None,
            };
            let bound = |preceding: i32, following: i32, here: i32, offset: &Option<Box<Node>>| {
                Some(match options {
                    of if of & preceding != 0 => "unbounded preceding".to_owned(),
                    of if of & following != 0 => "unbounded following".to_owned(),
                    of if of & here != 0 => "current row".to_owned(),
                    // The offsets' bits lie six and four above those of the unbounded.
                    of if of & (preceding << 6) != 0 => format!("{} preceding", self.frame_offset(offset)?),
                    of if of & (following << 6) != 0 => format!("{} following", self.frame_offset(offset)?),
                    _ => return None,
                })
            };
            let start = bound(0x0020, 0x0080, 0x0200, &window.start_offset)?;
            let end = bound(0x0040, 0x0100, 0x0400, &window.end_offset)?;
            parts.push(format!("{units} between {start} and {end}"));
        }
        Some(parts.join(" "))
    }

    /// How far a frame reaches: an INTERVAL is kept as the text of a span.
    fn frame_offset(&self, offset: &Option<Box<Node>>) -> Option<String> {
        if let Some(N::TypeCast(cast)) = &offset.as_deref()?.node
            && cast.type_name.as_ref().and_then(|ty| ty.names.last()).and_then(string) == Some("interval")
            && let Some(written) = cast.arg.as_deref().and_then(constant_text)
        {
            return Some(format!("interval {written}"));
        }
        self.boxed(offset)
    }

    fn select(&self, select: &pg::SelectStmt) -> Option<String> {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.select_inner(select))
    }

    fn select_inner(&self, select: &pg::SelectStmt) -> Option<String> {
        let mut out = String::new();
        if let Some(with) = &select.with_clause {
            let member = |member: &Node| {
                let Some(N::CommonTableExpr(member)) = &member.node else { return None };
                let Some(N::SelectStmt(query)) = &member.ctequery.as_deref()?.node else { return None };
                let columns = names(&member.aliascolnames)?;
                Some(format!("{}{columns} as ({})", quoted(&member.ctename), self.select(query)?))
            };
            let members = with.ctes.iter().map(member).collect::<Option<Vec<_>>>()?;
            let word = if with.recursive { "with recursive" } else { "with" };
            out.push_str(&format!("{word} {} ", members.join(",")));
        }
        if !select.values_lists.is_empty() {
            let row = |row: &Node| {
                let Some(N::List(row)) = &row.node else { return None };
                Some(format!("row({})", self.list(&row.items)?))
            };
            let rows = select.values_lists.iter().map(row).collect::<Option<Vec<_>>>()?;
            out.push_str(&format!("values {}", rows.join(",")));
        } else if select.op() == SetOperation::SetopNone {
            self.simple(select, &mut out)?;
        } else {
            let word = match select.op() {
                SetOperation::SetopUnion => "union",
                SetOperation::SetopIntersect => "intersect",
                SetOperation::SetopExcept => "except",
                _ => return None,
            };
            let all = if select.all { " all" } else { "" };
            let (left, right) = (self.member(select.larg.as_deref()?)?, self.member(select.rarg.as_deref()?)?);
            out.push_str(&format!("{left} {word}{all} {right}"));
        }
        if !select.sort_clause.is_empty() {
            out.push_str(&format!(" order by {}", self.sort_keys(&select.sort_clause)?));
        }
        match (&select.limit_count, &select.limit_offset) {
            (None, None) => {}
            (Some(count), None) => out.push_str(&format!(" limit {}", self.expr(count)?)),
            (Some(count), Some(offset)) => {
                out.push_str(&format!(" limit {},{}", self.expr(offset)?, self.expr(count)?));
            }
            (None, Some(offset)) => out.push_str(&format!(" limit {},{}", self.expr(offset)?, i64::MAX)),
        }
        for lock in &select.locking_clause {
            let Some(N::LockingClause(lock)) = &lock.node else { return None };
            out.push_str(match lock.strength() {
                LockClauseStrength::LcsForshare => " for share",
                LockClauseStrength::LcsForupdate => " for update",
                _ => return None,
            });
            let of = lock.locked_rels.iter().map(|of| self.from(of)).collect::<Option<Vec<_>>>()?;
            if !of.is_empty() {
                out.push_str(&format!(" of {}", of.join(",")));
            }
            match lock.wait_policy() {
                LockWaitPolicy::LockWaitError => out.push_str(" nowait"),
                LockWaitPolicy::LockWaitSkip => out.push_str(" skip locked"),
                _ => {}
            }
        }
        Some(out)
    }

    /// A member of a UNION: what has something of its own behind it stands in parentheses.
    fn member(&self, select: &pg::SelectStmt) -> Option<String> {
        let text = self.select(select)?;
        let is_bare = select.op() == SetOperation::SetopNone
            && select.with_clause.is_none()
            && select.sort_clause.is_empty()
            && select.limit_count.is_none()
            && select.limit_offset.is_none()
            && select.locking_clause.is_empty();
        Some(if is_bare { text } else { format!("({text})") })
    }

    /// From SELECT to HAVING and WINDOW.
    fn simple(&self, select: &pg::SelectStmt, out: &mut String) -> Option<()> {
        out.push_str("select ");
        match select.distinct_clause.as_slice() {
            [] => {}
            [Node { node: None }] => out.push_str("distinct "),
            _ => return None,
        }
        let target = |node: &Node| {
            let Some(N::ResTarget(target)) = &node.node else { return None };
            let value = self.boxed(&target.val)?;
            Some(match target_name(node) {
                Some(name) => format!("{value} AS {}", quoted(name)),
                None => value,
            })
        };
        out.push_str(&select.target_list.iter().map(target).collect::<Option<Vec<_>>>()?.join(","));
        if !select.from_clause.is_empty() {
            let tables = select.from_clause.iter().map(|table| self.from(table)).collect::<Option<Vec<_>>>()?;
            // Commas bind less tightly than JOIN.
            out.push_str(&format!(" from {}", tables.join(",")));
        }
        if select.where_clause.is_some() {
            out.push_str(&format!(" where {}", self.boxed(&select.where_clause)?));
        }
        match select.group_clause.as_slice() {
            [] => {}
            [Node { node: Some(N::GroupingSet(set)) }] if set.kind() == pg::GroupingSetKind::GroupingSetRollup => {
                out.push_str(&format!(" group by {} with rollup", self.list(&set.content)?));
            }
            keys => out.push_str(&format!(" group by {}", self.list(keys)?)),
        }
        if select.having_clause.is_some() {
            out.push_str(&format!(" having {}", self.boxed(&select.having_clause)?));
        }
        if !select.window_clause.is_empty() {
            let window = |node: &Node| {
                let Some(N::WindowDef(window)) = &node.node else { return None };
                Some(format!("{} as ({})", quoted(&window.name), self.window(window)?))
            };
            let windows = select.window_clause.iter().map(window).collect::<Option<Vec<_>>>()?;
            out.push_str(&format!(" window {}", windows.join(",")));
        }
        Some(())
    }

    /// A table of FROM, with what stands between its name and what it is called.
    fn table_of(&self, table: &RangeVar, partitions: &str) -> Option<String> {
        let called = match &table.alias {
            Some(alias) if alias.colnames.is_empty() => &alias.aliasname,
            Some(_) => return None,
            None => &table.relname,
        };
        let today = usize::try_from(table.location).ok().and_then(self.relation);
        let (name, shown) = match &today {
            Some(today) => (&today.name, self.table(&today.namespace, &today.name)),
            None => (&table.relname, self.table(&table.schemaname, &table.relname)),
        };
        Some(match today.as_ref().filter(|today| !today.renamed.is_empty()) {
            // The text goes on to speak of the names that it knows.
            Some(today) => {
                let column = |(then, now): &(String, String)| format!("{} AS {}", quoted(now), quoted(then));
                let columns: Vec<String> = today.renamed.iter().map(column).collect();
                format!("(select {} from {shown}{partitions}) {}", columns.join(","), quoted(called))
            }
            None if called == name => format!("{shown}{partitions}"),
            None => format!("{shown}{partitions} {}", quoted(called)),
        })
    }

    fn from(&self, node: &Node) -> Option<String> {
        Some(match node.node.as_ref()? {
            N::RangeVar(table) => self.table_of(table, "")?,
            N::RangeTableSample(sample) => {
                let Some(N::RangeVar(table)) = &sample.relation.as_deref()?.node else { return None };
                if sample.method.last().and_then(string) != Some(super::SAMPLED) {
                    return None;
                }
                let partitions = sample.args.iter().map(|name| Some(quoted(constant_text(name)?)));
                let partitions = partitions.collect::<Option<Vec<_>>>()?.join(",");
                self.table_of(table, &format!(" PARTITION ({partitions})"))?
            }
            N::RangeFunction(range) => {
                let [Node { node: Some(N::List(item)) }] = range.functions.as_slice() else { return None };
                let Some(N::FuncCall(call)) = &item.items.first()?.node else { return None };
                let [document, told] = call.args.as_slice() else { return None };
                let is_table = call.funcname.last().and_then(string) == Some(super::json_table::FUNCTION);
                let told =
                    if is_table { super::json_table::printed(constant_text(told)?, quoted)? } else { return None };
                let alias = range.alias.as_ref()?;
                let columns = names(&alias.colnames)?;
                format!("json_table({}, {told}) {}{columns}", self.expr(document)?, quoted(&alias.aliasname))
            }
            N::RangeSubselect(derived) => {
                let Some(N::SelectStmt(query)) = &derived.subquery.as_deref()?.node else { return None };
                let alias = derived.alias.as_ref()?;
                let lateral = if derived.lateral { "lateral " } else { "" };
                let columns = names(&alias.colnames)?;
                format!("{lateral}({}) {}{columns}", self.select(query)?, quoted(&alias.aliasname))
            }
            N::JoinExpr(join) if join.alias.is_none() => {
                let (left, right) = (self.from(join.larg.as_deref()?)?, self.from(join.rarg.as_deref()?)?);
                let word = match join.jointype() {
                    JoinType::JoinInner => "join",
                    JoinType::JoinLeft => "left join",
                    JoinType::JoinRight => "right join",
                    _ => return None,
                };
                let natural = if join.is_natural { "natural " } else { "" };
                let condition = match (&join.quals, join.using_clause.as_slice()) {
                    (None, []) => String::new(),
                    (Some(condition), _) => format!(" on({})", self.expr(condition)?),
                    (None, columns) => format!(" using{}", names(columns)?),
                };
                format!("({left} {natural}{word} {right}{condition})")
            }
            _ => return None,
        })
    }
}

/// `(a,b)`, or nothing for none.
fn names(columns: &[Node]) -> Option<String> {
    if columns.is_empty() {
        return Some(String::new());
    }
    let columns = columns.iter().map(|column| string(column).map(quoted)).collect::<Option<Vec<_>>>()?;
    Some(format!(" ({})", columns.join(",")))
}

fn constant_words(constant: &pg::AConst) -> Option<String> {
    if constant.isnull {
        return Some("NULL".to_owned());
    }
    Some(match constant.val.as_ref()? {
        a_const::Val::Ival(value) => value.ival.to_string(),
        a_const::Val::Fval(value) => value.fval.clone(),
        a_const::Val::Boolval(value) => value.boolval.to_string(),
        a_const::Val::Sval(value) => literal(&value.sval),
        a_const::Val::Bsval(value) => {
            let (base, digits) = value.bsval.split_at_checked(1)?;
            // Only 0x takes an odd number of digits.
            if base == "x" && !digits.len().is_multiple_of(2) {
                return Some(format!("0x{digits}"));
            }
            format!("{base}'{digits}'")
        }
    })
}

/// What PostgreSQL's parser reads as a word of its own.
fn moment(function: &pg::SqlValueFunction) -> Option<String> {
    use SqlValueFunctionOp as Op;
    Some(match function.op() {
        Op::SvfopCurrentTimestamp | Op::SvfopLocaltimestamp => "now()".to_owned(),
        Op::SvfopCurrentTimestampN | Op::SvfopLocaltimestampN => match function.typmod {
            0 => "now()".to_owned(),
            digits => format!("now({digits})"),
        },
        Op::SvfopCurrentDate => "curdate()".to_owned(),
        Op::SvfopCurrentTime | Op::SvfopLocaltime => "curtime()".to_owned(),
        Op::SvfopCurrentUser | Op::SvfopUser => "current_user()".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::{Modes, statements};
    use crate::postgres::printed;

    fn place() -> Place<'static> {
        Place { database: "app", namespace: "public", relation: &|_| None }
    }

    /// What a file keeps of a query of MySQL's; `None` for other statements.
    fn kept(sql: &str) -> Option<String> {
        let mut made = statements(sql, "app", Modes::default()).ok()?;
        let (Some(only), true) = (made.pop(), made.is_empty()) else { return None };
        let is_alone = only.trees.len() == 1 && only.control.is_none();
        match only.trees.into_iter().next()?.0 {
            tree @ N::SelectStmt(_) if is_alone => printed(tree),
            _ => None,
        }
    }

    #[test]
    fn a_query_is_told_in_mysqls_words() {
        for (given, told) in [
            ("SELECT a, b + 1 AS c FROM t", "select `a` AS `a`,(`b` + 1) AS `c` from `t`"),
            (
                "SELECT * FROM t LEFT JOIN other.u x ON t.a = x.a WHERE t.a <=> NULL ORDER BY 1 DESC LIMIT 2, 3",
                "select * from (`t` left join `other`.`u` `x` on((`t`.`a` = `x`.`a`))) where (`t`.`a` <=> NULL) \
                 order by 1 desc limit 2,3",
            ),
            (
                "SELECT CAST(a AS DECIMAL(5,2)) x, TRIM(LEADING 'x' FROM b) y, a DIV 2 z FROM t",
                "select cast(`a` as decimal(5,2)) AS `x`,trim(leading 'x' from `b`) AS `y`,(`a` DIV 2) AS `z` from `t`",
            ),
            (
                "SELECT GROUP_CONCAT(DISTINCT a ORDER BY b DESC SEPARATOR '\\n') x FROM t GROUP BY c WITH ROLLUP",
                "select group_concat(distinct `a` order by `b` desc separator '\\n') AS `x` from `t` \
                 group by `c` with rollup",
            ),
            (
                "SELECT a x FROM t UNION ALL (SELECT b FROM u ORDER BY b LIMIT 1)",
                "select `a` AS `x` from `t` union all (select `b` AS `b` from `u` order by `b` limit 1)",
            ),
        ] {
            assert_eq!(kept(given).and_then(|kept| query(&kept, place())).as_deref(), Some(told), "{given}");
        }
    }

    #[test]
    fn what_has_another_name_today_is_told_by_it() {
        let today = |at: usize| {
            (at == 19).then(|| Today {
                namespace: "public".into(),
                name: "new".into(),
                renamed: vec![("a".into(), "b".into())],
            })
        };
        let place = Place { relation: &today, ..place() };
        let text = "SELECT a AS a FROM old WHERE old.a > 0";
        let told = "select `a` AS `a` from (select `b` AS `a` from `new`) `old` where (`old`.`a` > 0)";
        assert_eq!(query(text, place).as_deref(), Some(told));
    }

    /// Reading what is told makes the same tree again, for every query of the cases.
    #[test]
    fn what_is_told_means_what_is_kept() {
        let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/mysql");
        let (mut same, mut untold) = (0, Vec::new());
        for file in std::fs::read_dir(cases).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for sql in text.split("\n\n").filter_map(|case| case.split("\n----").next()) {
                let first = sql.lines().find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
                let words = first.to_ascii_uppercase();
                // Other statements may become queries, which no view has.
                if !["SELECT", "WITH", "VALUES", "TABLE", "("].iter().any(|word| words.starts_with(word)) {
                    continue;
                }
                let Some(kept) = kept(sql) else { continue };
                let Some(told) = query(&kept, place()) else {
                    untold.push(sql.to_owned());
                    continue;
                };
                let again = self::kept(&told);
                // A name longer than the longest is told as far as that.
                if again.as_deref() != Some(kept.as_str())
                    && kept.replace("\"\"", "'").split('"').any(|piece| piece.len() > 63)
                {
                    continue;
                }
                assert_eq!(again.as_deref(), Some(kept.as_str()), "{sql}\n{told}");
                same += 1;
            }
        }
        assert!(same > 500, "{same}");
        // A view reads no variables of the user's and counts no rows, and SET is no query.
        untold.retain(|sql| {
            !sql.contains('@') && !sql.contains("SQL_CALC_FOUND_ROWS") && !sql.to_ascii_uppercase().starts_with("SET ")
        });
        assert!(untold.is_empty(), "{}", untold.join("\n"));
    }
}
