//! The keys of a load, written before it and deleted after it, over a connection of their own.
//!
//! Requests go in batches, so that this takes less time than the load. Only keys of the load's own prefix are named:
//! nothing else of the store is read, changed or deleted. Nothing here is timed.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use model::login::{Login, REMEDY, refusal};

use super::memcached::Memcached;
use super::resp::Resp;
use super::{Asked, Dialect, Kv, Reply, Spec};
use crate::load::connection::Step;
use crate::load::failure::Failure;
use crate::load::target::Scheme;

/// Bytes and requests of a batch: their answers fit into a socket's buffers, so that neither side waits for the other.
const BATCH_BYTES: usize = 256 << 10;
const BATCH: usize = 512;
/// Without a byte for so long the store does not answer.
const PATIENCE: Duration = Duration::from_secs(10);
const SHOWN: usize = 120;

/// Writes every key of `spec`.
pub fn fill(address: SocketAddr, scheme: Scheme, spec: &Spec, login: Option<&Login>) -> Result<(), String> {
    match scheme {
        Scheme::Memcached => write_all(&mut Batches::<Memcached>::connect(address)?, spec),
        _ => write_all(&mut greeted(address, login)?, spec),
    }
}

/// Deletes every key of `spec`.
pub fn clear(address: SocketAddr, scheme: Scheme, spec: &Spec, login: Option<&Login>) -> Result<(), String> {
    match scheme {
        Scheme::Memcached => delete_all(&mut Batches::<Memcached>::connect(address)?, spec),
        _ => delete_all(&mut greeted(address, login)?, spec),
    }
}

/// A connection on which the store was told who asks, where it is to be told.
fn greeted(address: SocketAddr, login: Option<&Login>) -> Result<Batches<Resp>, String> {
    let mut batches = Batches::<Resp>::connect(address)?;
    if let Some(login) = login {
        batches.out = login.resp();
        batches.added(Asked::Write)?;
        if let Err(why) = batches.flush(Asked::Write) {
            // Its own words may repeat the password.
            let said = batches.reply.line();
            return Err(match said {
                [b'-', ..] => format!("{address}: the store refuses AUTH: `{}`; {REMEDY}", refusal(said)),
                [] => why,
                _ => format!("{address}: what came is no answer to AUTH"),
            });
        }
    }
    Ok(batches)
}

fn write_all<D: Dialect>(batches: &mut Batches<D>, spec: &Spec) -> Result<(), String> {
    let kv = Kv::<D>::new(spec.clone());
    let mut name = Vec::new();
    for key in 0..spec.keys {
        kv.write(key, &mut name, &mut batches.out);
        batches.added(Asked::Write).map_err(|why| format!("{why}, at key {} of {}", key + 1, spec.keys))?;
    }
    batches.flush(Asked::Write)
}

fn delete_all<D: Dialect>(batches: &mut Batches<D>, spec: &Spec) -> Result<(), String> {
    let mut name = Vec::new();
    for key in 0..spec.keys {
        spec.name(key, &mut name);
        D::delete(&mut batches.out, &name);
        batches.added(Asked::Delete)?;
    }
    batches.flush(Asked::Delete)
}

/// Requests of one kind that wait to be sent together.
struct Batches<D> {
    address: SocketAddr,
    stream: TcpStream,
    out: Vec<u8>,
    waiting: usize,
    reply: Reply,
    dialect: std::marker::PhantomData<D>,
}

impl<D: Dialect> Batches<D> {
    fn connect(address: SocketAddr) -> Result<Batches<D>, String> {
        let failed = |error: std::io::Error| format!("{address}: {error}");
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let (out, reply) = (Vec::new(), Reply::default());
        Ok(Batches { address, stream, out, waiting: 0, reply, dialect: std::marker::PhantomData })
    }

    /// One more request is in `out`.
    fn added(&mut self, asked: Asked) -> Result<(), String> {
        self.waiting += 1;
        match self.waiting >= BATCH || self.out.len() >= BATCH_BYTES {
            true => self.flush(asked),
            false => Ok(()),
        }
    }

    /// Sends what waits, and reads its answers.
    fn flush(&mut self, asked: Asked) -> Result<(), String> {
        let address = self.address;
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                format!("{address}: no answer within {} s", PATIENCE.as_secs())
            }
            _ => format!("{address}: {error}"),
        };
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        let mut chunk = [0; 16 << 10];
        let (mut from, mut end) = (0, 0);
        while self.waiting > 0 {
            self.reply.expect(asked, 0);
            loop {
                if from == end {
                    // A store that refuses may hang up before it has read all; what it said is still there.
                    (from, end) = (0, self.stream.read(&mut chunk).map_err(failed)?);
                }
                let piece = chunk.get(from..end).filter(|piece| !piece.is_empty());
                let Some(piece) = piece else { return Err(format!("{address}: it hung up")) };
                match self.reply.feed::<D>(piece) {
                    Ok(Step::More) => from = end,
                    Ok(Step::Done { used }) => {
                        from += used;
                        break;
                    }
                    Err(_junk) => {
                        let said: Vec<u8> = piece.iter().copied().take(SHOWN).collect();
                        return Err(format!(
                            "{address}: what came is no answer of {}: `{}`",
                            D::NAME,
                            said.escape_ascii()
                        ));
                    }
                }
            }
            self.waiting -= 1;
            if let Some(kind) = self.reply.failure() {
                return Err(self.told(kind));
            }
        }
        sent.map_err(failed)
    }

    /// What the store said, and what that means.
    fn told(&self, kind: Failure) -> String {
        let said: Vec<u8> = self.reply.line().iter().copied().take(SHOWN).collect();
        let means = meaning(kind).map(|means| format!(": {means}")).unwrap_or_default();
        format!("{}: the store answers `{}`{means}", self.address, said.escape_ascii())
    }
}

/// What a kind of failure of a store means for a load on it; `None` where the name says it.
#[must_use]
pub fn meaning(kind: Failure) -> Option<&'static str> {
    Some(match kind {
        Failure::Auth => REMEDY,
        Failure::Moved => {
            "it is one node of a cluster, and others have some of the keys; load one that is no cluster"
        }
        Failure::Loading => "it is still loading its data; try again when it has",
        Failure::OutOfMemory => {
            "it has no memory left for these keys: fewer keys, smaller values, or a higher limit"
        }
        Failure::TooLarge => "it does not take values as large as this: a smaller value-size (memcached: -I)",
        Failure::ReadOnly => "it is a replica, which takes no writes; load its primary",
        Failure::Missing => {
            "it does not have what was written: it evicts or expires keys; fewer keys or more memory"
        }
        _ => return None,
    })
}
