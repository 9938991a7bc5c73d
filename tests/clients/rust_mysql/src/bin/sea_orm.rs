//! SeaORM: tables from entities, active models, relations, upserts, documents, pages, transactions, raw statements.

use rowferry_tours::{Failure, Lines, line, refused, step, url};
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{
    Alias, Expr, ExprTrait as _, Func, Index, LockBehavior, LockType, MysqlQueryBuilder, OnConflict, Query, Table,
};
use sea_orm::{
    AccessMode, ActiveValue, Condition, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend,
    FromQueryResult, IsolationLevel, JoinType, Order, QueryOrder, QuerySelect, Schema, Set, Statement,
    TransactionTrait, TryInsertResult, Unchanged,
};

type Found = Result<Lines, Failure>;

mod author {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, DeriveEntityModel, PartialEq)]
    #[sea_orm(table_name = "authors")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: u32,
        #[sea_orm(column_type = "String(StringLen::N(60))", unique)]
        pub name: String,
        pub email: Option<String>,
        #[sea_orm(column_type = "Decimal(Some((12, 2)))", default_value = "1.5")]
        pub score: Decimal,
        pub traits: Option<Json>,
        pub born: Option<Date>,
        pub made: DateTimeUtc,
        pub active: bool,
        #[sea_orm(column_type = "VarBinary(StringLen::N(16))", nullable)]
        pub photo: Option<Vec<u8>>,
        pub token: Uuid,
        pub kind: Kind,
        pub visits: u64,
        pub ratio: f32,
        pub wakes: Option<Time>,
    }

    #[derive(Clone, Debug, DeriveActiveEnum, EnumIter, PartialEq, Eq)]
    #[sea_orm(rs_type = "String", db_type = "Enum", enum_name = "kind")]
    pub enum Kind {
        #[sea_orm(string_value = "novelist")]
        Novelist,
        #[sea_orm(string_value = "poet")]
        Poet,
    }

    #[derive(Clone, Copy, Debug, DeriveRelation, EnumIter)]
    pub enum Relation {
        #[sea_orm(has_many = "super::book::Entity")]
        Book,
    }

    impl Related<super::book::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Book.def()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod book {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, DeriveEntityModel, PartialEq)]
    #[sea_orm(table_name = "books")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub author_id: u32,
        #[sea_orm(indexed)]
        pub title: String,
        pub pages: i16,
        #[sea_orm(column_type = "Text", nullable)]
        pub text: Option<String>,
    }

    #[derive(Clone, Copy, Debug, DeriveRelation, EnumIter)]
    pub enum Relation {
        #[sea_orm(
            belongs_to = "super::author::Entity",
            from = "Column::AuthorId",
            to = "super::author::Column::Id",
            on_delete = "Cascade"
        )]
        Author,
    }

    impl Related<super::author::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Author.def()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut options = ConnectOptions::new(url());
    options.max_connections(3).sqlx_logging(false);
    let db = Database::connect(options).await?;
    step("tables", tables(&db)).await;
    step("insert", insert(&db)).await;
    step("find", find(&db)).await;
    step("relations", relations(&db)).await;
    step("columns and aggregates", aggregates(&db)).await;
    step("documents", documents(&db)).await;
    step("update", update(&db)).await;
    step("upserts", upserts(&db)).await;
    step("pages", pages(&db)).await;
    step("transactions", transactions(&db)).await;
    step("locks", locks(&db)).await;
    step("raw statements", raw(&db)).await;
    step("tables change", change(&db)).await;
    step("errors", errors(&db)).await;
    step("delete", delete(&db)).await;
    db.close().await?;
    Ok(())
}

async fn ask(db: &DatabaseConnection, sql: &str) -> Result<Lines, Failure> {
    let rows = sea_orm::JsonValue::find_by_statement(Statement::from_string(DbBackend::MySql, sql)).all(db).await?;
    Ok(rows.iter().map(ToString::to_string).collect())
}

async fn definition(db: &DatabaseConnection, table: &str) -> Result<String, Failure> {
    let row = db
        .query_one(Statement::from_string(DbBackend::MySql, format!("SHOW CREATE TABLE {table}")))
        .await?
        .ok_or("no table")?;
    Ok(row.try_get_by_index(1)?)
}

async fn tables(db: &DatabaseConnection) -> Found {
    let schema = Schema::new(DbBackend::MySql);
    for statement in [schema.create_table_from_entity(author::Entity), schema.create_table_from_entity(book::Entity)] {
        db.execute(db.get_database_backend().build(&statement)).await?;
    }
    for index in schema.create_index_from_entity(book::Entity) {
        db.execute(db.get_database_backend().build(&index)).await?;
    }
    let found = vec![definition(db, "authors").await?, definition(db, "books").await?];
    db.ping().await?;
    Ok(found)
}

fn author(name: &str) -> author::ActiveModel {
    author::ActiveModel {
        name: Set(name.to_owned()),
        score: Set(Decimal::new(1234567, 2)),
        traits: Set(Some(serde_json::json!({"hair": "ré\"d", "list": [1, 2.5, null]}))),
        born: Set(Date::from_ymd_opt(1960, 2, 29)),
        made: Set(DateTimeUtc::from_timestamp(1_700_000_000, 0).unwrap_or_default()),
        active: Set(true),
        photo: Set(Some(vec![0, 255, 39])),
        token: Set(Uuid::from_u128(7)),
        kind: Set(author::Kind::Poet),
        visits: Set(1 << 62),
        ratio: Set(0.25),
        wakes: Set(Time::from_hms_opt(6, 30, 0)),
        ..Default::default()
    }
}

async fn insert(db: &DatabaseConnection) -> Found {
    let ann = author("Ann 🐎").insert(db).await?;
    let done = author::Entity::insert_many(["Bob", "Cid"].map(author)).exec(db).await?;
    let books: Vec<book::ActiveModel> = (0..5)
        .map(|n| book::ActiveModel {
            author_id: Set(1 + n % 2),
            title: Set(format!("Book {n}")),
            pages: Set(100 * (n as i16 + 1)),
            text: Set((n == 1).then(|| "long".to_owned())),
            ..Default::default()
        })
        .collect();
    let last = book::Entity::insert_many(books).exec(db).await?;
    let mut found = vec![line(ann), line((done.last_insert_id, last.last_insert_id))];
    let saved =
        book::ActiveModel { author_id: Set(3), title: Set("Saved".to_owned()), pages: Set(1), ..Default::default() }
            .save(db)
            .await?;
    found.push(line(saved.id));
    Ok(found)
}

async fn find(db: &DatabaseConnection) -> Found {
    let one = author::Entity::find_by_id(2u32).one(db).await?;
    let none = author::Entity::find_by_id(99u32).one(db).await?;
    let some = author::Entity::find()
        .filter(
            Condition::any()
                .add(author::Column::Name.starts_with("A"))
                .add(author::Column::Kind.eq(author::Kind::Novelist))
                .add(author::Column::Born.lt(Date::from_ymd_opt(1950, 1, 1))),
        )
        .filter(author::Column::Token.eq(Uuid::from_u128(7)))
        .all(db)
        .await?;
    let books = book::Entity::find()
        .filter(book::Column::Pages.between(200, 500))
        .filter(book::Column::Title.like("Book%"))
        .filter(book::Column::Id.is_in([1, 2, 3, 4]))
        .order_by_desc(book::Column::Pages)
        .limit(2)
        .offset(1)
        .all(db)
        .await?;
    Ok(vec![
        line(one),
        line(none.is_none()),
        line(some.iter().map(|author| &author.name).collect::<Vec<_>>()),
        line(books),
    ])
}

async fn relations(db: &DatabaseConnection) -> Found {
    let with: Vec<(author::Model, Vec<book::Model>)> = author::Entity::find()
        .order_by_asc(author::Column::Id)
        .find_with_related(book::Entity)
        .order_by_asc(book::Column::Id)
        .all(db)
        .await?;
    let also: Vec<(book::Model, Option<author::Model>)> =
        book::Entity::find().find_also_related(author::Entity).order_by_desc(book::Column::Id).limit(2).all(db).await?;
    let of =
        author::Entity::find_by_id(1u32).one(db).await?.ok_or("nobody")?.find_related(book::Entity).count(db).await?;
    let authors = author::Entity::find().order_by_asc(author::Column::Id).all(db).await?;
    let loaded = sea_orm::LoaderTrait::load_many(&authors, book::Entity, db).await?;
    let missing: Vec<(author::Model, Option<book::Model>)> = author::Entity::find()
        .find_also_related(book::Entity)
        .filter(book::Column::Pages.gt(499).or(book::Column::Id.is_null()))
        .all(db)
        .await?;
    Ok(vec![
        line(with.iter().map(|(author, books)| (&author.name, books.len())).collect::<Vec<_>>()),
        line(
            also.iter()
                .map(|(book, author)| (&book.title, author.as_ref().map(|author| &author.name)))
                .collect::<Vec<_>>(),
        ),
        line(of),
        line(loaded.iter().map(Vec::len).collect::<Vec<_>>()),
        line(missing.len()),
    ])
}

#[derive(Debug, FromQueryResult)]
#[expect(dead_code, reason = "Debug reads them")]
struct Total {
    name: String,
    books: i64,
    pages: Option<Decimal>,
    longest: Option<i16>,
    mean: Option<Decimal>,
}

async fn aggregates(db: &DatabaseConnection) -> Found {
    let totals: Vec<Total> = author::Entity::find()
        .select_only()
        .column(author::Column::Name)
        .column_as(book::Column::Id.count(), "books")
        .column_as(book::Column::Pages.sum(), "pages")
        .column_as(book::Column::Pages.max(), "longest")
        .column_as(Expr::expr(Func::avg(Expr::col((book::Entity, book::Column::Pages)))), "mean")
        .join(JoinType::LeftJoin, author::Relation::Book.def())
        .group_by(author::Column::Name)
        .having(book::Column::Id.count().gte(1))
        .order_by(author::Column::Name, Order::Desc)
        .into_model()
        .all(db)
        .await?;
    let pairs: Vec<(String, i16)> = book::Entity::find()
        .select_only()
        .columns([book::Column::Title, book::Column::Pages])
        .order_by_asc(book::Column::Id)
        .into_tuple()
        .all(db)
        .await?;
    let inner = book::Entity::find()
        .filter(
            book::Column::AuthorId.in_subquery(
                Query::select()
                    .column(author::Column::Id)
                    .from(author::Entity)
                    .and_where(author::Column::Name.eq("Bob"))
                    .to_owned(),
            ),
        )
        .count(db)
        .await?;
    let distinct = book::Entity::find().select_only().column(book::Column::AuthorId).distinct().count(db).await?;
    Ok([totals.iter().map(line).collect(), vec![line(pairs), line((inner, distinct))]].concat())
}

async fn documents(db: &DatabaseConnection) -> Found {
    let sql = "SELECT name, CAST(traits->>'$.hair' AS CHAR) AS hair, JSON_EXTRACT(traits, '$.list[1]') AS two, JSON_LENGTH(traits, '$.list') AS size FROM authors ORDER BY id";
    let mut found = ask(db, sql).await?;
    let ann = author::Entity::find_by_id(1u32).one(db).await?.ok_or("nobody")?;
    let mut changed: author::ActiveModel = ann.into();
    changed.traits = Set(Some(serde_json::json!({"a": {"b": [true, "x"]}})));
    found.push(line(changed.update(db).await?.traits));
    let some = author::Entity::find()
        .filter(Expr::cust_with_values("JSON_CONTAINS(traits, ?, '$.a.b')", ["true"]))
        .count(db)
        .await?;
    found.push(line(some));
    Ok(found)
}

async fn update(db: &DatabaseConnection) -> Found {
    let bob = author::Entity::find_by_id(2u32).one(db).await?.ok_or("nobody")?;
    let mut changed: author::ActiveModel = bob.into();
    changed.email = Set(Some("bob@example.com".to_owned()));
    changed.score = Set(Decimal::new(-5, 1));
    let bob = changed.update(db).await?;
    let many = book::Entity::update_many()
        .col_expr(book::Column::Pages, Expr::col(book::Column::Pages).add(1))
        .filter(book::Column::AuthorId.eq(1))
        .exec(db)
        .await?;
    let missing =
        book::ActiveModel { id: Unchanged(99), title: Set("x".to_owned()), ..Default::default() }.update(db).await;
    let same = book::Entity::update_many()
        .col_expr(book::Column::AuthorId, Expr::value(1))
        .filter(book::Column::AuthorId.eq(1))
        .exec(db)
        .await?;
    Ok(vec![line((bob.email, bob.score)), line((many.rows_affected, same.rows_affected)), refused(missing)?])
}

async fn upserts(db: &DatabaseConnection) -> Found {
    let conflict = || {
        OnConflict::column(author::Column::Name)
            .update_columns([author::Column::Score, author::Column::Visits])
            .to_owned()
    };
    let mut again = author("Bob");
    again.score = Set(Decimal::new(99, 0));
    let done = author::Entity::insert(again).on_conflict(conflict()).exec(db).await?;
    let many = author::Entity::insert_many(["Bob", "Dora"].map(author))
        .on_conflict(
            OnConflict::column(author::Column::Name)
                .value(author::Column::Score, Expr::col(author::Column::Score).add(1))
                .to_owned(),
        )
        .exec_without_returning(db)
        .await?;
    let nothing = author::Entity::insert(author("Bob"))
        .on_conflict(OnConflict::column(author::Column::Name).do_nothing_on([author::Column::Id]).to_owned())
        .do_nothing()
        .exec(db)
        .await;
    let told = match nothing {
        Ok(TryInsertResult::Inserted(done)) => line(done.last_insert_id),
        other => line(other.map(|_| "none")),
    };
    let mut found = vec![line((done.last_insert_id, many)), told];
    found.extend(ask(db, "SELECT name, score FROM authors ORDER BY name").await?);
    Ok(found)
}

async fn pages(db: &DatabaseConnection) -> Found {
    let pages = book::Entity::find().order_by_asc(book::Column::Id).paginate(db, 4);
    let counted = pages.num_items_and_pages().await?;
    let second = pages.fetch_page(1).await?;
    let mut cursor = book::Entity::find().cursor_by(book::Column::Id);
    let after = cursor.after(2).first(2).all(db).await?;
    let stream: Vec<i64> = futures_util::TryStreamExt::try_collect(futures_util::TryStreamExt::map_ok(
        book::Entity::find().stream(db).await?,
        |book| book.id,
    ))
    .await?;
    Ok(vec![
        line((counted.number_of_items, counted.number_of_pages)),
        line(second.len()),
        line(after.iter().map(|book| book.id).collect::<Vec<_>>()),
        line(stream.len()),
    ])
}

async fn transactions(db: &DatabaseConnection) -> Found {
    let refusal = db
        .transaction::<_, (), DbErr>(|tx| {
            Box::pin(async move {
                book::Entity::delete_many().exec(tx).await?;
                Err(DbErr::Custom("no".to_owned()))
            })
        })
        .await;
    let tx = db.begin_with_config(Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadWrite)).await?;
    book::ActiveModel { author_id: Set(1), title: Set("in".to_owned()), pages: Set(1), ..Default::default() }
        .insert(&tx)
        .await?;
    let inner = tx.begin().await?;
    book::Entity::delete_many().exec(&inner).await?;
    inner.rollback().await?;
    let count = book::Entity::find().count(&tx).await?;
    tx.commit().await?;
    let reads = db.begin_with_config(None, Some(AccessMode::ReadOnly)).await?;
    let never = book::Entity::delete_many().exec(&reads).await;
    reads.rollback().await?;
    Ok(vec![refused(refusal)?, line(count), refused(never)?, line(book::Entity::find().count(db).await?)])
}

async fn locks(db: &DatabaseConnection) -> Found {
    let tx = db.begin().await?;
    let mine = book::Entity::find_by_id(1i64).lock(LockType::Update).one(&tx).await?;
    let theirs =
        book::Entity::find_by_id(1i64).lock_with_behavior(LockType::Update, LockBehavior::Nowait).one(db).await;
    let free = book::Entity::find()
        .order_by_asc(book::Column::Id)
        .limit(1)
        .lock_with_behavior(LockType::Share, LockBehavior::SkipLocked)
        .all(db)
        .await?;
    tx.commit().await?;
    Ok(vec![line(mine.is_some()), refused(theirs)?, line(free.first().map(|book| book.id))])
}

async fn raw(db: &DatabaseConnection) -> Found {
    let row = db
        .query_one(Statement::from_sql_and_values(
            DbBackend::MySql,
            "SELECT COUNT(*) AS n, MAX(pages) AS most, ? AS given, SUM(pages) > ? AS large FROM books",
            [5.into(), 10.into()],
        ))
        .await?
        .ok_or("no row")?;
    let done = db.execute_unprepared("INSERT INTO books (author_id, title, pages) VALUES (1, 'raw', 5)").await?;
    Ok(vec![line((
        row.try_get::<i64>("", "n")?,
        row.try_get::<Option<i16>>("", "most")?,
        row.try_get::<i32>("", "given").is_ok(),
        row.try_get::<bool>("", "large")?,
        done.rows_affected(),
    ))])
}

async fn change(db: &DatabaseConnection) -> Found {
    let books = || Alias::new("books");
    for statement in [
        Table::alter()
            .table(books())
            .add_column(
                sea_orm::sea_query::ColumnDef::new(Alias::new("isbn")).string_len(20).not_null().default("none"),
            )
            .modify_column(sea_orm::sea_query::ColumnDef::new(Alias::new("pages")).integer().unsigned().null())
            .to_string(MysqlQueryBuilder),
        Table::alter()
            .table(books())
            .rename_column(Alias::new("text"), Alias::new("body"))
            .to_string(MysqlQueryBuilder),
        Index::create()
            .name("by_isbn")
            .table(books())
            .col(Alias::new("isbn"))
            .col((Alias::new("title"), 10))
            .to_string(MysqlQueryBuilder),
    ] {
        if let Err(error) = db.execute_unprepared(&statement).await {
            return Ok(vec![error.to_string()]);
        }
    }
    let mut found = vec![definition(db, "books").await?];
    db.execute_unprepared(&Index::drop().name("by_isbn").table(books()).to_string(MysqlQueryBuilder)).await?;
    db.execute_unprepared(
        &Table::alter()
            .table(books())
            .drop_column(Alias::new("isbn"))
            .rename_column(Alias::new("body"), Alias::new("text"))
            .to_string(MysqlQueryBuilder),
    )
    .await?;
    found.push(definition(db, "books").await?);
    Ok(found)
}

async fn errors(db: &DatabaseConnection) -> Found {
    let mut found = Vec::new();
    let mut missing = author("Nobody");
    missing.name = ActiveValue::NotSet;
    for error in [
        author("Bob").insert(db).await.err(),
        missing.insert(db).await.err(),
        book::ActiveModel { author_id: Set(99), title: Set("x".to_owned()), pages: Set(1), ..Default::default() }
            .insert(db)
            .await
            .err(),
        db.execute_unprepared("SELEC 1").await.err(),
    ] {
        let error = error.ok_or("was not refused")?;
        found.push(format!("{:?} {error}", error.sql_err()));
    }
    Ok(found)
}

async fn delete(db: &DatabaseConnection) -> Found {
    let ann = author::Entity::find_by_id(1u32).one(db).await?.ok_or("nobody")?;
    let one = ann.delete(db).await?;
    let many = author::Entity::delete_many().filter(author::Column::Name.is_in(["Bob", "Cid"])).exec(db).await?;
    let by_id = author::Entity::delete_by_id(99u32).exec(db).await?;
    let left = book::Entity::find().count(db).await?;
    db.execute_unprepared(&Table::drop().table(Alias::new("books")).if_exists().to_string(MysqlQueryBuilder)).await?;
    Ok(vec![line((one.rows_affected, many.rows_affected, by_id.rows_affected, left))])
}
