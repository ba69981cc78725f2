//! A thread that lasts as long as this process. Servers are started on it, because the kernel ends a server with the
//! thread that started it.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::kind::ServerError;

type Job = Box<dyn FnOnce() + Send>;

/// Calls `start` on that thread and waits for the result. Fails as `start` does.
pub fn run<T: Send + 'static>(
    start: impl FnOnce() -> Result<T, ServerError> + Send + 'static,
) -> Result<T, ServerError> {
    static KEEPER: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    let keeper = KEEPER.get_or_init(|| {
        let (give, jobs) = channel::<Job>();
        std::thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Mutex::new(give)
    });
    let (tell, answer) = channel();
    let job = Box::new(move || {
        // Whoever asked may have given up.
        let _heard = tell.send(start());
    });
    let gone = |_| ServerError::Failed("the thread that starts servers has ended".to_owned());
    keeper.lock().unwrap_or_else(PoisonError::into_inner).send(job).map_err(|_| gone(()))?;
    answer.recv().map_err(|_| gone(()))?
}
