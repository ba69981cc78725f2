//! Files of a crate that import each other in a circle.
//!
//! An arrow goes from a file to the file that defines what it names, by `use` or by a path in its code. A declaration
//! (`mod name;`) is no arrow. Neither is a name that is only passed on (`pub use`): whoever imports that name points at
//! the file that defines it. Tests are left out. This is a scanner, not a compiler: it sees no methods, and no names
//! that a macro makes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::bans::Production;
use super::source::{Complaint, Source, crate_of};

/// The largest circle that may be.
const MOST: usize = 3;
/// How often a name may be passed on.
const DEEPEST: usize = 8;

/// A file of a circle, and the files of the circle that it imports from.
type Arrows = (String, Vec<String>);

/// A complaint about each crate whose largest circle has too many files, with the arrows that tie it.
pub fn check(files: &[Production<'_>]) -> Vec<Complaint> {
    let too_large = largest(files).into_iter().filter(|(_, circle)| circle.len() > MOST);
    too_large.map(|(krate, circle)| complaint(&krate, &circle)).collect()
}

fn complaint(krate: &str, circle: &[Arrows]) -> Complaint {
    let first = circle.first().map_or("", |(path, _)| path);
    let mut what = format!(
        "{} files of {krate} import each other in a circle; {MOST} are the most. Move what they share into a file of \
         its own",
        circle.len()
    );
    for (path, targets) in circle {
        let root = path.find("/src/").map_or(0, |at| at + "/src/".len());
        let targets: Vec<&str> = targets.iter().map(|target| target.get(root..).unwrap_or(target)).collect();
        let _ = write!(what, "\n    {path} -> {}", targets.join(", "));
    }
    Complaint::new(first, 0, what)
}

/// The largest circle of each crate; nothing where there is none.
fn largest(files: &[Production<'_>]) -> Vec<(String, Vec<Arrows>)> {
    let mut crates: BTreeMap<&str, Vec<Production<'_>>> = BTreeMap::new();
    for file in files.iter().filter(|(source, _)| source.path.contains("/src/")) {
        crates.entry(crate_of(&file.0.path)).or_default().push(*file);
    }
    let mut found = Vec::new();
    for (krate, files) in crates {
        let graph = Crate::new(&files).graph();
        let Some(circle) = circles(&graph).into_iter().max_by_key(Vec::len) else { continue };
        let arrows = |path: &String| {
            let targets = graph[path].iter().filter(|target| circle.contains(target));
            (path.clone(), targets.cloned().collect())
        };
        found.push((krate.to_owned(), circle.iter().map(arrows).collect()));
    }
    found
}

/// A path in code, as its parts, and whether its name is passed on (`pub use`).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    /// The name that it has here: the last part, or what stands after `as`; `*` for all.
    name: String,
    is_public: bool,
}

/// The modules of a crate by their path from its root, each with what it imports.
struct Crate<'a> {
    modules: BTreeMap<Vec<String>, &'a Source>,
    imports: BTreeMap<Vec<String>, Vec<Import>>,
}

impl<'a> Crate<'a> {
    fn new(files: &[Production<'a>]) -> Crate<'a> {
        let modules = files.iter().map(|(source, _)| (module_of(&source.path), *source)).collect();
        let imports = files.iter().map(|(source, code)| (module_of(&source.path), found_in(code))).collect();
        Crate { modules, imports }
    }

    /// The files that each file imports from.
    fn graph(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut graph = BTreeMap::new();
        for (module, source) in &self.modules {
            let mut targets = BTreeSet::new();
            for import in self.imports[module].iter().filter(|import| !import.is_public) {
                let target = self.target(module, &import.path, 0).and_then(|found| self.modules.get(&found));
                targets.extend(target.map(|target| target.path.clone()));
            }
            targets.remove(&source.path);
            graph.insert(source.path.clone(), targets);
        }
        graph
    }

    /// The module that defines what a path names; `None` for a path out of the crate.
    fn target(&self, from: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let mut module = self.start(from, path.first()?)?;
        let mut rest = path;
        while let Some(part) = rest.first() {
            let mut deeper = module.clone();
            match part.as_str() {
                "crate" => deeper.clear(),
                "self" => {}
                "super" => drop(deeper.pop()),
                part => deeper.push(part.to_owned()),
            }
            if !self.modules.contains_key(&deeper) {
                break;
            }
            (module, rest) = (deeper, &rest[1..]);
        }
        let passed_on = |import: &&Import| import.is_public && (rest.first() == Some(&import.name));
        let imports = &self.imports[&module];
        let Some(import) = imports.iter().find(passed_on).filter(|_| depth < DEEPEST) else {
            return Some(module);
        };
        let path: Vec<String> = import.path.iter().chain(&rest[1..]).cloned().collect();
        self.target(&module, &path, depth + 1).or(Some(module))
    }

    /// Where a path begins: at the root, above, here, or in a child of this module.
    fn start(&self, from: &[String], first: &str) -> Option<Vec<String>> {
        let child: Vec<String> = from.iter().cloned().chain([first.to_owned()]).collect();
        let is_ours = matches!(first, "crate" | "self" | "super") || self.modules.contains_key(&child);
        is_ours.then(|| from.to_vec())
    }
}

/// The module of a file, from the root of its crate: `a/b` for `src/a/b.rs` and for `src/a/b/mod.rs`.
fn module_of(path: &str) -> Vec<String> {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside).trim_end_matches(".rs");
    let mut parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
    let is_named_by_folder = |last: &String| last == "mod";
    if parts.last().is_some_and(is_named_by_folder) || matches!(inside, "lib" | "main") {
        parts.pop();
    }
    parts
}

/// The imports of a file, and the paths in its code that begin with `crate::` or `super::`.
fn found_in(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut skips = false;
    while let Some((before, line, further)) = next_statement(rest) {
        inline(before, &mut found);
        let is_public = line.starts_with("pub");
        let tree = line.split_once("use ").map_or("", |(_, tree)| tree);
        skips |= before.trim_end().ends_with("#[cfg(test)]");
        if !std::mem::take(&mut skips) {
            expand(&[], tree.trim_end_matches(';'), is_public, &mut found);
        }
        rest = further;
    }
    inline(rest, &mut found);
    found
}

/// The code before the next `use` statement, the statement, and the code after it.
fn next_statement(code: &str) -> Option<(&str, &str, &str)> {
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let start = at + line.len() - trimmed.len();
        at += line.len();
        let is_use = trimmed.starts_with("use ")
            || trimmed.starts_with("pub")
                && trimmed.split_once("use ").is_some_and(|(visibility, _)| {
                    matches!(visibility.trim(), "pub" | "pub(crate)" | "pub(super)")
                        || visibility.starts_with("pub(in ")
                });
        if is_use {
            let end = start + code[start..].find(';')? + 1;
            return Some((&code[..start], &code[start..end], &code[end..]));
        }
    }
    None
}

/// The paths of a tree such as `a::{b, c::{self, d as e}}`.
fn expand(before: &[String], tree: &str, is_public: bool, found: &mut Vec<Import>) {
    let tree = tree.trim();
    let Some((head, body)) = tree.split_once('{') else {
        let (path, name) =
            tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
        let mut path: Vec<String> =
            before.iter().cloned().chain(path.split("::").map(|part| part.trim().to_owned())).collect();
        path.retain(|part| !part.is_empty());
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(last) = path.last().cloned() {
            found.push(Import { path, name: name.map_or(last, str::to_owned), is_public });
        }
        return;
    };
    let parts = head.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
    let before: Vec<String> = before.iter().cloned().chain(parts).collect();
    let body = body.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body);
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in body.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                expand(&before, &body[start..at], is_public, found);
                start = at + 1;
            }
            _ => {}
        }
    }
    expand(&before, &body[start..], is_public, found);
}

/// Paths in code that is no import: from `crate::`, from `super::`, or from the name of a module.
fn inline(code: &str, found: &mut Vec<Import>) {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for path in code.split(|c| !is_path(c)).filter(|path| path.starts_with(char::is_lowercase)) {
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        if let [_, .., name] = path.as_slice() {
            let name = name.clone();
            found.push(Import { path, name, is_public: false });
        }
    }
}

/// Groups of at least two files of which each reaches each.
fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|path| (path.as_str(), reachable(graph, path))).collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for (path, there) in &reached {
        let meets = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(path));
        let circle: Vec<&str> = there.iter().filter(meets).copied().collect();
        if circle.len() > 1 && !seen.contains(path) {
            seen.extend(&circle);
            found.push(circle.into_iter().map(str::to_owned).collect());
        }
    }
    found
}

fn reachable<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&str> = graph.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(path) = waiting.pop() {
        if found.insert(path) {
            waiting.extend(graph.get(path).into_iter().flatten().map(String::as_str));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::bans::production;

    fn circle(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::new(format!("crates/a/src/{name}.rs"), *text)).collect();
        let found =
            largest(&production(&sources)).into_iter().next().map_or(Vec::new(), |(_, circle)| circle);
        found
            .iter()
            .map(|(path, _)| path.trim_start_matches("crates/a/src/").trim_end_matches(".rs").into())
            .collect()
    }

    #[test]
    fn a_circle_is_found_however_it_is_written() {
        let files = [
            ("lib", "mod one;\nmod two;\nmod three;\nmod four;\n"),
            ("one", "use crate::two::{A, b::{self, C}};"),
            ("two/mod", "pub mod b;\nuse super::three::D;\npub struct A;"),
            ("two/b", ""),
            ("three", "fn f() -> crate::four::E {}"),
            ("four", "use crate::{one, two::b::C};\npub struct E;"),
        ];
        assert_eq!(circle(&files), ["four", "one", "three", "two/mod"]);
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::new(format!("crates/a/src/{name}.rs"), *text)).collect();
        let found = check(&production(&sources));
        assert!(found[0].what.starts_with("4 files of a import each other"), "{found:?}");
        assert!(found[0].what.contains("crates/a/src/three.rs"), "{found:?}");
    }

    #[test]
    fn declarations_tests_and_names_passed_on_are_no_arrows() {
        let files = [
            ("lib", "mod one;\npub use one::A;\nmod two;\n"),
            (
                "one",
                "pub struct A;\n#[cfg(test)]\nuse crate::two::B;\n#[cfg(test)]\nmod tests {\n use crate::two::B;\n}\n",
            ),
            ("two", "use crate::A;\npub struct B;"),
        ];
        assert_eq!(circle(&files), [""; 0]);
        let files = [("lib", "mod one;\nstruct A;"), ("one", "use super::A;")];
        assert_eq!(circle(&files), [""; 0]);
        for code in ["use one::g;", "use self::one::g;", "fn f() { one::g() }"] {
            let text = format!("mod one;\n{code}\nstruct A;");
            assert_eq!(circle(&[("lib", &text), ("one", "use super::A;")]), ["lib", "one"], "{code}");
        }
    }

    #[test]
    fn trees_are_taken_apart() {
        let mut found = Vec::new();
        expand(&[], "crate::{a::{self, B as C}, d::{E, f::*}}", true, &mut found);
        let shown: Vec<String> =
            found.iter().map(|import| format!("{} {}", import.path.join("::"), import.name)).collect();
        assert_eq!(shown, ["crate::a a", "crate::a::B C", "crate::d::E E", "crate::d::f::* *"]);
    }
}
