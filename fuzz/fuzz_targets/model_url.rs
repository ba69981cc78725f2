//! URLs: whatever the text, it is read or refused, and a URL that is put together again from its parts is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::url::{Url, authority, split_user};

fuzz_target!(|text: &str| {
    let _ = authority(text);
    if let Some((head, user, rest)) = split_user(text) {
        assert_eq!(format!("{head}{user}@{rest}"), text);
    }
    match text.parse::<Url>() {
        Ok(url) => {
            let again = format!("{}://{}{}", url.scheme.name(), url.authority(), url.path);
            assert_eq!(again.parse(), Ok(url));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
