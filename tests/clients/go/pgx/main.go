// pgx: queries in every mode, types, batches, COPY, notifications, large objects, its pool, database/sql.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"

	. "rowferry/tours/tour"
)

var (
	ctx, stop = context.WithTimeout(context.Background(), 50*time.Second)
	conn      *pgx.Conn
)

func main() {
	defer stop()
	conn = Must(pgx.Connect(ctx, URL))
	defer conn.Close(ctx)
	queries()
	types()
	batches()
	copies()
	transactions()
	notifications()
	failures()
	pool()
	standard()
}

// ask gives the rows as maps by column.
func ask(text string, values ...any) Lines {
	return collect(conn.Query(ctx, text, values...))
}

func collect(rows pgx.Rows, err error) Lines {
	Check(err)
	var found Lines
	for _, row := range Must(pgx.CollectRows(rows, pgx.RowToMap)) {
		found = append(found, row)
	}
	return found
}

func run(text string, values ...any) string {
	return Must(conn.Exec(ctx, text, values...)).String()
}

func queries() {
	Step("connect", func() (Lines, error) {
		raw := conn.PgConn()
		return Lines{raw.ParameterStatus("server_encoding"), raw.ParameterStatus("integer_datetimes"), raw.ParameterStatus("standard_conforming_strings"),
			raw.ParameterStatus("DateStyle"), raw.ParameterStatus("is_superuser"), string(raw.TxStatus()), conn.Ping(ctx)}, nil
	})
	Step("schema", func() (Lines, error) {
		results, err := conn.PgConn().Exec(ctx, `
			create type mood as enum ('sad', 'ok', 'happy');
			create type place as (street text, number int);
			create domain positive as int check (value > 0);
			create table people (id bigint generated always as identity primary key, name text not null unique, born date, rating numeric(6, 2) default 1.5, mood mood, at timestamptz default now());
			create table things (id serial primary key, owner bigint references people on delete cascade, what text not null, count int check (count >= 0), tags text[], doc jsonb);
			insert into people (name, born, mood) values ('Ann', '1980-02-29', 'ok'), ('Bob', null, null), ('Cid', '2001-01-01', 'happy');
			select id, name from people order by id`).ReadAll()
		var found Lines
		for _, result := range results {
			found = append(found, result.CommandTag.String(), result.Rows)
		}
		return found, err
	})
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		Step("mode "+mode.String(), func() (Lines, error) {
			var found Lines
			for n := range 3 {
				found = append(found, ask("select $1::int + 1 as n, $2::text as t, $3::numeric as d, $4::date as day, $5::bool as b, $6::float8 as f, $7::bytea as bytes", mode, n, "it's \\ ü",
					"1.50", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), n == 1, 0.1, []byte{0, 1, 255})...)
			}
			found = append(found, ask("select name, mood::text as mood, rating from people where id = any ($1) order by name", mode, []int64{1, 3})...)
			_, err := conn.Exec(ctx, "insert into people (name) values ($1)", mode, "Ann")
			found = append(found, Refused(err))
			return found, nil
		})
	}
	Step("structs", func() (Lines, error) {
		type person struct {
			ID     int64
			Name   string
			Born   *time.Time
			Rating pgtype.Numeric
		}
		people, err := pgx.CollectRows(Must(conn.Query(ctx, "select id, name, born, rating from people order by id")), pgx.RowToStructByName[person])
		_, none := pgx.CollectExactlyOneRow(Must(conn.Query(ctx, "select id, name, born, rating from people where id = 99")), pgx.RowToStructByPos[person])
		return Lines{people, errors.Is(none, pgx.ErrNoRows)}, err
	})
	Step("fields", func() (Lines, error) {
		rows := Must(conn.Query(ctx, "select *, 1 + 1 as n, null as nothing, 'x' as t, array[1.5] as few from people limit 0"))
		defer rows.Close()
		var found Lines
		for _, field := range rows.FieldDescriptions() {
			oid := field.DataTypeOID
			if oid >= 16384 {
				oid = 0
			}
			found = append(found, fmt.Sprintln(field.Name, field.TableAttributeNumber, oid, field.DataTypeSize, field.TypeModifier, field.Format))
		}
		return found, nil
	})
	Step("named arguments", func() (Lines, error) {
		found := ask("select @a::int as a, @b::text as b, @a + 1 as c", pgx.NamedArgs{"a": 5, "b": "x"})
		return append(found, run("insert into people (name, rating) values (@name, @rating)", pgx.StrictNamedArgs{"name": "Dora", "rating": 2.25})), nil
	})
	Step("prepared", func() (Lines, error) {
		told := Must(conn.Prepare(ctx, "by name", "select id, mood, rating from people where name = $1 and rating > $2 and mood is distinct from $3 and born < $4"))
		found := Lines{len(told.ParamOIDs), len(told.Fields), told.ParamOIDs[0], told.ParamOIDs[1], told.ParamOIDs[3]}
		found = append(found, ask("by name", "Ann", "1", nil, time.Now())...)
		found = append(found, ask("select name, statement, from_sql from pg_prepared_statements where name = 'by name'")...)
		found = append(found, conn.Deallocate(ctx, "by name"))
		_, err := conn.Exec(ctx, "by name", "Ann", "1", nil, time.Now())
		return append(found, Refused(err)), nil
	})
	Step("a table changes below a cached statement", func() (Lines, error) {
		var found Lines
		found = append(found, ask("select * from things")...)
		run("alter table things add column added int default 7")
		_, err := conn.Exec(ctx, "insert into things (what) values ('one')")
		rows, _ := conn.Query(ctx, "select * from things")
		_, first := pgx.CollectRows(rows, pgx.RowToMap)
		found = append(found, err, first)
		found = append(found, ask("select * from things")...)
		run("alter table things drop column added")
		return found, nil
	})
	Step("returning", func() (Lines, error) {
		found := ask("insert into things (owner, what, count, tags, doc) select id, 'of ' || name, id, array[name, null], jsonb_build_object('n', id) from people order by id returning *")
		found = append(found, ask("update things t set count = t.count + 10 from people p where p.id = t.owner and p.name < $1 returning t.id, p.name, t.count", "C")...)
		found = append(found, ask("insert into people (name) values ('Ann'), ('Eve') on conflict (name) do update set rating = people.rating + 1 returning name, rating")...)
		return found, nil
	})
	Step("aggregates, windows, recursion", func() (Lines, error) {
		return ask(`with recursive t(n) as (values (1) union all select n + 1 from t where n < $1)
			select n, sum(n) over (order by n) as running, lag(n) over w as before, (select jsonb_agg(what order by id) from things where count % 2 = n % 2) as things,
			(select array_agg(name order by name) from people where id <= n) as names from t window w as (order by n desc) order by n`, 4), nil
	})
}

func types() {
	Step("types both ways", func() (Lines, error) {
		at := time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.FixedZone("", 3600))
		var found Lines
		for _, value := range []struct {
			name string
			in   any
		}{
			{"int2", int16(-32768)}, {"int4", int32(math.MaxInt32)}, {"int8", int64(math.MinInt64)}, {"float4", float32(1.1)}, {"float8", math.Inf(-1)}, {"bool", true},
			{"numeric", pgtype.Numeric{Int: big.NewInt(-12345), Exp: -3, Valid: true}}, {"numeric", "1e30"}, {"numeric", pgtype.Numeric{NaN: true, Valid: true}}, {"text", "Ünï€𝄞"}, {"varchar(3)", "abcdef"},
			{"char(5)", "ab"}, {"name", "n"}, {`"char"`, "x"}, {"bytea", []byte{0, 92, 255}}, {"date", at}, {"date", pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true}}, {"time", "23:59:59.5"},
			{"timestamp", at}, {"timestamptz", at}, {"timestamptz", pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}}, {"interval", pgtype.Interval{Months: 14, Days: -3, Microseconds: 4567, Valid: true}},
			{"interval", 90 * time.Minute}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, {"json", map[string]any{"a": []int{1}}}, {"jsonb", `{"b": 1.50, "a": null}`}, {"inet", netip.MustParsePrefix("192.168.0.1/24")},
			{"cidr", netip.MustParsePrefix("10.0.0.0/8")}, {"macaddr", "08:00:2b:01:02:03"}, {"bit(4)", "1010"}, {"varbit", pgtype.Bits{Bytes: []byte{0xa0}, Len: 3, Valid: true}}, {"point", pgtype.Point{P: pgtype.Vec2{X: 1.5, Y: -2}, Valid: true}},
			{"box", "(1,1),(0,0)"}, {"path", "[(0,0),(1,1)]"}, {"polygon", "((0,0),(1,1),(1,0))"}, {"circle", "<(0,0),1>"}, {"line", "{1,2,3}"}, {"lseg", "[(0,0),(1,1)]"},
			{"int4range", pgtype.Range[pgtype.Int4]{Lower: pgtype.Int4{Int32: 1, Valid: true}, LowerType: pgtype.Exclusive, UpperType: pgtype.Unbounded, Valid: true}}, {"tstzrange", "[2024-01-01,)"}, {"int4multirange", "{[1,3),[5,7)}"},
			{"int[]", []int32{1, -2}}, {"text[]", []*string{nil}}, {"text[]", []string{"a,b", `q"\`, "", "NULL"}}, {"int[]", pgtype.Array[int32]{Elements: []int32{1, 2, 3, 4}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 2}, {Length: 2, LowerBound: 1}}, Valid: true}},
			{"float8[]", []float64{math.NaN(), 1e-300}}, {"timestamptz[]", []time.Time{at}}, {"uuid[]", []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}}, {"bytea[]", [][]byte{{1}, {}}}, {"positive", 5}, {"oid", uint32(4294967295)},
			{"tsvector", "'a':1 'b':2A"}, {"xid8", uint64(5)}, {"pg_lsn", "16/B374D848"}, {"tid", "(0,1)"}, {"money", "12.34"}, {"jsonpath", "$.a"}, {"timetz", "12:00:00+05:30"}, {"macaddr8", "08:00:2b:01:02:03:04:05"},
		} {
			var out any
			err := conn.QueryRow(ctx, "select $1::"+value.name, value.in).Scan(&out)
			if err != nil {
				found = append(found, value.name+" "+ErrorOf(err))
				continue
			}
			found = append(found, value.name+" "+Spell(out))
		}
		return found, nil
	})
	Step("nulls", func() (Lines, error) {
		var a *int
		var b pgtype.Text
		var c *time.Time
		var d []int
		err := conn.QueryRow(ctx, "select null::int, null::text, null::timestamptz, null::int[]").Scan(&a, &b, &c, &d)
		return Lines{a, b, c, d == nil}, err
	})
	Step("types of users", func() (Lines, error) {
		for _, name := range []string{"mood", "_mood", "place", "_place", "positive"} {
			conn.TypeMap().RegisterType(Must(conn.LoadType(ctx, name)))
		}
		all := Must(conn.LoadTypes(ctx, []string{"mood", "place"}))
		type place struct {
			Street string
			Number *int32
		}
		var at place
		var many []place
		var moods []string
		err := conn.QueryRow(ctx, "select $1::place, $2::place[], $3::mood[]", place{"High, \"St\"", nil}, []place{{"a", nil}}, []string{"ok", "sad"}).Scan(&at, &many, &moods)
		return Lines{len(all), at, many, moods}, err
	})
	Step("json into structs", func() (Lines, error) {
		var doc struct {
			A int
			B []string
		}
		err := conn.QueryRow(ctx, "select $1::jsonb", map[string]any{"a": 5, "b": []string{"x"}}).Scan(&doc)
		return Lines{doc}, err
	})
	Step("values that do not fit", func() (Lines, error) {
		var small int16
		return Lines{Refused(conn.QueryRow(ctx, "select 70000").Scan(&small)), Refused(conn.QueryRow(ctx, "select $1::int", "x").Scan(&small)),
			Refused(conn.QueryRow(ctx, "select $1::positive", -1).Scan(&small)), Refused(conn.QueryRow(ctx, "select $1::mood", "angry").Scan(new(string)))}, nil
	})
	Step("large values", func() (Lines, error) {
		text := strings.Repeat("ä", 1<<20)
		var length int
		var back string
		err := conn.QueryRow(ctx, "select length($1::text), $1::text", text).Scan(&length, &back)
		return Lines{length, back == text}, err
	})
}

func batches() {
	Step("a batch", func() (Lines, error) {
		batch := &pgx.Batch{}
		for n := range 20 {
			batch.Queue("insert into things (what, count) values ($1, $2)", fmt.Sprint("batch ", n), n)
		}
		batch.Queue("select count(*) from things where what like $1", "batch%")
		results := conn.SendBatch(ctx, batch)
		defer results.Close()
		total := int64(0)
		for range 20 {
			total += Must(results.Exec()).RowsAffected()
		}
		var count int
		err := results.QueryRow().Scan(&count)
		return Lines{total, count}, err
	})
	Step("a batch with functions", func() (Lines, error) {
		var found Lines
		batch := &pgx.Batch{}
		batch.Queue("select id, name from people where id < 3 order by id").Query(func(rows pgx.Rows) error {
			found = append(found, collect(rows, nil)...)
			return nil
		})
		batch.Queue("update people set rating = rating where id < 3").Exec(func(tag pgconn.CommandTag) error {
			found = append(found, tag.String())
			return nil
		})
		return found, conn.SendBatch(ctx, batch).Close()
	})
	Step("a batch that fails", func() (Lines, error) {
		batch := &pgx.Batch{}
		batch.Queue("insert into things (what) values ('lost')")
		batch.Queue("insert into things (what, count) values ('bad', $1)", -1)
		batch.Queue("insert into things (what) values ('never')")
		err := conn.SendBatch(ctx, batch).Close()
		return append(Lines{Refused(err)}, ask("select count(*) from things where what in ('lost', 'bad', 'never')")...), nil
	})
	Step("a pipeline", func() (Lines, error) {
		pipeline := conn.PgConn().StartPipeline(ctx)
		pipeline.SendPrepare("p", "select $1::int * 2", nil)
		pipeline.SendQueryParams("select 1 / $1::int", [][]byte{[]byte("0")}, nil, nil, nil)
		pipeline.SendQueryPrepared("p", [][]byte{[]byte("21")}, nil, nil)
		Check(pipeline.Sync())
		pipeline.SendQueryPrepared("p", [][]byte{[]byte("4")}, nil, nil)
		Check(pipeline.Sync())
		var found Lines
		for {
			results, err := pipeline.GetResults()
			if err != nil {
				found = append(found, ErrorOf(err))
				continue
			}
			if results == nil {
				break
			}
			switch results := results.(type) {
			case *pgconn.ResultReader:
				// The server may find a wrong value when it is bound or when the statement runs.
				result := results.Read()
				if result.Err != nil {
					found = append(found, ErrorOf(result.Err))
					continue
				}
				found = append(found, result.Rows)
			default:
				found = append(found, fmt.Sprintf("%T", results))
			}
			if len(found) > 20 {
				break
			}
		}
		return found, pipeline.Close()
	})
}

func copies() {
	Step("copy from rows", func() (Lines, error) {
		run("create table copied (id int primary key, name text, price numeric(8, 2), at timestamptz, tags text[], mood mood, doc jsonb)")
		at := time.Date(2024, 2, 29, 0, 0, 0, 1000, time.UTC)
		count, err := conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"id", "name", "price", "at", "tags", "mood", "doc"}, pgx.CopyFromSlice(500, func(n int) ([]any, error) {
			return []any{n, fmt.Sprint("row ", n), float64(n) / 4, at.AddDate(0, 0, n), []string{"a", fmt.Sprint(n)}, "ok", map[string]int{"n": n}}, nil
		}))
		return append(Lines{count}, ask("select count(*), sum(price), max(at), min(name), (array_agg(doc order by id))[2] as doc from copied")...), err
	})
	Step("copy from rows that fail", func() (Lines, error) {
		_, twice := conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"id"}, pgx.CopyFromRows([][]any{{1000}, {1}}))
		_, broken := conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"id"}, pgx.CopyFromSlice(5, func(n int) ([]any, error) {
			if n == 3 {
				return nil, errors.New("no more")
			}
			return []any{2000 + n}, nil
		}))
		_, nowhere := conn.CopyFrom(ctx, pgx.Identifier{"public", "nowhere"}, []string{"id"}, pgx.CopyFromRows(nil))
		return append(Lines{Refused(twice), Refused(broken), Refused(nowhere)}, ask("select count(*) from copied")...), nil
	})
	Step("copy texts", func() (Lines, error) {
		var out bytes.Buffer
		tag := Must(conn.PgConn().CopyTo(ctx, &out, "copy (select id, name, price, at, tags from copied order by id limit 3) to stdout (format csv, header)"))
		in, err := conn.PgConn().CopyFrom(ctx, strings.NewReader("3000\tin\t1.5\n3001\t\\N\t\\N\n"), "copy copied (id, name, price) from stdin")
		_, bad := conn.PgConn().CopyFrom(ctx, strings.NewReader("4000\tin\tx\n"), "copy copied (id, name, price) from stdin")
		return append(Lines{tag.String(), out.String(), in.String(), Refused(bad)}, ask("select * from copied where id >= 3000 order by id")...), err
	})
}

func transactions() {
	Step("transactions", func() (Lines, error) {
		var found Lines
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			Must(tx.Exec(ctx, "insert into people (name) values ('in transaction')"))
			nested := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
				_, err := inner.Exec(ctx, "insert into people (name) values ('Ann')")
				return err
			})
			found = append(found, Refused(nested))
			return pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
				_, err := inner.Exec(ctx, "insert into people (name) values ('nested')")
				return err
			})
		})
		return append(found, ask("select name from people where name in ('in transaction', 'nested') order by 1")...), err
	})
	Step("options", func() (Lines, error) {
		tx := Must(conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.Serializable, AccessMode: pgx.ReadOnly, DeferrableMode: pgx.Deferrable}))
		found := collect(tx.Query(ctx, "select current_setting('transaction_isolation') as i, current_setting('transaction_read_only') as r, current_setting('transaction_deferrable') as d"))
		_, err := tx.Exec(ctx, "delete from things")
		found = append(found, Refused(err), string(conn.PgConn().TxStatus()))
		_, err = tx.Exec(ctx, "select 1")
		return append(found, Refused(err), tx.Commit(ctx)), nil
	})
	Step("large objects", func() (Lines, error) {
		tx := Must(conn.Begin(ctx))
		defer tx.Rollback(ctx)
		store := tx.LargeObjects()
		oid := Must(store.Create(ctx, 0))
		object := Must(store.Open(ctx, oid, pgx.LargeObjectModeRead|pgx.LargeObjectModeWrite))
		written := Must(object.Write(bytes.Repeat([]byte("0123456789"), 1000)))
		place := Must(object.Seek(-5, 2))
		part := make([]byte, 10)
		count, end := object.Read(part)
		Check(object.Truncate(7))
		size := Must(object.Seek(0, 2))
		return Lines{written, place, count, string(part[:count]), fmt.Sprint(end), size, object.Close(), store.Unlink(ctx, oid)}, nil
	})
	Step("a cursor", func() (Lines, error) {
		tx := Must(conn.Begin(ctx))
		defer tx.Rollback(ctx)
		Must(tx.Exec(ctx, "declare c scroll cursor for select id from copied order by id"))
		found := collect(tx.Query(ctx, "fetch 2 from c"))
		found = append(found, collect(tx.Query(ctx, "fetch absolute 100 from c"))...)
		return append(found, collect(tx.Query(ctx, "fetch backward 2 from c"))...), nil
	})
}

func notifications() {
	Step("notifications", func() (Lines, error) {
		other := Must(pgx.Connect(ctx, URL))
		defer other.Close(ctx)
		run("listen news")
		run(`listen "Odd name"`)
		Must(other.Exec(ctx, "select pg_notify('news', $1)", "first"))
		Must(other.Exec(ctx, `notify "Odd name"`))
		var found Lines
		for range 2 {
			heard := Must(conn.WaitForNotification(ctx))
			found = append(found, heard.Channel+" "+heard.Payload, heard.PID == other.PgConn().PID())
		}
		short, done := context.WithTimeout(ctx, 20*time.Millisecond)
		defer done()
		_, err := conn.WaitForNotification(short)
		found = append(found, pgconn.Timeout(err), conn.IsClosed())
		run("unlisten *")
		return found, nil
	})
	Step("notices", func() (Lines, error) {
		config := Must(pgx.ParseConfig(URL))
		var found Lines
		config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
			found = append(found, notice.Severity+" "+notice.Code+" "+notice.Message+" "+notice.Hint)
		}
		other := Must(pgx.ConnectConfig(ctx, config))
		defer other.Close(ctx)
		Must(other.Exec(ctx, "do $$ begin raise notice 'one %', 1; raise warning using message = 'two', hint = 'a hint', errcode = '01W02'; end $$"))
		Must(other.Exec(ctx, "drop table if exists nowhere"))
		return found, nil
	})
}

func failures() {
	for _, text := range []string{"selec 1", "select * from nowhere", "select nothing from people", "insert into people (name) values (null)", "insert into people (name) values ('Ann')",
		"insert into things (owner, what) values (999, 'x')", "insert into things (what, count) values ('x', -1)", "select 1 / 0", "select 'x'::int", "select sum(name) from people", "drop table people",
		"insert into people (id, name) values (1, 'x')", "select $1", "create table people (x int)", "update people set rating = 99999 where id = 1", "select nofunction(1)"} {
		Step("error of "+text, func() (Lines, error) {
			_, err := conn.Exec(ctx, text, pgx.QueryExecModeDescribeExec)
			return Lines{Refused(err)}, nil
		})
	}
	Step("an error in the middle of rows", func() (Lines, error) {
		rows := Must(conn.Query(ctx, "select 100 / (500 - g) from generate_series(1, 1000) g"))
		count := 0
		for rows.Next() {
			count++
		}
		return Lines{count, Refused(rows.Err())}, nil
	})
	Step("cancelled", func() (Lines, error) {
		other := Must(pgx.Connect(ctx, URL))
		done := make(chan error, 1)
		go func() {
			_, err := other.Exec(ctx, "select pg_sleep(30)")
			done <- err
		}()
		for {
			select {
			case err := <-done:
				_, after := other.Exec(ctx, "select 1")
				return Lines{Refused(err), after}, other.Close(ctx)
			default:
				Check(other.PgConn().CancelRequest(ctx))
			}
		}
	})
	Step("a deadline", func() (Lines, error) {
		other := Must(pgx.Connect(ctx, URL))
		short, done := context.WithTimeout(ctx, 50*time.Millisecond)
		defer done()
		_, err := other.Exec(short, "select pg_sleep(30)")
		return Lines{errors.Is(err, context.DeadlineExceeded), other.IsClosed()}, nil
	})
	Step("statement time-out", func() (Lines, error) {
		// The failure ends the setting with the transaction: what follows has all the time it needs.
		run("begin")
		run("set local statement_timeout = 30")
		_, err := conn.Exec(ctx, "select pg_sleep(30)")
		run("rollback")
		return Lines{Refused(err)}, nil
	})
	Step("wrong names", func() (Lines, error) {
		_, database := pgx.Connect(ctx, strings.Replace(URL, "/store", "/nowhere", 1))
		config := Must(pgx.ParseConfig(URL))
		config.RuntimeParams["nothing"] = "1"
		_, setting := pgx.ConnectConfig(ctx, config)
		return Lines{Refused(database), Refused(setting)}, nil
	})
}

func pool() {
	Step("a pool", func() (Lines, error) {
		config := Must(pgxpool.ParseConfig(URL))
		config.MaxConns = 4
		config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "set application_name = 'pooled'")
			return err
		}
		pool := Must(pgxpool.NewWithConfig(ctx, config))
		defer pool.Close()
		var group sync.WaitGroup
		answers := make([]int, 40)
		for n := range answers {
			group.Add(1)
			go func() {
				defer group.Done()
				Check(pool.QueryRow(ctx, "select $1::int * 2", n).Scan(&answers[n]))
			}()
		}
		group.Wait()
		var name string
		err := pool.QueryRow(ctx, "select current_setting('application_name')").Scan(&name)
		held := Must(pool.Acquire(ctx))
		count := pool.Stat().AcquiredConns()
		held.Release()
		pool.Reset()
		return Lines{answers, name, count, pool.Stat().TotalConns() <= 4, pool.Ping(ctx)}, err
	})
	Step("counted by many", func() (Lines, error) {
		run("create table counter (id int primary key, n int); insert into counter values (1, 0)")
		pool := Must(pgxpool.New(ctx, URL+map[bool]string{true: "&", false: "?"}[strings.Contains(URL, "?")]+"pool_max_conns=5"))
		defer pool.Close()
		var group sync.WaitGroup
		for range 25 {
			group.Add(1)
			go func() {
				defer group.Done()
				Check(pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					var n int
					Check(tx.QueryRow(ctx, "select n from counter where id = 1 for update").Scan(&n))
					_, err := tx.Exec(ctx, "update counter set n = $1 where id = 1", n+1)
					return err
				}))
			}()
		}
		group.Wait()
		return ask("select n from counter"), nil
	})
}

func standard() {
	Step("database/sql", func() (Lines, error) {
		db := Must(sql.Open("pgx", URL))
		defer db.Close()
		statement := Must(db.Prepare("select name, born, rating, mood from people where id = $1"))
		defer statement.Close()
		var found Lines
		for id := range 3 {
			var name, mood sql.NullString
			var born sql.NullTime
			var rating float64
			err := statement.QueryRow(id+1).Scan(&name, &born, &rating, &mood)
			if err != nil {
				found = append(found, ErrorOf(err))
				continue
			}
			found = append(found, fmt.Sprint(name, born, rating, mood))
		}
		rows := Must(db.Query("select * from people limit 1"))
		defer rows.Close()
		for _, column := range Must(rows.ColumnTypes()) {
			length, sized := column.Length()
			precision, scale, exact := column.DecimalSize()
			found = append(found, fmt.Sprint(column.Name(), " ", strings.TrimLeft(column.DatabaseTypeName(), "0123456789"), " ", length, sized, precision, scale, exact, " ", column.ScanType()))
		}
		return found, nil
	})
	Step("transactions of database/sql", func() (Lines, error) {
		db := Must(sql.Open("pgx", URL))
		defer db.Close()
		tx := Must(db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}))
		result := Must(tx.Exec("update people set rating = 3 where id < $1", 3))
		_, err := tx.Exec("insert into people (name) values ($1)", "Ann")
		return Lines{Must(result.RowsAffected()), Refused(err), tx.Rollback()}, nil
	})
}
