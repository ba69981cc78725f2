//! `boxscore lab push` and `boxscore lab pull`: arguments of copies.

use std::path::PathBuf;

use super::reach::ReachArgs;
use super::select::SelectArgs;

const AFTER_PUSH: &str = "\
Examples:
  boxscore lab push boxscore 'atom[001-044]:/usr/local/bin'
  boxscore lab push boxscore -f names.txt :/opt     the machines of a file
  boxscore lab push site.conf hosts a,b:~/conf      the folder must be there
  boxscore lab push --content site @satellites      a tree of files, into ~/.cache/boxscore/content/site
  boxscore lab push --content site @satellites:/srv/www
The expression of machines is as for `boxscore lab nodes`; where it is in -f, the colon comes first.
A file lies under another name until it is whole and its sha256 is right there (its size, where a host has no sha256sum),
so a copy that breaks leaves the old file. It keeps its permissions.
Of a tree, only files that a node has not got or has otherwise are sent: by rsync where both sides have it, else by tar. Then the
sha256 of every file is looked at there. Files that the tree does not have stay. With --content a folder begins with / or ~.";

const AFTER_PULL: &str = "\
Examples:
  boxscore lab pull a,b:/proc/cpuinfo facts         facts/a/cpuinfo, facts/b/cpuinfo
  boxscore lab pull a,b:/var/log/syslog,/etc/fstab logs
A file is here whole and verified, or not at all. One that grows is read as long as it was.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER_PUSH)]
pub struct PushArgs {
    /// Files of this side, and last machines with a folder of theirs: a,b:/opt, @leaf1:~/conf
    #[arg(value_names = ["FILE", "EXPR:FOLDER"], num_args = 1.., required = true)]
    pub words: Vec<PathBuf>,
    /// Send the tree of this folder in place of files
    #[arg(long, value_name = "DIR")]
    pub content: Option<PathBuf>,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER_PULL)]
pub struct PullArgs {
    /// Machines and files of theirs: a,b:/etc/fstab,/etc/hosts
    #[arg(value_name = "EXPR:FILES")]
    pub from: String,
    /// A folder of this side; each host gets one in it
    #[arg(value_name = "FOLDER")]
    pub to: PathBuf,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub reach: ReachArgs,
}
