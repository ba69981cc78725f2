//! CPU time of the thread and wall time, in nanoseconds, from the C library's `clock_gettime`.

#[derive(Clone, Copy, Default)]
pub struct Times {
    pub cpu_ns: i64,
    pub wall_ns: i64,
    /// When it was over, by the clock that never steps back.
    pub end_ns: i64,
}

/// `struct timespec` where `time_t` is a `long`, which holds for Linux on 64-bit machines and for glibc on 32-bit ones.
#[repr(C)]
struct Timespec {
    seconds: std::os::raw::c_long,
    nanoseconds: std::os::raw::c_long,
}

extern "C" {
    fn clock_gettime(clock: std::os::raw::c_int, time: *mut Timespec) -> std::os::raw::c_int;
}

const CLOCK_MONOTONIC: std::os::raw::c_int = 1;
const CLOCK_THREAD_CPUTIME_ID: std::os::raw::c_int = 3;

fn now(clock: std::os::raw::c_int) -> Result<i64, String> {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure is what the call fills, and it outlives the call.
    if unsafe { clock_gettime(clock, &mut time) } != 0 {
        return Err(format!("the clock cannot be read: {}", std::io::Error::last_os_error()));
    }
    Ok(i64::from(time.seconds) * 1_000_000_000 + i64::from(time.nanoseconds))
}

pub fn timed(work: impl FnOnce()) -> Result<Times, String> {
    let wall = now(CLOCK_MONOTONIC)?;
    let cpu = now(CLOCK_THREAD_CPUTIME_ID)?;
    work();
    let cpu_ns = now(CLOCK_THREAD_CPUTIME_ID)? - cpu;
    let end_ns = now(CLOCK_MONOTONIC)?;
    Ok(Times { cpu_ns, wall_ns: end_ns - wall, end_ns })
}
