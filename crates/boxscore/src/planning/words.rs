//! What the user said of parameters: each word with its flag, so that what is wrong with it can be told by its name.
//!
//! Pure. Two words for the same thing that differ are refused: none of them is taken for the other.

use model::{Arm, Card, Cell, ParamKind, ParamSpec, Params};

use crate::cli::run::Args;
use crate::error::{CliError, nearest};

/// One parameter as it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// With its value: `--set rate=100`, `--url http://a/`.
    pub flag: String,
    /// The only instrument that is meant, where one is named.
    pub instrument: Option<String>,
    pub key: String,
    pub value: String,
    /// The arm that it belongs to.
    pub arm: Option<usize>,
}

impl Word {
    pub fn new(flag: &str, instrument: Option<&str>, key: &str, value: &str) -> Word {
        Word {
            flag: flag.to_owned(),
            instrument: instrument.map(str::to_owned),
            key: key.to_owned(),
            value: value.to_owned(),
            arm: None,
        }
    }

    /// The values that it has for a parameter: of one that is a word there may be several with `|` between them, of
    /// which a card has those that it knows.
    fn values(&self, spec: &ParamSpec) -> Vec<&str> {
        match spec.kind.choices() {
            Some(_) => self.each().filter(|value| spec.kind.canonical(value).is_some()).collect(),
            None => vec![&self.value],
        }
    }

    fn each(&self) -> impl Iterator<Item = &str> {
        self.value.split('|').map(str::trim)
    }

    /// Whether it is about this card.
    #[must_use]
    pub fn is_of(&self, card: &Card) -> bool {
        self.instrument.as_ref().is_none_or(|name| name == card.name) && card.param(&self.key).is_some()
    }
}

/// `--set k=v` or `--set instrument.k=v`.
pub fn sets(given: &[String]) -> Result<Vec<Word>, CliError> {
    let mut words = Vec::new();
    for text in given {
        let pairs = Params::parse(text).map_err(|error| CliError::usage(format!("--set {text}: {error}")))?;
        for (key, value) in pairs.0 {
            let flag = format!("--set {key}={value}");
            let (instrument, key) = match key.split_once('.') {
                Some((instrument, key)) => (Some(instrument), key),
                None => (None, key.as_str()),
            };
            words.push(Word::new(&flag, instrument, key, &value));
        }
    }
    Ok(words)
}

/// Every word must mean something to at least one of the instruments, be what their cards allow, and be the only one of
/// its kind.
pub fn check(words: &[Word], chosen: &[&'static Card]) -> Result<(), CliError> {
    for (index, word) in words.iter().enumerate() {
        let specs: Vec<_> =
            chosen.iter().filter(|card| word.is_of(card)).filter_map(|card| card.param(&word.key)).collect();
        if specs.is_empty() {
            return Err(unknown(word, chosen));
        }
        possible(word, &specs)?;
        let again = |other: &&Word| (&other.instrument, &other.key) == (&word.instrument, &word.key);
        if let Some(other) = words[..index].iter().find(again).filter(|other| other.value != word.value) {
            return Err(twice(other, word));
        }
    }
    Ok(())
}

/// A word of a list must be one of those of a card at least, any other value of every card.
fn possible(word: &Word, specs: &[&ParamSpec]) -> Result<(), CliError> {
    let wrong =
        |kind: ParamKind| CliError::usage(format!("{} is not possible: {}", word.flag, kind.wanted()));
    let (listed, free): (Vec<&ParamSpec>, Vec<&ParamSpec>) =
        specs.iter().partition(|spec| spec.kind.choices().is_some());
    if let Some(spec) = free.iter().find(|spec| spec.kind.canonical(&word.value).is_none()) {
        return Err(wrong(spec.kind));
    }
    let is_known = |value: &str| listed.iter().any(|spec| spec.kind.canonical(value).is_some());
    match listed.first() {
        Some(spec) if !word.each().all(is_known) => Err(wrong(spec.kind)),
        _ => Ok(()),
    }
}

fn unknown(word: &Word, chosen: &[&'static Card]) -> CliError {
    let known = chosen.iter().flat_map(|card| card.params.iter().map(|param| param.name));
    let error =
        CliError::usage(format!("{}: no instrument of this run has the parameter `{}`", word.flag, word.key));
    match nearest(&word.key, known) {
        Some(near) => {
            error.hint(format!("did you mean `{near}`? `boxscore list --long` shows the parameters"))
        }
        None => error.hint("`boxscore list --long` shows the parameters of each"),
    }
}

fn twice(one: &Word, other: &Word) -> CliError {
    CliError::usage(format!("{} and {} cannot both be", one.flag, other.flag))
        .hint(format!("say {} once, or give each value an --arm of its own", other.key))
}

/// What these words fix for a card, a set for each of their values together; none where it has none of a word's values.
#[must_use]
pub fn fixed(words: &[Word], card: &Card) -> Vec<Params> {
    let mut sets = vec![Params::default()];
    for word in words.iter().filter(|word| word.is_of(card)) {
        let values = card.param(&word.key).map(|spec| word.values(spec)).unwrap_or_default();
        let with = |set: &Params, value: &str| {
            let mut set = set.clone();
            set.set(&word.key, value);
            set
        };
        sets = sets.iter().flat_map(|set| values.iter().map(|value| with(set, value))).collect();
    }
    sets
}

/// Cards that are not measured, since they have none of a word's values.
#[must_use]
pub fn left_out(words: &[Word], chosen: &[&'static Card]) -> Vec<String> {
    let mut said = Vec::new();
    for card in chosen {
        let none = words.iter().filter(|word| word.is_of(card)).find_map(|word| {
            let spec = card.param(&word.key)?;
            word.values(spec).is_empty().then(|| format!("{}, and it has {}", word.flag, spec.kind.wanted()))
        });
        said.extend(none.map(|why| format!("{} is left out: {why}", card.name)));
    }
    said
}

/// Every word must mean something to a cell: some parameters are there only where another one has certain values.
pub fn concern(
    words: &[Word],
    cells: &[Cell],
    arms: &[Arm],
    chosen: &[&'static Card],
) -> Result<(), CliError> {
    for word in words {
        let none = Params::default();
        let set = word.arm.and_then(|arm| arms.get(arm)).map_or(&none, |arm| &arm.set);
        let has = |card: &Card| {
            let mut own = cells.iter().filter(|cell| cell.instrument == card.name);
            own.any(|cell| card.lay(&cell.params, set).is_ok_and(|all| all.get(&word.key).is_some()))
        };
        let cards = || chosen.iter().filter(|card| word.is_of(card));
        let condition = |card: &&&'static Card| match card.param(&word.key)?.kind {
            ParamKind::Only(key, values, _) => Some(format!("{key} is {}", values.join(" or "))),
            _ => None,
        };
        let conditions: Vec<String> = cards().filter_map(|card| condition(&card)).collect();
        if conditions.len() < cards().count() || cards().any(|card| has(card)) {
            continue;
        }
        if let Some(condition) = conditions.first() {
            let why = format!("`{}` is there only where {condition}", word.key);
            return Err(CliError::usage(format!("{} concerns nothing that is measured: {why}", word.flag)));
        }
    }
    Ok(())
}

/// Numbers of the cells that no arm changes.
#[must_use]
pub fn unchanged(cells: &[Cell], arms: &[Arm], chosen: &[&'static Card]) -> Vec<u32> {
    let is_bound = arms.iter().any(|arm| arm.set.get("cpus").is_some());
    if arms.len() < 2 || is_bound {
        return Vec::new();
    }
    let is_same = |cell: &Cell| {
        let Some(card) = chosen.iter().find(|card| card.name == cell.instrument) else { return false };
        let laid: Result<Vec<Params>, _> = arms.iter().map(|arm| card.lay(&cell.params, &arm.set)).collect();
        laid.is_ok_and(|laid| laid.windows(2).all(|pair| pair[0] == pair[1]))
    };
    (0u32..).zip(cells).filter(|(_, cell)| is_same(cell)).map(|(number, _)| number).collect()
}

/// The arms of a study, their words, and what those imply, in words.
#[derive(Debug, Default)]
pub struct Arms {
    pub arms: Vec<Arm>,
    pub words: Vec<Word>,
    pub said: Vec<String>,
}

/// `--arm k=v,...`, beside what `said` fixes for all of them.
pub fn arms(args: &Args, chosen: &[&'static Card], said: &[Word]) -> Result<Arms, CliError> {
    let mut all = Arms::default();
    if args.arms.is_empty() {
        all.arms.push(Arm { name: String::new(), set: Params::default() });
        return Ok(all);
    }
    for (index, text) in args.arms.iter().enumerate() {
        let set = Params::parse(text).map_err(|error| CliError::usage(format!("--arm {text}: {error}")))?;
        let mut clean = Params::default();
        for (key, value) in &set.0 {
            let word =
                Word { arm: Some(index), ..Word::new(&format!("--arm {key}={value}"), None, key, value) };
            let differs = |other: &&Word| other.key == *key && other.value != *value;
            if let Some(other) = said.iter().find(differs) {
                return Err(twice(other, &word));
            }
            clean.set(key, &of_arm(&word, chosen)?);
            all.words.push(word);
        }
        let name = clean.to_string();
        if all.arms.iter().any(|arm| arm.name == name) {
            return Err(CliError::usage(format!("--arm {text} is given twice")));
        }
        // What follows from a word fills a gap and replaces no other word.
        let is_said = said.iter().any(|word| word.key == super::web::SERVER);
        if let Some(server) = super::web::implied(&clean).filter(|_| !is_said) {
            clean.set(super::web::SERVER, server);
            all.said.push(format!("--arm {text} is taken as server={server}, which alone has MPMs"));
        }
        all.arms.push(Arm { name, set: clean });
    }
    Ok(all)
}

/// The canonical value of a word of an arm.
fn of_arm(word: &Word, chosen: &[&'static Card]) -> Result<String, CliError> {
    let cpus = model::params::ParamKind::Cpus;
    let kind = chosen.iter().find_map(|card| card.param(&word.key)).map(|spec| spec.kind);
    let kind = match kind {
        None if word.key == "cpus" => cpus,
        None => return Err(unknown(word, chosen)),
        Some(kind) => kind,
    };
    let wrong = || CliError::usage(format!("{} is not possible: {}", word.flag, kind.wanted()));
    kind.canonical(&word.value).ok_or_else(wrong)
}
