//! boxscore itself as the first program of an image, with what it needs where it is not linked statically.

use std::collections::BTreeSet;
use std::path::Path;

use lab::boot::image::Packed;

use crate::error::CliError;
use crate::fleet::on::own_architecture;
use crate::node::INIT;

/// The files by which boxscore runs in an image with a kernel of this architecture: that of `--binaries`, else this
/// program, for its own. Fails where none of them is for it.
pub fn files(kernel: Option<&str>, binaries: Option<&Path>) -> Result<Vec<Packed>, CliError> {
    let own = own_architecture();
    let wanted = kernel.unwrap_or(own);
    let other = binaries.map(|folder| folder.join(format!("boxscore-{wanted}")));
    match other.filter(|path| path.exists()) {
        Some(path) => Ok(vec![of_file(&path)?]),
        None if wanted == own => of_this(),
        None => {
            let missing = binaries.map_or_else(String::new, |folder| {
                format!(" --binaries {} has no boxscore-{wanted};", folder.display())
            });
            let what = format!("the kernel is for {wanted};{missing} this boxscore is for {own}");
            Err(CliError::data(what).hint("--binaries DIR with what `make dist-all` builds into dist"))
        }
    }
}

/// A program that needs nothing else.
fn of_file(path: &Path) -> Result<Packed, CliError> {
    let bytes = read(path)?;
    if let Some(loader) = loader(&bytes) {
        let what =
            format!("{}: it is not static: it wants {loader}, which the image has not", path.display());
        return Err(CliError::data(what).hint("`make dist-all` builds static ones"));
    }
    Ok(Packed { path: INIT.trim_start_matches('/').to_owned(), mode: 0o755, bytes })
}

/// This program, and the libraries that it has open.
fn of_this() -> Result<Vec<Packed>, CliError> {
    let exe = std::env::current_exe().map_err(|error| CliError::data(format!("/proc/self/exe: {error}")))?;
    let program = read(Path::new("/proc/self/exe"))?;
    let loader = loader(&program);
    let init = INIT.trim_start_matches('/').to_owned();
    let mut files = vec![Packed { path: init, mode: 0o755, bytes: program }];
    // A static program has no loader, and opens none.
    let Some(loader) = loader else { return Ok(files) };
    let maps = String::from_utf8_lossy(&read(Path::new("/proc/self/maps"))?).into_owned();
    for path in libraries(&maps, &exe.to_string_lossy()) {
        let bytes = read(Path::new(path))?;
        files.push(Packed { path: path.trim_start_matches('/').to_owned(), mode: 0o755, bytes });
    }
    let bytes = read(Path::new(&loader))?;
    files.push(Packed { path: loader.trim_start_matches('/').to_owned(), mode: 0o755, bytes });
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|error| CliError::data(format!("{}: {error}", path.display())))
}

/// The shared libraries that a process has open.
fn libraries<'a>(maps: &'a str, exe: &str) -> BTreeSet<&'a str> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let is_library = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        *path != exe && (name.ends_with(".so") || name.contains(".so."))
    };
    paths.filter(is_library).collect()
}

/// The path of the loader that an ELF program asks for; `None` for a static one.
fn loader(elf: &[u8]) -> Option<String> {
    const INTERPRETER: u32 = 3;
    let bytes = |at: usize, count: usize| elf.get(at..at.checked_add(count)?);
    let word = |at: usize| Some(usize::from(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?)));
    let half = |at: usize| Some(u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?));
    let long = |at: usize| usize::try_from(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?)).ok();
    let short = |at: usize| half(at).and_then(|number| usize::try_from(number).ok());
    let is_long = match bytes(0, 6)? {
        b"\x7fELF\x02\x01" => true,
        b"\x7fELF\x01\x01" => false,
        _ => return None,
    };
    let (table, size, count) = match is_long {
        true => (long(32)?, word(54)?, word(56)?),
        false => (short(28)?, word(42)?, word(44)?),
    };
    (0..count).find_map(|number| {
        let entry = table.checked_add(number.checked_mul(size)?)?;
        let (place, length) = match is_long {
            true => (long(entry.checked_add(8)?)?, long(entry.checked_add(32)?)?),
            false => (short(entry.checked_add(4)?)?, short(entry.checked_add(16)?)?),
        };
        let text = std::str::from_utf8(bytes(place, length)?).ok()?.trim_end_matches('\0');
        (half(entry)? == INTERPRETER).then(|| text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_static_brings_its_loader_and_libraries() {
        let files = files(None, None).unwrap();
        assert_eq!(files[0].path, "init");
        let is_static = cfg!(target_feature = "crt-static");
        assert_eq!(
            files.len() > 2,
            !is_static,
            "{:?}",
            files.iter().map(|file| &file.path).collect::<Vec<_>>()
        );
        let maps = "7f00-7f01 r-xp 0 08:01 5 /usr/lib/x/libc.so.6\n7f01-7f02 r--p 0 0 0 /usr/lib/x/libc.so.6\n\
                    5500-5501 r-xp 0 08:01 6 /opt/boxscore.so\n7fff-8000 rw-p 0 0 0 [stack]\n1-2 r--p 0 0 0 /x/locale\n";
        assert_eq!(
            libraries(maps, "/opt/boxscore.so").into_iter().collect::<Vec<_>>(),
            ["/usr/lib/x/libc.so.6"]
        );
        let own = own_architecture();
        assert_eq!(super::files(Some(own), None).unwrap().len(), files.len());
        assert_eq!(loader(b"#!/bin/sh\n"), None);
        assert_eq!(loader(b"\x7fELF\x02\x01"), None);
    }

    #[test]
    fn the_program_is_of_the_kernels_processor_and_static() {
        let dir = tempfile::tempdir().unwrap();
        let other = if own_architecture() == "aarch64" { "i686" } else { "aarch64" };
        let error = files(Some(other), None).unwrap_err();
        assert!(error.message.starts_with(&format!("the kernel is for {other}; this boxscore is for ")));
        let missing = files(Some(other), Some(dir.path())).unwrap_err().message;
        assert!(missing.contains(&format!("has no boxscore-{other}")), "{missing}");
        std::fs::write(dir.path().join(format!("boxscore-{other}")), b"\x7fELF\x01\x01 static").unwrap();
        let found = files(Some(other), Some(dir.path())).unwrap();
        assert_eq!((found.len(), found[0].path.as_str()), (1, "init"));
        if !cfg!(target_feature = "crt-static") {
            let own = dir.path().join(format!("boxscore-{}", own_architecture()));
            std::fs::copy(std::env::current_exe().unwrap(), own).unwrap();
            assert!(files(None, Some(dir.path())).unwrap_err().message.contains("it is not static"));
        }
    }
}
