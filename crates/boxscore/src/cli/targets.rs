//! The options of every verb that measures targets in turns: which they are, and how their hosts are known.

#[derive(Clone, Debug, Default, clap::Args)]
pub struct TargetArgs {
    /// A server, store or far end to measure beside others, in turns: [NAME=]URL, or [NAME=]HOST:PORT; repeatable
    #[arg(long = "target", value_name = "NAME=URL")]
    pub targets: Vec<String>,
    /// Starts boxscore on the host of a target, for facts and telemetry
    #[arg(long, value_name = "NAME=COMMAND")]
    pub at: Vec<String>,
    /// Facts of the host of a target: what `boxscore inspect --json` printed there
    #[arg(long, value_name = "NAME=FILE")]
    pub facts: Vec<String>,
}
