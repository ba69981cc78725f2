//! Small forms of /proc and /sys: CPU lists, sizes, bracketed choices, `key: value` lines.
//!
//! Total functions of text; sizes leave in bytes. No form is guessed: what does not fit is `None` or skipped.

use std::collections::{BTreeMap, BTreeSet};

/// No list names more CPUs than the kernel can have.
const MOST_CPUS: u32 = 1 << 16;

/// `0-3,8,10-11` as a set; parts that do not fit are left out.
pub fn cpu_list(text: &str) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    for part in text.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(low), Ok(high)) = (low.trim().parse::<u32>(), high.trim().parse::<u32>())
            && high < MOST_CPUS
        {
            set.extend(low..=high);
        }
    }
    set
}

/// The inverse of [`cpu_list`].
pub fn fold_list(set: &BTreeSet<u32>) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for &cpu in set {
        match spans.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(cpu) => last.1 = cpu,
            _ => spans.push((cpu, cpu)),
        }
    }
    let span =
        |&(low, high): &(u32, u32)| if low == high { low.to_string() } else { format!("{low}-{high}") };
    spans.iter().map(span).collect::<Vec<_>>().join(",")
}

/// `ff,00000003`: a mask of CPUs in groups of 32 bits, the highest first.
pub fn cpu_mask(text: &str) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    for (group, word) in text.trim().rsplit(',').enumerate().take((MOST_CPUS / 32) as usize) {
        let Ok(bits) = u32::from_str_radix(word.trim().trim_start_matches("0x"), 16) else { continue };
        let base = u32::try_from(group).unwrap_or(0) * 32;
        set.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| base + bit));
    }
    set
}

/// `32K`, `1024 kB`, `16 MB`, `4096`: bytes, with the binary prefixes that the kernel means.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let scale: u64 = match text.get(digits..)?.trim() {
        "" | "B" => 1,
        "K" | "kB" | "KB" | "KiB" => 1 << 10,
        "M" | "MB" | "MiB" => 1 << 20,
        "G" | "GB" | "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(scale)
}

/// The chosen word of `always [madvise] never`; the whole text when it is one bare word.
pub fn chosen(text: &str) -> Option<String> {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word.trim());
    let word = inside.or_else(|| Some(text.trim()).filter(|text| !text.contains(char::is_whitespace)))?;
    Some(word.to_owned()).filter(|word| !word.is_empty())
}

/// `key : value` lines; the first of equal keys wins.
pub fn pairs(text: &str, separator: char) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for line in text.lines() {
        if let Some((key, value)) = line.split_once(separator) {
            map.entry(key.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }
    map
}

/// Text on one line, blanks folded.
pub fn tidy(text: &str) -> String {
    text.replace('\0', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `PRETTY_NAME` of os-release, else its `NAME` and `VERSION`.
pub fn os_name(text: &str) -> Option<String> {
    let map = pairs(text, '=');
    let get = |key: &str| map.get(key).map(|value| value.trim_matches(['"', '\'']).to_owned());
    let name = get("PRETTY_NAME").or_else(|| {
        let version = get("VERSION").unwrap_or_default();
        get("NAME").map(|name| format!("{name} {version}").trim().to_owned())
    });
    name.filter(|name| !name.is_empty())
}

/// A rate such as `8.0 GT/s PCIe`, `2.5 GT/s`, `6.0 Gbps` as its number times 1e9.
pub fn giga(text: &str) -> Option<f64> {
    let number: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(number * 1e9).filter(|rate| rate.is_finite() && *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_fold_back(set in proptest::collection::btree_set(0u32..5000, 0..60)) {
            prop_assert_eq!(cpu_list(&fold_list(&set)), set);
        }
    }

    #[test]
    fn masks_are_read_highest_first() {
        assert_eq!(fold_list(&cpu_mask("3,00000001")), "0,32-33");
        assert_eq!(fold_list(&cpu_mask("ff")), "0-7");
        assert!(cpu_mask("zz").is_empty());
    }

    #[test]
    fn sizes_need_a_known_unit() {
        assert_eq!(size("32K"), Some(32768));
        assert_eq!(size("491520 KB"), Some(491_520 << 10));
        assert_eq!(size("7 furlongs"), None);
        assert_eq!(size("99999999999999999999G"), None);
    }

    #[test]
    fn choices_and_names() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("a b"), None);
        assert_eq!(os_name("NAME=\"X\"\nVERSION=2\n").as_deref(), Some("X 2"));
        assert_eq!(
            os_name("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"").as_deref(),
            Some("Debian GNU/Linux 12 (bookworm)")
        );
        assert_eq!(giga("8.0 GT/s PCIe"), Some(8e9));
        assert_eq!(giga("Unknown"), None);
    }
}
