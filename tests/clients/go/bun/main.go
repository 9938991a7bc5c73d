// bun: its dialect of MySQL: tables, relations, upserts, bulks, common table expressions, soft deletes, migrations.
package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/migrate"

	. "rowferry/tours/tour"
)

// Author writes books.
type Author struct {
	bun.BaseModel `bun:"table:authors,alias:a"`
	ID            int64             `bun:",pk,autoincrement"`
	Name          string            `bun:",notnull,unique"`
	Born          *time.Time        `bun:"type:date"`
	Traits        map[string]string `bun:"type:json"`
	Score         float64           `bun:"type:decimal(10,2),default:1.5"`
	Books         []*Book           `bun:"rel:has-many,join:id=author_id"`
	Created       time.Time         `bun:",nullzero,notnull,default:current_timestamp"`
	DeletedAt     time.Time         `bun:",soft_delete,nullzero"`
}

// Book has an author and genres.
type Book struct {
	ID       uint64 `bun:",pk,autoincrement"`
	Title    string `bun:"type:varchar(100),notnull"`
	AuthorID int64
	Author   *Author `bun:"rel:belongs-to,join:author_id=id"`
	Pages    int32
	Cover    []byte
	Ready    bool
	Genres   []Genre `bun:"m2m:book_genres,join:Book=Genre"`
}

// Genre is shared by books.
type Genre struct {
	ID    int64  `bun:",pk,autoincrement"`
	Name  string `bun:"type:varchar(30),unique"`
	Books []Book `bun:"m2m:book_genres,join:Genre=Book"`
}

// BookGenre joins them.
type BookGenre struct {
	BookID  uint64 `bun:",pk"`
	Book    *Book  `bun:"rel:belongs-to,join:book_id=id"`
	GenreID int64  `bun:",pk"`
	Genre   *Genre `bun:"rel:belongs-to,join:genre_id=id"`
}

var (
	ctx = context.Background()
	db  *bun.DB
)

func told(result sql.Result, err error) any {
	Check(err)
	return []int64{Must(result.LastInsertId()), Must(result.RowsAffected())}
}

func asked(text string, values ...any) Lines {
	var rows []map[string]any
	Check(db.NewRaw(text, values...).Scan(ctx, &rows))
	var found Lines
	for _, row := range rows {
		found = append(found, row)
	}
	return found
}

func main() {
	db = bun.NewDB(Must(sql.Open("mysql", DataSource("parseTime=true"))), mysqldialect.New())
	defer db.Close()
	db.RegisterModel((*BookGenre)(nil))
	Step("tables", func() (Lines, error) {
		for _, model := range []any{(*Author)(nil), (*Genre)(nil)} {
			Must(db.NewCreateTable().Model(model).IfNotExists().Exec(ctx))
			Must(db.NewCreateTable().Model(model).IfNotExists().Exec(ctx))
		}
		Must(db.NewCreateTable().Model((*Book)(nil)).ForeignKey("(author_id) REFERENCES authors (id) ON DELETE CASCADE").Exec(ctx))
		Must(db.NewCreateTable().Model((*BookGenre)(nil)).WithForeignKeys().Exec(ctx))
		Must(db.NewCreateIndex().Model((*Book)(nil)).Index("by_title").Column("title", "pages").Exec(ctx))
		var found Lines
		for _, table := range []string{"authors", "books", "genres", "book_genres"} {
			found = append(found, asked("SHOW CREATE TABLE ?", bun.Ident(table))...)
		}
		return found, nil
	})
	born := time.Date(1960, 2, 29, 0, 0, 0, 0, time.UTC)
	Step("insert", func() (Lines, error) {
		ann := &Author{Name: "Ann", Born: &born, Traits: map[string]string{"hair": "ré\"d"}, Score: 2.25}
		many := []Author{{Name: "Bob", Score: 1}, {Name: "Cid", Score: 3}}
		found := Lines{told(db.NewInsert().Model(ann).Exec(ctx)), ann.ID, told(db.NewInsert().Model(&many).Exec(ctx)), many[0].ID, many[1].ID}
		books := []*Book{{Title: "One \\ 'two'", AuthorID: ann.ID, Pages: 65535, Cover: []byte{0, 255, 39}, Ready: true}, {Title: "Žluť 🐎", AuthorID: ann.ID, Pages: 10}, {Title: "Third", AuthorID: many[0].ID}}
		genres := []Genre{{Name: "a"}, {Name: "b"}}
		found = append(found, told(db.NewInsert().Model(&books).Exec(ctx)), told(db.NewInsert().Model(&genres).Exec(ctx)))
		joins := []BookGenre{{BookID: books[0].ID, GenreID: genres[0].ID}, {BookID: books[0].ID, GenreID: genres[1].ID}, {BookID: books[2].ID, GenreID: genres[1].ID}}
		return append(found, told(db.NewInsert().Model(&joins).Exec(ctx))), nil
	})
	Step("select", func() (Lines, error) {
		var authors []Author
		Check(db.NewSelect().Model(&authors).ExcludeColumn("created").Relation("Books", func(q *bun.SelectQuery) *bun.SelectQuery { return q.Order("id DESC") }).Relation("Books.Genres").Where("a.name IN (?)", bun.In([]string{"Ann", "Bob"})).Order("a.id").Scan(ctx))
		found := Lines{authors}
		var books []Book
		Check(db.NewSelect().Model(&books).Relation("Author", func(q *bun.SelectQuery) *bun.SelectQuery { return q.ExcludeColumn("created") }).Where("pages > ? OR ready = ?", 5, false).OrderExpr("pages DESC, book.id").Limit(2).Offset(1).Scan(ctx))
		count := Must(db.NewSelect().Model((*Book)(nil)).Where("title LIKE ?", "%o%").Count(ctx))
		exists := Must(db.NewSelect().Model((*Book)(nil)).Where("pages = 10").Exists(ctx))
		var n, sum int
		Check(db.NewSelect().Model((*Book)(nil)).ColumnExpr("COUNT(*), SUM(pages)").Scan(ctx, &n, &sum))
		none := db.NewSelect().Model(&Author{}).Where("id = 99").Scan(ctx)
		return append(found, books, count, exists, n, sum, errors.Is(none, sql.ErrNoRows)), nil
	})
	Step("common table expressions, unions, windows", func() (Lines, error) {
		big := db.NewSelect().Model((*Book)(nil)).Column("id", "title", "author_id").ColumnExpr("ROW_NUMBER() OVER (PARTITION BY author_id ORDER BY pages DESC) AS place")
		var rows []map[string]any
		Check(db.NewSelect().With("big", big).TableExpr("big").Column("title", "place").Where("place <= ?", 1).Union(db.NewSelect().ColumnExpr("?, ?", "z", 9)).Scan(ctx, &rows))
		return Lines{len(rows), asked("WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT SUM(i) AS s, GROUP_CONCAT(i) AS g FROM n", 10)}, nil
	})
	Step("upserts", func() (Lines, error) {
		found := Lines{told(db.NewInsert().Model(&Genre{ID: 1, Name: "a2"}).On("DUPLICATE KEY UPDATE").Exec(ctx)), told(db.NewInsert().Model(&Genre{ID: 1, Name: "a3"}).On("DUPLICATE KEY UPDATE").Set("name = CONCAT(VALUES(name), '!')").Exec(ctx)),
			told(db.NewInsert().Model(&Genre{Name: "b"}).Ignore().Exec(ctx)), told(db.NewInsert().Model(&Genre{Name: "c"}).Ignore().Exec(ctx)), told(db.NewInsert().Model(&Genre{ID: 4, Name: "r"}).Replace().Exec(ctx))}
		return append(found, asked("SELECT id, name FROM genres ORDER BY id")...), nil
	})
	Step("update and delete", func() (Lines, error) {
		found := Lines{told(db.NewUpdate().Model(&Author{ID: 1, Name: "Anna", Score: 9.99}).Column("name", "score").WherePK().Exec(ctx)), told(db.NewUpdate().Model((*Book)(nil)).Set("pages = pages - ?", 1).Where("pages > 0").Exec(ctx)),
			told(db.NewUpdate().Model((*Book)(nil)).Set("ready = TRUE").Where("id IN (?)", bun.In([]int{2, 3})).Exec(ctx)), told(db.NewDelete().Model((*Author)(nil)).Where("name = ?", "Cid").Exec(ctx))}
		bulk := []*Author{{ID: 1, Score: 1.1}, {ID: 2, Score: 2.2}}
		values := db.NewValues(&bulk)
		_, err := db.NewUpdate().With("_data", values).Model((*Author)(nil)).TableExpr("_data").Set("a.score = _data.score").Where("a.id = _data.id").Exec(ctx)
		if err != nil {
			found = append(found, ErrorOf(err))
		}
		var left []string
		Check(db.NewSelect().Model((*Author)(nil)).Column("name").Order("id").Scan(ctx, &left))
		found = append(found, left, Must(db.NewSelect().Model((*Author)(nil)).WhereAllWithDeleted().Count(ctx)), told(db.NewDelete().Model((*Author)(nil)).Where("name = 'Cid'").WhereDeleted().ForceDelete().Exec(ctx)),
			told(db.NewDelete().Model(&Genre{}).Where("name = 'r'").Exec(ctx)))
		return append(found, asked("SELECT b.title, b.pages, b.ready, a.name, a.score FROM books b JOIN authors a ON a.id = b.author_id ORDER BY b.id")...), nil
	})
	Step("transactions", func() (Lines, error) {
		var found Lines
		err := db.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}, func(ctx context.Context, tx bun.Tx) error {
			Must(tx.NewInsert().Model(&Genre{Name: "in"}).Exec(ctx))
			nested := tx.RunInTx(ctx, nil, func(ctx context.Context, inner bun.Tx) error {
				Must(inner.NewInsert().Model(&Genre{Name: "nested"}).Exec(ctx))
				return errors.New("rolled back")
			})
			found = append(found, nested.Error())
			_, err := tx.NewInsert().Model(&Genre{Name: "in"}).Exec(ctx)
			found = append(found, Refused(err))
			var genre Genre
			Check(tx.NewSelect().Model(&genre).Where("name = 'in'").For("UPDATE").Scan(ctx))
			return nil
		})
		return append(found, asked("SELECT name FROM genres ORDER BY id")...), err
	})
	Step("tables change", func() (Lines, error) {
		Must(db.NewAddColumn().Model((*Book)(nil)).ColumnExpr("isbn VARCHAR(20) NOT NULL DEFAULT 'none' AFTER title").Exec(ctx))
		Must(db.NewDropColumn().Model((*Book)(nil)).Column("cover").Exec(ctx))
		Must(db.NewDropIndex().Model((*Book)(nil)).Index("by_title ON books").Exec(ctx))
		found := asked("SHOW CREATE TABLE books")
		Must(db.NewTruncateTable().Model((*BookGenre)(nil)).Exec(ctx))
		Must(db.NewDropTable().Model((*BookGenre)(nil)).IfExists().Exec(ctx))
		Must(db.NewDropTable().Model((*BookGenre)(nil)).IfExists().Exec(ctx))
		return append(found, asked("SHOW TABLES")...), nil
	})
	Step("migrations", func() (Lines, error) {
		migrations := migrate.NewMigrations()
		migrations.Add(migrate.Migration{Name: "20240101000000", Comment: "first", Up: func(ctx context.Context, migrator *migrate.Migrator, _ *migrate.Migration) error {
			_, err := migrator.DB().ExecContext(ctx, "CREATE TABLE migrated (id INT PRIMARY KEY)")
			return err
		}, Down: func(ctx context.Context, migrator *migrate.Migrator, _ *migrate.Migration) error {
			_, err := migrator.DB().ExecContext(ctx, "DROP TABLE migrated")
			return err
		}})
		migrator := migrate.NewMigrator(db, migrations)
		Check(migrator.Init(ctx))
		Check(migrator.Init(ctx))
		Check(migrator.Lock(ctx))
		again := migrator.Lock(ctx)
		group := Must(migrator.Migrate(ctx))
		found := Lines{Refused(again), group.ID, len(group.Migrations), migrator.Unlock(ctx)}
		found = append(found, asked("SELECT id, name, group_id FROM bun_migrations")...)
		undone := Must(migrator.Rollback(ctx))
		return append(append(found, len(undone.Migrations)), asked("SHOW TABLES")...), nil
	})
}
