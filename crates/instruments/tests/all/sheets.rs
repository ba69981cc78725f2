//! The sheets of languages as the build reads them: what is wrong with one is told by its key.

#[path = "../../build/sheet.rs"]
mod sheet;

const GOOD: &str = r#"
title = "C"
arm = "cc"
tool = "gcc"
default = "gcc -O2"
package = "gcc"
version = ["{tool}", "--version"]
run = ["{out}/scimark"]
memory = { small = 16, large = 160 }
"#;

fn read(name: &str, text: &str) -> Result<sheet::Language, String> {
    sheet::language(name, text, vec!["/x/main.c".to_owned()])
}

#[test]
fn what_is_wrong_is_named() {
    let with = |from: &str, to: &str| read("c", &GOOD.replace(from, to)).unwrap_err();
    assert!(read("c", GOOD).is_ok());
    for (from, to, says) in [
        ("title = \"C\"", "", "missing field `title`"),
        ("title", "titel", "titel"),
        ("\"cc\"", "\"size\"", "none of lang"),
        ("\"cc\"", "\"C C\"", "small letters"),
        ("gcc -O2", "gcc  -O2", "one blank"),
        ("gcc -O2", "gcc -Wl,x", "without ; and ,"),
        ("small = 16", "small = 0", "above 0"),
        ("[\"{out}/scimark\"]", "[]", "version, run"),
        ("memory", "bits = { 16 = [] }\nmemory", "neither 32 nor 64"),
        ("memory", "packages = { zero = \"x\" }\nmemory", "`zero`"),
        ("memory", "usual = [\"-Xmx1g\"]\nmemory", "unless"),
    ] {
        let why = with(from, to);
        assert!(why.contains(says) && why.contains("language.toml"), "{says}: {why}");
    }
    assert!(read("C", GOOD).unwrap_err().contains("small letters"));
    assert!(sheet::language("c", GOOD, Vec::new()).unwrap_err().contains("at least one source"));
}

#[test]
fn two_languages_cannot_share_an_arm() {
    let twice = [read("c", GOOD).unwrap(), read("cxx", GOOD).unwrap()];
    let why = sheet::module(&twice).unwrap_err();
    assert!(why.contains("c and cxx") && why.contains("cc"), "{why}");
    assert!(sheet::module(&[]).is_err());
}

#[test]
fn cards_know_the_languages() {
    let java = GOOD.replace("\"cc\"", "\"jvm\"").replace("memory", "warms = true\nmemory");
    let text = sheet::module(&[read("c", GOOD).unwrap(), read("java", &java).unwrap()]).unwrap();
    for part in [
        "NAMES: &[&str] = &[\"c\", \"java\"];",
        "WARMING: &[&str] = &[\"java\"];",
        "WITH_BITS: &[&str] = &[];",
        "Only(\"lang\", &[\"java\"]",
        "(\"main.c\", include_str!(\"/x/main.c\"))",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
