//! One function over one buffer again and again, the result of a run starting the next.

use std::hint::black_box;

use model::Fault;

use super::buffer::Buffer;
use crate::bench::kernel::Kernel;

/// The states before and after a take, for the instrument to check.
pub struct Serial<S> {
    run: fn(S, &[u8]) -> S,
    state: S,
    data: Buffer,
}

impl<S> Serial<S> {
    pub fn new(run: fn(S, &[u8]) -> S, state: S, data: Buffer) -> Serial<S> {
        Serial { run, state, data }
    }
}

impl<S: Copy + Send + 'static> Kernel for Serial<S> {
    type Out = (S, S);

    fn run(&mut self, repeats: u64) -> Result<(S, S), Fault> {
        let before = self.state;
        let mut state = before;
        for _ in 0..repeats {
            state = (self.run)(state, black_box(&self.data));
        }
        self.state = state;
        Ok((before, state))
    }
}
