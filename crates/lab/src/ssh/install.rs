//! A program on hosts: the right file for each one's architecture, in a folder of the user's own from which programs
//! may be started.
//!
//! The file's name holds its hash, so that another build is another file, and one that is there is not copied again.
//! The scripts are constant: names and hashes reach them on their stdin, and no shell reads them.

use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use super::command::{Base, Call, Exit};
use super::copy::{BadPath, LocalFile, push};
use super::failure::{Failure, printable};
use super::host::Host;
use super::login::{Options, Reach};
use super::session::Output;
use super::sockets::Sockets;
use crate::fan_out::each;
use crate::stop::Stop;

/// Reads lines of architecture, name and hash. Prints a mark, the architecture, a line for each folder that is of no
/// use, and the folder in which the file lies (`have`) or may lie (`place`). That nothing may be started from a folder
/// is found by trying.
const PLACE: &str = "sh -c '\
    a=$(uname -m); n=; s=; \
    case $a in i?86) a=i686;; esac; \
    while read -r k x y; do if test \"$k\" = \"$a\"; then n=$x; s=$y; fi; done; \
    echo boxscore-place; echo \"arch $a\"; \
    test -n \"$n\" || exit 0; \
    u=$(id -u); c=${XDG_CACHE_HOME:-$HOME/.cache}; \
    for p in \"$c\" /var/tmp /tmp /dev/shm; do \
    if test \"$p\" = \"$c\"; then d=$p/boxscore; mkdir -p \"$p\" 2> /dev/null; else d=$p/boxscore-$u; fi; \
    mkdir -m 700 \"$d\" 2> /dev/null; \
    if test -L \"$d\" || ! test -d \"$d\"; then echo \"no missing $d\"; continue; fi; \
    if ! test -O \"$d\"; then echo \"no foreign $d\"; continue; fi; \
    chmod 700 \"$d\"; \
    t=$d/.try.$$; \
    if ! { echo exit 7 > \"$t\"; } 2> /dev/null || ! test -s \"$t\"; then \
    rm -f \"$t\"; echo \"no unwritable $d\"; continue; fi; \
    chmod 700 \"$t\"; \"$t\" 2> /dev/null; r=$?; rm -f \"$t\"; \
    if test $r != 7; then echo \"no noexec $d\"; continue; fi; \
    h=$s; \
    if command -v sha256sum > /dev/null; then h=$(sha256sum < \"$d/$n\" 2> /dev/null); fi; \
    if test -x \"$d/$n\" && test \"${h%% *}\" = \"$s\"; then echo \"have $d\"; else echo \"place $d\"; fi; \
    exit 0; done'";

/// Reads a path; removes the file, and its folder if nothing else is in it.
const REMOVE: &str = "sh -c '\
    IFS= read -r f; rm -f -- \"$f\" || exit 91; rmdir -- \"${f%/*}\" 2> /dev/null; exit 0'";

/// How long a step of preparing a host may take where the user gives no limit: a file of 35 MB over a slow line.
const LIMIT: Duration = Duration::from_secs(600);

/// How long the removal from a host may take where the user gives no limit: nothing is sent.
const REMOVAL: Duration = Duration::from_secs(60);

/// A program for one architecture, as `uname -m` calls it.
#[derive(Clone, Debug)]
pub struct Build {
    pub architecture: String,
    file: LocalFile,
}

impl Build {
    /// Reads and hashes the file. Fails for what is no plain file.
    pub fn read(architecture: &str, path: &Path) -> Result<Build, BadPath> {
        const DIGITS: usize = 16;
        let file = LocalFile::read(path)?;
        let name = format!("boxscore-{}", file.sha256().get(..DIGITS).unwrap_or_default());
        Ok(Build { architecture: architecture.to_owned(), file: file.sent_as(name, 0o700) })
    }
}

/// A program at its place on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its path there.
    pub path: String,
    /// False where it lay there already.
    pub pushed: bool,
}

/// The result of one host.
#[derive(Clone, Debug)]
pub struct Settled {
    pub index: usize,
    pub host: Host,
    pub result: Result<Installed, Failure>,
}

/// Puts the right one of the programs on each host that has not got it, and gives each result to `done` as it comes, in
/// no order. Fails when this machine cannot start a thread.
pub fn run(
    hosts: &[Host],
    builds: &[Build],
    options: &Options,
    sockets: &Sockets,
    stop: &Stop,
    done: impl FnMut(Settled),
) -> std::io::Result<()> {
    let options = options.with_limit(LIMIT);
    let base = Base::new(&options, sockets, stop);
    let work = |index: usize, host: &Host| {
        let result = install(&base.reach(), host, builds);
        Settled { index, host: host.clone(), result }
    };
    each(hosts, options.width, work, done)
}

/// Removes programs from their hosts again, and closes the connections. Gives each failure to `failed` with its host,
/// in no order. Fails when this machine cannot start a thread.
pub fn remove(
    installed: &[(Host, String)],
    options: &Options,
    sockets: &Sockets,
    stop: &Stop,
    mut failed: impl FnMut(&Host, Failure),
) -> std::io::Result<()> {
    let options = options.with_limit(REMOVAL);
    let base = Base::new(&options, sockets, stop);
    let work =
        |_: usize, (host, path): &(Host, String)| (host.clone(), remove_one(&base.reach(), host, path));
    each(installed, options.width, work, |(host, removed)| {
        if let Err(failure) = removed {
            failed(&host, failure);
        }
    })
}

fn remove_one(reach: &Reach<'_>, host: &Host, path: &str) -> Result<(), Failure> {
    let answer = ask(reach, host, REMOVE, format!("{path}\n"));
    reach.close(host);
    let (exit, _, stderr) = answer?;
    match exit {
        Exit::Code(0) => Ok(()),
        _ => Err(Failure::Copy { said: format!("{path} is left there: {}", printable(&stderr.bytes)) }),
    }
}

fn install(reach: &Reach<'_>, host: &Host, builds: &[Build]) -> Result<Installed, Failure> {
    let line =
        |build: &Build| format!("{} {} {}\n", build.architecture, build.file.name(), build.file.sha256());
    let (_, stdout, _) = ask(reach, host, PLACE, builds.iter().map(line).collect())?;
    let place = Place::read(&String::from_utf8_lossy(&stdout.bytes));
    let Some(architecture) = &place.architecture else {
        return Err(Failure::NoPlace { said: "it let us in and answered no question".to_owned() });
    };
    let Some(build) = builds.iter().find(|build| build.architecture == *architecture) else {
        return Err(Failure::NoBuild { architecture: architecture.clone() });
    };
    let Some(folder) = &place.folder else { return Err(Failure::NoPlace { said: place.objections() }) };
    let path = format!("{folder}/{}", build.file.name());
    if !place.has {
        push(reach, host, &build.file, folder)?;
    }
    Ok(Installed { path, pushed: !place.has })
}

/// The exit code and the output of a script with this stdin.
fn ask(
    reach: &Reach<'_>,
    host: &Host,
    script: &str,
    stdin: String,
) -> Result<(Exit, Output, Output), Failure> {
    let mut source = Cursor::new(stdin.into_bytes());
    let (mut stdout, mut stderr) = (Output::default(), Output::default());
    let mut call =
        Call { command: script, feed: Some(&mut source), stdout: &mut stdout, stderr: &mut stderr };
    let exit = call.make(reach, host).0?;
    Ok((exit, stdout, stderr))
}

/// The answers of a host.
#[derive(Debug, Default, PartialEq)]
struct Place {
    architecture: Option<String>,
    folder: Option<String>,
    has: bool,
    /// Folders that are of no use, each with the word for why.
    refused: Vec<(String, String)>,
}

impl Place {
    /// Reads what stands behind the mark; what stands before it is of the shell's start.
    fn read(said: &str) -> Place {
        let mut place = Place::default();
        for line in said.lines().skip_while(|line| *line != "boxscore-place") {
            let Some((key, value)) = line.split_once(' ') else { continue };
            match key {
                "arch" => {
                    place.architecture = Some(printable(value.as_bytes())).filter(|word| !word.is_empty());
                }
                "have" | "place" if value.starts_with('/') => {
                    place.has = key == "have";
                    place.folder = Some(value.to_owned());
                }
                "no" => {
                    let (why, folder) = value.split_once(' ').unwrap_or((value, ""));
                    place.refused.push((printable(folder.as_bytes()), why.to_owned()));
                }
                _ => {}
            }
        }
        place
    }

    fn objections(&self) -> String {
        let why = |word: &str| match word {
            "missing" => "cannot be made",
            "foreign" => "belongs to somebody else",
            "unwritable" => "cannot be written to, or its disk is full",
            "noexec" => "is where nothing may be started (noexec)",
            _ => "cannot be used",
        };
        let all: Vec<String> =
            self.refused.iter().map(|(folder, word)| format!("{folder} {}", why(word))).collect();
        format!("no folder there can hold boxscore: {}", all.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// What the script says with this home folder.
    fn said(home: &Path, stdin: &str) -> String {
        let mut child = Command::new("sh")
            .args(["-c", PLACE])
            .env("XDG_CACHE_HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn a_folder_of_the_users_own_is_made_and_a_file_that_is_there_is_known_by_its_hash() {
        use std::os::unix::fs::PermissionsExt;

        let base = tempfile::tempdir().unwrap();
        let home = base.path().join("it's $(touch pwned) home");
        let file = base.path().join("program");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let build = Build::read(std::env::consts::ARCH, &file).unwrap();
        let line =
            format!("sparc x y\n{} {} {}\n", build.architecture, build.file.name(), build.file.sha256());
        let place = Place::read(&said(&home, &line));
        let folder = home.join("boxscore");
        assert_eq!((place.folder.as_deref(), place.has), (folder.to_str(), false));
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing of the trial is left");
        let copy = folder.join(build.file.name());
        std::fs::copy(&file, &copy).unwrap();
        std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o700)).unwrap();
        assert!(Place::read(&said(&home, &line)).has);
        std::fs::write(&copy, "#!/bin/sh\nexit 1\n").unwrap();
        assert!(!Place::read(&said(&home, &line)).has, "half a file is none");
        assert!(Place::read(&said(&home, "sparc x y\n")).folder.is_none());
        assert!(!base.path().join("pwned").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_passed_over_and_named() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        std::fs::write(&file, "").unwrap();
        let place = Place::read(&said(&file, &format!("{} boxscore-none 0\n", std::env::consts::ARCH)));
        assert_eq!(place.refused.first().map(|(_, why)| why.as_str()), Some("missing"));
        assert!(place.folder.is_some_and(|folder| !folder.starts_with(base.path().to_str().unwrap())));
    }

    #[test]
    fn answers_stand_behind_the_mark_and_every_refusal_is_told() {
        let said = "place /x\nboxscore-place\narch x86_64\nno noexec /a b\nno foreign /c\n";
        let place = Place::read(said);
        assert_eq!(place.folder, None);
        assert_eq!(
            place.objections(),
            "no folder there can hold boxscore: /a b is where nothing may be started (noexec); /c belongs to \
             somebody else"
        );
        assert_eq!(Place::read("boxscore-place\nplace relative\n").folder, None);
        assert_eq!(Place::read("arch x86_64\n"), Place::default());
    }
}
