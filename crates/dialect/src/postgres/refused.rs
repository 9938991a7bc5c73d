//! The statements of PostgreSQL's grammar that are not there yet, by their names.

use pg_query::protobuf::{ObjectType, node::Node as N};

use super::binder::Binder;
use crate::Error;

impl Binder<'_> {
    /// The error for a statement that is not there.
    pub(super) fn no_statement(&self, node: &N) -> Error {
        let start = self.source.map_or(-1, |source| i32::try_from(source.range().start).unwrap_or(-1));
        self.unsupported(words(node), start)
    }
}

fn words(node: &N) -> String {
    let fixed = match node {
        N::AlterOwnerStmt(alter) => return format!("ALTER {} … OWNER TO", object(alter.object_type())),
        N::AlterObjectSchemaStmt(alter) => return format!("ALTER {} … SET SCHEMA", object(alter.object_type())),
        N::AlterObjectDependsStmt(alter) => {
            return format!("ALTER {} … DEPENDS ON EXTENSION", object(alter.object_type()));
        }
        N::DefineStmt(define) => return format!("CREATE {}", object(define.kind())),
        N::AlterTableMoveAllStmt(_) => "ALTER … ALL IN TABLESPACE",
        node => definition(node).or_else(|| administration(node)).unwrap_or("this statement"),
    };
    fixed.to_owned()
}

/// An object's kind as statements have it.
pub(super) fn object(kind: ObjectType) -> String {
    let words = match kind {
        ObjectType::ObjectFdw => "FOREIGN DATA WRAPPER",
        ObjectType::ObjectForeignServer => "SERVER",
        ObjectType::ObjectLargeobject => "LARGE OBJECT",
        ObjectType::ObjectMatview => "MATERIALIZED VIEW",
        ObjectType::ObjectOpclass => "OPERATOR CLASS",
        ObjectType::ObjectOpfamily => "OPERATOR FAMILY",
        ObjectType::ObjectStatisticExt => "STATISTICS",
        ObjectType::ObjectTabconstraint | ObjectType::ObjectDomconstraint => "CONSTRAINT",
        ObjectType::ObjectTsconfiguration => "TEXT SEARCH CONFIGURATION",
        ObjectType::ObjectTsdictionary => "TEXT SEARCH DICTIONARY",
        ObjectType::ObjectTsparser => "TEXT SEARCH PARSER",
        ObjectType::ObjectTstemplate => "TEXT SEARCH TEMPLATE",
        other => return other.as_str_name().trim_start_matches("OBJECT_").replace('_', " "),
    };
    words.to_owned()
}

/// Statements that define something of the schema.
fn definition(node: &N) -> Option<&'static str> {
    Some(match node {
        N::MergeStmt(_) => "MERGE",
        N::CreateEventTrigStmt(_) => "CREATE EVENT TRIGGER",
        N::AlterEventTrigStmt(_) => "ALTER EVENT TRIGGER",
        N::CreateEnumStmt(_) => "CREATE TYPE … AS ENUM",
        N::CompositeTypeStmt(_) => "CREATE TYPE … AS (…)",
        N::AlterEnumStmt(_) | N::AlterTypeStmt(_) => "ALTER TYPE",
        N::CreateTransformStmt(_) => "CREATE TRANSFORM",
        N::CreateConversionStmt(_) => "CREATE CONVERSION",
        N::CreateOpClassStmt(_) => "CREATE OPERATOR CLASS",
        N::CreateOpFamilyStmt(_) => "CREATE OPERATOR FAMILY",
        N::AlterOpFamilyStmt(_) => "ALTER OPERATOR FAMILY",
        N::CreateAmStmt(_) => "CREATE ACCESS METHOD",
        N::CreatePlangStmt(_) => "CREATE LANGUAGE",
        N::AlterExtensionContentsStmt(_) => "ALTER EXTENSION … ADD, DROP",
        N::AlterCollationStmt(_) => "ALTER COLLATION",
        N::AlterTsdictionaryStmt(_) => "ALTER TEXT SEARCH DICTIONARY",
        N::AlterTsconfigurationStmt(_) => "ALTER TEXT SEARCH CONFIGURATION",
        N::CreateForeignTableStmt(_) => "CREATE FOREIGN TABLE",
        N::CreateFdwStmt(_) => "CREATE FOREIGN DATA WRAPPER",
        N::AlterFdwStmt(_) => "ALTER FOREIGN DATA WRAPPER",
        N::CreateForeignServerStmt(_) => "CREATE SERVER",
        N::AlterForeignServerStmt(_) => "ALTER SERVER",
        N::CreateUserMappingStmt(_) => "CREATE USER MAPPING",
        N::AlterUserMappingStmt(_) => "ALTER USER MAPPING",
        N::DropUserMappingStmt(_) => "DROP USER MAPPING",
        N::ImportForeignSchemaStmt(_) => "IMPORT FOREIGN SCHEMA",
        N::SecLabelStmt(_) => "SECURITY LABEL",
        _ => return None,
    })
}

/// Statements about roles, databases, replication and the server.
fn administration(node: &N) -> Option<&'static str> {
    Some(match node {
        N::CreateRoleStmt(_) => "CREATE ROLE",
        N::AlterRoleStmt(_) | N::AlterRoleSetStmt(_) => "ALTER ROLE",
        N::DropRoleStmt(_) => "DROP ROLE",
        N::GrantStmt(grant) if grant.is_grant => "GRANT",
        N::GrantStmt(_) => "REVOKE",
        N::GrantRoleStmt(grant) if grant.is_grant => "GRANT of roles",
        N::GrantRoleStmt(_) => "REVOKE of roles",
        N::AlterDefaultPrivilegesStmt(_) => "ALTER DEFAULT PRIVILEGES",
        N::DropOwnedStmt(_) => "DROP OWNED",
        N::ReassignOwnedStmt(_) => "REASSIGN OWNED",
        N::AlterDatabaseStmt(_) | N::AlterDatabaseSetStmt(_) | N::AlterDatabaseRefreshCollStmt(_) => "ALTER DATABASE",
        N::AlterSystemStmt(_) => "ALTER SYSTEM",
        N::CreateTableSpaceStmt(_) => "CREATE TABLESPACE",
        N::AlterTableSpaceOptionsStmt(_) => "ALTER TABLESPACE",
        N::DropTableSpaceStmt(_) => "DROP TABLESPACE",
        N::CreatePublicationStmt(_) => "CREATE PUBLICATION",
        N::AlterPublicationStmt(_) => "ALTER PUBLICATION",
        N::CreateSubscriptionStmt(_) => "CREATE SUBSCRIPTION",
        N::AlterSubscriptionStmt(_) => "ALTER SUBSCRIPTION",
        N::DropSubscriptionStmt(_) => "DROP SUBSCRIPTION",
        N::ClusterStmt(_) => "CLUSTER",
        N::ConstraintsSetStmt(_) => "SET CONSTRAINTS of single constraints",
        _ => return None,
    })
}
