//! What tests of the network need beside their cards: what `--to`, `--far`, `--token` and `--test` stand for.

use model::plan::{FAR, Level};
use model::{Card, Family, Need, Tier};

use super::children;
use super::words::Word;
use crate::cli::run::{Args, Test};
use crate::error::CliError;

const FAMILY: &str = "net";
const LOOPBACK: &str = instruments::net::target::LOOPBACK;

/// As a test of this family is said on the command line, and what makes it; none of another family.
fn known(test: Test) -> Option<(&'static str, &'static str)> {
    Some(match test {
        Test::TcpRtt => ("tcp-rtt", "net-rtt"),
        Test::UdpRtt => ("udp-rtt", "net-rtt"),
        Test::Bandwidth => ("bandwidth", "net-bandwidth"),
        Test::ConnectionRate => ("connection-rate", "net-connect"),
        Test::PacketRate => ("packet-rate", "net-packets"),
        Test::Ping => ("ping", "net-ping"),
        Test::Rdma => ("rdma", "net-rdma"),
        _ => return None,
    })
}

fn proto(test: Test) -> Option<&'static str> {
    match test {
        Test::TcpRtt => Some("tcp"),
        Test::UdpRtt => Some("udp"),
        _ => None,
    }
}

/// The parameters that the flags of this family stand for.
pub fn flags(args: &Args) -> Result<Vec<Word>, CliError> {
    let mut words = Vec::new();
    if let Some(to) = &args.to {
        words.push(Word::new(&format!("--to {to}"), None, "to", to));
    }
    if let Some(far) = children::far(args)? {
        words.push(Word::new(&format!("--far {}", far.called()), None, FAR, &far.name));
    }
    if let Some(path) = &args.token {
        // The far end is asked from another directory than this one.
        let path = std::path::absolute(path)
            .map_err(|error| CliError::data(format!("--token {}: {error}", path.display())))?;
        let path = path.display().to_string();
        words.push(Word::new(&format!("--token {path}"), None, "token", &path));
    }
    // Both protocols are all that there are.
    let mut protos: Vec<_> =
        args.tests.iter().filter_map(|test| Some((known(*test)?.0, proto(*test)?))).collect();
    protos.dedup();
    if let [(test, proto)] = protos[..] {
        words.push(Word::new(&format!("--test {test}"), Some("net-rtt"), "proto", proto));
    }
    Ok(words)
}

/// The names to measure: `net` is the tests that are picked.
pub fn names(args: &Args, names: Vec<String>) -> Result<Vec<String>, CliError> {
    let is_net = |name: &String| name == FAMILY || name.starts_with("net-");
    let picked: Vec<&str> = args.tests.iter().filter_map(|test| Some(known(*test)?.1)).collect();
    let given = [
        ("--to", args.to.is_some()),
        ("--far", args.far.is_some()),
        ("--token", args.token.is_some()),
        ("--test", !picked.is_empty()),
    ];
    let stray = given.iter().find(|(_, is_given)| *is_given && !names.iter().any(is_net));
    if let Some((flag, _)) = stray {
        let hint = format!("boxscore run net {flag} ...");
        return Err(CliError::usage(format!("{flag} belongs to the family net")).hint(hint));
    }
    if args.far.is_some() && args.to.as_deref().is_none_or(|to| to == LOOPBACK) {
        let error = CliError::usage("--far needs --to: the address of its host at which it is to listen");
        return Err(error.hint("boxscore run net --to 10.0.0.2 --far 'ssh box2 ./boxscore'"));
    }
    if picked.is_empty() {
        return Ok(names);
    }
    if let Some(name) = names.iter().find(|name| is_net(name) && *name != FAMILY) {
        return Err(CliError::usage(format!("--test and `{name}` both name a test"))
            .hint("boxscore run net --test tcp-rtt"));
    }
    let others = names.iter().filter(|name| *name != FAMILY).cloned();
    Ok(others.chain(picked.into_iter().map(str::to_owned)).collect())
}

/// Measured without being named: what needs no far end.
#[must_use]
pub fn is_alone(card: &Card) -> bool {
    card.family != Family::Net && !card.needs.contains(&Need::Peer)
}

/// How much of a card is measured: a quick run has the quick variants too where they are named, and all of a card that
/// is named itself and has none.
#[must_use]
pub fn level(card: &Card, args: &Args, level: Level) -> Level {
    let has_quick = card.variants.iter().any(|variant| variant.tier <= Tier::Quick);
    let is_named = args.names.iter().any(|name| name == card.name);
    let is_quick = args.quick && matches!(card.family, Family::Net | Family::Kv);
    if is_quick && (has_quick || !is_named) { Level::Quick } else { level }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(names: &[&str], tests: &[Test]) -> Args {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Args { names, tests: tests.to_vec(), ..Args::default() }
    }

    #[test]
    fn what_is_named_is_measured_in_a_quick_run_too() {
        let quick = |name: &str| Args { quick: true, ..args(&[name], &[]) };
        assert!(cells(&quick("kv-load")).iter().any(|cell| cell.0 == "kv-load"));
        assert!(!cells(&quick("kv")).iter().any(|cell| cell.0 == "kv-load"));
    }

    fn cells(args: &Args) -> Vec<(String, String, String)> {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        let host = super::super::Host { cpus: 2, server: "nginx", ..super::super::Host::default() };
        let cells = super::super::plan(args, &cards, &host, 1).unwrap().0.cells;
        let of = |cell: &model::Cell, key: &str| cell.params.get(key).unwrap_or_default().to_owned();
        let mut all: Vec<_> =
            cells.iter().map(|cell| (cell.instrument.clone(), of(cell, "proto"), of(cell, "to"))).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn tests_are_picked() {
        let one = cells(&args(&["net"], &[Test::UdpRtt]));
        assert_eq!(one, [("net-rtt".into(), "udp".into(), "loopback".into())]);
        let two = cells(&args(&["net"], &[Test::UdpRtt, Test::TcpRtt]));
        assert_eq!(two.iter().map(|cell| cell.1.as_str()).collect::<Vec<_>>(), ["tcp", "udp"]);
        let to = Args { to: Some("10.0.0.2:9".to_owned()), ..args(&["net"], &[Test::Bandwidth]) };
        assert_eq!(cells(&to), [("net-bandwidth".into(), String::new(), "10.0.0.2:9".into())]);
    }

    #[test]
    fn a_run_without_names_has_no_tests_of_the_network() {
        assert!(cells(&args(&[], &[])).iter().all(|cell| !cell.0.starts_with("net-")));
        assert!(cells(&args(&["net"], &[])).len() >= 5);
    }

    #[test]
    fn flags_belong_to_the_family() {
        let refused = |args: &Args| names(args, args.names.clone()).unwrap_err().to_string();
        let to = Args { to: Some("a".to_owned()), ..args(&["cpu"], &[]) };
        assert!(refused(&to).contains("--to belongs to the family net"));
        assert!(refused(&args(&[], &[Test::TcpRtt])).contains("--test"));
        let far = Args { far: Some("ssh box2 boxscore".to_owned()), ..args(&["cpu"], &[]) };
        assert!(refused(&far).contains("--far belongs to the family net"));
        let ours = Args { names: vec!["net".to_owned()], ..far };
        assert!(refused(&ours).contains("--far needs --to"));
        let ours = Args { to: Some("10.0.0.2".to_owned()), ..ours };
        let words: Vec<_> = flags(&ours).unwrap().into_iter().map(|word| (word.key, word.value)).collect();
        assert_eq!(words, [("to".to_owned(), "10.0.0.2".to_owned()), ("far".to_owned(), "far".to_owned())]);
        assert!(refused(&args(&["net-rtt"], &[Test::TcpRtt])).contains("both name"));
    }
}
