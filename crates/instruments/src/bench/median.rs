//! The median of a few times. In: times in any unit. Out: the middle one, or the mean of the two middle ones.

/// `None` of no times.
pub fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some((sorted.get(low)? + sorted.get(high)?) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_or_the_mean_of_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
