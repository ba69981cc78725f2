//! The keys of loads that were killed: each load on a Redis or Valkey says in a hash of ours which keys it is about to
//! write and who it is, and deletes the keys of those that are gone.
//!
//! A field is boot, PID namespace, process and its start; its value is the number of keys and the bytes of a name. Only
//! keys are deleted whose names follow from these: our prefix with that process's number, and a running number. A load
//! of another boot or PID namespace cannot be looked up, so its keys stay; so do those of a process number that two
//! loads have. memcached has no hash, and keeps them.

use std::collections::BTreeMap;
use std::path::Path;

use super::ask::prefix;
use crate::load::store_client::data::{At, Work};
use crate::load::store_client::{MOST_KEYS, Spec};
use crate::store_protocol::resp::Piece;
use crate::workload::server::tree::Stat;
use crate::workload::store_server::beside::{Asked, JUNK, Read, piece};

/// The hash of all loads.
pub const HASH: &str = "boxscore:loads";

/// The load of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    boot: String,
    /// The PID namespace, as `/proc` names it.
    namespace: String,
    pid: u32,
    start_ticks: u64,
}

impl Owner {
    /// This process; `None` where /proc does not say it.
    fn this() -> Option<Owner> {
        let pid = std::process::id();
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?.to_str()?.to_owned();
        Some(Owner { boot: sys::clock::boot_id().ok()?, namespace, pid, start_ticks: start_ticks(pid)? })
    }

    fn field(&self) -> String {
        format!("{}|{}|{}|{}", self.boot, self.namespace, self.pid, self.start_ticks)
    }

    fn parse(field: &str) -> Option<Owner> {
        let parts: Vec<&str> = field.split('|').collect();
        let [boot, namespace, pid, start_ticks] = parts[..] else { return None };
        let (pid, start_ticks) = (pid.parse().ok()?, start_ticks.parse().ok()?);
        Some(Owner { boot: boot.to_owned(), namespace: namespace.to_owned(), pid, start_ticks })
    }

    /// It ran where this process can look it up, and does not run any more.
    fn is_gone(&self, here: &Owner) -> bool {
        (&self.boot, &self.namespace) == (&here.boot, &here.namespace)
            && start_ticks(self.pid) != Some(self.start_ticks)
    }
}

/// When a process began; `None` where it does not run any more.
fn start_ticks(pid: u32) -> Option<u64> {
    let line = std::fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    Stat::parse(&line).filter(Stat::is_alive).map(|stat| stat.start_ticks)
}

/// Keys that a load was about to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Keys {
    count: u32,
    bytes: usize,
}

impl Keys {
    fn parse(value: &str) -> Option<Keys> {
        let (count, bytes) = value.split_once('x')?;
        let keys = Keys { count: count.parse().ok()?, bytes: bytes.parse().ok()? };
        (keys.count <= MOST_KEYS && keys.bytes <= usize::from(u16::MAX)).then_some(keys)
    }
}

/// Marks the keys that a load of this process is about to write. Fails where the store refuses.
pub fn set(at: &At, spec: &Spec) -> Result<(), String> {
    let Some(here) = Owner::this() else { return Err("/proc does not name this process".to_owned()) };
    let value = format!("{}x{}", spec.keys, spec.key_bytes);
    connect(at)?.turn(&request(&["HSET", HASH, &here.field(), &value]), done)
}

/// Takes the mark away: the keys are deleted. Fails where the store refuses.
pub fn unset(at: &At) -> Result<(), String> {
    let Some(here) = Owner::this() else { return Ok(()) };
    connect(at)?.turn(&request(&["HDEL", HASH, &here.field()]), done)
}

/// Deletes the keys of loads that are gone; says of each what it did.
pub fn clear(at: &At, like: &Spec) -> Vec<String> {
    let Some(here) = Owner::this() else { return Vec::new() };
    // A store that does not answer this has no marks, or is told of by what is asked next.
    let Ok(marks) = connect(at).and_then(|mut asked| asked.turn(&request(&["HGETALL", HASH]), fields)) else {
        return Vec::new();
    };
    let known: Vec<(Owner, Keys)> =
        marks.iter().filter_map(|(field, value)| Some((Owner::parse(field)?, Keys::parse(value)?))).collect();
    let is_only = |owner: &Owner| known.iter().filter(|(other, _)| other.pid == owner.pid).count() == 1;
    let gone = known.iter().filter(|(owner, _)| owner.pid != here.pid && owner.is_gone(&here));
    gone.filter(|(owner, _)| is_only(owner)).map(|(owner, keys)| delete(at, like, owner, *keys)).collect()
}

fn delete(at: &At, like: &Spec, owner: &Owner, keys: Keys) -> String {
    let prefix = prefix(owner.pid);
    let spec = Spec { keys: keys.count, key_bytes: keys.bytes, prefix: prefix.clone(), ..like.clone() };
    let deleted = match spec.check(at.scheme, 1) {
        Ok(()) => at.each(Work::Delete, &spec, &mut |_| Ok(())),
        Err(why) => Err(why),
    };
    let forgotten = deleted.and_then(|()| connect(at)?.turn(&request(&["HDEL", HASH, &owner.field()]), done));
    match forgotten {
        Ok(()) => format!(
            "deleted the keys that a load of boxscore left when it was killed: up to {} that begin with `{prefix}`",
            keys.count
        ),
        Err(why) => format!("the keys `{prefix}` of a load that was killed could not be deleted: {why}"),
    }
}

fn connect(at: &At) -> Result<Asked, String> {
    Asked::logged_in(at.address, at.login.as_ref())
}

fn request(words: &[&str]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
    }
    out
}

/// The answer to a change.
fn done(bytes: &[u8]) -> Read<()> {
    match piece(bytes, &mut 0)? {
        None => Ok(None),
        Some(Piece::Int(_)) => Ok(Some(())),
        Some(_) => Err("it answers HSET or HDEL with something else than a number".to_owned()),
    }
}

/// Fields and values of a hash; those that are no text are left out.
fn fields(bytes: &[u8]) -> Read<BTreeMap<String, String>> {
    let at = &mut 0;
    let count = match piece(bytes, at)? {
        None => return Ok(None),
        Some(Piece::Array(count)) => count,
        Some(_) => return Err(JUNK.to_owned()),
    };
    let (mut all, mut field) = (BTreeMap::new(), None);
    for _ in 0..count {
        let text = match piece(bytes, at)? {
            None => return Ok(None),
            Some(Piece::Bulk(Some((_, bytes)))) => String::from_utf8_lossy(bytes).into_owned(),
            Some(_) => return Err(JUNK.to_owned()),
        };
        match field.take() {
            None => field = Some(text),
            Some(field) => {
                all.insert(field, text);
            }
        }
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_is_gone_here_has_left_keys() {
        let here = Owner::this().unwrap();
        assert_eq!(Owner::parse(&here.field()), Some(here.clone()));
        assert!(!here.is_gone(&here));
        // The number of a process that lives, but began at another time.
        assert!(Owner { start_ticks: here.start_ticks + 1, ..here.clone() }.is_gone(&here));
        let dead = Owner { pid: 4_194_304_999 % 4_194_304 + 4_194_304, ..here.clone() };
        assert!(dead.is_gone(&here));
        assert!(!Owner { boot: "x".into(), ..dead.clone() }.is_gone(&here));
        assert!(!Owner { namespace: "pid:[1]".into(), ..dead }.is_gone(&here));
        for bad in ["", "a|b|c|d", "a|b|1", "a|b|1|2|3", "a|b|-1|2"] {
            assert_eq!(Owner::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn marks_are_read_or_refused() {
        assert_eq!(Keys::parse("1000x30"), Some(Keys { count: 1000, bytes: 30 }));
        for bad in ["", "1000", "x", "-1x30", "1x99999999", "4294967295x30", "1x-3"] {
            assert_eq!(Keys::parse(bad), None, "{bad}");
        }
        let two = "*4\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$0\r\n\r\n";
        let read = fields(two.as_bytes()).unwrap().unwrap();
        assert_eq!((read["a"].as_str(), read["c"].as_str()), ("b", ""));
        for end in 0..two.len() {
            assert_eq!(fields(&two.as_bytes()[..end]), Ok(None), "{end}");
        }
        assert!(fields(b"-WRONGTYPE no\r\n").unwrap_err().contains("WRONGTYPE"));
        assert!(fields(b"+OK\r\n").is_err());
        assert_eq!(request(&["HDEL", "a"]), b"*2\r\n$4\r\nHDEL\r\n$1\r\na\r\n");
        assert_eq!((done(b":1\r\n"), done(b":1"), done(b"+OK\r\n").is_err()), (Ok(Some(())), Ok(None), true));
    }
}
