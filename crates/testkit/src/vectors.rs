//! Golden byte vectors from `tests/vectors/`, owned by no language.

use std::path::Path;

use serde_json::Value;

/// One vector: bytes with their meaning.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its name, unique in the file.
    pub name: String,
    /// Who sends it: `client->server`, `server->client`; or what it is: `row value`, `row payload`.
    pub direction: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What they mean.
    pub decoded: Value,
    /// Which widths were negotiated, when it matters.
    pub widths: Option<String>,
}

/// Reads all vectors of a file in `tests/vectors/`.
///
/// # Panics
/// When the file is missing or not in the expected form: a test cannot go on without it.
pub fn load(file: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let root: Value = serde_json::from_str(&text).expect("vectors are JSON");
    let field = |vector: &Value, name: &str| vector[name].as_str().map(str::to_owned);
    root["vectors"]
        .as_array()
        .expect("a list of vectors")
        .iter()
        .map(|vector| Vector {
            name: field(vector, "name").expect("name"),
            direction: field(vector, "direction").expect("direction"),
            bytes: from_hex(&field(vector, "hex").expect("hex")),
            decoded: vector["decoded"].clone(),
            widths: field(vector, "widths"),
        })
        .collect()
}

/// Bytes of hexadecimal text.
///
/// # Panics
/// When it is not.
pub fn from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "odd number of digits");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal")).collect()
}

/// Hexadecimal text of bytes.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
