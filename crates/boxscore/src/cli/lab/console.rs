//! `boxscore lab console`: arguments of the console of a node.

use std::path::PathBuf;

const AFTER: &str = "\
Examples:
  boxscore lab console atom007
  boxscore lab console atom007 --take            where a session was left open
  boxscore lab console atom007 --log boot.log --for 5m < /dev/null
  echo root | boxscore lab console atom007 --for 10s
The console is that of the node's BMC by IPMI (serial over LAN), or what `console` in the inventory names: a port of
a serial server, a switch or a virtual machine, \"tcp://HOST:PORT\" or \"telnet://HOST:PORT\", as that speaks.
In a terminal ~. at the start of a line leaves it, and ~~ sends one ~; all else goes to the node, Ctrl-C too. Without a
terminal it reads until Ctrl-C, or for as long as --for says.
Exit codes: 0 it was left, or its time was over, 1 it could not be opened or the other side ended it, 130 interrupted.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ConsoleArgs {
    /// A node of the inventory
    #[arg(value_name = "NODE")]
    pub node: String,
    /// End the session of somebody else first
    #[arg(long)]
    pub take: bool,
    /// Append all that the console says to a file, with the times of its start and end
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// End after so long (30s, 5m)
    #[arg(long = "for", value_name = "TIME")]
    pub length: Option<String>,
    /// The inventory [default: ./lab.toml, else boxscore/lab.toml in the XDG configuration directory]
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,
}
