// sqlx: structs, names for places, lists, prepared statements with names, transactions.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/types"

	. "rowferry/tours/tour"
)

// Person is a row of people.
type Person struct {
	ID      uint64
	Name    string
	Email   sql.NullString
	Born    *time.Time
	Balance float64
	Doc     types.JSONText
	Active  types.BitBool
	Flag    bool
	Zip     types.GzippedText
}

// Pet has an owner.
type Pet struct {
	ID    int
	Name  string
	Owner Person
}

func main() {
	db := Must(sqlx.Connect("mysql", DataSource("parseTime=true&multiStatements=true")))
	defer db.Close()
	Step("schema", func() (Lines, error) {
		db.MustExec(`CREATE TABLE people (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, email VARCHAR(80) UNIQUE, born DATE, balance DECIMAL(12, 3) NOT NULL DEFAULT 0, doc JSON, active BIT(1) NOT NULL DEFAULT b'1', flag BOOL NOT NULL DEFAULT TRUE, zip BLOB NOT NULL DEFAULT (''));
			CREATE TABLE pets (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), owner BIGINT UNSIGNED, FOREIGN KEY (owner) REFERENCES people (id))`)
		return Lines{db.DriverName(), db.Ping()}, nil
	})
	Step("names for places", func() (Lines, error) {
		born := time.Date(1980, 2, 29, 0, 0, 0, 0, time.UTC)
		person := Person{Name: "Ann", Email: sql.NullString{String: "ann@example.com", Valid: true}, Born: &born, Balance: 12.345, Doc: types.JSONText(`{"k": [1, "x"]}`), Active: true, Zip: types.GzippedText("long long text")}
		result := Must(db.NamedExec("INSERT INTO people (name, email, born, balance, doc, active, flag, zip) VALUES (:name, :email, :born, :balance, :doc, :active, :flag, :zip)", person))
		many := Must(db.NamedExec("INSERT INTO people (name, email, doc) VALUES (:name, :email, :doc)", []map[string]any{{"name": "Bob", "email": nil, "doc": "null"}, {"name": "Cid", "email": "cid@example.com", "doc": `"it's"`}}))
		return Lines{Must(result.LastInsertId()), Must(result.RowsAffected()), Must(many.LastInsertId()), Must(many.RowsAffected())}, nil
	})
	Step("structs", func() (Lines, error) {
		var one Person
		Check(db.Get(&one, "SELECT * FROM people WHERE id = ?", 1))
		var all []Person
		Check(db.Select(&all, "SELECT id, name, email, born, balance, flag, active FROM people ORDER BY id"))
		var names []string
		Check(db.Select(&names, "SELECT name FROM people WHERE born IS NULL ORDER BY name DESC"))
		var count int
		Check(db.Get(&count, "SELECT COUNT(*) FROM people"))
		none := db.Get(&one, "SELECT * FROM people WHERE id = 99")
		missing := db.Get(&one, "SELECT id, 1 AS strange FROM people LIMIT 1")
		return Lines{one, all, names, count, errors.Is(none, sql.ErrNoRows), Refused(missing)}, nil
	})
	Step("lists", func() (Lines, error) {
		query, values, err := sqlx.In("SELECT name FROM people WHERE id IN (?) AND name <> ? ORDER BY id DESC", []int{1, 2, 3}, "Bob")
		Check(err)
		var names []string
		err = db.Select(&names, db.Rebind(query), values...)
		return Lines{names}, err
	})
	Step("maps and slices", func() (Lines, error) {
		rows := Must(db.Queryx("SELECT id, name, born, balance, doc->'$.k[0]' AS first, active, flag, COUNT(*) OVER () AS n FROM people WHERE id >= ? ORDER BY id", 1))
		defer rows.Close()
		var found Lines
		for rows.Next() {
			row := map[string]any{}
			Check(rows.MapScan(row))
			found = append(found, row)
		}
		plain := Must(db.Queryx("SELECT * FROM people ORDER BY id LIMIT 1"))
		defer plain.Close()
		plain.Next()
		list := Must(plain.SliceScan())
		return append(found, list[:8]), rows.Err()
	})
	Step("joins", func() (Lines, error) {
		db.MustExec("INSERT INTO pets (name, owner) VALUES ('Rex', 1), ('Cat', 2), ('Fish', 1)")
		var pets []Pet
		err := db.Select(&pets, "SELECT p.id, p.name, o.id AS `owner.id`, o.name AS `owner.name`, o.balance AS `owner.balance` FROM pets p JOIN people o ON o.id = p.owner ORDER BY p.id")
		return Lines{pets}, err
	})
	Step("prepared statements with names", func() (Lines, error) {
		statement := Must(db.PrepareNamed("SELECT name, balance FROM people WHERE balance >= :least AND (email = :email OR :email IS NULL) ORDER BY id"))
		defer statement.Close()
		var found Lines
		for _, values := range []map[string]any{{"least": 0, "email": nil}, {"least": 1.5, "email": "ann@example.com"}, {"least": "100", "email": nil}} {
			var people []Person
			Check(statement.Select(&people, values))
			found = append(found, people)
		}
		plain := Must(db.Preparex("UPDATE people SET balance = balance + ? WHERE id = ?"))
		defer plain.Close()
		for n := range 3 {
			found = append(found, Must(plain.MustExec(0.1, n+1).RowsAffected()))
		}
		var sum string
		Check(db.Get(&sum, "SELECT SUM(balance) FROM people"))
		return append(found, sum), nil
	})
	Step("transactions", func() (Lines, error) {
		tx := db.MustBegin()
		tx.MustExec("UPDATE people SET name = ? WHERE id = 2", "Robert")
		var name string
		Check(tx.Get(&name, "SELECT name FROM people WHERE id = 2 FOR UPDATE"))
		found := Lines{name, tx.Rollback()}
		Check(db.Get(&name, "SELECT name FROM people WHERE id = 2"))
		tx = db.MustBegin()
		_, err := tx.NamedExec("INSERT INTO people (name, email) VALUES (:n, :e)", map[string]any{"n": "Dora", "e": "ann@example.com"})
		found = append(found, name, Refused(err))
		_, err = tx.NamedExec("UPDATE people SET doc = JSON_SET(COALESCE(doc, '{}'), '$.set', :v) WHERE id = :id", map[string]any{"v": 5, "id": 1})
		Check(err)
		Check(tx.Commit())
		var doc json.RawMessage
		Check(db.Get(&doc, "SELECT doc FROM people WHERE id = 1"))
		return append(found, string(doc)), nil
	})
	Step("several results", func() (Lines, error) {
		rows := Must(db.Queryx("SELECT id FROM people ORDER BY id; SELECT name FROM pets ORDER BY id"))
		defer rows.Close()
		var found Lines
		for {
			for rows.Next() {
				found = append(found, Must(rows.SliceScan()))
			}
			if !rows.NextResultSet() {
				return found, rows.Err()
			}
		}
	})
}
