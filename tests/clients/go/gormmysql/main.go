// gorm's dialect of MySQL: its migrator, create, read, update, delete, associations, scopes, transactions, locks.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	. "rowferry/tours/tour"
)

// Company has many users.
type Company struct {
	ID   uint
	Name string `gorm:"size:80;uniqueIndex"`
}

// User is who it is all about; deleted ones stay.
type User struct {
	gorm.Model
	Name      string  `gorm:"size:60;not null;index:by_name,sort:desc"`
	Email     *string `gorm:"uniqueIndex:email_of;size:100"`
	Age       uint8   `gorm:"check:age_positive,age > 0;default:18"`
	Birthday  *time.Time
	Active    bool    `gorm:"default:true;comment:may log in"`
	Score     float64 `gorm:"type:numeric(10,2)"`
	CompanyID *uint
	Company   *Company
	Card      Card
	Orders    []Order
	Tags      []Tag `gorm:"many2many:user_tags"`
	ManagerID *uint
	Team      []User         `gorm:"foreignkey:ManagerID"`
	Address   Address        `gorm:"embedded;embeddedPrefix:address_"`
	Settings  map[string]any `gorm:"serializer:json;type:json"`
	Secret    string         `gorm:"-"`
}

// Address stands within its user.
type Address struct {
	Street string
	City   string `gorm:"default:nowhere"`
}

// Card is a user's only one.
type Card struct {
	ID     uint
	Number string
	UserID uint `gorm:"constraint:OnDelete:CASCADE"`
}

// Order has a key of a text.
type Order struct {
	Number string `gorm:"primaryKey;size:20"`
	UserID uint
	Amount int64
	Placed *time.Time
}

// Tag is shared by users.
type Tag struct {
	ID   uint
	Word string `gorm:"type:varchar(30)"`
}

// Toy belongs to anything.
type Toy struct {
	ID        uint
	Name      string
	OwnerID   uint
	OwnerType string
}

// Everything has a column of every type that gorm maps.
type Everything struct {
	ID      int64
	I8      int8
	I16     int16
	I32     int32
	U64     uint64
	F32     float32
	Text    string
	Sized   string `gorm:"size:10"`
	Bytes   []byte
	At      time.Time
	Day     time.Time `gorm:"type:date"`
	Precise time.Time `gorm:"precision:3"`
	Time    string    `gorm:"type:time(2);default:12:00:00"`
	Kind    string    `gorm:"type:enum('small','large');default:large"`
	Doc     datatypes `gorm:"type:json"`
	Long    string    `gorm:"type:mediumtext"`
	Blob    []byte    `gorm:"size:20"`
	Flag    *bool
	U8      uint8
	U16     uint16
	U32     uint32
	F64     float64
	Exact   string `gorm:"precision:12;scale:3;type:decimal(12,3)"`
	Stamp   int64  `gorm:"autoUpdateTime:milli"`
	Null    sql.NullString
	NullInt sql.NullInt64
	Key     int    `gorm:"uniqueIndex:pair;priority:2"`
	Other   string `gorm:"uniqueIndex:pair,priority:1;type:varchar(40) collate utf8mb4_bin"`
	Ft      string `gorm:"index:first_letters,length:5;size:80"`
}

// datatypes is a document as its text.
type datatypes string

var db *gorm.DB

func main() {
	db = Must(gorm.Open(mysql.Open(DataSource("parseTime=true&loc=UTC&charset=utf8mb4")), &gorm.Config{Logger: logger.Discard, TranslateError: false, NowFunc: func() time.Time { return time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC) }}))
	migrations()
	creation()
	reading()
	changes()
	associations()
	transactions()
	migrator()
}

var models = []any{&Company{}, &User{}, &Card{}, &Order{}, &Tag{}, &Toy{}, &Everything{}}

func ask(text string, values ...any) Lines {
	var rows []map[string]any
	Check(db.Raw(text, values...).Scan(&rows).Error)
	var found Lines
	for _, row := range rows {
		found = append(found, row)
	}
	return found
}

func definitions() Lines {
	var found Lines
	for _, table := range ask("select table_name as name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE' order by 1") {
		for _, definition := range ask("show create table `" + fmt.Sprint(table.(map[string]any)["name"]) + "`") {
			// Keys come in the order of a map, which is another each time.
			lines := strings.Split(strings.ReplaceAll(fmt.Sprint(definition.(map[string]any)["Create Table"]), ",\n", "\n"), "\n")
			sort.Strings(lines)
			found = append(found, strings.Join(lines, "\n"))
		}
	}
	return append(found, ask(`select table_name, column_name, column_type, is_nullable, column_default, column_key, extra, column_comment from information_schema.columns
		where table_schema = database() order by table_name, ordinal_position`)...)
}

func migrations() {
	Step("migrate", func() (Lines, error) {
		err := db.AutoMigrate(models...)
		return definitions(), err
	})
	Step("migrate again", func() (Lines, error) {
		// What it would still do stands in its log.
		dry := &recorder{}
		again := db.Session(&gorm.Session{Logger: dry})
		err := again.AutoMigrate(models...)
		return dry.changes, err
	})
}

func creation() {
	Step("create", func() (Lines, error) {
		email := "ann@example.com"
		user := User{Name: "Ann", Email: &email, Score: 1.25, Company: &Company{Name: "Acme"}, Card: Card{Number: "4111"}, Orders: []Order{{Number: "o1", Amount: 5}, {Number: "o2", Amount: 7}},
			Tags: []Tag{{Word: "red"}, {Word: "big"}}, Address: Address{Street: "High St"}, Settings: map[string]any{"theme": "dark"}, Team: []User{{Name: "Tim", Age: 30}}}
		result := db.Create(&user)
		return Lines{result.RowsAffected, user.ID, user.Age, user.Active, user.Address.City, *user.CompanyID, user.Card.ID, user.Tags, user.Team[0].ID}, result.Error
	})
	Step("create many", func() (Lines, error) {
		var users []User
		for n := range 25 {
			users = append(users, User{Name: fmt.Sprint("user ", n), Age: uint8(n + 1), Score: float64(n) / 3})
		}
		result := db.CreateInBatches(&users, 10)
		return Lines{result.RowsAffected, users[0].ID, users[24].ID}, result.Error
	})
	Step("upserts", func() (Lines, error) {
		company := Company{ID: 1, Name: "Acme again"}
		Check(db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&company).Error)
		nothing := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Company{ID: 1, Name: "x"})
		named := db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoUpdates: clause.Assignments(map[string]any{"name": gorm.Expr("upper(values(name))")})}).Create(&Company{Name: "Acme again"})
		return append(Lines{nothing.RowsAffected, named.RowsAffected}, ask("select id, name from companies order by id")...), named.Error
	})
	Step("first or create", func() (Lines, error) {
		var tag, found Tag
		Check(db.Where(Tag{Word: "new"}).Attrs(Tag{ID: 500}).FirstOrCreate(&tag).Error)
		err := db.Where(Tag{Word: "new"}).Assign(Tag{Word: "assigned"}).FirstOrCreate(&found).Error
		return Lines{tag, found}, err
	})
	Step("everything", func() (Lines, error) {
		one := Everything{I8: -128, I16: 32767, I32: 5, U64: 1<<64 - 1, F32: 1.1, Text: "täxt", Sized: "0123456789", Bytes: []byte{0, 255}, At: time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC),
			Day: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Precise: time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC), Time: "-01:02:03.45", Doc: datatypes(`{"a": [1, null]}`), Long: "long", Blob: []byte("blob"), U8: 255, U16: 65535, U32: 4294967295, F64: 0.1, Exact: "123456789.125", Stamp: 7, NullInt: sql.NullInt64{Int64: 7, Valid: true}}
		Check(db.Create(&one).Error)
		var back Everything
		err := db.First(&back, one.ID).Error
		return Lines{back}, err
	})
}

func reading() {
	Step("find", func() (Lines, error) {
		var first, last, taken User
		var many []User
		Check(db.First(&first).Error)
		Check(db.Last(&last).Error)
		Check(db.Take(&taken, "name = ?", "Ann").Error)
		Check(db.Where("age between ? and ?", 3, 6).Or(&User{Name: "Ann"}).Not("name like ?", "%4").Order("age desc, id").Limit(3).Offset(1).Find(&many).Error)
		var names []string
		Check(db.Model(&User{}).Where("name in ?", []string{"Ann", "user 1", "user 2"}).Order("name").Distinct().Pluck("name", &names).Error)
		missing := db.First(&User{}, 9999).Error
		return Lines{first.Name, last.Name, taken.Settings, len(many), many[0].Name, names, errors.Is(missing, gorm.ErrRecordNotFound)}, nil
	})
	Step("aggregates", func() (Lines, error) {
		var count int64
		Check(db.Model(&User{}).Where("score > ?", 2).Count(&count).Error)
		type result struct {
			Kind  string
			Total float64
			Many  int
		}
		var results []result
		err := db.Model(&User{}).Select("case when age > 10 then 'old' else 'young' end as kind, sum(score) as total, count(*) as many").Group("kind").Having("count(*) > ?", 1).Order("kind").Scan(&results).Error
		return Lines{count, results}, err
	})
	Step("joins and preloads", func() (Lines, error) {
		var users []User
		Check(db.Joins("Company").Preload("Orders", func(tx *gorm.DB) *gorm.DB { return tx.Order("number") }).Preload("Tags").Preload("Card").Preload("Team").Order("users.id").Limit(2).Find(&users).Error)
		var found Lines
		for _, user := range users {
			found = append(found, fmt.Sprint(user.Name, user.Company != nil && user.Company.Name != "", len(user.Orders), len(user.Tags), user.Card.Number, len(user.Team)))
		}
		var inner []User
		err := db.InnerJoins("Company", db.Where(&Company{ID: 1})).Find(&inner).Error
		return append(found, len(inner)), err
	})
	Step("subqueries, scopes, batches", func() (Lines, error) {
		rich := func(tx *gorm.DB) *gorm.DB { return tx.Where("score > (?)", db.Model(&User{}).Select("avg(score)")) }
		var count int64
		Check(db.Model(&User{}).Scopes(rich).Count(&count).Error)
		var from []map[string]any
		Check(db.Table("(?) as u", db.Model(&User{}).Select("name, age")).Where("u.age < ?", 3).Order("name").Find(&from).Error)
		var batch []User
		sizes := []int{}
		err := db.Where("age > ?", 5).FindInBatches(&batch, 8, func(tx *gorm.DB, _ int) error {
			sizes = append(sizes, len(batch))
			return nil
		}).Error
		rows := Must(db.Model(&User{}).Select("name, age").Where("id < 3").Order("id").Rows())
		defer rows.Close()
		for rows.Next() {
			var name string
			var age int
			Check(rows.Scan(&name, &age))
			from = append(from, map[string]any{name: age})
		}
		return Lines{count, from, sizes}, err
	})
	Step("raw", func() (Lines, error) {
		result := db.Exec("update users set score = score + @more where id < @id", sql.Named("more", 1.5), map[string]any{"id": 3})
		if result.Error != nil {
			return Lines{ErrorOf(result.Error)}, nil
		}
		return append(Lines{result.RowsAffected}, ask("select id, name, score, address_city from users where name = @name", map[string]any{"name": "Ann"})...), nil
	})
}

func changes() {
	Step("update", func() (Lines, error) {
		var user User
		Check(db.First(&user, 1).Error)
		user.Name = "Anna"
		Check(db.Save(&user).Error)
		result := db.Model(&User{}).Where("age < ?", 5).Updates(map[string]any{"score": gorm.Expr("score * ?", 2), "active": false})
		limited := db.Model(&User{}).Where("age > ?", 3).Order("age desc").Limit(2).Update("name", "old")
		Check(limited.Error)
		Check(db.Model(&user).Select("Name", "Age").Updates(User{Name: "Ann", Age: 7}).Error)
		return append(Lines{result.RowsAffected, limited.RowsAffected}, ask("select id, name, age, score, active, updated_at from users order by id limit 12")...), nil
	})
	Step("delete", func() (Lines, error) {
		soft := db.Delete(&User{}, "age > ?", 20)
		var left, all int64
		db.Model(&User{}).Count(&left)
		db.Unscoped().Model(&User{}).Count(&all)
		hard := db.Unscoped().Where("age > ?", 23).Delete(&User{})
		everything := db.Delete(&Toy{}).Error
		return Lines{soft.RowsAffected, left, all, hard.RowsAffected, errors.Is(everything, gorm.ErrMissingWhereClause)}, hard.Error
	})
	Step("errors", func() (Lines, error) {
		email := "ann@example.com"
		var found Lines
		for _, err := range []error{db.Create(&User{Name: "x", Email: &email, Age: 5}).Error, db.Create(&Card{UserID: 9999}).Error, db.Model(&User{}).Where("id = 1").Update("age", -1).Error,
			db.Exec("update users set name = null").Error, db.Where("nothing = 1").Find(&[]User{}).Error, db.Create(&Everything{Sized: "far too long for it"}).Error} {
			found = append(found, Refused(err))
		}
		translated := Must(gorm.Open(mysql.Open(DataSource("parseTime=true&loc=UTC&charset=utf8mb4")), &gorm.Config{Logger: logger.Discard, TranslateError: true}))
		return append(found, errors.Is(translated.Create(&User{Name: "x", Email: &email, Age: 5}).Error, gorm.ErrDuplicatedKey), errors.Is(translated.Create(&Card{UserID: 9999}).Error, gorm.ErrForeignKeyViolated)), nil
	})
}

func associations() {
	Step("associations", func() (Lines, error) {
		var user User
		Check(db.First(&user, 1).Error)
		tags := db.Model(&user).Association("Tags")
		Check(tags.Append(&Tag{Word: "added"}))
		counted := []int64{tags.Count()}
		var words []Tag
		Check(tags.Find(&words))
		orders := db.Model(&user).Association("Orders")
		Check(orders.Append(&Order{Number: "o3", Amount: 9}))
		var big []Order
		Check(db.Model(&user).Where("amount > ?", 6).Order("number").Association("Orders").Find(&big))
		return append(Lines{counted, len(words), orders.Count(), len(big)}, ask("select number, user_id, amount from orders order by 1")...), db.Select("Orders", "Card").Delete(&User{Model: gorm.Model{ID: 1}}).Error
	})
}

func transactions() {
	Step("transactions", func() (Lines, error) {
		var found Lines
		err := db.Transaction(func(tx *gorm.DB) error {
			Check(tx.Create(&Tag{Word: "outer"}).Error)
			nested := tx.Transaction(func(inner *gorm.DB) error {
				Check(inner.Create(&Tag{Word: "inner"}).Error)
				return errors.New("rolled back")
			})
			found = append(found, nested.Error())
			tx.SavePoint("here")
			found = append(found, Refused(tx.Exec("select nothing").Error))
			tx.RollbackTo("here")
			return tx.Create(&Tag{Word: "after"}).Error
		}, &sql.TxOptions{Isolation: sql.LevelSerializable})
		return append(found, ask("select word from tags where word in ('outer', 'inner', 'after') order by 1")...), err
	})
	Step("locks", func() (Lines, error) {
		var found Lines
		err := db.Transaction(func(tx *gorm.DB) error {
			var user User
			Check(tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&user).Error)
			found = append(found, Refused(db.Clauses(clause.Locking{Strength: "UPDATE", Options: "NOWAIT"}).First(&User{}, user.ID).Error))
			var free []User
			Check(db.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).Order("id").Limit(2).Find(&free).Error)
			found = append(found, len(free), free[0].ID)
			return nil
		})
		return found, err
	})
	Step("prepared statements", func() (Lines, error) {
		prepared := db.Session(&gorm.Session{PrepareStmt: true})
		var names []string
		for n := range 7 {
			var user User
			Check(prepared.First(&user, "age = ?", n+7).Error)
			names = append(names, user.Name)
		}
		return Lines{names}, nil
	})
}

// UserNow is the table of users as it is to be.
type UserNow struct {
	ID    uint
	Name  string  `gorm:"size:200;not null;index:by_name,sort:desc"`
	Nick  string  `gorm:"size:40;default:none;not null;unique"`
	Score float64 `gorm:"type:numeric(12,4);default:7"`
	Age   int64   `gorm:"comment:in years"`
}

// TableName says whose rows these are.
func (UserNow) TableName() string { return "users" }

func migrator() {
	Step("a table changes", func() (Lines, error) {
		err := db.Exec("delete from users where id > 2").Error
		if err != nil {
			return Lines{ErrorOf(err)}, nil
		}
		Check(db.Exec("alter table users add column nick varchar(20)").Error)
		Check(db.Exec("update users set nick = concat('n', id)").Error)
		err = db.AutoMigrate(&UserNow{})
		return definitions(), err
	})
	Step("the migrator", func() (Lines, error) {
		migrator := db.Migrator()
		found := Lines{migrator.HasTable("users"), migrator.HasTable(&Toy{}), migrator.HasColumn(&User{}, "Nick"), migrator.HasIndex(&User{}, "by_name"), migrator.HasConstraint(&User{}, "age_positive"), migrator.CurrentDatabase()}
		Check(migrator.RenameColumn(&Toy{}, "name", "label"))
		Check(migrator.DropColumn(&Toy{}, "owner_type"))
		Check(migrator.RenameTable("toys", "playthings"))
		Check(migrator.DropIndex(&User{}, "by_name"))
		Check(migrator.DropConstraint(&User{}, "age_positive"))
		Check(migrator.CreateView("adults", gorm.ViewOption{Query: db.Model(&Everything{}).Where("i32 > 3"), Replace: true}))
		for _, name := range []string{"users", "playthings", "everythings"} {
			for _, column := range Must(migrator.ColumnTypes(name)) {
				length, sized := column.Length()
				nullable, _ := column.Nullable()
				value, given := column.DefaultValue()
				primary, _ := column.PrimaryKey()
				unique, _ := column.Unique()
				comment, _ := column.Comment()
				kind, _ := column.ColumnType()
				counts, _ := column.AutoIncrement()
				found = append(found, fmt.Sprint(name, ".", column.Name(), " ", column.DatabaseTypeName(), " ", kind, " ", length, sized, nullable, value, given, primary, unique, comment, counts))
			}
			// They come in the order of a map, which is another each time.
			var indexes []string
			for _, index := range Must(migrator.GetIndexes(name)) {
				unique, _ := index.Unique()
				primary, _ := index.PrimaryKey()
				indexes = append(indexes, fmt.Sprint(index.Table(), index.Name(), index.Columns(), unique, primary))
			}
			sort.Strings(indexes)
			found = append(found, indexes)
		}
		tables := Must(migrator.GetTables())
		found = append(found, len(tables))
		Check(migrator.DropView("adults"))
		return found, migrator.DropTable("playthings", &Everything{}, "user_tags")
	})
}
