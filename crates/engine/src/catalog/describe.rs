//! Definitions as PostgreSQL prints them: `pg_get_indexdef`, `pg_get_constraintdef`, `pg_get_viewdef`.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::exclusion::Exclusion;
use rowferry_dialect::functions::FunctionKind;
use rowferry_dialect::informix;
use rowferry_dialect::ir::trigger::{NEW_ROW, OLD_ROW};
use rowferry_dialect::ir::{CastContext, ColumnIndex, ColumnRef, Expr, ExprKind, Text, Value, walk};
use rowferry_dialect::plan::Context;
use rowferry_dialect::postgres::{self, print};
use rowferry_dialect::schema::{Check, ForeignKey, Index, QualifiedName, ReferentialAction, Relation, RelationKind};
use rowferry_dialect::types::Reg;
use rowferry_dialect::user_type::Domain;
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Language, Result, Schema as _, Type};

use super::names::quote_ident;
use crate::backend::{Connection, Failure, size_of, size_of_file};
use crate::schema::{PUBLIC, Properties, SessionSchema};
use crate::session::state::State;

/// `schema.name`, each quoted where need be.
fn qualified(namespace: &str, name: &str) -> String {
    format!("{}.{}", quote_ident(namespace), quote_ident(name))
}

/// What a table's columns and the objects of the schema are called.
struct TableNames<'a> {
    schema: &'a SessionSchema,
    relation: &'a Relation,
}

impl print::Names for TableNames<'_> {
    fn column(&self, column: ColumnRef) -> Option<String> {
        match column.column {
            ColumnIndex::At(at) => self.relation.columns.get(at).map(|column| quote_ident(&column.name)),
            ColumnIndex::RowIdentity => Some("ctid".to_owned()),
        }
    }

    fn type_words(&self, ty: &Type) -> String {
        postgres::regtype::words_in(self.schema, ty)
    }

    fn collation(&self, collation: &Collation) -> String {
        collation.shown_in(self.schema)
    }

    fn object(&self, reg: Reg, oid: u32) -> Option<String> {
        object_name(self.schema, reg, oid)
    }

    fn operator(&self, oid: u32) -> Option<String> {
        postgres::regproc::operator_sign(self.schema, oid)
    }
}

/// The same of a trigger's condition, which speaks of two rows.
struct RowNames<'a>(TableNames<'a>);

impl print::Names for RowNames<'_> {
    fn column(&self, column: ColumnRef) -> Option<String> {
        let row = match column.relation {
            OLD_ROW => "old",
            NEW_ROW => "new",
            _ => return None,
        };
        Some(format!("{row}.{}", self.0.column(column)?))
    }

    fn type_words(&self, ty: &Type) -> String {
        self.0.type_words(ty)
    }

    fn collation(&self, collation: &Collation) -> String {
        self.0.collation(collation)
    }

    fn object(&self, reg: Reg, oid: u32) -> Option<String> {
        self.0.object(reg, oid)
    }
}

/// WHEN of a trigger as PostgreSQL shows it; as it was written where that cannot be said.
pub fn trigger_condition(schema: &SessionSchema, relation: &Arc<Relation>, text: &str, pretty: bool) -> String {
    let whole = postgres::compares_rows(text);
    let bound = postgres::bind_trigger_condition(text, relation, schema, &Context::default()).ok().filter(|_| !whole);
    let names = RowNames(TableNames { schema, relation });
    bound.and_then(|condition| print::expression(&condition, &names, pretty)).unwrap_or_else(|| {
        let alone = pretty || postgres::stands_alone(text);
        if alone { text.to_owned() } else { format!("({text})") }
    })
}

/// The name of an object, with its schema where it is not found without.
fn object_name(schema: &SessionSchema, reg: Reg, oid: u32) -> Option<String> {
    match reg {
        Reg::Class => {}
        Reg::Type => return postgres::regtype::shown_in(schema, oid, None),
        _ => return postgres::regproc::name(schema, reg, oid),
    }
    let (namespace, name) = super::names::class_name(schema, oid)?;
    let visible = super::names::is_visible(schema, oid) == Some(true);
    Some(if visible { quote_ident(&name) } else { qualified(&namespace, &name) })
}

/// An expression over a table's columns, bound; none where it is in another language.
fn bound(schema: &SessionSchema, relation: &Arc<Relation>, text: &str) -> Option<Expr> {
    if relation.language == Language::Informix {
        return None;
    }
    let bind = |relation: &Arc<Relation>| postgres::bind_stored(text, relation, schema, &Context::default()).ok();
    bind(relation).or_else(|| {
        let mut expr = bind(&with_numbers_for_booleans(relation)?)?;
        walk::expr_mut(&mut expr, &mut |part| {
            let is_boolean = matches!(&part.kind, ExprKind::Column(ColumnRef { column: ColumnIndex::At(at), .. })
                if relation.columns[*at].ty == Type::Bool);
            if is_boolean {
                part.ty = Type::Bool;
                let column = std::mem::replace(part, Expr::null(Type::Bool));
                *part = column.cast(Type::Int4, CastContext::Explicit);
            }
            !is_boolean
        });
        Some(expr)
    })
}

/// A table that others have made, as the back end sees it: booleans are numbers there, and what others compute of them needs that.
fn with_numbers_for_booleans(relation: &Arc<Relation>) -> Option<Arc<Relation>> {
    if relation.language != Language::Native || relation.columns.iter().all(|column| column.ty != Type::Bool) {
        return None;
    }
    let mut numbers = Relation::clone(relation);
    for column in &mut numbers.columns {
        if column.ty == Type::Bool {
            column.ty = Type::Int4;
        }
    }
    Some(Arc::new(numbers))
}

fn printed(schema: &SessionSchema, relation: &Relation, expr: Option<&Expr>, pretty: bool) -> Option<String> {
    print::expression(expr?, &TableNames { schema, relation }, pretty)
}

/// An expression over a table's columns as PostgreSQL shows it; as it was written where that cannot be said.
pub fn expression(schema: &SessionSchema, relation: &Arc<Relation>, text: &str, pretty: bool) -> String {
    if relation.language == Language::Informix {
        return in_postgres(relation, text).unwrap_or_else(|| text.to_owned());
    }
    printed(schema, relation, bound(schema, relation, text).as_ref(), pretty)
        .or_else(|| postgres::policy_expression(text, relation, schema, &Context::default(), pretty))
        .unwrap_or_else(|| text.to_owned())
}

/// An expression of Informix's over a table in PostgreSQL's words, if it has some.
fn in_postgres(relation: &Relation, text: &str) -> Option<String> {
    informix::in_postgres::expression(text, chars(relation))
}

/// The columns of a table that are CHAR or NCHAR of Informix's.
fn chars(relation: &Relation) -> BTreeSet<String> {
    let columns = relation.columns.iter().filter(|column| matches!(column.ty, Type::Char(_) | Type::Nchar(_)));
    columns.map(|column| column.name.clone()).collect()
}

/// The columns that an expression over a table names, in order.
pub fn columns_of(schema: &SessionSchema, relation: &Arc<Relation>, text: &str) -> Vec<usize> {
    let mut columns = BTreeSet::new();
    if let Some(expr) = bound(schema, relation, text) {
        walk::expr(&expr, &mut |part| {
            if let ExprKind::Column(ColumnRef { column: ColumnIndex::At(at), .. }) = &part.kind {
                columns.insert(*at);
            }
            true
        });
    }
    columns.into_iter().collect()
}

/// The users' routines that a condition over a table's columns calls.
pub fn routines_of(schema: &SessionSchema, relation: &Arc<Relation>, text: &str) -> std::collections::BTreeSet<u32> {
    let uses = postgres::policy_uses(text, relation, schema, &Context::default());
    uses.map(|uses| uses.routines).unwrap_or_default()
}

/// The type of an expression over a table's columns.
pub fn type_of(schema: &SessionSchema, relation: &Arc<Relation>, text: &str) -> Option<Type> {
    bound(schema, relation, text).map(|expr| expr.ty)
}

/// True for an expression over a table's columns that is a call.
pub fn is_call_of(schema: &SessionSchema, relation: &Arc<Relation>, text: &str) -> bool {
    bound(schema, relation, text).as_ref().is_some_and(print::looks_called)
}

/// What a column's default or its computation is, as PostgreSQL shows it without pretty printing.
pub fn default_expression(schema: &SessionSchema, relation: &Arc<Relation>, at: usize) -> Option<String> {
    let column = &relation.columns[at];
    if let Some(generated) = &column.generated {
        return Some(expression(schema, relation, &generated.text, false));
    }
    let default = column.default.as_ref().filter(|_| column.identity.is_none())?;
    // Whatever the sequence is called today, and in which schema.
    let sequence = default.next_of.as_ref().and_then(|name| schema.sequence(name));
    if let Some(shown) = sequence.and_then(|sequence| object_name(schema, Reg::Class, sequence.oid)) {
        return Some(format!("nextval('{}'::regclass)", shown.replace('\'', "''")));
    }
    if relation.language == Language::Informix {
        return Some(default_of_informix(schema, relation, &default.text, &column.ty));
    }
    let bound = bound_default(schema, relation, &default.text, &column.ty);
    Some(printed(schema, relation, bound.as_ref(), false).unwrap_or_else(|| default.text.clone()))
}

/// A column's default, bound; where others have made the table that of a boolean may be a number.
fn bound_default(schema: &SessionSchema, relation: &Relation, text: &str, ty: &Type) -> Option<Expr> {
    let bind = |ty: &Type| postgres::bind_default(text, ty, schema, &Context::default()).ok();
    bind(ty).or_else(|| {
        let is_number = relation.language == Language::Native && *ty == Type::Bool;
        match bind(&Type::Int4).filter(|_| is_number)?.kind {
            ExprKind::Literal(Value::Integer(number)) => {
                Some(Expr::new(ExprKind::Literal(Value::Integer(i64::from(number != 0))), Type::Bool))
            }
            _ => None,
        }
    })
}

/// A default of Informix's: a constant as it is stored, what else means the same in PostgreSQL's words, the rest as written.
fn default_of_informix(schema: &SessionSchema, relation: &Arc<Relation>, text: &str, ty: &Type) -> String {
    let context = informix::Context::default();
    let constant = informix::in_postgres::is_constant(text)
        .then(|| informix::expression(text, schema, &context, relation, Some(ty)).ok())
        .flatten()
        .filter(|expr| matches!(expr.kind, ExprKind::Literal(_)));
    let constant = constant.map(|expr| Expr { ty: postgres::types::import(ty), ..expr });
    printed(schema, relation, constant.as_ref(), false)
        .or_else(|| in_postgres(relation, text))
        .unwrap_or_else(|| text.to_owned())
}

/// A domain's default, as PostgreSQL shows it.
pub fn domain_default(schema: &SessionSchema, domain: &Domain) -> Option<String> {
    let text = domain.default.as_ref()?;
    let bound = postgres::bind_default(text, &domain.base, schema, &Context::default()).ok();
    let printed = bound.and_then(|value| print::expression(&value, &ValueName(schema), false));
    Some(printed.unwrap_or_else(|| text.clone()))
}

/// A key of an index: a column's name, or an expression in parentheses.
pub fn index_key(schema: &SessionSchema, relation: &Arc<Relation>, index: &Index, at: usize, pretty: bool) -> String {
    let Some(None) = index.columns.get(at).copied() else {
        let column = index.columns.get(at).copied().flatten();
        return column.map_or_else(String::new, |column| quote_ident(&relation.columns[column].name));
    };
    let text = index.keys.get(at).map_or("", |key| key.text.trim());
    let translated = (relation.language == Language::Informix).then(|| in_postgres(relation, text)).flatten();
    if let Some(shown) = translated {
        return format!("({shown})");
    }
    match bound(schema, relation, text) {
        Some(expr) => key_text(schema, relation, &expr, text, pretty),
        None if text.starts_with('(') && text.ends_with(')') => text.to_owned(),
        None => format!("({text})"),
    }
}

/// An expression as a key of an index shows it: a call of a function stands bare. `text` is how it was written.
pub fn key_text(schema: &SessionSchema, relation: &Arc<Relation>, expr: &Expr, text: &str, pretty: bool) -> String {
    let shown = printed(schema, relation, Some(expr), pretty)
        .or_else(|| postgres::policy_expression(text, relation, schema, &Context::default(), pretty))
        .unwrap_or_else(|| text.to_owned());
    if print::looks_called(expr) || matches!(expr.kind, ExprKind::Column(_)) { shown } else { format!("({shown})") }
}

/// The keys of an index, bound; `None` where one cannot be understood any more.
pub fn index_exprs(schema: &SessionSchema, relation: &Arc<Relation>, index: &Index) -> Option<Vec<Expr>> {
    let keys = index.columns.iter().zip(&index.keys).map(|(column, key)| match column {
        Some(at) => Some(Expr::column(Text::TABLE, *at, relation.columns[*at].ty.clone())),
        None => bound(schema, relation, key.text.trim()),
    });
    keys.collect()
}

/// What an expression key of an index is called, and its type.
pub fn index_column(schema: &SessionSchema, relation: &Arc<Relation>, index: &Index, at: usize) -> (String, Type) {
    match index.columns.get(at).copied().flatten() {
        Some(column) => (relation.columns[column].name.clone(), relation.columns[column].ty.clone()),
        None => match bound(schema, relation, index.keys.get(at).map_or("", |key| key.text.trim())) {
            Some(expr) => (figured_name(schema, &expr), expr.ty),
            None => ("expr".to_owned(), Type::Text),
        },
    }
}

fn figured_name(schema: &SessionSchema, expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Call { function, args } if function.name == "stored function" => {
            let called = args.first().and_then(|arg| match arg.kind {
                ExprKind::Literal(Value::Integer(oid)) => schema.function_by_oid(u32::try_from(oid).ok()?),
                _ => None,
            });
            called.map_or_else(|| "expr".to_owned(), |function| function.name.clone())
        }
        ExprKind::Call { function, .. } if function.kind != FunctionKind::Operator => function.name.to_owned(),
        ExprKind::Coalesce(_) => "coalesce".to_owned(),
        ExprKind::Greatest(_) => "greatest".to_owned(),
        ExprKind::Least(_) => "least".to_owned(),
        ExprKind::NullIf(..) => "nullif".to_owned(),
        ExprKind::Case { .. } => "case".to_owned(),
        _ => "expr".to_owned(),
    }
}

/// The comment on a constraint or an index.
pub fn part_comment(schema: &SessionSchema, oid: u32) -> Option<String> {
    let relations = schema.relations_with_part(oid);
    let mut comments = relations.flat_map(|relation| comments_of_parts(schema, relation));
    comments.find_map(|(object, _, comment)| (object == oid).then_some(comment))
}

/// Comments on constraints and indexes: the object, its catalog, the text.
pub fn part_comments(schema: &SessionSchema) -> Vec<(u32, u32, String)> {
    schema.user_relations().flat_map(|relation| comments_of_parts(schema, relation)).collect()
}

fn comments_of_parts(schema: &SessionSchema, relation: &Relation) -> Vec<(u32, u32, String)> {
    let Some(details) = schema.details(relation.oid) else { return Vec::new() };
    let comments = details.properties.all().filter_map(|(part, name, comment)| {
        let index = || relation.indexes.iter().find(|index| index.name == part);
        let (oid, catalog) = match name {
            "index_comment" => (index()?.oid, PG_CLASS),
            "constraint_comment" => {
                let check = relation.checks.iter().find(|check| check.name == part).map(|check| check.oid);
                let key = || relation.foreign_keys.iter().find(|key| key.name == part).map(|key| key.oid);
                (check.or_else(key).or_else(|| index().map(constraint_oid))?, PG_CONSTRAINT)
            }
            _ => return None,
        };
        Some((oid, catalog, comment.to_owned()))
    });
    comments.collect()
}

/// The object ids of the catalogs that constraints and indexes stand in.
const PG_CLASS: u32 = 1_259;
const PG_CONSTRAINT: u32 = 2_606;

/// The columns of INCLUDE.
pub fn included(properties: &Properties, index: &str) -> Vec<String> {
    properties.get(index, "index_include").and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default()
}

/// Where NULLs stand in a key of an index.
pub fn nulls_first(properties: &Properties, index: &Index, at: usize) -> bool {
    match properties.get(&index.name, &format!("index_nulls {}", at + 1)) {
        Some(word) => word == "first",
        None => index.keys.get(at).is_some_and(|key| key.descending),
    }
}

/// Storage parameters: what is noted of a part under `option …`, as `name=value`.
pub fn options(properties: &Properties, part: &str, prefix: &str) -> Vec<String> {
    let of_part = properties.all().filter(|(of, _, _)| *of == part);
    let mut found: Vec<(&str, &str)> =
        of_part.filter_map(|(_, name, value)| Some((name.strip_prefix(prefix)?, value))).collect();
    // Those of an index stand as they were given.
    let order = properties.get(part, "index_options").and_then(|list| serde_json::from_str::<Vec<String>>(list).ok());
    if let Some(order) = order.filter(|_| prefix.starts_with("index_")) {
        found.sort_by_key(|(name, _)| order.iter().position(|known| known == name).unwrap_or(order.len()));
    }
    found.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// CREATE INDEX of an index, or one of its keys when `column` is above 0.
pub fn index(schema: &SessionSchema, oid: u32, column: i32, pretty: bool) -> Option<String> {
    if let Some(text) = super::system_indexes::definition(oid, column, pretty) {
        return Some(text);
    }
    let (relation, at) = schema.index_by_oid(oid)?;
    let index = &relation.indexes[at];
    if let Ok(column @ 1..) = usize::try_from(column) {
        if column <= index.keys.len() {
            return Some(index_key(schema, relation, index, column - 1, pretty));
        }
        let properties = schema.details(relation.oid).map(|details| &details.properties)?;
        let included = included(properties, &index.name);
        return Some(included.get(column - index.keys.len() - 1).map_or_else(String::new, |name| quote_ident(name)));
    }
    Some(create_index(schema, relation, index, pretty))
}

/// A key with its collation, its operator class and its order.
fn ordered_key(
    schema: &SessionSchema,
    relation: &Arc<Relation>,
    properties: &Properties,
    index: &Index,
    at: usize,
    pretty: bool,
) -> String {
    let mut key = index_key(schema, relation, index, at, pretty);
    for word in ["index_collation", "index_opclass"] {
        let Some(given) = properties.get(&index.name, &format!("{word} {}", at + 1)) else { continue };
        if word == "index_opclass" {
            key.push_str(&format!(" {}", quote_ident(given)));
        } else if let Some(collation) = Collation::of_property(given, schema) {
            key.push_str(&format!(" COLLATE {}", collation.shown_in(schema)));
        }
    }
    if let Some(length) = properties.get(&index.name, &format!("index_signature {}", at + 1)) {
        key.push_str(&format!(" (siglen='{length}')"));
    }
    if let Some(options) = properties.get(&index.name, &format!("index_summary {}", at + 1)) {
        key.push_str(&format!(" ({options})"));
    }
    key.push_str(match (index.keys[at].descending, nulls_first(properties, index, at)) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    });
    key
}

/// Whether a key of an index is descending, and whether its NULLs stand first; nothing for a column that is only
/// included.
pub fn index_order(schema: &SessionSchema, oid: u32, column: i32) -> Option<(bool, bool)> {
    if super::system_indexes::definition(oid, column, false).is_some() {
        return Some((false, false));
    }
    let at = usize::try_from(column).ok()?.checked_sub(1)?;
    let (relation, place) = schema.index_by_oid(oid)?;
    let index = &relation.indexes[place];
    let key = index.keys.get(at)?;
    let properties = schema.details(relation.oid).map(|details| &details.properties)?;
    Some((key.descending, nulls_first(properties, index, at)))
}

/// CREATE INDEX of an index.
pub fn create_index(schema: &SessionSchema, relation: &Arc<Relation>, index: &Index, pretty: bool) -> String {
    let none = Properties::default();
    let properties = schema.details(relation.oid).map_or(&none, |details| &details.properties);
    let fact = |name: String| properties.get(&index.name, &name);
    let keys: Vec<String> =
        (0..index.keys.len()).map(|at| ordered_key(schema, relation, properties, index, at, pretty)).collect();
    let unique = if index.is_key() { "UNIQUE " } else { "" };
    let method = fact("index_method".to_owned()).unwrap_or("btree");
    let mut text = format!(
        "CREATE {unique}INDEX {} ON {}{} USING {method} ({})",
        quote_ident(&index.name),
        if relation.is_partitioned() { "ONLY " } else { "" },
        qualified(&relation.namespace, &relation.name),
        keys.join(", ")
    );
    text.push_str(&include_clause(properties, &index.name));
    text.push_str(if index.nulls_alike { " NULLS NOT DISTINCT" } else { "" });
    let options = options(properties, &index.name, "index_option ");
    if !options.is_empty() {
        let quoted: Vec<String> = options
            .iter()
            .filter_map(|option| option.split_once('='))
            .map(|(name, value)| {
                let plain = quote_ident(value) == value;
                if plain { format!("{name}={value}") } else { format!("{name}='{}'", value.replace('\'', "''")) }
            })
            .collect();
        text.push_str(&format!(" WITH ({})", quoted.join(", ")));
    }
    if let Some(predicate) = &index.predicate {
        let printed = printed(schema, relation, bound(schema, relation, predicate).as_ref(), pretty);
        text.push_str(&format!(" WHERE {}", printed.unwrap_or_else(|| format!("({predicate})"))));
    }
    text
}

fn include_clause(properties: &Properties, index: &str) -> String {
    let included = included(properties, index);
    if included.is_empty() {
        return String::new();
    }
    let names: Vec<String> = included.iter().map(|name| quote_ident(name)).collect();
    format!(" INCLUDE ({})", names.join(", "))
}

/// A constraint's definition.
pub fn constraint(schema: &SessionSchema, oid: u32, pretty: bool) -> Option<String> {
    let fixed = super::system_indexes::constraint_definition(oid);
    if let Some(text) = fixed.or_else(|| super::standard_types::check_definition(oid, pretty)) {
        return Some(text);
    }
    let of_domain = || {
        let types = schema.user_types();
        let mut domains = types.iter().filter_map(|ty| ty.domain());
        domains.find_map(|domain| {
            let check = domain.checks.iter().find(|check| check.oid == oid)?;
            let not_valid = if check.valid { "" } else { " NOT VALID" };
            Some(format!("CHECK ({}){not_valid}", domain_check(schema, &domain.base, &check.text, pretty)))
        })
    };
    let of_relation = schema.relations_with_part(oid).find_map(|relation| {
        let unique = relation.indexes.iter().find(|index| index.constraint && constraint_oid(index) == oid);
        let check = || {
            let check = relation.checks.iter().find(|check| check.oid == oid)?;
            Some(check_constraint(schema, relation, check, pretty))
        };
        let key = || relation.foreign_keys.iter().find_map(|key| key_at(schema, relation, key, oid));
        unique
            .map(|index| match &index.exclusion {
                Some(exclusion) => exclusion_constraint(schema, relation, index, exclusion, pretty),
                None => unique_constraint(schema, relation, index),
            })
            .or_else(check)
            .or_else(key)
    });
    of_relation.or_else(of_domain)
}

/// The name of the value in the checks of a domain; those of objects as everywhere.
struct ValueName<'a>(&'a SessionSchema);

impl print::Names for ValueName<'_> {
    fn column(&self, _: ColumnRef) -> Option<String> {
        Some("VALUE".to_owned())
    }

    fn is_value(&self) -> bool {
        true
    }

    fn type_words(&self, ty: &Type) -> String {
        postgres::regtype::words_in(self.0, ty)
    }

    fn collation(&self, collation: &Collation) -> String {
        collation.shown_in(self.0)
    }

    fn object(&self, reg: Reg, oid: u32) -> Option<String> {
        object_name(self.0, reg, oid)
    }
}

/// A domain's check as PostgreSQL shows it; as it was written where that cannot be said.
pub fn domain_check(schema: &SessionSchema, base: &Type, text: &str, pretty: bool) -> String {
    let bound = postgres::bind_domain_check(text, base, schema, &Context::default()).ok();
    let printed = bound.and_then(|expr| printed_check(schema, &expr, pretty));
    printed.unwrap_or_else(|| if pretty { text.to_owned() } else { format!("({text})") })
}

/// A domain's check that is bound, as PostgreSQL shows it; `None` where that cannot be said.
pub fn printed_check(schema: &SessionSchema, check: &Expr, pretty: bool) -> Option<String> {
    print::expression(check, &ValueName(schema), pretty)
}

/// CHECK (…).
pub fn check_constraint(schema: &SessionSchema, relation: &Arc<Relation>, check: &Check, pretty: bool) -> String {
    let of_informix = relation.language == Language::Informix;
    let translated = of_informix.then(|| in_postgres(relation, &check.text)).flatten();
    let printed = translated
        .or_else(|| printed(schema, relation, bound(schema, relation, &check.text).as_ref(), pretty))
        .or_else(|| postgres::policy_expression(&check.text, relation, schema, &Context::default(), pretty));
    let condition = match printed {
        Some(printed) => printed,
        None if pretty => check.text.clone(),
        None => format!("({})", check.text),
    };
    let no_inherit = if check.no_inherit { " NO INHERIT" } else { "" };
    let not_valid = if check.valid { "" } else { " NOT VALID" };
    format!("CHECK ({condition}){no_inherit}{not_valid}")
}

/// The object id of the constraint behind a constraint's index: another than the index's own.
pub fn constraint_oid(index: &Index) -> u32 {
    crate::schema::metadata::derived_oid("unique", "", &[&index.oid.to_string()])
}

/// PRIMARY KEY (…), UNIQUE (…).
fn unique_constraint(schema: &SessionSchema, relation: &Arc<Relation>, index: &Index) -> String {
    let keys: Vec<String> = (0..index.keys.len()).map(|at| index_key(schema, relation, index, at, false)).collect();
    let include = schema.details(relation.oid).map(|details| include_clause(&details.properties, &index.name));
    let words = match (index.primary, index.nulls_alike) {
        (true, _) => "PRIMARY KEY",
        (false, true) => "UNIQUE NULLS NOT DISTINCT",
        (false, false) => "UNIQUE",
    };
    let deferrable = match index.deferred {
        Some(true) => " DEFERRABLE INITIALLY DEFERRED",
        Some(false) => " DEFERRABLE",
        None => "",
    };
    format!("{words} ({}){}{deferrable}", keys.join(", "), include.unwrap_or_default())
}

/// EXCLUDE USING … (…).
fn exclusion_constraint(
    schema: &SessionSchema,
    relation: &Arc<Relation>,
    index: &Index,
    exclusion: &Exclusion,
    pretty: bool,
) -> String {
    let none = Properties::default();
    let properties = schema.details(relation.oid).map_or(&none, |details| &details.properties);
    let key = |(at, operator): (usize, &String)| {
        format!("{} WITH {operator}", ordered_key(schema, relation, properties, index, at, pretty))
    };
    let keys: Vec<String> = exclusion.operators.iter().enumerate().map(key).collect();
    let method = properties.get(&index.name, "index_method").unwrap_or("btree");
    let mut text = format!("EXCLUDE USING {method} ({}){}", keys.join(", "), include_clause(properties, &index.name));
    if let Some(predicate) = &index.predicate {
        let printed = printed(schema, relation, bound(schema, relation, predicate).as_ref(), pretty);
        text.push_str(&format!(" WHERE ({})", printed.unwrap_or_else(|| predicate.clone())));
    }
    text.push_str(match exclusion.deferred {
        Some(true) => " DEFERRABLE INITIALLY DEFERRED",
        Some(false) => " DEFERRABLE",
        None => "",
    });
    text
}

/// The columns that a foreign key refers to, by position in the table that it refers to.
pub fn target_columns(target: &Relation, key: &ForeignKey) -> Vec<usize> {
    if key.target_columns.is_empty() {
        return target.primary_key().map(|index| index.columns.iter().flatten().copied().collect()).unwrap_or_default();
    }
    key.target_columns.iter().filter_map(|name| target.column(name)).collect()
}

/// A foreign key with an object id, be it one that it has at a partition of the table that it leads to.
fn key_at(schema: &SessionSchema, relation: &Relation, key: &ForeignKey, oid: u32) -> Option<String> {
    if key.oid == oid {
        return Some(foreign_key(schema, relation, key));
    }
    let part = key.parts.iter().find(|part| part.oid == oid)?;
    let partition = schema.relation_by_oid(part.partition)?;
    let target = QualifiedName::new(partition.namespace.clone(), partition.name.clone());
    Some(foreign_key(schema, relation, &ForeignKey { target, ..key.clone() }))
}

/// FOREIGN KEY (…) REFERENCES ….
pub fn foreign_key(schema: &SessionSchema, relation: &Relation, key: &ForeignKey) -> String {
    let columns: Vec<String> = key.columns.iter().map(|&column| quote_ident(&relation.columns[column].name)).collect();
    let target = schema.relation(&key.target);
    let targets: Vec<String> = match &target {
        Some(target) => {
            target_columns(target, key).into_iter().map(|column| quote_ident(&target.columns[column].name)).collect()
        }
        None => key.target_columns.iter().map(|name| quote_ident(name)).collect(),
    };
    let bare = target.as_ref().is_some_and(|target| {
        schema.relation(&QualifiedName::bare(target.name.clone())).is_some_and(|found| found.oid == target.oid)
    });
    let name = quote_ident(&key.target.name);
    let name =
        if bare { name } else { format!("{}.{name}", quote_ident(key.target.schema.as_deref().unwrap_or(PUBLIC))) };
    let mut text = format!("FOREIGN KEY ({}) REFERENCES {name}({})", columns.join(", "), targets.join(", "));
    if key.rules.full {
        text.push_str(" MATCH FULL");
    }
    for (event, action) in [("UPDATE", key.rules.on_update), ("DELETE", key.rules.on_delete)] {
        if action == ReferentialAction::NoAction {
            continue;
        }
        text.push_str(&format!(" ON {event} {}", action.words()));
    }
    if !key.set_columns.is_empty() {
        let names: Vec<String> = key.set_columns.iter().map(|at| quote_ident(&relation.columns[*at].name)).collect();
        text.push_str(&format!(" ({})", names.join(", ")));
    }
    if key.rules.deferrable || key.rules.deferred {
        text.push_str(" DEFERRABLE");
    }
    if key.rules.deferred {
        text.push_str(" INITIALLY DEFERRED");
    }
    if !key.valid {
        text.push_str(" NOT VALID");
    }
    text
}

/// What can be done to a relation by itself.
pub fn updatable(schema: &SessionSchema, relation: &Arc<Relation>) -> postgres::Updatable {
    postgres::updatable(relation, schema, &rowferry_dialect::plan::Context::default())
}

/// A view's query, printed by the settings, with lines up to the column `wrap`; as it is kept where it has no printed form.
pub fn view(schema: &SessionSchema, oid: u32, settings: &Settings, pretty: bool, wrap: i32) -> Option<String> {
    let relation = schema.relation_by_oid(oid)?;
    let context = rowferry_dialect::plan::Context::default();
    if relation.language != Language::Informix
        && let Some(text) = postgres::view_definition(&relation, schema, &context, settings, pretty, wrap)
    {
        return Some(text);
    }
    match &relation.kind {
        RelationKind::View { definition, pins, .. } | RelationKind::MaterializedView { definition, pins, .. } => {
            let named = match relation.language {
                Language::Informix => {
                    let columns: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
                    let table = |name: &str| {
                        let found = schema.relation(&QualifiedName::new(PUBLIC, name))?;
                        let name = object_name(schema, Reg::Class, found.oid)?;
                        Some(informix::in_postgres::Table { name, chars: chars(&found) })
                    };
                    informix::in_postgres::view(definition, &columns, &table)
                }
                language => postgres::with_todays_names((definition, language), pins, schema, &context),
            };
            let text = named.as_deref().unwrap_or(definition);
            Some(format!(" {};", text.trim().trim_end_matches(';')))
        }
        // Somebody else's: what stands behind AS in the stored statement.
        RelationKind::NativeView => schema.details(oid)?.sql.clone(),
        RelationKind::Table | RelationKind::Catalog | RelationKind::Sequence { .. } => None,
    }
}

/// Bytes of a relation, with or without its indexes, of its indexes alone, or of the whole database.
pub fn size(state: &State, connection: Connection<'_>, oid: u32, indexes: Option<bool>) -> Result<i64> {
    let failed = |failure: Failure| crate::backend::errors::translate(&failure, &state.interrupter, None);
    if oid == 0 {
        return size_of_file(connection).map_err(failed);
    }
    let schema = state.schema.read();
    let (relation, only) = match schema.relation_by_oid(oid) {
        Some(relation) => (relation, None),
        None => {
            match schema.index_by_oid(oid) {
                Some((relation, at)) => (relation.clone(), Some(at)),
                // Sequences and whatever else has an entry in `pg_class` but no pages of its own.
                None => return Ok(0),
            }
        }
    };
    let names = schema.details(relation.oid).map(|details| details.index_names.clone()).unwrap_or_default();
    let wanted: Vec<&str> = match (only, indexes) {
        (Some(at), _) => names.get(at).map(String::as_str).into_iter().collect(),
        (None, None) => names.iter().map(String::as_str).collect(),
        (None, Some(true)) => names.iter().map(String::as_str).chain([relation.physical.name.as_str()]).collect(),
        (None, Some(false)) => vec![relation.physical.name.as_str()],
    };
    size_of(connection, wanted.into_iter().filter(|name| !name.is_empty())).map_err(failed)
}
