//! The steps that decide whether a change is good, in an order that shares build artefacts.

use anyhow::Result;

use crate::shell::{self, Steps};
use crate::{adding, deny, dist, failures, generate, readme, tidy};

/// How long each test with `fuzz` in its name mutates its seeds.
const FUZZ_SECONDS: &str = "BOXSCORE_FUZZ_SECONDS";

/// How many ssh servers the test has in which some of many are killed, and so many here.
const LAB_HOSTS: (&str, &str) = ("BOXSCORE_LAB_HOSTS", "132");

/// Every step is carried out, so that one run shows everything that is wrong.
pub fn run() -> Result<()> {
    let mut steps = Steps::default();
    checks(&mut steps, &shell::cargo());
    steps.finish()
}

/// All checks of a release: those of [`run`], then the slow ones.
pub fn all() -> Result<()> {
    let cargo = shell::cargo();
    let mut steps = Steps::default();
    checks(&mut steps, &cargo);
    steps.step("longer fuzzing", || {
        let seconds = std::env::var(FUZZ_SECONDS).unwrap_or_else(|_| "60".into());
        let words = ["test", "--workspace", "--all-targets", "--", "fuzz"];
        shell::must(shell::command(&cargo, &words).env(FUZZ_SECONDS, seconds))
    });
    steps.step("132 hosts of which some die", || {
        let words = ["test", "--package", "boxscore", "--test", "e2e", "--", "lab_many::"];
        shell::must(shell::command(&cargo, &words).env(LAB_HOSTS.0, LAB_HOSTS.1))
    });
    steps.step("binaries of every target", dist::all);
    steps.finish()
}

fn checks(steps: &mut Steps, cargo: &str) {
    steps.step("formatting", || shell::run(cargo, &["fmt", "--all", "--check"]));
    steps.step("lints", || {
        shell::run(
            cargo,
            &["clippy", "--quiet", "--keep-going", "--workspace", "--all-targets", "--", "-D", "warnings"],
        )
    });
    steps.step("tests", || {
        failures::tests(&mut shell::command(
            cargo,
            &["test", "--workspace", "--all-targets", "--no-fail-fast"],
        ))
    });
    steps.step("doc tests", || shell::run(cargo, &["test", "--workspace", "--doc", "--quiet"]));
    steps.step("house rules", tidy::run);
    steps.step("generated files", || generate::run(true));
    steps.step("README.md", || readme::run(true));
    steps.step("docs/adding.md", adding::run);
    // These lie outside the workspace, and are to follow its crates and their dependencies.
    steps.step("perf's own side", || outside(cargo, "perf/peers/Cargo.toml"));
    steps.step("fuzz targets", || outside(cargo, "fuzz/Cargo.toml"));
    steps.step("dependencies", deny::run);
}

/// Checks a package outside the workspace, without its default features.
fn outside(cargo: &str, manifest: &str) -> Result<()> {
    let words = ["check", "--quiet", "--locked", "--no-default-features", "--target-dir", "target"];
    shell::run(cargo, &[&words[..], &["--manifest-path", manifest]].concat())
}
