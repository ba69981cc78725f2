//! A sheet of facts being filled from a root: one line an attribute, a reason where there is none.

use model::{Fact, FactValue, Unit};

use super::root::{ABSENT, Root};
use model::fact::HYPERVISOR;

/// Facts gathered so far. Base units; nothing is rounded here.
pub struct Sheet<'a> {
    pub root: &'a Root,
    facts: Vec<Fact>,
}

impl<'a> Sheet<'a> {
    pub fn new(root: &'a Root) -> Sheet<'a> {
        Sheet { root, facts: Vec::new() }
    }

    pub fn done(self) -> Vec<Fact> {
        self.facts
    }

    pub fn push(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    pub fn text(&mut self, key: &str, value: impl Into<String>, source: &str) {
        self.push(Fact::text(key, value, source));
    }

    pub fn number(&mut self, key: &str, value: f64, unit: Unit, source: &str) {
        self.push(Fact::number(key, value, unit, source));
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and sizes stay below 2^53")]
    pub fn count(&mut self, key: &str, value: u64, unit: Unit, source: &str) {
        self.number(key, value as f64, unit, source);
    }

    pub fn flag(&mut self, key: &str, value: bool, source: &str) {
        self.push(Fact::flag(key, value, source));
    }

    pub fn unknown(&mut self, key: &str, source: &str, why: &str) {
        self.push(Fact::unknown(key, source, why));
    }

    /// Text or, when there is none, `why`.
    pub fn text_or(&mut self, key: &str, value: Option<String>, source: &str, why: &str) {
        match value {
            Some(value) => self.text(key, value, source),
            None => self.unknown(key, source, why),
        }
    }

    pub fn number_or(&mut self, key: &str, value: Option<f64>, unit: Unit, source: &str, why: &str) {
        match value {
            Some(value) => self.number(key, value, unit, source),
            None => self.unknown(key, source, why),
        }
    }

    /// A file's text as it stands.
    pub fn file(&mut self, key: &str, path: &str) {
        match self.root.read(path) {
            Ok(text) if text.is_empty() => self.unknown(key, path, "empty"),
            Ok(text) => self.text(key, text, path),
            Err(why) => self.unknown(key, path, &why),
        }
    }

    /// A file's text, no line at all when it is missing or empty.
    pub fn maybe(&mut self, key: &str, path: &str) {
        if let Some(text) = self.root.maybe(path) {
            self.text(key, text, path);
        }
    }

    /// A number in a file, times `scale`.
    pub fn file_number(&mut self, key: &str, path: &str, scale: f64, unit: Unit) {
        match self.root.read(path) {
            Ok(text) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => self.number(key, value * scale, unit, path),
                _ => self.unknown(key, path, "not a number"),
            },
            Err(why) => self.unknown(key, path, &why),
        }
    }

    /// `0` or `1` in a file.
    pub fn file_flag(&mut self, key: &str, path: &str) {
        match self.root.read(path).as_deref() {
            Ok("1" | "Y") => self.flag(key, true, path),
            Ok("0" | "N") => self.flag(key, false, path),
            Ok(_) => self.unknown(key, path, ABSENT),
            Err(why) => {
                let why = why.to_owned();
                self.unknown(key, path, &why);
            }
        }
    }

    /// Marks the known facts from `from` on as reported by the hypervisor, except those that the system itself sets
    /// (the endings in `own`).
    pub fn paravirtual(&mut self, from: usize, own: &[&str]) {
        for fact in self.facts.iter_mut().skip(from) {
            let ours = own.iter().any(|ending| fact.key.ends_with(ending));
            if fact.value.is_some() && fact.why.is_none() && !ours {
                fact.why = Some(HYPERVISOR.to_owned());
            }
        }
    }

    /// Adds a caveat to the newest fact.
    pub fn because(&mut self, why: &str) {
        if let Some(fact) = self.facts.last_mut() {
            fact.why = Some(why.to_owned());
        }
    }

    pub fn len(&self) -> usize {
        self.facts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }
}

/// The text of a known fact among `facts`.
pub fn known(facts: &[Fact], key: &str) -> Option<String> {
    let fact = facts.iter().find(|fact| fact.key == key)?;
    fact.value.as_ref().map(FactValue::text)
}
