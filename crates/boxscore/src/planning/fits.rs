//! Whether what the user said can be carried out here, asked of the instruments before anything is started or stored.
//!
//! A cell that only the user's words make impossible is the user's matter: where none is left that can run, it is a
//! usage error that names those words, else the others are measured and it is said what was left out. What is
//! impossible without those words too is the machine's matter, and is told by the run.

use model::params::{check_cpus, parse_cpus};
use model::{Arm, Card, Cell, Instrument, Setup};

use super::web::SERVER;
use super::words::Word;
use crate::error::CliError;

/// What is asked about.
pub struct Asked<'a> {
    /// Those of every arm too.
    pub words: &'a [Word],
    pub arms: &'a [Arm],
    pub cards: &'a [&'static Card],
    /// As it would be for any instrument here.
    pub setup: &'a Setup,
}

/// Words that cannot be carried out together, and why.
struct Blame {
    flags: String,
    is_one: bool,
    why: String,
}

impl Asked<'_> {
    /// The cells that can be carried out as far as the user's words go, and what is to be said of the others.
    pub fn settle(&self, cells: Vec<Cell>) -> Result<(Vec<Cell>, Vec<String>), CliError> {
        self.files()?;
        self.cpus()?;
        let mut said = Vec::new();
        let mut kept: Vec<Cell> = Vec::new();
        for card in self.cards {
            let mut blames = Vec::new();
            let (mut others, mut any_fits) = (0_usize, false);
            for cell in cells.iter().filter(|cell| cell.instrument == card.name) {
                match self.blame(card, cell) {
                    Some(blame) => blames.push(blame),
                    None => {
                        others += 1;
                        any_fits = any_fits || self.fits(card, cell);
                        kept.push(cell.clone());
                    }
                }
            }
            let Some(first) = blames.first() else { continue };
            if !any_fits {
                let cannot = if first.is_one { "is not possible" } else { "cannot go together" };
                return Err(CliError::usage(format!("{} {cannot}: {}", first.flags, first.why)));
            }
            let (left, all) = (blames.len(), blames.len() + others);
            let excludes = if first.is_one { "excludes" } else { "exclude" };
            said.push(format!(
                "{left} of the {all} variants of {} are left out, which {} {excludes}: {}",
                card.name, first.flags, first.why
            ));
        }
        Ok((kept, said))
    }

    /// Files that are named must be there.
    fn files(&self) -> Result<(), CliError> {
        for word in self.words {
            let kinds =
                self.cards.iter().filter(|card| word.is_of(card)).filter_map(|card| card.param(&word.key));
            let Some(path) = kinds.filter_map(|spec| spec.kind.file(&word.value)).next() else { continue };
            std::fs::metadata(path).map_err(|error| CliError::data(format!("{}: {error}", word.flag)))?;
        }
        Ok(())
    }

    /// CPUs of an arm must be there too.
    fn cpus(&self) -> Result<(), CliError> {
        for word in self.words.iter().filter(|word| word.arm.is_some() && word.key == "cpus") {
            let listed = parse_cpus(&word.value).unwrap_or_default();
            check_cpus(&listed, &self.setup.cpus).map_err(|error| CliError::no_cpu(&word.flag, &error))?;
        }
        Ok(())
    }

    /// Which words make a cell impossible in one of the arms, and why; `None` where none does.
    fn blame(&self, card: &'static Card, cell: &Cell) -> Option<Blame> {
        let instrument = *instruments::all().iter().find(|one| one.card().name == card.name)?;
        (0..self.arms.len()).find_map(|arm| self.blame_in(instrument, cell, arm))
    }

    /// Whether a cell can be carried out in every arm.
    fn fits(&self, card: &'static Card, cell: &Cell) -> bool {
        let found = instruments::all().into_iter().find(|one| one.card().name == card.name);
        found.is_some_and(|instrument| {
            (0..self.arms.len())
                .all(|arm| self.laid(card, cell, arm).is_some_and(|setup| instrument.fit(&setup).is_ok()))
        })
    }

    /// What a cell would prepare with in an arm.
    fn laid(&self, card: &'static Card, cell: &Cell, arm: usize) -> Option<Setup> {
        let set = &self.arms.get(arm)?.set;
        // What is no value at all is told by whoever checked the words.
        let params = card.lay(&cell.params, set).ok()?;
        let mut setup = Setup { params, ..self.setup.clone() };
        if let Some(cpus) = set.get("cpus").and_then(parse_cpus) {
            setup.cpus = cpus;
        }
        Some(setup)
    }

    fn blame_in(&self, instrument: &'static dyn Instrument, cell: &Cell, arm: usize) -> Option<Blame> {
        let card = instrument.card();
        let setup = self.laid(card, cell, arm)?;
        let of_arm = |word: &&Word| word.arm.is_none_or(|of| of == arm);
        let mine: Vec<&Word> = self.words.iter().filter(|word| word.is_of(card)).filter(of_arm).collect();
        let why = instrument.fit(&setup).err().filter(|_| !mine.is_empty())?.why;
        // A server that follows from the words goes with them.
        let is_said = mine.iter().any(|word| word.key == SERVER);
        let fits_with = |changed: &[(&str, &str)]| {
            let mut setup = setup.clone();
            let server = card.param(SERVER).filter(|_| !is_said).map(|spec| (spec.name, spec.default));
            for (key, value) in changed.iter().copied().chain(server) {
                setup.params.set(key, value);
            }
            instrument.fit(&setup).is_ok()
        };
        let is_guilty = |word: &&Word| {
            others(card, &word.key).iter().any(|other| fits_with(&[(word.key.as_str(), other)]))
        };
        let mut guilty: Vec<&Word> = mine.iter().copied().filter(is_guilty).collect();
        if guilty.is_empty() {
            // Each would be impossible without the other, or all of it is impossible here.
            let usual: Vec<(&str, &str)> = mine
                .iter()
                .filter_map(|word| Some((word.key.as_str(), card.param(&word.key)?.default)))
                .collect();
            guilty = Some(mine.clone()).filter(|_| fits_with(&usual))?;
        }
        let mut flags: Vec<&str> = guilty.iter().map(|word| word.flag.as_str()).collect();
        // One flag may stand for several words.
        flags.dedup();
        Some(Blame { flags: flags.join(" and "), is_one: flags.len() == 1, why })
    }
}

/// What a parameter is where nobody fixes it: its default, and its values in the variants.
fn others(card: &'static Card, key: &str) -> Vec<&'static str> {
    let Some(spec) = card.param(key) else { return Vec::new() };
    let pairs = card.variants.iter().flat_map(|variant| variant.set.split(';'));
    let values = pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|(name, _)| *name == key);
    let values = values.flat_map(|(_, values)| values.split('|'));
    // Words such as `sweep` are no values.
    std::iter::once(spec.default).chain(values.filter(|value| spec.kind.canonical(value).is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Host, plan};
    use crate::cli::run::Args;
    use crate::error::{CliError, Kind};
    use model::{Params, Plan, Setup};

    fn planned(given: &Args) -> Result<(Plan, Vec<String>), CliError> {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        let setup = Setup::bare(Params::default(), vec![0, 1], std::env::temp_dir());
        plan(given, &cards, &Host { cpus: 2, server: "nginx", setup: Some(setup), ..Host::default() }, 1)
    }

    fn args(names: &[&str], sets: &[&str], arms: &[&str]) -> Args {
        let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        Args { names: list(names), sets: list(sets), arms: list(arms), ..Args::default() }
    }

    #[test]
    fn words_that_contradict_are_named() {
        for (sets, arms, says) in [
            (
                vec!["server=nginx"],
                vec!["mpm=prefork", "mpm=event"],
                "--set server=nginx and --arm mpm=prefork cannot go together: mpm=prefork: only httpd has one",
            ),
            (vec!["web.server=nginx", "mpm=event"], vec![], "--set web.server=nginx and --set mpm=event"),
            (vec!["mpm=event", "limit-rate=9"], vec![], "--set mpm=event and --set limit-rate=9"),
            (vec!["server=nginx", "server=httpd"], vec![], "--set server=nginx and --set server=httpd"),
            (vec!["workers=2"], vec!["workers=3"], "--set workers=2 and --arm workers=3 cannot both be"),
            (vec!["rate=5000"], vec![], "--set rate=5000 is not possible: a closed loop has no rate"),
            (vec!["cache=cold"], vec!["content=gif"], "--set cache=cold and --arm content=gif"),
            (vec![], vec!["cpus=7"], "--arm cpus=7: CPU 7 is not here"),
        ] {
            let error = planned(&args(&["web"], &sets, &arms)).unwrap_err();
            assert!(error.kind == Kind::Usage && error.message.starts_with(says), "{error}");
        }
    }

    #[test]
    fn wrong_values_are_refused_by_their_flag() {
        for (set, says) in [
            ("rate=abc", "--set rate=abc is not possible: a number above 0"),
            ("web.load=0%", "--set web.load=0% is not possible: a share above 0 %"),
            ("conections=5", "--set conections=5: no instrument"),
        ] {
            let error = planned(&args(&["web"], &[set], &[])).unwrap_err();
            assert!(error.kind == Kind::Usage && error.message.starts_with(says), "{error}");
        }
        let error = planned(&Args { url: Some("wrong".into()), ..args(&["web"], &[], &[]) }).unwrap_err();
        assert!(error.kind == Kind::Usage && error.message.starts_with("--url wrong is not"), "{error}");
        let error = planned(&args(&["crc32c"], &["threads=9"], &[])).unwrap_err();
        assert_eq!(error.message, "--set threads=9 is not possible: 9 threads on 2 allowed CPUs");
        // A file that is missing is no matter of the command line.
        for set in ["binary=/no/such", "body=@/no/such"] {
            let error = planned(&args(&["web"], &[set], &[])).unwrap_err();
            assert!(error.kind == Kind::Data && error.message.contains("/no/such"), "{error}");
        }
    }

    #[test]
    fn variants_that_the_words_exclude_are_left_out_and_it_is_said() {
        let (plan, said) = planned(&args(&["web"], &["rate=5000", "arrivals=constant"], &[])).unwrap();
        let of = |key: &str, value: &str| plan.cells.iter().all(|cell| cell.params.get(key) == Some(value));
        assert!(!plan.cells.is_empty() && of("rate", "5000") && of("load", "auto"));
        assert!(said.len() == 1 && said[0].contains("which --set rate=5000 excludes"), "{said:?}");
        let (plan, said) = planned(&args(&["web"], &["arrivals=closed"], &[])).unwrap();
        assert!(plan.cells.iter().all(|cell| cell.params.get("load") == Some("auto")));
        assert!(said.len() == 1 && said[0].starts_with("7 of the 18"), "{said:?}");
        let (plan, said) = planned(&args(&["web"], &["connections=5"], &[])).unwrap();
        assert!(!plan.cells.is_empty() && said.is_empty(), "{said:?}");
    }

    #[test]
    fn what_follows_from_a_word_is_said() {
        let (plan, said) = planned(&args(&["web"], &["mpm=event"], &[])).unwrap();
        assert!(plan.cells.iter().all(|cell| cell.params.get("server") == Some("httpd")));
        assert_eq!(said, ["--set mpm=event is taken as server=httpd, which alone has MPMs"]);
        let (plan, said) = planned(&args(&["web"], &["server=httpd"], &["mpm=event", "mpm=worker"])).unwrap();
        assert!(plan.arms.iter().all(|arm| arm.set.get("server").is_none()) && said.is_empty(), "{said:?}");
    }
}
