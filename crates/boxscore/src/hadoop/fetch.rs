//! `boxscore hadoop fetch`: Hadoop assembled by Maven in a folder of our own, verified, then put in its place.
//!
//! Until then nothing is there, or what was there stays; a folder with files of the user's is never touched. Sizes are
//! bytes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use instruments::workload::hadoop::assembled::{
    self, Checked, LIB, POM, POM_FILE, SUMS_FILE, VERSION, Wrong,
};
use instruments::workload::hadoop::java::{self, Java};
use instruments::workload::hadoop::release::Release;
use instruments::workload::server::private_folder::PrivateFolder;
use model::Unit;
use model::doc::{HadoopFetchDoc, HadoopJavaDoc};
use model::format::{count, quantity};
use report::text::hadoop;

use super::maven::{Failed, Fetched, Maven, Order};
use crate::cli::Global;
use crate::cli::hadoop::FetchArgs;
use crate::error::CliError;
use crate::lookup::paths;
use crate::out::{self, Canvas};
use crate::study::stop_signal::StopSignal;

/// Its jars, and some room for what Maven writes beside them.
const ROOM: u64 = 110_000_000;
/// Lines of progress without a terminal come so far apart.
const APART_NS: u64 = 10_000_000_000;
const HOME: &str = "HADOOP_HOME";
/// Files that a message names.
const NAMED: usize = 3;

pub fn run(args: &FetchArgs, global: &Global) -> Result<u8, CliError> {
    let began_ns = sys::clock::now_ns();
    let folder = match &args.dir {
        Some(dir) => absolute(dir)?,
        None => assembled::folder(&paths::data_dir()?),
    };
    let java = java()?;
    let found = assembled::check(&folder);
    let (checked, fetched) = match found {
        Ok(checked) => (checked, false),
        Err(wrong) => (assemble(&folder, wrong, &java)?, true),
    };
    let document = HadoopFetchDoc {
        schema: "boxscore.hadoop-fetch/1".to_owned(),
        version: VERSION.to_owned(),
        folder: folder.display().to_string(),
        jars: checked.jars as u64,
        bytes: checked.bytes,
        fetched,
        seconds: sys::clock::now_ns().saturating_sub(began_ns) as f64 / 1e9,
        java: HadoopJavaDoc { version: java.version, home: java.home.display().to_string() },
    };
    if global.json {
        out::json(&document);
        return Ok(0);
    }
    out::print(&hadoop::fetched(&document, &paths::tilde(&folder), out::look()));
    out::print(&next(args.dir.as_ref().map(|_| folder.as_path())));
    Ok(0)
}

/// The command that uses it.
fn next(elsewhere: Option<&Path>) -> String {
    let home = elsewhere.map(|folder| format!("{HOME}={} ", folder.display())).unwrap_or_default();
    let set = std::env::var_os(HOME).filter(|home| !home.is_empty() && elsewhere.is_none());
    let unset = match set {
        Some(home) => format!("note: {HOME} is {} and goes before it\n", Path::new(&home).display()),
        None => String::new(),
    };
    format!("Next: {home}boxscore run hadoop\n{unset}")
}

fn absolute(dir: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(dir).map_err(|error| CliError::usage(format!("--dir {}: {error}", dir.display())))
}

fn java() -> Result<Java, CliError> {
    let release = Release::read(VERSION).ok_or_else(|| CliError::data(format!("{VERSION} is no version")))?;
    java::find(VERSION, release).map_err(|why| {
        CliError::data(why)
            .hint("apt-get install --no-install-recommends openjdk-17-jre-headless, or set JAVA_HOME")
    })
}

/// Makes it where it is not, or not whole. Fails where something else is there.
fn assemble(folder: &Path, wrong: Wrong, java: &Java) -> Result<Checked, CliError> {
    match wrong {
        Wrong::Foreign(why) => {
            let message = format!("{} is not replaced: {why}", folder.display());
            return Err(CliError::data(message).hint("name another folder with --dir"));
        }
        Wrong::Damaged(why) => out::say(&format!("note: {} is made anew: {why}", paths::tilde(folder))),
        Wrong::Missing => {}
    }
    let maven = Maven::find()?;
    let stop = StopSignal::listen_with_message("ended at once; nothing of it was kept")?;
    let parent = folder.parent().ok_or_else(|| CliError::usage("--dir: / is no folder for it"))?;
    let new = made_folders(parent)?;
    let result = in_parent(parent, folder, (&maven, java), &stop);
    if result.is_err() {
        // Folders that are empty, and were made for it.
        new.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    result
}

fn in_parent(
    parent: &Path,
    folder: &Path,
    (maven, java): (&Maven, &Java),
    stop: &StopSignal,
) -> Result<Checked, CliError> {
    let room = assembled::room_bytes(parent).map_err(CliError::data)?;
    if room < ROOM {
        return Err(no_room(parent, room));
    }
    let place = PrivateFolder::make(parent, None).map_err(CliError::data)?;
    let made = place.folder("made").map_err(CliError::data)?;
    copy(&place, &made.join(LIB), (maven, java), stop)?;
    let checked = assembled::check_jars(&made.join(LIB)).map_err(mismatch)?;
    finish(&made)?;
    put(&made, folder, place.path())?;
    Ok(checked)
}

fn no_room(folder: &Path, room: u64) -> CliError {
    let amount = |bytes: u64| quantity(bytes as f64, Unit::Byte);
    let message = format!("{} has {} left; Hadoop takes {}", folder.display(), amount(room), amount(ROOM));
    CliError::data(message).hint("make room there, or name another folder with --dir")
}

/// Makes a folder and those above it; they belong to the user who called sudo. Gives those that were made, outermost
/// first.
fn made_folders(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let failed = |error: std::io::Error| CliError::data(format!("cannot make {}: {error}", folder.display()));
    let mut new: Vec<PathBuf> =
        folder.ancestors().take_while(|one| !one.exists()).map(Path::to_path_buf).collect();
    new.reverse();
    std::fs::create_dir_all(folder).map_err(failed)?;
    if let Some((uid, gid)) = paths::owner() {
        new.iter().try_for_each(|one| sys::files::chown(one, uid, gid))?;
    }
    Ok(new)
}

/// Has Maven copy the jars: by what it has, and where that is not all, over the network.
fn copy(
    place: &PrivateFolder,
    lib: &Path,
    (maven, java): (&Maven, &Java),
    stop: &StopSignal,
) -> Result<(), CliError> {
    let pom = place.file(POM_FILE, POM).map_err(CliError::data)?;
    let order = Order { pom: &pom, lib, java };
    let missing = match maven.copy(order, true, stop, &mut |_| {}) {
        Ok(()) => return Ok(()),
        Err(Failed::Missing { files, .. }) => files,
        Err(failed) => return Err(told(failed, &[])),
    };
    out::say("note: Maven fetches from Maven Central what it has not in ~/.m2: 115 MB at first");
    // Jars that it had.
    if let Err(error) = std::fs::remove_dir_all(lib)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(CliError::data(format!("{}: {error}", lib.display())));
    }
    let mut progress = Progress::begin();
    let went = maven.copy(order, false, stop, &mut |fetched| progress.show(fetched));
    progress.end();
    went.map_err(|failed| told(failed, &missing))
}

/// Why Maven made nothing. `missing` are files that it had not before it tried the network.
fn told(failed: Failed, missing: &[String]) -> CliError {
    let message = |why: &str| CliError::data(format!("Maven could not assemble Hadoop {VERSION}: {why}"));
    match failed {
        Failed::Interrupted => CliError::interrupted("interrupted; nothing of it was kept"),
        Failed::Host(why) => CliError::data(why),
        Failed::Other(why) => message(&why),
        Failed::Missing { files, why } => {
            let mut lacks: Vec<&str> = missing.iter().chain(&files).map(String::as_str).collect();
            lacks.dedup();
            let first = lacks.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = match lacks.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {}", count(more, "other")),
            };
            message(&why).hint(format!(
                "~/.m2 lacks {first}{more}; a proxy or a mirror is set in ~/.m2/settings.xml; without a network copy \
                 ~/.m2 or the folder itself from a host that has it"
            ))
        }
    }
}

fn mismatch(why: String) -> CliError {
    CliError::data(format!("what Maven gave is not Hadoop {VERSION}: {why}")).hint(
        "a mirror, or a damaged file in ~/.m2: remove it there (find ~/.m2 -name NAME) and run this again",
    )
}

/// Puts the pom and the sums beside the jars, and gives all of it the modes and the owner of the user's files.
fn finish(made: &Path) -> Result<(), CliError> {
    sys::files::atomic_write(&made.join(POM_FILE), POM.as_bytes(), 0o644)?;
    sys::files::atomic_write(&made.join(SUMS_FILE), assembled::sums_file().as_bytes(), 0o644)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(made, mode)
        .map_err(|error| CliError::data(format!("{}: {error}", made.display())))?;
    let Some((uid, gid)) = paths::owner() else { return Ok(()) };
    for folder in [made.to_path_buf(), made.join(LIB)] {
        sys::files::chown(&folder, uid, gid)?;
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            sys::files::chown(&entry.path(), uid, gid)?;
        }
    }
    Ok(())
}

/// Gives it its name; what had it, and is not whole, goes with the private folder.
fn put(made: &Path, folder: &Path, private: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::data(format!("cannot make {}: {error}", folder.display()));
    match std::fs::rename(folder, private.join("old")) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    match std::fs::rename(made, folder) {
        Ok(()) => {}
        // Somebody else was quicker.
        Err(_) if assembled::check(folder).is_ok() => {}
        Err(error) => return Err(failed(error)),
    }
    folder.parent().map_or(Ok(()), sys::files::sync_dir).map_err(CliError::from)
}

/// Jars that came by now: a line that is drawn again, or one each ten seconds.
struct Progress {
    canvas: Option<Canvas>,
    last_ns: u64,
    shown: Fetched,
}

impl Progress {
    fn begin() -> Progress {
        Progress { canvas: Canvas::open(), last_ns: sys::clock::now_ns(), shown: Fetched::default() }
    }

    fn show(&mut self, fetched: Fetched) {
        if fetched == self.shown {
            return;
        }
        let line = format!("{} fetched, {}", count(fetched.jars, "jar"), quantity(fetched.bytes, Unit::Byte));
        match &mut self.canvas {
            Some(canvas) => canvas.draw(&line),
            None => {
                let now_ns = sys::clock::now_ns();
                if now_ns.saturating_sub(self.last_ns) < APART_NS {
                    return;
                }
                self.last_ns = now_ns;
                out::say(&line);
            }
        }
        self.shown = fetched;
    }

    fn end(mut self) {
        if let Some(canvas) = &mut self.canvas {
            canvas.clear();
        }
    }
}
