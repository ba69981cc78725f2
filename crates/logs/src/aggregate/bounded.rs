//! A map of records by key that holds a bounded number of keys.
//!
//! Beyond the bound it holds nothing and says so, for good: whether different keys are more than the bound does not
//! depend on the order in which they come, so such maps merge exactly too.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A value that can take in another one.
pub trait Merge {
    fn merge(&mut self, other: &Self);
}

/// At most `MOST` records by key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored<K, V, MOST>", into = "Stored<K, V, MOST>")]
#[serde(bound(serialize = "K: Key + Serialize, V: Clone + Serialize"))]
#[serde(bound(deserialize = "K: Key + Deserialize<'de>, V: Clone + Default + Deserialize<'de>"))]
pub struct Bounded<K, V, const MOST: usize> {
    places: HashMap<K, usize>,
    values: Vec<V>,
    /// The key that was asked for last: consecutive lines mostly share one.
    last: Option<(K, usize)>,
    overflowed: bool,
}

pub trait Key: Clone + Eq + Ord + Hash {}
impl<K: Clone + Eq + Ord + Hash> Key for K {}

impl<K, V, const MOST: usize> Default for Bounded<K, V, MOST> {
    fn default() -> Self {
        Bounded { places: HashMap::new(), values: Vec::new(), last: None, overflowed: false }
    }
}

impl<K: Key, V: Clone + Default, const MOST: usize> Bounded<K, V, MOST> {
    /// The record of a key, a new one if need be; none once there are too many.
    #[inline]
    pub fn at(&mut self, key: &K) -> Option<&mut V> {
        if let Some((last, place)) = &self.last
            && last == key
        {
            return self.values.get_mut(*place);
        }
        self.find(key)
    }

    fn find(&mut self, key: &K) -> Option<&mut V> {
        if self.overflowed {
            return None;
        }
        let place = match self.places.get(key) {
            Some(place) => *place,
            None if self.values.len() >= MOST => {
                self.overflow();
                return None;
            }
            None => {
                self.values.push(V::default());
                self.places.insert(key.clone(), self.values.len() - 1);
                self.values.len() - 1
            }
        };
        self.last = Some((key.clone(), place));
        self.values.get_mut(place)
    }

    fn overflow(&mut self) {
        *self = Bounded { overflowed: true, ..Bounded::default() };
    }

    /// Holds nothing from here on, as if there had been too many.
    pub fn give_up(&mut self) {
        if !self.overflowed {
            self.overflow();
        }
    }

    /// The records in the order of their keys; none at all where there were too many.
    pub fn sorted(&self) -> Option<Vec<(&K, &V)>> {
        if self.overflowed {
            return None;
        }
        let mut all: Vec<_> =
            self.places.iter().filter_map(|(key, place)| Some((key, self.values.get(*place)?))).collect();
        all.sort_unstable_by(|a, b| a.0.cmp(b.0));
        Some(all)
    }

    /// True if there were more than `MOST` keys.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<K: Key, V: Clone + Default + Merge, const MOST: usize> Merge for Bounded<K, V, MOST> {
    fn merge(&mut self, other: &Self) {
        if other.overflowed {
            self.overflow();
        }
        for (key, place) in &other.places {
            if let (Some(mine), Some(theirs)) = (self.find(key), other.values.get(*place)) {
                mine.merge(theirs);
            }
        }
    }
}

/// A list that is read up to so many entries and refused beyond them, so that bytes of anybody take no more memory than
/// an aggregate can have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct AtMost<T, const MOST: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for AtMost<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Few<T, const MOST: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Few<T, MOST> {
            type Value = AtMost<T, MOST>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(to, "at most {MOST} records")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = from.next_element()? {
                    if all.len() >= MOST {
                        return Err(A::Error::custom("more records than there may be"));
                    }
                    all.push(one);
                }
                Ok(AtMost(all))
            }
        }

        from.deserialize_seq(Few(PhantomData))
    }
}

/// The records by rising key; nothing where there were too many.
#[derive(Serialize, Deserialize)]
struct Stored<K, V, const MOST: usize>(Option<AtMost<(K, V), MOST>>);

impl<K: Key, V: Clone, const MOST: usize> From<Bounded<K, V, MOST>> for Stored<K, V, MOST> {
    fn from(from: Bounded<K, V, MOST>) -> Self {
        if from.overflowed {
            return Stored(None);
        }
        let values = &from.values;
        let mut all: Vec<(K, V)> = from
            .places
            .into_iter()
            .filter_map(|(key, place)| values.get(place).map(|value| (key, value.clone())))
            .collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Stored(Some(AtMost(all)))
    }
}

impl<K: Key, V: Clone + Default, const MOST: usize> TryFrom<Stored<K, V, MOST>> for Bounded<K, V, MOST> {
    type Error = &'static str;

    fn try_from(stored: Stored<K, V, MOST>) -> Result<Self, &'static str> {
        let Some(AtMost(all)) = stored.0 else {
            return Ok(Bounded { overflowed: true, ..Bounded::default() });
        };
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("records out of order");
        }
        let mut into = Bounded::default();
        for (place, (key, value)) in all.into_iter().enumerate() {
            into.places.insert(key, place);
            into.values.push(value);
        }
        Ok(into)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Count(u64);

    impl Merge for Count {
        fn merge(&mut self, other: &Self) {
            self.0 += other.0;
        }
    }

    type Few = Bounded<u8, Count, 10>;

    fn of(keys: &[u8]) -> Few {
        let mut all = Few::default();
        for key in keys {
            if let Some(count) = all.at(key) {
                count.0 += 1;
            }
        }
        all
    }

    proptest! {
        #[test]
        fn order_and_cuts_change_nothing(
            keys in proptest::collection::vec(0u8..14, 0..60),
            cuts in (0usize..60, 0usize..60),
        ) {
            let (low, high) = (cuts.0.min(cuts.1).min(keys.len()), cuts.0.max(cuts.1).min(keys.len()));
            let parts = [of(&keys[..low]), of(&keys[low..high]), of(&keys[high..])];
            let whole = postcard::to_stdvec(&of(&keys)).unwrap();
            for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
                let mut merged = Few::default();
                order.iter().for_each(|part| merged.merge(&parts[*part]));
                prop_assert_eq!(&postcard::to_stdvec(&merged).unwrap(), &whole);
            }
            let mut nested = parts[1].clone();
            nested.merge(&parts[2]);
            let mut outer = parts[0].clone();
            outer.merge(&nested);
            prop_assert_eq!(&postcard::to_stdvec(&outer).unwrap(), &whole);
            prop_assert_eq!(of(&keys).overflowed(), keys.iter().collect::<std::collections::BTreeSet<_>>().len() > 10);
            let back: Few = postcard::from_bytes(&whole).unwrap();
            prop_assert_eq!(postcard::to_stdvec(&back).unwrap(), whole);
        }
    }

    #[test]
    fn damage_is_refused() {
        let read = |all: Vec<(u8, Count)>| {
            postcard::from_bytes::<Few>(&postcard::to_stdvec(&Some(all)).unwrap()).is_ok()
        };
        assert!(read((0..10).map(|key| (key, Count(1))).collect()));
        assert!(!read(vec![(2, Count(1)), (1, Count(1))]));
        assert!(!read(vec![(1, Count(1)), (1, Count(1))]));
        assert!(!read((0..11).map(|key| (key, Count(1))).collect()));
    }
}
