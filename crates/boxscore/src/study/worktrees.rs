//! `run --git A..B --build COMMAND`: each revision is built in a working tree of its own, and the command runs in it.
//!
//! The trees lie beside the store and are removed when the run has ended; the user's own tree is never touched. Their
//! paths are equally long, since the length of a path moves the memory of a process. Trees that a killed run left are
//! removed by the next one. A plan tells of what they were made, so that a run that is resumed or repeated makes them
//! anew, of the same commits.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use model::Plan;
use model::command::Tree;

use crate::cli::run::RunArgs;
use crate::error::CliError;
use crate::out;

/// How the folders begin that hold the trees of a run; its process id follows.
const FOLDER: &str = "boxscore-git-";
/// Digits of that id, so that a path is as long when a run is resumed.
const PID_DIGITS: usize = 7;
/// Lines of a failed build that are shown.
const LAST: usize = 10;

/// The trees of a run; they are removed with it.
pub struct Worktrees {
    repository: PathBuf,
    folder: PathBuf,
    trees: Vec<PathBuf>,
    /// Of what each was made, with the folder in which the command runs.
    made: Vec<(PathBuf, Tree)>,
}

/// The output of a program; an error with the end of what it said where it failed.
fn output(command: &mut Command, what: &str) -> Result<String, CliError> {
    let failed = |why: String| CliError::data(format!("{what}: {why}"));
    let Output { status, stdout, stderr } =
        command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).trim_end().to_owned());
    }
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LAST)..).unwrap_or_default().join("\n  ");
    Err(failed(format!("{status}\n  {last}")))
}

fn git(dir: &Path, words: &[&str]) -> Result<String, CliError> {
    output(Command::new("git").arg("-C").arg(dir).args(words), &format!("git {}", words.join(" ")))
}

/// The two revisions of `A..B`.
fn revisions(range: &str) -> Result<(&str, &str), CliError> {
    let (from, to) = range.split_once("..").unwrap_or(("", ""));
    let wrong = || {
        CliError::usage(format!("--git {range}: not of the form A..B"))
            .hint("for example --git v1.0..HEAD --build 'make -j8' --cmd './prog'")
    };
    let is_name = |text: &str| !text.is_empty() && !text.starts_with(['.', '-']);
    if is_name(from) && is_name(to) { Ok((from, to)) } else { Err(wrong()) }
}

/// Makes and builds the trees that `--git` asks for, and gives the command their folders; `None` without `--git`. Fails
/// when there is no such revision, or one cannot be built.
pub fn prepared(args: &mut RunArgs, beside: &Path) -> Result<Option<Worktrees>, CliError> {
    let Some(range) = args.commands.git.clone() else { return Ok(None) };
    let (from, to) = revisions(&range)?;
    if args.commands.cmds.len() != 1 || !args.via.is_empty() {
        return Err(CliError::usage("--git takes one --cmd, which is run in both revisions here"));
    }
    let start = args.dir.first().map_or(".", String::as_str);
    let start = PathBuf::from(start);
    let mut trees = Worktrees::new(&start, beside)?;
    let inside = git(&start, &["rev-parse", "--show-prefix"])?;
    trees.say_dirty()?;
    let mut dirs = Vec::new();
    for revision in [from, to] {
        let tree = Tree {
            repository: trees.repository.display().to_string(),
            revision: revision.to_owned(),
            commit: trees.commit(revision)?,
            inside: inside.clone(),
            build: args.commands.build.clone(),
        };
        dirs.push(format!("{revision}={}", trees.make(tree)?.display()));
    }
    args.dir = dirs;
    Ok(Some(trees))
}

/// Makes and builds the trees of a stored plan anew, of the same commits, and gives its commands their new folders;
/// `None` where it has none. Fails when the repository, a commit or what builds it is gone.
pub fn restored(plan: &mut Plan, beside: &Path) -> Result<Option<Worktrees>, CliError> {
    let Some(repository) = plan.commands.values().find_map(|one| Some(one.tree.as_ref()?.repository.clone()))
    else {
        return Ok(None);
    };
    let start = PathBuf::from(&repository);
    if !start.is_dir() {
        return Err(CliError::data(format!(
            "the repository {repository} is gone: the revisions of this run cannot be built again"
        )));
    }
    let mut trees = Worktrees::new(&start, beside)?;
    for command in plan.commands.values_mut() {
        let Some(tree) = command.tree.clone() else { continue };
        let is_there = git(&start, &["cat-file", "-e", &format!("{}^{{commit}}", tree.commit)]);
        is_there.map_err(|_| {
            CliError::data(format!(
                "the commit {} ({}) is no longer in {repository}: it cannot be built again",
                tree.commit, tree.revision
            ))
        })?;
        command.dir = Some(trees.make(tree)?.display().to_string());
    }
    Ok(Some(trees))
}

/// A commit of a series.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The beginning of its hash.
    pub short: String,
    pub subject: String,
}

/// A and the commits after it up to B, by first parents, the oldest first. Fails when there are no such revisions.
pub fn commits(args: &RunArgs) -> Result<(String, Vec<Commit>), CliError> {
    let range = args.commands.git.clone().unwrap_or_default();
    let (from, _) = revisions(&range)?;
    let start = PathBuf::from(args.dir.first().map_or(".", String::as_str));
    let listed = git(&start, &["log", "--reverse", "--first-parent", "--format=%h %s", &range])?;
    let commit = |line: &str| {
        let (short, subject) = line.split_once(' ').unwrap_or((line, ""));
        Commit { short: short.to_owned(), subject: subject.to_owned() }
    };
    Ok((from.to_owned(), listed.lines().map(commit).collect()))
}

impl Worktrees {
    fn new(start: &Path, beside: &Path) -> Result<Worktrees, CliError> {
        let repository = git(start, &["rev-parse", "--show-toplevel"])
            .map_err(|error| error.hint("--git is run within a working tree of git, or with its --dir"))?;
        let repository = PathBuf::from(repository);
        let beside = std::path::absolute(beside).unwrap_or_else(|_| beside.to_owned());
        remove_stale(&repository, &beside);
        let folder = beside.join(format!("{FOLDER}{:0PID_DIGITS$}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| CliError::data(format!("{}: {error}", folder.display())))?;
        Ok(Worktrees { repository, folder, trees: Vec::new(), made: Vec::new() })
    }

    /// Changes that no revision has are not measured.
    fn say_dirty(&self) -> Result<(), CliError> {
        let changed = git(&self.repository, &["status", "--porcelain"])?;
        let count = changed.lines().count();
        if count > 0 {
            let files = model::format::count(count, "file");
            out::say(&format!(
                "note: the working tree differs from its commit in {files}: these changes are in neither revision"
            ));
        }
        Ok(())
    }

    /// The hash of a revision. Fails when there is none of that name.
    fn commit(&self, revision: &str) -> Result<String, CliError> {
        git(&self.repository, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
            .map_err(|_| CliError::data(format!("--git: no revision is called {revision}")))
    }

    /// Makes a tree and builds it; returns the folder in which the command runs.
    fn make(&mut self, tree: Tree) -> Result<PathBuf, CliError> {
        let place = self.folder.join(self.trees.len().to_string());
        let path = place.display().to_string();
        // Told before it is made, so that half a tree is removed too.
        self.trees.push(place.clone());
        git(&self.repository, &["worktree", "add", "--quiet", "--detach", &path, &tree.commit])?;
        let dir = place.join(&tree.inside);
        if let Some(build) = &tree.build {
            out::say(&format!("building {}", tree.revision));
            let mut shell = Command::new("/bin/sh");
            output(shell.arg("-c").arg(build).current_dir(&dir), &format!("--build at {}", tree.revision))?;
        }
        self.made.push((dir.clone(), tree));
        Ok(dir)
    }

    /// Writes into a plan of what the folders of its commands were made.
    pub fn note(&self, plan: &mut Plan) {
        for command in plan.commands.values_mut() {
            let dir = command.dir.as_ref().map(Path::new);
            command.tree =
                self.made.iter().find(|(made, _)| Some(made.as_path()) == dir).map(|(_, tree)| tree.clone());
        }
    }
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        let left = remove(&self.repository, &self.folder, &self.trees);
        left.iter().for_each(|why| out::say(&format!("warning: {why}")));
    }
}

/// Removes trees and their folder; says what is left.
fn remove(repository: &Path, folder: &Path, trees: &[PathBuf]) -> Vec<String> {
    let mut left = Vec::new();
    for tree in trees.iter().filter(|tree| tree.exists()) {
        let path = tree.display().to_string();
        if let Err(error) = git(repository, &["worktree", "remove", "--force", &path]) {
            left.push(error.message);
        }
    }
    if let Err(error) = std::fs::remove_dir_all(folder) {
        left.push(format!("{} is left: {error}", folder.display()));
    }
    if let Err(error) = git(repository, &["worktree", "prune"]) {
        left.push(error.message);
    }
    left
}

/// Removes the trees of runs that have ended without doing so.
fn remove_stale(repository: &Path, beside: &Path) {
    let folders = std::fs::read_dir(beside).into_iter().flatten().filter_map(Result::ok);
    for folder in folders.map(|entry| entry.path()) {
        let name =
            folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(FOLDER));
        let Some(pid) = name.and_then(|name| name.parse::<u32>().ok()) else { continue };
        if Path::new(&format!("/proc/{pid}")).exists() {
            continue;
        }
        let trees = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        let trees: Vec<PathBuf> = trees.map(|entry| entry.path()).collect();
        // Of another repository they are only deleted; that one prunes them itself.
        let ours: Vec<PathBuf> = trees.into_iter().filter(|tree| is_of(tree, repository)).collect();
        remove(repository, &folder, &ours).iter().for_each(|why| out::say(&format!("warning: {why}")));
    }
}

/// True for a tree of this repository.
fn is_of(tree: &Path, repository: &Path) -> bool {
    let common = |dir: &Path| git(dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"]).ok();
    common(tree).is_some_and(|dir| common(repository).as_ref() == Some(&dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_names() {
        assert_eq!(revisions("v1.0..HEAD~2").unwrap(), ("v1.0", "HEAD~2"));
        for wrong in ["v1", "..b", "a..", "a...b", "--x..b", "a..-b"] {
            assert!(revisions(wrong).unwrap_err().message.contains("A..B"), "{wrong}");
        }
    }
}
