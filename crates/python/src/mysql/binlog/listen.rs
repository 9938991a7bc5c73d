use pyo3::prelude::*;
use rowferry_wire_mysql::binlog::command::{BinlogDump, BinlogDumpGtid, RegisterReplica, dump_flag};
use rowferry_wire_mysql::binlog::gtid::GtidSet;
use rowferry_wire_mysql::client::{Client, Event};

use super::{BinlogReader, QUEUE_BYTES, wrong_gtids};
use crate::mysql::driver::{Driver, Operation, Shared, Step, broken, busy, gone, misused, server_error};
use crate::pump::Conversation as _;

/// Packets of a dump, up to the reader's bound, at least one.
struct Listen {
    reader: Py<BinlogReader>,
}

impl Operation for Listen {
    fn event(&mut self, py: Python<'_>, event: Event<'_>, _: &mut Shared) -> PyResult<Option<Step>> {
        let mut inner = self.reader.get().lock(py);
        match event {
            Event::Row(packet) => {
                inner.push(packet);
                Ok((inner.bytes >= QUEUE_BYTES).then(|| Step::Done(py.None())))
            }
            Event::EndOfRows { .. } => {
                inner.ended = true;
                Ok(Some(Step::Done(py.None())))
            }
            Event::Error(error) => {
                // What came before it is handed out first.
                inner.failed = Some(server_error(py, &error));
                Ok(Some(Step::Done(py.None())))
            }
            event => {
                let failure = format!("{event:?}");
                Err(broken(py, &rowferry_wire_mysql::client::Failure::Unsupported(failure)))
            }
        }
    }

    fn pending(&self, py: Python<'_>) -> Step {
        if self.reader.get().lock(py).packets.is_empty() { Step::Pending } else { Step::Done(py.None()) }
    }

    fn may_be_done(&self) -> bool {
        true
    }
}

/// Waits for packets.
pub fn listen(driver: &mut Driver, py: Python<'_>, client: &mut Client, reader: &Py<BinlogReader>) -> PyResult<()> {
    if driver.is_busy() {
        return Err(busy(py));
    }
    if client.is_closed() {
        return Err(gone(py));
    }
    let answer = reader.get().lock(py).acknowledge.take();
    if let Some((file, position)) = answer {
        client.acknowledge_binlog(&file, position).map_err(|misuse| misused(py, misuse))?;
    }
    driver.start(Listen { reader: reader.clone_ref(py) });
    Ok(())
}

/// Introduces us as a replica.
pub fn register(
    driver: &mut Driver,
    py: Python<'_>,
    client: &mut Client,
    server_id: u32,
    host: String,
    port: u16,
) -> PyResult<()> {
    driver.command(py, client, |client| client.register_replica(&RegisterReplica { server_id, host, port }))
}

/// What a dump is asked for.
#[derive(FromPyObject)]
pub struct DumpRequest {
    server_id: u32,
    file: String,
    offset: u64,
    /// MySQL's set of transactions, instead of a place.
    gtids: Option<String>,
    blocking: bool,
}

/// Asks for the log; what comes is taken by [`listen`].
pub fn dump(driver: &mut Driver, py: Python<'_>, client: &mut Client, request: &DumpRequest) -> PyResult<()> {
    driver.begin(py, client)?;
    let server_id = request.server_id;
    let flags = if request.blocking { 0 } else { dump_flag::NON_BLOCK };
    let asked = match &request.gtids {
        Some(gtids) => {
            let set: GtidSet = gtids.parse().map_err(|failure| wrong_gtids(py, &failure))?;
            let mut gtids = Vec::new();
            set.encode(&mut gtids);
            client.dump_binlog_gtid(&BinlogDumpGtid { server_id, flags, gtids })
        }
        None => {
            let position = u32::try_from(request.offset).map_err(|_| {
                let message = format!(
                    "position {} of {} is beyond 4 GiB, which no server can be asked for; begin by GTIDs, or at the next file",
                    request.offset, request.file
                );
                crate::errors::error(py, crate::errors::Class::NotSupported, None, &message)
            })?;
            let flags = flags | if client.session().is_mariadb { dump_flag::SEND_ANNOTATE_ROWS } else { 0 };
            client.dump_binlog(&BinlogDump { server_id, flags, file: request.file.clone(), position })
        }
    };
    asked.map_err(|misuse| misused(py, misuse))
}
