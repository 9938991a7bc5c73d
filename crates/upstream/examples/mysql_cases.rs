//! Runs files of MySQL cases in front of a PostgreSQL server, and tells what is answered otherwise than from a file.
//!
//! `mysql_cases URL FILE…`, with an empty database for each file at `URLNAME`, writes a line of JSON for each case:
//! `file`, `line`, `sql`, `expected` and `found`.

#[path = "../../engine/tests/support/cases.rs"]
#[allow(dead_code, reason = "it compares elsewhere")]
mod cases;
#[path = "../../engine/tests/support/mysql_answers.rs"]
mod mysql_answers;

use std::path::Path;
use std::sync::Arc;

use rowferry_engine::upstream::Upstream;
use rowferry_engine::{Database, Language, Options, SessionOptions};
use rowferry_upstream::Server;
use serde_json::json;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("mysql_cases URL FILE…");
    for file in arguments {
        let name = Path::new(&file).file_stem().expect("a file").to_string_lossy().into_owned();
        let server = Server::from_url(&format!("{url}{name}")).expect("a URL");
        let server: Arc<dyn Upstream> = Arc::new(server);
        rowferry_engine::upstream::install(&server).expect("what MySQL's rules need");
        let directory = tempfile::tempdir().expect("a directory");
        let options = Options {
            create: true,
            upstream: Some(server),
            password_verifier: Some(|password| Ok(Some(format!("kept of {password}")))),
            mysql_verifier: Some(|plugin, password| format!("{}{password}", plugin.prefix())),
            ..Options::default()
        };
        let database = Database::open_beside("store", &directory.path().join("beside.db"), options).expect("a server");
        let mut session = database.session(SessionOptions::new("ada", Language::Mysql));
        for case in cases::cases(&std::fs::read_to_string(&file).expect("a file of cases")) {
            let found = mysql_answers::answer(&mut session, &case.sql);
            let told = json!({
                "file": name, "line": case.line, "sql": case.sql, "expected": case.answer, "found": found,
            });
            println!("{told}");
        }
    }
}
