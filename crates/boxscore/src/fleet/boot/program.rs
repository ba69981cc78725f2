//! boxscore itself as the first program of an image, with what it needs where it is not linked statically.

use std::collections::BTreeSet;
use std::path::Path;

use lab::boot::image::Packed;

use crate::error::CliError;
use crate::node::INIT;

/// The files by which this program runs in an image: itself, and the libraries that it has open.
pub fn files() -> Result<Vec<Packed>, CliError> {
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

/// The path of the loader that an ELF program of 64 bits asks for; `None` for a static one.
fn loader(elf: &[u8]) -> Option<String> {
    const INTERPRETER: u32 = 3;
    let bytes = |at: usize, count: usize| elf.get(at..at.checked_add(count)?);
    let word = |at: usize| Some(usize::from(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?)));
    let long = |at: usize| usize::try_from(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?)).ok();
    if bytes(0, 6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (long(32)?, word(54)?, word(56)?);
    (0..count).find_map(|number| {
        let entry = table.checked_add(number.checked_mul(size)?)?;
        let kind = u32::from_le_bytes(bytes(entry, 4)?.try_into().ok()?);
        let text = bytes(long(entry.checked_add(8)?)?, long(entry.checked_add(32)?)?)?;
        let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
        (kind == INTERPRETER).then(|| text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_static_brings_its_loader_and_libraries() {
        let files = files().unwrap();
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
        assert_eq!(loader(b"#!/bin/sh\n"), None);
        assert_eq!(loader(b"\x7fELF\x02\x01"), None);
    }
}
