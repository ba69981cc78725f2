//! Things that belong to a private folder and are elsewhere (a folder in a file system of the user's, jobs on a
//! cluster of theirs): a script in it takes them away. It is run before the folder goes, whoever removes it.
//!
//! Only a script and a folder of this account, which nobody else may write to, are run. The time is bounded.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sys::process::{ProcessGroup, Start};

use super::PAUSE;

/// The script, within the folder, and what it says on its error output.
pub const SCRIPT: &str = "leave.sh";
const SAID: &str = "leave.log";
/// Its time, in which it starts clients of a cluster that may be busy: six for jobs, if nothing is made again.
const LIMIT: Duration = Duration::from_secs(180);

/// Runs the script of a folder, if it has one, and waits for its end. Fails where it does not do its work, with its
/// last words.
pub fn leave(place: &Path) -> Result<(), String> {
    let script = place.join(SCRIPT);
    if !script.exists() {
        return Ok(());
    }
    if !is_ours(place) || !is_ours(&script) {
        return Err(format!("{} may be somebody else's", script.display()));
    }
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", script.display());
    let said = File::options().write(true).create(true).truncate(true).open(place.join(SAID));
    let said = said.map_err(|error| failed(&error))?;
    let mut command = Command::new("sh");
    command.arg(&script).current_dir(place).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    let mut group = ProcessGroup::spawn(command, Start::default()).map_err(|error| failed(&error))?;
    let looks = LIMIT.as_millis() / PAUSE.as_millis();
    for _ in 0..looks {
        match group.try_wait().map_err(|error| failed(&error))? {
            None => std::thread::sleep(PAUSE),
            Some(exit) if exit.status.success() => return Ok(()),
            Some(_) => return Err(last_words(place)),
        }
    }
    // Dropping the group kills it.
    Err(format!("it did not end within {} s", LIMIT.as_secs()))
}

fn last_words(place: &Path) -> String {
    let said = std::fs::read(place.join(SAID)).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("at "));
    line.unwrap_or("it failed, and did not say why").chars().take(300).collect()
}

fn is_ours(path: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    let own = sys::files::effective_ids().0;
    std::fs::symlink_metadata(path)
        .is_ok_and(|meta| !meta.is_symlink() && meta.uid() == own && meta.mode() & OTHERS_WRITE == 0)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_script_of_ours_is_run_and_its_failure_told() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(leave(dir.path()), Ok(()));
        let script = |text: &str| {
            sys::files::atomic_write(&dir.path().join(SCRIPT), text.as_bytes(), 0o600).unwrap();
            leave(dir.path())
        };
        assert_eq!(script("echo done > mark"), Ok(()));
        assert!(dir.path().join("mark").exists());
        assert_eq!(script("echo no such cluster >&2; exit 1"), Err("no such cluster".to_owned()));
        std::fs::set_permissions(dir.path().join(SCRIPT), Permissions::from_mode(0o666)).unwrap();
        assert!(leave(dir.path()).unwrap_err().contains("somebody else's"));
    }
}
