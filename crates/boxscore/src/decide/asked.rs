//! The values of each key as text, from the command line or else from the file, with where they stand.

use std::collections::BTreeMap;
use std::path::Path;

use model::decision::{Entry, Key, read};

use crate::cli::decide::DecideArgs;
use crate::error::CliError;

/// A text of the user's, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub given: String,
    /// `--kwh`, `plan.toml:3: kwh`: for errors.
    pub at: String,
    /// `--kwh`, `plan.toml`: the provenance.
    pub from: String,
}

impl Said {
    /// An error about it.
    pub fn wrong(&self, what: &str, hint: &str) -> CliError {
        CliError::usage(format!("{} {}: {what}", self.at, self.given)).hint(hint)
    }
}

/// All keys that were given.
#[derive(Clone, Debug, Default)]
pub struct Asked(BTreeMap<Key, Vec<Said>>);

impl Asked {
    /// Reads the file, and lays the options over it: a key that is typed replaces that of the file.
    pub fn new(args: &DecideArgs) -> Result<Asked, CliError> {
        let mut asked = Asked::default();
        if let Some(path) = &args.file {
            asked.add_file(path)?;
        }
        for (key, values) in typed(args) {
            let flag = format!("--{}", key.word());
            let said = |given: String| Said { given, at: flag.clone(), from: flag.clone() };
            if !values.is_empty() {
                asked.0.insert(key, values.into_iter().map(said).collect());
            }
        }
        for key in [Key::Need, Key::From] {
            if asked.all(key).is_empty() {
                let file =
                    args.file.as_ref().map_or_else(String::new, |file| format!("{}: ", file.display()));
                return Err(CliError::usage(format!("{file}there is no `{}`", key.word())).hint(
                    "a decision has needs and sides: need = \"web 20000/s p99<20ms\", from = [\"box-a\"]",
                ));
            }
        }
        Ok(asked)
    }

    fn add_file(&mut self, path: &Path) -> Result<(), CliError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| CliError::data(format!("{file}: {error}")).hint("a decision's file is TOML"))?;
        let entries = read(&text)
            .map_err(|error| CliError::usage(format!("{file}:{error}")).hint(error.hint.clone()))?;
        for Entry { line, key, values } in entries {
            let said = |given: String| Said {
                given,
                at: format!("{file}:{line}: {}", key.word()),
                from: file.clone(),
            };
            self.0.insert(key, values.into_iter().map(said).collect());
        }
        Ok(())
    }

    /// The values that stand on the command line.
    pub fn typed(&self) -> impl Iterator<Item = (Key, &Said)> {
        let all = self.0.iter().flat_map(|(key, said)| said.iter().map(|said| (*key, said)));
        all.filter(|(_, said)| said.from.starts_with("--"))
    }

    pub fn all(&self, key: Key) -> &[Said] {
        self.0.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// The value of a key that has one.
    pub fn one(&self, key: Key) -> Option<&Said> {
        self.all(key).first()
    }
}

fn typed(args: &DecideArgs) -> Vec<(Key, Vec<String>)> {
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let one = |text: &Option<String>| text.iter().cloned().collect::<Vec<_>>();
    vec![
        (Key::Need, args.need.clone()),
        (Key::From, args.from.clone()),
        (Key::Utilisation, one(&args.utilisation)),
        (Key::Spare, one(&args.spare)),
        (Key::Life, one(&args.life)),
        (Key::Kwh, one(&args.kwh)),
        (Key::Pue, one(&args.pue)),
        (Key::PerU, one(&args.per_u)),
        (Key::RackWatts, one(&args.rack_watts)),
        (Key::RackUnits, one(&args.rack_units)),
        (Key::Circuit, one(&args.circuit)),
        (Key::PerCircuit, one(&args.per_circuit)),
        (Key::Scaling, args.scaling.clone()),
        (Key::Currency, one(&args.currency)),
        (Key::Budget, one(&args.budget)),
        (Key::EqualPrice, one(&args.equal_price)),
        (Key::Growth, one(&args.growth)),
        (Key::For, one(&args.span)),
        (Key::Prices, path(&args.prices).into_iter().collect()),
        (Key::Price, args.price.clone()),
        (Key::Watts, args.watts.clone()),
        (Key::Sure, one(&args.sure)),
        (Key::Accept, args.accept.clone()),
        (Key::Stale, one(&args.stale)),
        (Key::Draws, one(&args.draws)),
        (Key::Seed, one(&args.seed)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str, args: &DecideArgs) -> Result<Asked, CliError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        std::fs::write(&file, text).unwrap();
        Asked::new(&DecideArgs { file: Some(file), ..args.clone() })
    }

    #[test]
    fn what_is_typed_goes_before_the_file() {
        let args = DecideArgs { kwh: Some("0.4".to_owned()), ..DecideArgs::default() };
        let asked = asked("need = 'web 1/s'\nfrom = 'a'\nkwh = 0.3\nlife = '4y'\n", &args).unwrap();
        assert_eq!(asked.one(Key::Kwh).unwrap().from, "--kwh");
        let life = asked.one(Key::Life).unwrap();
        assert!(life.at.ends_with("plan.toml:4: life"), "{}", life.at);
    }

    #[test]
    fn a_typo_has_its_line_and_the_nearest_key() {
        let error = asked("from = 'a'\nnead = 'web 1/s'\n", &DecideArgs::default()).unwrap_err();
        assert!(error.message.ends_with("plan.toml:2: unknown key `nead`"), "{}", error.message);
        assert_eq!(error.hint.as_deref(), Some("did you mean `need`?"));
        let error = asked("from = 'a'\n", &DecideArgs::default()).unwrap_err();
        assert!(error.message.ends_with("there is no `need`"), "{}", error.message);
    }
}
