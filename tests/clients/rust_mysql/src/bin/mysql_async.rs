//! mysql_async: texts and prepared statements, what columns are, names for places, batches, streams, several statements at
//! once, files sent along, pools, locks, errors.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use futures_util::StreamExt;
use futures_util::stream;
use mysql_async::prelude::*;
use mysql_async::{
    Conn, IsolationLevel, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, Row, TxOpts, Value, params,
};
use rowferry_tours::{Failure, Lines, line, refused, step, url};
use rust_decimal::Decimal;

type Found = Result<Lines, Failure>;

fn opts() -> OptsBuilder {
    OptsBuilder::from_opts(Opts::from_url(&url()).expect("a URL"))
}

fn shown(row: Row) -> String {
    let cell = |value: Value| match value {
        Value::Bytes(bytes) if bytes.len() > 100 => format!("{} bytes", bytes.len()),
        other => format!("{other:?}"),
    };
    row.unwrap().into_iter().map(cell).collect::<Vec<_>>().join(", ")
}

async fn text(conn: &mut Conn, sql: &str) -> Found {
    Ok(conn.query::<Row, _>(sql).await?.into_iter().map(shown).collect())
}

async fn binary(conn: &mut Conn, sql: &str, values: impl Into<mysql_async::Params> + Send) -> Found {
    Ok(conn.exec::<Row, _, _>(sql, values.into()).await?.into_iter().map(shown).collect())
}

fn told(conn: &Conn) -> String {
    format!(
        "last {:?}, changed {}, warnings {}, {:?}",
        conn.last_insert_id(),
        conn.affected_rows(),
        conn.get_warnings(),
        conn.info()
    )
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let pool = Pool::new(opts());
    let mut conn = pool.get_conn().await?;
    step("tables", tables(&mut conn)).await;
    step("values in text", values_in_text(&mut conn)).await;
    step("values of prepared statements", values(&mut conn)).await;
    step("what columns are", columns(&mut conn)).await;
    step("values of Rust", of_rust(&mut conn)).await;
    step("names for places", named(&mut conn)).await;
    step("batches", batches(&mut conn)).await;
    step("counts and numbers of new rows", counts(&mut conn)).await;
    step("several results", several(&mut conn)).await;
    step("routines", routines(&mut conn)).await;
    step("streams", streams(&mut conn)).await;
    step("statements that are kept", kept(&mut conn)).await;
    step("files that are sent along", files()).await;
    step("transactions", transactions(&pool)).await;
    step("locks", locks(&pool)).await;
    step("a pool", pools()).await;
    step("a connection that is reset, and another user", reset(&mut conn)).await;
    step("a query that is killed", killed(&pool)).await;
    step("packets of many megabytes, compressed", packets()).await;
    step("parameters of a session", session()).await;
    step("warnings", warnings(&mut conn)).await;
    step("errors", errors(&mut conn)).await;
    drop(conn);
    pool.disconnect().await?;
    Ok(())
}

async fn tables(conn: &mut Conn) -> Found {
    conn.query_drop(
        "CREATE TABLE kinds (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, flag BOOL NOT NULL DEFAULT 0, small SMALLINT UNSIGNED, medium MEDIUMINT, big BIGINT,
         ubig BIGINT UNSIGNED, exact DECIMAL(20, 5), f FLOAT, d DOUBLE, bits BIT(10), c CHAR(5), vc VARCHAR(50), t TEXT, bin BINARY(4), vb VARBINARY(10), bl BLOB, dt DATE, tm TIME(3),
         dtm DATETIME(6), ts TIMESTAMP NULL, y YEAR, j JSON, e ENUM('small', 'large'), s SET('a', 'b', 'c'))",
    )
    .await?;
    let mut found = vec![told(conn)];
    found.extend(text(conn, "SELECT DATABASE(), @@sql_mode, @@time_zone").await?);
    Ok(found)
}

const ROW: &str = "INSERT INTO kinds (tiny, flag, small, medium, big, ubig, exact, f, d, bits, c, vc, t, bin, vb, bl, dt, tm, dtm, ts, y, j, e, s) VALUES";

async fn values_in_text(conn: &mut Conn) -> Found {
    conn.query_drop(format!(
        "{ROW} (-5, TRUE, 65535, -8388608, -9223372036854775808, 18446744073709551615, 123456789012345.12345, 0.5, 1e300, b'1011111111', 'ab', 'žluť 🐎', 'line\\nline', X'01020304', X'00ff', 'blob',
         '2024-02-29', '-838:59:58.999', '2024-02-29 23:59:59.123456', '2024-05-06 07:08:09', 2024, '{{\"k\": [1, 2.5, null, \"x\"]}}', 'large', 'a,c')"
    ))
    .await?;
    let mut found = vec![told(conn)];
    found.extend(text(conn, "SELECT * FROM kinds").await?);
    found.extend(text(conn, "SELECT 1, -1.50, 1e3, 'x', NULL, TRUE, x'00ff', DATE '2024-01-01', TIME '1:2:3.5', TIMESTAMP '2024-01-01 0:0:0', CAST('[1]' AS JSON)").await?);
    Ok(found)
}

async fn values(conn: &mut Conn) -> Found {
    let row: Vec<Value> = vec![
        Value::Int(-5),
        true.into(),
        65535u16.into(),
        (-8388608i32).into(),
        i64::MIN.into(),
        u64::MAX.into(),
        "123456789012345.12345".into(),
        0.5f32.into(),
        1e300f64.into(),
        vec![2u8, 255].into(),
        "ab".into(),
        "prepared".into(),
        "line\nline".into(),
        vec![1u8, 2, 3, 4].into(),
        vec![0u8, 255].into(),
        b"blob".to_vec().into(),
        NaiveDate::from_ymd_opt(2024, 2, 29).into(),
        Value::Time(true, 33, 22, 59, 58, 999000),
        NaiveDate::from_ymd_opt(2024, 2, 29).and_then(|day| day.and_hms_micro_opt(23, 59, 59, 123456)).into(),
        Value::Date(2024, 5, 6, 7, 8, 9, 0),
        2024.into(),
        r#"{"k": [1, 2.5, null, "x"]}"#.into(),
        "large".into(),
        "a,c".into(),
    ];
    conn.exec_drop(format!("{ROW} ({})", vec!["?"; row.len()].join(", ")), row).await?;
    let mut found = vec![told(conn)];
    conn.exec_drop(format!("{ROW} ({})", ["?"; 24].join(", ")), vec![Value::NULL; 24])
        .await
        .map_err(|error| found.push(error.to_string()))
        .ok();
    conn.exec_drop("INSERT INTO kinds (vc) VALUES (?)", (None::<String>,)).await?;
    found.extend(binary(conn, "SELECT * FROM kinds WHERE id > ?", (0,)).await?);
    found.extend(
        binary(
            conn,
            "SELECT ?, ?, ?, ?, ? + 1, CAST(? AS JSON), DATE_ADD(?, INTERVAL ? DAY)",
            (1, "it's", None::<i32>, 1.5, 2, r#"{"a": 1}"#, NaiveDate::from_ymd_opt(2024, 2, 28), 2),
        )
        .await?,
    );
    found.extend(
        binary(
            conn,
            "SELECT id FROM kinds WHERE ubig = ? AND exact = ? AND dtm < ? AND bin = ? AND flag ORDER BY id LIMIT ?",
            (u64::MAX, "123456789012345.12345", NaiveDate::from_ymd_opt(2025, 1, 1), vec![1u8, 2, 3, 4], 5),
        )
        .await?,
    );
    Ok(found)
}

async fn columns(conn: &mut Conn) -> Found {
    let mut found = Vec::new();
    for sql in [
        "SELECT * FROM kinds",
        "SELECT k.id, l.id, l.vc AS other FROM kinds k LEFT JOIN kinds l ON l.id = k.id + 100",
        "SELECT COUNT(*), COUNT(*) > 0, EXISTS (SELECT 1), LAST_INSERT_ID(), ROW_NUMBER() OVER () FROM kinds",
    ] {
        let statement = conn.prep(sql).await?;
        for column in statement.columns() {
            found.push(format!(
                "{} {:?} {:?} charset {} decimals {} {} {}",
                column.name_str(),
                column.column_type(),
                column.flags()
                    & !mysql_async::consts::ColumnFlags::NUM_FLAG
                    & !mysql_async::consts::ColumnFlags::BINARY_FLAG,
                column.character_set(),
                column.decimals(),
                column.org_name_str(),
                column.table_str()
            ));
        }
    }
    let statement = conn.prep("SELECT * FROM kinds WHERE id = ? AND vc = ?").await?;
    found.push(format!("{} parameters, {} columns", statement.num_params(), statement.num_columns()));
    Ok(found)
}

async fn of_rust(conn: &mut Conn) -> Found {
    type First = (u32, i8, bool, u16, i32, i64, u64, Decimal, f32, f64);
    type Second = (Vec<u8>, String, String, Vec<u8>, NaiveDate, NaiveDateTime, NaiveDateTime, u16, String, String);
    let mut found = Vec::new();
    for id in [1, 2] {
        let first: Option<First> = conn
            .exec_first("SELECT id, tiny, flag, small, medium, big, ubig, exact, f, d FROM kinds WHERE id = ?", (id,))
            .await?;
        let second: Option<Second> =
            conn.exec_first("SELECT bits, c, vc, bl, dt, dtm, ts, y, e, s FROM kinds WHERE id = ?", (id,)).await?;
        found.extend([line(first), line(second)]);
    }
    let none: Option<(Option<i8>, Option<String>, Option<NaiveDate>)> =
        conn.exec_first("SELECT tiny, vc, dt FROM kinds WHERE vc IS NULL LIMIT 1", ()).await?;
    let (count, sum): (u64, Option<Decimal>) =
        conn.query_first("SELECT COUNT(*), SUM(exact) FROM kinds").await?.unwrap_or_default();
    let span: Option<(Duration, NaiveTime)> =
        conn.exec_first("SELECT TIME '10:11:12.500', TIME '23:59:59'", ()).await?;
    found.extend([line(none), line((count, sum)), line(span)]);
    Ok(found)
}

async fn named(conn: &mut Conn) -> Found {
    binary(conn, "SELECT :a + :b, :word, :a", params! { "a" => 1, "b" => 2, "word" => "w" }).await
}

async fn batches(conn: &mut Conn) -> Found {
    conn.query_drop("CREATE TABLE payments (id INT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, amount DECIMAL(10, 2), account VARCHAR(20) UNIQUE)").await?;
    conn.exec_batch("INSERT INTO payments (customer, amount, account) VALUES (:customer, :amount, :account)", (1..=50).map(|n| params! { "customer" => n, "amount" => format!("{n}.25"), "account" => (n % 3 != 0).then(|| format!("acc {n}")) })).await?;
    let mut found = vec![told(conn)];
    let all: Vec<(i32, Decimal, Option<String>)> =
        conn.query("SELECT customer, amount, account FROM payments ORDER BY id LIMIT 4").await?;
    let total =
        conn.query_fold("SELECT amount FROM payments", Decimal::ZERO, |sum, amount: Decimal| sum + amount).await?;
    let mapped: Vec<String> = conn
        .exec_map(
            "SELECT id, account FROM payments WHERE account IS NOT NULL AND id < ?",
            (6,),
            |(id, account): (u32, String)| format!("{id} {account}"),
        )
        .await?;
    found.extend([line(all), line(total), line(mapped)]);
    Ok(found)
}

async fn counts(conn: &mut Conn) -> Found {
    let mut found = Vec::new();
    for sql in [
        "INSERT INTO payments (customer) VALUES (100), (101)",
        "UPDATE payments SET amount = 1 WHERE customer >= 100",
        "UPDATE payments SET amount = 1 WHERE customer >= 100",
        "INSERT INTO payments (customer, account) VALUES (1, 'acc 1') ON DUPLICATE KEY UPDATE amount = amount + 1",
        "INSERT IGNORE INTO payments (customer, account) VALUES (1, 'acc 1')",
        "REPLACE INTO payments (customer, account) VALUES (5, 'acc 2')",
        "DELETE FROM payments WHERE customer > 48",
        "SET @x = 1",
        "SELECT 1",
        "TRUNCATE TABLE payments",
    ] {
        conn.query_drop(sql).await?;
        found.push(told(conn));
    }
    Ok(found)
}

async fn several(conn: &mut Conn) -> Found {
    let mut found = Vec::new();
    let mut result = conn
        .query_iter(
            "SELECT 1; INSERT INTO payments (customer) VALUES (1), (2); SELECT id FROM payments ORDER BY id; DO 0",
        )
        .await?;
    while !result.is_empty() || result.columns().is_some() {
        let rows: Vec<Row> = result.collect().await?;
        found.push(rows.into_iter().map(shown).collect::<Vec<_>>().join(" | "));
        if result.is_empty() {
            break;
        }
    }
    result.drop_result().await?;
    found.push(refused(conn.query_drop("SELECT 1; SELECT * FROM nowhere; SELECT 2").await)?);
    found.extend(text(conn, "SELECT 'goes on'").await?);
    Ok(found)
}

async fn routines(conn: &mut Conn) -> Found {
    conn.query_drop("CREATE PROCEDURE both_of(IN least INT, OUT n INT) BEGIN SELECT id, vc FROM kinds WHERE id >= least ORDER BY id LIMIT 2; SELECT COUNT(*) INTO n FROM kinds; SELECT 'end' AS word; END").await?;
    let mut found = Vec::new();
    let mut result = conn.exec_iter("CALL both_of(?, @n)", (1,)).await?;
    while !result.is_empty() {
        let rows: Vec<Row> = result.collect().await?;
        found.push(rows.into_iter().map(shown).collect::<Vec<_>>().join(" | "));
    }
    result.drop_result().await?;
    found.extend(text(conn, "SELECT @n").await?);
    Ok(found)
}

async fn streams(conn: &mut Conn) -> Found {
    let mut stream = conn.exec_stream::<(u64, String), _, _>("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT CAST(i AS UNSIGNED), REPEAT('x', ?) FROM n", (1000,)).await?;
    let (mut sum, mut letters) = (0, 0);
    while let Some(row) = stream.next().await {
        let (n, pad) = row?;
        (sum, letters) = (sum + n, letters + pad.len());
    }
    drop(stream);
    let found = vec![line((sum, letters))];
    // A result that nobody reads to its end.
    let mut result = conn.query_iter("SELECT id FROM kinds ORDER BY id").await?;
    let first: Option<Row> = result.next().await?;
    let first = first.map(shown);
    result.drop_result().await?;
    Ok([found, vec![line(first)], text(conn, "SELECT 'goes on'").await?].concat())
}

async fn kept(conn: &mut Conn) -> Found {
    conn.query_drop("CREATE TABLE changing (id INT PRIMARY KEY, a INT)").await?;
    conn.query_drop("INSERT INTO changing VALUES (1, 5)").await?;
    let statement = conn.prep("SELECT * FROM changing WHERE id = ?").await?;
    let mut found = Vec::new();
    for _ in 0..3 {
        found.push(line(conn.exec_first::<Row, _, _>(&statement, (1,)).await?.map(shown)));
    }
    conn.query_drop("ALTER TABLE changing ADD COLUMN b VARCHAR(10) DEFAULT 'new', MODIFY a VARCHAR(5)").await?;
    found.push(line(conn.exec_first::<Row, _, _>(&statement, (1,)).await?.map(shown)));
    conn.close(statement).await?;
    for n in 0..60 {
        let twice: Option<i64> = conn.exec_first(format!("SELECT ? + {n}"), (n,)).await?;
        if n % 20 == 0 {
            found.push(line(twice));
        }
    }
    Ok(found)
}

async fn files() -> Found {
    let opts = opts().local_infile_handler(Some(mysql_async::WhiteListFsHandler::new(Vec::<String>::new())));
    let mut conn = Conn::new(opts).await?;
    conn.query_drop("CREATE TABLE loaded (id INT PRIMARY KEY, word VARCHAR(20), n INT)").await?;
    let mut found = Vec::new();
    let lines = [Bytes::from("1,one\n2,\"t,w"), Bytes::from("o\"\n3,\\N\n")];
    conn.set_infile_handler(async move { Ok(stream::iter(lines).map(Ok).boxed()) });
    conn.query_drop("LOAD DATA LOCAL INFILE 'any' INTO TABLE loaded FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' (id, @w) SET word = UPPER(@w), n = id * 10").await?;
    found.push(told(&conn));
    found.extend(text(&mut conn, "SELECT * FROM loaded").await?);
    conn.disconnect().await?;
    Ok(found)
}

async fn transactions(pool: &Pool) -> Found {
    let mut found = Vec::new();
    for level in [
        None,
        Some(IsolationLevel::ReadCommitted),
        Some(IsolationLevel::RepeatableRead),
        Some(IsolationLevel::Serializable),
    ] {
        let mut tx = pool.start_transaction(TxOpts::default().with_isolation_level(level).clone()).await?;
        tx.exec_drop("INSERT INTO payments (customer, account) VALUES (?, ?)", (1, format!("{level:?}"))).await?;
        if level.is_none() { tx.rollback().await? } else { tx.commit().await? }
    }
    let mut tx = pool.start_transaction(TxOpts::default().with_readonly(Some(true)).clone()).await?;
    found.push(refused(tx.query_drop("DELETE FROM payments").await)?);
    drop(tx);
    let mut tx = pool
        .start_transaction(
            TxOpts::default()
                .with_consistent_snapshot(true)
                .with_isolation_level(Some(IsolationLevel::RepeatableRead))
                .clone(),
        )
        .await?;
    let before: Option<u64> = tx.query_first("SELECT COUNT(*) FROM payments").await?;
    let mut other = pool.get_conn().await?;
    other.query_drop("INSERT INTO payments (customer) VALUES (77)").await?;
    let after: Option<u64> = tx.query_first("SELECT COUNT(*) FROM payments").await?;
    tx.commit().await?;
    found.push(line(before == after));
    found.extend(text(&mut other, "SELECT account FROM payments WHERE account IS NOT NULL ORDER BY id").await?);
    Ok(found)
}

async fn locks(pool: &Pool) -> Found {
    let mut one = pool.start_transaction(TxOpts::default()).await?;
    one.query_drop("UPDATE payments SET amount = 5 WHERE customer = 77").await?;
    let mut other = pool.get_conn().await?;
    other.query_drop("SET innodb_lock_wait_timeout = 1").await?;
    let mut found = vec![refused(other.query_drop("UPDATE payments SET amount = 6 WHERE customer = 77").await)?];
    found.push(refused(other.query_drop("SELECT * FROM payments WHERE customer = 77 FOR SHARE NOWAIT").await)?);
    one.commit().await?;
    other.query_drop("UPDATE payments SET amount = amount + 1 WHERE customer = 77").await?;
    found.extend(text(&mut other, "SELECT amount FROM payments WHERE customer = 77").await?);
    found.extend(text(&mut other, "SELECT GET_LOCK('l', 1), GET_LOCK('l', 1), RELEASE_LOCK('l'), IS_FREE_LOCK('l'), RELEASE_ALL_LOCKS(), IS_FREE_LOCK('l')").await?);
    Ok(found)
}

async fn pools() -> Found {
    let limits = PoolOpts::default()
        .with_constraints(PoolConstraints::new(1, 4).ok_or("limits")?)
        .with_inactive_connection_ttl(Duration::from_millis(10));
    let pool = Arc::new(Pool::new(opts().pool_opts(limits)));
    let tasks: Vec<_> = (0..30u64)
        .map(|n| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut conn = pool.get_conn().await?;
                let seen: Option<u64> = conn.exec_first("SELECT CAST(? AS UNSIGNED)", (n,)).await?;
                Ok::<_, mysql_async::Error>(seen)
            })
        })
        .collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await??.unwrap_or_default();
    }
    let mut conn = pool.get_conn().await?;
    let count: Option<u64> =
        conn.exec_first("SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE db = ?", ("store",)).await?;
    drop(conn);
    Arc::into_inner(pool).ok_or("a pool that is shared")?.disconnect().await?;
    Ok(vec![line((sum, count))])
}

async fn reset(conn: &mut Conn) -> Found {
    conn.query_drop("SET @x = 5, SESSION sql_mode = ''").await?;
    conn.query_drop("CREATE TEMPORARY TABLE tmp (id INT)").await?;
    let mut found = text(conn, "SELECT @x, @@sql_mode").await?;
    found.push(line(conn.reset().await?));
    found.extend(text(conn, "SELECT @x, @@sql_mode, DATABASE()").await?);
    found.push(refused(conn.query_drop("SELECT * FROM tmp").await)?);
    conn.change_user(Default::default()).await?;
    found.extend(text(conn, "SELECT DATABASE()").await?);
    conn.query_drop("USE store").await?;
    conn.ping().await?;
    Ok(found)
}

async fn killed(pool: &Pool) -> Found {
    let mut slow = pool.get_conn().await?;
    let number = slow.id();
    let task = tokio::spawn(async move {
        let said = slow.query_drop("UPDATE payments SET amount = SLEEP(20) LIMIT 1").await;
        let after: Result<Option<u32>, _> = slow.query_first("SELECT 1").await;
        (said.map_err(|error| error.to_string()), after.map_err(|error| error.to_string()))
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    let mut conn = pool.get_conn().await?;
    conn.query_drop(format!("KILL QUERY {number}")).await?;
    Ok(vec![line(task.await?), refused(conn.query_drop("KILL 99999999").await)?])
}

async fn packets() -> Found {
    let mut conn =
        Conn::new(opts().compression(mysql_async::Compression::fast()).max_allowed_packet(Some(60 << 20))).await?;
    conn.query_drop("CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB)").await?;
    let big: Vec<u8> = b"0123456789abcdef".repeat(1_100_000);
    conn.exec_drop("INSERT INTO large VALUES (?, ?)", (1, &big)).await?;
    let back: Option<Vec<u8>> = conn.exec_first("SELECT b FROM large WHERE id = ?", (1,)).await?;
    let again: Option<Vec<u8>> = conn.query_first("SELECT b FROM large").await?;
    let mut found = vec![line((back.as_ref() == Some(&big), again.as_ref() == Some(&big)))];
    found.extend(text(&mut conn, "SELECT LENGTH(b), CRC32(b) FROM large").await?);
    conn.disconnect().await?;
    Ok(found)
}

async fn session() -> Found {
    let opts = opts()
        .setup(vec!["SET @setup = 'made'"])
        .init(vec!["SET SESSION time_zone = '+02:00'"])
        .client_found_rows(true)
        .stmt_cache_size(0)
        .prefer_socket(false)
        .tcp_keepalive(Some(1000u32))
        .wait_timeout(Some(60))
        .db_name(Some("store"));
    let mut conn = Conn::new(opts).await?;
    let mut found = text(&mut conn, "SELECT @setup, @@time_zone, @@wait_timeout, ts FROM kinds WHERE id = 1").await?;
    conn.query_drop("UPDATE kinds SET tiny = -5 WHERE id = 1").await?;
    found.push(told(&conn));
    conn.disconnect().await?;
    let nowhere = Opts::from_url(&url().replace("/store", "/nowhere"))?;
    found.push(refused(Conn::new(nowhere).await)?);
    Ok(found)
}

async fn warnings(conn: &mut Conn) -> Found {
    let mut found = Vec::new();
    for sql in [
        "SELECT CAST('12x' AS SIGNED)",
        "DROP TABLE IF EXISTS missing",
        "INSERT IGNORE INTO kinds (id, tiny) VALUES (1, 5), (90, 300)",
        "CREATE TABLE IF NOT EXISTS kinds (id INT)",
    ] {
        conn.query_drop(sql).await?;
        found.push(told(conn));
        found.extend(text(conn, "SHOW WARNINGS").await?);
    }
    Ok(found)
}

async fn errors(conn: &mut Conn) -> Found {
    let mut found = Vec::new();
    conn.query_drop("CREATE TABLE strict_one (id INT PRIMARY KEY, n TINYINT UNSIGNED NOT NULL, w VARCHAR(3), CONSTRAINT positive CHECK (n > 0))").await?;
    for sql in [
        "SELEC 1",
        "SELECT * FROM missing",
        "SELECT nope FROM kinds",
        "INSERT INTO kinds (id) VALUES (1)",
        "INSERT INTO strict_one (id) VALUES (1)",
        "INSERT INTO strict_one VALUES (1, -1, 'a')",
        "INSERT INTO strict_one VALUES (1, 1, 'abcd')",
        "INSERT INTO strict_one VALUES (1, 0, 'a')",
        "INSERT INTO strict_one VALUES (1, NULL, 'a')",
        "INSERT INTO kinds (e) VALUES ('none')",
        "INSERT INTO kinds (dt) VALUES ('2024-02-30')",
        "SELECT (SELECT id FROM kinds)",
        "USE nowhere",
        "SET nosuch = 1",
    ] {
        found.push(refused(conn.query_drop(sql).await)?);
        if !sql.starts_with("USE") {
            found.push(refused(conn.exec_drop(sql, ()).await)?);
        }
    }
    Ok(found)
}
