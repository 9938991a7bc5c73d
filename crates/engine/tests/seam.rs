//! The seam stays: above the back end nothing names SQLite, nor speaks to it in its own words.

use std::path::{Path, PathBuf};

/// The back end itself, and the two files that choose it.
const BELOW: &[&str] = &[
    "crates/dialect/src/lower/mod.rs",
    "crates/dialect/src/lower/sqlite",
    "crates/engine/src/backend/mod.rs",
    "crates/engine/src/backend/sqlite",
];

/// Its name (and so that of the crates that bind it), how its own statements begin, and what the binding's connection is
/// asked: above there is a connection of ours.
const WORDS: &[&str] = &[
    "sqlite",
    "pragma ",
    "from_handle",
    "is_autocommit",
    "prepare_cached",
    "execute_batch",
    "query_row",
    "last_insert_rowid",
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
    let above = files.iter().filter(|(name, _)| !BELOW.iter().any(|below| is_in(name, below)));
    let named: Vec<&String> = above
        .filter(|(_, path)| {
            let text = std::fs::read_to_string(path).expect("a source").to_ascii_lowercase();
            WORDS.iter().any(|word| text.contains(word))
        })
        .map(|(name, _)| name)
        .collect();
    assert!(named.is_empty(), "these know SQLite above the seam: say it in the back end's terms, or below: {named:#?}");
}
