//! Pointer chains: a closed cycle through memory in which each load gives the address of the next.
//!
//! A chain has one slot every `stride` bytes and visits every slot exactly once a lap. Links are either
//! addresses (as the classic definition has them) or offsets with a tag, which read as ordinary
//! floating-point numbers, so that arrays that hold them can also serve as sources of the bandwidth
//! kernels. Time is not taken here.

#![expect(unsafe_code, reason = "a dependent load from an address that memory held a moment ago")]

use crate::bench::kernels::random::Random;

/// Bytes of a page as the chain understands it; larger pages only make it easier on the TLB.
pub const PAGE: usize = 4096;
/// Loads of one unit of a walk.
pub const UNIT: u64 = 100;
/// Offsets are stored above this pattern: the double 1.0, so that no link is a denormal number.
const TAG: u64 = 0x3ff0 << 48;

/// The order in which slots follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WalkOrder {
    /// Forward by one stride: what prefetchers like.
    Stride,
    /// Pages in random order, one slot a page and turn, slots in bit-reversed order: consecutive loads
    /// lie on different pages.
    Pages,
    /// Slots in one pseudo-random order over the whole range (a full-period linear congruence).
    Shuffled,
}

/// The contents of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Links {
    Addresses,
    Offsets,
}

/// The shape of a chain; equal shapes in one buffer are the same chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub order: WalkOrder,
    pub links: Links,
    /// Bytes that the chain spans.
    pub range: usize,
    /// Bytes between slots; a multiple of 8.
    pub stride: usize,
    pub seed: u64,
}

/// Number of slots that a lap over `range` bytes visits. `Pages` uses whole pages; `Shuffled` at least 15/16 of the
/// slots. Fails when no chain has this shape.
pub fn slots(order: WalkOrder, range: usize, stride: usize) -> Result<usize, ShapeError> {
    if stride < 8 || !stride.is_multiple_of(8) {
        return Err(ShapeError::Stride(stride));
    }
    let slots = match order {
        WalkOrder::Stride => range / stride,
        WalkOrder::Shuffled => congruence_period(range / stride),
        WalkOrder::Pages if !stride.is_power_of_two() || stride > PAGE => {
            return Err(ShapeError::Pages(stride));
        }
        WalkOrder::Pages if range < PAGE => range / stride,
        WalkOrder::Pages => range / PAGE * (PAGE / stride),
    };
    if slots < 2 { Err(ShapeError::Short { range, stride }) } else { Ok(slots) }
}

/// Why there is no chain of a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    #[error("a stride of {0} bytes is not a multiple of 8")]
    Stride(usize),
    #[error("{range} bytes hold fewer than two slots {stride} bytes apart")]
    Short { range: usize, stride: usize },
    #[error("order random needs a stride that is a power of two up to 4096 bytes, not {0}")]
    Pages(usize),
}

impl Shape {
    /// Number of slots that a lap visits. Fails when no chain has this shape.
    pub fn slots(&self) -> Result<usize, ShapeError> {
        slots(self.order, self.range, self.stride)
    }

    /// Writes the chain into `words`. Fails when no chain has this shape, or `words` spans less than `range` bytes.
    pub fn build(&self, words: &mut [u64]) -> Result<(), ShapeError> {
        let slots = self.slots()?;
        if words.len() * 8 < self.range {
            return Err(ShapeError::Short { range: words.len() * 8, stride: self.stride });
        }
        let base = words.as_ptr().expose_provenance() as u64;
        let bias = match self.links {
            Links::Addresses => base,
            Links::Offsets => TAG,
        };
        let mut link = |from: usize, to: usize| words[from / 8] = bias + to as u64;
        match self.order {
            WalkOrder::Stride => {
                (0..slots).for_each(|slot| link(slot * self.stride, (slot + 1) % slots * self.stride));
            }
            WalkOrder::Pages => self.link_pages(slots, link),
            WalkOrder::Shuffled => {
                let (factor, offset) = congruence(slots, self.seed);
                let mut next = offset;
                for slot in 0..slots {
                    link(slot * self.stride, next * self.stride);
                    next += factor;
                    if next >= slots {
                        next -= slots;
                    }
                }
            }
        }
        Ok(())
    }

    fn link_pages(&self, slots: usize, mut link: impl FnMut(usize, usize)) {
        let a_page = (PAGE / self.stride).min(slots);
        let pages = shuffled(slots / a_page, self.seed);
        let places: Vec<usize> = bit_reversed(a_page).into_iter().map(|slot| slot * self.stride).collect();
        for (i, &page) in pages.iter().enumerate() {
            let base = page as usize * PAGE;
            for (turn, &place) in places.iter().enumerate() {
                let next = match pages.get(i + 1) {
                    Some(&next) => next as usize * PAGE + place,
                    None => pages[0] as usize * PAGE + places[(turn + 1) % a_page],
                };
                link(base + place, next);
            }
        }
    }
}

/// 0 … count - 1 in a random order.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    let mut random = Random::new(seed);
    for last in (1..count).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    order
}

/// 0 … count - 1 by reversed bits; forward when `count` is not a power of two.
fn bit_reversed(count: usize) -> Vec<usize> {
    if !count.is_power_of_two() || count < 2 {
        return (0..count).collect();
    }
    let shift = usize::BITS - count.trailing_zeros();
    (0..count).map(|slot| slot.reverse_bits() >> shift).collect()
}

/// The largest number up to `slots` that is at most 31 times a power of two.
fn congruence_period(slots: usize) -> usize {
    let shift = (usize::BITS - slots.leading_zeros()).saturating_sub(5);
    (slots >> shift) << shift
}

/// Factor and offset with which x -> factor x + offset (mod slots) visits everything (Hull and Dobell:
/// the offset has no common divisor with `slots`; the factor less one is divisible by each of its prime
/// divisors, and by 4 when it is).
fn congruence(slots: usize, seed: u64) -> (usize, usize) {
    let primes = [2usize, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31];
    let mut step: usize = primes.iter().filter(|&&prime| slots.is_multiple_of(prime)).product();
    if slots.is_multiple_of(4) {
        step *= 2;
    }
    let mut random = Random::new(seed);
    let factor = 1 + step * (random.below(slots as u64) as usize / step);
    let mut offset = random.below(slots as u64) as usize;
    while greatest_common_divisor(offset, slots) != 1 {
        offset += 1;
    }
    (factor % slots, offset % slots)
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The position of a walk. The next take continues from it, so that a long chain is never walked only in its cached
/// part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walker {
    links: Links,
    at: u64,
}

impl Walker {
    /// At the first slot of a chain of that shape in `words`.
    pub fn start(shape: &Shape, words: &[u64]) -> Walker {
        let at = match shape.links {
            Links::Addresses => words.as_ptr().addr() as u64,
            Links::Offsets => TAG,
        };
        Walker { links: shape.links, at }
    }

    /// Follows `units` times [`UNIT`] links. `words` must hold the chain that the walker was started on.
    #[inline(never)]
    pub fn walk(&mut self, words: &[u64], units: u64) {
        self.at = match self.links {
            Links::Addresses => follow_addresses(self.at, units),
            Links::Offsets => follow_offsets(words.as_ptr(), self.at, units),
        };
    }

    /// Follows the same links without moving on, and throws each line out of the caches behind it.
    /// False where this processor gives programs no way to do that.
    pub fn flush_ahead(&self, words: &[u64], units: u64) -> bool {
        let base = words.as_ptr();
        let bias = match self.links {
            Links::Addresses => base.addr() as u64,
            Links::Offsets => TAG,
        };
        let mut at = self.at;
        for _ in 0..units.saturating_mul(UNIT) {
            let Some(word) = words.get((at.wrapping_sub(bias) / 8) as usize) else { return false };
            at = *word;
            if !flush(word) {
                return false;
            }
        }
        fence();
        true
    }

    /// Bytes from the start of `words`.
    pub fn offset(&self, words: &[u64]) -> u64 {
        match self.links {
            Links::Addresses => self.at - words.as_ptr().addr() as u64,
            Links::Offsets => self.at - TAG,
        }
    }
}

/// True where programs can throw a line out of all caches.
pub const CAN_FLUSH: bool = cfg!(any(
    all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"),
    target_arch = "aarch64"
));

/// Throws the line of `word` out of all caches; false where programs cannot.
#[inline]
fn flush(word: &u64) -> bool {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"))]
    {
        #[cfg(target_arch = "x86")]
        use std::arch::x86::_mm_clflush;
        #[cfg(target_arch = "x86_64")]
        use std::arch::x86_64::_mm_clflush;
        // SAFETY: flushing a line that is mapped changes no memory; SSE2 is part of the target.
        unsafe { _mm_clflush(std::ptr::from_ref(word).cast()) };
        true
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: cleaning and invalidating a mapped line changes no memory; Linux allows it in user space.
        unsafe {
            std::arch::asm!("dc civac, {0}", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags));
        }
        true
    }
    #[cfg(not(any(
        all(any(target_arch = "x86_64", target_arch = "x86"), target_feature = "sse2"),
        target_arch = "aarch64"
    )))]
    {
        let _ = word;
        false
    }
}

/// Waits until the flushes are done.
fn fence() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier touches neither registers nor memory of ours.
    unsafe {
        std::arch::asm!("dsb ish", options(nostack, preserves_flags));
    }
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

fn follow_addresses(mut at: u64, units: u64) -> u64 {
    for _ in 0..units {
        for _ in 0..UNIT {
            // SAFETY: `at` is the address of a slot of the chain that the caller still borrows, and
            // every slot holds the address of another; provenance was exposed when it was built.
            at = unsafe { *std::ptr::with_exposed_provenance::<u64>(at as usize) };
        }
    }
    at
}

fn follow_offsets(base: *const u64, mut at: u64, units: u64) -> u64 {
    let untagged = base.wrapping_byte_sub(TAG as usize);
    for _ in 0..units {
        for _ in 0..UNIT {
            // SAFETY: `at` is a tagged offset of a slot inside the buffer that the caller borrows; the
            // tag cancels, so the address is that slot, and every slot holds another tagged offset.
            at = unsafe { *untagged.wrapping_byte_add(at as usize) };
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn lap(shape: &Shape) -> Vec<u64> {
        let mut words = vec![0u64; shape.range.div_ceil(8)];
        shape.build(&mut words).unwrap();
        let bias = match shape.links {
            Links::Addresses => words.as_ptr().addr() as u64,
            Links::Offsets => TAG,
        };
        let (mut at, mut seen) = (0u64, Vec::new());
        loop {
            seen.push(at);
            at = words[(at / 8) as usize] - bias;
            if at == 0 || seen.len() > words.len() {
                return seen;
            }
        }
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        let order = prop_oneof![Just(WalkOrder::Stride), Just(WalkOrder::Pages), Just(WalkOrder::Shuffled)];
        let links = prop_oneof![Just(Links::Addresses), Just(Links::Offsets)];
        let parts = (order, links, 512usize..60_000, 3u32..9, any::<u64>());
        parts.prop_map(|(order, links, range, stride, seed)| {
            let stride = 1 << stride;
            Shape { order, links, range, stride, seed }
        })
    }

    proptest! {
        #[test]
        fn a_lap_visits_every_slot_exactly_once(shape in shapes()) {
            let lap = lap(&shape);
            let distinct: HashSet<u64> = lap.iter().copied().collect();
            prop_assert_eq!(lap.len(), shape.slots().unwrap());
            prop_assert_eq!(distinct.len(), lap.len());
            prop_assert!(lap.iter().all(|at| at % shape.stride as u64 == 0));
        }

        #[test]
        fn a_walk_stops_where_the_links_lead(shape in shapes(), units in 0u64..20) {
            let mut words = vec![0u64; shape.range.div_ceil(8)];
            shape.build(&mut words).unwrap();
            let mut walker = Walker::start(&shape, &words);
            prop_assert!(walker.flush_ahead(&words, units));
            walker.walk(&words, units);
            let lap = lap(&shape);
            let place = (units * UNIT) as usize % lap.len();
            prop_assert_eq!(walker.offset(&words), lap[place]);
        }

        #[test]
        fn page_order_changes_the_page_at_each_load(pages in 2usize..40, seed in any::<u64>()) {
            let (order, links) = (WalkOrder::Pages, Links::Offsets);
            let lap = lap(&Shape { order, links, range: pages * PAGE, stride: 64, seed });
            prop_assert!(lap.windows(2).all(|pair| pair[0] / PAGE as u64 != pair[1] / PAGE as u64));
        }

        #[test]
        fn shuffled_uses_nearly_all(slots in 2usize..100_000) {
            let used = congruence_period(slots);
            prop_assert!(used <= slots && used * 16 >= slots * 15);
        }
    }

    #[test]
    fn links_are_ordinary_numbers() {
        let mut words = vec![0u64; 4096];
        let (order, links) = (WalkOrder::Shuffled, Links::Offsets);
        Shape { order, links, range: 32_768, stride: 8, seed: 1 }.build(&mut words).unwrap();
        assert!(words.iter().all(|&word| f64::from_bits(word).is_normal()));
    }

    #[test]
    fn impossible_shapes_are_named() {
        let shape = |order, range, stride| Shape { order, links: Links::Offsets, range, stride, seed: 0 };
        assert_eq!(shape(WalkOrder::Stride, 4096, 12).slots(), Err(ShapeError::Stride(12)));
        assert_eq!(shape(WalkOrder::Pages, 40_960, 8192).slots(), Err(ShapeError::Pages(8192)));
        assert_eq!(
            shape(WalkOrder::Stride, 100, 64).slots(),
            Err(ShapeError::Short { range: 100, stride: 64 })
        );
    }
}
