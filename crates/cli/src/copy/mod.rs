//! `rowferry copy FROM TO`: databases or some of their tables, from any kind to any kind.

mod checks;
mod ddl;
mod door;
mod informix;
mod model;
mod moment;
mod mysql;
mod peer;
mod plan;
mod postgres;
mod progress;
mod row;
mod state;
mod types;
mod values;
mod work;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{Args, ValueEnum};

use crate::Failure;
use crate::stop::Stop;
use model::{Kind, Schema};
use moment::{AsOf, Moment};
use peer::{Peer, Place, Trouble};
use plan::{Action, Plan};
use progress::Progress;
use state::{Lock, State, TableState};
use work::Work;

/// Copy tables, rows and keys from one database to another
///
/// FROM and TO are each one of
///
///   app.db, sqlite:///var/lib/app.db       a SQLite file, opened by this program
///   postgresql://user:pw@host:5432/db      any server that speaks PostgreSQL's protocol
///   mysql://user:pw@host:3306/db           MySQL or MariaDB
///   informix://user:pw@host:9088/db        any server that speaks Informix's protocol
///
/// First it is shown what each column becomes and what may be lost; then it is asked, or goes
/// on at once with --yes. A value that does not fit ends the copy with its table, key and column.
/// Rows go in batches, several tables or parts of them at a time; keys and indexes follow them;
/// in the end all rows of the target are read and compared with what was copied.
///
/// What breaks off (Ctrl-C, a lost machine) goes on with --resume: no row is copied twice.
///
/// Examples:
///   rowferry copy app.db postgresql://app@db/app --dry-run     what would become what
///   rowferry copy mysql://app@old/shop shop.db --yes           a server's tables in a file
///   rowferry copy mysql://app@old/shop shop.db --resume        go on
///   rowferry copy a.db b.db --table 'order*' --if-exists replace --yes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The database to read
    from: String,

    /// The database to write; it must exist, but for a file
    to: String,

    /// Only tables of this name, in which * is any letters and ? any letter; may be given again
    #[arg(long = "table", value_name = "PATTERN", help_heading = "What")]
    tables: Vec<String>,

    /// Leave tables of this name out; may be given again
    #[arg(long, value_name = "PATTERN", help_heading = "What")]
    exclude: Vec<String>,

    /// Tables, keys and indexes, no rows
    #[arg(long, conflicts_with = "data_only", help_heading = "What")]
    schema_only: bool,

    /// Rows into tables that are there
    #[arg(long, help_heading = "What")]
    data_only: bool,

    /// What to do with tables that are on the target already
    #[arg(long, value_enum, default_value_t = IfExists::Fail, help_heading = "What")]
    if_exists: IfExists,

    /// Cut texts that are too long and numbers and times that are too precise, and do not stop at them
    #[arg(long, help_heading = "What")]
    lossy: bool,

    /// Show what would become what, and end
    #[arg(long, help_heading = "How")]
    dry_run: bool,

    /// Connections to each side [default: 4; 2 into a SQLite file, which has one writer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "How")]
    jobs: Option<u16>,

    /// Rows of a transaction
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "How")]
    batch: u64,

    /// As of when the rows are read
    #[arg(long, value_enum, default_value_t = AsOf::Any, help_heading = "How")]
    as_of: AsOf,

    /// How the rows are looked at in the end
    #[arg(long, value_enum, default_value_t = Verify::Checksums, help_heading = "How")]
    verify: Verify,

    /// How often a lost connection is made again
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20), help_heading = "How")]
    retries: u32,

    /// Go on with a copy that broke off; the other options must be the same
    #[arg(long, help_heading = "How")]
    resume: bool,

    /// Where is kept what is done, for --resume [default: a file in this directory, named for TO]
    #[arg(long, value_name = "FILE", help_heading = "How")]
    state: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short, help_heading = "How")]
    yes: bool,

    /// Never ask: without --yes, end
    #[arg(long, help_heading = "How")]
    no_input: bool,

    /// Say what was done (with --dry-run: what would be) as JSON on standard output
    #[arg(long, help_heading = "How")]
    json: bool,
}

/// What to do with tables that are there.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum IfExists {
    /// Copy nothing
    Fail,
    /// Add the rows to theirs
    Append,
    /// Drop them first; with --data-only, delete their rows
    Replace,
    /// Leave them alone
    Skip,
}

/// How the rows are looked at in the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Verify {
    /// Not at all
    None,
    /// Counted on both sides
    Counts,
    /// Read back, all of them, and compared with what was copied
    Checksums,
}

impl Arguments {
    fn jobs(&self) -> usize {
        usize::from(self.jobs.unwrap_or(if peer::file(&self.to).is_some() { 2 } else { 4 }))
    }

    /// What must be the same when a copy goes on.
    fn shape(&self, plan: &Plan) -> String {
        let mut shape = format!(
            "{:?} {:?} {} {} {:?} {} {:?};",
            self.tables, self.exclude, self.schema_only, self.data_only, self.if_exists, self.lossy, self.verify
        );
        for step in &plan.steps {
            let columns: Vec<String> = step
                .table
                .columns
                .iter()
                .zip(&step.becomes)
                .map(|(column, becomes)| format!("{} {} {}", column.name, column.ty, becomes.words))
                .collect();
            shape.push_str(&format!("{} ({}) {:?};", step.table.name, columns.join(", "), step.table.walk()));
        }
        shape
    }
}

/// Copies.
///
/// # Errors
/// When something cannot be copied, is not equal in the end, or somebody asked to stop.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let fit =
        |other: &str, why: &str| Err(Failure::new(format!("--as-of one cannot be used with {other}: {why}")).usage());
    match arguments.as_of {
        AsOf::One if arguments.resume => fit("--resume", "what was copied before is of another moment")?,
        AsOf::One if arguments.schema_only => fit("--schema-only", "no rows are read")?,
        _ => {}
    }
    let stop = Stop::watch()?;
    let begun = Instant::now();
    if let (Some(from), Some(to)) = (peer::file(&arguments.from), peer::file(&arguments.to)) {
        // By whatever name. It is looked at before the target is opened, which changes how a file keeps its journal.
        let which = |path: &str| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        if which(from).is_some() && which(from) == which(to) {
            return Err(Failure::new("the copy would be made of a file into itself"));
        }
    }
    let from = Place::parse(&arguments.from, false)?;
    let path = arguments.state.clone().unwrap_or_else(|| default_state(&arguments.to));
    let result = Copy { arguments, from, path, stop: &stop, begun }.run();
    result.map_err(|trouble| match trouble {
        Trouble::Failed(failure) => failure,
        Trouble::Lost(why) => Failure::new(why),
        Trouble::Stopped => Failure::new("stopped"),
    })
}

/// A name for the state of a copy into this database, in the directory where we are.
fn default_state(to: &str) -> PathBuf {
    let place = to.split_once("://").map_or(to, |(_, rest)| rest);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let place = place.split('?').next().unwrap_or_default();
    let name: String = place.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    PathBuf::from(format!("rowferry-copy-{}.json", name.trim_matches('-')))
}

struct Copy<'a> {
    arguments: &'a Arguments,
    from: Place,
    path: PathBuf,
    stop: &'a Stop,
    begun: Instant,
}

/// The target before anything is written.
struct Look {
    kind: Kind,
    shown: String,
    /// Nothing for a file that is not there yet.
    target: Option<(Place, Box<dyn Peer>)>,
    there: Schema,
}

impl Look {
    fn at(to: &str, stop: &Stop) -> Result<Self, Trouble> {
        if let Some(file) = peer::file(to).filter(|file| !Path::new(file).exists()) {
            crate::check_directory_of(file.as_ref())?;
            return Ok(Self { kind: Kind::Sqlite, shown: file.to_owned(), target: None, there: Schema::default() });
        }
        let place = Place::parse(to, false)?;
        let mut target = place.open(stop)?;
        let there = target.schema()?;
        Ok(Self { kind: place.kind, shown: place.shown.clone(), target: Some((place, target)), there })
    }
}

impl Copy<'_> {
    fn run(self) -> Result<(), Trouble> {
        let arguments = self.arguments;
        let _lock = if arguments.dry_run { None } else { Some(Lock::of(&self.path)?) };
        let resumed = if arguments.resume { Some(State::read(&self.path)?) } else { None };
        if !arguments.resume && !arguments.dry_run && self.path.exists() {
            return Err(Failure::new(format!("`{}` is the state of a copy that broke off", self.path.display()))
                .hint("go on with --resume, or remove it to begin anew")
                .into());
        }
        let mut source = self.from.open(self.stop)?;
        let tables = source.schema()?;
        // Until somebody has said yes it is only looked at: a file is not made, and keeps its journal.
        let look = Look::at(&arguments.to, self.stop)?;
        let Look { kind, shown: to, mut target, there } = look;
        // Two files have been told apart by what they are.
        if let Some((place, target)) = &mut target
            && kind != Kind::Sqlite
            && self.from.kind == kind
            && self.from.identity(&mut source) == place.identity(target)
        {
            return Err(Failure::new("the copy would be made of a database into itself").into());
        }
        let existed: BTreeSet<String> = match &resumed {
            Some(state) => state.existed.iter().cloned().collect(),
            None => there.tables.iter().map(|table| table.name.clone()).collect(),
        };
        let looking = RefCell::new(target);
        let filled = |table: &str| {
            // What is there of a copy that goes on is its own.
            let mut looking = looking.borrow_mut();
            let Some((_, target)) = looking.as_mut().filter(|_| !arguments.resume) else { return Ok(false) };
            Ok(work::count(target, kind, table).map_err(said)? > 0)
        };
        let plan = Plan::make(arguments, (self.from.kind, tables), (kind, &there), &existed, &filled)?;
        // The moment's connections come instead.
        drop(source);
        let shape = arguments.shape(&plan);
        if arguments.dry_run {
            if arguments.as_of == AsOf::One && !plan.steps.is_empty() {
                self.moment(&plan)?;
            }
            let mut out = std::io::stdout().lock();
            let shown = if arguments.json { format!("{}\n", plan.json()) } else { plan.text(&self.from.shown, &to) };
            out.write_all(shown.as_bytes()).map_err(Failure::from)?;
            return Ok(out.flush().map_err(Failure::from)?);
        }
        if !arguments.json {
            eprint!("{}", plan.text(&self.from.shown, &to));
        }
        if plan.steps.is_empty() {
            return Err(Failure::new("there is no table to copy").into());
        }
        let (place, state, moment) = match resumed {
            Some(state) => {
                if (&state.from, &state.to, &state.shape) != (&self.from.shown, &to, &shape) {
                    return Err(Failure::new(format!(
                        "`{}` is the state of another copy: other databases, options, tables or columns",
                        self.path.display()
                    ))
                    .hint("begin anew: remove it, and copy with --if-exists replace")
                    .into());
                }
                let why = "what was copied before the break is of another moment";
                let why_not = (arguments.as_of != AsOf::Each).then(|| why.to_owned());
                let moment = Moment::each(&self.from, self.stop, arguments.jobs(), why_not);
                (Place::parse(&arguments.to, true)?, state, moment)
            }
            None => {
                self.ask()?;
                // What cannot be read so is not begun.
                let moment = self.moment(&plan)?;
                let place = Place::parse(&arguments.to, true)?;
                let made = |step: &plan::Step| TableState {
                    name: step.table.name.clone(),
                    existed: existed.contains(&step.table.name),
                    ..TableState::default()
                };
                let state = State {
                    from: self.from.shown.clone(),
                    to: place.shown.clone(),
                    shape,
                    existed: existed.iter().cloned().collect(),
                    tables: plan.steps.iter().map(made).collect(),
                    ..State::default()
                };
                state.save(&self.path)?;
                (place, state, moment)
            }
        };
        drop(looking);
        let done =
            place.open(self.stop).and_then(|mut target| self.carry_out(&plan, state, &place, &moment, &mut target));
        match done {
            Ok(()) => Ok(()),
            Err(trouble) => {
                let path = self.path.display();
                let resume = match arguments.as_of {
                    AsOf::One => format!(
                        "the moment has passed: remove `{path}` and begin anew with --if-exists replace, \
                         or go on with --resume and without --as-of one"
                    ),
                    _ => format!("go on with --resume; what is done stands in `{path}`"),
                };
                Err(match trouble {
                    Trouble::Stopped => Failure::new("stopped").hint(resume).into(),
                    Trouble::Lost(why) => Failure::new(why).hint(resume).into(),
                    Trouble::Failed(mut failure) => {
                        let hint = failure.hint.take().map_or_else(String::new, |hint| format!("{hint}\nhint: "));
                        failure.hint(format!("{hint}{resume}")).into()
                    }
                })
            }
        }
    }

    /// The moment as of which the plan's tables are read, from now on.
    fn moment(&self, plan: &Plan) -> Result<Moment<'_>, Trouble> {
        let (as_of, jobs) = (self.arguments.as_of, self.arguments.jobs());
        if self.arguments.schema_only {
            return Ok(Moment::each(&self.from, self.stop, jobs, None));
        }
        let tables: Vec<&str> = plan.steps.iter().map(|step| step.table.name.as_str()).collect();
        Moment::take(&self.from, self.stop, as_of, jobs, &tables)
    }

    fn ask(&self) -> Result<(), Failure> {
        let arguments = self.arguments;
        if arguments.yes {
            return Ok(());
        }
        let can_ask = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if arguments.no_input || arguments.json || !can_ask {
            return Err(
                Failure::new("nobody is there to be asked whether to copy").hint("say --yes, or look first: --dry-run")
            );
        }
        eprint!("Copy? [y/N] ");
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).map_err(|error| Failure::new(format!("no answer: {error}")))?;
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            Ok(())
        } else {
            Err(Failure::new("nothing was copied"))
        }
    }

    fn carry_out(
        &self,
        plan: &Plan,
        state: State,
        to: &Place,
        moment: &Moment<'_>,
        target: &mut Box<dyn Peer>,
    ) -> Result<(), Trouble> {
        let arguments = self.arguments;
        let tables: Vec<String> = plan.steps.iter().map(|step| step.table.name.clone()).collect();
        let progress = Progress::new(arguments.json, tables);
        let state = self.make_tables(plan, state, target)?;
        let rows_before: u64 = state.units.iter().map(|unit| unit.rows).sum();
        let work = Work {
            arguments,
            moment,
            to,
            plan,
            stop: self.stop,
            progress: &progress,
            state: Mutex::new(state),
            path: &self.path,
            over: AtomicBool::new(false),
        };
        if !arguments.schema_only {
            work.divide()?;
            let expected =
                work.state.lock().map(|state| state.tables.iter().map(|table| table.expected).sum()).unwrap_or(0);
            progress.begin("copying", expected, rows_before);
            work.copy()?;
        }
        self.make_keys(plan, &progress, target)?;
        let mut differ = Vec::new();
        if !arguments.schema_only && arguments.verify != Verify::None {
            let rows = work
                .state
                .lock()
                .map(|state| {
                    let before: u64 = state.tables.iter().filter_map(|table| table.before).map(|(rows, _)| rows).sum();
                    before + state.units.iter().map(|unit| unit.rows).sum::<u64>()
                })
                .unwrap_or(0);
            progress.begin("comparing", rows, 0);
            differ = work.verify()?;
        }
        let is_one = moment.end()?;
        progress.end();
        let state = work.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        // What is not equal does not become so by going on.
        std::fs::remove_file(&self.path)
            .map_err(|error| Failure::new(format!("cannot remove `{}`: {error}", self.path.display())))?;
        let as_of = (!arguments.schema_only).then(|| (is_one, moment.why_not()));
        self.tell(plan, &state, rows_before, as_of, &differ)?;
        if differ.is_empty() {
            return Ok(());
        }
        Err(Failure::new(format!("what is there is not what was copied:\n{}", differ.join("\n")))
            .hint("was somebody writing meanwhile? copy these tables again: --table NAME --if-exists replace")
            .into())
    }

    /// Makes the tables, without what is made after their rows.
    fn make_tables(&self, plan: &Plan, mut state: State, target: &mut Box<dyn Peer>) -> Result<State, Trouble> {
        if state.tables.iter().all(|table| table.made) {
            return Ok(state);
        }
        let kind = plan.to;
        let flavour = target.flavour()?;
        let there: BTreeSet<String> = target.schema()?.tables.into_iter().map(|table| table.name).collect();
        let mut goes: Vec<&str> = Vec::new();
        for (step, made) in plan.steps.iter().zip(&state.tables) {
            let name = &step.table.name;
            if made.made || !there.contains(name) {
                continue;
            }
            match step.action {
                Action::Replace => goes.push(name),
                // Ours, of the moment before the state was saved, is empty; what has rows is somebody else's.
                Action::Create if self.arguments.resume && work::count(target, kind, name)? == 0 => goes.push(name),
                Action::Create => {
                    return Err(Failure::new(format!("somebody else has made table {name} on the target")).into());
                }
                Action::Fill | Action::Refill => {}
            }
        }
        self.drop_tables(kind, &goes, target)?;
        for (at, step) in plan.steps.iter().enumerate() {
            if state.tables[at].made {
                continue;
            }
            if self.stop.asked() {
                return Err(Trouble::Stopped);
            }
            match step.action {
                Action::Create | Action::Replace => {
                    let sql = ddl::create_table(kind, &flavour, &step.table, &step.becomes, &step.checks);
                    target.run(&sql).map_err(|trouble| during(trouble, &sql))?;
                }
                Action::Fill => {}
                Action::Refill => target.run(&format!("DELETE FROM {}", ddl::quoted(kind, &step.table.name)))?,
            }
            state.tables[at].made = true;
            state.save(&self.path)?;
        }
        Ok(state)
    }

    /// Drops tables, those first that others do not refer to.
    fn drop_tables(&self, kind: Kind, names: &[&str], target: &mut Box<dyn Peer>) -> Result<(), Trouble> {
        let mut left: Vec<&str> = names.to_vec();
        while !left.is_empty() {
            let (mut kept, mut last) = (Vec::new(), None);
            let before = left.len();
            for name in left {
                match target.run(&ddl::drop_table(kind, name)) {
                    Ok(()) => {}
                    Err(Trouble::Failed(failure)) => {
                        kept.push(name);
                        last = Some(failure);
                    }
                    Err(other) => return Err(other),
                }
            }
            if let (Some(failure), true) = (last, kept.len() == before) {
                return Err(
                    Failure { message: format!("cannot drop {}: {}", kept[0], failure.message), ..failure }.into()
                );
            }
            left = kept;
        }
        Ok(())
    }

    /// Makes keys and indexes that are not there yet, and has serial columns go on behind their rows.
    fn make_keys(&self, plan: &Plan, progress: &Progress, target: &mut Box<dyn Peer>) -> Result<(), Trouble> {
        let kind = plan.to;
        let there: Schema = target.schema()?;
        let known = |table: &str, name: &str| {
            there.tables.iter().filter(|known| known.name == table).any(|known| {
                known.uniques.iter().any(|key| key.name == name)
                    || known.indexes.iter().any(|index| index.name == name)
                    || known.foreign.iter().any(|foreign| foreign.name == name)
            })
        };
        let mut statements = Vec::new();
        let made = || plan.steps.iter().filter(|step| step.action.makes());
        for step in made() {
            let table = &step.table;
            for key in table.uniques.iter().filter(|key| !known(&table.name, &key.name)) {
                statements.push(ddl::add_unique(kind, table, key));
            }
            for index in table.indexes.iter().filter(|index| !known(&table.name, &index.name)) {
                statements.push(ddl::create_index(kind, table, index));
            }
        }
        for step in made() {
            let table = &step.table;
            for foreign in table.foreign.iter().filter(|foreign| !known(&table.name, &foreign.name)) {
                statements.push(ddl::add_foreign(kind, table, foreign));
            }
        }
        if !statements.is_empty() {
            progress.begin("making keys and indexes:", statements.len() as u64, 0);
        }
        for sql in statements {
            if self.stop.asked() {
                return Err(Trouble::Stopped);
            }
            target.run(&sql).map_err(|trouble| during(trouble, &sql))?;
            progress.add(1);
        }
        for step in plan.steps.iter().filter(|_| !self.arguments.schema_only) {
            for column in &step.numbered {
                target.number_on(&step.table.name, column)?;
            }
        }
        Ok(())
    }

    /// Says what was done. `as_of` has whether the rows are as of one moment, and why not; nothing where there are no rows.
    fn tell(
        &self,
        plan: &Plan,
        state: &State,
        rows_before: u64,
        as_of: Option<(bool, Option<String>)>,
        differ: &[String],
    ) -> Result<(), Failure> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let of = |at: usize| state.units.iter().filter(move |unit| unit.table == at);
        let rows: u64 = state.units.iter().map(|unit| unit.rows).sum();
        let bytes: u64 = state.units.iter().map(|unit| unit.bytes).sum();
        let rate = (rows - rows_before.min(rows)) as f64 / seconds.max(0.001);
        let mut out = std::io::stdout().lock();
        let verified = match self.arguments.verify {
            Verify::None => "not compared",
            Verify::Counts => "counts equal",
            Verify::Checksums => "checksums equal",
        };
        if self.arguments.json {
            let tables: Vec<_> = plan
                .steps
                .iter()
                .enumerate()
                .map(|(at, step)| {
                    let sum = of(at).fold(0u128, |sum, unit| sum.wrapping_add(unit.sum));
                    serde_json::json!({
                        "name": step.table.name,
                        "rows": of(at).map(|unit| unit.rows).sum::<u64>(),
                        "bytes": of(at).map(|unit| unit.bytes).sum::<u64>(),
                        "checksum": format!("{sum:032x}"),
                        "not_copied": step.left_out,
                    })
                })
                .collect();
            let verify = self.arguments.verify.to_possible_value().map(|value| value.get_name().to_owned());
            let told = serde_json::json!({
                "from": self.from.shown, "to": state.to, "tables": tables, "rows": rows, "bytes": bytes,
                "seconds": (seconds * 1_000.0).round() / 1_000.0, "rows_per_second": rate.round(),
                "one_moment": as_of.as_ref().map(|(is_one, _)| is_one),
                "why_not": as_of.as_ref().and_then(|(_, why)| why.as_ref()),
                "verified": verify, "equal": differ.is_empty(), "differ": differ,
            });
            writeln!(out, "{told}")?;
        } else if differ.is_empty() {
            let size = indicatif::BinaryBytes(bytes);
            let tables = plan.steps.len();
            let how = match as_of {
                None => "no rows".to_owned(),
                Some((true, _)) => format!("{verified}; as of one moment"),
                Some((false, None)) => format!("{verified}; each table at its own time"),
                Some((false, Some(why))) => format!("{verified}; each table at its own time ({why})"),
            };
            writeln!(out, "{tables} tables, {rows} rows, {size}, in {seconds:.1} s ({rate:.0} rows/s); {how}")?;
        }
        out.flush()?;
        Ok(())
    }
}

fn said(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Failed(failure) => failure,
        Trouble::Lost(why) => Failure::new(why),
        Trouble::Stopped => Failure::new("stopped"),
    }
}

/// Shows the statement that the target refuses.
fn during(trouble: Trouble, sql: &str) -> Trouble {
    match trouble {
        Trouble::Failed(failure) => {
            Trouble::Failed(Failure { message: format!("{}\nin: {sql}", failure.message), ..failure })
        }
        other => other,
    }
}
