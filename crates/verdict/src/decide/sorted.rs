//! Shares of draws: the value that a share of sorted ones does not exceed, and the share that some of them are.

/// The smallest value that so many of the sorted ones do not exceed.
pub fn at<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let place = (share * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted.get(place.min(sorted.len()) - usize::from(!sorted.is_empty())).copied()
}

pub fn share(some: usize, of: usize) -> f64 {
    if of == 0 { f64::NAN } else { some as f64 / of as f64 }
}
