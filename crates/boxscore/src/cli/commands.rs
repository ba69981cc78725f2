//! The options of `run` that belong to commands of the user's. They are named as hyperfine's where they do the same.

use model::Example;
use model::command::{ANY_FAILURE, Shell};

/// Above them in the help of a run that names `--cmd`.
pub const HEADING: &str = "Options of --cmd";

/// Examples of commands beside each other.
pub const EXAMPLES: [&Example; 6] = [
    &Example::new("boxscore run --cmd old=./a --cmd new=./b", "is my new build faster?"),
    &Example::new(
        "boxscore run --cmd 'zstd -{level} -c big' --arm level=1 --arm level=9",
        "one command with different values",
    ),
    &Example::new("boxscore run --cmd 'sort -S {mib}M big' --scan mib=1..64*2", "a curve of its time"),
    &Example::new(
        "boxscore run --cmd ./prog --git v1.0..HEAD --build 'make -j8'",
        "one command in two revisions",
    ),
    &Example::new("boxscore run --cmd make --dir old=../old --dir new=.", "one command in two checkouts"),
    &Example::new(
        "boxscore run --cmd 'make -j8' --prepare 'make clean' --takes 10",
        "untimed work before each take",
    ),
];

#[derive(Clone, Debug, Default, clap::Args)]
pub struct CommandArgs {
    /// A command of yours, or several beside each other: [NAME=]COMMAND
    #[arg(long = "cmd", value_name = "COMMAND", conflicts_with_all = ["names", "quick", "full", "targets"])]
    pub cmds: Vec<String>,
    /// A number in the command's output: a regex with one group. NAME:higher=RE or NAME:lower=RE says which way is
    /// good, so that compare can judge it; repeatable
    #[arg(long = "metric", value_name = "NAME=RE", requires = "cmds", help_heading = HEADING)]
    pub metrics: Vec<String>,
    /// Run this before each take, untimed; this one and others below: once for all commands, once for each in their
    /// order, or as NAME=COMMAND for one
    #[arg(long, short = 'p', value_name = "COMMAND", requires = "cmds", help_heading = HEADING)]
    pub prepare: Vec<String>,
    /// Run this after each take, untimed
    #[arg(long, short = 'C', value_name = "COMMAND", requires = "cmds", help_heading = HEADING)]
    pub conclude: Vec<String>,
    /// Run this once before the takes of each sitting
    #[arg(long, short = 's', value_name = "COMMAND", requires = "cmds", help_heading = HEADING)]
    pub setup: Vec<String>,
    /// Run this once after the takes of each sitting
    #[arg(long, short = 'c', value_name = "COMMAND", requires = "cmds", help_heading = HEADING)]
    pub cleanup: Vec<String>,
    /// The program that gets the command's text; `none` splits it into words and starts the first
    #[arg(long, short = 'S', value_name = "SHELL", requires = "cmds", help_heading = HEADING, default_value = "sh")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(Shell::WORDS))]
    pub shell: String,
    /// Warm-up takes of each command at first [default: 1]
    #[arg(long, short = 'w', visible_alias = "warmup", value_name = "N", requires = "cmds", help_heading = HEADING)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warm: Option<u32>,
    /// Drop the page cache before each take, where this user may
    #[arg(long, requires = "cmds", help_heading = HEADING)]
    pub cold: bool,
    /// Where the output goes: pipe (read here), null, or a file
    #[arg(long, value_name = "WHERE", requires = "cmds", help_heading = HEADING, default_value = "pipe")]
    pub output: String,
    /// A file that it reads as its input [default: none]
    #[arg(long, visible_alias = "stdin", value_name = "FILE", requires = "cmds", help_heading = HEADING)]
    pub input: Vec<String>,
    /// A take counts only where the output matches this
    #[arg(long, value_name = "REGEX", requires = "cmds", help_heading = HEADING)]
    pub expect: Vec<String>,
    /// Takes with any exit status but 0 count too, or with one of CODES (3,4)
    #[arg(long, short = 'i', value_name = "CODES", requires = "cmds", help_heading = HEADING)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = ANY_FAILURE)]
    pub ignore_failure: Option<String>,
    /// A variable of the environment, or NAME=K=V for one command; repeatable
    #[arg(long, value_name = "K=V", requires = "cmds", help_heading = HEADING)]
    pub env: Vec<String>,
    /// Run it in a container: docker:IMAGE, podman:IMAGE (which must be there) or nspawn:DIR; several NAME=... make
    /// variants of one command. Without --cmd: the server or store that is started here; several are arms
    #[arg(long = "in", value_name = "CONTAINER", help_heading = HEADING)]
    pub inside: Vec<String>,
    /// Run the command in two revisions, A..B, each in a working tree of its own
    #[arg(long, value_name = "A..B", requires = "cmds", help_heading = HEADING)]
    pub git: Option<String>,
    /// Name the first commit of --git A..B that is slower than A
    #[arg(long, requires = "git", help_heading = HEADING)]
    pub bisect: bool,
    /// Build each revision of --git by this, or each sitting's program of --shuffle-link
    #[arg(long, value_name = "COMMAND", requires = "cmds", help_heading = HEADING)]
    pub build: Option<String>,
    /// Build anew in each sitting, with object files linked in another order (gcc, clang, rustc)
    #[arg(long, requires = "build", help_heading = HEADING)]
    pub shuffle_link: bool,
    /// The command that the others are compared with, by its name [default: the first]
    #[arg(long, value_name = "NAME", requires = "cmds", help_heading = HEADING)]
    pub reference: Option<String>,
}

impl CommandArgs {
    pub fn is_empty(&self) -> bool {
        self.cmds.is_empty()
    }
}
