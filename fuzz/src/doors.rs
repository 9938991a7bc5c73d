//! Whole sessions: the bytes are what a client sends behind its login, to a server in this process, over a unix socket.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rowferry_engine::{Database, Databases, Options};
use rowferry_server::auth::{Gate, Users};
use rowferry_server::pg::PgDoor;
use rowferry_server::{Door, Endpoint, Limits, MysqlDoor, Server, SqliDoor, Stopper};
use rowferry_testkit::vectors;
use rowferry_wire_mysql::messages::handshake::{HandshakeResponse, SslRequest, capability};
use rowferry_wire_pg::Frontend;

/// So many sessions share a database, which is then made anew: what they leave in it does not add up.
const SESSIONS: usize = 2_000;
/// How long a session may take to end once its client has said everything.
const PATIENCE: Duration = Duration::from_secs(20);

struct Running {
    socket: PathBuf,
    sessions: usize,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(door: fn(Database) -> Arc<dyn Door>) -> Self {
        let database = Database::memory("fuzz", Options::default()).expect("a database in memory");
        let socket = std::env::temp_dir().join(format!("rowferry-fuzz-{}", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        let mut server = Server::new(Limits::default(), None).expect("a server");
        server.listen(&Endpoint::Unix(socket.clone()), door(database), false).expect("a socket to listen at");
        let stopper = server.stopper();
        let thread = std::thread::spawn(move || server.run().expect("the server runs"));
        Self { socket, sessions: 0, stopper, thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server stops");
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

static SERVER: Mutex<Option<Running>> = Mutex::new(None);

fn session(door: fn(Database) -> Arc<dyn Door>, login: &[u8], said: &[u8]) {
    let mut server = SERVER.lock().expect("nobody panicked");
    if server.as_ref().is_none_or(|running| running.sessions >= SESSIONS) {
        *server = None;
        *server = Some(Running::start(door));
    }
    let running = server.as_mut().expect("it was started");
    running.sessions += 1;
    talk(&running.socket, login, said);
}

/// Says everything, and hears the server out.
fn talk(socket: &Path, login: &[u8], said: &[u8]) {
    let mut stream = UnixStream::connect(socket).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    stream.set_write_timeout(Some(PATIENCE)).expect("a time-out");
    // The server may hang up amid of it.
    let _ = stream.write_all(login).and_then(|()| stream.write_all(said));
    let _ = stream.shutdown(Shutdown::Write);
    let mut heard = [0; 16 * 1024];
    loop {
        match stream.read(&mut heard) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("the session does not end");
            }
            Err(_) => return,
        }
    }
}

/// A frontend's messages behind the start-up.
pub fn postgres(data: &[u8]) {
    let mut login = vec![0, 0, 0, 0, 0, 3, 0, 0];
    login.extend_from_slice(b"user\0fuzz\0database\0fuzz\0options\0-c statement_timeout=1000\0\0");
    let length = u32::try_from(login.len()).expect("it is short");
    login[..4].copy_from_slice(&length.to_be_bytes());
    let mut said = data.to_vec();
    Frontend::Terminate.encode(&mut said);
    session(
        |database| Arc::new(PgDoor::new(Databases::single(database), Arc::new(Gate::new(Users::none())))),
        &login,
        &said,
    );
}

/// A client's messages behind the login of informix-driver.
pub fn informix(data: &[u8]) {
    static LOGIN: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let mut login = LOGIN.lock().expect("nobody panicked");
    let login = login.get_or_insert_with(|| {
        let all = vectors::load("sqli.json");
        let found = all.into_iter().find(|vector| vector.name == "login.request.informix_driver");
        found.expect("the vector is there").bytes
    });
    let door = |database| -> Arc<dyn Door> {
        Arc::new(SqliDoor::new(Databases::single(database), Arc::new(Gate::new(Users::none()))))
    };
    session(door, login, data);
}

/// A client's packets behind its login.
pub fn mysql(data: &[u8]) {
    let head = SslRequest {
        capabilities: capability::PROTOCOL_41
            | capability::SECURE_CONNECTION
            | capability::MULTI_STATEMENTS
            | capability::MULTI_RESULTS
            | capability::LOCAL_FILES
            | capability::SESSION_TRACK,
        max_packet: 1 << 24,
        collation: 45,
    };
    let response = HandshakeResponse {
        head,
        user: "fuzz".into(),
        scramble: Vec::new(),
        database: String::new(),
        plugin: String::new(),
        attributes: Vec::new(),
        zstd_level: 0,
    };
    let mut payload = Vec::new();
    response.encode(&mut payload);
    let mut login = u32::try_from(payload.len()).expect("it is short").to_le_bytes()[..3].to_vec();
    login.push(1);
    login.extend_from_slice(&payload);
    let door = |database| -> Arc<dyn Door> {
        Arc::new(MysqlDoor::new(Databases::single(database), Arc::new(Gate::new(Users::none()))))
    };
    session(door, &login, data);
}
