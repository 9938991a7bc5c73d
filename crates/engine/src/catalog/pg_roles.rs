//! Roles: `pg_authid` and the views over it, memberships, settings of roles, default privileges.

use rowferry_dialect::access::roles::{BOOTSTRAP, PREDEFINED, Role};
use rowferry_dialect::access::{Acl, Rights};

use super::names::acl_name;
use super::{Cell, Context, NULL, Row, Table, row, text_array};
use crate::schema::SessionSchema;

const MASK: &str = "********";

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_authid", |context| {
        let row = |role: Role| {
            row![
                role.oid,
                &role.name,
                role.superuser,
                role.inherit,
                role.create_role,
                role.create_db,
                role.login,
                role.replication,
                role.bypass_rls,
                i64::from(role.connection_limit),
                role.password,
                role.valid_until
            ]
        };
        all(context.schema).into_iter().map(row).collect()
    }),
    Table::pg_catalog("pg_roles", |context| {
        let row = |role: Role| {
            let config = config(&role);
            row![
                &role.name,
                role.superuser,
                role.inherit,
                role.create_role,
                role.create_db,
                role.login,
                role.replication,
                i64::from(role.connection_limit),
                MASK,
                role.valid_until,
                role.bypass_rls,
                config,
                role.oid
            ]
        };
        all(context.schema).into_iter().map(row).collect()
    }),
    Table::pg_catalog("pg_user", |context| users(context, |_| MASK.into())),
    Table::pg_catalog("pg_shadow", |context| users(context, |role| role.password.clone().into())),
    Table::pg_catalog("pg_group", |context| {
        let memberships = context.schema.main.roles.memberships();
        let row = |role: Role| {
            let members = memberships.iter().filter(|known| known.role == role.oid).map(|known| known.member);
            row![&role.name, role.oid, super::array(members)]
        };
        all(context.schema).into_iter().filter(|role| !role.login).map(row).collect()
    }),
    Table::pg_catalog("pg_auth_members", |context| {
        let inside = PREDEFINED_MEMBERS.into_iter().map(|(role, member)| row![role, member, BOOTSTRAP, false]);
        let given = context.schema.main.roles.memberships().iter();
        inside.chain(given.map(|known| row![known.role, known.member, known.grantor, known.admin])).collect()
    }),
    Table::pg_catalog("pg_db_role_setting", |context| {
        let roles = &context.schema.main.roles;
        let of_roles = roles.iter().filter(|role| !role.config.is_empty());
        let mut rows: Vec<Row> = of_roles.map(|role| row![0, role.oid, config(role)]).collect();
        let everywhere: Vec<String> =
            roles.database().everywhere.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !everywhere.is_empty() {
            rows.push(row![0, 0, text_array(everywhere.iter().map(String::as_str))]);
        }
        let mut named: Vec<u32> = roles.database().settings.keys().map(|(role, _)| *role).collect();
        named.dedup();
        rows.extend(named.into_iter().map(|role| {
            let settings = roles.database().settings_of(role).map(|(name, value)| format!("{name}={value}"));
            let settings: Vec<String> = settings.collect();
            row![context.database.oid(), role, text_array(settings.iter().map(String::as_str))]
        }));
        rows
    }),
    Table::pg_catalog("pg_default_acl", |context| {
        let defaults = context.schema.main.grants.defaults.iter();
        let row = |default: &rowferry_dialect::access::DefaultAcl| {
            let class = match default.class.letter() {
                's' => 'S',
                letter => letter,
            };
            let list = list(context.schema, &default.acl);
            row![default.oid, default.role, default.namespace, class.to_string(), list]
        };
        defaults.map(row).collect()
    }),
    Table::pg_catalog("pg_shdescription", |context| {
        let roles = context.schema.main.roles.iter();
        let own = context.schema.main.roles.database().comment.as_ref();
        let own = own.map(|comment| row![context.database.oid(), 1_262, comment]);
        roles.filter_map(|role| Some(row![role.oid, 1_260, role.comment.as_ref()?])).chain(own).collect()
    }),
];

/// Predefined roles in others: role and member.
const PREDEFINED_MEMBERS: [(u32, u32); 3] = [(3_374, 3_373), (3_375, 3_373), (3_377, 3_373)];

/// Who is in which role: role, member, and whether the member may give it on.
pub(super) fn memberships(schema: &SessionSchema) -> Vec<(u32, u32, bool)> {
    let inside = PREDEFINED_MEMBERS.into_iter().map(|(role, member)| (role, member, false));
    let given = schema.main.roles.memberships().iter();
    inside.chain(given.map(|known| (known.role, known.member, known.admin))).collect()
}

/// Every role there is.
pub(super) fn all(schema: &SessionSchema) -> Vec<Role> {
    let mut roles = vec![match schema.main.roles.get(BOOTSTRAP) {
        Some(role) if !schema.main.roles.is_simple() => Role::clone(role),
        _ => Role::bootstrap(&*schema.user),
    }];
    roles.extend(PREDEFINED.iter().map(|(oid, name)| Role::new(*oid, *name)));
    roles.extend(schema.main.roles.iter().filter(|role| role.oid != BOOTSTRAP).map(|role| Role::clone(role)));
    roles
}

fn users(context: &Context<'_>, password: impl Fn(&Role) -> Cell) -> Vec<Row> {
    let row = |role: Role| {
        let (password, config) = (password(&role), config(&role));
        row![
            &role.name,
            role.oid,
            role.create_db,
            role.superuser,
            role.replication,
            role.bypass_rls,
            password,
            role.valid_until,
            config
        ]
    };
    all(context.schema).into_iter().filter(|role| role.login).map(row).collect()
}

fn config(role: &Role) -> Cell {
    if role.config.is_empty() {
        return NULL;
    }
    let settings: Vec<String> = role.config.iter().map(|(name, value)| format!("{name}={value}")).collect();
    text_array(settings.iter().map(String::as_str)).into()
}

/// A list as catalogs show it.
pub(super) fn list(schema: &SessionSchema, list: &Acl) -> Cell {
    let name = |role: u32| acl_name(&schema.role_name(role).unwrap_or_else(|| role.to_string()));
    text_array(list.texts(name).iter().map(String::as_str)).into()
}

/// What has been granted on an object, as catalogs show it: NULL is what it was born with.
pub(super) fn shown_list(schema: &SessionSchema, rights: &Rights, oid: u32) -> Cell {
    rights.stored_list(oid).map_or(NULL, |stored| list(schema, stored))
}

/// The name of an object's owner.
pub(super) fn owner_name(schema: &SessionSchema, rights: &Rights, oid: u32) -> String {
    schema.role_name(rights.owner(oid)).unwrap_or_default()
}
