//! Puts the languages of family `runtime` into the binary: the sheet and the sources of every folder of
//! `src/bench/runtime/languages`. Nothing else names a language, so that a further one is a folder and nothing more.

#[path = "build/sheet.rs"]
mod sheet;

use std::path::{Path, PathBuf};

fn main() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/runtime/languages");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut languages = Vec::new();
    for folder in entries(&root)? {
        println!("cargo::rerun-if-changed={}", folder.display());
        languages.push(language(&folder).map_err(|why| format!("{}: {why}", folder.display()))?);
    }
    let text = sheet::module(&languages).map_err(|why| format!("{}: {why}", root.display()))?;
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let out = Path::new(&out).join("languages.rs");
    std::fs::write(&out, text).map_err(|error| format!("{}: {error}", out.display()))
}

fn language(folder: &Path) -> Result<sheet::Language, String> {
    let name = folder.file_name().and_then(|name| name.to_str()).ok_or("no name in UTF-8")?.to_owned();
    let file = folder.join(sheet::FILE);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", sheet::FILE))?;
    let mut sources = entries(folder)?;
    sources.retain(|path| *path != file);
    let paths = sources.iter().map(|path| path.to_str().map(str::to_owned).ok_or("a path is not UTF-8"));
    let sources = paths.collect::<Result<Vec<String>, _>>()?;
    for source in &sources {
        println!("cargo::rerun-if-changed={source}");
    }
    sheet::language(&name, &text, sources)
}

/// The entries of a folder, in order of name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        all.push(entry.map_err(failed)?.path());
    }
    all.sort();
    Ok(all)
}
