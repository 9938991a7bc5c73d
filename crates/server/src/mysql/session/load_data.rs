//! LOAD DATA LOCAL INFILE: rows of a file of the client, inserted one by one.

use std::sync::Arc;

use rowferry_dialect::ir::{TransactionModes, Value};
use rowferry_dialect::mysql::load_data::{Fields, LoadData, OnDuplicate, Splitter, Target};
use rowferry_engine::{Error, Outcome, Prepared, Session, TransactionStatus, Type};
use rowferry_wire_mysql::messages::status::Ok as OkPacket;

use super::{Failure, MysqlSession, Obeyed};
use crate::mysql::values::{Given, stored};
use crate::mysql::{report, told};
use crate::texts;

/// The savepoint around the rows of one file.
const SAVEPOINT: &str = "rowferry load data";

/// Rows on their way into a table.
struct Loading<'l> {
    load: &'l LoadData,
    /// Where the fields go to.
    targets: Vec<Target>,
    /// The plan for rows of so many fields.
    plan: Option<(usize, Arc<Prepared>)>,
    /// What sets the variables among the targets.
    setting: Option<Arc<Prepared>>,
    rows: u64,
    inserted: u64,
    /// Fields that have no column.
    superfluous: u64,
}

impl MysqlSession<'_> {
    pub(super) fn load_data(&mut self, load: &LoadData) -> Obeyed {
        if !load.is_local {
            // A path of the server's is nobody's business.
            return Err(Error::unsupported("LOAD DATA without LOCAL").into());
        }
        let targets = self.targets_of(load)?;
        let mut loading = Loading { load, targets, plan: None, setting: None, rows: 0, inserted: 0, superfluous: 0 };
        // All of it or nothing, as one statement.
        let is_alone = self.session.transaction_status() == TransactionStatus::Idle;
        match is_alone {
            true => self.session.begin(TransactionModes::default())?,
            false => self.session.savepoint(SAVEPOINT)?,
        }
        let mut splitter = Splitter::new(load);
        let sent = self.read_file(load.file.as_bytes(), |session, piece| {
            splitter.push(piece, |fields| loading.insert(session, &fields))
        });
        let done = sent.and_then(|()| {
            splitter.finish(|fields| loading.insert(&mut self.session, &fields)).map_err(Failure::Error)
        });
        match (&done, is_alone) {
            (Ok(()), true) => {
                self.session.commit()?;
            }
            (Ok(()), false) => self.session.release(SAVEPOINT)?,
            (Err(_), true) => self.session.rollback()?,
            (Err(_), false) => {
                self.session.rollback_to(SAVEPOINT)?;
                self.session.release(SAVEPOINT)?;
            }
        }
        done?;
        self.session.end_implicit()?;
        let noted = u64::from(told::warnings(&mut self.session));
        let skipped = loading.rows.saturating_sub(loading.inserted);
        let warnings = noted.max(skipped) + loading.superfluous;
        let warnings = u16::try_from(warnings).unwrap_or(u16::MAX);
        let info = format!("Records: {}  Deleted: 0  Skipped: {skipped}  Warnings: {warnings}", loading.rows);
        self.send_ok(OkPacket { affected_rows: loading.inserted, warnings, info, ..OkPacket::default() });
        Ok(())
    }

    /// Where a file's fields go to.
    fn targets_of(&mut self, load: &LoadData) -> Obeyed<Vec<Target>> {
        if !load.targets.is_empty() {
            return Ok(load.targets.clone());
        }
        let sql = format!("SELECT * FROM {} LIMIT 0", load.table);
        let Some(plan) = self.session.prepare(&sql, &[])? else {
            return Err(Error::internal("a query of our own is none").into());
        };
        Ok(plan.bound.columns.iter().map(|column| Target::Column(told::quoted(&column.name))).collect())
    }
}

impl Loading<'_> {
    /// Inserts a row. Columns without a field get their defaults, variables NULL; fields without a column are passed over.
    fn insert(&mut self, session: &mut Session, fields: &Fields) -> Result<(), Error> {
        self.rows += 1;
        let count = fields.len().min(self.targets.len());
        self.superfluous += u64::from(fields.len() > count);
        if let Some(setting) = self.setting_of_variables(session)? {
            let values = self.values(session, &setting, fields, |target| matches!(target, Target::Variable(_)))?;
            session.execute(&setting, &values)?;
        }
        let plan = self.plan_for(session, count)?;
        let values = self.values(session, &plan, fields, |target| matches!(target, Target::Column(_)))?;
        let rows = match session.execute(&plan, &values)? {
            Outcome::Done { rows, .. } => rows,
            Outcome::Rows(cursor) => cursor.rows_affected(),
        };
        self.inserted += u64::from(rows > 0);
        Ok(())
    }

    /// A row's values for a plan's parameters, of those targets that are asked for.
    fn values(
        &self,
        session: &Session,
        plan: &Prepared,
        fields: &Fields,
        is_asked: impl Fn(&Target) -> bool,
    ) -> Result<Vec<Value>, Error> {
        let settings = session.settings();
        let value = |(field, ty): (Option<&Option<Vec<u8>>>, &Type)| match field {
            None | Some(None) => Ok(Value::Null),
            Some(Some(bytes)) => {
                let text = texts::text_with_nul(bytes, settings.client_encoding).map_err(|_| {
                    report::own(1300, "HY000", format!("Invalid utf8mb4 character string in row {}", self.rows))
                })?;
                let given = Given { ty: Some(Type::Text), value: Value::Text(text.into_owned()) };
                stored(&given, ty, &settings)
            }
        };
        let asked = self.targets.iter().enumerate().filter(|(_, target)| is_asked(target));
        asked.map(|(at, _)| fields.get(at)).zip(&plan.bound.params).map(value).collect()
    }

    /// The statement that sets the variables, if there are any.
    fn setting_of_variables(&mut self, session: &mut Session) -> Result<Option<Arc<Prepared>>, Error> {
        if self.setting.is_none() {
            let variables = self.targets.iter().filter_map(|target| match target {
                Target::Variable(name) => Some(format!("@{name} = ?")),
                Target::Column(_) => None,
            });
            let variables: Vec<String> = variables.collect();
            if !variables.is_empty() {
                let sql = format!("SET {}", variables.join(", "));
                self.setting = session.prepare(&sql, &vec![Some(Type::Text); variables.len()])?;
            }
        }
        Ok(self.setting.clone())
    }

    /// The INSERT of a row's first fields.
    fn plan_for(&mut self, session: &mut Session, count: usize) -> Result<Arc<Prepared>, Error> {
        if let Some((known, plan)) = &self.plan
            && *known == count
        {
            return Ok(plan.clone());
        }
        let verb = match self.load.on_duplicate {
            OnDuplicate::Fail => "INSERT INTO",
            OnDuplicate::Ignore => "INSERT IGNORE INTO",
            OnDuplicate::Replace => "REPLACE INTO",
        };
        let column = |target: &Target| match target {
            Target::Column(name) => Some(name.clone()),
            Target::Variable(_) => None,
        };
        let columns: Vec<String> = self.targets[..count].iter().filter_map(column).collect();
        let given = columns.len();
        let rest = match &self.load.assignments {
            // The assignments see the columns in front of them.
            Some(assignments) => {
                let fields = columns.iter().map(|column| format!("{column} = ?"));
                format!("SET {}", fields.chain([assignments.clone()]).collect::<Vec<_>>().join(", "))
            }
            None => format!("({}) VALUES ({})", columns.join(", "), vec!["?"; given].join(", ")),
        };
        let sql = format!("{verb} {} {rest}", self.load.table);
        let types = vec![Some(Type::Text); given];
        let plan = session.prepare(&sql, &types)?.ok_or_else(|| Error::internal("an INSERT of our own is none"))?;
        self.plan = Some((count, plan.clone()));
        Ok(plan)
    }
}
