//! Names from a log as they may stand on a terminal: programs by a few words.

pub use model::agents::{short_agent, shown_name};
use model::doc::NamesDoc;

/// `: Chrome on Windows 40 %, ...`; programs of one short name are one.
pub fn short_names(
    names: &NamesDoc,
    most: usize,
    one: impl Fn(&str, u64) -> String,
    share: impl Fn(u64) -> String,
) -> String {
    let mut all: Vec<(String, u64)> = Vec::new();
    for name in &names.top {
        let short = short_agent(&name.name);
        match all.iter_mut().find(|(known, _)| *known == short) {
            Some((_, count)) => *count += name.requests,
            None => all.push((short, name.requests)),
        }
    }
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let others = names.others + all.iter().skip(most).map(|(_, count)| count).sum::<u64>();
    let mut told: Vec<String> = all.iter().take(most).map(|(name, count)| one(name, *count)).collect();
    told.extend((others > 0).then(|| format!("others {}", share(others))));
    if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
}
