//! Nodes of the tree, made.

use pg_query::protobuf::{
    self as pg, AExprKind, BoolExprType, CoercionForm, LimitOption, Node, NullTestType, SetOperation, SubLinkType,
    a_const, node::Node as N,
};

/// The place of what stands nowhere in a text that PostgreSQL's parser has read.
pub(super) const NOWHERE: i32 = -1;

/// The place of what is selected under no name of its own: it is called as it is written.
pub(crate) const UNNAMED: i32 = -2;

pub(super) fn node(of: N) -> Node {
    Node { node: Some(of) }
}

pub(super) fn boxed(of: Node) -> Option<Box<Node>> {
    Some(Box::new(of))
}

pub(super) fn word(text: impl Into<String>) -> Node {
    node(N::String(pg::String { sval: text.into() }))
}

pub(super) fn words<'w>(parts: impl IntoIterator<Item = &'w str>) -> Vec<Node> {
    parts.into_iter().map(word).collect()
}

pub(super) fn list(items: Vec<Node>) -> Node {
    node(N::List(pg::List { items }))
}

fn constant(val: a_const::Val) -> Node {
    node(N::AConst(pg::AConst { isnull: false, location: NOWHERE, val: Some(val) }))
}

pub(super) fn integer(value: i32) -> Node {
    constant(a_const::Val::Ival(pg::Integer { ival: value }))
}

/// A number as it was written.
pub(super) fn number(digits: &str) -> Node {
    match digits.parse() {
        Ok(value) => integer(value),
        Err(_) => constant(a_const::Val::Fval(pg::Float { fval: digits.to_owned() })),
    }
}

/// A constant that stands at a byte of the text.
pub(super) fn placed(mut constant: Node, at: i32) -> Node {
    if let Some(N::AConst(constant)) = &mut constant.node {
        constant.location = at;
    }
    constant
}

pub(super) fn text(value: impl Into<String>) -> Node {
    constant(a_const::Val::Sval(pg::String { sval: value.into() }))
}

/// The digits of a string of bits behind the letter of their base.
pub(super) fn bits(digits: String) -> Node {
    constant(a_const::Val::Bsval(pg::BitString { bsval: digits }))
}

pub(super) fn truth(value: bool) -> Node {
    constant(a_const::Val::Boolval(pg::Boolean { boolval: value }))
}

pub(super) fn null() -> Node {
    node(N::AConst(pg::AConst { isnull: true, location: NOWHERE, val: None }))
}

pub(super) fn param(number: i32) -> Node {
    node(N::ParamRef(pg::ParamRef { number, location: NOWHERE }))
}

pub(super) fn column(parts: Vec<String>) -> Node {
    let fields = parts.into_iter().map(word).collect();
    node(N::ColumnRef(pg::ColumnRef { fields, location: NOWHERE }))
}

pub(super) fn star(qualifier: Vec<String>) -> Node {
    let mut fields: Vec<Node> = qualifier.into_iter().map(word).collect();
    fields.push(node(N::AStar(pg::AStar {})));
    node(N::ColumnRef(pg::ColumnRef { fields, location: NOWHERE }))
}

/// A call that a user has not necessarily written.
pub(super) fn call(name: &str, args: Vec<Node>) -> Node {
    node(N::FuncCall(Box::new(plain_call(vec![word(name)], args))))
}

pub(super) fn plain_call(funcname: Vec<Node>, args: Vec<Node>) -> pg::FuncCall {
    let funcformat = CoercionForm::CoerceExplicitCall as i32;
    pg::FuncCall { funcname, args, funcformat, location: NOWHERE, ..Default::default() }
}

pub(super) fn operator(kind: AExprKind, name: &str, left: Option<Node>, right: Node) -> Node {
    node(N::AExpr(Box::new(pg::AExpr {
        kind: kind as i32,
        name: vec![word(name)],
        lexpr: left.map(Box::new),
        rexpr: boxed(right),
        location: NOWHERE,
        ..Default::default()
    })))
}

pub(super) fn binary(name: &str, left: Node, right: Node) -> Node {
    operator(AExprKind::AexprOp, name, Some(left), right)
}

pub(super) fn logic(kind: BoolExprType, args: Vec<Node>) -> Node {
    node(N::BoolExpr(Box::new(pg::BoolExpr { xpr: None, boolop: kind as i32, args, location: NOWHERE })))
}

pub(super) fn not(arg: Node) -> Node {
    logic(BoolExprType::NotExpr, vec![arg])
}

pub(super) fn is_null(arg: Node, negated: bool) -> Node {
    let kind = if negated { NullTestType::IsNotNull } else { NullTestType::IsNull };
    let test = pg::NullTest { arg: boxed(arg), nulltesttype: kind as i32, location: NOWHERE, ..Default::default() };
    node(N::NullTest(Box::new(test)))
}

/// `CASE [arg] WHEN … THEN … ELSE otherwise END`.
pub(super) fn case(arg: Option<Node>, branches: Vec<(Node, Node)>, otherwise: Option<Node>) -> Node {
    let when = |(condition, result)| {
        node(N::CaseWhen(Box::new(pg::CaseWhen {
            expr: boxed(condition),
            result: boxed(result),
            location: NOWHERE,
            ..Default::default()
        })))
    };
    node(N::CaseExpr(Box::new(pg::CaseExpr {
        arg: arg.map(Box::new),
        args: branches.into_iter().map(when).collect(),
        defresult: otherwise.map(Box::new),
        location: NOWHERE,
        ..Default::default()
    })))
}

pub(super) fn cast(arg: Node, to: pg::TypeName) -> Node {
    node(N::TypeCast(Box::new(pg::TypeCast { arg: boxed(arg), type_name: Some(to), location: NOWHERE })))
}

/// A type of PostgreSQL's by its own name.
pub(super) fn type_name(name: &str, modifiers: &[i32]) -> pg::TypeName {
    pg::TypeName {
        names: words(["pg_catalog", name]),
        typmods: modifiers.iter().map(|modifier| integer(*modifier)).collect(),
        typemod: -1,
        location: NOWHERE,
        ..Default::default()
    }
}

pub(super) fn sublink(kind: SubLinkType, test: Option<Node>, operator: Option<&str>, query: pg::SelectStmt) -> Node {
    node(N::SubLink(Box::new(pg::SubLink {
        sub_link_type: kind as i32,
        testexpr: test.map(Box::new),
        oper_name: operator.map(word).into_iter().collect(),
        subselect: boxed(node(N::SelectStmt(Box::new(query)))),
        location: NOWHERE,
        ..Default::default()
    })))
}

pub(super) fn target(name: impl Into<String>, val: Node) -> Node {
    node(N::ResTarget(Box::new(pg::ResTarget {
        name: name.into(),
        val: boxed(val),
        location: NOWHERE,
        ..Default::default()
    })))
}

/// A query without anything.
pub(super) fn select() -> pg::SelectStmt {
    pg::SelectStmt {
        limit_option: LimitOption::Default as i32,
        op: SetOperation::SetopNone as i32,
        ..Default::default()
    }
}

pub(super) fn select_of(query: pg::SelectStmt) -> Node {
    node(N::SelectStmt(Box::new(query)))
}

pub(super) fn def(name: &str, arg: Option<Node>) -> Node {
    node(N::DefElem(Box::new(pg::DefElem {
        defname: name.to_owned(),
        arg: arg.map(Box::new),
        defaction: pg::DefElemAction::DefelemUnspec as i32,
        location: NOWHERE,
        ..Default::default()
    })))
}
