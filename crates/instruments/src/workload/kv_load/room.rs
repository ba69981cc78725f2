//! A check, before the first key is written, that the keys of a load fit into a store that is not ours. Bytes.
//!
//! The room is the limit that the store reports (`maxmemory`, `total_system_memory`, `limit_maxbytes`); for a store on
//! this machine without a limit, the free memory of the machine. The overhead of a key is estimated low: a load that is
//! refused does not fit, and the store may still refuse one that passes. A store that reports nothing is not checked.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use model::Unit;
use model::format::quantity;

use crate::load::store_client::Spec;
use crate::telemetry::parse::meminfo::{self, Memory};
use crate::workload::store_server::Info;

/// Bytes that Redis and memcached need for a key at least, beside its own and those of its value.
const PER_KEY: f64 = 56.0;
/// The share of a machine's free memory that keys may take.
const SHARE: f64 = 0.8;
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes that the keys of a load need in a store, at least.
pub fn needed(spec: &Spec) -> f64 {
    spec.bytes() + f64::from(spec.keys) * PER_KEY
}

/// A limit, and what it is.
type Limit = (f64, String);

/// Why the keys do not fit into a Redis or Valkey that says this of itself.
pub fn of_redis(spec: &Spec, info: &Info, address: SocketAddr) -> Result<(), String> {
    // Memory that cannot be read is not known, and limits nothing.
    let here = is_here(address).then(|| std::fs::read("/proc/meminfo").unwrap_or_default());
    let here = here.map(|bytes| meminfo::parse(&bytes)).unwrap_or_default();
    match limits(info, &here).into_iter().find(|(most, _)| needed(spec) > *most) {
        None => Ok(()),
        Some((_, what)) => Err(refused(spec, &what)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of memory")]
fn limits(info: &Info, here: &Memory) -> Vec<Limit> {
    let of = |name: &str| info.number(name).filter(|bytes| *bytes > 0);
    let used = of("used_memory").unwrap_or(0);
    let mut limits = Vec::new();
    if let Some(most) = of("maxmemory") {
        let what = format!(
            "its maxmemory is {}, of which {} are used",
            quantity(most as f64, Unit::Byte),
            quantity(used as f64, Unit::Byte)
        );
        limits.push((most.saturating_sub(used) as f64, what));
    }
    let total = of("total_system_memory");
    // A store behind a tunnel seems to be here; its memory is that of another machine.
    match here.available.filter(|_| total.is_none() || total == here.total) {
        Some(free) => {
            let what = format!(
                "its machine, which is this one, has {} of memory left, of which {} may be taken",
                quantity(free as f64, Unit::Byte),
                quantity(free as f64 * SHARE, Unit::Byte)
            );
            limits.push((free as f64 * SHARE, what));
        }
        None => limits.extend(total.map(|total| {
            let (total, used) = (total as f64, used as f64);
            let what = format!(
                "its machine has {} of memory, of which it uses {} already",
                quantity(total, Unit::Byte),
                quantity(used, Unit::Byte)
            );
            (total - used, what)
        })),
    }
    limits
}

fn refused(spec: &Spec, what: &str) -> String {
    format!(
        "{} keys with values of {} need {} or more in the store, and {what}: fewer keys (--keys) or smaller values \
         (--value-size); nothing was written",
        spec.keys,
        spec.sizes,
        quantity(needed(spec), Unit::Byte)
    )
}

/// A note for memcached when it will not hold all keys.
#[expect(clippy::cast_precision_loss, reason = "bytes of memory")]
pub fn of_memcached(spec: &Spec, info: &Info) -> Option<String> {
    let limit = info.number("limit_maxbytes").map(|bytes| bytes as f64)?;
    (needed(spec) > limit).then(|| {
        format!(
            "{} keys with values of {} need {} or more, and the store's limit is {}: it evicts keys, others of the \
             store among them (memcached -M refuses more instead), and reads of those fail as missing; fewer keys, \
             smaller values or a higher limit (memcached: -m)",
            spec.keys,
            spec.sizes,
            quantity(needed(spec), Unit::Byte),
            quantity(limit, Unit::Byte)
        )
    })
}

/// True if connections to it stay on this machine.
fn is_here(address: SocketAddr) -> bool {
    let own = || TcpStream::connect_timeout(&address, PATIENCE).and_then(|stream| stream.local_addr()).ok();
    address.ip().is_loopback() || own().is_some_and(|own| own.ip() == address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::store_client::keys::{Popularity, Sizes};

    fn spec(keys: u32, bytes: u32) -> Spec {
        Spec {
            keys,
            prefix: "boxscore:1:".to_owned(),
            key_bytes: 30,
            popularity: Popularity::Uniform,
            reads: 0.5,
            sizes: Sizes::Fixed(bytes),
            seed: 3,
        }
    }

    fn most(info: &str, here: &Memory) -> Vec<f64> {
        limits(&Info::parse(info.as_bytes()), here).into_iter().map(|(most, _)| most).collect()
    }

    #[test]
    fn a_store_has_the_limits_that_it_says() {
        let here = Memory { total: Some(1000), available: Some(500), ..Memory::default() };
        let nowhere = Memory::default();
        assert_eq!(most("used_memory:10\r\nmaxmemory:0\r\n", &nowhere), [0.0; 0]);
        assert_eq!(most("used_memory:10\r\nmaxmemory:100\r\n", &nowhere), [90.0]);
        assert_eq!(most("used_memory:10\r\ntotal_system_memory:900\r\n", &nowhere), [890.0]);
        assert_eq!(most("used_memory:10\r\ntotal_system_memory:1000\r\n", &here), [400.0]);
        assert_eq!(most("used_memory:10\r\ntotal_system_memory:900\r\n", &here), [890.0], "behind a tunnel");
        assert_eq!(most("", &here), [400.0]);
    }

    #[test]
    fn what_does_not_fit_is_said_with_its_figures() {
        assert!((needed(&spec(1000, 914)) - 1e6).abs() < 1.0);
        let why =
            refused(&spec(100_000_000, 1 << 20), "its maxmemory is 64.0 MiB, of which 1.0 MiB are used");
        assert!(why.contains("100000000 keys") && why.contains("need 95.4 TiB or more"), "{why}");
        let info = |bytes: u32| Info::parse(format!("limit_maxbytes:{bytes}\r\n").as_bytes());
        assert_eq!(of_memcached(&spec(1000, 914), &info(1_000_001)), None);
        assert!(of_memcached(&spec(1000, 914), &info(999_999)).is_some_and(|said| said.contains("-m")));
        assert_eq!(of_memcached(&spec(1000, 914), &Info::default()), None);
    }
}
