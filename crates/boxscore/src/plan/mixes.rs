//! Mixes of requests (`boxscore logs --profile-out`) read from their files, and what they are called in a plan.
//!
//! A mix is called by its label and a digest of what it says, so that figures of different ones are never compared.

use std::path::Path;

use model::doc::MixDoc;
use model::doc::mix::SCHEMA;

use crate::error::CliError;

/// A larger file is no mix.
const MOST_BYTES: u64 = 16 << 20;
/// Bytes of a file in which a mix says that it is one, and letters of a label that are kept.
const START: usize = 4096;
const LABEL: usize = 40;

/// A mix, and its name in parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub name: String,
    pub mix: MixDoc,
}

/// The mix of a file that a flag names.
pub fn read(flag: &str, path: &Path) -> Result<Named, CliError> {
    let wrong = |what: String| CliError::data(format!("{flag} {}: {what}", path.display()));
    let about = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if about.len() > MOST_BYTES {
        return Err(wrong("too large for a mix".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let hint = "boxscore logs access.log --profile-out mix.json makes one";
    #[derive(serde::Deserialize)]
    struct Schema {
        schema: String,
    }
    let place = |error: serde_json::Error| {
        wrong(format!("line {} column {}: not a mix: {error}", error.line(), error.column())).hint(hint)
    };
    // First, since another version may have other keys.
    let Schema { schema } = serde_json::from_str(&text).map_err(place)?;
    if schema != SCHEMA {
        return Err(wrong(format!("schema: {schema:?}; this boxscore reads {SCHEMA:?}")).hint(hint));
    }
    let mix: MixDoc = serde_json::from_str(&text).map_err(place)?;
    mix.check().map_err(|what| wrong(what).hint(hint))?;
    named(mix)
}

/// A mix with its name.
pub fn named(mix: MixDoc) -> Result<Named, CliError> {
    let canonical = serde_json::to_vec(&mix)?;
    Ok(Named { name: name(&mix.label, logs::hash::name(&canonical)), mix })
}

/// A label and a digest, as parameters have them.
pub fn name(label: &str, digest: u64) -> String {
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || ".-_".contains(letter) { letter } else { '-' };
    let label: String = label.chars().take(LABEL).map(plain).collect();
    format!("{label}@{digest:016x}")
}

/// True if a file says that it is a mix, of whatever version.
pub fn is_mix(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::with_capacity(START);
    let read = std::fs::File::open(path).and_then(|file| file.take(START as u64).read_to_end(&mut start));
    // What cannot be read is said where it is read.
    let text = String::from_utf8_lossy(&start);
    read.is_ok() && text.trim_start().starts_with('{') && text.contains("\"boxscore.mix/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Named, CliError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        assert_eq!(is_mix(file.path()), text.contains("boxscore.mix"));
        read("--mix", file.path())
    }

    fn sound() -> String {
        serde_json::json!({
            "schema": SCHEMA, "label": "shop; a", "seed": 1, "requests": 3,
            "source": {"files": [], "lines": 3, "skipped": 0, "filtered": 0, "conditions": [],
                       "first": null, "last": null},
            "sizes": {"requests": 3, "bytes": 30, "heads": 0, "unsized": 0, "error": 0.002,
                      "bins": [{"from": 10, "to": 10, "requests": 3}]},
            "methods": {"GET": 3}, "statuses": {"200": 3}, "connections": {"told": 0, "reused": 0},
            "arrivals": {"requests": 0, "seconds": 0, "mean_rate": null, "peak_second": null, "dispersion": null,
                         "why": "no line tells a time", "step": 0, "steps": [], "hours": []},
            "popularity": {"requests": 3, "pathless": 0, "paths": 1.0, "exact": true, "error": 0.0, "paths_error": 0.0,
                           "slope": null, "logged": false,
                           "top": [{"path": "/m-000001", "requests": 3, "bytes": 10}], "tail": []}
        })
        .to_string()
    }

    #[test]
    fn a_mix_is_called_by_what_it_says() {
        let one = read_text(&sound()).unwrap();
        assert!(one.name.starts_with("shop--a@") && one.name.len() == 24, "{}", one.name);
        assert_eq!(read_text(&format!(" {}\n", sound())).unwrap(), one);
        assert_ne!(read_text(&sound().replace("\"lines\":3", "\"lines\":4")).unwrap().name, one.name);
    }

    #[test]
    fn a_bad_mix_is_told_with_its_file_and_key() {
        for (text, says) in [
            (sound().replace("mix/1", "mix/2"), "schema: \"boxscore.mix/2\""),
            (sound().replace("\"seed\":1,", ""), "missing field `seed`"),
            (sound().replace("\"from\":10", "\"from\":-1"), "line 1 column "),
            (sound().replace("\"from\":10", "\"from\":11"), "sizes.bins[0]"),
            (sound()[..100].to_owned(), "line 1 column 100: not a mix"),
            ("[]".to_owned(), "not a mix"),
        ] {
            let error = read_text(&text).unwrap_err();
            assert!(error.message.starts_with("--mix /") && error.message.contains(says), "{says}: {error}");
        }
        assert!(read("--mix", Path::new("/no/such")).unwrap_err().message.contains("/no/such"));
    }
}
