//! Values as the columns keep them, and back. Every `u64` and every double survives the round trip, bit for bit.

use std::collections::BTreeMap;

use model::finding::FindingDoc;
use model::plan::Plan;
use model::{Fact, FactValue, Finding, Unit, Validity};
use serde::{Deserialize, Serialize};

/// A double as `(value, bits)`: the bits alone where SQL would change the number.
pub(crate) fn split(number: f64) -> (Option<f64>, Option<i64>) {
    let plain = number.is_finite() && !(number == 0.0 && number.is_sign_negative());
    if plain { (Some(number), None) } else { (None, Some(number.to_bits().cast_signed())) }
}

/// The inverse of [`split`].
pub(crate) fn join(value: Option<f64>, bits: Option<i64>) -> Option<f64> {
    bits.map(|bits| f64::from_bits(bits.cast_unsigned())).or(value)
}

/// A fact's value as `(kind, text)`.
pub(crate) fn fact_parts(fact: &Fact) -> (&'static str, String) {
    match &fact.value {
        None => ("unknown", String::new()),
        Some(value @ FactValue::Text(_)) => ("text", value.text()),
        Some(value @ FactValue::Number(_)) => ("number", value.text()),
        Some(value @ FactValue::Flag(_)) => ("flag", value.text()),
    }
}

/// The inverse of [`fact_parts`]; the error names what cannot be read.
pub(crate) fn fact_value(kind: &str, text: String) -> Result<Option<FactValue>, String> {
    let wrong = |text: &str| format!("a fact of kind `{kind}` with value `{text}`");
    match kind {
        "unknown" => Ok(None),
        "text" => Ok(Some(FactValue::Text(text))),
        "number" => text.parse().map(|number| Some(FactValue::Number(number))).map_err(|_| wrong(&text)),
        "flag" => text.parse().map(|flag| Some(FactValue::Flag(flag))).map_err(|_| wrong(&text)),
        _ => Err(wrong(&text)),
    }
}

pub(crate) fn unit_symbol(unit: Option<Unit>) -> &'static str {
    unit.map_or("", Unit::symbol)
}

pub(crate) fn unit(symbol: &str) -> Result<Option<Unit>, String> {
    if symbol.is_empty() {
        return Ok(None);
    }
    Unit::parse(symbol).map(Some).ok_or_else(|| format!("the unit `{symbol}`"))
}

pub(crate) fn better(word: &str) -> Result<model::Better, String> {
    use model::Better::{Higher, Lower, Neither};
    [Higher, Lower, Neither]
        .into_iter()
        .find(|better| better.word() == word)
        .ok_or_else(|| format!("the direction `{word}`"))
}

pub(crate) fn plan(text: &str) -> Result<Plan, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("a plan cannot be read at line {}, column {}", error.line(), error.column()))
}

/// FNV-1a over the parts, each ended by a zero byte: finds equal facts, and guards the journal's records.
pub(crate) fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    parts.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, part| step(part.iter().fold(hash, step), &0))
}

/// A finding in JSON, which has no NaN and no infinities: those are text there.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredFinding {
    kind: String,
    state: Validity,
    subject: String,
    text: String,
    evidence: BTreeMap<String, Number>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(f64),
    Odd(String),
}

pub(crate) fn stored_findings(findings: &[Finding]) -> Vec<StoredFinding> {
    let number = |number: f64| {
        if number.is_finite() { Number::Plain(number) } else { Number::Odd(number.to_string()) }
    };
    let store = |finding: &Finding| {
        let FindingDoc { kind, state, subject, text, evidence } = finding.clone().into();
        let evidence = evidence.into_iter().map(|(name, value)| (name, number(value))).collect();
        StoredFinding { kind, state, subject, text, evidence }
    };
    findings.iter().map(store).collect()
}

/// The inverse of [`stored_findings`].
pub(crate) fn findings(text: &str) -> Result<Vec<Finding>, String> {
    let stored: Vec<StoredFinding> =
        serde_json::from_str(text).map_err(|_| "the refusals of a take cannot be read".to_owned())?;
    stored.into_iter().map(finding).collect()
}

fn finding(stored: StoredFinding) -> Result<Finding, String> {
    let StoredFinding { kind, state, subject, text, evidence } = stored;
    let number = |(name, value)| match value {
        Number::Plain(number) => Ok((name, number)),
        Number::Odd(text) => {
            text.parse().map(|number| (name, number)).map_err(|_| format!("the number `{text}`"))
        }
    };
    let evidence = evidence.into_iter().map(number).collect::<Result<_, _>>()?;
    Ok(FindingDoc { kind, state, subject, text, evidence }.into())
}
