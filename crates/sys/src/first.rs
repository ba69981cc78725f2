//! Calls of the first process of a machine: file systems, modules, the network, the clock, and the end of orphans.

use std::ffi::CString;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use crate::error::{Error, Result, check};

fn text(what: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::invalid(what, "a NUL in it"))
}

/// Mounts a file system of this kind that has no device. Fails as mount does; what is mounted there already is fine.
pub fn mount(kind: &str, at: &str) -> Result<()> {
    let what = || format!("mount {kind} at {at}");
    let (kind, at) = (text("mount", kind)?, text("mount", at)?);
    // SAFETY: three C strings that outlive the call, and no data.
    let ret = unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    match check(ret, what) {
        Err(error) if error.errno() == Some(libc::EBUSY) => Ok(()),
        done => done.map(drop),
    }
}

/// Loads a kernel module; one that is loaded already is fine. `is_compressed` leaves its unpacking to the kernel.
pub fn load_module(file: &File, is_compressed: bool) -> Result<()> {
    /// `MODULE_INIT_COMPRESSED_FILE` of the kernel.
    const COMPRESSED: libc::c_int = 4;
    let flags = if is_compressed { COMPRESSED } else { 0 };
    // SAFETY: an open descriptor, a C string that outlives the call, and flags.
    let ret = unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), flags) };
    match check(i32::try_from(ret).unwrap_or(-1), || "load the module".into()) {
        Err(error) if error.errno() == Some(libc::EEXIST) => Ok(()),
        done => done.map(drop),
    }
}

/// A request about an interface, whose name is checked.
fn request(interface: &str) -> Result<libc::ifreq> {
    // SAFETY: all bits zero is a value of this plain structure of the kernel.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.is_empty() || interface.len() >= request.ifr_name.len() || interface.contains('\0') {
        return Err(Error::invalid("name an interface", interface));
    }
    for (to, byte) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = byte as libc::c_char;
    }
    Ok(request)
}

fn ask(kind: libc::c_ulong, request: &mut libc::ifreq, what: impl FnOnce() -> String) -> Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").map_err(|error| Error::os("open a socket", error))?;
    // SAFETY: an open socket, and a request that outlives the call.
    let ret = unsafe { libc::ioctl(socket.as_raw_fd(), kind as _, &raw mut *request) };
    check(ret, what).map(drop)
}

/// Brings an interface up. Fails as the kernel does.
pub fn bring_up(interface: &str) -> Result<()> {
    let mut request = request(interface)?;
    ask(libc::SIOCGIFFLAGS as _, &mut request, || format!("read the flags of {interface}"))?;
    // SAFETY: the call before wrote the flags, and a number is read and written.
    unsafe { request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short };
    ask(libc::SIOCSIFFLAGS as _, &mut request, || format!("bring {interface} up"))
}

/// Gives an interface an address and its network's mask. Fails as the kernel does.
pub fn set_address(interface: &str, address: Ipv4Addr, mask: Ipv4Addr) -> Result<()> {
    let calls = [(libc::SIOCSIFADDR, address), (libc::SIOCSIFNETMASK, mask)];
    for (kind, value) in calls {
        let mut request = request(interface)?;
        let wanted = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: u32::from(value).to_be() },
            sin_zero: [0; 8],
        };
        // SAFETY: both are addresses of sockets of the same 16 bytes.
        request.ifr_ifru.ifru_addr =
            unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(wanted) };
        ask(kind as _, &mut request, || format!("give {interface} the address {value}"))?;
    }
    Ok(())
}

/// Sets the name of this machine.
pub fn set_host_name(name: &str) -> Result<()> {
    // SAFETY: a pointer and the length of what it points to, which outlives the call.
    let ret = unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) };
    check(ret, || format!("name this machine {name}")).map(drop)
}

/// Sets the wall clock, in nanoseconds since 1970.
pub fn set_wall_clock(wall_ns: u64) -> Result<()> {
    let time = libc::timespec {
        tv_sec: (wall_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (wall_ns % 1_000_000_000) as _,
    };
    // SAFETY: a time that outlives the call.
    let ret = unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &raw const time) };
    check(ret, || "set the clock".into()).map(drop)
}

/// Waits for the end of any child, and says which it was; `None` where there is no child.
pub fn wait_for_any() -> Result<Option<u32>> {
    // SAFETY: no status is asked for.
    let ret = unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) };
    match check(ret, || "wait for children".into()) {
        Ok(pid) => Ok(u32::try_from(pid).ok()),
        Err(error) if error.errno() == Some(libc::ECHILD) => Ok(None),
        Err(error) if error.errno() == Some(libc::EINTR) => wait_for_any(),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_an_error() {
        for name in ["", "a\0b", "an-interface-with-a-long-name"] {
            assert!(
                bring_up(name).is_err()
                    && set_address(name, Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST).is_err()
            );
        }
        assert!(bring_up("none").unwrap_err().to_string().contains("none"));
        assert!(mount("no-such-kind", "/nowhere").is_err() && mount("a\0b", "/").is_err());
        let file = File::open("/proc/self/exe").unwrap();
        assert!(load_module(&file, false).is_err(), "this is no module");
    }
}
