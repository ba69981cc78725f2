//! A link over a socket pair: frames to a worker that runs as a thread of the test.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use harness::conductor::{Link, Parting};
use model::frame::{Frame, encode};

pub struct Pipe(pub UnixStream);

impl Link for Pipe {
    fn send(&mut self, frame: &Frame) -> Result<(), String> {
        self.0.write_all(&encode(frame).unwrap()).map_err(|error| error.to_string())
    }

    fn hang_up(&mut self) -> Parting {
        drop(self.0.shutdown(Shutdown::Both));
        Parting::default()
    }
}
