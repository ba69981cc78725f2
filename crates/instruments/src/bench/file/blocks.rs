//! The setup of a disk probe: the test file, and the block that it reads or writes at a time.
//!
//! Sizes are bytes. A block that the device cannot transfer directly is refused; one larger than the file is cut to
//! the size of the file.

use std::sync::Arc;

use model::params::parse_bytes;
use model::{Setup, Unfit};
use sys::pages::{Advice, Pages};

use super::testfile::{self, TestFile};
use crate::bench::kernels::random::Random;

/// The file, and the bytes of one transfer.
#[derive(Debug)]
pub struct Blocks {
    pub file: Arc<TestFile>,
    pub bytes: u64,
}

fn failed(error: impl std::fmt::Display) -> Unfit {
    Unfit::new(error.to_string())
}

impl Blocks {
    /// From the parameter `block`; writes the test file if this is its first user. Fails when the block or the file is
    /// not possible here.
    pub fn from_setup(setup: &Setup) -> Result<Blocks, Unfit> {
        let file = testfile::get(setup)?;
        let text = setup.params.get("block").unwrap_or_default();
        let asked = parse_bytes(text).ok_or_else(|| Unfit::new(format!("block=`{text}` is not a size")))?;
        let alignment = sys::direct::alignment(file.file()).map_err(failed)?.bytes;
        let bytes = direct(asked.min(file.bytes), alignment)?;
        Ok(Blocks { file, bytes })
    }

    /// One block of bytes that do not compress. Fails when there is no memory for it.
    pub fn buffer(&self, seed: u64) -> Result<Pages, Unfit> {
        let length = usize::try_from(self.bytes).map_err(|_| Unfit::new("larger than the address space"))?;
        let mut buffer = Pages::new(length, Advice::Default).map_err(failed)?;
        Random::new(seed).fill(buffer.as_mut_slice());
        Ok(buffer)
    }
}

/// `bytes`, where a direct transfer of them is possible.
fn direct(bytes: u64, alignment: u32) -> Result<u64, Unfit> {
    match bytes.is_multiple_of(u64::from(alignment.max(1))) && bytes > 0 {
        true => Ok(bytes),
        false => Err(Unfit::new(format!("direct transfers here are multiples of {alignment} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_multiples_of_the_alignment() {
        assert_eq!(direct(4096, 512), Ok(4096));
        assert_eq!(direct(512, 0), Ok(512));
        let why = direct(512, 4096).unwrap_err().why;
        assert_eq!(why, "direct transfers here are multiples of 4096 bytes");
        assert!(direct(0, 512).is_err());
    }
}
