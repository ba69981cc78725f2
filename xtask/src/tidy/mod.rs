//! House rules that no compiler knows: who may depend on whom, banned calls, size, dead files, leftovers, links.
//!
//! Every rule is a pure function from text to complaints, tested beside it. A complaint says what to do.

mod arrows;
pub mod bans;
mod circle;
mod code;
mod dead;
mod ids;
mod links;
mod own_text;
pub mod prose;
mod size;
pub mod source;
mod words;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell;
use source::Source;

/// Folders that hold nothing of ours.
const SKIPPED: &[&str] = &[".git", "target", "dist", "corpus", "artifacts", "node_modules"];
/// The files that are read.
const READ: &[&str] = &["rs", "toml", "md", "sh", "yml", "yaml"];

/// The text files of the working tree, by path.
pub fn sources() -> Result<Vec<Source>> {
    let root = shell::root();
    let mut sources = Vec::new();
    collect(&root, &root, &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// Checks the working tree and prints every complaint, then where unsafe code lives.
pub fn run() -> Result<()> {
    let root = shell::root();
    let sources = sources()?;
    let exceptions = fs::read_to_string(root.join(size::EXCEPTIONS)).unwrap_or_default();
    let metadata = shell::output(&shell::cargo(), &["metadata", "--no-deps", "--format-version", "1"])?;
    let mut complaints = arrows::check(&arrows::parse(&metadata)?);
    complaints.extend(bans::check(&sources));
    complaints.extend(size::check(&sources, &exceptions));
    complaints.extend(dead::check(&sources));
    complaints.extend(ids::check(&sources));
    complaints.extend(links::check(&sources, &|path| root.join(path).exists()));
    complaints.extend(words::check(&sources, &std::env::var("BOXSCORE_TIDY_WORDS").unwrap_or_default()));
    let files = bans::production(&sources);
    complaints.extend(circle::check(&files));
    complaints.extend(own_text::check(&files));
    complaints.extend(prose::docs(&files));
    complaints.extend(prose::names(&files));
    complaints.sort();
    println!("unsafe code outside crates/sys:");
    for home in bans::unsafe_homes(&sources) {
        println!("  {home}");
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} to put right", complaints.len());
    }
    Ok(())
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_ref()) {
                collect(root, &path, found)?;
            }
        } else if name == "Makefile" || READ.iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            found.push(Source::new(path.strip_prefix(root)?.to_string_lossy(), text));
        }
    }
    Ok(())
}
