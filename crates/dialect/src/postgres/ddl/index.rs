//! CREATE INDEX.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, SortByDir, SortByNulls, node::Node as N};

use super::super::binder::{Binder, Clause, Entry};
use super::super::{names, types};
use crate::bind::names::{Unnamed, postgres_name};
use crate::collation::Collation;
use crate::extension;
use crate::ir::{self, CreateIndex, Ddl, IndexKeyDefinition, Statement, Text};
use crate::mysql::{FULLTEXT, PREFIX};
use crate::postgres::quote_ident as quote;
use crate::schema::{QualifiedName, Relation};
use crate::{Condition, Error, Result, Type};

/// What MySQL's front end says of a key, as properties, and the index without it.
fn mysql_options(index: &pg::IndexStmt) -> (Vec<(String, String)>, Option<pg::IndexStmt>) {
    let property = |node: &pg::Node| match &node.node {
        Some(N::DefElem(option)) => {
            let text = super::super::utility::text_of(option.arg.as_deref());
            (option.defname.clone(), if text.is_empty() { "true".to_owned() } else { text })
        }
        _ => Default::default(),
    };
    if index.options.is_empty() {
        return (Vec::new(), None);
    }
    let said = index.options.iter().map(property).collect();
    (said, Some(pg::IndexStmt { options: Vec::new(), ..index.clone() }))
}

impl Binder<'_> {
    fn indexable(&mut self, range: &pg::RangeVar) -> Result<std::sync::Arc<Relation>> {
        let relation = self.relation(range)?;
        if relation.is_materialized() { Ok(relation) } else { self.own_table(range) }
    }

    pub(super) fn create_index(&mut self, index: &pg::IndexStmt) -> Result<Statement> {
        let Some(range) = &index.relation else { return Err(Error::internal("an index without its table")) };
        let table = self.indexable(range)?;
        let named = if self.is_mysql() { Self::mysql_named_key(index, &table) } else { None };
        let index = named.as_ref().unwrap_or(index);
        let (said, plain) = if self.is_mysql() { mysql_options(index) } else { (Vec::new(), None) };
        let index = plain.as_ref().unwrap_or(index);
        if self.is_foreign_key_index(index, &table) {
            return Ok(Statement::Nothing { tag: "CREATE INDEX" });
        }
        if index.access_method == FULLTEXT {
            super::mysql_partitions::check_no_fulltext(&table)?;
            return self.create_fulltext(index, table, said);
        }
        if self.is_mysql() && index.unique {
            let columns = index.index_params.iter().filter_map(|node| match &node.node {
                Some(N::IndexElem(element)) if element.indexcolname.is_empty() => Some(element.name.as_str()),
                _ => None,
            });
            super::mysql_partitions::check_partitioned_key(&table, columns, false)?;
        }
        let other = matches!(index.access_method.as_str(), "bloom" | "brin" | "gin" | "gist" | "spgist");
        if index.access_method == "bloom" && !self.schema.extensions().iter().any(|known| known.name() == "bloom") {
            let message = format!("access method \"{}\" does not exist", index.access_method);
            return Err(Error::new(Condition::UndefinedObject, message));
        }
        if !other && !matches!(index.access_method.as_str(), "" | "btree" | "hash") {
            return Err(self.unsupported(format!("the access method \"{}\"", index.access_method), range.location));
        }
        check_hash(index)?;
        if other {
            check_other(index)?;
        }
        let options = self.index_clauses(index)?;
        let order: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
        let order = (order.len() > 1).then(|| ("index_options".to_owned(), serde_json::Value::from(order).to_string()));
        let mut properties: Vec<(String, String)> =
            options.into_iter().map(|(name, value)| (format!("index_option {name}"), value)).collect();
        properties.extend(order);
        if other || index.access_method == "hash" {
            properties.push(("index_method".to_owned(), index.access_method.clone()));
        }
        properties.extend(said);
        properties.extend(self.included(&index.index_including_params, &table)?);
        let entry = Entry::of_relation(&table, Text::TABLE, None);
        let mut keys = Vec::with_capacity(index.index_params.len());
        let mut words = Vec::new();
        for node in &index.index_params {
            let Some(N::IndexElem(element)) = &node.node else { continue };
            let (of_prefix, prefix) = match self.is_mysql() {
                true => self.mysql_prefix(element, &table, index.unique)?,
                false => (None, None),
            };
            let element = &collation_apart(of_prefix.as_ref().unwrap_or(element));
            if self.is_mysql() && !element.name.is_empty() && table.column(&element.name).is_none() {
                let message = format!("Key column '{}' doesn't exist in table", element.name);
                return Err(Error::new(Condition::UndefinedColumn, message).with_mysql(1072, "42000"));
            }
            let (mut key, word) = self.index_key(element, &table, &entry)?;
            let derived = self.index_collation(element, &mut key.expr, &table, range.location)?;
            match other {
                true => self.check_class(element, &key.expr.ty, &index.access_method)?,
                false => check_key_type(&key.expr.ty, &index.access_method)?,
            }
            let class = self.named_class(&element.opclass, &key.expr.ty, &index.access_method)?;
            words.push(word);
            properties.extend(prefix.map(|length| (format!("{PREFIX}{}", keys.len() + 1), length.to_string())));
            keys.push(IndexKeyDefinition { descending: element.ordering() == SortByDir::SortbyDesc, key });
            let brin = index.access_method == "brin";
            let signature = if brin { None } else { self.signature_length(element)? };
            let summary = if brin { self.summary_options(element)? } else { None };
            let column = table.column(&element.name).map(|at| &table.columns[at]);
            let own = column.and_then(|column| column.collation.as_ref());
            let named = match element.collation.is_empty() {
                true => None,
                false => Some(self.collation(&element.collation, range.location)?),
            };
            let ty = &keys[keys.len() - 1].key.expr.ty;
            // A column's own is not told.
            let own = own.or(derived.as_ref()).or_else(|| Collation::of_type(ty));
            if let Some(derived) = derived.as_ref().filter(|_| column.is_none()) {
                properties.push((format!("index_derived {}", keys.len()), derived.property()));
            }
            let told = named.filter(|named| Some(named) != own).map(|named| named.property());
            // A default class is not told.
            let told_class = class.filter(|class| !class.is_default || signature.is_some() || summary.is_some());
            let plain = class.is_none()
                && names::strings(&element.opclass).last().is_some_and(|name| *name != default_class(ty));
            let mut shown = facts(element, keys.len(), told, signature);
            let name = names::strings(&element.opclass).last().map(|name| (*name).to_owned());
            if let Some(name) = name.filter(|_| told_class.is_some() || plain) {
                shown.push((format!("index_opclass {}", keys.len()), name));
            }
            shown.extend(summary.map(|options| (format!("index_summary {}", keys.len()), options)));
            properties.extend(shown);
        }
        if index.nulls_not_distinct && table.columns.iter().any(|column| column.collation.is_some()) {
            return Err(self.unsupported("NULLS NOT DISTINCT of a table with collations", range.location));
        }
        if index.unique {
            keys.iter().try_for_each(|key| self.check_unique_rows(&key.key.expr.ty))?;
        }
        let predicate = match index.where_clause.as_deref() {
            Some(node) => {
                let bind = |binder: &mut Self| binder.definition(node, vec![entry], Clause::Predicate, None);
                let mut text = self.immutable("index predicate", bind, |condition| &condition.expr)?;
                text.expr = self.condition(text.expr, "WHERE", super::super::expr::location(node))?;
                self.collated |= table.columns.iter().any(|column| column.collation.is_some());
                self.derive_collations_of(&mut text.expr, &[(Text::TABLE, table.clone())])?;
                Some(text)
            }
            None => None,
        };
        let family = if table.is_partitioned() { crate::heritage::family(self.schema, &table) } else { Vec::new() };
        for member in family.iter().filter(|_| index.unique) {
            let Some(partitioning) = &member.partitioning else { continue };
            let columns: Vec<&str> = index
                .index_params
                .iter()
                .filter_map(|node| match &node.node {
                    Some(N::IndexElem(element)) if !element.name.is_empty() => Some(element.name.as_str()),
                    _ => None,
                })
                .collect();
            super::partition::check_unique("UNIQUE", &columns, partitioning, &member.name)?;
        }
        if table.is_partitioned() && index.concurrent {
            let message = format!("cannot create index on partitioned table \"{}\" concurrently", table.name);
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        let taken = |binder: &Self, name: &str| {
            let name = QualifiedName::new(table.namespace.clone(), name);
            binder.schema.index(&name).is_some() || binder.is_taken(&name)
        };
        let name = if index.idxname.is_empty() {
            // Included columns are part of the name, too.
            words.extend(index.index_including_params.iter().filter_map(|node| match &node.node {
                Some(N::IndexElem(element)) => Some(element.name.clone()),
                _ => None,
            }));
            let words = words.iter().map(String::as_str);
            postgres_name(Unnamed::Index, &table.name, words, |name| taken(self, name))
        } else {
            if taken(self, &index.idxname) {
                if index.if_not_exists {
                    self.skip_duplicate(&index.idxname);
                    return Ok(Statement::Nothing { tag: "CREATE INDEX" });
                }
                let message = format!("relation \"{}\" already exists", index.idxname);
                return Err(Error::new(Condition::DuplicateTable, message));
            }
            index.idxname.clone()
        };
        Ok(Statement::Ddl(Box::new(Ddl::CreateIndex(CreateIndex {
            name,
            table,
            unique: index.unique,
            nulls_alike: index.unique && index.nulls_not_distinct,
            if_not_exists: index.if_not_exists,
            // Only a unique index says something about rows.
            lenient: !index.unique,
            keys,
            predicate,
            only: !range.inh,
            concurrently: index.concurrent,
            properties,
        }))))
    }

    /// Refuses a key of which an index of a method knows nothing: no operator class is named, and there is no default.
    ///
    /// Such an index is an ordinary one here. It answers nothing that would not be answered without it, and programs make
    /// them for speed alone.
    pub(super) fn check_class(&self, element: &pg::IndexElem, ty: &Type, method: &str) -> Result<()> {
        let Some(number) = method_number(method) else { return Ok(()) };
        let visible = extension::visible(self.schema, None);
        let of_extensions: Vec<&rowferry_facts::OperatorClass> =
            visible.flat_map(|extension| extension.facts.operator_classes()).collect();
        let classes = || {
            let all = rowferry_facts::OperatorClass::all().iter().chain(of_extensions.iter().copied());
            all.filter(|class| class.method == number)
        };
        // What these two extensions bring is operator classes for types that have an order.
        let plain = format!("btree_{method}");
        let plain = ty.is_ordered() && self.schema.extensions().iter().any(|extension| extension.name() == plain);
        if let Some(name) = names::strings(&element.opclass).last() {
            if classes().any(|class| class.name == *name) || plain {
                return Ok(());
            }
            let message = format!("operator class \"{name}\" does not exist for access method \"{method}\"");
            return Err(Error::new(Condition::UndefinedObject, message));
        }
        let category = types::category(ty);
        let oid = types::oid(if matches!(ty, Type::Varchar(_)) { &Type::Text } else { ty });
        let is_range = |name: &str| {
            crate::scalar::ranges::of_range(ty).is_some() && name == "range_ops"
                || crate::scalar::ranges::of_multirange(ty).is_some() && name == "multirange_ops"
        };
        let fits = |class: &&rowferry_facts::OperatorClass| {
            class.is_default
                && (class.input == oid
                    || class.input == types::class_input(ty)
                    || category == 'A' && class.name == "array_ops"
                    || is_range(class.name))
        };
        if plain || classes().any(|class| fits(&class)) {
            return Ok(());
        }
        let shown = types::words(ty);
        let message = format!("data type {shown} has no default operator class for access method \"{method}\"");
        Err(Error::new(Condition::UndefinedObject, message).hint(
            "You must specify an operator class for the index or define a default operator class for the data type.",
        ))
    }

    /// The operator class that a key names, if it is one of PostgreSQL's own; it must take values of the key's type.
    pub(super) fn named_class(
        &self,
        class: &[pg::Node],
        ty: &Type,
        method: &str,
    ) -> Result<Option<&'static rowferry_facts::OperatorClass>> {
        let method = if method.is_empty() { "btree" } else { method };
        let (Some(name), Some(number)) = (names::strings(class).last().copied(), method_number(method)) else {
            return Ok(None);
        };
        let mut classes = rowferry_facts::OperatorClass::all().iter().filter(|class| class.method == number);
        let Some(class) = classes.find(|class| class.name == name) else { return Ok(None) };
        if !super::range::takes(class.input, ty.through_domains()) {
            let message = format!("operator class \"{name}\" does not accept data type {}", types::words(ty));
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        Ok(Some(class))
    }

    /// Refuses a unique key over rows that are equal though their stored forms differ.
    pub(super) fn check_unique_rows(&self, ty: &crate::Type) -> Result<()> {
        match crate::composite::field_unlike_bytes(ty) {
            None => Ok(()),
            Some(field) => {
                let words = super::super::types::words(field);
                Err(Error::unsupported(format!("a unique key over rows with a field of type {words}")))
            }
        }
    }

    /// A key, and what it adds to the index's name.
    fn index_key(&mut self, element: &pg::IndexElem, table: &Relation, entry: &Entry) -> Result<(Text, String)> {
        if element.name.is_empty() {
            let Some(expr) = element.expr.as_deref() else {
                return Err(Error::internal("an index key without an expression"));
            };
            let word = names::column(expr).replace("?column?", "expr");
            let bind = |binder: &mut Self| binder.definition(expr, vec![entry.clone()], Clause::Index, None);
            return Ok((self.immutable("index expression", bind, |key| &key.expr)?, word));
        }
        let position = indexed_column(table, &element.name)?;
        let column = &table.columns[position];
        let expr = ir::Expr::column(Text::TABLE, position, column.ty.clone());
        Ok((Text { text: quote(&column.name), expr }, column.name.clone()))
    }

    /// INCLUDE: columns that PostgreSQL keeps beside the keys. They change no answer, so they are noted and shown.
    pub(super) fn included(&self, params: &[pg::Node], table: &Relation) -> Result<Option<(String, String)>> {
        let mut included = Vec::with_capacity(params.len());
        for node in params {
            let Some(N::IndexElem(element)) = &node.node else { continue };
            let misplaced = |what: &str| {
                let message = format!("including column does not support {what}");
                Err(Error::new(Condition::InvalidObjectDefinition, message))
            };
            if element.name.is_empty() {
                let message = "expressions are not supported in included columns";
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            if !element.collation.is_empty() || !element.opclass.is_empty() {
                let what = if element.collation.is_empty() { "an operator class" } else { "a collation" };
                return misplaced(what);
            }
            if element.ordering() != SortByDir::SortbyDefault {
                return misplaced("ASC/DESC options");
            }
            if element.nulls_ordering() != SortByNulls::SortbyNullsDefault {
                return misplaced("NULLS FIRST/LAST options");
            }
            included.push(table.columns[indexed_column(table, &element.name)?].name.clone());
        }
        Ok(list_property(&included))
    }
}

/// The property that names included columns.
pub(super) fn list_property(included: &[String]) -> Option<(String, String)> {
    let list = serde_json::Value::from(included.to_vec());
    (!included.is_empty()).then(|| ("index_include".to_owned(), list.to_string()))
}

fn indexed_column(table: &Relation, name: &str) -> Result<usize> {
    table
        .column(name)
        .ok_or_else(|| Error::new(Condition::UndefinedColumn, format!("column \"{name}\" does not exist")))
}

impl Binder<'_> {
    /// The order of a key's texts: COLLATE, or what is derived for the expression. What is derived, where it is not the type's own.
    fn index_collation(
        &mut self,
        element: &pg::IndexElem,
        expr: &mut crate::ir::Expr,
        table: &std::sync::Arc<crate::schema::Relation>,
        place: i32,
    ) -> Result<Option<Arc<Collation>>> {
        self.collated |= table.columns.iter().any(|column| column.collation.is_some());
        let own = self.derive_collations_of(&mut expr.clone(), &[(Text::TABLE, table.clone())])?;
        let own = own.filter(|own| Some(own) != Collation::of_type(&expr.ty));
        // MySQL's keys of what is computed are under the collation of that, too.
        if let Some(own) = own.clone().filter(|_| self.is_mysql() && element.collation.is_empty())
            && !matches!(&expr.kind, crate::ir::ExprKind::Column(_))
        {
            let arg = std::mem::replace(expr, crate::ir::Expr::null(Type::Text));
            let ty = arg.ty.clone();
            let role = crate::ir::CollateRole::Operand { against_column: false };
            let place = crate::ir::Place(-1);
            let kind = crate::ir::ExprKind::Collate { arg: Box::new(arg), collation: own, role, place };
            *expr = crate::ir::Expr::new(kind, ty);
        }
        if !element.collation.is_empty() {
            self.check_collatable(&expr.ty, place)?;
            let collation = self.collation(&element.collation, place)?;
            let column = matches!(&expr.kind, crate::ir::ExprKind::Column(_));
            let plain = column && !table.columns.iter().any(|column| column.collation.is_some());
            if collation.is_unicode() || !plain {
                let arg = std::mem::replace(expr, crate::ir::Expr::null(Type::Text));
                let ty = arg.ty.clone();
                let role = crate::ir::CollateRole::Operand { against_column: false };
                let kind =
                    crate::ir::ExprKind::Collate { arg: Box::new(arg), collation, role, place: crate::ir::Place(-1) };
                *expr = crate::ir::Expr::new(kind, ty);
            }
        }
        let derived = self.derive_collations_of(expr, &[(Text::TABLE, table.clone())])?;
        let classes = names::strings(&element.opclass);
        match (derived, classes.last()) {
            (Some(collation), Some(class)) if !collation.deterministic && class.ends_with("_pattern_ops") => {
                let message = format!("nondeterministic collations are not supported for operator class \"{class}\"");
                Err(crate::Error::new(Condition::FeatureNotSupported, message))
            }
            _ => Ok(own),
        }
    }
}

/// A key `(x COLLATE y)` is the key `x COLLATE y`.
fn collation_apart(element: &pg::IndexElem) -> std::borrow::Cow<'_, pg::IndexElem> {
    let Some(N::CollateClause(collate)) = element.expr.as_deref().and_then(|expr| expr.node.as_ref()) else {
        return std::borrow::Cow::Borrowed(element);
    };
    let mut apart = element.clone();
    if apart.collation.is_empty() {
        apart.collation.clone_from(&collate.collname);
    }
    apart.expr.clone_from(&collate.arg);
    if let Some(N::ColumnRef(column)) = collate.arg.as_deref().and_then(|arg| arg.node.as_ref())
        && let [field] = column.fields.as_slice()
        && let Some(N::String(name)) = &field.node
    {
        apart.name.clone_from(&name.sval);
        apart.expr = None;
    }
    std::borrow::Cow::Owned(apart)
}

/// What the catalogs show of a key beyond its expression and direction.
fn facts(
    element: &pg::IndexElem,
    number: usize,
    collation: Option<String>,
    signature: Option<i32>,
) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let descending = element.ordering() == SortByDir::SortbyDesc;
    match (element.nulls_ordering(), descending) {
        (SortByNulls::SortbyNullsFirst, false) => facts.push((format!("index_nulls {number}"), "first".to_owned())),
        (SortByNulls::SortbyNullsLast, true) => facts.push((format!("index_nulls {number}"), "last".to_owned())),
        _ => {}
    }
    facts.extend(collation.map(|property| (format!("index_collation {number}"), property)));
    facts.extend(signature.map(|length| (format!("index_signature {number}"), length.to_string())));
    facts
}

/// The operator class that a type's indexes have when none is named.
pub(super) fn default_class(ty: &Type) -> String {
    match ty {
        Type::Array(_) => "array_ops".to_owned(),
        Type::Varchar(_) => "text_ops".to_owned(),
        ty => types::row_of(ty).map_or_else(String::new, |row| format!("{}_ops", row.name)),
    }
}

/// The object id of an access method.
fn method_number(name: &str) -> Option<u32> {
    rowferry_facts::AccessMethod::all_known().find(|method| method.name == name).map(|method| method.oid)
}

/// What indexes that are not of B-trees cannot do.
fn check_other(index: &pg::IndexStmt) -> Result<()> {
    let method = index.access_method.as_str();
    let ordered = |node: &pg::Node| {
        matches!(&node.node, Some(N::IndexElem(element)) if element.ordering() != SortByDir::SortbyDefault
            || element.nulls_ordering() != SortByNulls::SortbyNullsDefault)
    };
    let missing = if index.unique {
        "unique indexes"
    } else if method == "spgist" && index.index_params.len() > 1 {
        "multicolumn indexes"
    } else if matches!(method, "bloom" | "brin" | "gin") && !index.index_including_params.is_empty() {
        "included columns"
    } else if index.index_params.iter().any(ordered) {
        "ASC/DESC options"
    } else {
        return Ok(());
    };
    let message = format!("access method \"{method}\" does not support {missing}");
    Err(Error::new(Condition::FeatureNotSupported, message))
}

/// What hash indexes cannot do.
/// A key needs an operator class: an order, or for a hash equality.
pub(super) fn check_key_type(ty: &Type, method: &str) -> Result<()> {
    let method = if method.is_empty() { "btree" } else { method };
    if ty.is_ordered() || (method == "hash" && ty.is_comparable()) {
        return Ok(());
    }
    let shown = types::words(ty);
    let message = format!("data type {shown} has no default operator class for access method \"{method}\"");
    Err(Error::new(Condition::UndefinedObject, message)
        .hint("You must specify an operator class for the index or define a default operator class for the data type."))
}

fn check_hash(index: &pg::IndexStmt) -> Result<()> {
    if index.access_method != "hash" {
        return Ok(());
    }
    let ordered = index.index_params.iter().any(
        |node| matches!(&node.node, Some(N::IndexElem(element)) if element.ordering() != SortByDir::SortbyDefault),
    );
    let missing = if index.unique {
        "unique indexes"
    } else if !index.index_including_params.is_empty() {
        "included columns"
    } else if index.index_params.len() > 1 {
        "multicolumn indexes"
    } else if ordered {
        "ASC/DESC options"
    } else {
        return Ok(());
    };
    let message = format!("access method \"hash\" does not support {missing}");
    Err(Error::new(Condition::FeatureNotSupported, message))
}
