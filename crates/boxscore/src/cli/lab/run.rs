//! `boxscore lab run`: arguments of a command for many hosts.

use super::reach::ReachArgs;
use super::select::SelectArgs;

const AFTER: &str = "\
Examples:
  boxscore lab run 'atom[001-044]!@sick' -- uname -r
  boxscore lab run @leaf1 -x atom050 -l root --timeout 5m -- 'apt-get -qy upgrade | tail -1'
  boxscore lab run a,b --json -- cat /proc/loadavg
`boxscore lab nodes EXPR` shows whom an expression names, and its help how one is written. Nodes of the inventory have its
address, login and port; other names are hosts as ssh knows them.
The shell of each host reads the command, as with ssh. On a terminal outputs that are the same are shown once, below the
list of their hosts; elsewhere each line has its host before it, as it comes (--fold and --lines choose). How the
commands ended is told on stderr. Exit codes: 0 the command ended with 0 everywhere, 3 not everywhere, 130 interrupted.
A command that takes too long, or is interrupted, may go on there: ssh has no way to end it.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER, override_usage = "boxscore lab run [OPTIONS] <EXPR>... -- <COMMAND>...")]
pub struct LabRunArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// The command, behind `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub command: Vec<String>,
    /// Show outputs that are the same once, also where stdout is no terminal
    #[arg(long, conflicts_with = "lines")]
    pub fold: bool,
    /// Show each line behind its host, as it comes, also on a terminal
    #[arg(long)]
    pub lines: bool,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
}
