//! CREATE, ALTER and DROP of extensions.

use std::sync::Arc;

use rowferry_dialect::extension::{Installed, of_type};
use rowferry_dialect::ir::ExtensionChange;
use rowferry_dialect::plan::Context;
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Language, Schema as _, Type, postgres};

use super::dependencies::Needed;
use super::new_names::NewNames;
use super::user_type::{self, describe_user};
use super::{Changer, Done, cannot_drop, described};
use crate::backend::Fact;
use crate::schema::SessionSchema;

/// Something that uses what an extension brings.
enum User {
    /// A column of one of its types.
    Column(Arc<Relation>, usize),
    /// A column's default.
    Default(Arc<Relation>, usize),
    /// A domain over one of its types.
    Type(Arc<UserType>),
    /// An attribute of a composite type.
    Field(Arc<UserType>, usize),
    /// A function that takes or returns one.
    Function(Arc<StoredFunction>),
    /// An index of its access method.
    Index(Arc<Relation>, usize),
}

impl Changer<'_> {
    pub(super) fn change_extension(&self, change: &ExtensionChange) -> Done {
        match change {
            ExtensionChange::Create { name, namespace } => {
                let version = rowferry_facts::Extension::named(name).map(|facts| facts.version);
                self.record("main", "extension", namespace, name, None, Language::Postgres, version)?;
            }
            ExtensionChange::SetSchema { extension, to } => {
                let renamed =
                    self.rename_in_texts(&NewNames::within(&extension.namespace).moving(extension.oid, to))?;
                self.store.change_entry("main", extension.oid, Fact::Namespace, Some(to))?;
                self.touch("main", extension.oid);
                self.check_renamed(&renamed)?;
            }
            ExtensionChange::Comment { extension, text } => {
                self.store.change_entry("main", extension.oid, Fact::Comment, text.as_deref())?;
                self.touch("main", extension.oid);
            }
            ExtensionChange::Drop { extensions, cascade } => {
                extensions.iter().try_for_each(|extension| self.drop_extension(extension, *cascade))?;
            }
        }
        self.bump()
    }

    pub(super) fn drop_extension(&self, extension: &Arc<Installed>, cascade: bool) -> Done {
        let schema = self.schema();
        let used = users(&schema, extension);
        let shown = format!("extension {}", quote_ident(extension.name()));
        let mut needed = vec![Needed::function(extension.oid, &shown)];
        needed.extend(used.iter().filter_map(|user| match user {
            User::Column(table, at) => Some(Needed::column(&schema, table, &table.columns[*at].name)),
            _ => None,
        }));
        let views = self.dependents(needed);
        if !(cascade || used.is_empty() && views.is_empty()) {
            let lines = used.iter().map(|user| (user.described(&schema), user.needs(&schema, &shown)));
            let lines = lines.chain(views.iter().map(|view| (described(&schema, &view.view), view.on.clone())));
            return Err(cannot_drop(&shown, &lines.collect::<Vec<_>>()));
        }
        let gone = used.iter().map(|user| user.described(&schema));
        let gone = gone.chain(views.iter().map(|view| described(&schema, &view.view)));
        self.tell_cascade(&gone.collect::<Vec<_>>());
        views.iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
        for user in &used {
            self.settle()?;
            self.drop_user_of_extension(user)?;
        }
        self.forget("main", extension.oid)?;
        self.settle()
    }

    fn drop_user_of_extension(&self, user: &User) -> Done {
        match user {
            User::Column(relation, at) | User::Default(relation, at) => {
                let Some(now) = self.schema().relation_by_oid(relation.oid) else { return Ok(()) };
                let Some(column) = now.column(&relation.columns[*at].name) else { return Ok(()) };
                let action = match user {
                    User::Column(..) => rowferry_dialect::ir::AlterTable::DropColumn { column, cascade: true },
                    _ => rowferry_dialect::ir::AlterTable::SetDefault { column, default: None },
                };
                self.alter_table(&now, &[action])
            }
            User::Type(ty) => self.drop_user_types(std::slice::from_ref(ty), true),
            User::Field(ty, at) => self.drop_field(ty.oid, *at),
            User::Function(function) => self.drop_functions(&[function.oid], true),
            User::Index(relation, at) => {
                let Some(now) = self.schema().relation_by_oid(relation.oid) else { return Ok(()) };
                let oid = relation.indexes[*at].oid;
                match now.indexes.iter().position(|index| index.oid == oid) {
                    Some(at) => self.drop_index(&now, at),
                    None => Ok(()),
                }
            }
        }
    }
}

impl User {
    fn oid(&self) -> u32 {
        match self {
            Self::Column(relation, _) | Self::Default(relation, _) => relation.oid,
            Self::Type(ty) | Self::Field(ty, _) => ty.oid,
            Self::Function(function) => function.oid,
            Self::Index(relation, at) => relation.indexes[*at].oid,
        }
    }

    fn described(&self, schema: &SessionSchema) -> String {
        match self {
            Self::Column(relation, at) => {
                format!("column {} of {}", quote_ident(&relation.columns[*at].name), described(schema, relation))
            }
            Self::Default(relation, at) => {
                let column = quote_ident(&relation.columns[*at].name);
                format!("default value for column {column} of {}", described(schema, relation))
            }
            Self::Type(ty) => format!("type {}", ty.shown()),
            Self::Field(ty, at) => describe_user(schema, &user_type::User::Field(ty.clone(), *at)),
            Self::Index(relation, at) => format!("index {}", quote_ident(&relation.indexes[*at].name)),
            Self::Function(function) => format!("{} {}", function.definition.kind(), function.shown_signature()),
        }
    }

    /// What of the extension it needs: a type by its name.
    fn needs(&self, schema: &SessionSchema, extension: &str) -> String {
        let ty = match self {
            Self::Column(relation, at) => Some(&relation.columns[*at].ty),
            Self::Type(ty) => ty.domain().map(|domain| &domain.base),
            Self::Field(ty, at) => ty.composite().map(|composite| &composite.fields[*at].ty),
            Self::Function(function) => function.definition.types().find(|ty| of_type(ty).is_some()),
            Self::Index(relation, at) => {
                return class_of(schema, relation, *at).unwrap_or_else(|| extension.to_owned());
            }
            Self::Default(..) => None,
        };
        let shown = |ty: &Type| {
            let name = rowferry_dialect::extension::shown(schema, postgres::types::oid(ty));
            format!("type {}", name.unwrap_or_else(|| postgres::types::words(ty)))
        };
        ty.map_or_else(|| extension.to_owned(), shown)
    }
}

/// What uses an extension by itself; views are known by their notes.
fn users(schema: &SessionSchema, extension: &Installed) -> Vec<User> {
    let is_of = |ty: &Type| of_type(ty) == Some(extension.facts);
    let mut found = Vec::new();
    for relation in schema.user_relations().filter(|relation| relation.keeps_rows()) {
        for (at, column) in relation.columns.iter().enumerate() {
            if is_of(&column.ty) {
                found.push(User::Column(relation.clone(), at));
            } else if needs_extension(schema, relation, at, extension.oid) {
                found.push(User::Default(relation.clone(), at));
            }
        }
    }
    let methods = extension.facts.access_methods();
    for relation in schema.user_relations().filter(|_| !methods.is_empty()) {
        let of_it = (0..relation.indexes.len())
            .filter(|at| method_of(schema, relation, *at).is_some_and(|method| methods.contains(method)));
        found.extend(of_it.map(|at| User::Index(relation.clone(), at)));
    }
    for ty in schema.user_types() {
        let fields = ty.composite().map_or(&[][..], |composite| &composite.fields);
        let of_it = fields.iter().enumerate().filter(|(_, field)| !field.dropped && is_of(&field.ty));
        found.extend(of_it.map(|(at, _)| User::Field(ty.clone(), at)));
        if ty.domain().is_some_and(|domain| is_of(&domain.base)) {
            found.push(User::Type(ty));
        }
    }
    let takes = |function: &&Arc<StoredFunction>| function.definition.types().any(is_of);
    found.extend(schema.stored_functions().filter(takes).cloned().map(User::Function));
    // The oldest are told first.
    found.sort_by_key(User::oid);
    found
}

/// The access method of an index, where the declaration names one.
fn method_of(schema: &SessionSchema, relation: &Relation, at: usize) -> Option<&'static rowferry_facts::AccessMethod> {
    let details = schema.details(relation.oid)?;
    let name = details.properties.get(&relation.indexes[at].name, "index_method")?;
    rowferry_facts::AccessMethod::all_known().find(|method| method.name == name)
}

/// The operator class of an index's last key, in an extension's access method.
fn class_of(schema: &SessionSchema, relation: &Relation, at: usize) -> Option<String> {
    let index = &relation.indexes[at];
    let method = method_of(schema, relation, at)?;
    let properties = &schema.details(relation.oid)?.properties;
    let named = properties.get(&index.name, &format!("index_opclass {}", index.keys.len()));
    let column = index.columns.last().copied().flatten().map(|column| &relation.columns[column].ty);
    let input = column.map(|ty| postgres::types::oid(if ty.is_text() { &Type::Text } else { ty }));
    let mut classes = rowferry_facts::OperatorClass::of_extensions().iter().filter(|class| class.method == method.oid);
    let class = classes.find(|class| named.map_or(Some(class.input) == input, |name| class.name == name))?;
    Some(format!("operator class {} for access method {}", class.name, method.name))
}

/// True when a column's default calls something of an extension.
fn needs_extension(schema: &SessionSchema, relation: &Relation, at: usize, oid: u32) -> bool {
    let column = &relation.columns[at];
    let Some(default) = &column.default else { return false };
    if relation.language != Language::Postgres {
        return false;
    }
    let uses = postgres::uses_of_default(&default.text, None, schema, &Context::default());
    uses.is_ok_and(|uses| uses.types.contains(&oid))
}
