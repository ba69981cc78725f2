//! `boxscore lab push` and `boxscore lab pull`.

use std::path::{Path, PathBuf};

use lab::ssh::content::{Content, Tree};
use lab::ssh::copy::{BadPath, Copied, LocalFile, Pull, Push};
use lab::ssh::{Host, Options, Sent, fold};
use model::Unit;
use model::doc::{LabCopiedDoc, LabCopyDoc, LabSentDoc};
use model::format::{count, quantity};
use report::text::lab_hosts as text;

use super::reach::{self, Progress};
use super::select;
use crate::cli::Global;
use crate::cli::lab::copy::{PullArgs, PushArgs};
use crate::cli::lab::reach::ReachArgs;
use crate::cli::lab::select::SelectArgs;
use crate::error::CliError;
use crate::out;

impl From<BadPath> for CliError {
    fn from(error: BadPath) -> CliError {
        CliError::usage(error.to_string())
    }
}

/// An expression of machines and the text behind its colon: that before a path from `/` or `~`, else the last one, as
/// the name of a group may hold one.
fn split<'a>(text: &'a str, what: &str) -> Result<(Vec<String>, &'a str), CliError> {
    let place = [":/", ":~"].iter().filter_map(|mark| text.find(mark)).min().or_else(|| text.rfind(':'));
    let parts = place.and_then(|place| Some((text.get(..place)?, text.get(place + 1..)?)));
    let wrong = || {
        CliError::usage(format!("`{text}`: machines, a colon and {what} are needed"))
            .hint("for example a,b:/opt")
    };
    let (machines, rest) = parts.filter(|(_, rest)| !rest.is_empty()).ok_or_else(wrong)?;
    let expression = (!machines.is_empty()).then(|| machines.to_owned());
    Ok((expression.into_iter().collect(), rest))
}

/// The hosts before the colon, or of `-f`, and the text behind it.
fn hosts<'a>(
    text: &'a str,
    what: &str,
    args: &SelectArgs,
    reach: &ReachArgs,
) -> Result<(Vec<Host>, &'a str), CliError> {
    let (expressions, rest) = split(text, what)?;
    if expressions.is_empty() && args.file.is_none() {
        let hint = "for example a,b:/opt, or -f FILE :/opt";
        return Err(CliError::usage(format!("`{text}`: no machine stands before the colon")).hint(hint));
    }
    Ok((select::hosts(&expressions, args, reach)?, rest))
}

pub fn push(args: &PushArgs, global: &Global) -> Result<u8, CliError> {
    let Some((to, files)) = args.words.split_last() else {
        return Err(CliError::usage("machines and a folder are needed"));
    };
    let to = to.to_str().ok_or_else(|| CliError::usage(format!("{}: no expression", to.display())))?;
    match &args.content {
        None if files.is_empty() => {
            let what = format!("`{to}` is where to: files of this side are needed before it");
            Err(CliError::usage(what).hint("or --content DIR, for a tree of files"))
        }
        None => push_files(args, files, to, global),
        Some(_) if !files.is_empty() => {
            Err(CliError::usage("--content sends a tree: no file can be named beside it"))
        }
        Some(folder) => push_tree(args, folder, to, global),
    }
}

fn push_files(args: &PushArgs, files: &[PathBuf], to: &str, global: &Global) -> Result<u8, CliError> {
    let (hosts, folder) = hosts(to, "a folder", &args.select, &args.reach)?;
    let options = reach::options(&args.reach)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let files: Vec<LocalFile> = files.iter().map(|path| LocalFile::read(path)).collect::<Result<_, _>>()?;
    let copies = Push::new(files, folder)?;
    if args.reach.dry_run {
        let what = format!("would copy {} to {folder}", names.join(", "));
        out::print(&reach::plan(&hosts, &options, &what)?);
        return Ok(0);
    }
    let target = Target { verb: "lab-push", files: names, to: folder.to_owned(), hosts: &hosts };
    target.copy(global, |sockets, stop, done| copies.run(&hosts, &options, sockets, stop, done))
}

/// Where trees go that no folder is named for.
const TREES: &str = "~/.cache/boxscore/content";

/// Machines, and the folder for a tree: behind the colon where it begins with `/` or `~`, else one of its own name.
fn tree_place(text: &str, tree: &Path) -> Result<(String, String), CliError> {
    if text.contains(":/") || text.contains(":~") {
        let (machines, folder) = split(text, "a folder")?;
        return Ok((machines.concat(), folder.to_owned()));
    }
    let wrong = |error: std::io::Error| CliError::data(format!("{}: {error}", tree.display()));
    Ok((text.to_owned(), tree_folder(&tree.canonicalize().map_err(wrong)?)?))
}

/// The folder of its own name for a tree, whose path is given from the root on.
pub fn tree_folder(path: &Path) -> Result<String, CliError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| CliError::usage(format!("{} has no name", path.display())))?;
    Ok(format!("{TREES}/{name}"))
}

fn push_tree(args: &PushArgs, tree: &Path, to: &str, global: &Global) -> Result<u8, CliError> {
    let (machines, folder) = tree_place(to, tree)?;
    let expressions: Vec<String> = (!machines.is_empty()).then_some(machines).into_iter().collect();
    let hosts = select::hosts(&expressions, &args.select, &args.reach)?;
    let options = reach::options(&args.reach)?;
    let read = Tree::read(tree)?;
    let size = quantity(read.bytes() as f64, Unit::Byte);
    let what = format!("{} of {} ({size})", count(read.files().len(), "file"), tree.display());
    let copies = Content::new(read, &folder)?;
    if args.reach.dry_run {
        let what = format!("would send what differs of {what} to {folder}");
        out::print(&reach::plan(&hosts, &options, &what)?);
        return Ok(0);
    }
    let target =
        Target { verb: "lab-push", files: vec![tree.display().to_string()], to: folder, hosts: &hosts };
    target.copy(global, |sockets, stop, done| copies.run(&hosts, &options, sockets, stop, done))
}

pub fn pull(args: &PullArgs, global: &Global) -> Result<u8, CliError> {
    let (hosts, files) = hosts(&args.from, "files", &args.select, &args.reach)?;
    let options: Options = reach::options(&args.reach)?;
    let paths: Vec<String> = files.split(',').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    let copies = Pull::new(&paths, Path::new(&args.to))?;
    let to = args.to.display().to_string();
    if args.reach.dry_run {
        let what = format!("would copy {} to {to}/HOST", paths.join(", "));
        out::print(&reach::plan(&hosts, &options, &what)?);
        return Ok(0);
    }
    let target = Target { verb: "lab-pull", files: paths, to, hosts: &hosts };
    target.copy(global, |sockets, stop, done| copies.run(&hosts, &options, sockets, stop, done))
}

struct Target<'a> {
    verb: &'static str,
    files: Vec<String>,
    to: String,
    hosts: &'a [Host],
}

impl Target<'_> {
    fn copy(
        self,
        global: &Global,
        work: impl FnOnce(&lab::ssh::Sockets, &lab::stop::Stop, &mut dyn FnMut(Copied)) -> std::io::Result<()>,
    ) -> Result<u8, CliError> {
        let (sockets, stop) = reach::begin()?;
        let mut progress = Progress::begin(self.hosts, global.json);
        let mut all: Vec<Copied> = Vec::with_capacity(self.hosts.len());
        let went = work(&sockets, &stop, &mut |one: Copied| {
            progress.done(&one.host, || {});
            all.push(one);
        });
        drop(progress);
        went.map_err(reach::no_thread)?;
        all.sort_by_key(|one| one.index);
        let document = self.document(&all, stop.is_requested());
        if global.json {
            out::json(&document);
        } else {
            out::say_all(&text::copied(&document));
        }
        Ok(reach::code(document.failures.is_empty(), document.interrupted))
    }

    fn document(self, all: &[Copied], interrupted: bool) -> LabCopyDoc {
        let failed = all.iter().filter_map(|one| one.result.as_ref().err().map(|failure| (failure, one)));
        let groups = fold::by_text(failed.map(|(failure, one)| (failure.to_string(), (failure, &one.host))));
        let failures = groups.iter().filter_map(|(_, group)| {
            let hosts: Vec<&Host> = group.iter().map(|(_, host)| *host).collect();
            group.first().map(|(failure, _)| reach::failed(failure, &hosts))
        });
        LabCopyDoc {
            schema: format!("boxscore.{}/1", self.verb),
            files: self.files,
            to: self.to,
            failures: failures.collect(),
            hosts: all.iter().map(host).collect(),
            interrupted,
        }
    }
}

fn host(one: &Copied) -> LabCopiedDoc {
    let failure = one.result.as_ref().err();
    LabCopiedDoc {
        host: one.host.to_string(),
        ok: failure.is_none(),
        verified: one.result.as_ref().ok().map(|verified| verified.word().to_owned()),
        failure: failure.map(|failure| failure.word().to_owned()),
        why: failure.map(ToString::to_string),
        files: one.files,
        bytes: one.bytes,
        sent: one.sent.as_ref().map(sent),
        seconds: one.seconds,
    }
}

fn sent(sent: &Sent) -> LabSentDoc {
    let by = sent.way.map(|way| way.word().to_owned());
    LabSentDoc { files: sent.files, bytes: sent.bytes, by, others: sent.others }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_a_folder_of_its_name_unless_a_path_is_named() {
        let place = |text: &str| tree_place(text, Path::new("/usr/bin")).unwrap();
        for (text, machines, folder) in [
            ("@role:server!a", "@role:server!a", "~/.cache/boxscore/content/bin"),
            ("@role:server:/srv/x:y", "@role:server", "/srv/x:y"),
            (":~/www", "", "~/www"),
        ] {
            assert_eq!(place(text), (machines.to_owned(), folder.to_owned()), "{text}");
        }
        assert!(tree_place("a", Path::new("/nowhere")).unwrap_err().to_string().contains("/nowhere"));
    }

    #[test]
    fn machines_stand_before_the_colon() {
        for (text, machines, rest) in [
            ("a1,a2:/opt", "a1,a2", "/opt"),
            ("@role:server!a[1-2]:/x:y", "@role:server!a[1-2]", "/x:y"),
            ("@role:server:x", "@role:server", "x"),
            ("a:~/x:/y", "a", "~/x:/y"),
            ("a:x", "a", "x"),
        ] {
            assert_eq!(split(text, "a folder").unwrap(), (vec![machines.to_owned()], rest), "{text}");
        }
        assert_eq!(split(":/opt", "a folder").unwrap(), (vec![], "/opt"));
        for bad in ["a", "a:", ""] {
            assert_eq!(split(bad, "a folder").unwrap_err().kind.exit_code(), 2, "{bad}");
        }
    }
}
