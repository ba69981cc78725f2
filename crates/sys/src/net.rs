//! Options of sockets that no safe binding has.
//!
//! Times are microseconds where the kernel counts so.

use std::os::fd::{AsRawFd, BorrowedFd};

use crate::error::{Result, check};

/// Has the kernel poll the device for up to `us` before a reader of this socket sleeps (`SO_BUSY_POLL`). Without a
/// device that can be polled, as on the loopback, it changes nothing. Above the kernel's own figure it needs
/// `CAP_NET_ADMIN`.
pub fn busy_poll(socket: BorrowedFd<'_>, us: u32) -> Result<()> {
    let value = libc::c_int::try_from(us).unwrap_or(libc::c_int::MAX);
    let length = libc::socklen_t::try_from(size_of_val(&value)).unwrap_or(0);
    // SAFETY: the kernel reads `length` bytes of `value`, which lives until the call returns.
    let ret = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BUSY_POLL,
            (&raw const value).cast(),
            length,
        )
    };
    check(ret, || format!("set SO_BUSY_POLL to {us} us"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_socket_takes_it_or_says_why_and_a_file_does_not() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Err(error) = busy_poll(socket.as_fd(), 50) {
            assert!(error.is_permission(), "{error}");
        }
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(busy_poll(file.as_fd(), 50).unwrap_err().to_string().contains("SO_BUSY_POLL"));
    }
}
