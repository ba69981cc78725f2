//! URLs of servers that the user runs.
#![no_main]

use instruments::workload::server::url::Target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(target) = Target::parse(&String::from_utf8_lossy(bytes)) {
        assert!(target.port > 0 && !target.host.is_empty() && target.path.starts_with('/'));
    }
});
