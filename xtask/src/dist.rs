//! Static binaries for copying to other machines. Sizes are printed in MB of 10^6 bytes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{shell, smoke};

/// Targets of `dist-all`.
const TARGETS: &[&str] =
    &["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "i686-unknown-linux-musl"];
/// The cross compiler, in an environment of its own under `target/`.
const ZIG: &[&str] = &["cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

/// The host's binary at `dist/boxscore`.
pub fn host() -> Result<()> {
    let arch = std::env::consts::ARCH;
    let musl = format!("{arch}-unknown-linux-musl");
    let cargo = shell::cargo();
    let compiler = shell::command("musl-gcc", &["--version"]).output().is_ok_and(|out| out.status.success());
    let (target, flags) = if compiler && install(&musl).is_ok() {
        (musl, "")
    } else {
        println!("note: no musl standard library or no musl-gcc here; linking glibc statically instead");
        (format!("{arch}-unknown-linux-gnu"), "-C target-feature=+crt-static")
    };
    let mut build = shell::command(
        &cargo,
        &["build", "--profile", "dist", "--locked", "-p", "boxscore", "--target", &target],
    );
    if flags.is_empty() {
        build.env(format!("CC_{}", target.replace('-', "_")), "musl-gcc");
    } else {
        build.env("RUSTFLAGS", flags);
    }
    shell::must(&mut build)?;
    smoke::shape(&publish(&shell::target(), &target, "boxscore")?)
}

/// Every target, as `dist/boxscore-ARCH`, by a cross compiler that needs no packages of the system. Each binary is
/// then tried; all must name the same build, since a machine refuses an agent of another one.
pub fn all() -> Result<()> {
    let folder = zig()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)))?;
    // A folder of its own: another linker would make everything of `dist` stale, and the other way round.
    let built = shell::target().join("dist-all");
    let mut builds: Vec<(String, String)> = Vec::new();
    for target in TARGETS {
        install(target)?;
        let words = ["zigbuild", "--profile", "dist", "--locked", "-p", "boxscore", "--target", target];
        let mut build = shell::command(&shell::cargo(), &words);
        shell::must(build.env("PATH", &path).env("CARGO_TARGET_DIR", &built))?;
        let arch = target.split('-').next().unwrap_or(target);
        let binary = publish(&built, target, &format!("boxscore-{arch}"))?;
        smoke::shape(&binary)?;
        builds.extend(smoke::run(&binary, arch)?.map(|build| (arch.to_owned(), build)));
    }
    match builds.iter().find(|(_, build)| *build != builds[0].1) {
        Some((arch, build)) => bail!("{arch} is build {build}, {} is {}", builds[0].0, builds[0].1),
        None => Ok(()),
    }
}

/// Has the standard library of a target, if need be from rustup.
fn install(target: &str) -> Result<()> {
    let folder = shell::output("rustc", &["--print", "target-libdir", "--target", target])?;
    if has_std(Path::new(folder.trim())) {
        return Ok(());
    }
    let added = shell::command("rustup", &["target", "add", target]).status();
    if added.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    bail!("no standard library for {target}; it comes with `rustup target add {target}`")
}

fn has_std(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
}

/// The folder of cargo-zigbuild and zig, installed on first use.
fn zig() -> Result<PathBuf> {
    let home = shell::root().join("target/zig");
    let bin = home.join("bin");
    if !bin.join("cargo-zigbuild").exists() {
        let place = home.to_str().context("the path of the repository is not UTF-8")?;
        shell::run("python3", &["-m", "venv", place])?;
        let pip = format!("{place}/bin/pip");
        let mut words = vec!["install", "--quiet"];
        words.extend(ZIG);
        shell::run(&pip, &words)?;
    }
    Ok(bin)
}

/// Copies the binary to `dist/` with its checksum, says how large it is, and gives its path.
fn publish(built: &Path, target: &str, name: &str) -> Result<PathBuf> {
    let root = shell::root();
    let folder = root.join("dist");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let from = built.join(target).join("dist/boxscore");
    let to = folder.join(name);
    // A new file: the old one may be running.
    let new = folder.join(format!(".{name}.new"));
    fs::copy(&from, &new).with_context(|| format!("cannot copy {}", from.display()))?;
    fs::rename(&new, &to).with_context(|| format!("cannot write {}", to.display()))?;
    let sum = shell::must_output(shell::command("sha256sum", &[name]).current_dir(&folder))?;
    fs::write(folder.join(format!("{name}.sha256")), sum)?;
    println!("dist/{name}  {target}  {}", megabytes(fs::metadata(&to)?.len()));
    Ok(to)
}

/// In MB with two digits, rounded up.
fn megabytes(bytes: u64) -> String {
    let hundredths = bytes.div_ceil(10_000);
    format!("{}.{:02} MB", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_up() {
        assert_eq!(megabytes(14_999_999), "15.00 MB");
        assert_eq!(megabytes(3_020_001), "3.03 MB");
        assert_eq!(megabytes(0), "0.00 MB");
    }
}
