//! Arguments of a quick score of nodes, as `lab odd` and `lab boot` take it.

#[derive(Clone, Debug, Default, clap::Args)]
pub struct ScoreArgs {
    /// Instruments or families to measure [default: the headline set]; repeatable
    #[arg(long, value_name = "NAME|FAMILY")]
    pub measure: Vec<String>,
    /// Fix a parameter (k=v or instrument.k=v); repeatable
    #[arg(long = "set", value_name = "K=V", requires = "measure")]
    pub sets: Vec<String>,
    /// Exactly N measured takes of each figure [default: those of --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub takes: Option<u32>,
    /// End each node's run after this long [default: 2m, with --measure 3m]
    #[arg(long = "for", value_name = "DURATION")]
    pub span: Option<String>,
}

impl ScoreArgs {
    /// The first of these options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--measure", !self.measure.is_empty()),
            ("--set", !self.sets.is_empty()),
            ("--takes", self.takes.is_some()),
            ("--for", self.span.is_some()),
        ];
        all.iter().find(|(_, is_given)| *is_given).map(|(flag, _)| *flag)
    }
}
