// xorm: its sync of structs with tables, create, read, update, delete, sessions, what it finds in a database.
package main

import (
	"sort"
	"strings"
	"time"

	"xorm.io/xorm"
	"xorm.io/xorm/log"
	"xorm.io/xorm/names"

	. "rowferry/tours/tour"
)

// Account is a row of account.
type Account struct {
	ID      int64             `xorm:"pk autoincr 'id'"`
	Name    string            `xorm:"varchar(40) notnull unique comment('of the owner')"`
	Balance float64           `xorm:"decimal(12,2) default 0"`
	Level   uint8             `xorm:"index(by_level)"`
	Big     uint64            `xorm:"unsigned bigint"`
	Doc     map[string]any    `xorm:"json"`
	Tags    []string          `xorm:"text"`
	Raw     []byte            `xorm:"blob"`
	Active  bool              `xorm:"default true"`
	Day     time.Time         `xorm:"date null"`
	Created time.Time         `xorm:"created"`
	Updated time.Time         `xorm:"updated"`
	Deleted time.Time         `xorm:"deleted"`
	Version int               `xorm:"version"`
	Kind    string            `xorm:"char(1) default 'b'"`
	Extra   map[string]string `xorm:"json null"`
}

// Entry belongs to an account.
type Entry struct {
	ID      int64 `xorm:"pk autoincr 'id'"`
	Account int64 `xorm:"notnull index"`
	Amount  int32
	Said    string `xorm:"varchar(20) unique(said_once)"`
	Place   int    `xorm:"unique(said_once)"`
}

// AccountNow is the table of accounts as it is to be.
type AccountNow struct {
	ID      int64  `xorm:"pk autoincr 'id'"`
	Name    string `xorm:"varchar(80) notnull unique comment('of the owner')"`
	Balance string `xorm:"decimal(12,2) default 0"`
	Level   uint8  `xorm:"index(by_level)"`
	Nick    string `xorm:"varchar(10) index default 'none'"`
}

// TableName says whose rows these are.
func (AccountNow) TableName() string { return "account" }

var db *xorm.Engine

func asked(text string, values ...any) Lines {
	var found Lines
	for _, row := range Must(db.QueryInterface(append([]any{text}, values...)...)) {
		found = append(found, row)
	}
	return found
}

// definition is what SHOW CREATE TABLE tells, by its lines: keys come in the order of a map, which is another each time.
func definition(table string) Lines {
	rows := Must(db.QueryString("SHOW CREATE TABLE " + table))
	lines := strings.Split(strings.ReplaceAll(rows[0]["Create Table"], ",\n", "\n"), "\n")
	sort.Strings(lines)
	return Lines{lines}
}

func metas() Lines {
	var found Lines
	tables := Must(db.DBMetas())
	sort.Slice(tables, func(i, j int) bool { return tables[i].Name < tables[j].Name })
	for _, table := range tables {
		for _, column := range table.Columns() {
			found = append(found, []any{table.Name, column.Name, column.SQLType.Name, column.Length, column.Length2, column.Nullable, column.Default, column.DefaultIsEmpty, column.IsPrimaryKey, column.IsAutoIncrement, column.Comment})
		}
		var indexes []string
		for name, index := range table.Indexes {
			indexes = append(indexes, Spell([]any{name, index.Cols, index.Type}))
		}
		sort.Strings(indexes)
		found = append(found, indexes)
	}
	return found
}

func main() {
	db = Must(xorm.NewEngine("mysql", DataSource("parseTime=true&loc=UTC&charset=utf8mb4")))
	defer db.Close()
	db.SetLogLevel(log.LOG_OFF)
	db.SetMapper(names.GonicMapper{})
	db.TZLocation, db.DatabaseTZ = time.UTC, time.UTC
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	Step("sync", func() (Lines, error) {
		Check(db.Sync(new(Account), new(Entry)))
		Check(db.Sync(new(Account), new(Entry)))
		return append(metas(), definition("account")...), nil
	})
	Step("insert", func() (Lines, error) {
		ann := &Account{Name: "Ann", Balance: 12.34, Level: 255, Big: 1<<64 - 1, Doc: map[string]any{"k": []any{1, "ü"}}, Tags: []string{"x", "y"}, Raw: []byte{0, 255, 39}, Active: true, Day: day, Kind: "a"}
		n := Must(db.Insert(ann))
		many := Must(db.Insert([]*Account{{Name: "Bob", Day: day, Kind: "b"}, {Name: "Cid 🐎", Day: day, Kind: "b"}}))
		omitted := Must(db.Omit("balance", "active", "kind", "day").Insert(&Account{Name: "Dora"}))
		_, err := db.Insert(&Account{Name: "Ann", Day: day, Kind: "a"})
		entries := Must(db.Insert(&[]Entry{{Account: 1, Amount: 5, Said: "a"}, {Account: 1, Amount: -7, Said: "b"}, {Account: 2, Amount: 1, Said: "a", Place: 1}}))
		return Lines{n, ann.ID, ann.Version, many, omitted, Refused(err), entries}, nil
	})
	Step("read", func() (Lines, error) {
		var one Account
		has := Must(db.ID(1).Omit("created", "updated").Get(&one))
		var many []Account
		Check(db.Where("level < ?", 200).And("active = ?", false).Or("name LIKE ?", "D%").Desc("id").Cols("id", "name", "balance", "kind", "active").Find(&many))
		count := Must(db.Where("id > ?", 1).Count(new(Account)))
		sum := Must(db.SumInt(new(Entry), "amount"))
		exist := Must(db.Exist(&Account{Name: "Bob"}))
		missing := Must(db.ID(99).Get(new(Account)))
		byID := map[int64]Entry{}
		Check(db.In("said", "a", "b").Find(&byID))
		return Lines{has, one, many, count, sum, exist, missing, byID}, nil
	})
	Step("joins, groups, pages", func() (Lines, error) {
		type total struct {
			Account `xorm:"extends"`
			Total   float64
			Many    int
		}
		var totals []total
		Check(db.Table("account").Select("account.id, account.name, COALESCE(SUM(entry.amount), 0) AS total, COUNT(entry.id) AS many").Join("LEFT", "entry", "entry.account = account.id").GroupBy("account.id, account.name").Having("COUNT(entry.id) > 0").OrderBy("total DESC").Find(&totals))
		var names []string
		Check(db.Table("account").Cols("name").Asc("id").Limit(2, 1).Find(&names))
		var found Lines
		for _, one := range totals {
			found = append(found, []any{one.ID, one.Name, one.Total, one.Many})
		}
		seen := 0
		Check(db.Where("id > 0").BufferSize(2).Iterate(new(Account), func(int, any) error { seen++; return nil }))
		return append(found, names, seen, Must(db.QueryString("SELECT id, name, balance, day, active FROM account ORDER BY id LIMIT 2"))), nil
	})
	Step("update", func() (Lines, error) {
		one := &Account{Name: "Anna", Version: 1}
		found := Lines{Must(db.ID(1).Cols("name").Update(one)), Must(db.ID(1).Cols("name").Update(&Account{Name: "late", Version: 1})), Must(db.ID(2).Incr("balance", 2.5).Decr("level").Update(new(Account)))}
		result, err := db.Exec("UPDATE account SET level = level + ? WHERE id IN (?, ?)", 3, 2, 3)
		if err != nil {
			found = append(found, ErrorOf(err))
		} else {
			found = append(found, Must(result.RowsAffected()))
		}
		return append(found, asked("SELECT id, name, balance, level, version FROM account ORDER BY id")...), nil
	})
	Step("delete", func() (Lines, error) {
		found := Lines{Must(db.ID(3).Delete(new(Account))), Must(db.Count(new(Account))), Must(db.Unscoped().Count(new(Account))), Must(db.Unscoped().ID(3).Delete(new(Account))), Must(db.Where("amount < 0").Delete(new(Entry)))}
		return append(found, asked("SELECT id, account, amount FROM entry ORDER BY id")...), nil
	})
	Step("transactions", func() (Lines, error) {
		session := db.NewSession()
		defer session.Close()
		Check(session.Begin())
		Must(session.Insert(&Entry{Account: 4, Amount: 1, Said: "tx"}))
		inside := Must(session.Where("said = 'tx'").ForUpdate().Count(new(Entry)))
		Check(session.Rollback())
		_, err := db.Transaction(func(tx *xorm.Session) (any, error) {
			Must(tx.Insert(&Entry{Account: 4, Amount: 2, Said: "tx"}))
			return tx.Insert(&Entry{Account: 4, Amount: 2, Said: "tx"})
		})
		return Lines{inside, Refused(err), Must(db.Where("said = 'tx'").Count(new(Entry)))}, nil
	})
	Step("tables change", func() (Lines, error) {
		Check(db.Sync(new(AccountNow)))
		found := Lines{Must(db.IsTableExist("account")), Must(db.IsTableEmpty(new(Entry)))}
		found = append(found, metas()...)
		found = append(found, definition("account")...)
		Check(db.DropIndexes(new(Entry)))
		Check(db.CreateIndexes(new(Entry)))
		Check(db.CreateUniques(new(Entry)))
		Check(db.DropTables(new(Entry), new(AccountNow)))
		return append(found, Must(db.IsTableExist("account"))), nil
	})
}
