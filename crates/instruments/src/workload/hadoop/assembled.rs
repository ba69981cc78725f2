//! The Hadoop that `hadoop fetch` assembles: of which jars, and whether a folder has them, each byte of them.
//!
//! Its folder has `lib` with the jars, the pom that they came by, and their sums as `sha256sum -c` reads them. Sizes
//! are bytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};

pub const VERSION: &str = "3.4.2";
/// Maven assembles it by this.
pub const POM: &str = include_str!("pom.xml");
/// Lines of SHA-256 and name, made once by a real assembly.
const SUMS: &str = include_str!("sums.txt");

/// The folder of the jars in that of a Hadoop.
pub const LIB: &str = "lib";
pub const POM_FILE: &str = "pom.xml";
pub const SUMS_FILE: &str = "SHA256SUMS";

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;
/// Names that a sentence has.
const NAMED: usize = 3;

/// Jars that are what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    pub jars: usize,
    pub bytes: u64,
}

/// Why a folder is no Hadoop of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing is there.
    Missing,
    /// It was made here, or is empty, and is not whole: it may be made anew.
    Damaged(String),
    /// It has files that were not made here.
    Foreign(String),
}

/// Where it is kept.
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("hadoop").join(VERSION)
}

/// Name and SHA-256 of each jar.
fn sums() -> BTreeMap<&'static str, &'static str> {
    SUMS.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect()
}

/// How many jars it has.
pub fn jars() -> usize {
    sums().len()
}

/// The sums as a file of its folder has them.
pub fn sums_file() -> String {
    sums().iter().map(|(name, sum)| format!("{sum}  {LIB}/{name}\n")).collect()
}

/// Holds a folder against the sums. Fails where it is not whole, or not ours.
pub fn check(folder: &Path) -> Result<Checked, Wrong> {
    let names = names(folder)?;
    let odd = names.iter().find(|name| ![LIB, POM_FILE, SUMS_FILE].contains(&name.as_str()));
    if let Some(odd) = odd {
        return Err(Wrong::Foreign(format!("it has {odd}, which is not of a Hadoop that was fetched")));
    }
    let lib = folder.join(LIB);
    if let Some(odd) = self::names(&lib).unwrap_or_default().iter().find(|name| !name.ends_with(".jar")) {
        return Err(Wrong::Foreign(format!("it has {LIB}/{odd}, which is no jar")));
    }
    check_jars(&lib).map_err(Wrong::Damaged)
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>, Wrong> {
    let entries = std::fs::read_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Wrong::Missing,
        ErrorKind::NotADirectory => Wrong::Foreign("it is no folder".to_owned()),
        _ => Wrong::Foreign(format!("it cannot be read: {error}")),
    })?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Holds the jars in a folder against the sums. Fails with the names of those that are missing, too many, or other
/// files.
pub fn check_jars(lib: &Path) -> Result<Checked, String> {
    held(lib, &sums())
}

fn held(lib: &Path, sums: &BTreeMap<&str, &str>) -> Result<Checked, String> {
    let there = names(lib).unwrap_or_default();
    let is_there = |name: &str| there.iter().any(|one| one == name);
    let missing: Vec<&str> = sums.keys().copied().filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        return Err(format!("{} of {} jars are missing: {}", missing.len(), sums.len(), shown(&missing)));
    }
    let more: Vec<&str> = there.iter().map(String::as_str).filter(|name| !sums.contains_key(name)).collect();
    if !more.is_empty() {
        return Err(format!("{} too many: {}", model::format::count(more.len(), "jar"), shown(&more)));
    }
    let mut checked = Checked { jars: 0, bytes: 0 };
    for (name, sum) in sums {
        let (found, bytes) = hashed(&lib.join(name))?;
        if found != *sum {
            return Err(format!("{name} is another file: its SHA-256 is {found}, and should be {sum}"));
        }
        checked = Checked { jars: checked.jars + 1, bytes: checked.bytes + bytes };
    }
    Ok(checked)
}

/// Bytes that this user may still write where a folder is. Fails where it cannot be read.
pub fn room_bytes(folder: &Path) -> Result<u64, String> {
    let found = rustix::fs::statvfs(folder)
        .map_err(|error| format!("cannot read the room left in {}: {error}", folder.display()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The first of these names, and how many more there are.
fn shown(names: &[&str]) -> String {
    let first = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// SHA-256 and size of a file.
fn hashed(path: &Path) -> Result<(String, u64), String> {
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut file = File::open(path).map_err(unread)?;
    let mut context = Context::new(&SHA256);
    let mut chunk = vec![0_u8; CHUNK];
    let mut bytes = 0_u64;
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                context.update(chunk.get(..count).unwrap_or_default());
                bytes = bytes.saturating_add(count as u64);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(error)),
        }
    }
    let digest = context.finish();
    Ok((digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        sys::files::atomic_write(path, text.as_bytes(), 0o644).unwrap();
    }

    #[test]
    fn every_jar_has_a_sum_and_the_pom_names_the_version() {
        let sums = sums();
        assert_eq!(sums.len(), SUMS.lines().count());
        assert!(sums.len() > 150, "{}", sums.len());
        let is_sum = |sum: &str| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(sums.iter().all(|(name, sum)| name.ends_with(".jar") && is_sum(sum)));
        assert!(sums.contains_key(format!("hadoop-common-{VERSION}.jar").as_str()));
        assert!(POM.contains(&format!("<hadoop.version>{VERSION}</hadoop.version>")));
        assert!(sums_file().lines().all(|line| line.contains("  lib/")));
    }

    #[test]
    fn jars_are_held_against_their_sums() {
        let dir = tempfile::tempdir().unwrap();
        let lib = dir.path();
        let sums = BTreeMap::from([("a.jar", ABC), ("b.jar", ABC)]);
        let missing = held(lib, &sums).unwrap_err();
        assert_eq!(missing, "2 of 2 jars are missing: a.jar, b.jar");
        put(&lib.join("a.jar"), "abc");
        put(&lib.join("b.jar"), "abc");
        assert_eq!(held(lib, &sums), Ok(Checked { jars: 2, bytes: 6 }));
        put(&lib.join("b.jar"), "ab");
        let other = held(lib, &sums).unwrap_err();
        assert!(other.starts_with("b.jar is another file") && other.contains(ABC), "{other}");
        put(&lib.join("b.jar"), "abc");
        put(&lib.join("c.jar"), "");
        assert_eq!(held(lib, &sums).unwrap_err(), "1 jar too many: c.jar");
    }

    #[test]
    fn a_folder_of_the_users_is_told_from_a_damaged_one() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("x");
        assert_eq!(check(&folder), Err(Wrong::Missing));
        std::fs::create_dir(&folder).unwrap();
        let damaged = |found: Result<Checked, Wrong>| matches!(found, Err(Wrong::Damaged(_)));
        assert!(damaged(check(&folder)));
        put(&folder.join("lib/a.jar"), "abc");
        put(&folder.join(POM_FILE), POM);
        assert!(damaged(check(&folder)));
        put(&folder.join("lib/letter.txt"), "abc");
        assert!(matches!(check(&folder), Err(Wrong::Foreign(why)) if why.contains("letter.txt")));
        std::fs::remove_file(folder.join("lib/letter.txt")).unwrap();
        put(&folder.join("thesis.tex"), "abc");
        assert!(matches!(check(&folder), Err(Wrong::Foreign(why)) if why.contains("thesis.tex")));
        assert!(matches!(check(&folder.join("thesis.tex")), Err(Wrong::Foreign(_))));
    }
}
