//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE of MySQL's: what is done, and what there is to say of each table.

use std::sync::Arc;

use rowferry_dialect::access::{ObjectClass, Privileges};
use rowferry_dialect::mysql::print::quoted;
use rowferry_dialect::mysql::{Maintained, Maintenance, Work};
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result, Schema as _};

use super::Session;
use super::fulltext::full_texts;
use super::transaction::Block;

/// A row of the answer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Said {
    /// Of which table, its database with it.
    pub table: String,
    /// What was done.
    pub op: &'static str,
    /// What the text is.
    pub kind: &'static str,
    /// What there is to say.
    pub text: String,
    /// The number of CHECKSUM TABLE.
    pub checksum: Option<i64>,
}

/// What a name is.
enum Found {
    Table(Arc<Relation>),
    View,
    /// A table of the server's.
    Catalog,
}

impl Session {
    /// Does what is asked, and keeps what it has to say for the query behind it. All but CHECKSUM commit, as MySQL's do.
    pub(super) fn maintain_mysql(&mut self, maintenance: &Maintenance) -> Result<()> {
        let work = maintenance.work;
        if self.line().is_some() {
            let words = format!("{} TABLE in front of a PostgreSQL server", work.word().to_uppercase());
            return Err(Error::unsupported(words));
        }
        self.state.mysql.lock().maintained.clear();
        if work.commits() && !self.inner && self.transaction.block == Block::Explicit {
            self.end_commit()?;
        }
        self.refresh_schema();
        let mut found = Vec::with_capacity(maintenance.tables.len());
        for table in &maintenance.tables {
            found.push(self.maintained_table(table, work)?);
        }
        for (table, found) in maintenance.tables.iter().zip(found) {
            let shown = self.shown_name(table);
            let rows = match found {
                Err(error) => self.not_maintained(work, &shown, &error),
                Ok(Found::View) if matches!(work, Work::Check { .. }) => self.check_view(table, &shown)?,
                Ok(Found::View) => {
                    let message = format!("'{shown}' is not BASE TABLE");
                    let error = Error::new(Condition::WrongObjectType, message).with_mysql(1347, "HY000");
                    self.not_maintained(work, &shown, &error)
                }
                Ok(Found::Catalog) if matches!(work, Work::Check { .. }) => vec![said(work, &shown, "status", "OK")],
                Ok(Found::Catalog) => return Err(self.denied_database(table.schema.as_deref().unwrap_or_default())),
                Ok(Found::Table(table)) => self.maintain_table(work, &table, &shown)?,
            };
            self.state.mysql.lock().maintained.extend(rows);
        }
        Ok(())
    }

    /// The table of a name, or why there is none to work with.
    ///
    /// # Errors
    /// `42501` (1142) without the rights that the work wants.
    fn maintained_table(&self, table: &Maintained, work: Work) -> Result<Result<Found>> {
        if let Some(schema) = &table.schema
            && crate::catalog::mysql::relation(schema, &table.name).is_some()
        {
            return Ok(Ok(Found::Catalog));
        }
        if let Some(schema) = &table.schema
            && let Err(error) = self.schema_of_mysql_database(schema)
        {
            return if error.condition() == Condition::InvalidCatalogName { Ok(Err(error)) } else { Err(error) };
        }
        let name = QualifiedName { schema: table.schema.clone(), name: table.name.clone() };
        let Some(relation) = self.schema.relation(&name) else {
            let message = format!("Table '{}' doesn't exist", self.shown_name(table));
            return Ok(Err(Error::new(Condition::UndefinedTable, message).with_mysql(1146, "42S02")));
        };
        let rights = self.rights();
        let wanted: &[(Privileges, &str)] = match work {
            Work::Check { .. } | Work::Checksum { .. } => &[(Privileges::SELECT, "SELECT")],
            _ => &[(Privileges::SELECT, "SELECT"), (Privileges::INSERT, "INSERT")],
        };
        for (privilege, word) in wanted {
            // Rows that policies hide are in the work, too.
            if !rights.may(ObjectClass::Relation, relation.oid, *privilege)
                || rights.is_secured(rights.role(), &relation)
            {
                return Err(self.denied_table(word, &relation.name));
            }
        }
        Ok(Ok(if relation.keeps_rows() { Found::Table(relation) } else { Found::View }))
    }

    /// A table's name as the answer has it.
    fn shown_name(&self, table: &Maintained) -> String {
        let database = table.database.clone().unwrap_or_else(|| self.mysql_database());
        format!("{database}.{}", table.name)
    }

    fn maintain_table(&mut self, work: Work, table: &Arc<Relation>, shown: &str) -> Result<Vec<Said>> {
        let say = |kind, text: &str| said(work, shown, kind, text);
        Ok(match work {
            Work::Analyze => {
                self.analyze(std::slice::from_ref(table), false)?;
                vec![say("status", "OK")]
            }
            Work::Optimize => {
                self.for_each_table("OPTIMIZE TABLE", std::slice::from_ref(table), |handle, table| {
                    handle.reindex(table)?;
                    full_texts(table).try_for_each(|(_, index)| handle.keep_words(&index))
                })?;
                self.analyze(std::slice::from_ref(table), false)?;
                let note = "Table does not support optimize, doing recreate + analyze instead";
                vec![say("note", note), say("status", "OK")]
            }
            Work::Check { quick } => {
                let found = self.inspect_table(table, quick)?;
                let mut rows: Vec<Said> = found.iter().map(|finding| say("error", &finding.message)).collect();
                rows.push(if rows.is_empty() { say("status", "OK") } else { say("error", "Corrupt") });
                rows
            }
            Work::Checksum { quick } => {
                let checksum = if quick { None } else { Some(self.checksum(table)?) };
                vec![Said { checksum, ..say("", "") }]
            }
            // The words of its texts are all that another program may have left behind.
            Work::Repair if full_texts(table).next().is_some() => {
                self.for_each_table("REPAIR TABLE", std::slice::from_ref(table), |handle, table| {
                    full_texts(table).try_for_each(|(_, index)| handle.keep_words(&index))
                })?;
                vec![say("status", "OK")]
            }
            Work::Repair => vec![say("note", "The storage engine for the table doesn't support repair")],
        })
    }

    /// What is said of a name that is no table.
    fn not_maintained(&self, work: Work, shown: &str, error: &Error) -> Vec<Said> {
        if matches!(work, Work::Checksum { .. }) {
            // There is no row for it: it is a warning.
            self.state.notices.lock().push(error.clone());
            return vec![said(work, shown, "", "")];
        }
        let told = rowferry_dialect::mysql::told::told(error).message;
        let last = match error.condition() {
            Condition::InvalidCatalogName => said(work, shown, "error", "Corrupt"),
            _ => said(work, shown, "status", "Operation failed"),
        };
        vec![said(work, shown, "Error", &told), last]
    }

    /// A view is well when it can be read.
    fn check_view(&mut self, table: &Maintained, shown: &str) -> Result<Vec<Said>> {
        let work = Work::Check { quick: false };
        let database = table.database.as_deref().map_or_else(String::new, |name| format!("{}.", quoted(name)));
        match self.prepare(&format!("SELECT * FROM {database}{}", quoted(&table.name)), &[]) {
            Ok(_) => Ok(vec![said(work, shown, "status", "OK")]),
            Err(error) if error.condition() == Condition::QueryCanceled => Err(error),
            Err(error) => {
                let told = rowferry_dialect::mysql::told::told(&error).message;
                Ok(vec![said(work, shown, "Error", &told), said(work, shown, "error", "Corrupt")])
            }
        }
    }

    /// A number that the same rows have, in whatever order they lie.
    fn checksum(&mut self, table: &Arc<Relation>) -> Result<i64> {
        let (mut sum, mut row) = (0_u32, flate2::Crc::new());
        let last = table.columns.len().saturating_sub(1);
        self.on_handle(|handle| {
            handle.each_value(table, &mut |_, at, value| {
                // The kind, and how long a value is, keep those of two columns apart.
                let mut feed = |kind: u8, bytes: &[u8]| {
                    row.update(&[kind]);
                    row.update(&(bytes.len() as u64).to_le_bytes());
                    row.update(bytes);
                };
                match value {
                    ValueRef::Null => feed(0, &[]),
                    ValueRef::Integer(value) => feed(1, &value.to_le_bytes()),
                    ValueRef::Real(value) => feed(2, &value.to_le_bytes()),
                    ValueRef::Text(text) => feed(3, text),
                    ValueRef::Blob(bytes) => feed(4, bytes),
                }
                if at == last {
                    sum = sum.wrapping_add(row.sum());
                    row.reset();
                }
            })
        })?;
        Ok(i64::from(sum))
    }
}

fn said(work: Work, table: &str, kind: &'static str, text: &str) -> Said {
    Said { table: table.to_owned(), op: work.word(), kind, text: text.to_owned(), checksum: None }
}
