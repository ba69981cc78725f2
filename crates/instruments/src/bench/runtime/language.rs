//! The languages that are in this binary: the sheet and the sources of each folder of `languages`.
//!
//! They are found while this crate is built (`build.rs`); nothing here or elsewhere names one.

/// A language as its sheet describes it (docs/adding.md).
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// The name of its folder, and the value of the parameter `lang`.
    pub name: &'static str,
    pub title: &'static str,
    /// The parameter whose value chooses program and flags.
    pub arm: &'static str,
    /// The program that is looked up if that value names none.
    pub tool: &'static str,
    /// Default value of the parameter `arm`.
    pub default: &'static str,
    /// Debian's packages that bring the tool.
    pub package: &'static str,
    /// The command that prints the tool's version; `version_lines` of its output are shown.
    pub version: &'static [&'static str],
    pub version_lines: usize,
    /// The command that builds the program; empty if there is nothing to build.
    pub build: &'static [&'static str],
    /// The program, to which arguments are added.
    pub run: &'static [&'static str],
    /// CPUs that its process gets where there are as many.
    pub cores: usize,
    /// Most memory of a process, in MiB: small size, large size.
    pub memory_mib: (u64, u64),
    /// Flags that are put before the arm's own, each unless one of those matches the pattern.
    pub usual: &'static [(&'static str, &'static str)],
    /// Variables of the environment that would change what the flags say.
    pub ignores: &'static [&'static str],
    /// Words of the arm's value that stand for flags.
    pub named: &'static [(&'static str, &'static str)],
    /// The packages that such a word needs besides.
    pub packages: &'static [(&'static str, &'static str)],
    /// Flags for 32 and 64 bits.
    pub bits: &'static [(&'static str, &'static [&'static str])],
    /// The package that programs of other bits need besides.
    pub bits_package: &'static str,
    pub floating: Option<Floating>,
    /// Names and texts.
    pub sources: &'static [(&'static str, &'static str)],
}

/// How the compiler tells which unit calculates, and whether that changes the last bits of results.
#[derive(Clone, Copy, Debug)]
pub struct Floating {
    pub ask: &'static [&'static str],
    /// Texts, the first of which that is in the answer names the unit.
    pub unit: &'static [(&'static str, &'static str)],
    /// Texts that say why results may differ in their last bits.
    pub inexact: &'static [(&'static str, &'static str)],
}

/// The languages, as the build found them.
mod built {
    use crate::bench::runtime::language::{Floating, Language};

    include!(concat!(env!("OUT_DIR"), "/languages.rs"));
}

pub use built::{ALL, ARMS, NAMES, WARMING, WITH_BITS};

/// The language of that name.
pub fn find(name: &str) -> Option<&'static Language> {
    ALL.iter().find(|language| language.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_a_language() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/runtime/languages");
        let folders = std::fs::read_dir(root).unwrap().count();
        assert_eq!((NAMES.len(), ARMS.len(), ALL.len()), (folders, folders, folders));
        for language in ALL {
            assert_eq!(find(language.name).map(|found| found.title), Some(language.title));
            assert!(!language.sources.is_empty() && !language.run.is_empty(), "{}", language.name);
        }
        assert!(find("no-such").is_none());
    }
}
