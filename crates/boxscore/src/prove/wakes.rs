//! Wake-up latency of a reader that sleeps on the generator's core: ns from before a write over loopback to after its
//! read.
//!
//! It is the machine's own share of every time that a sleeping client reads: leaving idle, the scheduler, and the
//! hypervisor. The way of the bytes through the kernel is counted, work on an answer is not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use sys::clock;

/// How many wake-ups are taken, and how far they lie apart: from the first of these to twice that, so that they meet
/// the ticks of the system anywhere.
const WAKES: u64 = 300;
const APART_NS: u64 = 1_000_000;
/// A byte over loopback that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// A thread on the CPU `from` writes, one on `to` sleeps and reads.
pub fn wakes(from: Option<usize>, to: Option<usize>) -> Result<Vec<u64>, String> {
    let failed = |error: std::io::Error| format!("cannot time wake-ups over loopback: {error}");
    let (near, far) = pair().map_err(failed)?;
    let reading = std::thread::spawn(move || read(far, to));
    let written = {
        // Unpinned it wakes a reader wherever that sleeps.
        let _pinned = from.and_then(|cpu| sys::affinity::pin(cpu).ok());
        write(near, from != to)
    };
    let wakes = reading.join().map_err(|_| "the reader of wake-ups panicked".to_owned())?;
    written.map_err(failed)?;
    wakes.map_err(failed)
}

fn pair() -> std::io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    near.set_write_timeout(Some(PATIENCE))?;
    far.set_read_timeout(Some(PATIENCE))?;
    Ok((near, far))
}

/// The writer spins between two bytes where the core is its own, as the faulty server does.
fn write(mut stream: TcpStream, spin: bool) -> std::io::Result<()> {
    let mut due_ns = clock::now_ns();
    for nth in 0..WAKES {
        due_ns += APART_NS + nth * 7919 % WAKES * APART_NS / WAKES;
        if spin {
            while clock::now_ns() < due_ns {
                std::hint::spin_loop();
            }
        } else {
            clock::sleep_until(due_ns);
        }
        stream.write_all(&clock::now_ns().to_le_bytes())?;
    }
    Ok(())
}

fn read(mut stream: TcpStream, cpu: Option<usize>) -> std::io::Result<Vec<u64>> {
    let _pinned = cpu.and_then(|cpu| sys::affinity::pin(cpu).ok());
    let mut wakes = Vec::new();
    for _ in 0..WAKES {
        let mut sent = [0; 8];
        stream.read_exact(&mut sent)?;
        wakes.push(clock::now_ns().saturating_sub(u64::from_le_bytes(sent)));
    }
    Ok(wakes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_wakes_its_reader_once() {
        let cpus = sys::affinity::allowed().unwrap();
        for from in [cpus.first(), cpus.last()] {
            let wakes = wakes(from.copied(), cpus.last().copied()).unwrap();
            assert_eq!(wakes.len() as u64, WAKES);
            assert!(wakes.iter().all(|ns| *ns > 0), "{wakes:?}");
        }
    }
}
