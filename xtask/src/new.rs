//! `cargo xtask new instrument|section NAME`: the file and its test from a template, then the registries.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{generate, shell};

const INSTRUMENT: &str = include_str!("templates/instrument.txt");
const SECTION: &str = include_str!("templates/section.txt");

/// Families, their folders below `crates/instruments/src`, and how the model spells them.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("cpu", "bench/cpu", "Cpu"),
    ("memory", "bench/memory", "Memory"),
    ("disk", "bench/disk", "Disk"),
    ("net", "net", "Net"),
    ("machine", "bench/machine", "Machine"),
];

pub fn instrument(name: &str, family: &str) -> Result<()> {
    let Some((_, folder, spelled)) = FAMILIES.iter().find(|(known, ..)| *known == family) else {
        let known: Vec<&str> = FAMILIES.iter().map(|(known, ..)| *known).collect();
        bail!("no family `{family}`; the families of benchmarks are {}", known.join(", "));
    };
    let text = filled(INSTRUMENT, name)?.replace("{Family}", spelled);
    write(&format!("crates/instruments/src/{folder}/{}.rs", snake(name)), &text)?;
    println!("next: put your work into `run`, then `cargo test -p instruments {}`", snake(name));
    Ok(())
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
    Ok(template.replace("{name}", name).replace("{snake}", &snake(name)).replace("{Camel}", &camel(name)))
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
    fn odd_names_are_refused() {
        for name in ["", "Mem", "2x", "a b", "../x", "a-"] {
            assert!(filled("", name).is_err(), "{name}");
        }
    }

    #[test]
    fn templates_leave_nothing_unfilled() {
        let text = filled(INSTRUMENT, "mem-copy").expect("a name").replace("{Family}", "Cpu");
        assert!(text.starts_with("//!"), "{text}");
        for left in ["{name}", "{snake}", "{Camel}", "{Family}"] {
            assert!(!text.contains(left), "{left}");
        }
    }
}
