//! Configurations and dictionaries of text search as objects: PostgreSQL's own, and those that users make.
//!
//! A dictionary is a template with options; a configuration maps each type of token to the dictionaries that are asked for its
//! lexeme, one after the other. What a dictionary does with a word is the engine's affair.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::{Value as Json, json};

use crate::schema::QualifiedName;
use crate::{Condition, Error, Result, Schema};

/// What an object of text search is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// TEXT SEARCH CONFIGURATION.
    Configuration,
    /// TEXT SEARCH DICTIONARY.
    Dictionary,
}

impl Kind {
    /// As messages call it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Configuration => "text search configuration",
            Self::Dictionary => "text search dictionary",
        }
    }

    /// As the file's list of objects calls it.
    pub const fn stored(self) -> &'static str {
        match self {
            Self::Configuration => "search configuration",
            Self::Dictionary => "search dictionary",
        }
    }

    /// The inverse of [`Kind::stored`].
    pub fn from_stored(word: &str) -> Option<Self> {
        [Self::Configuration, Self::Dictionary].into_iter().find(|kind| kind.stored() == word)
    }

    /// The command tag of a statement on it that begins with a word.
    pub const fn tag(self, verb: Verb) -> &'static str {
        match (self, verb) {
            (Self::Configuration, Verb::Create) => "CREATE TEXT SEARCH CONFIGURATION",
            (Self::Configuration, Verb::Alter) => "ALTER TEXT SEARCH CONFIGURATION",
            (Self::Configuration, Verb::Drop) => "DROP TEXT SEARCH CONFIGURATION",
            (Self::Dictionary, Verb::Create) => "CREATE TEXT SEARCH DICTIONARY",
            (Self::Dictionary, Verb::Alter) => "ALTER TEXT SEARCH DICTIONARY",
            (Self::Dictionary, Verb::Drop) => "DROP TEXT SEARCH DICTIONARY",
        }
    }
}

/// What a statement does with an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verb {
    /// CREATE.
    Create,
    /// ALTER.
    Alter,
    /// DROP.
    Drop,
}

/// A configuration or dictionary.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchObject {
    /// Object id.
    pub oid: u32,
    /// The schema that it is in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub body: Body,
}

/// What an object is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A dictionary.
    Dictionary(Dictionary),
    /// A configuration: the dictionaries of each type of token, by number and object id.
    Configuration(BTreeMap<u8, Vec<u32>>),
}

/// A dictionary.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// What it is made from.
    pub template: Template,
    /// Its options, in the order in which they were given.
    pub options: Vec<DictionaryOption>,
}

/// An option of a dictionary.
#[derive(Clone, Debug, PartialEq)]
pub struct DictionaryOption {
    /// Its name.
    pub name: String,
    /// Its value's text.
    pub value: String,
    /// It was given as a number, without quotes.
    pub number: bool,
}

/// Templates of dictionaries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Template {
    /// Words in lower case.
    Simple,
    /// Stems.
    Snowball,
}

impl Template {
    /// Object id.
    pub const fn oid(self) -> u32 {
        match self {
            Self::Simple => 3_727,
            Self::Snowball => 13_150,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Snowball => "snowball",
        }
    }

    /// The template of a name.
    ///
    /// # Errors
    /// `42704`; `0A000` for those that read files of the server.
    pub fn named(name: &QualifiedName) -> Result<Self> {
        let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
        match name.name.as_str() {
            "simple" if own => Ok(Self::Simple),
            "snowball" if own => Ok(Self::Snowball),
            other @ ("synonym" | "thesaurus" | "ispell") if own => {
                Err(Error::unsupported(format!("a text search dictionary of the template {other}")))
            }
            _ => {
                let message = format!("text search template \"{name}\" does not exist");
                Err(Error::new(Condition::UndefinedObject, message))
            }
        }
    }
}

/// A language that words are stemmed of.
#[derive(Debug)]
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// PostgreSQL leaves out words that it has too many of.
    pub stops: bool,
    /// Words of ASCII letters alone are another language's.
    pub ascii: Option<&'static str>,
    /// The words that PostgreSQL leaves out are known here.
    pub stops_known: bool,
}

const fn language(name: &'static str) -> Language {
    Language { name, stops: false, ascii: None, stops_known: false }
}

const fn stopped(name: &'static str) -> Language {
    Language { stops: true, stops_known: true, ..language(name) }
}

/// The languages, in the order of their names.
pub static LANGUAGES: [Language; 28] = [
    language("arabic"),
    language("armenian"),
    language("basque"),
    language("catalan"),
    stopped("danish"),
    stopped("dutch"),
    stopped("english"),
    stopped("finnish"),
    stopped("french"),
    stopped("german"),
    language("greek"),
    Language { ascii: Some("english"), ..language("hindi") },
    stopped("hungarian"),
    language("indonesian"),
    language("irish"),
    stopped("italian"),
    language("lithuanian"),
    // Nobody publishes PostgreSQL's list but PostgreSQL.
    Language { stops_known: false, ..stopped("nepali") },
    stopped("norwegian"),
    stopped("portuguese"),
    language("romanian"),
    Language { ascii: Some("english"), ..stopped("russian") },
    language("serbian"),
    stopped("spanish"),
    stopped("swedish"),
    language("tamil"),
    stopped("turkish"),
    language("yiddish"),
];

/// A language of [`LANGUAGES`], by its place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LanguageId(u8);

impl LanguageId {
    /// The language of a name.
    pub fn named(name: &str) -> Option<Self> {
        LANGUAGES.iter().position(|language| language.name.eq_ignore_ascii_case(name)).map(|at| Self(at as u8))
    }

    /// What is known of it.
    pub fn language(self) -> &'static Language {
        &LANGUAGES[usize::from(self.0)]
    }

    /// Its place in [`LANGUAGES`].
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

/// What a dictionary does, told by its template and options.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// Words become stems of this language.
    pub stem: Option<LanguageId>,
    /// The list of words that are left out.
    pub stops: Option<LanguageId>,
    /// Words that are not left out are known; otherwise the next dictionary is asked.
    pub accept: bool,
}

impl Dictionary {
    /// What it does.
    ///
    /// # Errors
    /// `22023`, `42601` and `42704` for options that the template does not have; `0A000` for what needs files of the server.
    pub fn rules(&self) -> Result<Rules> {
        let mut rules = Rules { stem: None, stops: None, accept: true };
        let (mut stops, mut accept) = (false, false);
        let invalid = |message: String| Err(Error::new(Condition::InvalidParameterValue, message));
        for DictionaryOption { name, value, .. } in &self.options {
            match (self.template, name.as_str()) {
                (_, "stopwords") => {
                    if std::mem::replace(&mut stops, true) {
                        return invalid("multiple StopWords parameters".to_owned());
                    }
                    let known = LanguageId::named(value).filter(|list| list.language().stops_known);
                    rules.stops = Some(known.ok_or_else(|| Error::unsupported(format!("the stop words \"{value}\"")))?);
                }
                (Template::Simple, "accept") => {
                    if std::mem::replace(&mut accept, true) {
                        return invalid("multiple Accept parameters".to_owned());
                    }
                    rules.accept = boolean(name, value)?;
                }
                (Template::Snowball, "language") => {
                    if rules.stem.is_some() {
                        return invalid("multiple Language parameters".to_owned());
                    }
                    rules.stem = Some(stemmer(value)?);
                }
                (Template::Simple, _) => {
                    return invalid(format!("unrecognized simple dictionary parameter: \"{name}\""));
                }
                (Template::Snowball, _) => return invalid(format!("unrecognized Snowball parameter: \"{name}\"")),
            }
        }
        if self.template == Template::Snowball && rules.stem.is_none() {
            return invalid("missing Language parameter".to_owned());
        }
        Ok(rules)
    }

    /// Its options as `pg_ts_dict` shows them; `None` without any.
    pub fn shown_options(&self) -> Option<String> {
        let option = |option: &DictionaryOption| {
            let name = crate::postgres::quote_ident(&option.name);
            match option.number {
                true => format!("{name} = {}", option.value),
                false => format!("{name} = {}", crate::postgres::quote_literal(&option.value)),
            }
        };
        let shown: Vec<String> = self.options.iter().map(option).collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }
}

fn boolean(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(Error::new(Condition::SyntaxError, format!("{name} requires a Boolean value"))),
    }
}

fn stemmer(name: &str) -> Result<LanguageId> {
    match LanguageId::named(name) {
        Some(known) => Ok(known),
        None if matches!(name.to_ascii_lowercase().as_str(), "porter" | "english_porter") => {
            Err(Error::unsupported(format!("the stems of the language \"{name}\"")))
        }
        None => {
            let message = format!("no Snowball stemmer available for language \"{name}\" and encoding \"UTF8\"");
            Err(Error::new(Condition::UndefinedObject, message))
        }
    }
}

impl SearchObject {
    /// What it is.
    pub const fn kind(&self) -> Kind {
        match self.body {
            Body::Dictionary(_) => Kind::Dictionary,
            Body::Configuration(_) => Kind::Configuration,
        }
    }

    /// It is PostgreSQL's own.
    pub const fn is_built_in(&self) -> bool {
        self.oid < 16_384
    }

    /// Its name, with its schema where a bare one would not mean it.
    pub fn shown(&self, schema: &dyn Schema) -> String {
        let name = crate::postgres::quote_ident(&self.name);
        match self.is_visible(schema) {
            true => name,
            false => format!("{}.{name}", crate::postgres::quote_ident(&self.namespace)),
        }
    }

    /// True when its name without schema finds this very one.
    pub fn is_visible(&self, schema: &dyn Schema) -> bool {
        let found = found(schema, self.kind(), &QualifiedName::bare(self.name.clone()));
        found.is_some_and(|found| found.oid == self.oid)
    }
}

impl Body {
    /// How the file keeps it.
    pub fn definition(&self) -> String {
        match self {
            Self::Dictionary(dictionary) => {
                let option = |option: &DictionaryOption| json!([option.name, option.value, option.number]);
                let options: Vec<Json> = dictionary.options.iter().map(option).collect();
                json!({"template": dictionary.template.name(), "options": options}).to_string()
            }
            Self::Configuration(map) => {
                let tokens: Vec<Json> = map.iter().map(|(token, dictionaries)| json!([token, dictionaries])).collect();
                json!({ "tokens": tokens }).to_string()
            }
        }
    }

    /// The inverse of [`Body::definition`]; `None` for a text that somebody has damaged.
    pub fn from_definition(kind: Kind, definition: &str) -> Option<Self> {
        let json: Json = serde_json::from_str(definition).ok()?;
        match kind {
            Kind::Dictionary => {
                let template = Template::named(&QualifiedName::bare(json["template"].as_str()?)).ok()?;
                let option = |row: &Json| {
                    let (name, value) = (row[0].as_str()?.to_owned(), row[1].as_str()?.to_owned());
                    Some(DictionaryOption { name, value, number: row[2].as_bool()? })
                };
                let options = json["options"].as_array()?.iter().map(option).collect::<Option<_>>()?;
                Some(Self::Dictionary(Dictionary { template, options }))
            }
            Kind::Configuration => {
                let oid = |value: &Json| value.as_u64().and_then(|oid| u32::try_from(oid).ok());
                let token = |row: &Json| {
                    let token = u8::try_from(row[0].as_u64()?).ok()?;
                    Some((token, row[1].as_array()?.iter().map(oid).collect::<Option<_>>()?))
                };
                Some(Self::Configuration(json["tokens"].as_array()?.iter().map(token).collect::<Option<_>>()?))
            }
        }
    }
}

/// The types of token that the parser tells apart: name and words, from number 1 on.
pub const TOKENS: [(&str, &str); 23] = [
    ("asciiword", "Word, all ASCII"),
    ("word", "Word, all letters"),
    ("numword", "Word, letters and digits"),
    ("email", "Email address"),
    ("url", "URL"),
    ("host", "Host"),
    ("sfloat", "Scientific notation"),
    ("version", "Version number"),
    ("hword_numpart", "Hyphenated word part, letters and digits"),
    ("hword_part", "Hyphenated word part, all letters"),
    ("hword_asciipart", "Hyphenated word part, all ASCII"),
    ("blank", "Space symbols"),
    ("tag", "XML tag"),
    ("protocol", "Protocol head"),
    ("numhword", "Hyphenated word, letters and digits"),
    ("asciihword", "Hyphenated word, all ASCII"),
    ("hword", "Hyphenated word, all letters"),
    ("url_path", "URL path"),
    ("file", "File or path name"),
    ("float", "Decimal notation"),
    ("int", "Signed integer"),
    ("uint", "Unsigned integer"),
    ("entity", "XML entity"),
];

/// The number of a type of token.
pub fn token_named(name: &str) -> Option<u8> {
    TOKENS.iter().position(|(known, _)| *known == name).map(|at| at as u8 + 1)
}

/// Tokens of words: those of ASCII letters, and those of any.
const ASCII_WORDS: [u8; 3] = [1, 11, 16];
const WORDS: [u8; 3] = [2, 10, 17];
/// Tokens in which nothing is searched.
const NOT_SEARCHED: [u8; 4] = [12, 13, 14, 23];

const SIMPLE_DICTIONARY: u32 = 3_765;
const SIMPLE_CONFIGURATION: u32 = 3_748;

/// The object id of a language's dictionary; its configuration has the next one.
const fn dictionary_oid(at: usize) -> u32 {
    13_151 + 2 * at as u32
}

fn built_in(oid: u32, name: String, body: Body) -> Arc<SearchObject> {
    Arc::new(SearchObject { oid, namespace: "pg_catalog".to_owned(), name, body })
}

/// PostgreSQL's own.
pub static BUILT_IN: LazyLock<Vec<Arc<SearchObject>>> = LazyLock::new(|| {
    let simple = Dictionary { template: Template::Simple, options: Vec::new() };
    let mapped = |words: u32, ascii: u32| {
        let tokens = (1..=TOKENS.len() as u8).filter(|token| !NOT_SEARCHED.contains(token));
        let dictionary = |token: u8| match token {
            token if ASCII_WORDS.contains(&token) => ascii,
            token if WORDS.contains(&token) => words,
            _ => SIMPLE_DICTIONARY,
        };
        Body::Configuration(tokens.map(|token| (token, vec![dictionary(token)])).collect())
    };
    let mut all = vec![
        built_in(SIMPLE_DICTIONARY, "simple".to_owned(), Body::Dictionary(simple)),
        built_in(SIMPLE_CONFIGURATION, "simple".to_owned(), mapped(SIMPLE_DICTIONARY, SIMPLE_DICTIONARY)),
    ];
    for (at, language) in LANGUAGES.iter().enumerate() {
        let option =
            |name: &str| DictionaryOption { name: name.to_owned(), value: language.name.to_owned(), number: false };
        let mut options = vec![option("language")];
        options.extend(language.stops.then(|| option("stopwords")));
        let dictionary = Body::Dictionary(Dictionary { template: Template::Snowball, options });
        let oid = dictionary_oid(at);
        let ascii = language.ascii.and_then(LanguageId::named).map_or(oid, |other| dictionary_oid(other.at()));
        all.push(built_in(oid, format!("{}_stem", language.name), dictionary));
        all.push(built_in(oid + 1, language.name.to_owned(), mapped(oid, ascii)));
    }
    all
});

/// PostgreSQL's own object of a name.
pub fn built_in_named(kind: Kind, name: &str) -> Option<&'static Arc<SearchObject>> {
    BUILT_IN.iter().find(|object| object.kind() == kind && object.name == name)
}

/// PostgreSQL's own object with an object id.
pub fn built_in_by_oid(oid: u32) -> Option<&'static Arc<SearchObject>> {
    BUILT_IN.iter().find(|object| object.oid == oid)
}

/// The object of a name, along the search path when it is bare.
pub fn found(schema: &dyn Schema, kind: Kind, name: &QualifiedName) -> Option<Arc<SearchObject>> {
    schema.search_object(kind, name)
}

/// The object that a text names, which may tell a schema.
///
/// # Errors
/// `42602`, `42704`
pub fn named(schema: &dyn Schema, kind: Kind, text: &str) -> Result<Arc<SearchObject>> {
    let invalid = || Error::new(Condition::InvalidName, "invalid name syntax");
    let name = crate::postgres::qualified_name(text).ok_or_else(invalid)?;
    found(schema, kind, &name).ok_or_else(|| no_object(kind, &name.to_string()))
}

/// The error for a name that means nothing.
pub fn no_object(kind: Kind, name: &str) -> Error {
    Error::new(Condition::UndefinedObject, format!("{} \"{name}\" does not exist", kind.words()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_survive_their_text() {
        for object in BUILT_IN.iter() {
            assert_eq!(Body::from_definition(object.kind(), &object.body.definition()).as_ref(), Some(&object.body));
        }
        assert_eq!(Body::from_definition(Kind::Dictionary, "{\"template\": \"ispell\"}"), None);
        assert_eq!(Body::from_definition(Kind::Configuration, "{\"tokens\": [[1, \"x\"]]}"), None);
    }

    #[test]
    fn object_ids_are_those_of_postgresql() {
        let oid = |kind, name| built_in_named(kind, name).unwrap().oid;
        assert_eq!(oid(Kind::Dictionary, "english_stem"), 13_163);
        assert_eq!(oid(Kind::Configuration, "english"), 13_164);
        assert_eq!(oid(Kind::Configuration, "yiddish"), 13_206);
    }

    #[test]
    fn options_are_shown_as_in_the_catalog() {
        let option =
            |name: &str, value: &str, number| DictionaryOption { name: name.into(), value: value.into(), number };
        let options = vec![option("accept", "0", true), option("stopwords", "a'b", false)];
        let dictionary = Dictionary { template: Template::Simple, options };
        assert_eq!(dictionary.shown_options().unwrap(), "accept = 0, stopwords = 'a''b'");
    }
}
