//! The compilers and virtual machines of this host: the usual one of each language, and its version.
//!
//! Facts are texts. Only the default program is looked at; the program of an arm is recorded with its figures.

use model::{Cadence, Card, Fact, Family, Fault, Probe, Record, Setup, Simple, Unfit};

use super::language::{ALL, Language};
use super::toolchain::Toolchain;
use crate::workload::guard;

static CARD: Card = Card {
    name: "runtime-tools",
    family: Family::Inventory,
    says: "compilers and virtual machines, with their versions",
    source: "own: what the programs say",
    cadence: Cadence::Once,
    // A virtual machine that starts takes more CPU time than all else that a short load does beside its requests.
    facts_of: Some(Family::Runtime),
    definition: 1,
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    guard::available().map_err(Unfit::new)?;
    Ok(Box::new(Looking))
}

struct Looking;

impl Probe for Looking {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        facts().into_iter().for_each(|fact| record.fact(fact));
        Ok(())
    }
}

/// The facts of every language.
pub fn facts() -> Vec<Fact> {
    ALL.iter().flat_map(facts_of).collect()
}

fn facts_of(language: &'static Language) -> Vec<Fact> {
    let key = |part: &str| format!("runtime.{}.{part}", language.name);
    let found = Toolchain::find(language, language.default, None);
    let path = match &found {
        Ok(toolchain) => Fact::text(key("path"), toolchain.tool.display().to_string(), "PATH"),
        Err(why) => Fact::unknown(key("path"), "PATH", why.clone()),
    };
    let version = found.and_then(|toolchain| Ok(toolchain.shown(&toolchain.version()?)));
    let version = match version {
        Ok(version) => Fact::text(key("version"), version, language.default),
        Err(why) => Fact::unknown(key("version"), language.default, why),
    };
    vec![path, version]
}

/// The installed tool of a language, or what is missing and which package brings it: the default, and each word of its
/// arms.
pub fn here(language: &'static Language) -> String {
    let said = |value: &str| {
        let toolchain = Toolchain::find(language, value, None)?;
        Ok(format!("{}, {}", toolchain.tool.display(), toolchain.shown(&toolchain.version()?)))
    };
    let one = |value: &str| match said(value) {
        Ok(there) => format!("{}={value} is {there}", language.arm),
        Err::<_, String>(why) => format!("{}={value} is not available here: {why}", language.arm),
    };
    let others = language.named.iter().map(|(word, _)| *word).filter(|word| *word != language.default);
    std::iter::once(language.default).chain(others).map(one).collect::<Vec<_>>().join("; ")
}
