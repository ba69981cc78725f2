//! `boxscore lab push` and `boxscore lab pull`: arguments of copies.

use std::path::PathBuf;

use super::reach::ReachArgs;

const AFTER_PUSH: &str = "\
Examples:
  boxscore lab push boxscore a,b:/usr/local/bin
  boxscore lab push site.conf hosts a,b:~/conf      the folder must be there
A file lies under another name until it is whole and its sha256 is right there (its size, where a host has no sha256sum),
so a copy that breaks leaves the old file. It keeps its permissions.";

const AFTER_PULL: &str = "\
Examples:
  boxscore lab pull a,b:/proc/cpuinfo facts         facts/a/cpuinfo, facts/b/cpuinfo
  boxscore lab pull a,b:/var/log/syslog,/etc/fstab logs
A file is here whole and verified, or not at all. One that grows is read as long as it was.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER_PUSH)]
pub struct PushArgs {
    /// Files of this side
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Hosts and a folder of theirs: a,b:/opt
    #[arg(value_name = "HOSTS:FOLDER", required = true)]
    pub to: String,
    #[command(flatten)]
    pub reach: ReachArgs,
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER_PULL)]
pub struct PullArgs {
    /// Hosts and files of theirs: a,b:/etc/fstab,/etc/hosts
    #[arg(value_name = "HOSTS:FILES")]
    pub from: String,
    /// A folder of this side; each host gets one in it
    #[arg(value_name = "FOLDER")]
    pub to: PathBuf,
    #[command(flatten)]
    pub reach: ReachArgs,
}
