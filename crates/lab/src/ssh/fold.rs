//! Hosts that said the same, together.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_group_is_first() {
        let groups = by_text([("x", 1), ("y", 2), ("y", 3), ("z", 4)]);
        assert_eq!(groups, [("y", vec![2, 3]), ("x", vec![1]), ("z", vec![4])]);
    }
}
