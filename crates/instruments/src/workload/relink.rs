//! Builds of the user's with object files linked in another order (`--shuffle-link`).
//!
//! Where a program's functions lie in memory depends on the order of its object files, and moves its speed by some
//! percent without a change of the program. A build gets a linker of ours, which changes the order of the object files
//! and then runs the real one: gcc, clang and rustc (by its C compiler) look for their linker in COMPILER_PATH first.
//! Start files keep their places, and so do libraries, whose order means something. A program of one object file has
//! one order alone.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::server::private_folder::PrivateFolder;

/// The hidden verb that acts as a linker.
pub const VERB: &str = "shuffle-link";

/// Names under which compilers start a linker.
const LINKERS: [&str; 6] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold", "mold"];
/// Where compilers look for their parts first.
const SEARCH: &str = "COMPILER_PATH";
const SEED: &str = "BOXSCORE_LINK_SEED";
const RECORD: &str = "BOXSCORE_LINK_RECORD";
const RECORD_FILE: &str = "links";
/// The beginnings of the names of start files.
const START_FILES: [&str; 7] = ["crt", "Scrt", "gcrt", "Mcrt", "rcrt", "grcrt", "Wcrt"];

/// The linkers of one build.
#[derive(Debug)]
pub struct Linkers {
    folder: PrivateFolder,
    seed: u64,
}

impl Linkers {
    /// Fails when their folder cannot be made.
    pub fn make(beside: &Path, seed: u64) -> Result<Linkers, String> {
        let folder = PrivateFolder::make(beside, None)?;
        let own = fs::read_link("/proc/self/exe").map_err(|error| format!("this program's file: {error}"))?;
        let own = shlex::try_quote(&own.to_string_lossy()).map_err(|error| error.to_string())?.into_owned();
        for name in LINKERS {
            let path = folder.file(name, &format!("#!/bin/sh\nexec {own} {VERB} {name} \"$@\"\n"))?;
            fs::set_permissions(&path, Permissions::from_mode(0o700))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(Linkers { folder, seed })
    }

    /// The environment of the build.
    pub fn environment(&self) -> [(&'static str, OsString); 3] {
        let mut search = self.folder.path().as_os_str().to_owned();
        if let Some(former) = std::env::var_os(SEARCH).filter(|former| !former.is_empty()) {
            search.push(":");
            search.push(former);
        }
        let record = self.folder.path().join(RECORD_FILE);
        [(SEARCH, search), (SEED, self.seed.to_string().into()), (RECORD, record.into())]
    }

    /// Object files of the program that has most of those that were linked. Fails where nothing was.
    pub fn most_objects(&self) -> Result<usize, String> {
        // No file: no linker of ours was started.
        let text = fs::read_to_string(self.folder.path().join(RECORD_FILE)).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).max().ok_or_else(|| {
            "linked nothing that --shuffle-link could see: it must link anew each time, with gcc, clang or rustc \
             (--build 'make clean && make')"
                .to_owned()
        })
    }
}

/// Acts as the linker `name`: becomes the real one, with the object files in another order. Returns only when it
/// cannot, with the reason.
pub fn act(name: &str, words: Vec<OsString>) -> String {
    let folder = std::env::var_os(RECORD).map(PathBuf::from);
    let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new("/"));
    let seed = std::env::var(SEED).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let Some(real) = real(name, folder) else { return format!("no linker {name} is in PATH") };
    let words = match unfolded(words) {
        Ok(words) => words,
        Err(why) => return why,
    };
    let (words, objects) = shuffled(words, seed);
    if let Err(why) = note(objects) {
        return why;
    }
    let error = Command::new(&real).args(words).exec();
    format!("{}: {error}", real.display())
}

/// The program that a compiler would have started.
fn real(name: &str, not_in: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).filter(|dir| dir != not_in).map(|dir| dir.join(name)).find(|file| {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// One line for each link, in one write: links may run at once.
fn note(objects: usize) -> Result<(), String> {
    let Some(path) = std::env::var_os(RECORD) else { return Ok(()) };
    let file = File::options().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(format!("{objects}\n").as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.to_string_lossy()))
}

/// The words with those of response files (`@FILE`) in their places.
fn unfolded(words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        let Some(path) = word.to_str().and_then(|text| text.strip_prefix('@')) else {
            all.push(word);
            continue;
        };
        let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let inner = shlex::split(&text).ok_or_else(|| format!("{path}: its quotes do not end"))?;
        all.extend(inner.into_iter().map(OsString::from));
    }
    Ok(all)
}

/// The words of a linker with the object files among them in another order, and how many these are.
fn shuffled(mut words: Vec<OsString>, seed: u64) -> (Vec<OsString>, usize) {
    let is_output = |at: usize| {
        at.checked_sub(1)
            .and_then(|before| words.get(before))
            .is_some_and(|word| word == "-o" || word == "--output")
    };
    let places: Vec<usize> =
        (0..words.len()).filter(|at| !is_output(*at) && words.get(*at).is_some_and(is_object)).collect();
    let mut order = places.clone();
    order.sort_by_key(|place| mix(seed, *place as u64));
    let objects: Vec<OsString> = order.iter().filter_map(|place| words.get(*place).cloned()).collect();
    for (place, object) in places.iter().zip(objects) {
        if let Some(word) = words.get_mut(*place) {
            *word = object;
        }
    }
    (words, places.len())
}

fn is_object(word: &OsString) -> bool {
    let path = Path::new(word);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_start = START_FILES.iter().any(|start| name.starts_with(start));
    path.extension().is_some_and(|extension| extension == "o" || extension == "obj")
        && !word.to_string_lossy().starts_with('-')
        && !is_start
}

/// A number that is far from those of neighbours (the finalizer of splitmix64), so that every order is drawn.
fn mix(seed: u64, at: u64) -> u64 {
    let mixed = seed.wrapping_add(at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn order(words: &str, seed: u64) -> (String, usize) {
        let (words, count) = shuffled(words.split(' ').map(OsString::from).collect(), seed);
        (words.join(std::ffi::OsStr::new(" ")).into_string().unwrap(), count)
    }

    #[test]
    fn object_files_alone_change_places() {
        let given =
            "-dynamic-linker x /usr/lib/Scrt1.o crtbeginS.o -o out.o a.o b.o -lm c.o libz.a --whole.o crtn.o";
        let orders: BTreeSet<String> = (0..64).map(|seed| order(given, seed).0).collect();
        assert_eq!(orders.len(), 6, "{orders:#?}");
        for text in &orders {
            let kept: Vec<&str> =
                text.split(' ').filter(|word| !["a.o", "b.o", "c.o"].contains(word)).collect();
            let wanted: Vec<&str> =
                given.split(' ').filter(|word| !["a.o", "b.o", "c.o"].contains(word)).collect();
            assert_eq!(kept, wanted);
        }
        assert_eq!(order(given, 7), order(given, 7));
        assert_eq!(order(given, 7).1, 3);
        assert_eq!(order("-o a.o", 1), ("-o a.o".to_owned(), 0));
    }

    #[test]
    fn response_files_are_unfolded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("args");
        fs::write(&path, "a.o 'b c.o'\nd.o").unwrap();
        let words = unfolded(vec!["-x".into(), format!("@{}", path.display()).into()]).unwrap();
        assert_eq!(words, ["-x", "a.o", "b c.o", "d.o"].map(OsString::from));
        assert!(unfolded(vec!["@/nowhere".into()]).unwrap_err().contains("/nowhere"));
    }
}
