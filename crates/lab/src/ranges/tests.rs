//! Expressions: what they name, what they refuse and where, and that folding has an inverse.

use proptest::prelude::*;

use super::{DefaultName, Known, MOST, NameSet, RangeNote, expand, fold, is_name};

/// A small inventory: atom001 to atom009, three chassis managers, one name that looks like a range.
fn lab() -> Known {
    let mut known = Known::with_defaults(DefaultName::parse("atom%03d"), Some([192, 168, 5]));
    for name in expand("atom[001-009],mercury[1-3]cmm,x1-2", &with_odd()).expect("names").names.iter() {
        known.add_name(name);
    }
    known.add_to_group(None, "leaf1", ["atom004".to_owned(), "atom005".to_owned()]);
    known.add_to_group(Some("role"), "server", ["atom001".to_owned()]);
    known
}

fn with_odd() -> Known {
    let mut known = Known::default();
    known.add_name("x1-2");
    known
}

fn named(text: &str) -> String {
    let expanded = expand(text, &lab()).unwrap_or_else(|error| panic!("{text}: {error}"));
    fold(expanded.names.iter())
}

fn refused(text: &str) -> String {
    match expand(text, &lab()) {
        Ok(expanded) => panic!("{text} gives {}", fold(expanded.names.iter())),
        Err(error) => {
            assert!(!error.hint.is_empty() && error.column <= text.chars().count() + 1, "{text}: {error:?}");
            error.to_string()
        }
    }
}

#[test]
fn both_ways_of_writing_name_machines() {
    for (text, names) in [
        ("10+3", "atom[010-012]"),
        ("10-12", "atom[010-012]"),
        ("[1-3,5]", "atom[001-003,005]"),
        ("007", "atom007"),
        ("1-9/4", "atom[001,005,009]"),
        ("atom002+3", "atom[002-004]"),
        ("atom998+5", "atom[1000-1002,998-999]"),
        ("atom001-atom003", "atom[001-003]"),
        ("n1m-n3m", "n[1-3]m"),
        ("a[1+3,9]", "a[1-3,9]"),
        (".1-3", "192.168.5.[1-3]"),
        (".1-.3", "192.168.5.[1-3]"),
        ("10.0.0.7-10.0.0.9", "10.0.0.[7-9]"),
        ("10.0.0.7-.9,1+2,n3,4", "10.0.0.[1-2,7-9],atom004,n3"),
        (".250+5", "192.168.5.[250-254]"),
        ("x1-2", "x1-2"),
        ("ip-10-0-0-12", "ip-10-0-0-12"),
        ("node1-eth0", "node1-eth0"),
        ("5-a", "5-a"),
        ("@leaf1", "atom[004-005]"),
        ("@role:server", "atom001"),
        ("@*!@leaf1&atom*", "atom[001-003,006-009]"),
        ("mercury?cmm", "mercury[1-3]cmm"),
        ("*[1-2]cmm", "mercury[1-2]cmm"),
        ("(a,b)&(b,c)", "b"),
        ("a[1-2]^(a2,a3)", "a[1,3]"),
        ("ATOM001", "atom001"),
    ] {
        // Wider numbers stand apart from padded ones, whatever their order.
        let same =
            |a: &str, b: &str| expand(a, &lab()).map(|e| e.names) == expand(b, &lab()).map(|e| e.names);
        assert!(same(&named(text), names), "{text} gives {}", named(text));
    }
}

#[test]
fn names_keep_the_order_in_which_they_are_first_seen() {
    let expanded = expand("c,a[2-3],b,a1,c", &Known::default()).expect("names");
    assert_eq!(expanded.names.iter().collect::<Vec<_>>(), ["c", "a2", "a3", "b", "a1"]);
}

#[test]
fn a_refusal_has_its_column_and_a_hint() {
    for (text, says) in [
        ("", "column 1: the expression is empty"),
        ("a,", "column 3: nothing stands behind `,`"),
        ("a,,b", "column 3: nothing stands between `,` and `,`"),
        ("^file", "column 1: nothing stands before `^`"),
        ("a&&b", "column 3: nothing stands between `&` and `&`"),
        ("-a", "column 1: a name does not begin with -"),
        ("/a.*/", "column 1: regular expressions"),
        ("a b", "column 2: a blank has no place here"),
        ("a{1,2}", "column 2: `{` has no place here"),
        ("a$(x)", "column 2: `$` has no place here"),
        ("a\n", "column 2: `\\n` has no place here"),
        ("a[1-5", "column 2: the bracket is not closed"),
        ("a]", "column 2: `]` has no place here"),
        ("a[]", "column 2: the bracket is empty"),
        ("a[1,]", "column 5: a number is missing"),
        ("a[1][2]", "column 5: two brackets"),
        ("a[x]", "column 3: `x` in a bracket"),
        ("a[5-1]", "column 3: `5-1` ends before it begins"),
        ("a[1-05]", "column 3: `1-05`: the two numbers are not equally wide"),
        ("a[1-9/0]", "column 7: a step of 0"),
        ("a[1/2]", "column 3: a step without a range"),
        ("a[1+0]", "column 5: a count of 0"),
        ("10+0", "column 4: a count of 0"),
        ("9-5", "column 1: `9-5` ends before it begins"),
        ("a3-a1", "column 1: `3-1` ends before it begins"),
        ("a01-a003", "column 1: `01-003`: the two numbers are not equally wide"),
        ("atom002-005", "column 1: `atom002-005` is no machine of the inventory"),
        ("rack1node2+3", "column 1: `rack1node2` has not exactly one number"),
        ("a[1-2]+3", "column 7: counts and steps stand inside the bracket"),
        ("a/2", "column 2: a step outside a bracket"),
        (".0", "column 2: the octet 0"),
        (".255", "column 2: the octet 255"),
        (".250+10", "column 2: 259 is past the end"),
        ("b,10.0.0.250+6", "column 10: the octet 255"),
        ("10.0.0.1-10.0.1.1", "column 10: 10.0.1.1 is in another subnet"),
        ("10.0.0.[0-4]", "column 1: `10.0.0.0` is no name"),
        ("10.1", "column 1: `10.1` is not an IPv4 address"),
        ("10.0.0.1-9/2", "column 11: a step outside a bracket"),
        ("@nosuch", "column 1: there is no group `@nosuch`"),
        ("a!@leaf2", "column 3: there is no group `@leaf2`"),
        ("@", "column 1: a group without a name"),
        ("nothing*", "column 1: `nothing*` matches no machine"),
        ("a!a", "column 1: nothing is left"),
        ("(a", "column 1: the parenthesis is not closed"),
        ("a)", "column 2: a parenthesis closes"),
        ("()", "column 2: nothing stands before `)`"),
        ("(a)(b)", "column 4: an operator is missing"),
        ("a[1-99999999]", "column 3: more than 65536 names"),
        ("a[1-9999]b[1-9999]", "column 1: more than 65536 names"),
        ("a[1-65536],b[1-65536]", "column 12: more than 65536 names"),
        ("a[1-99999999999999999999]", "column 5: a number of more than 18 digits"),
    ] {
        let said = refused(text);
        assert!(said.starts_with(says), "{text}: {said}");
    }
    let deep = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(refused(&deep).contains("parentheses in each other"));
    assert!(refused(&"a".repeat(300)).contains("more than 253 letters"));
}

#[test]
fn without_an_inventory_bare_numbers_and_groups_are_refused() {
    for text in ["5", ".5", "@a", "@*", "a*"] {
        let error = expand(text, &Known::default()).expect_err(text);
        assert!(error.hint.contains("inventory"), "{text}: {error:?}");
    }
}

#[test]
fn an_excluded_name_that_comes_back_is_told() {
    let notes = |text: &str| expand(text, &lab()).expect("names").notes;
    assert_eq!(notes("a[1-3]!a2,a2"), [RangeNote::Returned(vec!["a2".to_owned()])]);
    assert_eq!(notes("a[1-3]!a9,a9"), []);
    let octets = notes(".1,5-7");
    assert_eq!(octets.len(), 1);
    assert_eq!(octets[0].to_string(), "5-7 stands behind an address, so it is read as 192.168.5.5-7");
}

#[test]
fn the_limit_itself_is_allowed() {
    assert_eq!(expand("a[1-65536]", &Known::default()).expect("names").names.len(), MOST);
    assert_eq!(expand("a[1-256]b[1-256]", &Known::default()).expect("names").names.len(), MOST);
}

#[test]
fn folded_names_are_short() {
    for (names, folded) in [
        (&["atom001", "atom002", "atom003", "atom100"][..], "atom[001-003,100]"),
        (&["a1", "a2", "a01", "a02"], "a[1-2,01-02]"),
        (&["a9", "a10", "a11"], "a[9-11]"),
        (&["a09", "a10", "a11"], "a[09-11]"),
        (&["r1n1", "r1n2", "r2n1", "r2n2"], "r[1-2]n[1-2]"),
        (&["b", "a"], "a,b"),
        (&["a1-3"], "a[1]-3"),
        (&["a1-a3"], "a[1]-a3"),
        (&["10.0.0.1", "10.0.0.2"], "10.0.0.[1-2]"),
        (&["10.0.0.1"], "10.0.0.1"),
        (&[], ""),
    ] {
        assert_eq!(fold(names.iter().copied()), folded);
    }
}

/// Names of few letters and digits, so that they fold, collide and look like ranges.
fn name() -> impl Strategy<Value = String> {
    "([ab]|rack|n-|10\\.0\\.0\\.|[0-9]{1,3}|-|\\.){1,5}".prop_filter("a name", |text| is_name(text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn folded_names_are_read_as_the_same(names in prop::collection::hash_set(name(), 1..24)) {
        let folded = fold(names.iter().map(String::as_str));
        let back = expand(&folded, &Known::default());
        let wanted: NameSet = names.into_iter().collect();
        prop_assert_eq!(back.map(|expanded| expanded.names), Ok(wanted), "{}", folded);
    }

    #[test]
    fn a_count_is_the_range_of_as_many(from in 0_u64..2000, count in 1_u64..40) {
        let last = from + count - 1;
        let of = |text: String| expand(&text, &lab()).map(|expanded| expanded.names);
        prop_assert_eq!(of(format!("{from}+{count}")), of(format!("{from}-{last}")));
        prop_assert_eq!(of(format!("a[{from}+{count}]")), of(format!("a[{from}-{last}]")));
        prop_assert_eq!(of(format!("a{from}+{count}")), of(format!("a{from}-a{last}")));
    }

    #[test]
    fn no_text_panics(text in "[ab0-9\\[\\],!&^()@.*?+/\\- ]{0,24}") {
        if let Err(error) = expand(&text, &lab()) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column) && !error.hint.is_empty());
        }
    }
}
