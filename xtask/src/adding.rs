//! Proof that docs/adding.md is true: its commands add an instrument to a copy of the tree, with one new file, and the
//! instrument shows in the list, the help, a run, the paragraph of a comparison and the report.
//!
//! The copy is `target/adding/tree`. What is compiled of other packages is shared with the workspace. Its own packages
//! have another version: cargo tells packages of two workspaces apart by name and version, and would take what was
//! compiled of the copy for what the workspace needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{generate, shell};

const DOCUMENT: &str = "docs/adding.md";
const MANIFEST: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";

pub fn run() -> Result<()> {
    let place = target().join("adding");
    let copy = Copy { tree: place.join("tree"), out: place.join("out") };
    let files = copy.make()?;
    let document = fs::read_to_string(shell::root().join(DOCUMENT)).context(DOCUMENT)?;
    let commands = commands(&document)?;
    for command in &commands {
        println!("$ {command}");
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        shell::must(&mut copy.cargo(&words))?;
    }
    let name = commands.first().and_then(|first| first.split_whitespace().nth(4)).context("no name")?;
    copy.one_new_file(&files, name)?;
    shell::must(&mut copy.cargo(&["build", "--quiet", "-p", "boxscore"]))?;
    Trial { program: copy.out.join("debug/boxscore"), folder: place.join("trial"), name }.run()
}

/// Where the workspace's own artefacts are.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| shell::root().join("target"), PathBuf::from)
}

/// The lines of the document's first block of code.
fn commands(document: &str) -> Result<Vec<String>> {
    let block = document.split("```").nth(1).with_context(|| format!("{DOCUMENT} has no command"))?;
    let lines: Vec<String> = block.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    ensure!(lines.iter().all(|line| line.starts_with("cargo ")), "not all commands of cargo: {lines:?}");
    Ok(lines)
}

/// The manifest of the workspace with another version of its packages.
fn with_other_version(manifest: &str) -> Result<String> {
    let (before, after) =
        manifest.split_once("[workspace.package]\nversion = \"").context("no version of the workspace")?;
    let (version, rest) = after.split_once('"').context("no end of the version")?;
    Ok(format!("{before}[workspace.package]\nversion = \"{version}-adding\"{rest}"))
}

/// A copy of the tree that is built beside it.
struct Copy {
    tree: PathBuf,
    out: PathBuf,
}

impl Copy {
    /// Brings the copy up to date. Files that are the same keep their times, so that little is built again.
    fn make(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let names = shell::output("git", &words)?;
        let mut files = BTreeMap::new();
        for name in names.split_terminator('\0') {
            // A file that was deleted and not committed is listed too.
            if let Ok(bytes) = fs::read(shell::root().join(name)) {
                files.insert(name.to_owned(), bytes);
            }
        }
        for name in self.names()?.iter().filter(|name| !files.contains_key(*name)) {
            fs::remove_file(self.tree.join(name)).with_context(|| format!("cannot remove {name}"))?;
        }
        let manifest = files.get_mut(MANIFEST).context("no manifest of the workspace")?;
        *manifest = with_other_version(&String::from_utf8_lossy(manifest))?.into_bytes();
        for (name, bytes) in &files {
            let path = self.tree.join(name);
            if fs::read(&path).ok().as_ref() != Some(bytes) {
                fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
                fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        shell::must(&mut self.cargo(&["update", "--workspace", "--offline", "--quiet"]))?;
        files.insert(LOCK.to_owned(), fs::read(self.tree.join(LOCK)).context(LOCK)?);
        Ok(files)
    }

    /// Every file of the copy, from its root on.
    fn names(&self) -> Result<Vec<String>> {
        let (mut names, mut folders) = (Vec::new(), vec![self.tree.clone()]);
        while let Some(folder) = folders.pop().filter(|folder| folder.exists()) {
            for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
                let path = entry?.path();
                match path.strip_prefix(&self.tree) {
                    Ok(_) if path.is_dir() => folders.push(path),
                    Ok(name) => names.push(name.display().to_string()),
                    Err(error) => bail!("{error}"),
                }
            }
        }
        Ok(names)
    }

    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = Command::new(shell::cargo());
        command.args(words).current_dir(&self.tree);
        command.env("CARGO_TARGET_DIR", &self.out).env("CARGO_BUILD_BUILD_DIR", target());
        command.env("CARGO_INCREMENTAL", "0");
        command
    }

    /// Fails when more than the instrument's file is new, or a file changed that is not generated.
    fn one_new_file(&self, before: &BTreeMap<String, Vec<u8>>, name: &str) -> Result<()> {
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        for file in self.names()? {
            let bytes = fs::read(self.tree.join(&file)).with_context(|| format!("cannot read {file}"))?;
            match before.get(&file) {
                None => new.push(file),
                Some(old) if *old != bytes && !generate::is_generated(&file, old) => changed.push(file),
                Some(_) => {}
            }
        }
        let own = format!("/{}.rs", name.replace('-', "_"));
        ensure!(new.len() == 1 && new.iter().all(|file| file.ends_with(&own)), "new files: {new:?}");
        ensure!(changed.is_empty(), "changed by hand: {changed:?}");
        Ok(())
    }
}

/// The program with the new instrument.
struct Trial<'a> {
    program: PathBuf,
    folder: PathBuf,
    name: &'a str,
}

impl Trial<'_> {
    fn run(&self) -> Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir_all(&self.folder)?;
        let (name, label) = (self.name, self.name.replace('-', " "));
        self.has(&["list"], &[name])?;
        self.has(&["list", "--long", name], &["size", "step", "threads"])?;
        self.has(&["run", name, "--help"], &[&format!("boxscore run {name} --set step=8")])?;
        // Really measured, then planted with a difference that a comparison must find.
        self.has(&["run", name, "--takes", "2", "--no-report"], &[&label])?;
        for (arm, median) in [("slow", "1e9"), ("fast", "2e9")] {
            let world = format!(
                r#"{{"seed": 1, "series": [{{"instrument": "*", "median": {median}, "spread": 0.01}}]}}"#
            );
            fs::write(self.folder.join("world.json"), world)?;
            let run = ["run", name, "--fake", "world.json", "--takes", "12", "--label", arm, "--no-report"];
            self.has(&run, &[&label, "64 KiB", "step 8"])?;
        }
        let compared = self.say(&["compare", "slow", "fast"])?;
        let paragraph = compared.split("\n\n").next().unwrap_or_default();
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(
            paragraph.contains(&format!("runs {label} 64 KiB")),
            "the paragraph does not name it:\n{compared}"
        );
        self.say(&["report", "fast", "-o", "report.html"])?;
        let report = fs::read_to_string(self.folder.join("report.html"))?;
        ensure!(report.contains(&label) && report.contains("step 8"), "the report does not show `{label}`");
        Ok(())
    }

    /// Runs the program; returns its stdout. Fails when it fails.
    fn say(&self, words: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.folder).env("BOXSCORE_STORE", self.folder.join("store.db"));
        println!("$ boxscore {}", words.join(" "));
        shell::must_output(&mut command)
    }

    fn has(&self, words: &[&str], wanted: &[&str]) -> Result<()> {
        let text = self.say(words)?;
        match wanted.iter().find(|word| !text.contains(**word)) {
            None => Ok(()),
            Some(word) => bail!("`boxscore {}` does not show `{word}`:\n{text}", words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_copy_have_another_version() {
        let manifest = fs::read_to_string(shell::root().join(MANIFEST)).expect(MANIFEST);
        let other = with_other_version(&manifest).expect("a version");
        assert_eq!(other.replace("-adding\"\nedition", "\"\nedition"), manifest);
        assert_ne!(other, manifest);
    }

    #[test]
    fn the_document_begins_with_its_commands() {
        let document = fs::read_to_string(shell::root().join(DOCUMENT)).expect(DOCUMENT);
        let commands = commands(&document).expect("commands");
        assert!(
            commands[0].starts_with("cargo xtask new instrument ") && commands.len() == 2,
            "{commands:?}"
        );
        assert!(self::commands("nothing").is_err() && self::commands("```\nrm -r\n```").is_err());
    }
}
