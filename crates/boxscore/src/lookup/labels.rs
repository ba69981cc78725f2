//! Names that a user may give to a run or a machine.

use crate::error::CliError;
use crate::lookup::catalogue;

/// Refuses a label that cannot name a run, because it is empty, too long or has another meaning.
pub fn check_label(label: Option<&str>) -> Result<(), CliError> {
    let Some(label) = label else { return Ok(()) };
    check_name(label).map_err(|why| {
        CliError::usage(format!("--label {why}")).hint("a short word, for example --label before")
    })
}

/// Refuses a name for a label or a machine; the error is the reason.
pub fn check_name(label: &str) -> Result<(), String> {
    const MOST: usize = 80;
    let taken = || {
        let machines = catalogue::machines().map_err(|error| error.to_string())?;
        let published = machines.iter().any(|machine| machine.name == label);
        Ok::<bool, String>(published || catalogue::references().into_iter().any(|name| name == label))
    };
    let why = if label.trim().is_empty() {
        "is empty".to_owned()
    } else if label.chars().any(char::is_control) {
        "has control characters".to_owned()
    } else if label.chars().count() > MOST {
        format!("is longer than {MOST} characters")
    } else if label == "." || label == "latest" || label.starts_with("latest~") {
        format!("`{label}` means something else already")
    } else if taken()? {
        format!("`{label}` is the name of a machine that is part of boxscore")
    } else {
        return Ok(());
    };
    Err(why)
}
