//! `boxscore hadoop`: a Hadoop to measure with, and what old names of it are today.

use std::path::PathBuf;

use crate::cli::Global;
use crate::error::CliError;
use crate::hadoop;

const AFTER: &str = "\
Examples:
  boxscore hadoop fetch                    assemble Apache Hadoop with the host's Maven
  boxscore hadoop explain                  what the names of old guides are today
  boxscore hadoop explain fs.default.name  one of them
  boxscore hadoop explain conf             a configuration, line by line
docs/guide/hadoop.md has more.";

const FETCH: &str = "\
Needs mvn and a Java that this Hadoop runs on. Every jar is checked against its SHA-256. What Maven
has in ~/.m2 is used, so a second assembly needs no network. HADOOP_HOME names a Hadoop of yours
(3.3 or newer) that is used instead.
Examples:
  boxscore hadoop fetch
  boxscore hadoop fetch --dir /srv/hadoop   then: HADOOP_HOME=/srv/hadoop boxscore ...";

const EXPLAIN: &str = "\
Examples:
  boxscore hadoop explain
  boxscore hadoop explain mapred.job.tracker
  boxscore hadoop explain 'hadoop dfsadmin -report'
  boxscore hadoop explain /etc/hadoop/conf
Exit codes: 0 done; 1 nothing could be read; 2 no name that is known; 3 a file of the folder could not be read.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER, arg_required_else_help = true)]
pub struct HadoopArgs {
    #[command(subcommand)]
    pub verb: HadoopVerb,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub enum HadoopVerb {
    /// Assemble Apache Hadoop from Maven Central, each jar verified
    Fetch(FetchArgs),
    /// Say what the names of old guides are today, or what the lines of a configuration mean in Hadoop 3
    Explain(ExplainArgs),
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = FETCH)]
pub struct FetchArgs {
    /// The folder that it becomes [default: boxscore/hadoop/VERSION in the XDG data directory]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXPLAIN)]
pub struct ExplainArgs {
    /// A property, program, command, port, variable or file; or the folder of a configuration [default: the names that
    /// guides speak of]
    #[arg(value_name = "NAME|DIR")]
    pub what: Vec<String>,
    /// Every property that Hadoop has renamed too
    #[arg(long, conflicts_with = "what")]
    pub all: bool,
}

pub fn run(args: &HadoopArgs, global: &Global) -> Result<u8, CliError> {
    match &args.verb {
        HadoopVerb::Fetch(args) => hadoop::fetch::run(args, global),
        HadoopVerb::Explain(args) => hadoop::explain::run(args, global),
    }
}
