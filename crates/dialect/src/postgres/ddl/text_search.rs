//! CREATE, ALTER, DROP and COMMENT ON TEXT SEARCH CONFIGURATION and DICTIONARY.

use std::collections::BTreeMap;
use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTsConfigType, DropBehavior, Node, ObjectType, node::Node as N};

use super::super::binder::Binder;
use super::super::names;
use super::user_type::name_of_parts;
use crate::ir::{Ddl, SearchChange, Statement};
use crate::schema::QualifiedName;
use crate::text_search::{
    Body, Dictionary, DictionaryOption, Kind, SearchObject, Template, Verb, found, no_object, token_named,
};
use crate::{Condition, Error, Result};

fn change(change: SearchChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Search(change)))
}

/// The kind of text search object that a statement is about.
pub(in crate::postgres) const fn kind_of(kind: ObjectType) -> Option<Kind> {
    match kind {
        ObjectType::ObjectTsconfiguration => Some(Kind::Configuration),
        ObjectType::ObjectTsdictionary => Some(Kind::Dictionary),
        _ => None,
    }
}

/// An object's name.
fn name_of(node: Option<&Node>) -> QualifiedName {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::List(list)) => name_of_parts(&list.items),
        Some(N::TypeName(name)) => name_of_parts(&name.names),
        Some(N::String(name)) => QualifiedName::bare(name.sval.clone()),
        _ => QualifiedName::bare(""),
    }
}

/// The text of an option's value, and whether it is a number.
fn value_of(option: &pg::DefElem) -> Option<(String, bool)> {
    Some(match option.arg.as_deref()?.node.as_ref()? {
        N::String(text) => (text.sval.clone(), false),
        N::TypeName(name) => (names::strings(&name.names).join("."), false),
        N::List(list) => (names::strings(&list.items).join("."), false),
        N::Integer(number) => (number.ival.to_string(), true),
        N::Float(number) => (number.fval.clone(), true),
        N::Boolean(value) => (value.boolval.to_string(), false),
        _ => return None,
    })
}

impl Binder<'_> {
    fn search_object(&self, kind: Kind, name: &QualifiedName) -> Result<Arc<SearchObject>> {
        found(self.schema, kind, name).ok_or_else(|| no_object(kind, &name.to_string()))
    }

    /// An object that a user has made.
    fn own_search_object(&self, kind: Kind, name: &QualifiedName, doing: &str) -> Result<Arc<SearchObject>> {
        let object = self.search_object(kind, name)?;
        if object.is_built_in() {
            return Err(self.unsupported(format!("{doing} of a built-in {}", kind.words()), -1));
        }
        Ok(object)
    }

    /// The name of an object to be, its schema decided.
    fn new_search_name(&self, kind: Kind, parts: &[Node]) -> Result<QualifiedName> {
        let name = name_of_parts(parts);
        let namespace = self.schema.creation_schema(name.schema.as_deref())?;
        self.check_search_schema(kind, &namespace)?;
        Ok(QualifiedName::new(namespace, name.name))
    }

    fn check_search_schema(&self, kind: Kind, namespace: &str) -> Result<()> {
        if matches!(namespace, "pg_catalog" | "information_schema" | "pg_temp") {
            return Err(self.unsupported(format!("a {} in the schema {namespace}", kind.words()), -1));
        }
        Ok(())
    }

    fn check_search_name_free(&self, kind: Kind, name: &QualifiedName, message: String) -> Result<()> {
        match found(self.schema, kind, name) {
            Some(_) => Err(Error::new(Condition::DuplicateObject, message)),
            None => Ok(()),
        }
    }

    pub(super) fn create_search_object(&mut self, define: &pg::DefineStmt, kind: Kind) -> Result<Statement> {
        let name = self.new_search_name(kind, &define.defnames)?;
        let options = define.definition.iter().filter_map(|node| match &node.node {
            Some(N::DefElem(option)) => Some(&**option),
            _ => None,
        });
        let options: Vec<&pg::DefElem> = options.collect();
        let body = match kind {
            Kind::Dictionary => Body::Dictionary(self.new_dictionary(&options)?),
            Kind::Configuration => Body::Configuration(self.new_configuration(&options)?),
        };
        Ok(change(SearchChange::Create { kind, name, body }))
    }

    fn new_dictionary(&mut self, options: &[&pg::DefElem]) -> Result<Dictionary> {
        let mut dictionary = Dictionary { template: Template::Simple, options: Vec::new() };
        let mut template = None;
        for option in options {
            if option.defname == "template" {
                template = Some(Template::named(&name_of(option.arg.as_deref()))?);
                continue;
            }
            let (value, number) = value_of(option).ok_or_else(|| no_value(option))?;
            dictionary.options.push(DictionaryOption { name: option.defname.clone(), value, number });
        }
        dictionary.template = template
            .ok_or_else(|| Error::new(Condition::InvalidObjectDefinition, "text search template is required"))?;
        dictionary.rules()?;
        Ok(dictionary)
    }

    fn new_configuration(&mut self, options: &[&pg::DefElem]) -> Result<BTreeMap<u8, Vec<u32>>> {
        let (mut parser, mut copied) = (false, None);
        for option in options {
            match option.defname.as_str() {
                "parser" => {
                    check_parser(&name_of(option.arg.as_deref()))?;
                    parser = true;
                }
                "copy" => {
                    copied = Some(self.search_object(Kind::Configuration, &name_of(option.arg.as_deref()))?);
                }
                other => {
                    let message = format!("text search configuration parameter \"{other}\" not recognized");
                    return Err(Error::new(Condition::SyntaxError, message));
                }
            }
        }
        match copied.as_deref() {
            Some(_) if parser => Err(Error::new(Condition::SyntaxError, "cannot specify both PARSER and COPY options")),
            Some(SearchObject { body: Body::Configuration(map), .. }) => Ok(map.clone()),
            _ if parser => Ok(BTreeMap::new()),
            _ => Err(Error::new(Condition::InvalidObjectDefinition, "text search parser is required")),
        }
    }

    /// ALTER TEXT SEARCH DICTIONARY: options are given anew, or taken away.
    pub(super) fn alter_dictionary(&mut self, alter: &pg::AlterTsDictionaryStmt) -> Result<Statement> {
        let name = name_of_parts(&alter.dictname);
        let object = self.own_search_object(Kind::Dictionary, &name, "ALTER TEXT SEARCH DICTIONARY")?;
        let Body::Dictionary(before) = &object.body else { return Err(Error::internal("no dictionary")) };
        let mut dictionary = before.clone();
        for node in &alter.options {
            let Some(N::DefElem(option)) = &node.node else { continue };
            dictionary.options.retain(|known| known.name != option.defname);
            if let Some((value, number)) = value_of(option) {
                dictionary.options.push(DictionaryOption { name: option.defname.clone(), value, number });
            }
        }
        dictionary.rules()?;
        Ok(change(SearchChange::Alter { body: Body::Dictionary(dictionary), object }))
    }

    /// ALTER TEXT SEARCH CONFIGURATION … MAPPING.
    pub(super) fn alter_configuration(&mut self, alter: &pg::AlterTsConfigurationStmt) -> Result<Statement> {
        let name = name_of_parts(&alter.cfgname);
        let object = self.own_search_object(Kind::Configuration, &name, "ALTER TEXT SEARCH CONFIGURATION")?;
        let Body::Configuration(before) = &object.body else { return Err(Error::internal("no configuration")) };
        let mut map = before.clone();
        let tokens = tokens_of(&alter.tokentype)?;
        if alter.kind() == AlterTsConfigType::AlterTsconfigDropMapping {
            for (token, name) in &tokens {
                if map.remove(token).is_some() {
                    continue;
                }
                let message = format!("mapping for token type \"{name}\" does not exist");
                if !alter.missing_ok {
                    return Err(Error::new(Condition::UndefinedObject, message));
                }
                self.remark(format!("{message}, skipping"));
            }
            return Ok(change(SearchChange::Alter { body: Body::Configuration(map), object }));
        }
        let dictionary =
            |node: &Node| self.search_object(Kind::Dictionary, &name_of(Some(node))).map(|dictionary| dictionary.oid);
        let dictionaries = alter.dicts.iter().map(dictionary).collect::<Result<Vec<u32>>>()?;
        match (alter.kind(), dictionaries.as_slice()) {
            (
                AlterTsConfigType::AlterTsconfigReplaceDict | AlterTsConfigType::AlterTsconfigReplaceDictForToken,
                [old, new],
            ) => {
                let meant = |token: &u8| tokens.is_empty() || tokens.iter().any(|(known, _)| known == token);
                for (_, known) in map.iter_mut().filter(|(token, _)| meant(token)) {
                    known.iter_mut().filter(|oid| *oid == old).for_each(|oid| *oid = *new);
                }
            }
            (AlterTsConfigType::AlterTsconfigAddMapping, _) => {
                for (token, _) in &tokens {
                    if map.insert(*token, dictionaries.clone()).is_some() {
                        let message = "duplicate key value violates unique constraint \"pg_ts_config_map_index\"";
                        let detail = format!(
                            "Key (mapcfg, maptokentype, mapseqno)=({}, {token}, 1) already exists.",
                            object.oid
                        );
                        return Err(Error::new(Condition::UniqueViolation, message).detail(detail));
                    }
                }
            }
            (AlterTsConfigType::AlterTsconfigAlterMappingForToken, _) => {
                map.extend(tokens.iter().map(|(token, _)| (*token, dictionaries.clone())));
            }
            _ => return Err(Error::unsupported("this change of a text search configuration")),
        }
        Ok(change(SearchChange::Alter { body: Body::Configuration(map), object }))
    }

    pub(super) fn rename_search_object(&mut self, rename: &pg::RenameStmt, kind: Kind) -> Result<Statement> {
        let object = self.own_search_object(kind, &name_of(rename.object.as_deref()), kind.tag(Verb::Alter))?;
        let to = QualifiedName::new(object.namespace.clone(), rename.newname.clone());
        let message = format!("{} \"{}\" already exists in schema \"{}\"", kind.words(), to.name, object.namespace);
        self.check_search_name_free(kind, &to, message)?;
        Ok(change(SearchChange::Move { object, to }))
    }

    pub(super) fn move_search_object(&mut self, alter: &pg::AlterObjectSchemaStmt, kind: Kind) -> Result<Statement> {
        let object = self.own_search_object(kind, &name_of(alter.object.as_deref()), kind.tag(Verb::Alter))?;
        if !self.schema.has_namespace(&alter.newschema) {
            return Err(no_schema(&alter.newschema));
        }
        self.check_search_schema(kind, &alter.newschema)?;
        if alter.newschema == object.namespace {
            return Ok(Statement::Nothing { tag: kind.tag(Verb::Alter) });
        }
        let to = QualifiedName::new(alter.newschema.clone(), object.name.clone());
        let message = format!("{} \"{}\" already exists in schema \"{}\"", kind.words(), object.name, alter.newschema);
        self.check_search_name_free(kind, &to, message)?;
        Ok(change(SearchChange::Move { object, to }))
    }

    /// COMMENT ON TEXT SEARCH CONFIGURATION, COMMENT ON TEXT SEARCH DICTIONARY.
    pub(super) fn comment_on_search_object(
        &mut self,
        comment: &pg::CommentStmt,
        kind: Kind,
        text: Option<String>,
    ) -> Result<Ddl> {
        let object = self.own_search_object(kind, &name_of(comment.object.as_deref()), "COMMENT")?;
        Ok(Ddl::Search(SearchChange::Comment { object, text }))
    }

    pub(super) fn drop_search_objects(&mut self, drop: &pg::DropStmt, kind: Kind) -> Result<Statement> {
        let mut objects: Vec<Arc<SearchObject>> = Vec::new();
        for node in &drop.objects {
            let name = name_of(Some(node));
            if drop.missing_ok && found(self.schema, kind, &name).is_none() {
                match &name.schema {
                    Some(schema) if !self.schema.has_namespace(schema) => {
                        self.remark(format!("schema \"{schema}\" does not exist, skipping"));
                    }
                    _ => self.remark(format!("{} \"{name}\" does not exist, skipping", kind.words())),
                }
                continue;
            }
            let object = self.own_search_object(kind, &name, kind.tag(Verb::Drop))?;
            if !objects.iter().any(|known| known.oid == object.oid) {
                objects.push(object);
            }
        }
        if objects.is_empty() {
            return Ok(Statement::Nothing { tag: kind.tag(Verb::Drop) });
        }
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        Ok(change(SearchChange::Drop { kind, objects, cascade }))
    }

    /// The object whose owner ALTER … OWNER TO changes.
    pub(in crate::postgres) fn owned_search_object(
        &mut self,
        alter: &pg::AlterOwnerStmt,
        kind: Kind,
    ) -> Result<Arc<SearchObject>> {
        self.own_search_object(kind, &name_of(alter.object.as_deref()), kind.tag(Verb::Alter))
    }
}

fn no_schema(name: &str) -> Error {
    Error::new(Condition::InvalidSchemaName, format!("schema \"{name}\" does not exist"))
}

fn no_value(option: &pg::DefElem) -> Error {
    Error::new(Condition::SyntaxError, format!("{} requires a parameter", option.defname))
}

/// There is one parser.
fn check_parser(name: &QualifiedName) -> Result<()> {
    let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
    if own && name.name == "default" {
        return Ok(());
    }
    Err(Error::new(Condition::UndefinedObject, format!("text search parser \"{name}\" does not exist")))
}

/// Types of token by their names; each counts once.
fn tokens_of(nodes: &[Node]) -> Result<Vec<(u8, String)>> {
    let mut tokens: Vec<(u8, String)> = Vec::new();
    for name in names::strings(nodes) {
        let Some(token) = token_named(name) else {
            let message = format!("token type \"{name}\" does not exist");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        };
        if !tokens.iter().any(|(known, _)| *known == token) {
            tokens.push((token, name.to_owned()));
        }
    }
    Ok(tokens)
}
