//! The keys of a load, written before it and deleted after it, over a connection of their own.
//!
//! Requests go in batches, so that this takes less time than the load. Only keys of the load's own prefix are named:
//! nothing else of the store is read, changed or deleted. Nothing here is timed.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use model::login::{Login, REMEDY, refusal};
use model::url::Scheme;

use super::{Dialect, Kv, Reply, RequestKind, Spec};
use crate::load::failure::Failure;
use crate::load::protocol::Step;
use crate::store_protocol::memcached::Memcached;
use crate::store_protocol::resp::Resp;

/// Bytes and requests of a batch: their answers fit into a socket's buffers, so that neither side waits for the other.
const BATCH_BYTES: usize = 256 << 10;
const BATCH: usize = 512;
/// Without a byte for so long the store does not answer.
const PATIENCE: Duration = Duration::from_secs(10);
const SHOWN: usize = 120;

/// Hears before each batch up to which key it goes, and says whether it is to go on: where not, the batch is not sent,
/// and the reason is the end of all.
pub type Going<'a> = &'a mut dyn FnMut(u32) -> Result<(), String>;

/// A store, and how it is asked.
#[derive(Clone, Debug)]
pub struct At {
    pub address: SocketAddr,
    pub scheme: Scheme,
    pub login: Option<Login>,
}

/// The request that is sent for each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Write,
    Delete,
}

impl At {
    /// Writes or deletes every key of `spec`, until `going` ends it. Fails when the store refuses, and when `going`
    /// does.
    pub fn each(&self, work: Work, spec: &Spec, going: Going<'_>) -> Result<(), String> {
        match self.scheme {
            Scheme::Memcached => all(&mut Batches::<Memcached>::connect(self.address)?, work, spec, going),
            _ => all(&mut greeted(self.address, self.login.as_ref())?, work, spec, going),
        }
    }
}

/// A connection on which the store was told who asks, where it is to be told.
fn greeted(address: SocketAddr, login: Option<&Login>) -> Result<Batches<Resp>, String> {
    let mut batches = Batches::<Resp>::connect(address)?;
    if let Some(login) = login {
        batches.out = login.resp();
        batches.waiting = 1;
        if let Err(why) = batches.flush(RequestKind::Write) {
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

fn all<D: Dialect>(
    batches: &mut Batches<D>,
    work: Work,
    spec: &Spec,
    going: Going<'_>,
) -> Result<(), String> {
    let mut name = Vec::new();
    match work {
        Work::Write => {
            let kv = Kv::<D>::new(spec.clone());
            batches.each(spec.keys, RequestKind::Write, going, &mut |key, out| kv.write(key, &mut name, out))
        }
        Work::Delete => batches.each(spec.keys, RequestKind::Delete, going, &mut |key, out| {
            spec.name(key, &mut name);
            D::delete(out, &name);
        }),
    }
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

    /// A request for each key, which `put` writes behind those before it.
    fn each(
        &mut self,
        keys: u32,
        asked: RequestKind,
        going: Going<'_>,
        put: &mut dyn FnMut(u32, &mut Vec<u8>),
    ) -> Result<(), String> {
        for key in 0..keys {
            put(key, &mut self.out);
            self.waiting += 1;
            let is_full = self.waiting >= BATCH || self.out.len() >= BATCH_BYTES;
            if !is_full && key + 1 < keys {
                continue;
            }
            going(key + 1)?;
            self.flush(asked).map_err(|why| format!("{why}, at key {} of {keys}", key + 1))?;
        }
        Ok(())
    }

    /// Sends what waits, and reads its answers.
    fn flush(&mut self, asked: RequestKind) -> Result<(), String> {
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

    /// The store's error and its meaning.
    fn told(&self, kind: Failure) -> String {
        let said: Vec<u8> = self.reply.line().iter().copied().take(SHOWN).collect();
        let means = meaning(kind).map(|means| format!(": {means}")).unwrap_or_default();
        format!("{}: the store answers `{}`{means}", self.address, said.escape_ascii())
    }
}

/// The meaning of a store's failure for a load on it; `None` where the name of the failure says it.
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
