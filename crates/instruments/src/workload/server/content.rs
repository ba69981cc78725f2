//! The files that servers serve: sets fixed by a seed, or copies of the user's files, in a private folder that is
//! removed when the set is dropped.
//!
//! Sizes are bytes. `1k` is 1,024 and `large` 500,000,000; bytes are random, so that they cannot be compressed. The
//! mix follows measurements of the Web (Barford and Crovella 1998): log-normal sizes with 7 % of the files in a Pareto
//! tail, requested by Zipf's law. The size of a single file and of the whole are bounded, which cuts the tail. A mix
//! has as many files as its size needs, up to 10,000 (about 600 MB); larger mixes have larger files.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::tree::{self, ServedTree};

use super::account::Unprivileged;
use super::kind::ServerError;
use super::own_files;
use super::private_folder::PrivateFolder;
use crate::bench::file::cold;
use crate::bench::kernels::random::Random;
use crate::progress::ProgressCounter;

/// The smallest GIF of one transparent pixel that every browser shows: 43 bytes.
const GIF: [u8; 43] = [
    b'G', b'I', b'F', b'8', b'9', b'a', 1, 0, 1, 0, 0x80, 0, 0, // header, 1 x 1, two colours
    0, 0, 0, 0xff, 0xff, 0xff, // black and white
    0x21, 0xf9, 4, 1, 0, 0, 0, 0, // colour 0 is transparent
    0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, // the image
    2, 2, 0x44, 1, 0, 0x3b, // its one pixel, the end
];
const CHUNK: usize = 1 << 20;
const MEGABYTE: u64 = 1_000_000;
const MIX_FILES: u32 = 10_000;
const MIX_LARGEST: f64 = (8u64 << 20) as f64;
/// Mean and standard deviation of the natural logarithm of the size in bytes.
const BODY: (f64, f64) = (9.357, 1.318);
const TAIL_SHARE: f64 = 0.07;
const TAIL_FROM: f64 = 133_000.0;
const TAIL_ALPHA: f64 = 1.1;
/// Weight of the most requested file; the next has half, a third, and so on.
const WEIGHT: u32 = 1_000_000_000;
pub(super) const READY: &str = "boxscore-ready";

model::words! {
    /// A set of content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Set as name {
        Gif = "gif",
        K1 = "1k",
        K10 = "10k",
        K100 = "100k",
        M1 = "1M",
        Mix = "mix",
        Large = "large",
        /// Files of the user's.
        Own = "own",
    }
}

impl Set {
    /// Fails when content of this size has no room in a folder, which need not exist yet. Writes nothing.
    pub fn fits(self, limits: &Limits, dir: &Path) -> Result<(), String> {
        let bytes = match self {
            Set::Mix => limits.mix_bytes,
            Set::Large => limits.large_bytes,
            _ => return Ok(()),
        };
        match dir.ancestors().find(|one| one.is_dir()) {
            Some(there) => room(there, bytes).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

/// Upper bounds for what is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All files of the mix together.
    pub mix_bytes: u64,
    /// The one file of `large`.
    pub large_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { mix_bytes: 64 << 20, large_bytes: 500_000_000 }
    }
}

/// One file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// As in a URL: `/1k.bin`.
    pub path: String,
    pub bytes: u64,
    /// How often it is requested, relative to the others.
    pub weight: u32,
}

/// The files on disk.
#[derive(Debug)]
pub struct Content {
    pub set: Set,
    pub seed: u64,
    pub items: Vec<Item>,
    root: PathBuf,
    token: String,
    place: PrivateFolder,
}

impl Content {
    /// Makes a set under `dir`, readable for `account` (the one that servers run as, see `account::choose`). Fails
    /// when there is no room, when a file cannot be written, and when the user cancels.
    pub fn make(
        set: Set,
        seed: u64,
        limits: &Limits,
        dir: &Path,
        account: Option<&Unprivileged>,
    ) -> Result<Content, ServerError> {
        Content::from_items(items(set, seed, limits), set, seed, dir, account)
    }

    /// Makes the given files. Fails as [`Content::make`] does.
    pub fn from_items(
        items: Vec<Item>,
        set: Set,
        seed: u64,
        dir: &Path,
        account: Option<&Unprivileged>,
    ) -> Result<Content, ServerError> {
        let total = items.iter().map(|item| item.bytes).fold(0, u64::saturating_add);
        let content = Content::begin(items, (set, seed), total, dir, account)?;
        let mut going = Content::counted(total);
        for (index, item) in content.items.iter().enumerate() {
            content.write(item, index as u64, &mut going).map_err(ServerError::Failed)?;
        }
        content.end()
    }

    /// Copies the files of a tree, of which `items` are asked for. Fails as [`Content::make`] does, and where the tree
    /// is not on this machine.
    pub fn from_tree(
        items: Vec<Item>,
        tree: &ServedTree,
        seed: u64,
        dir: &Path,
        account: Option<&Unprivileged>,
    ) -> Result<Content, ServerError> {
        let content = Content::begin(items, (Set::Own, seed), tree.bytes(), dir, account)?;
        own_files::copy(tree, &content.place, &content.root, &mut Content::counted(tree.bytes()))?;
        content.end()
    }

    /// An empty folder with room for so many bytes.
    fn begin(
        items: Vec<Item>,
        (set, seed): (Set, u64),
        bytes: u64,
        dir: &Path,
        account: Option<&Unprivileged>,
    ) -> Result<Content, ServerError> {
        let place = PrivateFolder::make(dir, account).map_err(ServerError::Failed)?;
        room(place.path(), bytes)?;
        let root = place.folder("docs").map_err(ServerError::Failed)?;
        let token = format!("{}-{}-{seed:016x}", std::process::id(), sys::clock::now_ns());
        Ok(Content { set, seed, items, root, token, place })
    }

    /// Counts bytes that were written, for the display.
    fn counted(total: u64) -> impl FnMut(u64) -> Result<(), String> {
        let mut counter = ProgressCounter::new("writing what is served, in MB", total / MEGABYTE);
        let mut written = 0u64;
        move |bytes: u64| {
            written += bytes;
            counter.advance(written / MEGABYTE)
        }
    }

    /// The content with the file by which its server is known.
    fn end(self) -> Result<Content, ServerError> {
        self.put(&self.root.join(READY), self.token.as_bytes()).map_err(ServerError::Failed)?;
        Ok(self)
    }

    /// The folder that a server serves.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of an item on disk.
    pub fn file(&self, item: &Item) -> PathBuf {
        let name = tree::named(&item.path).unwrap_or_else(|| item.path.clone());
        self.root.join(name.trim_start_matches('/'))
    }

    /// A path that only a server of this content answers with [`Content::token`].
    pub fn ready_path(&self) -> String {
        format!("/{READY}")
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// The paths of all files on disk.
    pub fn files(&self) -> Vec<PathBuf> {
        self.items.iter().map(|item| self.file(item)).collect()
    }

    /// Bytes of all items.
    pub fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).fold(0, u64::saturating_add)
    }

    /// Drops the files from the page cache. Returns the bytes that stay, a negligible share; fails with the reason
    /// when more stay.
    pub fn leave_cache(&self) -> Result<u64, String> {
        let mut files = self.files();
        files.push(self.root.join(READY));
        cold::evict(&self.root, files.iter().map(PathBuf::as_path))
    }

    /// Why the files are not under the requested folder, if so.
    pub fn moved(&self) -> Option<&str> {
        self.place.moved.as_deref()
    }

    /// Removes the files, as dropping does. Fails when one cannot be removed.
    pub fn remove(self) -> Result<(), String> {
        self.place.remove()
    }

    /// Writes an item. `going` is called with each piece; an error from it stops the writing.
    fn write(
        &self,
        item: &Item,
        index: u64,
        going: &mut dyn FnMut(u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let path = self.file(item);
        if self.set == Set::Gif {
            return self.put(&path, &GIF);
        }
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        let mut random = Random::new(self.seed ^ (index << 40) ^ item.bytes);
        let mut buffer = vec![0; CHUNK];
        let mut left = item.bytes;
        while left > 0 {
            let count = usize::try_from(left.min(CHUNK as u64)).unwrap_or(CHUNK);
            let part = buffer.get_mut(..count).unwrap_or_default();
            random.fill(part);
            file.write_all(part).map_err(failed)?;
            left -= count as u64;
            going(count as u64)?;
        }
        if self.set == Set::Large {
            // Written back now, so that no take does it.
            file.sync_all().map_err(failed)?;
            let meta = file.metadata().map_err(failed)?;
            if meta.blocks().saturating_mul(512) < item.bytes {
                return Err(format!(
                    "{} has holes: its file system does not store what is written",
                    path.display()
                ));
            }
        }
        self.place.give(&path, 0o400)
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let written = file.and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        self.place.give(path, 0o400)
    }
}

/// Fails unless twice the bytes to be written are free.
fn room(dir: &Path, bytes: u64) -> Result<(), ServerError> {
    let system = sys::direct::file_system(dir).map_err(|error| ServerError::Failed(error.to_string()))?;
    let needed = bytes.saturating_mul(2);
    if system.free_bytes < needed {
        return Err(ServerError::Refused(format!(
            "{} MB free under {}, and files of {} MB need {} MB: choose another folder or smaller content",
            system.free_bytes / 1_000_000,
            dir.display(),
            bytes / 1_000_000,
            needed / 1_000_000
        )));
    }
    Ok(())
}

fn items(set: Set, seed: u64, limits: &Limits) -> Vec<Item> {
    let one = |path: &str, bytes: u64| vec![Item { path: path.to_owned(), bytes, weight: 1 }];
    match set {
        Set::Gif => one("/1x1.gif", GIF.len() as u64),
        Set::K1 => one("/1k.bin", 1 << 10),
        Set::K10 => one("/10k.bin", 10 << 10),
        Set::K100 => one("/100k.bin", 100 << 10),
        Set::M1 => one("/1M.bin", 1 << 20),
        Set::Mix => mix(seed, limits.mix_bytes),
        Set::Large => one("/large.bin", limits.large_bytes),
        // They are the user's (`Content::from_tree`).
        Set::Own => Vec::new(),
    }
}

/// Files of at most `most` bytes together: at least one, at most [`MIX_FILES`].
fn mix(seed: u64, most: u64) -> Vec<Item> {
    let mut random = Random::new(seed);
    let mut sizes: Vec<u64> = Vec::new();
    let mut total = 0u64;
    for _ in 0..MIX_FILES {
        let bytes = size(&mut random).min(most.max(1));
        if total.saturating_add(bytes) > most && !sizes.is_empty() {
            break;
        }
        total = total.saturating_add(bytes);
        sizes.push(bytes);
    }
    if sizes.len() == MIX_FILES as usize {
        let grown = |bytes: u64| u128::from(bytes) * u128::from(most) / u128::from(total.max(1));
        sizes = sizes.into_iter().map(|bytes| u64::try_from(grown(bytes)).unwrap_or(u64::MAX)).collect();
    }
    let item = |(rank, bytes): (u32, u64)| {
        let weight = (WEIGHT / rank).max(1);
        Item { path: format!("/mix-{rank:05}.bin"), bytes, weight }
    };
    (1..=MIX_FILES).zip(sizes).map(item).collect()
}

fn size(random: &mut Random) -> u64 {
    // Never 0, whose logarithm and power have no end.
    let (which, a, b) = (random.unit(), 1.0 - random.unit(), random.unit());
    let drawn = if which < TAIL_SHARE {
        TAIL_FROM * a.powf(-1.0 / TAIL_ALPHA)
    } else {
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        (BODY.0 + BODY.1 * normal).exp()
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 8 MiB")]
    let bytes = drawn.clamp(1.0, MIX_LARGEST) as u64;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(set: Set, seed: u64, limits: &Limits) -> (tempfile::TempDir, Content) {
        let dir = tempfile::tempdir().unwrap();
        let content = Content::make(set, seed, limits, dir.path(), None).unwrap();
        (dir, content)
    }

    fn bytes(content: &Content) -> Vec<Vec<u8>> {
        content.items.iter().map(|item| std::fs::read(content.file(item)).unwrap()).collect()
    }

    #[test]
    fn content_without_room_is_known_before_it_is_written() {
        let dir = std::env::temp_dir().join("not-there-yet");
        let huge = Limits { mix_bytes: 1 << 62, large_bytes: 1 };
        assert!(Set::Mix.fits(&huge, &dir).unwrap_err().contains("choose another folder or smaller content"));
        assert_eq!((Set::Large.fits(&huge, &dir), Set::Gif.fits(&huge, &dir)), (Ok(()), Ok(())));
        assert!(!dir.exists());
    }

    #[test]
    fn sets_have_names_and_sizes() {
        let names: Vec<&str> = Set::ALL.iter().map(|set| set.name()).collect();
        assert_eq!(names, Set::WORDS);
        assert_eq!(Set::parse("2k"), None);
        for (name, size) in [("gif", 43), ("1k", 1024), ("10k", 10_240), ("100k", 102_400), ("1M", 1_048_576)]
        {
            let set = Set::parse(name).unwrap();
            let (dir, content) = made(set, 7, &Limits::default());
            assert_eq!(bytes(&content)[0].len(), size);
            assert_eq!(content.items[0].bytes, size as u64);
            content.remove().unwrap();
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn the_gif_is_one() {
        assert_eq!(&GIF[..6], b"GIF89a");
        assert_eq!((GIF[6], GIF[8], GIF[42]), (1, 1, 0x3b));
    }

    #[test]
    fn a_seed_fixes_every_byte() {
        let limits = Limits { mix_bytes: 2 << 20, large_bytes: 3 << 20 };
        for set in [Set::K1, Set::Mix, Set::Large] {
            let ((_a, one), (_b, two), (_c, other)) =
                (made(set, 5, &limits), made(set, 5, &limits), made(set, 6, &limits));
            assert_eq!(one.items, two.items);
            assert_eq!(bytes(&one), bytes(&two));
            assert_ne!(bytes(&one), bytes(&other));
            assert_ne!(one.token(), two.token());
        }
    }

    #[test]
    fn the_mix_has_its_shape_and_bounds() {
        let items = mix(1, 64 << 20);
        let mut sizes: Vec<u64> = items.iter().take(400).map(|item| item.bytes).collect();
        assert_eq!(sizes.len(), 400);
        sizes.sort_unstable();
        // The median of the body is exp(9.357), 11.6 kB; the tail lifts it a little.
        assert!((8_000..20_000).contains(&sizes[200]), "{}", sizes[200]);
        let tail = sizes.iter().filter(|size| **size >= 133_000).count();
        assert!((15..60).contains(&tail), "{tail}");
        assert!(sizes[399] <= 8 << 20);
        assert!(items.windows(2).all(|two| two[0].weight > two[1].weight));
        for most in [0, 1, 1000, 1 << 20, 64 << 20, 256 << 20, 4 << 30, 1 << 50] {
            let items = mix(1, most);
            let total: u64 = items.iter().map(|item| item.bytes).sum();
            assert!(!items.is_empty() && items.len() <= 10_000 && total <= most.max(1), "{most}: {total}");
            // Short of what was asked for by one file at most.
            assert!(total + (8 << 20) >= most || items.len() == 10_000, "{most}: {total}");
            assert!(items.len() < 10_000 || total as f64 > 0.999 * most as f64, "{most}: {total}");
        }
    }

    #[test]
    fn files_leave_the_cache() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let limits = Limits { mix_bytes: 2 << 20, large_bytes: 0 };
        let content = Content::make(Set::Mix, 3, &limits, dir.path(), None).unwrap();
        let cached = || -> u64 {
            let of = |path: PathBuf| sys::direct::cached(&std::fs::File::open(path).unwrap()).unwrap();
            content.files().into_iter().map(of).sum()
        };
        assert!(cached() > 0 && content.bytes() > 1 << 20);
        match content.leave_cache() {
            Ok(left) => assert_eq!(cached(), left),
            Err(why) => assert!(why.contains("memory, not a disk"), "{why}"),
        }
    }

    #[test]
    fn a_large_file_has_no_holes_and_needs_room() {
        let (_dir, content) = made(Set::Large, 3, &Limits { mix_bytes: 0, large_bytes: 5_000_001 });
        let meta = std::fs::metadata(content.file(&content.items[0])).unwrap();
        assert_eq!(meta.len(), 5_000_001);
        assert!(meta.blocks() * 512 >= 5_000_001);
        let dir = tempfile::tempdir().unwrap();
        let limits = Limits { mix_bytes: 0, large_bytes: 1 << 60 };
        let why = Content::make(Set::Large, 3, &limits, dir.path(), None).unwrap_err();
        let ServerError::Refused(why) = why else { panic!("{why}") };
        assert!(why.contains("1152921504606 MB need 2305843009213 MB"), "{why}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
