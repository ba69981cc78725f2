//! Takes files out of the page cache, so that the next read comes from the disk.
//!
//! Units: bytes, in whole pages. Only the named files are touched; caches of the disk, or of the host of a virtual
//! one, are not reached.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use sys::direct;

/// Answers that were read lately may hold pages of the files that they came from until the network is used again, and
/// a mapping until it ends. What stays of all files may be this share, or this much.
const SHARE: u64 = 50;
const SPARE: u64 = 1 << 20;
const ROUNDS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Fails, with the reason, when files under `dir` cannot leave the cache.
pub fn possible(dir: &Path) -> Result<(), String> {
    let system = direct::file_system(dir).map_err(|error| error.to_string())?;
    match system.in_memory {
        true => Err(format!(
            "{} is on {}, which is memory, not a disk: name a folder on a disk",
            dir.display(),
            system.kind
        )),
        false => Ok(()),
    }
}

/// Writes back changes under `dir`, drops these files from the cache, and checks that they are gone but for a
/// negligible share. Returns the bytes that stay. Fails when more stay.
pub fn evict<'a>(dir: &Path, files: impl IntoIterator<Item = &'a Path>) -> Result<u64, String> {
    possible(dir)?;
    let folder = File::open(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    rustix::fs::syncfs(&folder).map_err(|error| format!("cannot write back {}: {error}", dir.display()))?;
    let mut waiting: Vec<&Path> = files.into_iter().collect();
    let mut total = 0;
    for round in 1.. {
        let mut left = 0;
        let mut staying = Vec::new();
        for path in waiting {
            let (bytes, stays) = drop_from_cache(path).map_err(|why| format!("{}: {why}", path.display()))?;
            total += if round == 1 { bytes } else { 0 };
            if stays > 0 {
                left += stays;
                staying.push(path);
            }
        }
        if left <= SPARE.max(total / SHARE) {
            return Ok(left);
        }
        if round == ROUNDS {
            let (count, first) = (staying.len(), staying.first().map(|path| path.display().to_string()));
            return Err(format!(
                "{left} bytes of {count} files stay in the page cache ({} is one): another program maps or reads them",
                first.unwrap_or_default()
            ));
        }
        waiting = staying;
        std::thread::sleep(PAUSE);
    }
    Ok(0)
}

/// The size of the file, and the bytes of it that stay in the cache.
fn drop_from_cache(path: &Path) -> Result<(u64, u64), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    direct::drop_cache(&file).map_err(|error| error.to_string())?;
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    Ok((bytes, direct::cached(&file).map_err(|error| error.to_string())?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_leave_the_cache_or_the_reason_is_given() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let paths = [dir.path().join("a"), dir.path().join("b")];
        for path in &paths {
            fs::write(path, vec![7; 300_000]).unwrap();
        }
        let all = || paths.iter().map(std::path::PathBuf::as_path);
        if direct::file_system(dir.path()).unwrap().in_memory {
            return assert!(evict(dir.path(), all()).unwrap_err().contains("memory"));
        }
        assert_eq!(evict(dir.path(), all()), Ok(0));
        for path in &paths {
            assert_eq!(direct::cached(&File::open(path).unwrap()).unwrap(), 0);
        }
        let missing = dir.path().join("c");
        assert!(evict(dir.path(), [missing.as_path()]).unwrap_err().contains("/c: "));
    }

    #[test]
    fn memory_is_not_a_disk() {
        assert!(possible(Path::new("/proc")).unwrap_err().contains("memory, not a disk"));
        assert!(possible(Path::new("/no/such")).unwrap_err().contains("/no/such"));
        let shm = Path::new("/dev/shm");
        // Without such a mount there is nothing to refuse.
        if direct::file_system(shm).is_ok_and(|system| system.in_memory) {
            assert!(possible(shm).is_err() && evict(shm, []).is_err());
        }
    }
}
