//! The journal of one run that is being written: its lock says that the writer lives, and takes that the database
//! refused (disk full, locked for too long) spill into it. It stands beside the store as `<store>.journal-<no>`.
//!
//! A header, then records: length (4 bytes, little endian), checksum (8 bytes), body (postcard). The file is
//! filled with zeros when it is made, so that there is room left when the disk is full; a length of zero ends it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use model::data::Note;
use model::frame::{OwnCost, Segment};
use model::reading::Take;
use serde::{Deserialize, Serialize};

use crate::value::hash;

const MAGIC: &[u8; 8] = b"BXJRNL1\n";

/// Room kept for takes of a full disk: some thousand takes without telemetry.
pub(crate) const RESERVE_BYTES: usize = 2 << 20;

/// What could not be stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Entry {
    Take { take: Take, telemetry: Vec<Segment>, notes: Vec<(String, String, Option<u64>)> },
    Telemetry(Segment),
    Note { kind: String, text: String, at_ns: Option<u64> },
    Finish { status: String, seconds: f64, cost: Option<OwnCost> },
}

/// What a journal held.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Contents {
    pub run: String,
    pub entries: Vec<Entry>,
    /// Bytes at the end that are no record: a write that was cut.
    pub damaged_bytes: usize,
}

pub(crate) fn triple(note: &Note) -> (String, String, Option<u64>) {
    (note.kind.clone(), note.text.clone(), note.at_ns)
}

#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    pub path: PathBuf,
    /// Where the next record goes.
    end: u64,
    pub entries: usize,
}

/// `<store>.journal-<no>`.
pub(crate) fn path_of(store: &Path, no: i64) -> PathBuf {
    let mut name: OsString = store.as_os_str().to_owned();
    name.push(format!(".journal-{no}"));
    PathBuf::from(name)
}

/// True when a living process holds the journal at `path`.
pub(crate) fn held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

impl Journal {
    /// Opens or makes the journal and locks it; `None` when a living process holds it.
    pub fn open(
        path: &Path,
        run: &str,
        owner: Option<(u32, u32)>,
    ) -> io::Result<Option<(Journal, Contents)>> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if let Some((uid, gid)) = owner {
            std::os::unix::fs::fchown(&file, Some(uid), Some(gid))?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (contents, end) = parse(&bytes);
        let journal = Journal { file, path: path.to_path_buf(), end, entries: contents.entries.len() };
        if contents.entries.is_empty() && contents.damaged_bytes == 0 {
            let mut journal = journal;
            journal.reset(run)?;
            return Ok(Some((journal, contents)));
        }
        Ok(Some((journal, contents)))
    }

    /// Empties the journal and keeps its room.
    pub fn reset(&mut self, run: &str) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(record(run.as_bytes())?);
        let end = bytes.len() as u64;
        bytes.resize(bytes.len().max(RESERVE_BYTES), 0);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&bytes)?;
        self.file.set_len(bytes.len() as u64)?;
        self.file.sync_all()?;
        self.end = end;
        self.entries = 0;
        Ok(())
    }

    /// Appends and syncs.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let body = postcard::to_stdvec(entry).map_err(io::Error::other)?;
        let bytes = record(&body)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&bytes)?;
        self.file.sync_data()?;
        self.end += bytes.len() as u64;
        self.entries += 1;
        Ok(())
    }

    pub fn read(&mut self) -> io::Result<Contents> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        Ok(parse(&bytes).0)
    }

    /// Removes the file, then lets go of the lock.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

fn record(body: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(hash([body]).to_le_bytes());
    bytes.extend(body);
    Ok(bytes)
}

/// What the bytes hold, and where the sound part ends. Never fails: what is no record is counted.
pub(crate) fn parse(bytes: &[u8]) -> (Contents, u64) {
    let mut contents = Contents::default();
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        contents.damaged_bytes = used(bytes);
        return (contents, 0);
    };
    let mut first = true;
    while let Some((body, after)) = next_record(rest) {
        if first {
            contents.run = String::from_utf8_lossy(body).into_owned();
            first = false;
        } else if let Ok(entry) = postcard::from_bytes(body) {
            contents.entries.push(entry);
        } else {
            break;
        }
        rest = after;
    }
    contents.damaged_bytes = used(rest);
    (contents, (bytes.len() - rest.len()) as u64)
}

fn next_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (checksum, rest) = rest.split_first_chunk::<8>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (body, after) = rest.split_at_checked(length)?;
    (length > 0 && hash([body]) == u64::from_le_bytes(*checksum)).then_some((body, after))
}

/// Bytes up to the last that is not zero.
fn used(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)
}
