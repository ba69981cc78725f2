//! The output of perf with its samples, and the account of the faulty server.
#![no_main]

use instruments::workload::profile::folded::Folded;
use instruments::workload::server::builtin::faulty::{Account, Faults};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folded = Folded::parse(bytes);
    let _ = folded.text(1000);
    let text = String::from_utf8_lossy(bytes);
    let _ = Account::parse(bytes);
    let _ = Faults::parse(&text);
});
