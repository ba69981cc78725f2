//! The test file: one for all disk probes of a process, written once, without a name.
//!
//! It is made new, its name is removed before the first byte is written (so that nothing stays however
//! the process ends), and every block is filled with bytes that do not compress. Existing files are never
//! opened. Writing it is not counted in any figure.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use model::params::{parse_bytes, show_bytes};
use model::{NoteBody, ParamKind, ParamSpec, Record, Setup, Size, Unfit};
use rustix::fs::Access;
use sys::direct::{self, Scratch};
use sys::pages::{Advice, Pages};

use super::cold;
use super::device::Device;
use crate::bench::kernels::random::Random;

/// The largest file of a smoke test.
const SMOKE: u64 = 4 << 20;
const CHUNK: usize = 1 << 20;

pub const FILE_SIZE: ParamSpec = ParamSpec::new(
    "file-size",
    ParamKind::Bytes { min: 1 << 20, max: 1 << 44 },
    "1GiB",
    "bytes of the test file; twice as much must be free",
);

/// The file, and the device under it (or why that is not known).
#[derive(Debug)]
pub struct TestFile {
    scratch: Scratch,
    pub bytes: u64,
    pub device: Result<Device, String>,
    dir: PathBuf,
}

static SHARED: Mutex<Weak<TestFile>> = Mutex::new(Weak::new());

impl TestFile {
    pub fn file(&self) -> &File {
        self.scratch.file()
    }

    /// Notes where the file lies.
    pub fn tell(&self, record: &mut dyn Record) {
        record.remark("device", &self.sentence());
        if let Ok(device) = &self.device {
            record.note(NoteBody::TestDisks(device.disk_names()));
        }
    }

    /// A sentence for the `device` note.
    fn sentence(&self) -> String {
        let device = match &self.device {
            Ok(device) => format!("on {}", device.name),
            Err(why) => format!("on an unknown device ({why})"),
        };
        format!("a file of {} {device}, under {}", show_bytes(self.bytes), self.dir.display())
    }

    fn is(&self, dir: &Path, bytes: u64) -> bool {
        self.bytes == bytes && self.dir == dir
    }
}

/// The size of the file, in whole megabytes.
fn size(setup: &Setup) -> u64 {
    let asked = setup.params.get(FILE_SIZE.name).and_then(parse_bytes).unwrap_or(1 << 30);
    let asked = if setup.size == Size::Smoke { asked.min(SMOKE) } else { asked };
    asked / CHUNK as u64 * CHUNK as u64
}

fn existing(setup: &Setup) -> Option<Arc<TestFile>> {
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().filter(|file| file.is(&setup.dir, size(setup)))
}

/// Fails when the file could not be made here. Cheap; writes nothing.
pub fn fit(setup: &Setup) -> Result<(), Unfit> {
    // Its space is taken already.
    if existing(setup).is_some() {
        return Ok(());
    }
    let (dir, bytes) = (&setup.dir, size(setup));
    if !dir.is_dir() {
        return Err(Unfit::new(format!("{} is not a folder", dir.display())));
    }
    cold::possible(dir).map_err(Unfit::new)?;
    if rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return Err(Unfit::new(format!(
            "no right to write in {}: name another folder with --dir",
            dir.display()
        )));
    }
    let system = direct::file_system(dir).map_err(|error| Unfit::new(error.to_string()))?;
    let needed = bytes.saturating_mul(2);
    if system.free_bytes < needed {
        return Err(Unfit::new(format!(
            "{} free under {}, and a test file of {} needs {} (give a smaller file-size)",
            megabytes(system.free_bytes),
            dir.display(),
            show_bytes(bytes),
            show_bytes(needed)
        )));
    }
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{}MiB", bytes >> 20)
}

/// The shared file; writes it if this is its first user. Fails when it cannot be written.
pub fn get(setup: &Setup) -> Result<Arc<TestFile>, Unfit> {
    if let Some(file) = existing(setup) {
        return Ok(file);
    }
    fit(setup)?;
    let file = Arc::new(write(&setup.dir, size(setup), setup.seed)?);
    *SHARED.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&file);
    Ok(file)
}

fn write(dir: &Path, bytes: u64, seed: u64) -> Result<TestFile, Unfit> {
    let failed = |error: sys::Error| Unfit::new(error.to_string());
    let unique = format!(".boxscore-{}-{}.tmp", std::process::id(), sys::clock::now_ns());
    let mut scratch = Scratch::empty(&dir.join(unique)).map_err(failed)?;
    scratch.unlink().map_err(failed)?;
    if !scratch.direct() {
        return Err(Unfit::new(format!(
            "the file system under {} has no direct transfers (O_DIRECT): the page cache would be measured",
            dir.display()
        )));
    }
    // Reserving is for contiguous space; what cannot reserve is simply written.
    let _reserved = direct::preallocate(scratch.file(), bytes);
    let mut buffer = Pages::new(CHUNK, Advice::Default).map_err(failed)?;
    let mut random = Random::new(seed ^ sys::clock::wall_ns());
    for offset in (0..bytes).step_by(CHUNK) {
        random.fill(buffer.as_mut_slice());
        let written = scratch.file().write_all_at(buffer.as_slice(), offset);
        written.map_err(|error| Unfit::new(format!("cannot write the test file: {error}")))?;
    }
    direct::fsync(scratch.file()).map_err(failed)?;
    direct::drop_cache(scratch.file()).map_err(failed)?;
    let device = Device::under(Path::new("/sys"), dir);
    Ok(TestFile { scratch, bytes, device, dir: dir.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::Params;

    use super::*;

    fn setup(dir: &Path, size: &str) -> Setup {
        let params = Params::parse(&format!("file-size={size}")).unwrap();
        let dir = dir.to_owned();
        Setup::bare(params, vec![0], dir)
    }

    /// A folder on a disk; a machine may have /tmp in memory.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn memory_is_not_a_disk() {
        let shm = Path::new("/dev/shm");
        // Without such a mount there is nothing to refuse.
        if direct::file_system(shm).is_ok_and(|system| system.in_memory) {
            let why = fit(&setup(shm, "1MiB")).unwrap_err().why;
            assert!(why.contains("memory, not a disk"), "{why}");
        }
        assert!(fit(&setup(Path::new("/proc"), "1MiB")).unwrap_err().why.contains("not a disk"));
    }

    #[test]
    fn too_little_room_is_refused_with_both_sizes() {
        let dir = folder();
        let why = fit(&setup(dir.path(), "4194304TiB")).unwrap_err().why;
        assert!(why.contains("4194304TiB needs 8388608TiB"), "{why}");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let why = fit(&setup(Path::new("/nonexistent/x"), "1MiB")).unwrap_err().why;
        assert_eq!(why, "/nonexistent/x is not a folder");
    }

    #[test]
    fn the_file_has_no_name_no_holes_and_one_copy() {
        use std::os::unix::fs::MetadataExt;
        let dir = folder();
        let existing = dir.path().join("mine");
        fs::write(&existing, "kept").unwrap();
        let setup = setup(dir.path(), "2MiB");
        let one = match get(&setup) {
            Ok(file) => file,
            // A checkout on a file system without direct transfers: the reason is what counts.
            Err(unfit) => return assert!(unfit.why.contains("O_DIRECT") || unfit.why.contains("not a disk")),
        };
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let meta = one.file().metadata().unwrap();
        assert_eq!((meta.len(), meta.nlink()), (2 << 20, 0));
        assert!(meta.blocks() * 512 >= 2 << 20, "holes: {} blocks", meta.blocks());
        let two = get(&setup).unwrap();
        assert!(Arc::ptr_eq(&one, &two));
        drop((one, two));
        assert!(super::existing(&setup).is_none());
        assert_eq!(fs::read_to_string(existing).unwrap(), "kept");
    }
}
