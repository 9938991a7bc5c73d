//! Clauses about storage and ownership, of which files have nothing: what asks PostgreSQL for another way of storing the
//! same is taken with a notice, what names something that is not there is refused as PostgreSQL refuses it.

use pg_query::protobuf::{self as pg, DefElem, Node, node::Node as N};

use super::binder::Binder;
use super::utility::text_of;
use crate::access::ObjectClass;
use crate::ir::{AccessChange, Ddl, RoleSpec, Statement};
use crate::{Condition, Error, Result, Type};

/// A fact that the catalogs show: part (a column, or nothing), name, value.
pub(super) type Property = (String, String, String);

/// Storage parameters of tables; those of TOAST tables and of autovacuum among them.
pub(super) const TABLE_PARAMETERS: &[&str] = &[
    "autovacuum_analyze_scale_factor",
    "autovacuum_analyze_threshold",
    "autovacuum_enabled",
    "autovacuum_freeze_max_age",
    "autovacuum_freeze_min_age",
    "autovacuum_freeze_table_age",
    "autovacuum_multixact_freeze_max_age",
    "autovacuum_multixact_freeze_min_age",
    "autovacuum_multixact_freeze_table_age",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold",
    "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_threshold",
    "fillfactor",
    "log_autovacuum_min_duration",
    "parallel_workers",
    "toast_tuple_target",
    "user_catalog_table",
    "vacuum_index_cleanup",
    "vacuum_truncate",
];

/// What Bloom indexes take: they are ordinary indexes here, so that these change nothing.
const BLOOM_PARAMETERS: &[&str] = &[
    "length", "col1", "col2", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12",
    "col13", "col14", "col15", "col16", "col17", "col18", "col19", "col20", "col21", "col22", "col23", "col24",
    "col25", "col26", "col27", "col28", "col29", "col30", "col31", "col32",
];
/// Storage parameters of B-tree indexes.
pub(super) const INDEX_PARAMETERS: &[&str] = &["deduplicate_items", "fillfactor"];

/// Operator classes of B-tree and hash indexes. Indexes serve all of their comparisons that it can use an index
/// for, whatever the class.
const OPERATOR_CLASSES: &str = "aclitem_ops array_ops bit_ops bool_ops bpchar_ops bpchar_pattern_ops bytea_ops char_ops cid_ops \
    cidr_ops date_ops enum_ops float4_ops float8_ops inet_ops int2_ops int4_ops int8_ops interval_ops jsonb_ops \
    macaddr8_ops macaddr_ops money_ops multirange_ops name_ops numeric_ops oid_ops oidvector_ops pg_lsn_ops range_ops \
    record_image_ops record_ops text_ops text_pattern_ops tid_ops time_ops timestamp_ops timestamptz_ops timetz_ops \
    tsquery_ops tsvector_ops uuid_ops varbit_ops varchar_ops varchar_pattern_ops xid8_ops xid_ops";

impl Binder<'_> {
    /// CREATE TABLE: WITH, TABLESPACE, UNLOGGED; what of it the catalogs show.
    pub(super) fn table_clauses(&mut self, create: &pg::CreateStmt) -> Result<Vec<Property>> {
        self.check_tablespace(&create.tablespacename)?;
        self.table_properties(&create.options, create.relation.as_ref())
    }

    fn table_properties(&mut self, options: &[Node], range: Option<&pg::RangeVar>) -> Result<Vec<Property>> {
        let options = self.storage_parameters(options, TABLE_PARAMETERS)?;
        let unlogged = range.is_some_and(|range| range.relpersistence == "u");
        let unlogged = unlogged.then(|| ("unlogged".to_owned(), "true".to_owned()));
        let named = options.into_iter().map(|(name, value)| (format!("option {name}"), value));
        Ok(named.chain(unlogged).map(|(name, value)| (String::new(), name, value)).collect())
    }

    /// CREATE TABLE AS, SELECT INTO: the same, and what is not there for tables of queries.
    pub(super) fn clauses_of_into(&mut self, into: &pg::IntoClause) -> Result<Vec<Property>> {
        let place = into.rel.as_ref().map_or(-1, |range| range.location);
        if !matches!(into.access_method.as_str(), "" | "heap") {
            return Err(self.unsupported("a table access method", place));
        }
        self.check_tablespace(&into.table_space_name)?;
        self.table_properties(&into.options, into.rel.as_ref())
    }

    /// CREATE INDEX: WITH, TABLESPACE, operator classes.
    pub(super) fn index_clauses(&mut self, index: &pg::IndexStmt) -> Result<Vec<(String, String)>> {
        self.check_tablespace(&index.table_space)?;
        let known = match index.access_method.as_str() {
            "hash" => &["fillfactor"][..],
            "gin" => &["fastupdate", "gin_pending_list_limit"],
            "gist" => &["fillfactor", "buffering"],
            "spgist" => &["fillfactor"],
            "brin" => &["pages_per_range", "autosummarize"],
            "bloom" => BLOOM_PARAMETERS,
            _ => INDEX_PARAMETERS,
        };
        if matches!(index.access_method.as_str(), "bloom" | "brin") {
            index.options.iter().try_for_each(check_parameter)?;
        }
        let options = self.storage_parameters(&index.options, known)?;
        for node in &index.index_params {
            let Some(N::IndexElem(element)) = &node.node else { continue };
            let classes = super::names::strings(&element.opclass);
            let Some(class) = classes.last() else { continue };
            // Those of other methods are asked for with the type of the key.
            let known = matches!(index.access_method.as_str(), "bloom" | "brin" | "gin" | "gist" | "spgist")
                || OPERATOR_CLASSES.split_ascii_whitespace().any(|known| known == *class)
                || crate::extension::visible(self.schema, None)
                    .any(|extension| extension.facts.operator_classes().iter().any(|known| known.name == *class));
            if !known {
                let method = if index.access_method.is_empty() { "btree" } else { &index.access_method };
                let message = format!("operator class \"{class}\" does not exist for access method \"{method}\"");
                return Err(Error::new(Condition::UndefinedObject, message));
            }
            let has_options = has_signatures(&index.access_method, class)
                || index.access_method == "brin" && !summary_options(class).is_empty();
            if !element.opclassopts.is_empty() && !has_options {
                return Err(Error::new(
                    Condition::InvalidParameterValue,
                    format!("operator class {class} has no options"),
                ));
            }
        }
        Ok(options)
    }

    /// Options of an operator class of BRIN, as an index shows them: they decide how much PostgreSQL notes of each range of
    /// pages, not what is found.
    pub(super) fn summary_options(&self, element: &pg::IndexElem) -> Result<Option<String>> {
        let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
        let classes = super::names::strings(&element.opclass);
        let known = classes.last().map(|class| summary_options(class)).unwrap_or_default();
        let mut shown: Vec<String> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for node in &element.opclassopts {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let name = option.defname.as_str();
            let Some((_, whole, least, most)) = known.iter().find(|(known, ..)| *known == name) else {
                return Err(invalid(format!("unrecognized parameter \"{name}\"")));
            };
            if seen.contains(&name) {
                return Err(invalid(format!("parameter \"{name}\" specified more than once")));
            }
            seen.push(name);
            let given = option_text(option);
            let kind = if *whole { "integer" } else { "floating point" };
            let number = match whole {
                true => given.trim().parse::<i32>().ok().map(f64::from),
                false => given.trim().parse::<f64>().ok(),
            };
            let Some(number) = number else {
                return Err(invalid(format!("invalid value for {kind} option \"{name}\": {given}")));
            };
            if !(*least..=*most).contains(&number) {
                let bound = |bound: f64| if *whole { format!("{bound:.0}") } else { format!("{bound:.6}") };
                let detail = format!("Valid values are between \"{}\" and \"{}\".", bound(*least), bound(*most));
                return Err(invalid(format!("value {given} out of bounds for option \"{name}\"")).detail(detail));
            }
            shown.push(format!("{name}='{given}'"));
        }
        Ok((!shown.is_empty()).then(|| shown.join(", ")))
    }

    /// How long the signatures of a GiST index are: it decides how fast PostgreSQL searches, not what is found.
    pub(super) fn signature_length(&self, element: &pg::IndexElem) -> Result<Option<i32>> {
        const LONGEST: i32 = 2_024;
        let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
        let mut length = None;
        for node in &element.opclassopts {
            let Some(N::DefElem(option)) = &node.node else { continue };
            if option.defname != "siglen" {
                return Err(invalid(format!("unrecognized parameter \"{}\"", option.defname)));
            }
            if length.is_some() {
                return Err(invalid("parameter \"siglen\" specified more than once".to_owned()));
            }
            let given = option_text(option);
            let wrong = || invalid(format!("invalid value for integer option \"siglen\": {given}"));
            let number: i32 = given.trim().parse().map_err(|_| wrong())?;
            if !(1..=LONGEST).contains(&number) {
                let detail = format!("Valid values are between \"1\" and \"{LONGEST}\".");
                return Err(invalid(format!("value {number} out of bounds for option \"siglen\"")).detail(detail));
            }
            length = Some(number);
        }
        Ok(length)
    }

    /// What may stand at any constraint.
    pub(super) fn constraint_clauses(&mut self, constraint: &pg::Constraint) -> Result<()> {
        use pg::ConstrType::{
            ConstrAttrEnforced, ConstrAttrNotEnforced, ConstrCheck, ConstrForeign, ConstrPrimary, ConstrUnique,
        };
        let unenforced = matches!(constraint.contype(), ConstrCheck | ConstrForeign) && !constraint.is_enforced;
        if unenforced || matches!(constraint.contype(), ConstrAttrEnforced | ConstrAttrNotEnforced) {
            return Err(self.unsupported("[NOT] ENFORCED", constraint.location));
        }
        if constraint.fk_with_period || constraint.pk_with_period {
            return Err(self.unsupported("a foreign key with PERIOD", constraint.location));
        }
        self.check_tablespace(&constraint.indexspace)?;
        // Those of an identity are its sequence's.
        match constraint.contype() {
            ConstrPrimary | ConstrUnique => self.storage_parameters(&constraint.options, INDEX_PARAMETERS).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// STORAGE and COMPRESSION of a column: what the catalogs show of it.
    pub(super) fn column_clauses(&mut self, column: &pg::ColumnDef, ty: &Type) -> Result<Vec<Property>> {
        if !column.fdwoptions.is_empty() {
            return Err(self.unsupported("OPTIONS of a column", column.location));
        }
        let mut properties = Vec::new();
        let mut note = |name: &str, value: Option<String>| {
            properties.extend(value.map(|value| (column.colname.clone(), name.to_owned(), value)));
        };
        if !column.storage_name.is_empty() {
            note("storage", super::ddl::storage(&column.storage_name, ty)?);
        }
        if !column.compression.is_empty() {
            note("compression", super::ddl::compression(&column.compression, ty)?);
        }
        Ok(properties)
    }

    /// COLLATE is for texts, and arrays of them.
    pub(super) fn check_collatable(&self, ty: &Type, place: i32) -> Result<()> {
        let element = match ty {
            Type::Array(element) => element,
            other => other,
        };
        if element.is_text() || matches!(element, Type::Name | Type::Unknown) {
            return Ok(());
        }
        let message = format!("collations are not supported by type {}", super::types::words(ty));
        Err(self.error(Condition::DatatypeMismatch, message, place))
    }

    /// There is one tablespace.
    pub(super) fn check_tablespace(&self, name: &str) -> Result<()> {
        match name {
            "" | "pg_default" => Ok(()),
            "pg_global" => Err(Error::new(
                Condition::InvalidParameterValue,
                "only shared relations can be placed in pg_global tablespace",
            )),
            _ => Err(Error::new(Condition::UndefinedObject, format!("tablespace \"{name}\" does not exist"))),
        }
    }

    /// Storage parameters that there are, each with its value: they ask PostgreSQL for another way to store the same, so
    /// they are kept and shown, and do nothing else.
    pub(super) fn storage_parameters(&self, options: &[Node], known: &[&str]) -> Result<Vec<(String, String)>> {
        self.checked_parameters(options, known, false)
    }

    /// The same, behind RESET: names without values.
    pub(super) fn reset_parameters(&self, options: &[Node], known: &[&str]) -> Result<Vec<(String, String)>> {
        self.checked_parameters(options, known, true)
    }

    fn checked_parameters(&self, options: &[Node], known: &[&str], reset: bool) -> Result<Vec<(String, String)>> {
        let mut given: Vec<(String, String)> = Vec::with_capacity(options.len());
        for node in options {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let name = option.defname.as_str();
            if name == "oids" && known == TABLE_PARAMETERS {
                let off = matches!(text_of(option.arg.as_deref()).as_str(), "false" | "off" | "0");
                if option.arg.is_none() || !off {
                    let message = "tables declared WITH OIDS are not supported";
                    return Err(Error::new(Condition::FeatureNotSupported, message));
                }
                continue;
            }
            if !matches!(option.defnamespace.as_str(), "" | "toast") {
                let message = format!("unrecognized parameter namespace \"{}\"", option.defnamespace);
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
            if !known.contains(&name) {
                let message = format!("unrecognized parameter \"{name}\"");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
            if !reset {
                check_fillfactor(option)?;
            }
            let shown = match option.defnamespace.as_str() {
                "" => name.to_owned(),
                namespace => format!("{namespace}.{name}"),
            };
            if given.iter().any(|(known, _)| *known == shown) {
                let message = format!("parameter \"{name}\" specified more than once");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
            let value = if option.arg.is_some() { text_of(option.arg.as_deref()) } else { "true".to_owned() };
            given.push((shown, value));
        }
        Ok(given)
    }

    /// `ALTER TABLE … OWNER TO`, whatever kind of relation it is said of; `None` when it says anything else.
    pub(super) fn relation_owner(&mut self, alter: &pg::AlterTableStmt) -> Result<Option<Statement>> {
        let (Some(range), [Node { node: Some(N::AlterTableCmd(command)) }]) = (&alter.relation, &*alter.cmds) else {
            return Ok(None);
        };
        if command.subtype() != pg::AlterTableType::AtChangeOwner {
            return Ok(None);
        }
        let tag = match alter.objtype() {
            pg::ObjectType::ObjectSequence => "ALTER SEQUENCE",
            pg::ObjectType::ObjectView => "ALTER VIEW",
            pg::ObjectType::ObjectMatview => "ALTER MATERIALIZED VIEW",
            pg::ObjectType::ObjectIndex => "ALTER INDEX",
            pg::ObjectType::ObjectTable => "ALTER TABLE",
            _ => return Ok(None),
        };
        let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
        let mut name = crate::schema::QualifiedName { schema, name: range.relname.clone() };
        if let Some(sequence) = self.schema.sequence(&name) {
            name.schema = Some(sequence.namespace.clone());
        } else if let Some((table, _)) = self.schema.index(&name) {
            name.schema = Some(table.namespace.clone());
        } else {
            match self.relation(range) {
                Err(_) if alter.missing_ok => {
                    self.remark(format!("relation \"{}\" does not exist, skipping", range.relname));
                    return Ok(Some(Statement::Nothing { tag }));
                }
                _ if alter.objtype() == pg::ObjectType::ObjectMatview => {
                    name.schema = Some(self.materialized_view(range)?.namespace.clone());
                }
                found => name.schema = Some(found?.namespace.clone()),
            }
        }
        let to = command.newowner.as_ref().map_or(RoleSpec::Current, super::access::role_spec);
        let change = AccessChange::Owner { class: ObjectClass::Relation, name, to };
        Ok(Some(Statement::Ddl(Box::new(Ddl::Access { change: Box::new(change), tag }))))
    }
}

fn check_fillfactor(option: &DefElem) -> Result<()> {
    if option.defname == "fillfactor" { check_number(option, 10..=100) } else { Ok(()) }
}

/// A parameter that is a whole number between two others.
fn check_number(option: &DefElem, valid: std::ops::RangeInclusive<i64>) -> Result<()> {
    let (name, value) = (&option.defname, text_of(option.arg.as_deref()));
    let Ok(number) = value.parse::<i64>() else {
        let message = format!("invalid value for integer option \"{name}\": {value}");
        return Err(Error::new(Condition::InvalidParameterValue, message));
    };
    if !valid.contains(&number) {
        let message = format!("value {value} out of bounds for option \"{name}\"");
        return Err(Error::new(Condition::InvalidParameterValue, message).detail(format!(
            "Valid values are between \"{}\" and \"{}\".",
            valid.start(),
            valid.end()
        )));
    }
    Ok(())
}

/// A parameter that is on or off.
fn check_boolean(option: &DefElem) -> Result<()> {
    let value = text_of(option.arg.as_deref());
    if option.arg.is_none() || crate::values::boolean::parse(&value).is_ok() {
        return Ok(());
    }
    let message = format!("invalid value for boolean option \"{}\": {value}", option.defname);
    Err(Error::new(Condition::InvalidParameterValue, message))
}

/// The parameters of a Bloom index (bits of a signature, and of each column), and of a BRIN index.
fn check_parameter(node: &Node) -> Result<()> {
    match &node.node {
        Some(N::DefElem(option)) if option.defname == "length" => check_number(option, 1..=4096),
        Some(N::DefElem(option)) if option.defname == "pages_per_range" => check_number(option, 1..=131_072),
        Some(N::DefElem(option)) if option.defname == "autosummarize" => check_boolean(option),
        Some(N::DefElem(option)) if BLOOM_PARAMETERS.contains(&option.defname.as_str()) => {
            check_number(option, 1..=4095)
        }
        _ => Ok(()),
    }
}

/// Operator classes of GiST whose indexes hold signatures.
/// What an operator class of BRIN takes: names, whether they are whole numbers, the least and the greatest.
fn summary_options(class: &str) -> &'static [(&'static str, bool, f64, f64)] {
    if class.ends_with("_minmax_multi_ops") {
        &[("values_per_range", true, 8.0, 256.0)]
    } else if class.ends_with("_bloom_ops") {
        &[("n_distinct_per_range", false, -1.0, 2_147_483_647.0), ("false_positive_rate", false, 0.0001, 0.25)]
    } else {
        &[]
    }
}

/// The value of an option as it is written.
fn option_text(option: &pg::DefElem) -> String {
    match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
        Some(N::Integer(number)) => number.ival.to_string(),
        Some(N::String(text)) => text.sval.clone(),
        Some(N::Float(number)) => number.fval.clone(),
        _ => String::new(),
    }
}

fn has_signatures(method: &str, class: &str) -> bool {
    method == "gist" && matches!(class, "tsvector_ops" | "gist_trgm_ops" | "gist_hstore_ops")
}
