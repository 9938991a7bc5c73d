//! CREATE, ALTER and DROP of the types that users make in PostgreSQL's way.

use std::sync::Arc;

use rowferry_dialect::access::relation_words;
use rowferry_dialect::composite::{Composite, live, row_type_oid};
use rowferry_dialect::ir::{
    AlterTable, AlterUserType, CastContext, ColumnDefinition, Expr, NewUserType, Text, UserTypeChange,
};
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::postgres::routine::definition_text;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::user_cast::UserCast;
use rowferry_dialect::user_operator::UserOperator;
use rowferry_dialect::user_type::{
    Constructors, Domain, Label, Labels, MultirangeType, UserKind, UserRange, UserType, multirange_of,
};
use rowferry_dialect::{Condition, Error, Language, Schema as _, Type};

use super::dependencies::Needed;
use super::new_names::NewNames;
use super::{Changer, Done, cannot_drop, described};
use crate::schema::SessionSchema;
use crate::session::transaction::Block;

/// Something that uses a type.
pub(super) enum User {
    /// A column.
    Column(Arc<Relation>, usize),
    /// A domain or a range type over it.
    Domain(Arc<UserType>),
    /// An attribute of a composite type.
    Field(Arc<UserType>, usize),
    /// A function that takes or returns it.
    Function(Arc<StoredFunction>),
    /// An operator over it.
    Operator(Arc<UserOperator>),
    /// A cast from it or to it.
    Cast(UserCast),
}

impl Changer<'_> {
    pub(super) fn change_user_type(&self, change: &UserTypeChange) -> Done {
        match change {
            UserTypeChange::Create { name, kind } => self.create_user_type(name, kind)?,
            UserTypeChange::Alter { ty, action, .. } => self.alter_user_type(ty, action)?,
            UserTypeChange::AlterFields { ty, actions } => self.alter_fields(ty, actions)?,
            UserTypeChange::Drop { types, cascade, .. } => self.drop_user_types(types, *cascade)?,
        }
        self.bump()
    }

    fn create_user_type(&self, name: &QualifiedName, kind: &NewUserType) -> Done {
        let namespace = name.schema.as_deref().unwrap_or(crate::schema::PUBLIC);
        // Its own object id is not known before there is a row.
        let language = Language::Postgres;
        let oid = self.record("main", "type", namespace, &name.name, None, language, Some("{}"))?;
        let array_oid = self.new_oid()?;
        let kind = match kind {
            NewUserType::Enum(labels) => {
                let mut made = Vec::with_capacity(labels.len());
                for (text, at) in labels.iter().zip(1_u32..) {
                    let (oid, text) = (self.new_oid()?, text.clone());
                    made.push(Label { oid, text, order: at as f32, uncommitted: false });
                }
                UserKind::Enum(Labels::new(made))
            }
            NewUserType::Composite(fields) => {
                UserKind::Composite(Composite { relation: self.new_oid()?, fields: fields.clone() })
            }
            range @ NewUserType::Range { .. } => UserKind::Range(self.new_range(name, range)?),
            NewUserType::Domain { base, not_null, default, checks, collation } => {
                let mut made = Vec::with_capacity(checks.len());
                for (name, text) in checks {
                    let (name, text) = (name.clone(), text.clone());
                    made.push(rowferry_dialect::user_type::DomainCheck {
                        oid: self.new_oid()?,
                        name,
                        text,
                        valid: true,
                    });
                }
                let (base, default, collation) = (base.clone(), default.clone(), collation.clone());
                let not_null = *not_null;
                UserKind::Domain(Domain { base, not_null, default, checks: made, collation, distinct: false })
            }
        };
        let (namespace, name) = (namespace.to_owned(), name.name.clone());
        self.store_type(&UserType { oid, array_oid, namespace, name, comment: None, kind })
    }

    /// A range type, its multirange type, and what PostgreSQL makes with them.
    fn new_range(&self, name: &QualifiedName, range: &NewUserType) -> Done<UserRange> {
        let NewUserType::Range { subtype, operator_class, collation, difference, multirange } = range else {
            return Err(Error::internal("no range type").into());
        };
        let named = |name: &QualifiedName| {
            (name.schema.clone().unwrap_or_else(|| crate::schema::PUBLIC.to_owned()), name.name.clone())
        };
        let mut oids = [0; 5];
        let (oid, array_oid, cast) = (self.new_oid()?, self.new_oid()?, self.new_oid()?);
        for constructor in &mut oids {
            *constructor = self.new_oid()?;
        }
        let constructors = Constructors { oids, range: named(name), multirange: named(multirange) };
        let (namespace, name) = named(multirange);
        Ok(UserRange {
            subtype: Arc::new(subtype.clone()),
            operator_class: *operator_class,
            collation: collation.clone(),
            difference: *difference,
            multirange: MultirangeType { oid, array_oid, namespace, name, comment: None },
            cast,
            constructors,
        })
    }

    /// An object id that nothing has or will have.
    pub(super) fn new_oid(&self) -> Done<u32> {
        self.store.new_oid()
    }

    /// Writes a type's row, and has everything read anew that carries its definition.
    pub(super) fn store_type(&self, ty: &UserType) -> Done {
        if let UserKind::Multirange(range) = &ty.kind {
            let mut range = UserType::clone(range);
            if let UserKind::Range(kept) = &mut range.kind {
                let (namespace, name, comment) = (ty.namespace.clone(), ty.name.clone(), ty.comment.clone());
                kept.multirange = MultirangeType { oid: ty.oid, array_oid: ty.array_oid, namespace, name, comment };
            }
            return self.store_type(&range);
        }
        self.store.rewrite_type(ty)?;
        self.touch_type(ty.oid);
        Ok(())
    }

    fn touch_type(&self, oid: u32) {
        self.touch("main", oid);
        let schema = self.schema();
        for view in schema.user_relations().filter(|relation| relation.columns.iter().any(|c| contains(&c.ty, oid))) {
            self.touch(view.physical.database, view.oid);
        }
        for user in users(&schema, oid) {
            match user {
                User::Domain(user) | User::Field(user, _) => self.touch_type(user.oid),
                // Relations are touched already, functions renewed with the types.
                User::Column(..) | User::Function(_) | User::Operator(_) | User::Cast(_) => {}
            }
        }
    }

    /// ALTER TYPE of a composite type. Stored rows keep the places of attributes that go, and are shorter than those that
    /// come ask for.
    fn alter_fields(&self, ty: &Arc<UserType>, actions: &[(AlterUserType, bool)]) -> Done {
        let before = ty;
        let mut ty = UserType::clone(ty);
        let typed = typed_tables(&self.schema(), ty.oid);
        if !typed.is_empty() && actions.iter().any(|(_, cascade)| !cascade) {
            let message = format!("cannot alter type \"{}\" because it is the type of a typed table", before.name);
            return Err(Error::new(Condition::DependentObjectsStillExist, message)
                .hint("Use ALTER ... CASCADE to alter the typed tables too.")
                .into());
        }
        for (action, cascade) in actions {
            for table in &typed {
                self.follow_type(table.oid, &ty, action)?;
            }
            if let AlterUserType::DropField(at) = action {
                self.drop_checks_of_field(&ty, *at, *cascade)?;
                self.drop_users_of_field(&ty, *at, *cascade)?;
            }
            if let AlterUserType::RetypeField(..) = action
                && let Some(User::Column(relation, at)) =
                    users_through(&self.schema(), ty.oid).into_iter().find(|user| matches!(user, User::Column(..)))
            {
                let message = format!(
                    "cannot alter type \"{}\" because column \"{}.{}\" uses it",
                    before.name, relation.name, relation.columns[at].name
                );
                return Err(Error::new(Condition::FeatureNotSupported, message).into());
            }
            if let AlterUserType::RenameField(at, to) = action {
                self.rename_field(&mut ty, *at, to, action)?;
                continue;
            }
            action.apply(&mut ty);
        }
        let checks = self.checks_over_rows(&ty)?;
        self.store_type(&ty)?;
        self.settle()?;
        self.rewrite_checks(checks)
    }

    /// An attribute gets another name, and so it is called by all that asks it.
    fn rename_field(&self, ty: &mut UserType, at: usize, to: &str, action: &AlterUserType) -> Done {
        let from = ty.composite().and_then(|composite| composite.fields.get(at)).map(|field| field.name.clone());
        let from = from.ok_or_else(|| Error::internal("an attribute that is not there"))?;
        let before = self.bodies_before();
        // Texts are read while the name is there.
        let renamed = self.rename_in_texts(&NewNames::field(ty.oid, &from, to))?;
        action.apply(ty);
        let checks = self.checks_over_rows(ty)?;
        self.store_type(ty)?;
        self.settle()?;
        self.rewrite_checks(checks)?;
        self.check_renamed(&renamed)?;
        self.check_renamed_field(&from)?;
        before.as_ref().map_or(Ok(()), |before| self.rename_in_bodies(before))
    }

    /// A table OF a type changes with that.
    fn follow_type(&self, table: u32, ty: &UserType, action: &AlterUserType) -> Done {
        self.settle()?;
        let table = self.current(table)?;
        if !self.schema().heirs(table.oid).is_empty() {
            let what = "ALTER TYPE … CASCADE of the type of a table that others inherit from";
            return Err(Error::unsupported(what).into());
        }
        let field = |at: &usize| ty.composite().and_then(|composite| composite.fields.get(*at));
        let column = |at: &usize| field(at).and_then(|field| table.column(&field.name));
        let missing = || Error::internal("a typed table without a column of its type");
        let change = match action {
            AlterUserType::AddField(field) => {
                let column = ColumnDefinition {
                    collation: field.collation.clone(),
                    ..ColumnDefinition::plain(&field.name, field.ty.clone())
                };
                AlterTable::AddColumn { column, constraints: Vec::new(), if_not_exists: false }
            }
            AlterUserType::DropField(at) => {
                AlterTable::DropColumn { column: column(at).ok_or_else(missing)?, cascade: true }
            }
            AlterUserType::RenameField(at, to) => {
                AlterTable::RenameColumn { column: column(at).ok_or_else(missing)?, to: to.clone() }
            }
            AlterUserType::RetypeField(at, to, collation) => {
                let at = column(at).ok_or_else(missing)?;
                let own = Expr::column(Text::TABLE, at, table.columns[at].ty.clone());
                let using = own.cast(to.clone(), CastContext::Assignment);
                AlterTable::SetType { column: at, ty: to.clone(), collation: collation.clone(), using }
            }
            _ => return Ok(()),
        };
        self.alter_table(&table, &[change])?;
        self.settle()
    }

    /// The columns, domains, attributes and functions of the row types of relations, but for columns of the relations
    /// themselves: those that name arrays of rows first, then the older ones.
    pub(super) fn users_of_rows(&self, going: &[Arc<Relation>]) -> Vec<(User, String)> {
        let schema = self.schema();
        let mut found = Vec::new();
        for relation in going {
            let row = row_type_oid(relation.oid);
            let mut users: Vec<(bool, User)> = users(&schema, row)
                .into_iter()
                .filter(|user| !matches!(user, User::Column(table, _) if going.iter().any(|it| it.oid == table.oid)))
                .map(|user| (user.is_array(&schema, row), user))
                .collect();
            for function in schema.stored_functions() {
                let of_row = |name: &QualifiedName| schema.relation(name).is_some_and(|it| it.oid == relation.oid);
                let mut named = function.definition.rows().filter(|(_, name)| of_row(name)).peekable();
                if named.peek().is_some() {
                    users.push((named.all(|(array, _)| array), User::Function(function.clone())));
                }
            }
            users.sort_by_key(|(array, user)| (!array, user.oid()));
            for (array, user) in users {
                // One function may name several of them.
                let again = |(known, _): &(User, String)| match (known, &user) {
                    (User::Function(known), User::Function(function)) => known.oid == function.oid,
                    _ => false,
                };
                if !found.iter().any(again) {
                    let brackets = if array { "[]" } else { "" };
                    let shown = described(&schema, relation);
                    let name = shown.strip_prefix(relation_words(relation)).unwrap_or(&shown);
                    found.push((user, format!("type{name}{brackets}")));
                }
            }
        }
        found
    }

    /// Refuses a change of a table whose rows other tables hold.
    pub(super) fn check_rows_elsewhere(&self, table: &Relation, action: &AlterTable) -> Done {
        let adds_values = |column: &rowferry_dialect::ir::ColumnDefinition| {
            column.not_null
                || column.generated.is_some()
                || column.identity.is_some()
                || column.sequence.is_some()
                || column.default.as_ref().is_some_and(|text| !text.text.eq_ignore_ascii_case("null"))
        };
        let reason = match action {
            AlterTable::AddColumn { column, .. } if adds_values(column) => "uses",
            AlterTable::SetType { .. } => "uses",
            AlterTable::DropColumn { .. } => "drops",
            _ => return Ok(()),
        };
        let schema = self.schema();
        let of_rows = users_through(&schema, row_type_oid(table.oid));
        let Some(User::Column(user, at)) = of_rows.iter().find(|user| matches!(user, User::Column(..))) else {
            return Ok(());
        };
        let column = format!("{}.{}", user.name, user.columns[*at].name);
        if reason == "drops" {
            let what = format!("DROP COLUMN of \"{}\" while column \"{column}\" uses its row type", table.name);
            return Err(Error::unsupported(what).into());
        }
        let message = format!("cannot alter table \"{}\" because column \"{column}\" uses its row type", table.name);
        Err(Error::new(Condition::FeatureNotSupported, message).into())
    }

    pub(super) fn drop_check_of_domain(&self, oid: u32, check: &str) -> Done {
        match self.schema().user_type_by_oid(oid) {
            Some(ty) => self.alter_user_type(&ty, &AlterUserType::DropCheck(check.to_owned())),
            None => Ok(()),
        }
    }

    /// An attribute of a composite type goes.
    pub(super) fn drop_field(&self, oid: u32, at: usize) -> Done {
        match self.schema().user_type_by_oid(oid) {
            Some(ty) => self.alter_fields(&ty, &[(AlterUserType::DropField(at), true)]),
            None => Ok(()),
        }
    }

    fn alter_user_type(&self, known: &Arc<UserType>, action: &AlterUserType) -> Done {
        let mut ty = UserType::clone(known);
        match action {
            AlterUserType::Rename(to) => ty.name.clone_from(to),
            AlterUserType::SetSchema(to) => ty.namespace.clone_from(to),
            AlterUserType::Comment(text) => ty.comment.clone_from(text),
            AlterUserType::CommentField(at, text) => {
                if let UserKind::Composite(composite) = &mut ty.kind
                    && let Some(field) = composite.fields.get_mut(*at)
                {
                    field.comment.clone_from(text);
                }
            }
            AlterUserType::AddValue { label, at } => self.add_label(&mut ty, label, *at)?,
            AlterUserType::RenameValue { from, to } => {
                // Texts are read while the label is there.
                let renamed = self.rename_in_texts(&NewNames::label(ty.oid, from, to))?;
                self.rename_label(&mut ty, from, to)?;
                self.store_type(&ty)?;
                self.renew_defaults(&renamed)?;
                return self.check_renamed(&renamed);
            }
            domain => self.alter_domain(&mut ty, domain)?,
        }
        if !matches!(action, AlterUserType::Rename(_) | AlterUserType::SetSchema(_)) {
            return self.store_type(&ty);
        }
        let to = (ty.name != known.name).then_some(ty.name.as_str());
        let renamed = self.rename_in_texts(&NewNames::of(ty.oid, &known.name, &ty.namespace, to))?;
        self.settle()?;
        self.rename_in_functions(&ty)?;
        self.store_type(&ty)?;
        self.check_renamed(&renamed)
    }

    /// The signatures of functions name a type that has another name now.
    pub(super) fn rename_in_functions(&self, ty: &UserType) -> Done {
        let renamed = Arc::new(vec![Arc::new(ty.clone())]);
        for user in users(&self.schema(), ty.oid) {
            let User::Function(function) = user else { continue };
            let others = self.schema().user_types().into_iter().filter(|other| other.oid != ty.oid);
            let types = Arc::new(others.chain(renamed.iter().cloned()).collect());
            let function = function.renewed(&types);
            let text = definition_text(&function.namespace, &function.name, &function.definition);
            self.rewrite(function.oid, &function.namespace, &function.signature(), &text)?;
        }
        Ok(())
    }

    fn add_label(&self, ty: &mut UserType, label: &str, at: usize) -> Done {
        let mut labels = labels_of(ty);
        let order = match (at.checked_sub(1).and_then(|before| labels.get(before)), labels.get(at)) {
            (None, None) => 1.0,
            (Some(before), None) => before.order + 1.0,
            (None, Some(after)) => after.order - 1.0,
            (Some(before), Some(after)) => (before.order + after.order) / 2.0,
        };
        let crowded = labels.iter().any(|other| other.order == order);
        let uncommitted = !matches!(self.session.transaction.block, Block::None);
        let label = Label { oid: self.new_oid()?, text: label.to_owned(), order, uncommitted };
        labels.insert(at.min(labels.len()), label);
        if crowded {
            // Between two neighbours there is no number left.
            labels.iter_mut().zip(1_u32..).for_each(|(label, order)| label.order = order as f32);
        }
        ty.kind = UserKind::Enum(Labels::new(labels));
        Ok(())
    }

    /// The labels that the transaction has added are values from now on.
    pub(super) fn settle_labels(&self, types: &[Arc<UserType>]) -> Done {
        for ty in types {
            let mut ty = UserType::clone(ty);
            let mut labels = labels_of(&ty);
            labels.iter_mut().for_each(|label| label.uncommitted = false);
            ty.kind = UserKind::Enum(Labels::new(labels));
            self.store_type(&ty)?;
        }
        self.bump()
    }

    /// A label gets another text, and so do the values that are stored.
    fn rename_label(&self, ty: &mut UserType, from: &str, to: &str) -> Done {
        let mut labels = labels_of(ty);
        for label in labels.iter_mut().filter(|label| label.text == from) {
            to.clone_into(&mut label.text);
        }
        ty.kind = UserKind::Enum(Labels::new(labels));
        // Both sides of a foreign key change, one after the other.
        self.store.defer_keys(true)?;
        for user in users_through(&self.schema(), ty.oid) {
            let User::Column(relation, at) = user else { continue };
            let holds = |ty: &Type| match ty.through_domains() {
                Type::User(user) => user.composite().is_some() || user.subtype().is_some(),
                _ => false,
            };
            let ty = &relation.columns[at].ty;
            if holds(ty) || matches!(ty.through_domains(), Type::Array(element) if holds(element)) {
                let message = "renaming a label that values of composite or range types hold";
                return Err(Error::unsupported(message).into());
            }
            let column = &relation.columns[at];
            if let Some(partitioning) = &relation.partitioning
                && partitioning.keys.iter().any(|key| key.column.as_ref() == Some(&column.name))
            {
                let message = "renaming a label of an enum type by which a table is partitioned";
                return Err(Error::unsupported(message).into());
            }
            if !relation.keeps_rows() || column.generated.is_some() {
                continue;
            }
            let arrays = matches!(column.ty.through_domains(), Type::Array(_));
            self.store.replace_text(&relation, at, from, to, arrays)?;
        }
        self.store.defer_keys(false)
    }

    pub(super) fn drop_user_types(&self, types: &[Arc<UserType>], cascade: bool) -> Done {
        for ty in types {
            // An earlier one may have taken it along.
            let Some(ty) = self.schema().user_type_by_oid(ty.oid) else { continue };
            let schema = self.schema();
            let going = |user: &User| matches!(user, User::Domain(user) | User::Field(user, _) if types.contains(user));
            let used = users_below(&schema, &ty, &going);
            let mut needed = needed_types(&ty);
            for (user, _) in &used {
                match user {
                    User::Column(table, at) => {
                        needed.push(Needed::column(&schema, table, &table.columns[*at].name));
                    }
                    User::Domain(over) => needed.extend(needed_types(over)),
                    User::Operator(operator) => {
                        needed.push(Needed::function(operator.oid, &describe_user(&schema, user)));
                    }
                    User::Cast(cast) => needed.push(Needed::function(cast.oid, &describe_user(&schema, user))),
                    User::Field(..) | User::Function(_) => {}
                }
            }
            let views = self.dependents(needed);
            let shown = format!("type {}", ty.shown());
            let typed = typed_tables(&schema, ty.oid);
            let mut lines: Vec<(String, String)> =
                typed.iter().map(|table| (described(&schema, table), shown.clone())).collect();
            lines.extend(in_order(&schema, &ty, &used, &views));
            if !(cascade || lines.is_empty()) {
                return Err(cannot_drop(&shown, &lines));
            }
            self.tell_cascade(&lines.into_iter().map(|(gone, _)| gone).collect::<Vec<_>>());
            views.iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
            for table in &typed {
                self.settle()?;
                if let Some(table) = self.schema().relation_by_oid(table.oid) {
                    self.drop_relations(&[table], true)?;
                }
            }
            self.settle()?;
            // What goes with another goes before it.
            for (user, _) in used.iter().rev() {
                self.settle()?;
                self.drop_user(user)?;
            }
            self.forget_dropped_casts_of(ty.oid)?;
            self.forget_informix_casts_of(ty.oid)?;
            self.forget("main", ty.oid)?;
            self.settle()?;
        }
        Ok(())
    }

    pub(super) fn drop_user(&self, user: &User) -> Done {
        match user {
            User::Column(relation, at) => {
                let Some(now) = self.schema().relation_by_oid(relation.oid) else { return Ok(()) };
                let Some(column) = now.column(&relation.columns[*at].name) else { return Ok(()) };
                let action = AlterTable::DropColumn { column, cascade: true };
                self.alter_table(&now, &[action])
            }
            User::Domain(domain) => self.drop_user_types(std::slice::from_ref(domain), true),
            User::Field(ty, at) => self.drop_field(ty.oid, *at),
            User::Function(function) => self.drop_functions(&[function.oid], true),
            User::Operator(operator) => self.take_operator(operator),
            User::Cast(cast) => self.take_cast(*cast),
        }
    }
}

/// The tables OF a type.
fn typed_tables(schema: &SessionSchema, oid: u32) -> Vec<Arc<Relation>> {
    let typed = schema.user_relations().filter(|relation| relation.of_type() == Some(oid));
    let mut typed: Vec<Arc<Relation>> = typed.cloned().collect();
    typed.sort_by_key(|table| table.oid);
    typed
}

fn labels_of(ty: &UserType) -> Vec<Label> {
    ty.labels().map(|labels| labels.all().to_vec()).unwrap_or_default()
}

/// It is a type, the multirange type that is kept with it, or an array of such.
fn names(ty: &Type, oid: u32) -> bool {
    match ty {
        Type::User(user) => user.oid == oid || user.kept_as() == oid,
        Type::Array(element) => names(element, oid),
        _ => false,
    }
}

/// A type is another, or has it in it.
fn contains(ty: &Type, oid: u32) -> bool {
    match ty {
        Type::User(user) if user.oid == oid => true,
        Type::User(user) => match &user.kind {
            UserKind::Domain(domain) => contains(&domain.base, oid),
            UserKind::Composite(composite) => live(&composite.fields).any(|(_, field)| contains(&field.ty, oid)),
            UserKind::Range(range) => contains(&range.subtype, oid),
            UserKind::Multirange(range) => {
                range.oid == oid || range.subtype().is_some_and(|subtype| contains(subtype, oid))
            }
            UserKind::Enum(_) | UserKind::Unresolved(_) => false,
        },
        Type::Array(element) => contains(element, oid),
        _ => false,
    }
}

/// What a domain or a range type is over.
fn is_over(ty: &UserType) -> Option<&Type> {
    ty.domain().map(|domain| &domain.base).or_else(|| ty.range().map(|range| &*range.subtype))
}

impl User {
    /// The same of what names types by their object ids.
    fn names_by_oid(&self, schema: &SessionSchema, oid: u32) -> String {
        let of = self.type_oids();
        let types = of.iter().filter_map(|oid| rowferry_dialect::postgres::types::of_oid(*oid, schema));
        let named = types.rev().find(|ty| names(ty, oid));
        named.map(|ty| rowferry_dialect::postgres::types::words(&ty)).unwrap_or_default()
    }

    /// Object ids of the types of an operator or a cast.
    fn type_oids(&self) -> Vec<u32> {
        match self {
            Self::Operator(operator) => {
                let definition = &operator.definition;
                vec![definition.result, definition.right, definition.left]
            }
            Self::Cast(cast) => vec![cast.definition.target, cast.definition.source],
            Self::Column(..) | Self::Domain(_) | Self::Field(..) | Self::Function(_) => Vec::new(),
        }
    }

    /// The type as it is named there.
    fn names(&self, schema: &SessionSchema, oid: u32) -> String {
        let ty = match self {
            Self::Column(relation, at) => Some(&relation.columns[*at].ty),
            Self::Domain(over) => is_over(over),
            Self::Field(ty, at) => ty.composite().map(|composite| &composite.fields[*at].ty),
            Self::Function(function) => function.definition.types().find(|ty| names(ty, oid)),
            Self::Operator(_) | Self::Cast(_) => return self.names_by_oid(schema, oid),
        };
        ty.map(rowferry_dialect::postgres::types::words).unwrap_or_default()
    }

    /// Its object id.
    fn oid(&self) -> u32 {
        match self {
            Self::Column(relation, _) => relation.oid,
            Self::Domain(ty) | Self::Field(ty, _) => ty.oid,
            Self::Function(function) => function.oid,
            Self::Operator(operator) => operator.oid,
            Self::Cast(cast) => cast.oid,
        }
    }

    fn is_array(&self, schema: &SessionSchema, oid: u32) -> bool {
        self.names(schema, oid).ends_with("[]")
    }
}

/// What names a type itself: its arrays first, as PostgreSQL finds them.
pub(super) fn users(schema: &SessionSchema, oid: u32) -> Vec<User> {
    let mut found = Vec::new();
    for relation in schema.user_relations().filter(|relation| relation.keeps_rows()) {
        let columns = relation.columns.iter().enumerate().filter(|(_, column)| names(&column.ty, oid));
        found.extend(columns.map(|(at, _)| User::Column(relation.clone(), at)));
    }
    let domains = schema.user_types().into_iter();
    let over = |ty: &Arc<UserType>| is_over(ty).is_some_and(|below| names(below, oid));
    found.extend(domains.filter(over).map(User::Domain));
    for ty in schema.user_types() {
        let Some(composite) = ty.composite() else { continue };
        let fields = composite.live().filter(|(_, field)| names(&field.ty, oid));
        found.extend(fields.map(|(at, _)| User::Field(ty.clone(), at)));
    }
    let functions = schema.stored_functions();
    let takes = |function: &&Arc<StoredFunction>| function.definition.types().any(|ty| names(ty, oid));
    found.extend(functions.filter(takes).cloned().map(User::Function));
    let operators = schema.main.operators.iter().cloned().map(User::Operator);
    let others = operators.chain(schema.main.casts.iter().copied().map(User::Cast));
    found.extend(others.filter(|user| !user.names_by_oid(schema, oid).is_empty()));
    found.sort_by_key(|user| !user.is_array(schema, oid));
    found
}

/// A type, and the multirange type that is kept with it, as views need them.
fn needed_types(ty: &Arc<UserType>) -> Vec<Needed> {
    let multirange = multirange_of(ty);
    [Some(&**ty), multirange.as_deref()].into_iter().flatten().map(Needed::user_type).collect()
}

/// What would go with a type: what names it, each followed by what goes with that, and the type that each names.
pub(super) fn users_below(
    schema: &SessionSchema,
    ty: &Arc<UserType>,
    going: &dyn Fn(&User) -> bool,
) -> Vec<(User, Arc<UserType>)> {
    let mut found: Vec<(User, Arc<UserType>)> = Vec::new();
    for user in users(schema, ty.oid).into_iter().filter(|user| !going(user)) {
        let below = match &user {
            User::Domain(over) => users_below(schema, over, going),
            _ => Vec::new(),
        };
        found.push((user, ty.clone()));
        found.extend(below);
    }
    found
}

/// What is told together: where it stands in the order, and its lines.
type Group = ((u8, u32), Vec<(String, String)>);

/// What would go with a type, and what it needs, in the order in which PostgreSQL tells it: what needs the array type
/// first, then what needs the multirange type, the oldest first.
pub(super) fn in_order(
    schema: &SessionSchema,
    ty: &UserType,
    used: &[(User, Arc<UserType>)],
    views: &[super::dependencies::Dependent],
) -> Vec<(String, String)> {
    let mut groups: Vec<Group> = Vec::new();
    for (user, of) in used {
        let on = user.names(schema, of.oid);
        let line = (describe_user(schema, user), format!("type {on}"));
        match groups.last_mut() {
            // It goes with the one before.
            Some((_, lines)) if of.oid != ty.oid => lines.push(line),
            _ => {
                let rank = match () {
                    () if on.ends_with("[]") => 0,
                    () if on != ty.shown() => 1,
                    () => 2,
                };
                groups.push(((rank, user.oid()), vec![line]));
            }
        }
    }
    let of_view = |view: &super::dependencies::Dependent| {
        ((2, view.view.oid), vec![(described(schema, &view.view), view.on.clone())])
    };
    groups.extend(views.iter().map(of_view));
    // Of the columns of one relation, the last first.
    groups.reverse();
    groups.sort_by_key(|(key, _)| *key);
    groups.into_iter().flat_map(|(_, lines)| lines).collect()
}

/// What names a type, or a domain or composite type with it in.
fn users_through(schema: &SessionSchema, oid: u32) -> Vec<User> {
    let mut found = Vec::new();
    for user in users(schema, oid) {
        if let User::Domain(through) | User::Field(through, _) = &user {
            found.extend(users_through(schema, through.oid));
        }
        found.push(user);
    }
    found
}

pub(super) fn describe_user(schema: &SessionSchema, user: &User) -> String {
    match user {
        User::Column(relation, at) => {
            format!("column {} of {}", quote_ident(&relation.columns[*at].name), described(schema, relation))
        }
        User::Domain(domain) => format!("type {}", domain.shown()),
        User::Field(ty, at) => {
            let name = ty.composite().map(|composite| quote_ident(&composite.fields[*at].name)).unwrap_or_default();
            format!("column {name} of composite type {}", ty.shown())
        }
        User::Function(function) => format!("{} {}", function.definition.kind(), function.shown_signature()),
        User::Operator(operator) => super::operator::shown_operator(schema, operator),
        User::Cast(cast) => super::operator::shown_cast(schema, cast),
    }
}
