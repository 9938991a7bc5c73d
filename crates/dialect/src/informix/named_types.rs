//! CREATE ROW TYPE, CREATE DISTINCT TYPE, and where their names stand for types.
//!
//! The parser knows no schema: a name that is no type of its own becomes a placeholder, [`placeholder`], which the
//! binder replaces. A named ROW type is an alias here: a column of one has its fields.

use super::ast::{Ast, ObjectName};
use super::bind::Binder;
use super::parser::Parser;
use super::types::type_words;
use crate::ir::{self, CreateType, Ddl};
use crate::schema::Schema;
use crate::{Condition, Error, Result, Type};

/// Stands before a name whose type the schema knows; in no type's own words.
const MARK: char = '=';

/// What the parser makes of a name that is no type of its own.
pub(super) fn placeholder(name: &str) -> Type {
    Type::Composite(format!("{MARK}{}", name.to_lowercase()))
}

/// True if a type is, or holds, a name that stands for one.
pub(super) fn is_named(ty: &Type) -> bool {
    matches!(ty, Type::Composite(words) if words.contains(MARK))
}

impl Parser<'_> {
    /// `ROW TYPE name (fields)` or `DISTINCT TYPE name AS type`, behind CREATE.
    pub(super) fn create_type(&mut self, is_row: bool) -> Result<Ast> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let ty = if is_row && self.is_word("under") {
            return Err(self.unsupported("CREATE ROW TYPE … UNDER"));
        } else if is_row {
            let ty = self.row_type()?;
            if self.is_word("under") {
                return Err(self.unsupported("CREATE ROW TYPE … UNDER"));
            }
            ty
        } else {
            self.expect_word("as")?;
            let at = self.start();
            let ty = self.type_name()?;
            if ty.serial.is_some() {
                return Err(self.error_at(Condition::SyntaxError, "a DISTINCT type cannot be of a SERIAL", at));
            }
            ty.ty
        };
        Ok(Ast::CreateType { name, is_row, ty, if_not_exists })
    }

    /// `(name type [NOT NULL], …)`
    pub(super) fn row_type(&mut self) -> Result<Type> {
        self.expect_sign("(")?;
        let fields = self.list(|parser| {
            let name = parser.name()?;
            let ty = parser.nested(Self::type_name)?;
            parser.words(&["not", "null"]);
            Ok(format!("{name} {}", type_words(&ty.ty).to_lowercase()))
        })?;
        self.expect_sign(")")?;
        Ok(Type::Composite(format!("ROW({})", fields.join(", "))))
    }

    /// `[ROW] TYPE name RESTRICT`, behind DROP.
    pub(super) fn drop_type(&mut self) -> Result<Ast> {
        let if_exists = self.if_exists();
        let name = self.object_name()?;
        self.word("restrict");
        Ok(Ast::DropType { name, if_exists })
    }
}

/// A type with the names in it replaced by what they stand for.
pub(super) fn resolved(ty: &Type, schema: &dyn Schema) -> Result<Type> {
    let Type::Composite(words) = ty else { return Ok(ty.clone()) };
    if !words.contains(MARK) {
        return Ok(ty.clone());
    }
    let find = |name: &str| {
        schema
            .named_type(name)
            .map(|found| found.ty.clone())
            .ok_or_else(|| Error::new(Condition::UndefinedType, format!("type ({name}) not found")).column(name))
    };
    if let Some(name) = words.strip_prefix(MARK) {
        return find(name);
    }
    let mut parts = words.split(MARK);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(part.len());
        whole.push_str(&type_words(&find(&part[..end])?).to_lowercase());
        whole.push_str(&part[end..]);
    }
    Ok(Type::Composite(whole))
}

impl Binder<'_> {
    /// The same, where a statement has the type at this place.
    pub(super) fn named_type(&self, ty: &Type, at: usize) -> Result<Type> {
        self.placed(resolved(ty, self.schema()), at)
    }

    /// CREATE ROW TYPE, CREATE DISTINCT TYPE.
    pub(super) fn create_type(
        &mut self,
        name: &ObjectName,
        is_row: bool,
        ty: &Type,
        if_not_exists: bool,
    ) -> Result<ir::Statement> {
        let ty = self.named_type(ty, name.at)?;
        let same = |user: &std::sync::Arc<crate::user_type::UserType>| user.name.eq_ignore_ascii_case(&name.name);
        if self.schema().named_type(&name.name).is_some() || self.schema().user_types().iter().any(same) {
            if if_not_exists {
                return Ok(ir::Statement::Nothing { tag: "CREATE TYPE" });
            }
            let message = format!("type ({}) already exists in the database", name.name);
            return Err(self.error(Condition::DuplicateObject, message, name.at));
        }
        self.changes_schema();
        let create = CreateType { name: name.name.clone(), is_row, ty };
        Ok(ir::Statement::Ddl(Box::new(Ddl::CreateType(create))))
    }

    /// DROP ROW TYPE, DROP TYPE.
    pub(super) fn drop_type(&mut self, name: &ObjectName, if_exists: bool) -> Result<ir::Statement> {
        let Some(found) = self.schema().named_type(&name.name) else {
            if if_exists {
                return Ok(ir::Statement::Nothing { tag: "DROP TYPE" });
            }
            let message = format!("type ({}) not found", name.name);
            return Err(self.error(Condition::UndefinedType, message, name.at).column(&name.name));
        };
        let casts = self.schema().informix_casts();
        let own = found.ty.distinct().and_then(|user| user.domain()).map(|domain| {
            crate::informix::casts::Definition::of_distinct(found.oid, &domain.base, self.schema())
                .map(|own| own.entry())
        });
        let used = casts
            .iter()
            .map(|cast| &cast.definition)
            .find(|cast| cast.names(found.oid) && !own.as_ref().is_some_and(|own| own.contains(&cast.entry())));
        if used.is_some() {
            let message = format!("the type ({}) cannot be dropped: there are casts from it or to it", name.name);
            return Err(self.error(Condition::DependentObjectsStillExist, message, name.at).column(&name.name));
        }
        for routine in self.schema().all_routines() {
            let Ok(parsed) = routine.parsed() else { continue };
            let types = parsed.param_types(self.schema()).unwrap_or_default();
            let results = parsed.result_columns(self.schema()).unwrap_or_default();
            let mut types = types.iter().chain(results.iter().map(|(_, ty)| ty));
            if found.ty.distinct().is_some() && types.any(|ty| *ty == found.ty) {
                let message = format!("the type ({}) cannot be dropped: routine ({}) has it", name.name, routine.name);
                return Err(self.error(Condition::DependentObjectsStillExist, message, name.at).column(&name.name));
            }
        }
        self.changes_schema();
        Ok(ir::Statement::Ddl(Box::new(Ddl::DropType { oid: found.oid })))
    }
}
