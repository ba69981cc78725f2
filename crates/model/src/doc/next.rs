//! The next step where figures could not be told: the remedy of the commonest cause.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::fixed;
use crate::format::list;
use crate::shell::placed;
use crate::why::{MANY, Needed, Repeat, not_worth};

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
        /// More takes in a run: one take shows no noise.
        Takes = "takes",
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
    /// How long those for the figures that need most would take, where it is known how long one took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Further {
    /// More than anybody would make: of runs or boxes by their number, of takes by their time.
    fn is_many(self) -> bool {
        match self.of {
            Repeat::Takes => self.needed(self.least).is_beyond(),
            Repeat::Runs | Repeat::Boxes => self.least > MANY,
        }
    }

    /// So many of them, with their time.
    fn needed(self, count: u64) -> Needed {
        let share = count as f64 / self.most.max(1) as f64;
        Needed {
            seconds: self.seconds.map(|most| (most as f64 * share).round() as u64),
            ..Needed::new(count, self.of)
        }
    }

    /// Beyond what each side has; `None` without any.
    pub fn new(needed: &[Needed], have: u64) -> Option<Further> {
        let of = needed.first()?.of;
        let counts =
            || needed.iter().filter(|one| one.of == of).map(|one| one.count.saturating_sub(have).max(1));
        let most = needed.iter().filter(|one| one.of == of).max_by_key(|one| one.count)?;
        Some(Further { least: counts().min()?, most: counts().max()?, of, seconds: most.seconds })
    }

    fn text(self) -> String {
        let (one, several) = match self.of {
            // They are told as a total: that is what the option takes.
            Repeat::Takes if self.needed(self.most).is_beyond() => {
                return format!(
                    "--takes {} would tell the first; all {}",
                    self.least,
                    self.beyond(self.most)
                );
            }
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

impl Further {
    /// `9,120 takes would be needed, about 10 h: not worth telling`.
    fn beyond(self, count: u64) -> String {
        let seconds = self.needed(count).seconds.unwrap_or(0);
        format!("{} takes would be needed, {}", fixed(count as f64, 0), not_worth(seconds))
    }
}

impl NextStep {
    /// False where the sentence only says that no step is worth its time.
    pub fn is_worth_trying(&self) -> bool {
        let is_endless = self.further.is_some_and(|further| further.is_many() && further.of == Repeat::Takes);
        !(is_endless && self.remedy == Remedy::Repeat)
    }

    /// The sentence without the commands.
    fn says(&self) -> String {
        let what = match self.remedy {
            Remedy::Quiet => "measure again while nothing else runs",
            Remedy::Hour => "measure again at another hour: the hypervisor withheld CPU time",
            Remedy::Clock => "measure again with a steady clock (`boxscore doctor` says how)",
            Remedy::Generator => "send the load from another machine: --from 'ssh HOST boxscore'",
            Remedy::Disk => "measure a directory on the disk itself: --dir DIRECTORY",
            Remedy::Repeat => "measure again",
            Remedy::Takes => "measure again with more takes: `boxscore run` with --takes 6 or more",
            Remedy::LongerLog => "compare logs of a longer time: what was served cannot be measured again",
            Remedy::Margin => "compare with the margin that matters to you: --margin 10%",
        };
        match self.further {
            Some(further) if !self.is_worth_trying() => further.beyond(further.least),
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
    /// False where the sentence only says that no step is worth its time.
    #[serde(default = "always")]
    worth_trying: bool,
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

const fn always() -> bool {
    true
}

impl From<NextStep> for NextStepDoc {
    fn from(step: NextStep) -> NextStepDoc {
        let (text, worth_trying) = (step.to_string(), step.is_worth_trying());
        let NextStep { remedy, figures, open, further, commands, elsewhere } = step;
        NextStepDoc { remedy, text, worth_trying, figures, open, further, commands, elsewhere }
    }
}

impl From<NextStepDoc> for NextStep {
    fn from(doc: NextStepDoc) -> NextStep {
        let NextStepDoc { remedy, text: _, worth_trying: _, figures, open, further, commands, elsewhere } =
            doc;
        NextStep { remedy, figures, open, further, commands, elsewhere }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_says_what_to_do_how_often_and_by_which_command() {
        let needed = |count| Needed::new(count, Repeat::Runs);
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
        let takes = Further::new(&[Needed::new(40, Repeat::Takes)], 0).unwrap();
        assert_eq!(takes.text(), "--takes 40 would tell");
    }

    #[test]
    fn takes_that_last_for_hours_are_no_step() {
        let takes = |count: u64| Needed { seconds: Some(count * 4), ..Needed::new(count, Repeat::Takes) };
        let step = |needed: &[Needed], remedy: Remedy| NextStep {
            remedy,
            figures: 2,
            open: 2,
            further: Further::new(needed, 0),
            commands: Vec::new(),
            elsewhere: Vec::new(),
        };
        let endless = step(&[takes(9_120)], Remedy::Repeat);
        assert_eq!(endless.to_string(), "9,120 takes would be needed, about 10 h: not worth telling");
        let json = serde_json::to_value(&endless).unwrap();
        assert!(!endless.is_worth_trying() && json["worth_trying"] == false, "{json}");
        assert_eq!(json["further"]["seconds"], 36_480);
        assert_eq!(serde_json::from_value::<NextStep>(json).unwrap(), endless);
        let some = step(&[takes(80), takes(9_120)], Remedy::Repeat);
        assert!(some.is_worth_trying());
        assert_eq!(
            some.to_string(),
            "measure again: --takes 80 would tell the first; all 9,120 takes would be needed, about 10 h: not worth \
             telling"
        );
        // What is needed once it is quiet is not known yet.
        let loud = step(&[takes(9_120)], Remedy::Quiet);
        assert_eq!(loud.to_string(), "measure again while nothing else runs");
        assert!(loud.is_worth_trying());
        assert_eq!(step(&[takes(80)], Remedy::Repeat).to_string(), "measure again: --takes 80 would tell");
    }
}
