//! One piece of work on many hosts at once: bounded width, each host's result as it comes, nothing lost by a stop.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::Builder;

/// Addresses for a thread's stack, of which it takes what it uses: little where it waits for descriptors, more where
/// it measures.
const STACK: usize = 2 << 20;

/// Does `work` for each item, at most `width` at once, and gives each result to `done` on this thread as it comes.
/// Fails when not one thread can be started.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    width: usize,
    work: impl Fn(usize, &T) -> R + Sync,
    mut done: impl FnMut(R),
) -> std::io::Result<()> {
    // Most of these threads wait, and allocate little: an area for each would take more than it saves.
    sys::heap::use_one_area();
    let next = AtomicUsize::new(0);
    let (give, results) = channel();
    std::thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..width.clamp(1, items.len().max(1)) {
            let (give, next, work) = (give.clone(), &next, &work);
            let take_turns = move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    if give.send(work(index, item)).is_err() {
                        return;
                    }
                }
            };
            match Builder::new().stack_size(STACK).spawn_scoped(scope, take_turns) {
                Ok(_) => started += 1,
                // Fewer than were wanted do the work too.
                Err(_) if started > 0 => break,
                Err(error) => return Err(error),
            }
        }
        drop(give);
        results.into_iter().for_each(&mut done);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_done_once_and_no_more_than_the_width_at_a_time() {
        let items: Vec<u32> = (0..200).collect();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut seen = Vec::new();
        let work = |_: usize, item: &u32| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            now.fetch_sub(1, Ordering::SeqCst);
            *item
        };
        each(&items, 7, work, |item| seen.push(item)).unwrap();
        seen.sort_unstable();
        assert_eq!(seen, items);
        assert!(most.into_inner() <= 7);
        each(&[] as &[u32], 3, |_, item| *item, |_| panic!("there is none")).unwrap();
    }
}
