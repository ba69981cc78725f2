//! A real Hadoop for tests: that of HADOOP_HOME, or one that the program assembles once below `target`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{PROGRAM, cannot};

/// Where it is; `None`, said aloud, where there is none and none can be assembled.
pub fn home() -> Option<&'static Path> {
    static HOME: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match HOME.get_or_init(found) {
        Ok(home) => Some(home),
        Err(why) => {
            cannot(why);
            None
        }
    }
}

fn found() -> Result<PathBuf, String> {
    if let Some(home) = std::env::var_os("HADOOP_HOME") {
        return Ok(home.into());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    std::fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let home = target.canonicalize().map_err(|error| error.to_string())?.join("hadoop");
    // One that is there is verified, which takes a moment.
    let fetched = Command::new(PROGRAM)
        .args(["hadoop", "fetch", "--dir"])
        .arg(&home)
        .output()
        .map_err(|error| error.to_string())?;
    match fetched.status.success() {
        true => Ok(home),
        false => Err(format!("no Hadoop: {}", String::from_utf8_lossy(&fetched.stderr))),
    }
}
