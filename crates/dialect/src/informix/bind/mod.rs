//! Names bound, types decided.
