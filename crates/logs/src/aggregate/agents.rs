//! Programs that call themselves bots, and the sites in a referrer.
//!
//! A bot is told by what it says of itself; one that says it is a browser counts as one.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

/// Class of programs that say they are a bot; 0 are all others.
pub const BOT: usize = 1;

/// Words that bots, crawlers and programs without a person before them say of themselves, in small letters.
const WORDS: [&str; 22] = [
    "bot",
    "crawl",
    "spider",
    "slurp",
    "http://",
    "https://",
    "facebookexternalhit",
    "curl/",
    "wget/",
    "python",
    "go-http-client",
    "java/",
    "okhttp",
    "libwww",
    "httpclient",
    "headless",
    "monitor",
    "scan",
    "zgrab",
    "masscan",
    "nikto",
    "nuclei",
];
/// Bytes of a name that are looked at.
const LONGEST: usize = 512;

static FINDERS: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| WORDS.iter().map(|word| Finder::new(word.as_bytes())).collect());

/// The class of a program by its name.
pub fn class_of(agent: &[u8]) -> usize {
    let small = agent[..agent.len().min(LONGEST)].to_ascii_lowercase();
    let is_bot = FINDERS.iter().any(|word| word.find(&small).is_some());
    // `cubot` is a maker of telephones.
    if is_bot && memmem::find(&small, b"cubot").is_none() { BOT } else { 0 }
}

/// The site in a referrer: `example.com` of `https://example.com/a?b`; none where it is no address.
pub fn site(referer: &[u8]) -> Option<&[u8]> {
    let from = match referer {
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
        _ => referer[..referer.len().min(16)].windows(3).position(|three| three == b"://")? + 3,
    };
    let rest = &referer[from..];
    let end = memchr::memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
    let site = &rest[..end];
    (!site.is_empty()).then_some(site)
}

/// True if two names are of one site, whatever the port and `www.`.
pub fn is_same_site(one: &[u8], other: &[u8]) -> bool {
    bare(one).eq_ignore_ascii_case(bare(other))
}

fn bare(site: &[u8]) -> &[u8] {
    let site = site.strip_prefix(b"www.").unwrap_or(site);
    let end = site
        .iter()
        .rposition(|byte| *byte == b':')
        .filter(|at| site[at + 1..].iter().all(u8::is_ascii_digit));
    &site[..end.unwrap_or(site.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bots_say_so_and_browsers_do_not() {
        for bot in [
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "curl/8.5.0",
            "python-requests/2.31",
            "Mozilla/5.0 (compatible; YandexBot/3.0)",
            "Go-http-client/1.1",
            "Mozilla/5.0 zgrab/0.x",
        ] {
            assert_eq!(class_of(bot.as_bytes()), BOT, "{bot}");
        }
        for browser in [
            "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
            "Mozilla/5.0 (Linux; Android 9; CUBOT_X18) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36",
            "Opera/9.80 (Windows NT 6.1) Presto/2.12 Version/12.18",
            "",
        ] {
            assert_eq!(class_of(browser.as_bytes()), 0, "{browser}");
        }
    }

    #[test]
    fn sites_are_what_stands_before_the_path() {
        let text =
            |referer: &'static str| site(referer.as_bytes()).map(|site| std::str::from_utf8(site).unwrap());
        assert_eq!(text("https://www.example.com/a/b?c"), Some("www.example.com"));
        assert_eq!(text("http://10.0.0.1:8080"), Some("10.0.0.1:8080"));
        assert_eq!(text("android-app://com.app/"), Some("com.app"));
        for none in ["", "-", "example.com/a", "https:///a", "no address at all, but with :// late"] {
            assert_eq!(text(none), None, "{none}");
        }
        assert!(is_same_site(b"www.example.com", b"Example.com:8080"));
        assert!(!is_same_site(b"example.com", b"example.org") && is_same_site(b"[::1]:80", b"[::1]"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..700), with in any::<bool>()) {
            let text = if with { [b"http://", &bytes[..]].concat() } else { bytes };
            assert!(class_of(&text) <= BOT);
            if let Some(site) = site(&text) {
                assert!(!site.is_empty() && !site.contains(&b'/'));
                assert!(is_same_site(site, site));
            }
        }
    }
}
