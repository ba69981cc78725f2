//! The parameters of network tests, and how they are read from a setup.

use std::time::Duration;

use model::finding::{Recorded, Subject};
use model::params::parse_bytes;
use model::{Finding, Flag, Label, Matched, Means, ParamKind, ParamSpec, Part, Setup, Size, Unfit, flags};

use super::frame::{MOST_DATAGRAM, Proto, Wait, Way};
use super::target::{LOOPBACK, To};
use crate::system_files::Root;
use crate::system_files::cgroup;

/// The address of a target that is a far end.
fn far_end(address: &str) -> Result<flags::Settings, String> {
    match To::parse(address) {
        Ok(To::Peer { .. }) => Ok(vec![("to", address.to_owned())]),
        Ok(To::Loopback) => Err("the loopback is this machine; a far end is HOST or HOST:PORT".to_owned()),
        Err(unfit) => Err(unfit.why),
    }
}

pub const TO: ParamSpec = ParamSpec::new(
    "to",
    ParamKind::Text,
    "loopback",
    "the far end: HOST or HOST:PORT where `boxscore peer` listens, or loopback: a child on other cores here",
)
.label(Label::Form("to {}"))
.part(Part::Address { ours: &[LOOPBACK] })
.matched(Matched::Address)
.target(far_end)
.flag(Flag::new(
    "to",
    "HOST[:PORT]",
    "Far end, where `boxscore peer` or --far listens; or loopback, the default",
    Means::Param("to"),
));
pub const TOKEN: ParamSpec = ParamSpec::new(
    "token",
    ParamKind::Or("none", &ParamKind::Path),
    "none",
    "file with the token that the peer was given too",
)
.flag(Flag::new("token", "FILE", "File with the token that the far end has too", Means::Path("token")));
pub const FAR: ParamSpec = ParamSpec::new(
    model::plan::FAR,
    ParamKind::Text,
    "",
    "the child of the study (--far) that is the far end: it listens at the address of `to`, on its port or a free one",
)
.flag(
    Flag::new(
        model::plan::FAR,
        "COMMAND",
        "Start the far end: the command that starts boxscore there ([NAME=]COMMAND); it listens at the address of --to, on \
         its port or a free one, until the run ends",
        Means::Child(model::plan::FAR),
    )
    .needs("to", "the address of its host at which it is to listen")
    .conflicts(&["token", "from"]),
);
pub const PROTO: ParamSpec = ParamSpec::new(
    "proto",
    ParamKind::Choice(&["tcp", "udp"]),
    "tcp",
    "what carries the messages; tcp has TCP_NODELAY",
)
.label(Label::Value);
pub const MODE: ParamSpec = ParamSpec::new(
    "mode",
    ParamKind::Choice(&["spin", "block", "busy-poll"]),
    "spin",
    "how both ends wait: asking again and again, asleep, or asleep while the kernel polls the device for 50 us",
).label(Label::Value);
/// Size of a message or datagram.
pub const SIZE: ParamSpec =
    ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 64 << 20 }, "64", "bytes of a message")
        .label(Label::Bytes);
pub const TIMEOUT: ParamSpec = ParamSpec::new(
    "timeout",
    ParamKind::Time { max: 10 },
    "200ms",
    "a datagram without an answer within this time is lost",
);
pub const DURATION: ParamSpec =
    ParamSpec::new("duration", ParamKind::Seconds { max: 60 }, "0.4", "how long one take sends, in seconds");

const SMOKE: Duration = Duration::from_millis(20);

pub fn proto(setup: &Setup) -> Proto {
    if setup.params.get("proto") == Some("udp") { Proto::Udp } else { Proto::Tcp }
}

pub fn wait(setup: &Setup) -> Wait {
    match setup.params.get("mode") {
        Some("block") => Wait::Block,
        Some("busy-poll") => Wait::BusyPoll,
        _ => Wait::Spin,
    }
}

pub fn way(setup: &Setup) -> Way {
    match setup.params.get("direction") {
        Some("receive") => Way::Receive,
        Some("both") => Way::Both,
        _ => Way::Send,
    }
}

/// Size of a message in bytes; a datagram must have room for its number. Fails when the size is out of range.
pub fn size(setup: &Setup, proto: Proto, least_datagram: u64) -> Result<u64, Unfit> {
    let size = setup.params.get("size").and_then(parse_bytes).unwrap_or(64);
    match proto {
        Proto::Udp if !(least_datagram..=MOST_DATAGRAM).contains(&size) => {
            Err(Unfit::new(format!("size={size}: a datagram here has {least_datagram} to {MOST_DATAGRAM} B")))
        }
        _ => Ok(size),
    }
}

/// A time parameter. Fails when it is not a time.
pub fn time(setup: &Setup, name: &str) -> Result<Duration, Unfit> {
    let text = setup.params.get(name).unwrap_or_default();
    let seconds = model::params::parse_span(text);
    let seconds = seconds.ok_or_else(|| Unfit::new(format!("{name}={text} is not a time")))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| Unfit::new(format!("{name}={text} is not a time")))
}

/// How long one take sends; a smoke take is short. Fails when the parameter is not a time.
pub fn span(setup: &Setup) -> Result<Duration, Unfit> {
    let span = time(setup, DURATION.name)?;
    Ok(if setup.size == Size::Smoke { span.min(SMOKE) } else { span })
}

/// Number of threads that spin on this machine at the same time.
fn spinning(setup: &Setup) -> Result<usize, Unfit> {
    Ok(match (wait(setup), To::from_setup(setup)?) {
        (Wait::Spin, To::Loopback) => 2,
        (Wait::Spin, To::Peer { .. }) => 1,
        _ => 0,
    })
}

/// Fails when more threads would spin than there are CPUs: each would wait for the scheduler to end the other's turn.
pub fn fit_spinning(setup: &Setup) -> Result<(), Unfit> {
    let (threads, cpus) = (spinning(setup)?, setup.cpus.len());
    if threads > cpus {
        return Err(Unfit::new(format!(
            "mode=spin keeps {threads} threads busy and {cpus} CPU is allowed; mode=block needs one"
        )));
    }
    Ok(())
}

/// A finding if spinning would use up the CPU quota, which stops the threads for the rest of each period. Fails when a
/// parameter is malformed.
pub fn doubt_spinning(setup: &Setup, name: &str) -> Result<Option<Finding>, Unfit> {
    let threads = spinning(setup)? as f64;
    let quotas = cgroup::quotas(&Root::live());
    let least = quotas.iter().map(|quota| quota.cpus).fold(f64::INFINITY, f64::min);
    Ok((threads > least)
        .then(|| Finding::new(Recorded::Spinning { threads, cpus: least }).about(Subject::instrument(name))))
}

#[cfg(test)]
mod tests {
    use model::{Instrument, Params};

    use super::*;

    fn setup(given: &str, cpus: &[u32]) -> Setup {
        let card = crate::bench::net::net_rtt::INSTRUMENT.card();
        Setup::bare(
            card.resolve(&Params::parse(given).unwrap()).unwrap(),
            cpus.to_vec(),
            std::env::temp_dir(),
        )
    }

    #[test]
    fn threads_that_spin_have_a_cpu_each() {
        let fits = |given: &str, cpus: &[u32]| fit_spinning(&setup(given, cpus));
        assert!(fits("mode=spin", &[0]).unwrap_err().why.contains("2 threads busy and 1 CPU"));
        for (given, cpus) in [("mode=spin", &[0, 1][..]), ("mode=block", &[0]), ("mode=spin;to=a", &[0])] {
            assert_eq!(fits(given, cpus), Ok(()), "{given}");
        }
    }

    #[test]
    fn datagrams_have_sizes_of_their_own() {
        let of = |given: &str| size(&setup(given, &[0]), proto(&setup(given, &[0])), 8);
        assert_eq!(of("proto=tcp;size=1"), Ok(1));
        assert_eq!(of("proto=udp;size=8"), Ok(8));
        assert!(of("proto=udp;size=7").is_err() && of("proto=udp;size=64KiB").is_err());
        assert_eq!(time(&setup("timeout=5ms", &[0]), "timeout"), Ok(Duration::from_millis(5)));
    }
}
