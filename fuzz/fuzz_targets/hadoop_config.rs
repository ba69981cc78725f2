//! Configurations of Hadoop: whatever the text, its settings are read or refused with a line that it has; hosts and
//! variables are always read in order, each host with a line of its own.
#![no_main]

use instruments::workload::hadoop::old_names::config::{Entry, hosts, settings, variables};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let last = text.lines().count().max(1) as u64 + 1;
    let sound = |all: &[Entry]| {
        assert!(all.iter().all(|entry| (1..=last).contains(&entry.line) && entry.value == entry.value.trim()));
    };
    match settings(text) {
        Ok(all) => {
            sound(&all);
            assert!(all.iter().all(|entry| !entry.name.is_empty()));
        }
        Err(wrong) => assert!((1..=last).contains(&wrong.line) && !wrong.says.is_empty()),
    }
    let (hosts, variables) = (hosts(text), variables(text));
    assert!(hosts.windows(2).all(|pair| pair[0].line < pair[1].line));
    assert!(variables.windows(2).all(|pair| pair[0].line <= pair[1].line));
    sound(&hosts);
    sound(&variables);
});
