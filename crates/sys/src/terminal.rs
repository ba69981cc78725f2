//! The mode of a terminal: raw, and as it was again.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::error::{Error, Result};

/// A terminal that hands on each byte as it is typed, shows none by itself and makes no signals. It is as it was before
/// when this ends, however that comes about.
pub struct Raw<'f> {
    fd: BorrowedFd<'f>,
    before: libc::termios,
}

impl<'f> Raw<'f> {
    /// Fails for what is no terminal.
    pub fn enter(terminal: &'f impl AsFd) -> Result<Raw<'f>> {
        let fd = terminal.as_fd();
        let mut before = MaybeUninit::<libc::termios>::uninit();
        // SAFETY: the pointer is to memory of the right size, which the call fills.
        if unsafe { libc::tcgetattr(fd.as_raw_fd(), before.as_mut_ptr()) } != 0 {
            return Err(Error::last("read the mode of the terminal"));
        }
        // SAFETY: the call succeeded, so that it is filled.
        let before = unsafe { before.assume_init() };
        let mut raw = before;
        // SAFETY: the pointer is to a live value that was filled.
        unsafe { libc::cfmakeraw(&raw mut raw) };
        set(fd, &raw, "set the terminal to raw")?;
        Ok(Raw { fd, before })
    }
}

fn set(fd: BorrowedFd<'_>, mode: &libc::termios, what: &str) -> Result<()> {
    // SAFETY: the pointer is to a live value, which the call only reads.
    match unsafe { libc::tcsetattr(fd.as_raw_fd(), libc::TCSADRAIN, mode) } {
        0 => Ok(()),
        _ => Err(Error::last(what)),
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        // A terminal that is gone has no mode.
        let _set = set(self.fd, &self.before, "restore the terminal");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_terminal_is_refused() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(Raw::enter(&reader).is_err());
    }
}
