//! The user's own work: a command with what is done around it, and the placeholders that an arm fills.
//!
//! A placeholder is a word in braces (`{level}`). `${HOME}`, `{}`, `{a,b}` and `{print $1}` are none. Where an arm
//! fills placeholders, `{{level}}` stands for a literal `{level}`; nothing else is changed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::Params;

/// In the set of an arm: the name of its command in the plan's table.
pub const COMMAND: &str = "command";

crate::words! {
    /// The program that a command's text is given to.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Shell as word {
        /// None: the text is split into words, and the first one is started.
        None = "none",
        #[default]
        Sh = "sh",
        Bash = "bash",
    }
}

crate::words! {
    /// Where the output of a command goes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Output as word {
        /// Read by boxscore, which keeps its end.
        #[default]
        Pipe = "pipe",
        /// Thrown away by the kernel.
        Null = "null",
        /// To the file of [`Command::file`].
        File = "file",
    }
}

/// A working tree of ours in which a command runs (`--git`): made from a commit, and gone with the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tree {
    /// The user's own working tree, from whose repository it is made.
    pub repository: String,
    /// As it was named.
    pub revision: String,
    /// The whole hash.
    pub commit: String,
    /// The folder within the tree in which the command runs; empty for the tree itself.
    pub inside: String,
    /// Builds it in that folder.
    pub build: Option<String>,
}

/// The user's own work (`run --cmd`), and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Command {
    pub run: String,
    /// Run before each take, untimed.
    pub prepare: Option<String>,
    /// Run after each take, untimed.
    pub conclude: Option<String>,
    /// Run once before the first take of a sitting.
    pub setup: Option<String>,
    /// Builds it before the first take of a sitting, each time with its object files linked in another order.
    pub relink: Option<String>,
    /// Run once after the last take of a sitting.
    pub cleanup: Option<String>,
    /// Metrics read from the output: name, and a regular expression with one group.
    pub metrics: BTreeMap<String, String>,
    pub shell: Shell,
    pub output: Output,
    /// The file of [`Output::File`].
    pub file: Option<String>,
    /// The file that it reads as its input; without it there is none.
    pub input: Option<String>,
    /// A regular expression that its output must match; else the take is a fault.
    pub expect: Option<String>,
    /// An exit status other than 0 is no fault: any, or one of these (`3,4`).
    pub ignore_failure: Option<String>,
    pub env: BTreeMap<String, String>,
    /// Its working directory.
    pub dir: Option<String>,
    /// Of what its directory was made, where that is a working tree of ours.
    pub tree: Option<Tree>,
    /// The page cache is dropped before each take.
    pub cold: bool,
    /// The container that it runs in (`podman:IMAGE`); without it, this host.
    pub inside: Option<String>,
}

/// Of [`Command::ignore_failure`]: every exit status.
pub const ANY_FAILURE: &str = "all";

/// The commands of a plan, by name.
pub type Commands = BTreeMap<String, Command>;

impl Command {
    /// Every text in which placeholders may stand.
    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let Command { run, prepare, conclude, setup, relink, cleanup, file, input, env, dir, inside, .. } =
            self;
        let some = [prepare, conclude, setup, relink, cleanup, file, input, dir, inside];
        std::iter::once(run).chain(some.into_iter().flatten()).chain(env.values_mut())
    }

    /// The names of its placeholders.
    pub fn placeholders(&self) -> BTreeSet<String> {
        self.clone().texts().flat_map(|text| placeholders(text)).collect()
    }

    /// With the placeholders replaced that `set` has. With none in `set` every brace stays as it is.
    #[must_use]
    pub fn filled(&self, set: &Params) -> Command {
        let mut filled = self.clone();
        let has = |name: &String| set.get(name).is_some();
        if self.placeholders().iter().any(has) {
            filled.texts().for_each(|text| *text = fill(text, set));
        }
        filled
    }
}

/// A part of a text with placeholders.
enum Piece<'a> {
    Text(&'a str),
    /// `{name}`.
    Name(&'a str),
    /// `{{name}}`, without its outer braces.
    Literal(&'a str),
}

/// The name at the start of `text` and up to `end`: a letter or `_`, then letters, digits, `_` and `-`.
fn name_until<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let name = text.split_once(end)?.0;
    let first = name.chars().next()?;
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    is_name.then_some(name)
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('{')) {
        let open = at + found;
        let after = text.get(open + 1..).unwrap_or_default();
        let is_variable = text.get(..open).is_some_and(|before| before.ends_with('$'));
        let literal = after.strip_prefix('{').and_then(|inner| name_until(inner, "}}"));
        let (piece, length) = match (literal, name_until(after, "}")) {
            (Some(name), _) => {
                let inner = text.get(open + 1..open + name.len() + 3).unwrap_or_default();
                (Piece::Literal(inner), name.len() + 4)
            }
            (None, Some(name)) if !is_variable => (Piece::Name(name), name.len() + 2),
            _ => {
                at = open + 1;
                continue;
            }
        };
        pieces.push(Piece::Text(text.get(from..open).unwrap_or_default()));
        pieces.push(piece);
        at = open + length;
        from = at;
    }
    pieces.push(Piece::Text(text.get(from..).unwrap_or_default()));
    pieces
}

/// The names of the placeholders in a text.
pub fn placeholders(text: &str) -> BTreeSet<String> {
    let name = |piece: Piece<'_>| match piece {
        Piece::Name(name) => Some(name.to_owned()),
        Piece::Text(_) | Piece::Literal(_) => None,
    };
    pieces(text).into_iter().filter_map(name).collect()
}

/// A text with the placeholders replaced that `set` has; `{{name}}` becomes `{name}`.
fn fill(text: &str, set: &Params) -> String {
    let filled = pieces(text).into_iter().map(|piece| match piece {
        Piece::Text(text) | Piece::Literal(text) => text.to_owned(),
        Piece::Name(name) => set.get(name).map_or_else(|| format!("{{{name}}}"), str::to_owned),
    });
    filled.collect()
}

/// Text that can stand in a parameter: one line, without the signs that separate parameters, not too long. What had
/// to be changed for that ends with a hash of the whole text, so that different texts stay different.
pub fn label(text: &str) -> String {
    const MOST: usize = 80;
    let plain: String =
        text.chars().map(|c| if matches!(c, ';' | ',' | '=') || c.is_control() { ' ' } else { c }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain == text && plain.chars().count() <= MOST {
        return plain;
    }
    // FNV-1a, 32 bits: it must be the same in every build.
    let hash =
        text.bytes().fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let start: String = plain.chars().take(MOST - 9).collect();
    format!("{}~{hash:08x}", start.trim_end())
}

/// The commands of a stored plan: a table, or in older plans one command or none.
pub(crate) fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Commands, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        One(One),
        Table(Commands),
    }
    /// As older plans have it.
    #[derive(Deserialize)]
    struct One {
        run: String,
        prepare: Option<String>,
        metrics: BTreeMap<String, String>,
    }
    // Frames are of this build alone, and do not tell what they hold.
    if !from.is_human_readable() {
        return Commands::deserialize(from);
    }
    Ok(match Option::<Stored>::deserialize(from)? {
        None => Commands::new(),
        Some(Stored::Table(table)) => table,
        Some(Stored::One(One { run, prepare, metrics })) => {
            let name = label(&run);
            Commands::from([(name, Command { run, prepare, metrics, ..Command::default() })])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        placeholders(text).into_iter().collect()
    }

    #[test]
    fn placeholders_are_words_in_braces() {
        assert_eq!(names("prog --level {level} -{a_b}{x-1}"), ["a_b", "level", "x-1"]);
        for literal in [
            "${HOME}",
            "find -exec {} +",
            "{a,b}",
            "awk '{print $1}'",
            "{ x}",
            "{1}",
            "{{x}}",
            "{{{x}}}",
            "{",
            "{x",
        ] {
            assert_eq!(names(literal), [""; 0], "{literal}");
        }
    }

    #[test]
    fn only_what_an_arm_has_is_replaced() {
        let command = Command {
            run: "awk '{print}' {{level}} ${x} {level} {é} {other}".to_owned(),
            dir: Some("/b/{level}".to_owned()),
            ..Command::default()
        };
        let set = |text: &str| Params::parse(text).unwrap();
        assert_eq!(command.filled(&set("size=2")), command);
        let filled = command.filled(&set("level=9;other={level}"));
        assert_eq!(filled.run, "awk '{print}' {level} ${x} 9 {é} {level}");
        assert_eq!(filled.dir.as_deref(), Some("/b/9"));
    }

    #[test]
    fn different_commands_stay_different() {
        assert_eq!(label("make -j8"), "make -j8");
        let texts = ["a=1;b,c\n  d", "a=1;b;c d", "a 1 b c d", "a 1 b c  d", "sleep 0.01; echo \"x=5\""];
        let long = ["x".repeat(100), format!("{}y", "x".repeat(100))];
        let mut labels: Vec<String> =
            texts.iter().map(|t| label(t)).chain(long.iter().map(|t| label(t))).collect();
        for one in &labels {
            assert!(one.chars().count() <= 80 && !one.contains([';', ',', '=']), "{one}");
            let params = Params::parse(&format!("command={one}")).unwrap();
            assert_eq!(params.get("command"), Some(one.as_str()));
        }
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), texts.len() + long.len());
    }

    #[test]
    fn older_plans_have_one_command_or_none() {
        #[derive(Deserialize)]
        struct Plan {
            #[serde(default, alias = "command", deserialize_with = "read")]
            commands: Commands,
        }
        let read = |text: &str| serde_json::from_str::<Plan>(text).unwrap().commands;
        assert!(read(r#"{"command": null}"#).is_empty() && read("{}").is_empty());
        let old = read(r#"{"command": {"run": "make -j8", "prepare": null, "metrics": {"a": "(b)"}}}"#);
        assert_eq!(old["make -j8"].run, "make -j8");
        let table =
            Commands::from([("run".to_owned(), Command { run: "x".to_owned(), ..Command::default() })]);
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(read(&format!(r#"{{"commands": {text}}}"#)), table);
    }
}
