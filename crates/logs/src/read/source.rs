//! Where bytes come from: a file or a stream; plain, gzip or zstd, as its first bytes say.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use super::keyed::Keyed;
use super::watch::Watch;
use crate::format::detect;

/// Bytes of the buffer in front of a decompressor.
const BUFFER: usize = 128 << 10;

/// A file by its path, or a stream.
pub enum Source {
    File(PathBuf),
    Stream(Box<dyn Read + Send>),
    /// A stream each of whose lines has its offset and a tab in front of it.
    Keyed(Box<dyn Read + Send>),
}

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packed {
    Plain,
    Gzip,
    Zstd,
}

impl Packed {
    /// By the first bytes.
    pub(super) fn detect(start: &[u8]) -> Packed {
        match start {
            [0x1f, 0x8b, ..] => Packed::Gzip,
            // A frame, or one that says something to other programs and nothing to us.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packed::Zstd,
            _ => Packed::Plain,
        }
    }

    /// Message for a part of a compressed file.
    pub(super) fn has_no_parts(self) -> String {
        let kind = if self == Packed::Gzip { "gzip" } else { "zstd" };
        format!("{kind}: a part of it cannot be read by itself, only the whole")
    }

    /// Message for a failed read of this kind, of which what was read before counts.
    pub(super) fn fault(self, error: &io::Error) -> String {
        let cause = self.cause(error);
        if self == Packed::Plain { cause } else { cause + COUNTED }
    }

    /// Message for a failed read of this kind.
    pub(crate) fn cause(self, error: &io::Error) -> String {
        let kind = match self {
            Packed::Plain => return unread(error),
            Packed::Gzip => "gzip",
            Packed::Zstd => "zstd",
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("{kind}: it ends too early (cut off)"),
            _ => format!("{kind}: damaged ({error})"),
        }
    }
}

/// Message for a plain file that cannot be read to its end.
pub(super) fn unread(why: impl std::fmt::Display) -> String {
    format!("cannot be read to its end: {why}")
}

/// The end of the message of a fault up to which lines are counted.
pub const COUNTED: &str = "; the lines up to there are counted";

/// True if the bytes begin as gzip or zstd does.
pub fn is_packed(start: &[u8]) -> bool {
    Packed::detect(start) != Packed::Plain
}

/// The first lines of these bytes, to tell a format from. What stands behind the last line break may grow, unless they
/// are all that comes.
pub fn whole_lines(bytes: &[u8], ended: bool) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if !ended {
        lines.pop();
    }
    lines.truncate(detect::SAMPLE);
    lines
}

/// Why a file cannot be read, in words that follow its name.
pub fn why(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read by this user".to_owned(),
        _ => error.to_string(),
    }
}

/// Opens a file; a directory is an error.
pub(super) fn open(path: &Path) -> Result<(File, u64, Packed), String> {
    let mut file = File::open(path).map_err(why)?;
    let about = file.metadata().map_err(why)?;
    if about.is_dir() {
        return Err("a directory: name its files".to_owned());
    }
    let mut start = [0; 4];
    // What is no file gives its bytes once.
    let mut read = 0;
    if about.is_file() {
        read = fill(&mut file, &mut start).map_err(why)?;
        file.rewind().map_err(why)?;
    }
    Ok((file, about.len(), Packed::detect(&start[..read])))
}

/// Reads until the room is full or the end is there.
pub(super) fn fill(from: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match from.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The unpacked bytes of a stream, and how they were packed; what is read from it is counted.
pub(crate) fn unpacked<'w>(
    mut from: Box<dyn Read + Send + 'w>,
    watch: &'w Watch,
) -> io::Result<(Box<dyn Read + 'w>, Packed)> {
    let mut start = [0; 4];
    let read = fill(&mut from, &mut start)?;
    let packed = Packed::detect(&start[..read]);
    watch.add(read);
    let rest = Counted { inner: from, watch };
    let whole = Cursor::new(start[..read].to_vec()).chain(rest);
    let reader: Box<dyn Read + 'w> = match packed {
        Packed::Plain => Box::new(whole),
        Packed::Gzip => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole)))
        }
        Packed::Zstd => Box::new(zstd::stream::read::Decoder::new(whole)?),
    };
    Ok((reader, packed))
}

/// Counts what is read of a stream.
pub(super) struct Counted<'w> {
    pub inner: Box<dyn Read + Send + 'w>,
    pub watch: &'w Watch,
}

impl Read for Counted<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(room)?;
        self.watch.add(count);
        Ok(count)
    }
}

/// The first lines of a source, to tell its format from.
pub struct Head {
    pub lines: Vec<Vec<u8>>,
    /// The source again, with nothing taken from it.
    pub source: Source,
}

/// Bytes that are looked at for the first lines.
pub(super) const HEAD_BYTES: usize = 256 << 10;

/// Looks at the first lines; they are read again with the rest. Fails if nothing can be read.
pub fn head(source: Source) -> Result<Head, String> {
    let watch = Watch::default();
    match source {
        Source::File(path) => {
            let (file, _, _) = open(&path)?;
            if !file.metadata().is_ok_and(|about| about.is_file()) {
                return head(Source::Stream(Box::new(file)));
            }
            let lines = first_lines(Box::new(file), &watch)?;
            Ok(Head { lines, source: Source::File(path) })
        }
        Source::Stream(stream) => {
            let (start, stream) = started(stream)?;
            let lines = first_lines(Box::new(Cursor::new(start)), &watch)?;
            Ok(Head { lines, source: Source::Stream(stream) })
        }
        Source::Keyed(stream) => {
            let (start, stream) = started(stream)?;
            let unkeyed = || Keyed::new(Cursor::new(start.clone()));
            let mut first = [0; 4];
            let read = fill(&mut unkeyed(), &mut first).map_err(|error| Packed::Plain.fault(&error))?;
            // The lines of a packed file are none of the log.
            if is_packed(&first[..read]) {
                return head(Source::Stream(Box::new(Keyed::new(stream))));
            }
            let lines = first_lines(Box::new(unkeyed()), &watch)?;
            Ok(Head { lines, source: Source::Keyed(stream) })
        }
    }
}

/// The first bytes of a stream, and the stream with nothing taken from it.
fn started(mut stream: Box<dyn Read + Send>) -> Result<(Vec<u8>, Box<dyn Read + Send>), String> {
    let mut start = vec![0; HEAD_BYTES];
    let read = fill(&mut stream, &mut start).map_err(|error| error.to_string())?;
    start.truncate(read);
    Ok((start.clone(), Box::new(Cursor::new(start).chain(stream))))
}

fn first_lines(from: Box<dyn Read + Send>, watch: &Watch) -> Result<Vec<Vec<u8>>, String> {
    let (mut reader, packed) = unpacked(from, watch).map_err(|error| error.to_string())?;
    let mut start = Vec::new();
    let mut block = vec![0; 16 << 10];
    let mut ended = false;
    while start.len() < HEAD_BYTES && memchr::memchr_iter(b'\n', &start).count() < detect::SAMPLE && !ended {
        match fill(&mut reader, &mut block) {
            Ok(count) => {
                start.extend_from_slice(&block[..count]);
                ended = count < block.len();
            }
            // What is damaged later is said when it is read; a start that cannot be read says nothing.
            Err(_) if !start.is_empty() => break,
            Err(error) => return Err(packed.fault(&error)),
        }
    }
    let mut lines: Vec<Vec<u8>> = start.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // The last one may have been cut by looking no further.
    if lines.len() > 1 {
        lines.pop();
    }
    lines.truncate(detect::SAMPLE);
    Ok(lines)
}
