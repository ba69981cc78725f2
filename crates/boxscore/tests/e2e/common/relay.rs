//! A wire between two network namespaces that delays, loses and limits as it is told, and records what it did.
//!
//! Packets are those of IP, read from one TUN device and written to the other. Times are nanoseconds. A packet's delay
//! is what passed between its reading and its writing, whatever was planned.
//!
//! Rates and delays may also be left to the kernel at both ends (`tc`: tbf, netem), where it has them.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use super::host::{Namespace, ip, tc};

/// Packets that wait in each direction; more are dropped, as a router does.
const QUEUE: usize = 200;

/// What is done to the packets of one direction, and with what outcome.
#[derive(Debug, Default)]
pub struct Way {
    pub delay_ns: u64,
    /// Bytes of packets a second; 0 is no limit.
    pub bytes_per_sec: u64,
    /// Every so many packets of `size` bytes one is lost; 0 is none.
    pub lost_of: u64,
    pub size: usize,
    /// Packets of that size, and how many of them were lost.
    pub seen: u64,
    pub lost: u64,
    /// Delays of those that were not.
    pub delays: Vec<u64>,
}

/// Two namespaces, `10.77.0.1` in the near one and `10.77.0.2` in the far one.
pub struct Wire {
    pub near: Namespace,
    pub far: Namespace,
    pub away: Arc<Mutex<Way>>,
    pub back: Arc<Mutex<Way>>,
    /// The names of both devices.
    devices: [String; 2],
}

impl Wire {
    pub fn new() -> Result<Wire, String> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let nth = MADE.fetch_add(1, Ordering::Relaxed);
        let (near, far) = (Namespace::new(&format!("near{nth}"))?, Namespace::new(&format!("far{nth}"))?);
        let devices = ['a', 'b'].map(|letter| format!("bxt{}{letter}{nth}", std::process::id()));
        let end = |space: &Namespace, name: &str, address: &str| -> Result<Arc<File>, String> {
            let device = sys::net::tun(name).map_err(|error| error.to_string())?;
            ip(&format!("link set {name} netns {}", space.0))?;
            space.ip(&format!("address add {address}/24 dev {name}"))?;
            space.ip("link set lo up")?;
            space.ip(&format!("link set {name} mtu 1500 up"))?;
            Ok(Arc::new(device))
        };
        let (one, other) = (end(&near, &devices[0], "10.77.0.1")?, end(&far, &devices[1], "10.77.0.2")?);
        let (away, back) = (Arc::<Mutex<Way>>::default(), Arc::<Mutex<Way>>::default());
        carry(&one, &other, &away);
        carry(&other, &one, &back);
        Ok(Wire { near, far, away, back, devices })
    }

    /// Leaves what is sent from both ends to a queueing discipline of the kernel, or says why it has none of that kind.
    /// It stays for the life of the wire.
    pub fn leave_to_kernel(&self, discipline: &str) -> Result<(), String> {
        [&self.near, &self.far].into_iter().zip(&self.devices).try_for_each(|(space, device)| {
            tc(&format!("-n {} qdisc replace dev {device} root {discipline}", space.0))
        })
    }

    /// Plants the same in both directions, and forgets what was recorded. `size` is that of the packets to record.
    pub fn plant(&self, delay_ns: u64, bytes_per_sec: u64, size: usize) {
        for way in [&self.away, &self.back] {
            *way.lock().expect("a way") = Way { delay_ns, bytes_per_sec, size, ..Way::default() };
        }
    }

    /// The median of what both directions together added to a round trip.
    pub fn recorded_ns(&self) -> f64 {
        let (away, back) = (self.away.lock().expect("a way"), self.back.lock().expect("a way"));
        let mut sums: Vec<u64> =
            away.delays.iter().zip(&back.delays).map(|(one, other)| one + other).collect();
        sums.sort_unstable();
        sums[sums.len() / 2] as f64
    }
}

/// Threads that carry packets one way; they end with this process.
fn carry(from: &Arc<File>, to: &Arc<File>, way: &Arc<Mutex<Way>>) {
    let (give, take) = sync_channel(QUEUE);
    let (from, to) = (Arc::clone(from), Arc::clone(to));
    let (reading, writing) = (Arc::clone(way), Arc::clone(way));
    std::thread::spawn(move || read(&from, &give, &reading));
    std::thread::spawn(move || write(&to, &take, &writing));
}

/// A packet, when it was read, and when it is due.
type Held = (Vec<u8>, u64, u64);

fn read(mut from: &File, give: &SyncSender<Held>, way: &Mutex<Way>) {
    let mut bytes = vec![0; 65_536];
    let mut free_ns = 0;
    while let Ok(count) = from.read(&mut bytes) {
        let now_ns = sys::clock::now_ns();
        let mut way = way.lock().expect("a way");
        if count == way.size {
            way.seen += 1;
            if way.lost_of > 0 && way.seen.is_multiple_of(way.lost_of) {
                way.lost += 1;
                continue;
            }
        }
        let before_ns = free_ns;
        // Without a rate, at once.
        let takes_ns = (count as u64 * 1_000_000_000).checked_div(way.bytes_per_sec);
        free_ns = takes_ns.map_or(now_ns, |takes_ns| now_ns.max(free_ns) + takes_ns);
        let due_ns = free_ns + way.delay_ns;
        drop(way);
        // A full queue drops it, and it takes no time of the wire.
        if give.try_send((bytes[..count].to_vec(), now_ns, due_ns)).is_err() {
            free_ns = before_ns;
        }
    }
}

fn write(mut to: &File, take: &Receiver<Held>, way: &Mutex<Way>) {
    for (bytes, read_ns, due_ns) in take {
        sys::clock::sleep_until(due_ns);
        let mut way = way.lock().expect("a way");
        if bytes.len() == way.size {
            way.delays.push(sys::clock::now_ns() - read_ns);
        }
        drop(way);
        // A device that is down takes nothing; the test sees that nothing arrives.
        let _taken = to.write(&bytes);
    }
}
