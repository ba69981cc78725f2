//! The journal of one run that is being written: its lock says that the writer lives, and takes that the database
//! refused (disk full, locked for too long) spill into it. It stands beside the store as `<store>.journal-<no>`.
//!
//! A header, then records: length (4 bytes, little endian), checksum (8 bytes), body (postcard). The file is
//! filled with zeros when it is made, so that there is room left when the disk is full; a length of zero ends it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Note;
use model::frame::{OwnCost, Segment, TargetTelemetry};
use model::reading::Take;
use serde::{Deserialize, Serialize};

use crate::value::hash;

const MAGIC: &[u8; 8] = b"BXJRNL1\n";

/// Bytes reserved in the journal for takes that the database refuses when the disk is full: some thousand takes
/// without telemetry.
pub(crate) const RESERVE_BYTES: usize = 2 << 20;

const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A record that waits in the journal since the database refused it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Entry {
    Take { take: Take, telemetry: Vec<Segment>, notes: Vec<Note> },
    Telemetry(Segment),
    Note(Note),
    Finish { status: String, seconds: f64, cost: Option<OwnCost> },
    OfTarget(TargetTelemetry),
}

/// Contents of a journal.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Contents {
    pub run: String,
    pub entries: Vec<Entry>,
    /// Bytes at the end that are no record: a write that was cut.
    pub damaged_bytes: usize,
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

/// The entries of the journal at `path`, for a reader: locks nothing. Empty where there is none. Fails if it cannot be
/// read.
pub(crate) fn peek(path: &Path) -> io::Result<Contents> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(parse(&bytes).0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Contents::default()),
        Err(error) => Err(error),
    }
}

/// True when a living process holds the journal at `path`.
pub(crate) fn held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

impl Journal {
    /// Opens or makes the journal and locks it; `None` when a living process holds it. Fails if the file cannot be
    /// made, read or locked.
    pub fn open(
        path: &Path,
        run: &str,
        owner: Option<(u32, u32)>,
    ) -> io::Result<Option<(Journal, Contents)>> {
        let Some(mut file) = lock(path)? else { return Ok(None) };
        give_to(&file, owner)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (contents, end) = parse(&bytes);
        let mut journal = Journal { file, path: path.to_path_buf(), end, entries: contents.entries.len() };
        if contents.entries.is_empty()
            && contents.damaged_bytes == 0
            && let Err(error) = journal.reset(run)
        {
            remove_if_there(path)?;
            return Err(error);
        }
        Ok(Some((journal, contents)))
    }

    /// Empties the journal and keeps its room. Fails if the disk does.
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

    /// Appends and syncs. Fails if the disk does; then the journal ends where it ended before.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let body = postcard::to_stdvec(entry).map_err(io::Error::other)?;
        let bytes = record(&body)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        if let Err(error) = self.file.write_all(&bytes).and_then(|()| self.file.sync_data()) {
            // A part of a record would be damage, and its room is wanted for the end of the run.
            self.file.set_len(self.end)?;
            return Err(error);
        }
        self.end += bytes.len() as u64;
        self.entries += 1;
        Ok(())
    }

    /// Reads all records. Fails if the file cannot be read; damaged records are counted.
    pub fn read(&mut self) -> io::Result<Contents> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        Ok(parse(&bytes).0)
    }

    /// Removes the file, then lets go of the lock. Fails if the file cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        remove_if_there(&self.path)
    }
}

/// The locked file, made where it is missing. A file that was removed while it was being locked is tried again.
fn lock(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..LOCK_TRIES {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // Someone who only looks lets go at once.
                std::thread::sleep(LOCK_PAUSE);
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let ours = file.metadata()?;
        match std::fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => return Ok(Some(file)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Gives a file beside the store to the store's owner. Who may not give files away keeps them.
pub(crate) fn give_to(file: &File, owner: Option<(u32, u32)>) -> io::Result<()> {
    let Some((uid, gid)) = owner else { return Ok(()) };
    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (uid, gid) {
        return Ok(());
    }
    match std::os::unix::fs::fchown(file, Some(uid), Some(gid)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn record(body: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(hash([body]).to_le_bytes());
    bytes.extend(body);
    Ok(bytes)
}

/// The records in the bytes, and the end of the sound part. Never fails; damaged records are counted.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use model::NoteBody;

    use super::*;

    fn entry(text: &str) -> Entry {
        Entry::Note(Note { body: NoteBody::remark("doubt", text), at_ns: Some(1) })
    }

    fn bytes_of(dir: &Path, texts: &[&str]) -> Vec<u8> {
        let path = dir.join("j");
        let (mut journal, _) = Journal::open(&path, "run", None).unwrap().unwrap();
        texts.iter().for_each(|text| journal.append(&entry(text)).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        journal.remove().unwrap();
        bytes[..used(&bytes)].to_vec()
    }

    #[test]
    fn entries_come_back_and_only_one_process_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = path_of(&dir.path().join("s.db"), 7);
        assert!(path.ends_with("s.db.journal-7"));
        let (mut journal, empty) = Journal::open(&path, "run", None).unwrap().unwrap();
        assert_eq!(empty, Contents::default());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), RESERVE_BYTES as u64);
        journal.append(&entry("a")).unwrap();
        assert!(held(&path) && Journal::open(&path, "run", None).unwrap().is_none());
        drop(journal);
        assert!(!held(&path));
        let (mut journal, contents) = Journal::open(&path, "run", None).unwrap().unwrap();
        let want = Contents { run: "run".into(), entries: vec![entry("a")], damaged_bytes: 0 };
        assert_eq!(contents, want);
        journal.append(&entry("b")).unwrap();
        assert_eq!(journal.read().unwrap().entries, [entry("a"), entry("b")]);
        journal.reset("run").unwrap();
        assert_eq!(journal.read().unwrap().entries, []);
        journal.remove().unwrap();
        assert!(!path.exists() && !held(&path));
    }

    #[test]
    fn a_cut_anywhere_costs_only_the_last_entry() {
        let dir = tempfile::tempdir().unwrap();
        let whole = bytes_of(dir.path(), &["first", "second"]);
        let one = bytes_of(dir.path(), &["first"]).len();
        for cut in one + 1..whole.len() {
            let (contents, end) = parse(&whole[..cut]);
            assert_eq!(contents.entries, [entry("first")], "cut at {cut}");
            assert_eq!(end, one as u64);
            assert!(contents.damaged_bytes > 0 && contents.damaged_bytes <= cut - one);
        }
        assert_eq!(parse(&whole).0.entries.len(), 2);
    }

    proptest! {
        #[test]
        fn any_bytes_parse(bytes in proptest::collection::vec(any::<u8>(), 0..200), ours in any::<bool>()) {
            let bytes = if ours { [MAGIC.as_slice(), &bytes].concat() } else { bytes };
            let (contents, end) = parse(&bytes);
            prop_assert!(end as usize <= bytes.len());
            prop_assert!(contents.damaged_bytes <= bytes.len());
        }
    }
}
