//! Checks of a distributed binary: static, small enough, and able to run, by an emulator where the processor is
//! another. Sizes are in MB of 10^6 bytes. Nothing is measured here: emulated figures mean nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// The most that a stripped binary may weigh.
const MOST_BYTES: u64 = 30_000_000;

/// Size and linkage of a binary, whatever processor it is for.
pub fn shape(binary: &Path) -> Result<()> {
    let bytes = fs::read(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    let name = binary.display();
    ensure!(bytes.len() as u64 <= MOST_BYTES, "{name} weighs {} bytes, more than {MOST_BYTES}", bytes.len());
    match interpreter(&bytes) {
        Some(false) => Ok(()),
        Some(true) => bail!("{name} is not static: it names a dynamic loader"),
        None => bail!("{name} is no little-endian ELF file"),
    }
}

/// Runs `--version`, `list` and `inspect --json`; gives the build id. `None`, with a note, where nothing here can
/// run a program for `arch`.
pub fn run(binary: &Path, arch: &str) -> Result<Option<String>> {
    let Some(runner) = runner(binary, arch) else {
        println!(
            "note: {} is not tried: no qemu-{arch}-static here (qemu-user-static has it)",
            binary.display()
        );
        return Ok(None);
    };
    let say = |words: &[&str]| -> Result<String> {
        let mut all: Vec<&str> = runner.iter().map(String::as_str).collect();
        all.extend(words);
        let (program, rest) = all.split_first().context("no program")?;
        let text = shell::must_output(shell::command(program, rest).env("NO_COLOR", "1"))?;
        ensure!(!text.trim().is_empty(), "{} {} printed nothing", binary.display(), words.join(" "));
        Ok(text)
    };
    let version = say(&["--version"])?;
    let build = version.split_whitespace().last().unwrap_or_default().to_owned();
    ensure!(build.contains('+'), "`--version` names no build: {version}");
    let list = say(&["list"])?;
    ensure!(list.contains("crc32c"), "`list` does not name crc32c");
    let inspected: serde_json::Value =
        serde_json::from_str(&say(&["inspect", "--json"])?).context("`inspect --json` printed no JSON")?;
    ensure!(inspected.is_object(), "`inspect --json` printed no object");
    println!("{}: {version}  --version, list, inspect --json by {}", binary.display(), runner.join(" "));
    Ok(Some(build))
}

/// The words that start a binary: itself where this machine can, else an emulator.
fn runner(binary: &Path, arch: &str) -> Option<Vec<String>> {
    let itself = binary.to_string_lossy().into_owned();
    let works = |words: &[String]| {
        let (program, rest) = words.split_first()?;
        let done = Command::new(program).args(rest).arg("--version").output().ok()?;
        done.status.success().then_some(())
    };
    let host = std::env::consts::ARCH;
    if host == arch {
        return Some(vec![itself]);
    }
    let alone = vec![itself.clone()];
    if (host, arch) == ("x86_64", "i686") && works(&alone).is_some() {
        return Some(alone);
    }
    let guest = if arch == "i686" { "i386" } else { arch };
    let emulators = [format!("qemu-{guest}-static"), format!("qemu-{guest}")];
    let there =
        |name: &&String| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    emulators.iter().find(there).map(|emulator| vec![emulator.clone(), itself])
}

/// True when an ELF file names a dynamic loader; `None` when it is no such file.
fn interpreter(elf: &[u8]) -> Option<bool> {
    const PT_INTERP: u64 = 3;
    let number = |at: usize, width: usize| -> Option<u64> {
        let bytes = elf.get(at..at.checked_add(width)?)?;
        Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let wide = match elf.get(..6)? {
        [0x7f, b'E', b'L', b'F', 1, 1] => false,
        [0x7f, b'E', b'L', b'F', 2, 1] => true,
        _ => return None,
    };
    let (table, size, count) = match wide {
        true => (number(32, 8)?, number(54, 2)?, number(56, 2)?),
        false => (number(28, 4)?, number(42, 2)?, number(44, 2)?),
    };
    for entry in 0..count {
        let at = usize::try_from(table.checked_add(entry * size)?).ok()?;
        if number(at, 4)? == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header and program headers of those kinds, of a 32- or 64-bit file.
    fn elf(wide: bool, kinds: &[u32]) -> Vec<u8> {
        let (header, entry) = if wide { (64, 56) } else { (52, 32) };
        let mut bytes = vec![0u8; header + entry * kinds.len()];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1]);
        let (table, size, count) = if wide { (32, 54, 56) } else { (28, 42, 44) };
        bytes[table] = u8::try_from(header).unwrap();
        bytes[size] = u8::try_from(entry).unwrap();
        bytes[count] = u8::try_from(kinds.len()).unwrap();
        for (i, kind) in kinds.iter().enumerate() {
            bytes[header + i * entry..][..4].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_dynamic_loader_is_seen() {
        for wide in [false, true] {
            assert_eq!(interpreter(&elf(wide, &[1, 3, 2])), Some(true));
            assert_eq!(interpreter(&elf(wide, &[1, 1, 7])), Some(false));
            assert_eq!(interpreter(&elf(wide, &[1, 3])[..60]), None);
        }
        assert_eq!(interpreter(b"#!/bin/sh\n"), None);
    }
}
