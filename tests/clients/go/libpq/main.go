// lib/pq behind database/sql: what its users do, COPY and its listener included.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	. "rowferry/tours/tour"
)

var db *sql.DB

func main() {
	// Its URL must say that the connection may be plain.
	URL += map[bool]string{true: "&", false: "?"}[strings.Contains(URL, "?")] + "sslmode=disable"
	db = Must(sql.Open("postgres", URL))
	defer db.Close()
	db.SetMaxOpenConns(4)
	statements()
	types()
	copies()
	transactions()
	errors()
	listener()
}

func ask(text string, values ...any) Lines {
	return rows(db.Query(text, values...))
}

// rows gives the rows as maps by column.
func rows(rows *sql.Rows, err error) Lines {
	Check(err)
	defer rows.Close()
	columns := Must(rows.Columns())
	var found Lines
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for n := range values {
			into[n] = &values[n]
		}
		Check(rows.Scan(into...))
		row := map[string]any{}
		for n, column := range columns {
			row[column] = values[n]
			if text, ok := values[n].([]byte); ok {
				row[column] = string(text)
			}
		}
		found = append(found, row)
	}
	Check(rows.Err())
	return found
}

func run(text string, values ...any) int64 {
	return Must(Must(db.Exec(text, values...)).RowsAffected())
}

func statements() {
	Step("connect", func() (Lines, error) {
		return append(ask("select current_database() as d, current_user as u, current_schema as s, current_setting('client_encoding') as e, current_setting('datestyle') as ds, current_setting('extra_float_digits') as f"), db.Ping()), nil
	})
	Step("schema", func() (Lines, error) {
		_, err := db.Exec(`create table people (id serial primary key, name varchar(40) not null unique, born date, rating numeric(6, 2) default 1.5 check (rating >= 0), at timestamptz);
			create table things (id uuid primary key default gen_random_uuid(), owner int not null references people on delete cascade, tags text[], doc jsonb)`)
		return nil, err
	})
	Step("insert", func() (Lines, error) {
		var id int
		err := db.QueryRow("insert into people (name, born, at) values ($1, $2, $3) returning id", "Ann", "1980-02-29", time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)).Scan(&id)
		return Lines{id, run("insert into people (name, rating) select 'n' || g, g from generate_series(1, $1::int) g", 10), ask("select * from people where id < 4 order by id")}, err
	})
	Step("a prepared statement", func() (Lines, error) {
		statement := Must(db.Prepare("select name, rating from people where id = $1 or name = $2 order by id"))
		defer statement.Close()
		var found Lines
		for n := range 7 {
			found = append(found, rows(statement.Query(n, "Ann"))...)
		}
		_, err := statement.Query(1)
		return append(found, Refused(err)), nil
	})
	Step("several results", func() (Lines, error) {
		several := Must(db.Query("select 1 as a; select 'x' as b, 2 as c; update people set rating = rating; select count(*) from people"))
		defer several.Close()
		var found Lines
		for {
			columns := Must(several.Columns())
			count := 0
			for several.Next() {
				count++
			}
			found = append(found, fmt.Sprint(columns, count))
			if !several.NextResultSet() {
				break
			}
		}
		return found, several.Err()
	})
	Step("columns", func() (Lines, error) {
		result := Must(db.Query("select p.*, t.tags, t.doc, count(*) over () as n, 'x' as x, null as nothing from people p left join things t on t.owner = p.id limit 0"))
		defer result.Close()
		var found Lines
		for _, column := range Must(result.ColumnTypes()) {
			length, sized := column.Length()
			precision, scale, exact := column.DecimalSize()
			found = append(found, fmt.Sprint(column.Name(), " ", column.DatabaseTypeName(), " ", length, sized, precision, scale, exact, " ", column.ScanType()))
		}
		return found, nil
	})
	Step("parameters in one go", func() (Lines, error) {
		// Binary parameters let the driver ask in one round.
		other := Must(sql.Open("postgres", URL+"&binary_parameters=yes"))
		defer other.Close()
		return rows(other.Query("select $1::int + 1 as n, $2::text as t, $3::bytea as b, $4::float8 as f, $5::timestamptz as at", 1, "x", []byte{0, 255}, 1.5, time.Unix(0, 0).UTC())), nil
	})
}

func types() {
	Step("types", func() (Lines, error) {
		return ask(`select 1::int2 as i2, 2::int4 as i4, 3::int8 as i8, 1.50::numeric as n, 1.5::float4 as f4, 0.1::float8 as f8, true as b, 'x'::text as t, 'ab'::char(4) as c, '\x00ff'::bytea as bytes,
			'2024-02-29'::date as d, '12:34:56.5'::time as tm, '12:00+05:30'::timetz as tmz, '2024-02-29 12:34:56.789'::timestamp as ts, '2024-02-29 12:34:56+00'::timestamptz as tsz, '1 year 2 days'::interval as iv,
			'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as u, '{"a": 1}'::json as j, '{"b":1}'::jsonb as jb, '10.0.0.1'::inet as ip, array[1,2] as ints, '[1,3)'::int4range as r, '12.34'::money as m, 'infinity'::date as inf`), nil
	})
	Step("arrays", func() (Lines, error) {
		var ints []int64
		var texts pq.StringArray
		var floats pq.Float64Array
		var bools []bool
		var bytes pq.ByteaArray
		err := db.QueryRow("select $1::int[], $2::text[], $3::float8[], $4::bool[], $5::bytea[]", pq.Array([]int{1, 2, 3}), pq.Array([]string{"a,b", `q"\`, "", "NULL"}), pq.Array([]float64{1.5, -2}), pq.Array([]bool{true, false}), pq.Array([][]byte{{0, 1}, {}})).
			Scan(pq.Array(&ints), &texts, &floats, pq.Array(&bools), &bytes)
		return Lines{ints, []string(texts), []float64(floats), bools, [][]byte(bytes), ask("select name from people where name = any ($1) order by 1", pq.Array([]string{"Ann", "n3"}))}, err
	})
	Step("nulls and times", func() (Lines, error) {
		var at pq.NullTime
		var text sql.NullString
		var number sql.NullInt64
		Check(db.QueryRow("select $1::timestamptz, $2::text, $3::int", nil, nil, nil).Scan(&at, &text, &number))
		var old, zoned time.Time
		err := db.QueryRow("select '0044-03-15 12:00 BC'::timestamp, '2024-07-01 12:00+00'::timestamptz").Scan(&old, &zoned)
		return Lines{at.Valid, text.Valid, number.Valid, old, zoned}, err
	})
	Step("json and bytes", func() (Lines, error) {
		run("insert into things (owner, tags, doc) values ($1, $2, $3)", 1, pq.Array([]string{"x", "y z"}), `{"k": [1, 2]}`)
		var large []byte
		err := db.QueryRow("select convert_to(repeat('ä', 100000), 'UTF8')").Scan(&large)
		return append(ask("select owner, tags, doc, doc -> 'k' ->> 1 as second from things"), len(large)), err
	})
}

func copies() {
	Step("copy in", func() (Lines, error) {
		tx := Must(db.Begin())
		Must(tx.Exec("create table copied (id int primary key, name text, at timestamptz, tags text[], bytes bytea)"))
		statement := Must(tx.Prepare(pq.CopyIn("copied", "id", "name", "at", "tags", "bytes")))
		for n := range 300 {
			Must(statement.Exec(n, fmt.Sprintf("tab\t%d\\", n), time.Unix(int64(n), 0).UTC(), pq.Array([]string{"a", "b"}), []byte{byte(n)}))
		}
		Must(statement.Exec())
		Check(statement.Close())
		Check(tx.Commit())
		return ask("select count(*), max(name) as name, max(at) as at, max(length(bytes)) as b, sum(array_length(tags, 1)) as t from copied"), nil
	})
	Step("copy in that fails", func() (Lines, error) {
		tx := Must(db.Begin())
		defer tx.Rollback()
		statement := Must(tx.Prepare(pq.CopyInSchema("public", "copied", "id", "name")))
		Must(statement.Exec(1000, "new"))
		Must(statement.Exec(1, "again"))
		_, err := statement.Exec()
		return Lines{Refused(err), statement.Close()}, nil
	})
}

func transactions() {
	Step("transactions", func() (Lines, error) {
		tx := Must(db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSerializable}))
		Must(tx.Exec("savepoint one"))
		_, err := tx.Exec("insert into people (name) values ('Ann')")
		found := Lines{Refused(err)}
		_, err = tx.Exec("select 1")
		found = append(found, Refused(err))
		Must(tx.Exec("rollback to one"))
		found = append(found, Must(Must(tx.Exec("delete from people where id > $1", 5)).RowsAffected()))
		found = append(found, rows(tx.Query("select count(*), current_setting('transaction_isolation') as i from people"))...)
		Check(tx.Rollback())
		return append(found, ask("select count(*) from people")...), nil
	})
	Step("read only", func() (Lines, error) {
		tx := Must(db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true}))
		defer tx.Rollback()
		_, err := tx.Exec("delete from people")
		return Lines{Refused(err), Refused(tx.Commit())}, nil
	})
}

func errors() {
	for _, text := range []string{"selec 1", "select * from nowhere", "insert into people (name) values (null)", "insert into people (name) values ('Ann')", "insert into people (name) values (repeat('x', 41))",
		"insert into things (owner) values (999)", "update people set rating = -1 where id = 1", "select 1 / 0", "select 'x'::int", "do $$ begin raise exception 'mine' using errcode = 'P0123', detail = 'd', hint = 'h', column = 'c', table = 't'; end $$"} {
		Step("error of "+text, func() (Lines, error) {
			_, err := db.Exec(text)
			return Lines{Refused(err)}, nil
		})
	}
	Step("cancelled", func() (Lines, error) {
		ctx, done := context.WithCancel(context.Background())
		defer done()
		go func() {
			// What has not begun is not ended.
			for len(ask("select 1 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(30)'")) == 0 {
			}
			done()
		}()
		_, err := db.ExecContext(ctx, "select pg_sleep(30)")
		return append(Lines{Refused(err)}, ask("select 'still here' as state")...), nil
	})
	Step("notices", func() (Lines, error) {
		var found Lines
		connector := pq.ConnectorWithNoticeHandler(Must(pq.NewConnector(URL)), func(notice *pq.Error) { found = append(found, ErrorOf(notice)) })
		other := sql.OpenDB(connector)
		defer other.Close()
		_, err := other.Exec("do $$ begin raise notice 'one %', 1; end $$")
		return found, err
	})
}

func listener() {
	Step("a listener", func() (Lines, error) {
		listener := pq.NewListener(URL, time.Second, time.Minute, nil)
		defer listener.Close()
		Check(listener.Listen("news"))
		Check(listener.Listen("Odd name"))
		run("select pg_notify('news', 'first')")
		run(`notify "Odd name", 'second'`)
		var found Lines
		for len(found) < 2 {
			select {
			case heard := <-listener.Notify:
				found = append(found, heard.Channel+" "+heard.Extra)
			case <-time.After(60 * time.Second):
				return found, fmt.Errorf("nothing heard")
			}
		}
		return append(found, listener.Unlisten("news"), listener.Ping()), nil
	})
}
