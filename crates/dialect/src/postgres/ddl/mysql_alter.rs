//! What MySQL's ALTER TABLE says of a table as it is: the commands that its front end leaves open.
//!
//! Such a command is `OPTIONS (action …)`, which PostgreSQL has for tables that are not its own; a column that is defined
//! again (MODIFY, CHANGE) is a command with the whole definition.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTableType, ConstrType, DropBehavior, Node, a_const, node::Node as N};

use super::super::binder::Binder;
use super::mysql_partitions;
use crate::bind::names::{Unnamed, mysql_key_name, mysql_name, mysql_number};
use crate::ir::{AlterTable, Ddl, Drop, Expr, ObjectKind, Part, Statement, Text};
use crate::mysql::LateKey;
use crate::schema::{Index, QualifiedName, Relation};
use crate::{Condition, Error, Result};

/// What is left of a statement when the table has been looked at.
pub(super) enum Alteration {
    /// The statement.
    Whole(Statement),
    /// Commands that any language has, and what is done besides.
    Commands(pg::AlterTableStmt, Vec<AlterTable>),
}

/// How MySQL calls a key of a table.
pub(super) fn shown_key<'a>(table: &Relation, index: &'a Index) -> &'a str {
    if index.primary {
        return "PRIMARY";
    }
    index.name.strip_prefix(table.name.as_str()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(&index.name)
}

/// The key that MySQL calls so.
fn key_of<'a>(table: &'a Relation, name: &str) -> Option<&'a Index> {
    table.indexes.iter().find(|index| shown_key(table, index).eq_ignore_ascii_case(name))
}

fn cannot_drop(name: &str) -> Error {
    let message = format!("Can't DROP '{name}'; check that column/key exists");
    Error::new(Condition::UndefinedObject, message).with_mysql(1091, "42000")
}

fn no_column(table: &Relation, name: &str) -> Error {
    let message = format!("Unknown column '{name}' in '{}'", table.name);
    Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22")
}

pub(super) fn nothing() -> Statement {
    Statement::Nothing { tag: "ALTER TABLE" }
}

/// The action of a command and what is said with it.
fn action_of(command: &pg::AlterTableCmd) -> Option<(String, Vec<String>)> {
    let Some(N::List(options)) = command.def.as_deref()?.node.as_ref() else { return None };
    let Some(N::DefElem(option)) = options.items.first()?.node.as_ref() else { return None };
    let args = match option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
        Some(N::List(args)) => args.items.iter().filter_map(constant).collect(),
        _ => Vec::new(),
    };
    Some((option.defname.clone(), args))
}

fn constant(node: &Node) -> Option<String> {
    let Some(N::AConst(constant)) = &node.node else { return None };
    Some(match constant.val.as_ref()? {
        a_const::Val::Sval(text) => text.sval.clone(),
        a_const::Val::Ival(number) => number.ival.to_string(),
        a_const::Val::Fval(number) => number.fval.clone(),
        _ => return None,
    })
}

/// An index whose first columns are these finds their rows.
fn finds(index: &Index, columns: &[usize]) -> bool {
    index.predicate.is_none()
        && !index.fulltext
        && index.columns.len() >= columns.len()
        && index.columns.iter().zip(columns).all(|(of, wanted)| *of == Some(*wanted))
}

pub(super) fn command(subtype: AlterTableType, name: &str, of: Option<Node>) -> Node {
    Node {
        node: Some(N::AlterTableCmd(Box::new(pg::AlterTableCmd {
            subtype: subtype as i32,
            name: name.to_owned(),
            def: of.map(Box::new),
            behavior: DropBehavior::DropRestrict as i32,
            ..Default::default()
        }))),
    }
}

impl Binder<'_> {
    /// An ALTER TABLE of MySQL's, the table as it is.
    pub(super) fn mysql_alteration(&mut self, alter: &pg::AlterTableStmt, range: &pg::RangeVar) -> Result<Alteration> {
        let table = self.own_table(range)?;
        let drops = |node: &&Node| matches!(&node.node, Some(N::AlterTableCmd(of)) if of.subtype() == AlterTableType::AtDropColumn);
        if alter.cmds.iter().filter(drops).count() >= table.columns.len() {
            let message = "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
            return Err(Error::new(Condition::InvalidTableDefinition, message).with_mysql(1090, "42000"));
        }
        let mut commands = Vec::with_capacity(alter.cmds.len());
        let mut besides = Vec::new();
        for node in &alter.cmds {
            let mut node = node.clone();
            self.mysql_collated(&mut node, &table);
            let Some(N::AlterTableCmd(of)) = &node.node else { continue };
            match of.subtype() {
                AlterTableType::AtGenericOptions => {
                    if let Some(done) = self.mysql_partition_action(alter, of, &table)? {
                        return Ok(done);
                    }
                    let Some((action, args)) = action_of(of) else {
                        return Err(Error::internal("an action of MySQL's without its name"));
                    };
                    let args: Vec<&str> = args.iter().map(String::as_str).collect();
                    return self.mysql_action(&table, &action, &args).map(Alteration::Whole);
                }
                AlterTableType::AtReAddConstraint => {
                    let Some(N::ColumnDef(column)) = of.def.as_deref().and_then(|node| node.node.as_ref()) else {
                        return Err(Error::internal("MODIFY without a column"));
                    };
                    commands.extend(self.redefined(&table, column)?);
                }
                AlterTableType::AtDropColumn if table.column(&of.name).is_none() => return Err(cannot_drop(&of.name)),
                AlterTableType::AtDropColumn => {
                    mysql_partitions::check_not_parted_by(&table, &of.name)?;
                    let at = table.column(&of.name);
                    let key = table.primary_key().filter(|key| key.columns.len() > 1 && key.columns.contains(&at));
                    if let Some(key) = key {
                        commands.push(command(AlterTableType::AtDropConstraint, &key.name, None));
                    }
                    commands.push(node.clone());
                    // What is left of the primary key is one; the other keys are shortened with the column.
                    if let Some(key) = key {
                        let left = key.columns.iter().filter(|own| **own != at).flatten();
                        let left: Vec<Node> = left
                            .filter_map(|at| table.columns.get(*at))
                            .map(|column| Node { node: Some(N::String(pg::String { sval: column.name.clone() })) })
                            .collect();
                        let contype = ConstrType::ConstrPrimary as i32;
                        let made = pg::Constraint { contype, keys: left, location: -1, ..Default::default() };
                        let made = Node { node: Some(N::Constraint(Box::new(made))) };
                        commands.push(command(AlterTableType::AtAddConstraint, "", Some(made)));
                    }
                }
                AlterTableType::AtColumnDefault if table.column(&of.name).is_none() => {
                    return Err(no_column(&table, &of.name));
                }
                AlterTableType::AtAddConstraint => {
                    let mut node = node.clone();
                    if let Some(N::AlterTableCmd(of)) = &mut node.node
                        && let Some(N::Constraint(added)) = of.def.as_deref_mut().and_then(|node| node.node.as_mut())
                    {
                        name_constraint(&table, added)?;
                        if added.contype() == ConstrType::ConstrPrimary {
                            let key = super::super::names::strings(&added.keys);
                            mysql_partitions::check_partitioned_key(&table, key, true)?;
                        }
                        if added.contype() == ConstrType::ConstrForeign {
                            mysql_partitions::check_no_foreign_key(&table)?;
                            let target = added.pktable.as_ref().map(|range| {
                                let schema = Some(range.schemaname.clone()).filter(|schema| !schema.is_empty());
                                QualifiedName { schema, name: range.relname.clone() }
                            });
                            if let Some(target) = target.and_then(|name| self.schema.relation(&name)) {
                                mysql_partitions::check_no_foreign_key(&target)?;
                            }
                        }
                        if added.contype() == ConstrType::ConstrForeign {
                            let late = self.late_key(&table, added)?;
                            let is_late = late.is_some();
                            besides.push(AlterTable::SetProperty {
                                part: Part::Constraint(added.conname.clone()),
                                name: LateKey::PROPERTY.to_owned(),
                                value: late.map(|key| key.to_property()),
                            });
                            if is_late {
                                continue;
                            }
                        }
                    }
                    commands.push(node);
                }
                _ => commands.push(node.clone()),
            }
        }
        if commands.is_empty() {
            let heirs = Vec::new();
            let ddl = Ddl::AlterTable { table, actions: besides, heirs };
            return Ok(Alteration::Whole(Statement::Ddl(Box::new(ddl))));
        }
        Ok(Alteration::Commands(pg::AlterTableStmt { cmds: commands, ..alter.clone() }, besides))
    }

    /// A foreign key whose table is not there; `None` where it is, and then the key looks there whatever the default
    /// database is.
    ///
    /// # Errors
    /// `42P01` (1824) unless nobody checks.
    fn late_key(&self, table: &Relation, key: &mut pg::Constraint) -> Result<Option<LateKey>> {
        let unchecked = self.context.keys_unchecked;
        let Some(range) = &mut key.pktable else { return Ok(None) };
        if range.schemaname.is_empty() && table.namespace != "pg_temp" {
            range.schemaname.clone_from(&table.namespace);
        }
        // Rows that are there are not looked at.
        key.skip_validation = unchecked;
        key.initially_valid = !unchecked;
        let name = QualifiedName::new(range.schemaname.clone(), range.relname.clone());
        if self.schema.relation(&name).is_some() {
            return Ok(None);
        }
        if !unchecked {
            let message = format!("Failed to open the referenced table '{}'", range.relname);
            return Err(Error::new(Condition::UndefinedTable, message).with_mysql(1824, "HY000"));
        }
        let words = |letter: &str| crate::schema::ReferentialAction::from_letter(letter).words();
        Ok(Some(LateKey::new(
            &key.conname,
            super::super::names::strings(&key.fk_attrs).into_iter(),
            (&range.schemaname, &range.relname),
            super::super::names::strings(&key.pk_attrs).into_iter(),
            (words(&key.fk_del_action), words(&key.fk_upd_action)),
        )))
    }

    fn mysql_action(&mut self, table: &Arc<Relation>, action: &str, args: &[&str]) -> Result<Statement> {
        let alter = |actions: Vec<AlterTable>| {
            let heirs = Vec::new();
            Statement::Ddl(Box::new(Ddl::AlterTable { table: table.clone(), actions, heirs }))
        };
        let drop = |name: &str| {
            alter(vec![AlterTable::DropConstraint { name: name.to_owned(), if_exists: false, cascade: false }])
        };
        match (action, args) {
            ("nothing", _) => Ok(nothing()),
            ("show_key" | "hide_key", [name]) => {
                let index = key_of(table, name).ok_or_else(|| no_key(table, name))?;
                if index.primary {
                    let message = "A primary key index cannot be invisible";
                    return Err(Error::new(Condition::InvalidTableDefinition, message).with_mysql(3522, "HY000"));
                }
                Ok(alter(vec![AlterTable::SetProperty {
                    part: Part::Index(index.name.clone()),
                    name: crate::mysql::INVISIBLE.to_owned(),
                    value: (action == "hide_key").then(|| "true".to_owned()),
                }]))
            }
            ("comment_primary_key", [comment]) => match table.primary_key() {
                Some(index) => {
                    let (relation, part) = (table.clone(), index.name.clone());
                    let text = Some((*comment).to_owned());
                    Ok(Statement::Ddl(Box::new(Ddl::CommentPart { relation, part, index: true, text })))
                }
                None => Err(cannot_drop("PRIMARY")),
            },
            ("has_check", [name]) => {
                self.check_of(table, name)?;
                Ok(nothing())
            }
            ("move", [column, after @ ..]) => {
                let column = table.column(column).ok_or_else(|| no_column(table, column))?;
                let before = match after {
                    [] => 0,
                    [after, ..] => table.column(after).ok_or_else(|| no_column(table, after))? + 1,
                };
                if before == column || before == column + 1 {
                    return Ok(nothing());
                }
                if before < table.columns.len() {
                    return Ok(alter(vec![AlterTable::MoveColumn { column, before }]));
                }
                // To the end: those behind it go before it.
                let behind = column + 1..table.columns.len();
                Ok(alter(behind.map(|other| AlterTable::MoveColumn { column: other, before: column }).collect()))
            }
            ("auto_increment", [number]) => {
                let Some(column) = table.columns.iter().position(|column| column.identity.is_some()) else {
                    // MySQL keeps it for a column that is to come, which begins behind its rows anyhow.
                    return Ok(nothing());
                };
                let restart = number.parse().map_err(|_| {
                    Error::new(Condition::NumericValueOutOfRange, format!("AUTO_INCREMENT = {number} is out of range"))
                })?;
                Ok(alter(vec![AlterTable::SetIdentity {
                    column,
                    always: None,
                    sequence: None,
                    restart: Some(restart),
                }]))
            }
            ("collate", [name]) => {
                self.converted(table, name).map(|actions| if actions.is_empty() { nothing() } else { alter(actions) })
            }
            ("default_collation", [name]) => {
                let clause = collate_clause(name);
                // It has to be one.
                let known = self.declared_collation(Some(&clause), &crate::Type::Text)?;
                let name = known.map_or_else(|| (*name).to_owned(), |collation| collation.name.to_string());
                let value = (name != crate::mysql::COLLATION).then_some(name);
                Ok(alter(vec![AlterTable::SetProperty {
                    part: Part::Table,
                    name: crate::mysql::TABLE_COLLATION.to_owned(),
                    value,
                }]))
            }
            ("order", columns) => {
                if let Some(column) = columns.iter().find(|column| table.column(column).is_none()) {
                    let message = format!("Unknown column '{column}' in 'order clause'");
                    return Err(Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22"));
                }
                // Rows lie by the key that tells them apart, as InnoDB has it.
                let tells_apart = |index: &&Index| {
                    let given = |at: &usize| table.columns.get(*at).is_some_and(|column| column.not_null);
                    index.unique && index.columns.iter().all(|column| column.as_ref().is_some_and(given))
                };
                if table.indexes.iter().find(tells_apart).is_none() {
                    return Err(
                        self.unsupported("ALTER TABLE … ORDER BY of a table without a key that tells rows apart", -1)
                    );
                }
                let message = format!(
                    "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                    table.name
                );
                self.notices.push(Error::new(Condition::Warning, message).with_mysql(1105, "HY000"));
                Ok(nothing())
            }
            ("rename_key", [old, new]) => {
                let index = key_of(table, old).filter(|index| !index.primary).ok_or_else(|| no_key(table, old))?;
                if !old.eq_ignore_ascii_case(new) && key_of(table, new).is_some() {
                    let message = format!("Duplicate key name '{new}'");
                    return Err(Error::new(Condition::DuplicateObject, message).with_mysql(1061, "42000"));
                }
                let to = format!("{}.{new}", table.name);
                if to == index.name {
                    return Ok(nothing());
                }
                let name = QualifiedName::new(table.namespace.clone(), index.name.clone());
                let rename = Ddl::Rename { kind: ObjectKind::Index, name, to, tag: "ALTER TABLE" };
                Ok(Statement::Ddl(Box::new(rename)))
            }
            ("drop_primary_key", _) => match table.indexes.iter().find(|index| index.primary) {
                Some(index) => Ok(drop(&index.name)),
                None => Err(cannot_drop("PRIMARY")),
            },
            ("drop_key", [name]) => match key_of(table, name) {
                Some(index) => self.drop_mysql_key(table, index),
                None => Err(cannot_drop(name)),
            },
            ("drop_foreign_key", [name]) => {
                match table.foreign_keys.iter().find(|key| key.name.eq_ignore_ascii_case(name)) {
                    Some(key) => Ok(drop(&key.name)),
                    None => Err(cannot_drop(name)),
                }
            }
            ("drop_check", [name]) => Ok(drop(&self.check_of(table, name)?)),
            ("drop_constraint", [name]) => {
                let key = table.foreign_keys.iter().map(|key| &key.name);
                let check = table.told_checks().map(|check| &check.name);
                if let Some(found) = key.chain(check).find(|known| known.eq_ignore_ascii_case(name)) {
                    return Ok(drop(found));
                }
                match key_of(table, name).filter(|index| index.unique) {
                    Some(index) => self.drop_mysql_key(table, index),
                    None => {
                        let message = format!("Constraint '{name}' does not exist.");
                        Err(Error::new(Condition::UndefinedObject, message).with_mysql(3940, "HY000"))
                    }
                }
            }
            (other, _) => Err(Error::internal(format!("the action {other} of MySQL's ALTER TABLE"))),
        }
    }

    fn check_of(&self, table: &Relation, name: &str) -> Result<String> {
        let found = table.told_checks().find(|check| check.name.eq_ignore_ascii_case(name));
        found.map(|check| check.name.clone()).ok_or_else(|| {
            let message = format!("Check constraint '{name}' is not found in the table.");
            Error::new(Condition::UndefinedObject, message).with_mysql(3821, "HY000")
        })
    }

    /// DROP of a key by whatever it was made.
    fn drop_mysql_key(&self, table: &Arc<Relation>, index: &Index) -> Result<Statement> {
        let needed = table.foreign_keys.iter().any(|key| {
            finds(index, &key.columns)
                && !table.indexes.iter().any(|other| other.name != index.name && finds(other, &key.columns))
        });
        if needed {
            let message =
                format!("Cannot drop index '{}': needed in a foreign key constraint", shown_key(table, index));
            return Err(Error::new(Condition::DependentObjectsStillExist, message).with_mysql(1553, "HY000"));
        }
        let ddl = match index.primary || index.constraint {
            true => Ddl::AlterTable {
                table: table.clone(),
                actions: vec![AlterTable::DropConstraint {
                    name: index.name.clone(),
                    if_exists: false,
                    cascade: false,
                }],
                heirs: Vec::new(),
            },
            false => Ddl::Drop(Drop {
                kind: ObjectKind::Index,
                names: vec![QualifiedName::new(table.namespace.clone(), index.name.clone())],
                concurrently: false,
                cascade: false,
            }),
        };
        Ok(Statement::Ddl(Box::new(ddl)))
    }

    /// CONVERT TO: each text gets the collation.
    fn converted(&mut self, table: &Arc<Relation>, name: &str) -> Result<Vec<AlterTable>> {
        let clause = collate_clause(name);
        let mut actions = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            let Some(known) = &column.collation else { continue };
            let ty = column.ty.clone();
            let collation = self.declared_collation(Some(&clause), &ty)?;
            if collation.as_ref().is_some_and(|wanted| wanted.name == known.name) {
                continue;
            }
            let using = Expr::column(Text::TABLE, at, ty.clone());
            actions.push(AlterTable::SetType { column: at, ty, collation, using });
        }
        Ok(actions)
    }

    /// MODIFY: a column as it is to be, from what it is.
    fn redefined(&mut self, table: &Arc<Relation>, column: &pg::ColumnDef) -> Result<Vec<Node>> {
        let name = column.colname.as_str();
        let at = table.column(name).ok_or_else(|| no_column(table, name))?;
        let known = &table.columns[at];
        let mut of = column.clone();
        let constraints = std::mem::take(&mut of.constraints);
        let constraints: Vec<pg::Constraint> = constraints
            .into_iter()
            .filter_map(|node| match node.node {
                Some(N::Constraint(constraint)) => Some(*constraint),
                _ => None,
            })
            .collect();
        let has = |kind: ConstrType| constraints.iter().find(|constraint| constraint.contype() == kind);
        if has(ConstrType::ConstrGenerated).is_some() {
            return Err(self.unsupported("MODIFY of what a generated column is computed from", -1));
        }
        let identity = has(ConstrType::ConstrIdentity);
        if let Some(type_name) = &of.type_name {
            let ty = self.resolve_type(type_name)?;
            let collation = self.declared_collation(of.coll_clause.as_deref(), &ty)?;
            let made = crate::schema::Column { ty, collation, ..known.clone() };
            mysql_partitions::check_retyped(table, known, &made)?;
        }
        if let Some(type_name) = &of.type_name
            && table.indexes.iter().any(|index| index.fulltext && index.columns.contains(&Some(at)))
        {
            super::fulltext::check_fulltext_type(name, &self.resolve_type(type_name)?)?;
        }
        let mut commands = Vec::new();
        match (&known.identity, identity) {
            _ if known.generated.is_some() => {
                if identity.is_some() || has(ConstrType::ConstrDefault).is_some() {
                    return Err(self.unsupported("MODIFY of a generated column to one with a default", -1));
                }
                // It keeps the values that were computed.
                commands.push(command(AlterTableType::AtDropExpression, name, None));
            }
            (Some(_), None) => commands.push(command(AlterTableType::AtDropIdentity, name, None)),
            // The default that was there is not converted but replaced.
            (None, _) => commands.push(command(AlterTableType::AtColumnDefault, name, None)),
            (Some(_), Some(_)) => {}
        }
        // One that stays of its type need not be looked at for what is computed from it.
        let stays = match &of.type_name {
            Some(type_name) => {
                let ty = self.resolve_type(type_name)?;
                let collation = self.declared_collation(of.coll_clause.as_deref(), &ty)?;
                let is_same = collation.map(|collation| collation.name.to_string())
                    == known.collation.as_ref().map(|collation| collation.name.to_string());
                ty == known.ty && is_same
            }
            None => false,
        };
        if !stays {
            let definition = Node { node: Some(N::ColumnDef(Box::new(of))) };
            commands.push(command(AlterTableType::AtAlterColumnType, name, Some(definition)));
        }
        let primary = has(ConstrType::ConstrPrimary);
        let in_key = table.primary_key().is_some_and(|key| key.columns.contains(&Some(at)));
        if has(ConstrType::ConstrNotnull).is_some() || identity.is_some() || primary.is_some() {
            commands.push(command(AlterTableType::AtSetNotNull, name, None));
        } else if !in_key {
            commands.push(command(AlterTableType::AtDropNotNull, name, None));
        }
        if let Some(default) = has(ConstrType::ConstrDefault) {
            let value = default.raw_expr.as_deref().cloned();
            commands.push(command(AlterTableType::AtColumnDefault, name, value));
        }
        if let Some(identity) = identity.filter(|_| known.identity.is_none()) {
            let identity = Node { node: Some(N::Constraint(Box::new(identity.clone()))) };
            commands.push(command(AlterTableType::AtAddIdentity, name, Some(identity)));
        }
        for constraint in &constraints {
            let mut added = constraint.clone();
            match constraint.contype() {
                ConstrType::ConstrPrimary => {
                    added.keys = vec![Node { node: Some(N::String(pg::String { sval: name.to_owned() })) }];
                }
                ConstrType::ConstrCheck => {}
                _ => continue,
            }
            name_constraint(table, &mut added)?;
            let added = Node { node: Some(N::Constraint(Box::new(added))) };
            commands.push(command(AlterTableType::AtAddConstraint, name, Some(added)));
        }
        Ok(commands)
    }

    /// A key with the name that it takes in its table.
    pub(super) fn mysql_named_key(index: &pg::IndexStmt, table: &Relation) -> Option<pg::IndexStmt> {
        if !index.idxcomment.ends_with(NAMED_BY_COLUMN) {
            return None;
        }
        let prefix = format!("{}.", table.name);
        let first = index.idxname.strip_prefix(&prefix).unwrap_or(&index.idxname);
        let name = mysql_key_name(first, |name| key_of(table, name).is_some());
        Some(pg::IndexStmt { idxname: format!("{prefix}{name}"), ..index.clone() })
    }

    /// A part of a key that is of the first characters of a column: as the index has it, and how many they are. One that is not
    /// unique is of the whole column, which finds the same rows.
    ///
    /// # Errors
    /// `42P17` (1089) for what has no such characters.
    pub(super) fn mysql_prefix(
        &self,
        element: &pg::IndexElem,
        table: &Relation,
        unique: bool,
    ) -> Result<(Option<pg::IndexElem>, Option<u32>)> {
        if element.indexcolname.is_empty() {
            return Ok((None, None));
        }
        let plain = pg::IndexElem { indexcolname: String::new(), ..element.clone() };
        let Some(column) = table.column(&element.name).map(|at| &table.columns[at]) else {
            return Ok((Some(plain), None));
        };
        let wrong = || {
            let message = "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the \
                           storage engine doesn't support unique prefix keys";
            Error::new(Condition::InvalidObjectDefinition, message).with_mysql(1089, "HY000")
        };
        let length: u32 = element.indexcolname.parse().map_err(|_| wrong())?;
        let words = super::super::mysql::own_words(&column.ty).unwrap_or_default();
        let of_words = words.split(['(', ')']).nth(1).and_then(|length| length.parse().ok());
        let most: Option<u32> = match column.ty.through_domains() {
            crate::Type::Varchar(length) => of_words.or(*length),
            crate::Type::Bytea => of_words,
            ty if ty.is_text() && !words.starts_with("enum") && !words.starts_with("set") => of_words,
            _ => return Err(wrong()),
        };
        match most {
            _ if length == 0 => {
                let message = format!("Key part '{}' length cannot be 0", element.name);
                Err(Error::new(Condition::InvalidObjectDefinition, message).with_mysql(1391, "HY000"))
            }
            Some(most) if length > most => Err(wrong()),
            Some(most) if length == most => Ok((Some(plain), None)),
            _ if !unique => Ok((Some(plain), Some(length))),
            _ => {
                let name = Node { node: Some(N::String(pg::String { sval: element.name.clone() })) };
                let of = N::ColumnRef(pg::ColumnRef { fields: vec![name], location: -1 });
                let ival = i32::try_from(length).map_err(|_| wrong())?;
                let val = Some(a_const::Val::Ival(pg::Integer { ival }));
                let count = N::AConst(pg::AConst { isnull: false, location: -1, val });
                let funcname = vec![Node { node: Some(N::String(pg::String { sval: "left".to_owned() })) }];
                let args = [of, count].map(|node| Node { node: Some(node) }).to_vec();
                let funcformat = pg::CoercionForm::CoerceExplicitCall as i32;
                let call = pg::FuncCall { funcname, args, funcformat, location: -1, ..Default::default() };
                let call = N::FuncCall(Box::new(call));
                let expr = Some(Box::new(Node { node: Some(call) }));
                Ok((Some(pg::IndexElem { name: String::new(), expr, ..plain }), Some(length)))
            }
        }
    }

    /// The collation that a table has for columns that say none.
    fn mysql_table_collation(&self, table: &Relation) -> String {
        let kept = self.schema.table_property(table.oid, crate::mysql::TABLE_COLLATION);
        kept.unwrap_or_else(|| crate::mysql::COLLATION.to_owned())
    }

    /// A column's definition with the collation that it takes from its table.
    fn mysql_collated(&self, node: &mut Node, table: &Relation) {
        let Some(N::AlterTableCmd(of)) = &mut node.node else { return };
        let Some(N::ColumnDef(column)) = of.def.as_deref_mut().and_then(|node| node.node.as_mut()) else { return };
        if let Some(clause) = column.coll_clause.as_deref_mut()
            && super::super::names::strings(&clause.collname).last() == Some(&crate::mysql::OF_TABLE)
        {
            *clause = collate_clause(&self.mysql_table_collation(table));
        }
    }

    /// It is for a foreign key whose rows another finds.
    pub(super) fn is_foreign_key_index(&self, index: &pg::IndexStmt, table: &Relation) -> bool {
        let columns: Option<Vec<usize>> = index
            .index_params
            .iter()
            .map(|node| match &node.node {
                Some(N::IndexElem(element)) => table.column(&element.name),
                _ => None,
            })
            .collect();
        index.idxcomment.starts_with(FOR_FOREIGN_KEY)
            && columns.is_some_and(|columns| table.indexes.iter().any(|index| finds(index, &columns)))
    }
}

/// What is said of an index that MySQL makes for a foreign key where there is none.
pub(crate) const FOR_FOREIGN_KEY: &str = "for a foreign key";

/// What stands behind the name of a key that has none: it is called as its first column, and numbered.
pub(crate) const NAMED_BY_COLUMN: &str = ", named by its column";

fn collate_clause(name: &str) -> pg::CollateClause {
    let name = Node { node: Some(N::String(pg::String { sval: name.to_owned() })) };
    pg::CollateClause { arg: None, collname: vec![name], location: -1 }
}

fn no_key(table: &Relation, name: &str) -> Error {
    let message = format!("Key '{name}' doesn't exist in table '{}'", table.name);
    Error::new(Condition::UndefinedObject, message).with_mysql(1176, "42000")
}

/// A constraint without a name is called as MySQL calls it: by its kind, and counted.
fn name_constraint(table: &Relation, constraint: &mut pg::Constraint) -> Result<()> {
    let (what, known): (Unnamed, Vec<&str>) = match constraint.contype() {
        ConstrType::ConstrForeign => {
            (Unnamed::ForeignKey, table.foreign_keys.iter().map(|key| key.name.as_str()).collect())
        }
        ConstrType::ConstrCheck => (Unnamed::Check, table.told_checks().map(|check| check.name.as_str()).collect()),
        ConstrType::ConstrPrimary if table.primary_key().is_some() => {
            let message = "Multiple primary key defined";
            return Err(Error::new(Condition::InvalidTableDefinition, message).with_mysql(1068, "42000"));
        }
        _ => return Ok(()),
    };
    if constraint.conname.is_empty() {
        constraint.conname = mysql_name(what, &table.name, mysql_number(what, &table.name, known));
    }
    Ok(())
}
