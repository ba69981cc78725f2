//! A child as a load generator: carries out loads for another child, each from a common start.
//!
//! In: load descriptions as bytes, which it does not interpret. Out: encoded results. It sends Ping each second, also
//! while a load is set up or under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::frame::Frame;
use model::generate::Loaded;

use crate::worker::{Frames, Next, Output, WorkerError, next, send};

const PING: Duration = Duration::from_secs(1);

/// Carries out the load encoded in the bytes. When everything is set up it calls the function for the start, a time of
/// this host's monotonic clock; `None` calls the load off. Fails when the load cannot be carried out.
pub type Generate = fn(&[u8], &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String>;

/// Serves loads until the program has no more in this sitting. Fails when the pipe breaks or an unexpected frame
/// arrives.
pub fn serve(generate: Generate, frames: &Frames, output: &Output) -> Result<Next, WorkerError> {
    let end = Arc::new(AtomicBool::new(false));
    let (over, pipe) = (Arc::clone(&end), Arc::clone(output));
    std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) && send(&pipe, &Frame::Ping).is_ok() {
            std::thread::sleep(PING);
        }
    });
    let served = loads(generate, frames, output);
    end.store(true, Ordering::Relaxed);
    served
}

fn loads(generate: Generate, frames: &Frames, output: &Output) -> Result<Next, WorkerError> {
    loop {
        match next(frames)? {
            Frame::Load { id, body } => {
                let mut broken = None;
                let result = generate(&body, &mut || match start(id, frames, output) {
                    Ok(at_ns) => at_ns,
                    Err(error) => {
                        broken = Some(error);
                        None
                    }
                });
                if let Some(error) = broken {
                    return Err(error);
                }
                send(output, &Frame::Loaded { id, result })?;
            }
            Frame::AskClock { id } => tell_clock(id, output)?,
            // It crossed our word that the load failed.
            Frame::Start { .. } => {}
            Frame::Ack(None) | Frame::Stop => return Ok(Next::End),
            Frame::Anew => return Ok(Next::Anew),
            _ => return Err(WorkerError::Order { wanted: "a load" }),
        }
    }
}

/// Reports that the load is set up, and waits for the start.
fn start(load: u64, frames: &Frames, output: &Output) -> Result<Option<u64>, WorkerError> {
    send(output, &Frame::Connected { id: load })?;
    loop {
        match next(frames)? {
            Frame::AskClock { id } => tell_clock(id, output)?,
            Frame::Start { id, at_ns } if id == load => return Ok(at_ns),
            Frame::Start { .. } => {}
            _ => return Err(WorkerError::Order { wanted: "a start" }),
        }
    }
}

fn tell_clock(id: u64, output: &Output) -> Result<(), WorkerError> {
    send(output, &Frame::Clock { id, now_ns: sys::clock::now_ns() })
}
