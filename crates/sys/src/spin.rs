//! Scheduling gaps of the operating system, seen by a loop that only reads the clock.
//!
//! Two successive readings further apart than a threshold are a gap: time in which something else (interrupt, other
//! thread, hypervisor) had the core. Which of these it was is not known.

use crate::clock::now_ns;

/// The gaps that a loop over `span_ns` saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gaps {
    pub span_ns: u64,
    pub threshold_ns: u64,
    pub readings: u64,
    pub count: u64,
    pub total_ns: u64,
    pub longest_ns: u64,
}

impl Gaps {
    fn add(&mut self, gap_ns: u64) -> bool {
        self.readings += 1;
        let over = gap_ns > self.threshold_ns;
        if over {
            self.count += 1;
            self.total_ns = self.total_ns.saturating_add(gap_ns);
            self.longest_ns = self.longest_ns.max(gap_ns);
        }
        over
    }
}

/// Spins for at least `span_ns` and calls `on_gap` for each gap over `threshold_ns`. Time in `on_gap` is not a gap.
/// Pin the thread first.
pub fn gaps(span_ns: u64, threshold_ns: u64, on_gap: &mut dyn FnMut(u64)) -> Gaps {
    let mut seen = Gaps { threshold_ns, ..Gaps::default() };
    let start = now_ns();
    let mut last = start;
    while last.saturating_sub(start) < span_ns {
        let now = now_ns();
        let gap = now.saturating_sub(last);
        last = now;
        if seen.add(gap) {
            on_gap(gap);
            last = now_ns();
        }
    }
    seen.span_ns = last.saturating_sub(start);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        let mut seen = 0;
        let gaps = gaps(2_000_000, 0, &mut |gap| seen += gap);
        assert_eq!(seen, gaps.total_ns);
        assert!(gaps.span_ns >= 2_000_000 && gaps.count > 0);
        assert!(gaps.longest_ns <= gaps.total_ns && gaps.count <= gaps.readings);
    }

    #[test]
    fn the_threshold_itself_is_no_gap() {
        let mut gaps = Gaps { threshold_ns: 10, ..Gaps::default() };
        assert!(!gaps.add(10));
        assert!(gaps.add(11) && gaps.add(30));
        assert_eq!((gaps.readings, gaps.count, gaps.total_ns, gaps.longest_ns), (3, 2, 41, 30));
    }
}
