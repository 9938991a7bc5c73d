//! Definitions: tables, indexes, views, databases.
//!
//! A key is an index of its own, made behind its table. Names of keys belong to their tables in MySQL and to their schemas in
//! the file: they are kept as `table.key`.

use pg_query::protobuf::{
    self as pg, AlterTableType, ConstrType, DropBehavior, Node, ObjectType, OnCommitAction, SqlValueFunctionOp,
    node::Node as N,
};
use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnDef, ColumnOption, ColumnOptionDef, CreateIndex,
    CreateTable, CreateTableLikeKind, CreateTableOptions, CreateView, DataType, Expr, ForeignKeyConstraint, Function,
    GeneratedExpressionMode, Ident, IndexColumn, MySQLColumnPosition, ObjectName, ObjectType as Kind,
    ReferentialAction, RenameTableNameKind, SchemaName, SqlOption, Statement as Ast, TableConstraint,
};
use sqlparser::tokenizer::Token;

use super::build::{NOWHERE, boxed, def, list, node, number, select_of, text, word};
use super::expressions::name_parts;
use super::statements::{Trees, nothing, one};
use super::tree::Converter;
use super::types;
use crate::{Error, Result};

/// The collation of texts where nothing else is said.
pub(super) const COLLATION: &str = "utf8mb4_0900_ai_ci";

/// The name of a key within its schema.
fn key_name(table: &str, key: &str) -> String {
    format!("{table}.{key}")
}

fn constraint(kind: ConstrType) -> pg::Constraint {
    pg::Constraint {
        contype: kind as i32,
        is_enforced: true,
        initially_valid: true,
        location: NOWHERE,
        ..Default::default()
    }
}

fn of_constraint(made: pg::Constraint) -> Node {
    node(N::Constraint(Box::new(made)))
}

/// A key of a table.
struct Key {
    name: Option<String>,
    unique: bool,
    columns: Vec<IndexColumn>,
}

/// What a table's definition is made of.
#[derive(Default)]
struct Parts {
    elements: Vec<Node>,
    keys: Vec<Key>,
    /// Comments of columns.
    comments: Vec<(String, String)>,
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
        // A prefix, which is the whole here: it finds the same rows.
        Expr::Function(Function { name, .. }) => Ok(name_parts(name)?.pop().unwrap_or_default()),
        _ => Err(Error::unsupported("an expression in this key")),
    }
}

/// True for `name(10)`, the first characters of a column.
fn is_prefix(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => {
            let written = function.args.to_string();
            let digits = written.trim_start_matches('(').trim_end_matches(')');
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

/// Options of tables that say how a server stores them: every dump has them.
fn check_table_options(options: &CreateTableOptions) -> Result<Option<String>> {
    const STORAGE: &[&str] = &[
        "ENGINE",
        "CHARSET",
        "DEFAULT CHARSET",
        "CHARACTER SET",
        "DEFAULT CHARACTER SET",
        "COLLATE",
        "DEFAULT COLLATE",
        "ROW_FORMAT",
        "AUTO_INCREMENT",
        "STATS_PERSISTENT",
        "STATS_AUTO_RECALC",
        "STATS_SAMPLE_PAGES",
        "PACK_KEYS",
        "CHECKSUM",
        "DELAY_KEY_WRITE",
        "MAX_ROWS",
        "MIN_ROWS",
        "AVG_ROW_LENGTH",
        "KEY_BLOCK_SIZE",
        "COMPRESSION",
    ];
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
            SqlOption::KeyValue { key, .. } if STORAGE.contains(&key.to_string().to_ascii_uppercase().as_str()) => {}
            SqlOption::NamedParenthesizedList(list)
                if STORAGE.contains(&list.key.value.to_ascii_uppercase().as_str()) => {}
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
            Ast::AlterTable(alter) => self.alter_table(alter),
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
                Ok((renames.iter().map(rename).collect::<Result<_>>()?, false))
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
        if create.partition_by.is_some() {
            return Err(Error::unsupported("PARTITION BY"));
        }
        let mut relation = self.range_var(&create.name)?;
        if create.temporary {
            relation.relpersistence = "t".to_owned();
        }
        let mut comment = check_table_options(&create.table_options)?;
        self.first_number = option_named(&create.table_options, &["AUTO_INCREMENT"]);
        self.table_collation = option_named(&create.table_options, &["COLLATE", "DEFAULT COLLATE"]);
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
            return one(N::CreateTableAsStmt(Box::new(pg::CreateTableAsStmt {
                query: boxed(select_of(query)),
                into: Some(Box::new(pg::IntoClause {
                    rel: Some(relation),
                    on_commit: OnCommitAction::OncommitNoop as i32,
                    ..Default::default()
                })),
                objtype: ObjectType::ObjectTable as i32,
                is_select_into: false,
                if_not_exists: create.if_not_exists,
            })));
        }
        let mut trees = vec![created(relation.clone(), parts.elements, create.if_not_exists)];
        for (at, key) in parts.keys.iter().enumerate() {
            trees.push(self.index(&relation, &table, key, at, create.if_not_exists)?);
        }
        trees.extend(comments(&relation, comment, parts.comments));
        Ok((trees, false))
    }

    fn column(&mut self, column: &ColumnDef, parts: &mut Parts) -> Result<()> {
        let name = column.name.value.clone();
        let made = self.column_definition(&name, &column.data_type, &column.options, parts)?;
        parts.elements.push(node(N::ColumnDef(Box::new(made))));
        Ok(())
    }

    fn column_definition(
        &mut self,
        name: &str,
        ty: &DataType,
        options: &[ColumnOptionDef],
        parts: &mut Parts,
    ) -> Result<pg::ColumnDef> {
        let own = |words: &[Token], wanted: &str| matches!(words, [Token::Word(word)] if word.value.eq_ignore_ascii_case(wanted));
        let declared = match ty {
            // SERIAL.
            DataType::Custom(custom, _) if custom.to_string().eq_ignore_ascii_case("serial") => {
                types::declared(&DataType::BigIntUnsigned(None))?
            }
            ty => types::declared(ty)?,
        };
        if let Some(name) = declared.domain {
            let made = types::made(&name).ok_or_else(|| Error::unsupported(format!("the type {name}")))?;
            if !self.types.iter().any(|(known, _)| *known == name) {
                self.types.push((name, made));
            }
        }
        let mut collation = declared.collation;
        let mut constraints = Vec::new();
        for ColumnOptionDef { option, .. } in options {
            match option {
                ColumnOption::Null => {}
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
                    name: Some(name.to_owned()),
                    unique: true,
                    columns: vec![IndexColumn::from(Ident::new(name))],
                }),
                ColumnOption::ForeignKey(_) => {
                    // MySQL reads REFERENCES behind a column and forgets it.
                    return Err(Error::unsupported("REFERENCES behind a column (write FOREIGN KEY)"));
                }
                ColumnOption::Check(check) => {
                    let raw_expr = boxed(self.expression(&check.expr)?);
                    let conname = check.name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
                    constraints.push(of_constraint(pg::Constraint {
                        raw_expr,
                        conname,
                        ..constraint(ConstrType::ConstrCheck)
                    }));
                }
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
                ColumnOption::Collation(named) => collation = Some(named.to_string()),
                ColumnOption::Comment(comment) => parts.comments.push((name.to_owned(), comment.clone())),
                ColumnOption::Generated { generation_expr: Some(expr), generation_expr_mode, .. } => {
                    let raw_expr = boxed(self.expression(expr)?);
                    let kind = match generation_expr_mode {
                        Some(GeneratedExpressionMode::Stored) => "s",
                        Some(GeneratedExpressionMode::Virtual) | None => "s",
                    };
                    constraints.push(of_constraint(pg::Constraint {
                        raw_expr,
                        generated_when: "a".to_owned(),
                        generated_kind: kind.to_owned(),
                        ..constraint(ConstrType::ConstrGenerated)
                    }));
                }
                ColumnOption::OnUpdate(_) => return Err(Error::unsupported("ON UPDATE CURRENT_TIMESTAMP")),
                other => return Err(Error::unsupported(format!("the column option {other}"))),
            }
        }
        if matches!(ty, DataType::Custom(custom, _) if custom.to_string().eq_ignore_ascii_case("serial")) {
            constraints.push(of_constraint(constraint(ConstrType::ConstrNotnull)));
            constraints.push(of_constraint(pg::Constraint {
                generated_when: "d".to_owned(),
                ..constraint(ConstrType::ConstrIdentity)
            }));
            let columns = vec![IndexColumn::from(Ident::new(name))];
            parts.keys.push(Key { name: Some(name.to_owned()), unique: true, columns });
        }
        let coll_clause = types::is_text(ty).then(|| {
            let of_table = || self.table_collation.clone().unwrap_or_else(|| COLLATION.to_owned());
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
    fn default(&mut self, expr: &Expr) -> Result<Node> {
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

    fn constraint(&mut self, of: &TableConstraint, parts: &mut Parts) -> Result<()> {
        match of {
            TableConstraint::PrimaryKey(key) => {
                let keys = key.columns.iter().map(|column| key_column(column).map(word)).collect::<Result<_>>()?;
                parts.elements.push(of_constraint(pg::Constraint { keys, ..constraint(ConstrType::ConstrPrimary) }));
            }
            TableConstraint::Unique(key) => {
                let name = key.index_name.as_ref().or(key.name.as_ref()).map(|name| name.value.clone());
                parts.keys.push(Key { name, unique: true, columns: key.columns.clone() });
            }
            TableConstraint::Index(key) => {
                let name = key.name.as_ref().map(|name| name.value.clone());
                parts.keys.push(Key { name, unique: false, columns: key.columns.clone() });
            }
            TableConstraint::ForeignKey(key) => {
                parts.elements.push(of_constraint(foreign_key(key, self.range_var(&key.foreign_table)?)?))
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
            TableConstraint::FulltextOrSpatial(_) => return Err(Error::unsupported("FULLTEXT and SPATIAL keys")),
            _ => return Err(Error::unsupported("this constraint")),
        }
        Ok(())
    }

    /// A key as an index.
    fn index(&mut self, relation: &pg::RangeVar, table: &str, key: &Key, at: usize, if_not_exists: bool) -> Result<N> {
        let mut index_params = Vec::new();
        for column in &key.columns {
            let order = &column.column.options;
            let descends = order.sort.as_ref().is_some_and(|sort| matches!(sort, sqlparser::ast::OrderBySort::Desc));
            let ordering = if descends { pg::SortByDir::SortbyDesc } else { pg::SortByDir::SortbyDefault };
            let (name, expr) = match &column.column.expr {
                Expr::Identifier(ident) => (ident.value.clone(), None),
                expr if is_prefix(expr) && !key.unique => (key_column(column)?, None),
                expr if is_prefix(expr) => return Err(Error::unsupported("a unique key of the first characters")),
                Expr::Nested(expr) => (String::new(), boxed(self.expression(expr)?)),
                expr => (String::new(), boxed(self.expression(expr)?)),
            };
            index_params.push(node(N::IndexElem(Box::new(pg::IndexElem {
                name,
                expr,
                ordering: ordering as i32,
                nulls_ordering: pg::SortByNulls::SortbyNullsDefault as i32,
                ..Default::default()
            }))));
        }
        let name = match &key.name {
            Some(name) => name.clone(),
            // MySQL calls it as its first column, and numbers others.
            None => {
                let first = key.columns.first().map(key_column).transpose()?.unwrap_or_default();
                if at == 0 { first } else { format!("{first}_{}", at + 1) }
            }
        };
        Ok(N::IndexStmt(Box::new(pg::IndexStmt {
            idxname: key_name(table, &name),
            relation: Some(pg::RangeVar { alias: None, ..relation.clone() }),
            access_method: "btree".to_owned(),
            index_params,
            unique: key.unique,
            if_not_exists,
            ..Default::default()
        })))
    }

    fn create_index(&mut self, create: &CreateIndex) -> Result<Trees> {
        let relation = self.range_var(&create.table_name)?;
        let name = create.name.as_ref().map(name_parts).transpose()?.and_then(|mut parts| parts.pop());
        let key = Key { name, unique: create.unique, columns: create.columns.clone() };
        let table = relation.relname.clone();
        one(self.index(&relation, &table, &key, 0, create.if_not_exists)?)
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
        one(N::ViewStmt(Box::new(pg::ViewStmt {
            view: Some(self.range_var(&create.name)?),
            aliases,
            query: boxed(select_of(query)),
            replace: create.or_replace,
            options: Vec::new(),
            with_check_option: pg::ViewCheckOption::NoCheckOption as i32,
        })))
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
                dropped(
                    ObjectType::ObjectIndex,
                    vec![index_of(self, table, name.to_string().trim_matches('`'))?],
                    DropBehavior::DropRestrict,
                )
            }
            other => Err(Error::unsupported(format!("DROP {other}"))),
        }
    }

    fn alter_table(&mut self, alter: &AlterTable) -> Result<Trees> {
        let relation = self.range_var(&alter.name)?;
        let mut trees = Vec::new();
        // What can be said in one statement is one.
        let mut commands: Vec<Node> = Vec::new();
        let flush = |commands: &mut Vec<Node>, trees: &mut Vec<N>| {
            if !commands.is_empty() {
                trees.push(N::AlterTableStmt(pg::AlterTableStmt {
                    relation: Some(relation.clone()),
                    cmds: std::mem::take(commands),
                    objtype: ObjectType::ObjectTable as i32,
                    missing_ok: false,
                }));
            }
        };
        let command = |subtype: AlterTableType, name: &str, of: Option<Node>| {
            node(N::AlterTableCmd(Box::new(pg::AlterTableCmd {
                subtype: subtype as i32,
                name: name.to_owned(),
                def: of.map(Box::new),
                behavior: DropBehavior::DropRestrict as i32,
                ..Default::default()
            })))
        };
        for operation in &alter.operations {
            match operation {
                AlterTableOperation::AddColumn { column_def, column_position, .. } => {
                    refuse_position(column_position.as_ref())?;
                    let mut parts = Parts::default();
                    let name = column_def.name.value.clone();
                    let made = self.column_definition(&name, &column_def.data_type, &column_def.options, &mut parts)?;
                    let implicit = implicit_default(column_def);
                    let mut made = made;
                    if let Some(value) = &implicit {
                        let raw_expr = boxed(value.clone());
                        let default = pg::Constraint { raw_expr, ..constraint(ConstrType::ConstrDefault) };
                        made.constraints.push(of_constraint(default));
                    }
                    commands.push(command(AlterTableType::AtAddColumn, "", Some(node(N::ColumnDef(Box::new(made))))));
                    flush(&mut commands, &mut trees);
                    if implicit.is_some() {
                        // It was for the rows that are there.
                        commands.push(command(AlterTableType::AtColumnDefault, &name, None));
                        flush(&mut commands, &mut trees);
                    }
                    for (at, key) in parts.keys.iter().enumerate() {
                        trees.push(self.index(&relation, &relation.relname, key, at, false)?);
                    }
                    trees.extend(comments(&relation, None, parts.comments));
                }
                AlterTableOperation::DropColumn { column_names, if_exists, .. } => {
                    for name in column_names {
                        let mut dropped = command(AlterTableType::AtDropColumn, &name.value, None);
                        if let Some(N::AlterTableCmd(command)) = &mut dropped.node {
                            command.missing_ok = *if_exists;
                        }
                        commands.push(dropped);
                    }
                }
                AlterTableOperation::AddConstraint { constraint: of, .. } => {
                    let mut parts = Parts::default();
                    self.constraint(of, &mut parts)?;
                    for element in parts.elements {
                        commands.push(command(AlterTableType::AtAddConstraint, "", Some(element)));
                    }
                    flush(&mut commands, &mut trees);
                    for (at, key) in parts.keys.iter().enumerate() {
                        trees.push(self.index(&relation, &relation.relname, key, at, false)?);
                    }
                }
                AlterTableOperation::DropConstraint { name, if_exists, .. } => {
                    let mut dropped = command(AlterTableType::AtDropConstraint, &name.value, None);
                    if let Some(N::AlterTableCmd(command)) = &mut dropped.node {
                        command.missing_ok = *if_exists;
                    }
                    commands.push(dropped);
                }
                AlterTableOperation::DropForeignKey { name, .. } => {
                    commands.push(command(AlterTableType::AtDropConstraint, &name.value, None));
                }
                AlterTableOperation::DropPrimaryKey { .. } => {
                    let name = format!("{}_pkey", relation.relname);
                    commands.push(command(AlterTableType::AtDropConstraint, &name, None));
                }
                AlterTableOperation::DropIndex { name } => {
                    flush(&mut commands, &mut trees);
                    trees.push(N::DropStmt(pg::DropStmt {
                        objects: vec![index_of(self, &alter.name, &name.value)?],
                        remove_type: ObjectType::ObjectIndex as i32,
                        behavior: DropBehavior::DropRestrict as i32,
                        missing_ok: false,
                        concurrent: false,
                    }));
                }
                AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
                    flush(&mut commands, &mut trees);
                    trees.push(renamed_column(&relation, &old_column_name.value, &new_column_name.value));
                }
                AlterTableOperation::RenameTable { table_name } => {
                    flush(&mut commands, &mut trees);
                    let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) = table_name;
                    trees.push(renamed_table(self, &alter.name, name)?);
                }
                AlterTableOperation::ChangeColumn { old_name, new_name, data_type, options, column_position } => {
                    refuse_position(column_position.as_ref())?;
                    flush(&mut commands, &mut trees);
                    if old_name.value != new_name.value {
                        trees.push(renamed_column(&relation, &old_name.value, &new_name.value));
                    }
                    self.modify(&new_name.value, data_type, options, &mut commands, &command)?;
                }
                AlterTableOperation::ModifyColumn { col_name, data_type, options, column_position } => {
                    refuse_position(column_position.as_ref())?;
                    self.modify(&col_name.value, data_type, options, &mut commands, &command)?;
                }
                AlterTableOperation::AlterColumn { column_name, op } => {
                    let name = &column_name.value;
                    commands.push(match op {
                        AlterColumnOperation::SetDefault { value } => {
                            let value = self.default(value)?;
                            command(AlterTableType::AtColumnDefault, name, Some(value))
                        }
                        AlterColumnOperation::DropDefault => command(AlterTableType::AtColumnDefault, name, None),
                        other => return Err(Error::unsupported(format!("ALTER COLUMN {other}"))),
                    });
                }
                // How the work is done is ours.
                AlterTableOperation::Algorithm { .. } | AlterTableOperation::Lock { .. } => {}
                other => return Err(Error::unsupported(format!("ALTER TABLE … {other}"))),
            }
        }
        flush(&mut commands, &mut trees);
        if trees.is_empty() { Ok(nothing()) } else { Ok((trees, false)) }
    }

    /// A column as it is to be: its type, then whether it may be NULL and its default.
    fn modify(
        &mut self,
        name: &str,
        ty: &DataType,
        options: &[ColumnOption],
        commands: &mut Vec<Node>,
        command: &dyn Fn(AlterTableType, &str, Option<Node>) -> Node,
    ) -> Result<()> {
        let options: Vec<ColumnOptionDef> =
            options.iter().map(|option| ColumnOptionDef { name: None, option: option.clone() }).collect();
        let mut parts = Parts::default();
        let mut made = self.column_definition(name, ty, &options, &mut parts)?;
        if !parts.keys.is_empty() || !parts.comments.is_empty() {
            return Err(Error::unsupported("a key or comment in MODIFY"));
        }
        let constraints = std::mem::take(&mut made.constraints);
        // The default that was there is not converted but replaced.
        commands.push(command(AlterTableType::AtColumnDefault, name, None));
        commands.push(command(AlterTableType::AtAlterColumnType, name, Some(node(N::ColumnDef(Box::new(made))))));
        let mut not_null = false;
        for one in constraints {
            let Some(N::Constraint(constraint)) = one.node else { continue };
            match constraint.contype() {
                ConstrType::ConstrNotnull => not_null = true,
                ConstrType::ConstrDefault => {
                    let value = constraint.raw_expr.map(|value| *value);
                    commands.push(command(AlterTableType::AtColumnDefault, name, value));
                }
                ConstrType::ConstrIdentity => return Err(Error::unsupported("AUTO_INCREMENT in MODIFY")),
                _ => return Err(Error::unsupported("a constraint in MODIFY")),
            }
        }
        let subtype = if not_null { AlterTableType::AtSetNotNull } else { AlterTableType::AtDropNotNull };
        commands.push(command(subtype, name, None));
        Ok(())
    }
}

/// What rows that are there get in a column that is NOT NULL and says no default: 0, or an empty text.
fn implicit_default(column: &ColumnDef) -> Option<Node> {
    let has = |wanted: fn(&ColumnOption) -> bool| column.options.iter().any(|option| wanted(&option.option));
    let speaks = has(|option| {
        matches!(option, ColumnOption::Default(_) | ColumnOption::Generated { .. } | ColumnOption::DialectSpecific(_))
    });
    if speaks || !has(|option| matches!(option, ColumnOption::NotNull)) {
        return None;
    }
    if types::is_text(&column.data_type) && !matches!(column.data_type, DataType::Enum(..)) {
        return Some(text(""));
    }
    types::is_number(&column.data_type).then(|| number("0"))
}

fn refuse_position(position: Option<&MySQLColumnPosition>) -> Result<()> {
    match position {
        None => Ok(()),
        Some(_) => Err(Error::unsupported("FIRST and AFTER of a column")),
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

fn renamed_table(converter: &Converter<'_>, from: &ObjectName, to: &ObjectName) -> Result<N> {
    Ok(N::RenameStmt(Box::new(pg::RenameStmt {
        rename_type: ObjectType::ObjectTable as i32,
        relation: Some(converter.range_var(from)?),
        newname: name_parts(to)?.pop().unwrap_or_default(),
        behavior: DropBehavior::DropRestrict as i32,
        ..Default::default()
    })))
}

fn renamed_column(relation: &pg::RangeVar, from: &str, to: &str) -> N {
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

/// The index of a table's key.
fn index_of(converter: &Converter<'_>, table: &ObjectName, key: &str) -> Result<Node> {
    let mut parts = converter.relation_parts(table)?;
    let table = parts.pop().unwrap_or_default();
    parts.push(key_name(&table, key));
    Ok(list(parts.into_iter().map(word).collect()))
}

/// COMMENT ON a table and its columns.
fn comments(relation: &pg::RangeVar, table: Option<String>, columns: Vec<(String, String)>) -> Vec<N> {
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
