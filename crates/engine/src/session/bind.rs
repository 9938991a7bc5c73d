//! What the front ends are asked, and what they are told of the session: statements, and texts that a schema keeps.

use std::sync::Arc;

use rowferry_dialect::access::Needs;
use rowferry_dialect::ir::{self, Statement};
use rowferry_dialect::pins::Pins;
use rowferry_dialect::plan::Bound;
use rowferry_dialect::schema::{Relation, Schema};
use rowferry_dialect::{Error, Language, Result, Type, informix, postgres};

use super::Session;
use super::parsed::{Parsed, Source, parse};

impl Session {
    pub(super) fn bind_in(&self, parsed: &Parsed, declared: &[Option<Type>], schema: &dyn Schema) -> Result<Bound> {
        match &parsed.source {
            Source::Postgres(statement) => postgres::bind(statement, schema, &self.postgres_context(), declared),
            Source::Inside(statement, variables) => {
                let context = self.postgres_context();
                postgres::routine::bind_inside(statement, schema, &context, variables)
            }
            Source::Informix(statement) => {
                let asked_from = parsed.asked_from.as_ref().map(|database| database.to_string());
                let context = informix::Context { asked_from, ..self.informix_context() };
                informix::bind(statement, schema, &context, declared)
            }
            Source::Native(native) => Ok(Bound {
                inside: Vec::new(),
                statement: Statement::Nothing { tag: "" },
                params: native.params.clone(),
                columns: native.columns.clone(),
                effects: native.effects,
                generation: schema.generation(),
                needs: Needs::default(),
                notices: Vec::new(),
            }),
        }
    }

    /// A statement of the engine's own: nobody is asked whether he may run it, and no policy.
    pub(super) fn bind_own(
        &self,
        text: &str,
        declared: &[Option<Type>],
        schema: &dyn Schema,
    ) -> Result<(Parsed, Bound)> {
        let mut statements = parse(text, Language::Postgres)?;
        let (Some(parsed), true) = (statements.pop(), statements.is_empty()) else {
            return Err(Error::internal("a statement of the engine's own that is none"));
        };
        let Source::Postgres(statement) = &parsed.source else {
            return Err(Error::internal("a statement of the engine's own in another language"));
        };
        let mut bound = postgres::bind(statement, schema, &self.text_context(), declared)?;
        bound.needs = Needs::default();
        Ok((parsed, bound))
    }

    /// What a view's text names.
    pub(super) fn uses(
        &self,
        definition: &str,
        pins: Option<&Arc<Pins>>,
        language: Language,
        schema: &dyn Schema,
    ) -> Result<rowferry_dialect::uses::Uses> {
        match language {
            Language::Informix => informix::uses(definition, schema, &self.informix_context()),
            Language::Postgres | Language::Native | Language::Mysql => {
                postgres::uses((definition, language), pins, schema, &self.postgres_context())
            }
        }
    }

    /// A stored expression over a table's columns with another name for one of them.
    pub(super) fn renamed_in_expression(
        &self,
        text: &str,
        table: &Relation,
        column: usize,
        to: &str,
        schema: &dyn Schema,
    ) -> Result<String> {
        let table = Arc::new(table.clone());
        let renamed = match table.language {
            Language::Informix => {
                informix::renamed_in_expression(text, &table, column, to, schema, &self.informix_context())
            }
            Language::Postgres | Language::Native | Language::Mysql => {
                postgres::renamed_in_expression(text, &table, column, to, schema, &self.postgres_context())
            }
        }?;
        renamed.ok_or_else(|| Error::unsupported(format!("RENAME of a column that the expression {text} uses,")))
    }

    /// A stored expression over a table's columns.
    pub(super) fn bind_expression(
        &self,
        text: &str,
        table: &Relation,
        schema: &dyn Schema,
    ) -> Result<rowferry_dialect::ir::Expr> {
        match table.language {
            Language::Informix => informix::expression(text, schema, &self.informix_context(), table, None),
            Language::Postgres | Language::Native | Language::Mysql => {
                postgres::bind_stored(text, &Arc::new(table.clone()), schema, &self.postgres_context())
            }
        }
    }

    /// A domain's CHECK, over its value.
    pub(super) fn bind_domain_check(&self, text: &str, base: &Type, schema: &dyn Schema) -> Result<ir::Expr> {
        postgres::bind_domain_check(text, base, schema, &self.postgres_context())
    }

    /// What stands in a column of a type that nothing is said of, where that is not simply NULL.
    pub(super) fn bind_domain_default(&self, ty: &Type, schema: &dyn Schema) -> Result<Option<ir::Expr>> {
        postgres::bind_domain_default(ty, schema, &self.postgres_context())
    }

    /// WHEN of a trigger.
    pub(super) fn bind_trigger_condition(&self, text: &str, relation: &Arc<Relation>) -> Result<ir::Expr> {
        postgres::bind_trigger_condition(text, relation, &self.schema, &self.postgres_context())
    }

    /// WHEN of a trigger, after a column of its relation has got another name.
    pub(super) fn renamed_in_condition(
        &self,
        text: &str,
        relation: &Relation,
        column: usize,
        to: &str,
        schema: &dyn Schema,
    ) -> Result<String> {
        const BEFORE: &str = "SELECT ";
        let relation = Arc::new(relation.clone());
        let uses = postgres::trigger_condition_uses(text, &relation, schema, &self.postgres_context())?;
        let whole = format!("{BEFORE}{text}");
        let renamed = uses.with_column_renamed(&whole, relation.oid, column, to, &postgres::quote_ident);
        let renamed = renamed.and_then(|text| text.strip_prefix(BEFORE).map(str::to_owned));
        renamed.ok_or_else(|| Error::unsupported(format!("RENAME of a column that the condition {text} uses,")))
    }

    /// True when the WHEN of a trigger names a column of its relation.
    pub(super) fn condition_names(
        &self,
        text: &str,
        relation: &Relation,
        column: usize,
        schema: &dyn Schema,
    ) -> Result<bool> {
        let relation = Arc::new(relation.clone());
        let uses = postgres::trigger_condition_uses(text, &relation, schema, &self.postgres_context())?;
        Ok(uses.names_column(relation.oid, column))
    }

    pub(super) fn postgres_context(&self) -> rowferry_dialect::plan::Context {
        let is_mysql = self.language == Language::Mysql;
        let keys_unchecked = is_mysql && self.state.variables.read().is_replica();
        rowferry_dialect::plan::Context {
            user: self.user.to_string(),
            database: self.database.name().to_owned(),
            asks_policies: true,
            keys_unchecked,
            defaults_there: self.line().is_some(),
            passes_generated: is_mysql && !self.mysql_modes().strict,
            literals: self.settings().literal_style(),
            user_kinds: self.state.user_kinds.lock().clone(),
        }
    }

    /// How a text is looked at that is kept: for what it is, whoever asks.
    pub(super) fn text_context(&self) -> rowferry_dialect::plan::Context {
        rowferry_dialect::plan::Context { asks_policies: false, ..self.postgres_context() }
    }

    pub(super) fn informix_context(&self) -> informix::Context {
        let variables = self.state.variables.read();
        informix::Context {
            user: self.user.to_string(),
            database: variables.get("informix.database").unwrap_or_else(|| self.database.name().to_owned()),
            server: variables.get("informix.server").unwrap_or_else(|| "informix".to_owned()),
            asked_from: None,
            multibyte: variables.get(informix::MULTIBYTE).is_some(),
            strict: self.database.shared.options.strict,
            dates: variables.get(informix::DATES).and_then(|words| informix::values::DateFormat::of_dbdate(&words)),
        }
    }

    /// The query behind a view of ours, bound against a schema.
    pub(super) fn bind_view(&self, view: &Relation, schema: &dyn Schema) -> Result<ir::Query> {
        let Some((definition, pins)) = view.definition() else {
            return Err(Error::internal("a view without a query"));
        };
        if view.language != Language::Informix {
            return postgres::view_body((definition, view.language), pins, schema, &self.postgres_context());
        }
        let statements = parse(definition, view.language)?;
        let [statement] = statements.as_slice() else {
            return Err(Error::internal("a view of more than one statement"));
        };
        match self.bind_in(statement, &[], schema)?.statement {
            Statement::Query(query) => Ok(*query),
            _ => Err(Error::internal("a view of something else than a query")),
        }
    }
}
