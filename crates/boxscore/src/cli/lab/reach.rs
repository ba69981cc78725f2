//! Options of every command that reaches hosts by ssh.

use std::path::PathBuf;

#[derive(Clone, Debug, clap::Args)]
pub struct ReachArgs {
    /// Log in as this user [default: that of the inventory, else of your ssh configuration]
    #[arg(short = 'l', long, value_name = "USER")]
    pub login: Option<String>,
    /// Hosts at once
    #[arg(long, value_name = "N", default_value = "64")]
    pub width: usize,
    /// How long a host may take, once it has let us in (30, 5m) [default: as long as it will]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// How long connecting to a host may take; its login may take three times that
    #[arg(long, value_name = "TIME", default_value = "10")]
    pub connect_timeout: String,
    /// How long connections stay open for the next command; 0 closes them
    #[arg(long, value_name = "TIME", default_value = "60")]
    pub keep: String,
    /// Configuration file of ssh in place of yours
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<PathBuf>,
    /// Say what would be done, and reach no host
    #[arg(long)]
    pub dry_run: bool,
}

impl Default for ReachArgs {
    /// As clap fills them where nothing is given.
    fn default() -> ReachArgs {
        ReachArgs {
            login: None,
            width: 64,
            timeout: None,
            connect_timeout: "10".to_owned(),
            keep: "60".to_owned(),
            ssh_config: None,
            dry_run: false,
        }
    }
}
