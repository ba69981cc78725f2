//! The image of a disk: a file of the user's, as it is or packed by gzip or zstd. Sizes and hashes are of what it
//! unpacks to.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

use super::image::BadImage;
use crate::sha256::Sha256;
use crate::stop::Stop;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// An image that was read to its end once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskImage {
    pub path: PathBuf,
    /// Bytes that come onto the disk.
    pub bytes: u64,
    /// Of these, as small hexadecimal digits.
    pub sha256: String,
}

impl DiskImage {
    /// Reads and unpacks the file, to know its size and its hash before any disk is touched. `told` gets the bytes so
    /// far. Fails for what cannot be read, is no plain file, is damaged or is empty, and after a stop.
    pub fn read(
        path: &Path,
        stop: &Stop,
        mut told: impl FnMut(u64),
    ) -> std::result::Result<DiskImage, BadImage> {
        let bad = |why: String| BadImage::File { path: path.to_owned(), why };
        let wrong = |error: std::io::Error| bad(error.to_string());
        let file = File::open(path).map_err(wrong)?;
        if !file.metadata().map_err(wrong)?.is_file() {
            return Err(bad("it is no plain file".to_owned()));
        }
        let mut from = unpacked(file).map_err(wrong)?;
        let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0_u64, vec![0; PIECE]);
        loop {
            if stop.is_requested() {
                return Err(bad("interrupted while it was read".to_owned()));
            }
            let count = fill(&mut from, &mut piece).map_err(wrong)?;
            if count == 0 {
                break;
            }
            hash.add(&piece[..count]);
            bytes += count as u64;
            told(bytes);
        }
        match bytes {
            0 => Err(bad("it is empty".to_owned())),
            _ => Ok(DiskImage { path: path.to_owned(), bytes, sha256: hash.digits() }),
        }
    }
}

/// The bytes that an image unpacks to, by how it begins.
pub fn unpacked<'a>(mut from: impl Read + 'a) -> Result<Box<dyn Read + 'a>> {
    let mut start = [0; 4];
    let count = fill(&mut from, &mut start)?;
    let is_gzip = start[..count].starts_with(GZIP);
    let is_zstd = start[..count].starts_with(ZSTD);
    let whole = Cursor::new(start).take(count as u64).chain(from);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(PIECE, whole))),
        (_, true) => Box::new(zstd::stream::read::Decoder::new(whole)?),
        (false, false) => Box::new(whole),
    })
}

/// Reads until the room is full or the end is there.
pub fn fill(from: &mut impl Read, room: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match from.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn size_and_hash_are_of_what_is_in_it_however_it_is_packed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        let stop = Stop::new().unwrap();
        let raw: Vec<u8> = (0..3_000_001_u32).map(|n| (n / 7) as u8).collect();
        let mut hash = Sha256::new();
        hash.add(&raw);
        let wanted = (raw.len() as u64, hash.digits());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&raw).unwrap();
        let zstd = zstd::encode_all(&raw[..], 1).unwrap();
        for packed in [&raw, &gzip.finish().unwrap(), &zstd] {
            std::fs::write(&path, packed).unwrap();
            let mut last = 0;
            let image = DiskImage::read(&path, &stop, |bytes| last = bytes).unwrap();
            assert_eq!((image.bytes, image.sha256), wanted);
            assert_eq!(last, raw.len() as u64);
        }
        let why = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            DiskImage::read(&path, &stop, |_| {}).unwrap_err().to_string()
        };
        assert!(why(&zstd[..zstd.len() / 2]).contains("image: "));
        assert!(why(b"").ends_with("it is empty"));
        assert!(
            DiskImage::read(dir.path(), &stop, |_| {}).unwrap_err().to_string().contains("no plain file")
        );
        std::fs::write(&path, &raw).unwrap();
        stop.request();
        assert!(DiskImage::read(&path, &stop, |_| {}).unwrap_err().to_string().contains("interrupted"));
    }
}
