//! Set-returning functions in a select list: their columns, their rows, and where they may stand.

use rowferry_facts as facts;

use super::super::binder::{Binder, Clause};
use super::super::from::json_records;
use super::super::resolve::Candidate;
use super::super::types;
use crate::functions;
use crate::ir::{self, Expr, ExprKind, OutputColumn};
use crate::scalar::search;
use crate::types::Reg;
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// Columns of a set-returning function's rows.
    pub(in super::super) fn function_columns(function: &functions::Function, result: &Type) -> Vec<OutputColumn> {
        let column = |name: &str, ty: Type| OutputColumn { name: name.to_owned(), ty };
        if let Some(columns) = functions::columns_of_extension(function) {
            return columns.into_iter().map(|(name, ty)| column(name, ty)).collect();
        }
        let name = function.name;
        let array = |element: Type| Type::Array(Box::new(element));
        match name {
            "json_each" | "jsonb_each" => vec![column("key", Type::Text), column("value", result.clone())],
            "json_each_text" | "jsonb_each_text" => vec![column("key", Type::Text), column("value", Type::Text)],
            "json_array_elements"
            | "jsonb_array_elements"
            | "json_array_elements_text"
            | "jsonb_array_elements_text" => vec![column("value", result.clone())],
            "unnest" if *result == Type::Scalar(&search::TSVECTOR, None) => vec![
                column("lexeme", Type::Text),
                column("positions", array(Type::Int2)),
                column("weights", array(Type::Text)),
            ],
            "pg_partition_ancestors" => vec![column("relid", result.clone())],
            "ts_token_type" => {
                vec![column("tokid", Type::Int4), column("alias", Type::Text), column("description", Type::Text)]
            }
            "ts_stat" => vec![column("word", Type::Text), column("ndoc", Type::Int4), column("nentry", Type::Int4)],
            "ts_parse" => vec![column("tokid", Type::Int4), column("token", Type::Text)],
            "ts_debug" => vec![
                column("alias", Type::Text),
                column("description", Type::Text),
                column("token", Type::Text),
                column("dictionaries", array(Type::Reg(Reg::Dictionary))),
                column("dictionary", Type::Reg(Reg::Dictionary)),
                column("lexemes", array(Type::Text)),
            ],
            EXPAND_ARRAY => vec![column("x", result.clone()), column("n", Type::Int4)],
            name => match facts_columns(name) {
                columns if columns.len() > 1 => columns,
                _ => vec![column(name, result.clone())],
            },
        }
    }

    /// A set-returning function in a select list becomes a member of FROM that sees those before it.
    pub(super) fn set_returning(
        &mut self,
        candidate: Candidate,
        name: &str,
        args: Vec<(Expr, i32)>,
        place: i32,
    ) -> Result<Expr> {
        self.check_rows_place(place)?;
        if functions::is_told_columns(candidate.function) {
            return Err(self.unsupported(format!("{name} outside of FROM"), place));
        }
        if self.shown.is_some() {
            return self.shown_set(candidate, args);
        }
        if let Some(view) = functions::view_behind(candidate.function) {
            let columns = Self::function_columns(candidate.function, &candidate.result);
            let (from, id) = self.rows_of_view(view, &columns)?;
            self.scope().set_returning.push(from);
            let (names, types): (Vec<String>, Vec<Type>) =
                columns.into_iter().map(|column| (column.name, column.ty)).unzip();
            let members = types.into_iter().enumerate().map(|(at, ty)| Expr::column(id, at, ty)).collect();
            return Ok(super::rows::record(names, members));
        }
        let row = args.first().map_or(Type::RECORD, |(row, _)| row.ty.clone());
        let args = self.arguments(&candidate, args)?;
        // Members of catalog vectors count from 0.
        let from_zero = name == "generate_subscripts" && args.first().is_some_and(|array| self.is_vector(array));
        let columns = Self::function_columns(candidate.function, &candidate.result);
        if columns.len() != 1 {
            return self.set_of_rows(candidate, args, columns);
        }
        let mut function = candidate.function;
        let mut args = args;
        if json_records::makes_records(name) {
            if name.contains("populate") && !row.is_row() && !matches!(row, Type::Unknown) {
                let message = format!("first argument of {name} must be a row type");
                return Err(crate::Error::new(Condition::DatatypeMismatch, message));
            }
            function = functions::internal("json records");
            let row = if row.is_row() { row } else { candidate.result.clone() };
            args = self.json_record_arguments(name, args, &row)?;
        }
        if let Some(twin) = self.twin(function, &args) {
            return self.subscript(Expr::column(twin, 0, candidate.result), from_zero);
        }
        let id = self.ids.relation();
        self.scope().set_returning.push(ir::From::Function { id, function, args, columns, ordinality: false });
        self.subscript(Expr::column(id, 0, candidate.result), from_zero)
    }

    /// A set in a select list as it is printed: a call like others.
    fn shown_set(&mut self, candidate: Candidate, args: Vec<(Expr, i32)>) -> Result<Expr> {
        let args = self.arguments(&candidate, args)?;
        let columns = Self::function_columns(candidate.function, &candidate.result);
        let ty = match columns.len() {
            1 => candidate.result.clone(),
            _ => {
                let (names, types): (Vec<String>, Vec<Type>) =
                    columns.into_iter().map(|column| (column.name, column.ty)).unzip();
                super::rows::record(names, types.into_iter().map(Expr::null).collect()).ty
            }
        };
        Ok(Expr::new(ExprKind::Call { function: candidate.function, args }, ty))
    }

    /// The rows of a function in a select list, each as one value; the same call again means the same rows.
    fn set_of_rows(&mut self, candidate: Candidate, args: Vec<Expr>, columns: Vec<OutputColumn>) -> Result<Expr> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let types: Vec<Type> = columns.iter().map(|column| column.ty.clone()).collect();
        let row = |id| {
            let members = types.into_iter().enumerate().map(|(at, ty)| Expr::column(id, at, ty)).collect();
            super::rows::record(names, members)
        };
        // A function of one row is not called for a NULL, and its value is NULL then.
        let facts = facts::Function::named(candidate.function.name);
        let strict = facts.iter().any(|fact| fact.strict && !fact.returns_set);
        let is_null =
            |arg: &Expr| Expr::new(ExprKind::IsNull { arg: Box::new(arg.clone()), negated: false }, Type::Bool);
        let unasked: Vec<Expr> = if strict { args.iter().map(is_null).collect() } else { Vec::new() };
        let value = |row: Expr| match unasked.is_empty() {
            true => row,
            false => {
                let ty = row.ty.clone();
                let branches = vec![(Expr::new(ExprKind::Or(unasked), Type::Bool), Expr::null(ty.clone()))];
                Expr::new(ExprKind::Case { branches, otherwise: Some(Box::new(row)) }, ty)
            }
        };
        if let Some(twin) = self.twin(candidate.function, &args) {
            return Ok(value(row(twin)));
        }
        let id = self.ids.relation();
        let function = candidate.function;
        self.scope().set_returning.push(ir::From::Function { id, function, args, columns, ordinality: false });
        Ok(value(row(id)))
    }

    /// A function that returns rows stands where the select list has them.
    pub(in super::super) fn check_rows_place(&mut self, place: i32) -> Result<()> {
        let scope = self.scope();
        let refused = |message: String| (message, None);
        let hint = Some("You might be able to move the set-returning function into a LATERAL FROM item.");
        let (message, hint) = if scope.inside.aggregate {
            ("aggregate function calls cannot contain set-returning function calls".to_owned(), hint)
        } else if scope.inside.window && scope.allow_set_returning {
            ("window function calls cannot contain set-returning function calls".to_owned(), hint)
        } else if scope.clause == Clause::From {
            refused("set-returning functions must appear at top level of FROM".to_owned())
        } else if !scope.allow_set_returning {
            refused(format!("set-returning functions are not allowed in {}", scope.clause.words()))
        } else if let Some(construct) = scope.one_value_in {
            (format!("set-returning functions are not allowed in {construct}"), hint)
        } else {
            return Ok(());
        };
        let error = self.error(Condition::FeatureNotSupported, message, place);
        Err(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }

    /// A member's number, counted from 1 or from 0.
    pub(in super::super) fn subscript(&mut self, number: Expr, from_zero: bool) -> Result<Expr> {
        if !from_zero {
            return Ok(number);
        }
        self.operator("-", vec![(number, -1), (Expr::integer(1, Type::Int4), -1)], -1)
    }
}

/// What `information_schema` does to an array: its members with their numbers.
const EXPAND_ARRAY: &str = "information_schema._pg_expandarray";

/// The columns that PostgreSQL's own function of a name returns by OUT parameters, if these alone say what it returns.
fn facts_columns(name: &str) -> Vec<OutputColumn> {
    const RECORD: u32 = 2_249;
    let [fact] = facts::Function::named(name) else { return Vec::new() };
    if fact.result != RECORD {
        return Vec::new();
    }
    let out =
        fact.modes.iter().zip(&fact.names).zip(&fact.all_arguments).filter(|((mode, _), _)| matches!(mode, 'o' | 't'));
    let column = |((_, name), oid): ((&char, &&str), &u32)| OutputColumn {
        name: (*name).to_owned(),
        ty: types::from_oid(*oid).unwrap_or(Type::Text),
    };
    out.map(column).collect()
}
