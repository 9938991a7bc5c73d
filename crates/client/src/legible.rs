use std::fmt::Write as _;

/// Bytes as text, and whether all of them are text in UTF-8: those that are not stand there as `\xE4`, so that what is stored can
/// be seen, and two values that differ do not look alike.
pub fn legible(bytes: Vec<u8>) -> (String, bool) {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (text, true),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    (text, false)
}

#[cfg(test)]
mod tests {
    use super::legible;

    #[test]
    fn bytes_that_are_no_text_are_told_apart() {
        assert_eq!(legible("Käse".into()), ("Käse".to_owned(), true));
        assert_eq!(legible(b"K\xE4se \xFF".to_vec()), ("K\\xE4se \\xFF".to_owned(), false));
        // The first two bytes of a euro sign: each is told.
        assert_eq!(legible(b"\xE2\x82".to_vec()), ("\\xE2\\x82".to_owned(), false));
    }
}
