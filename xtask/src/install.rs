//! Installs the program with its man pages and shell completions, and packs them: a Debian package and an archive.
//!
//! What goes where under a prefix is said once, in [`tree`]. A package holds the static binary of `dist`; `install`
//! takes the release build. Nothing is removed: what an older version had and this one has not stays.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{dist, shell};

const PREFIX: &str = "/usr/local";

/// `cargo xtask install [--prefix DIR]`: builds, then installs below the prefix. Fails where that may not be written.
pub fn run(prefix: Option<&str>) -> Result<()> {
    shell::run(&shell::cargo(), &["build", "--release", "--locked", "-p", "boxscore"])?;
    let prefix = Path::new(prefix.unwrap_or(PREFIX));
    tree(&shell::target().join("release/boxscore"), prefix)?;
    println!(
        "installed below {}: bin/boxscore, man pages, completions of bash, zsh and fish",
        prefix.display()
    );
    Ok(())
}

/// `cargo xtask package`: `dist/boxscore_VERSION_ARCH.deb` and `dist/boxscore-VERSION-ARCH.tar.gz` of the static
/// binary.
pub fn package() -> Result<()> {
    dist::host()?;
    let root = shell::root();
    let (version, arch) = (env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let name = format!("boxscore-{version}-{arch}");
    let stage = shell::target().join("package");
    let (archive, deb) = (stage.join(&name), stage.join("deb"));
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("cannot empty {}", stage.display()))?;
    }
    let binary = root.join("dist/boxscore");
    tree(&binary, &archive)?;
    let target = root.join("dist").join(format!("{name}.tar.gz"));
    let (stage_path, target_path) = (shell::text(&stage)?, shell::text(&target)?);
    let owner = ["--owner=0", "--group=0", "--numeric-owner"];
    shell::run("tar", &[&["-czf", target_path, "-C", stage_path][..], &owner, &[&name]].concat())?;
    println!("dist/{name}.tar.gz");

    tree(&binary, &deb.join("usr"))?;
    let arch = shell::output("dpkg", &["--print-architecture"])?;
    let (arch, file) = (arch.trim(), format!("boxscore_{version}_{}.deb", arch.trim()));
    write(&deb.join("DEBIAN/control"), &control(version, arch))?;
    let target = root.join("dist").join(&file);
    shell::run("dpkg-deb", &["--root-owner-group", "--build", shell::text(&deb)?, shell::text(&target)?])?;
    println!("dist/{file}");
    Ok(())
}

fn control(version: &str, arch: &str) -> String {
    format!(
        "Package: boxscore\nVersion: {version}\nArchitecture: {arch}\nSection: utils\nPriority: optional\n\
         Maintainer: the boxscore developers <boxscore@localhost>\n\
         Suggests: nginx, redis-server, memcached, linux-perf\n\
         Description: measures servers, and says what holds them back\n \
         Which box for my work, how many, set up how, and what holds it back: measurements with\n \
         intervals, a noise floor for each comparison, and a report.\n"
    )
}

/// Puts the binary, and what it prints of itself, below the prefix.
fn tree(binary: &Path, prefix: &Path) -> Result<()> {
    let program = shell::text(binary)?;
    let place = |folder: &str| -> Result<PathBuf> {
        let folder = prefix.join(folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    };
    let (bin, man) = (place("bin")?.join("boxscore"), place("share/man/man1")?);
    // A new file: the old one may be running.
    let new = bin.with_extension("new");
    fs::copy(binary, &new).with_context(|| format!("cannot write {}", new.display()))?;
    fs::rename(&new, &bin).with_context(|| format!("cannot write {}", bin.display()))?;
    shell::run(program, &["docs", "man", shell::text(&man)?])?;
    let made = shell::target().join("completions");
    fs::create_dir_all(&made)?;
    shell::run(program, &["docs", "completions", shell::text(&made)?])?;
    for (file, folder, name) in [
        ("boxscore.bash", "share/bash-completion/completions", "boxscore"),
        ("_boxscore", "share/zsh/site-functions", "_boxscore"),
        ("boxscore.fish", "share/fish/vendor_completions.d", "boxscore.fish"),
    ] {
        let to = place(folder)?.join(name);
        fs::copy(made.join(file), &to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
