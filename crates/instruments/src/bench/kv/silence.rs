//! Stores that fell silent in the middle of a request. Before such a store is asked again it gets a short question, so
//! that the whole patience is spent once and not in every take.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::connection::Connection;
use super::wire::Failure;

/// How long a store may think about the short question.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// Redis takes it for an unknown command, memcached for a question: neither ends the connection silently.
pub const WORD: &[u8] = b"version\r\n";

static SILENT: Mutex<Vec<SocketAddr>> = Mutex::new(Vec::new());

fn silent() -> MutexGuard<'static, Vec<SocketAddr>> {
    // What is behind this lock is whole between two statements.
    SILENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a store whose request failed, if it failed by silence.
pub fn remember(address: SocketAddr, failure: &Failure) {
    if matches!(failure, Failure::Silent(_)) {
        silent().push(address);
    }
}

/// Fails when the store fell silent before and still answers nothing.
pub fn look(address: SocketAddr) -> Result<(), Failure> {
    if !silent().contains(&address) {
        return Ok(());
    }
    match Connection::probe(address, WORD, PATIENCE) {
        Err(still @ Failure::Silent(_)) => Err(still),
        // It is there again, or the next request says in which other way it is gone.
        _ => {
            silent().retain(|one| *one != address);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    #[test]
    fn only_a_store_that_fell_silent_is_asked_and_one_that_answers_is_trusted_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        remember(address, &Failure::Ended);
        assert_eq!(look(address), Ok(()));
        remember(address, &Failure::Silent(10.0));
        let from = Instant::now();
        assert_eq!(look(address), Err(Failure::Silent(PATIENCE.as_secs_f64())));
        assert!(from.elapsed() >= PATIENCE);
        let answering = std::thread::spawn(move || {
            // Behind the connection that was left unanswered.
            for stream in listener.incoming().take(2) {
                let _left = stream.unwrap().write_all(b"VERSION 1\r\n");
            }
        });
        assert_eq!(look(address), Ok(()));
        answering.join().unwrap();
        assert_eq!(look(address), Ok(()));
    }
}
