//! ALTER LARGE OBJECT … OWNER TO, COMMENT ON and GRANT ON LARGE OBJECT; what becomes of them when roles go.

use rowferry_dialect::access::{ObjectClass, Privileges, denied};
use rowferry_dialect::ir::{Grant, LargeObjectAction, LargeObjectChange, RoleSpec};
use rowferry_dialect::{Condition, Error};

use super::grants::{change_of, invalid_privilege};
use super::{Changer, Done};
use crate::backend::{LargeObject, LargeObjects};
use crate::large_objects::{existing, list_of_new_owner};

impl Changer<'_> {
    fn large_objects(&self) -> LargeObjects<'_> {
        LargeObjects::new(self.handle.connection(), &self.session.interrupter)
    }

    pub(super) fn change_large_objects(&self, change: &LargeObjectChange) -> Done {
        for oid in &change.objects {
            let object = existing(self.large_objects(), *oid)?;
            match &change.action {
                LargeObjectAction::Owner(to) => self.give_large_object(*oid, &object, to)?,
                LargeObjectAction::Comment(text) => {
                    self.check_owns_large_object(*oid, &object)?;
                    self.large_objects().set_comment(*oid, text.as_deref())?;
                }
                LargeObjectAction::Grant(grant) => self.grant_on_large_object(*oid, object, grant)?,
            }
        }
        Ok(())
    }

    fn check_owns_large_object(&self, oid: u32, object: &LargeObject) -> Done {
        let rights = self.rights();
        if rights.is_superuser() || rights.roles.has_privileges_of(rights.role(), object.owner) {
            return Ok(());
        }
        Err(Error::new(Condition::InsufficientPrivilege, format!("must be owner of large object {oid}")).into())
    }

    fn give_large_object(&self, oid: u32, object: &LargeObject, to: &RoleSpec) -> Done {
        let to = self.role(to)?;
        if to == object.owner {
            return Ok(());
        }
        if !self.rights().is_superuser() {
            self.check_owns_large_object(oid, object)?;
            self.check_member(&self.rights(), to)?;
        }
        Ok(self.large_objects().set_owner(oid, to, list_of_new_owner(object, to).as_ref())?)
    }

    fn grant_on_large_object(&self, oid: u32, object: LargeObject, grant: &Grant) -> Done {
        self.check_grantor(grant)?;
        let class = ObjectClass::LargeObject;
        let valid = Privileges::all_of(class);
        let mut wanted = if grant.privileges.is_empty() { valid } else { Privileges::NONE };
        for (privilege, columns) in &grant.privileges {
            if !columns.is_empty() {
                let message = "column privileges are only valid for relations";
                return Err(Error::new(Condition::InvalidGrantOperation, message).into());
            }
            if let Some((_, word)) = privilege.without(valid).each().next() {
                return Err(invalid_privilege(word, "large object").into());
            }
            wanted = wanted | *privilege;
        }
        let grantees = self.grantees(&grant.grantees)?;
        let rights = self.rights();
        let (owner, mut list) = (object.owner, object.privileges);
        let (grantor, may) = list.best_grantor(&rights.roles, rights.role(), owner, wanted);
        let held = list.held_by(&rights.roles, grantor, owner, class);
        if may.is_empty() && held.0.is_empty() && held.1.is_empty() {
            return Err(denied("large object", &format!("large object {oid}")).into());
        }
        self.tell_partial(grant.grant, grant.privileges.is_empty(), wanted, may, &format!("\"large object {oid}\""));
        list.change(&change_of(grant, &grantees, may, grantor, owner))?;
        Ok(self.large_objects().set_owner(oid, owner, Some(&list))?)
    }

    /// What a role that is to be dropped has to do with large objects.
    pub(super) fn large_object_lines(&self, role: u32) -> Done<Vec<String>> {
        let mut lines = Vec::new();
        for (oid, object) in self.large_objects().of_role(role)? {
            let word = if object.owner == role { "owner of" } else { "privileges for" };
            lines.push(format!("{word} large object {oid}"));
        }
        Ok(lines)
    }

    /// REASSIGN OWNED.
    pub(super) fn reassign_large_objects(&self, from: u32, to: u32) -> Done {
        for (oid, object) in self.large_objects().of_role(from)? {
            if object.owner == from {
                self.large_objects().set_owner(oid, to, list_of_new_owner(&object, to).as_ref())?;
            }
        }
        Ok(())
    }

    /// DROP OWNED: the role's objects go, and what it has been granted on others.
    pub(super) fn drop_large_objects_of(&self, role: u32) -> Done {
        for (oid, mut object) in self.large_objects().of_role(role)? {
            if object.owner == role {
                self.large_objects().remove(oid)?;
                continue;
            }
            object.privileges.0.retain(|item| item.grantee != role);
            self.large_objects().set_owner(oid, object.owner, Some(&object.privileges))?;
        }
        Ok(())
    }
}
