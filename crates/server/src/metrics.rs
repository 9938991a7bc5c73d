//! What the server tells Prometheus, and whoever asks whether it is well.
//!
//! - `GET /metrics`: every figure in Prometheus's text format. They are read when they are asked for, from the counters that
//!   the engine and the doors keep anyway; nothing is counted here.
//! - `GET /health`: 200 when the server accepts and the file answers, 503 with the reason when not.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use prometheus::proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Encoder as _, TextEncoder};
use rowferry_engine::{BUCKETS, Databases, Kind, Measurements, STATES};

use crate::aside::{Answering, Aside, Listening};
use crate::http::{self, Answer, Bounds, Request, Stream};
use crate::registry::Registry;

/// The form of what `/metrics` answers.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A server whose clients are not looked after for so long is not well; it does so some times a second.
const PULSE: Duration = Duration::from_secs(2);

/// How long a health check waits for a sign of life.
const SIGN: Duration = Duration::from_millis(600);

/// Nobody sends a body to be told figures; one that is sent is read and not looked at.
const BOUNDS: Bounds = Bounds { patience: Duration::from_secs(3), head: 8 * 1024, body: 8 * 1024 };

/// What one protocol's connections have come to.
#[derive(Debug)]
pub(crate) struct Traffic {
    pub(crate) door: &'static str,
    pub(crate) accepted: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) open: AtomicU64,
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
}

impl Traffic {
    pub(crate) fn new(door: &'static str) -> Self {
        let zero = || AtomicU64::new(0);
        Self { door, accepted: zero(), refused: zero(), open: zero(), received: zero(), sent: zero() }
    }
}

/// How a server is, for who does not serve; cheap to clone.
#[derive(Clone, Debug)]
pub struct Vitals {
    pub(crate) registry: Arc<Registry>,
    pub(crate) beats: Arc<AtomicU64>,
    pub(crate) traffic: Vec<Arc<Traffic>>,
}

/// The server's last sign of life, and when it was seen.
struct Pulse {
    beat: u64,
    seen: Instant,
}

/// Begins to tell, until what is returned is dropped.
///
/// # Errors
/// What the system says.
pub fn tell(listening: Listening, databases: Databases, vitals: Vitals) -> io::Result<Aside> {
    let pulse = Mutex::new(Pulse { beat: 0, seen: Instant::now() });
    listening.answer(Teller { databases, vitals, pulse })
}

struct Teller {
    databases: Databases,
    vitals: Vitals,
    pulse: Mutex<Pulse>,
}

impl Answering for Teller {
    const NAME: &'static str = "metrics";
    const MOST: usize = 16;
    // One who asks from many places of one machine is who this is for.
    const MOST_OF_ONE: usize = 16;

    fn answer(&self, stream: TcpStream, _: SocketAddr) -> io::Result<()> {
        let mut stream = Stream::new(stream, None, &BOUNDS)?;
        match http::read(&mut stream, &BOUNDS)? {
            Some(Ok(request)) => stream.answer(&self.told(&request), request.method != "HEAD"),
            Some(Err(status)) => stream.answer(&words(status, "not a request that can be read"), true),
            None => Ok(()),
        }
    }

    fn look(&self) {
        self.silence();
    }
}

/// An answer of one line.
fn words(status: u16, line: &str) -> Answer {
    Answer { status, form: "text/plain", headers: Vec::new(), body: format!("{line}\n").into_bytes() }
}

impl Teller {
    fn told(&self, request: &Request) -> Answer {
        match &*request.path {
            "/metrics" | "/health" if !matches!(&*request.method, "GET" | "HEAD") => {
                let mut refusal = words(405, "only GET is answered");
                refusal.headers.push(("Allow", "GET, HEAD".into()));
                refusal
            }
            "/metrics" => Answer { status: 200, form: TEXT_FORMAT, headers: Vec::new(), body: self.metrics() },
            "/health" => match self.illness() {
                None => words(200, "ok"),
                Some(illness) => words(503, &illness),
            },
            _ => words(404, "there are /metrics and /health"),
        }
    }

    /// How long the server has given no sign of life.
    fn silence(&self) -> Duration {
        let beat = self.vitals.beats.load(Ordering::Relaxed);
        let mut pulse = self.pulse.lock();
        if beat != pulse.beat {
            *pulse = Pulse { beat, seen: Instant::now() };
        }
        pulse.seen.elapsed()
    }

    /// Why the server is not well.
    fn illness(&self) -> Option<String> {
        if self.vitals.registry.stopping() {
            return Some("the server stops".into());
        }
        let until = Instant::now() + SIGN;
        while self.silence() > PULSE && Instant::now() < until {
            std::thread::sleep(SIGN / 10);
        }
        if self.silence() > PULSE {
            return Some("the server does not accept connections".into());
        }
        let error = self.databases.main().check_readable().err()?;
        tracing::warn!(sqlstate = error.sqlstate(), error = error.message, "the file does not answer");
        // What is wrong with it is told in the log, and not to everybody.
        Some(format!("the file does not answer (SQLSTATE {})", error.sqlstate()))
    }

    fn metrics(&self) -> Vec<u8> {
        let mut families = self.of_server();
        families.extend(of_databases(&self.databases.measurements()));
        // A family without a member has nothing to tell.
        families.retain(|family| !family.get_metric().is_empty());
        let mut text = Vec::new();
        if let Err(error) = TextEncoder::new().encode(&families, &mut text) {
            tracing::error!(%error, "metrics could not be written");
        }
        text
    }

    fn of_server(&self) -> Vec<MetricFamily> {
        let doors = |name, help, ty, value: fn(&Traffic) -> &AtomicU64| {
            let of =
                |traffic: &Arc<Traffic>| number(ty, &[("door", traffic.door)], value(traffic).load(Ordering::Relaxed));
            family(name, help, ty, self.vitals.traffic.iter().map(of).collect())
        };
        let max = self.vitals.registry.max_connections() as u64;
        vec![
            family(
                "rowferry_build_info",
                "The server's version.",
                MetricType::GAUGE,
                vec![number(MetricType::GAUGE, &[("version", env!("CARGO_PKG_VERSION"))], 1)],
            ),
            doors("rowferry_connections", "Connections that are open.", MetricType::GAUGE, |traffic| &traffic.open),
            family(
                "rowferry_connections_max",
                "Sessions that may be open at a time.",
                MetricType::GAUGE,
                vec![number(MetricType::GAUGE, &[], max)],
            ),
            doors(
                "rowferry_connections_accepted_total",
                "Connections that were accepted.",
                MetricType::COUNTER,
                |traffic| &traffic.accepted,
            ),
            doors(
                "rowferry_connections_refused_total",
                "Connections that were turned away because there were too many.",
                MetricType::COUNTER,
                |traffic| &traffic.refused,
            ),
            doors(
                "rowferry_received_bytes_total",
                "Bytes that clients have sent, without TLS.",
                MetricType::COUNTER,
                |traffic| &traffic.received,
            ),
            doors(
                "rowferry_sent_bytes_total",
                "Bytes that clients were sent, without TLS.",
                MetricType::COUNTER,
                |traffic| &traffic.sent,
            ),
        ]
    }
}

/// A count of one database.
type Count = fn(&Measurements) -> u64;

/// Counts that have no label but the database's name.
const PLAIN: &[(&str, &str, MetricType, Count)] = &[
    ("rowferry_sessions_begun_total", "Sessions that have begun.", MetricType::COUNTER, |of| of.counts.sessions),
    ("rowferry_rows_total", "Rows that statements have returned or changed.", MetricType::COUNTER, |of| {
        of.counts.work.rows
    }),
    ("rowferry_plan_cache_hits_total", "Statements whose plan was there.", MetricType::COUNTER, |of| {
        of.counts.work.plans_found
    }),
    ("rowferry_plan_cache_misses_total", "Plans that had to be made.", MetricType::COUNTER, |of| of.plans_made),
    ("rowferry_deadlocks_total", "Deadlocks that were found.", MetricType::COUNTER, |of| of.counts.deadlocks),
    ("rowferry_lock_waits_total", "Waits for locks that are over.", MetricType::COUNTER, |of| of.lock_waits.0),
    ("rowferry_lock_waiting_sessions", "Sessions that wait for a lock.", MetricType::GAUGE, |of| of.waiting),
    ("rowferry_checkpoints_total", "CHECKPOINT commands.", MetricType::COUNTER, |of| of.counts.checkpoints),
    ("rowferry_file_size_bytes", "Size of the database's file.", MetricType::GAUGE, |of| of.file_bytes),
    ("rowferry_wal_size_bytes", "Size of the write-ahead log beside it.", MetricType::GAUGE, |of| of.log_bytes),
];

/// Counts by a label: of one database, the label's values with what they come to.
type Counts = fn(&Measurements) -> Vec<(&'static str, u64)>;

/// Counts that have one label more.
const LABELLED: &[(&str, &str, &str, Counts)] = &[
    ("rowferry_transactions_total", "Transactions that are over.", "outcome", |of| {
        vec![("commit", of.counts.commits), ("rollback", of.counts.rollbacks)]
    }),
    ("rowferry_table_rows_total", "Rows of tables; those read are those of whole tables.", "operation", |of| {
        vec![
            ("insert", of.counts.rows_inserted),
            ("update", of.counts.rows_updated),
            ("delete", of.counts.rows_deleted),
            ("read", of.counts.rows_returned),
        ]
    }),
    ("rowferry_pages_total", "Pages found in caches, read and written.", "operation", |of| {
        vec![("hit", of.counts.pages_hit), ("read", of.counts.pages_read), ("write", of.counts.pages_written)]
    }),
];

/// Times in microseconds by a label.
const TIMES: &[(&str, &str, Counts)] = &[
    ("rowferry_lock_wait_seconds_total", "How long waits for locks took.", |of| vec![("", of.lock_waits.1)]),
    ("rowferry_session_seconds_total", "How long sessions ran statements, or waited in a transaction.", |of| {
        vec![("active", of.counts.active_time), ("idle in transaction", of.counts.idle_in_transaction_time)]
    }),
];

fn of_databases(all: &[Measurements]) -> Vec<MetricFamily> {
    let mut families = Vec::new();
    for (name, help, ty, count) in PLAIN {
        let metrics = all.iter().map(|of| number(*ty, &[("database", &of.database)], count(of)));
        families.push(family(name, help, *ty, metrics.collect()));
    }
    for (name, help, label, counts) in LABELLED {
        let of = |of: &Measurements| {
            let one =
                |(value, count)| number(MetricType::COUNTER, &[("database", &of.database), (label, value)], count);
            counts(of).into_iter().map(one).collect::<Vec<_>>()
        };
        families.push(family(name, help, MetricType::COUNTER, all.iter().flat_map(of).collect()));
    }
    for (name, help, counts) in TIMES {
        let of = |of: &Measurements| {
            let one = |(state, time): (&str, u64)| {
                let labels = [("database", of.database.as_str()), ("state", state)];
                real(MetricType::COUNTER, if state.is_empty() { &labels[..1] } else { &labels }, seconds(time, 1e6))
            };
            counts(of).into_iter().map(one).collect::<Vec<_>>()
        };
        families.push(family(name, help, MetricType::COUNTER, all.iter().flat_map(of).collect()));
    }
    families.push(sessions(all));
    families.push(statements(all));
    families.push(errors(all));
    families.push(durations(all));
    families
}

fn sessions(all: &[Measurements]) -> MetricFamily {
    let of = |of: &Measurements| {
        let mut metrics = Vec::new();
        for door in ["postgres", "informix", "mysql"] {
            for state in STATES {
                let labels = [("database", of.database.as_str()), ("door", door), ("state", state)];
                let count = of.sessions.get(&(door, state)).copied().unwrap_or_default();
                metrics.push(number(MetricType::GAUGE, &labels, count));
            }
        }
        metrics
    };
    let help = "Sessions that are open, by what they do.";
    family("rowferry_sessions", help, MetricType::GAUGE, all.iter().flat_map(of).collect())
}

fn statements(all: &[Measurements]) -> MetricFamily {
    let of = |of: &Measurements| {
        let work = &of.counts.work;
        let outcomes = [("completed", &work.completed), ("failed", &work.failed)];
        let mut metrics = Vec::new();
        for (outcome, counts) in outcomes {
            for (kind, count) in Kind::ALL.into_iter().zip(counts) {
                let labels = [("database", of.database.as_str()), ("command", kind.name()), ("outcome", outcome)];
                metrics.push(number(MetricType::COUNTER, &labels, *count));
            }
        }
        metrics
    };
    let help = "Statements of clients that have run.";
    family("rowferry_statements_total", help, MetricType::COUNTER, all.iter().flat_map(of).collect())
}

fn errors(all: &[Measurements]) -> MetricFamily {
    let of = |of: &Measurements| {
        let one = |(class, count): (&String, &u64)| {
            number(MetricType::COUNTER, &[("database", &of.database), ("sqlstate_class", class)], *count)
        };
        of.errors.iter().map(one).collect::<Vec<_>>()
    };
    let help = "Errors that clients were told, by the first two characters of their SQLSTATE.";
    family("rowferry_errors_total", help, MetricType::COUNTER, all.iter().flat_map(of).collect())
}

fn durations(all: &[Measurements]) -> MetricFamily {
    let of = |of: &Measurements| {
        let work = &of.counts.work;
        let mut sum = 0;
        let bucket = |(longest, count): (&Duration, &u64)| {
            sum += count;
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(longest.as_secs_f64());
            bucket.set_cumulative_count(sum);
            bucket
        };
        let buckets = BUCKETS.iter().zip(&work.times).map(bucket).collect();
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets);
        histogram.set_sample_count(work.times.iter().sum());
        histogram.set_sample_sum(seconds(work.nanoseconds, 1e9));
        let mut metric = Metric::from_label(labels(&[("database", &of.database)]));
        metric.set_histogram(histogram);
        metric
    };
    let help = "How long statements of clients ran, with the sending of their rows.";
    family("rowferry_statement_duration_seconds", help, MetricType::HISTOGRAM, all.iter().map(of).collect())
}

fn family(name: &str, help: &str, ty: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(ty);
    family.set_metric(metrics);
    family
}

fn labels(pairs: &[(&str, &str)]) -> Vec<LabelPair> {
    let pair = |(name, value): &(&str, &str)| {
        let mut pair = LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value((*value).to_owned());
        pair
    };
    pairs.iter().map(pair).collect()
}

#[allow(clippy::cast_precision_loss, reason = "Prometheus keeps all numbers so; exact up to 2^53")]
fn number(ty: MetricType, pairs: &[(&str, &str)], value: u64) -> Metric {
    real(ty, pairs, value as f64)
}

#[allow(clippy::cast_precision_loss, reason = "a time")]
fn seconds(time: u64, parts: f64) -> f64 {
    time as f64 / parts
}

fn real(ty: MetricType, pairs: &[(&str, &str)], value: f64) -> Metric {
    let mut metric = Metric::from_label(labels(pairs));
    if ty == MetricType::GAUGE {
        let mut gauge = Gauge::default();
        gauge.set_value(value);
        metric.set_gauge(gauge);
    } else {
        let mut counter = Counter::default();
        counter.set_value(value);
        metric.set_counter(counter);
    }
    metric
}
