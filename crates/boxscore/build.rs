//! Gives the binary its build id: a hash of the workspace's sources, equal for every target of the same sources.

use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root.join("crates"), &mut files);
    files.push(root.join("Cargo.lock"));
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().into_owned();
        let bytes = std::fs::read(file).unwrap_or_default();
        for byte in name.bytes().chain(bytes) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=BOXSCORE_BUILD={}+{hash:016x}", env!("CARGO_PKG_VERSION"));
    println!("cargo::rustc-env=BOXSCORE_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=BOXSCORE_PROFILE={}", std::env::var("PROFILE").unwrap_or_default());
    println!("cargo::rerun-if-changed={}", root.join("crates").display());
    println!("cargo::rerun-if-changed={}", root.join("Cargo.lock").display());
}

/// Beside these, all that a language of family `runtime` consists of is measured.
const SOURCES: [&str; 4] = ["rs", "toml", "csv", "json"];

/// Sources below `dir`, tests and fixtures left out: they do not change what the binary measures.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            if !["tests", "target", "snapshots", "examples"].contains(&name.as_str()) {
                collect(&path, files);
            }
        } else if path.extension().is_some_and(|ext| SOURCES.iter().any(|e| ext == *e))
            || dir.parent().is_some_and(|parent| parent.ends_with("runtime/languages"))
        {
            files.push(path);
        }
    }
}
