//! The next step where figures could not be told: the remedy of the commonest cause.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::list;
use crate::shell::placed;
use crate::why::{MANY, Needed, Repeat};

crate::words! {
    /// A way to help figures of one cause.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Remedy as word {
        /// Nothing else may run meanwhile.
        Quiet = "quiet",
        /// The hypervisor gave the CPUs to others.
        Hour = "hour",
        /// The clock of the processor moved.
        Clock = "clock",
        /// The load generator has to be faster, or elsewhere.
        Generator = "generator",
        /// The disk was not what was measured.
        Disk = "disk",
        /// More of the same.
        Repeat = "repeat",
        /// No number of repetitions would tell; a wider margin would.
        Margin = "margin",
        /// The logs cover too little time.
        LongerLog = "longer-log",
    }
}

/// The next step of a comparison, for the figures that could not be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "NextStepDoc", from = "NextStepDoc")]
#[schemars(with = "NextStepDoc")]
pub struct NextStep {
    pub remedy: Remedy,
    /// Figures that could not be told for this cause, and for any.
    pub figures: u64,
    pub open: u64,
    /// How many repetitions more than there are would tell (of takes: how many in all), for the figures that need
    /// fewest and for those that need most. Absent where it cannot be computed.
    pub further: Option<Further>,
    /// Commands that repeat the newest runs, the base's first; one where both sides are of one study.
    pub commands: Vec<String>,
    /// Those of them that have to run on another machine.
    pub elsewhere: Vec<PlacedDoc>,
}

/// A command that has to run on another machine than this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedDoc {
    pub on: String,
    pub command: String,
}

/// Repetitions beyond those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Further {
    pub least: u64,
    pub most: u64,
    pub of: Repeat,
}

impl Further {
    /// More than anybody would make: of runs or boxes; takes are cheap.
    fn is_many(self) -> bool {
        self.of != Repeat::Takes && self.least > MANY
    }

    /// Beyond what each side has; `None` without any.
    pub fn new(needed: &[Needed], have: u64) -> Option<Further> {
        let of = needed.first()?.of;
        let counts =
            || needed.iter().filter(|one| one.of == of).map(|one| one.count.saturating_sub(have).max(1));
        Some(Further { least: counts().min()?, most: counts().max()?, of })
    }

    fn text(self) -> String {
        let (one, several) = match self.of {
            // They are told as a total: that is what the option takes.
            Repeat::Takes => return format!("--takes {} would tell", self.most),
            Repeat::Runs => ("run", "runs"),
            Repeat::Boxes => ("box", "boxes"),
        };
        let what = if self.least == 1 { one } else { several };
        match self.least == self.most {
            true => format!("about {} more {what} each would tell", self.most),
            false => format!("about {} more {what} each would tell the first, {} all", self.least, self.most),
        }
    }
}

impl NextStep {
    /// The sentence without the commands.
    fn says(&self) -> String {
        let what = match self.remedy {
            Remedy::Quiet => "measure again while nothing else runs",
            Remedy::Hour => "measure again at another hour: the hypervisor withheld CPU time",
            Remedy::Clock => "measure again with a steady clock (`boxscore doctor` says how)",
            Remedy::Generator => "send the load from another machine: --from 'ssh HOST boxscore'",
            Remedy::Disk => "measure a directory on the disk itself: --dir DIRECTORY",
            Remedy::Repeat => "measure again",
            Remedy::LongerLog => "compare logs of a longer time: what was served cannot be measured again",
            Remedy::Margin => "compare with the margin that matters to you: --margin 10%",
        };
        match self.further {
            Some(further) if further.is_many() && self.remedy == Remedy::Repeat => format!(
                "repeating will not tell it (it would need {} more each): measure both sides side by side, as arms of \
                 one study (`--arm`, `--target` or `--via`)",
                further.least
            ),
            // What is needed without the disturbance is not known yet.
            Some(further) if further.is_many() => what.to_owned(),
            Some(further) if self.remedy == Remedy::Repeat => format!("{what}: {}", further.text()),
            Some(further) => format!("{what}; then {}", further.text()),
            None => what.to_owned(),
        }
    }
}

impl std::fmt::Display for NextStep {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.says())?;
        let away = self.elsewhere.iter().map(|one| placed(Some(&one.on), &one.command));
        let all: Vec<String> = self.commands.iter().cloned().chain(away).collect();
        match all.as_slice() {
            _ if self.remedy == Remedy::Repeat && self.further.is_some_and(Further::is_many) => Ok(()),
            [] => Ok(()),
            some => write!(to, ": {}", list(some)),
        }
    }
}

/// The form of [`NextStep`] in a document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextStepDoc {
    remedy: Remedy,
    /// The sentence, with the commands.
    text: String,
    /// Figures that could not be told for this cause.
    figures: u64,
    /// Figures that could not be told for any.
    open: u64,
    /// How many repetitions more than there are would tell; absent where it cannot be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    further: Option<Further>,
    /// Commands that repeat the newest runs, the base's first; one where both sides are of one study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
    /// Those of them that have to run on another machine than this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<PlacedDoc>,
}

impl From<NextStep> for NextStepDoc {
    fn from(step: NextStep) -> NextStepDoc {
        let text = step.to_string();
        let NextStep { remedy, figures, open, further, commands, elsewhere } = step;
        NextStepDoc { remedy, text, figures, open, further, commands, elsewhere }
    }
}

impl From<NextStepDoc> for NextStep {
    fn from(doc: NextStepDoc) -> NextStep {
        let NextStepDoc { remedy, text: _, figures, open, further, commands, elsewhere } = doc;
        NextStep { remedy, figures, open, further, commands, elsewhere }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_says_what_to_do_how_often_and_by_which_command() {
        let needed = |count| Needed { count, of: Repeat::Runs };
        let further = Further::new(&[needed(4), needed(9)], 1);
        let command = vec!["boxscore run --plan 01".to_owned()];
        let mut step = NextStep {
            remedy: Remedy::Repeat,
            figures: 6,
            open: 6,
            further,
            commands: command,
            elsewhere: Vec::new(),
        };
        let says =
            "measure again: about 3 more runs each would tell the first, 8 all: boxscore run --plan 01";
        assert_eq!(step.to_string(), says);
        step.remedy = Remedy::Quiet;
        step.open = 9;
        step.further = Further::new(&[needed(2)], 1);
        let says = "measure again while nothing else runs; then about 1 more run each would tell: boxscore run --plan 01";
        assert_eq!(step.to_string(), says);
        let mut endless = step.clone();
        endless.further = Further::new(&[needed(120)], 1);
        assert_eq!(endless.to_string(), "measure again while nothing else runs: boxscore run --plan 01");
        endless.remedy = Remedy::Repeat;
        let text = endless.to_string();
        assert!(
            text.starts_with("repeating will not tell it (it would need 119 more each): measure both"),
            "{text}"
        );
        assert!(!text.contains("boxscore run --plan"), "{text}");
        let json = serde_json::to_value(&step).unwrap();
        assert_eq!(json["text"], says);
        assert_eq!(serde_json::from_value::<NextStep>(json).unwrap(), step);
        assert_eq!(Further::new(&[], 1), None);
        let takes = Further::new(&[Needed { count: 40, of: Repeat::Takes }], 0).unwrap();
        assert_eq!(takes.text(), "--takes 40 would tell");
    }
}
