//! Order among machines that cannot all be told apart.
//!
//! A rank counts only machines that were called better, so machines that cannot be told apart share
//! ranks without any claim that ties carry over from pair to pair.

use crate::verdict::Verdict;
use std::ops::Range;

/// Verdict of every machine against every other.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    size: usize,
    cells: Vec<Verdict>,
}

impl Matrix {
    /// Asks `judge(i, j)`, machine i against machine j, once for each i < j; the other half is its
    /// mirror image, so that the matrix cannot contradict itself.
    pub fn from_pairs(size: usize, mut judge: impl FnMut(usize, usize) -> Verdict) -> Self {
        let mut cells = vec![Verdict::Tie; size * size];
        for i in 0..size {
            for j in i + 1..size {
                let v = judge(i, j);
                cells[i * size + j] = v;
                cells[j * size + i] = v.reversed();
            }
        }
        Self { size, cells }
    }

    /// Machines.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Verdict of machine i against machine j; a tie with itself. `None` outside.
    pub fn get(&self, i: usize, j: usize) -> Option<Verdict> {
        if i < self.size && j < self.size { self.cells.get(i * self.size + j).copied() } else { None }
    }

    fn count(&self, i: usize, what: Verdict) -> usize {
        self.cells[i * self.size..(i + 1) * self.size].iter().filter(|v| **v == what).count()
    }
}

/// Place of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// 1 + machines called better than it.
    pub rank: usize,
    /// The last place that it can truly have: machines less those called worse than it.
    pub worst: usize,
}

/// Ranks in the machines' order.
pub fn ranks(m: &Matrix) -> Vec<Rank> {
    (0..m.size)
        .map(|i| Rank { rank: 1 + m.count(i, Verdict::Worse), worst: m.size - m.count(i, Verdict::Better) })
        .collect()
}

/// Brackets over the machines in the given order (best first): every longest stretch of at least two
/// neighbours of which no pair was told apart. Stretches may overlap.
pub fn tie_groups(m: &Matrix, order: &[usize]) -> Vec<Range<usize>> {
    let apart = |a: usize, b: usize| {
        matches!(m.get(order[a], order[b]), None | Some(Verdict::Better | Verdict::Worse | Verdict::Invalid))
    };
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for end in 0..order.len() {
        // The new machine joins only those after the last one that it was told apart from.
        let from = (start..end).rev().find(|k| apart(*k, end)).map_or(start, |k| k + 1);
        if from > start {
            push_group(&mut groups, start..end);
            start = from;
        }
    }
    push_group(&mut groups, start..order.len());
    groups
}

fn push_group(groups: &mut Vec<Range<usize>>, group: Range<usize>) {
    if group.len() > 1 {
        groups.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Held;
    use proptest::prelude::*;

    /// Machines on a line, told apart when at least `apart` away; higher is better.
    fn line(at: &[i32], apart: i32) -> Matrix {
        Matrix::from_pairs(at.len(), |i, j| match at[i] - at[j] {
            d if d >= apart => Verdict::Better,
            d if d <= -apart => Verdict::Worse,
            _ => Verdict::CannotTell(Held::Interval),
        })
    }

    #[test]
    fn ties_are_not_transitive() {
        // 10 and 9, 9 and 8 cannot be told apart; 10 and 8 can.
        let m = line(&[10, 9, 8, 1], 2);
        let r: Vec<_> = ranks(&m).iter().map(|r| (r.rank, r.worst)).collect();
        assert_eq!(r, [(1, 2), (1, 3), (2, 3), (4, 4)]);
        assert_eq!(tie_groups(&m, &[0, 1, 2, 3]), [0..2, 1..3]);
    }

    #[test]
    fn all_alike_and_all_apart() {
        let alike = line(&[5; 4], 1);
        assert!(ranks(&alike).iter().all(|r| (r.rank, r.worst) == (1, 4)));
        let groups = tie_groups(&alike, &[0, 1, 2, 3]);
        assert_eq!((groups.len(), groups.first()), (1, Some(&(0..4))));
        let apart = line(&[4, 3, 2, 1], 1);
        assert_eq!(ranks(&apart).iter().map(|r| r.rank).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(tie_groups(&apart, &[0, 1, 2, 3]).is_empty());
        assert!(ranks(&line(&[], 1)).is_empty() && tie_groups(&line(&[], 1), &[]).is_empty());
    }

    #[test]
    fn outside_is_none() {
        let m = line(&[1, 2], 1);
        assert_eq!((m.get(0, 2), m.get(2, 0)), (None, None));
        assert!(tie_groups(&m, &[0, 7]).is_empty());
    }

    proptest! {
        #[test]
        fn the_true_place_lies_between(at in prop::collection::vec(0..30_i32, 1..12), apart in 1..8_i32) {
            let r = ranks(&line(&at, apart));
            for (i, rank) in r.iter().enumerate() {
                let place = 1 + at.iter().filter(|a| **a > at[i]).count();
                prop_assert!(rank.rank <= place && place <= rank.worst);
            }
        }

        #[test]
        fn groups_hold_no_pair_told_apart(at in prop::collection::vec(0..20_i32, 2..12), apart in 1..6_i32) {
            let m = line(&at, apart);
            let mut order: Vec<usize> = (0..at.len()).collect();
            order.sort_by_key(|i| -at[*i]);
            let groups = tie_groups(&m, &order);
            let told = |a: usize, b: usize| (at[order[a]] - at[order[b]]).abs() >= apart;
            for g in &groups {
                prop_assert!(g.clone().all(|a| g.clone().all(|b| !told(a, b))));
            }
            for k in 1..order.len() {
                let bracketed = groups.iter().any(|g| g.contains(&(k - 1)) && g.contains(&k));
                prop_assert_eq!(bracketed, !told(k - 1, k));
            }
        }
    }
}
