//! Disks as a whole, for who writes an image onto one: opened so that nobody else uses it, and read past the page
//! cache. Sizes are bytes.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Error, Result};
use crate::pages::{Advice, Pages};

/// Bytes of one direct read: whole blocks of any disk.
const PIECE: usize = 1 << 20;

/// Opens a disk for writing. The kernel refuses one that is mounted, or a part of which is, or that another holds.
pub fn open_alone(path: &Path) -> Result<File> {
    let what = || format!("open {} for writing", path.display());
    let options = OpenOptions::new().write(true).custom_flags(libc::O_EXCL | libc::O_NOCTTY).open(path);
    let file = options.map_err(|error| Error::os(what(), error))?;
    let kind = file.metadata().map_err(|error| Error::os(what(), error))?.file_type();
    match kind.is_block_device() {
        true => Ok(file),
        false => Err(Error::invalid(what(), "it is no disk")),
    }
}

/// Gives the first bytes of a disk as it holds them, piece by piece, until `piece` wants no more. Fails as the disk
/// does, and where it ends early.
pub fn read_direct(path: &Path, bytes: u64, mut piece: impl FnMut(&[u8]) -> bool) -> Result<()> {
    let what = || format!("read {} back", path.display());
    let flags = libc::O_DIRECT | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut file = file.map_err(|error| Error::os(what(), error))?;
    let mut room = Pages::new(PIECE, Advice::Default)?;
    let mut left = bytes;
    while left > 0 {
        let count = file.read(room.as_mut_slice::<u8>()).map_err(|error| Error::os(what(), error))?;
        if count == 0 {
            return Err(Error::invalid(what(), format!("it ends {left} bytes early")));
        }
        let used = count.min(usize::try_from(left).unwrap_or(usize::MAX));
        if !piece(&room.as_slice::<u8>()[..used]) {
            return Ok(());
        }
        left -= used as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_disk_is_not_opened_for_writing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "x").unwrap();
        assert!(open_alone(&path).unwrap_err().to_string().contains("it is no disk"));
        assert!(open_alone(Path::new("/dev/null")).unwrap_err().to_string().contains("it is no disk"));
        assert!(open_alone(&dir.path().join("none")).is_err() && !dir.path().join("none").exists());
    }
}
