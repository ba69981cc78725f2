//! Objects of a test in a store: written by many to a request or in rows of requests, found again by their numbers,
//! removed at the end.
//!
//! Nothing here is timed. A row has at most [`ROW`] requests or [`ROW_BYTES`]; its answers are a few bytes each, so
//! that neither side waits for the other to read.

use super::client::Client;
use super::connection::Connection;
use super::keys::{KEY, Keys};
use super::ramcloud::RamCloud;
use super::resp::WAITED_MS;
use super::wire::{Failure, KvRequest};
use crate::progress::ProgressCounter;
use crate::workload::ramcloud::frames::Kind;

const ROW: u32 = 512;
const ROW_BYTES: usize = 1 << 20;
/// How many times the replicas are asked whether they have everything, each time for [`WAITED_MS`].
const ASKED: u32 = 5;

/// Hears before each row how many objects were dealt with, and says whether to go on.
type Going<'a> = &'a mut dyn FnMut(u32) -> Result<(), Failure>;

/// Objects of one size under keys of one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    pub keys: Keys,
    pub letter: u8,
    pub count: u32,
}

impl Table {
    /// Writes all objects, and waits until the replicas have them. Fails when the store refuses one, and when the user
    /// leaves.
    pub fn fill(&self, to: &mut Client, value: &[u8], replicas: u32) -> Result<(), Failure> {
        let rows = u32::try_from(ROW_BYTES / (value.len() + KEY + 40)).unwrap_or(ROW).clamp(1, ROW);
        let mut counter = ProgressCounter::new("writing the objects of a test", u64::from(self.count));
        let going = &mut |index: u32| counter.advance(u64::from(index)).map_err(Failure::Left);
        let to = match to {
            Client::Socket(to) => to,
            Client::RamCloud(to) => {
                return self.in_rows(rows, going, |index, count| {
                    let keys: Vec<_> =
                        (index..index + count).map(|nth| self.keys.key(self.letter, nth)).collect();
                    to.write_many(&mut keys.iter().map(<[u8; KEY]>::as_slice), value)
                });
            }
        };
        self.in_rows(rows, going, |index, count| {
            to.ask_many(KvRequest::Set(count), |wire, out| {
                (index..index + count).for_each(|nth| wire.set(out, &self.keys.key(self.letter, nth), value));
            });
            to.turn().map(drop)
        })?;
        settle(to, replicas)
    }

    /// Removes all objects. Fails when the store does not answer.
    pub fn empty(&self, to: &mut Client) -> Result<(), Failure> {
        let mut counter = ProgressCounter::new("removing the objects of a test", u64::from(self.count));
        let going = &mut |index: u32| {
            counter.update(u64::from(index));
            Ok(())
        };
        let to = match to {
            Client::Socket(to) => to,
            Client::RamCloud(to) => return self.empty_by_library(to, going),
        };
        self.in_rows(ROW, going, |index, count| {
            to.ask_many(KvRequest::Delete(count), |wire, out| {
                (index..index + count).for_each(|nth| wire.delete(out, &self.keys.key(self.letter, nth)));
            });
            to.turn().map(drop)
        })
    }

    /// Removes each object in turn; one that is missing was removed already.
    fn empty_by_library(&self, to: &mut RamCloud, going: Going<'_>) -> Result<(), Failure> {
        self.in_rows(ROW, going, |index, count| {
            for nth in index..index + count {
                let key = self.keys.key(self.letter, nth);
                to.ask(Kind::Remove, &mut std::iter::once(key.as_slice()));
                to.queue();
            }
            let made = to.make_all()?;
            made.iter().try_for_each(|outcome| to.answer(outcome).map(drop))
        })
    }

    fn in_rows(
        &self,
        row: u32,
        going: Going<'_>,
        mut each: impl FnMut(u32, u32) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut index = 0;
        while index < self.count {
            going(index)?;
            let count = row.min(self.count - index);
            each(index, count)?;
            index += count;
        }
        Ok(())
    }
}

/// Waits until all replicas have everything written. Fails when they do not in time.
pub fn settle(to: &mut Connection, replicas: u32) -> Result<(), Failure> {
    if replicas == 0 {
        return Ok(());
    }
    let mut settled = Ok(());
    for _ in 0..ASKED {
        let mut knows = true;
        to.ask_many(KvRequest::Wait(replicas), |wire, out| knows = wire.wait(out, replicas, WAITED_MS));
        settled = if knows { to.turn().map(drop) } else { Ok(()) };
        if !matches!(settled, Err(Failure::Replicas { .. })) {
            break;
        }
    }
    settled
}
