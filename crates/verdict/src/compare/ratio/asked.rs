//! Parses `--ratio PARAM=a/b` against the measured values, which may contain a `/` themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::super::matching::same;

/// A parameter with the value above the line and the one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedRatio {
    pub param: String,
    pub over: String,
    pub under: String,
}

/// Why there is no ratio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// Not of the form; what is wrong.
    Form(String),
    /// No figure has the parameter; those that figures have.
    Param { param: String, known: Vec<String> },
    /// Values that no figure has, and those that figures have.
    Values { param: String, missing: Vec<String>, known: Vec<String> },
    /// Figures have both values, but none of them differ in that alone: what else they differ in.
    Alone { param: String, differ: Vec<String> },
}

/// Parameters of figures with their values.
pub type Known = BTreeMap<String, BTreeSet<String>>;

impl AskedRatio {
    /// Reads `PARAM=a/b`; of several strokes, the one with a measured value on either side divides.
    pub fn parse(text: &str, known: &Known) -> Result<AskedRatio, Unmet> {
        let form = |says: &str| Unmet::Form(format!("{text}: {says}"));
        let (param, values) = text.split_once('=').ok_or_else(|| form("no `=` in it"))?;
        let (param, values) = (param.trim(), values.trim());
        if param.is_empty() {
            return Err(form("no parameter before `=`"));
        }
        let splits: Vec<(&str, &str)> = (values.match_indices('/'))
            .map(|(at, _)| (values[..at].trim(), values[at + 1..].trim()))
            .filter(|(over, under)| !over.is_empty() && !under.is_empty())
            .collect();
        let Some(first) = splits.first() else {
            return Err(form("two values with a `/` between them are wanted"));
        };
        let Some(values) = known.get(param) else {
            let known = known.keys().cloned().collect();
            return Err(Unmet::Param { param: param.to_owned(), known });
        };
        let spelled = |value: &str| values.iter().find(|known| same(known, value)).cloned();
        let both = |(over, under): &(&str, &str)| Some((spelled(over)?, spelled(under)?));
        let found: Vec<(String, String)> = splits.iter().filter_map(both).collect();
        match found.as_slice() {
            [(over, under)] if over == under => Err(form("a value over itself is always 1")),
            [(over, under)] => {
                Ok(AskedRatio { param: param.to_owned(), over: over.clone(), under: under.clone() })
            }
            [] => {
                let (over, under) = first;
                let missing = if splits.len() > 1 {
                    vec![text.split_once('=').map_or(text, |(_, values)| values).to_owned()]
                } else {
                    [over, under]
                        .into_iter()
                        .filter(|one| spelled(one).is_none())
                        .map(|one| (*one).to_owned())
                        .collect()
                };
                let known = values.iter().cloned().collect();
                Err(Unmet::Values { param: param.to_owned(), missing, known })
            }
            _ => Err(form("it can be read in several ways, for values hold a `/` too")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: &[&str]) -> Known {
        let of = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        Known::from([("lang".to_owned(), of(values)), ("kernel".to_owned(), of(&["fft"]))])
    }

    fn parse(text: &str, values: &[&str]) -> Result<(String, String), Unmet> {
        AskedRatio::parse(text, &known(values)).map(|asked| (asked.over, asked.under))
    }

    #[test]
    fn two_values_stand_around_a_stroke() {
        assert_eq!(parse("lang=c/java", &["c", "java"]), Ok(("c".into(), "java".into())));
        assert_eq!(parse(" lang = c / java ", &["c", "java"]), Ok(("c".into(), "java".into())));
        assert_eq!(parse("lang=1k/64", &["1KiB", "64"]), Ok(("1KiB".into(), "64".into())));
    }

    #[test]
    fn values_may_hold_strokes() {
        let values = ["/opt/a/java", "/opt/b/java"];
        let wanted = Ok(("/opt/a/java".into(), "/opt/b/java".into()));
        assert_eq!(parse("lang=/opt/a/java//opt/b/java", &values), wanted);
        let unclear = parse("lang=a/a/a", &["a", "a/a"]);
        assert!(matches!(&unclear, Err(Unmet::Form(says)) if says.contains("several ways")), "{unclear:?}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("lang", "no `=`"),
            ("=c/java", "no parameter"),
            ("lang=c", "two values"),
            ("lang=c/", "two values"),
            ("lang=c/c", "over itself"),
        ] {
            let found = parse(text, &["c", "java"]);
            assert!(matches!(&found, Err(Unmet::Form(form)) if form.contains(says)), "{text}: {found:?}");
        }
        let found = AskedRatio::parse("lnag=c/java", &known(&["c"]));
        let params = vec!["kernel".to_owned(), "lang".to_owned()];
        assert_eq!(found, Err(Unmet::Param { param: "lnag".into(), known: params }));
        let found = parse("lang=c/go", &["c", "java"]);
        let (missing, known) = (vec!["go".to_owned()], vec!["c".to_owned(), "java".to_owned()]);
        assert_eq!(found, Err(Unmet::Values { param: "lang".into(), missing, known }));
    }
}
