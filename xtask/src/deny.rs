//! Dependencies: banned crates, licences and sources always; known holes where their database can be fetched.

use anyhow::{Result, bail};

use crate::shell;

pub fn run() -> Result<()> {
    let cargo = shell::cargo();
    if shell::command(&cargo, &["deny", "--version"]).output().map_or(true, |out| !out.status.success()) {
        bail!("cargo-deny is missing; `sh xtask/setup.sh test` installs it");
    }
    shell::run(&cargo, &["deny", "--workspace", "check", "bans", "licenses", "sources"])?;
    // Kept apart: a machine without the network still checks all the rest.
    let fetched = shell::command("timeout", &["120", &cargo, "deny", "fetch", "db"]).output();
    if fetched.is_ok_and(|out| out.status.success()) {
        return shell::run(&cargo, &["deny", "--workspace", "check", "--disable-fetch", "advisories"]);
    }
    println!("note: the advisory database cannot be fetched here; advisories were not checked");
    Ok(())
}
