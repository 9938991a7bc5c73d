//! What PostgreSQL 15 says of the same patterns.

use super::*;

fn shown(subject: &str, pattern: &str, flags: &str) -> String {
    let found = compiled(pattern, flags).and_then(|regex| {
        let run = Run::new(&regex.program, subject);
        let swift = regex.find(&run, 0)?.map(|found| groups(&found).iter().map(shown_group).collect::<Vec<_>>());
        // Without the quick search the answer is the same.
        let slow = Pattern { swift: None, ..Pattern::new(pattern, flags)? };
        let found = slow.find(&Run::new(&slow.program, subject), 0)?;
        assert_eq!(swift, found.map(|found| groups(&found).iter().map(shown_group).collect()), "{pattern}");
        assert_eq!(regex.is_match(subject, 0)?, swift.is_some(), "{pattern}");
        assert_eq!(slow.is_match(subject, 0)?, swift.is_some(), "{pattern}");
        Ok(swift)
    });
    match found {
        Ok(Some(groups)) => groups.join(","),
        Ok(None) => "no".to_owned(),
        Err(error) => error.message.trim_start_matches("invalid regular expression: ").to_owned(),
    }
}

fn shown_group(group: &Option<&str>) -> String {
    group.unwrap_or("NULL").to_owned()
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (subject, pattern, expected) in cases {
        assert_eq!(shown(subject, pattern, ""), *expected, "{pattern} in {subject}");
    }
}

#[test]
fn earlier_parts_take_what_the_rest_allows() {
    check(&[
        ("aab", "a*(?:ab)*([ab]*)", ""),
        ("aab", "(a*)(?:ab)*([ab]*)", "aa,b"),
        ("abcabcabc", "(?:(a)|b|c)*", "NULL"),
        ("abab", "(?:(a)|(b))*", "NULL,b"),
        ("aaaa", "(a|aa)*", "aa"),
        ("aaaa", "(a|aa){2,3}", "a"),
        ("xabcabcy", "(abc)*(.*?)y", "NULL,xabcabc"),
        ("foobar", "foo|foobar", "foobar"),
        ("XY1234Z", "Y*([0-9]{1,3})", "123"),
        ("XY1234Z", "Y*?([0-9]{1,3})", "1"),
        ("abc01234xyz", "(.*)(\\d+)(.*)", "abc0123,4,xyz"),
        ("abc01234xyz", "(.*?)(\\d+)(.*)", "abc,0,"),
        ("abc01234xyz", "(?:(.*?)(\\d+)(.*)){1,1}", "abc,01234,xyz"),
    ]);
}

#[test]
fn references_and_constraints() {
    check(&[
        ("aaa", "(a)(\\1)*", "a,a"),
        ("abcabc", "(abc)\\1", "abc"),
        ("abab", "^(.+)\\1$", "ab"),
        ("abcd", "(?<=b)c", "c"),
        ("abcd", "(?<!b)c", "no"),
        ("foo", "f(?=o)(o)(?!x)", "o"),
        ("a", "$()|^\\1", "no"),
        ("ab", "b$()|^\\1", ""),
        ("ab", "(b)|^a\\1", "b"),
        ("the cat", "\\mc\\w+\\M", "cat"),
        ("the cat", "[[:<:]]c[[:alpha:]]+[[:>:]]", "cat"),
        ("xyz", "x(\\w)(?=\\1)", "invalid backreference number"),
        ("xyz", "(\\w\\1)", "invalid backreference number"),
        ("ab", "\\1(a)", "invalid backreference number"),
    ]);
}

#[test]
fn what_is_no_expression_is_told_as_postgresql_tells_it() {
    let operand = "quantifier operand invalid";
    let counts = "invalid repetition count(s)";
    let escape = "invalid escape \\ sequence";
    let range = "invalid character range";
    check(&[
        ("ab", "a**", operand),
        ("ab", "*a", operand),
        ("ab", "a{1}{2}", operand),
        ("ab", "a+?*", operand),
        ("ab", "^*", operand),
        ("ab", "(*a)", operand),
        ("ab", "b|*a", operand),
        ("ab", "***foo", operand),
        ("ab", "a{2,1}", counts),
        ("ab", "a{256}", counts),
        ("ab", "a{2", "braces {} not balanced"),
        ("ab", "[z-a]", range),
        ("ab", "[a-\\d]", range),
        ("ab", "[[.a.]-c]", "a"),
        ("ab", "[a", "brackets [] not balanced"),
        ("ab", "[[:foo:]]", "invalid character class"),
        ("ab", "[[.foo.]]", "invalid collating element"),
        ("ab", "a)", "parentheses () not balanced"),
        ("ab", "(a", "parentheses () not balanced"),
        ("ab", "a\\", escape),
        ("ab", "a\\q", escape),
        ("a", "\\x", escape),
        ("a", "\\u12", escape),
        ("a", "\\x7fffffff", escape),
        ("ab", "(?z)a", "invalid embedded option"),
        ("ab", "a||b", "a"),
        ("ab", "()", ""),
        ("a{,2}", "a{,2}", "a{,2}"),
        ("a{b", "a{b", "a{b"),
        ("-", "[[.hyphen.]]", "-"),
    ]);
    assert_eq!(shown("x", &"x*y*z*".repeat(1000), ""), "regular expression is too complex");
}

#[test]
fn flags_and_embedded_options() {
    assert_eq!(shown("FOO", "foo", "i"), "FOO");
    assert_eq!(shown("FOO", "(?i)foo", ""), "FOO");
    assert_eq!(shown("a.b", "***=a.b", ""), "a.b");
    assert_eq!(shown("axb", "***=a.b", ""), "no");
    assert_eq!(shown("axb", "***:(?i)A.B", ""), "axb");
    assert_eq!(shown("a\nb", "a.b", "n"), "no");
    assert_eq!(shown("a\nb", "^b$", "w"), "b");
    assert_eq!(shown("a\nb", "^b$", ""), "no");
    assert_eq!(shown("a b", "a b # c", "x"), "no");
    assert_eq!(shown("ab", "a b # c", "x"), "ab");
    assert_eq!(shown("a\\d", "a\\d", "e"), "no");
    assert_eq!(shown("ad", "a\\d", "e"), "ad");
}

/// Stops the work at some time.
struct Patience(std::sync::atomic::AtomicUsize);

impl work::Supervisor for Patience {
    fn proceed(&self) -> Result<()> {
        match self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0..20 => Ok(()),
            _ => Err(Error::new(Condition::QueryCanceled, "stop")),
        }
    }

    fn room(&self, _: usize) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_hostile_pattern_can_be_stopped() {
    let subject = "a".repeat(60_000);
    for pattern in ["(a*)*b", "((a+)+)+\\2x", "(?:a|aa)+$b", "(x+x+)+y|(a*)(a*)(a*)\\1b", "(?=a*b)a", "(?<=a*b)c"] {
        work::supervise(std::sync::Arc::new(Patience(0.into())));
        let error = is_match(&subject, pattern, "");
        let slow = Pattern { swift: None, ..Pattern::new(pattern, "").unwrap() };
        let error = error.and_then(|_| slow.is_match(&subject.repeat(100), 0)).map(|_| pattern).unwrap_err();
        assert_eq!(error.condition(), Condition::QueryCanceled, "{pattern}");
    }
}

#[test]
fn what_grows_without_bound_is_too_complex() {
    let doubled: String = (1..60).map(|group| format!("(\\{group}\\{group})")).collect();
    check(&[
        ("aaaa", &format!("(a){doubled}"), "regular expression is too complex"),
        ("a", "((a{0,255}){0,255}){0,2}", "regular expression is too complex"),
    ]);
}
