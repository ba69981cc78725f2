//! Standard input of a mapper whose job has our input format (`boxscore.ByteBlocks`): blocks of a file, one behind the
//! other, each with its offset.
//!
//! A block is two fields, each behind its length in four bytes, the highest first: the offset in eight bytes, and the
//! bytes. Hadoop Streaming calls this `rawbytes`. Nothing is taken of lines here: a split has whole lines, and what is
//! packed comes as it lies there.

use std::io::{self, Read};

/// Bytes in front of those of a block.
const HEAD: usize = 16;
/// Bytes of an offset.
const OFFSET: u32 = 8;
const CUT_OFF: &str = "it ends within a block";

/// The bytes of the blocks.
pub struct Blocks<R> {
    from: R,
    /// The offset behind the blocks that were begun.
    next: u64,
    /// Bytes that are left of the block.
    left: usize,
}

impl<R: Read> Blocks<R> {
    /// Reads up to the first byte. `None` of a split without lines.
    pub fn open(from: R) -> io::Result<Option<(u64, Blocks<R>)>> {
        let mut blocks = Blocks { from, next: 0, left: 0 };
        let Some((offset, length)) = blocks.head()? else { return Ok(None) };
        blocks.begin(offset, length)?;
        Ok(Some((offset, blocks)))
    }

    /// The offset and the length of the next block; `None` at the end.
    fn head(&mut self) -> io::Result<Option<(u64, usize)>> {
        let mut head = Vec::with_capacity(HEAD);
        (&mut self.from).take(HEAD as u64).read_to_end(&mut head)?;
        let Some((key, rest)) = head.split_first_chunk() else {
            return if head.is_empty() { Ok(None) } else { Err(wrong(CUT_OFF)) };
        };
        let key = u32::from_be_bytes(*key);
        if key != OFFSET {
            return Err(wrong(format!("an offset has {key} bytes, not {OFFSET}")));
        }
        let (offset, length) = rest.split_first_chunk().ok_or_else(|| wrong(CUT_OFF))?;
        let length = length.try_into().map_err(|_| wrong(CUT_OFF))?;
        // Java's lengths have a sign.
        let length = usize::try_from(i32::from_be_bytes(length)).map_err(|_| wrong("a length below 0"))?;
        Ok(Some((u64::from_be_bytes(*offset), length)))
    }

    fn begin(&mut self, offset: u64, length: usize) -> io::Result<()> {
        let end = offset.checked_add(length as u64);
        self.next = end.ok_or_else(|| wrong(format!("a block at byte {offset}, of {length} bytes")))?;
        self.left = length;
        Ok(())
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        // Ends with the stream, or with a block that is not empty.
        while self.left == 0 && !room.is_empty() {
            let Some((offset, length)) = self.head()? else { return Ok(0) };
            if offset != self.next {
                return Err(wrong(format!(
                    "a block at byte {offset}, behind one that ends at {}",
                    self.next
                )));
            }
            self.begin(offset, length)?;
        }
        let most = room.len().min(self.left);
        let count = self.from.read(&mut room[..most])?;
        if count == 0 && most > 0 {
            return Err(wrong(CUT_OFF));
        }
        self.left -= count;
        Ok(count)
    }
}

fn wrong(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no blocks of the input format: {what}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(offset: u64, bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap();
        [&8_u32.to_be_bytes()[..], &offset.to_be_bytes(), &length.to_be_bytes(), bytes].concat()
    }

    fn read(all: &[u8]) -> io::Result<Option<(u64, Vec<u8>)>> {
        let Some((offset, mut blocks)) = Blocks::open(all)? else { return Ok(None) };
        let mut bytes = Vec::new();
        blocks.read_to_end(&mut bytes)?;
        Ok(Some((offset, bytes)))
    }

    proptest! {
        #[test]
        fn what_is_left_is_the_file(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..9),
            start: u32,
        ) {
            let mut at = u64::from(start);
            let mut all = Vec::new();
            for piece in &pieces {
                all.extend(block(at, piece));
                at += piece.len() as u64;
            }
            let (offset, bytes) = read(&all).unwrap().unwrap();
            prop_assert_eq!((offset, bytes), (u64::from(start), pieces.concat()));
            // Cut off anywhere but between blocks, it is no part of the file.
            let mut end = 0;
            let ends: Vec<usize> = pieces.iter().map(|piece| { end += 16 + piece.len(); end }).collect();
            for end in 1..all.len() {
                prop_assert_eq!(read(&all[..end]).is_ok(), ends.contains(&end), "{}", end);
            }
        }
    }

    #[test]
    fn blocks_out_of_place_are_refused() {
        assert!(read(b"").unwrap().is_none());
        for (all, why) in [
            ([block(0, b"ab\n"), block(4, b"c\n")].concat(), "a block at byte 4, behind one that ends at 3"),
            (b"GET / HTTP/1.1".to_vec(), "an offset has"),
            (b"0\tab\n".to_vec(), "an offset has"),
            (block(u64::MAX, b"ab"), "a block at byte 18446744073709551615"),
            ([&8_u32.to_be_bytes()[..], &[0; 8], &[0xff; 4]].concat(), "a length below 0"),
        ] {
            let error = read(&all).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
