//! Many parts by key, merged as they come. All but the last one are held as lines, packed: sorted or not, no more than
//! one is in full in memory.

use std::collections::BTreeMap;

use super::{Key, Part, PartError, line};

/// Keys that are told apart.
const MOST: usize = 10_000;

/// Parts by key.
#[derive(Default)]
pub struct Parts {
    packed: BTreeMap<Key, String>,
    open: Option<(Key, Part)>,
}

impl Parts {
    /// Takes in a line. Fails where it cannot be used; the others are then of no use any more either.
    pub fn add_line(&mut self, line: &[u8]) -> Result<(), PartError> {
        let (key, part) = line::read(line)?;
        self.add(key, part)
    }

    /// Takes in a part.
    pub fn add(&mut self, key: Key, part: Part) -> Result<(), PartError> {
        if let Some((open, mine)) = &mut self.open
            && *open == key
        {
            return mine.merge(&part);
        }
        self.close()?;
        let merged = match self.packed.remove(&key) {
            Some(text) => {
                let (_, mut mine) = line::read(text.as_bytes())?;
                mine.merge(&part)?;
                mine
            }
            None if self.packed.len() >= MOST => {
                return Err(PartError::TooLarge(format!("more than {MOST} keys")));
            }
            None => part,
        };
        self.open = Some((key, merged));
        Ok(())
    }

    fn close(&mut self) -> Result<(), PartError> {
        let Some((key, part)) = self.open.take() else { return Ok(()) };
        let text = line::write(&key, &part)?;
        self.packed.insert(key, text);
        Ok(())
    }

    /// One line for each key, in the order of the keys.
    pub fn lines(mut self) -> Result<impl Iterator<Item = String>, PartError> {
        self.close()?;
        Ok(self.packed.into_values())
    }

    /// Each part in the order of the keys.
    pub(super) fn each(mut self) -> Result<impl Iterator<Item = Result<(Key, Part), PartError>>, PartError> {
        self.close()?;
        Ok(self.packed.into_values().map(|text| line::read(text.as_bytes())))
    }
}
