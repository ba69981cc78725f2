//! The memory channel of a DIMM, parsed from its locator, and a summary of all modules.
//!
//! Firmware names slots as it likes. Only forms that name a channel by a letter or number are understood; otherwise
//! the channel is `None`. It is never guessed from the number of modules.

use std::collections::{BTreeMap, BTreeSet};

use super::smbios::Module;

/// A channel: the socket part of the locator (may be empty), and the channel's own name.
pub type Channel = (String, String);

/// The channel in `CPU1_DIMM_A1`, `P1-DIMMA1`, `ChannelA-DIMM0`, `A1` or bank `P0 CHANNEL A`.
pub fn channel(locator: &str, bank: Option<&str>) -> Option<Channel> {
    let (locator, bank) = (locator.to_ascii_uppercase(), bank.unwrap_or("").to_ascii_uppercase());
    let socket = socket(&locator).or_else(|| socket(&bank)).unwrap_or_default();
    let name = lettered(&locator)
        .or_else(|| after_word(&locator, "CHANNEL"))
        .or_else(|| after_word(&bank, "CHANNEL"))?;
    Some((socket, name))
}

/// `P1`, `CPU0`, `PROC 2`, `NODE 1` at a word's start, as the bare numbers.
fn socket(text: &str) -> Option<String> {
    let number = |word: &&str| {
        let at = text.find(*word)?;
        let before = text.get(..at)?.chars().next_back();
        let rest = text.get(at + word.len()..)?.trim_start_matches([' ', '_', '-']);
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!number.is_empty() && before.is_none_or(|c| !c.is_ascii_alphanumeric())).then_some(number)
    };
    let found: Vec<String> = ["CPU", "PROC", "SOCKET", "P", "NODE"].iter().filter_map(number).collect();
    (!found.is_empty()).then(|| found.join("."))
}

/// The letter or number right after `word`: `CHANNELA`, `CHANNEL 3`, `CHANNEL-B`.
fn after_word(text: &str, word: &str) -> Option<String> {
    let rest = text.get(text.find(word)? + word.len()..)?.trim_start_matches([' ', '_', '-']);
    let first = rest.chars().next()?;
    if first.is_ascii_digit() {
        return Some(rest.chars().take_while(char::is_ascii_digit).collect());
    }
    let alone = rest.chars().nth(1).is_none_or(|c| !c.is_ascii_alphabetic());
    (first.is_ascii_alphabetic() && alone).then(|| first.to_string())
}

/// The channel letter of `A1`, `DIMM_A1`, `DIMMA1`, `DIMM A`: the last letter that a slot number follows.
fn lettered(locator: &str) -> Option<String> {
    let tail = match locator.rfind("DIMM") {
        Some(at) => locator.get(at + 4..)?.trim_start_matches([' ', '_', '-']),
        None => locator.trim(),
    };
    let mut chars = tail.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.all(|c| c.is_ascii_digit()).then(|| letter.to_string())
}

/// The distinct channels of these slots; `None` when one of them does not name its channel.
fn named<'m>(slots: impl Iterator<Item = &'m Module>) -> Option<BTreeSet<Channel>> {
    slots.map(|slot| channel(slot.locator.as_deref().unwrap_or(""), slot.bank.as_deref())).collect()
}

/// The distinct channels of the populated modules; `None` when one of them does not name its channel.
pub fn channels(modules: &[Module]) -> Option<usize> {
    named(modules.iter().filter(|module| filled(module))).map(|set| set.len()).filter(|&count| count > 0)
}

/// Channels whose slots are all empty; `None` when one of the slots does not name its channel.
pub fn empty_channels(modules: &[Module]) -> Option<usize> {
    let populated = named(modules.iter().filter(|module| filled(module))).filter(|set| !set.is_empty())?;
    Some(named(modules.iter())?.difference(&populated).count())
}

/// True if a slot holds a module of known size.
pub fn filled(module: &Module) -> bool {
    module.bytes.is_some_and(|bytes| bytes > 0)
}

/// `8x 16 GiB DDR4-2933 (Samsung M393A2K43DB3-CWE)`, one part a kind of module, joined by ` + `.
pub fn layout(modules: &[Module]) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules.iter().filter(|module| filled(module)) {
        *kinds.entry(describe(module)).or_default() += 1;
    }
    kinds.iter().map(|(kind, count)| format!("{count}x {kind}")).collect::<Vec<_>>().join(" + ")
}

/// One module in words: size, kind, configured speed, part.
pub fn describe(module: &Module) -> String {
    let mut text = size_text(module.bytes.unwrap_or(0));
    match (module.kind, module.configured_mts.or(module.mts)) {
        (Some(kind), Some(mts)) => text.push_str(&format!(" {kind}-{mts}")),
        (Some(kind), None) => text.push_str(&format!(" {kind}")),
        (None, Some(mts)) => text.push_str(&format!(" {mts} MT/s")),
        (None, None) => {}
    }
    let part: Vec<&str> = [module.maker.as_deref(), module.part.as_deref()].into_iter().flatten().collect();
    if !part.is_empty() {
        text.push_str(&format!(" ({})", part.join(" ")));
    }
    text
}

fn size_text(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 30) {
        format!("{} GiB", bytes >> 30)
    } else {
        format!("{} MiB", bytes >> 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locators_name_their_channel() {
        let of = |locator: &str, bank: Option<&str>| channel(locator, bank).map(|(s, c)| format!("{s}/{c}"));
        assert_eq!(of("CPU1_DIMM_A1", None).as_deref(), Some("1/A"));
        assert_eq!(of("P1-DIMMA1", Some("P0_Node0_Channel0_Dimm0")).as_deref(), Some("1/A"));
        assert_eq!(of("ChannelA-DIMM0", Some("BANK 0")).as_deref(), Some("/A"));
        assert_eq!(of("A1", None).as_deref(), Some("/A"));
        assert_eq!(of("DIMM 0", Some("P0 CHANNEL H")).as_deref(), Some("0/H"));
        assert_eq!(of("DIMM 0", Some("P0_Node1_Channel2_Dimm0")).as_deref(), Some("0.1/2"));
        assert_eq!(of("DIMM0", Some("BANK0")), None);
        assert_eq!(of("PROC 1 DIMM 3", None), None);
        assert_eq!(of("", None), None);
    }

    #[test]
    fn one_unnamed_module_makes_the_count_unknown() {
        let module = |locator: &str| Module {
            bytes: Some(8 << 30),
            locator: Some(locator.to_owned()),
            kind: Some("DDR4"),
            configured_mts: Some(2666),
            ..Module::default()
        };
        assert_eq!(channels(&[module("A1"), module("A2"), module("B1")]), Some(2));
        assert_eq!(channels(&[module("A1"), module("7")]), None);
        assert_eq!(channels(&[]), None);
        let empty = |locator: &str| Module { bytes: Some(0), ..module(locator) };
        assert_eq!(empty_channels(&[module("A1"), empty("A2"), module("B1")]), Some(0));
        assert_eq!(empty_channels(&[module("A1"), empty("B1"), empty("C1"), empty("C2")]), Some(2));
        assert_eq!(empty_channels(&[module("A1"), empty("7")]), None);
        assert_eq!(empty_channels(&[empty("A1")]), None);
        assert_eq!(layout(&[module("A1"), module("B1")]), "2x 8 GiB DDR4-2666");
    }
}
