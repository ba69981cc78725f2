//! `boxscore peer`: the far end of network tests, until it is interrupted.

use std::net::SocketAddr;
use std::path::PathBuf;

use instruments::bench::net::frame::PORT;
use instruments::bench::net::peer::{self, Peer, PeerOptions};
use instruments::bench::net::target::read_token;

use crate::error::CliError;
use crate::lookup::cpus;
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore peer --listen 10.0.0.2:7411       then, elsewhere: boxscore run net --to 10.0.0.2
  boxscore peer --listen 0.0.0.0 --token t   only for who has the same token: run net --to HOST --token t
It answers its own protocol only, one test at a time, on this TCP port, and on the UDP port of the same number while a
test of datagrams is under way. Without --token, whoever reaches the port can have it send and receive at full speed.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct PeerArgs {
    /// Address to listen at; port 0 is one that is free [default port: 7411]
    #[arg(long, value_name = "ADDR[:PORT]", required_unless_present = "child")]
    pub listen: Option<String>,
    /// File with a token that askers must have too
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
    /// The largest message that it takes part with
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub limit: String,
    /// Bind its threads to these CPUs (0-3,8)
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Be told on stdin instead: started by the measuring child
    #[arg(long, hide = true, conflicts_with_all = ["listen", "token", "limit", "cpus"])]
    pub child: bool,
}

pub fn run(args: &PeerArgs) -> Result<u8, CliError> {
    if args.child {
        return peer::child(std::io::stdin(), std::io::stdout())
            .map(|never| match never {})
            .map_err(CliError::data);
    }
    let listen = args.listen.as_deref().unwrap_or_default();
    let allowed = cpus::allowed()?;
    let cpus = args.cpus.as_deref().map(|list| cpus::listed(list, &allowed)).transpose()?;
    let options = PeerOptions {
        listen: address(listen)?,
        token: args.token.as_deref().map(read_token).transpose().map_err(CliError::data)?.unwrap_or_default(),
        limit: model::params::parse_bytes(&args.limit)
            .filter(|limit| (1..=64 << 20).contains(limit))
            .ok_or_else(|| {
                CliError::usage(format!("--limit {}: a size from 1 to 64MiB", args.limit))
                    .hint("the default is 1MiB")
            })?,
        cpus: cpus.unwrap_or_default(),
        ..PeerOptions::default()
    };
    let is_open = options.token.is_empty() && !options.listen.ip().is_loopback();
    let peer = Peer::bind(options, Box::new(out::say)).map_err(CliError::data)?;
    if is_open {
        out::say("note: without --token, whoever reaches this port can use it");
    }
    out::print(&format!("listening on {}\n", peer.address()));
    peer.serve().map(|never| match never {}).map_err(CliError::data)
}

/// An IP address, with a port or with ours.
fn address(text: &str) -> Result<SocketAddr, CliError> {
    let with_port = text.parse::<SocketAddr>().ok();
    let bare = || text.trim_matches(['[', ']']).parse().ok().map(|ip| SocketAddr::new(ip, PORT));
    with_port.or_else(bare).ok_or_else(|| {
        CliError::usage(format!("--listen {text}: not an address"))
            .hint("for example 10.0.0.2:7411, 0.0.0.0 or [::]:7411")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let of = |text| address(text).map(|address| address.to_string()).ok();
        assert_eq!(of("10.0.0.2:9").as_deref(), Some("10.0.0.2:9"));
        assert_eq!(of("0.0.0.0").as_deref(), Some("0.0.0.0:7411"));
        assert_eq!(of("::1").as_deref(), Some("[::1]:7411"));
        assert_eq!(of("[::]:7").as_deref(), Some("[::]:7"));
        assert_eq!((of("host"), of("")), (None, None));
    }
}
