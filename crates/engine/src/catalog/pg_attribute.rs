//! `pg_attribute` and `pg_attrdef`: columns and their defaults.

use std::sync::Arc;

use rowferry_dialect::access::Rights;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::{Column, DroppedColumn, Index, Relation};
use rowferry_dialect::{Schema as _, Type, heritage};
use rowferry_facts as facts;

use super::describe::{default_expression, included, index_column, options};
use super::{Cell, Context, NULL, Row, Table, letter, row, text_array};
use crate::schema::metadata::derived_oid;
use crate::schema::{Properties, SessionSchema};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_attribute", attributes).one("attrelid", of_one),
    Table::pg_catalog("pg_attrdef", defaults).one("adrelid", |context, relation| {
        let mut rows = Vec::new();
        defaults_of(context, relation, &mut rows);
        rows
    }),
];

/// The collation of a type, 0 where it has none.
pub fn collation_of(ty: &Type) -> u32 {
    Collation::of_type(ty).map_or(0, |collation| collation.oid)
}

/// A row of `pg_attribute`.
struct Attribute<'a> {
    relation: u32,
    name: &'a str,
    ty: u32,
    number: i64,
    modifier: i32,
    dimensions: bool,
    layout: Layout,
    compression: Cell,
    not_null: bool,
    has_default: bool,
    identity: Cell,
    generated: Cell,
    local: bool,
    times_inherited: usize,
    collation: u32,
    statistics: i64,
    acl: Cell,
    options: Cell,
}

impl<'a> Attribute<'a> {
    /// A column without anything special.
    fn new(relation: u32, name: &'a str, number: i64, ty: &Type) -> Self {
        let shown = types::import(ty);
        Self {
            relation,
            name,
            ty: types::oid(&shown),
            number,
            modifier: types::typmod(&shown),
            dimensions: matches!(shown, Type::Array(_)),
            layout: Layout::of(&shown),
            compression: Cell::Word(""),
            not_null: false,
            has_default: false,
            identity: Cell::Word(""),
            generated: Cell::Word(""),
            local: true,
            times_inherited: 0,
            collation: collation_of(&shown),
            statistics: -1,
            acl: NULL,
            options: NULL,
        }
    }

    /// A column of a relation that is of another type than queries read it as.
    fn of_fact(relation: u32, fact: &'a facts::Column) -> Self {
        let domain = super::standard_types::named(fact.type_name);
        let ty = facts::Type::named(domain.map_or(fact.type_name, |domain| domain.base));
        Self {
            ty: domain.map_or_else(|| ty.map_or(0, |ty| ty.oid), |domain| domain.oid),
            modifier: fact.modifier,
            dimensions: ty.is_some_and(|ty| ty.category == 'A' && ty.storage != 'p'),
            layout: ty.map_or_else(Layout::default, Layout::of_fact),
            not_null: fact.not_null,
            collation: fact.collation,
            ..Self::new(relation, fact.name, i64::from(fact.number), &Type::Text)
        }
    }

    fn row(self) -> Row {
        row![
            self.relation,
            self.name,
            self.ty,
            self.statistics,
            self.layout.length,
            self.number,
            i64::from(self.dimensions),
            -1,
            self.modifier,
            self.layout.by_value,
            letter(self.layout.alignment),
            letter(self.layout.storage),
            self.compression,
            self.not_null,
            self.has_default,
            false,
            self.identity,
            self.generated,
            false,
            self.local,
            self.times_inherited,
            self.collation,
            self.acl,
            self.options,
            NULL,
            NULL,
        ]
    }
}

/// How PostgreSQL would lay values of a type out.
pub struct Layout {
    /// Bytes; -1 for any number.
    pub length: i32,
    /// Passed by value.
    pub by_value: bool,
    /// `c`, `s`, `i` or `d`: 1, 2, 4 or 8 bytes.
    pub alignment: char,
    /// `p`lain, `m`ain, `e`xternal, e`x`tended.
    pub storage: char,
}

impl Default for Layout {
    fn default() -> Self {
        Self { length: -1, by_value: false, alignment: 'i', storage: 'x' }
    }
}

impl Layout {
    fn of_fact(ty: &facts::Type) -> Self {
        Self { length: ty.length, by_value: ty.by_value, alignment: ty.alignment, storage: ty.storage }
    }

    /// That of a type; of a user's, what it is over.
    pub fn of(ty: &Type) -> Self {
        let ty = ty.through_domains();
        if let Some(fact) = facts::Type::by_oid(types::oid(ty)) {
            return Self::of_fact(fact);
        }
        match types::typlen(ty) {
            length @ 1.. => Self { length: length.into(), by_value: length <= 8, alignment: 'i', storage: 'p' },
            _ => Self::default(),
        }
    }
}

/// A column of an index of a catalog.
pub(super) fn index_attribute(index: u32, number: usize, fact: &facts::Column) -> Row {
    let plain = Attribute { number: number as i64, not_null: false, ..Attribute::of_fact(index, fact) };
    // Keys of names end where the names do.
    match facts::Type::named("cstring").filter(|_| fact.type_name == "name") {
        Some(cstring) => Attribute { ty: cstring.oid, layout: Layout::of_fact(cstring), ..plain }.row(),
        None => plain.row(),
    }
}

/// The columns that every table has, by their numbers from -1 down.
const SYSTEM_COLUMNS: [(&str, u32); 6] =
    [("ctid", 27), ("xmin", 28), ("cmin", 29), ("xmax", 28), ("cmax", 29), ("tableoid", 26)];

fn system_columns(relation: u32, rows: &mut Vec<Row>) {
    for (at, (name, ty)) in SYSTEM_COLUMNS.iter().enumerate() {
        let layout = facts::Type::by_oid(*ty).map_or_else(Layout::default, Layout::of_fact);
        let plain = Attribute::new(relation, name, -1 - at as i64, &Type::Int4);
        rows.push(Attribute { ty: *ty, layout, not_null: true, statistics: 0, ..plain }.row());
    }
}

/// The columns of PostgreSQL's catalogs, which are the same everywhere.
pub(super) fn fixed() -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in super::postgres_relations() {
        let facts = facts::Relation::columns(&relation.namespace, &relation.name);
        if facts.is_empty() {
            of_relation(relation, &Properties::default(), |_, _| {}, &mut rows);
        }
        rows.extend(facts.iter().map(|fact| Attribute::of_fact(relation.oid, fact).row()));
        if !super::is_view(relation) {
            system_columns(relation.oid, &mut rows);
        }
    }
    rows.extend(super::system_indexes::attributes());
    rows
}

fn attributes(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = context.schema.rights();
    for relation in context.schema.user_relations() {
        of_user(context.schema, &rights, relation, &mut rows);
    }
    for ty in context.schema.user_types() {
        let Some(composite) = ty.composite() else { continue };
        for (at, field) in composite.fields.iter().enumerate() {
            let dropped = format!("........pg.dropped.{}........", at + 1);
            let name = if field.dropped { &dropped } else { &field.name };
            let mut attribute = Attribute::new(composite.relation, name, at as i64 + 1, &field.ty);
            if let Some(collation) = &field.collation {
                attribute.collation = collation.oid;
            }
            let mut row = attribute.row();
            if field.dropped {
                row[TYPE] = Cell::from(0_i64);
                row[DROPPED] = Cell::from(true);
            }
            rows.push(row);
        }
    }
    for details in context.schema.sequences() {
        let columns = [("last_value", Type::Int8), ("log_cnt", Type::Int8), ("is_called", Type::Bool)];
        for (at, (name, ty)) in columns.iter().enumerate() {
            let plain = Attribute::new(details.sequence.oid, name, at as i64 + 1, ty);
            rows.push(Attribute { not_null: true, ..plain }.row());
        }
        system_columns(details.sequence.oid, &mut rows);
    }
    rows
}

/// The columns of a relation and of its indexes.
fn of_user(schema: &SessionSchema, rights: &Rights, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    let none = Properties::default();
    let properties = schema.details(relation.oid).map_or(&none, |details| &details.properties);
    let complete = |attribute: &mut Attribute<'_>, column: &Column| {
        if relation.heritage.is_some() {
            attribute.local = relation.declares_column(&column.name);
            attribute.times_inherited = heritage::times_inherited(schema, relation, &column.name);
        }
        if let Some(granted) = rights.column_list(relation.oid, &column.name) {
            attribute.acl = super::pg_roles::list(schema, granted);
        }
    };
    of_relation(relation, properties, complete, rows);
    rows.extend(relation.dropped.iter().map(|column| dropped(schema, relation.oid, column)));
    if relation.keeps_rows() {
        system_columns(relation.oid, rows);
    }
    for index in relation.ordinary_indexes() {
        of_index(schema, relation, index, properties, rows);
    }
}

/// The columns of one relation, and those of its indexes, which a look-up passes by.
fn of_one(context: &Context<'_>, relation: &Arc<Relation>) -> Vec<Row> {
    let mut rows = Vec::new();
    of_user(context.schema, &context.schema.rights(), relation, &mut rows);
    rows
}

fn of_index(
    schema: &SessionSchema,
    relation: &Arc<Relation>,
    index: &Index,
    properties: &Properties,
    rows: &mut Vec<Row>,
) {
    let mut names: Vec<String> = Vec::with_capacity(index.keys.len());
    let mut add = |wish: String, ty: &Type, column: Option<usize>| {
        let mut name = wish.clone();
        let mut number = 0;
        while names.contains(&name) {
            number += 1;
            name = format!("{wish}{number}");
        }
        let place = names.len() + 1;
        let mut attribute = Attribute::new(index.oid, &name, place as i64, ty);
        if let Some(word) = column.and_then(|at| properties.get(&relation.columns[at].name, "storage")) {
            attribute.layout.storage = storage_letter(word);
        }
        if let Some(target) = properties.get(&index.name, &format!("index_statistics {place}")) {
            attribute.statistics = target.parse().unwrap_or(-1);
        }
        rows.push(attribute.row());
        names.push(name);
    };
    for at in 0..index.keys.len() {
        let (name, ty) = index_column(schema, relation, index, at);
        add(name, &ty, index.columns[at]);
    }
    for name in included(properties, &index.name) {
        if let Some(column) = relation.column(&name) {
            add(name, &relation.columns[column].ty, Some(column));
        }
    }
}

/// Places of what differs for attributes that are gone.
const TYPE: usize = 2;
const DROPPED: usize = 18;

/// A column that is no more.
fn dropped(schema: &SessionSchema, relation: u32, column: &DroppedColumn) -> Row {
    let name = format!("........pg.dropped.{}........", column.number);
    let ty = types::of_oid(column.ty, schema).unwrap_or(Type::Text);
    let mut attribute = Attribute::new(relation, &name, column.number as i64, &ty);
    attribute.modifier = column.modifier;
    attribute.statistics = 0;
    let mut row = attribute.row();
    row[TYPE] = Cell::from(0_i64);
    row[DROPPED] = Cell::from(true);
    row
}

/// `attstorage` of a word.
fn storage_letter(word: &str) -> char {
    match word {
        "plain" => 'p',
        "main" => 'm',
        "external" => 'e',
        _ => 'x',
    }
}

fn of_relation(
    relation: &Relation,
    properties: &Properties,
    complete: impl Fn(&mut Attribute<'_>, &Column),
    rows: &mut Vec<Row>,
) {
    for (at, column) in relation.columns.iter().enumerate() {
        let mut attribute = Attribute::new(relation.oid, &column.name, relation.number_of(at) as i64, &column.ty);
        let generated = column.generated.is_some();
        if let Some(collation) = &column.collation {
            attribute.collation = collation.oid;
        }
        attribute.not_null = column.not_null;
        attribute.has_default = generated || column.default.is_some() && column.identity.is_none();
        attribute.generated = Cell::Word(if generated { "s" } else { "" });
        attribute.identity = Cell::Word(match &column.identity {
            Some(identity) if identity.always => "a",
            Some(_) => "d",
            None => "",
        });
        if let Some(word) = properties.get(&column.name, "storage") {
            attribute.layout.storage = storage_letter(word);
        }
        if let Some(word) = properties.get(&column.name, "compression") {
            attribute.compression = Cell::from(word.get(..1).unwrap_or_default());
        }
        if let Some(target) = properties.get(&column.name, "statistics") {
            attribute.statistics = target.parse().unwrap_or(-1);
        }
        let options = options(properties, &column.name, "option ");
        if !options.is_empty() {
            attribute.options = Cell::from(text_array(options.iter().map(String::as_str)));
        }
        complete(&mut attribute, column);
        rows.push(attribute.row());
    }
}

/// The object id of a column's default.
pub fn default_oid(relation: &Relation, column: usize) -> u32 {
    let place = relation.number_of(column) - 1;
    derived_oid("default", "", &[&relation.oid.to_string(), &place.to_string()])
}

fn defaults(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        defaults_of(context, relation, &mut rows);
    }
    rows
}

fn defaults_of(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    for at in 0..relation.columns.len() {
        if let Some(text) = default_expression(context.schema, relation, at) {
            rows.push(row![default_oid(relation, at), relation.oid, relation.number_of(at), text]);
        }
    }
}
