//! Socket options without a safe binding, and TUN devices.
//!
//! Times are microseconds where the kernel counts so.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check};

/// Makes the kernel poll the device for up to `us` before a reader of this socket sleeps (`SO_BUSY_POLL`). It changes
/// nothing without a device that can be polled, as on the loopback. Fails above the kernel's own limit without
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

/// A new TUN device: each read is one IP packet that the kernel sends through it, each write one that it receives. It
/// is removed when the file is closed, and may be moved to another network namespace before. Fails without
/// `CAP_NET_ADMIN`.
pub fn tun(name: &str) -> Result<File> {
    let what = || format!("make the device {name}");
    let file = File::options().read(true).write(true).open("/dev/net/tun");
    let file = file.map_err(|error| Error::os("open /dev/net/tun", error))?;
    // SAFETY: all bits zero is a value of this plain structure of the kernel.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(Error::invalid(what(), "its name has 1 to 15 bytes"));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_TUN | libc::IFF_NO_PI).unwrap_or(0);
    // SAFETY: the kernel reads and writes the structure, which lives until the call returns.
    let ret = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    check(ret, what)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_device_needs_a_name_and_the_right() {
        // Without the device file or the right to it there is another reason.
        for name in ["", "longer-than-any-name"] {
            assert!(tun(name).is_err());
        }
        if let Err(error) = tun("bxt-sys") {
            let text = error.to_string();
            assert!(text.contains("bxt-sys") || text.contains("/dev/net/tun"), "{text}");
        }
    }

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
