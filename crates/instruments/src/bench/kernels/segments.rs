//! Log segments full of objects, the log that they are replayed into, and its hash table.
//!
//! An entry is 32 bytes of header, little-endian: CRC-32C of the rest of the entry (4), length of the data
//! (4), table (8), key (8), version (8); then the data, padded with zeros to 16 bytes. A segment ends where
//! no whole entry fits. Keys count up from 0 over all segments.

use std::sync::Mutex;

use super::buffer::Buffer;
use super::copy_bytes;
use super::crc32c::{self, Run};
use super::random::Random;
use super::table::{KeyPlace, Table, murmur3};

const HEADER: usize = 32;

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of data in an object.
    pub object: usize,
    /// Segments.
    pub count: usize,
    /// Bytes of a segment.
    pub size: usize,
    /// The least number of hash lines: 2^21 are 128 MiB, the tenth of a 2-GiB log (rounded to a power of
    /// two).
    pub lines: usize,
}

impl Shape {
    fn entry(&self) -> usize {
        HEADER + self.object.next_multiple_of(16)
    }

    /// Entries that fit a segment.
    fn entries(&self) -> usize {
        self.size / self.entry()
    }

    /// Enough for a load of at most a half.
    fn hash_lines(&self) -> usize {
        self.lines.max((self.entries() * self.count / 4).next_power_of_two())
    }

    /// Memory of segments, log and table.
    pub fn bytes(&self) -> u64 {
        (2 * self.count * self.size + self.hash_lines() * 68) as u64
    }
}

pub struct Segments {
    shape: Shape,
    filled: Vec<Buffer>,
    log: Vec<Mutex<Buffer>>,
    table: Table,
    crc: Run,
}

impl Segments {
    pub fn filled(shape: &Shape) -> Segments {
        let mut random = Random::new(1);
        let crc = crc32c::fast();
        let filled: Vec<Buffer> =
            (0..shape.count).map(|segment| fill(shape, segment, crc, &mut random)).collect();
        let log = (0..shape.count).map(|_| Mutex::new(Buffer::zeroed(shape.size))).collect();
        let lines = shape.hash_lines();
        Segments { shape: *shape, filled, log, table: Table::new(lines, lines / 16 + 64), crc }
    }

    pub fn count(&self) -> usize {
        self.shape.count
    }

    /// Objects in all segments.
    pub fn objects(&self) -> usize {
        self.shape.entries() * self.shape.count
    }

    /// Empties the `part`th of `parts` parts of the table.
    pub fn empty(&self, part: usize, parts: usize) {
        self.table.clear(part, parts);
    }

    /// Replays one segment and returns its number of objects. Fails when an object is damaged.
    pub fn replay(&self, segment: usize) -> Result<usize, String> {
        let (Some(filled), Some(log)) = (self.filled.get(segment), self.log.get(segment)) else {
            return Err(format!("there is no segment {segment}"));
        };
        let mut log = log.lock().map_err(|_| "a log segment was left half written".to_owned())?;
        let mut count = 0;
        let mut entries = filled.chunks_exact(self.shape.entry()).peekable();
        let mut targets = log.chunks_exact_mut(self.shape.entry());
        let mut place = entries.peek().map(|entry| self.place(key_of(entry)));
        while let (Some(entry), Some(target), Some(here)) = (entries.next(), targets.next(), place) {
            place = entries.peek().map(|entry| self.place(key_of(entry)));
            if let Some(place) = place {
                self.table.prefetch(place);
            }
            let key = key_of(entry);
            if (self.crc)(!0, entry.get(4..).unwrap_or_default()) != !first_u32(entry) {
                return Err(format!("wrong checksum of object {key}"));
            }
            if self.table.find(here, |reference| self.has(reference, key)).is_some() {
                return Err(format!("object {key} came twice"));
            }
            copy_bytes(target, entry);
            let reference = (segment * self.shape.entries() + count) as u64;
            self.table.insert(here, reference).map_err(|_| "the hash table is full".to_owned())?;
            count += 1;
        }
        Ok(count)
    }

    fn place(&self, key: u64) -> KeyPlace {
        self.table.place(murmur3(key, 0))
    }

    /// True if the object at `reference` has this key. An entry is as far into its log segment as it was
    /// into its segment, which is read instead: another thread may be writing to the log segment.
    fn has(&self, reference: u64, key: u64) -> bool {
        let Ok(reference) = usize::try_from(reference) else { return false };
        let (segment, entry) = (reference / self.shape.entries(), reference % self.shape.entries());
        let from = entry * self.shape.entry();
        self.filled
            .get(segment)
            .and_then(|filled| filled.get(from..))
            .is_some_and(|entry| key_of(entry) == key)
    }
}

fn first_u32(entry: &[u8]) -> u32 {
    entry.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn key_of(entry: &[u8]) -> u64 {
    entry.get(16..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn fill(shape: &Shape, segment: usize, crc: Run, random: &mut Random) -> Buffer {
    let mut filled = Buffer::zeroed(shape.size);
    for (index, entry) in filled.chunks_exact_mut(shape.entry()).enumerate() {
        let key = (segment * shape.entries() + index) as u64;
        let length = u32::try_from(shape.object).unwrap_or(u32::MAX);
        let fields = length.to_le_bytes().into_iter().chain(0u64.to_le_bytes()).chain(key.to_le_bytes());
        let header = fields.chain(1u64.to_le_bytes());
        for (to, from) in entry[4..].iter_mut().zip(header) {
            *to = from;
        }
        random.fill(&mut entry[HEADER..HEADER + shape.object]);
        let sum = !crc(!0, &entry[4..]);
        entry[..4].copy_from_slice(&sum.to_le_bytes());
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(object: usize) -> Segments {
        Segments::filled(&Shape { object, count: 3, size: 10_000, lines: 64 })
    }

    #[test]
    fn all_objects_arrive_once() {
        for object in [16, 64, 100, 1024] {
            let segments = small(object);
            for round in 0..2 {
                segments.empty(0, 1);
                let replayed: usize = (0..3).map(|segment| segments.replay(segment).unwrap()).sum();
                assert_eq!(replayed, segments.objects(), "round {round}");
            }
            for key in 0..segments.objects() as u64 {
                let found =
                    segments.table.find(segments.place(key), |reference| segments.has(reference, key));
                assert!(found.is_some(), "object {key}");
            }
            let used = segments.shape.entries() * segments.shape.entry();
            for (filled, log) in segments.filled.iter().zip(&segments.log) {
                assert_eq!(filled[..used], log.lock().unwrap()[..used]);
            }
        }
    }

    #[test]
    fn a_segment_twice_is_noticed() {
        let segments = small(64);
        segments.replay(1).unwrap();
        assert!(segments.replay(1).unwrap_err().contains("came twice"));
        assert!(segments.replay(3).is_err());
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut segments = small(64);
        segments.filled[2][5 * 96 + 40] ^= 4;
        assert!(segments.replay(2).unwrap_err().contains("wrong checksum"));
    }
}
