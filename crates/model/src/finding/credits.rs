//! `credits`: the instance type earns CPU time and spends it faster than it earns under load.

use super::{Conclusion, Evidence, Validity};

#[derive(Clone, Debug, PartialEq)]
pub struct Credits {
    /// As the facts call it: `t3.micro`.
    pub instance: String,
    /// The run went on for long (`--soak`).
    pub soaked: bool,
}

impl Conclusion for Credits {
    fn kind(&self) -> &str {
        "credits"
    }

    fn state(&self) -> Validity {
        if self.soaked { Validity::Ok } else { Validity::Doubtful }
    }

    fn one(&self) -> String {
        let instance = &self.instance;
        match self.soaked {
            true => format!(
                "{instance} spends CPU credits under load: the sustained figures are what it does without"
            ),
            false => format!(
                "short takes show {instance} at its best: it spends CPU credits under load, and slows down without; \
                 `boxscore run --soak 30m` shows what lasts"
            ),
        }
    }

    fn evidence(&self) -> Evidence {
        Evidence::new()
    }
}
