//! What tests of key-value stores need beside their cards: what `--kv`, `--replicas`, `--definition`, `--size`,
//! `--clients`, `--servers` and the tests of `--test` stand for.

use model::{Card, Cell, Family};

use super::runtime;
use super::words::Word;
use crate::cli::run::{Args, Test};
use crate::error::CliError;
use crate::login;

pub const FAMILY: &str = "kv";
const BASIC: &str = "kv-basic";
const SPLIT: &str = "kv-split";
const RAMCLOUD: &str = "ramcloud";
/// What `--size` may say to `basic`, which has these only.
const BASIC_SIZES: [(&str, &[u64]); 5] = [
    ("100", &[100]),
    ("1K", &[1000, 1 << 10]),
    ("10K", &[10_000, 10 << 10]),
    ("100K", &[100_000, 100 << 10]),
    ("1M", &[1_000_000, 1 << 20]),
];

/// The instrument that makes a test.
pub fn instrument(test: Test) -> Option<&'static str> {
    Some(match test {
        Test::Basic => BASIC,
        Test::ReadNotFound => "kv-miss",
        Test::ReadDist => "kv-dist",
        Test::ReadDistRandom | Test::WriteDistRandom => "kv-dist-random",
        Test::ReadLoaded => "kv-loaded",
        Test::ReadThroughput | Test::WriteThroughput => "kv-throughput",
        Test::MultiReadOneMaster => "kv-multi-read",
        Test::NetBandwidth => "kv-bandwidth",
        Test::Split => SPLIT,
        _ => return None,
    })
}

/// Whether a run has tests of this family.
fn is_named(args: &Args) -> bool {
    args.names.iter().any(|name| name == FAMILY || name.starts_with("kv-"))
}

/// The parameters that the flags of this family stand for.
pub fn flags(args: &Args) -> Result<Vec<Word>, CliError> {
    let mut words = Vec::new();
    let say = |words: &mut Vec<Word>, flag: &str, value: &Option<String>| {
        if let Some(value) = value {
            words.push(Word::new(&format!("--{flag} {value}"), None, flag, value));
        }
    };
    match args.kv.as_deref().and_then(|kv| Some((kv, located(kv)?))) {
        Some((kv, locator)) => {
            let flag = format!("--kv {kv}");
            words.push(Word::new(&flag, None, "kv", RAMCLOUD));
            words.push(Word::new(&flag, None, "ramcloud-locator", &locator));
        }
        None => say(&mut words, "kv", &args.kv),
    }
    say(&mut words, "replicas", &args.replicas);
    say(&mut words, "clients", &args.clients);
    say(&mut words, "servers", &args.servers);
    say(&mut words, "definition", &args.definition);
    if let Some(size) = args.size.as_ref().filter(|_| !runtime::is_named(args)) {
        words.extend(sizes(args, size)?);
    }
    Ok(words)
}

/// The locator in `ramcloud:tcp:host=H,port=P`, with blanks for commas, at which pairs of parameters are split; who
/// connects says what it means. A host may be called ramcloud: `ramcloud:6379` is HOST:PORT.
fn located(kv: &str) -> Option<String> {
    let locator = kv.strip_prefix("ramcloud:").filter(|locator| locator.contains(':'))?;
    Some(locator.replace(',', " "))
}

/// A size is one of those of `basic`, where that is among the tests, and any number of bytes for the others.
fn sizes(args: &Args, size: &str) -> Result<Vec<Word>, CliError> {
    let flag = format!("--size {size}");
    let bytes = model::params::parse_bytes(size).or_else(|| model::params::whole(size));
    let of_basic = BASIC_SIZES.iter().find(|(name, sizes)| {
        size.eq_ignore_ascii_case(name) || bytes.is_some_and(|bytes| sizes.contains(&bytes))
    });
    let names = names(args, args.names.clone())?;
    let has_basic = names.iter().any(|name| name == FAMILY || name == BASIC);
    let has_others = names.iter().any(|name| name == FAMILY || name != BASIC && name.starts_with("kv-"));
    let mut words = Vec::new();
    match of_basic {
        Some((name, sizes)) => {
            if has_basic {
                words.push(Word::new(&flag, Some(BASIC), "sizes", name));
            }
            if has_others {
                let bytes = bytes.or(sizes.last().copied()).unwrap_or(100);
                words.push(Word::new(&flag, None, "size", &bytes.to_string()));
            }
        }
        None if has_basic && !has_others => {
            return Err(CliError::usage(format!(
                "{flag}: basic has objects of 100, 1K, 10K, 100K and 1M only"
            ))
            .hint("--test readDist takes any size"));
        }
        None => words.push(Word::new(&flag, None, "size", size)),
    }
    Ok(words)
}

/// The names to measure: `kv` is the tests that are picked.
pub fn names(args: &Args, names: Vec<String>) -> Result<Vec<String>, CliError> {
    let given = [
        ("--kv", args.kv.is_some()),
        ("--replicas", args.replicas.is_some()),
        ("--definition", args.definition.is_some()),
        ("--size", args.size.is_some() && !runtime::is_named(args)),
        ("--clients", args.clients.is_some()),
        ("--servers", args.servers.is_some()),
    ];
    if args.size.is_some() && is_named(args) && runtime::is_named(args) {
        return Err(CliError::usage("--size is another thing in each of the families kv and runtime")
            .hint("--set kv-basic.sizes=100 --set scimark.size=small"));
    }
    let picked: Vec<&str> = args.tests.iter().filter_map(|test| instrument(*test)).collect();
    let stray = given.iter().find(|(_, is_given)| *is_given).map(|(flag, _)| *flag);
    let stray = stray.or((!picked.is_empty()).then_some("--test")).filter(|_| !is_named(args));
    if let Some(flag) = stray {
        let hint = format!("boxscore run kv {flag} ...");
        return Err(CliError::usage(format!("{flag} belongs to the family kv")).hint(hint));
    }
    if picked.is_empty() {
        return Ok(names);
    }
    if let Some(name) = names.iter().find(|name| name.starts_with("kv-")) {
        return Err(CliError::usage(format!("--test and `{name}` both name a test"))
            .hint("boxscore run kv --test basic"));
    }
    let others = names.iter().filter(|name| *name != FAMILY).cloned();
    Ok(others.chain(picked.into_iter().map(str::to_owned)).collect())
}

/// A store of the user's is as it is, and replicas of RAMCloud are further servers: of these there are no variants with
/// other replicas than were asked for. Of RAMCloud the whole family leaves out what its client library cannot tell.
pub fn settle(args: &Args, mut cells: Vec<Cell>, words: &[Word], told: &mut Vec<String>) -> Vec<Cell> {
    let said = |key: &str| words.iter().find(|word| word.key == key).map(|word| word.value.as_str());
    let is_ramcloud = words.iter().any(|word| word.key == "kv" && word.value == RAMCLOUD);
    let is_users = said("kv").is_some_and(|kv| kv.contains(':'));
    if (is_users || is_ramcloud) && said("replicas").is_none() {
        cells.retain(|cell| cell.params.get("replicas").is_none_or(|count| count == "0"));
    }
    let is_named = args.tests.contains(&Test::Split) || args.names.iter().any(|name| name == SPLIT);
    let before = cells.len();
    if is_ramcloud && !is_named {
        cells.retain(|cell| cell.instrument != SPLIT);
    }
    if cells.len() < before {
        let why = "n/a for RAMCloud, whose client library tells nothing of the work of its servers";
        told.push(format!("{SPLIT} is left out: {why}"));
    }
    cells
}

/// A plan is stored, and no user name or password with it.
pub fn without_login(words: Vec<Word>) -> Result<Vec<Word>, CliError> {
    login::refuse(words.iter().map(|word| (word.key.as_str(), word.value.as_str()))).map(|()| words)
}

/// Measured without being named: nothing of this family, since it starts stores and fills them.
#[must_use]
pub fn is_alone(card: &Card) -> bool {
    card.family != Family::Kv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_is_told_from_a_host_of_that_name() {
        let of = |kv: &str| located(kv);
        assert_eq!(of("ramcloud:tcp:host=a,port=1").as_deref(), Some("tcp:host=a port=1"));
        assert_eq!(of("ramcloud:tcp:host=zk,port=1").as_deref(), Some("tcp:host=zk port=1"));
        assert_eq!(of("ramcloud:infrc:host=a,port=1").as_deref(), Some("infrc:host=a port=1"));
        assert_eq!(of("ramcloud:tcp:host=a,port=x").as_deref(), Some("tcp:host=a port=x"));
        assert_eq!(of("ramcloud:10.0.0.3:12246").as_deref(), Some("10.0.0.3:12246"));
        assert_eq!(of("ramcloud:zk:a:2181,b:2181").as_deref(), Some("zk:a:2181 b:2181"));
        assert_eq!((of("ramcloud:6379"), of("ramcloud"), of("redis")), (None, None, None));
    }
}
