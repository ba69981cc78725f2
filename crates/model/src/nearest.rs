//! The name that a mistyped one was meant to be.

/// The known name that a typed one begins, or the nearest to a mistyped one when it is near enough to be meant.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (typed.chars().count() / 3).max(1) + 1;
    let known: Vec<&str> = known.into_iter().collect();
    let begun = |name: &&str| typed.chars().count() >= 3 && name.starts_with(typed);
    if let Some(whole) = known.iter().copied().filter(begun).min_by_key(|name| name.len()) {
        return Some(whole);
    }
    known
        .into_iter()
        .map(|name| (distance(typed, name), name))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, n)| n)
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let here = row[j + 1];
            row[j + 1] = (here + 1).min(row[j] + 1).min(before + usize::from(ca != *cb));
            before = here;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest() {
        assert_eq!(nearest("crc23c", ["crc32c", "cipher"]), Some("crc32c"));
        assert_eq!(nearest("mem-bandwith", ["mem-bandwidth", "mem-latency"]), Some("mem-bandwidth"));
        assert_eq!(nearest("mem", ["mac", "memory", "mem-bandwidth"]), Some("memory"));
        assert_eq!(nearest("zebra", ["crc32c", "cipher"]), None);
    }
}
