//! The user's own commands, from `--cmd` and what belongs to it, and the arms that they make.
//!
//! Each command is a variant of the study, and so is each `--arm` or step of `--scan` that fills its placeholders; of
//! both together every pair is one.

use std::collections::BTreeSet;
use std::path::Path;

use model::command::{ANY_FAILURE, COMMAND, Command, Commands, Output, Shell, label};
use model::metrics::command::{CPU, HIGHER, LOWER, MEMORY, VALUE, WALL};
use model::{Arm, Card, Cell, Need, names};

use super::host::Host;
use crate::cli::commands::CommandArgs;
use crate::cli::run::RunArgs;
use crate::error::{CliError, nearest};

/// A command with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub command: Command,
}

/// Reads `--cmd` and the options that belong to it; the first command is the first one given. Fails when two commands
/// have one name, an option belongs to none of them, or a metric is malformed.
pub fn read(args: &RunArgs) -> Result<Vec<Named>, CliError> {
    let given = &args.commands;
    let mut all: Vec<Named> = Vec::new();
    for text in &given.cmds {
        let (name, run) = named(text);
        let name = name.map_or_else(|| label(run), str::to_owned);
        if all.iter().any(|other| other.name == name) {
            let error = CliError::usage(format!("two commands are called `{name}`"));
            return Err(error.hint("name them apart: --cmd old='./a' --cmd new='./b'"));
        }
        all.push(Named { name, command: Command { run: run.to_owned(), ..Command::default() } });
    }
    let here = args.via.is_empty();
    variants("--in", &given.inside, &mut all)?;
    dirs(args, here, &mut all)?;
    // Without a command it is where servers and stores run.
    let inside = if all.is_empty() { &[] } else { given.inside.as_slice() };
    each("--in", inside, &mut all, |command, text| command.inside = Some(text))?;
    metrics(given, &mut all)?;
    each("--prepare", &given.prepare, &mut all, |command, text| command.prepare = Some(text))?;
    each("--conclude", &given.conclude, &mut all, |command, text| command.conclude = Some(text))?;
    each("--setup", &given.setup, &mut all, |command, text| command.setup = Some(text))?;
    each("--cleanup", &given.cleanup, &mut all, |command, text| command.cleanup = Some(text))?;
    each("--expect", &given.expect, &mut all, |command, text| command.expect = Some(text))?;
    each("--input", &given.input, &mut all, |command, text| command.input = Some(whole(text, here)))?;
    variables(given, &mut all)?;
    for one in &mut all {
        shared(given, here, &mut one.command)?;
    }
    if given.build.is_some() && given.git.is_none() && !given.shuffle_link {
        return Err(CliError::usage("--build is for --git, which builds revisions, and for --shuffle-link")
            .hint("--setup COMMAND runs once before the takes of each sitting"));
    }
    for one in &all {
        instruments::workload::cmd::check(&one.command).map_err(|unfit| {
            CliError::usage(unfit.why).hint("for example --cmd './bench' --metric 'tps=rate: ([0-9.]+)'")
        })?;
    }
    Ok(all)
}

/// The table of a plan.
pub fn table(all: &[Named]) -> Commands {
    all.iter().map(|one| (one.name.clone(), one.command.clone())).collect()
}

/// `NAME=COMMAND`. A name has letters, digits, `.`, `_` and `-`. Capitals alone are a variable of the shell, as in
/// `CC=gcc make`, and belong to the command.
pub fn named(text: &str) -> (Option<&str>, &str) {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let is_variable = |name: &str| {
        name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    match text.split_once('=') {
        Some((name, rest)) if !name.is_empty() && name.chars().all(is_part) && !is_variable(name) => {
            (Some(name), rest)
        }
        _ => (None, text),
    }
}

/// Sets the options that all commands have in common.
fn shared(given: &CommandArgs, here: bool, command: &mut Command) -> Result<(), CliError> {
    command.shell = Shell::parse(&given.shell).unwrap_or_default();
    command.cold = given.cold;
    (command.output, command.file) = match Output::parse(&given.output) {
        Some(output) if output != Output::File => (output, None),
        _ => (Output::File, Some(whole(given.output.clone(), here))),
    };
    command.ignore_failure.clone_from(&given.ignore_failure);
    command.relink = given.build.clone().filter(|_| given.shuffle_link);
    let is_code = |text: &str| text.trim().parse::<u8>().is_ok();
    match &given.ignore_failure {
        Some(codes) if codes != ANY_FAILURE && !codes.split(',').all(is_code) => {
            Err(CliError::usage(format!("--ignore-failure={codes}: not a list of exit statuses"))
                .hint("--ignore-failure for all of them, or --ignore-failure=3,4"))
        }
        _ => Ok(()),
    }
}

/// A path from the root on, so that it means the same file wherever the run is repeated from. On another machine it is
/// left as it is.
fn whole(path: String, here: bool) -> String {
    let whole = std::path::absolute(&path).ok().filter(|_| here);
    whole.map_or(path, |whole| whole.display().to_string())
}

/// `--dir` for files of instruments, where there is no command. Fails where it is given twice.
pub fn files_dir(args: &RunArgs) -> Result<Option<&str>, CliError> {
    match args.dir.as_slice() {
        _ if !args.commands.is_empty() => Ok(None),
        [] => Ok(None),
        [dir] => Ok(Some(dir)),
        _ => {
            Err(CliError::usage("--dir is given twice")
                .hint("only --cmd has several: --dir a=old --dir b=new"))
        }
    }
}

/// Makes a variant of each name where one command is given with several values `NAME=VALUE` of an option.
fn variants(flag: &str, values: &[String], all: &mut Vec<Named>) -> Result<(), CliError> {
    let split: Vec<(&str, &str)> = values.iter().filter_map(|text| text.split_once('=')).collect();
    let ([only], true) = (all.as_slice(), split.len() > 1 && split.len() == values.len()) else {
        return Ok(());
    };
    let command = only.command.clone();
    all.clear();
    for (name, _) in split {
        if all.iter().any(|other| other.name == name) {
            return Err(CliError::usage(format!("{flag} {name}=... is given twice")));
        }
        all.push(Named { name: name.to_owned(), command: command.clone() });
    }
    Ok(())
}

/// Working directories.
fn dirs(args: &RunArgs, here: bool, all: &mut Vec<Named>) -> Result<(), CliError> {
    variants("--dir", &args.dir, all)?;
    each("--dir", if all.is_empty() { &[] } else { &args.dir }, all, |command, text| {
        command.dir = Some(whole(text, here));
    })
}

/// `K=V` for all commands, `NAME=K=V` for one.
fn variables(given: &CommandArgs, all: &mut [Named]) -> Result<(), CliError> {
    for text in &given.env {
        let wrong =
            || CliError::usage(format!("--env {text}: not of the form K=V, or NAME=K=V for one command"));
        let (first, rest) = text.split_once('=').ok_or_else(wrong)?;
        let own = rest.split_once('=').filter(|_| all.iter().any(|one| one.name == first));
        let (key, value) = own.unwrap_or((first, rest));
        if key.is_empty() || key.contains('\0') || value.contains('\0') {
            return Err(wrong());
        }
        for one in all.iter_mut().filter(|one| own.is_none() || one.name == first) {
            one.command.env.insert(key.to_owned(), value.to_owned());
        }
    }
    Ok(())
}

/// Fails where a directory or an input that a command has in some arm is not there, if it is to be run here.
pub fn check_files(arms: &[Arm], all: &[Named], host: &Host) -> Result<(), CliError> {
    for arm in arms.iter().filter(|_| host.setup.is_some()) {
        let wanted = arm.set.get(COMMAND);
        for one in all.iter().filter(|one| wanted.is_none_or(|name| name == one.name)) {
            let command = one.command.filled(&arm.set);
            if let Some(dir) = command.dir.as_ref().map(Path::new).filter(|dir| !dir.is_dir()) {
                let current = std::env::current_dir().unwrap_or_default();
                let shown = dir.strip_prefix(current).unwrap_or(dir);
                return Err(CliError::no_directory(&shown.display().to_string()));
            }
            let open = command.input.as_ref().map(|path| (path, std::fs::metadata(path)));
            if let Some((path, Err(error))) = open {
                return Err(CliError::data(format!("--input {path}: {error}")));
            }
        }
    }
    Ok(())
}

fn metrics(given: &CommandArgs, all: &mut [Named]) -> Result<(), CliError> {
    for text in &given.metrics {
        let Some((name, regex)) = text.split_once('=') else {
            return Err(CliError::usage(format!("--metric {text}: not of the form NAME=REGEX")));
        };
        for one in &mut *all {
            if one.command.metrics.insert(name.trim().to_owned(), regex.to_owned()).is_some() {
                return Err(CliError::usage(format!("--metric: `{}` is given twice", name.trim())));
            }
        }
    }
    Ok(())
}

/// Gives the values of an option to the commands: one value to all, as many as there are commands to each in turn, one
/// with the name of a command in front to that one. Fails for another number of values.
fn each(
    flag: &str,
    values: &[String],
    all: &mut [Named],
    set: impl Fn(&mut Command, String),
) -> Result<(), CliError> {
    let of_name = |text: &str| {
        let (name, rest) = text.split_once('=')?;
        all.iter().position(|one| one.name == name).map(|at| (at, rest.to_owned()))
    };
    let (own, common): (Vec<&String>, Vec<&String>) = values.iter().partition(|text| of_name(text).is_some());
    let own: Vec<(usize, String)> = own.into_iter().filter_map(|text| of_name(text)).collect();
    for (at, (place, _)) in own.iter().enumerate() {
        if own.iter().take(at).any(|(known, _)| known == place) {
            let name = all.get(*place).map_or("", |one| one.name.as_str());
            return Err(CliError::usage(format!("{flag} of `{name}` is given twice")));
        }
    }
    let count = all.len();
    match common.as_slice() {
        [] => {}
        [one] => all.iter_mut().for_each(|named| set(&mut named.command, (*one).clone())),
        several if several.len() == count && own.is_empty() => {
            all.iter_mut().zip(several).for_each(|(named, text)| set(&mut named.command, (*text).clone()));
        }
        several => {
            let times = several.len();
            let error = CliError::usage(format!("{flag} is given {times} times for {count} commands"));
            return Err(error.hint(format!("once for all, once for each, or {flag} NAME=... for one")));
        }
    }
    for (place, text) in own {
        if let Some(named) = all.get_mut(place) {
            set(&mut named.command, text);
        }
    }
    Ok(())
}

/// The placeholders that the commands have together.
pub fn placeholders(all: &[Named]) -> BTreeSet<String> {
    all.iter().flat_map(|one| one.command.placeholders()).collect()
}

/// True if the chosen instruments include the user's own commands.
pub fn is_measured(chosen: &[&'static Card]) -> bool {
    chosen.iter().any(|card| card.needs.contains(&Need::Command))
}

/// Commands beside each other are judged, and their takes ended, by their time and by what they print; one alone also
/// by its CPU time and memory. The parts of a figure are only shown.
pub fn choose_rows(cells: &mut [Cell], arms: usize) {
    let printed = [VALUE.name(), HIGHER.name(), LOWER.name()];
    let own = if arms > 1 { &[WALL.name()][..] } else { &[WALL.name(), CPU.name(), MEMORY.name()] };
    for cell in cells.iter_mut().filter(|cell| cell.instrument == names::instrument::CMD) {
        cell.headline.retain(|name| own.contains(&name.as_str()) || printed.contains(&name.as_str()));
    }
}

/// The arms of a study of commands: every arm with every command. One command in one arm stays as it is. Fails when a
/// command has a placeholder that an arm does not set, or the reference is none of them.
pub fn crossed(arms: Vec<Arm>, all: &[Named], args: &RunArgs) -> Result<Vec<Arm>, CliError> {
    if all.is_empty() {
        return Ok(arms);
    }
    check(&arms, all)?;
    let mut crossed = Vec::new();
    for one in all {
        for arm in &arms {
            let mut set = arm.set.clone();
            if all.len() * arms.len() > 1 {
                set.set(COMMAND, &one.name);
            }
            let name = match (all.len(), arm.name.as_str()) {
                (1, name) => name.to_owned(),
                (_, "") => one.name.clone(),
                (_, name) => format!("{} {name}", one.name),
            };
            crossed.push(Arm { name, set });
        }
    }
    let Some(wanted) = &args.commands.reference else { return Ok(crossed) };
    let Some(place) = crossed.iter().position(|arm| arm.name == *wanted) else {
        let error = CliError::usage(format!("--reference {wanted}: no command of this run is called so"));
        let names: Vec<&str> = crossed.iter().map(|arm| arm.name.as_str()).collect();
        return Err(match nearest(wanted, names.iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("their names: {}", names.join(", "))),
        });
    };
    let base = crossed.remove(place);
    crossed.insert(0, base);
    Ok(crossed)
}

/// A placeholder must be filled by every arm, once one of them fills any.
fn check(arms: &[Arm], all: &[Named]) -> Result<(), CliError> {
    for one in all {
        let names = one.command.placeholders();
        let fills = |arm: &Arm| names.iter().any(|name| arm.set.get(name).is_some());
        if !arms.iter().any(fills) {
            continue;
        }
        for name in &names {
            let Some(arm) = arms.iter().find(|arm| arm.set.get(name).is_none()) else { continue };
            let error = CliError::usage(format!(
                "--cmd {}: the arm {} does not set {{{name}}}",
                one.command.run,
                if arm.name.is_empty() { "without a name" } else { &arm.name }
            ));
            return Err(error.hint(format!(
                "give it with --arm {name}=...; what is meant literally is written {{{{{name}}}}}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    fn args(cmds: &[&str]) -> RunArgs {
        let cmds = cmds.iter().map(|one| (*one).to_owned()).collect();
        RunArgs { commands: CommandArgs { cmds, ..CommandArgs::default() }, ..RunArgs::default() }
    }

    fn arms(texts: &[&str]) -> Vec<Arm> {
        let arm = |text: &&str| Arm { name: (*text).to_owned(), set: Params::parse(text).unwrap() };
        texts.iter().map(arm).collect()
    }

    #[test]
    fn names_stand_before_commands() {
        assert_eq!(named("a=./x"), (Some("a"), "./x"));
        assert_eq!(named("A=./x"), (Some("A"), "./x"));
        assert_eq!(named("v1.2-rc=x --y=z"), (Some("v1.2-rc"), "x --y=z"));
        for whole in ["make -j8", "CC=gcc make", "echo a=b", "./x=1", "=x", "awk 'x=1'"] {
            assert_eq!(named(whole), (None, whole));
        }
    }

    #[test]
    fn every_arm_has_every_command() {
        let all = read(&args(&["a=x {level}", "b=y {level}"])).unwrap();
        let names = |arms: Vec<Arm>| arms.into_iter().map(|arm| arm.name).collect::<Vec<_>>();
        let made = crossed(arms(&["level=1", "level=9"]), &all, &args(&[])).unwrap();
        assert_eq!(made[1].set, Params::parse("command=a;level=9").unwrap());
        assert_eq!(names(made), ["a level=1", "a level=9", "b level=1", "b level=9"]);
        let one = read(&args(&["make -j8"])).unwrap();
        let alone = arms(&[""]);
        assert_eq!(crossed(alone.clone(), &one, &args(&[])).unwrap(), alone);
        let mut wanted = args(&[]);
        wanted.commands.reference = Some("b level=1".to_owned());
        let made = crossed(arms(&["level=1", "level=9"]), &all, &wanted).unwrap();
        assert_eq!(names(made)[0], "b level=1");
        wanted.commands.reference = Some("c".to_owned());
        assert!(crossed(alone, &all, &wanted).unwrap_err().message.contains("--reference c"));
    }

    #[test]
    fn a_placeholder_that_no_arm_sets_is_refused() {
        let all = read(&args(&["x {level} {size}"])).unwrap();
        let error = crossed(arms(&["level=1", "level=9"]), &all, &args(&[])).unwrap_err();
        assert!(error.message.contains("does not set {size}"), "{error}");
        assert!(error.hint.unwrap().contains("{{size}}"));
        // Without any that fills them, braces are literal.
        assert!(crossed(arms(&[""]), &all, &args(&[])).is_ok());
    }

    #[test]
    fn options_are_for_all_for_each_or_for_one() {
        let prepared = |values: &[&str]| {
            let mut given = args(&["a=x", "b=y"]);
            given.commands.prepare = values.iter().map(|one| (*one).to_owned()).collect();
            let all = read(&given)?;
            Ok::<_, CliError>(
                all.into_iter().map(|one| one.command.prepare.unwrap_or_default()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(prepared(&["p"]).unwrap(), ["p", "p"]);
        assert_eq!(prepared(&["p", "q"]).unwrap(), ["p", "q"]);
        assert_eq!(prepared(&["b=q"]).unwrap(), ["", "q"]);
        assert_eq!(prepared(&["p", "b=q"]).unwrap(), ["p", "q"]);
        assert!(prepared(&["p", "q", "r"]).unwrap_err().message.contains("3 times for 2 commands"));
        assert!(prepared(&["b=q", "b=r"]).unwrap_err().message.contains("`b` is given twice"));
        assert!(read(&args(&["x", "x"])).unwrap_err().message.contains("two commands are called `x`"));
    }
}
