//! Calls of functions, aggregates and window functions.

use super::cast::type_words;
use super::dml::as_param;
use super::expr::array_aggregate;
use super::said::Said;
use super::{Lowering, ParamForm, Repr, Sql, repr_of};
use crate::functions::{Function, TypeSpec, Volatility};
use crate::ir::{
    Aggregate, CastContext, CollateRole, Expr, ExprKind, Frame, FrameBound, FrameExclude, FrameUnit, SortKey, Value,
    WindowCall, is_plain_offset, uncast_offset,
};
use crate::scalar::ranges;
use crate::types::Storage;
use crate::{Condition, Error, Result, Type};

/// Regular expressions, and the length in bytes: others take a `char(n)` as a text without its blanks.
fn sees_blanks(function: &Function) -> bool {
    matches!(function.name, "~" | "~*" | "!~" | "!~*" | "octet_length")
}

/// A constant place inside of a text, and a constant length.
fn begins_inside(range: &[Expr]) -> bool {
    let at_least = |expr: &Expr, least: i64| match &expr.kind {
        ExprKind::Literal(Value::Integer(number)) => (least..=i64::from(i32::MAX)).contains(number),
        _ => false,
    };
    match range {
        [start] => at_least(start, 1),
        [start, length] => at_least(start, 1) && at_least(length, 0),
        _ => false,
    }
}

/// True for a text under a collation whose letters are those of ASCII.
pub(super) fn knows_ascii_alone(args: &[Expr]) -> bool {
    match args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Collate { collation, role: CollateRole::Operand { .. }, .. }) => collation.knows_ascii_alone(),
        _ => false,
    }
}

/// True for a text under one of ICU's collations, where a letter's counterpart may be several.
fn knows_all_letters(args: &[Expr]) -> bool {
    match args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Collate { collation, role: CollateRole::Operand { .. }, .. }) => collation.is_unicode(),
        _ => false,
    }
}

/// The word of a regular expression that nothing but this word matches, asked of a text or a name.
fn whole_word(args: &[Expr]) -> Option<&str> {
    let [subject, pattern] = args else { return None };
    let mut inner = subject;
    while let ExprKind::Collate { arg, .. } | ExprKind::Cast { arg, .. } = &inner.kind {
        inner = arg;
    }
    // Of a `char(n)` it sees the blanks.
    if !matches!(inner.ty, Type::Text | Type::Name) {
        return None;
    }
    let mut pattern = pattern;
    while let ExprKind::Collate { arg, .. } = &pattern.kind {
        pattern = arg;
    }
    let ExprKind::Literal(Value::Text(pattern)) = &pattern.kind else { return None };
    let word = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let word = word.strip_prefix('(').and_then(|word| word.strip_suffix(')')).unwrap_or(word);
    let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain.then_some(word)
}

/// What a value is, for who makes a member of a document of it: of bytes also in which kind of column they lie.
fn words_of_member(arg: &Expr) -> String {
    let plain = arg.ty.through_domains();
    match crate::mysql::types::own_words(&arg.ty) {
        Some(words) if *plain == Type::Bytea => super::quote_text(words),
        None if *plain == Type::Bytea && matches!(arg.kind, ExprKind::Column(_)) => super::quote_text("blob"),
        _ => type_words(plain),
    }
}

impl Lowering<'_> {
    pub(super) fn call(&mut self, function: &Function, args: &[Expr], ty: &Type) -> Result<Sql> {
        let sql = match function.said {
            Said::Function("rf_array_get") if ty.storage() == Storage::Blob => {
                let args = self.texts(args)?;
                self.say(Said::Function("rf_array_get_bytes"), &args)
            }
            Said::Function(name @ ("rf_lower" | "rf_upper" | "rf_initcap")) if knows_ascii_alone(args) => {
                let args = self.texts(args)?.join(", ");
                match name {
                    // SQLite's own know no other letters.
                    "rf_lower" => format!("lower({args})"),
                    "rf_upper" => format!("upper({args})"),
                    _ => {
                        self.needs_us();
                        format!("{name}_ascii({args})")
                    }
                }
            }
            Said::Function(name @ ("rf_lower" | "rf_upper")) if knows_all_letters(args) => {
                let args = self.texts(args)?.join(", ");
                self.needs_us();
                format!("{name}({args}, 1)")
            }
            // As psql asks for one table: an index knows which it is.
            Said::Template(_) if function.name == "~" && whole_word(args).is_some() => {
                let word = whole_word(args).unwrap_or_default();
                format!("({} = '{word}' COLLATE BINARY)", self.texts(&args[..1])?.join(", "))
            }
            // What looks at the blanks of a `char(n)`.
            how @ (Said::Template(_) | Said::Function(_)) if sees_blanks(function) => {
                let mut lowered = self.texts(args)?;
                if let (Some(first), Some(arg)) = (lowered.first_mut(), args.first()) {
                    *first = self.blank_padded(arg)?;
                }
                self.say(how, &lowered)
            }
            // SQLite's own counts as PostgreSQL does, from the first character on, and is no call of ours.
            Said::Function("rf_substring") if crate::optimise::passes().rewrite && begins_inside(&args[1..]) => {
                format!("substr({})", self.texts(args)?.join(", "))
            }
            Said::Function("rf_stored_function") if self.steady => {
                let args = self.texts(args)?;
                self.say(Said::Function("rf_immutable_function"), &args)
            }
            Said::Special("field") => self.field(args, ty)?,
            Said::Special(word) => self.special(word, args)?,
            how @ Said::OfRanges(_) => {
                let family = range_type(function, args, ty)?;
                let mut args = self.texts(args)?;
                args.push(family);
                self.say(how, &args)
            }
            // What is another value each time must not be asked for once.
            Said::Module(name) if function.volatility == Volatility::Volatile => {
                let args = self.texts(args)?;
                self.needs_us();
                of_module("rf_module_volatile", name, &args)
            }
            how => {
                let args = self.texts(args)?;
                self.say(how, &args)
            }
        };
        Ok(Sql { sql, repr: repr_of(ty) })
    }

    fn say(&mut self, how: Said, args: &[String]) -> String {
        match how {
            Said::Function(name) | Said::OfRanges(name) => {
                if name.starts_with("rf_") {
                    self.needs_us();
                }
                format!("{name}({})", args.join(", "))
            }
            Said::Module(name) => {
                self.needs_us();
                of_module("rf_module", name, args)
            }
            Said::Infix(sign) => format!("({})", args.join(&format!(" {sign} "))),
            Said::Prefix(sign) => format!("({sign} {})", args.join(", ")),
            Said::Template(template) => {
                if template.contains("rf_") {
                    self.needs_us();
                }
                fill(template, args)
            }
            Said::Special(word) => format!("{word}({})", args.join(", ")),
        }
    }

    /// Functions of arguments of any type: the back end must know which.
    fn special(&mut self, word: &str, args: &[Expr]) -> Result<String> {
        Ok(match word {
            "concat" | "concat_ws" => {
                let args = self.output_texts(args)?;
                format!("{word}({})", args.join(", "))
            }
            "mysql_char_length" => {
                let [arg] = args else { return Err(Error::internal("a length of several values")) };
                let text = self.expr(arg)?.sql;
                // SQLite counts up to a NUL. What it keeps in a table's definition is left to it all the same.
                if self.spell.is_some() {
                    return Ok(format!("length({text})"));
                }
                self.needs_us();
                format!("rf_mysql_char_length({text})")
            }
            "concat_text" => format!("({})", self.user_texts(args)?.join(" || ")),
            "format" => {
                let args = self.output_texts(args)?;
                self.needs_us();
                format!("rf_format({})", args.join(", "))
            }
            "quote_literal" | "quote_nullable" => {
                let text = self.as_text(&args[0])?;
                self.needs_us();
                format!("rf_{word}({text})")
            }
            "concat_array"
            | "format_array"
            | "json_build_array_of"
            | "jsonb_build_array_of"
            | "json_build_object_of"
            | "jsonb_build_object_of" => self.of_array(word, args)?,
            "to_json" | "to_jsonb" | "json_build_object" | "json_build_array" | "jsonb_build_object"
            | "jsonb_build_array" => {
                let args = self.typed(args)?;
                self.needs_us();
                format!("rf_{word}({})", args.join(", "))
            }
            word if word.starts_with("mysql_json_") => {
                let mut typed = Vec::with_capacity(args.len() * 2);
                for arg in args {
                    typed.push(self.stored_text_of(arg)?);
                    typed.push(words_of_member(arg));
                }
                // The array behind the value is a text.
                if word == "mysql_json_member_of" {
                    typed.pop();
                }
                self.needs_us();
                format!("rf_{word}({})", typed.join(", "))
            }
            "array_to_string" => {
                let Type::Array(element) = &args[0].ty else {
                    return Err(Error::internal("array_to_string takes an array"));
                };
                let words = type_words(element);
                let mut args = self.texts(args)?;
                args.insert(1, words);
                self.needs_us();
                format!("rf_array_to_string({})", args.join(", "))
            }
            "array_position" | "array_positions" | "array_remove" | "array_replace" | "array_contains"
            | "array_contained" | "array_overlaps" => {
                // How elements compare is not to be seen from an array.
                let order = args.first().and_then(|array| super::collation(&array.ty, Repr::Plain)).unwrap_or_default();
                let order = if order.starts_with("rf_") { order } else { "".into() };
                let mut args = self.texts(args)?;
                let mut word = word;
                if word == "array_contained" {
                    args.reverse();
                    word = "array_contains";
                }
                args.insert(0, super::quote_text(&order));
                self.needs_us();
                format!("rf_{word}({})", args.join(", "))
            }
            "json_populate_record" | "jsonb_populate_record" => {
                if !args[0].ty.is_row() {
                    let message = format!("first argument of {word} must be a row type");
                    return Err(Error::new(Condition::DatatypeMismatch, message));
                }
                let base = self.expr(&args[0])?.sql;
                let object = self.expr(&args[1])?.sql;
                self.needs_us();
                let name = super::quote_text(word);
                format!("rf_json_record({object}, {base}, {}, {name})", type_words(&args[0].ty))
            }
            "hstore_from_record" => {
                let row = match &args[0].kind {
                    // As a row without a type it has no names.
                    ExprKind::Cast { arg, .. } if arg.ty.is_row() && args[0].ty == Type::RECORD => arg,
                    _ => &args[0],
                };
                let value = self.expr(row)?.sql;
                self.needs_us();
                format!("rf_module('hstore_from_record', {value}, {})", type_words(&row.ty))
            }
            "hstore_populate_record" => {
                if !args[0].ty.is_row() {
                    return Err(Error::new(Condition::DatatypeMismatch, "first argument must be a rowtype"));
                }
                let base = self.expr(&args[0])?.sql;
                let pairs = self.expr(&args[1])?.sql;
                self.needs_us();
                let words = type_words(&args[0].ty);
                format!("rf_json_record(rf_module('hstore_to_json', {pairs}), {base}, {words}, 'populate_record')")
            }
            "json_to_record" | "jsonb_to_record" => {
                let message = format!("could not determine row type for result of {word}");
                return Err(Error::new(Condition::FeatureNotSupported, message).hint(
                    "Provide a non-null record argument, or call the function in the FROM clause using a column \
                     definition list.",
                ));
            }
            "row_is_null" | "row_is_not_null" => {
                let value = self.expr(&args[0])?.sql;
                self.needs_us();
                let null = i32::from(word == "row_is_null");
                format!("rf_row_is_null({value}, {}, {null})", type_words(&args[0].ty))
            }
            "width_bucket" => {
                let order = args.get(1).and_then(|array| super::collation(&array.ty, Repr::Plain)).unwrap_or_default();
                let mut args = self.texts(args)?;
                args.insert(0, super::quote_text(&order));
                self.needs_us();
                format!("rf_array_bucket({})", args.join(", "))
            }
            "satisfies_hash_partition" => {
                let types: Vec<u32> = args[3..].iter().map(|arg| crate::postgres::types::oid(&arg.ty)).collect();
                let values = self.texts(args)?;
                self.needs_us();
                let keys: String = types.iter().zip(&values[3..]).map(|(ty, key)| format!(", {ty}, {key}")).collect();
                format!("rf_hash_partition({}{keys})", values[..3].join(", "))
            }
            "truetypid" | "truetypmod" => self.true_type(word, args)?,
            "enum_first" | "enum_last" | "enum_range" => return self.enum_support(word, args),
            "pg_typeof" => {
                let oid = crate::postgres::types::oid(&args[0].ty);
                let mut grouped = false;
                crate::ir::walk::expr(&args[0], &mut |part| {
                    grouped |= matches!(part.kind, crate::ir::ExprKind::Aggregate(_) | crate::ir::ExprKind::Window(_));
                    !grouped
                });
                // The value tells nothing, but that it is one of a group decides how many rows there are.
                match grouped {
                    true => format!("iif({} IS NULL, {oid}, {oid})", self.expr(&args[0])?.sql),
                    false => oid.to_string(),
                }
            }
            _ => return Err(Error::internal(format!("no such special function: {word}"))),
        })
    }

    /// Of a row of `pg_attribute` and that of its type: what the column's type is, that of a domain what it is over.
    fn true_type(&mut self, word: &str, args: &[Expr]) -> Result<String> {
        let mut part = |row: &Expr, catalog: &str, name: &str| -> Result<String> {
            let fields = match &row.ty {
                Type::User(user) if user.name == catalog => {
                    user.composite().map(|composite| composite.fields.as_slice())
                }
                _ => None,
            };
            let place = fields.and_then(|fields| fields.iter().position(|field| *field.name == *name));
            let Some((fields, at)) = fields.zip(place) else {
                let shown = args.iter().map(|arg| match &arg.ty {
                    Type::User(user) => user.name.clone(),
                    ty => crate::postgres::types::words(ty),
                });
                let shown: Vec<String> = shown.collect();
                let message = format!("function information_schema._pg_{word}({}) does not exist", shown.join(", "));
                return Err(Error::new(Condition::UndefinedFunction, message).hint(
                    "No function matches the given name and argument types. You might need to add explicit type casts.",
                ));
            };
            let at = Expr::integer(i64::try_from(at).unwrap_or_default(), Type::Int4);
            let ty = fields.iter().find(|field| *field.name == *name).map_or(Type::Text, |field| field.ty.clone());
            self.field(&[row.clone(), at], &ty)
        };
        let [attribute, ty] = args else { return Err(Error::internal("a column without its type")) };
        let (of_domain, of_column) =
            if word == "truetypid" { ("typbasetype", "atttypid") } else { ("typtypmod", "atttypmod") };
        let kind = part(ty, "pg_type", "typtype")?;
        let of_domain = part(ty, "pg_type", of_domain)?;
        let of_column = part(attribute, "pg_attribute", of_column)?;
        Ok(format!("CASE WHEN {kind} = 'd' THEN {of_domain} ELSE {of_column} END"))
    }

    /// Functions of any number of arguments, with all of them in an array, the last argument.
    fn of_array(&mut self, word: &str, args: &[Expr]) -> Result<String> {
        self.needs_us();
        let words = args.last().map(|array| type_words(&array.ty)).unwrap_or_default();
        let args = self.texts(args)?;
        Ok(match (word, args.as_slice()) {
            ("concat_array", [array]) => format!("rf_array_to_string({array}, {words}, '')"),
            ("concat_array", [separator, array]) => format!("rf_array_to_string({array}, {words}, {separator})"),
            ("format_array", [pattern, array]) => format!("rf_format_array({pattern}, {words}, {array})"),
            (word, [array]) => format!("rf_{word}({array}, {words})"),
            _ => return Err(Error::internal(format!("no such function of an array: {word}"))),
        })
    }

    /// Functions that tell the labels of an enum type; their first arguments are asked for nothing but their type.
    fn enum_support(&mut self, word: &str, args: &[Expr]) -> Result<String> {
        let Type::User(ty) = args[0].ty.through_domains() else {
            return Err(Error::new(Condition::FeatureNotSupported, "could not determine actual enum type"));
        };
        let Some(labels) = ty.labels() else { return Err(Error::internal("the labels of no enum type")) };
        if let [low, high] = args {
            let (low, high) = (self.expr(low)?.sql, self.expr(high)?.sql);
            self.needs_us();
            let told = crate::user_type::told(args[0].ty.through_domains()).unwrap_or_default();
            return Ok(format!("rf_enum_range({}, {low}, {high})", super::quote_text(&told)));
        }
        let label = match word {
            "enum_first" => labels.all().first(),
            "enum_last" => labels.all().last(),
            _ => {
                labels.all().iter().try_for_each(|label| ty.check_committed(label))?;
                return Ok(super::quote_text(&labels.texts()));
            }
        };
        match label {
            Some(label) => {
                ty.check_committed(label)?;
                Ok(super::quote_text(&label.text))
            }
            None => {
                let message = format!("enum {} contains no values", crate::postgres::types::words(&args[0].ty));
                Err(Error::new(Condition::ObjectNotInPrerequisiteState, message))
            }
        }
    }

    /// Arguments as text for the user.
    fn user_texts(&mut self, args: &[Expr]) -> Result<Vec<String>> {
        args.iter().map(|arg| self.as_text(arg)).collect()
    }

    /// Arguments as clients see them: a boolean is `t` or `f` there, where a cast makes a word of it, and an address has
    /// its prefix only where that says something.
    fn output_texts(&mut self, args: &[Expr]) -> Result<Vec<String>> {
        args.iter()
            .map(|arg| match arg.ty {
                Type::Bool => Ok(format!("substr({}, 1, 1)", self.as_text(arg)?)),
                Type::Scalar(scalar, _) if scalar.storage == Storage::Text => Ok(self.expr(arg)?.sql),
                Type::Char(_) => Ok(self.cast(arg, &Type::Char(0), CastContext::Implicit)?.sql),
                _ => self.as_text(arg),
            })
            .collect()
    }

    /// Arguments, each followed by the words of its type.
    fn typed(&mut self, args: &[Expr]) -> Result<Vec<String>> {
        let mut typed = Vec::with_capacity(args.len() * 2);
        for arg in args {
            typed.push(self.stored_text_of(arg)?);
            typed.push(type_words(&arg.ty));
        }
        Ok(typed)
    }

    pub(super) fn aggregate(&mut self, aggregate: &Aggregate, ty: &Type) -> Result<Sql> {
        let function = aggregate.function;
        match function.said {
            Said::Special(word @ ("min" | "max")) => return self.extreme_of_group(word, aggregate),
            Said::Special(word) if word.starts_with("within ") => return self.within_group(word, aggregate, ty),
            _ => {}
        }
        if let Some(fused) = self.fused_aggregate(aggregate)? {
            return Ok(fused);
        }
        let args = self.aggregate_args(function, &aggregate.args, aggregate.distinct)?;
        let mut name = self.aggregate_name(function)?;
        if name == "rf_array_agg" {
            name = array_aggregate(&aggregate.args[0].ty).to_owned();
        }
        let mut inner = args.join(", ");
        if aggregate.distinct && args.len() == 1 {
            inner = self.with_equality(Sql { sql: inner, repr: Repr::Plain }, &aggregate.args[0]).sql;
        }
        if aggregate.distinct && matches!(function.said, Said::OfRanges(_)) {
            // The same range twice changes neither a union nor an intersection.
        } else if aggregate.distinct && args.len() > 1 && name.starts_with("rf_") {
            // SQLite takes DISTINCT with one argument only; ours tell rows apart themselves.
            name.push_str("_distinct");
        } else if aggregate.distinct {
            inner = format!("DISTINCT {inner}");
        }
        if !aggregate.order_by.is_empty() {
            inner = format!("{inner} ORDER BY {}", self.sort_keys(&aggregate.order_by)?);
        }
        let filter = self.filter(aggregate.filter.as_ref())?;
        Ok(Sql { sql: format!("{name}({inner}){filter}"), repr: repr_of(ty) })
    }

    fn extreme_of_group(&mut self, word: &str, aggregate: &Aggregate) -> Result<Sql> {
        let arg = &aggregate.args[0];
        let value = self.collated(arg)?;
        let filter = self.filter(aggregate.filter.as_ref())?;
        let sql = Sql { sql: format!("{word}({}){filter}", value.sql), repr: value.repr };
        // The extreme is found among the stored numbers; only the result is spelled out.
        Ok(self.decimal_text(sql, &arg.ty))
    }

    fn aggregate_name(&mut self, function: &Function) -> Result<String> {
        match function.said {
            Said::Function(name) | Said::OfRanges(name) => {
                if name.starts_with("rf_") {
                    self.needs_us();
                }
                Ok(name.to_owned())
            }
            Said::Special("count_star") => Ok("count".to_owned()),
            Said::Special(
                word @ ("json_agg"
                | "jsonb_agg"
                | "json_object_agg"
                | "jsonb_object_agg"
                | "mysql_json_arrayagg"
                | "mysql_json_objectagg"),
            ) => {
                self.needs_us();
                Ok(format!("rf_{word}"))
            }
            Said::Special(word @ ("min" | "max")) => Ok(word.to_owned()),
            _ => Err(Error::internal(format!("no aggregate: {}", function.name))),
        }
    }

    fn aggregate_args(&mut self, function: &Function, args: &[Expr], distinct: bool) -> Result<Vec<String>> {
        match function.said {
            Said::Special("count_star") => Ok(vec!["*".to_owned()]),
            Said::Special("mysql_json_arrayagg" | "mysql_json_objectagg") => {
                let mut typed = self.typed(args)?;
                for (words, arg) in typed.iter_mut().skip(1).step_by(2).zip(args) {
                    *words = words_of_member(arg);
                }
                Ok(typed)
            }
            Said::Special(_) => self.typed(args),
            Said::OfRanges(_) => {
                let family = range_type(function, args, &Type::Void)?;
                let mut args = self.texts(args)?;
                args.push(family);
                Ok(args)
            }
            _ if distinct => args
                .iter()
                .map(|arg| {
                    let sql = self.expr(arg)?;
                    let sql = self.decimal_text(sql, &arg.ty);
                    Ok(self.with_collation_of(sql, arg).sql)
                })
                .collect(),
            _ => self.texts(args),
        }
    }

    pub(super) fn filter(&mut self, filter: Option<&Expr>) -> Result<String> {
        match filter {
            Some(filter) => Ok(format!(" FILTER (WHERE {})", self.expr(filter)?.sql)),
            None => Ok(String::new()),
        }
    }

    pub(super) fn window(&mut self, window: &WindowCall, ty: &Type) -> Result<Sql> {
        let function = window.function;
        let extreme = matches!(function.said, Said::Special("min" | "max"));
        let args = if extreme {
            let sql = self.expr(&window.args[0])?;
            let sql = self.decimal_text(sql, &window.args[0].ty);
            vec![self.with_collation_of(sql, &window.args[0]).sql]
        } else {
            self.aggregate_args(function, &window.args, false)?
        };
        let name = self.aggregate_name(function)?;
        let filter = self.filter(window.filter.as_ref())?;
        let mut over = Vec::new();
        if !window.partition_by.is_empty() {
            let keys = window.partition_by.iter().map(|key| Ok(self.collated(key)?.sql)).collect::<Result<Vec<_>>>()?;
            over.push(format!("PARTITION BY {}", keys.join(", ")));
        }
        if !window.order_by.is_empty() {
            over.push(format!("ORDER BY {}", self.sort_keys(&window.order_by)?));
        }
        if let Some(frame) = &window.frame {
            over.push(self.frame(frame, &window.order_by)?);
        }
        Ok(Sql { sql: format!("{name}({}){filter} OVER ({})", args.join(", "), over.join(" ")), repr: repr_of(ty) })
    }

    fn frame(&mut self, frame: &Frame, order_by: &[SortKey]) -> Result<String> {
        let offsets = [&frame.start, &frame.end]
            .into_iter()
            .any(|bound| matches!(bound, FrameBound::Preceding(_) | FrameBound::Following(_)));
        if frame.unit == FrameUnit::Range && offsets {
            // SQLite adds the offset to the key as a number.
            let key = order_by.first().map(|key| &key.expr.ty);
            if !key.is_some_and(|ty| ty.is_integer() || matches!(ty, Type::Float4 | Type::Float8)) {
                return Err(Error::unsupported("RANGE with an offset over a key that is not an integer or a float"));
            }
        }
        let unit = match frame.unit {
            FrameUnit::Groups => "GROUPS",
            FrameUnit::Range => "RANGE",
            FrameUnit::Rows => "ROWS",
        };
        let start = self.frame_bound(&frame.start, false)?;
        let end = self.frame_bound(&frame.end, true)?;
        let exclude = match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        };
        Ok(format!("{unit} BETWEEN {start} AND {end}{exclude}"))
    }

    fn frame_bound(&mut self, bound: &FrameBound, ending: bool) -> Result<String> {
        Ok(match bound {
            FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".into(),
            FrameBound::Preceding(offset) => format!("{} PRECEDING", self.frame_offset(offset, ending)?),
            FrameBound::CurrentRow => "CURRENT ROW".into(),
            FrameBound::Following(offset) => format!("{} FOLLOWING", self.frame_offset(offset, ending)?),
            FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".into(),
        })
    }

    /// SQLite takes no calls and no subqueries here: it reads them as NULL. Its own arithmetic will do for whole numbers:
    /// one that is too large for an integer is none, and refused.
    fn frame_offset(&mut self, offset: &Expr, ending: bool) -> Result<String> {
        match &uncast_offset(offset).kind {
            ExprKind::Literal(_) => Ok(self.expr(offset)?.sql),
            ExprKind::Param(_) => match as_param(offset) {
                Some((param, form)) => Ok(self.param(param, ParamForm::FrameOffset { inner: Box::new(form), ending })),
                None => Ok(self.expr(offset)?.sql),
            },
            ExprKind::Call { function, args } if is_plain_offset(offset) => match args.as_slice() {
                [arg] => Ok(format!("({}{})", function.name, self.frame_offset(arg, ending)?)),
                [left, right] => {
                    let (left, right) = (self.frame_offset(left, ending)?, self.frame_offset(right, ending)?);
                    Ok(format!("({left} {} {right})", function.name))
                }
                _ => Err(Error::internal("an operator of three operands")),
            },
            _ => Err(Error::internal("a frame offset that has not been computed")),
        }
    }

    pub(super) fn sort_keys(&mut self, keys: &[SortKey]) -> Result<String> {
        let keys = keys
            .iter()
            .map(|key| {
                let sql = self.expr(&key.expr)?;
                let sql = if sql.repr == Repr::Native { sql } else { self.with_collation_of(sql, &key.expr) };
                Ok(format!("{}{}", sql.sql, self.direction(key)))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(keys.join(", "))
    }

    /// The words behind a sort key. SQLite's NULLs come first in ascending order; a clause that says so is left out,
    /// and so is one for a column that holds none, since an index then gives the order.
    pub(super) fn direction(&self, key: &SortKey) -> String {
        let direction = if key.descending { " DESC" } else { "" };
        let nulls = match key.nulls_first != key.descending || self.never_null(&key.expr) {
            true => "",
            false if key.nulls_first => " NULLS FIRST",
            false => " NULLS LAST",
        };
        format!("{direction}{nulls}")
    }
}

/// The object id of the range type that a call is about.
fn range_type(function: &Function, args: &[Expr], result: &Type) -> Result<String> {
    // What is no range in the row may be one all the same: there are ranges of ranges.
    let is_of_ranges = |(spec, _): &(&TypeSpec, &Expr)| matches!(spec, TypeSpec::AnyRange | TypeSpec::AnyMultirange);
    let arg = function.args.iter().zip(args).find(is_of_ranges).map(|(_, arg)| &arg.ty);
    match ranges::of(arg.unwrap_or(result).through_domains()).map(|family| family.range) {
        Some(Type::Scalar(scalar, _)) => Ok(scalar.oid.to_string()),
        Some(user) => Ok(type_words(&user)),
        None => Err(Error::internal("a call about no range")),
    }
}

/// A call of a function of an extension.
pub(super) fn of_module(caller: &str, name: &str, args: &[String]) -> String {
    let separator = if args.is_empty() { "" } else { ", " };
    format!("{caller}('{name}'{separator}{})", args.join(", "))
}

/// `{0}`, `{1}`, … replaced by arguments, in one pass.
pub(super) fn fill(template: &str, args: &[String]) -> String {
    let mut filled = String::with_capacity(template.len() + args.iter().map(String::len).sum::<usize>());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|at| open + at);
        let (Some(close), true) = (close, open < rest.len()) else { break };
        match rest[open + 1..close].parse::<usize>().ok().and_then(|at| args.get(at)) {
            Some(arg) => {
                filled.push_str(&rest[..open]);
                filled.push_str(arg);
            }
            None => filled.push_str(&rest[..=close]),
        }
        rest = &rest[close + 1..];
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_template_takes_its_arguments() {
        let args = ["a".to_owned(), "{0}".to_owned()];
        assert_eq!(fill("f({1}, {0})", &args), "f({0}, a)");
        assert_eq!(fill("{0} {9}", &args), "a {9}");
    }
}
