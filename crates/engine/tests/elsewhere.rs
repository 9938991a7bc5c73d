//! Tables of other databases of the server, named by a session at the Informix door.

mod support;

use rowferry_engine::{Condition, Database, Databases, Language, Logging, Options, Session, SessionOptions};
use support::Ask as _;

struct Server {
    directory: tempfile::TempDir,
    databases: Databases,
}

impl Server {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = Options { create: true, ..Options::default() };
        let main = Database::open(&directory.path().join("store.db"), options.clone()).unwrap();
        let more = directory.path().join("more");
        std::fs::create_dir(&more).unwrap();
        Self { databases: Databases::with_directory(main, more, options), directory }
    }

    fn create(&self, name: &str) -> Session {
        self.databases.create(name, Logging::Log).unwrap();
        self.session(name)
    }

    fn session(&self, name: &str) -> Session {
        let database = self.databases.open(name).unwrap();
        let mut session = database.session(SessionOptions::new("ada", Language::Informix));
        session.see_neighbours(|_| Ok(()));
        session
    }
}

#[test]
fn tables_of_other_databases_are_read_with_their_types() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id serial primary key, name char(8), price decimal(8,2), made datetime year to day)");
    other.run("insert into item (name, price, made) values ('bolt', 1.50, '2024-02-29')");
    other.run("insert into item (name, price, made) values ('nut', 0.25, '2024-03-01')");
    other.run("create view cheap (label) as select name from item where price < 1");
    other.run("create synonym thing for item");
    let mut session = server.session("store");
    session.run("create table line (item int, amount int)");
    session.run("insert into line values (1, 10)");
    session.run("insert into line values (2, 20)");
    assert_eq!(session.run("select * from stock:item order by 1"), ["1|bolt|1.5|2024-02-29", "2|nut|0.25|2024-03-01"]);
    assert_eq!(
        session.run("select i.name, l.amount * i.price from line l, stock:ada.item i where l.item = i.id order by 1"),
        ["bolt|15.00", "nut|5.00"]
    );
    assert_eq!(session.run("select item from line where item in (select id from stock:item where price > 1)"), ["1"]);
    assert_eq!(session.run("select * from stock@informix:cheap"), ["nut"]);
    assert_eq!(session.run("select name from stock:thing where rowid = 1"), ["bolt"]);
    let plan = session.prepare("select * from stock:item", &[]).unwrap().unwrap();
    let told: Vec<String> = plan.bound.columns.iter().map(|column| format!("{:?}", column.ty)).collect();
    let own = other.prepare("select * from item", &[]).unwrap().unwrap();
    assert_eq!(told, own.bound.columns.iter().map(|column| format!("{:?}", column.ty)).collect::<Vec<_>>());
    // Into tables of one's own, by whatever way.
    assert_eq!(session.run("insert into line select id, 5 from stock:item"), ["2"]);
    session.run("update line set amount = (select sum(price) * 4 from stock:item) where item = 1");
    assert_eq!(session.run("select distinct amount from line where item = 1"), ["7"]);
    session.run("select i.* from stock:item i into temp copied");
    assert_eq!(session.run("select count(*) from copied"), ["2"]);
}

#[test]
fn what_is_committed_elsewhere_is_seen_at_once() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    let mut session = server.session("store");
    assert_eq!(session.run("select count(*) from stock:item"), ["0"]);
    other.run("insert into item values (1)");
    assert_eq!(session.run("select count(*) from stock:item"), ["1"]);
    session.run("begin work");
    assert_eq!(session.run("select count(*) from stock:item"), ["1"]);
    other.run("begin work");
    other.run("insert into item values (2)");
    // Nobody waits for a writer of another database.
    assert_eq!(session.run("select count(*) from stock:item"), ["1"]);
    other.run("commit work");
    assert_eq!(session.run("select count(*) from stock:item"), ["2"]);
    session.run("create table own (a int)");
    session.run("insert into own select * from stock:item");
    other.run("insert into item values (3)");
    session.run("commit work");
    assert_eq!(session.run("select count(*) from stock:item"), ["3"]);
}

#[test]
fn plans_notice_when_the_other_schema_changes() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int, name char(4))");
    other.run("insert into item values (1, 'bolt')");
    let mut session = server.session("store");
    let sql = "select * from stock:item";
    assert_eq!(session.run(sql), ["1|bolt"]);
    other.run("alter table item add (price int default 7)");
    assert_eq!(session.run(sql), ["1|bolt|7"]);
    other.run("alter table item drop name");
    assert_eq!(session.run(sql), ["1|7"]);
    // Somebody else's change is noticed, too.
    let outside = rusqlite::Connection::open(server.directory.path().join("more/stock.db")).unwrap();
    outside.execute_batch("alter table item rename column price to cost").unwrap();
    assert_eq!(session.run("select cost from stock:item"), ["7"]);
    assert_eq!(session.error("select price from stock:item").condition().informix_code(), -217);
    other.run("drop table item");
    assert_eq!(session.error(sql).informix_code(), -206);
    other.run("create table item (name char(4))");
    assert_eq!(session.run(sql), Vec::<String>::new());
}

#[test]
fn a_database_that_is_gone_is_said_to_be() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    let mut session = server.session("store");
    assert_eq!(session.run("select * from stock:item"), Vec::<String>::new());
    let plan = session.prepare("select * from stock:item", &[]).unwrap().unwrap();
    drop(other);
    server.databases.drop("stock").unwrap();
    assert_eq!(session.error("select * from stock:item").informix_code(), -329);
    assert_eq!(session.execute(&plan, &[]).unwrap_err().informix_code(), -329);
    assert_eq!(session.error("select * from nowhere:item").informix_code(), -329);
    // Another one of its name is another one.
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    other.run("insert into item values (9)");
    assert_eq!(session.run("select * from stock:item"), ["9"]);
}

#[test]
fn what_servers_refuse_is_refused_with_their_codes() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    other.run("create sequence numbers");
    server.databases.create("plain", Logging::None).unwrap();
    server.session("plain").run("create table item (id int)");
    let mut session = server.session("store");
    let code = |session: &mut Session, sql: &str| session.error(sql).informix_code();
    assert_eq!(code(&mut session, "select * from stock@elsewhere:item"), -908);
    assert_eq!(code(&mut session, "select * from plain:item"), -569);
    assert_eq!(code(&mut server.session("plain"), "select * from stock:item"), -568);
    assert_eq!(code(&mut session, "select * from stock:nothing"), -206);
    for refused in [
        "alter table stock:item add (a int)",
        "drop table stock:item",
        "create index i on stock:item (id)",
        "create table stock:other (a int)",
        "select * from stock:item for update",
        "lock table stock:item in share mode",
    ] {
        assert_eq!(code(&mut session, refused), -999, "{refused}");
    }
    assert_eq!(session.error("select * from stock:systables").informix_code(), -206);
}

#[test]
fn synonyms_and_views_lead_into_other_databases() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int, name char(8))");
    other.run("insert into item values (1, 'bolt')");
    let mut session = server.session("store");
    session.run("create table own (a int, b int)");
    session.run("create synonym thing for stock:item");
    assert_eq!(session.run("select * from thing"), ["1|bolt"]);
    assert_eq!(session.run("select t.dbname, t.tabname from syssyntable t"), ["stock|item"]);
    session.run("create view names as select name from stock:item where id > 0");
    assert_eq!(session.run("select * from names"), ["bolt"]);
    other.run("insert into item values (2, 'nut')");
    assert_eq!(session.run("select count(*) from names"), ["2"]);
    // Other changes go on, whether the other database is there or not.
    session.run("rename column own.b to c");
    drop(other);
    let mut fresh = server.session("store");
    assert_eq!(fresh.run("select count(*) from thing"), ["2"]);
    drop(fresh);
    server.databases.drop("stock").unwrap();
    assert_eq!(session.error("select * from names").informix_code(), -329);
    assert_eq!(session.error("select * from thing").informix_code(), -329);
    session.run("alter table own add (d int)");
    session.run("rename table own to owned");
    session.run("drop table owned");
    session.run("drop view names");
    session.run("drop synonym thing");
}

#[test]
fn many_databases_are_read_one_after_the_other() {
    let server = Server::new();
    for at in 0..14 {
        let mut other = server.create(&format!("d{at}"));
        other.run("create table t (a int)");
        other.run(&format!("insert into t values ({at})"));
    }
    let mut session = server.session("store");
    for _ in 0..2 {
        for at in 0..14 {
            assert_eq!(session.run(&format!("select a from d{at}:t")), [at.to_string()]);
        }
    }
    let joined = |count: usize| {
        let tables: Vec<String> = (0..count).map(|at| format!("d{at}:t t{at}")).collect();
        format!("select t0.a from {}", tables.join(", "))
    };
    assert_eq!(session.run(&joined(10)), ["0"]);
    assert_eq!(session.error(&joined(11)).condition(), Condition::ProgramLimitExceeded);
    // In a transaction that keeps what it has read as it was there is no more room than that.
    session.run("create table own (a int)");
    session.run("begin work");
    session.run("insert into own values (1)");
    for at in 0..10 {
        assert_eq!(session.run(&format!("select a from d{at}:t")), [at.to_string()]);
    }
    session.run("commit work");
    assert_eq!(session.run("select a from d13:t"), ["13"]);
}

#[test]
fn routines_read_other_databases() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int, price int)");
    other.run("insert into item values (1, 5)");
    other.run("insert into item values (2, 7)");
    let mut session = server.session("store");
    session.run("create function total() returning int; define n int; select sum(price) into n from stock:item; return n; end function");
    assert_eq!(session.run("execute function total()"), ["12"]);
    session.run("create table own (a int)");
    session.run("insert into own values (1)");
    assert_eq!(session.run("select total() from own"), ["12"]);
    other.run("update item set price = 1");
    assert_eq!(session.run("select total() from own"), ["2"]);
}

#[test]
fn a_routine_is_that_of_the_database_which_is_named() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    other.run("create function f(a int) returning int; return a + 100; end function");
    let mut session = server.session("store");
    session.run("create function f(a int) returning int; return a + 1; end function");
    session.run("create function rows_of() returning int; return 1 with resume; return 2 with resume; end function");
    assert_eq!(session.run("execute function f(1)"), ["2"]);
    assert_eq!(session.run("execute function store:f(1)"), ["2"]);
    assert_eq!(session.run("select store:f(1) from systables where tabid = 1"), ["2"]);
    // Those of others cannot be called, and their names do not mean our own.
    for sql in [
        "execute function stock:f(1)",
        "execute procedure stock:rows_of()",
        "select stock:f(1) from systables where tabid = 1",
        "select * from table(function stock:rows_of()) as t(a)",
        "insert into stock:item values (f(1))",
        "insert into stock:item values (store:f(1))",
    ] {
        assert_eq!(session.error(sql).informix_code(), -674, "{sql}");
    }
    // One that is named there is.
    assert_eq!(session.run("insert into stock:item values (stock:f(1))"), ["1"]);
    assert_eq!(other.run("select * from item"), ["101"]);
    // Built-in ones are there in each.
    assert_eq!(session.run("select stock:upper('a') from systables where tabid = 1"), ["A"]);
    session.run("create function g() returning int; return stock:f(1); end function");
    assert_eq!(session.error("execute function g()").informix_code(), -674);
}

#[test]
fn roles_of_the_other_database_hold_there() {
    let server = Server::new();
    let database = server.databases.create("stock", Logging::Log).unwrap();
    let mut admin = database.session(SessionOptions::new("root", Language::Postgres));
    admin.run("create role boss superuser login");
    admin.run("create role ada login");
    admin.run("create table open_item (id int)");
    admin.run("create table secret (id int)");
    admin.run("create view shown as select id from secret");
    admin.run("grant select on open_item, shown to ada");
    let mut session = server.session("store");
    assert_eq!(session.run("select * from stock:open_item"), Vec::<String>::new());
    assert_eq!(session.run("select * from stock:shown"), Vec::<String>::new());
    assert_eq!(session.error("select * from stock:secret").informix_code(), -272);
    session.run("create view taken as select * from stock:secret");
    assert_eq!(session.error("select * from taken").informix_code(), -272);
    let mut closed = server.databases.main().session(SessionOptions::new("ada", Language::Informix));
    assert_eq!(closed.error("select * from stock:open_item").informix_code(), -329);
    closed.see_neighbours(|_| Err(rowferry_engine::Error::new(Condition::InvalidAuthorizationSpecification, "no")));
    assert_eq!(closed.error("select * from stock:open_item").informix_code(), -951);
}

#[test]
fn tables_of_other_databases_are_changed_there() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id serial primary key, name char(8) not null, price decimal(8,2) check (price > 0))");
    other.run("create table log (name char(8))");
    other
        .run("create trigger noted insert on item referencing new as n for each row (insert into log values (n.name))");
    let mut session = server.session("store");
    session.run("create table own (name char(8), price int)");
    session.run("insert into own values ('bolt', 2)");
    session.run("insert into own values ('nut', 3)");
    assert_eq!(session.run("insert into stock:item (name, price) values ('screw', 1)"), ["1"]);
    assert_eq!(session.last_serial(), Some(1));
    assert_eq!(session.run("insert into stock:item (name, price) select name, price from own order by price"), ["2"]);
    assert_eq!(session.last_serial(), Some(3));
    assert_eq!(other.run("select * from item order by 1"), ["1|screw|1", "2|bolt|2", "3|nut|3"]);
    assert_eq!(other.run("select * from log order by 1"), ["bolt", "nut", "screw"]);
    assert_eq!(
        session.run("update stock:item set price = (select max(price) from own) where name in (select name from own)"),
        ["2"]
    );
    assert_eq!(session.run("delete from stock:item where id = 1"), ["1"]);
    assert_eq!(session.run("select id, price from stock:item order by 1"), ["2|3", "3|3"]);
    session.run("create synonym thing for stock:item");
    assert_eq!(session.run("update thing set price = 9 where id = 2"), ["1"]);
    assert_eq!(session.error("insert into stock:item (name, price) values ('bad', -1)").informix_code(), -530);
    assert_eq!(session.error("insert into stock:item (price) values (1)").informix_code(), -391);
    assert_eq!(session.error("insert into stock:item (name, price) values (f(1), 1)").informix_code(), -674);
    let plan = session.prepare("insert into stock:item (name, price) values (?, ?)", &[]).unwrap().unwrap();
    let own = other.prepare("insert into item (name, price) values (?, ?)", &[]).unwrap().unwrap();
    assert_eq!(plan.bound.params, own.bound.params);
    // The other's schema changes under it.
    other.run("alter table item add (more int default 4)");
    use rowferry_engine::ir::Value;
    session.execute(&plan, &[Value::Text("pin".into()), Value::Integer(6)]).unwrap();
    assert_eq!(other.run("select name, more from item where price = 6"), ["pin|4"]);
    // Nothing of it keeps the database from being dropped.
    drop(other);
    server.databases.drop("stock").unwrap();
    assert_eq!(session.error("delete from stock:item").informix_code(), -329);
}

#[test]
fn a_transaction_changes_one_database() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    let mut third = server.create("third");
    third.run("create table t (a int)");
    let mut session = server.session("store");
    session.run("create table own (a int)");
    let code = |session: &mut Session, sql: &str| session.error(sql).informix_code();
    session.run("begin work");
    session.run("insert into stock:item values (1)");
    // It sees what it has done; others do not.
    assert_eq!(session.run("select count(*) from stock:item"), ["1"]);
    assert_eq!(session.run("select count(*) from stock:item, own"), ["0"]);
    assert_eq!(other.run("select count(*) from item"), ["0"]);
    assert_eq!(code(&mut session, "insert into own values (1)"), -999);
    assert_eq!(code(&mut session, "insert into third:t values (1)"), -999);
    session.run("savepoint s");
    session.run("insert into stock:item values (2)");
    session.run("rollback work to savepoint s");
    assert_eq!(session.run("select id from stock:item"), ["1"]);
    session.run("commit work");
    assert_eq!(other.run("select id from item"), ["1"]);
    session.run("begin work");
    session.run("savepoint before");
    session.run("insert into stock:item values (3)");
    session.run("rollback work to savepoint before");
    session.run("insert into stock:item values (4)");
    session.run("rollback work");
    assert_eq!(other.run("select id from item"), ["1"]);
    session.run("begin work");
    session.run("insert into own values (1)");
    assert_eq!(code(&mut session, "insert into stock:item values (5)"), -999);
    session.run("commit work");
    assert_eq!(session.run("select a from own"), ["1"]);
    // A session that goes away in between leaves nothing.
    session.run("begin work");
    session.run("insert into stock:item values (6)");
    drop(session);
    assert_eq!(other.run("select id from item"), ["1"]);
}

#[test]
fn writers_of_another_database_wait_as_there() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int)");
    let mut session = server.session("store");
    other.run("begin work");
    other.run("insert into item values (1)");
    session.run("set lock mode to not wait");
    let own = {
        let mut own = server.session("stock");
        own.run("set lock mode to not wait");
        own.error("insert into item values (2)").informix_code()
    };
    assert_eq!(session.error("insert into stock:item values (2)").informix_code(), own);
    other.run("commit work");
    session.run("insert into stock:item values (2)");
    session.run("create procedure fill() insert into stock:item values (3); end procedure");
    session.run("execute procedure fill()");
    assert_eq!(other.run("select id from item order by 1"), ["1", "2", "3"]);
}

#[test]
fn what_the_other_database_keeps_as_text_speaks_of_it() {
    let server = Server::new();
    let mut other = server.create("stock");
    other.run("create table item (id int, kind int default 5)");
    other.run("create table base (id int)");
    other.run("create view some as select * from item where id in (select id from base) with check option");
    other.run("insert into base values (1)");
    let mut session = server.session("store");
    // Tables of the same names, which nobody means.
    session.run("create table item (id int)");
    session.run("create table base (id int)");
    session.run("insert into base values (2)");
    assert_eq!(session.run("insert into stock:some (id) values (1)"), ["1"]);
    assert_eq!(session.error("insert into stock:some (id) values (2)").informix_code(), -385);
    assert_eq!(session.run("insert into stock:item (id) select id from base"), ["1"]);
    assert_eq!(other.run("select * from item order by 1"), ["1|5", "2|5"]);
    // Changes that lead on into other databases would be a transaction of two.
    other.run(
        "create trigger on insert on base referencing new as n for each row (insert into store:base values (n.id))",
    );
    assert_eq!(session.error("insert into stock:base values (7)").informix_code(), -999);
    assert_eq!(session.run("select count(*) from base where id = 7"), ["0"]);
    assert_eq!(
        session.run("merge into stock:item t using base b on t.id = b.id when matched then update set kind = 8"),
        ["1"]
    );
    assert_eq!(other.run("select * from item order by 1"), ["1|5", "2|8"]);
}
