//! Options of every command that speaks with BMCs.

#[derive(Clone, Debug, clap::Args)]
pub struct BmcArgs {
    /// Take any certificate of BMCs that speak Redfish; somebody else may answer, and learn the password
    #[arg(long)]
    pub insecure: bool,
}
