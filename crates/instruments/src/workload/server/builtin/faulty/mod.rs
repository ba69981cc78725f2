//! A server with planted faults that records what it did, to check that a load generator reports it correctly.
//!
//! It is the built-in server with a list of faults. It serves no files but one body of `body` bytes at every path.
//! Times are microseconds in its options and nanoseconds in the record. The record is made by the server, so it holds
//! whatever the client counts. [`RECORD`] is the path of the record; requests for it are not counted.

mod account;
mod serving;
mod start;

use model::Params;

pub use account::Account;
pub use serving::Server;
pub use start::{Planted, ask};

/// The path of the record.
pub const RECORD: &str = "/boxscore-account";
/// First word of the server's options.
pub const WORD: &str = "faults";
/// Largest body: it is sent in one piece, which the buffers of a connection always hold.
const BODY_BYTES: u64 = 16 << 10;
/// Longest planted time.
const LONGEST_US: u64 = 60_000_000;

model::words! {
    /// The treatment of a request instead of answering it well.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Fault as name {
        /// Half of the body, then the end of the connection.
        Short = "short",
        /// The connection is reset.
        Reset = "reset",
        /// The connection ends without an answer.
        Closed = "closed",
        /// The connection ends within the head of the answer.
        Half = "half-head",
        /// One byte more than Content-Length states.
        Extra = "extra-byte",
        /// Chunked, with a size that is not a number.
        Chunks = "chunk-junk",
        /// Not HTTP.
        Junk = "junk",
        /// A head that never ends.
        Endless = "endless-head",
        /// Status 404.
        Missing = "404",
        /// Status 503.
        Busy = "503",
        /// No answer; the connection stays open.
        Silent = "silent",
        /// A good answer, one byte at a time.
        Bytewise = "bytewise",
        /// A good answer, after which the connection ends unannounced.
        Leaves = "leaves",
    }
}

impl Fault {
    /// The kind of failure that a client must count; `None` where the answer is good.
    pub const fn counts_as(self) -> Option<&'static str> {
        match self {
            Fault::Short => Some("short_body"),
            Fault::Reset => Some("reset"),
            Fault::Closed | Fault::Half => Some("closed"),
            Fault::Extra | Fault::Chunks | Fault::Junk | Fault::Endless => Some("bad_response"),
            Fault::Missing => Some("status_4xx"),
            Fault::Busy => Some("status_5xx"),
            Fault::Silent => Some("timeout"),
            Fault::Bytewise | Fault::Leaves => None,
        }
    }
}

/// Options of a faulty server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// The CPU that its thread stays on; `None`: any.
    pub cpu: Option<usize>,
    /// True if that CPU is its own: it spins while answers are due, so that they leave on time.
    pub spin: bool,
    /// Each answer leaves at least this long after its request came.
    pub delay_us: u64,
    /// Largest additional delay, uniformly distributed.
    pub spread_us: u64,
    /// True: one request after another. The delay is a service time, and requests queue.
    pub serial: bool,
    /// In the middle of every period the server stands still for `stall_us`; 0: never.
    pub stall_us: u64,
    pub period_us: u64,
    /// Bytes of a body.
    pub body: u64,
    /// One in every this many requests gets the next of `kinds`; 0: never.
    pub every: u64,
    pub kinds: Vec<Fault>,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            cpu: None,
            spin: false,
            delay_us: 0,
            spread_us: 0,
            serial: false,
            stall_us: 0,
            period_us: 0,
            body: 100,
            every: 0,
            kinds: Vec::new(),
        }
    }
}

impl Faults {
    /// The options as one line of text.
    pub fn text(&self) -> String {
        let mut params = Params::default();
        for (name, value) in [
            ("delay", self.delay_us),
            ("spread", self.spread_us),
            ("stall", self.stall_us),
            ("period", self.period_us),
            ("body", self.body),
            ("every", self.every),
            ("serial", u64::from(self.serial)),
            ("spin", u64::from(self.spin)),
        ] {
            params.set(name, &value.to_string());
        }
        if let Some(cpu) = self.cpu {
            params.set("cpu", &cpu.to_string());
        }
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        if !kinds.is_empty() {
            params.set("kinds", &kinds.join("+"));
        }
        format!("{WORD} {params}\n")
    }

    /// Parses [`Faults::text`]; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Faults> {
        let line = text.strip_suffix('\n')?.strip_prefix(WORD)?.strip_prefix(' ')?;
        let params = Params::parse(line).ok()?;
        let mut faults = Faults::default();
        for (name, value) in &params {
            if name == "kinds" {
                faults.kinds = value.split('+').map(Fault::parse).collect::<Option<_>>()?;
                continue;
            }
            let number: u64 = value.parse().ok()?;
            match name.as_str() {
                "delay" => faults.delay_us = number,
                "spread" => faults.spread_us = number,
                "stall" => faults.stall_us = number,
                "period" => faults.period_us = number,
                "body" => faults.body = number,
                "every" => faults.every = number,
                "serial" => faults.serial = number > 0,
                "spin" => faults.spin = number > 0,
                "cpu" => faults.cpu = Some(usize::try_from(number).ok()?),
                _ => return None,
            }
        }
        faults.makes_sense().then_some(faults)
    }

    fn makes_sense(&self) -> bool {
        let times = [self.delay_us, self.spread_us, self.stall_us, self.period_us];
        times.iter().all(|us| *us <= LONGEST_US)
            && (1..=BODY_BYTES).contains(&self.body)
            && (self.stall_us == 0 || self.stall_us < self.period_us)
            && (self.every == 0 || !self.kinds.is_empty())
    }

    /// The fault for request `number`, counted from 0.
    pub fn fault_at(&self, number: u64) -> Option<Fault> {
        if self.every == 0 || !(number + 1).is_multiple_of(self.every) {
            return None;
        }
        let turn = (number + 1) / self.every - 1;
        let kinds = u64::try_from(self.kinds.len()).ok().filter(|kinds| *kinds > 0)?;
        self.kinds.get(usize::try_from(turn % kinds).ok()?).copied()
    }

    /// How long the answer to request `number` is held back, in nanoseconds: uniformly distributed, and the same in
    /// every run.
    pub fn hold_ns(&self, number: u64) -> u64 {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        // Multiples of the golden ratio lie evenly between 0 and 1.
        let part = u128::from(number.wrapping_add(1).wrapping_mul(GOLDEN));
        let spread = (part * u128::from(self.spread_us * 1000)) >> 64;
        self.delay_us * 1000 + u64::try_from(spread).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_and_understood() {
        let all = Faults {
            cpu: Some(3),
            spin: true,
            delay_us: 20_000,
            spread_us: 5,
            serial: true,
            stall_us: 1_000_000,
            period_us: 10_000_000,
            body: 4096,
            every: 10,
            kinds: Fault::ALL.to_vec(),
        };
        assert_eq!(Faults::parse(&all.text()), Some(all));
        assert_eq!(Faults::parse(&Faults::default().text()), Some(Faults::default()));
        for bad in [
            "",
            "faults\n",
            "faults delay=x\n",
            "faults delay=1",
            "faults delay=-1\n",
            "faults what=1\n",
            "faults body=0\n",
            "faults body=99999\n",
            "faults every=2\n",
            "faults kinds=none\n",
            "faults stall=5;period=5\n",
            "faults delay=99999999999\n",
        ] {
            assert_eq!(Faults::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn every_nth_request_gets_the_next_fault() {
        let faults = Faults { every: 3, kinds: vec![Fault::Short, Fault::Reset], ..Faults::default() };
        let got: Vec<Option<Fault>> = (0..9).map(|number| faults.fault_at(number)).collect();
        let (short, reset) = (Some(Fault::Short), Some(Fault::Reset));
        assert_eq!(got, [None, None, short, None, None, reset, None, None, short]);
        assert_eq!(Faults::default().fault_at(2), None);
        let endless = Faults { every: 1, ..Faults::default() };
        assert_eq!(endless.fault_at(u64::MAX - 1), None);
    }

    #[test]
    fn delays_spread_evenly_between_their_ends() {
        let faults = Faults { delay_us: 100, spread_us: 1000, ..Faults::default() };
        let mut tenths = [0; 10];
        for number in 0..1000 {
            let ns = faults.hold_ns(number);
            assert!((100_000..1_100_000).contains(&ns), "{ns}");
            tenths[((ns - 100_000) / 100_000) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (95..=105).contains(count)), "{tenths:?}");
        assert_eq!(Faults { delay_us: 7, ..Faults::default() }.hold_ns(9), 7000);
    }

    #[test]
    fn each_fault_has_a_name_of_its_own() {
        for fault in Fault::ALL {
            assert_eq!(Fault::parse(fault.name()), Some(fault));
        }
    }
}
