//! Files read and written past the page cache, scratch files, and the file system under a path.
//!
//! Sizes and offsets are bytes. Only regular files, and only new ones for writing: nothing here
//! opens a raw device or touches the content of an existing file. O_DIRECT still passes the
//! device's own cache, and the host's if the device is virtual.

use crate::error::{Error, Result, check};
use crate::pages::{Advice, Pages};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// One write of [`Scratch::create`].
const CHUNK: usize = 1 << 20;

/// The source of an alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlignSource {
    /// statx (Linux 6.1, on file systems that report it).
    File,
    /// The block device's logical block size.
    Device,
    /// Neither the file system nor the device reported one: 4096, which suits every common device.
    Assumed,
}

/// Offsets, lengths and addresses of direct transfers must be multiples of `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    pub bytes: u32,
    pub source: AlignSource,
}

/// The kernel's `struct statx`, as far as it is used; 256 bytes with fixed offsets.
#[repr(C, align(8))]
struct Statx([u8; 256]);

const STATX_DIOALIGN: libc::c_uint = 0x2000;
const AT_MEM_ALIGN: usize = 152;
const AT_OFFSET_ALIGN: usize = 156;

impl Statx {
    fn word(&self, at: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.0[at..at + 4]);
        u32::from_ne_bytes(word)
    }
}

fn align_by_statx(file: &File) -> Option<u32> {
    let mut buffer = Statx([0; 256]);
    // SAFETY: an open descriptor, an empty C string, and a buffer of the size the kernel writes.
    let ret = unsafe {
        libc::syscall(
            libc::SYS_statx,
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            STATX_DIOALIGN,
            buffer.0.as_mut_ptr(),
        )
    };
    let known = ret == 0 && buffer.word(0) & STATX_DIOALIGN != 0;
    let bytes = buffer.word(AT_MEM_ALIGN).max(buffer.word(AT_OFFSET_ALIGN));
    (known && bytes > 0).then_some(bytes)
}

/// A partition has no queue of its own; its disk, one folder up, has.
fn align_by_device((major, minor): (u32, u32)) -> Option<u32> {
    let base = format!("/sys/dev/block/{major}:{minor}");
    ["queue", "../queue"].iter().find_map(|queue| {
        let path = format!("{base}/{queue}/logical_block_size");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}

fn split(device: u64) -> (u32, u32) {
    // The cast is a no-op or widens, by target.
    let device = device as libc::dev_t;
    (libc::major(device) as u32, libc::minor(device) as u32)
}

/// The alignment of direct transfers on `file`. Fails when the file cannot be examined.
pub fn alignment(file: &File) -> Result<Alignment> {
    let meta = file.metadata().map_err(|e| Error::os("read a file's device", e))?;
    let found = |bytes, source| Alignment { bytes, source };
    Ok(align_by_statx(file)
        .map(|b| found(b, AlignSource::File))
        .or_else(|| align_by_device(split(meta.dev())).map(|b| found(b, AlignSource::Device)))
        .unwrap_or(found(4096, AlignSource::Assumed)))
}

/// Major and minor number of the device that holds `path`; (0, n) has no block device. Fails when `path` cannot be
/// examined.
pub fn device_of(path: &Path) -> Result<(u32, u32)> {
    let meta = std::fs::metadata(path)
        .map_err(|e| Error::os(format!("read the device of {}", path.display()), e))?;
    Ok(split(meta.dev()))
}

fn open(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    options.custom_flags(flags | libc::O_NOCTTY).open(path)
}

fn set_flag(file: &File, flag: i32, on: bool, what: impl Fn() -> String) -> Result<()> {
    let fd = file.as_raw_fd();
    // SAFETY: plain numbers.
    let flags = check(unsafe { libc::fcntl(fd, libc::F_GETFL) }, &what)?;
    let flags = if on { flags | flag } else { flags & !flag };
    // SAFETY: plain numbers.
    check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) }, &what)?;
    Ok(())
}

/// Opens a regular file for reading past the page cache. Fails with EINVAL when its file system has no direct reads.
pub fn open_read(path: &Path) -> Result<File> {
    let what = || format!("open {} for direct reads", path.display());
    // O_NONBLOCK: a FIFO must not hang us before we see that it is one.
    let flags = libc::O_DIRECT | libc::O_NONBLOCK;
    let file = open(path, OpenOptions::new().read(true), flags).map_err(|e| Error::os(what(), e))?;
    let meta = file.metadata().map_err(|e| Error::os(what(), e))?;
    if meta.is_file() { Ok(file) } else { Err(Error::invalid(what(), "it is not a regular file")) }
}

/// Drops the file's clean pages from the page cache. This is a hint to the kernel, so verify it by timing or `mincore`
/// where it matters. Sync first: dirty pages stay. Fails when the kernel refuses.
pub fn drop_cache(file: &File) -> Result<()> {
    // SAFETY: plain numbers; length 0 means to the end.
    let code = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    match code {
        0 => Ok(()),
        code => Err(Error::os("drop a file's cached pages", io::Error::from_raw_os_error(code))),
    }
}

/// Bytes of the file in the page cache, in whole pages. For a file that we neither own nor may write, the kernel
/// reports every page as cached. Fails when the file cannot be mapped.
pub fn cached(file: &File) -> Result<u64> {
    const PART: u64 = 1 << 30;
    let what = || "ask which pages of a file are cached".to_owned();
    let page = crate::pages::page_size();
    let meta = file.metadata().map_err(|e| Error::os(what(), e))?;
    if !meta.is_file() {
        return Err(Error::invalid(what(), "it is not a regular file"));
    }
    let bytes = meta.len();
    let mut found = 0;
    for offset in (0..bytes).step_by(PART as usize) {
        let length = PART.min(bytes - offset) as usize;
        let mut pages = vec![0u8; length.div_ceil(page)];
        let map = Mapped::new(file, offset, length)?;
        // SAFETY: the range is mapped, and `pages` has a byte for each page of it.
        check(unsafe { libc::mincore(map.at, length, pages.as_mut_ptr().cast()) }, what)?;
        found += pages.iter().filter(|flags| *flags & 1 != 0).count() as u64 * page as u64;
    }
    Ok(found)
}

/// A mapping of part of a file, used only to ask which pages are cached.
struct Mapped {
    at: *mut libc::c_void,
    length: usize,
}

impl Mapped {
    fn new(file: &File, offset: u64, length: usize) -> Result<Self> {
        let what = || "map a file".to_owned();
        #[cfg(not(target_env = "gnu"))]
        use libc::{mmap, off_t};
        #[cfg(target_env = "gnu")]
        use libc::{mmap64 as mmap, off64_t as off_t};
        let offset = off_t::try_from(offset).map_err(|_| Error::invalid(what(), "too large"))?;
        let (null, fd) = (std::ptr::null_mut(), file.as_raw_fd());
        // SAFETY: a new mapping that the kernel places; its memory is never accessed.
        let at = unsafe { mmap(null, length, libc::PROT_NONE, libc::MAP_SHARED, fd, offset) };
        if at == libc::MAP_FAILED { Err(Error::last(what())) } else { Ok(Self { at, length }) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: our own mapping, of which no pointer is left. It can only fail for a range that is not one.
        let _unmapped = unsafe { libc::munmap(self.at, self.length) };
    }
}

/// Writes data and all metadata to the device. Fails when the device does.
pub fn fsync(file: &File) -> Result<()> {
    file.sync_all().map_err(|e| Error::os("fsync", e))
}

/// Writes data, and the metadata needed to read it back, to the device. Fails when the device does.
pub fn fdatasync(file: &File) -> Result<()> {
    file.sync_data().map_err(|e| Error::os("fdatasync", e))
}

/// Reserves `bytes` from the start of `file` on the device and sets its length. Fails when there is no room, or the
/// file system cannot do it.
pub fn preallocate(file: &File, bytes: u64) -> Result<()> {
    let what = || format!("reserve {bytes} bytes on the disk");
    #[cfg(not(target_env = "gnu"))]
    use libc::{fallocate, off_t};
    #[cfg(target_env = "gnu")]
    use libc::{fallocate64 as fallocate, off64_t as off_t};
    let length = off_t::try_from(bytes).map_err(|_| Error::invalid(what(), "too large"))?;
    // SAFETY: plain numbers.
    check(unsafe { fallocate(file.as_raw_fd(), 0, 0, length) }, what)?;
    Ok(())
}

/// Space and kind of a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// The name as in /proc/filesystems, or the magic number in hex.
    pub kind: String,
    /// True if its files live in memory, so that no disk is measured.
    pub in_memory: bool,
    /// True if it forwards to other file systems or hosts: overlay, FUSE, network.
    pub indirect: bool,
    pub total_bytes: u64,
    /// Bytes that this user may still use.
    pub free_bytes: u64,
}

/// Magic numbers of statfs(2).
const KINDS: &[(u32, &str)] = &[
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x9584_58f6, "hugetlbfs"),
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb3"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0xca45_1a4e, "bcachefs"),
    (0x2011_bab0, "exfat"),
    (0x4d44, "vfat"),
    (0x5346_544e, "ntfs"),
    (0x7366_746e, "ntfs3"),
    (0x7371_7368, "squashfs"),
    (0xe0f5_e1e2, "erofs"),
    (0x9660, "iso9660"),
    (0x3153_464a, "jfs"),
    (0x5265_4973, "reiserfs"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0187, "autofs"),
];

const IN_MEMORY: &[&str] = &["tmpfs", "ramfs", "hugetlbfs", "proc", "sysfs"];
const INDIRECT: &[&str] =
    &["overlay", "nfs", "cifs", "smb3", "9p", "fuse", "ceph", "lustre", "gpfs", "gfs2", "ocfs2", "autofs"];

fn kind_of(magic: u32) -> String {
    let known = KINDS.iter().find(|(number, _)| *number == magic);
    known.map_or_else(|| format!("{magic:#x}"), |(_, name)| (*name).to_owned())
}

/// The file system that holds `path`. ext2, ext3 and ext4 share a magic number: all are "ext4". Fails when `path`
/// cannot be examined.
pub fn file_system(path: &Path) -> Result<FileSystem> {
    use std::os::unix::ffi::OsStrExt;
    let what = || format!("look at the file system of {}", path.display());
    let name = std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::invalid(what(), "a NUL in the path"))?;
    #[cfg(not(target_env = "gnu"))]
    use libc::{statfs as statfs_t, statfs};
    #[cfg(target_env = "gnu")]
    use libc::{statfs64 as statfs_t, statfs64 as statfs};
    // SAFETY: statfs is plain integers; all zero is valid.
    let mut stat: statfs_t = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and a writable statfs; the call keeps neither.
    check(unsafe { statfs(name.as_ptr(), &raw mut stat) }, what)?;
    // Magic numbers are 32 bits whatever the field's width and sign.
    let kind = kind_of(stat.f_type as u32);
    let block = if stat.f_frsize > 0 { stat.f_frsize as u64 } else { stat.f_bsize as u64 };
    Ok(FileSystem {
        in_memory: IN_MEMORY.contains(&kind.as_str()),
        indirect: INDIRECT.contains(&kind.as_str()),
        total_bytes: (stat.f_blocks as u64).saturating_mul(block),
        free_bytes: (stat.f_bavail as u64).saturating_mul(block),
        kind,
    })
}

/// A new file of ours; dropping it removes the file.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    path: PathBuf,
    /// True while the name exists.
    named: bool,
    direct: bool,
}

/// Fills `words` so that neither compression nor deduplication can shorten it: splitmix64 of the position, so that all
/// blocks of all files differ.
fn fill(words: &mut [u64], seed: u64) {
    for (index, word) in words.iter_mut().enumerate() {
        let mut z = seed.wrapping_add(index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = z ^ z >> 31;
    }
}

impl Scratch {
    /// A new, empty file at `path`; direct if the file system can. Fails when `path` exists or cannot be created.
    pub fn empty(path: &Path) -> Result<Self> {
        let what = || format!("create {}", path.display());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = open(path, &mut options, 0).map_err(|e| Error::os(what(), e))?;
        let mut scratch = Self { file, path: path.to_owned(), named: true, direct: false };
        // Set afterwards: an open with O_DIRECT that is refused has left the name behind.
        match scratch.set_direct(true) {
            Err(e) if e.errno() == Some(libc::EINVAL) => Ok(scratch),
            other => other.map(|()| scratch),
        }
    }

    /// A new file of `bytes` (a multiple of 1 MiB), with every block written and synced, so that no read is answered
    /// from a hole. `go_on` is called between chunks with the bytes written so far; if it returns `false` the file is
    /// removed. Fails then, and when the file cannot be written.
    pub fn create(path: &Path, bytes: u64, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Self> {
        let what = || format!("write {bytes} bytes to {}", path.display());
        if bytes == 0 || !bytes.is_multiple_of(CHUNK as u64) {
            return Err(Error::invalid(what(), "not a multiple of 1 MiB"));
        }
        let scratch = Self::empty(path)?;
        preallocate_if_possible(&scratch.file, bytes)?;
        let seed = crate::clock::wall_ns() ^ u64::from(std::process::id()) << 40;
        let mut buffer = Pages::new(CHUNK, Advice::Default)?;
        for offset in (0..bytes).step_by(CHUNK) {
            if !go_on(offset) {
                return Err(Error::unavailable("the scratch file", "stopped while writing it"));
            }
            fill(buffer.as_mut_slice(), seed.wrapping_add(offset / 8));
            scratch.file.write_all_at(buffer.as_slice(), offset).map_err(|e| Error::os(what(), e))?;
        }
        fsync(&scratch.file)?;
        drop_cache(&scratch.file)?;
        Ok(scratch)
    }

    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if reads and writes bypass the page cache.
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// Switches direct transfers on or off. Fails when the file system cannot.
    pub fn set_direct(&mut self, direct: bool) -> Result<()> {
        let what = || format!("set direct transfers to {direct} on {}", self.path.display());
        set_flag(&self.file, libc::O_DIRECT, direct, what)?;
        self.direct = direct;
        Ok(())
    }

    /// Removes the name and keeps the file open: the space is freed however this process ends. Fails when the kernel
    /// refuses.
    pub fn unlink(&mut self) -> Result<()> {
        let what = || format!("remove {}", self.path.display());
        let ours = self.file.metadata().map_err(|e| Error::os(what(), e))?;
        let there = std::fs::symlink_metadata(&self.path).map_err(|e| Error::os(what(), e))?;
        if (ours.dev(), ours.ino()) != (there.dev(), there.ino()) {
            self.named = false;
            return Err(Error::invalid(what(), "another file has taken its name"));
        }
        std::fs::remove_file(&self.path).map_err(|e| Error::os(what(), e))?;
        self.named = false;
        Ok(())
    }
}

/// Reserves contiguous space if the file system can.
fn preallocate_if_possible(file: &File, bytes: u64) -> Result<()> {
    match preallocate(file, bytes) {
        Err(e) if e.errno() == Some(libc::EOPNOTSUPP) || e.errno() == Some(libc::ENOSYS) => Ok(()),
        other => other,
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.named {
            // A drop has nobody to tell; call `unlink` to know.
            let _removed = self.unlink();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_file_is_written_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let scratch = Scratch::create(&path, 2 << 20, &mut |_| true).unwrap();
        let meta = scratch.file().metadata().unwrap();
        assert_eq!(meta.len(), 2 << 20);
        assert!(meta.blocks() * 512 >= 2 << 20, "sparse");
        assert!(Scratch::empty(&path).is_err(), "an existing file was opened");
        let mut block = Pages::new(4096, Advice::Default).unwrap();
        scratch.file().read_exact_at(block.as_mut_slice(), 4096).unwrap();
        assert!(block.as_slice::<u64>().iter().any(|&w| w != 0));
        let again = open_read(&path);
        assert_eq!(again.is_ok(), scratch.direct());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn stopping_removes_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        assert!(Scratch::create(&path, 4 << 20, &mut |at| at < 1 << 20).is_err());
        assert!(Scratch::create(&path, 1000, &mut |_| true).is_err());
        assert!(!path.exists());
    }

    #[test]
    fn unlink_spares_a_stranger() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let mut scratch = Scratch::empty(&path).unwrap();
        scratch.set_direct(false).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(scratch.unlink().is_err());
        drop(scratch);
        assert!(path.exists());
    }

    #[test]
    fn looks_at_file_systems() {
        let dir = tempfile::tempdir().unwrap();
        let fs = file_system(dir.path()).unwrap();
        assert!(fs.total_bytes >= fs.free_bytes && fs.total_bytes > 0);
        assert!(file_system(Path::new("/proc")).unwrap().in_memory);
        assert!(file_system(Path::new("/no/such")).is_err());
        assert_eq!(kind_of(0xef53), "ext4");
        assert_eq!(kind_of(0x1234_5678), "0x12345678");
        assert!(device_of(dir.path()).is_ok());
        let file = File::open("/proc/self/exe").unwrap();
        assert!(alignment(&file).unwrap().bytes.is_power_of_two());
        drop_cache(&file).unwrap();
    }

    #[test]
    fn cached_pages_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        std::fs::write(&path, vec![7; 1_000_001]).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let page = crate::pages::page_size() as u64;
        let all = 1_000_001u64.next_multiple_of(page);
        assert!((1..=all).contains(&cached(&file).unwrap()), "just written");
        // What lives in memory cannot be dropped from it.
        if !file_system(dir.path()).unwrap().in_memory {
            fsync(&file).unwrap();
            drop_cache(&file).unwrap();
            assert_eq!(cached(&file).unwrap(), 0);
            file.read_exact_at(&mut [0; 10], 0).unwrap();
            assert!((page..=all).contains(&cached(&file).unwrap()));
        }
        let empty = File::create(dir.path().join("e")).unwrap();
        assert_eq!(cached(&empty).unwrap(), 0);
        assert!(cached(&File::open("/").unwrap()).is_err());
    }

    #[test]
    fn devices_and_folders_are_refused() {
        assert!(open_read(Path::new("/dev/null")).is_err());
        assert!(open_read(Path::new("/")).is_err());
    }

    #[test]
    fn fill_repeats_nothing() {
        let (mut a, mut b) = ([0; 512], [0; 512]);
        fill(&mut a, 7);
        fill(&mut b, 7 + 512);
        let all: std::collections::BTreeSet<u64> = a.into_iter().chain(b).collect();
        assert_eq!(all.len(), 1024);
    }
}
