//! Asks the instruments if the settings can be carried out here, before anything is started or stored.
//!
//! A cell that only a setting makes impossible is the user's matter. Where no cell of an instrument is left, it is a
//! usage error that names the options; else the others are measured, with a note on what was left out. A cell that is
//! impossible without those settings too is the machine's matter, and the run reports it.

use instruments::workload::hadoop::theirs;
use model::params::{check_cpus, parse_cpus};
use model::{Card, Cell, Family, Instrument, Setup};

use super::choice;
use super::setting::Setting;
use super::settings::Settings;
use crate::cli::run::RunArgs;
use crate::error::CliError;

/// The cells that can be carried out here as far as the settings go, and notes on the others; all of them where nothing
/// is known of the machine. Fails when a setting leaves nothing of an instrument that the user named, or of all of
/// those that the setting is for.
pub fn fitting(
    cells: Vec<Cell>,
    args: &RunArgs,
    settings: &Settings,
    cards: &[&'static Card],
    setup: Option<&Setup>,
) -> Result<(Vec<Cell>, Vec<String>), CliError> {
    let Some(setup) = setup else { return Ok((cells, Vec::new())) };
    let asked = Asked { settings, cards, setup };
    asked.files()?;
    asked.clusters()?;
    asked.cpus()?;
    let checked: Vec<Checked<'_>> = cards.iter().map(|card| asked.checked(card, &cells)).collect();
    let mut notes = Vec::new();
    for one in &checked {
        let Some(blame) = &one.blame else { continue };
        if one.any_fits {
            notes.push(blame.excludes(one.card, one.refused, one.refused + one.kept.len()));
            continue;
        }
        let is_other = |other: &Checked<'_>| {
            let has_all = blame.settings.iter().all(|setting| setting.is_for(other.card));
            other.any_fits && other.card.family == one.card.family && has_all
        };
        if choice::is_named(args, one.card) || !checked.iter().any(is_other) {
            return Err(blame.error());
        }
        notes.push(format!("{} is left out: {}", one.card.name, blame.why));
    }
    Ok((checked.into_iter().flat_map(|one| one.kept).collect(), notes))
}

/// The subject of the question: settings, arms and set-up.
struct Asked<'a> {
    settings: &'a Settings,
    cards: &'a [&'static Card],
    /// As it would be for any instrument here.
    setup: &'a Setup,
}

/// The result for the cells of a card.
struct Checked<'a> {
    card: &'static Card,
    kept: Vec<Cell>,
    /// Number of cells that settings make impossible, and the first reason.
    refused: usize,
    blame: Option<Blame<'a>>,
    any_fits: bool,
}

/// Settings that cannot be carried out together, and why.
struct Blame<'a> {
    settings: Vec<&'a Setting>,
    why: String,
}

impl Blame<'_> {
    /// The options, and whether it is one alone. One may stand for several settings.
    fn flags(&self) -> (String, bool) {
        let mut flags: Vec<&str> = self.settings.iter().map(|setting| setting.flag.as_str()).collect();
        flags.dedup();
        (flags.join(" and "), flags.len() == 1)
    }

    fn error(&self) -> CliError {
        let (flags, is_one) = self.flags();
        let cannot = if is_one { "is not possible" } else { "cannot go together" };
        CliError::usage(format!("{flags} {cannot}: {}", self.why))
    }

    fn excludes(&self, card: &Card, refused: usize, all: usize) -> String {
        let (flags, is_one) = self.flags();
        let excludes = if is_one { "excludes" } else { "exclude" };
        format!(
            "{refused} of the {all} variants of {} are left out, which {flags} {excludes}: {}",
            card.name, self.why
        )
    }
}

impl<'a> Asked<'a> {
    fn checked(&self, card: &'static Card, cells: &[Cell]) -> Checked<'a> {
        let mut all = Checked { card, kept: Vec::new(), refused: 0, blame: None, any_fits: false };
        for cell in cells.iter().filter(|cell| cell.instrument == card.name) {
            match self.blame(card, cell) {
                Some(blame) => {
                    all.refused += 1;
                    all.blame = all.blame.or(Some(blame));
                }
                None => {
                    all.any_fits = all.any_fits || self.fits(card, cell);
                    all.kept.push(cell.clone());
                }
            }
        }
        all
    }

    /// Files that are named must be there.
    fn files(&self) -> Result<(), CliError> {
        for setting in self.settings.all() {
            let kinds = self
                .cards
                .iter()
                .filter(|card| setting.is_for(card))
                .filter_map(|card| card.param(&setting.key));
            let Some(path) = kinds.filter_map(|spec| spec.kind.file(&setting.value)).next() else { continue };
            std::fs::metadata(path).map_err(|error| CliError::data(format!("{}: {error}", setting.flag)))?;
        }
        Ok(())
    }

    /// A cluster of the user's must answer, and take jobs.
    fn clusters(&self) -> Result<(), CliError> {
        let is_named = |setting: &&Setting| {
            let is_its = |card: &&&Card| card.family == Family::Hadoop && setting.is_for(card);
            setting.key == "cluster" && self.cards.iter().any(|card| is_its(&card))
        };
        for setting in self.settings.all().filter(is_named) {
            theirs::check(&setting.value)
                .map_err(|why| CliError::data(format!("{}: {why}", setting.flag)))?;
        }
        Ok(())
    }

    /// CPUs of an arm must be there too.
    fn cpus(&self) -> Result<(), CliError> {
        for setting in self.settings.of_arms.iter().filter(|setting| setting.key == "cpus") {
            let listed = parse_cpus(&setting.value).unwrap_or_default();
            check_cpus(&listed, &self.setup.cpus).map_err(|error| CliError::no_cpu(&setting.flag, &error))?;
        }
        Ok(())
    }

    /// The settings that make a cell impossible in one of the arms; `None` where none does.
    fn blame(&self, card: &'static Card, cell: &Cell) -> Option<Blame<'a>> {
        let instrument = instruments::find(card.name)?;
        (0..self.settings.arms.len()).find_map(|arm| self.blame_in(instrument, cell, arm))
    }

    /// Asks if a cell can be carried out in every arm.
    fn fits(&self, card: &'static Card, cell: &Cell) -> bool {
        instruments::find(card.name).is_some_and(|instrument| {
            (0..self.settings.arms.len())
                .all(|arm| self.laid(card, cell, arm).is_some_and(|setup| instrument.fit(&setup).is_ok()))
        })
    }

    /// The set-up of a cell in an arm.
    fn laid(&self, card: &'static Card, cell: &Cell, arm: usize) -> Option<Setup> {
        let set = &self.settings.arms.get(arm)?.set;
        // A value that is none was refused with the settings.
        let params = card.lay(&cell.params, set).ok()?;
        let mut setup = Setup { params, ..self.setup.clone() };
        if let Some(cpus) = set.get("cpus").and_then(parse_cpus) {
            setup.cpus = cpus;
        }
        Some(setup)
    }

    fn blame_in(&self, instrument: &'static dyn Instrument, cell: &Cell, arm: usize) -> Option<Blame<'a>> {
        let card = instrument.card();
        let setup = self.laid(card, cell, arm)?;
        let of_arm = |setting: &&Setting| setting.arm.is_none_or(|of| of == arm);
        let mine: Vec<&'a Setting> =
            self.settings.all().filter(|setting| setting.is_for(card)).filter(of_arm).collect();
        let why = instrument.fit(&setup).err().filter(|_| !mine.is_empty())?.why;
        // What is implied by a setting goes with it, or stays where that one does.
        let is_fixed = |key: &str| mine.iter().any(|setting| setting.key == key);
        let implied = card.params.iter().filter_map(|spec| card.param(spec.implies?.param));
        let implied: Vec<(&str, &str)> =
            implied.filter(|spec| !is_fixed(spec.name)).map(|spec| (spec.name, spec.default)).collect();
        let fits_with = |changed: &[(&str, &str)]| {
            [&implied[..], &[]].into_iter().any(|implied| {
                let mut setup = setup.clone();
                changed.iter().chain(implied).for_each(|(key, value)| setup.params.set(key, value));
                instrument.fit(&setup).is_ok()
            })
        };
        let is_guilty = |setting: &&Setting| {
            others(card, &setting.key).iter().any(|other| fits_with(&[(setting.key.as_str(), other)]))
        };
        let mut guilty: Vec<&'a Setting> = mine.iter().copied().filter(is_guilty).collect();
        if guilty.is_empty() {
            // Each would be impossible without the other, or all of it is impossible here.
            let usual: Vec<(&str, &str)> = mine
                .iter()
                .filter_map(|setting| Some((setting.key.as_str(), card.param(&setting.key)?.default)))
                .collect();
            guilty = Some(mine.clone()).filter(|_| fits_with(&usual))?;
        }
        Some(Blame { settings: guilty, why })
    }
}

/// Other values to try for a parameter: its default, and those of the card's variants.
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
    use crate::cli::run::{RunArgs, Usual};
    use crate::error::{CliError, Kind};
    use model::{Params, Plan, Setup};

    fn planned(given: &RunArgs) -> Result<(Plan, Vec<String>), CliError> {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        let setup = Setup::bare(Params::default(), vec![0, 1], std::env::temp_dir());
        plan(given, &cards, &Host { cpus: 2, server: "nginx", setup: Some(setup), ..Host::default() }, 1)
    }

    fn args(names: &[&str], sets: &[&str], arms: &[&str]) -> RunArgs {
        let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let usual = Usual { names: list(names), sets: list(sets), ..Usual::default() };
        RunArgs { usual, arms: list(arms), ..RunArgs::default() }
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
            (
                vec!["rate=5000", "arrivals=closed"],
                vec![],
                "--set arrivals=closed and --set rate=5000 cannot go together",
            ),
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
        let error =
            planned(&RunArgs { given: [("url", "wrong")].into(), ..args(&["web"], &[], &[]) }).unwrap_err();
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
        assert!(said.len() == 1 && said[0].starts_with("11 of the 22"), "{said:?}");
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
