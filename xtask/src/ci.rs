//! The steps that decide whether a change is good, in an order that shares build artefacts.

use anyhow::Result;

use crate::shell::{self, Steps};
use crate::{generate, tidy};

/// Every step is carried out, so that one run shows everything that is wrong.
pub fn run() -> Result<()> {
    let cargo = shell::cargo();
    let cargo = cargo.as_str();
    let mut steps = Steps::default();
    steps.step("formatting", || shell::run(cargo, &["fmt", "--all", "--check"]));
    steps.step("lints", || {
        shell::run(cargo, &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
    });
    steps.step("tests", || shell::run(cargo, &["test", "--workspace", "--all-targets"]));
    steps.step("doc tests", || shell::run(cargo, &["test", "--workspace", "--doc", "--quiet"]));
    steps.step("house rules", tidy::run);
    steps.step("generated files", || generate::run(true));
    steps.finish()
}
