//! Text search: one function, whose first argument says what it does.
//!
//! A configuration arrives as its object id; 0 is the session's own.

mod dictionaries;
mod french;
mod headline;
mod parser;
mod rank;
mod rewrite;
mod rows;

use std::collections::HashMap;
use std::sync::LazyLock;

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::search as scalar;
use rowferry_dialect::values::array::Array;
use rowferry_dialect::values::search::matching::matches;
use rowferry_dialect::values::search::query::{Style, distance_out_of_range};
use rowferry_dialect::values::search::vector::{MAX_POSITION, MAX_WORD, weight_of};
use rowferry_dialect::values::search::{Item, Lexeme, Position, Query, Vector};
use rowferry_dialect::values::{float, json};
use rowferry_dialect::{Condition, Error, Result, Type, stack};
use serde_json::Value as Json;

use super::call::{boolean, integer, text};
use super::json as parts;
use super::{Call, Context, Row};
use dictionaries::{Configuration, Dictionary, Words};

pub(super) use rows::{ts_debug, ts_parse, ts_stat, ts_token_type, unnest};

pub(super) const ROWS: &[Row] = &[Row::new("rf_search", 1, |call| {
    let operation = call.prepared(0, || {
        let name = call.text(0)?;
        OPERATIONS.get(name).copied().ok_or_else(|| Error::internal(format!("no such function: {name}")))
    })?;
    operation(&Args(call))
})
.variadic()];

type Operation = fn(&Args<'_>) -> Result<Value>;

static OPERATIONS: LazyLock<HashMap<&'static str, Operation>> =
    LazyLock::new(|| [DOCUMENTS, QUERIES, VECTORS, RANKS].into_iter().flatten().copied().collect());

/// What a call is given, counted from 0.
struct Args<'a>(&'a Call<'a>);

impl Args<'_> {
    fn text(&self, at: usize) -> Result<&str> {
        self.0.text(at + 1)
    }

    fn integer(&self, at: usize) -> Result<i64> {
        self.0.integer(at + 1)
    }

    fn vector(&self, at: usize) -> Result<Vector> {
        Vector::parse(self.text(at)?)
    }

    fn query(&self, at: usize) -> Result<Query> {
        Query::parse(self.text(at)?)
    }

    fn array(&self, at: usize) -> Result<Array> {
        Array::read(self.text(at)?.as_bytes())
    }

    fn configuration(&self, at: usize) -> Result<Configuration> {
        configuration(self.0.context(), self.integer(at)?)
    }

    fn notice(&self, message: impl Into<String>) {
        self.0.context().state().notice(Error::new(Condition::SuccessfulCompletion, message.into()));
    }
}

/// The vector of the words of several texts, one behind the other.
pub(crate) fn search_vector(context: &Context, configuration_oid: i64, texts: &[&str]) -> Result<Value> {
    let configuration = configuration(context, configuration_oid)?;
    let mut words = Words::default();
    texts.iter().try_for_each(|text| words.add(&configuration, text))?;
    stored(&words.vector()?)
}

/// The configuration of an object id; that of the session for 0.
fn configuration(context: &Context, oid: i64) -> Result<Configuration> {
    let oid = if oid == 0 { default_configuration(context)? } else { oid };
    let number = u32::try_from(oid).unwrap_or_default();
    if let Some(own) = Configuration::own(number) {
        return Ok(own);
    }
    let find = |oid: u32| context.state().search_object(oid);
    let found = find(number).and_then(|object| Configuration::read(&object, &find));
    found.ok_or_else(|| Error::internal(format!("cache lookup failed for text search configuration {oid}")))
}

fn default_configuration(context: &Context) -> Result<i64> {
    use rowferry_dialect::types::Reg;
    let name = context.state().variable("default_text_search_config").unwrap_or_default();
    context.state().object_oid(Reg::Config, &name).map(i64::from)
}

fn stored(vector: &Vector) -> Result<Value> {
    text(vector.print())
}

fn stored_query(query: &Query) -> Result<Value> {
    text(query.print()?)
}

fn stored_array(members: Vec<Json>) -> Result<Value> {
    text(Array::of(members).stored()?)
}

const DOCUMENTS: &[(&str, Operation)] = &[
    ("to_tsvector", |args| {
        let mut words = Words::default();
        words.add(&args.configuration(0)?, args.text(1)?)?;
        stored(&words.vector()?)
    }),
    ("json_to_tsvector_strings", |args| {
        let mut words = Words::default();
        let (configuration, document) = (args.configuration(0)?, args.text(1)?);
        each_value(document, Wanted::STRINGS, &mut |value| add_value(&mut words, &configuration, value))?;
        stored(&words.vector()?)
    }),
    ("json_to_tsvector", |args| {
        let mut words = Words::default();
        let (configuration, document) = (args.configuration(0)?, args.text(1)?);
        let wanted = Wanted::parse(args.text(2)?)?;
        each_value(document, wanted, &mut |value| add_value(&mut words, &configuration, value))?;
        stored(&words.vector()?)
    }),
    ("ts_headline", |args| {
        let (configuration, query) = (args.configuration(0)?, args.query(2)?);
        text(headline::headline(&configuration, args.text(1)?, &query, args.text(3)?)?)
    }),
    ("ts_headline_json", |args| text(json_headline(args)?)),
    ("ts_headline_jsonb", |args| text(json::normalize(&json_headline(args)?)?)),
    ("ts_lexize", |args| {
        let oid = args.integer(0)?;
        let object = u32::try_from(oid).ok().and_then(|oid| args.0.context().state().search_object(oid));
        let dictionary = object
            .and_then(|object| Dictionary::read(&object))
            .ok_or_else(|| Error::internal(format!("cache lookup failed for text search dictionary {oid}")))?;
        match dictionary.lexize(args.text(1)?)? {
            Some(lexeme) => stored_array(lexeme.into_iter().map(Json::String).collect()),
            None => Ok(Value::Null),
        }
    }),
    ("get_current_ts_config", |args| integer(default_configuration(args.0.context())?)),
];

/// A document with a headline for each of its strings.
fn json_headline(args: &Args<'_>) -> Result<String> {
    let (configuration, query, options) = (args.configuration(0)?, args.query(2)?, args.text(3)?);
    headline::check_list(options)?;
    let mut out = String::new();
    change_strings(args.text(1)?, &mut out, &|value| headline::headline(&configuration, value, &query, options))?;
    Ok(out)
}

/// Which values of a JSON document count.
#[derive(Clone, Copy)]
struct Wanted {
    strings: bool,
    numbers: bool,
    booleans: bool,
    keys: bool,
}

impl Wanted {
    const STRINGS: Self = Self { strings: true, numbers: false, booleans: false, keys: false };

    /// A word, or an array of words.
    fn parse(filter: &str) -> Result<Self> {
        let hint = "Possible values are: \"string\", \"numeric\", \"boolean\", \"key\", and \"all\".";
        let wrong = |message: &str| Error::new(Condition::InvalidParameterValue, message.to_owned());
        let filter = json::parse(filter)?;
        let words = match filter {
            Json::Array(words) => words,
            Json::Object(_) => {
                return Err(wrong("wrong flag type, only arrays and scalars are allowed"));
            }
            word => vec![word],
        };
        let mut wanted = Self { strings: false, numbers: false, booleans: false, keys: false };
        for word in words {
            let Json::String(word) = word else {
                return Err(wrong("flag array element is not a string").hint(hint));
            };
            match word.to_ascii_lowercase().as_str() {
                "all" => wanted = Self { strings: true, numbers: true, booleans: true, keys: true },
                "string" => wanted.strings = true,
                "numeric" => wanted.numbers = true,
                "boolean" => wanted.booleans = true,
                "key" => wanted.keys = true,
                _ => return Err(wrong(&format!("wrong flag in flag array: \"{word}\"")).hint(hint)),
            }
        }
        Ok(wanted)
    }
}

fn add_value(words: &mut Words, configuration: &Configuration, value: &str) -> Result<()> {
    let before = words.found.len();
    words.add(configuration, value)?;
    // Values are no neighbours.
    if words.found.len() > before {
        words.position += 1;
    }
    Ok(())
}

/// A JSON string's text.
fn unquoted(literal: &str) -> Result<String> {
    match json::parse(literal)? {
        Json::String(text) => Ok(text),
        _ => Ok(literal.to_owned()),
    }
}

fn each_value(document: &str, wanted: Wanted, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let document = document.trim();
    match document.bytes().next() {
        Some(b'{' | b'[') => {
            for (key, value) in parts::parts(document)? {
                if let Some(key) = key
                    && wanted.keys
                {
                    each(&unquoted(key)?)?;
                }
                stack::deeper(|| each_value(value, wanted, each))?;
            }
            Ok(())
        }
        Some(b'"') if wanted.strings => each(&unquoted(document)?),
        Some(b't' | b'f') if wanted.booleans => each(document),
        Some(b'-' | b'0'..=b'9') if wanted.numbers => each(document),
        _ => Ok(()),
    }
}

/// A JSON document with each of its strings changed, without blanks.
fn change_strings(document: &str, out: &mut String, change: &dyn Fn(&str) -> Result<String>) -> Result<()> {
    let document = document.trim();
    match document.bytes().next() {
        Some(open @ (b'{' | b'[')) => {
            out.push(char::from(open));
            for (at, (key, value)) in parts::parts(document)?.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if let Some(key) = key {
                    out.push_str(key);
                    out.push(':');
                }
                stack::deeper(|| change_strings(value, out, change))?;
            }
            out.push(if open == b'{' { '}' } else { ']' });
        }
        Some(b'"') => json::quote_long(out, &change(&unquoted(document)?)?)?,
        _ => out.push_str(document),
    }
    Ok(())
}

const QUERIES: &[(&str, Operation)] = &[
    ("to_tsquery", |args| read_query(args, Style::Standard, &Item::Phrase(1))),
    ("plainto_tsquery", |args| read_query(args, Style::Plain, &Item::And)),
    ("phraseto_tsquery", |args| read_query(args, Style::Plain, &Item::Phrase(1))),
    ("websearch_to_tsquery", |args| read_query(args, Style::Web, &Item::Phrase(1))),
    ("numnode", |args| integer(args.query(0)?.items().len() as i64)),
    ("querytree", |args| {
        let query = args.query(0)?;
        match query.without_negations()? {
            _ if query.is_empty() => text(""),
            Some(query) => stored_query(&query),
            None => text("T"),
        }
    }),
    ("and", |args| join(args, Item::And)),
    ("or", |args| join(args, Item::Or)),
    ("phrase", |args| {
        let distance = if args.0.len() > 3 { args.integer(2)? } else { 1 };
        if !(0..=i64::from(MAX_POSITION)).contains(&distance) {
            return Err(distance_out_of_range());
        }
        join(args, Item::Phrase(distance as u16))
    }),
    ("not", |args| {
        let query = args.query(0)?;
        if query.is_empty() {
            return stored_query(&query);
        }
        let mut items = query.postfix();
        items.push(Item::Not);
        stored_query(&Query::from_postfix(items)?)
    }),
    ("contains", |args| {
        let (outer, inner) = (args.query(0)?, args.query(1)?);
        let words = |query: &Query| -> Vec<String> {
            let word = |item: &Item| if let Item::Word { word, .. } = item { Some(word.clone()) } else { None };
            query.items().iter().filter_map(word).collect()
        };
        let outer = words(&outer);
        boolean(words(&inner).iter().all(|word| outer.contains(word)))
    }),
    ("rewrite", |args| {
        let (query, wanted, by) = (args.query(0)?, args.query(1)?, args.query(2)?);
        if query.is_empty() || wanted.is_empty() {
            return stored_query(&query);
        }
        let mut rewriting = rewrite::Rewriting::new(&query)?;
        rewriting.replace(&wanted, &by)?;
        stored_query(&rewriting.query()?)
    }),
    ("rewrite_by", |args| {
        let query = args.query(0)?;
        if query.is_empty() {
            return stored_query(&query);
        }
        let found = args.0.context().state().query(args.text(1)?)?;
        let is_query = |(_, ty): &(String, Type)| ty.through_domains() == &Type::Scalar(&scalar::TSQUERY, None);
        if found.columns.len() != 2 || !found.columns.iter().all(is_query) {
            let message = "ts_rewrite query must return two tsquery columns";
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        let mut rewriting = rewrite::Rewriting::new(&query)?;
        for row in &found.rows {
            if let [Value::Text(wanted), Value::Text(by)] = row.as_slice() {
                rewriting.replace(&Query::parse(wanted)?, &Query::parse(by)?)?;
            }
        }
        stored_query(&rewriting.query()?)
    }),
    ("matches", |args| boolean(matches(&args.query(1)?, &args.vector(0)?)?)),
    ("text_matches", |args| {
        let mut words = Words::default();
        words.add(&configuration(args.0.context(), 0)?, args.text(0)?)?;
        boolean(matches(&args.query(1)?, &words.vector()?)?)
    }),
    ("text_matches_text", |args| {
        let configuration = configuration(args.0.context(), 0)?;
        let mut words = Words::default();
        words.add(&configuration, args.text(0)?)?;
        let query = query_of(&configuration, args.text(1)?, Style::Plain, &Item::And)?;
        boolean(matches(&query, &words.vector()?)?)
    }),
];

/// Joins two queries; an empty one changes nothing.
fn join(args: &Args<'_>, operator: Item) -> Result<Value> {
    let (left, right) = (args.query(0)?, args.query(1)?);
    if left.is_empty() || right.is_empty() {
        return stored_query(if left.is_empty() { &right } else { &left });
    }
    let mut items = left.postfix();
    items.extend(right.postfix());
    items.push(operator);
    stored_query(&Query::from_postfix(items)?)
}

fn read_query(args: &Args<'_>, style: Style, joined_by: &Item) -> Result<Value> {
    let given = args.text(1)?;
    let query = query_of(&args.configuration(0)?, given, style, joined_by)?;
    if query.is_empty() {
        let blank = style == Style::Standard && given.trim().is_empty();
        args.notice(if given.is_empty() || blank {
            format!("text-search query doesn't contain lexemes: \"{given}\"")
        } else {
            "text-search query contains only stop words or doesn't contain lexemes, ignored".to_owned()
        });
    }
    stored_query(&query)
}

/// A query whose words are made lexemes; several of one word are joined by an operator.
fn query_of(configuration: &Configuration, given: &str, style: Style, joined_by: &Item) -> Result<Query> {
    Query::read(given, style, &mut |items, word, weights, prefix| {
        let mut words = Words::default();
        words.add(configuration, word)?;
        let (mut before, mut count) = (0, 0);
        for (word, position) in words.found {
            // Words that were left out keep their places.
            while before > 0 && before + 1 < position {
                items.push(Item::Stop);
                items.push(joined_by.clone());
                before += 1;
            }
            items.push(Item::Word { word, weights, prefix });
            if count > 0 {
                items.push(joined_by.clone());
            }
            (before, count) = (position, count + 1);
        }
        if count == 0 {
            items.push(Item::Stop);
        }
        Ok(())
    })
}

const VECTORS: &[(&str, Operation)] = &[
    ("concat", |args| stored(&args.vector(0)?.joined(&args.vector(1)?)?)),
    ("strip", |args| {
        let mut vector = args.vector(0)?;
        vector.lexemes.iter_mut().for_each(|lexeme| lexeme.positions.clear());
        stored(&vector)
    }),
    ("length", |args| integer(args.vector(0)?.lexemes.len() as i64)),
    ("setweight", |args| {
        let weight = weight_of(args.text(1)?)?;
        let only = if args.0.len() > 3 { Some(lexemes(&args.array(2)?)?) } else { None };
        let mut vector = args.vector(0)?;
        for lexeme in &mut vector.lexemes {
            if only.as_ref().is_none_or(|only| only.contains(&lexeme.word)) {
                for position in &mut lexeme.positions {
                    *position = Position::new(position.at(), weight);
                }
            }
        }
        stored(&vector)
    }),
    ("delete", |args| {
        let mut vector = args.vector(0)?;
        let word = args.text(1)?;
        vector.lexemes.retain(|lexeme| lexeme.word != word);
        stored(&vector)
    }),
    ("delete_array", |args| {
        let mut vector = args.vector(0)?;
        // NULL is no word here.
        let mut words = args.array(1)?;
        words.members.retain(|word| !word.is_null());
        let words = lexemes(&words)?;
        vector.lexemes.retain(|lexeme| !words.contains(&lexeme.word));
        stored(&vector)
    }),
    ("filter", |args| {
        let weights = strings(&args.array(1)?, "weight array may not contain nulls")?;
        let mut kept = 0_u8;
        for weight in weights {
            kept |= 1
                << weight_of(&weight).map_err(|_| {
                    let message = format!("unrecognized weight: \"{}\"", weight.chars().next().unwrap_or('\0'));
                    Error::new(Condition::InvalidParameterValue, message)
                })?;
        }
        let mut vector = args.vector(0)?;
        vector.lexemes.retain_mut(|lexeme| {
            lexeme.positions.retain(|position| kept & (1 << position.weight()) != 0);
            !lexeme.positions.is_empty()
        });
        stored(&vector)
    }),
    ("to_array", |args| {
        stored_array(args.vector(0)?.lexemes.into_iter().map(|lexeme| Json::String(lexeme.word)).collect())
    }),
    ("from_array", |args| {
        let words = strings(&args.array(0)?, "lexeme array may not contain nulls")?;
        for word in &words {
            if word.is_empty() {
                let message = "lexeme array may not contain empty strings";
                return Err(Error::new(Condition::ZeroLengthCharacterString, message));
            }
            if word.len() >= MAX_WORD {
                let message = format!("word is too long ({} bytes, max {} bytes)", word.len(), MAX_WORD - 1);
                return Err(Error::new(Condition::ProgramLimitExceeded, message));
            }
        }
        stored(&Vector::of(words.into_iter().map(|word| Lexeme { word, positions: Vec::new() }).collect())?)
    }),
];

/// The words of an array; none is NULL.
fn lexemes(array: &Array) -> Result<Vec<String>> {
    strings(array, "lexeme array may not contain nulls")
}

fn strings(array: &Array, nulls: &str) -> Result<Vec<String>> {
    let member = |member: &Json| match member {
        Json::String(word) => Ok(word.clone()),
        Json::Null => Err(Error::new(Condition::NullValueNotAllowed, nulls.to_owned())),
        other => Ok(other.to_string()),
    };
    array.members.iter().map(member).collect()
}

const RANKS: &[(&str, Operation)] =
    &[("ts_rank", |args| ranked(args, rank::rank)), ("ts_rank_cd", |args| ranked(args, rank::rank_by_covers))];

type Rank = fn(&[f32; 4], &Vector, &Query, i64) -> Result<f32>;

/// A rank; the arguments are the vector, the query, the method and, perhaps, the weights.
fn ranked(args: &Args<'_>, rank: Rank) -> Result<Value> {
    let weights = if args.0.len() > 4 {
        let array = args.array(3)?;
        if array.dimensions.len() != 1 {
            let message = "array of weight must be one-dimensional";
            return Err(Error::new(Condition::ArraySubscriptError, message));
        }
        let number = |member: &Json| match member {
            Json::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN) as f32),
            Json::Null => {
                let message = "array of weight must not contain nulls";
                Err(Error::new(Condition::NullValueNotAllowed, message))
            }
            _ => Ok(f32::NAN),
        };
        rank::weights(&array.members.iter().map(number).collect::<Result<Vec<_>>>()?)?
    } else {
        rank::WEIGHTS
    };
    let value = rank(&weights, &args.vector(0)?, &args.query(1)?, args.integer(2)?)?;
    Ok(float::to_value(f64::from(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_of_the_function_table_is_here() {
        let named = crate::functions::tests::operations_of("rf_search");
        assert!(named.len() > 60);
        for name in named {
            assert!(OPERATIONS.contains_key(name), "{name}");
        }
    }
}
