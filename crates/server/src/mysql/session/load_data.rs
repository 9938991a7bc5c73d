//! LOAD DATA LOCAL INFILE: rows of a file of the client, inserted one by one.

use std::sync::Arc;

use rowferry_dialect::ir::{TransactionModes, Value};
use rowferry_dialect::mysql::load_data::{Fields, LoadData, OnDuplicate, Splitter};
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
    /// The columns that the fields go to, as they are written.
    columns: Vec<String>,
    /// The plan for rows of so many fields.
    plan: Option<(usize, Arc<Prepared>)>,
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
        let columns = self.columns_of(load)?;
        let mut loading = Loading { load, columns, plan: None, rows: 0, inserted: 0, superfluous: 0 };
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

    /// The columns that a file's fields go to.
    fn columns_of(&mut self, load: &LoadData) -> Obeyed<Vec<String>> {
        if !load.columns.is_empty() {
            return Ok(load.columns.clone());
        }
        let sql = format!("SELECT * FROM {} LIMIT 0", load.table);
        let Some(plan) = self.session.prepare(&sql, &[])? else {
            return Err(Error::internal("a query of our own is none").into());
        };
        Ok(plan.bound.columns.iter().map(|column| told::quoted(&column.name)).collect())
    }
}

impl Loading<'_> {
    /// Inserts a row. Columns without a field get their defaults; fields without a column are passed over.
    fn insert(&mut self, session: &mut Session, fields: &Fields) -> Result<(), Error> {
        self.rows += 1;
        let count = fields.len().min(self.columns.len());
        self.superfluous += u64::from(fields.len() > count);
        let plan = self.plan_for(session, count)?;
        let settings = session.settings();
        let wanted = &plan.bound.params;
        let value = |(field, ty): (&Option<Vec<u8>>, &Type)| match field {
            None => Ok(Value::Null),
            Some(bytes) => {
                let text = texts::text_with_nul(bytes, settings.client_encoding).map_err(|_| {
                    report::own(1300, "HY000", format!("Invalid utf8mb4 character string in row {}", self.rows))
                })?;
                let given = Given { ty: Some(Type::Text), value: Value::Text(text.into_owned()) };
                stored(&given, ty, &settings)
            }
        };
        let values = fields.iter().zip(wanted).map(value).collect::<Result<Vec<_>, Error>>()?;
        let rows = match session.execute(&plan, &values)? {
            Outcome::Done { rows, .. } => rows,
            Outcome::Rows(cursor) => cursor.rows_affected(),
        };
        self.inserted += u64::from(rows > 0);
        Ok(())
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
        let marks = vec!["?"; count].join(", ");
        let sql = format!("{verb} {} ({}) VALUES ({marks})", self.load.table, self.columns[..count].join(", "));
        let types = vec![Some(Type::Text); count];
        let plan = session.prepare(&sql, &types)?.ok_or_else(|| Error::internal("an INSERT of our own is none"))?;
        self.plan = Some((count, plan.clone()));
        Ok(plan)
    }
}
