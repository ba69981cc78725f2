//! Copies of a program at once: started together, each on CPUs of its own, and how far their scored batches overlap.

use std::sync::Barrier;
use std::thread;

use model::Fault;

use super::output::{Batch, Output};

/// Runs `work` for all copies at once. Fails with the error of the first copy that failed.
pub fn together(
    copies: usize,
    work: impl Fn(usize) -> Result<Output, Fault> + Sync,
) -> Result<Vec<Output>, Fault> {
    if copies <= 1 {
        return Ok(vec![work(0)?]);
    }
    let gate = Barrier::new(copies);
    let (gate, work) = (&gate, &work);
    thread::scope(|scope| {
        let started: Vec<_> = (0..copies)
            .map(|copy| {
                scope.spawn(move || {
                    gate.wait();
                    work(copy)
                })
            })
            .collect();
        let ended: Vec<_> = started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Fault::new("a thread of ours failed"))))
            .collect();
        ended.into_iter().collect()
    })
}

/// The share of the longest batch in which all of them were under way: 1 where each ran beside all others throughout.
#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
pub fn overlap(batches: &[Batch]) -> Option<f64> {
    let start = batches.iter().map(|batch| batch.end_ns.saturating_sub(batch.wall_ns)).max()?;
    let end = batches.iter().map(|batch| batch.end_ns).min()?;
    let longest = batches.iter().map(|batch| batch.wall_ns).max().filter(|longest| *longest > 0)?;
    Some(end.saturating_sub(start) as f64 / longest as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_copies_run_at_once() {
        let (here, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let gate = Barrier::new(3);
        let done = together(3, |_| {
            most.fetch_max(here.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            gate.wait();
            Ok(Output::default())
        });
        assert_eq!((done.unwrap().len(), most.load(Ordering::SeqCst)), (3, 3));
        let failed = together(2, |copy| match copy {
            0 => Ok(Output::default()),
            _ => Err(Fault::new("it is gone")),
        });
        assert_eq!(failed, Err(Fault::new("it is gone")));
    }

    #[test]
    fn batches_overlap_in_part() {
        let batch = |start: u64, end_ns: u64| Batch { cycles: 1, cpu_ns: 1, wall_ns: end_ns - start, end_ns };
        assert_eq!(overlap(&[batch(0, 100), batch(0, 100)]), Some(1.0));
        assert_eq!(overlap(&[batch(0, 100), batch(50, 150)]), Some(0.5));
        assert_eq!(overlap(&[batch(0, 100), batch(100, 200)]), Some(0.0));
        assert_eq!(overlap(&[batch(0, 100), batch(300, 350)]), Some(0.0));
        assert_eq!(overlap(&[]), None);
    }
}
