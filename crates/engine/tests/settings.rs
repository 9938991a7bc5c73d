//! SET, SHOW, RESET and what settings do.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use rowferry_engine::{Durability, Options};
use support::{Ask, Fixture, postgres};

#[test]
fn a_session_that_is_read_only_by_default_refuses_writes_outside_transactions() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (id int primary key)");
    for set in [
        "set default_transaction_read_only = on",
        "set session characteristics as transaction read only",
        "select set_config('default_transaction_read_only', 'on', false)",
    ] {
        session.run(set);
        assert_eq!(session.run("show transaction_read_only"), ["on"], "{set}");
        assert_eq!(session.run("show default_transaction_read_only"), ["on"], "{set}");
        for write in ["insert into t values (1)", "create table u (id int)", "delete from t", "drop table t"] {
            assert_eq!(session.fails(write), "25006", "{set}: {write}");
        }
        session.run("begin");
        assert_eq!(session.fails("insert into t values (1)"), "25006", "{set}");
        session.run("rollback");
        session.run("begin read write");
        assert_eq!(session.run("show transaction_read_only"), ["off"]);
        session.run("insert into t values (1)");
        session.run("rollback");
        session.run("set default_transaction_read_only = off");
        session.run("insert into t values (1)");
        session.run("delete from t");
    }
}

#[test]
fn the_modes_of_transactions_begin_with_the_session_s_defaults() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("set session characteristics as transaction isolation level serializable, deferrable");
    let modes = ["transaction_isolation", "transaction_deferrable", "default_transaction_deferrable"];
    for _ in 0..2 {
        let shown: Vec<String> = modes.iter().flat_map(|name| session.run(&format!("show {name}"))).collect();
        assert_eq!(shown, ["serializable", "on", "on"]);
        session.run("begin");
    }
    session.run("set transaction isolation level repeatable read, not deferrable");
    // A default that changes now is for the next transaction.
    session.run("set default_transaction_isolation = 'read committed'");
    let shown: Vec<String> = modes.iter().flat_map(|name| session.run(&format!("show {name}"))).collect();
    assert_eq!(shown, ["repeatable read", "off", "on"]);
    session.run("commit");
    assert_eq!(session.run("show transaction_isolation"), ["read committed"]);
}

#[test]
fn modes_change_only_where_postgres_lets_them() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    for (statements, refused) in [
        (&["select 1"][..], "set transaction isolation level serializable"),
        (&["savepoint s"], "set transaction isolation level serializable"),
        (&["select 1"], "set transaction_isolation = 'serializable'"),
        (&["select 1"], "set transaction deferrable"),
        (&["set transaction read only", "select 1"], "set transaction read write"),
        (&["set transaction read only", "savepoint s"], "set transaction read write"),
    ] {
        session.run("begin");
        statements.iter().for_each(|statement| drop(session.run(statement)));
        assert_eq!(session.fails(refused), "25001", "{statements:?}, {refused}");
        session.run("rollback");
    }
    session.run("begin");
    session.run("savepoint s");
    session.run("set transaction read only");
    assert_eq!(session.run("show transaction_read_only"), ["on"]);
    session.run("rollback to s");
    assert_eq!(session.run("show transaction_read_only"), ["off"]);
    session.run("select set_config('transaction_read_only', 'on', true)");
    assert_eq!(session.fails("create table t (id int)"), "25006");
    session.run("rollback");
}

#[test]
fn what_cannot_be_set_says_why() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    for (statement, code, message) in [
        ("set nosuch = 1", "42704", "unrecognized configuration parameter \"nosuch\""),
        ("show nosuch", "42704", "unrecognized configuration parameter \"nosuch\""),
        ("set server_version = '9'", "55P02", "parameter \"server_version\" cannot be changed"),
        ("set port = 1", "55P02", "parameter \"port\" cannot be changed without restarting the server"),
        ("set fsync = on", "55P02", "parameter \"fsync\" cannot be changed now"),
        ("set post_auth_delay = 1", "55P02", "parameter \"post_auth_delay\" cannot be set after connection start"),
        ("set work_mem = 1", "22023", "1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)"),
        ("set work_mem = '1MBs'", "22023", "invalid value for parameter \"work_mem\": \"1MBs\""),
        ("set work_mem = 1, 2", "22023", "SET work_mem takes only one argument"),
        (
            "set random_page_cost = -1",
            "22023",
            "-1 is outside the valid range for parameter \"random_page_cost\" (0 .. 1.79769e+308)",
        ),
        ("set enable_sort = maybe", "22023", "parameter \"enable_sort\" requires a Boolean value"),
        ("set \"a.b c\" = 1", "42602", "invalid configuration parameter name \"a.b c\""),
        ("set role nobody", "22023", "role \"nobody\" does not exist"),
        ("set session authorization nobody", "22023", "role \"nobody\" does not exist"),
        ("set transform_null_equals = on", "0A000", "setting \"transform_null_equals\" to \"on\" is not supported"),
    ] {
        let error = session.error(statement);
        assert_eq!((error.condition().sqlstate(), error.message.as_str()), (code, message), "{statement}");
    }
}

#[test]
fn values_are_shown_with_their_units() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    for (name, given, shown) in [
        ("work_mem", "'1.5GB'", "1536MB"),
        ("work_mem", "'0x400kB'", "1MB"),
        ("statement_timeout", "'1.5min'", "90s"),
        ("statement_timeout", "1500", "1500ms"),
        ("vacuum_cost_delay", "'2500us'", "2500us"),
        ("random_page_cost", "'1e3'", "1000"),
        ("temp_buffers", "1000", "8000kB"),
        ("client_min_messages", "debug", "debug2"),
        ("search_path", "a, \"B c\", '$user'", "a, \"B c\", \"$user\""),
        ("search_path", "''", "\"\""),
        ("role", "ada", "ada"),
        ("max_prepared_transactions", "default", "0"),
    ] {
        if given != "default" {
            session.run(&format!("set {name} = {given}"));
        }
        assert_eq!(session.run(&format!("show {name}")), [shown], "{name} = {given}");
        assert_eq!(session.run(&format!("select current_setting('{name}')")), [shown], "{name} = {given}");
    }
    session.run("set time zone interval '-2:30'");
    assert_eq!(session.run("show timezone"), ["<-02:30>+02:30"]);
    session.run("set work_mem = '64MB'");
    assert_eq!(
        session.run("select setting, unit, vartype, context, min_val, reset_val, source from pg_settings where name = 'work_mem'"),
        ["65536|kB|integer|user|64|4096|session"]
    );
    assert_eq!(session.run("select set_config('work_mem', null, false)"), ["4MB"]);
    let listed = session.run("select count(*) from pg_settings");
    assert_eq!(listed, [session.run("show all").len().to_string()]);
}

#[test]
fn names_of_the_application_stay_known() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    assert_eq!(session.fails("show app.tenant"), "42704");
    session.run("begin");
    session.run("set local app.tenant = '7'");
    assert_eq!(session.run("show app.tenant"), ["7"]);
    session.run("commit");
    assert_eq!(session.run("select current_setting('app.tenant')"), [""]);
    assert_eq!(session.run("select category from pg_settings where name = 'app.tenant'"), ["Customized Options"]);
}

#[test]
fn what_a_query_has_set_survives_a_later_failure() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("select set_config('work_mem', '5MB', false), set_config('app.local', 'x', true)");
    assert_eq!(session.fails("select 1 / 0"), "22012");
    assert_eq!(session.run("show work_mem"), ["5MB"]);
    assert_eq!(session.run("show app.local"), [""]);
    // A statement that fails takes back what it has set itself.
    assert_eq!(session.fails("select set_config('work_mem', '6MB', false), 1 / (select 0)"), "22012");
    assert_eq!(session.run("show work_mem"), ["5MB"]);
}

#[test]
fn set_local_outside_a_transaction_warns_and_does_nothing() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("set local work_mem = '5MB'");
    let notices = session.drain_notices();
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].message, "SET LOCAL can only be used in transaction blocks");
    assert_eq!(session.run("show work_mem"), ["4MB"]);
    session.run("set client_min_messages = error");
    session.run("set local work_mem = '5MB'");
    assert!(session.drain_notices().is_empty());
}

#[test]
fn reset_all_goes_back_to_what_the_client_connected_with() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.set_variable("work_mem", "8MB").unwrap();
    session.set_variable("application_name", "shop").unwrap();
    session.run("set work_mem = '9MB'");
    session.run("set timezone = 'Europe/Berlin'");
    session.run("reset all");
    assert_eq!(session.run("show work_mem"), ["8MB"]);
    assert_eq!(session.run("show timezone"), ["Etc/UTC"]);
    assert_eq!(session.run("show application_name"), ["shop"]);
}

#[test]
fn a_server_tells_of_itself() {
    let fixture = Fixture::new();
    let database = fixture.open_with(Options { create: true, durability: Durability::Normal, ..Options::default() });
    database.announce("port", "7777");
    let mut session = postgres(&database);
    assert_eq!(session.run("show port"), ["7777"]);
    assert_eq!(session.run("show synchronous_commit"), ["off"]);
    session.run("set synchronous_commit = on");
    session.run("create table t (id int)");
    session.run("reset synchronous_commit");
    session.run("insert into t values (1)");
    drop((session, database));
    let database = fixture.open_with(Options { read_only: true, ..Options::default() });
    let mut session = postgres(&database);
    assert_eq!(session.run("show transaction_read_only"), ["on"]);
    assert_eq!(session.run("show data_directory"), [fixture.directory.path().display().to_string()]);
}
