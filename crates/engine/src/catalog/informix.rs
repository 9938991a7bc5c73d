//! Informix's catalogs: `systables`, `syscolumns` and their kin, in the namespace `informix`.

use super::Table;

pub(super) const TABLES: &[Table] = &[];
