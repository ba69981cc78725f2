//! RAMCloud's own client library, driven by a small helper in C: a static program cannot load a shared library.
//!
//! `helper.c` is carried as source and built on the host when it is first used (`compile`); a [`Session`] is one
//! process of it with the library loaded, connected as one client. The library is the user's: nothing here builds or
//! brings it. [`state`] says whether it can be used here. Servers are those of `workload/store_server/ramcloud` or the
//! user's.

use std::path::{Path, PathBuf};

pub mod compile;
pub mod frames;
pub mod session;
pub mod status;

pub use session::{Access, Session};
pub use status::Trouble;

/// The library that the loader looks for where no path is given.
pub const LIBRARY: &str = "libramcloud.so";
/// How the library is given.
pub const GIVEN: &str = "give its path by --set ramcloud-library=PATH, or its folder in LD_LIBRARY_PATH";

/// A line on the RAMCloud library that was found. Fails, with what is missing and how to give it, when RAMCloud cannot
/// be asked from here.
pub fn state() -> Result<String, String> {
    let compiler = compile::compiler()?;
    let Some(found) = found() else {
        return Err(format!("{LIBRARY} is not where the loader looks: {GIVEN}"));
    };
    match session::check(LIBRARY) {
        Ok(()) => Ok(format!("{} can be loaded; {} builds its helper", found.display(), compiler.display())),
        Err(Trouble::Load(why)) => Err(format!("{} cannot be loaded: {why}", found.display())),
        Err(trouble) => Err(trouble.to_string()),
    }
}

/// Where the loader would find the library, looked for without it: it is not asked where it can know nothing.
fn found() -> Option<PathBuf> {
    let given = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = ["/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64", "/lib64"].map(PathBuf::from);
    let triplets = ["/usr/lib", "/lib"]
        .map(|base| PathBuf::from(format!("{base}/{}-linux-gnu", std::env::consts::ARCH)));
    let folders = std::env::split_paths(&given).filter(|folder| !folder.as_os_str().is_empty());
    let mut paths = folders.chain(usual).chain(triplets).map(|folder| folder.join(LIBRARY));
    paths.find(|path| path.is_file()).or_else(|| {
        // What `ldconfig` was told of. A host without the file has no other folders.
        let cache = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
        memchr::memmem::find(&cache, LIBRARY.as_bytes()).map(|_| PathBuf::from(LIBRARY))
    })
}

/// A program that stands beside the library, as RAMCloud's own build leaves it.
pub fn beside(library: &str, name: &str) -> Option<PathBuf> {
    let folder = Path::new(library).parent().filter(|folder| !folder.as_os_str().is_empty())?;
    Some(folder.join(name)).filter(|path| path.is_file())
}
