use super::*;
use crate::scalar::Scalar;
use crate::scalar::ranges::{DATEMULTIRANGE, DATERANGE, INT4MULTIRANGE, INT4RANGE, NUMRANGE, TSRANGE, TSTZRANGE};
use crate::scalar::round_trip::{ascends, check};
use crate::user_type::{self, Constructors, MultirangeType, UserKind, UserRange};

#[test]
fn ranges_are_read_and_printed_as_postgresql_does() {
    check(
        &INT4RANGE,
        &[
            (" [1,5) ", "[1,5)"),
            ("(1,5]", "[2,6)"),
            ("[1,1]", "[1,2)"),
            ("[1,1)", "empty"),
            ("(1,2)", "empty"),
            (" EmPty ", "empty"),
            ("[,]", "(,)"),
            ("(,5]", "(,6)"),
            ("[ 3 , 4 ]", "[3,5)"),
            ("[\"3\",\\4]", "[3,5)"),
            ("[3,4\"2\"]", "[3,43)"),
        ],
    );
    check(
        &NUMRANGE,
        &[
            ("[1.10,2.2]", "[1.10,2.2]"),
            ("(-Infinity,NaN)", "(-Infinity,NaN)"),
            ("[1.0,1.00]", "[1.0,1.00]"),
            ("[1.0,1.00)", "empty"),
        ],
    );
    check(
        &DATERANGE,
        &[
            ("[2020-01-01,2020-01-31]", "[2020-01-01,2020-02-01)"),
            ("(-infinity,infinity]", "(-infinity,infinity]"),
            ("[0044-03-15 BC,)", "[\"0044-03-15 BC\",)"),
        ],
    );
    check(&TSRANGE, &[("[2020-01-01,2020-01-02 03:04:05.6]", "[\"2020-01-01 00:00:00\",\"2020-01-02 03:04:05.6\"]")]);
    check(&TSTZRANGE, &[("(2020-01-01 00:00+02,)", "(\"2019-12-31 22:00:00+00\",)")]);
    check(
        &INT4MULTIRANGE,
        &[
            (" { } ", "{}"),
            ("{empty}", "{}"),
            ("{ [3,5) , (5,7], [1,3) ,EMPTY}", "{[1,5),[6,8)}"),
            ("{(,)}", "{(,)}"),
            ("{[1,9),[2,3)}", "{[1,9)}"),
        ],
    );
    check(&DATEMULTIRANGE, &[("{[2020-01-03,),[2020-01-01,2020-01-02]}", "{[2020-01-01,)}")]);
}

fn refuses(scalar: &Scalar, given: &str, message: &str, detail: Option<&str>) {
    let error = (scalar.input)(given, &Settings::default()).expect_err(given);
    assert_eq!((error.message.as_str(), error.detail.as_deref()), (message, detail), "{given}");
}

#[test]
fn what_is_no_range_is_refused_in_postgresqls_words() {
    for (given, detail) in [
        ("", "Missing left parenthesis or bracket."),
        ("-[1,2]", "Missing left parenthesis or bracket."),
        ("[1]", "Missing comma after lower bound."),
        ("[1", "Unexpected end of input."),
        ("[1,", "Unexpected end of input."),
        ("[1,\\", "Unexpected end of input."),
        ("[1,\"2]", "Unexpected end of input."),
        ("[1,2,3]", "Too many commas."),
        ("[1,2]x", "Junk after right parenthesis or bracket."),
        ("empty x", "Junk after \"empty\" key word."),
    ] {
        refuses(&INT4RANGE, given, &format!("malformed range literal: \"{given}\""), Some(detail));
    }
    for (given, detail) in [
        ("", "Missing left brace."),
        ("{", "Unexpected end of input."),
        ("{[1,2]", "Unexpected end of input."),
        ("{[1,2", "Unexpected end of input."),
        ("{,}", "Expected range start."),
        ("{[1,2),}", "Expected range start."),
        ("{[1,2) [3,4)}", "Expected comma or end of multirange."),
        ("{} x", "Junk after closing right brace."),
    ] {
        refuses(&INT4MULTIRANGE, given, &format!("malformed multirange literal: \"{given}\""), Some(detail));
    }
    let reversed = "range lower bound must be less than or equal to range upper bound";
    refuses(&INT4RANGE, "[2,1]", reversed, None);
    refuses(&INT4RANGE, "[1,2147483647]", "integer out of range", None);
    refuses(&INT4RANGE, "[a,2]", "invalid input syntax for type integer: \"a\"", None);
    refuses(&DATERANGE, "[,5874897-12-31]", "date out of range", None);
}

#[test]
fn ranges_are_ordered_as_postgresql_does() {
    ascends(
        &NUMRANGE,
        &["empty", "(,1)", "(,1]", "(,)", "[1,1]", "[1,2)", "[1,2]", "[1,)", "(1,2)", "(1,)", "[1.5,2)"],
    );
    ascends(&INT4MULTIRANGE, &["{}", "{(,1)}", "{[1,2)}", "{[1,2),[4,5)}", "{[1,3)}"]);
    let equal = range_of("[1.0,2)");
    assert!(compare(&equal, &range_of("[1.00,2.0)")).is_eq());
}

fn range_of(given: &str) -> Vec<Range> {
    let settings = Settings::default();
    let read = if given.starts_with('{') { text::read_multirange } else { text::read_range };
    read(given, &Subtype::Numeric, &settings).unwrap()
}

fn shown(ranges: &[Range]) -> String {
    text::to_stored(ranges, true, &Subtype::Numeric).unwrap()
}

#[test]
fn ranges_are_combined_as_postgresql_does() {
    for (left, right, union_, minus_, both) in [
        ("[1,3)", "[2,5)", "{[1,5)}", "{[1,2)}", "{[2,3)}"),
        ("[1,3)", "[3,5)", "{[1,5)}", "{[1,3)}", "{}"),
        ("[1,3)", "(3,5)", "{[1,3),(3,5)}", "{[1,3)}", "{}"),
        ("[1,3]", "[3,5)", "{[1,5)}", "{[1,3)}", "{[3,3]}"),
        ("[1,9]", "(3,5]", "{[1,9]}", "{[1,3],(5,9]}", "{(3,5]}"),
        ("[1,2]", "(1,2)", "{[1,2]}", "{[1,1],[2,2]}", "{(1,2)}"),
        ("empty", "(1,2)", "{(1,2)}", "{}", "{}"),
        ("(,)", "[1,2)", "{(,)}", "{(,1),[2,)}", "{[1,2)}"),
        ("{[1,3),[5,7)}", "{[2,6)}", "{[1,7)}", "{[1,2),[6,7)}", "{[2,3),[5,6)}"),
        ("{[1,10)}", "{[2,3),[4,5),[9,12)}", "{[1,12)}", "{[1,2),[3,4),[5,9)}", "{[2,3),[4,5),[9,10)}"),
    ] {
        let (a, b) = (range_of(left), range_of(right));
        assert_eq!(shown(&union(a.clone(), b.clone())), union_, "{left} + {right}");
        assert_eq!(shown(&minus(&Subtype::Numeric, a.clone(), &b).unwrap()), minus_, "{left} - {right}");
        assert_eq!(shown(&intersect(&a, &b)), both, "{left} * {right}");
        assert_eq!(overlaps(&a, &b), both != "{}", "{left} && {right}");
        assert_eq!(contains(&a, &b), minus(&Subtype::Numeric, b, &a).unwrap().is_empty(), "{left} @> {right}");
    }
    let gap = union_of_ranges(range_of("[1,2)"), range_of("[3,4)")).unwrap_err();
    assert_eq!(gap.message, "result of range union would not be contiguous");
    let gap = minus_of_ranges(&Subtype::Numeric, range_of("[1,9)"), &range_of("[3,4)")).unwrap_err();
    assert_eq!(gap.message, "result of range difference would not be contiguous");
}

#[test]
fn ranges_lie_beside_each_other_as_postgresql_says() {
    type Test = fn(&[Range], &[Range]) -> bool;
    let table: [(&str, Test, &str, bool); 12] = [
        ("[1,2)", before, "[2,3)", true),
        ("[1,2]", before, "[2,3)", false),
        ("empty", before, "[2,3)", false),
        ("[1,2)", over_left, "(,2)", true),
        ("[1,2]", over_left, "(,2)", false),
        ("[1,2)", over_right, "[1,9)", true),
        ("[1,2)", over_right, "(1,9)", false),
        ("[1,2)", adjacent, "[2,3)", true),
        ("[1,2]", adjacent, "[2,3)", false),
        ("(2,3)", adjacent, "[1,2]", true),
        ("{[1,2),[5,6)}", adjacent, "[6,7)", true),
        ("{[1,2),[5,6)}", adjacent, "[2,5)", false),
    ];
    for (left, test, right, answer) in table {
        assert_eq!(test(&range_of(left), &range_of(right)), answer, "{left} {right}");
    }
    assert!(contains_point(&range_of("[1,2)"), &Point::Decimal(Decimal::from_i64(1))));
    assert!(!contains_point(&range_of("[1,2)"), &Point::Decimal(Decimal::from_i64(2))));
}

fn of_texts() -> UserType {
    let text = |text: &str| text.to_owned();
    let names = (text("public"), text("textrange"));
    UserType {
        oid: 20_000,
        array_oid: 20_001,
        namespace: text("public"),
        name: text("textrange"),
        comment: None,
        kind: UserKind::Range(UserRange {
            subtype: Arc::new(Type::Text),
            operator_class: 3_126,
            collation: crate::collation::Collation::by_oid(100).cloned(),
            difference: 0,
            multirange: MultirangeType {
                oid: 20_002,
                array_oid: 20_003,
                namespace: text("public"),
                name: text("textmultirange"),
                comment: None,
            },
            cast: 20_004,
            constructors: Constructors { oids: [20_005; 5], range: names.clone(), multirange: names },
        }),
    }
}

#[test]
fn ranges_of_users_types_keep_their_bounds_as_they_are() {
    let range = Arc::new(of_texts());
    let multirange = user_type::multirange_of(&range).unwrap();
    let settings = Settings::default();
    let printed = |given: &str, user: &UserType| {
        let stored = input(given, user, &settings).unwrap();
        let mut out = Vec::new();
        write(&mut out, stored.as_bytes(), user, &settings).unwrap();
        assert_eq!(input(&stored, user, &settings).unwrap(), stored, "{given}");
        String::from_utf8(out).unwrap()
    };
    // As PostgreSQL 15 prints them.
    assert_eq!(printed("[a,b]", &range), "[a,b]");
    assert_eq!(printed("(a,a]", &range), "empty");
    assert_eq!(printed(r#"[ ,"c""d")"#, &range), r#"[" ","c""d")"#);
    assert_eq!(printed(r#"["",x\\y]"#, &range), r#"["","x\\y"]"#);
    assert_eq!(printed("{[c,d),[a,c)}", &multirange), "{[a,d)}");
    assert!(input("[b,a]", &range, &settings).is_err());
    assert_eq!(
        write(&mut Vec::new(), b"[a", &range, &settings).unwrap_err().condition(),
        Condition::InvalidTextRepresentation
    );
}

#[test]
fn a_range_type_survives_its_definition() {
    let range = Arc::new(of_texts());
    let read = UserType::from_definition(range.oid, "public", "textrange", &range.definition()).unwrap();
    assert_eq!(read.definition(), range.definition());
    assert_eq!(*read.subtype().unwrap(), Arc::new(Type::Text));
    let multirange = Type::User(user_type::multirange_of(&range).unwrap());
    let told = user_type::from_told(&user_type::told(&multirange).unwrap()).unwrap();
    assert_eq!((&told, crate::scalar::ranges::of(&told).unwrap().range), (&multirange, Type::User(range)));
}

#[test]
fn binary_forms_are_postgresqls() {
    let bytes = |scalar: &Scalar, given: &str| {
        let stored = (scalar.input)(given, &Settings::default()).unwrap();
        let mut out = Vec::new();
        (scalar.send)(&mut out, stored.as_ref()).unwrap();
        out
    };
    assert_eq!(bytes(&INT4RANGE, "[1,5)"), [2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5]);
    assert_eq!(bytes(&INT4RANGE, "empty"), [1]);
    assert_eq!(bytes(&INT4RANGE, "(,)"), [0x18]);
    assert_eq!(bytes(&INT4MULTIRANGE, "{(,5)}"), [0, 0, 0, 1, 0, 0, 0, 9, 8, 0, 0, 0, 4, 0, 0, 0, 5]);
    let refused = |bytes: &[u8]| (INT4RANGE.receive)(bytes).unwrap_err().condition().sqlstate();
    assert_eq!(refused(&[2, 0xff, 0xff, 0xff, 0xff]), "22P03");
    assert_eq!(refused(&[0x18, 0]), "22P03");
    assert_eq!(refused(&[6, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 1]), "22000");
    assert!((INT4MULTIRANGE.receive)(&[0xff, 0xff, 0xff, 0xff]).is_err());
}
