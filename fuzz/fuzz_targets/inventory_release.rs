//! os-release and key-value files.
#![no_main]

use instruments::system_files::text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words = String::from_utf8_lossy(bytes);
    let _ = (text::os_name(&words), text::pairs(&words, ':'), text::tidy(&words));
});
