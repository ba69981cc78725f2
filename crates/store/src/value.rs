//! Values as the columns keep them, and back. Every `u64` and every double survives the round trip, bit for bit.

use crate::engine::{Sql, SqlError};
use model::plan::Plan;
use model::{Fact, FactValue, Finding, Unit};

/// A fact's columns: key, kind and text of its value, unit, source, and why.
pub(crate) type FactColumns = (String, String, String, String, String, Option<String>);

/// A value as the text of a column.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Sql<String> {
    serde_json::to_string(value).map_err(|error| SqlError::Value(error.to_string()))
}

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
    model::Better::parse(word).ok_or_else(|| format!("the direction `{word}`"))
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

/// The refusals of a take.
pub(crate) fn findings(text: &str) -> Result<Vec<Finding>, String> {
    serde_json::from_str(text).map_err(|_| "the refusals of a take cannot be read".to_owned())
}
