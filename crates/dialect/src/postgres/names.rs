//! Names: of result columns, of types in a tree, of objects in a text.

use pg_query::protobuf::{Node, SubLinkType, TypeName, node::Node as N};

use crate::schema::QualifiedName;

/// The text of a `String` node.
pub(super) fn string(node: &Node) -> Option<&str> {
    match &node.node {
        Some(N::String(string)) => Some(&string.sval),
        _ => None,
    }
}

/// A list of `String` nodes.
pub(super) fn strings(nodes: &[Node]) -> Vec<&str> {
    nodes.iter().filter_map(string).collect()
}

/// The name that PostgreSQL gives a result column (`FigureColname`).
pub(super) fn column(node: &Node) -> String {
    figure(node).0.unwrap_or_else(|| "?column?".to_owned())
}

/// A name and how good it is: 0 none, 1 a type's name, 2 a real name.
fn figure(node: &Node) -> (Option<String>, u8) {
    let good = |name: &str| (Some(name.to_owned()), 2);
    let Some(node) = &node.node else { return (None, 0) };
    match node {
        N::ColumnRef(column) => match column.fields.iter().rev().find_map(string) {
            Some(name) => good(name),
            None => (None, 0),
        },
        N::AIndirection(indirection) => match indirection.indirection.iter().rev().find_map(string) {
            Some(name) => good(name),
            None => indirection.arg.as_deref().map_or((None, 0), figure),
        },
        N::FuncCall(call) => match call.funcname.iter().rev().find_map(string) {
            Some(name) => good(name),
            None => (None, 0),
        },
        N::AExpr(expr) if expr.kind() == pg_query::protobuf::AExprKind::AexprNullif => good("nullif"),
        N::TypeCast(cast) => {
            let inner = cast.arg.as_deref().map_or((None, 0), figure);
            if inner.1 <= 1
                && let Some(name) = cast.type_name.as_ref().and_then(|ty| ty.names.iter().rev().find_map(string))
            {
                return (Some(name.to_owned()), 1);
            }
            inner
        }
        N::CollateClause(collate) => collate.arg.as_deref().map_or((None, 0), figure),
        N::GroupingFunc(_) => good("grouping"),
        N::MergeSupportFunc(_) => good("merge_action"),
        N::SubLink(link) => match link.sub_link_type() {
            SubLinkType::ExistsSublink => good("exists"),
            SubLinkType::ArraySublink => good("array"),
            SubLinkType::ExprSublink => {
                let mut select = match link.subselect.as_deref().and_then(|node| node.node.as_ref()) {
                    Some(N::SelectStmt(select)) => select,
                    _ => return (None, 0),
                };
                while let Some(left) = &select.larg {
                    select = left;
                }
                match select.target_list.first().and_then(|node| node.node.as_ref()) {
                    Some(N::ResTarget(target)) if !target.name.is_empty() => good(&target.name),
                    Some(N::ResTarget(target)) => match target.val.as_deref().map(figure) {
                        Some((Some(name), _)) => (Some(name), 2),
                        _ => (None, 0),
                    },
                    _ if !select.values_lists.is_empty() => good("column1"),
                    _ => (None, 0),
                }
            }
            _ => (None, 0),
        },
        N::CaseExpr(case) => {
            let inner = case.defresult.as_deref().map_or((None, 0), figure);
            if inner.1 <= 1 { (Some("case".to_owned()), 1) } else { inner }
        }
        N::AArrayExpr(_) => good("array"),
        N::RowExpr(_) => good("row"),
        N::CoalesceExpr(_) => good("coalesce"),
        N::MinMaxExpr(expr) => good(match expr.op() {
            pg_query::protobuf::MinMaxOp::IsLeast => "least",
            _ => "greatest",
        }),
        N::SqlvalueFunction(function) => {
            use pg_query::protobuf::SqlValueFunctionOp as Op;
            good(match function.op() {
                Op::SvfopCurrentDate => "current_date",
                Op::SvfopCurrentTime | Op::SvfopCurrentTimeN => "current_time",
                Op::SvfopCurrentTimestamp | Op::SvfopCurrentTimestampN => "current_timestamp",
                Op::SvfopLocaltime | Op::SvfopLocaltimeN => "localtime",
                Op::SvfopLocaltimestamp | Op::SvfopLocaltimestampN => "localtimestamp",
                Op::SvfopCurrentRole => "current_role",
                Op::SvfopCurrentUser => "current_user",
                Op::SvfopUser => "user",
                Op::SvfopSessionUser => "session_user",
                Op::SvfopCurrentCatalog => "current_catalog",
                Op::SvfopCurrentSchema => "current_schema",
                Op::SqlvalueFunctionOpUndefined => "?column?",
            })
        }
        N::JsonObjectConstructor(_) => good("json_object"),
        N::JsonArrayConstructor(_) => good("json_array"),
        _ => (None, 0),
    }
}

/// The last part of a type's name and its schema.
pub(super) fn of_type(ty: &TypeName) -> (Option<&str>, &str) {
    match strings(&ty.names).as_slice() {
        [name] => (None, name),
        [.., schema, name] => (Some(schema), name),
        [] => (None, ""),
    }
}

/// Reads `name`, `schema.name`, with double quotes where wanted, as `regclass` does.
pub(super) fn qualified(text: &str) -> Option<QualifiedName> {
    let parts = identifier_parts(text)?;
    match parts.as_slice() {
        [name] => Some(QualifiedName::bare(name.clone())),
        [schema, name] | [_, schema, name] => Some(QualifiedName::new(schema.clone(), name.clone())),
        _ => None,
    }
}

fn identifier_parts(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let part = if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut characters = quoted.char_indices().peekable();
            let end = loop {
                match characters.next()? {
                    (_, '"') if matches!(characters.peek(), Some((_, '"'))) => {
                        characters.next();
                        name.push('"');
                    }
                    (at, '"') => break at + 1,
                    (_, character) => name.push(character),
                }
            };
            rest = quoted[end..].trim_start();
            name
        } else {
            let end = rest.find(|c: char| c == '.' || c.is_whitespace() || c == '"').unwrap_or(rest.len());
            let name = rest[..end].to_lowercase();
            rest = rest[end..].trim_start();
            name
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match rest.strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_as_regclass_does() {
        assert_eq!(qualified("Orders"), Some(QualifiedName::bare("orders")));
        assert_eq!(qualified("public.\"My \"\"T\""), Some(QualifiedName::new("public", "My \"T")));
        assert_eq!(qualified("\"open"), None);
        assert_eq!(qualified("a b"), None);
        assert_eq!(qualified(""), None);
    }
}
