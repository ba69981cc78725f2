//! The measuring child's port to generators in other children. It asks the program, which relays.
//!
//! A take waits here on the pipe that also carries orders; no order comes while a take is under way.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use model::frame::Frame;
use model::generate::{Generator, GeneratorOrder, NotLoaded, Part, Relay};

use crate::worker::{Frames, Output, WorkerError, next, send};

pub struct Port {
    generators: Vec<Generator>,
    frames: Frames,
    output: Output,
    asked: AtomicU64,
}

impl Port {
    pub fn new(generators: Vec<Generator>, frames: Frames, output: Output) -> Port {
        Port { generators, frames, output, asked: AtomicU64::new(0) }
    }

    /// Asks the program for a load and waits for the result. The program bounds each of its own waits, and when it
    /// ends the pipe breaks, so this wait is bounded too.
    fn ask(
        &self,
        order: GeneratorOrder,
        started: &mut dyn FnMut(),
    ) -> Result<Result<Vec<Part>, NotLoaded>, WorkerError> {
        let asked = order.id;
        send(&self.output, &Frame::Generate(Box::new(order)))?;
        loop {
            match next(&self.frames)? {
                Frame::Generating { id } if id == asked => started(),
                Frame::Generated { id, result } if id == asked => return Ok(result),
                _ => return Err(WorkerError::Order { wanted: "the result of a load" }),
            }
        }
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("generators", &self.generators).finish_non_exhaustive()
    }
}

impl Relay for Port {
    fn generators(&self) -> &[Generator] {
        &self.generators
    }

    fn load(&self, mut order: GeneratorOrder, started: &mut dyn FnMut()) -> Result<Vec<Part>, NotLoaded> {
        order.id = self.asked.fetch_add(1, Ordering::Relaxed);
        self.ask(order, started).unwrap_or_else(|error| {
            Err(NotLoaded { generator: String::new(), before_start: false, what: error.to_string() })
        })
    }
}
