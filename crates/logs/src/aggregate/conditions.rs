//! The counts of each condition of `--where`: how many requests it leaves out, and whether the value that it names
//! occurs at all.
//!
//! Merges exactly. Of the values a sample is kept, to name the nearest one.

use serde::{Deserialize, Serialize};

use super::bounded::Merge;
use super::candidates::Candidates;
use super::filter::Filter;
use crate::hash;
use crate::scan::Record;

/// One condition over many requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Condition {
    /// Requests that do not meet it.
    pub left_out: u64,
    /// Requests that have the value of `=` or `!=`.
    pub equal: u64,
    /// Values of the property of `=` and `!=` with texts.
    values: Candidates,
}

impl Condition {
    /// The names that the property has; a sample where they are many.
    pub fn values(&self) -> Vec<String> {
        self.values.kept().into_iter().map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect()
    }
}

/// How far a request meets all conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    All,
    /// All but those on status or time.
    ButStatusOrTime,
    No,
}

/// The conditions in their order; empty until there is a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Conditions(Vec<Condition>);

impl Conditions {
    /// Empty ones, to be filled at the same time and then merged with these.
    pub fn beside(&self) -> Conditions {
        let beside = |one: &Condition| Condition { values: one.values.beside(), ..Condition::default() };
        Conditions(self.0.iter().map(beside).collect())
    }

    /// How far a request meets all; counts those that it does not meet.
    pub fn meet(&mut self, filters: &[Filter], record: &Record<'_>, scratch: &mut Vec<u8>) -> Met {
        self.0.resize(filters.len().max(self.0.len()), Condition::default());
        let mut met = Met::All;
        for (filter, counts) in filters.iter().zip(&mut self.0) {
            let found = filter.meets(record, scratch);
            counts.left_out += u64::from(!found.holds);
            met = match (found.holds, met) {
                (true, met) => met,
                (false, Met::No) => Met::No,
                (false, _) if filter.is_on_status_or_time() => Met::ButStatusOrTime,
                (false, _) => Met::No,
            };
            match found.is_equal {
                Some(true) => counts.equal += 1,
                // Once it is known to occur, the others do not matter, and of any order the same are kept.
                Some(false) if found.is_told => {
                    let key = hash::name(scratch);
                    counts.values.offer(key, scratch, hash::request(key, record.offset, 0, 0), 1);
                }
                _ => {}
            }
        }
        met
    }

    pub fn each(&self) -> &[Condition] {
        &self.0
    }
}

impl Merge for Conditions {
    fn merge(&mut self, other: &Conditions) {
        self.0.resize(other.0.len().max(self.0.len()), Condition::default());
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.left_out = mine.left_out.saturating_add(theirs.left_out);
            mine.equal = mine.equal.saturating_add(theirs.equal);
            mine.values.merge(&theirs.values);
        }
    }
}

/// The value that is most like a text: one that has it within, or one that differs in few characters.
pub fn nearest(text: &str, values: &[String]) -> Option<String> {
    let small = text.to_lowercase();
    let within = |value: &&String| {
        let value = value.to_lowercase();
        !small.is_empty() && (value.contains(&small) || !value.is_empty() && small.contains(&value))
    };
    let apart = |value: &str| value.len().abs_diff(text.len());
    let has_it = values.iter().filter(within).min_by_key(|value| (apart(value), (*value).clone()));
    let few = || {
        let most = (text.chars().count() / 3).max(1);
        let all = values.iter().map(|value| (edits(&small, &value.to_lowercase(), most), value));
        all.filter(|(edits, _)| *edits <= most).min().map(|(_, value)| value)
    };
    has_it.or_else(few).cloned()
}

/// Characters to change, insert or remove; `most` and one where they are more.
fn edits(one: &str, other: &str, most: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return most + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let change = before + usize::from(a != b);
            before = row[j + 1];
            row[j + 1] = change.min(before + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str], filters: &[Filter]) -> Conditions {
        let mut all = Conditions::default();
        for (n, path) in paths.iter().enumerate() {
            let record = Record { path: Some(path.as_bytes()), offset: n as u64, ..Record::default() };
            all.meet(filters, &record, &mut Vec::new());
        }
        all
    }

    #[test]
    fn what_each_leaves_out_and_whether_a_value_occurs_is_known() {
        let filters: Vec<Filter> =
            ["prefix=/downlod", "path!=/api/x", "path^=/d"].map(|text| Filter::parse(text).unwrap()).into();
        let paths = ["/download/a", "/download/b", "/api/x", "/api/y"];
        let all = of(&paths, &filters);
        let counts: Vec<(u64, u64)> = all.each().iter().map(|one| (one.left_out, one.equal)).collect();
        assert_eq!(counts, [(4, 0), (1, 1), (2, 0)]);
        assert_eq!(nearest("/downlod/", &all.each()[0].values()), Some("/download/".to_owned()));
        let (mut one, two) = (of(&paths[..1], &filters), of(&paths, &filters));
        one.merge(&two);
        assert_eq!(one.each()[0].left_out, 5);
        assert_eq!(one.each()[0].values().len(), 2);
    }

    #[test]
    fn conditions_on_status_or_time_are_told_from_others() {
        let met = |texts: &[&str]| {
            let filters: Vec<Filter> = texts.iter().map(|text| Filter::parse(text).unwrap()).collect();
            let record = Record { path: Some(b"/a"), status: Some(200), ..Record::default() };
            Conditions::default().meet(&filters, &record, &mut Vec::new())
        };
        assert_eq!(met(&["path=/a", "status<500"]), Met::All);
        for text in ["status>=500", "status-class=5xx", "at>=2026-11-10T20:00", "hour-of-day=14"] {
            assert_eq!(met(&["path=/a", text]), Met::ButStatusOrTime, "{text}");
            assert_eq!((met(&["path=/b", text]), met(&[text, "path=/b"])), (Met::No, Met::No), "{text}");
        }
    }

    #[test]
    fn the_nearest_value_is_like_it_or_none() {
        let values = ["BadBot/2.1 (+http://badbot.example)", "Firefox", "curl/8"].map(str::to_owned);
        assert_eq!(nearest("badbot", &values).as_deref(), Some(&*values[0]));
        assert_eq!(nearest("Firefix", &values).as_deref(), Some("Firefox"));
        assert_eq!((nearest("Opera", &values), nearest("", &values)), (None, None));
        assert_eq!((edits("abc", "abd", 2), edits("", "ab", 5), edits("a", "abcd", 1)), (1, 2, 2));
    }
}
