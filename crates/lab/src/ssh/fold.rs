//! Hosts that said the same, together; and many names as one short text.

use std::collections::BTreeMap;

/// Groups items by what they have in common: the largest group first, equal ones in the order of their first item.
pub fn by_text<K: Ord + Clone, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        match places.get(&key).and_then(|place| groups.get_mut(*place)) {
            Some((_, group)) => group.push(item),
            None => {
                places.insert(key.clone(), groups.len());
                groups.push((key, vec![item]));
            }
        }
    }
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.len()));
    groups
}

/// A name around its last number: the text before it, its digits, the text behind it.
type Parts<'a> = (&'a str, &'a str, &'a str);

/// The last number of a name that is short enough to be one.
fn parts(name: &str) -> Option<Parts<'_>> {
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = name[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |place| place + name[place..].chars().next().map_or(1, char::len_utf8));
    (end - start <= 15).then(|| (&name[..start], &name[start..end], &name[end..]))
}

/// Names as one text: `atom[001-130,132],front`. Numbers of one width (leading zeros count) are put together.
pub fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    // Names in the order of their first one; the width is 0 where no leading zero says it.
    let mut order: Vec<(String, usize, String)> = Vec::new();
    let mut numbers: BTreeMap<(String, usize, String), Vec<u64>> = BTreeMap::new();
    for name in all {
        let (before, digits, behind) = parts(name).unwrap_or((name, "", ""));
        let width = if digits.starts_with('0') && digits.len() > 1 { digits.len() } else { 0 };
        // A number of that width without a zero before it may stand among padded ones.
        let padded = (before.to_owned(), digits.len(), behind.to_owned());
        let width = if numbers.contains_key(&padded) { digits.len() } else { width };
        let key = (before.to_owned(), width, behind.to_owned());
        if !numbers.contains_key(&key) {
            order.push(key.clone());
        }
        let list = numbers.entry(key).or_default();
        list.extend(digits.parse::<u64>().ok());
    }
    let folded = order.iter().map(|key| {
        let (before, width, behind) = key;
        let mut list = numbers.get(key).cloned().unwrap_or_default();
        list.sort_unstable();
        list.dedup();
        format!("{before}{}{behind}", ranges(&list, *width))
    });
    folded.collect::<Vec<_>>().join(",")
}

/// `[1-3,5]`, or a number alone as it is.
fn ranges(sorted: &[u64], width: usize) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for number in sorted {
        match spans.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let shown: Vec<String> = spans
        .iter()
        .map(|(first, last)| match first == last {
            true => format!("{first:0width$}"),
            false => format!("{first:0width$}-{last:0width$}"),
        })
        .collect();
    match (sorted.len(), shown.first()) {
        (1, Some(only)) => only.clone(),
        (0, _) => String::new(),
        _ => format!("[{}]", shown.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_by_their_last_number() {
        let fold = |text: &str| names(text.split(' '));
        assert_eq!(fold("atom001 atom002 atom003 atom005"), "atom[001-003,005]");
        assert_eq!(fold("a9 a10 a11"), "a[9-11]");
        assert_eq!(fold("front db1 db2"), "front,db[1-2]");
        assert_eq!(fold("a1"), "a1");
        assert_eq!(fold("a098 a099 a100 a101"), "a[098-101]");
        assert_eq!(fold("n1.lab n2.lab"), "n[1-2].lab");
        assert_eq!(fold("127.0.2.1 127.0.2.2"), "127.0.2.[1-2]");
        assert_eq!(fold("a1 a1"), "a1");
        assert_eq!(fold("ä x99999999999999999999"), "ä,x99999999999999999999");
    }

    #[test]
    fn the_largest_group_is_first() {
        let groups = by_text([("x", 1), ("y", 2), ("y", 3), ("z", 4)]);
        assert_eq!(groups, [("y", vec![2, 3]), ("x", vec![1]), ("z", vec![4])]);
    }
}
