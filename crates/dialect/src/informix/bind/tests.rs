//! The binder against a small schema.

use std::sync::Arc;

use super::{Context, bind, described};
use crate::informix::{parse, type_from_words, type_words};
use crate::ir;
use crate::plan::Bound;
use crate::schema::{Column, Identity, Physical, QualifiedName, Relation, RelationKind, Sequence};
use crate::{Condition, Error, Language, Schema};

struct List(Vec<Arc<Relation>>);

impl Schema for List {
    fn generation(&self) -> u64 {
        1
    }
    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        self.0
            .iter()
            .find(|table| {
                table.name == name.name && name.schema.as_ref().is_none_or(|schema| *schema == table.namespace)
            })
            .cloned()
    }
    fn heirs(&self, _: u32) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>> {
        self.0.iter().find(|table| table.oid == oid).cloned()
    }
    fn has_namespace(&self, name: &str) -> bool {
        name == "public"
    }
    fn rights(&self) -> crate::access::Rights {
        crate::access::Rights::default()
    }

    fn may(&self, _: &str, _: crate::access::Privileges) -> bool {
        true
    }
    fn creation_namespace(&self) -> Option<String> {
        Some("public".into())
    }
    fn sequence(&self, _name: &QualifiedName) -> Option<Arc<Sequence>> {
        None
    }
    fn index(&self, _name: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        None
    }
    fn synonym(&self, _: &QualifiedName) -> Option<QualifiedName> {
        None
    }
    fn sequence_definition(&self, _: &QualifiedName) -> Option<crate::ir::CreateSequence> {
        None
    }
    fn routines(&self, _: &str) -> Vec<Arc<crate::schema::Routine>> {
        Vec::new()
    }
    fn functions(&self, _: &crate::schema::QualifiedName) -> Vec<Arc<crate::stored_function::StoredFunction>> {
        Vec::new()
    }

    fn function_by_oid(&self, _: u32) -> Option<Arc<crate::stored_function::StoredFunction>> {
        None
    }

    fn triggered(&self) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn all_routines(&self) -> Vec<Arc<crate::schema::Routine>> {
        Vec::new()
    }
    fn user_type(&self, _: &QualifiedName) -> Option<Arc<crate::user_type::UserType>> {
        None
    }

    fn user_type_by_oid(&self, _: u32) -> Option<Arc<crate::user_type::UserType>> {
        None
    }

    fn extensions(&self) -> &[Arc<crate::extension::Installed>] {
        &[]
    }

    fn collation(&self, _: &crate::schema::QualifiedName) -> Option<std::sync::Arc<crate::collation::Collation>> {
        None
    }

    fn is_in_path(&self, _: &str) -> bool {
        true
    }

    fn user_types(&self) -> Vec<Arc<crate::user_type::UserType>> {
        Vec::new()
    }

    fn named_type(&self, _: &str) -> Option<Arc<crate::schema::NamedType>> {
        None
    }
    fn named_types(&self) -> Vec<Arc<crate::schema::NamedType>> {
        Vec::new()
    }
}

fn table(oid: u32, namespace: &str, name: &str, kind: RelationKind, columns: &[(&str, &str)]) -> Arc<Relation> {
    Arc::new(Relation {
        oid,
        namespace: namespace.into(),
        name: name.into(),
        physical: Physical::shared(name),
        language: Language::Informix,
        kind,
        columns: columns
            .iter()
            .map(|(name, words)| Column {
                name: (*name).into(),
                ty: type_from_words(words).unwrap(),
                not_null: words.starts_with("SERIAL"),
                default: None,
                identity: words.starts_with("SERIAL").then_some(Identity {
                    always: false,
                    zero_is_next: true,
                    sequence: None,
                }),
                generated: None,
                row_identity: words.starts_with("SERIAL"),
                collation: None,
            })
            .collect(),
        dropped: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        without_identity: false,
        triggers: Vec::new(),
        heritage: None,
        partitioning: None,
        security: None,
        rules: Vec::new(),
    })
}

fn schema() -> List {
    List(vec![
        table(
            100,
            "public",
            "t",
            RelationKind::Table,
            &[
                ("k", "SERIAL"),
                ("s", "VARCHAR(20)"),
                ("c", "CHAR(5)"),
                ("d", "DATE"),
                ("n", "DECIMAL(10,2)"),
                ("ts", "DATETIME YEAR TO SECOND"),
                ("iv", "INTERVAL DAY TO SECOND"),
                ("b", "BOOLEAN"),
                ("r", "ROW(name varchar(50), age integer)"),
            ],
        ),
        table(
            101,
            "public",
            "v",
            RelationKind::View {
                definition: "select k, s || '!' from t".into(),
                options: Default::default(),
                pins: Default::default(),
            },
            &[("key", "INTEGER"), ("text", "VARCHAR(21)")],
        ),
        table(102, "informix", "systables", RelationKind::Catalog, &[("tabname", "VARCHAR(128)"), ("tabid", "SERIAL")]),
    ])
}

fn bound(sql: &str) -> Result<Bound, Error> {
    let context =
        Context { user: "informix".into(), database: "stores".into(), server: "informix".into(), ..Context::default() };
    let statements = parse(sql)?;
    bind(&statements[0], &schema(), &context, &[])
}

fn columns(sql: &str) -> Vec<String> {
    let bound = bound(sql).unwrap_or_else(|error| panic!("{sql}: {error} at {:?}", error.position));
    bound.columns.iter().map(|column| format!("{} {}", column.name, type_words(&column.ty))).collect()
}

fn params(sql: &str) -> Vec<String> {
    bound(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).params.iter().map(type_words).collect()
}

#[test]
fn columns_have_informix_names_and_types() {
    assert_eq!(columns("select * from t")[0], "k INTEGER");
    assert_eq!(
        columns("select count(*), sum(k), 1, k + 1, max(s) m from t group by k"),
        ["(count(*)) DECIMAL(15,0)", "(sum) BIGINT", "(constant) INTEGER", "(expression) INTEGER", "m VARCHAR(20)"]
    );
    assert_eq!(
        columns("select 'abc', 1.50, k / 2, nvl(s, 'none'), current, today from t"),
        [
            "(constant) CHAR(3)",
            "(constant) DECIMAL(3,2)",
            "(expression) DECIMAL(32)",
            "(expression) VARCHAR(20)",
            "(expression) DATETIME YEAR TO FRACTION(3)",
            "(expression) DATE"
        ]
    );
    assert_eq!(
        columns("select d + 1, d - d, ts - ts, ts + 3 units day, iv * 2, r.age, s[1,3], \"user\" from t u")[..7],
        [
            "(expression) DATE",
            "(expression) INTEGER",
            "(expression) INTERVAL DAY(8) TO SECOND",
            "(expression) DATETIME YEAR TO SECOND",
            "(expression) INTERVAL DAY(9) TO SECOND",
            "age INTEGER",
            "s VARCHAR(3)"
        ]
    );
    assert_eq!(columns("select key, text from v where text like '%!'"), ["key INTEGER", "text VARCHAR(21)"]);
    assert_eq!(columns("select tabname from stores:informix.systables"), ["tabname VARCHAR(128)"]);
}

#[test]
fn parameters_take_the_type_of_their_place() {
    assert_eq!(
        params("insert into t (k, s, d, n) values (?, ?, ?, ?)"),
        ["INTEGER", "VARCHAR(20)", "DATE", "DECIMAL(10,2)"]
    );
    assert_eq!(
        params("update t set s = ?, ts = ? where k = ? and b = ?"),
        ["VARCHAR(20)", "DATETIME YEAR TO SECOND", "INTEGER", "BOOLEAN"]
    );
    assert_eq!(
        params("select first ? ?::int from t where s like ? and d > ?"),
        ["BIGINT", "INTEGER", "LVARCHAR(32739)", "DATE"]
    );
    let error = bound("select ? from t").unwrap_err();
    assert_eq!(error.condition().informix_code(), -201);
}

#[test]
fn inserts_and_updates_describe_their_columns() {
    let names = |sql: &str| described(&bound(sql).unwrap()).into_iter().map(|column| column.name).collect::<Vec<_>>();
    assert_eq!(names("insert into t (s, d) values ('x', today)"), ["s", "d"]);
    assert_eq!(names("update t set n = 1 where k = 2"), ["n"]);
    assert!(names("delete from t").is_empty());
    assert!(described(&bound("insert into t (k) values (0)").unwrap())[0].identity);
}

#[test]
fn errors_have_informix_codes_and_places() {
    for (sql, code, position) in [
        ("select * from nosuch", -206, Some(15)),
        ("select nosuch from t", -217, Some(8)),
        ("insert into t (k, s) values (1)", -236, Some(13)),
        ("select nosuch(1) from t", -674, Some(8)),
        ("select k from t where s = d and k = 'x'", -1213, Some(33)),
        ("insert into t (d) values ('nonsense')", -1218, Some(27)),
        ("select s, count(*) from t", -294, None),
        ("select k from t, t u", -324, Some(8)),
        ("select * from other:informix.systables", -329, None),
        ("drop table nosuch", -206, Some(12)),
        ("select 'notanumber'::int from t", -1213, None),
    ] {
        let error = bound(sql).unwrap_err();
        assert_eq!(error.condition().informix_code(), code, "{sql}: {error}");
        if position.is_some() {
            assert_eq!(error.position, position, "{sql}");
        }
    }
}

#[test]
fn the_old_outer_join_moves_its_conditions() {
    let bound = bound("select a.k from t a, outer t b where a.k = b.k and a.s = 'x'").unwrap();
    let ir::Statement::Query(query) = bound.statement else { panic!() };
    let ir::Body::Select(select) = query.body else { panic!() };
    assert!(matches!(select.from, Some(ir::From::Join { kind: ir::JoinKind::Left, on: Some(_), .. })));
    assert!(matches!(select.filter.unwrap().kind, ir::ExprKind::Compare { .. }));
}

#[test]
fn schema_changes_are_bound() {
    for sql in [
        "create table x (a serial primary key, b int default 3 check (b > 0), c date default today, unique (b))",
        "create temp table x (a int primary key, b int references x(a)) with no log",
        "alter table t add (x int, y char(3)), drop b",
        "alter table t modify (s varchar(30) not null)",
        "create unique index i on t (s, d desc)",
        "create view w (a, b) as select k, s from t",
        "select k, s from t into temp x",
        "rename column t.s to z",
        "drop table if exists nosuch",
        "truncate table t",
        "lock table t in exclusive mode",
    ] {
        bound(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(bound("create table x (a int, a int)").unwrap_err().condition(), Condition::DuplicateColumn);
}

#[test]
fn statements_are_lowered() {
    for sql in [
        "select * from t where k = ? and s = 'x' and c = 'y  ' order by d desc, iv",
        "select count(*), sum(n), avg(k), min(ts), max(s) from t group by s having count(*) > 1",
        "select first 3 skip 2 k, n + 1.5, k / 2, n * k from t where s matches '[a-c]*' and s like ? order by 1",
        "select nvl(s, 'x'), decode(k, 1, 'a', 'b'), case when n > 5 then 1 else 2 end, trim(c), length(s) from t",
        "select current, today, ts - ts, d + 3, extend(ts, year to day), mdy(1, 2, 2026), iv from t where ts > current - 3 units day",
        "select a.k from t a, outer t b where a.k = b.k",
        "select key from v where text in ('a', ?)",
        "select k from t where exists (select 1 from t u where u.k = t.k) and k in (select k from t)",
        "select s from t union select c from t order by 1",
        "select ?::int, 'a'::varchar(3), k::lvarchar, '1.5'::decimal(10,2) from t",
        "insert into t (k, s, c, d, n, ts, iv, b) values (0, ?, ?, today, 1.5, current, ?, 't')",
        "insert into t (s) select c from t",
        "update t set n = n + 1, s = null where k between ? and ?",
        "delete from t where d < today - 30",
        "select sum(n) over (partition by s order by k) from t",
    ] {
        let bound = bound(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        crate::lower::lower(&bound).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}
