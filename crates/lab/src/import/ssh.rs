//! An OpenSSH configuration: each name behind `Host` that has no wildcard is a node.
//!
//! The node's address is that name, not its HostName: ssh then applies all that the configuration says of it, such as
//! keys and jump hosts. User and port are repeated in the inventory. The first value of a keyword counts, as in ssh.

use super::draft::{Draft, Drafts};

pub fn read(text: &str) -> Drafts {
    let mut drafts = Drafts::default();
    // The nodes of the section that is being read, by their place.
    let mut open: Vec<usize> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line_number = at + 1;
        let Some((keyword, value)) = keyword(line) else { continue };
        match keyword.as_str() {
            "host" => open = hosts(&mut drafts, line_number, &value),
            "match" => {
                open.clear();
                drafts.note(line_number, "left out: Match; ssh itself obeys it");
            }
            "include" => drafts.note(line_number, format!("left out: Include {value}; import that file too")),
            "user" => put(&mut drafts, &open, "user", &value),
            "port" => put(&mut drafts, &open, "port", &value),
            _ => {}
        }
    }
    drafts
}

/// The nodes of a `Host` line: known ones again, others new.
fn hosts(drafts: &mut Drafts, line: usize, names: &str) -> Vec<usize> {
    let mut places = Vec::new();
    for name in names.split_whitespace().map(|name| name.trim_matches('"')) {
        if name.contains(['*', '?', '!']) {
            continue;
        }
        let Some(name) = drafts.named(line, name) else { continue };
        let known = drafts.nodes.iter().position(|node| node.name == name);
        places.push(known.unwrap_or_else(|| {
            drafts.nodes.push(Draft::new(line, name));
            drafts.nodes.len() - 1
        }));
    }
    places
}

/// Sets a key of these nodes where it has no value yet.
fn put(drafts: &mut Drafts, places: &[usize], key: &'static str, value: &str) {
    for place in places {
        if let Some(node) = drafts.nodes.get_mut(*place)
            && node.values.iter().all(|(own, _)| *own != key)
        {
            node.set(key, value);
        }
    }
}

/// `Keyword value` or `Keyword=value`, the keyword in small letters.
fn keyword(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let (keyword, value) = line.split_once(|c: char| c.is_whitespace() || c == '=')?;
    let value = value.trim_start_matches(|c: char| c.is_whitespace() || c == '=').trim();
    Some((keyword.to_ascii_lowercase(), value.trim_matches('"').to_owned()))
}
