//! Messages between the program and its measuring child: length-prefixed postcard frames.
//!
//! The program owns the order: an [`Frame::Ack`] says that everything so far is committed and names the next
//! take. The child owns the measuring. A frame is at most [`MOST_BYTES`]; anything else is an error, not a panic.

use serde::{Deserialize, Serialize};

use crate::exact;
use crate::fact::Fact;
use crate::generate::{Generator, GeneratorOrder, Loaded, NotLoaded, Part};
use crate::histogram::Histogram;
use crate::login::Login;
use crate::note::NoteBody;
use crate::plan::{Plan, TakeOrder};
use crate::reading::Take;

/// Raised when frames change; a child of another version is refused.
pub const WIRE_VERSION: u32 = 13;

/// A child writes this before its frames: what a login shell prints on the way to it stands before. Read as a length it
/// is of no frame.
pub const OPENING: &[u8] = b"boxscore-link\n";

/// The largest frame: a take of a full sweep with histograms is far below it.
pub const MOST_BYTES: usize = 64 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub wire: u32,
    /// Version and source hash: two different builds are never mixed in a study.
    pub build: String,
    pub target: String,
    pub hostname: String,
    pub boot_id: Option<String>,
    /// CPUs that the child may use.
    pub cpus: Vec<u32>,
    /// The same by core.
    pub cores: Vec<Vec<u32>>,
    pub wall_ns: i64,
    pub monotonic_ns: u64,
}

/// Work for the child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its machines are that of this child alone.
    pub plan: Plan,
    /// Number of the sitting within the run, from 0: one child, one sitting.
    pub sitting: u32,
    /// Directory for files where the plan names none.
    pub dir: String,
    /// Time since the run's start when this job starts: above 0 when a run is resumed.
    pub elapsed_ns: u64,
    /// Children that send load for this one.
    pub generators: Vec<Generator>,
    /// Somebody watches: long takes tell about once a second how they go.
    pub watched: bool,
    /// For key-value stores of the user's. Here and not in the plan, which is stored.
    pub login: Option<Login>,
}

/// CPU time of the child itself, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnCost {
    pub agent_cpu_seconds: f64,
    pub telemetry_cpu_seconds: f64,
    pub seconds: f64,
}

impl OwnCost {
    /// Both, as far as they are known. The seconds are those of the parts that reported, so that shares stay right.
    pub fn together(earlier: Option<OwnCost>, now: Option<OwnCost>) -> Option<OwnCost> {
        match (earlier, now) {
            (Some(a), Some(b)) => Some(OwnCost {
                agent_cpu_seconds: a.agent_cpu_seconds + b.agent_cpu_seconds,
                telemetry_cpu_seconds: a.telemetry_cpu_seconds + b.telemetry_cpu_seconds,
                seconds: a.seconds + b.seconds,
            }),
            (one, other) => one.or(other),
        }
    }
}

/// A batch of telemetry: one source, its columns, and rows of values (missing is `None`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    pub source: String,
    /// `metric` or `metric{device}`, with its unit symbol.
    pub columns: Vec<(String, String)>,
    pub at_ns: Vec<u64>,
    /// One row a time stamp.
    #[serde(with = "exact")]
    pub rows: Vec<Vec<Option<f64>>>,
}

/// Telemetry of the host of a target, which another child than the measuring one recorded. Times are those of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetTelemetry {
    /// The target's name in the plan.
    pub target: String,
    pub segment: Segment,
}

/// How a load goes while it runs: for the display, never stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// Since the first request was due.
    pub elapsed_ns: u64,
    /// Requests that are over, since then.
    pub good: u64,
    pub failed: u64,
    /// Of the bodies of good answers.
    pub body_bytes: u64,
    /// Response times of all of them but those without an answer; `None` where not every thread told in time.
    pub response: Option<Histogram>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Frame {
    /// Child to program, first.
    Hello(Hello),
    Plan(Box<Job>),
    /// Inventory done: the facts of the machine.
    Ready(Vec<Fact>),
    Telemetry(Segment),
    /// The child's current step (`preparing mem-latency`), for the display.
    Progress(String),
    /// How the take in flight goes, where the job is watched.
    Live(Box<Live>),
    Note(NoteBody),
    /// In place of a take: the cell cannot run here with this arm.
    Fault {
        cell: u32,
        arm: u32,
        text: String,
    },
    TakeDone(Box<Take>),
    /// Program to child: all committed; do this next. `None`: nothing left.
    Ack(Option<TakeOrder>),
    /// End the take in flight early, where its instrument can; what it has by then is its result.
    Cut,
    /// The user wants to stop: leave what is being prepared, and finish a take in flight.
    Leave,
    /// Finish the take, then say Bye.
    Stop,
    /// The next sitting: say Bye, become a new process with memory of its own, and say Hello again.
    Anew,
    /// End now.
    Abort,
    Bye(OwnCost),
    Ping,
    /// Machine's child to program, within a take: have these loads carried out.
    Generate(Box<GeneratorOrder>),
    /// The answers: all generators stand, and start now; and how it went.
    Generating {
        id: u64,
    },
    Generated {
        id: u64,
        result: Result<Vec<Part>, NotLoaded>,
    },
    /// Program to generator, in place of a plan.
    Generator,
    /// Set this load up.
    Load {
        id: u64,
        body: Vec<u8>,
    },
    /// Its answer: everything stands, and waits for the start.
    Connected {
        id: u64,
    },
    /// Asks a generator for its clock.
    AskClock {
        id: u64,
    },
    Clock {
        id: u64,
        now_ns: u64,
    },
    /// Start at this time of your clock; `None`: there is no load after all.
    Start {
        id: u64,
        at_ns: Option<u64>,
    },
    /// Generator to program: the load's result, or why it failed. Nothing more follows for this load.
    Loaded {
        id: u64,
        result: Result<Loaded, String>,
    },
    /// Machine's child to program, within a take: ask the user what the meter shows. `None`: the last question is over.
    Ask {
        id: u64,
        question: Option<String>,
    },
    /// The answer in watts, heard in the middle of the take; `None`: there is no reading.
    Reading {
        id: u64,
        #[serde(with = "exact")]
        watts: Option<f64>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is over the limit of {MOST_BYTES}")]
    TooLong(usize),
    #[error("not a frame: {0}")]
    Malformed(String),
}

/// A frame as bytes: 4-byte little-endian length, then the body. Fails if the body is too long.
pub fn encode(frame: &Frame) -> Result<Vec<u8>, FrameError> {
    let body = postcard::to_stdvec(frame).map_err(|error| FrameError::Malformed(error.to_string()))?;
    if body.len() > MOST_BYTES {
        return Err(FrameError::TooLong(body.len()));
    }
    let length = u32::try_from(body.len()).map_err(|_| FrameError::TooLong(body.len()))?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(body);
    Ok(bytes)
}

/// The first frame of `bytes` and how many bytes it took; `None` when it is not complete yet. Fails if the bytes are no
/// frame.
pub fn decode(bytes: &[u8]) -> Result<Option<(Frame, usize)>, FrameError> {
    let Some((head, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*head) as usize;
    if length > MOST_BYTES {
        return Err(FrameError::TooLong(length));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    match postcard::take_from_bytes(body) {
        Ok((frame, [])) => Ok(Some((frame, 4 + length))),
        Ok((_, left)) => Err(FrameError::Malformed(format!("{} bytes left over", left.len()))),
        Err(error) => Err(FrameError::Malformed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn costs_are_summed_and_a_silent_part_takes_nothing_away() {
        let cost = |agent, telemetry, seconds| OwnCost {
            agent_cpu_seconds: agent,
            telemetry_cpu_seconds: telemetry,
            seconds,
        };
        let (first, second) = (cost(1.0, 0.5, 10.0), cost(2.0, 0.25, 20.0));
        assert_eq!(OwnCost::together(Some(first), Some(second)), Some(cost(3.0, 0.75, 30.0)));
        assert_eq!(OwnCost::together(Some(first), None), Some(first));
        assert_eq!(OwnCost::together(None, Some(second)), Some(second));
        assert_eq!(OwnCost::together(None, None), None);
    }

    fn sample() -> Vec<Frame> {
        vec![
            Frame::Ping,
            Frame::Anew,
            Frame::Ack(Some(TakeOrder { seq: 3, block: 1, cell: 2, arm: 0, warm_up: false })),
            Frame::Progress("preparing".into()),
            Frame::Live(Box::new(Live {
                elapsed_ns: 1,
                good: 2,
                failed: 3,
                body_bytes: 4,
                response: Some(Histogram::default()),
            })),
            Frame::Fault { cell: 2, arm: 1, text: "too little memory".into() },
            Frame::Ready(vec![Fact::text("cpu.model", "x", "y"), Fact::unknown("a", "b", "c")]),
            Frame::Generate(Box::new(GeneratorOrder {
                id: 1,
                bodies: vec![vec![1, 2]],
                connect_ns: 3,
                run_ns: 4,
            })),
            Frame::Generating { id: 1 },
            Frame::Ask { id: 1, question: Some("watts".into()) },
            Frame::Reading { id: 1, watts: Some(41.3) },
            Frame::Telemetry(Segment {
                source: "cpu".into(),
                columns: vec![("user".into(), "ratio".into())],
                at_ns: vec![1],
                rows: vec![vec![None]],
            }),
        ]
    }

    #[test]
    fn frames_come_back() {
        let bytes: Vec<u8> = sample().iter().flat_map(|frame| encode(frame).unwrap()).collect();
        let mut rest = &bytes[..];
        for frame in sample() {
            let (back, used) = decode(rest).unwrap().unwrap();
            assert_eq!(back, frame);
            rest = &rest[used..];
        }
        assert_eq!(decode(rest), Ok(None));
    }

    fn order() -> impl Strategy<Value = GeneratorOrder> {
        let bodies = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..4);
        (any::<u64>(), bodies, any::<u64>(), any::<u64>())
            .prop_map(|(id, bodies, connect_ns, run_ns)| GeneratorOrder { id, bodies, connect_ns, run_ns })
    }

    /// Every frame of a load on generators.
    fn relayed() -> impl Strategy<Value = Frame> {
        let body = || proptest::collection::vec(any::<u8>(), 0..50);
        let part = (any::<u64>(), any::<u64>(), body()).prop_map(|(after_ns, error_ns, body)| Part {
            after_ns,
            error_ns,
            body,
        });
        let not = (any::<String>(), any::<bool>(), any::<String>())
            .prop_map(|(generator, before_start, what)| NotLoaded { generator, before_start, what });
        let result = prop_oneof![proptest::collection::vec(part, 0..4).prop_map(Ok), not.prop_map(Err),];
        let loaded = prop_oneof![
            (any::<u64>(), body()).prop_map(|(start_ns, body)| Ok(Loaded { start_ns, body })),
            any::<String>().prop_map(Err),
        ];
        let id = any::<u64>;
        prop_oneof![
            order().prop_map(|order| Frame::Generate(Box::new(order))),
            id().prop_map(|id| Frame::Generating { id }),
            (id(), result).prop_map(|(id, result)| Frame::Generated { id, result }),
            Just(Frame::Generator),
            (id(), body()).prop_map(|(id, body)| Frame::Load { id, body }),
            id().prop_map(|id| Frame::Connected { id }),
            id().prop_map(|id| Frame::AskClock { id }),
            (id(), id()).prop_map(|(id, now_ns)| Frame::Clock { id, now_ns }),
            (id(), any::<Option<u64>>()).prop_map(|(id, at_ns)| Frame::Start { id, at_ns }),
            (id(), loaded).prop_map(|(id, result)| Frame::Loaded { id, result }),
        ]
    }

    proptest! {
        #[test]
        fn frames_of_generators_come_back(frames in proptest::collection::vec(relayed(), 1..6)) {
            let bytes: Vec<u8> = frames.iter().flat_map(|frame| encode(frame).unwrap()).collect();
            let mut rest = &bytes[..];
            for frame in &frames {
                let (back, used) = decode(rest).unwrap().unwrap();
                prop_assert_eq!(&back, frame);
                rest = &rest[used..];
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_decode_or_fail_cleanly(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn damaged_frames_do_not_panic(which in 0usize..12, at in any::<prop::sample::Index>(), with in any::<u8>()) {
            let mut bytes = encode(&sample()[which]).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = with;
            let _ = decode(&bytes);
        }
    }
}
