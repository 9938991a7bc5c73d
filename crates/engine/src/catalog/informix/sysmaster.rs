//! The database `sysmaster`: what a real server tells of itself. Here the server is one process over files.

use super::{Cell, Context, OWNER, Row, Table, View, int, tabid, text};

/// The only space: the file.
const SPACE: &str = "rootdbs";
/// The database's locale, in the words of GLS.
const LOCALE: &str = "en_US.819";

macro_rules! tables {
    ($($name:literal, $live:literal, $columns:literal => $rows:expr;)*) => {
        &[$(Table {
            namespace: "sysmaster",
            name: $name,
            columns: $columns,
            rows: $rows,
            live: $live,
        one: None,
        chunks: None,
        },)*]
    };
}

#[rustfmt::skip]
pub(super) const TABLES: &[Table] = tables! {
    "sysdual", false, "dummy char(1)" => |_| vec![vec![text("X")]];
    "sysdbslocale", false, "dbs_dbsname varchar(128), dbs_collate varchar(32)" => |context| {
        let name = View::of(context).database;
        ["sysmaster", &name].into_iter().map(|name| vec![text(name), text(LOCALE)]).collect()
    };
    "systabnames", false,
        "partnum integer, dbsname varchar(128), owner varchar(32), tabname varchar(128), collate varchar(32), dbsnum integer"
        => |context| {
            let view = View::of(context);
            view.relations
                .iter()
                .filter(|relation| !super::is_view(relation))
                .map(|relation| {
                    vec![
                        int(0x0010_0000 + tabid(relation)),
                        text(&view.database),
                        text(view.owner(relation.oid)),
                        text(&relation.name),
                        text(LOCALE),
                        int(1),
                    ]
                })
                .collect()
        };
    "syssessions", true,
        "sid integer, username char(32), uid integer, pid integer, hostname char(256), tty char(16), connected integer, \
         feprogram char(255), pooladdr int8, is_wlatch integer, is_wlock integer, is_wbuff integer, is_wckpt integer, \
         is_wlogbuf integer, is_wtrans integer, is_monitor integer, is_incrit integer, state integer"
        => sessions;
    "syslocks", true,
        "dbsname varchar(128), tabname varchar(128), rowidlk int8, keynum smallint, type char(4), owner integer, waiter integer"
        => locks;
    "sysconfig", true,
        "cf_id integer, cf_name char(128), cf_flags integer, cf_original char(256), cf_effective char(256), cf_default char(256)"
        => |context| {
            let server = context.state.variables.read().get("informix.server").unwrap_or_else(|| "informix".to_owned());
            [("ROOTNAME", SPACE.to_owned()), ("DBSERVERNAME", server)]
                .into_iter()
                .enumerate()
                .map(|(at, (name, value))| {
                    vec![int(at as i64), text(name), int(0), text(&value), text(&value), text("")]
                })
                .collect()
        };
    "sysmachineinfo", true,
        "os_name char(128), os_release char(128), os_nodename char(128), os_version char(128), os_machine char(128), \
         os_num_procs integer, os_num_olprocs integer, os_pagesize integer, os_mem_total int8, os_mem_free int8, \
         os_open_file_lim integer"
        => |_| {
            let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as i64);
            vec![vec![
                text(std::env::consts::OS),
                Cell::Null,
                Cell::Null,
                Cell::Null,
                text(std::env::consts::ARCH),
                int(processors),
                int(processors),
                int(4_096),
                Cell::Null,
                Cell::Null,
                Cell::Null,
            ]]
        };
    "sysdbspaces", false,
        "dbsnum smallint, name char(128), owner char(32), fchunk integer, nchunks smallint, pagesize integer, \
         is_mirrored integer, is_blobspace integer, is_sbspace integer, is_temp integer, flags integer"
        => |_| {
            let numbers = [1, 1, 4_096, 0, 0, 0, 0, 1].map(int);
            vec![[int(1), text(SPACE), text(OWNER)].into_iter().chain(numbers).collect()]
        };
    "syschunks", false,
        "chknum smallint, dbsnum smallint, nxchknum smallint, chksize integer, offset integer, pagesize integer, nfree integer, \
         is_offline integer, is_recovering integer, is_blobchunk integer, is_sbchunk integer, is_inconsistent integer, \
         flags smallint, fname char(256), mfname char(256), moffset integer, mis_offline integer, mis_recovering integer, \
         mflags smallint"
        => |context| {
            let database = View::of(context).database;
            let mut row: Row = [1, 1, 0, 0, 0, 4_096, 0, 0, 0, 0, 0, 0, 0].map(int).into();
            row.extend([text(&database), text(""), int(0), int(0), int(0), int(0)]);
            vec![row]
        };
    "sysopendb", true,
        "odb_sessionid integer, odb_odbno integer, odb_dbname char(128), odb_iscurrent char(1)"
        => |context| {
            let name = View::of(context).database;
            let mut sessions = context.database.sessions();
            sessions.sort_by_key(|session| session.pid);
            sessions
                .into_iter()
                .map(|session| vec![int(session.pid.into()), int(0), text(&name), text("Y")])
                .collect()
        };
    "sysprofile", false, "name char(16), value integer" => |_| Vec::new();
    "syslogs", false,
        "number smallint, uniqid integer, size integer, used integer, is_used integer, is_current integer, \
         is_backed_up integer, is_new integer, is_archived integer, is_temp integer, flags smallint" => |_| Vec::new();
    "sysvpprof", false, "vpid integer, class char(50), usercpu float, syscpu float" => |_| Vec::new();
    "sysextents", false,
        "dbsname varchar(128), tabname varchar(128), chunk integer, offset integer, size integer" => |_| Vec::new();
    "sysptprof", false,
        "dbsname varchar(128), tabname varchar(128), partnum integer, lockreqs integer, lockwts integer, deadlks integer, \
         lktouts integer, isreads integer, iswrites integer, isrewrites integer, isdeletes integer, bufreads integer, \
         bufwrites integer, seqscans integer, pagreads integer, pagwrites integer" => |_| Vec::new();
    "syssesprof", false,
        "sid integer, lockreqs integer, locksheld integer, lockwts integer, deadlks integer, lktouts integer, logrecs integer, \
         isreads integer, iswrites integer, isrewrites integer, isdeletes integer, iscommits integer, isrollbacks integer, \
         longtxs integer, bufreads integer, bufwrites integer, seqscans integer, pagreads integer, pagwrites integer, \
         total_sorts integer, dsksorts integer, max_sortdiskspace integer, logspused integer, maxlogsp integer"
        => |_| Vec::new();
    "sysenv", false, "env_id integer, env_name char(128), env_value char(512)" => |_| Vec::new();
    "sysenvses", false, "envses_sid integer, envses_id integer, envses_name char(128), envses_value char(512)" => |_| Vec::new();
    "sysonlinelog", false, "offset int8, next_offset int8, line varchar(255)" => |_| Vec::new();
};

fn sessions(context: &Context<'_>) -> Vec<Row> {
    let mut sessions = context.database.sessions();
    sessions.sort_by_key(|session| session.pid);
    sessions
        .into_iter()
        .map(|session| {
            let connected = session
                .started
                .duration_since(std::time::SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_secs() as i64);
            let program = session.variables.read().get("application_name").unwrap_or_default();
            let waiting = i64::from(context.database.locks.waits_for(session.pid).is_some());
            let mut row = vec![
                int(session.pid.into()),
                text(&session.user),
                int(0),
                int(0),
                text(&session.client_address),
                text(""),
                int(connected),
                text(program),
                int(0),
                int(0),
                int(waiting),
            ];
            row.extend([0, 0, 0, 0, 0, 0, 1].map(int));
            row
        })
        .collect()
}

/// The one lock that there is: the writer's.
fn locks(context: &Context<'_>) -> Vec<Row> {
    let name = View::of(context).database;
    context
        .database
        .sessions()
        .into_iter()
        .filter(|session| session.activity.lock().writing)
        .map(|session| vec![text(&name), text(""), int(0), int(0), text("X"), int(session.pid.into()), Cell::Null])
        .collect()
}
