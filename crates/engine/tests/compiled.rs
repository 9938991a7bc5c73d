//! Statements from PostgreSQL's SQL through the compiler to SQLite, with the answers that PostgreSQL gave.
//!
//! A case file holds statements, each ended by a line `----` and followed by what PostgreSQL 15 answered (`psql -At`
//! with NULL shown, errors as `ERROR <SQLSTATE>`) up to an empty line. No engine, no server: what fails here is the front end, the
//! lowering or a function.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use rowferry_dialect::ir::{ConstraintKind, CreateTable, Ddl, Statement};
use rowferry_dialect::lower::sqlite::{self, types};
use rowferry_dialect::plan::{Bound, Context as Caller};
use rowferry_dialect::postgres;
use rowferry_dialect::schema::{
    Column, ColumnDefault, Index, IndexKey, Physical, QualifiedName, Relation, RelationKind, Sequence,
};
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::{self, Settings, ValueRef, zone};
use rowferry_dialect::{Condition, Error, Language, Result, Schema};
use rowferry_engine::functions::{self, Context, SessionState};
use rusqlite::Connection;
use rusqlite::types::ValueRef as SqliteRef;

#[derive(Default)]
struct Tables(RwLock<Vec<Arc<Relation>>>);

impl Schema for Tables {
    fn generation(&self) -> u64 {
        self.0.read().len() as u64
    }
    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        self.0.read().iter().find(|relation| relation.name == name.name).cloned()
    }
    fn heirs(&self, _: u32) -> Vec<Arc<Relation>> {
        Vec::new()
    }

    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>> {
        self.0.read().iter().find(|relation| relation.oid == oid).cloned()
    }
    fn has_namespace(&self, name: &str) -> bool {
        name == "public"
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
    fn sequence(&self, _: &QualifiedName) -> Option<Arc<Sequence>> {
        None
    }
    fn index(&self, _: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        None
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

struct Tester(Arc<Tables>);

impl SessionState for Tester {
    fn schema(&self) -> Arc<dyn Schema> {
        Arc::clone(&self.0) as Arc<dyn Schema>
    }
    fn language(&self) -> Language {
        Language::Postgres
    }
    fn user(&self) -> String {
        "postgres".to_owned()
    }
    fn database(&self) -> String {
        "postgres".to_owned()
    }
    fn pid(&self) -> i32 {
        1
    }
    fn search_path(&self, _: bool) -> Vec<String> {
        vec!["public".to_owned()]
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    fn set_variable(&self, name: &str, _: Option<&str>, _: bool) -> Result<()> {
        Err(Error::unsupported(name))
    }
    fn nextval(&self, _: u32) -> Result<i64> {
        Err(Error::unsupported("a sequence"))
    }
    fn currval(&self, _: u32) -> Result<i64> {
        Err(Error::unsupported("a sequence"))
    }
    fn setval(&self, _: u32, _: i64, _: bool) -> Result<i64> {
        Err(Error::unsupported("a sequence"))
    }
    fn lastval(&self) -> Result<i64> {
        Err(Error::unsupported("a sequence"))
    }
    fn sleep(&self, _: Duration) -> Result<()> {
        Ok(())
    }
    fn search_object(&self, _: u32) -> Option<Arc<rowferry_dialect::text_search::SearchObject>> {
        None
    }
    fn object_oid(&self, _: Reg, name: &str) -> Result<u32> {
        Err(Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")))
    }
}

struct Database {
    connection: Connection,
    tables: Arc<Tables>,
    settings: Settings,
}

impl Database {
    fn new() -> Self {
        let tables = Arc::new(Tables::default());
        let context = Arc::new(Context::new(Arc::new(Tester(Arc::clone(&tables)))));
        // 2024-05-06 12:30:00 UTC; what depends on it is not among the cases.
        let now = 1_714_998_600_000_000;
        let settings =
            Settings { time_zone: zone::find("Europe/Vienna").unwrap(), now: Some(now), ..Settings::default() };
        context.set_settings(&Arc::new(settings.clone()));
        context.set_times(now, now);
        let connection = Connection::open_in_memory().unwrap();
        functions::register(&connection, &context).unwrap();
        Self { connection, tables, settings }
    }

    /// Runs a statement; rows as `psql -At` prints them.
    fn run(&self, sql: &str) -> Result<String> {
        let caller = Caller {
            user: "postgres".to_owned(),
            database: "postgres".to_owned(),
            literals: self.settings.literal_style(),
            asks_policies: true,
            ..Caller::default()
        };
        let mut out = String::new();
        for parsed in postgres::parse(sql)? {
            let bound = postgres::bind(&parsed, &*self.tables, &caller, &[])?;
            match &bound.statement {
                Statement::Ddl(ddl) => match &**ddl {
                    Ddl::CreateTable(table) => self.create(table),
                    other => return Err(Error::unsupported(format!("{other:?}"))),
                },
                _ => self.query(&bound, &mut out)?,
            }
        }
        Ok(out)
    }

    fn query(&self, bound: &Bound, out: &mut String) -> Result<()> {
        let program = sqlite::lower(bound)?;
        let failed = |error: rusqlite::Error| {
            functions::take_error().unwrap_or_else(|| {
                let message = error.to_string();
                let condition = match message.split_once(" constraint failed") {
                    Some(("NOT NULL", _)) => Condition::NotNullViolation,
                    Some(("UNIQUE", _)) => Condition::UniqueViolation,
                    _ => Condition::InternalError,
                };
                Error::new(condition, format!("{message}\n{}", program.sql))
            })
        };
        let mut statement = self.connection.prepare(&program.sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            for (at, column) in bound.columns.iter().enumerate() {
                if at > 0 {
                    out.push('|');
                }
                let value = match row.get_ref(at).map_err(failed)? {
                    SqliteRef::Null => ValueRef::Null,
                    SqliteRef::Integer(value) => ValueRef::Integer(value),
                    SqliteRef::Real(value) => ValueRef::Real(value),
                    SqliteRef::Text(bytes) => ValueRef::Text(bytes),
                    SqliteRef::Blob(bytes) => ValueRef::Blob(bytes),
                };
                let mut text = Vec::new();
                match value {
                    ValueRef::Null => text.extend_from_slice(b"NULL"),
                    value => values::write(&mut text, value, &column.ty, &self.settings)?,
                }
                out.push_str(&String::from_utf8(text).unwrap());
            }
            out.push('\n');
        }
        Ok(())
    }

    fn create(&self, table: &CreateTable) {
        let single_key = table.constraints.iter().find_map(|constraint| match &constraint.kind {
            ConstraintKind::PrimaryKey(columns) => <[usize; 1]>::try_from(columns.clone()).ok().map(|[only]| only),
            _ => None,
        });
        let rowid = single_key.filter(|at| table.columns[*at].ty.is_integer());
        let mut words: Vec<String> = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            let mut word = format!("{} {}", sqlite::quote(&column.name), types::words(&column.ty, Language::Postgres));
            if rowid == Some(at) {
                word = format!("{} INTEGER PRIMARY KEY", sqlite::quote(&column.name));
            }
            if let Some(collation) = types::collation(&column.ty) {
                let _ = write!(word, " COLLATE {collation}");
            }
            if column.not_null {
                word.push_str(" NOT NULL");
            }
            words.push(word);
        }
        let mut indexes = Vec::new();
        for constraint in &table.constraints {
            let (columns, primary) = match &constraint.kind {
                ConstraintKind::PrimaryKey(columns) => (columns, true),
                ConstraintKind::Unique(columns) => (columns, false),
                _ => continue,
            };
            let names: Vec<String> = columns.iter().map(|at| sqlite::quote(&table.columns[*at].name)).collect();
            if !(primary && rowid.is_some()) {
                words.push(format!("UNIQUE ({})", names.join(", ")));
            }
            indexes.push(Index {
                oid: 0,
                name: constraint.name.clone(),
                columns: columns.iter().copied().map(Some).collect(),
                keys: names.into_iter().map(|text| IndexKey { text, descending: false }).collect(),
                unique: true,
                primary,
                constraint: true,
                predicate: None,
                deferred: None,
                nulls_alike: false,
                twin: false,
                fulltext: false,
                exclusion: None,
            });
        }
        self.connection
            .execute_batch(&format!("CREATE TABLE {} ({})", sqlite::quote(&table.name.name), words.join(", ")))
            .unwrap();
        let columns = table.columns.iter().enumerate().map(|(at, column)| Column {
            name: column.name.clone(),
            ty: column.ty.clone(),
            not_null: column.not_null,
            default: column.default.as_ref().map(|text| ColumnDefault {
                text: text.text.clone(),
                native: false,
                next_of: None,
            }),
            identity: None,
            generated: None,
            row_identity: rowid == Some(at),
            collation: None,
        });
        let relation = Relation {
            oid: 16_384 + self.tables.0.read().len() as u32,
            namespace: "public".to_owned(),
            name: table.name.name.clone(),
            physical: Physical::shared(table.name.name.clone()),
            language: Language::Postgres,
            kind: RelationKind::Table,
            columns: columns.collect(),
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
        };
        self.tables.0.write().push(Arc::new(relation));
    }
}

/// Statements with their answers.
fn cases(text: &str) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    let (mut sql, mut answer, mut in_answer) = (String::new(), String::new(), false);
    for line in text.lines().chain([""]) {
        match (in_answer, line) {
            (false, "----") => in_answer = true,
            (false, "") if sql.is_empty() => {}
            (false, line) if sql.is_empty() && line.starts_with("--") => {}
            (false, line) => {
                sql.push_str(line);
                sql.push('\n');
            }
            (true, "") => {
                cases.push((std::mem::take(&mut sql), std::mem::take(&mut answer)));
                in_answer = false;
            }
            (true, line) => {
                answer.push_str(line);
                answer.push('\n');
            }
        }
    }
    assert!(sql.is_empty(), "a statement without its answer: {sql}");
    cases
}

#[test]
fn answers_are_those_of_postgres() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = String::new();
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let database = Database::new();
        for (sql, expected) in cases(&text) {
            count += 1;
            let answer = match database.run(&sql) {
                Ok(rows) => rows,
                Err(error) => format!("ERROR {}\n", error.condition().sqlstate()),
            };
            if answer != expected {
                let detail = database.run(&sql).err().map_or(String::new(), |error| format!("({error})\n"));
                let name = file.file_stem().unwrap().to_string_lossy();
                let _ = write!(wrong, "[{name}] {sql}-- expected\n{expected}-- got\n{answer}{detail}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "of {count} statements these answer otherwise:\n\n{wrong}");
}

#[test]
fn a_look_up_by_key_calls_no_function() {
    let database = Database::new();
    database.run("CREATE TABLE t (id int PRIMARY KEY, price numeric(10,2), name varchar(20), at timestamptz, big numeric(30,5), UNIQUE (price), UNIQUE (name), UNIQUE (at), UNIQUE (big))").unwrap();
    let caller = Caller { user: "postgres".to_owned(), database: "postgres".to_owned(), ..Caller::default() };
    let plan = |sql: &str| {
        let parsed = postgres::parse(sql).unwrap().remove(0);
        let bound = postgres::bind(&parsed, &*database.tables, &caller, &[]).unwrap();
        let program = sqlite::lower(&bound).unwrap();
        let mut statement = database.connection.prepare(&format!("EXPLAIN QUERY PLAN {}", program.sql)).unwrap();
        let steps: Vec<String> = statement
            .query_map(rusqlite::params_from_iter(program.params.iter().map(|_| rusqlite::types::Null)), |row| {
                row.get::<_, String>(3)
            })
            .unwrap_or_else(|error| panic!("{}: {error}", program.sql))
            .map(|step| step.unwrap())
            .collect();
        (program.sql, steps.join("; "))
    };
    for column in ["id", "price", "name", "at", "big"] {
        let (sql, steps) = plan(&format!("SELECT * FROM t WHERE {column} = $1"));
        assert!(!sql.contains("rf_"), "{sql}");
        assert!(steps.contains("SEARCH"), "{sql}: {steps}");
    }
    let (sql, _) = plan("INSERT INTO t VALUES ($1, $2, $3, $4, $5)");
    assert!(!sql.contains("rf_numeric") && !sql.contains("rf_cast"), "{sql}");
    for condition in
        ["id > 5", "price BETWEEN 1.5 AND 2", "name = 'x'", "at >= '2024-01-01'", "id IN (1, 2)", "big < 7"]
    {
        let (sql, steps) = plan(&format!("SELECT id FROM t WHERE {condition}"));
        assert!(steps.contains("SEARCH"), "{sql}: {steps}");
    }
}
