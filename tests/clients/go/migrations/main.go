// golang-migrate and goose: migrations up, down, again, by two at once, broken ones, their tables and locks.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing/fstest"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database/mysql"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	. "rowferry/tours/tour"
)

var (
	ctx = context.Background()
	db  *sql.DB
)

func main() {
	db = Must(sql.Open("mysql", DataSource("multiStatements=true&parseTime=true")))
	defer db.Close()
	migrates()
	gooses()
}

func ask(text string, values ...any) Lines {
	rows := Must(db.QueryContext(ctx, text, values...))
	defer rows.Close()
	names := Must(rows.Columns())
	var found Lines
	for rows.Next() {
		row := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for n := range row {
			into[n] = &row[n]
		}
		Check(rows.Scan(into...))
		found = append(found, row)
	}
	Check(rows.Err())
	return found
}

func tables() Lines {
	return append(ask("SELECT table_name, table_type, engine, table_collation, table_comment FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1"),
		ask("SELECT table_name, column_name, column_type, is_nullable, column_default, column_key, extra FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position")...)
}

func directory(files map[string]string) fs.FS {
	found := fstest.MapFS{}
	for name, text := range files {
		found[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return found
}

var migrations = directory(map[string]string{
	"1_first.up.sql": `CREATE TABLE authors (id INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(60) NOT NULL, born YEAR, PRIMARY KEY (id), UNIQUE KEY by_name (name)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
		CREATE TABLE books (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, author INT UNSIGNED NOT NULL, title VARCHAR(100) NOT NULL COMMENT 'as printed', price DECIMAL(8, 2) NOT NULL DEFAULT 0.00, CONSTRAINT of_author FOREIGN KEY (author) REFERENCES authors (id) ON DELETE CASCADE);
		INSERT INTO authors (name, born) VALUES ('Ann', 1980), ('Bob; the "second"', NULL);`,
	"1_first.down.sql": "DROP TABLE books; DROP TABLE authors;",
	"2_more.up.sql": `ALTER TABLE books ADD COLUMN isbn CHAR(13) NULL AFTER title, ADD INDEX by_title (title(20), price), MODIFY COLUMN price DECIMAL(10, 2) UNSIGNED NOT NULL DEFAULT 1;
		CREATE VIEW cheap AS SELECT title, price FROM books WHERE price < 10;
		UPDATE authors SET born = 1990 WHERE born IS NULL`,
	"2_more.down.sql":    "DROP VIEW cheap; ALTER TABLE books DROP COLUMN isbn, DROP INDEX by_title",
	"3_routine.up.sql":   "CREATE TRIGGER priced BEFORE INSERT ON books FOR EACH ROW SET NEW.price = ROUND(NEW.price, 0);\nCREATE PROCEDURE count_of(OUT n INT) SELECT COUNT(*) INTO n FROM books",
	"3_routine.down.sql": "DROP TRIGGER priced; DROP PROCEDURE count_of",
	"4_broken.up.sql":    "CREATE TABLE halfway (id INT); SELECT * FROM nowhere",
	"4_broken.down.sql":  "DROP TABLE IF EXISTS halfway",
})

// migrator has a connection of its own, as each process that migrates has.
func migrator() *migrate.Migrate {
	own := Must(sql.Open("mysql", DataSource("multiStatements=true")))
	driver := Must(mysql.WithInstance(own, &mysql.Config{MigrationsTable: "schema_migrations", StatementTimeout: 20 * time.Second}))
	return Must(migrate.NewWithInstance("iofs", Must(iofs.New(migrations, ".")), "mysql", driver))
}

func version(of *migrate.Migrate) string {
	number, dirty, err := of.Version()
	return fmt.Sprint(number, dirty, err)
}

func migrates() {
	Step("migrate up", func() (Lines, error) {
		one := migrator()
		defer one.Close()
		found := Lines{version(one), one.Migrate(2), version(one), errors.Is(one.Migrate(2), migrate.ErrNoChange), one.Steps(1)}
		return append(append(found, version(one)), append(tables(), ask("SELECT * FROM authors ORDER BY id")...)...), nil
	})
	Step("migrate what is broken", func() (Lines, error) {
		one := migrator()
		defer one.Close()
		failed := one.Up()
		var of any = failed
		if told, ok := failed.(interface{ Unwrap() error }); ok {
			of = told.Unwrap()
		}
		found := Lines{failed.Error(), fmt.Sprintf("%T", of), version(one), fmt.Sprint(one.Up())}
		Check(one.Force(4))
		return append(found, one.Steps(-1), version(one)), nil
	})
	Step("migrate down and up again, by many at once", func() (Lines, error) {
		one := migrator()
		defer one.Close()
		found := Lines{one.Migrate(1), version(one)}
		found = append(found, tables()...)
		var group sync.WaitGroup
		said := make([]string, 4)
		for n := range said {
			group.Add(1)
			go func() {
				defer group.Done()
				own := migrator()
				defer own.Close()
				if err := own.Migrate(3); err != nil && !errors.Is(err, migrate.ErrNoChange) {
					said[n] = err.Error()
				}
			}()
		}
		group.Wait()
		return append(found, said, version(one), one.Down(), version(one), tables()), nil
	})
	Step("migrate a lock that somebody holds", func() (Lines, error) {
		holder, one := migrator(), migrator()
		defer holder.Close()
		own := Must(sql.Open("mysql", DataSource("")))
		defer own.Close()
		driver := Must(mysql.WithInstance(own, &mysql.Config{}))
		Check(driver.Lock())
		one.LockTimeout = 300 * time.Millisecond
		refused := one.Up()
		found := Lines{refused.Error(), driver.Unlock()}
		return append(found, one.Migrate(1), one.Drop(), tables()), nil
	})
}

var steps = directory(map[string]string{
	"00001_first.sql": `-- +goose Up
CREATE TABLE players (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, joined TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, doc JSON);
INSERT INTO players (name, doc) VALUES ('Ann', '{"a": 1}');
-- +goose Down
DROP TABLE players;
`,
	"00002_routines.sql": `-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC
BEGIN
	DECLARE found INT DEFAULT 0;
	SET found = n * 2;
	RETURN found;
END;
-- +goose StatementEnd
CREATE TABLE scores (player INT UNSIGNED NOT NULL, points INT NOT NULL CHECK (points >= 0), PRIMARY KEY (player, points), FOREIGN KEY (player) REFERENCES players (id));
INSERT INTO scores SELECT id, doubled(id) FROM players;
-- +goose Down
DROP TABLE scores;
DROP FUNCTION doubled;
`,
	"00003_apart.sql": `-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE players ADD COLUMN nick VARCHAR(20) GENERATED ALWAYS AS (UPPER(name)) STORED, RENAME COLUMN doc TO document;
CREATE UNIQUE INDEX by_nick ON players (nick);
-- +goose Down
ALTER TABLE players DROP COLUMN nick, RENAME COLUMN document TO doc;
`,
	"00004_broken.sql": `-- +goose Up
CREATE TABLE halfway (id INT);
INSERT INTO halfway VALUES ('x');
-- +goose Down
DROP TABLE halfway;
`,
})

func gooses() {
	told := func(results []*goose.MigrationResult) Lines {
		var found Lines
		for _, result := range results {
			found = append(found, fmt.Sprint(result.Source.Version, " ", result.Direction, " ", result.Empty, " ", result.Error))
		}
		return found
	}
	Step("goose up", func() (Lines, error) {
		provider := Must(goose.NewProvider(goose.DialectMySQL, db, steps, goose.WithVerbose(false)))
		found := told(Must(provider.UpTo(ctx, 3)))
		for _, status := range Must(provider.Status(ctx)) {
			found = append(found, fmt.Sprint(status.Source.Version, " ", status.State))
		}
		found = append(found, tables()...)
		return append(append(found, ask("SELECT id, name, document, nick FROM players")...), ask("SELECT * FROM scores")...), nil
	})
	Step("goose what is broken, down, redo", func() (Lines, error) {
		provider := Must(goose.NewProvider(goose.DialectMySQL, db, steps))
		_, err := provider.Up(ctx)
		var partial *goose.PartialError
		found := Lines{errors.As(err, &partial)}
		if partial != nil {
			found = append(found, told([]*goose.MigrationResult{partial.Failed}), ErrorOf(partial.Err))
		}
		found = append(found, Must(provider.GetDBVersion(ctx)))
		found = append(found, told([]*goose.MigrationResult{Must(provider.Down(ctx))})...)
		found = append(found, told(Must(provider.DownTo(ctx, 0)))...)
		return append(found, tables()...), nil
	})
	Step("goose with a session that locks", func() (Lines, error) {
		store := Must(database.NewStore(database.DialectMySQL, "versions"))
		provider := Must(goose.NewProvider("", db, steps, goose.WithStore(store)))
		found := told(Must(provider.UpTo(ctx, 2)))
		pending := Must(provider.HasPending(ctx))
		return append(append(found, pending, Must(provider.GetDBVersion(ctx))), ask("SELECT id, version_id, is_applied FROM versions ORDER BY id")...), nil
	})
}
