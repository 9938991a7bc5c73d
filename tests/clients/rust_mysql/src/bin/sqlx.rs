//! sqlx: its migrations, rows as structs, values of all types, what it describes, transactions, streams, pools, errors.

use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use futures_util::TryStreamExt;
use rowferry_tours::{Failure, Lines, line, refused, step, url};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions, MySqlRow};
use sqlx::types::{Json, Uuid};
use sqlx::{
    Acquire, Column, Connection, Either, Executor, FromRow, MySqlConnection, QueryBuilder, Row, Statement, TypeInfo,
};

type Found = Result<Lines, Failure>;

#[derive(Debug, FromRow)]
#[expect(dead_code, reason = "Debug reads them")]
struct Person {
    id: u64,
    name: String,
    #[sqlx(default)]
    email: Option<String>,
    born: Option<NaiveDate>,
    balance: Decimal,
    active: bool,
    level: i8,
    doc: Option<Json<Doc>>,
    made: NaiveDateTime,
    seen: Option<DateTime<Utc>>,
    kind: String,
}

#[derive(Debug, Deserialize, Serialize)]
struct Doc {
    a: i32,
    list: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let pool = MySqlPoolOptions::new().max_connections(4).connect(&url()).await?;
    step("migrations", migrations(&pool)).await;
    step("migrations again, undone and broken", migrations_again(&pool)).await;
    step("values", values(&pool)).await;
    step("values in text", in_text(&pool)).await;
    step("structs", structs(&pool)).await;
    step("single values", scalars(&pool)).await;
    step("what it describes", describes(&pool)).await;
    step("counts and numbers of new rows", counts(&pool)).await;
    step("a builder of queries", builder(&pool)).await;
    step("streams and several results", streams(&pool)).await;
    step("transactions", transactions(&pool)).await;
    step("locks", locks(&pool)).await;
    step("pools", pools()).await;
    step("options of a connection", options()).await;
    step("moments and zones", moments(&pool)).await;
    step("identifiers, bytes and large values", large(&pool)).await;
    step("a type that does not fit", misfits(&pool)).await;
    step("many statements that are kept", kept(&pool)).await;
    step("errors", errors(&pool)).await;
    step("a connection that is cancelled", cancelled(&pool)).await;
    pool.close().await;
    Ok(())
}

fn migration(version: i64, name: &'static str, kind: MigrationType, sql: &'static str) -> Migration {
    Migration::new(version, Cow::Borrowed(name), kind, Cow::Borrowed(sql), false)
}

fn migrator(broken: bool) -> Migrator {
    let mut all = vec![
        migration(1, "first", MigrationType::ReversibleUp, "CREATE TABLE people (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, email VARCHAR(80) UNIQUE, born DATE, balance DECIMAL(12, 3) NOT NULL DEFAULT 0, active BOOLEAN NOT NULL DEFAULT TRUE,
            level TINYINT NOT NULL DEFAULT 1, doc JSON, made DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), seen TIMESTAMP NULL, kind ENUM('small', 'large') NOT NULL DEFAULT 'small');
            CREATE TABLE pets (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, owner BIGINT UNSIGNED NOT NULL, name VARCHAR(20) NOT NULL, FOREIGN KEY (owner) REFERENCES people (id) ON DELETE CASCADE);"),
        migration(1, "first", MigrationType::ReversibleDown, "DROP TABLE pets; DROP TABLE people;"),
        migration(2, "second; with 'quotes'", MigrationType::ReversibleUp, "ALTER TABLE pets ADD COLUMN weight DOUBLE, ADD INDEX by_name (name); INSERT INTO people (name) VALUES ('first; \"one\"');"),
        migration(2, "second; with 'quotes'", MigrationType::ReversibleDown, "DELETE FROM people; ALTER TABLE pets DROP COLUMN weight;"),
    ];
    if broken {
        all.push(migration(
            3,
            "broken",
            MigrationType::ReversibleUp,
            "CREATE TABLE halfway (id INT); SELECT * FROM nowhere;",
        ));
    }
    Migrator { migrations: Cow::Owned(all), ..Migrator::DEFAULT }
}

async fn applied(pool: &MySqlPool) -> Result<String, Failure> {
    let rows: Vec<(i64, String, bool, Vec<u8>)> =
        sqlx::query_as("SELECT version, description, success, checksum FROM _sqlx_migrations ORDER BY version")
            .fetch_all(pool)
            .await?;
    Ok(line(
        rows.iter()
            .map(|(version, name, success, checksum)| (version, name, success, checksum.len()))
            .collect::<Vec<_>>(),
    ))
}

async fn tables(pool: &MySqlPool) -> Result<String, Failure> {
    Ok(line(
        sqlx::query_scalar::<_, String>(
            "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
        )
        .fetch_all(pool)
        .await?,
    ))
}

async fn migrations(pool: &MySqlPool) -> Found {
    migrator(false).run(pool).await?;
    Ok(vec![applied(pool).await?, tables(pool).await?])
}

async fn migrations_again(pool: &MySqlPool) -> Found {
    migrator(false).run(pool).await?;
    // Who fails keeps the lock, as long as it is connected.
    let mut other = MySqlConnection::connect(&url()).await?;
    let mut found = vec![
        refused(migrator(true).run_direct(&mut other).await)?,
        applied(pool).await?,
        refused(migrator(true).run_direct(&mut other).await)?,
    ];
    other.close().await?;
    sqlx::raw_sql("DROP TABLE halfway; DELETE FROM _sqlx_migrations WHERE NOT success").execute(pool).await?;
    migrator(false).undo(pool, 0).await?;
    found.extend([applied(pool).await?, tables(pool).await?]);
    let (one, other) =
        tokio::join!(async { migrator(false).run(pool).await }, async { migrator(false).run(pool).await });
    found.extend([line((one.is_ok(), other.is_ok())), applied(pool).await?]);
    sqlx::query("DELETE FROM people").execute(pool).await?;
    sqlx::query("ALTER TABLE people AUTO_INCREMENT = 1").execute(pool).await?;
    Ok(found)
}

async fn values(pool: &MySqlPool) -> Found {
    let done = sqlx::query("INSERT INTO people (name, email, born, balance, active, level, doc, made, seen, kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?), (?, NULL, NULL, 0, FALSE, -128, NULL, '2024-01-01', NULL, DEFAULT)")
        .bind("Ann 🐎").bind("ann@example.com").bind(NaiveDate::from_ymd_opt(1980, 2, 29)).bind(Decimal::new(12345678, 3)).bind(true).bind(127i8)
        .bind(Json(Doc { a: 1, list: vec!["x".into(), "ü\"".into()] })).bind(NaiveDate::from_ymd_opt(2024, 2, 29).and_then(|day| day.and_hms_micro_opt(1, 2, 3, 456789)))
        .bind(DateTime::<Utc>::from_timestamp(1_700_000_000, 0)).bind("large").bind("Bob")
        .execute(pool).await?;
    let mut found = vec![line((done.last_insert_id(), done.rows_affected()))];
    let row = sqlx::query("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ? AS f, ? AS g, ? AS h")
        .bind(-1i64)
        .bind(u64::MAX)
        .bind("it's")
        .bind(1.5f64)
        .bind(vec![0u8, 255])
        .bind(None::<i32>)
        .bind(true)
        .bind(NaiveTime::from_hms_milli_opt(1, 2, 3, 500))
        .fetch_one(pool)
        .await?;
    found.push(line((
        row.try_get::<i64, _>("a")?,
        row.try_get::<u64, _>("b")?,
        row.try_get::<String, _>("c")?,
        row.try_get::<f64, _>("d")?,
        row.try_get::<Vec<u8>, _>("e")?,
        row.try_get::<Option<i32>, _>("f")?,
    )));
    found.push(types(&row));
    Ok(found)
}

fn types(row: &MySqlRow) -> String {
    line(
        row.columns()
            .iter()
            .map(|column| format!("{} {}", column.name(), column.type_info().name()))
            .collect::<Vec<_>>(),
    )
}

async fn in_text(pool: &MySqlPool) -> Found {
    let mut found = Vec::new();
    let mut results = pool.fetch_many(sqlx::raw_sql("SELECT id, name, born, balance, active, level, doc, made, seen, kind FROM people ORDER BY id; UPDATE people SET level = 3 WHERE level < 0; SELECT 1 AS one, NULL AS nothing, 'x' AS x, 1.5 AS d, NOW() > '2020-01-01' AS later"));
    while let Some(result) = results.try_next().await? {
        match result {
            Either::Left(done) => found.push(line(done.rows_affected())),
            Either::Right(row) => found.push(types(&row)),
        }
    }
    drop(results);
    let all: Vec<Person> = sqlx::raw_sql("SELECT * FROM people ORDER BY id")
        .fetch_all(pool)
        .await?
        .iter()
        .map(Person::from_row)
        .collect::<Result<_, _>>()?;
    found.extend(all.iter().map(line));
    Ok(found)
}

async fn structs(pool: &MySqlPool) -> Found {
    let all: Vec<Person> =
        sqlx::query_as("SELECT * FROM people WHERE id > ? ORDER BY id").bind(0).fetch_all(pool).await?;
    let none: Option<Person> =
        sqlx::query_as("SELECT * FROM people WHERE id = ?").bind(99u64).fetch_optional(pool).await?;
    let missing = sqlx::query_as::<_, Person>("SELECT id, name FROM people LIMIT 1").fetch_one(pool).await;
    let pair: (u64, Option<String>) =
        sqlx::query_as("SELECT p.id, t.name FROM people p LEFT JOIN pets t ON t.owner = p.id ORDER BY p.id LIMIT 1")
            .fetch_one(pool)
            .await?;
    Ok([all.iter().map(line).collect(), vec![line(none.is_none()), refused(missing)?, line(pair)]].concat())
}

async fn scalars(pool: &MySqlPool) -> Found {
    let mut found = vec![
        line(sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM people").fetch_one(pool).await?),
        line(
            sqlx::query_scalar::<_, bool>("SELECT EXISTS (SELECT * FROM people WHERE id = ?)")
                .bind(1)
                .fetch_one(pool)
                .await?,
        ),
        line(sqlx::query_scalar::<_, Option<Decimal>>("SELECT SUM(balance) FROM people").fetch_one(pool).await?),
        line(
            sqlx::query_scalar::<_, Option<Decimal>>("SELECT SUM(level) FROM people WHERE id > ?")
                .bind(99)
                .fetch_one(pool)
                .await?,
        ),
        line(sqlx::query_scalar::<_, u64>("SELECT LAST_INSERT_ID()").fetch_one(pool).await.is_ok()),
        line(sqlx::query_scalar::<_, u64>("SELECT ROW_NUMBER() OVER (ORDER BY id) FROM people").fetch_all(pool).await?),
        line(sqlx::query_scalar::<_, i32>("SELECT YEAR(born) FROM people WHERE id = 1").fetch_one(pool).await.is_ok()),
        line(sqlx::query_scalar::<_, i64>("SELECT MONTH(born) FROM people WHERE id = 1").fetch_one(pool).await?),
        line(sqlx::query_scalar::<_, f64>("SELECT AVG(level + 0e0) FROM people").fetch_one(pool).await?),
        line(
            sqlx::query_scalar::<_, String>("SELECT CONCAT(name, ?, id) FROM people ORDER BY id LIMIT 1")
                .bind("-")
                .fetch_one(pool)
                .await?,
        ),
        line(
            sqlx::query_scalar::<_, String>("SELECT GROUP_CONCAT(name ORDER BY id) FROM people")
                .fetch_one(pool)
                .await?,
        ),
        line(
            sqlx::query_scalar::<_, String>("SELECT CAST(doc->>'$.list[1]' AS CHAR) FROM people WHERE id = 1")
                .fetch_one(pool)
                .await?,
        ),
        line(
            sqlx::query_scalar::<_, serde_json::Value>("SELECT doc->'$.list' FROM people WHERE id = 1")
                .fetch_one(pool)
                .await?,
        ),
        line(
            sqlx::query_scalar::<_, NaiveDate>("SELECT DATE_ADD(born, INTERVAL ? YEAR) FROM people WHERE id = 1")
                .bind(4)
                .fetch_one(pool)
                .await?,
        ),
        line(
            sqlx::query_scalar::<_, NaiveDateTime>("SELECT CAST('2024-02-29 01:02:03' AS DATETIME)")
                .fetch_one(pool)
                .await?,
        ),
        line(sqlx::query_scalar::<_, NaiveDateTime>("SELECT MAX(made) FROM people").fetch_one(pool).await?),
        line(sqlx::query_scalar::<_, NaiveTime>("SELECT TIMEDIFF('12:00:00', '10:30:00')").fetch_one(pool).await?),
        line(sqlx::query_scalar::<_, Vec<u8>>("SELECT UNHEX('00ff')").fetch_one(pool).await?),
        line(sqlx::query_scalar::<_, bool>("SELECT active FROM people WHERE id = 2").fetch_one(pool).await?),
        line(sqlx::query_scalar::<_, String>("SELECT MAX(kind) FROM people").fetch_one(pool).await?),
        line(
            sqlx::query_scalar::<_, String>("SELECT IF(active, 'yes', 'no') FROM people WHERE id = ?")
                .bind(1)
                .fetch_one(pool)
                .await?,
        ),
        line(sqlx::query_scalar::<_, i64>("SELECT COALESCE(NULL, ?)").bind(5i64).fetch_one(pool).await?),
        line(
            sqlx::query_scalar::<_, i64>("SELECT SUM(CASE WHEN level > 5 THEN 1 ELSE 0 END) IS NULL")
                .fetch_one(pool)
                .await
                .is_ok(),
        ),
    ];
    found.push(line(sqlx::query_scalar::<_, u32>("SELECT CRC32('a')").fetch_one(pool).await?));
    Ok(found)
}

async fn describes(pool: &MySqlPool) -> Found {
    let mut found = Vec::new();
    for sql in [
        "SELECT * FROM people WHERE id = ? AND name = ?",
        "SELECT p.*, t.id AS pet, t.name AS called FROM people p LEFT JOIN pets t ON t.owner = p.id",
        "SELECT COUNT(*) AS n, COUNT(*) > 0 AS any_one, MAX(born) AS latest, SUM(balance) AS total, COALESCE(MAX(level), 0) AS level, 1 AS one, ? AS given, NOW() AS now FROM people",
        "SELECT q.id, q.n FROM (SELECT owner AS id, COUNT(*) AS n FROM pets GROUP BY owner) q",
        "SELECT id FROM people UNION SELECT owner FROM pets",
        "INSERT INTO people (name, level) VALUES (?, ?)",
        "SELECT id, level + 1 AS more, level / 2 AS half, -level AS less, NOT active AS idle, kind, active FROM people",
    ] {
        let described = pool.describe(sql).await?;
        let columns: Vec<String> = (0..described.columns().len())
            .map(|at| {
                format!(
                    "{} {} {:?}",
                    described.column(at).name(),
                    described.column(at).type_info().name(),
                    described.nullable(at)
                )
            })
            .collect();
        let parameters = match described.parameters() {
            Some(Either::Right(count)) => count,
            Some(Either::Left(types)) => types.len(),
            None => 0,
        };
        found.push(format!("{parameters} parameters, {}", columns.join(", ")));
    }
    let statement = pool.prepare("SELECT id, name FROM people WHERE id > ?").await?;
    found.push(line(statement.columns().iter().map(|column| column.name().to_owned()).collect::<Vec<_>>()));
    found.push(refused(pool.describe("SELECT * FROM nowhere").await)?);
    Ok(found)
}

async fn counts(pool: &MySqlPool) -> Found {
    let mut found = Vec::new();
    for sql in [
        "INSERT INTO people (name, email) VALUES ('Cid', 'cid@example.com'), ('Dora', 'dora@example.com')",
        "UPDATE people SET level = 9",
        "UPDATE people SET level = 9",
        "INSERT INTO people (name, email) VALUES ('x', 'cid@example.com') ON DUPLICATE KEY UPDATE level = level + 1",
        "INSERT IGNORE INTO people (name, email) VALUES ('x', 'cid@example.com')",
        "DELETE FROM people WHERE name = 'Dora'",
        "REPLACE INTO people (id, name, email) VALUES (3, 'Cid', 'cid@example.com')",
    ] {
        let done = sqlx::query(sql).execute(pool).await?;
        found.push(line((done.last_insert_id(), done.rows_affected())));
    }
    Ok(found)
}

async fn builder(pool: &MySqlPool) -> Found {
    let mut insert = QueryBuilder::new("INSERT INTO pets (owner, name, weight) ");
    insert.push_values(
        (0..200).map(|n| (1 + n % 3, format!("pet {n}"), f64::from(n as u32) / 4.0)),
        |mut row, (owner, name, weight)| {
            row.push_bind(owner).push_bind(name).push_bind(weight);
        },
    );
    let done = insert.build().execute(pool).await?;
    let mut select = QueryBuilder::new("SELECT name FROM pets WHERE id IN (");
    let mut ids = select.separated(", ");
    for id in [1, 7, 200] {
        ids.push_bind(id);
    }
    ids.push_unseparated(") ORDER BY id");
    let names: Vec<String> = select.build_query_scalar().fetch_all(pool).await?;
    Ok(vec![line((done.last_insert_id(), done.rows_affected())), line(names)])
}

async fn streams(pool: &MySqlPool) -> Found {
    let mut rows =
        sqlx::query_as::<_, (u32, String, Option<f64>)>("SELECT id, name, weight FROM pets WHERE id > ? ORDER BY id")
            .bind(10)
            .fetch(pool);
    let mut sum = (0, 0.0);
    while let Some((id, _, weight)) = rows.try_next().await? {
        sum = (sum.0 + id, sum.1 + weight.unwrap_or_default());
    }
    drop(rows);
    let mut few = sqlx::query("SELECT id FROM pets ORDER BY id").fetch(pool);
    let first: Option<u32> = few.try_next().await?.map(|row| row.try_get(0)).transpose()?;
    drop(few);
    sqlx::raw_sql("CREATE PROCEDURE both_of(IN least INT) BEGIN SELECT id FROM pets WHERE id > least ORDER BY id LIMIT 2; SELECT name FROM people ORDER BY id LIMIT 1; END").execute(pool).await?;
    let called = sqlx::query("CALL both_of(?)").bind(5).fetch_all(pool).await?;
    Ok(vec![line(sum), line(first), line(called.iter().map(types).collect::<Vec<_>>())])
}

async fn transactions(pool: &MySqlPool) -> Found {
    let mut found = Vec::new();
    let mut tx = pool.begin().await?;
    sqlx::query("UPDATE people SET name = 'changed'").execute(&mut *tx).await?;
    let mut inner = tx.begin().await?;
    sqlx::query("DELETE FROM people WHERE id = 1").execute(&mut *inner).await?;
    inner.rollback().await?;
    found.push(refused(
        sqlx::query("INSERT INTO people (name, email) VALUES ('x', 'cid@example.com')").execute(&mut *tx).await,
    )?);
    let mut inner = tx.begin().await?;
    sqlx::query("DELETE FROM pets WHERE id = 2").execute(&mut *inner).await?;
    inner.commit().await?;
    found.push(line(
        sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM people WHERE name = 'changed'").fetch_one(&mut *tx).await?,
    ));
    drop(tx);
    found.push(line(
        sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM people WHERE name = 'changed'").fetch_one(pool).await?,
    ));
    let mut conn = pool.acquire().await?;
    let said: Result<(), sqlx::Error> = conn
        .transaction(|tx| {
            Box::pin(async move {
                sqlx::query("UPDATE people SET level = 2 WHERE id = 1").execute(&mut **tx).await?;
                Ok(())
            })
        })
        .await;
    said?;
    let mut tx = pool.begin_with("START TRANSACTION READ ONLY").await?;
    found.push(refused(sqlx::query("DELETE FROM pets").execute(&mut *tx).await)?);
    tx.rollback().await?;
    found.push(line(sqlx::query_scalar::<_, i8>("SELECT level FROM people WHERE id = 1").fetch_one(pool).await?));
    Ok(found)
}

async fn locks(pool: &MySqlPool) -> Found {
    let mut one = pool.begin().await?;
    sqlx::query("SELECT * FROM people WHERE id = 1 FOR UPDATE").fetch_all(&mut *one).await?;
    sqlx::query("UPDATE people SET level = 4 WHERE id = 1").execute(&mut *one).await?;
    let mut other = pool.acquire().await?;
    sqlx::query("SET innodb_lock_wait_timeout = 1").execute(&mut *other).await?;
    let mut found = vec![refused(sqlx::query("UPDATE people SET level = 5 WHERE id = 1").execute(&mut *other).await)?];
    found.push(line(
        sqlx::query_scalar::<_, u64>("SELECT id FROM people WHERE id < 3 ORDER BY id FOR UPDATE SKIP LOCKED")
            .fetch_all(&mut *other)
            .await?,
    ));
    one.commit().await?;
    sqlx::query("SET innodb_lock_wait_timeout = DEFAULT").execute(&mut *other).await?;
    let (first, second): (Option<i64>, Option<i64>) = sqlx::query_as("SELECT GET_LOCK(?, 1), RELEASE_LOCK(?)")
        .bind("tour")
        .bind("tour")
        .fetch_one(&mut *other)
        .await?;
    found.push(line((first, second)));
    Ok(found)
}

async fn pools() -> Found {
    let pool = MySqlPoolOptions::new()
        .max_connections(3)
        .min_connections(1)
        .max_lifetime(Duration::from_millis(50))
        .idle_timeout(Duration::from_millis(20))
        .test_before_acquire(true)
        .after_connect(|conn, _| Box::pin(async move { conn.execute("SET @own = 7").await.map(|_| ()) }))
        .connect(&url())
        .await?;
    let tasks: Vec<_> = (0..40i64)
        .map(|n| {
            let pool = pool.clone();
            tokio::spawn(async move {
                sqlx::query_scalar::<_, i64>("SELECT CAST(? + @own AS SIGNED)").bind(n).fetch_one(&pool).await
            })
        })
        .collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await??;
    }
    tokio::time::sleep(Duration::from_millis(80)).await;
    let own: i64 = sqlx::query_scalar("SELECT CAST(@own AS SIGNED)").fetch_one(&pool).await?;
    pool.close().await;
    Ok(vec![line((sum, own))])
}

async fn options() -> Found {
    let options: MySqlConnectOptions = url().parse()?;
    let mut conn = MySqlConnection::connect_with(
        &options
            .clone()
            .charset("utf8mb4")
            .collation("utf8mb4_unicode_ci")
            .timezone(Some("+02:00".to_owned()))
            .statement_cache_capacity(3),
    )
    .await?;
    let told: (String, String, String, String) =
        sqlx::query_as("SELECT @@collation_connection, @@time_zone, @@sql_mode, @@character_set_results")
            .fetch_one(&mut conn)
            .await?;
    conn.ping().await?;
    conn.close().await?;
    let mut plain = MySqlConnection::connect_with(
        &options.clone().pipes_as_concat(false).no_engine_substitution(false).timezone(None),
    )
    .await?;
    let mode: String = sqlx::query_scalar("SELECT @@sql_mode").fetch_one(&mut plain).await?;
    plain.close().await?;
    let nowhere = MySqlConnection::connect_with(&options.database("nowhere")).await.map(|_| ());
    Ok(vec![line(told), mode, refused(nowhere)?])
}

async fn moments(pool: &MySqlPool) -> Found {
    sqlx::query("CREATE TABLE moments (id INT PRIMARY KEY, at DATETIME(6), instant TIMESTAMP(6) NULL, span TIME(6), day DATE, y YEAR)").execute(pool).await?;
    let instant = DateTime::<Utc>::from_timestamp(1_719_869_415, 123_456_000);
    sqlx::query("INSERT INTO moments VALUES (1, ?, ?, ?, ?, ?)")
        .bind(instant.map(|at| at.naive_utc()))
        .bind(instant)
        .bind(NaiveTime::from_hms_micro_opt(23, 59, 59, 999_999))
        .bind(instant.map(|at| at.date_naive()))
        .bind(2024u16)
        .execute(pool)
        .await?;
    let row: (NaiveDateTime, DateTime<Utc>, NaiveTime, NaiveDate, u16) =
        sqlx::query_as("SELECT at, instant, span, day, y FROM moments").fetch_one(pool).await?;
    let text: (String, String) =
        sqlx::query_as("SELECT CAST(instant AS CHAR), CAST(at AS CHAR) FROM moments").fetch_one(pool).await?;
    let mut conn = pool.acquire().await?;
    sqlx::query("SET time_zone = '-08:00'").execute(&mut *conn).await?;
    let there: (String, i64) =
        sqlx::query_as("SELECT CAST(instant AS CHAR), CAST(UNIX_TIMESTAMP(instant) AS SIGNED) FROM moments")
            .fetch_one(&mut *conn)
            .await?;
    sqlx::query("SET time_zone = '+00:00'").execute(&mut *conn).await?;
    Ok(vec![line(row), line(text), line(there)])
}

async fn large(pool: &MySqlPool) -> Found {
    sqlx::query("CREATE TABLE large (id BINARY(16) PRIMARY KEY, text_id CHAR(36), t LONGTEXT, b LONGBLOB)")
        .execute(pool)
        .await?;
    let id = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    sqlx::query("INSERT INTO large VALUES (?, ?, ?, ?)")
        .bind(id)
        .bind(id.hyphenated())
        .bind("é".repeat(500_000))
        .bind(vec![7u8; 3_000_000])
        .execute(pool)
        .await?;
    let back: (Uuid, sqlx::types::uuid::fmt::Hyphenated, String, Vec<u8>) =
        sqlx::query_as("SELECT id, text_id, t, b FROM large WHERE id = ?").bind(id).fetch_one(pool).await?;
    let sizes: (i64, i64) = sqlx::query_as("SELECT CHAR_LENGTH(t), LENGTH(b) FROM large").fetch_one(pool).await?;
    Ok(vec![line((back.0, back.1, back.2.len(), back.3.len())), line(sizes)])
}

async fn misfits(pool: &MySqlPool) -> Found {
    Ok(vec![
        refused(sqlx::query_scalar::<_, i32>("SELECT name FROM people LIMIT 1").fetch_one(pool).await)?,
        refused(sqlx::query_scalar::<_, i64>("SELECT id FROM people LIMIT 1").fetch_one(pool).await)?,
        refused(sqlx::query_scalar::<_, String>("SELECT email FROM people WHERE id = 2").fetch_one(pool).await)?,
        refused(sqlx::query_scalar::<_, f64>("SELECT balance FROM people LIMIT 1").fetch_one(pool).await)?,
        refused(sqlx::query_scalar::<_, u64>("SELECT COUNT(*) FROM people").fetch_one(pool).await)?,
        refused(sqlx::query_scalar::<_, NaiveDate>("SELECT made FROM people LIMIT 1").fetch_one(pool).await)?,
        refused(sqlx::query("SELECT ?").fetch_one(pool).await)?,
    ])
}

async fn kept(pool: &MySqlPool) -> Found {
    let mut conn = pool.acquire().await?;
    let mut sum = 0;
    for n in 0..150i64 {
        sum += sqlx::query_scalar::<_, i64>(&format!("SELECT CAST(? + {n} AS SIGNED)"))
            .bind(n)
            .fetch_one(&mut *conn)
            .await?;
    }
    let size = conn.cached_statements_size();
    conn.clear_cached_statements().await?;
    Ok(vec![line((sum, size, conn.cached_statements_size()))])
}

async fn errors(pool: &MySqlPool) -> Found {
    sqlx::query("CREATE TABLE strict_one (id INT PRIMARY KEY, n TINYINT UNSIGNED NOT NULL, w VARCHAR(3), CONSTRAINT positive CHECK (n > 0))").execute(pool).await?;
    let mut found = Vec::new();
    for sql in [
        "SELEC 1",
        "SELECT * FROM missing",
        "INSERT INTO people (name, email) VALUES ('x', 'cid@example.com')",
        "INSERT INTO pets (owner, name) VALUES (99, 'x')",
        "INSERT INTO strict_one (id) VALUES (1)",
        "INSERT INTO strict_one VALUES (1, NULL, 'a')",
        "INSERT INTO strict_one VALUES (1, 0, 'a')",
        "INSERT INTO strict_one VALUES (1, 1, 'abcd')",
        "INSERT INTO strict_one VALUES (1, -1, 'a')",
    ] {
        let error = match sqlx::query(sql).execute(pool).await {
            Err(sqlx::Error::Database(error)) => error,
            other => return Err(format!("{other:?}").into()),
        };
        let own = error.downcast_ref::<sqlx::mysql::MySqlDatabaseError>();
        found.push(format!(
            "{:?} {:?} {} {:?} {:?} {:?}",
            own.code(),
            own.number(),
            own.message(),
            error.constraint(),
            error.kind(),
            (error.is_unique_violation(), error.is_foreign_key_violation(), error.is_check_violation())
        ));
    }
    Ok(found)
}

async fn cancelled(pool: &MySqlPool) -> Found {
    let slow = tokio::time::timeout(Duration::from_millis(100), sqlx::query("SELECT SLEEP(0.4)").execute(pool)).await;
    let after: i64 = sqlx::query_scalar("SELECT 5").fetch_one(pool).await?;
    let mut tx = pool.begin().await?;
    let slow_too = tokio::time::timeout(
        Duration::from_millis(100),
        sqlx::query("UPDATE people SET level = 99 WHERE SLEEP(0.4) = 0 AND id = 1").execute(&mut *tx),
    )
    .await;
    drop(tx);
    let kept: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM people WHERE level = 99").fetch_one(pool).await?;
    Ok(vec![line((slow.is_err(), after, slow_too.is_err(), kept))])
}
