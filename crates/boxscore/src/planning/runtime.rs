//! What family runtime needs beside its cards: what `--lang`, `--kernel` and `--size` stand for.

use super::words::Word;
use crate::cli::run::Args;
use crate::error::CliError;

const FAMILY: &str = "runtime";
const SCORED: &str = "scimark";

/// Whether a run has instruments of this family.
#[must_use]
pub fn is_named(args: &Args) -> bool {
    args.names.iter().any(|name| name == FAMILY || name.starts_with(SCORED))
}

/// The parameters that the flags of this family stand for; commas separate values.
pub fn flags(args: &Args) -> Result<Vec<Word>, CliError> {
    let mut words = Vec::new();
    for (flag, given) in [("lang", &args.lang), ("kernel", &args.kernel)] {
        if let Some(value) = given {
            let each: Vec<&str> = value.split(',').map(str::trim).collect();
            words.push(Word::new(&format!("--{flag} {value}"), None, flag, &each.join("|")));
        }
    }
    if let Some(size) = args.size.as_ref().filter(|_| is_named(args)) {
        words.push(Word::new(&format!("--size {size}"), Some(SCORED), "size", size));
    }
    Ok(words)
}

/// These flags belong to this family; `--size` to another one too.
pub fn names(args: &Args, names: Vec<String>) -> Result<Vec<String>, CliError> {
    let given = [("--lang", args.lang.is_some()), ("--kernel", args.kernel.is_some())];
    match given.iter().find(|(_, is_given)| *is_given && !is_named(args)) {
        None => Ok(names),
        Some((flag, _)) => Err(CliError::usage(format!("{flag} belongs to the family {FAMILY}"))
            .hint(format!("boxscore run {FAMILY} {flag} ..."))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Host, plan};
    use super::*;

    fn args(names: &[&str], arms: &[&str]) -> Args {
        let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        Args { names: list(names), arms: list(arms), ..Args::default() }
    }

    fn lang(args: Args, lang: &str) -> Args {
        Args { lang: Some(lang.to_owned()), ..args }
    }

    fn planned(args: &Args) -> Result<(model::Plan, Vec<String>), CliError> {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        plan(args, &cards, &Host { cpus: 2, server: "nginx", ..Host::default() }, 1)
    }

    /// Instrument, language and kernels of each cell.
    fn cells(args: &Args) -> Vec<String> {
        let of = |cell: &model::Cell, key: &str| cell.params.get(key).unwrap_or_default().to_owned();
        let cells = planned(args).unwrap().0.cells;
        cells
            .iter()
            .map(|cell| {
                [&cell.instrument, " ", &of(cell, "lang"), " ", &of(cell, "kernel")]
                    .map(String::from)
                    .concat()
            })
            .collect()
    }

    #[test]
    fn languages_and_kernels_are_picked() {
        let two = lang(args(&["runtime"], &[]), "c,java");
        assert_eq!(cells(&two), ["scimark c all", "scimark java all", "scimark-warmup java all"]);
        let some = Args { kernel: Some("fft, lu".to_owned()), ..lang(args(&["scimark"], &[]), "c") };
        assert_eq!(cells(&some), ["scimark c fft", "scimark c lu"]);
        let (plan, said) = planned(&lang(args(&["runtime"], &[]), "c")).unwrap();
        assert_eq!(plan.cells.len(), 1);
        assert!(said.iter().any(|line| line.contains("scimark-warmup is left out: --lang c")), "{said:?}");
        let all = planned(&args(&["runtime"], &[])).unwrap().0.cells.len();
        assert_eq!(
            all,
            instruments::runtime::language::NAMES.len() + instruments::runtime::language::WARMING.len()
        );
    }

    #[test]
    fn an_arm_of_one_language_leaves_the_others_as_they_are() {
        let study = lang(args(&["runtime"], &["jvm=hotspot", "jvm=zero"]), "c,java");
        let plan = planned(&study).unwrap().0;
        assert_eq!((plan.unchanged.as_slice(), plan.arms.len()), ([0].as_slice(), 2));
        assert_eq!(plan.version, model::plan::PLAN_VERSION);
        assert_eq!([plan.arms_of(0).len(), plan.arms_of(1).len()], [1, 2]);
        // A program and a machine of different arms: everything changes somewhere.
        let study = lang(args(&["scimark"], &["jvm=zero", "cc=gcc -O3"]), "c,java");
        assert_eq!(planned(&study).unwrap().0.unchanged, [0u32; 0]);
        let bound = lang(args(&["scimark"], &["cpus=0,jvm=zero", "cpus=1"]), "c,java");
        assert_eq!(planned(&bound).unwrap().0.unchanged, [0u32; 0]);
    }

    #[test]
    fn words_that_concern_nothing_are_refused() {
        let why = |args: &Args| planned(args).unwrap_err().to_string();
        let c = lang(args(&["scimark"], &["jvm=hotspot", "jvm=zero"]), "c");
        assert!(why(&c).contains("--arm jvm=hotspot concerns nothing") && why(&c).contains("lang is java"));
        let bits = lang(args(&["scimark"], &["bits=32", "bits=64"]), "java");
        assert!(why(&bits).contains("--arm bits=32 concerns nothing"), "{}", why(&bits));
        let set = Args { sets: vec!["jvm=zero".to_owned()], ..lang(args(&["scimark"], &[]), "c") };
        assert!(why(&set).contains("--set jvm=zero concerns nothing"));
        let go = why(&lang(args(&["runtime"], &[]), "c,cobol"));
        assert!(go.contains("--lang c,cobol is not possible: one of c, java"), "{go}");
        assert!(why(&lang(args(&["cpu"], &[]), "c")).contains("--lang belongs to the family runtime"));
        let size = Args { size: Some("huge".to_owned()), ..args(&["runtime"], &[]) };
        assert!(why(&size).contains("one of small, large"));
        assert!(planned(&Args { size: Some("large".to_owned()), ..size }).is_ok());
    }

    #[test]
    fn runtimes_are_measured_only_where_they_are_named() {
        assert!(cells(&args(&[], &[])).iter().all(|cell| !cell.starts_with("scimark")));
    }
}
