//! Names from a log as they may stand on a terminal: programs by a few words.

use model::doc::NamesDoc;

use super::cut;

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

/// A program by a name of a few words: `Googlebot/2.1`, `Firefox on Windows`.
pub fn short_agent(agent: &str) -> String {
    const LONGEST: usize = 28;
    let agent = shown_name(agent);
    if let Some(rest) = agent.split("compatible; ").nth(1) {
        return cut(rest.split([';', ')', ' ']).next().unwrap_or(rest), LONGEST);
    }
    let browsers = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let find = |all: &[(&str, &'static str)]| {
        all.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    match (find(&browsers).filter(|_| agent.starts_with("Mozilla/")), find(&systems)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ => cut(agent.split(' ').next().unwrap_or(&agent), LONGEST),
    }
}

/// A name as it may stand on a terminal.
pub fn shown_name(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
