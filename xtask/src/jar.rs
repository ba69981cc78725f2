//! The input format that `logs --hadoop` sends along (`byte_blocks`), made of its source by a JDK.
//!
//! The jar is kept in the repository: neither a build nor a user needs a compiler of Java. It holds its source, not
//! packed, so that a test sees where the two differ. Classes are of Java 8, for every Hadoop 3.

use anyhow::Result;

use crate::shell;

const FOLDER: &str = "crates/instruments/src/workload/hadoop/byte_blocks";
const SOURCE: &str = "boxscore/ByteBlocks.java";

/// Makes the jar; `lib` has the jars of a Hadoop.
pub fn run(lib: &str) -> Result<()> {
    let folder = shell::root().join(FOLDER);
    let classes = shell::target().join("byte_blocks");
    if classes.exists() {
        std::fs::remove_dir_all(&classes)?;
    }
    let (folder, classes) = (shell::text(&folder)?, shell::text(&classes)?);
    let class_path = format!("{lib}/*");
    let release = ["--release", "8", "-g:none", "-Xlint:all,-path"];
    let source = format!("{folder}/{SOURCE}");
    shell::run("javac", &[&release[..], &["-cp", &class_path, "-d", classes, &source]].concat())?;
    let jar = format!("{folder}/byte_blocks.jar");
    let head = ["--create", "--no-manifest", "--no-compress", "--date=2020-01-01T00:00:00Z", "--file", &jar];
    shell::run("jar", &[&head[..], &["-C", classes, "boxscore", "-C", folder, SOURCE]].concat())
}
