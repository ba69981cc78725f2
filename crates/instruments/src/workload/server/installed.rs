//! The kinds of web servers by name, and which of them are installed.

use super::account;
use super::kind::{Build, Host, Kind, ServerError};

/// The kind of that name.
pub fn find(name: &str) -> Option<&'static dyn Kind> {
    super::ALL.iter().copied().find(|kind| kind.name() == name)
}

/// Each kind, with its installed program or why there is none. Runs each program to ask its version.
pub fn detect() -> Vec<(&'static str, Result<Build, ServerError>)> {
    let build = |kind: &&'static dyn Kind| {
        let account = account::choose().map_err(ServerError::Failed)?;
        kind.identify(&kind.find(None)?, Host { account: account.as_ref(), inside: None })
    };
    super::ALL.iter().map(|kind| (kind.name(), build(kind))).collect()
}

/// nginx if it is installed, else the built-in server.
pub fn usual() -> &'static dyn Kind {
    match find("nginx") {
        Some(nginx) if nginx.find(None).is_ok() => nginx,
        _ => &super::builtin::KIND,
    }
}
