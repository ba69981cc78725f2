//! CPU lists, masks, sizes, bracketed choices and rates.
#![no_main]

use instruments::system_files::text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words = String::from_utf8_lossy(bytes);
    let list = text::cpu_list(&words);
    assert_eq!(text::cpu_list(&text::fold_list(&list)), list);
    let _ = (text::cpu_mask(&words), text::size(&words), text::chosen(&words), text::giga(&words));
});
