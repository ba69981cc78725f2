//! `/etc/hosts`: an address and its names on each line. The first name becomes the node; addresses of this host are
//! left out.

use core::net::IpAddr;
use std::collections::HashSet;

use super::draft::{Draft, Drafts};

pub fn read(text: &str) -> Drafts {
    let mut drafts = Drafts::default();
    let (mut names, mut addresses) = (HashSet::new(), HashSet::new());
    for (at, line) in text.lines().enumerate() {
        let line_number = at + 1;
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(address) = words.next() else { continue };
        let Ok(parsed) = address.parse::<IpAddr>() else {
            drafts.note(line_number, format!("left out: `{}` is no address", address.escape_debug()));
            continue;
        };
        if !is_of_a_machine(parsed) {
            continue;
        }
        let Some(name) = words.next() else {
            drafts.note(line_number, format!("left out: {address} has no name"));
            continue;
        };
        let Some(name) = drafts.named(line_number, name) else { continue };
        if !addresses.insert(parsed) || !names.insert(name.clone()) {
            drafts.note(line_number, format!("left out: {name} at {address} repeats a name or an address"));
            continue;
        }
        let mut draft = Draft::new(line_number, name);
        draft.set("address", &parsed.to_string());
        drafts.nodes.push(draft);
    }
    drafts
}

/// False for this host itself, and for addresses of many.
fn is_of_a_machine(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            !(four.is_loopback() || four.is_multicast() || four.is_broadcast() || four.is_unspecified())
        }
        IpAddr::V6(six) => {
            let is_link_local = six.segments()[0] & 0xff80 == 0xfe80 || six.segments()[0] == 0xfe00;
            !(six.is_loopback() || six.is_multicast() || six.is_unspecified() || is_link_local)
        }
    }
}
