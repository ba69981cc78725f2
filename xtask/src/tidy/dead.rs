//! Rust files that no `mod` reaches: they are not compiled, so they rot.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Complaint, Source, lines};

pub fn check(sources: &[Source]) -> Vec<Complaint> {
    let rust: BTreeMap<&str, &Source> = sources
        .iter()
        .filter(|source| source.is_rust())
        .map(|source| (source.path.as_str(), source))
        .collect();
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<String> =
        rust.keys().filter(|path| is_root(path)).map(|path| (*path).to_owned()).collect();
    while let Some(path) = waiting.pop() {
        let Some(source) = rust.get(path.as_str()) else { continue };
        if reached.insert(path.clone()) {
            waiting.extend(children(source));
        }
    }
    let lost = rust.keys().filter(|path| !reached.contains(**path));
    lost.map(|path| Complaint::new(path, 0, "no `mod` reaches this file: declare it, run gen, or delete it"))
        .collect()
}

/// A file that cargo compiles by itself.
fn is_root(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let last = folder.rsplit('/').next().unwrap_or(folder);
    match last {
        "src" => name == "lib.rs" || name == "main.rs",
        "bin" | "tests" | "examples" | "benches" => !folder.contains("src/tests"),
        "fuzz_targets" => true,
        _ => name == "build.rs" || name == "main.rs",
    }
}

/// The files that only tests compile: those below a `#[cfg(test)] mod name;`.
pub fn test_only(sources: &[Source]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let declared = |source: &Source| children_if(source, |before| before.trim() == "#[cfg(test)]");
    let mut waiting: Vec<String> =
        sources.iter().filter(|source| source.is_rust()).flat_map(declared).collect();
    while let Some(path) = waiting.pop() {
        let Some(source) = sources.iter().find(|source| source.path == path) else { continue };
        if found.insert(path) {
            waiting.extend(children(source));
        }
    }
    found
}

/// The files that the `mod name;` of a file may mean.
fn children(source: &Source) -> Vec<String> {
    children_if(source, |_| true)
}

/// The same, of those declarations whose line before is as wanted.
fn children_if(source: &Source, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let own = is_root(&source.path) || name == "mod.rs";
    let base = if own { folder.to_owned() } else { source.path.trim_end_matches(".rs").to_owned() };
    let mut found = Vec::new();
    let mut given = None;
    let mut before = "";
    for ((_, code), (_, text)) in lines(&source.code).zip(lines(&source.text)) {
        if code.trim_start().starts_with("#[path") {
            given = text.split('"').nth(1).map(|path| joined(folder, path));
        }
        let is_wanted = wanted(std::mem::replace(&mut before, code));
        let Some(module) = declared(code).filter(|_| is_wanted) else { continue };
        match given.take() {
            Some(path) => found.push(path),
            None => found.extend([format!("{base}/{module}.rs"), format!("{base}/{module}/mod.rs")]),
        }
    }
    found
}

/// A path relative to a folder, with each `..` carried out.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The name in `mod name;`, whatever its visibility.
fn declared(line: &str) -> Option<&str> {
    let (before, rest) = line.trim().split_once("mod ")?;
    let name = rest.strip_suffix(';')?.trim();
    (before.is_empty() || before.starts_with("pub") || before.starts_with("#[")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
        check(&sources).into_iter().map(|complaint| complaint.path).collect()
    }

    #[test]
    fn follows_modules_of_every_form() {
        let files = [
            ("crates/a/src/lib.rs", "mod one;\npub(crate) mod two;\n#[path = \"odd/name.rs\"]\nmod three;\n"),
            ("crates/a/src/one.rs", "mod deep;"),
            ("crates/a/src/one/deep.rs", ""),
            ("crates/a/src/two/mod.rs", "pub mod leaf;"),
            ("crates/a/src/two/leaf.rs", ""),
            ("crates/a/src/odd/name.rs", ""),
            ("crates/a/tests/end.rs", "mod common;"),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/a/tests/all/main.rs", "#[path = \"../shared/mod.rs\"]\nmod shared;"),
            ("crates/a/tests/shared/mod.rs", ""),
        ];
        assert_eq!(lost(&files), [""; 0]);
    }

    #[test]
    fn knows_what_only_tests_compile() {
        let files = [
            ("crates/a/src/lib.rs", "mod one;\n#[cfg(test)]\nmod proof;\n"),
            ("crates/a/src/one.rs", ""),
            ("crates/a/src/proof.rs", "mod deep;"),
            ("crates/a/src/proof/deep.rs", ""),
        ];
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
        let found: Vec<String> = test_only(&sources).into_iter().collect();
        assert_eq!(found, ["crates/a/src/proof.rs", "crates/a/src/proof/deep.rs"]);
    }

    #[test]
    fn names_what_is_not_reached() {
        let files = [
            ("crates/a/src/lib.rs", "// mod gone;\nmod here {}\n"),
            ("crates/a/src/gone.rs", "mod also;"),
            ("crates/a/src/gone/also.rs", ""),
        ];
        assert_eq!(lost(&files), ["crates/a/src/gone.rs", "crates/a/src/gone/also.rs"]);
    }
}
