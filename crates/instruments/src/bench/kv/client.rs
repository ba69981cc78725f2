//! One client of a store, whatever it speaks: a connection of ours, or a process with RAMCloud's own library.
//!
//! A connection asks one thing after the other, and who asks reads the clock around each `turn`. RAMCloud's client is
//! given rows of requests and times each of them itself; what both have is here, and what differs is matched on where
//! requests are timed (`single`, `hot`, `crowd`).

use super::connection::Connection;
use super::ramcloud::RamCloud;
use super::wire::{Answer, Failure};
use crate::workload::ramcloud::frames::Kind;

#[derive(Debug)]
pub enum Client {
    Socket(Connection),
    RamCloud(Box<RamCloud>),
}

impl From<Connection> for Client {
    fn from(connection: Connection) -> Client {
        Client::Socket(connection)
    }
}

impl Client {
    /// Room for an answer of so many bytes of values, touched now.
    pub fn make_room(&mut self, bytes: usize) {
        match self {
            Client::Socket(to) => to.make_room(bytes),
            Client::RamCloud(to) => to.make_room(bytes),
        }
    }

    /// The next request is for one value.
    #[inline]
    pub fn ask_get(&mut self, key: &[u8]) {
        match self {
            Client::Socket(to) => to.ask_get(key),
            Client::RamCloud(to) => to.ask(Kind::Read, &mut std::iter::once(key)),
        }
    }

    /// The next request is for the values of all these keys at once.
    pub fn ask_gets(&mut self, keys: &mut dyn ExactSizeIterator<Item = &[u8]>) {
        match self {
            Client::Socket(to) => to.ask_gets(keys),
            Client::RamCloud(to) => to.ask(Kind::MultiRead, &mut &mut *keys),
        }
    }

    /// The next request writes a value and has so many replicas say that they have it too, in one piece; RAMCloud's
    /// have it always before it says that it was written.
    pub fn ask_set(&mut self, key: &[u8], value: &[u8], replicas: u32) {
        match self {
            Client::Socket(to) => to.ask_set(key, value, replicas),
            Client::RamCloud(to) => to.ask_set(key, value),
        }
    }

    /// Sends the request and reads its whole answer. Fails when none comes, or a wrong one.
    #[inline]
    pub fn turn(&mut self) -> Result<Answer, Failure> {
        match self {
            Client::Socket(to) => to.turn(),
            Client::RamCloud(to) => to.turn(),
        }
    }

    /// The last value that came.
    pub fn came(&self, answer: &Answer) -> &[u8] {
        match self {
            Client::Socket(to) => to.came(answer),
            Client::RamCloud(to) => to.came(),
        }
    }
}
