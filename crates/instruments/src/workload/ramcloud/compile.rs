//! Builds the helper in C with the host's compiler when it is first used, and keeps it in a private folder.
//!
//! Its name there is a digest of the source, the compiler and how it is called, so that a change of any makes another.
//! It appears whole or not at all. Building takes no part in a measurement.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sys::process::Start;

use crate::workload::server::kind;
use crate::workload::shell::{self, Ended};

const SOURCE: &str = include_str!("helper.c");
const FLAGS: [&str; 4] = ["-O2", "-std=gnu11", "-Wall", "-Wextra"];
/// Part of the C library itself since glibc 2.34; a separate one before.
const LIBRARIES: [&str; 1] = ["-ldl"];
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
const LIMIT: Duration = Duration::from_secs(60);

static BUILT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The host's compiler. Fails when there is none.
pub fn compiler() -> Result<PathBuf, String> {
    first_of(&COMPILERS)
}

fn first_of(names: &[&str]) -> Result<PathBuf, String> {
    kind::search(names).ok_or_else(|| {
        format!(
            "there is no C compiler ({}), which builds the helper that loads RAMCloud's library: \
             `apt-get install gcc libc6-dev` installs one",
            names.join(", ")
        )
    })
}

/// The helper's program, built now unless it was before. Fails when it cannot be built.
pub fn helper() -> Result<PathBuf, String> {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = built.as_ref().filter(|program| program.is_file()) {
        return Ok(program.clone());
    }
    let program = build(&compiler()?, &folder()?)?;
    *built = Some(program.clone());
    Ok(program)
}

fn build(compiler: &Path, folder: &Path) -> Result<PathBuf, String> {
    let mut version = Command::new(compiler);
    version.arg("--version");
    let said = run(version, compiler)?.stdout.text();
    let name =
        format!("ramcloud-helper-{}", digest(&[SOURCE, &said, &FLAGS.join(" "), &LIBRARIES.join(" ")]));
    let program = folder.join(&name);
    if program.is_file() {
        return Ok(program);
    }
    let unique = format!(".{name}.{}.{}", std::process::id(), sys::clock::now_ns());
    let source = folder.join(format!("{unique}.c"));
    let made = folder.join(unique);
    sys::files::atomic_write(&source, SOURCE.as_bytes(), 0o600).map_err(|error| error.to_string())?;
    let mut command = Command::new(compiler);
    command.args(FLAGS).arg("-o").arg(&made).arg(&source).args(LIBRARIES);
    let ended = run(command, compiler);
    // It is ours, and the compiler has read it.
    let _gone = std::fs::remove_file(&source);
    ended?;
    std::fs::rename(&made, &program)
        .map_err(|error| format!("cannot make {}: {error}", program.display()))?;
    Ok(program)
}

/// Runs the compiler to its end.
fn run(mut command: Command, compiler: &Path) -> Result<Ended, String> {
    command.env("LC_ALL", "C");
    let failed = |why: String| format!("{}, which builds the helper for RAMCloud: {why}", compiler.display());
    let cpus = sys::affinity::allowed().map_err(|error| failed(error.to_string()))?;
    let ended = shell::run_command(command, Start::default(), &cpus, LIMIT).map_err(failed)?;
    match ended.failure(LIMIT) {
        None => Ok(ended),
        Some(how) => Err(failed(how)),
    }
}

fn digest(parts: &[&str]) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for part in parts {
        context.update(part.as_bytes());
        context.update(&[0]);
    }
    let digest = context.finish();
    digest.as_ref().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Where it is kept: in the user's cache, or where there is none in a folder of our own among the temporary ones.
fn folder() -> Result<PathBuf, String> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = sys::files::invoking_user();
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    // What root makes in another user's home would be in that user's way.
    let home = base.filter(|_| !user.by_sudo).map(|base| base.join("boxscore"));
    let (uid, _) = sys::files::effective_ids();
    let public = std::env::temp_dir().join(format!("boxscore-cache-{uid}"));
    let mut why = Vec::new();
    for folder in home.into_iter().chain([public]) {
        match private(&folder, uid) {
            Ok(()) => return Ok(folder),
            Err(error) => why.push(error),
        }
    }
    Err(format!("no folder to keep the helper for RAMCloud in: {}", why.join("; ")))
}

/// Makes a folder that only its owner can write to, or looks whether it is one.
fn private(folder: &Path, uid: u32) -> Result<(), String> {
    let failed = |why: String| format!("{}: {why}", folder.display());
    if let Err(error) = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        return Err(failed(error.to_string()));
    }
    let meta = std::fs::symlink_metadata(folder).map_err(|error| failed(error.to_string()))?;
    match meta.is_dir() && meta.uid() == uid && meta.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(failed("not a folder that only this user can write to".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_host_without_a_compiler_is_told_how_to_get_one() {
        let why = first_of(&["no-such-cc", "no-such-gcc"]).unwrap_err();
        assert!(why.contains("no-such-cc, no-such-gcc") && why.contains("apt-get install gcc"), "{why}");
        assert!(compiler().is_ok_and(|found| found.is_absolute()), "`sh xtask/setup.sh` installs one");
    }

    #[test]
    fn digests_tell_parts_apart() {
        assert_eq!(digest(&["a", "b"]).len(), 24);
        assert_ne!(digest(&["ab", ""]), digest(&["a", "b"]));
        assert_eq!(digest(&[SOURCE]), digest(&[SOURCE]));
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let (uid, _) = sys::files::effective_ids();
        let ours = dir.path().join("a/b");
        assert_eq!(private(&ours, uid), Ok(()));
        assert_eq!(std::fs::metadata(&ours).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(private(&ours, uid + 1).unwrap_err().contains("only this user"));
        std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(private(&ours, uid).unwrap_err().contains("only this user"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(private(&link, uid).is_err());
    }
}
