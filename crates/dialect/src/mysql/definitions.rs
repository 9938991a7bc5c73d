//! Definitions: tables, indexes, views, databases.
//!
//! A key is an index of its own, made behind its table. Names of keys belong to their tables in MySQL and to their schemas in
//! the file: they are kept as `table.key`.

use pg_query::protobuf::{
    self as pg, AlterTableType, ConstrType, DropBehavior, Node, ObjectType, OnCommitAction, SqlValueFunctionOp,
    node::Node as N,
};
use sqlparser::ast::{
    ColumnDef, ColumnOption, ColumnOptionDef, CreateIndex, CreateTable, CreateTableLikeKind, CreateTableOptions,
    CreateView, DataType, Expr, ForeignKeyConstraint, Function, GeneratedExpressionMode, Ident, IndexColumn,
    IndexOption, ObjectName, ObjectType as Kind, ReferentialAction, SchemaName, SqlOption, Statement as Ast,
    TableConstraint,
};
use sqlparser::tokenizer::Token;

use super::alter::{altered, command, option};
use super::build::{NOWHERE, boxed, def, list, node, number, select, select_of, text, word};
use super::expressions::name_parts;
use super::statements::{Trees, one};
use super::tree::Converter;
use super::types;
use crate::bind::names::{Unnamed, mysql_name};
use crate::postgres::{FOR_FOREIGN_KEY, NAMED_BY_COLUMN};
use crate::{Condition, Error, Result};

/// The collation of texts where nothing else is said.
pub(crate) const COLLATION: &str = "utf8mb4_0900_ai_ci";

/// Stands for the collation that a table has for columns that say none.
pub(crate) const OF_TABLE: &str = "default of the table";

/// The name of a key within its schema.
fn key_name(table: &str, key: &str) -> String {
    format!("{table}.{key}")
}

pub(super) fn constraint(kind: ConstrType) -> pg::Constraint {
    pg::Constraint {
        contype: kind as i32,
        is_enforced: true,
        initially_valid: true,
        location: NOWHERE,
        ..Default::default()
    }
}

pub(super) fn of_constraint(made: pg::Constraint) -> Node {
    node(N::Constraint(Box::new(made)))
}

/// A key of a table.
pub(super) struct Key {
    name: Option<String>,
    unique: bool,
    columns: Vec<IndexColumn>,
    /// It is for a foreign key, and is made only where no other finds its rows.
    for_foreign_key: bool,
    /// It is one of words.
    fulltext: bool,
    /// What is said of it behind its columns.
    options: KeyOptions,
}

/// What stands behind the columns of a key.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct KeyOptions {
    /// COMMENT; nothing for none.
    pub(super) comment: String,
    /// INVISIBLE.
    pub(super) invisible: bool,
}

impl KeyOptions {
    /// As the parser has read them: it knows INVISIBLE as a comment of ours.
    fn of(options: &[IndexOption]) -> Self {
        let mut made = Self::default();
        for option in options {
            match option {
                IndexOption::Comment(comment) if comment == super::key_options::INVISIBLE => made.invisible = true,
                IndexOption::Comment(comment) if comment == super::key_options::VISIBLE => made.invisible = false,
                IndexOption::Comment(comment) => made.comment.clone_from(comment),
                IndexOption::Using(_) => {}
            }
        }
        made
    }

    /// As options of the index.
    fn nodes(&self) -> Vec<Node> {
        let comment = (!self.comment.is_empty()).then(|| def(super::KEY_COMMENT, Some(text(self.comment.as_str()))));
        comment.into_iter().chain(self.invisible.then(|| def(super::INVISIBLE, None))).collect()
    }
}

impl Key {
    /// Its name, where it is said.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// What a table's definition is made of.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) elements: Vec<Node>,
    pub(super) keys: Vec<Key>,
    /// Comments of columns.
    pub(super) comments: Vec<(String, String)>,
    /// COMMENT of the primary key; nothing for none.
    pub(super) primary_comment: String,
}

impl Parts {
    /// What is said of the primary key, when it is there.
    pub(super) fn of_primary(&self, relation: &pg::RangeVar) -> Option<N> {
        let comment = &self.primary_comment;
        let said = || option("comment_primary_key", vec![text(comment.as_str())]);
        (!comment.is_empty()).then(|| altered(relation, vec![said()]))
    }
}

fn ident_words(idents: &[Ident]) -> Vec<Node> {
    idents.iter().map(|ident| word(ident.value.clone())).collect()
}

fn action(of: Option<ReferentialAction>) -> String {
    match of {
        Some(ReferentialAction::Cascade) => "c",
        Some(ReferentialAction::SetNull) => "n",
        Some(ReferentialAction::SetDefault) => "d",
        Some(ReferentialAction::Restrict) => "r",
        Some(ReferentialAction::NoAction) | None => "a",
    }
    .to_owned()
}

fn foreign_key(key: &ForeignKeyConstraint, pktable: pg::RangeVar) -> Result<pg::Constraint> {
    Ok(pg::Constraint {
        conname: key.name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
        fk_attrs: ident_words(&key.columns),
        pktable: Some(pktable),
        pk_attrs: ident_words(&key.referred_columns),
        fk_matchtype: "s".to_owned(),
        fk_upd_action: action(key.on_update),
        fk_del_action: action(key.on_delete),
        ..constraint(ConstrType::ConstrForeign)
    })
}

/// The name of a column in a key, which is nothing else.
fn key_column(column: &IndexColumn) -> Result<String> {
    match &column.column.expr {
        Expr::Identifier(ident) => Ok(ident.value.clone()),
        // The first characters of it.
        Expr::Function(Function { name, .. }) => Ok(name_parts(name)?.pop().unwrap_or_default()),
        _ => Err(Error::unsupported("an expression in this key")),
    }
}

/// How many of the first characters of a column `name(10)` means.
fn prefix(expr: &Expr) -> Option<String> {
    let Expr::Function(function) = expr else { return None };
    let written = function.args.to_string();
    let digits = written.trim_start_matches('(').trim_end_matches(')');
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.to_owned())
}

/// True for `name(10)`, the first characters of a column.
fn is_prefix(expr: &Expr) -> bool {
    prefix(expr).is_some()
}

/// Looks at the options of a table, those that say how a server stores it and what its texts are in among them; its comment.
fn check_table_options(options: &CreateTableOptions) -> Result<Option<String>> {
    const TEXTS: &[&str] = &[
        "CHARSET",
        "DEFAULT CHARSET",
        "CHARACTER SET",
        "DEFAULT CHARACTER SET",
        "COLLATE",
        "DEFAULT COLLATE",
        "AUTO_INCREMENT",
    ];
    let is_known = |name: &str| {
        let name = name.to_ascii_uppercase();
        TEXTS.iter().chain(super::alter::STORAGE).any(|known| *known == name)
    };
    let options = match options {
        CreateTableOptions::None => return Ok(None),
        CreateTableOptions::Plain(options)
        | CreateTableOptions::With(options)
        | CreateTableOptions::Options(options) => options,
        CreateTableOptions::TableProperties(options) => options,
    };
    let mut comment = None;
    for option in options {
        match option {
            SqlOption::KeyValue { key, .. } if is_known(&key.to_string()) => {}
            SqlOption::NamedParenthesizedList(list) if is_known(&list.key.value) => {}
            SqlOption::Comment(of) => {
                comment = Some(match of {
                    sqlparser::ast::CommentDef::WithEq(text) | sqlparser::ast::CommentDef::WithoutEq(text) => {
                        text.clone()
                    }
                });
            }
            other => return Err(Error::unsupported(format!("the table option {other}"))),
        }
    }
    Ok(comment)
}

/// What an option behind a table says.
fn option_named(options: &CreateTableOptions, names: &[&str]) -> Option<String> {
    let CreateTableOptions::Plain(options) = options else { return None };
    options.iter().find_map(|option| match option {
        SqlOption::KeyValue { key, value } if names.contains(&key.to_string().to_ascii_uppercase().as_str()) => {
            Some(value.to_string().trim_matches(['\'', '"', '`']).to_owned())
        }
        SqlOption::NamedParenthesizedList(list) if names.contains(&list.key.value.to_ascii_uppercase().as_str()) => {
            list.name.as_ref().map(|name| name.value.clone())
        }
        _ => None,
    })
}

/// CURRENT_TIMESTAMP and its synonyms, with the digits of its fraction.
fn current_timestamp(expr: &Expr) -> Option<i32> {
    let Expr::Function(function) = expr else { return None };
    let name = function.name.to_string().to_ascii_lowercase();
    if !matches!(name.as_str(), "current_timestamp" | "now" | "localtime" | "localtimestamp") {
        return None;
    }
    let written = function.args.to_string();
    let digits = written.trim_start_matches('(').trim_end_matches(')');
    if digits.is_empty() { Some(0) } else { digits.parse().ok() }
}

impl Converter<'_> {
    pub(super) fn definition(&mut self, ast: &Ast) -> Result<Trees> {
        match ast {
            Ast::CreateTable(create) => self.create_table(create),
            Ast::CreateIndex(create) => self.create_index(create),
            Ast::CreateView(create) => self.create_view(create),
            Ast::Drop { object_type, if_exists, names, table, cascade, .. } => {
                self.drop(object_type, *if_exists, names, table.as_ref(), *cascade)
            }
            Ast::Truncate(truncate) => {
                let relations = truncate
                    .table_names
                    .iter()
                    .map(|target| Ok(node(N::RangeVar(self.range_var(&target.name)?))))
                    .collect::<Result<_>>()?;
                one(N::TruncateStmt(pg::TruncateStmt {
                    relations,
                    restart_seqs: true,
                    behavior: DropBehavior::DropRestrict as i32,
                }))
            }
            Ast::RenameTable(renames) => {
                let rename = |of: &sqlparser::ast::RenameTable| renamed_table(self, &of.old_name, &of.new_name);
                let trees: Vec<Vec<N>> = renames.iter().map(rename).collect::<Result<_>>()?;
                let trees: Vec<N> = trees.into_iter().flatten().collect();
                if trees.is_empty() {
                    return Err(Error::new(Condition::DuplicateTable, "a table that is renamed to its own name"));
                }
                Ok((trees, false))
            }
            Ast::CreateDatabase { db_name, if_not_exists, .. } => {
                one(created_schema(name_parts(db_name)?.pop().unwrap_or_default(), *if_not_exists))
            }
            Ast::CreateSchema { schema_name: SchemaName::Simple(name), if_not_exists, .. } => {
                one(created_schema(name_parts(name)?.pop().unwrap_or_default(), *if_not_exists))
            }
            other => {
                let written = other.to_string();
                let mut words = written.split_whitespace();
                let first = words.next().unwrap_or_default().to_uppercase();
                let name = match words.next() {
                    Some(second) if second.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                        format!("{first} {}", second.to_uppercase())
                    }
                    _ => first,
                };
                Err(Error::unsupported(name))
            }
        }
    }

    fn create_table(&mut self, create: &CreateTable) -> Result<Trees> {
        if create.or_replace {
            return Err(Error::unsupported("CREATE OR REPLACE TABLE"));
        }
        let partitions = std::mem::take(&mut self.modifiers.partitions);
        let partitions = match partitions.is_empty() {
            true => None,
            false => Some(self.partition_by_of(&partitions)?),
        };
        let mut relation = self.range_var(&create.name)?;
        if create.temporary {
            relation.relpersistence = "t".to_owned();
        }
        let mut comment = check_table_options(&create.table_options)?;
        if let Some(engine) = option_named(&create.table_options, &["ENGINE"]) {
            super::alter::check_engine(&engine, self.modes)?;
        }
        self.first_number = option_named(&create.table_options, &["AUTO_INCREMENT"]);
        let collation = option_named(&create.table_options, &["COLLATE", "DEFAULT COLLATE"]);
        self.table_collation = Some(collation.clone().unwrap_or_else(|| COLLATION.to_owned()));
        if let Some(of) = &create.comment {
            comment = Some(match of {
                sqlparser::ast::CommentDef::WithEq(text) | sqlparser::ast::CommentDef::WithoutEq(text) => text.clone(),
            });
        }
        if let Some(CreateTableLikeKind::Plain(like) | CreateTableLikeKind::Parenthesized(like)) = &create.like {
            let element = node(N::TableLikeClause(pg::TableLikeClause {
                relation: Some(self.range_var(&like.name)?),
                // INCLUDING ALL.
                options: 0x7fff_ffff,
                relation_oid: 0,
            }));
            return one(created(relation, vec![element], create.if_not_exists));
        }
        let table = relation.relname.clone();
        let mut parts = Parts::default();
        for column in &create.columns {
            self.column(column, &mut parts)?;
        }
        for of in &create.constraints {
            self.constraint(of, &mut parts)?;
        }
        if let Some(query) = &create.query {
            if !parts.elements.is_empty() {
                return Err(Error::unsupported("columns beside the query of CREATE TABLE"));
            }
            let query = self.query(query)?;
            let target = relation.clone();
            let (mut trees, silent) = one(N::CreateTableAsStmt(Box::new(pg::CreateTableAsStmt {
                query: boxed(select_of(query)),
                into: Some(Box::new(pg::IntoClause {
                    rel: Some(relation),
                    on_commit: OnCommitAction::OncommitNoop as i32,
                    ..Default::default()
                })),
                objtype: ObjectType::ObjectTable as i32,
                is_select_into: false,
                if_not_exists: create.if_not_exists,
            })))?;
            trees.extend(partitions.map(|made| altered(&target, vec![made])));
            return Ok((trees, silent));
        }
        check_numbered(create, &parts)?;
        let of_primary = parts.of_primary(&relation);
        name_constraints(&table, &mut parts.elements);
        // What is made for foreign keys comes last: others may find their rows.
        parts.keys.sort_by_key(|key| key.for_foreign_key);
        // Foreign keys come when all else is there: their tables may be this one, or not there yet.
        let is_key = |element: &Node| matches!(&element.node, Some(N::Constraint(of)) if of.contype() == ConstrType::ConstrForeign);
        let (keys, elements): (Vec<Node>, Vec<Node>) = parts.elements.into_iter().partition(is_key);
        let mut trees = vec![created(relation.clone(), elements, create.if_not_exists)];
        for key in &parts.keys {
            trees.push(self.index(&relation, &table, key, create.if_not_exists)?);
        }
        trees.extend(
            keys.into_iter()
                .map(|key| altered(&relation, vec![command(AlterTableType::AtAddConstraint, "", Some(key))])),
        );
        trees.extend(of_primary);
        trees.extend(comments(&relation, comment, parts.comments));
        if let Some(collation) = collation.filter(|named| !named.eq_ignore_ascii_case(COLLATION)) {
            trees.push(altered(&relation, vec![option("default_collation", vec![text(collation)])]));
        }
        trees.extend(partitions.map(|made| altered(&relation, vec![made])));
        Ok((trees, false))
    }

    fn column(&mut self, column: &ColumnDef, parts: &mut Parts) -> Result<()> {
        let name = column.name.value.clone();
        let made = self.column_definition(&name, &column.data_type, &column.options, parts)?;
        parts.elements.push(node(N::ColumnDef(Box::new(made))));
        Ok(())
    }

    pub(super) fn column_definition(
        &mut self,
        name: &str,
        ty: &DataType,
        options: &[ColumnOptionDef],
        parts: &mut Parts,
    ) -> Result<pg::ColumnDef> {
        // SERIAL says it already.
        let is_serial = matches!(ty, DataType::Custom(custom, _) if custom.to_string().eq_ignore_ascii_case("serial"));
        let own = |words: &[Token], wanted: &str| matches!(words, [Token::Word(word)] if word.value.eq_ignore_ascii_case(wanted));
        let longer = types::fitting(ty, name, self.modes.strict)?;
        let ty = longer.as_ref().unwrap_or(ty);
        let declared = match ty {
            // SERIAL.
            DataType::Custom(custom, _) if custom.to_string().eq_ignore_ascii_case("serial") => {
                types::declared(&DataType::BigIntUnsigned(None))?
            }
            DataType::Real if self.modes.real_as_float => types::declared(&DataType::Float4)?,
            ty => match options.iter().find_map(|of| match &of.option {
                ColumnOption::OnUpdate(expr) => Some(expr),
                _ => None,
            }) {
                Some(expr) if current_timestamp(expr).is_some() => types::renewed(ty, name)?,
                Some(_) => return Err(Error::syntax("ON UPDATE wants CURRENT_TIMESTAMP")),
                None => types::declared(ty)?,
            },
        };
        if let Some(name) = declared.domain {
            let made = types::made(&name).ok_or_else(|| Error::unsupported(format!("the type {name}")))?;
            if !self.types.iter().any(|(known, _)| *known == name) {
                self.types.push((name, made));
            }
        }
        let mut collation = declared.collation;
        let has = |wanted: fn(&ColumnOption) -> bool| options.iter().any(|option| wanted(&option.option));
        let is_null = |expr: &Expr| matches!(expr, Expr::Value(value) if value.value == sqlparser::ast::Value::Null);
        if has(|option| matches!(option, ColumnOption::NotNull | ColumnOption::PrimaryKey(_)))
            && options.iter().any(|option| matches!(&option.option, ColumnOption::Default(expr) if is_null(expr)))
        {
            let message = format!("Invalid default value for '{name}'");
            return Err(Error::new(Condition::InvalidColumnDefinition, message).with_mysql(1067, "42000"));
        }
        let mut constraints = Vec::new();
        for ColumnOptionDef { option, name: named } in options {
            match option {
                ColumnOption::Null => {}
                ColumnOption::NotNull if is_serial => {}
                ColumnOption::NotNull => constraints.push(of_constraint(constraint(ConstrType::ConstrNotnull))),
                ColumnOption::Default(expr) => {
                    let raw_expr = boxed(self.default(expr)?);
                    constraints
                        .push(of_constraint(pg::Constraint { raw_expr, ..constraint(ConstrType::ConstrDefault) }));
                }
                ColumnOption::PrimaryKey(_) => {
                    constraints.push(of_constraint(constraint(ConstrType::ConstrPrimary)));
                }
                ColumnOption::Unique(_) => parts.keys.push(Key {
                    name: None,
                    unique: true,
                    columns: vec![IndexColumn::from(Ident::new(name))],
                    for_foreign_key: false,
                    fulltext: false,
                    options: KeyOptions::default(),
                }),
                ColumnOption::ForeignKey(_) => {
                    // MySQL reads REFERENCES behind a column and forgets it.
                    return Err(Error::unsupported("REFERENCES behind a column (write FOREIGN KEY)"));
                }
                ColumnOption::Check(check) => {
                    let raw_expr = boxed(self.expression(&check.expr)?);
                    let named = check.name.as_ref().or(named.as_ref());
                    let conname = named.map(|name| name.value.clone()).unwrap_or_default();
                    constraints.push(of_constraint(pg::Constraint {
                        raw_expr,
                        conname,
                        ..constraint(ConstrType::ConstrCheck)
                    }));
                }
                ColumnOption::DialectSpecific(words) if is_serial && own(words, "auto_increment") => {}
                ColumnOption::DialectSpecific(words) if own(words, "auto_increment") => {
                    let first = self.first_number.take();
                    constraints.push(of_constraint(pg::Constraint {
                        generated_when: "d".to_owned(),
                        options: first.map(|first| def("start", Some(number(&first)))).into_iter().collect(),
                        ..constraint(ConstrType::ConstrIdentity)
                    }));
                }
                ColumnOption::CharacterSet(charset) => {
                    if charset.to_string().eq_ignore_ascii_case("binary") {
                        return Err(Error::unsupported("CHARACTER SET binary (use VARBINARY or BLOB)"));
                    }
                }
                ColumnOption::Collation(named) => collation = name_parts(named)?.pop(),
                ColumnOption::Comment(comment) => parts.comments.push((name.to_owned(), comment.clone())),
                ColumnOption::Generated { generation_expr: Some(expr), generation_expr_mode, .. } => {
                    let raw_expr = boxed(self.expression(expr)?);
                    let kind = match generation_expr_mode {
                        Some(GeneratedExpressionMode::Stored) => "s",
                        Some(GeneratedExpressionMode::Virtual) | None => "v",
                    };
                    constraints.push(of_constraint(pg::Constraint {
                        raw_expr,
                        generated_when: "a".to_owned(),
                        generated_kind: kind.to_owned(),
                        ..constraint(ConstrType::ConstrGenerated)
                    }));
                }
                // The type's words say it.
                ColumnOption::OnUpdate(_) => {}
                other => return Err(Error::unsupported(format!("the column option {other}"))),
            }
        }
        if is_serial {
            constraints.push(of_constraint(constraint(ConstrType::ConstrNotnull)));
            constraints.push(of_constraint(pg::Constraint {
                generated_when: "d".to_owned(),
                ..constraint(ConstrType::ConstrIdentity)
            }));
            let columns = vec![IndexColumn::from(Ident::new(name))];
            let (for_foreign_key, fulltext, options) = (false, false, KeyOptions::default());
            parts.keys.push(Key { name: None, unique: true, columns, for_foreign_key, fulltext, options });
        }
        let coll_clause = types::is_text(ty).then(|| {
            // The binder knows that of a table that is there.
            let of_table = || self.table_collation.clone().unwrap_or_else(|| OF_TABLE.to_owned());
            let named = collation.unwrap_or_else(of_table).to_ascii_lowercase();
            Box::new(pg::CollateClause { arg: None, collname: vec![word(named)], location: NOWHERE })
        });
        Ok(pg::ColumnDef {
            colname: name.to_owned(),
            type_name: Some(declared.name),
            is_local: true,
            coll_clause,
            constraints,
            location: NOWHERE,
            ..Default::default()
        })
    }

    /// What a column has where nothing is given: a constant, or a moment.
    pub(super) fn default(&mut self, expr: &Expr) -> Result<Node> {
        let expr = match expr {
            Expr::Nested(inner) => inner,
            expr => expr,
        };
        if let Some(digits) = current_timestamp(expr) {
            return Ok(node(N::SqlvalueFunction(Box::new(pg::SqlValueFunction {
                op: SqlValueFunctionOp::SvfopLocaltimestampN as i32,
                typmod: digits,
                location: NOWHERE,
                ..Default::default()
            }))));
        }
        self.expression(expr)
    }

    pub(super) fn constraint(&mut self, of: &TableConstraint, parts: &mut Parts) -> Result<()> {
        match of {
            TableConstraint::PrimaryKey(key) => {
                let keys = key.columns.iter().map(|column| key_column(column).map(word)).collect::<Result<_>>()?;
                parts.elements.push(of_constraint(pg::Constraint { keys, ..constraint(ConstrType::ConstrPrimary) }));
                let options = KeyOptions::of(&key.index_options);
                if options.invisible {
                    let message = "A primary key index cannot be invisible";
                    return Err(Error::new(Condition::InvalidTableDefinition, message).with_mysql(3522, "HY000"));
                }
                parts.primary_comment = options.comment;
            }
            TableConstraint::Unique(key) => {
                let name = key.index_name.as_ref().or(key.name.as_ref()).map(|name| name.value.clone());
                parts.keys.push(Key {
                    name,
                    unique: true,
                    columns: key.columns.clone(),
                    for_foreign_key: false,
                    fulltext: false,
                    options: KeyOptions::of(&key.index_options),
                });
            }
            TableConstraint::Index(key) => {
                let name = key.name.as_ref().map(|name| name.value.clone());
                parts.keys.push(Key {
                    name,
                    unique: false,
                    columns: key.columns.clone(),
                    for_foreign_key: false,
                    fulltext: false,
                    options: KeyOptions::of(&key.index_options),
                });
            }
            TableConstraint::ForeignKey(key) => {
                parts.elements.push(of_constraint(foreign_key(key, self.range_var(&key.foreign_table)?)?));
                let name = key.name.as_ref().or(key.index_name.as_ref()).map(|name| name.value.clone());
                let columns = key.columns.iter().cloned().map(IndexColumn::from).collect();
                let (unique, for_foreign_key, fulltext, options) = (false, true, false, KeyOptions::default());
                parts.keys.push(Key { name, unique, columns, for_foreign_key, fulltext, options });
            }
            TableConstraint::Check(check) => {
                if check.enforced == Some(false) {
                    return Err(Error::unsupported("CHECK … NOT ENFORCED"));
                }
                let raw_expr = boxed(self.expression(&check.expr)?);
                let conname = check.name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
                let made = pg::Constraint { raw_expr, conname, ..constraint(ConstrType::ConstrCheck) };
                parts.elements.push(of_constraint(made));
            }
            TableConstraint::FulltextOrSpatial(key) => {
                if !key.fulltext {
                    return Err(Error::unsupported("SPATIAL keys"));
                }
                let name = key.opt_index_name.as_ref().map(|name| name.value.clone());
                let (unique, for_foreign_key, fulltext) = (false, false, true);
                // In the order in which they stand.
                let options = self.modifiers.next_fulltext_options();
                let columns = key.columns.clone();
                parts.keys.push(Key { name, unique, columns, for_foreign_key, fulltext, options });
            }
            _ => return Err(Error::unsupported("this constraint")),
        }
        Ok(())
    }

    /// A key as an index.
    pub(super) fn index(&mut self, relation: &pg::RangeVar, table: &str, key: &Key, if_not_exists: bool) -> Result<N> {
        let mut index_params = Vec::new();
        for column in &key.columns {
            let order = &column.column.options;
            let descends = order.sort.as_ref().is_some_and(|sort| matches!(sort, sqlparser::ast::OrderBySort::Desc));
            let ordering = if descends { pg::SortByDir::SortbyDesc } else { pg::SortByDir::SortbyDefault };
            let (name, expr) = match &column.column.expr {
                Expr::Identifier(ident) => (ident.value.clone(), None),
                expr if is_prefix(expr) => (key_column(column)?, None),
                Expr::Nested(expr) => (String::new(), boxed(self.expression(expr)?)),
                expr => (String::new(), boxed(self.expression(expr)?)),
            };
            index_params.push(node(N::IndexElem(Box::new(pg::IndexElem {
                name,
                expr,
                // What the binder makes of it depends on the column.
                // How many characters a part of a full-text key is said to be says nothing.
                indexcolname: prefix(&column.column.expr).filter(|_| !key.fulltext).unwrap_or_default(),
                ordering: ordering as i32,
                nulls_ordering: pg::SortByNulls::SortbyNullsDefault as i32,
                ..Default::default()
            }))));
        }
        let name = match &key.name {
            Some(name) => name.clone(),
            // The binder, which knows the table's keys, numbers those of one name. One of an expression has none to take.
            None => key.columns.first().map(key_column).transpose().unwrap_or_default().unwrap_or_default(),
        };
        Ok(N::IndexStmt(Box::new(pg::IndexStmt {
            idxname: key_name(table, &name),
            relation: Some(pg::RangeVar { alias: None, ..relation.clone() }),
            access_method: if key.fulltext { super::FULLTEXT } else { "btree" }.to_owned(),
            index_params,
            unique: key.unique,
            if_not_exists,
            options: key.options.nodes(),
            idxcomment: [(key.for_foreign_key, FOR_FOREIGN_KEY), (key.name.is_none(), NAMED_BY_COLUMN)]
                .iter()
                .filter_map(|(is_so, said)| is_so.then_some(*said))
                .collect(),
            ..Default::default()
        })))
    }

    fn create_index(&mut self, create: &CreateIndex) -> Result<Trees> {
        let relation = self.range_var(&create.table_name)?;
        let name = create.name.as_ref().map(name_parts).transpose()?.and_then(|mut parts| parts.pop());
        let key = Key {
            name,
            unique: create.unique,
            columns: create.columns.clone(),
            for_foreign_key: false,
            fulltext: self.modifiers.fulltext,
            options: match self.modifiers.fulltext {
                true => self.modifiers.next_fulltext_options(),
                false => KeyOptions::of(&create.index_options),
            },
        };
        let table = relation.relname.clone();
        one(self.index(&relation, &table, &key, create.if_not_exists)?)
    }

    fn create_view(&mut self, create: &CreateView) -> Result<Trees> {
        if create.materialized {
            return Err(Error::unsupported("MATERIALIZED VIEW"));
        }
        let security = create.params.as_ref().and_then(|params| params.security.as_ref());
        if security.is_some_and(|security| matches!(security, sqlparser::ast::CreateViewSecurity::Invoker)) {
            return Err(Error::unsupported("SQL SECURITY INVOKER"));
        }
        let aliases = create.columns.iter().map(|column| word(column.name.value.clone())).collect();
        let query = self.query(&create.query)?;
        if self.names_variables {
            let error = Error::unsupported("a view of variables");
            let message = "View's SELECT contains a variable or parameter";
            return Err(Error::new(error.condition(), message).with_mysql(1351, "HY000"));
        }
        let view = self.range_var(&create.name)?;
        let mut trees = Vec::new();
        if self.view.alters {
            // It has to be there.
            trees.push(N::SelectStmt(Box::new(pg::SelectStmt {
                from_clause: vec![node(N::RangeVar(view.clone()))],
                limit_count: boxed(number("0")),
                ..select()
            })));
        }
        trees.push(N::ViewStmt(Box::new(pg::ViewStmt {
            view: Some(view),
            aliases,
            query: boxed(select_of(query)),
            replace: create.or_replace || self.view.alters,
            options: Vec::new(),
            with_check_option: self.view.check.unwrap_or(pg::ViewCheckOption::NoCheckOption) as i32,
        })));
        Ok((trees, false))
    }

    fn drop(
        &mut self,
        kind: &Kind,
        if_exists: bool,
        names: &[ObjectName],
        table: Option<&ObjectName>,
        _cascade: bool,
    ) -> Result<Trees> {
        let dropped = |kind: ObjectType, objects: Vec<Node>, behavior: DropBehavior| {
            one(N::DropStmt(pg::DropStmt {
                objects,
                remove_type: kind as i32,
                behavior: behavior as i32,
                missing_ok: if_exists,
                concurrent: false,
            }))
        };
        let qualified = |name: &ObjectName| Ok(list(self.relation_parts(name)?.into_iter().map(word).collect()));
        match kind {
            Kind::Table => {
                let objects = names.iter().map(qualified).collect::<Result<_>>()?;
                dropped(ObjectType::ObjectTable, objects, DropBehavior::DropRestrict)
            }
            Kind::View => {
                let objects = names.iter().map(qualified).collect::<Result<_>>()?;
                dropped(ObjectType::ObjectView, objects, DropBehavior::DropRestrict)
            }
            Kind::Schema | Kind::Database => {
                let objects =
                    names.iter().map(|name| Ok(word(name.to_string().replace('`', "")))).collect::<Result<_>>()?;
                dropped(ObjectType::ObjectSchema, objects, DropBehavior::DropCascade)
            }
            Kind::Index => {
                let (Some(table), [name]) = (table, names) else {
                    return Err(Error::syntax("DROP INDEX wants ON and a table"));
                };
                let key = name_parts(name)?.pop().unwrap_or_default();
                one(altered(&self.range_var(table)?, vec![option("drop_key", vec![text(key)])]))
            }
            other => Err(Error::unsupported(format!("DROP {other}"))),
        }
    }
}

/// One column numbers itself at most, and is the first of a key; there is a column at all.
fn check_numbered(create: &CreateTable, parts: &Parts) -> Result<()> {
    let invalid = |code: u16, message: &str| {
        Err(Error::new(Condition::InvalidTableDefinition, message).with_mysql(code, "42000"))
    };
    if create.columns.is_empty() {
        return invalid(1113, "A table must have at least 1 column");
    }
    let is_numbered = |option: &ColumnOptionDef| {
        matches!(&option.option, ColumnOption::DialectSpecific(words)
            if matches!(words.as_slice(), [Token::Word(word)] if word.value.eq_ignore_ascii_case("auto_increment")))
    };
    let mut numbered = create.columns.iter().filter(|column| column.options.iter().any(is_numbered));
    let Some(column) = numbered.next() else { return Ok(()) };
    let leads = |columns: &[IndexColumn]| match columns.first() {
        Some(first) => key_column(first).is_ok_and(|name| name.eq_ignore_ascii_case(&column.name.value)),
        None => false,
    };
    let is_key = column.options.iter().any(|option| matches!(option.option, ColumnOption::PrimaryKey(_)))
        || parts.keys.iter().any(|key| leads(&key.columns))
        || create.constraints.iter().any(|of| matches!(of, TableConstraint::PrimaryKey(key) if leads(&key.columns)));
    if numbered.next().is_some() || !is_key {
        let message = "Incorrect table definition; there can be only one auto column and it must be defined as a key";
        return invalid(1075, message);
    }
    Ok(())
}

/// Foreign keys and checks without a name are called by the table, their kind and a number.
fn name_constraints(table: &str, elements: &mut [Node]) {
    let (mut keys, mut checks) = (0, 0);
    let mut name = |constraint: &mut pg::Constraint| {
        let (count, what) = match constraint.contype() {
            ConstrType::ConstrForeign => (&mut keys, Unnamed::ForeignKey),
            ConstrType::ConstrCheck => (&mut checks, Unnamed::Check),
            _ => return,
        };
        if constraint.conname.is_empty() {
            *count += 1;
            constraint.conname = mysql_name(what, table, *count);
        }
    };
    for element in elements {
        match &mut element.node {
            Some(N::Constraint(constraint)) => name(constraint),
            Some(N::ColumnDef(column)) => {
                for constraint in &mut column.constraints {
                    if let Some(N::Constraint(constraint)) = &mut constraint.node {
                        name(constraint);
                    }
                }
            }
            _ => {}
        }
    }
}

fn created(relation: pg::RangeVar, table_elts: Vec<Node>, if_not_exists: bool) -> N {
    N::CreateStmt(pg::CreateStmt {
        relation: Some(relation),
        table_elts,
        oncommit: OnCommitAction::OncommitNoop as i32,
        if_not_exists,
        ..Default::default()
    })
}

/// CREATE SCHEMA of MySQL's own types.
pub(super) fn schema_of_types() -> N {
    created_schema(types::SCHEMA.to_owned(), true)
}

fn created_schema(schemaname: String, if_not_exists: bool) -> N {
    N::CreateSchemaStmt(pg::CreateSchemaStmt { schemaname, authrole: None, schema_elts: Vec::new(), if_not_exists })
}

/// RENAME TABLE: into another database, too.
pub(super) fn renamed_table(converter: &Converter<'_>, from: &ObjectName, to: &ObjectName) -> Result<Vec<N>> {
    let relation = converter.range_var(from)?;
    let target = converter.range_var(to)?;
    let mut trees = Vec::new();
    let mut moved = relation.clone();
    if !target.schemaname.is_empty() && target.schemaname != relation.schemaname {
        trees.push(N::AlterObjectSchemaStmt(Box::new(pg::AlterObjectSchemaStmt {
            object_type: ObjectType::ObjectTable as i32,
            relation: Some(relation.clone()),
            newschema: target.schemaname.clone(),
            ..Default::default()
        })));
        moved.schemaname.clone_from(&target.schemaname);
    }
    if target.relname != relation.relname {
        trees.push(N::RenameStmt(Box::new(pg::RenameStmt {
            rename_type: ObjectType::ObjectTable as i32,
            relation: Some(moved),
            newname: target.relname,
            behavior: DropBehavior::DropRestrict as i32,
            ..Default::default()
        })));
    }
    Ok(trees)
}

pub(super) fn renamed_column(relation: &pg::RangeVar, from: &str, to: &str) -> N {
    N::RenameStmt(Box::new(pg::RenameStmt {
        rename_type: ObjectType::ObjectColumn as i32,
        relation_type: ObjectType::ObjectTable as i32,
        relation: Some(relation.clone()),
        subname: from.to_owned(),
        newname: to.to_owned(),
        behavior: DropBehavior::DropRestrict as i32,
        ..Default::default()
    }))
}

/// COMMENT ON a table and its columns.
pub(super) fn comments(relation: &pg::RangeVar, table: Option<String>, columns: Vec<(String, String)>) -> Vec<N> {
    let names = || {
        let schema = Some(relation.schemaname.clone()).filter(|schema| !schema.is_empty());
        schema.into_iter().chain([relation.relname.clone()]).map(word).collect::<Vec<_>>()
    };
    let of_table = table.map(|comment| {
        N::CommentStmt(Box::new(pg::CommentStmt {
            objtype: ObjectType::ObjectTable as i32,
            object: boxed(list(names())),
            comment,
        }))
    });
    let of_column = columns.into_iter().map(|(column, comment)| {
        let mut object = names();
        object.push(word(column));
        N::CommentStmt(Box::new(pg::CommentStmt {
            objtype: ObjectType::ObjectColumn as i32,
            object: boxed(list(object)),
            comment,
        }))
    });
    of_table.into_iter().chain(of_column).collect()
}
