//! Format strings and configurations of servers: whatever the text, a plan or an error whose column is within it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logs::format::config::Config;
use logs::format::{Escape, Format};
use logs::scan::Scanner;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let most = text.chars().count() + 1;
    for made in [Format::apache(&text), Format::nginx(&text, Escape::None), Format::parse(&text)] {
        match made {
            // The string itself is hardly a line of its format, but may be read as one.
            Ok(format) => drop(Scanner::new(&format).read(bytes)),
            Err(error) => assert!(error.column <= most && !error.what.is_empty()),
        }
    }
    let config = Config::read(&text);
    drop(config.format_of("access.log", None));
    for name in config.names() {
        drop(config.format_of("access.log", Some(name)));
    }
});
