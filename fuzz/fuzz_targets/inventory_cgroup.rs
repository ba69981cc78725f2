//! Control-group membership and limits.
#![no_main]

use instruments::system_files::cgroup;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = cgroup::membership(bytes);
    let text = String::from_utf8_lossy(bytes);
    assert!(cgroup::quota_v2(&text).flatten().is_none_or(f64::is_finite));
    let _ = (cgroup::bytes_v1(&text), cgroup::bytes_v2(&text));
});
