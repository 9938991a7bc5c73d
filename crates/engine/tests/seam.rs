//! The seam stays: above the back end nothing names SQLite, but for what is listed here, and the list only shrinks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The back end itself, and the two files that choose it.
const BELOW: &[&str] = &[
    "crates/dialect/src/lower/mod.rs",
    "crates/dialect/src/lower/sqlite",
    "crates/engine/src/backend/mod.rs",
    "crates/engine/src/backend/sqlite",
];

/// Files, and folders whole, that stand above and name it still. Take out what does not any more; add nothing.
const LEFT: &[&str] = &[
    "crates/engine/src/databases.rs",
    "crates/engine/src/session/checks.rs",
    "crates/engine/src/session/maintenance.rs",
    "crates/engine/src/session/mod.rs",
    "crates/engine/src/session/temporary.rs",
    "crates/engine/src/session/transaction.rs",
    "crates/engine/src/settings/mod.rs",
];

/// Every Rust source below a folder, by its path from the root of the repository.
fn sources(root: &Path, folder: &str, found: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(root.join(folder)).expect("a folder of sources") {
        let entry = entry.expect("an entry of a folder");
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("the kind of an entry").is_dir() {
            sources(root, &name, found);
        } else if name.ends_with(".rs") {
            found.push((name, entry.path()));
        }
    }
}

#[test]
fn nothing_above_the_seam_names_sqlite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates/dialect/src", "crates/engine/src"] {
        sources(&root, folder, &mut files);
    }
    let is_in =
        |name: &str, entry: &str| name.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut unused: BTreeSet<&str> = LEFT.iter().copied().collect();
    let mut new = Vec::new();
    for (name, path) in files.iter().filter(|(name, _)| !BELOW.iter().any(|below| is_in(name, below))) {
        let text = std::fs::read_to_string(path).expect("a source");
        if !text.to_ascii_lowercase().contains("sqlite") {
            continue;
        }
        match LEFT.iter().find(|left| is_in(name, left)) {
            Some(left) => {
                unused.remove(left);
            }
            None => new.push(name),
        }
    }
    assert!(new.is_empty(), "these name SQLite above the seam: say it in the back end's terms, or below: {new:#?}");
    assert!(unused.is_empty(), "these name SQLite no more: take them out of the list: {unused:#?}");
}
