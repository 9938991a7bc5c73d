//! MySQL's partitions: a check of the table says in which part a row is, and that it is in one. See
//! [`crate::values::mysql::partitions`].

use std::cmp::Ordering;
use std::sync::Arc;

use pg_query::NodeRef;
use pg_query::protobuf::{self as pg, AlterTableType, ConstrType, Node, a_const, node::Node as N};

use super::super::binder::{Binder, Clause, Entry};
use super::super::expr::any_of;
use super::super::mysql::changes::Said;
use super::super::raw;
use super::mysql_alter::{Alteration, command, nothing};
use crate::functions;
use crate::ir::{AlterTable, CompareOp, Expr, ExprKind, From, RelId, Text, ViewCheck};
use crate::mysql::partitions::{MOST, numbered, refused, too_many};
use crate::mysql::types::own_words;
use crate::schema::{Column, Relation};
use crate::values::mysql::partitions::{self, Bound, Kind, Method, Part, Partitioning};
use crate::{Condition, Error, Language, Result, Type};

/// How a table is parted, and by what.
struct Parted {
    of: Partitioning,
    by: Vec<Node>,
}

fn unknown(name: &str, table: &Relation) -> Error {
    refused(1735, format!("Unknown partition '{name}' in table '{}'", table.name))
}

fn text(sval: &str) -> Node {
    let val = Some(a_const::Val::Sval(pg::String { sval: sval.to_owned() }));
    Node { node: Some(N::AConst(pg::AConst { isnull: false, location: -1, val })) }
}

fn text_of(node: &Node) -> Option<&str> {
    match node.node.as_ref()? {
        N::AConst(constant) => match constant.val.as_ref()? {
            a_const::Val::Sval(text) => Some(&text.sval),
            _ => None,
        },
        // As a check is told that another type of a column has lifted.
        N::TypeCast(cast) => text_of(cast.arg.as_deref()?),
        _ => None,
    }
}

/// A call with the definition and what rows are parted by.
fn call(name: &str, of: &Partitioning, by: &[Node]) -> Node {
    let funcname = vec![Node { node: Some(N::String(pg::String { sval: name.to_owned() })) }];
    let args = std::iter::once(text(&of.to_text())).chain(by.iter().cloned()).collect();
    let funcformat = pg::CoercionForm::CoerceExplicitCall as i32;
    Node {
        node: Some(N::FuncCall(Box::new(pg::FuncCall {
            funcname,
            args,
            funcformat,
            location: -1,
            ..Default::default()
        }))),
    }
}

/// The definition in a check of this text, and what rows are parted by.
fn read(check: &str) -> Option<Parted> {
    let statements = raw::parse(&format!("SELECT {check}")).ok()?;
    let N::SelectStmt(select) = &*statements.first()?.tree else { return None };
    let N::ResTarget(target) = select.target_list.first()?.node.as_ref()? else { return None };
    let N::FuncCall(call) = target.val.as_deref()?.node.as_ref()? else { return None };
    let (of, by) = call.args.split_first()?;
    Some(Parted { of: Partitioning::of_text(text_of(of)?)?, by: by.to_vec() })
}

/// The definition in a check, and the texts of what rows are parted by.
pub fn partitioning(check: &str) -> Option<(Partitioning, Vec<String>)> {
    let Parted { of, by } = read(check)?;
    Some((of, by.iter().map(raw::print_expression).collect::<Option<_>>()?))
}

fn parted(table: &Relation) -> Result<Option<Parted>> {
    let Some(check) = table.partitions() else { return Ok(None) };
    let broken =
        || Error::new(Condition::DataCorrupted, format!("the partitions of \"{}\" cannot be read", table.name));
    read(&check.text).map(Some).ok_or_else(broken)
}

/// The same of a table that must be parted.
fn must_be_parted(table: &Relation) -> Result<Parted> {
    let message = "Partition management on a not partitioned table is not possible";
    parted(table)?.ok_or_else(|| refused(1505, message))
}

/// The columns that expressions name.
fn columns_of(by: &[Node]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |node: NodeRef<'_>| {
        if let NodeRef::ColumnRef(column) = node
            && let Some(N::String(name)) = column.fields.last().and_then(|field| field.node.as_ref())
            && !names.iter().any(|known| known.eq_ignore_ascii_case(&name.sval))
        {
            names.push(name.sval.clone());
        }
    };
    for node in by.iter().filter_map(|node| node.node.as_ref()) {
        node.nodes().into_iter().for_each(|(node, ..)| add(node));
    }
    names
}

/// Of which kind the values of a column are where it is one of COLUMNS, or of a KEY.
fn kind_of(column: &Column, method: Method) -> Result<Kind> {
    let words = own_words(&column.ty).unwrap_or_default();
    let not_allowed = || {
        let message = format!("Field '{}' is of a not allowed type for this type of partitioning", column.name);
        Err(refused(1659, message))
    };
    let is_key = method == Method::Key;
    let starts = |head: &str| words.starts_with(head);
    let width = || match words {
        _ if starts("tinyint") || words == "year" => 1,
        _ if starts("smallint") => 2,
        _ if starts("mediumint") => 3,
        _ if starts("int") => 4,
        _ if starts("bigint") => 8,
        _ => match column.ty.through_domains() {
            Type::Int2 => 2,
            Type::Int4 => 4,
            _ => 8,
        },
    };
    Ok(match column.ty.through_domains() {
        _ if starts("bit(") || starts("enum(") || starts("set(") => {
            return if is_key { Ok(Kind::Stored) } else { not_allowed() };
        }
        ty if ty.is_integer() && is_key => Kind::Bytes(width()),
        ty if ty.is_integer() => Kind::Integer,
        Type::Varchar(_) => {
            Kind::Text(column.collation.as_ref().map_or(crate::mysql::COLLATION, |named| &named.name).to_owned())
        }
        Type::Bytea if !starts("binary(") && !starts("varbinary(") => return Err(blob()),
        Type::Text | Type::Json => return Err(blob()),
        Type::Bytea if !is_key => return Err(Error::unsupported("partitions by COLUMNS of bytes")),
        Type::Date if !is_key => Kind::Moment { timed: false },
        Type::Timestamp(_) if !is_key => Kind::Moment { timed: true },
        _ if is_key => Kind::Stored,
        _ => return not_allowed(),
    })
}

fn blob() -> Error {
    refused(1502, "A BLOB field is not allowed in partition function")
}

/// Refuses parts whose values are not such as they may be.
fn check_parts(of: &mut Partitioning) -> Result<()> {
    for (at, part) in of.parts.iter().enumerate() {
        if of.parts[..at].iter().any(|known| known.name.eq_ignore_ascii_case(&part.name)) {
            return Err(refused(1517, format!("Duplicate partition name {}", part.name)));
        }
    }
    let wrong = || Error::new(Condition::InvalidTableDefinition, "Partition column values of incorrect type");
    let last = of.parts.len().saturating_sub(1);
    for (at, part) in of.parts.iter_mut().enumerate() {
        for row in &part.values {
            if row.len() != of.kinds.len() {
                return Err(Error::syntax("Inconsistency in usage of column lists for partitioning"));
            }
            for (bound, kind) in row.iter().zip(&of.kinds) {
                match (bound, kind) {
                    (Bound::Most, _) if !of.columns && at < last => {
                        return Err(refused(1481, "MAXVALUE can only be used in last partition definition"));
                    }
                    (Bound::Null, _) if of.method == Method::Range => {
                        return Err(refused(1566, "Not allowed to use NULL value in VALUES LESS THAN"));
                    }
                    (Bound::Most | Bound::Null, _) | (Bound::Number(_), Kind::Integer) => {}
                    (Bound::Text(_), Kind::Text(_) | Kind::Moment { .. }) => {}
                    _ if of.columns => return Err(wrong().with_mysql(1654, "HY000")),
                    _ => {
                        let message = format!("VALUES value for partition '{}' must have type INT", part.name);
                        return Err(refused(1697, message));
                    }
                }
            }
        }
        if of.method == Method::List && !of.columns {
            // MySQL tells NULL before all others.
            part.values.sort_by_key(|row| row.first() != Some(&Bound::Null));
        }
    }
    let ready = of.comparable().ok_or_else(|| wrong().with_mysql(1654, "HY000"))?;
    match of.method {
        Method::Range => {
            let bounds: Vec<&Vec<Bound>> = ready.parts.iter().filter_map(|part| part.values.first()).collect();
            if bounds.windows(2).any(|pair| ready.compared(pair[0], pair[1]) != Ordering::Less) {
                let message = "VALUES LESS THAN value must be strictly increasing for each partition";
                return Err(refused(1493, message));
            }
        }
        Method::List => {
            let rows: Vec<&Vec<Bound>> = ready.parts.iter().flat_map(|part| &part.values).collect();
            let is_twice = |(at, row): (usize, &&Vec<Bound>)| {
                rows[..at].iter().any(|known| ready.compared(known, row) == Ordering::Equal)
            };
            if rows.iter().enumerate().any(is_twice) {
                return Err(refused(1495, "Multiple definition of same constant in list partitioning"));
            }
        }
        Method::Hash | Method::Key => {}
    }
    Ok(())
}

/// Refuses a unique key without the columns that rows are parted by: it could not tell rows of several parts apart.
pub(super) fn check_partitioned_key<'n>(
    table: &Relation,
    key: impl IntoIterator<Item = &'n str>,
    primary: bool,
) -> Result<()> {
    let Some(of) = parted(table)? else { return Ok(()) };
    check_key(&columns_of(&of.by), &key.into_iter().collect::<Vec<_>>(), primary)
}

fn check_key(columns: &[String], key: &[&str], primary: bool) -> Result<()> {
    if columns.iter().all(|column| key.iter().any(|named| named.eq_ignore_ascii_case(column))) {
        return Ok(());
    }
    let what = if primary { "PRIMARY KEY" } else { "UNIQUE INDEX" };
    let message = format!(
        "A {what} must include all columns in the table's partitioning function (prefixed columns are not considered)."
    );
    Err(refused(1503, message))
}

/// Refuses a change of a column that rows are parted by.
pub(super) fn check_not_parted_by(table: &Relation, column: &str) -> Result<()> {
    let Some(of) = parted(table)? else { return Ok(()) };
    if columns_of(&of.by).iter().any(|known| known.eq_ignore_ascii_case(column)) {
        let message =
            format!("Column '{column}' has a partitioning function dependency and cannot be dropped or renamed.");
        return Err(refused(3855, message));
    }
    Ok(())
}

/// Refuses another type for a column that rows are parted by, where its values are compared otherwise.
pub(super) fn check_retyped(table: &Relation, column: &Column, made: &Column) -> Result<()> {
    let Some(parted) = parted(table)? else { return Ok(()) };
    if !columns_of(&parted.by).iter().any(|known| known.eq_ignore_ascii_case(&column.name)) {
        return Ok(());
    }
    let (method, is_listed) = (parted.of.method, parted.of.columns || parted.of.method == Method::Key);
    let stays = match is_listed {
        true => kind_of(column, method)? == kind_of(made, method)?,
        false => column.ty.is_integer() == made.ty.is_integer() && (made.ty.is_integer() || column.ty == made.ty),
    };
    if stays { Ok(()) } else { Err(Error::unsupported("another type for a column that partitions are made by")) }
}

/// Refuses keys of other tables beside partitions.
pub(super) fn check_no_foreign_key(table: &Relation) -> Result<()> {
    match table.partitions() {
        Some(_) => Err(foreign_key()),
        None => Ok(()),
    }
}

fn foreign_key() -> Error {
    refused(1506, "Foreign keys are not yet supported in conjunction with partitioning")
}

/// Refuses a full-text key beside partitions.
pub(super) fn check_no_fulltext(table: &Relation) -> Result<()> {
    match table.partitions() {
        Some(_) => Err(refused(1214, "The used table type doesn't support FULLTEXT indexes")),
        None => Ok(()),
    }
}

/// The action's name and what is said with it.
fn said(command: &pg::AlterTableCmd) -> Option<(&str, &[Node])> {
    let Some(N::List(options)) = command.def.as_deref()?.node.as_ref() else { return None };
    let Some(N::DefElem(option)) = options.items.first()?.node.as_ref() else { return None };
    match option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
        Some(N::List(args)) => Some((&option.defname, &args.items)),
        _ => None,
    }
}

/// The table with this check in the place of the one that it has.
fn reparted(table: &Relation, alter: &pg::AlterTableStmt, of: Option<(&Partitioning, &[Node])>) -> Alteration {
    let mut cmds = Vec::new();
    if table.partitions().is_some() {
        cmds.push(command(AlterTableType::AtDropConstraint, partitions::NAME, None));
    }
    if let Some((of, by)) = of {
        let check = pg::Constraint {
            contype: ConstrType::ConstrCheck as i32,
            conname: partitions::NAME.to_owned(),
            raw_expr: Some(Box::new(call(partitions::CHECK, of, by))),
            is_enforced: true,
            initially_valid: true,
            location: -1,
            ..Default::default()
        };
        let check = Node { node: Some(N::Constraint(Box::new(check))) };
        cmds.push(command(AlterTableType::AtAddConstraint, "", Some(check)));
    }
    Alteration::Commands(pg::AlterTableStmt { cmds, ..alter.clone() }, Vec::<AlterTable>::new())
}

fn definition(node: Option<&Node>) -> Result<Partitioning> {
    let of = node.and_then(text_of).and_then(Partitioning::of_text);
    of.ok_or_else(|| Error::internal("partitions without their definition"))
}

/// Parts that come to others must be such as these.
fn check_alike(of: &Partitioning, new: &Partitioning) -> Result<()> {
    let has = |method: Method| new.method == method && new.parts.iter().any(|part| !part.values.is_empty());
    match of.method {
        Method::Range if !has(Method::Range) && has(Method::List) => {
            Err(refused(1480, "Only LIST PARTITIONING can use VALUES IN in partition definition"))
        }
        Method::List if has(Method::Range) => {
            Err(refused(1480, "Only RANGE PARTITIONING can use VALUES LESS THAN in partition definition"))
        }
        Method::Range | Method::List if !has(of.method) => {
            let values = if of.method == Method::Range { "VALUES LESS THAN" } else { "VALUES IN" };
            let word = of.method.word();
            let message =
                format!("Syntax error: {word} PARTITIONING requires definition of {values} for each partition");
            Err(Error::syntax(message))
        }
        Method::Hash | Method::Key if has(Method::Range) => {
            Err(refused(1480, "Only RANGE PARTITIONING can use VALUES LESS THAN in partition definition"))
        }
        Method::Hash | Method::Key if has(Method::List) => {
            Err(refused(1480, "Only LIST PARTITIONING can use VALUES IN in partition definition"))
        }
        _ => Ok(()),
    }
}

/// Puts parts in the place of others.
fn reorganize(of: &mut Partitioning, names: &[&str], new: Vec<Part>) -> Result<()> {
    let places =
        of.places(names.iter().copied()).map_err(|_| refused(1507, "Error in list of partitions to REORGANIZE"))?;
    let mut sorted = places.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let (Some(first), Some(last)) = (sorted.first().copied(), sorted.last().copied()) else {
        return Err(refused(1507, "Error in list of partitions to REORGANIZE"));
    };
    if sorted.len() != places.len() {
        return Err(refused(1507, "Error in list of partitions to REORGANIZE"));
    }
    if !of.method.has_values() && sorted.len() != new.len() {
        let message = "REORGANIZE PARTITION can only be used to reorganize partitions not to change their numbers";
        return Err(refused(1510, message));
    }
    if last - first + 1 != sorted.len() && of.method != Method::List {
        return Err(refused(1519, "When reorganizing a set of partitions they must be in consecutive order"));
    }
    let is_end = last + 1 == of.parts.len();
    let old = of.parts[last].values.first().cloned();
    let mut parts = std::mem::take(&mut of.parts);
    let bound = new.last().and_then(|part| part.values.first().cloned());
    // Those of LIST may stand apart.
    for at in sorted.iter().rev() {
        parts.remove(*at);
    }
    parts.splice(first..first, new);
    of.parts = parts;
    if let (Method::Range, Some(old), Some(bound)) = (of.method, old, bound) {
        let order = of.comparable().map_or(Ordering::Equal, |ready| ready.compared(&bound, &old));
        if order == Ordering::Less || order == Ordering::Greater && !is_end {
            let message = "Reorganize of range partitions cannot change total ranges except for last partition where it \
                           can extend the range";
            return Err(refused(1520, message));
        }
    }
    Ok(())
}

impl Binder<'_> {
    /// What an ALTER TABLE of MySQL's does with partitions; `None` where it is another action.
    pub(super) fn mysql_partition_action(
        &mut self,
        alter: &pg::AlterTableStmt,
        command: &pg::AlterTableCmd,
        table: &Arc<Relation>,
    ) -> Result<Option<Alteration>> {
        let Some((action, args)) = said(command) else { return Ok(None) };
        let names: Vec<&str> = args.iter().filter_map(text_of).collect();
        let number = || names.first().and_then(|digits| digits.parse::<usize>().ok()).unwrap_or(usize::MAX);
        let has_parts = |of: &Partitioning, what: &str| match of.method.has_values() {
            true => Ok(()),
            false => Err(refused(1512, format!("{what} PARTITION can only be used on RANGE/LIST partitions"))),
        };
        let whole = |statement| Ok(Some(Alteration::Whole(statement)));
        let Parted { mut of, by } = match action {
            "partition_by" => return self.mysql_partition_by(alter, table, args).map(Some),
            "remove_partitioning" => {
                must_be_parted(table)?;
                return Ok(Some(reparted(table, alter, None)));
            }
            "check_partitioned" => {
                let of = must_be_parted(table)?.of;
                of.places(names).map_err(|name| unknown(&name, table))?;
                return whole(nothing());
            }
            "check_drop_partition" => {
                let of = must_be_parted(table)?.of;
                has_parts(&of, "DROP")?;
                let mut places = of.places(names).map_err(|_| refused(1507, "Error in list of partitions to DROP"))?;
                places.sort_unstable();
                places.dedup();
                if places.len() == of.parts.len() {
                    return Err(refused(1508, "Cannot remove all partitions, use DROP TABLE instead"));
                }
                if table.triggers.iter().any(|trigger| trigger.waits_for(crate::ir::TriggerEvent::Delete)) {
                    return Err(self.unsupported("DROP PARTITION of a table with triggers for DELETE", -1));
                }
                return whole(nothing());
            }
            "add_partition" | "add_partitions" | "drop_partition" | "coalesce_partition" | "reorganize_partition" => {
                must_be_parted(table)?
            }
            _ => return Ok(None),
        };
        match action {
            "add_partitions" => {
                if of.method.has_values() {
                    let message = format!("For {} partitions each partition must be defined", of.method.word());
                    return Err(refused(1492, message));
                }
                if number() == 0 {
                    return Err(refused(1514, "At least one partition must be added"));
                }
                let (first, count) = (of.parts.len(), number().min(MOST));
                of.parts.extend(numbered(first, count));
                of.counted = true;
            }
            "add_partition" => {
                let new = definition(args.first())?;
                check_alike(&of, &new)?;
                of.parts.extend(new.parts);
                of.named |= !of.method.has_values();
            }
            "drop_partition" => {
                let places = of.places(names).map_err(|_| refused(1507, "Error in list of partitions to DROP"))?;
                let mut at = 0..;
                of.parts.retain(|_| at.next().is_none_or(|at| !places.contains(&at)));
            }
            "coalesce_partition" => {
                if of.method.has_values() {
                    return Err(refused(1509, "COALESCE PARTITION can only be used on HASH/KEY partitions"));
                }
                if number() == 0 {
                    return Err(refused(1515, "At least one partition must be coalesced"));
                }
                if number() >= of.parts.len() {
                    return Err(refused(1508, "Cannot remove all partitions, use DROP TABLE instead"));
                }
                of.parts.truncate(of.parts.len() - number());
                of.counted = true;
            }
            _ => {
                let new = definition(args.first())?;
                check_alike(&of, &new)?;
                // The first of the constants is the definition.
                reorganize(&mut of, &names[1..], new.parts)?;
            }
        }
        if of.parts.len() > MOST {
            return Err(too_many());
        }
        check_parts(&mut of)?;
        Ok(Some(reparted(table, alter, Some((&of, &by)))))
    }

    /// PARTITION BY.
    fn mysql_partition_by(
        &mut self,
        alter: &pg::AlterTableStmt,
        table: &Arc<Relation>,
        args: &[Node],
    ) -> Result<Alteration> {
        let mut of = definition(args.first())?;
        if table.language != Language::Mysql {
            return Err(self.unsupported("PARTITION BY of a table that another door has made", -1));
        }
        if table.is_temporary() {
            return Err(refused(1562, "Cannot create temporary table with partitions"));
        }
        if !table.foreign_keys.is_empty() {
            return Err(foreign_key());
        }
        if table.indexes.iter().any(|index| index.fulltext) {
            return Err(refused(1214, "The used table type doesn't support FULLTEXT indexes"));
        }
        let mut by = args[1..].to_vec();
        let unique = || table.indexes.iter().filter(|index| index.unique);
        let column_of = |at: &Option<usize>| at.and_then(|at| table.columns.get(at));
        if of.of_key {
            let given = |index: &&crate::schema::Index| {
                index.columns.iter().all(|at| column_of(at).is_some_and(|column| column.not_null))
            };
            let Some(key) = unique().find(|index| index.primary).or_else(|| unique().find(given)) else {
                return Err(refused(1488, "Field in list of fields for partition function not found in table"));
            };
            by = key.columns.iter().filter_map(column_of).map(|column| named(&column.name)).collect();
        }
        let columns = columns_of(&by);
        let is_listed = of.columns || of.method == Method::Key;
        of.kinds = match is_listed {
            true => {
                let missing = || refused(1488, "Field in list of fields for partition function not found in table");
                let kind = |name: &String| kind_of(&table.columns[table.column(name).ok_or_else(missing)?], of.method);
                columns.iter().map(kind).collect::<Result<_>>()?
            }
            false => {
                if let Some(name) = columns.iter().find(|name| table.column(name).is_none()) {
                    let message = format!("Unknown column '{name}' in 'partition function'");
                    return Err(Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22"));
                }
                let [expr] = by.as_slice() else { return Err(Error::internal("PARTITION BY nothing")) };
                let entry = Entry::of_relation(table, Text::TABLE, None);
                let value = self.stored_node(expr, Language::Mysql, vec![entry], Clause::Check)?;
                let is_column = matches!(&expr.node, Some(N::ColumnRef(_)));
                let ty = value.ty.through_domains();
                match ty.is_integer() || !is_column && ty.is_decimal() {
                    true => vec![Kind::Integer],
                    false if is_column => {
                        let message = format!(
                            "Field '{}' is of a not allowed type for this type of partitioning",
                            columns.first().map_or("", String::as_str)
                        );
                        return Err(refused(1659, message));
                    }
                    false => return Err(refused(1491, "The PARTITION function returns the wrong type")),
                }
            }
        };
        for index in unique() {
            let key: Vec<&str> =
                index.columns.iter().filter_map(column_of).map(|column| column.name.as_str()).collect();
            check_key(&columns, &key, index.primary)?;
        }
        check_parts(&mut of)?;
        Ok(reparted(table, alter, Some((&of, &by))))
    }

    /// The place of the part that a row is in.
    fn mysql_partition_place(&mut self, id: RelId, table: &Arc<Relation>, parted: &Parted) -> Result<Expr> {
        let place = call(partitions::PLACE, &parted.of, &parted.by);
        let entry = Entry::of_relation(table, id, None);
        self.stored_node(&place, Language::Mysql, vec![entry], Clause::Check)
    }

    /// The condition that a row is in one of these parts.
    ///
    /// # Errors
    /// 1747 for a table without, 1735 for a name that none has.
    fn mysql_within(&mut self, id: RelId, table: &Arc<Relation>, names: &[&str], or_fails: bool) -> Result<Expr> {
        let Some(parted) = parted(table)? else {
            return Err(refused(1747, "PARTITION () clause on non partitioned table"));
        };
        let places = parted.of.places(names.iter().copied()).map_err(|name| unknown(&name, table))?;
        let place = self.mysql_partition_place(id, table, &parted)?;
        if or_fails {
            let list: Vec<String> = places.iter().map(ToString::to_string).collect();
            let function = functions::named(Language::Mysql, partitions::WITHIN).next();
            let function = function.ok_or_else(|| Error::internal("no function for rows of partitions"))?;
            let args = vec![place, Expr::text(list.join(","))];
            return Ok(Expr::new(ExprKind::Call { function, args }, Type::Bool));
        }
        let is = |at: &usize| {
            let number = Expr::integer(i64::try_from(*at).unwrap_or(i64::MAX), Type::Int8);
            let kind =
                ExprKind::Compare { op: CompareOp::Equal, left: Box::new(place.clone()), right: Box::new(number) };
            Expr::new(kind, Type::Bool)
        };
        Ok(any_of(places.iter().map(is).collect()))
    }

    /// A table of FROM of which some parts are there.
    pub(in crate::postgres) fn mysql_sampled(
        &mut self,
        sample: &pg::RangeTableSample,
        range: &pg::RangeVar,
    ) -> Result<(From, Vec<Entry>)> {
        let (mut from, entries) = self.range_var(range)?;
        let names: Vec<&str> = sample.args.iter().filter_map(text_of).collect();
        let From::Relation { id, relation, filter, .. } = &mut from else {
            return Err(refused(1747, "PARTITION () clause on non partitioned table"));
        };
        let condition = self.mysql_within(*id, &relation.clone(), &names, false)?;
        *filter = Some(Box::new(match filter.take() {
            None => condition,
            Some(other) => Expr::new(ExprKind::And(vec![condition, *other]), Type::Bool),
        }));
        Ok((from, entries))
    }

    /// What PARTITION of a table that is changed asks of the rows that are there, and of those that come.
    pub(in crate::postgres) fn mysql_changed_partitions(
        &mut self,
        said: &Said<'_>,
        id: RelId,
        table: &Arc<Relation>,
    ) -> Result<Option<(Expr, ViewCheck)>> {
        if said.partitions.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = said.partitions.iter().filter_map(text_of).collect();
        let filter = self.mysql_within(id, table, &names, false)?;
        let condition = self.mysql_within(id, table, &names, true)?;
        Ok(Some((filter, ViewCheck { view: table.name.clone(), condition })))
    }
}

fn named(column: &str) -> Node {
    let field = Node { node: Some(N::String(pg::String { sval: column.to_owned() })) };
    Node { node: Some(N::ColumnRef(pg::ColumnRef { fields: vec![field], location: -1 })) }
}
