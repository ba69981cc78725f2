//! `cargo xtask new instrument|section NAME`: the file and its test from a template, then the registries.

use std::fs;

use anyhow::{Context, Result, bail};
use model::Family;

use crate::{generate, shell};

const INSTRUMENT: &str = include_str!("templates/instrument.txt");
const SECTION: &str = include_str!("templates/section.txt");

/// Writes a benchmark that works into the folder of its family, and enters it in the registry there.
pub fn instrument(name: &str, family: &str) -> Result<()> {
    let known = families()?;
    let Some((family, folder)) = known.iter().find(|(known, _)| known.name() == family) else {
        let names: Vec<&str> = known.iter().map(|(known, _)| known.name()).collect();
        bail!("no family `{family}`; the families of benchmarks are {}", names.join(", "));
    };
    let text = filled(INSTRUMENT, name)?.replace("{Family}", &format!("{family:?}"));
    write(&format!("{folder}/{}.rs", snake(name)), &text)?;
    println!("next: put your work into `run`, then `cargo test -p instruments {}`", snake(name));
    Ok(())
}

/// The families that have a folder of their own among the instruments, with the folder. Sources that are not measured
/// by takes have no template.
fn families() -> Result<Vec<(Family, String)>> {
    let folders = generate::folders("crates/instruments/src")?;
    let folder = |family: Family| {
        let named = |folder: &&String| folder.rsplit('/').next() == Some(family.name());
        Some((family, folders.iter().find(named)?.clone()))
    };
    let takes = |family: &Family| !matches!(family, Family::Telemetry | Family::Inventory);
    Ok(Family::ALL.into_iter().filter(takes).filter_map(folder).collect())
}

pub fn section(name: &str) -> Result<()> {
    write(&format!("crates/report/src/sections/{}.rs", snake(name)), &filled(SECTION, name)?)?;
    println!("next: put your finding into `draw`, then `cargo test -p report {}`", snake(name));
    Ok(())
}

fn write(path: &str, text: &str) -> Result<()> {
    let file = shell::root().join(path);
    if file.exists() {
        bail!("{path} exists already");
    }
    let folder = file.parent().context("a file is in a folder")?;
    if !folder.join("mod.rs").exists() {
        bail!("there is no {}/mod.rs; new files go where a generated registry is", folder.display());
    }
    fs::write(&file, generate::rustfmt(text)?).with_context(|| format!("cannot write {path}"))?;
    println!("wrote {path}");
    generate::run(false)
}

/// The template with every spelling of the name.
fn filled(template: &str, name: &str) -> Result<String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) || name.ends_with('-') {
        bail!("`{name}` is no name: small letters, digits and `-`, beginning with a letter");
    }
    Ok(template
        .replace("{name}", name)
        .replace("{snake}", &snake(name))
        .replace("{words}", &name.replace('-', " "))
        .replace("{Camel}", &camel(name)))
}

fn snake(name: &str) -> String {
    name.replace('-', "_")
}

fn camel(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('-').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_each_place_wants_them() {
        let text = filled("{name} {snake} {Camel}", "mem-copy2").expect("a name");
        assert_eq!(text, "mem-copy2 mem_copy2 MemCopy2");
    }

    #[test]
    fn families_have_folders() {
        let families = families().expect("folders");
        let folder =
            |of: Family| families.iter().find(|(family, _)| *family == of).map(|(_, at)| at.as_str());
        assert_eq!(folder(Family::Memory), Some("crates/instruments/src/bench/memory"));
        assert_eq!(folder(Family::Net), Some("crates/instruments/src/bench/net"));
        assert_eq!((folder(Family::Telemetry), folder(Family::User)), (None, None));
    }

    #[test]
    fn odd_names_are_refused() {
        for name in ["", "Mem", "2x", "a b", "../x", "a-"] {
            assert!(filled("", name).is_err(), "{name}");
        }
    }

    #[test]
    fn templates_leave_nothing_unfilled() {
        let text = filled(INSTRUMENT, "mem-copy").expect("a name").replace("{Family}", "Cpu");
        assert!(text.starts_with("//!"), "{text}");
        for left in ["{name}", "{snake}", "{words}", "{Camel}", "{Family}"] {
            assert!(!text.contains(left), "{left}");
        }
    }
}
