// go-sql-driver/mysql: texts and prepared statements, what columns are, moments and zones, several statements at once,
// files sent along, pools, cancellation, locks, packets of many megabytes, compression, errors.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	. "rowferry/tours/tour"
)

var (
	ctx, stop = context.WithTimeout(context.Background(), 100*time.Second)
	db        *sql.DB
)

func main() {
	defer stop()
	db = open("")
	defer db.Close()
	schema()
	values()
	moments()
	changes()
	several()
	statements()
	files()
	transactions()
	locks()
	cancellation()
	pools()
	packets()
	sessions()
	failures()
}

// open is a pool of connections with the parameters of a query string.
func open(parameters string) *sql.DB {
	return Must(sql.Open("mysql", DataSource(parameters)))
}

// ask gives the rows as lists of what the driver makes of them.
func ask(on interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, text string, values ...any) Lines {
	return all(Must(on.QueryContext(ctx, text, values...)))
}

func all(rows *sql.Rows) Lines {
	defer rows.Close()
	found := rest(rows)
	Check(rows.Err())
	return found
}

func rest(rows *sql.Rows) Lines {
	names := Must(rows.Columns())
	var found Lines
	for rows.Next() {
		row := make([]any, len(names))
		into := make([]any, len(names))
		for n := range row {
			into[n] = &row[n]
		}
		Check(rows.Scan(into...))
		for n, value := range row {
			if text, ok := value.([]byte); ok && printable(text) {
				row[n] = "b:" + string(text)
			}
			if text, ok := row[n].(string); ok && len(text) > 200 {
				row[n] = fmt.Sprint(len(text), " letters")
			}
		}
		found = append(found, row)
	}
	return found
}

func printable(text []byte) bool {
	return !bytes.ContainsFunc(text, func(letter rune) bool { return letter < '\t' || letter == 0xfffd })
}

func run(text string, values ...any) string {
	return told(Must(db.ExecContext(ctx, text, values...)))
}

func told(result sql.Result) string {
	return fmt.Sprint("last ", Must(result.LastInsertId()), ", changed ", Must(result.RowsAffected()))
}

const kinds = `CREATE TABLE kinds (
	id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, tiny TINYINT, utiny TINYINT UNSIGNED, flag BOOLEAN NOT NULL DEFAULT FALSE, small SMALLINT, usmall SMALLINT UNSIGNED NOT NULL DEFAULT 0,
	medium MEDIUMINT, umedium MEDIUMINT UNSIGNED, whole INT, uwhole INT UNSIGNED, big BIGINT, ubig BIGINT UNSIGNED, exact DECIMAL(20, 5), coins DECIMAL(6, 2) UNSIGNED NOT NULL DEFAULT 1.5, f FLOAT, d DOUBLE NOT NULL DEFAULT 0,
	bits BIT(10), one BIT, c CHAR(5), vc VARCHAR(50), bv VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, tt TINYTEXT, t TEXT, mt MEDIUMTEXT, lt LONGTEXT, bin BINARY(4), vb VARBINARY(10), tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB,
	dt DATE, tm TIME(3), dtm DATETIME(6), plain DATETIME, ts TIMESTAMP NULL, ts3 TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), y YEAR, j JSON, e ENUM('small', 'large'), s SET('a', 'b', 'c'),
	twice INT GENERATED ALWAYS AS (whole * 2) VIRTUAL, UNIQUE KEY by_text (vc), KEY by_two (whole, big DESC))`

// kindsOf is what columns are, without how many letters and digits they have.
func kindsOf(rows *sql.Rows) Lines {
	defer rows.Close()
	var found Lines
	for _, column := range Must(rows.ColumnTypes()) {
		nullable, known := column.Nullable()
		found = append(found, fmt.Sprint(column.Name(), " ", column.DatabaseTypeName(), " ", column.ScanType(), " null ", nullable, known))
	}
	return found
}

func columns(rows *sql.Rows) Lines {
	defer rows.Close()
	var found Lines
	for _, column := range Must(rows.ColumnTypes()) {
		nullable, known := column.Nullable()
		length, sized := column.Length()
		precision, scale, exact := column.DecimalSize()
		if exact && precision == math.MaxInt64 {
			precision = -1
		}
		if exact && scale == math.MaxInt64 {
			scale = -1
		}
		found = append(found, fmt.Sprint(column.Name(), " ", column.DatabaseTypeName(), " ", column.ScanType(), " null ", nullable, known, " length ", length, sized, " size ", precision, " ", scale, exact))
	}
	return found
}

func schema() {
	Step("connect", func() (Lines, error) {
		return ask(db, "SELECT DATABASE(), CONNECTION_ID() > 0, @@autocommit, @@character_set_client, @@character_set_results, @@collation_connection, @@sql_mode, @@max_allowed_packet, @@time_zone, @@lower_case_table_names"), db.PingContext(ctx)
	})
	Step("tables", func() (Lines, error) {
		return Lines{run(kinds), run("CREATE TABLE words (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20) NOT NULL UNIQUE, n INT)")}, nil
	})
	Step("what columns are, in text", func() (Lines, error) {
		return columns(Must(db.QueryContext(ctx, "SELECT * FROM kinds"))), nil
	})
	Step("what columns are, of a prepared statement", func() (Lines, error) {
		return columns(Must(db.QueryContext(ctx, "SELECT * FROM kinds WHERE id > ?", 0))), nil
	})
	Step("what columns of expressions are", func() (Lines, error) {
		text := `SELECT 1 AS a, -1 AS b, 1.50 AS c, 1e3 AS d, 'x' AS e, NOW() AS g, NOW(3) AS h, CURDATE() AS i, CURTIME() AS j, x'00ff' AS k, COUNT(*) AS l, SUM(whole) AS m, AVG(whole) AS n, SUM(d) AS o, MAX(vc) AS p,
			CONCAT('a', 1) AS q, 1 = 1 AS r, 5 / 2 AS s, 5 DIV 2 AS t, CAST('1' AS UNSIGNED) AS u, CAST('1.5' AS DECIMAL(10, 3)) AS v, CAST('{}' AS JSON) AS w, IF(1, 'a', 'bcd') AS x, COALESCE(NULL, 5) AS y, 18446744073709551615 AS z,
			LENGTH('a') AS aa, JSON_EXTRACT('{"a": 1}', '$.a') AS ab, RAND() >= 0 AS ac, ROUND(2.567, 1) AS ad, MIN(dtm) AS af,
			UNIX_TIMESTAMP() > 0 AS ai, UUID() <> '' AS aj, CASE WHEN 1 THEN 1.5 ELSE 2 END AS ak, MAX(ts) AS al, BIT_OR(tiny) AS ao, STD(whole) AS ap FROM kinds`
		return append(kindsOf(Must(db.QueryContext(ctx, text))), kindsOf(Must(db.QueryContext(ctx, text+" WHERE id > ?", 0)))...), nil
	})
	Step("how many digits expressions have", func() (Lines, error) {
		return columns(Must(db.QueryContext(ctx, "SELECT 1.50 AS c, NOW() AS g, NOW(3) AS h, CURTIME() AS j, SUM(whole) AS m, AVG(whole) AS n, 5 / 2 AS s, ROUND(2.567, 1) AS ad, MAX(ts) AS al FROM kinds"))), nil
	})
	Step("texts, bytes and NULL that are worked out", func() (Lines, error) {
		return kindsOf(Must(db.QueryContext(ctx, "SELECT NULL AS f, DATE_ADD('2024-01-01', INTERVAL 1 DAY) AS ae, MAX(e) AS ag, GROUP_CONCAT(vc) AS ah, MAX(bl) AS am, MAX(y) AS an FROM kinds"))), nil
	})
	Step("what columns of joins, unions and subqueries are", func() (Lines, error) {
		return columns(Must(db.QueryContext(ctx, `SELECT k.id, k.usmall, w.id, w.word, q.u, q.m FROM words w LEFT JOIN kinds k ON k.id = w.id
			LEFT JOIN (SELECT usmall AS u, MAX(whole) AS m FROM kinds GROUP BY usmall UNION ALL SELECT 1, NULL) q ON q.u = w.n WHERE w.n > ?`, 1))), nil
	})
}

var (
	names  = strings.Fields("tiny utiny flag small usmall medium umedium whole uwhole big ubig exact coins f d bits one c vc bv tt t mt lt bin vb tb bl mb lb dt tm dtm plain ts ts3 y j e s")
	noon   = time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.UTC)
	filled = []any{-128, 255, true, -32768, 65535, -8388608, 16777215, -1073741824, uint32(math.MaxUint32), int64(math.MinInt64), uint64(math.MaxUint64), "123456789012345.12345", 9999.99, float32(0.1), 1e300, []byte{2, 255}, true,
		"ab", "žluť 🐎", "Bin", "tiny", "line\nline\t\\'\"", "medium", strings.Repeat("é", 40000), []byte{1, 2, 3, 4}, []byte{0, 255}, []byte{}, []byte("blob\x00"), bytes.Repeat([]byte{7}, 300), []byte{0x80},
		noon, "-838:59:58.123", noon, noon, noon, noon, 2024, json.RawMessage(`{"a": {"ü": 100.0}, "k": [1, 2.5, null, "x", true]}`), "large", "a,c"}
)

func inserting() string {
	return "INSERT INTO kinds (" + strings.Join(names, ", ") + ") VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ") + ")"
}

func values() {
	Step("a row of values, prepared and written into the text", func() (Lines, error) {
		written := open("interpolateParams=true")
		defer written.Close()
		found := Lines{run(inserting(), filled...)}
		other := append([]any{}, filled...)
		other[18] = "Zweite"
		found = append(found, told(Must(written.ExecContext(ctx, inserting(), other...))), run("INSERT INTO kinds (vc) VALUES (?)", nil))
		list := strings.Join(names, ", ")
		found = append(found, ask(db, "SELECT id, twice, "+strings.Replace(list, "ts3, ", "", 1)+" FROM kinds ORDER BY id")...)
		found = append(found, ask(db, "SELECT id, twice, "+strings.Replace(list, "ts3, ", "", 1)+" FROM kinds WHERE id > ? ORDER BY id", 0)...)
		return append(found, ask(written, "SELECT id, twice, "+strings.Replace(list, "ts3, ", "", 1)+" FROM kinds WHERE id > ? ORDER BY id", 0)...), nil
	})
	Step("values of every kind of Go", func() (Lines, error) {
		var found Lines
		written := open("interpolateParams=true&parseTime=true")
		defer written.Close()
		for _, on := range []*sql.DB{db, written} {
			found = append(found, ask(on, "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", 1, int64(-5), uint64(math.MaxUint64), 1.5, float32(0.25), true, "it's \\ \"q\" \x00\n\x1a%_", []byte{0, 39, 92, 255}, nil, noon, sql.NullString{}, sql.NullInt64{Int64: 7, Valid: true})...)
			found = append(found, ask(on, "SELECT ? + 1, ? * 2, CONCAT(?, ?), ? IS NULL, ? <=> NULL, CAST(? AS CHAR), CAST(? AS SIGNED), DATE_ADD(?, INTERVAL ? DAY), JSON_EXTRACT(?, '$.a')", 1, 1.25, "a", 5, nil, nil, 1.0, "12", noon, 3, `{"a": [1, 2]}`)...)
			found = append(found, ask(on, "SELECT id, vc FROM kinds WHERE ubig = ? OR exact = ? OR dtm = ? OR flag = ? OR s = ? OR j->>'$.k[0]' = ? ORDER BY id LIMIT ? OFFSET ?", uint64(math.MaxUint64), "123456789012345.12345", noon, true, "a,c", "1", 5, 0)...)
		}
		return found, nil
	})
	Step("rows in Go's own types", func() (Lines, error) {
		moments := open("parseTime=true")
		defer moments.Close()
		var (
			id    uint64
			tiny  int8
			flag  bool
			ubig  uint64
			exact float64
			vc    sql.NullString
			bl    []byte
			dt    time.Time
			dtm   sql.NullTime
			j     json.RawMessage
			e     string
			raw   sql.RawBytes
		)
		rows := Must(moments.QueryContext(ctx, "SELECT id, tiny, flag, ubig, exact, vc, bl, dt, dtm, j, e, lt FROM kinds WHERE id = ?", 1))
		defer rows.Close()
		rows.Next()
		Check(rows.Scan(&id, &tiny, &flag, &ubig, &exact, &vc, &bl, &dt, &dtm, &j, &e, &raw))
		found := Lines{id, tiny, flag, ubig, exact, vc, bl, dt, dtm, string(j), e, len(raw)}
		rows.Close()
		var small int8
		tooBig := moments.QueryRowContext(ctx, "SELECT ubig FROM kinds WHERE id = 1").Scan(&small)
		none := moments.QueryRowContext(ctx, "SELECT id FROM kinds WHERE id = 999").Scan(&id)
		null := moments.QueryRowContext(ctx, "SELECT tiny FROM kinds WHERE id = 3").Scan(&tiny)
		return append(found, Refused(tooBig), errors.Is(none, sql.ErrNoRows), Refused(null)), nil
	})
	Step("numbers at their ends", func() (Lines, error) {
		var found Lines
		for _, on := range []*sql.DB{db} {
			found = append(found, ask(on, "SELECT CAST(? AS UNSIGNED), ? - 1, -?, ~0, 9223372036854775807 + 0, 1 - CAST(2 AS SIGNED)", uint64(math.MaxUint64), uint64(math.MaxUint64), int64(math.MaxInt64))...)
			found = append(found, ask(on, "SELECT f, d, f + 0, d / 3, exact / 7, exact * coins, coins - 0.01, utiny + tiny, ubig - 5, big + 1, bits + 0, one + 0, y + 1, e + 0, s + 0, tm + 0, dt + 0, dtm + 0, plain + 0 FROM kinds WHERE id = ?", 1)...)
			found = append(found, ask(on, "SELECT SUM(ubig), AVG(uwhole), SUM(f), MAX(exact), MIN(big), COUNT(DISTINCT e), GROUP_CONCAT(vc ORDER BY id SEPARATOR '|'), BIT_XOR(utiny), STDDEV(umedium), JSON_ARRAYAGG(flag), VARIANCE(utiny) FROM kinds WHERE id > ?", 0)...)
		}
		return found, nil
	})
}

func moments() {
	Step("moments and zones", func() (Lines, error) {
		run("CREATE TABLE moments (id INT PRIMARY KEY, day DATE, at DATETIME(6), instant TIMESTAMP(6) NULL, span TIME(6), short DATETIME)")
		berlin := Must(time.LoadLocation("Europe/Berlin"))
		var found Lines
		for n, parameters := range []string{"parseTime=true", "parseTime=true&loc=" + url.QueryEscape("Europe/Berlin"), "parseTime=true&loc=" + url.QueryEscape("America/New_York") + "&time_zone=" + url.QueryEscape("'-05:00'"),
			"parseTime=true&time_zone=" + url.QueryEscape("'+05:30'"), "loc=Asia%2FTokyo&time_zone=%27%2B09:00%27", "parseTime=true&timeTruncate=1ms", "parseTime=true&interpolateParams=true&loc=Europe%2FBerlin"} {
			on := open(parameters)
			at := time.Date(2024, 7, 1, 23, 30, 15, 123456789, berlin)
			found = append(found, told(Must(on.ExecContext(ctx, "INSERT INTO moments VALUES (?, ?, ?, ?, ?, ?)", n, at, at, at, "01:02:03.5", at))))
			found = append(found, ask(on, "SELECT * FROM moments WHERE id <= ? ORDER BY id", n)...)
			found = append(found, ask(on, "SELECT * FROM moments ORDER BY id")...)
			on.Close()
		}
		return append(found, ask(db, "SELECT * FROM moments ORDER BY id")...), nil
	})
	Step("dates that are none", func() (Lines, error) {
		loose := open("parseTime=true&sql_mode=%27%27")
		defer loose.Close()
		found := Lines{told(Must(loose.ExecContext(ctx, "INSERT INTO moments VALUES (20, '0000-00-00', '0000-00-00 00:00:00', NULL, '-00:00:01', ?)", time.Time{})))}
		found = append(found, ask(loose, "SELECT day, at, instant, span, short FROM moments WHERE id = 20")...)
		found = append(found, ask(loose, "SELECT day, at, instant, span, short FROM moments WHERE id = ?", 20)...)
		_, err := db.ExecContext(ctx, "INSERT INTO moments (id, at) VALUES (?, ?)", 21, time.Time{})
		_, other := db.ExecContext(ctx, "INSERT INTO moments (id, day) VALUES (?, ?)", 22, "2024-02-30")
		return append(found, Refused(err), Refused(other)), nil
	})
	Step("reckoning with moments", func() (Lines, error) {
		on := open("parseTime=true")
		defer on.Close()
		return append(ask(on, "SELECT DATE_FORMAT(?, '%Y/%m/%d %H:%i:%s.%f %W %j'), TIMESTAMPDIFF(HOUR, ?, ?), DATE(?), TIME(?), EXTRACT(YEAR_MONTH FROM ?), LAST_DAY(?), UNIX_TIMESTAMP(?), FROM_UNIXTIME(?), STR_TO_DATE(?, '%d.%m.%Y'), DATEDIFF(?, ?)",
			noon, noon, noon.Add(50*time.Hour), noon, noon, noon, noon, noon, 86400, "31.12.2023", noon, "2024-01-01"),
			ask(on, "SELECT MAX(at), MIN(day), MAX(instant), MAX(span), MIN(short), DATE(MAX(at)), at + INTERVAL 1 MONTH, CAST(day AS DATETIME), TIMESTAMP(day, span), CONVERT_TZ(at, '+00:00', '+02:00') FROM moments WHERE id = ? GROUP BY id", 0)), nil
	})
}

func changes() {
	Step("numbers of new rows and of changed ones", func() (Lines, error) {
		found := Lines{run("INSERT INTO words (word, n) VALUES (?, ?), (?, ?), (?, ?)", "one", 1, "two", 2, "three", 3), run("INSERT INTO words (id, word) VALUES (10, 'ten')"), run("INSERT INTO words (word) VALUES ('eleven')"),
			run("UPDATE words SET n = 1 WHERE word = 'one'"), run("UPDATE words SET n = ? WHERE n IS NULL OR n > ?", 7, 1), run("INSERT INTO words (word, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + VALUES(n)", "one", 5),
			run("INSERT INTO words (word, n) VALUES (?, ?) AS fresh ON DUPLICATE KEY UPDATE n = fresh.n", "twelve", 5), run("INSERT INTO words (word, n) VALUES ('one', 6) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = VALUES(n)"),
			run("REPLACE INTO words (word, n) VALUES ('two', 9)"), run("INSERT IGNORE INTO words (word) VALUES ('two'), ('none')"), run("DELETE FROM words WHERE n = ? ORDER BY id LIMIT 1", 7), run("TRUNCATE TABLE words"), run("INSERT INTO words (word) VALUES ('a')")}
		counting := open("clientFoundRows=true")
		defer counting.Close()
		return append(found, told(Must(counting.ExecContext(ctx, "UPDATE words SET word = 'a'"))), told(Must(counting.ExecContext(ctx, "INSERT INTO words (id, word) VALUES (1, 'a') ON DUPLICATE KEY UPDATE word = 'a'"))), told(Must(counting.ExecContext(ctx, "DO 1")))), nil
	})
	Step("tables from tables", func() (Lines, error) {
		return append(Lines{run("CREATE TABLE copied AS SELECT id, vc, exact, dtm, j, e FROM kinds"), run("CREATE TABLE likewise LIKE kinds"), run("INSERT INTO likewise (vc, whole) SELECT vc, id FROM kinds WHERE id < ?", 3), run("INSERT INTO words (word, n) SELECT vc, twice FROM likewise")},
			append(columns(Must(db.QueryContext(ctx, "SELECT * FROM copied"))), ask(db, "SELECT id, word, n FROM words ORDER BY id")...)...), nil
	})
	Step("rows counted and read with their results", func() (Lines, error) {
		found := ask(db, "SELECT SQL_CALC_FOUND_ROWS id FROM kinds ORDER BY id LIMIT 1")
		on := Must(db.Conn(ctx))
		defer on.Close()
		ask(on, "SELECT SQL_CALC_FOUND_ROWS id FROM kinds ORDER BY id LIMIT 1")
		found = append(found, ask(on, "SELECT FOUND_ROWS()")...)
		Must(on.ExecContext(ctx, "UPDATE words SET n = n + 1 WHERE n IS NOT NULL"))
		return append(found, ask(on, "SELECT ROW_COUNT(), LAST_INSERT_ID()")), nil
	})
}

func several() {
	many := open("multiStatements=true&interpolateParams=true")
	Step("several statements at once", func() (Lines, error) {
		rows := Must(many.QueryContext(ctx, "SELECT 1 AS a; SELECT ? AS b, ? AS c; INSERT INTO words (word) VALUES ('several'); SELECT COUNT(*) > 0 AS d FROM words", 2, "three; four"))
		defer rows.Close()
		var found Lines
		for {
			found = append(found, Must(rows.Columns()), rest(rows))
			if !rows.NextResultSet() {
				break
			}
		}
		found = append(found, told(Must(many.ExecContext(ctx, "INSERT INTO words (word) VALUES ('s1'), ('s2'); UPDATE words SET n = 77 WHERE word LIKE 's%'; DELETE FROM words WHERE word = 's1'"))))
		_, err := db.ExecContext(ctx, "SELECT 1; SELECT 2")
		found = append(found, Refused(err))
		_, err = many.ExecContext(ctx, "INSERT INTO words (word) VALUES ('s3'); SELECT * FROM nowhere; INSERT INTO words (word) VALUES ('s4')")
		return append(append(found, Refused(err)), ask(many, "SELECT word FROM words WHERE word LIKE 's%' ORDER BY word")...), rows.Err()
	})
	Step("all numbers of several statements", func() (Lines, error) {
		on := Must(many.Conn(ctx))
		defer on.Close()
		var found Lines
		err := on.Raw(func(raw any) error {
			result, err := raw.(driver.ExecerContext).ExecContext(ctx, "INSERT INTO words (word) VALUES ('t1'), ('t2'); UPDATE words SET n = 78 WHERE word LIKE 't%'; DO 1; INSERT INTO words (word) VALUES ('t3')", nil)
			if err == nil {
				all := result.(mysql.Result)
				numbers := all.AllLastInsertIds()
				found = append(found, all.AllRowsAffected(), numbers[0] > 0, numbers[1:3], numbers[3] == numbers[0]+2)
			}
			return err
		})
		return found, err
	})
	Step("routines", func() (Lines, error) {
		run("CREATE PROCEDURE both_of(IN least INT, OUT total INT, INOUT word VARCHAR(20)) BEGIN SELECT id, vc FROM kinds WHERE id >= least ORDER BY id LIMIT 2; SELECT COUNT(*) INTO total FROM kinds WHERE id >= least; SET word = CONCAT(word, '!'); SELECT 'end' AS word; END")
		run("CREATE FUNCTION twice_of(n BIGINT) RETURNS BIGINT DETERMINISTIC RETURN n * 2")
		run("CREATE PROCEDURE fails(IN n INT) BEGIN IF n > 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too many', MYSQL_ERRNO = 5001; END IF; UPDATE words SET n = n WHERE 0; END")
		on := Must(many.Conn(ctx))
		defer on.Close()
		Must(on.ExecContext(ctx, "SET @word = 'hi'"))
		rows := Must(on.QueryContext(ctx, "CALL both_of(?, @total, @word)", 2))
		var found Lines
		for {
			found = append(found, rest(rows))
			if !rows.NextResultSet() {
				break
			}
		}
		rows.Close()
		found = append(found, ask(on, "SELECT @total, @word, twice_of(?)", 21))
		prepared := Must(db.PrepareContext(ctx, "CALL both_of(?, @total, @word)"))
		defer prepared.Close()
		rows = Must(prepared.QueryContext(ctx, 1))
		found = append(found, all(rows))
		_, err := db.ExecContext(ctx, "CALL fails(?)", 5)
		return append(found, told(Must(db.ExecContext(ctx, "CALL fails(1)"))), Refused(err)), nil
	})
	Step("triggers and views", func() (Lines, error) {
		run("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, said VARCHAR(100))")
		run("CREATE TRIGGER logs AFTER INSERT ON words FOR EACH ROW INSERT INTO log (said) VALUES (CONCAT('new ', NEW.word))")
		run("CREATE VIEW short_words AS SELECT id, word, LENGTH(word) AS size FROM words WHERE CHAR_LENGTH(word) < 4")
		run("INSERT INTO words (word) VALUES (?)", "new")
		found := ask(db, "SELECT said FROM log")
		return append(append(found, ask(db, "SELECT word, size FROM short_words ORDER BY id")...), columns(Must(db.QueryContext(ctx, "SELECT * FROM short_words")))...), nil
	})
	many.Close()
}

func statements() {
	Step("a statement that is kept", func() (Lines, error) {
		kept := Must(db.PrepareContext(ctx, "SELECT vc, CONCAT('<', ?, '>') AS a FROM kinds WHERE id = ?"))
		defer kept.Close()
		var found Lines
		for _, values := range [][]any{{1, 1}, {"text", 1}, {nil, 2}, {1.5, 3}, {noon, 1}, {[]byte{1, 0}, 1}, {true, 1}, {uint64(math.MaxUint64), 1}, {strings.Repeat("x", 100), 99}} {
			found = append(found, all(Must(kept.QueryContext(ctx, values...))))
		}
		_, err := kept.QueryContext(ctx, 1)
		return append(found, Refused(err)), nil
	})
	Step("many statements that are kept", func() (Lines, error) {
		on := Must(db.Conn(ctx))
		defer on.Close()
		var kept []*sql.Stmt
		for n := range 100 {
			kept = append(kept, Must(on.PrepareContext(ctx, fmt.Sprintf("SELECT %d + ?", n))))
		}
		total := 0
		for n, statement := range kept {
			var sum int
			Check(statement.QueryRowContext(ctx, n).Scan(&sum))
			total += sum
			Check(statement.Close())
		}
		return Lines{total}, nil
	})
	Step("a kept statement behind a change of its table", func() (Lines, error) {
		run("CREATE TABLE changing (id INT PRIMARY KEY, a INT)")
		run("INSERT INTO changing VALUES (1, 5)")
		on := Must(db.Conn(ctx))
		defer on.Close()
		kept := Must(on.PrepareContext(ctx, "SELECT * FROM changing WHERE id = ?"))
		defer kept.Close()
		found := Lines{all(Must(kept.QueryContext(ctx, 1)))}
		run("ALTER TABLE changing ADD COLUMN b VARCHAR(10) DEFAULT 'new', MODIFY a VARCHAR(5)")
		found = append(found, all(Must(kept.QueryContext(ctx, 1))))
		run("DROP TABLE changing")
		_, err := kept.QueryContext(ctx, 1)
		return append(found, Refused(err)), nil
	})
	Step("a value sent in pieces", func() (Lines, error) {
		pieces := open("maxAllowedPacket=2000000")
		defer pieces.Close()
		run("CREATE TABLE large (id INT PRIMARY KEY, t LONGTEXT, b LONGBLOB)")
		told(Must(pieces.ExecContext(ctx, "INSERT INTO large VALUES (?, ?, ?)", 1, strings.Repeat("žluť", 150000), bytes.Repeat([]byte{0, 255, 39}, 400000))))
		return ask(db, "SELECT CHAR_LENGTH(t), LENGTH(t), LENGTH(b), CRC32(t), CRC32(b), HEX(SUBSTRING(b, 3, 4)) FROM large"), nil
	})
}

func files() {
	Step("files that are sent along", func() (Lines, error) {
		run("CREATE TABLE loaded (id INT PRIMARY KEY, word VARCHAR(20), amount DECIMAL(8, 2), day DATE)")
		mysql.RegisterReaderHandler("lines", func() io.Reader {
			return strings.NewReader("id;word;amount;day\n1;\"on;e\";1.50;2024-01-31\n2;two \\\"q\\\";2.345;\\N\n3;dřei;\"-3\";2024-02-29\n")
		})
		mysql.RegisterReaderHandler("tabs", func() io.Reader { return strings.NewReader("10\ta\\tb\n11\t\\N\n3\tagain\n12\tüber\n") })
		mysql.RegisterReaderHandler("many", func() io.Reader {
			var text strings.Builder
			for n := range 5000 {
				fmt.Fprintf(&text, "%d,word %d,%d.25\n", 100+n, n, n)
			}
			return strings.NewReader(text.String())
		})
		found := Lines{run("LOAD DATA LOCAL INFILE 'Reader::lines' INTO TABLE loaded FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\n' IGNORE 1 LINES"),
			run("LOAD DATA LOCAL INFILE 'Reader::tabs' IGNORE INTO TABLE loaded (id, word) SET amount = id * 2, day = '2024-01-01'"),
			run("LOAD DATA LOCAL INFILE 'Reader::many' REPLACE INTO TABLE loaded CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' (id, @w, amount) SET word = UPPER(@w)")}
		found = append(found, ask(db, "SELECT * FROM loaded WHERE id < 102 ORDER BY id")...)
		found = append(found, ask(db, "SELECT COUNT(*), SUM(amount), MAX(word) FROM loaded WHERE id > ?", 99)...)
		_, unknown := db.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::nobody' INTO TABLE loaded")
		_, missing := db.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::tabs' INTO TABLE nowhere")
		return append(found, Refused(unknown), Refused(missing), db.PingContext(ctx)), nil
	})
}

func transactions() {
	Step("transactions", func() (Lines, error) {
		var found Lines
		for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable, sql.LevelReadUncommitted} {
			tx := Must(db.BeginTx(ctx, &sql.TxOptions{Isolation: level}))
			Must(tx.ExecContext(ctx, "INSERT INTO words (word, n) VALUES (?, ?)", "tx "+level.String(), level))
			found = append(found, ask(tx, "SELECT COUNT(*) FROM words WHERE word LIKE 'tx %'"))
			if level%2 == 0 {
				Check(tx.Commit())
			} else {
				Check(tx.Rollback())
			}
			_, done := tx.ExecContext(ctx, "SELECT 1")
			found = append(found, Refused(done))
		}
		_, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSnapshot})
		found = append(found, Refused(err))
		reads := Must(db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}))
		_, err = reads.ExecContext(ctx, "INSERT INTO words (word) VALUES ('never')")
		found = append(found, Refused(err), reads.Rollback())
		return append(found, ask(db, "SELECT word, n FROM words WHERE word LIKE 'tx %' ORDER BY id")...), nil
	})
	Step("a statement that fails, and savepoints", func() (Lines, error) {
		tx := Must(db.BeginTx(ctx, nil))
		defer tx.Rollback()
		Must(tx.ExecContext(ctx, "INSERT INTO words (word) VALUES ('sp 1')"))
		_, err := tx.ExecContext(ctx, "INSERT INTO words (word) VALUES ('sp 2'), ('sp 1')")
		found := Lines{Refused(err)}
		Must(tx.ExecContext(ctx, "SAVEPOINT a"))
		Must(tx.ExecContext(ctx, "INSERT INTO words (word) VALUES ('sp 3')"))
		Must(tx.ExecContext(ctx, "SAVEPOINT b"))
		Must(tx.ExecContext(ctx, "DELETE FROM words"))
		Must(tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT b"))
		Must(tx.ExecContext(ctx, "RELEASE SAVEPOINT a"))
		_, err = tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT b")
		found = append(found, Refused(err), tx.Commit())
		return append(found, ask(db, "SELECT word FROM words WHERE word LIKE 'sp %' ORDER BY id")...), nil
	})
	Step("a definition commits", func() (Lines, error) {
		tx := Must(db.BeginTx(ctx, nil))
		Must(tx.ExecContext(ctx, "INSERT INTO words (word) VALUES ('kept by ddl')"))
		Must(tx.ExecContext(ctx, "CREATE TABLE within (id INT)"))
		Check(tx.Rollback())
		return ask(db, "SELECT COUNT(*) FROM words WHERE word = 'kept by ddl'"), nil
	})
	Step("what others see", func() (Lines, error) {
		tx := Must(db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}))
		defer tx.Rollback()
		found := ask(tx, "SELECT COUNT(*) FROM log WHERE said = 'seen'")
		run("INSERT INTO log (said) VALUES ('seen')")
		found = append(found, ask(tx, "SELECT COUNT(*) FROM log WHERE said = 'seen'")...)
		Check(tx.Commit())
		tx = Must(db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}))
		defer tx.Rollback()
		run("INSERT INTO log (said) VALUES ('seen')")
		found = append(found, ask(tx, "SELECT COUNT(*) FROM log WHERE said = 'seen'")...)
		run("INSERT INTO log (said) VALUES ('seen')")
		return append(found, ask(tx, "SELECT COUNT(*) FROM log WHERE said = 'seen'")...), tx.Commit()
	})
}

func locks() {
	Step("a row that somebody else holds", func() (Lines, error) {
		impatient := open("innodb_lock_wait_timeout=1")
		defer impatient.Close()
		tx := Must(db.BeginTx(ctx, nil))
		defer tx.Rollback()
		Must(tx.ExecContext(ctx, "UPDATE words SET n = 100 WHERE id = 1"))
		_, err := impatient.ExecContext(ctx, "UPDATE words SET n = 101 WHERE id = 1")
		found := Lines{Refused(err)}
		_, err = impatient.QueryContext(ctx, "SELECT * FROM words WHERE id = 1 FOR UPDATE NOWAIT")
		found = append(found, Refused(err), ask(impatient, "SELECT id FROM words WHERE id = 1 FOR UPDATE SKIP LOCKED"), ask(impatient, "SELECT n FROM words WHERE id = ?", 1))
		other := Must(impatient.BeginTx(ctx, nil))
		defer other.Rollback()
		Must(other.ExecContext(ctx, "SET @before = 1"))
		_, err = other.ExecContext(ctx, "DELETE FROM words WHERE id = ?", 1)
		found = append(found, Refused(err), ask(other, "SELECT @before"))
		waits := make(chan string)
		go func() {
			result, err := db.ExecContext(ctx, "UPDATE words SET n = n + 1 WHERE id = 1")
			if err != nil {
				waits <- ErrorOf(err)
				return
			}
			waits <- told(result)
		}()
		time.Sleep(50 * time.Millisecond)
		Check(tx.Commit())
		return append(found, <-waits, ask(db, "SELECT n FROM words WHERE id = 1")), nil
	})
	Step("locks by name", func() (Lines, error) {
		one, other := Must(db.Conn(ctx)), Must(db.Conn(ctx))
		defer one.Close()
		defer other.Close()
		found := ask(one, "SELECT GET_LOCK('l', 1), GET_LOCK(?, 0), IS_FREE_LOCK('l'), IS_USED_LOCK('l') = CONNECTION_ID(), IS_USED_LOCK('none')", "m")
		found = append(found, ask(other, "SELECT GET_LOCK('l', 0), GET_LOCK('L', 0.1), IS_FREE_LOCK('l'), RELEASE_LOCK('l'), RELEASE_LOCK('none'), GET_LOCK('free', -1)")...)
		found = append(found, ask(one, "SELECT RELEASE_LOCK('l'), RELEASE_ALL_LOCKS()")...)
		return append(found, ask(other, "SELECT GET_LOCK('l', 0), RELEASE_ALL_LOCKS(), IS_FREE_LOCK('l')")...), nil
	})
}

func cancellation() {
	Step("a query that is cancelled", func() (Lines, error) {
		short, end := context.WithTimeout(ctx, 80*time.Millisecond)
		defer end()
		began := time.Now()
		_, err := db.QueryContext(short, "SELECT SLEEP(20)")
		found := Lines{Refused(err), time.Since(began) < 5*time.Second}
		done, end := context.WithCancel(ctx)
		end()
		_, err = db.ExecContext(done, "SELECT 1")
		found = append(found, Refused(err))
		rows := Must(db.QueryContext(ctx, "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, REPEAT('x', 1000) AS pad FROM n"))
		rows.Next()
		found = append(found, rows.Close())
		return append(found, ask(db, "SELECT 'goes on'")), nil
	})
	Step("a transaction whose context ends", func() (Lines, error) {
		short, end := context.WithCancel(ctx)
		tx := Must(db.BeginTx(short, nil))
		Must(tx.ExecContext(ctx, "INSERT INTO words (word) VALUES ('lost')"))
		end()
		err := tx.Commit()
		return append(Lines{Refused(err)}, ask(db, "SELECT COUNT(*) FROM words WHERE word = 'lost'")...), nil
	})
	Step("a statement that is killed", func() (Lines, error) {
		on := Must(db.Conn(ctx))
		defer on.Close()
		var number int
		Check(on.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&number))
		said := make(chan string)
		var found Lines
		go func() {
			_, err := on.ExecContext(ctx, "UPDATE words SET n = SLEEP(20) WHERE id = 1")
			said <- Refused(err)
		}()
		time.Sleep(150 * time.Millisecond)
		run(fmt.Sprint("KILL QUERY ", number))
		found = append(found, <-said, ask(on, "SELECT CONNECTION_ID() = ?", number))
		run(fmt.Sprint("KILL CONNECTION ", number))
		time.Sleep(150 * time.Millisecond)
		_, err := on.ExecContext(ctx, "DO 1")
		return append(found, err != nil), nil
	})
	Step("a time limit", func() (Lines, error) {
		limited := open("max_execution_time=100")
		defer limited.Close()
		rows, err := limited.QueryContext(ctx, "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT COUNT(*) FROM n a, n b, n c")
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
		}
		return Lines{Refused(err)}, nil
	})
}

func pools() {
	Step("a pool", func() (Lines, error) {
		pool := open("")
		defer pool.Close()
		pool.SetMaxOpenConns(8)
		pool.SetMaxIdleConns(4)
		pool.SetConnMaxLifetime(20 * time.Millisecond)
		pool.SetConnMaxIdleTime(10 * time.Millisecond)
		Must(pool.ExecContext(ctx, "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL)"))
		Must(pool.ExecContext(ctx, "INSERT INTO counters VALUES (1, 0), (2, 0)"))
		var group sync.WaitGroup
		var guard sync.Mutex
		total, wrong := 0, Lines{}
		for n := range 60 {
			group.Add(1)
			go func() {
				defer group.Done()
				var seen int
				err := pool.QueryRowContext(ctx, "SELECT ? + CAST(? AS SIGNED)", n, n).Scan(&seen)
				if err == nil {
					_, err = pool.ExecContext(ctx, "UPDATE counters SET n = n + 1 WHERE id = ?", 1+n%2)
				}
				guard.Lock()
				defer guard.Unlock()
				total += seen
				if err != nil {
					wrong = append(wrong, ErrorOf(err))
				}
			}()
			if n%20 == 0 {
				time.Sleep(25 * time.Millisecond)
			}
		}
		group.Wait()
		return append(Lines{total, wrong, pool.Stats().OpenConnections <= 8, pool.Stats().MaxLifetimeClosed+pool.Stats().MaxIdleTimeClosed > 0}, ask(pool, "SELECT * FROM counters")), nil
	})
	Step("transactions of many at once", func() (Lines, error) {
		var group sync.WaitGroup
		wrong := make(chan string, 20)
		for range 20 {
			group.Add(1)
			go func() {
				defer group.Done()
				tx, err := db.BeginTx(ctx, nil)
				if err == nil {
					var seen int
					if err = tx.QueryRowContext(ctx, "SELECT n FROM counters WHERE id = 1 FOR UPDATE").Scan(&seen); err == nil {
						_, err = tx.ExecContext(ctx, "UPDATE counters SET n = ? WHERE id = 1", seen+1)
					}
					if err == nil {
						err = tx.Commit()
					}
				}
				if err != nil {
					wrong <- ErrorOf(err)
				}
			}()
		}
		group.Wait()
		return Lines{len(wrong), ask(db, "SELECT n FROM counters WHERE id = 1")}, nil
	})
}

func packets() {
	Step("packets of many megabytes", func() (Lines, error) {
		whole := open("maxAllowedPacket=0")
		defer whole.Close()
		big := bytes.Repeat([]byte("0123456789abcdef"), 1100000)
		found := Lines{told(Must(whole.ExecContext(ctx, "INSERT INTO large VALUES (?, ?, ?)", 2, "t", big)))}
		var back []byte
		Check(whole.QueryRowContext(ctx, "SELECT b FROM large WHERE id = 2").Scan(&back))
		found = append(found, bytes.Equal(big, back))
		Check(whole.QueryRowContext(ctx, "SELECT b FROM large WHERE id = ?", 2).Scan(&back))
		found = append(found, bytes.Equal(big, back))
		_, err := db.ExecContext(ctx, "SELECT '"+strings.Repeat("x", 70<<20)+"'")
		return append(found, Refused(err)), nil
	})
	Step("compression", func() (Lines, error) {
		packed := open("compress=true&parseTime=true&maxAllowedPacket=0")
		defer packed.Close()
		found := Lines{told(Must(packed.ExecContext(ctx, "INSERT INTO large VALUES (?, ?, ?)", 3, strings.Repeat("abc", 200000), bytes.Repeat([]byte("0123456789abcdef"), 1100000))))}
		found = append(found, ask(packed, "SELECT id, CHAR_LENGTH(t), LENGTH(b), CRC32(b) FROM large ORDER BY id")...)
		var back string
		Check(packed.QueryRowContext(ctx, "SELECT t FROM large WHERE id = ?", 3).Scan(&back))
		found = append(found, len(back))
		var seen int
		rows := Must(packed.QueryContext(ctx, "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, NOW() AS at, REPEAT(SHA2(i, 256), 10) AS pad FROM n"))
		for rows.Next() {
			seen++
		}
		return append(found, seen), rows.Err()
	})
	Step("many rows", func() (Lines, error) {
		Must(db.ExecContext(ctx, "CREATE TABLE rows_of (id INT PRIMARY KEY, a VARCHAR(50), b DECIMAL(10, 2), c DATETIME)"))
		for start := 0; start < 20000; start += 4000 {
			var text strings.Builder
			text.WriteString("INSERT INTO rows_of VALUES ")
			for n := start; n < start+4000; n++ {
				if n > start {
					text.WriteString(",")
				}
				fmt.Fprintf(&text, "(%d, 'row %d', %d.5, '2024-01-01 00:00:00' + INTERVAL %d SECOND)", n, n, n, n)
			}
			run(text.String())
		}
		moments := open("parseTime=true")
		defer moments.Close()
		rows := Must(moments.QueryContext(ctx, "SELECT * FROM rows_of WHERE id >= ? ORDER BY id", 10))
		defer rows.Close()
		n, length, sum, last := 0, 0, 0.0, time.Time{}
		for rows.Next() {
			var id int
			var a string
			var b float64
			Check(rows.Scan(&id, &a, &b, &last))
			n, length, sum = n+1, length+len(a), sum+b
		}
		return Lines{n, length, sum, last}, rows.Err()
	})
}

func sessions() {
	Step("parameters of the URL", func() (Lines, error) {
		told := open("charset=utf8mb4&collation=utf8mb4_unicode_ci&sql_mode=" + url.QueryEscape("'ANSI_QUOTES,STRICT_TRANS_TABLES'") + "&autocommit=0&foreign_key_checks=0&transaction_isolation=" + url.QueryEscape("'SERIALIZABLE'") + "&connectionAttributes=program_name:tour,a:b&tls=preferred&checkConnLiveness=false&timeout=5s&readTimeout=30s")
		defer told.Close()
		return ask(told, "SELECT @@collation_connection, @@character_set_client, @@sql_mode, @@autocommit, @@foreign_key_checks, @@transaction_isolation, \"id\" FROM kinds WHERE id = 1"), nil
	})
	Step("older sets and names of columns", func() (Lines, error) {
		named := open("charset=utf8mb3,utf8&columnsWithAlias=true")
		defer named.Close()
		rows := Must(named.QueryContext(ctx, "SELECT k.id, k.vc AS name, 1 + 1, w.word FROM kinds k LEFT JOIN words w ON w.id = k.id ORDER BY k.id"))
		names := Must(rows.Columns())
		rows.Close()
		binary := open("charset=binary")
		defer binary.Close()
		return append(Lines{names}, ask(binary, "SELECT vc, c, j FROM kinds WHERE id = 1")...), nil
	})
	Step("a setting that is unknown, and databases", func() (Lines, error) {
		strange, nowhere := open("no_such_variable=1"), Must(sql.Open("mysql", strings.Replace(DataSource(""), "/store", "/nowhere", 1)))
		defer strange.Close()
		defer nowhere.Close()
		found := Lines{Refused(strange.PingContext(ctx)), strings.ReplaceAll(Refused(nowhere.PingContext(ctx)), "127.0.0.1", "localhost")}
		none := Must(sql.Open("mysql", strings.Replace(DataSource(""), "/store", "/", 1)))
		defer none.Close()
		found = append(found, ask(none, "SELECT COUNT(*) FROM store.counters"))
		Must(none.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS second CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"))
		Must(none.ExecContext(ctx, "CREATE TABLE second.words (n INT NOT NULL, x VARCHAR(5) NOT NULL)"))
		Must(none.ExecContext(ctx, "INSERT INTO second.words VALUES (5, 'x')"))
		found = append(found, ask(none, "SELECT s.n, w.word FROM second.words s LEFT JOIN store.words w ON w.id = 1"), columns(Must(none.QueryContext(ctx, "SELECT * FROM second.words"))))
		Must(none.ExecContext(ctx, "DROP DATABASE second"))
		return found, nil
	})
	Step("what a session keeps", func() (Lines, error) {
		on := Must(db.Conn(ctx))
		defer on.Close()
		Must(on.ExecContext(ctx, "SET @a = ?, @b = ?, @c = ?, @d = NULL", 5, "text", 1.5))
		Must(on.ExecContext(ctx, "CREATE TEMPORARY TABLE passing (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10))"))
		Must(on.ExecContext(ctx, "INSERT INTO passing (v) VALUES ('x'), (@b)"))
		found := ask(on, "SELECT @a, @b, @c, @d, @a + 1, p.* FROM passing p ORDER BY id")
		Must(on.ExecContext(ctx, "SET SESSION sql_mode = 'PIPES_AS_CONCAT', NAMES utf8mb4"))
		found = append(found, ask(on, "SELECT 'a' || 'b', @@sql_mode")...)
		Must(on.ExecContext(ctx, "PREPARE s FROM 'SELECT ? + ?'"))
		found = append(found, ask(on, "EXECUTE s USING @a, @c")...)
		Must(on.ExecContext(ctx, "SET SESSION sql_mode = DEFAULT"))
		_, err := db.QueryContext(ctx, "SELECT * FROM passing")
		return append(found, Refused(err)), nil
	})
	Step("what SHOW tells", func() (Lines, error) {
		found := append(ask(db, "SHOW TABLES"), ask(db, "SHOW COLUMNS FROM words")...)
		found = append(found, ask(db, "SHOW CREATE TABLE words")...)
		found = append(found, ask(db, "SHOW FULL COLUMNS FROM counters")...)
		found = append(found, ask(db, "SHOW VARIABLES LIKE 'character_set_c%'")...)
		found = append(found, ask(db, "SHOW WARNINGS")...)
		return append(found, ask(db, "SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE id = CONNECTION_ID() AND db = DATABASE()")...), nil
	})
}

func failures() {
	Step("errors", func() (Lines, error) {
		run("CREATE TABLE strict_one (id INT PRIMARY KEY, n TINYINT UNSIGNED NOT NULL, w VARCHAR(3), e ENUM('a', 'b'), day DATE, j JSON, amount DECIMAL(4, 2), CONSTRAINT positive CHECK (n > 0), UNIQUE KEY by_w (w, e))")
		run("CREATE TABLE child (id INT PRIMARY KEY, parent INT NOT NULL, CONSTRAINT to_parent FOREIGN KEY (parent) REFERENCES strict_one (id))")
		run("INSERT INTO strict_one VALUES (1, 1, 'abc', 'a', NULL, NULL, NULL)")
		run("INSERT INTO child VALUES (1, 1)")
		var found Lines
		for _, text := range []string{"SELEC 1", "SELECT * FROM missing", "SELECT nope FROM strict_one", "SELECT s.nope FROM strict_one s", "INSERT INTO strict_one (nope) VALUES (1)", "INSERT INTO strict_one (id, n) VALUES (1, 1)", "INSERT INTO strict_one (id, n, w, e) VALUES (2, 1, 'abc', 'a')",
			"INSERT INTO strict_one (id) VALUES (2)", "INSERT INTO strict_one (id, n) VALUES (2, NULL)", "INSERT INTO strict_one (id, n) VALUES (2, -1)", "INSERT INTO strict_one (id, n) VALUES (2, 256)", "INSERT INTO strict_one (id, n, w) VALUES (2, 1, 'abcd')", "INSERT INTO strict_one (id, n, e) VALUES (2, 1, 'c')",
			"INSERT INTO strict_one (id, n) VALUES (2, 'x')", "INSERT INTO strict_one (id, n) VALUES (2, 0)", "INSERT INTO strict_one (id, n, day) VALUES (2, 1, 'someday')", "INSERT INTO strict_one (id, n, amount) VALUES (2, 1, 100)", "INSERT INTO strict_one (id, n, j) VALUES (2, 1, 'x')",
			"INSERT INTO strict_one VALUES (2, 1)", "INSERT INTO strict_one (id, id) VALUES (1, 2)", "DELETE FROM strict_one", "UPDATE strict_one SET id = 5", "INSERT INTO child VALUES (2, 7)", "UPDATE child SET parent = 9", "UPDATE child SET parent = NULL", "DROP TABLE missing", "CREATE TABLE child (id INT)", "SELECT nosuch(1)",
			"SELECT abs()", "ALTER TABLE child ADD COLUMN id INT", "ALTER TABLE child DROP COLUMN nope", "ALTER TABLE child DROP FOREIGN KEY nope", "ALTER TABLE child DROP INDEX nope", "USE nowhere", "SELECT (SELECT id FROM kinds)", "CALL nothing()", "SELECT id FROM strict_one, child", "SELECT 1 FROM strict_one a, child a", "SET nosuch = 1",
			"SET GLOBAL version = 'x'", "KILL 99999999", "DROP DATABASE nowhere", "CREATE DATABASE store", "SELECT 1 UNION SELECT 1, 2", "INSERT INTO strict_one (id, n) SELECT 1", "CREATE INDEX by_w ON strict_one (w)", "CREATE INDEX i ON strict_one (nope)", "CREATE TABLE t (a INT, a INT)",
			"CREATE TABLE t (a INT AUTO_INCREMENT)", "CREATE TABLE t (a VARCHAR(10) DEFAULT 5, b INT DEFAULT 'x')", "CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES missing (id))", "EXECUTE nothing", "RELEASE SAVEPOINT nothing", "SELECT JSON_EXTRACT('{}', 'x')", "SELECT * FROM kinds LIMIT -1", "SELECT id AS a FROM kinds WHERE a = 1",
			"SELECT COUNT(*) FROM kinds WHERE COUNT(*) > 1", "DROP VIEW nothing", "DROP TRIGGER nothing", "DROP PROCEDURE nothing", "DROP USER nobody", "SELECT 'unfinished", "INSERT INTO short_words (id, word, size) VALUES (1, 'a', 1)", "SELECT * FROM (SELECT 1)"} {
			_, err := db.ExecContext(ctx, text)
			if err == nil {
				found = append(found, "NOT REFUSED "+text)
				continue
			}
			found = append(found, ErrorOf(err))
		}
		return found, nil
	})
	Step("errors of prepared statements", func() (Lines, error) {
		var found Lines
		for _, text := range []string{"SELECT * FROM missing WHERE id = ?", "SELECT ? FROM", "INSERT INTO strict_one (id, n) VALUES (?, 1)", "INSERT INTO strict_one (id, n) VALUES (9, ?) ON DUPLICATE KEY UPDATE nope = 1", "INSERT INTO strict_one (id, n, w) VALUES (3, 1, ?)", "UPDATE strict_one SET n = n - ?", "SELECT 1 IN (?, ?)", "CREATE TABLE IF NOT EXISTS ? (id INT)",
			"SELECT ? + (SELECT id FROM kinds)", "INSERT INTO child VALUES (2, ? + 54)"} {
			_, err := db.ExecContext(ctx, text, "1")
			if err == nil {
				found = append(found, "NOT REFUSED "+text)
				continue
			}
			found = append(found, ErrorOf(err))
		}
		return append(found, db.PingContext(ctx)), nil
	})
	Step("warnings", func() (Lines, error) {
		on := Must(db.Conn(ctx))
		defer on.Close()
		loose := Must(open("sql_mode=%27%27").Conn(ctx))
		defer loose.Close()
		var found Lines
		for _, text := range []string{"SELECT 1 / 0", "SELECT CAST('12x' AS SIGNED)", "DROP TABLE IF EXISTS missing", "CREATE TABLE IF NOT EXISTS child (id INT)", "INSERT IGNORE INTO child VALUES (1, 1), (7, 99)", "CREATE DATABASE IF NOT EXISTS store", "SELECT CAST('1.5x' AS DECIMAL(5, 2))"} {
			Must(on.ExecContext(ctx, text))
			found = append(found, ask(on, "SHOW WARNINGS"))
		}
		for _, text := range []string{"INSERT INTO strict_one (id, n, w, amount) VALUES (30, 300, 'abcdef', 1e5)", "INSERT INTO strict_one (id, w) VALUES (32, 'q')"} {
			_, err := loose.ExecContext(ctx, text)
			if err != nil {
				found = append(found, ErrorOf(err))
			}
			found = append(found, ask(loose, "SHOW WARNINGS"))
		}
		return append(found, ask(db, "SELECT * FROM strict_one ORDER BY id")...), nil
	})
}
