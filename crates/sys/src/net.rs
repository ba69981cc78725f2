//! Socket options and reads without a safe binding, and TUN devices.
//!
//! Times are microseconds where the kernel counts so; arrival stamps are nanoseconds of the wall clock.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check};

/// Makes the kernel poll the device for up to `us` before a reader of this socket sleeps (`SO_BUSY_POLL`). It changes
/// nothing without a device that can be polled, as on the loopback. Fails above the kernel's own limit without
/// `CAP_NET_ADMIN`.
pub fn busy_poll(socket: BorrowedFd<'_>, us: u32) -> Result<()> {
    let value = libc::c_int::try_from(us).unwrap_or(libc::c_int::MAX);
    set_option(socket, libc::SO_BUSY_POLL, value, || format!("set SO_BUSY_POLL to {us} us"))
}

/// Makes the kernel stamp what arrives on this socket with the wall clock (`SO_TIMESTAMPNS`), for [`recv_stamped`].
/// Kernels before 4.14 take it and stamp nothing on TCP. Fails on what is no socket.
pub fn stamp_arrivals(socket: BorrowedFd<'_>) -> Result<()> {
    set_option(socket, libc::SO_TIMESTAMPNS, 1, || "set SO_TIMESTAMPNS".into())
}

/// Reads from a socket: the number of bytes, 0 at the end of the stream, and when the last of them arrived in this
/// host, in nanoseconds of the wall clock. `None`: the kernel did not stamp it. The stamp is taken when the packet
/// reaches the network stack, before any process is woken. Fails as `recv` does.
#[inline]
pub fn recv_stamped(socket: BorrowedFd<'_>, into: &mut [u8]) -> std::io::Result<(usize, Option<u64>)> {
    let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let mut control = Control([0; CONTROL]);
    // SAFETY: all bits zero is a value of this plain structure of the kernel.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL as _;
    // SAFETY: the kernel writes at most the given lengths of `into` and `control`, which outlive the call.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    match usize::try_from(got) {
        Ok(got) => Ok((got, stamp(&message))),
        Err(_negative) => Err(std::io::Error::last_os_error()),
    }
}

/// Room for the control message of one stamp, and for another that nobody asked for.
const CONTROL: usize = 128;

#[repr(align(8))]
struct Control([u8; CONTROL]);

/// The stamp among the control messages of `message`, which `recvmsg` has filled.
#[inline]
fn stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the header and its control buffer are as the kernel left them, and the buffer lives.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: a header that the macros give lies whole within the control buffer.
        let header = unsafe { &*next };
        // SAFETY: the macro only adds up lengths.
        let length = unsafe { libc::CMSG_LEN(size_of::<[libc::c_long; 2]>() as libc::c_uint) };
        let kind = (header.cmsg_level, header.cmsg_type, u64::try_from(header.cmsg_len).ok()?);
        if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS, u64::from(length)) {
            // SAFETY: the header says that it is followed by so many bytes: seconds and nanoseconds, each a long
            // whatever the width of time_t is. They may lie unaligned.
            let time = unsafe { std::ptr::read_unaligned(libc::CMSG_DATA(next).cast::<[libc::c_long; 2]>()) };
            let [seconds, nanos] = [u64::try_from(time[0]).ok()?, u64::try_from(time[1]).ok()?];
            return seconds.checked_mul(1_000_000_000)?.checked_add(nanos);
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(message, next) };
    }
    None
}

/// Sets an option of the socket's own level to a number.
fn set_option(
    socket: BorrowedFd<'_>,
    option: libc::c_int,
    value: libc::c_int,
    what: impl FnOnce() -> String,
) -> Result<()> {
    let length = libc::socklen_t::try_from(size_of_val(&value)).unwrap_or(0);
    // SAFETY: the kernel reads `length` bytes of `value`, which lives until the call returns.
    let ret = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const value).cast(), length)
    };
    check(ret, what)?;
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
    use crate::clock;
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
    fn a_read_tells_when_the_bytes_arrived() {
        use std::io::Write as _;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let reader = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stamp_arrivals(reader.as_fd()).unwrap();
        let (mut writer, _) = listener.accept().unwrap();
        let mut bytes = [0; 8];
        // The kernel begins to stamp a while after it is asked to: the first reads may have no stamp.
        let stamped = (0..250).find_map(|_| {
            let before_ns = clock::wall_ns();
            writer.write_all(b"hello").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let (got, stamp) = recv_stamped(reader.as_fd(), &mut bytes).unwrap();
            assert_eq!(&bytes[..got], b"hello");
            Some((before_ns, stamp?))
        });
        // It was there long before it was read.
        let (before_ns, stamp) = stamped.expect("a kernel since 4.14 stamps TCP");
        assert!(stamp >= before_ns && stamp < clock::wall_ns(), "{before_ns} {stamp}");
        drop(writer);
        assert_eq!(recv_stamped(reader.as_fd(), &mut bytes).unwrap(), (0, None));
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(recv_stamped(file.as_fd(), &mut bytes).is_err() && stamp_arrivals(file.as_fd()).is_err());
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
