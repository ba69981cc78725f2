//! The clocks of a line: one pattern or several that make up one time; the last one is remembered by its bytes.

use super::clock::{At, Civil, Pattern};
use super::{Record, Skip};

#[derive(Clone, Debug)]
pub struct Clocks {
    /// The whole time stands in one pattern.
    single: bool,
    /// The bytes of the last time, where equal bytes are equal times, and that time.
    last: Vec<u8>,
    last_at: At,
    civil: Civil,
}

impl Clocks {
    pub fn new(patterns: usize) -> Clocks {
        Clocks { single: patterns == 1, last: Vec::new(), last_at: At::default(), civil: Civil::default() }
    }

    /// Reads the pattern at the start of `rest` and says how many bytes it took.
    #[inline]
    pub fn read(&mut self, pattern: &Pattern, rest: &[u8], record: &mut Record<'_>) -> Result<usize, Skip> {
        if !self.last.is_empty() && rest.starts_with(&self.last) {
            record.at = Some(self.last_at);
            return Ok(self.last.len());
        }
        self.anew(pattern, rest, record)
    }

    fn anew(&mut self, pattern: &Pattern, rest: &[u8], record: &mut Record<'_>) -> Result<usize, Skip> {
        if self.single {
            self.civil = Civil::default();
        }
        let taken = pattern.read(rest, &mut self.civil).ok_or(Skip::Shape)?;
        if self.single {
            let at = self.civil.at().ok_or(Skip::Clock)?;
            record.at = Some(at);
            if pattern.is_fixed() {
                self.last.clear();
                self.last.extend_from_slice(&rest[..taken]);
                self.last_at = at;
            }
        }
        Ok(taken)
    }

    /// Puts the time together that several patterns tell.
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
