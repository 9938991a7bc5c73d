//! VACUUM, ANALYZE, REINDEX and CHECKPOINT.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, DefElem, Node, ReindexObjectType, node::Node as N};

use super::binder::Binder;
use super::names;
use super::utility::text_of;
use crate::ir::{Maintenance, Statement};
use crate::schema::{QualifiedName, Relation, RelationKind};
use crate::{Condition, Error, Result};

/// The most workers that VACUUM may be given.
const MAX_WORKERS: i64 = 1024;

/// What VACUUM and ANALYZE are told in parentheses or by their words.
#[derive(Default)]
struct Options {
    analyze: bool,
    full: bool,
    parallel: Option<i64>,
    page_skipping_disabled: bool,
    toast_left_out: bool,
}

impl Binder<'_> {
    pub(super) fn vacuum(&mut self, vacuum: &pg::VacuumStmt) -> Result<Statement> {
        let options = self.vacuum_options(vacuum)?;
        if options.full && options.parallel.is_some_and(|workers| workers > 0) {
            return Err(Error::new(Condition::FeatureNotSupported, "VACUUM FULL cannot be performed in parallel"));
        }
        if options.full && options.page_skipping_disabled {
            let message = "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if options.full && options.toast_left_out {
            return Err(Error::new(Condition::FeatureNotSupported, "PROCESS_TOAST required with VACUUM FULL"));
        }
        let analyze = options.analyze || !vacuum.is_vacuumcmd;
        let (mut tables, mut skipped) = (Vec::with_capacity(vacuum.rels.len()), Vec::new());
        for node in &vacuum.rels {
            let Some(N::VacuumRelation(target)) = &node.node else { continue };
            let Some(range) = &target.relation else { continue };
            if !target.va_cols.is_empty() && !analyze {
                let message = "ANALYZE option must be specified when a column list is provided";
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            let relation = self.relation(range)?;
            check_columns(&relation, &names::strings(&target.va_cols))?;
            if relation.keeps_rows() {
                tables.push(relation);
            } else {
                skipped.push(relation.name.clone());
            }
        }
        let all = vacuum.rels.is_empty();
        self.effects.volatile = true;
        Ok(Statement::Maintain(if vacuum.is_vacuumcmd {
            Maintenance::Vacuum { tables, all, full: options.full, analyze, skipped }
        } else {
            Maintenance::Analyze { tables, all, skipped }
        }))
    }

    fn vacuum_options(&self, vacuum: &pg::VacuumStmt) -> Result<Options> {
        let command = if vacuum.is_vacuumcmd { "VACUUM" } else { "ANALYZE" };
        let mut options = Options::default();
        for option in vacuum.options.iter().filter_map(option_of) {
            match (option.defname.as_str(), vacuum.is_vacuumcmd) {
                ("skip_locked", _) if self.switch(option)? => {
                    return Err(self.unsupported(format!("{command} (SKIP_LOCKED)"), option.location));
                }
                // Files keep nothing that could be skipped, frozen or cut off apart.
                ("verbose" | "skip_locked", _) | ("freeze" | "truncate", true) => {
                    self.switch(option)?;
                }
                ("process_toast", true) => options.toast_left_out = !self.switch(option)?,
                ("index_cleanup", true) => {
                    if !text_of(option.arg.as_deref()).eq_ignore_ascii_case("auto") {
                        self.switch(option)?;
                    }
                }
                ("analyze", true) => options.analyze = self.switch(option)?,
                ("full", true) => options.full = self.switch(option)?,
                ("disable_page_skipping", true) => options.page_skipping_disabled = self.switch(option)?,
                ("parallel", true) => options.parallel = Some(self.workers(option)?),
                (other, _) => {
                    let message = format!("unrecognized {command} option \"{other}\"");
                    return Err(self.error(Condition::SyntaxError, message, option.location));
                }
            }
        }
        Ok(options)
    }

    /// An option that is on unless it says something else.
    fn switch(&self, option: &DefElem) -> Result<bool> {
        if option.arg.is_none() {
            return Ok(true);
        }
        match text_of(option.arg.as_deref()).to_ascii_lowercase().as_str() {
            "true" | "on" | "1" => Ok(true),
            "false" | "off" | "0" => Ok(false),
            _ => {
                let message = format!("{} requires a Boolean value", option.defname);
                Err(Error::new(Condition::SyntaxError, message))
            }
        }
    }

    fn workers(&self, option: &DefElem) -> Result<i64> {
        let refused = |message: String| self.error(Condition::SyntaxError, message, option.location);
        if option.arg.is_none() {
            return Err(refused(format!("parallel option requires a value between 0 and {MAX_WORKERS}")));
        }
        let workers: Option<i64> = text_of(option.arg.as_deref()).parse().ok();
        workers
            .filter(|workers| (0..=MAX_WORKERS).contains(workers))
            .ok_or_else(|| refused(format!("parallel workers for vacuum must be between 0 and {MAX_WORKERS}")))
    }

    pub(super) fn reindex(&mut self, reindex: &pg::ReindexStmt) -> Result<Statement> {
        let mut concurrently = false;
        for option in reindex.params.iter().filter_map(option_of) {
            match option.defname.as_str() {
                "concurrently" => concurrently = self.switch(option)?,
                "verbose" => drop(self.switch(option)?),
                "tablespace" => self.check_tablespace(&text_of(option.arg.as_deref()))?,
                other => {
                    let message = format!("unrecognized REINDEX option \"{other}\"");
                    return Err(self.error(Condition::SyntaxError, message, option.location));
                }
            }
        }
        self.effects.volatile = true;
        let alone = |words: &'static str| if concurrently { Some("REINDEX CONCURRENTLY") } else { Some(words) };
        let (tables, all, alone) = match reindex.kind() {
            ReindexObjectType::ReindexObjectIndex => {
                (vec![self.indexed_table(reindex)?], None, concurrently.then_some("REINDEX CONCURRENTLY"))
            }
            ReindexObjectType::ReindexObjectTable | ReindexObjectType::Undefined => {
                (vec![self.table_to_reindex(reindex)?], None, concurrently.then_some("REINDEX CONCURRENTLY"))
            }
            ReindexObjectType::ReindexObjectSchema => {
                if !self.schema.has_namespace(&reindex.name) {
                    let message = format!("schema \"{}\" does not exist", reindex.name);
                    return Err(Error::new(Condition::InvalidSchemaName, message));
                }
                (Vec::new(), Some(Some(reindex.name.clone())), alone("REINDEX SCHEMA"))
            }
            ReindexObjectType::ReindexObjectDatabase => {
                if !reindex.name.is_empty() && reindex.name != self.context.database {
                    let message = "can only reindex the currently open database";
                    return Err(Error::new(Condition::FeatureNotSupported, message));
                }
                (Vec::new(), Some(None), alone("REINDEX DATABASE"))
            }
            ReindexObjectType::ReindexObjectSystem => return Err(self.unsupported("REINDEX SYSTEM", -1)),
        };
        Ok(Statement::Maintain(Maintenance::Reindex { tables, all, alone }))
    }

    fn indexed_table(&mut self, reindex: &pg::ReindexStmt) -> Result<Arc<Relation>> {
        let range = reindex.relation.as_ref().ok_or_else(|| Error::internal("REINDEX of nothing"))?;
        if let Some((table, _)) = self.schema.index(&name_of(range)) {
            return Ok(table);
        }
        let relation = self.relation(range)?;
        Err(Error::new(Condition::WrongObjectType, format!("\"{}\" is not an index", relation.name)))
    }

    fn table_to_reindex(&mut self, reindex: &pg::ReindexStmt) -> Result<Arc<Relation>> {
        let range = reindex.relation.as_ref().ok_or_else(|| Error::internal("REINDEX of nothing"))?;
        let not_a_table = |name: &str| {
            Error::new(Condition::WrongObjectType, format!("\"{name}\" is not a table or materialized view"))
        };
        match self.schema.relation(&name_of(range)) {
            Some(relation) if relation.keeps_rows() => Ok(relation),
            Some(relation) if relation.kind == RelationKind::Catalog => {
                Err(self.unsupported("REINDEX of a system catalog", range.location))
            }
            Some(relation) => Err(not_a_table(&relation.name)),
            None if self.schema.index(&name_of(range)).is_some() => Err(not_a_table(&range.relname)),
            None => self.relation(range),
        }
    }
}

fn option_of(node: &Node) -> Option<&DefElem> {
    match &node.node {
        Some(N::DefElem(option)) => Some(option),
        _ => None,
    }
}

fn name_of(range: &pg::RangeVar) -> QualifiedName {
    let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
    QualifiedName { schema, name: range.relname.clone() }
}

fn check_columns(relation: &Relation, columns: &[&str]) -> Result<()> {
    for (at, name) in columns.iter().enumerate() {
        if relation.column(name).is_none() {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
            return Err(Error::new(Condition::UndefinedColumn, message));
        }
        if columns[..at].contains(name) {
            let message = format!("column \"{name}\" of relation \"{}\" appears more than once", relation.name);
            return Err(Error::new(Condition::DuplicateColumn, message));
        }
    }
    Ok(())
}
