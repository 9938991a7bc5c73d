//! What a door has made for the rows of a plan, kept with the plan for all its sessions.

use std::fmt;
use std::sync::OnceLock;

use super::Prepared;
use super::portals::DoorPart;

/// One part for rows that are sent as texts, one for rows in binary.
#[derive(Default)]
pub(crate) struct DoorParts([OnceLock<DoorPart>; 2]);

impl fmt::Debug for DoorParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DoorParts").field(&self.0.iter().filter(|part| part.get().is_some()).count()).finish()
    }
}

impl Prepared {
    /// What a door has kept for this plan's rows, as texts or in binary.
    pub fn door_part(&self, binary: bool) -> Option<&DoorPart> {
        self.door_parts.0[usize::from(binary)].get()
    }

    /// Keeps a part that hangs on nothing but the plan's columns. The first one stays.
    pub fn keep_door_part(&self, binary: bool, part: DoorPart) {
        let _ = self.door_parts.0[usize::from(binary)].set(part);
    }
}
