//! Tests of the network against a wire whose delay, rate and loss are planted: what is read is what was planted.
//!
//! The wire is carried by threads of this test, which a loaded machine may hold up. So what is read is compared with
//! what the wire recorded, and one attempt of several has to agree.

#[path = "../e2e/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::relay::Wire;
use common::{Bench, cannot, root};
use model::reading::Value;

/// A UDP message of 64 bytes in its IP packet.
const PACKET: usize = 92;
const ATTEMPTS: usize = 8;

/// One at a time: they would take each other's CPUs.
static TURN: Mutex<()> = Mutex::new(());

struct Bed {
    wire: Wire,
    peer: Child,
    _turn: MutexGuard<'static, ()>,
}

impl Bed {
    fn new(bench: &Bench) -> Result<Bed, String> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let wire = Wire::new()?;
        let inside = ["ip", "netns", "exec", &wire.far.0];
        let mut command = bench.behind(&inside, &["peer", "--listen", "10.77.0.2:7411"]);
        let mut peer = command.stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let stdout = peer.stdout.take().ok_or("no pipe")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        assert_eq!(line, "listening on 10.77.0.2:7411\n");
        Ok(Bed { wire, peer, _turn: turn })
    }

    /// Runs one test; the last value of each metric, and how many round trips there are.
    fn run(&self, args: &[&str]) -> (impl Fn(&str) -> f64 + use<>, u64) {
        let bench = Bench::new();
        let inside = ["ip", "netns", "exec", &self.wire.near.0];
        let usual = ["run", "net", "--to", "10.77.0.2", "--takes", "1", "--no-report", "--quick"];
        common::said(&mut bench.behind(&inside, &[&usual[..], args].concat())).expect(0, &[]);
        let run = bench.only();
        let (mut numbers, mut count) = (Vec::new(), 0);
        for series in run.series.iter().filter(|series| series.key.instrument.starts_with("net-")) {
            match series.points.last().map(|point| &point.value) {
                Some(Value::Number(number)) => numbers.push((series.key.metric.clone(), *number)),
                Some(Value::Histogram(all)) => count = all.count(),
                None => {}
            }
        }
        let of = move |metric: &str| {
            numbers.iter().find(|(name, _)| name == metric).unwrap_or_else(|| panic!("no {metric}")).1
        };
        (of, count)
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.peer.kill().expect("it runs");
        self.peer.wait().expect("a child");
    }
}

/// Who makes the wire slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Kernel,
    Relay,
}

impl Bed {
    /// The kernel where it has such a discipline; else the relay, which is said.
    #[expect(clippy::print_stderr, reason = "which of two ways was tested must be seen")]
    fn slow_by(&self, discipline: &str) -> By {
        match self.wire.leave_to_kernel(discipline) {
            Ok(()) => By::Kernel,
            Err(why) => {
                eprintln!("not by the kernel here, but by the relay: {why}");
                By::Relay
            }
        }
    }

    /// The bandwidth is that of a wire that carries so many bytes of packets a second.
    fn has_bandwidth(&self, rate: u64, by: By) {
        // Of packets of 1500 bytes, 52 are headers.
        let planted = rate as f64 * 1448.0 / 1500.0;
        agrees(|| {
            self.wire.plant(0, if by == By::Relay { rate } else { 0 }, 0);
            let args = ["--test", "bandwidth", "--set", "direction=send;streams=1;duration=2"];
            let read = self.run(&args).0("bandwidth");
            let fits = (read / planted - 1.0).abs() <= 0.03;
            if fits { Ok(()) } else { Err(format!("{read} B/s where {planted} were planted ({by:?})")) }
        });
    }

    /// A round trip is longer by so much both ways than without, which `slow` plants; the relay's part is what it
    /// recorded.
    fn has_delay(&self, delay_ns: u64, slow: impl Fn() -> By, fast: impl Fn()) {
        let ping = ["--test", "udp-rtt", "--set", "size=64;mode=block;timeout=2s"];
        let measured = || (self.run(&ping).0("rtt") * 1e9, self.wire.recorded_ns());
        agrees(|| {
            fast();
            self.wire.plant(0, 0, PACKET);
            let (base_ns, base_recorded_ns) = measured();
            let by = slow();
            self.wire.plant(if by == By::Relay { delay_ns } else { 0 }, 0, PACKET);
            let (rtt_ns, recorded_ns) = measured();
            let kernels = if by == By::Kernel { 2.0 * delay_ns as f64 } else { 0.0 };
            let (longer, planted) = (rtt_ns - base_ns, recorded_ns - base_recorded_ns + kernels);
            // It was planted in both directions.
            assert!(planted > 1.5 * delay_ns as f64, "{planted} of {delay_ns}");
            // On a loaded machine the undelayed round trip waits for CPUs too, at most all that is outside the relay.
            let (within, outside) = (60e3 + 0.02 * planted, base_ns - base_recorded_ns);
            let fits = (-within - outside..=within).contains(&(longer - planted));
            if fits {
                Ok(())
            } else {
                Err(format!("{longer} ns longer where {planted} ns were added ({by:?})"))
            }
        });
    }
}

fn bed(bench: &Bench) -> Option<Bed> {
    let made = if root() { Bed::new(bench) } else { Err("network namespaces need root".to_owned()) };
    made.map_err(|why| cannot(&why)).ok()
}

/// Tries until what is read agrees; what was read otherwise.
fn agrees(mut attempt: impl FnMut() -> Result<(), String>) {
    let all: Result<Vec<String>, ()> = (0..ATTEMPTS).map(|_| attempt().err().ok_or(())).collect();
    if let Ok(all) = all {
        panic!("never in {ATTEMPTS} attempts: {all:#?}");
    }
}

#[test]
fn a_planted_delay_is_what_a_round_trip_is_longer_by() {
    let bench = Bench::new();
    let Some(bed) = bed(&bench) else { return };
    for delay_ns in [500_000, 5_000_000] {
        bed.has_delay(delay_ns, || By::Relay, || ());
    }
}

/// By netem, where the kernel has it.
#[test]
fn a_delay_of_the_kernel_is_what_a_round_trip_is_longer_by() {
    let bench = Bench::new();
    let Some(bed) = bed(&bench) else { return };
    let fast = || bed.wire.leave_to_kernel("pfifo_fast").expect("every kernel has it");
    bed.has_delay(5_000_000, || bed.slow_by("netem delay 5ms"), fast);
}

#[test]
fn a_planted_rate_is_the_bandwidth() {
    let bench = Bench::new();
    let Some(bed) = bed(&bench) else { return };
    bed.has_bandwidth(4_000_000, By::Relay);
}

/// By tbf, where the kernel has it.
#[test]
fn a_rate_of_the_kernel_is_the_bandwidth() {
    let bench = Bench::new();
    let Some(bed) = bed(&bench) else { return };
    let rate = 4_000_000;
    let by = bed.slow_by(&format!("tbf rate {}bit burst 5kb latency 50ms", rate * 8));
    bed.has_bandwidth(rate, by);
}

#[test]
fn planted_losses_are_seen_and_counted() {
    let bench = Bench::new();
    let Some(bed) = bed(&bench) else { return };
    agrees(|| {
        bed.wire.plant(0, 0, PACKET);
        bed.wire.away.lock().expect("a way").lost_of = 10;
        let (of, answered) = bed.run(&["--test", "udp-rtt", "--set", "size=64;mode=block;timeout=500ms"]);
        let (share, away) = (of("lost"), of("lost-away"));
        let recorded = bed.wire.away.lock().expect("a way").lost;
        assert!(recorded > 0, "nothing was lost");
        // Every tenth, so of any so many in a row a tenth, rounded either way.
        let sent = answered as f64 / (1.0 - share);
        let lost = (share * sent).round();
        let fits = (lost - sent / 10.0).abs() < 1.0 && lost >= 1.0 && away > 0.0;
        if fits { Ok(()) } else { Err(format!("{lost} of {sent} lost, {away} of them on the way there")) }
    });
}
