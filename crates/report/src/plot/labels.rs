//! Where labels go: apart from each other and inside the drawing.
//!
//! Lengths are SVG units. Knows boxes, not what they say.

/// A rectangle: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn meets(self, other: Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
    pub fn holds(self, other: Area) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.x + other.width <= self.x + self.width
            && other.y + other.height <= self.y + self.height
    }
    pub fn has(self, (x, y): (f64, f64)) -> bool {
        x >= self.x && x <= self.x + self.width && y >= self.y && y <= self.y + self.height
    }
}

/// Moves centres apart to at least `gap`, as little as possible, inside `low..=high`. The answer stands
/// in the order of the question. `None` when they cannot all fit.
pub fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Option<Vec<f64>> {
    let needed = gap * (wanted.len().saturating_sub(1)) as f64;
    if needed > high - low {
        return None;
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places: Vec<f64> = order.iter().map(|i| wanted[*i].clamp(low, high)).collect();
    // Blocks that touch move as one to the mean of what they wanted.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for place in &places {
        blocks.push((*place, 1));
        while blocks.len() > 1 && touches(&blocks, gap) {
            merge(&mut blocks);
        }
    }
    let mut i = 0;
    let mut floor = low;
    for (centre, count) in blocks {
        let half = gap * (count - 1) as f64 / 2.0;
        let mut at = (centre - half).max(floor);
        for _ in 0..count {
            places[i] = at;
            at += gap;
            i += 1;
        }
        floor = at;
    }
    // Push back from the far end.
    let mut roof = high;
    for place in places.iter_mut().rev() {
        *place = place.min(roof);
        roof = *place - gap;
    }
    let mut out = vec![0.0; wanted.len()];
    for (i, place) in order.into_iter().zip(places) {
        out[i] = place;
    }
    Some(out)
}

fn touches(blocks: &[(f64, usize)], gap: f64) -> bool {
    let [.., (a, n), (b, m)] = blocks else { return false };
    b - a < gap * ((n + m) as f64 / 2.0)
}

fn merge(blocks: &mut Vec<(f64, usize)>) {
    if let (Some((b, m)), Some((a, n))) = (blocks.pop(), blocks.pop()) {
        let (n_f, m_f) = (n as f64, m as f64);
        blocks.push(((a * n_f + b * m_f) / (n_f + m_f), n + m));
    }
}

/// Levels for labels centred on the same line: 0 for the first, one more wherever it would touch a
/// label of that level. `(left, right)` in; level out.
pub fn levels(spans: &[(f64, f64)], gap: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by(|a, b| spans[*a].0.total_cmp(&spans[*b].0));
    let mut ends: Vec<f64> = Vec::new();
    let mut out = vec![0; spans.len()];
    for i in order {
        let (left, right) = spans[i];
        let level = ends.iter().position(|end| end + gap <= left).unwrap_or(ends.len());
        if level == ends.len() {
            ends.push(right);
        } else {
            ends[level] = right;
        }
        out[i] = level;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_labels_part_evenly() {
        assert_eq!(spread(&[50.0, 52.0, 90.0], 10.0, 0.0, 100.0), Some(vec![46.0, 56.0, 90.0]));
        assert_eq!(spread(&[0.0; 12], 10.0, 0.0, 100.0), None);
        assert_eq!(levels(&[(0.0, 10.0), (5.0, 12.0), (14.0, 20.0)], 2.0), [0, 1, 0]);
    }

    proptest! {
        #[test]
        fn spread_labels_keep_their_distance(wanted in proptest::collection::vec(-50.0..150.0_f64, 0..10)) {
            let got = spread(&wanted, 10.0, 0.0, 100.0).expect("ten labels fit");
            prop_assert!(got.iter().all(|y| (-1e-9..=100.0 + 1e-9).contains(y)), "{got:?}");
            let mut sorted = got.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 10.0 - 1e-9), "{wanted:?} {got:?}");
        }
    }
}
