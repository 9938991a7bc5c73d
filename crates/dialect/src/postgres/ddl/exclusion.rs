//! EXCLUDE (…).

use pg_query::protobuf::{self as pg, Node, SortByDir, SortByNulls, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::{Binder, Clause};
use super::super::choice::{self, Choice};
use super::super::{names, types};
use super::index::{check_key_type, list_property};
use super::table::Draft;
use crate::bind::names::Unnamed;
use crate::ir::{Constraint, ConstraintKind, Exclusion, Expr, IndexKeyDefinition, Text};
use crate::postgres::quote_ident as quote;
use crate::{Condition, Error, Result, Type, exclusion};

/// Storage parameters of its index, which change nothing here.
const PARAMETERS: &[&str] = &["buffering", "deduplicate_items", "fillfactor"];

impl Binder<'_> {
    /// Refuses EXCLUDE of a partitioned table: PostgreSQL 15 has none.
    pub(super) fn refuse_exclusion(&self, constraint: &pg::Constraint) -> Result<()> {
        if constraint.contype() != pg::ConstrType::ConstrExclusion {
            return Ok(());
        }
        let message = "exclusion constraints are not supported on partitioned tables";
        Err(self.error(Condition::FeatureNotSupported, message, constraint.location))
    }

    pub(super) fn exclusion_constraint(&mut self, constraint: &pg::Constraint, draft: &mut Draft) -> Result<()> {
        let place = constraint.location;
        let method = match constraint.access_method.as_str() {
            "" => "btree",
            given => given,
        };
        self.storage_parameters(&constraint.options, PARAMETERS)?;
        check_method(method, constraint)?;
        let mut properties = vec![("index_method".to_owned(), method.to_owned())];
        let (mut keys, mut words, mut operators) = (Vec::new(), Vec::new(), Vec::new());
        for node in &constraint.exclusions {
            let Some((element, operator)) = key_and_operator(node) else {
                return Err(Error::internal("a key of EXCLUDE without its operator"));
            };
            check_order(element, method)?;
            if !element.collation.is_empty() {
                return Err(self.unsupported("COLLATE in EXCLUDE", place));
            }
            let (key, word) = self.exclusion_key(element, draft)?;
            let number = keys.len() + 1;
            let family = self.exclusion_class(element, &key.expr.ty, method, number, &mut properties)?;
            operators.push(self.exclusion_operator(&operator, &key.expr, family)?);
            let descending = element.ordering() == SortByDir::SortbyDesc;
            match (element.nulls_ordering(), descending) {
                (SortByNulls::SortbyNullsFirst, false) => {
                    properties.push((format!("index_nulls {number}"), "first".to_owned()));
                }
                (SortByNulls::SortbyNullsLast, true) => {
                    properties.push((format!("index_nulls {number}"), "last".to_owned()));
                }
                _ => {}
            }
            keys.push(IndexKeyDefinition { key, descending });
            words.push(word);
        }
        let predicate = match constraint.where_clause.as_deref() {
            Some(node) => Some(self.exclusion_predicate(node, draft)?),
            None => None,
        };
        let mut included = Vec::new();
        for node in &constraint.including {
            let Some(N::String(name)) = &node.node else { continue };
            included.push(column_of(draft, &name.sval)?.1);
        }
        words.extend(included.iter().cloned());
        let (name, named) = draft.constraint_name(&constraint.conname, &words, Unnamed::Exclusion);
        properties.extend(list_property(&included));
        let waits = constraint.deferrable || constraint.initdeferred;
        let rule = exclusion::Exclusion::new(operators, waits.then_some(constraint.initdeferred));
        properties.push((exclusion::PROPERTY.to_owned(), rule.property()));
        let kind = ConstraintKind::Exclusion(Box::new(Exclusion { keys, predicate, rule, properties }));
        draft.constraints.push(Constraint { name, named, kind, options: Default::default() });
        Ok(())
    }

    /// A key, and what it adds to the constraint's name.
    fn exclusion_key(&mut self, element: &pg::IndexElem, draft: &Draft) -> Result<(Text, String)> {
        let Some(expr) = element.expr.as_deref().filter(|_| element.name.is_empty()) else {
            let (position, name) = column_of(draft, &element.name)?;
            let expr = Expr::column(Text::TABLE, position, draft.columns[position].ty.clone());
            return Ok((Text { text: quote(&name), expr }, name));
        };
        let word = names::column(expr).replace("?column?", "expr");
        let bind = |binder: &mut Self| binder.definition(expr, vec![draft.entry()], Clause::Index, None);
        let mut key = self.immutable("index expression", bind, |key| &key.expr)?;
        self.derive_collations_over(&mut key.expr, &draft.columns)?;
        Ok((key, word))
    }

    fn exclusion_predicate(&mut self, node: &Node, draft: &Draft) -> Result<Text> {
        let bind = |binder: &mut Self| binder.definition(node, vec![draft.entry()], Clause::Predicate, None);
        let mut text = self.immutable("index predicate", bind, |condition| &condition.expr)?;
        text.expr = self.condition(text.expr, "WHERE", super::super::expr::location(node))?;
        self.derive_collations_over(&mut text.expr, &draft.columns)?;
        Ok(text)
    }

    /// Notes the operator class of a key where it is not the default one; its family, `None` for one of an extension's.
    fn exclusion_class(
        &mut self,
        element: &pg::IndexElem,
        ty: &Type,
        method: &str,
        number: usize,
        properties: &mut Vec<(String, String)>,
    ) -> Result<Option<&'static facts::OperatorFamily>> {
        match method {
            "btree" | "hash" => check_key_type(ty, method)?,
            _ => self.check_class(element, ty, method)?,
        }
        let Some(access) = facts::AccessMethod::all_known().find(|known| known.name == method) else {
            return Ok(None);
        };
        let input = types::class_input(ty);
        let own: Vec<_> = facts::OperatorClass::all().iter().filter(|class| class.method == access.oid).collect();
        let extensions: Vec<&facts::OperatorClass> =
            self.schema.extensions().iter().flat_map(|extension| extension.facts.operator_classes()).collect();
        let extensions: Vec<_> = extensions.into_iter().filter(|class| class.method == access.oid).collect();
        let named = names::strings(&element.opclass).last().map(|name| (*name).to_owned());
        let is_default = |class: &&&facts::OperatorClass| class.is_default && class.input == input;
        let default = own.iter().chain(&extensions).find(is_default).map(|class| class.name);
        if let Some(name) = &named
            && default != Some(name.as_str())
        {
            properties.push((format!("index_opclass {number}"), name.clone()));
        }
        let is_meant = |class: &&&facts::OperatorClass| match &named {
            Some(name) => class.name == name,
            None => class.is_default && class.input == input,
        };
        let found = own.iter().find(is_meant);
        Ok(found.and_then(|class| facts::OperatorFamily::by_oid(class.family)))
    }

    /// Refuses an operator that is not there, one whose sides are not alike, and one of which the index knows nothing.
    fn exclusion_operator(
        &mut self,
        operator: &[Node],
        key: &Expr,
        family: Option<&facts::OperatorFamily>,
    ) -> Result<String> {
        let parts = names::strings(operator);
        let name = parts.last().copied().unwrap_or_default().to_owned();
        // What there is not, and what is not here, is told as anywhere else.
        self.apply_operator(&name, vec![(key.clone(), -1), (key.clone(), -1)], -1)?;
        let oid = types::class_input(&key.ty);
        let Choice::One(fact) = choice::operator(&name, &[oid, oid]) else {
            // It is one of an extension's.
            return match name.as_str() {
                "=" | "<>" | "&&" => Ok(name),
                _ => Err(Error::unsupported(format!("the operator {name} in EXCLUDE"))),
            };
        };
        let shown = super::super::regproc::operator_signature(fact);
        let wrong = |message: String| Error::new(Condition::WrongObjectType, message);
        if fact.commutator != fact.oid {
            return Err(wrong(format!("operator {shown} is not commutative"))
                .detail("Only commutative operators can be used in exclusion constraints."));
        }
        let (known, family) = match family {
            Some(family) => {
                let mut all = facts::FamilyOperator::all().iter();
                let is_member = |row: &facts::FamilyOperator| {
                    row.family == family.oid && row.operator == fact.oid && row.purpose == 's'
                };
                (all.any(is_member), family.name.to_owned())
            }
            // Those of btree_gist and its kin.
            None => (matches!(name.as_str(), "=" | "<>"), format!("gist_{}_ops", types::words(&key.ty))),
        };
        if !known {
            return Err(wrong(format!("operator {shown} is not a member of operator family \"{family}\""))
                .detail("The exclusion operator must be related to the index operator class for the constraint."));
        }
        Ok(name)
    }
}

fn column_of(draft: &Draft, name: &str) -> Result<(usize, String)> {
    let position = draft.columns.iter().position(|column| column.name == name);
    let position = position.ok_or_else(|| {
        Error::new(Condition::UndefinedColumn, format!("column \"{name}\" named in key does not exist"))
    })?;
    Ok((position, draft.columns[position].name.clone()))
}

fn key_and_operator(node: &Node) -> Option<(&pg::IndexElem, Vec<Node>)> {
    let Some(N::List(pair)) = &node.node else { return None };
    let [Node { node: Some(N::IndexElem(element)) }, Node { node: Some(operator) }] = pair.items.as_slice() else {
        return None;
    };
    match operator {
        N::List(names) => Some((element, names.items.clone())),
        name => Some((element, vec![Node { node: Some(name.clone()) }])),
    }
}

fn check_method(method: &str, constraint: &pg::Constraint) -> Result<()> {
    let refused = |what: &str| {
        let message = format!("access method \"{method}\" does not support {what}");
        Err(Error::new(Condition::FeatureNotSupported, message))
    };
    match method {
        "btree" | "gist" | "spgist" | "hash" => {}
        "gin" | "brin" | "bloom" => return refused("exclusion constraints"),
        _ => {
            let message = format!("access method \"{method}\" does not exist");
            return Err(Error::new(Condition::UndefinedObject, message));
        }
    }
    if method == "hash" && !constraint.including.is_empty() {
        return refused("included columns");
    }
    if matches!(method, "hash" | "spgist") && constraint.exclusions.len() > 1 {
        return refused("multicolumn indexes");
    }
    Ok(())
}

fn check_order(element: &pg::IndexElem, method: &str) -> Result<()> {
    let what = if method == "btree" {
        return Ok(());
    } else if element.ordering() != SortByDir::SortbyDefault {
        "ASC/DESC options"
    } else if element.nulls_ordering() != SortByNulls::SortbyNullsDefault {
        "NULLS FIRST/LAST options"
    } else {
        return Ok(());
    };
    let message = format!("access method \"{method}\" does not support {what}");
    Err(Error::new(Condition::FeatureNotSupported, message))
}
