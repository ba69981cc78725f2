//! The header of a program in ELF form: its width, and the loader that it asks for.
//!
//! Only the first 64 KiB are read. A script has no header, and neither has what is not ELF.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Headers lie at the beginning.
const READ: u64 = 64 << 10;
const MAGIC: &[u8] = b"\x7fELF";
/// The type of the program header that names the loader.
const INTERPRETER: u64 = 3;
const X86: u64 = 3;

/// The header of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf {
    /// 32 or 64.
    pub bits: u8,
    machine: u64,
    /// Absent in a program without shared libraries.
    loader: Option<PathBuf>,
}

/// The header of a file; `None` where it has none or cannot be read.
pub fn read(program: &Path) -> Option<Elf> {
    let mut bytes = Vec::new();
    File::open(program).ok()?.take(READ).read_to_end(&mut bytes).ok()?;
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Option<Elf> {
    if bytes.get(..4)? != MAGIC {
        return None;
    }
    let bits = match bytes.get(4)? {
        1 => 32,
        2 => 64,
        _ => return None,
    };
    let is_little = match bytes.get(5)? {
        1 => true,
        2 => false,
        _ => return None,
    };
    let number = |at: u64, size: usize| -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let part = bytes.get(at..at.checked_add(size)?)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if is_little { part.iter().rev().fold(0, add) } else { part.iter().fold(0, add) })
    };
    let machine = number(18, 2)?;
    // Where the program headers begin, how long one is, and how many there are.
    let (word, begin, each, count) = if bits == 64 { (8, 32, 54, 56) } else { (4, 28, 42, 44) };
    let headers = || {
        let (begin, each) = (number(begin, word)?, number(each, 2)?);
        (0..number(count, 2)?).find_map(|nth| {
            let header = begin.checked_add(nth.checked_mul(each)?)?;
            if number(header, 4)? != INTERPRETER {
                return None;
            }
            let (place, length) = if bits == 64 { (8, 32) } else { (4, 16) };
            let from = usize::try_from(number(header.checked_add(place)?, word)?).ok()?;
            let length = usize::try_from(number(header.checked_add(length)?, word)?).ok()?;
            let text = bytes.get(from..from.checked_add(length)?)?;
            let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
            Some(PathBuf::from(text)).filter(|path| path.is_absolute())
        })
    };
    Some(Elf { bits, machine, loader: headers() })
}

impl Elf {
    /// Why the system says that a program which is there is not: its loader is missing.
    pub fn missing_loader(&self) -> Option<String> {
        let loader = self.loader.as_ref().filter(|loader| !loader.exists())?;
        let package = match (self.bits, self.machine) {
            (32, X86) => "apt install libc6-i386 (Debian), or `dpkg --add-architecture i386` and libc6:i386",
            _ => "install the C library of its architecture",
        };
        Some(format!(
            "it is a {}-bit program whose loader {} is not installed: {package}",
            self.bits,
            loader.display()
        ))
    }

    /// How the shared libraries of a program that misses some are installed.
    pub fn libraries(&self, program: &Path) -> String {
        let ldd = format!("`ldd {}` lists them", program.display());
        match (self.bits, self.machine) {
            (32, X86) => {
                format!("{ldd}; 32-bit ones are packages of the architecture i386, such as zlib1g:i386")
            }
            _ => ldd,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A program of this width with one program header.
    fn program(bits: u8, loader: &str) -> Vec<u8> {
        let wide = bits == 64;
        let mut bytes = vec![0; if wide { 64 + 56 } else { 52 + 32 }];
        let at = bytes.len();
        let mut put = |place: usize, value: u64, size: usize| {
            bytes[place..place + size].copy_from_slice(&value.to_le_bytes()[..size]);
        };
        let (word, header) = if wide { (8, 64) } else { (4, 52) };
        put(18, if wide { 62 } else { X86 }, 2);
        put(if wide { 32 } else { 28 }, header as u64, word);
        put(if wide { 54 } else { 42 }, if wide { 56 } else { 32 }, 2);
        put(if wide { 56 } else { 44 }, 1, 2);
        put(header, INTERPRETER, 4);
        put(header + if wide { 8 } else { 4 }, at as u64, word);
        put(header + if wide { 32 } else { 16 }, loader.len() as u64 + 1, word);
        bytes[..4].copy_from_slice(MAGIC);
        (bytes[4], bytes[5]) = (if wide { 2 } else { 1 }, 1);
        bytes.extend(loader.bytes().chain([0]));
        bytes
    }

    #[test]
    fn the_width_and_the_loader_are_read_from_the_header() {
        for bits in [32, 64] {
            let elf = parse(&program(bits, "/no/such/ld.so")).unwrap();
            assert_eq!((elf.bits, elf.loader.as_deref()), (bits, Some(Path::new("/no/such/ld.so"))));
            let why = elf.missing_loader().unwrap();
            assert!(why.contains(&format!("{bits}-bit")) && why.contains("/no/such/ld.so"), "{why}");
            assert_eq!(why.contains("libc6-i386"), bits == 32, "{why}");
        }
        let own = read(Path::new("/proc/self/exe")).unwrap();
        assert_eq!((u32::from(own.bits), own.missing_loader()), (usize::BITS, None));
        assert_eq!(parse(b"#!/bin/sh\n"), None);
        assert_eq!(read(Path::new("/no/such")), None);
    }

    #[test]
    fn a_header_that_is_cut_has_no_loader() {
        let whole = program(32, "/lib/ld-linux.so.2");
        let cut = parse(&whole[..60]).unwrap();
        assert_eq!((cut.bits, cut.loader), (32, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(mut bytes: Vec<u8>, kind in 0u8..4, end in 0u8..4) {
            let _any = parse(&bytes);
            let head = [MAGIC, &[kind, end]].concat();
            bytes.splice(0..0, head);
            let _any = parse(&bytes);
        }
    }
}
