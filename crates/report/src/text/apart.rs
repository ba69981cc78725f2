//! Names of rows and columns: cut so that they still tell one from the next, and what all of them share.

use std::collections::HashMap;

use super::{cut, cut_front, width};

/// Characters at which a name may be cut in two: parts of a setting or a path, then also parts of words.
const ENDS: [&[char]; 2] = [&['/', ' ', '=', ','], &['/', ' ', '=', ',', '-', '_', ':']];

/// Names of at most so many characters: cut at the end, and where that would make some alike, cut to what tells these
/// apart.
pub fn names(all: &[&str], most: usize) -> Vec<String> {
    let cuts: Vec<String> = all.iter().map(|name| cut(name, most)).collect();
    let mut times: HashMap<&str, usize> = HashMap::new();
    cuts.iter().for_each(|name| *times.entry(name).or_default() += 1);
    let alike: Vec<usize> = (0..all.len()).filter(|at| times[cuts[*at].as_str()] > 1).collect();
    let shorter = differing(&alike.iter().map(|at| all[*at]).collect::<Vec<_>>(), most);
    let mut out = cuts;
    for (at, name) in alike.into_iter().zip(shorter) {
        out[at] = name;
    }
    out
}

/// In front of what all names share.
pub const EACH: &str = "each: ";

/// The parts between commas that all of these names have besides their first one, and the names without them; `None`
/// where there are none. What stands in brackets at the end (`[arm]`) is no part.
pub fn said_once(names: &[&str]) -> Option<(String, Vec<String>)> {
    let body = |name: &str| name.rfind(" [").filter(|_| name.ends_with(']')).unwrap_or(name.len());
    let parts = |name: &str| name[..body(name)].split(", ").map(str::to_owned).collect::<Vec<_>>();
    let (first, others) = names.split_first().filter(|(_, others)| !others.is_empty())?;
    let others: Vec<Vec<String>> = others.iter().map(|name| parts(name)).collect();
    let in_all = |part: &String| others.iter().all(|own| own.iter().skip(1).any(|one| one == part));
    let shared: Vec<String> = parts(first).into_iter().skip(1).filter(in_all).collect();
    if shared.is_empty() {
        return None;
    }
    let short = |name: &&str| {
        let own = parts(name).into_iter().enumerate().filter(|(at, part)| *at == 0 || !shared.contains(part));
        own.map(|(_, part)| part).collect::<Vec<_>>().join(", ") + &name[body(name)..]
    };
    Some((shared.join(", "), names.iter().map(short).collect()))
}

/// The parts in which these names differ; their ends where nothing behind them is common.
fn differing(names: &[&str], most: usize) -> Vec<String> {
    let mut parts: Vec<&str> = Vec::new();
    for ends in ENDS {
        let (from, behind) = common(names, ends);
        if behind == 0 {
            return names.iter().map(|name| cut_front(name, most)).collect();
        }
        parts = names.iter().map(|name| &name[from..name.len() - behind]).collect();
        if parts.iter().all(|part| width(part) <= most) {
            break;
        }
    }
    parts.into_iter().map(|part| cut_front(part, most)).collect()
}

/// Bytes that all names begin and end with, up to one of these characters, so that something is left of each.
fn common(names: &[&str], ends: &[char]) -> (usize, usize) {
    let Some((first, others)) = names.split_first() else { return (0, 0) };
    let before = first.char_indices().filter(|(_, c)| ends.contains(c)).map(|(at, c)| at + c.len_utf8());
    let begins = |text: &str| others.iter().all(|name| name.starts_with(text));
    let from = before.filter(|at| begins(&first[..*at])).max().unwrap_or(0);
    let finishes =
        |text: &str| others.iter().all(|name| name[from..].len() > text.len() && name.ends_with(text));
    let after = first.char_indices().filter(|(at, c)| ends.contains(c) && *at > from).map(|(at, _)| at);
    let behind = after.filter(|at| finishes(&first[*at..])).min();
    (from, behind.map_or(0, |at| first.len() - at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_share_is_taken_out_of_each() {
        let found = said_once(&["web, http://a/, 2 s [a]", "web p99, http://b/, 2 s [b]"]);
        let names = ["web, http://a/ [a]", "web p99, http://b/ [b]"].map(str::to_owned).to_vec();
        assert_eq!(found, Some(("2 s".to_owned(), names)));
        assert_eq!(said_once(&["web, gif", "web, large"]), None);
        assert_eq!((said_once(&["web, gif"]), said_once(&[])), (None, None));
    }
    use proptest::prelude::*;

    #[test]
    fn paths_with_one_end_show_what_differs() {
        let paths = ["binary=/opt/nginx-1.20.1/objs/nginx", "binary=/opt/nginx-1.26.2/objs/nginx"];
        assert_eq!(names(&paths, 16), ["nginx-1.20.1", "nginx-1.26.2"]);
        assert_eq!(names(&paths, 11), ["1.20.1", "1.26.2"]);
        assert_eq!(names(&["binary=/opt/a/nginx", "binary=/opt/b/nginx", "mine"], 11), ["a", "b", "mine"]);
        assert_eq!(names(&["connections=10", "connections=20"], 11), ["…ections=10", "…ections=20"]);
        assert_eq!(names(&["before the change", "other"], 11), ["before the…", "other"]);
        assert!(names(&[], 11).is_empty());
        // Of two with one name nothing differs.
        assert_eq!(names(&["one name/of two", "one name/of two"], 11).len(), 2);
    }

    proptest! {
        #[test]
        fn no_name_is_too_long_or_lost(parts in proptest::collection::vec("[a-c/=é-]{1,6}", 1..4), most in 4_usize..14) {
            let all: Vec<String> = parts.iter().map(|part| format!("key=/a long/{part}/bin/é")).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let short = names(&all, most);
            prop_assert_eq!(short.len(), all.len());
            prop_assert!(short.iter().all(|name| !name.is_empty() && width(name) <= most), "{:?}", short);
        }
    }
}
