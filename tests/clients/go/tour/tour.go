// Package tour is what every tour uses: steps whose findings are printed, and values in one spelling.
package tour

import (
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

// URL is the empty database that the tour is given.
var URL = os.Args[1]

// DataSource is the URL of a MySQL as go-sql-driver takes it, with the parameters of a query string.
func DataSource(parameters string) string {
	place, err := url.Parse(URL)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s@tcp(%s)%s?%s", place.User, place.Host, place.Path, parameters)
}

// Lines is what a step has found out.
type Lines []any

// Step runs a step and prints what it says, a line for each element. A failure is a finding, and the next step goes on.
func Step(name string, act func() (Lines, error)) {
	fmt.Printf("== %s\n", name)
	defer func() {
		if cause := recover(); cause != nil {
			fmt.Printf("FAILED panic %v\n", cause)
			if os.Getenv("TOUR_STACKS") != "" {
				debug.PrintStack()
			}
		}
	}()
	found, err := act()
	for _, line := range found {
		if text, ok := line.(string); ok {
			fmt.Println(text)
		} else {
			fmt.Println(Spell(line))
		}
	}
	if err != nil {
		fmt.Printf("FAILED %s\n", ErrorOf(err))
	}
}

// Must returns the value, or stops the step.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(ErrorOf(err))
	}
	return value
}

// Check stops the step at an error.
func Check(err error) {
	if err != nil {
		panic(ErrorOf(err))
	}
}

// Refused says how it was refused; what is not refused stops the step.
func Refused(err error) string {
	if err == nil {
		panic("was not refused")
	}
	return ErrorOf(err)
}

// Spell spells a value, so that equal ones are spelled equally wherever they come from.
func Spell(value any) string {
	switch value := value.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("%q", value)
	case []byte:
		return `\x` + hex.EncodeToString(value)
	case [16]byte:
		return hex.EncodeToString(value[:])
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	case error:
		return ErrorOf(value)
	case driver.Valuer:
		plain, err := value.Value()
		if err != nil {
			return ErrorOf(err)
		}
		if _, again := plain.(driver.Valuer); again {
			return fmt.Sprint(plain)
		}
		return Spell(plain)
	}
	seen := reflect.ValueOf(value)
	switch seen.Kind() {
	case reflect.Pointer:
		if seen.IsNil() {
			return "nil"
		}
		return Spell(seen.Elem().Interface())
	case reflect.Slice, reflect.Array:
		var parts []string
		for n := range seen.Len() {
			parts = append(parts, Spell(seen.Index(n).Interface()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		var parts []string
		for _, key := range seen.MapKeys() {
			parts = append(parts, Spell(key.Interface())+": "+Spell(seen.MapIndex(key).Interface()))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Struct:
		var parts []string
		for n := range seen.NumField() {
			if seen.Type().Field(n).IsExported() {
				parts = append(parts, seen.Type().Field(n).Name+": "+Spell(seen.Field(n).Interface()))
			}
		}
		return seen.Type().Name() + "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%T %v", value, value)
}

// ErrorOf gives the fields of a server's error, or what a library says.
func ErrorOf(err error) string {
	var ofPgx *pgconn.PgError
	var ofPq *pq.Error
	var ofMySQL *mysql.MySQLError
	switch {
	case errors.As(err, &ofMySQL):
		return fmt.Sprintf("{%d %s, %s}", ofMySQL.Number, ofMySQL.SQLState[:], ofMySQL.Message)
	case errors.As(err, &ofPgx):
		return fields(ofPgx.Severity, ofPgx.Code, ofPgx.Message, ofPgx.Detail, ofPgx.Hint, fmt.Sprint(ofPgx.Position), ofPgx.Where,
			ofPgx.SchemaName, ofPgx.TableName, ofPgx.ColumnName, ofPgx.DataTypeName, ofPgx.ConstraintName)
	case errors.As(err, &ofPq):
		return fields(ofPq.Severity, string(ofPq.Code), ofPq.Message, ofPq.Detail, ofPq.Hint, ofPq.Position, ofPq.Where,
			ofPq.Schema, ofPq.Table, ofPq.Column, ofPq.DataTypeName, ofPq.Constraint)
	}
	return fmt.Sprintf("%T %v", err, err)
}

func fields(severity, code, message, detail, hint, position, where, schema, table, column, dataType, constraint string) string {
	told := []string{severity + " " + code, message}
	for n, text := range []string{detail, hint, position, where, schema, table, column, dataType, constraint} {
		if text != "" && text != "0" {
			name := []string{"detail", "hint", "position", "where", "schema", "table", "column", "type", "constraint"}[n]
			told = append(told, name+": "+text)
		}
	}
	return "{" + strings.Join(told, ", ") + "}"
}
