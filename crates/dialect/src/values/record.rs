//! Rows as text: `(1,two,)`.

/// A row whose fields are given in their text form; `None` is NULL.
pub fn output<'t>(fields: impl IntoIterator<Item = Option<&'t str>>) -> String {
    let mut out = String::from("(");
    for (at, field) in fields.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let Some(field) = field else { continue };
        let plain = !field.is_empty()
            && !field.contains(['"', '\\', '(', ')', ','])
            && !field.contains(|character: char| character.is_ascii_whitespace() || character == '\u{b}');
        if plain {
            out.push_str(field);
            continue;
        }
        out.push('"');
        for character in field.chars() {
            if matches!(character, '"' | '\\') {
                out.push(character);
            }
            out.push(character);
        }
        out.push('"');
    }
    out.push(')');
    out
}

#[cfg(test)]
mod tests {
    use super::output;

    #[test]
    fn fields_are_quoted_where_they_could_be_misread() {
        let fields = [Some("1"), None, Some(""), Some("a b"), Some("a,b"), Some(r#"say "x\y""#), Some("é")];
        assert_eq!(output(fields), r#"(1,,"","a b","a,b","say ""x\\y""",é)"#);
        assert_eq!(output([]), "()");
        assert_eq!(output([None]), "()");
    }
}
