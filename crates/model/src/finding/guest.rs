//! `guest`: figures of a disk on a virtual machine.

use super::{Conclusion, Several, Validity};

/// The medium behind a virtual disk is not known: its host may cache reads, and confirm writes that are not safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guest;

const SAYS: &str = "as the guest sees it; the medium is unknown";

impl Conclusion for Guest {
    fn kind(&self) -> &str {
        "guest"
    }

    fn state(&self) -> Validity {
        Validity::Unknown
    }

    fn one(&self) -> String {
        SAYS.to_owned()
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        Some(format!("{}: {SAYS}", all.figures))
    }
}
