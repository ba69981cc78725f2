//! Options of every command that takes an expression of machines.

use std::path::PathBuf;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct SelectArgs {
    /// Leave these out; repeatable
    #[arg(short = 'x', long = "exclude", value_name = "EXPR")]
    pub exclude: Vec<String>,
    /// Keep only those that are also in this; repeatable
    #[arg(short = 'i', long = "intersect", value_name = "EXPR")]
    pub intersect: Vec<String>,
    /// Also the expressions of a file, between blanks or line ends; # begins a remark
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The inventory [default: ./lab.toml, else boxscore/lab.toml in the XDG configuration directory]
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,
}
