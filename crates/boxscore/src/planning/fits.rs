//! Whether what the user said can be carried out here, asked of the instruments before anything is started or stored.
//!
//! A cell that only the user's words make impossible is the user's matter: where none is left it is a usage error that
//! names those words, else the others are measured and it is said what was left out. What is impossible without those
//! words too is the machine's matter, and is told by the run.

use model::params::parse_cpus;
use model::{Arm, Card, Cell, Instrument, Params, Setup};

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
            let mut fit = 0_usize;
            for cell in cells.iter().filter(|cell| cell.instrument == card.name) {
                match self.blame(card, cell) {
                    Some(blame) => blames.push(blame),
                    None => {
                        fit += 1;
                        kept.push(cell.clone());
                    }
                }
            }
            let Some(first) = blames.first() else { continue };
            if fit == 0 {
                let cannot = if first.is_one { "is not possible" } else { "cannot go together" };
                return Err(CliError::usage(format!("{} {cannot}: {}", first.flags, first.why)));
            }
            let (left, all) = (blames.len(), blames.len() + fit);
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
            let kinds = self.cards.iter().filter(|card| word.is_of(card)).filter_map(|card| card.param(&word.key));
            let Some(path) = kinds.filter_map(|spec| spec.kind.file(&word.value)).next() else { continue };
            std::fs::metadata(path).map_err(|error| CliError::data(format!("{}: {error}", word.flag)))?;
        }
        Ok(())
    }

    /// CPUs of an arm must be there too.
    fn cpus(&self) -> Result<(), CliError> {
        for word in self.words.iter().filter(|word| word.arm.is_some() && word.key == "cpus") {
            let listed = parse_cpus(&word.value).unwrap_or_default();
            if let Some(cpu) = listed.iter().find(|cpu| !self.setup.cpus.contains(cpu)) {
                let allowed = model::params::show_cpus(&self.setup.cpus);
                return Err(CliError::usage(format!("{}: CPU {cpu} is not here, or not allowed", word.flag))
                    .hint(format!("allowed are {allowed}")));
            }
        }
        Ok(())
    }

    /// Which words make a cell impossible in one of the arms, and why; `None` where none does.
    fn blame(&self, card: &'static Card, cell: &Cell) -> Option<Blame> {
        let instrument = *instruments::all().iter().find(|one| one.card().name == card.name)?;
        (0..self.arms.len()).find_map(|arm| self.blame_in(instrument, cell, arm))
    }

    fn blame_in(&self, instrument: &'static dyn Instrument, cell: &Cell, arm: usize) -> Option<Blame> {
        let card = instrument.card();
        let set = &self.arms.get(arm)?.set;
        let known = set.0.iter().filter(|(key, _)| card.param(key).is_some());
        let laid = cell.params.with(&Params(known.map(|(key, value)| (key.clone(), value.clone())).collect()));
        let mut setup = Setup { params: laid, ..self.setup.clone() };
        if let Some(cpus) = set.get("cpus").and_then(parse_cpus) {
            setup.cpus = cpus;
        }
        let of_arm = |word: &&Word| word.arm.is_none_or(|of| of == arm);
        let mine: Vec<&Word> = self.words.iter().filter(|word| word.is_of(card)).filter(of_arm).collect();
        let why = instrument.fit(&setup).err().filter(|_| !mine.is_empty())?.why;
        // A server that follows from the words goes with them.
        let is_said = mine.iter().any(|word| word.key == SERVER);
        let without = |words: &[&Word]| {
            let mut setup = setup.clone();
            let keys = words.iter().map(|word| word.key.as_str());
            for key in keys.chain((!is_said).then_some(SERVER)) {
                if let Some(spec) = card.param(key) {
                    setup.params.set(key, spec.default);
                }
            }
            instrument.fit(&setup).is_ok()
        };
        let mut guilty: Vec<&Word> = mine.iter().copied().filter(|word| without(&[*word])).collect();
        if guilty.is_empty() {
            // Each would be impossible without the other, or all of it is impossible here.
            guilty = Some(mine.clone()).filter(|all| without(all))?;
        }
        let flags: Vec<&str> = guilty.iter().map(|word| word.flag.as_str()).collect();
        Some(Blame { flags: flags.join(" and "), is_one: flags.len() == 1, why })
    }
}
