//! The error type of this crate: what was attempted, and why it failed.
//!
//! It gives no advice; callers know more than a system call does.

use std::io;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call failed; `source` has the errno and its text.
    #[error("cannot {what}: {source}")]
    Os { what: String, source: io::Error },
    /// This machine, kernel or processor lacks the feature.
    #[error("{what} is not available: {why}")]
    Unavailable { what: String, why: String },
    /// An argument that no call could accept.
    #[error("cannot {what}: {why}")]
    Invalid { what: String, why: String },
}

impl Error {
    pub(crate) fn os(what: impl Into<String>, source: io::Error) -> Self {
        Self::Os { what: what.into(), source }
    }

    /// An error from `errno`; call it right after the failed call.
    pub(crate) fn last(what: impl Into<String>) -> Self {
        let source = io::Error::last_os_error();
        Self::os(what, source)
    }

    pub(crate) fn unavailable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unavailable { what: what.into(), why: why.into() }
    }

    pub(crate) fn invalid(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), why: why.into() }
    }

    /// The errno, if the kernel gave one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Os { source, .. } => source.raw_os_error(),
            Self::Unavailable { .. } | Self::Invalid { .. } => None,
        }
    }

    /// True if a permission is missing (EPERM or EACCES).
    pub fn is_permission(&self) -> bool {
        matches!(self.errno(), Some(libc::EPERM | libc::EACCES))
    }
}

/// Turns the `-1 and errno` convention into a `Result`; `what` completes "cannot ...".
pub(crate) fn check(ret: libc::c_int, what: impl FnOnce() -> String) -> Result<libc::c_int> {
    if ret < 0 {
        let source = io::Error::last_os_error();
        return Err(Error::os(what(), source));
    }
    Ok(ret)
}

/// The same for `syscall(2)`, which returns a long.
pub(crate) fn check_long(ret: libc::c_long, what: impl FnOnce() -> String) -> Result<libc::c_long> {
    if ret < 0 {
        let source = io::Error::last_os_error();
        return Err(Error::os(what(), source));
    }
    Ok(ret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_and_why() {
        let error = Error::os("open /x", io::Error::from_raw_os_error(libc::EACCES));
        let text = error.to_string();
        assert!(text.starts_with("cannot open /x: Permission denied"), "{text}");
        assert!(error.is_permission());
        let error = Error::unavailable("io_uring", "the kernel is too old");
        assert_eq!(error.to_string(), "io_uring is not available: the kernel is too old");
        assert_eq!(error.errno(), None);
    }

    #[test]
    fn negative_is_an_error() {
        assert!(check(-1, || "try".into()).is_err());
        assert_eq!(check(3, || "try".into()).ok(), Some(3));
        assert!(check_long(-1, || "try".into()).is_err());
    }
}
