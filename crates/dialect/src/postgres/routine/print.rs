//! A definition as CREATE FUNCTION: what `pg_get_functiondef` prints, and what a file keeps.

use crate::functions::Volatility;
use crate::postgres::quote_ident as quote;
use crate::stored_aggregate::AggregateKind;
use crate::stored_function::{Definition, Parallel, Param, ParamMode, RoutineLanguage, TypeRef};

impl Definition {
    /// Its parameters as `pg_get_function_arguments` prints them; without defaults as
    /// `pg_get_function_identity_arguments` does.
    pub fn arguments(&self, defaults: bool) -> String {
        let shown = self.params.iter().filter(|param| param.mode != ParamMode::Table);
        let shown: Vec<String> = shown.map(|param| self.argument(param, defaults)).collect();
        let ordered = self.aggregate.as_ref().filter(|part| part.kind != AggregateKind::Normal);
        let Some(part) = ordered else { return shown.join(", ") };
        // Behind its direct arguments an aggregate says what it sorts by; a last one that repeats does so in both.
        let (direct, sorted) = shown.split_at(part.direct.min(shown.len()));
        let sorted = if sorted.is_empty() { &direct[direct.len().saturating_sub(1)..] } else { sorted };
        let space = if direct.is_empty() { "" } else { " " };
        format!("{}{space}ORDER BY {}", direct.join(", "), sorted.join(", "))
    }

    fn argument(&self, param: &Param, defaults: bool) -> String {
        let mode = match param.mode {
            // A procedure's parameters that go in say so where others come out.
            ParamMode::In if self.procedure && self.params.iter().any(|param| param.mode != ParamMode::In) => "IN ",
            ParamMode::In | ParamMode::Table => "",
            ParamMode::InOut => "INOUT ",
            ParamMode::Out => "OUT ",
            ParamMode::Variadic => "VARIADIC ",
        };
        let mode = if self.procedure && mode.is_empty() { "IN " } else { mode };
        let name = if param.name.is_empty() { String::new() } else { format!("{} ", quote(&param.name)) };
        let default = match &param.default {
            Some(default) if defaults => format!(" DEFAULT {default}"),
            _ => String::new(),
        };
        format!("{mode}{name}{}{default}", self.type_words(&param.ty))
    }

    /// The words of a type, with modifiers in MySQL's language.
    fn type_words(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Is(ty) if self.language == RoutineLanguage::Mysql => crate::postgres::types::format_type(ty),
            ty => ty.words(),
        }
    }

    /// Its result as `pg_get_function_result` prints it; a procedure has none.
    pub fn result(&self) -> Option<String> {
        if self.procedure {
            return None;
        }
        let columns: Vec<&Param> = self.params.iter().filter(|param| param.mode == ParamMode::Table).collect();
        if !columns.is_empty() {
            let columns: Vec<String> =
                columns.iter().map(|param| format!("{} {}", quote(&param.name), param.ty.words())).collect();
            return Some(format!("TABLE({})", columns.join(", ")));
        }
        let words = self.type_words(&self.returns);
        Some(if self.set { format!("SETOF {words}") } else { words })
    }

    /// A body in SQL's own grammar, as `pg_get_function_sqlbody` prints it.
    pub fn shown_sql_body(&self) -> String {
        match self.source.strip_prefix("SELECT ") {
            Some(value) if !self.source.ends_with(';') => {
                match crate::postgres::stands_alone(value) || value.starts_with('(') {
                    true => format!("RETURN {value}"),
                    false => format!("RETURN ({value})"),
                }
            }
            _ if self.source.is_empty() => "BEGIN ATOMIC\nEND".to_owned(),
            _ => {
                let statements = crate::postgres::parse(&self.source).unwrap_or_default();
                let shown = |(at, statement): (usize, &crate::postgres::Parsed)| {
                    let text = statement.text().trim();
                    match text.strip_prefix("SELECT ").filter(|_| self.returned.contains(&at)) {
                        Some(value) => format!(" RETURN {value};\n"),
                        None => format!(" {text};\n"),
                    }
                };
                let statements: String = statements.iter().enumerate().map(shown).collect();
                format!("BEGIN ATOMIC\n{statements}END")
            }
        }
    }

    /// The attributes, each with its blank before.
    fn attributes(&self) -> String {
        let mut words = String::new();
        match self.volatility {
            Volatility::Immutable => words.push_str(" IMMUTABLE"),
            Volatility::Stable => words.push_str(" STABLE"),
            Volatility::Volatile => {}
        }
        match self.parallel {
            Parallel::Safe => words.push_str(" PARALLEL SAFE"),
            Parallel::Restricted => words.push_str(" PARALLEL RESTRICTED"),
            Parallel::Unsafe => {}
        }
        if self.strict {
            words.push_str(" STRICT");
        }
        if self.definer {
            words.push_str(" SECURITY DEFINER");
        }
        if self.leakproof {
            words.push_str(" LEAKPROOF");
        }
        if let Some(cost) = self.cost.as_deref().filter(|cost| cost.parse() != Ok(100.0)) {
            words.push_str(&format!(" COST {cost}"));
        }
        if let Some(rows) = self.rows.as_deref().filter(|rows| rows.parse() != Ok(1000.0)) {
            words.push_str(&format!(" ROWS {rows}"));
        }
        words
    }
}

/// CREATE OR REPLACE FUNCTION of a definition.
pub fn definition_text(namespace: &str, name: &str, definition: &Definition) -> String {
    definition_with(namespace, name, definition, None)
}

/// The same with another text of a body in SQL's own grammar.
pub fn definition_with(namespace: &str, name: &str, definition: &Definition, body: Option<String>) -> String {
    if let Some(part) = &definition.aggregate {
        return super::aggregate_text::aggregate_text(namespace, name, definition, part);
    }
    let kind = if definition.procedure { "PROCEDURE" } else { "FUNCTION" };
    let arguments = definition.arguments(true);
    let mut text = format!("CREATE OR REPLACE {kind} {}.{}({arguments})\n", quote(namespace), quote(name));
    if let Some(result) = definition.result() {
        text.push_str(&format!(" RETURNS {result}\n"));
    }
    text.push_str(&format!(" LANGUAGE {}\n", definition.language.name()));
    let attributes = definition.attributes();
    if !attributes.is_empty() {
        text.push_str(&attributes);
        text.push('\n');
    }
    for (name, values) in &definition.settings {
        let values: Vec<String> = values.iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect();
        text.push_str(&format!(" SET {} TO {}\n", quote(name), values.join(", ")));
    }
    if definition.sql_body {
        text.push_str(&body.unwrap_or_else(|| definition.shown_sql_body()));
        text.push('\n');
        return text;
    }
    // A tag that the body does not have.
    let mut tag = if definition.procedure { "$procedure$" } else { "$function$" }.to_owned();
    while definition.source.contains(tag.trim_end_matches('$')) {
        tag.insert(tag.len() - 1, 'x');
    }
    text.push_str(&format!("AS {tag}{}{tag}\n", definition.source));
    text
}
