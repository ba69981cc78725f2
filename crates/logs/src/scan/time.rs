//! The clocks of a line: one pattern or several that make up one time; the last one is remembered by its bytes.

use super::clock::{At, Civil, Pattern};
use super::record::{Record, Skip};

/// A text of up to 32 bytes that is compared as four words; longer ones are never remembered.
#[derive(Clone, Copy, Debug, Default)]
struct Literals {
    words: [u64; 4],
    masks: [u64; 4],
    length: usize,
}

impl Literals {
    fn new(text: &[u8]) -> Literals {
        let mut made = Literals::default();
        if text.len() <= 32 {
            made.length = text.len();
            for (place, byte) in text.iter().enumerate() {
                made.words[place / 8] |= u64::from(*byte) << (8 * (place % 8));
                made.masks[place / 8] |= 0xff << (8 * (place % 8));
            }
        }
        made
    }

    /// True if `rest` begins with it; false for an empty text.
    #[inline(always)]
    fn begins(&self, start: &[u8; 32]) -> bool {
        let mut differs = 0;
        for (place, eight) in start.as_chunks::<8>().0.iter().enumerate() {
            differs |= u64::from_le_bytes(*eight) & self.masks[place] ^ self.words[place];
        }
        self.length > 0 && differs == 0
    }
}

#[derive(Clone, Debug)]
pub struct Clocks {
    /// The whole time stands in one pattern.
    single: bool,
    /// The bytes of the last time, where equal bytes are equal times, and that time.
    last: Literals,
    last_at: At,
    /// Number of times that `last` has changed.
    changes: u64,
    civil: Civil,
}

impl Clocks {
    pub fn new(patterns: usize) -> Clocks {
        Clocks {
            single: patterns == 1,
            last: Literals::default(),
            last_at: At::default(),
            changes: 0,
            civil: Civil::default(),
        }
    }

    /// Reads the pattern at the start of `rest` and says how many bytes it took. Fails if the text is no such time.
    #[inline]
    pub fn read(&mut self, pattern: &Pattern, rest: &[u8], record: &mut Record<'_>) -> Result<usize, Skip> {
        if let Some((at, length)) = rest.first_chunk().and_then(|start| self.known(start)) {
            record.at = Some(at);
            return Ok(length);
        }
        self.anew(pattern, rest, record)
    }

    /// The last time and how many bytes it took, where these begin with it.
    #[inline(always)]
    pub fn known(&self, start: &[u8; 32]) -> Option<(At, usize)> {
        self.last.begins(start).then_some((self.last_at, self.last.length))
    }

    /// How often the last time was another one than that before it.
    #[inline(always)]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The last time, its bytes and how many they are; none where there is no time whose bytes could be looked for.
    pub fn last(&self) -> Option<(At, [u8; 32], usize)> {
        let mut text = [0; 32];
        text.copy_from_slice(self.last.words.map(u64::to_le_bytes).as_flattened());
        (self.last.length > 0).then_some((self.last_at, text, self.last.length))
    }

    /// Reads the pattern at the start of `rest` whatever the last time was. Fails if the text is no such time.
    pub fn anew(&mut self, pattern: &Pattern, rest: &[u8], record: &mut Record<'_>) -> Result<usize, Skip> {
        if self.single {
            self.civil = Civil::default();
        }
        let taken = pattern.read(rest, &mut self.civil).ok_or(Skip::Shape)?;
        if self.single {
            let at = self.civil.at().ok_or(Skip::Clock)?;
            record.at = Some(at);
            if pattern.is_fixed() {
                self.last = Literals::new(&rest[..taken]);
                self.last_at = at;
                self.changes += 1;
            }
        }
        Ok(taken)
    }

    /// Puts the time together that several patterns tell. Fails if there is no such time.
    #[inline]
    pub fn finish(&mut self, patterns: usize, record: &mut Record<'_>) -> Result<(), Skip> {
        if patterns > 1 {
            record.at = Some(std::mem::take(&mut self.civil).at().ok_or(Skip::Clock)?);
        }
        Ok(())
    }

    /// Forgets what a line told that was then skipped.
    pub fn forget(&mut self) {
        self.civil = Civil::default();
    }
}
