//! From the packets of a dump to events: checksums, compression, tables, and how far the log is read.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use rowferry_wire::{Malformed, Reader as Bytes};

use super::event::{Checksum, EventHeader, EventType, Format, Gtid, IntVar, Query, Rotate, UserVar, event_flag, name};
use super::gtid::{GtidSet, Source};
use super::mariadb_gtid::{MariadbGtidEvent, MariadbPosition, mariadb_flag};
use super::rows::{NO_TABLE, RowsEvent};
use super::table::TableMap;
use super::{Fault, compressed, tagged};

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// How the events of this file are laid out.
    FormatDescription(Format),
    /// The log goes on elsewhere.
    Rotate(Rotate),
    /// A statement.
    Query(Query),
    /// Commit, with the transaction's number inside of the server.
    Xid(u64),
    /// A transaction of MySQL begins; an anonymous one by its type.
    Gtid(Gtid),
    /// A transaction of MariaDB begins.
    MariadbGtid(MariadbGtidEvent),
    /// The last transactions before this file (MariaDB).
    MariadbGtidList(MariadbPosition),
    /// The transactions before this file (MySQL).
    PreviousGtids(GtidSet),
    /// A table that rows will be about.
    TableMap(Arc<TableMap>),
    /// Rows of a table.
    Rows(Arc<TableMap>, RowsEvent),
    /// The text of the statement that changed the rows that follow.
    RowsQuery(Vec<u8>),
    /// A number for the statement that follows.
    IntVar(IntVar),
    /// The seeds of `RAND()` for the statement that follows.
    Rand(u64, u64),
    /// A variable for the statement that follows.
    UserVar(UserVar),
    /// A prepared XA transaction.
    XaPrepare {
        /// It was committed in one phase.
        one_phase: bool,
        /// The format of its name.
        format_id: i32,
        /// The global part of its name.
        gtrid: Vec<u8>,
        /// The branch's part of its name.
        bqual: Vec<u8>,
    },
    /// Something is missing in the log.
    Incident {
        /// 1: events were lost.
        number: u16,
        /// The server's words.
        message: String,
    },
    /// The server is there, and stands at this place of its log.
    Heartbeat {
        /// The file.
        file: String,
        /// Where in it.
        position: u64,
    },
    /// The server stopped.
    Stop,
    /// Up to this file the engines are safe (MariaDB).
    BinlogCheckpoint(String),
    /// Whatever else: the body as it is.
    Other(Vec<u8>),
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its header.
    pub header: EventHeader,
    /// What it says.
    pub body: Body,
}

/// Which events are wanted. The others are read for what they say about the log itself only.
#[derive(Clone, Debug)]
pub struct Interest {
    /// By type code.
    pub types: [bool; 256],
    /// Tables as `table` or `database.table`; empty for all.
    pub only_tables: HashSet<String>,
    /// Databases; empty for all.
    pub only_schemas: HashSet<String>,
    /// Tables that are not wanted, in the same form.
    pub ignored_tables: HashSet<String>,
    /// Databases that are not wanted.
    pub ignored_schemas: HashSet<String>,
}

impl Default for Interest {
    fn default() -> Self {
        Self {
            types: [true; 256],
            only_tables: HashSet::new(),
            only_schemas: HashSet::new(),
            ignored_tables: HashSet::new(),
            ignored_schemas: HashSet::new(),
        }
    }
}

impl Interest {
    /// Whether rows of a table are wanted.
    pub fn in_table(&self, schema: &str, table: &str) -> bool {
        let named = |set: &HashSet<String>| {
            !set.is_empty() && (set.contains(table) || set.contains(&format!("{schema}.{table}")))
        };
        (self.only_schemas.is_empty() || self.only_schemas.contains(schema))
            && (self.only_tables.is_empty() || named(&self.only_tables))
            && !self.ignored_schemas.contains(schema)
            && !named(&self.ignored_tables)
    }
}

/// A place in the log.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Position {
    /// The file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
}

/// Transactions that are known to be read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Gtids {
    /// Nothing is known.
    #[default]
    Unknown,
    /// MySQL's.
    Mysql(GtidSet),
    /// MariaDB's.
    Mariadb(MariadbPosition),
}

impl std::fmt::Display for Gtids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::Mysql(set) => set.fmt(f),
            Self::Mariadb(position) => position.fmt(f),
        }
    }
}

/// Where in a transaction the log is read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Group {
    /// Between transactions.
    #[default]
    Outside,
    /// One has begun; its first statement says whether it is the only one.
    Begun,
    /// Up to a commit.
    Open,
}

/// The number of the transaction under way.
#[derive(Clone, Debug, Default)]
enum Number {
    #[default]
    None,
    Mysql(Source, u64),
    Mariadb(MariadbGtidEvent),
}

#[derive(Debug)]
struct Table {
    /// The body of its TABLE_MAP: the same bytes mean the same table.
    raw: Vec<u8>,
    map: Arc<TableMap>,
    is_wanted: bool,
}

/// What of a transaction was handed out, to find the same place again after a cut.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Delivered {
    events: u64,
    /// Over types, and over the rows' bytes.
    fingerprint: u32,
}

/// The state machine. One for each stream; it outlives connections.
#[derive(Debug)]
pub struct Reader {
    interest: Interest,
    format: Format,
    tables: HashMap<u64, Table>,
    /// Events of a transaction that came compressed, and where the log stands behind them.
    unpacked: VecDeque<Vec<u8>>,
    behind: u64,
    position: Position,
    /// Behind the last whole transaction.
    safe: Position,
    gtids: Gtids,
    group: Group,
    number: Number,
    delivered: Delivered,
    /// What was handed out before the cut, while it comes again.
    again: Option<Delivered>,
}

impl Reader {
    /// Begins at a place, of which `gtids` are known to be read.
    pub fn new(interest: Interest, position: Position, gtids: Gtids) -> Self {
        Self {
            interest,
            format: Format::default(),
            tables: HashMap::new(),
            unpacked: VecDeque::new(),
            behind: 0,
            safe: position.clone(),
            position,
            gtids,
            group: Group::Outside,
            number: Number::None,
            delivered: Delivered::default(),
            again: None,
        }
    }

    /// Begins elsewhere; what was handed out before is forgotten.
    pub fn start_at(&mut self, position: Position, gtids: Gtids) {
        self.safe = position.clone();
        self.position = position;
        self.gtids = gtids;
        self.delivered = Delivered::default();
        self.again = None;
    }

    /// A connection stands whose events are protected by `checksum`. What was handed out of a transaction that was cut
    /// is passed over when it comes again.
    pub fn connected(&mut self, checksum: Checksum) {
        self.format = Format { checksum, ..Format::default() };
        self.tables.clear();
        self.unpacked.clear();
        self.position = self.safe.clone();
        self.group = Group::Outside;
        self.number = Number::None;
        // Cut again while the old part came: that part is still what was handed out.
        let handed_out = self.again.take().unwrap_or(self.delivered);
        self.again = (handed_out.events > 0).then_some(handed_out);
        self.delivered = Delivered::default();
    }

    /// Behind the last event that was handed out.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Behind the last whole transaction.
    pub const fn safe(&self) -> &Position {
        &self.safe
    }

    /// The transactions that are read as a whole.
    pub const fn gtids(&self) -> &Gtids {
        &self.gtids
    }

    /// True while a transaction is handed out.
    pub fn is_in_transaction(&self) -> bool {
        self.group != Group::Outside
    }

    /// True when events wait that [`next_packed`](Self::next_packed) can answer without another packet.
    pub fn has_more(&self) -> bool {
        !self.unpacked.is_empty()
    }

    /// Takes an event as it came. `None` when it is not wanted; ask [`next_packed`](Self::next_packed) for those packed in it.
    pub fn event(&mut self, event: &[u8]) -> Result<Option<Event>, Fault> {
        let header = EventHeader::decode(event)?;
        let body = &event[EventHeader::SIZE..];
        if header.event_type == EventType::FORMAT_DESCRIPTION {
            return self.format_description(header, event);
        }
        let body = match self.format.checksum {
            Checksum::None => body,
            Checksum::Crc32 => verified(&header, event)?,
        };
        if header.event_type == EventType::TRANSACTION_PAYLOAD {
            let events = compressed::expand_transaction(body)?;
            self.unpack(&events)?;
            self.behind = self.end_of(&header);
            return self.next_packed();
        }
        if header.position != 0 && header.flags & event_flag::ARTIFICIAL == 0 {
            // Heartbeats tell where the server is, not where we are.
            if !matches!(header.event_type, EventType::HEARTBEAT | EventType::HEARTBEAT_V2) {
                self.position.offset = self.end_of(&header);
            }
        }
        self.judge(header, body)
    }

    /// The next wanted event of a transaction that came compressed.
    pub fn next_packed(&mut self) -> Result<Option<Event>, Fault> {
        while let Some(event) = self.unpacked.pop_front() {
            if self.unpacked.is_empty() {
                self.position.offset = self.behind;
            }
            let header = EventHeader::decode(&event)?;
            if let Some(event) = self.judge(header, &event[EventHeader::SIZE..])? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The header tells 32 bits of where the event ends.
    fn end_of(&self, header: &EventHeader) -> u64 {
        let high = self.position.offset & !0xffff_ffff;
        let end = high | u64::from(header.position);
        // A transaction may end beyond 4 GiB.
        if end < self.position.offset { end + (1 << 32) } else { end }
    }

    fn unpack(&mut self, events: &[u8]) -> Result<(), Fault> {
        let mut rest = events;
        while !rest.is_empty() {
            let size = rest.get(9..13).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
            let size = size.ok_or(Malformed::new("packed event"))? as usize;
            if size < EventHeader::SIZE || size > rest.len() {
                return Err(Malformed::new("packed event size").into());
            }
            let (event, behind) = rest.split_at(size);
            self.unpacked.push_back(event.to_vec());
            rest = behind;
        }
        Ok(())
    }

    fn format_description(&mut self, header: EventHeader, event: &[u8]) -> Result<Option<Event>, Fault> {
        let format = Format::decode(&event[EventHeader::SIZE..])?;
        if format.version != 4 {
            let message = format!("format {} of the log is not supported; MySQL 5.0 and later write 4", format.version);
            return Err(Fault::Unsupported(message));
        }
        if format.checksum == Checksum::Crc32 {
            verified(&header, event)?;
        }
        self.format = format.clone();
        self.tables.clear();
        // Sent in front of events from the middle of a file, too.
        if header.flags & event_flag::ARTIFICIAL == 0 && u64::from(header.position) > self.position.offset {
            self.position.offset = u64::from(header.position);
            self.settle();
        }
        let is_wanted = self.interest.types[usize::from(header.event_type.0)];
        Ok(is_wanted.then_some(Event { header, body: Body::FormatDescription(format) }))
    }

    /// Nothing is under way: what is behind us need not be read again.
    fn settle(&mut self) {
        if self.group == Group::Outside {
            self.safe.clone_from(&self.position);
        }
    }

    fn complete(&mut self) -> Result<(), Fault> {
        if self.again.is_some() {
            // It was longer when it was cut.
            return Err(self.cannot_go_on());
        }
        self.group = Group::Outside;
        self.delivered = Delivered::default();
        match (std::mem::take(&mut self.number), &mut self.gtids) {
            (Number::Mysql(source, number), Gtids::Mysql(set)) => set.add(&source, number),
            (Number::Mariadb(event), Gtids::Mariadb(position)) => position.set(event.gtid),
            _ => {}
        }
        self.settle();
        Ok(())
    }

    /// Counts an event of a transaction. True when it was handed out before a cut.
    fn count(&mut self, header: &EventHeader, body: &[u8]) -> Result<bool, Fault> {
        // What a replica writes anew differs in table numbers, times and positions, and not in this.
        let is_content = header.event_type == EventType::TABLE_MAP || RowsEvent::kind(header.event_type).is_some();
        let content = if is_content { body.get(8..).unwrap_or_default() } else { &[] };
        let mut hasher = crc32fast::Hasher::new_with_initial(self.delivered.fingerprint);
        hasher.update(&[header.event_type.0]);
        hasher.update(&(content.len() as u32).to_le_bytes());
        // The end of long rows is enough: they differ in length, too, when they were cut elsewhere.
        hasher.update(&content[content.len().saturating_sub(64)..]);
        self.delivered = Delivered { events: self.delivered.events + 1, fingerprint: hasher.finalize() };
        let Some(before) = self.again else { return Ok(false) };
        if self.delivered.events == before.events {
            self.again = None;
            if self.delivered != before {
                return Err(self.cannot_go_on());
            }
        }
        Ok(true)
    }

    fn cannot_go_on(&self) -> Fault {
        Fault::Unsupported(format!(
            "the transaction that was cut cannot be read on: this server has logged it in other events. Read on from the \
             last whole transaction, {}:{} or `{}`, and undo what was taken of the one behind it",
            self.safe.file, self.safe.offset, self.gtids
        ))
    }

    /// Follows transactions, and decodes what is wanted.
    fn judge(&mut self, header: EventHeader, body: &[u8]) -> Result<Option<Event>, Fault> {
        let event_type = header.event_type;
        let is_rows = RowsEvent::kind(event_type).is_some();
        let mut is_over = false;
        let mut is_inside = true;
        let mut query = None;
        match event_type {
            EventType::GTID | EventType::ANONYMOUS_GTID | EventType::GTID_TAGGED | EventType::MARIADB_GTID => {
                return self.begin(header, body);
            }
            EventType::QUERY | EventType::QUERY_COMPRESSED => {
                let statement = self.query(event_type, body)?;
                let sql = statement.sql.as_slice();
                match self.group {
                    Group::Open => is_over = is_word(sql, b"COMMIT") || is_word(sql, b"ROLLBACK"),
                    _ if is_word(sql, b"BEGIN") || begins_with(sql, b"XA START") => self.group = Group::Open,
                    _ => is_over = true,
                }
                query = Some(statement);
            }
            EventType::XID | EventType::XA_PREPARE => is_over = true,
            EventType::TABLE_MAP => self.group = Group::Open,
            _ if is_rows => self.group = Group::Open,
            EventType::INTVAR
            | EventType::RAND
            | EventType::USER_VAR
            | EventType::ROWS_QUERY
            | EventType::ANNOTATE_ROWS
            | EventType::BEGIN_LOAD_QUERY
            | EventType::APPEND_BLOCK => {
                if self.group == Group::Outside {
                    self.group = Group::Begun;
                }
            }
            EventType::EXECUTE_LOAD_QUERY => is_over = self.group != Group::Open,
            _ => is_inside = self.group != Group::Outside && !is_about_the_log(event_type),
        }
        if let EventType::TABLE_MAP = event_type {
            self.take_table(body)?;
        }
        let is_again = if is_inside && self.group != Group::Outside { self.count(&header, body)? } else { false };
        let is_wanted = !is_again && self.interest.types[usize::from(event_type.0)];
        let decoded = match (is_wanted, query) {
            (true, Some(query)) => Some(Body::Query(query)),
            (true, None) => self.decode(&header, body)?,
            (false, _) => {
                self.obey(event_type, body)?;
                None
            }
        };
        if is_over {
            self.complete()?;
        } else if !is_inside {
            self.settle();
        }
        Ok(decoded.map(|body| Event { header, body }))
    }

    fn begin(&mut self, header: EventHeader, body: &[u8]) -> Result<Option<Event>, Fault> {
        let decoded = match header.event_type {
            EventType::MARIADB_GTID => {
                let event = MariadbGtidEvent::decode(body, header.server_id)?;
                let is_alone = event.flags & mariadb_flag::STANDALONE != 0;
                self.group = if is_alone { Group::Begun } else { Group::Open };
                self.number = Number::Mariadb(event);
                if self.gtids == Gtids::Unknown {
                    self.gtids = Gtids::Mariadb(MariadbPosition::default());
                }
                Body::MariadbGtid(event)
            }
            event_type => {
                let gtid = match event_type {
                    EventType::GTID_TAGGED => tagged::decode_gtid(body)?,
                    _ => Gtid::decode(body)?,
                };
                self.group = Group::Begun;
                self.number = match event_type {
                    EventType::ANONYMOUS_GTID => Number::None,
                    _ => Number::Mysql(Source { uuid: gtid.uuid, tag: gtid.tag.clone() }, gtid.number),
                };
                Body::Gtid(gtid)
            }
        };
        let is_again = self.count(&header, body)?;
        let is_wanted = !is_again && self.interest.types[usize::from(header.event_type.0)];
        Ok(is_wanted.then_some(Event { header, body: decoded }))
    }

    fn query(&self, event_type: EventType, body: &[u8]) -> Result<Query, Fault> {
        let mut query = Query::decode(body, &self.format)?;
        if event_type == EventType::QUERY_COMPRESSED {
            query.sql = compressed::expand_event(&query.sql)?;
        }
        Ok(query)
    }

    fn take_table(&mut self, body: &[u8]) -> Result<(), Fault> {
        let (table_id, schema, table) = TableMap::peek(body, &self.format)?;
        if self.tables.get(&table_id).is_some_and(|known| known.raw == body) {
            return Ok(());
        }
        let is_wanted = self.interest.in_table(&schema, &table);
        // What is not wanted is not looked at: its columns may be of types that we do not know.
        let map = match is_wanted {
            true => TableMap::decode(body, &self.format)?,
            false => TableMap { table_id, schema, table, ..TableMap::default() },
        };
        self.tables.insert(table_id, Table { raw: body.to_vec(), map: Arc::new(map), is_wanted });
        Ok(())
    }

    fn table(&self, table_id: u64) -> Result<&Table, Fault> {
        self.tables.get(&table_id).ok_or(Fault::Malformed(Malformed::new("rows of a table without a map")))
    }

    /// What unwanted events say about the log itself.
    fn obey(&mut self, event_type: EventType, body: &[u8]) -> Result<(), Fault> {
        match event_type {
            EventType::ROTATE => self.rotate(&Rotate::decode(body)?),
            EventType::PREVIOUS_GTIDS => self.learn(Gtids::Mysql(GtidSet::decode(body)?)),
            EventType::MARIADB_GTID_LIST => self.learn(Gtids::Mariadb(MariadbPosition::decode(body)?)),
            _ => {}
        }
        Ok(())
    }

    fn rotate(&mut self, rotate: &Rotate) {
        self.position = Position { file: rotate.file.clone(), offset: rotate.position };
    }

    /// The head of a file tells what stands in those before it.
    fn learn(&mut self, known: Gtids) {
        if self.gtids == Gtids::Unknown {
            self.gtids = known;
        }
    }

    fn decode(&mut self, header: &EventHeader, body: &[u8]) -> Result<Option<Body>, Fault> {
        let event_type = header.event_type;
        let mut reader = Bytes::new(body);
        Ok(Some(match event_type {
            EventType::TABLE_MAP => {
                let (table_id, ..) = TableMap::peek(body, &self.format)?;
                let table = self.table(table_id)?;
                if !table.is_wanted {
                    return Ok(None);
                }
                Body::TableMap(table.map.clone())
            }
            _ if RowsEvent::kind(event_type).is_some() => {
                let table_id = RowsEvent::peek_table(body, event_type, &self.format)?;
                if table_id == NO_TABLE && !self.tables.contains_key(&table_id) {
                    return Ok(None);
                }
                let table = self.table(table_id)?;
                if !table.is_wanted {
                    return Ok(None);
                }
                Body::Rows(table.map.clone(), RowsEvent::decode(body, event_type, &self.format)?)
            }
            EventType::XID => {
                let number = reader.u64_le("XID")?;
                reader.finish("XID trailer")?;
                Body::Xid(number)
            }
            EventType::ROTATE => {
                let rotate = Rotate::decode(body)?;
                self.rotate(&rotate);
                Body::Rotate(rotate)
            }
            EventType::PREVIOUS_GTIDS => {
                let set = GtidSet::decode(body)?;
                self.learn(Gtids::Mysql(set.clone()));
                Body::PreviousGtids(set)
            }
            EventType::MARIADB_GTID_LIST => {
                let position = MariadbPosition::decode(body)?;
                self.learn(Gtids::Mariadb(position.clone()));
                Body::MariadbGtidList(position)
            }
            // A length byte that cannot hold the length stands in front, and is not needed.
            EventType::ROWS_QUERY => {
                reader.u8("statement length")?;
                Body::RowsQuery(reader.rest().to_vec())
            }
            EventType::ANNOTATE_ROWS => Body::RowsQuery(body.to_vec()),
            EventType::INTVAR => Body::IntVar(IntVar::decode(body)?),
            EventType::RAND => {
                let seeds = (reader.u64_le("seed")?, reader.u64_le("seed")?);
                reader.finish("seed trailer")?;
                Body::Rand(seeds.0, seeds.1)
            }
            EventType::USER_VAR => Body::UserVar(UserVar::decode(body)?),
            EventType::XA_PREPARE => {
                let one_phase = reader.u8("XA phase")? != 0;
                let format_id = reader.u32_le("XA format")? as i32;
                let (first, second) = (reader.u32_le("XA name")? as usize, reader.u32_le("XA name")? as usize);
                let gtrid = reader.take(first, "XA name")?.to_vec();
                let bqual = reader.take(second, "XA name")?.to_vec();
                reader.finish("XA trailer")?;
                Body::XaPrepare { one_phase, format_id, gtrid, bqual }
            }
            EventType::INCIDENT => {
                let number = reader.u16_le("incident")?;
                let len = usize::from(reader.u8("incident message")?);
                Body::Incident { number, message: name(reader.take(len, "incident message")?) }
            }
            EventType::HEARTBEAT => Body::Heartbeat { file: name(body), position: u64::from(header.position) },
            EventType::HEARTBEAT_V2 => heartbeat(body)?,
            EventType::STOP => Body::Stop,
            EventType::BINLOG_CHECKPOINT => {
                let len = reader.u32_le("checkpoint file")? as usize;
                Body::BinlogCheckpoint(name(reader.take(len, "checkpoint file")?))
            }
            _ => Body::Other(body.to_vec()),
        }))
    }
}

/// Type, length, value; 1 is the file, 2 the position.
fn heartbeat(body: &[u8]) -> Result<Body, Fault> {
    let mut reader = Bytes::new(body);
    let (mut file, mut position) = (String::new(), 0);
    while !reader.is_empty() {
        let what = "heartbeat field";
        let field = crate::lenenc::integer(&mut reader, what)?;
        if field == 0 {
            break;
        }
        let value = crate::lenenc::bytes(&mut reader, what)?;
        match field {
            1 => file = name(value),
            2 => position = crate::lenenc::integer(&mut Bytes::new(value), what)?,
            _ => {}
        }
    }
    Ok(Body::Heartbeat { file, position })
}

/// The body without its checksum, once that is found right.
fn verified<'a>(header: &EventHeader, event: &'a [u8]) -> Result<&'a [u8], Fault> {
    match event.split_last_chunk::<4>() {
        Some((covered, told)) if covered.len() >= EventHeader::SIZE => {
            if crc32fast::hash(covered) != u32::from_le_bytes(*told) && !is_right_in_use(header, covered, *told) {
                return Err(Fault::Checksum { event: header.event_type, position: header.position });
            }
            Ok(&covered[EventHeader::SIZE..])
        }
        _ => Err(Malformed::new("event checksum").into()),
    }
}

/// The description of a file that is open carries a flag that was not there when its checksum was made.
fn is_right_in_use(header: &EventHeader, covered: &[u8], told: [u8; 4]) -> bool {
    if header.event_type != EventType::FORMAT_DESCRIPTION || header.flags & event_flag::BINLOG_IN_USE == 0 {
        return false;
    }
    let mut without = covered.to_vec();
    without[17] &= !(event_flag::BINLOG_IN_USE as u8);
    crc32fast::hash(&without) == u32::from_le_bytes(told)
}

/// Events that stand between transactions, or come from the sender.
const fn is_about_the_log(event_type: EventType) -> bool {
    matches!(
        event_type,
        EventType::ROTATE
            | EventType::HEARTBEAT
            | EventType::HEARTBEAT_V2
            | EventType::PREVIOUS_GTIDS
            | EventType::MARIADB_GTID_LIST
            | EventType::BINLOG_CHECKPOINT
            // Of the file: the server decrypts what it sends.
            | EventType::START_ENCRYPTION
            | EventType::STOP
            | EventType::INCIDENT
    )
}

/// These are the server's own spellings, not those of a client.
fn is_word(sql: &[u8], word: &[u8]) -> bool {
    sql.trim_ascii().eq_ignore_ascii_case(word)
}

fn begins_with(sql: &[u8], words: &[u8]) -> bool {
    sql.get(..words.len()).is_some_and(|head| head.eq_ignore_ascii_case(words))
}
