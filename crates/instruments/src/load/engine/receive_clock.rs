//! Turns the kernel's receive stamps, which are of the wall clock, into nanoseconds of the thread's monotonic clock.
//!
//! A stamp is taken when a packet reaches the host's network stack, so that a response time holds neither the wake-up
//! of this thread nor the answers that it reads first. The distance of the two clocks is read anew each millisecond. A
//! stamp that lies before the request or after its reading is refused: then the wall clock was set. A step of the wall
//! clock that is shorter than a response time spoils the times of that millisecond unseen.

use std::net::UdpSocket;
use std::os::fd::AsFd;

use sys::clock;

const RENEW_NS: u64 = 1_000_000;
/// The largest difference of two readings of the clocks that is no step.
const SLACK_NS: u64 = 1_000;
/// Readings of both clocks; the quickest counts, since a thread may be put off between them.
const TRIES: usize = 3;

#[derive(Debug)]
pub struct ReceiveClock {
    /// Wall clock less monotonic clock.
    offset_ns: u64,
    renewed_ns: u64,
    /// The kernel stamps while any socket asks for it. This one lives as long as the load, so that connections that
    /// come and go do not switch it on and off.
    _stamping: Option<UdpSocket>,
}

impl ReceiveClock {
    /// A clock for a load. Where the kernel refuses to stamp, no answer has a stamp.
    pub fn new() -> ReceiveClock {
        let socket = UdpSocket::bind("127.0.0.1:0").ok();
        let stamping = socket.filter(|socket| sys::net::stamp_arrivals(socket.as_fd()).is_ok());
        ReceiveClock { offset_ns: 0, renewed_ns: 0, _stamping: stamping }
    }

    /// When the answer to a request of `started_ns` arrived, which was read by `now_ns`; `None` without a stamp that
    /// can be believed.
    #[inline]
    pub fn arrival_ns(&mut self, stamp_ns: Option<u64>, started_ns: u64, now_ns: u64) -> Option<u64> {
        if now_ns.saturating_sub(self.renewed_ns) >= RENEW_NS {
            self.offset_ns = offset_ns();
            self.renewed_ns = now_ns;
        }
        believed(stamp_ns?.wrapping_sub(self.offset_ns), started_ns, now_ns)
    }
}

fn believed(arrival_ns: u64, started_ns: u64, now_ns: u64) -> Option<u64> {
    let is_between = arrival_ns >= started_ns && arrival_ns <= now_ns.saturating_add(SLACK_NS);
    is_between.then(|| arrival_ns.min(now_ns))
}

fn offset_ns() -> u64 {
    let read = || {
        let before_ns = clock::now_ns();
        let wall_ns = clock::wall_ns();
        let took_ns = clock::now_ns().saturating_sub(before_ns);
        (took_ns, wall_ns.wrapping_sub(before_ns + took_ns / 2))
    };
    let (_took_ns, offset_ns) = (1..TRIES).fold(read(), |best, _| best.min(read()));
    offset_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_between_the_request_and_its_reading_is_believed() {
        assert_eq!(believed(50_000, 10_000, 90_000), Some(50_000));
        assert_eq!(believed(90_500, 10_000, 90_000), Some(90_000), "the clocks are read one after the other");
        assert_eq!(believed(92_000, 10_000, 90_000), None);
        assert_eq!(believed(9_000, 10_000, 90_000), None);
        // The wall clock was set back behind the boot.
        assert_eq!(believed(0_u64.wrapping_sub(5), 10_000, 90_000), None);
    }

    #[test]
    fn a_stamp_of_now_is_a_time_of_now() {
        let mut clock = ReceiveClock::new();
        let started_ns = clock::now_ns();
        let stamp_ns = clock::wall_ns();
        std::thread::sleep(std::time::Duration::from_millis(3));
        let now_ns = clock::now_ns();
        let arrival_ns = clock.arrival_ns(Some(stamp_ns), started_ns, now_ns).unwrap();
        assert!(now_ns - arrival_ns >= 3_000_000 - SLACK_NS, "{arrival_ns} of {started_ns} to {now_ns}");
        assert_eq!(clock.arrival_ns(None, started_ns, now_ns), None);
        assert_eq!(clock.arrival_ns(Some(stamp_ns + 1_000_000_000_000), started_ns, now_ns), None);
    }
}
