//! Which crate may depend on which, and which outside crate has one home only.

use anyhow::{Context, Result};

use super::source::Complaint;

/// A crate of ours, and its dependencies; `dev` marks those of tests only.
#[derive(Clone, Debug)]
pub struct Package {
    pub name: String,
    pub manifest: String,
    pub dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug)]
pub struct Dependency {
    pub name: String,
    pub dev: bool,
}

/// Each crate, and the crates of ours that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stats", &[]),
    ("sys", &[]),
    ("trust", &[]),
    ("instruments", &["model", "sys", "logs", "trust"]),
    ("harness", &["model", "sys", "stats"]),
    ("logs", &["model"]),
    ("store", &["model", "trust"]),
    ("verdict", &["model", "stats"]),
    ("report", &["model", "stats"]),
    ("lab", &["model", "sys", "trust"]),
    (
        "boxscore",
        &["model", "stats", "sys", "instruments", "harness", "logs", "store", "verdict", "report", "lab"],
    ),
    ("xtask", &["model", "stats"]),
];

/// Crates of ours that only the tests of a crate may use: to show figures as the real cards say.
const OF_TESTS: &[(&str, &str)] = &[("verdict", "instruments"), ("report", "instruments")];

/// Outside crates with few homes, and why.
const HOMES: &[(&str, &[&str], &str)] = &[
    ("rusqlite", &["store"], "only store knows SQL"),
    ("clap", &["boxscore"], "only boxscore has a command line"),
    ("clap_complete", &["boxscore"], "only boxscore has a command line"),
    ("clap_mangen", &["boxscore"], "only boxscore has a command line"),
    ("indicatif", &["boxscore"], "only boxscore prints"),
    ("anstream", &["boxscore"], "only boxscore prints"),
    ("anyhow", &["xtask"], "libraries name their errors (thiserror)"),
    ("mimalloc", &["boxscore"], "the binary chooses the allocator"),
    ("maud", &["report"], "only report writes HTML"),
    ("statrs", &["stats"], "distributions come from stats"),
    ("rustls-native-certs", &["trust"], "whom a client trusts is said in trust"),
    ("libc", &["sys"], "system calls go through sys"),
    ("io-uring", &["sys"], "system calls go through sys"),
    ("raw-cpuid", &["sys"], "CPUID goes through sys"),
];

/// The packages in the output of `cargo metadata --no-deps`.
pub fn parse(metadata: &str) -> Result<Vec<Package>> {
    let value: serde_json::Value = serde_json::from_str(metadata).context("cargo metadata is not JSON")?;
    let root = value["workspace_root"].as_str().context("cargo metadata without a root")?;
    let mut packages = Vec::new();
    for package in value["packages"].as_array().context("cargo metadata without packages")? {
        let name = package["name"].as_str().context("a package without a name")?;
        let manifest = package["manifest_path"].as_str().unwrap_or(name);
        let mut dependencies = Vec::new();
        for dependency in package["dependencies"].as_array().context("a package without dependencies")? {
            dependencies.push(Dependency {
                name: dependency["name"].as_str().context("a dependency without a name")?.into(),
                dev: dependency["kind"].as_str() == Some("dev"),
            });
        }
        let manifest = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
        packages.push(Package { name: name.into(), manifest: manifest.into(), dependencies });
    }
    Ok(packages)
}

pub fn check(packages: &[Package]) -> Vec<Complaint> {
    packages.iter().flat_map(one).collect()
}

fn one(package: &Package) -> Vec<Complaint> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        let what =
            "a new crate: say in ARROWS (xtask/src/tidy/arrows.rs) what it may use, or make it a folder";
        return vec![Complaint::new(&package.manifest, 0, what)];
    };
    let mut complaints = Vec::new();
    for dependency in &package.dependencies {
        let used = dependency.name.as_str();
        let ours = ARROWS.iter().any(|(name, _)| *name == used);
        let of_tests = dependency.dev && OF_TESTS.contains(&(package.name.as_str(), used));
        if ours && !allowed.contains(&used) && !of_tests {
            let list = if allowed.is_empty() { "none of our crates".into() } else { allowed.join(", ") };
            let name = &package.name;
            let what =
                format!("{name} may not use {used} (it may use {list}); what two crates share goes to model");
            complaints.push(Complaint::new(&package.manifest, 0, what));
        }
        let home = HOMES.iter().find(|(name, ..)| *name == used);
        if let Some((_, homes, why)) = home
            && !dependency.dev
            && !homes.contains(&package.name.as_str())
        {
            let what = format!("{used} belongs to {} alone: {why}", homes.join(", "));
            complaints.push(Complaint::new(&package.manifest, 0, what));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, uses: &[&str]) -> Package {
        let dependencies = uses.iter().map(|name| Dependency { name: (*name).into(), dev: false }).collect();
        Package { name: name.into(), manifest: format!("crates/{name}/Cargo.toml"), dependencies }
    }

    #[test]
    fn the_design_arrows_pass() {
        for (name, allowed) in ARROWS {
            assert_eq!(check(&[package(name, allowed)]), []);
        }
    }

    #[test]
    fn arrows_have_no_circle() {
        for (name, allowed) in ARROWS {
            for used in *allowed {
                let back = ARROWS.iter().find(|(other, _)| other == used).map_or(&[][..], |(_, list)| list);
                assert!(!back.contains(name), "{name} and {used} use each other");
            }
        }
    }

    #[test]
    fn a_forbidden_arrow_is_named_with_what_to_do() {
        let found = check(&[package("report", &["model", "store"])]);
        assert_eq!(found.len(), 1);
        let text = found[0].to_string();
        assert!(text.starts_with("crates/report/Cargo.toml: report may not use store"), "{text}");
    }

    #[test]
    fn an_outside_crate_has_its_home() {
        assert_eq!(check(&[package("store", &["rusqlite"])]), []);
        assert_eq!(check(&[package("report", &["rusqlite"])]).len(), 1);
        let mut tests_only = package("report", &["rusqlite"]);
        tests_only.dependencies[0].dev = true;
        assert_eq!(check(&[tests_only]), []);
    }

    #[test]
    fn an_unknown_crate_must_be_declared() {
        assert!(check(&[package("helpers", &[])])[0].what.contains("a new crate"));
    }

    #[test]
    fn reads_what_cargo_prints() {
        let text = r#"{"workspace_root":"/r","packages":[{"name":"a","manifest_path":"/r/crates/a/Cargo.toml",
            "dependencies":[{"name":"b","kind":null},{"name":"c","kind":"dev"}]}]}"#;
        let found = parse(text).expect("metadata");
        assert_eq!(found[0].manifest, "crates/a/Cargo.toml");
        assert_eq!(found[0].dependencies.iter().map(|d| d.dev).collect::<Vec<_>>(), [false, true]);
        assert!(parse("{}").is_err());
    }
}
