//! Statements that make, change and drop routines and triggers. What they say is read by the binder from the routine's own
//! text, which stands in an option of the tree.

use pg_query::protobuf::{self as pg, Node, ObjectType, node::Node as N};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::build::{def, list, node, text, word};
use super::routine::{Kind, Routine};
use super::statements::{Failed, Trees};
use super::tree::Converter;
use crate::Result;
use crate::postgres::mysql::routine as option;

impl Converter<'_> {
    /// CREATE of a routine or trigger.
    pub(super) fn routine(&mut self, routine: Routine) -> Result<Vec<N>> {
        let text_of = routine.text(option::NO_DEFINER);
        let mut options = vec![def(option::TEXT, Some(text(text_of)))];
        if routine.if_not_exists {
            options.push(def(option::IF_NOT_EXISTS, None));
        }
        if let Some(definer) = routine.definer {
            options.push(def(option::DEFINER, Some(text(definer))));
        }
        self.types.extend(routine.types);
        let mut name = Vec::new();
        if let Some(database) = routine.database {
            name.push(word(self.schema(database)));
        }
        name.push(word(routine.name.clone()));
        let Kind::Trigger(head) = routine.kind else {
            return Ok(vec![N::CreateFunctionStmt(Box::new(pg::CreateFunctionStmt {
                is_procedure: routine.kind == Kind::Procedure,
                funcname: name,
                options,
                ..Default::default()
            }))]);
        };
        if let Some((follows, other)) = head.order {
            let order = if follows { option::FOLLOWS } else { option::PRECEDES };
            options.push(def(order, Some(text(other))));
        }
        let (database, table) = head.table;
        Ok(vec![N::CreateTrigStmt(Box::new(pg::CreateTrigStmt {
            trigname: routine.name,
            relation: Some(pg::RangeVar {
                schemaname: database.map(|database| self.schema(database)).unwrap_or_default(),
                relname: table,
                inh: true,
                relpersistence: "p".to_owned(),
                location: super::build::NOWHERE,
                ..Default::default()
            }),
            funcname: name,
            args: options,
            ..Default::default()
        }))])
    }

    /// DROP and ALTER of routines and triggers; `None`, and nothing taken, for other statements.
    pub(super) fn routine_statement(&mut self, parser: &mut Parser<'_>) -> Result<Option<Trees>, Failed> {
        let kinds = [
            ("procedure", ObjectType::ObjectProcedure),
            ("function", ObjectType::ObjectFunction),
            ("trigger", ObjectType::ObjectTrigger),
        ];
        for (kind, object) in kinds {
            if self.has_tokens(&["drop", kind]) {
                parser.next_token();
                parser.next_token();
                return self.drop_routine(parser, object).map(Some);
            }
            if object != ObjectType::ObjectTrigger && self.has_tokens(&["alter", kind]) {
                parser.next_token();
                parser.next_token();
                return self.alter_routine(parser, object).map(Some);
            }
        }
        Ok(None)
    }

    /// A name with its database, if that is said.
    fn routine_name(&mut self, parser: &mut Parser<'_>) -> Result<Vec<Node>, Failed> {
        let first = parser.parse_identifier()?.value;
        if !parser.consume_token(&Token::Period) {
            return Ok(vec![word(first)]);
        }
        let name = parser.parse_identifier()?.value;
        Ok(vec![word(self.schema(first)), word(name)])
    }

    fn drop_routine(&mut self, parser: &mut Parser<'_>, object: ObjectType) -> Result<Trees, Failed> {
        let missing_ok = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
        let name = self.routine_name(parser)?;
        ends(parser)?;
        let object_node = match object {
            ObjectType::ObjectTrigger => list(name),
            _ => named(name),
        };
        let drop = pg::DropStmt {
            objects: vec![object_node],
            remove_type: object as i32,
            behavior: pg::DropBehavior::DropRestrict as i32,
            missing_ok,
            concurrent: false,
        };
        Ok((vec![N::DropStmt(drop)], false))
    }

    fn alter_routine(&mut self, parser: &mut Parser<'_>, object: ObjectType) -> Result<Trees, Failed> {
        let name = self.routine_name(parser)?;
        let mut rest: Vec<TokenWithSpan> = Vec::new();
        loop {
            match parser.next_token() {
                TokenWithSpan { token: Token::EOF, .. } => break,
                token => rest.push(token),
            }
        }
        let altered = super::routine::altered(&rest)?;
        let comment = altered.comment.map(|comment| def(option::COMMENT, Some(text(comment))));
        let data = altered.data.map(|data| def(option::DATA, Some(text(data.words()))));
        let security = altered.invoker.map(|invoker| {
            let word = if invoker { "INVOKER" } else { "DEFINER" };
            def(option::SECURITY, Some(text(word)))
        });
        let actions = [comment, data, security].into_iter().flatten().collect();
        let func = match named(name).node {
            Some(N::ObjectWithArgs(func)) => Some(func),
            _ => None,
        };
        Ok((vec![N::AlterFunctionStmt(pg::AlterFunctionStmt { objtype: object as i32, func, actions })], false))
    }
}

fn named(name: Vec<Node>) -> Node {
    node(N::ObjectWithArgs(pg::ObjectWithArgs { objname: name, args_unspecified: true, ..Default::default() }))
}

fn ends(parser: &Parser<'_>) -> Result<(), ParserError> {
    match parser.peek_token_ref().token {
        Token::EOF => Ok(()),
        _ => Err(ParserError::ParserError("expected the end".to_owned())),
    }
}
