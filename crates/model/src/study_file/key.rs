//! The name of a figure in a study file: `INSTRUMENT METRIC K=V;K=V`.

use std::fmt;

use crate::params::Params;

/// A figure by instrument, metric and those parameters that tell it from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureKey {
    pub instrument: String,
    pub metric: String,
    pub params: Params,
}

impl FigureKey {
    /// Reads the name; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<FigureKey, String> {
        let mut words = text.trim().splitn(3, char::is_whitespace);
        let (Some(instrument), Some(metric)) = (words.next().filter(|word| !word.is_empty()), words.next())
        else {
            return Err(format!("`{text}` is no figure"));
        };
        let params = parse_params(words.next().unwrap_or_default())?;
        Ok(FigureKey { instrument: instrument.to_owned(), metric: metric.to_owned(), params })
    }

    /// The same figure with further parameters.
    #[must_use]
    pub fn with(&self, params: &Params) -> FigureKey {
        FigureKey { params: self.params.with(params), ..self.clone() }
    }

    /// The parameter of which this is a ratio of two values, with them: `lang=c/java`.
    pub fn ratio(&self, is_value: impl Fn(&str, &str) -> bool) -> Option<(String, String, String)> {
        self.params.iter().find_map(|(key, value)| {
            let (over, under) = value.split_once('/')?;
            let is_ratio = !is_value(key, value) && is_value(key, over) && is_value(key, under);
            is_ratio.then(|| (key.clone(), over.to_owned(), under.to_owned()))
        })
    }
}

impl fmt::Display for FigureKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.instrument, self.metric)?;
        if self.params.is_empty() { Ok(()) } else { write!(out, " {}", self.params) }
    }
}

/// `K=V;K=V`, whose values may hold commas and blanks.
pub fn parse_params(text: &str) -> Result<Params, String> {
    let mut params = Params::default();
    for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!("`{pair}` is not of the form key=value"));
        };
        let (key, value) = (key.trim(), value.trim());
        if params.get(key).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
        params.set(key, value);
    }
    Ok(params)
}
