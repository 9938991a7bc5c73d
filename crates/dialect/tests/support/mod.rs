//! An in-memory schema for tests of front ends.

use std::sync::Arc;

use rowferry_dialect::schema::{
    Column, ColumnDefault, ForeignKey, Generated, Identity, Index, IndexKey, KeyRules, Physical, QualifiedName,
    Relation, RelationKind, Schema, Sequence,
};
use rowferry_dialect::types::{NumericModifier, Reg};
use rowferry_dialect::{Language, Type};

/// A schema over lists.
pub struct Store {
    relations: Vec<Arc<Relation>>,
    sequences: Vec<Arc<Sequence>>,
}

/// A column without anything special.
fn column(name: &str, ty: Type) -> Column {
    Column {
        name: name.to_owned(),
        ty,
        not_null: false,
        default: None,
        identity: None,
        generated: None,
        row_identity: false,
        collation: None,
    }
}

fn required(name: &str, ty: Type) -> Column {
    Column { not_null: true, ..column(name, ty) }
}

fn unique(oid: u32, name: &str, columns: &[(usize, &str)], primary: bool) -> Index {
    Index {
        oid,
        name: name.to_owned(),
        columns: columns.iter().map(|(position, _)| Some(*position)).collect(),
        keys: columns.iter().map(|(_, name)| IndexKey { text: (*name).to_owned(), descending: false }).collect(),
        unique: true,
        primary,
        constraint: true,
        predicate: None,
        deferred: None,
        nulls_alike: false,
        twin: false,
        fulltext: false,
        exclusion: None,
    }
}

fn table(oid: u32, name: &str, columns: Vec<Column>, indexes: Vec<Index>) -> Relation {
    Relation {
        oid,
        namespace: "public".to_owned(),
        name: name.to_owned(),
        physical: Physical::shared(name),
        language: Language::Postgres,
        kind: RelationKind::Table,
        columns,
        dropped: Vec::new(),
        indexes,
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        without_identity: false,
        triggers: Vec::new(),
        heritage: None,
        partitioning: None,
        security: None,
        rules: Vec::new(),
    }
}

fn catalog(oid: u32, name: &str, columns: &[(&str, Type)]) -> Relation {
    let columns = columns.iter().map(|(name, ty)| column(name, ty.clone())).collect();
    Relation {
        namespace: "pg_catalog".to_owned(),
        kind: RelationKind::Catalog,
        ..table(oid, name, columns, Vec::new())
    }
}

fn array(ty: Type) -> Type {
    Type::Array(Box::new(ty))
}

/// A small store: customers, orders, items, stock, a view, types of every kind, and the catalogs that tools ask.
pub fn store() -> Store {
    let money = Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 }));
    let serial = Identity { always: false, zero_is_next: false, sequence: None };
    let native = |text: &str| Some(ColumnDefault { text: text.to_owned(), native: true, next_of: None });
    let ours = |text: &str| Some(ColumnDefault { text: text.to_owned(), native: false, next_of: None });
    let mut orders = table(
        101,
        "orders",
        vec![
            Column { identity: Some(serial.clone()), row_identity: true, ..required("id", Type::Int4) },
            required("customer_id", Type::Int4),
            Column { default: ours("now()"), ..required("placed_at", Type::TimestampTz(None)) },
            Column { default: native("'new'"), ..required("status", Type::Varchar(Some(20))) },
            column("total", money.clone()),
            column("note", Type::Text),
        ],
        vec![unique(111, "orders_pkey", &[(0, "id")], true)],
    );
    orders.foreign_keys = vec![ForeignKey {
        oid: 121,
        name: "orders_customer_id_fkey".to_owned(),
        columns: vec![1],
        target: QualifiedName::new("public", "customers"),
        target_columns: vec!["id".to_owned()],
        rules: KeyRules::default(),
        valid: true,
        by_engine: false,
        set_columns: Vec::new(),
        parts: Vec::new(),
        disabled: Default::default(),
    }];
    let customers = table(
        100,
        "customers",
        vec![
            Column { identity: Some(serial.clone()), row_identity: true, ..required("id", Type::Int4) },
            required("name", Type::Varchar(Some(60))),
            column("email", Type::Text),
            column("born", Type::Date),
            column("active", Type::Bool),
            column("rating", Type::Float8),
        ],
        vec![
            unique(110, "customers_pkey", &[(0, "id")], true),
            unique(112, "customers_email_key", &[(2, "email")], false),
        ],
    );
    let items = table(
        102,
        "items",
        vec![
            required("order_id", Type::Int4),
            required("line", Type::Int2),
            column("sku", Type::Char(8)),
            column("quantity", Type::Int8),
            column("price", money.clone()),
        ],
        vec![unique(113, "items_pkey", &[(0, "order_id"), (1, "line")], true)],
    );
    let everything = table(
        103,
        "everything",
        vec![
            Column {
                identity: Some(Identity {
                    always: true,
                    zero_is_next: false,
                    sequence: Some(QualifiedName::new("public", "everything_id_seq")),
                }),
                ..required("id", Type::Int8)
            },
            column("b", Type::Bool),
            column("i2", Type::Int2),
            column("i4", Type::Int4),
            column("i8", Type::Int8),
            column("f4", Type::Float4),
            column("f8", Type::Float8),
            column("n", Type::Numeric(None)),
            column("t", Type::Text),
            column("c", Type::Char(3)),
            column("bytes", Type::Bytea),
            column("d", Type::Date),
            column("tm", Type::Time(None)),
            column("ts", Type::Timestamp(None)),
            column("tz", Type::TimestampTz(None)),
            column("iv", Type::Interval(None)),
            column("u", Type::Uuid),
            column("j", Type::Json),
            column("jb", Type::Jsonb),
            column("tags", array(Type::Text)),
            column("numbers", array(Type::Int4)),
            Column {
                generated: Some(Generated { text: "i4 * 2".to_owned(), native: true }),
                ..column("doubled", Type::Int4)
            },
        ],
        vec![unique(114, "everything_pkey", &[(0, "id")], true)],
    );
    let mixed = Relation {
        language: Language::Native,
        ..table(
            104,
            "Mixed",
            vec![column("CustomerId", Type::Int8), column("FullName", Type::Varchar(Some(40)))],
            Vec::new(),
        )
    };
    let view = Relation {
        kind: RelationKind::View {
            definition: "SELECT c.id, c.name, count(o.id) AS orders FROM customers c \
                         LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
                .to_owned(),
            options: Default::default(),
            pins: Default::default(),
        },
        ..table(
            105,
            "busy",
            vec![column("id", Type::Int4), column("name", Type::Varchar(Some(60))), column("orders", Type::Int8)],
            Vec::new(),
        )
    };
    let informix_view = Relation {
        language: Language::Informix,
        kind: RelationKind::View {
            definition: "select id, nvl(note, 'none') from orders where total > 1".to_owned(),
            options: Default::default(),
            pins: Default::default(),
        },
        ..table(106, "noted", vec![column("id", Type::Int4), column("words", Type::Text)], Vec::new())
    };
    let regproc = || Type::Reg(Reg::Proc);
    let catalogs = vec![
        catalog(
            1259,
            "pg_class",
            &[
                ("oid", Type::Oid),
                ("relname", Type::Name),
                ("relnamespace", Type::Oid),
                ("reltype", Type::Oid),
                ("reloftype", Type::Oid),
                ("relowner", Type::Oid),
                ("relam", Type::Oid),
                ("relfilenode", Type::Oid),
                ("reltablespace", Type::Oid),
                ("relpages", Type::Int4),
                ("reltuples", Type::Float4),
                ("reltoastrelid", Type::Oid),
                ("relhasindex", Type::Bool),
                ("relisshared", Type::Bool),
                ("relpersistence", Type::InternalChar),
                ("relkind", Type::InternalChar),
                ("relnatts", Type::Int2),
                ("relchecks", Type::Int2),
                ("relhasrules", Type::Bool),
                ("relhastriggers", Type::Bool),
                ("relrowsecurity", Type::Bool),
                ("relforcerowsecurity", Type::Bool),
                ("relispopulated", Type::Bool),
                ("relreplident", Type::InternalChar),
                ("relispartition", Type::Bool),
                ("reloptions", array(Type::Text)),
                ("relpartbound", Type::Text),
            ],
        ),
        catalog(2615, "pg_namespace", &[("oid", Type::Oid), ("nspname", Type::Name), ("nspowner", Type::Oid)]),
        catalog(
            1249,
            "pg_attribute",
            &[
                ("attrelid", Type::Oid),
                ("attname", Type::Name),
                ("atttypid", Type::Oid),
                ("attlen", Type::Int2),
                ("attnum", Type::Int2),
                ("atttypmod", Type::Int4),
                ("attnotnull", Type::Bool),
                ("atthasdef", Type::Bool),
                ("attidentity", Type::InternalChar),
                ("attgenerated", Type::InternalChar),
                ("attisdropped", Type::Bool),
                ("attcollation", Type::Oid),
                ("attstorage", Type::InternalChar),
                ("attstattarget", Type::Int2),
            ],
        ),
        catalog(
            2604,
            "pg_attrdef",
            &[("oid", Type::Oid), ("adrelid", Type::Oid), ("adnum", Type::Int2), ("adbin", Type::Text)],
        ),
        catalog(
            1247,
            "pg_type",
            &[
                ("oid", Type::Oid),
                ("typname", Type::Name),
                ("typnamespace", Type::Oid),
                ("typlen", Type::Int2),
                ("typtype", Type::InternalChar),
                ("typcategory", Type::InternalChar),
                ("typdelim", Type::InternalChar),
                ("typrelid", Type::Oid),
                ("typelem", Type::Oid),
                ("typarray", Type::Oid),
                ("typinput", regproc()),
                ("typnotnull", Type::Bool),
                ("typbasetype", Type::Oid),
                ("typtypmod", Type::Int4),
                ("typcollation", Type::Oid),
                ("typdefault", Type::Text),
            ],
        ),
        catalog(
            2610,
            "pg_index",
            &[
                ("indexrelid", Type::Oid),
                ("indrelid", Type::Oid),
                ("indnatts", Type::Int2),
                ("indnkeyatts", Type::Int2),
                ("indisunique", Type::Bool),
                ("indnullsnotdistinct", Type::Bool),
                ("indisprimary", Type::Bool),
                ("indisclustered", Type::Bool),
                ("indisvalid", Type::Bool),
                ("indisreplident", Type::Bool),
                ("indkey", array(Type::Int2)),
                ("indclass", array(Type::Oid)),
                ("indoption", array(Type::Int2)),
                ("indexprs", Type::Text),
                ("indpred", Type::Text),
            ],
        ),
        catalog(
            2606,
            "pg_constraint",
            &[
                ("oid", Type::Oid),
                ("conname", Type::Name),
                ("connamespace", Type::Oid),
                ("contype", Type::InternalChar),
                ("condeferrable", Type::Bool),
                ("condeferred", Type::Bool),
                ("convalidated", Type::Bool),
                ("conrelid", Type::Oid),
                ("contypid", Type::Oid),
                ("conindid", Type::Oid),
                ("conparentid", Type::Oid),
                ("confrelid", Type::Oid),
                ("conislocal", Type::Bool),
                ("conkey", array(Type::Int2)),
                ("confkey", array(Type::Int2)),
            ],
        ),
        catalog(
            2609,
            "pg_description",
            &[("objoid", Type::Oid), ("classoid", Type::Oid), ("objsubid", Type::Int4), ("description", Type::Text)],
        ),
        catalog(
            2224,
            "pg_sequence",
            &[
                ("seqrelid", Type::Oid),
                ("seqtypid", Type::Oid),
                ("seqstart", Type::Int8),
                ("seqincrement", Type::Int8),
                ("seqmax", Type::Int8),
                ("seqmin", Type::Int8),
                ("seqcache", Type::Int8),
                ("seqcycle", Type::Bool),
            ],
        ),
        catalog(2601, "pg_am", &[("oid", Type::Oid), ("amname", Type::Name)]),
        catalog(3456, "pg_collation", &[("oid", Type::Oid), ("collname", Type::Name), ("collnamespace", Type::Oid)]),
        catalog(
            1262,
            "pg_database",
            &[
                ("oid", Type::Oid),
                ("datname", Type::Name),
                ("datdba", Type::Oid),
                ("encoding", Type::Int4),
                ("datlocprovider", Type::InternalChar),
                ("datcollate", Type::Text),
                ("datctype", Type::Text),
                ("daticulocale", Type::Text),
                ("datacl", array(Type::Text)),
            ],
        ),
        catalog(
            3501,
            "pg_enum",
            &[("oid", Type::Oid), ("enumtypid", Type::Oid), ("enumsortorder", Type::Float4), ("enumlabel", Type::Name)],
        ),
        catalog(
            3381,
            "pg_statistic_ext",
            &[
                ("oid", Type::Oid),
                ("stxrelid", Type::Oid),
                ("stxname", Type::Name),
                ("stxnamespace", Type::Oid),
                ("stxkind", array(Type::InternalChar)),
                ("stxstattarget", Type::Int4),
            ],
        ),
        catalog(
            2611,
            "pg_inherits",
            &[
                ("inhrelid", Type::Oid),
                ("inhparent", Type::Oid),
                ("inhseqno", Type::Int4),
                ("inhdetachpending", Type::Bool),
            ],
        ),
    ];
    let relations = [customers, orders, items, everything, mixed, view, informix_view]
        .into_iter()
        .chain(catalogs)
        .map(Arc::new)
        .collect();
    let sequence = |oid, name: &str| {
        Arc::new(Sequence { oid, namespace: "public".to_owned(), name: name.to_owned(), ty: Type::Int8 })
    };
    Store { relations, sequences: vec![sequence(201, "everything_id_seq"), sequence(202, "counter")] }
}

impl Schema for Store {
    fn generation(&self) -> u64 {
        1
    }

    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        let in_schema = |relation: &&Arc<Relation>| match &name.schema {
            Some(schema) => relation.namespace == *schema,
            None => true,
        };
        let exact = self.relations.iter().filter(in_schema).find(|relation| relation.name == name.name);
        exact
            .or_else(|| {
                self.relations.iter().filter(in_schema).find(|relation| relation.name.eq_ignore_ascii_case(&name.name))
            })
            .cloned()
    }

    fn heirs(&self, _: u32) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>> {
        self.relations.iter().find(|relation| relation.oid == oid).cloned()
    }

    fn has_namespace(&self, name: &str) -> bool {
        matches!(name, "public" | "pg_catalog" | "information_schema" | "sales")
    }

    fn rights(&self) -> rowferry_dialect::access::Rights {
        rowferry_dialect::access::Rights::default()
    }

    fn may(&self, _: &str, _: rowferry_dialect::access::Privileges) -> bool {
        true
    }
    fn creation_namespace(&self) -> Option<String> {
        Some("public".to_owned())
    }

    fn sequence(&self, name: &QualifiedName) -> Option<Arc<Sequence>> {
        self.sequences
            .iter()
            .find(|sequence| {
                sequence.name == name.name && name.schema.as_deref().is_none_or(|s| s == sequence.namespace)
            })
            .cloned()
    }

    fn index(&self, name: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        self.relations.iter().find_map(|relation| {
            let at = relation.indexes.iter().position(|index| index.name == name.name)?;
            Some((relation.clone(), at))
        })
    }

    fn synonym(&self, _: &QualifiedName) -> Option<QualifiedName> {
        None
    }

    fn sequence_definition(&self, _: &QualifiedName) -> Option<rowferry_dialect::ir::CreateSequence> {
        None
    }

    fn routines(&self, _: &str) -> Vec<Arc<rowferry_dialect::schema::Routine>> {
        Vec::new()
    }

    fn functions(
        &self,
        _: &rowferry_dialect::schema::QualifiedName,
    ) -> Vec<Arc<rowferry_dialect::stored_function::StoredFunction>> {
        Vec::new()
    }

    fn function_by_oid(&self, _: u32) -> Option<Arc<rowferry_dialect::stored_function::StoredFunction>> {
        None
    }

    fn triggered(&self) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn all_routines(&self) -> Vec<Arc<rowferry_dialect::schema::Routine>> {
        Vec::new()
    }

    fn user_type(&self, _: &QualifiedName) -> Option<Arc<rowferry_dialect::user_type::UserType>> {
        None
    }

    fn user_type_by_oid(&self, _: u32) -> Option<Arc<rowferry_dialect::user_type::UserType>> {
        None
    }

    fn extensions(&self) -> &[Arc<rowferry_dialect::extension::Installed>] {
        &[]
    }

    fn collation(
        &self,
        _: &rowferry_dialect::schema::QualifiedName,
    ) -> Option<Arc<rowferry_dialect::collation::Collation>> {
        None
    }

    fn is_in_path(&self, _: &str) -> bool {
        true
    }

    fn user_types(&self) -> Vec<Arc<rowferry_dialect::user_type::UserType>> {
        Vec::new()
    }

    fn named_type(&self, _: &str) -> Option<Arc<rowferry_dialect::schema::NamedType>> {
        None
    }

    fn named_types(&self) -> Vec<Arc<rowferry_dialect::schema::NamedType>> {
        Vec::new()
    }
}
