//! Programs that call themselves bots, and the sites in a referrer.
//!
//! A bot is told by what it says of itself; one that says it is a browser counts as one.

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

/// The words, as bits, that have a byte at their first, second and third place, in small or capital letters.
static STARTS: [[u32; 256]; 3] = starts();

const fn starts() -> [[u32; 256]; 3] {
    let mut all = [[0; 256]; 3];
    let mut word = 0;
    while word < WORDS.len() {
        let bytes = WORDS[word].as_bytes();
        let mut place = 0;
        while place < all.len() {
            all[place][bytes[place] as usize] |= 1 << word;
            all[place][bytes[place].to_ascii_uppercase() as usize] |= 1 << word;
            place += 1;
        }
        word += 1;
    }
    all
}

/// The class of a program by its name.
pub fn class_of(agent: &[u8]) -> usize {
    let agent = &agent[..agent.len().min(LONGEST)];
    let [first, second, third] = &STARTS;
    let is_bot = agent.windows(3).enumerate().any(|(at, three)| {
        let words =
            first[usize::from(three[0])] & second[usize::from(three[1])] & third[usize::from(three[2])];
        words != 0 && begins_with(words, &agent[at..])
    });
    // `cubot` is a maker of telephones.
    let is_telephone = || agent.windows(5).any(|five| five.eq_ignore_ascii_case(b"cubot"));
    if is_bot && !is_telephone() { BOT } else { 0 }
}

/// True if a text begins with one of these words.
#[cold]
fn begins_with(words: u32, text: &[u8]) -> bool {
    let some = WORDS.iter().enumerate().filter(|(number, _)| words & 1 << number != 0);
    some.into_iter().any(|(_, word)| {
        text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    })
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

    /// By each word in its turn.
    fn class_by_each_word(agent: &[u8]) -> usize {
        let small = agent[..agent.len().min(LONGEST)].to_ascii_lowercase();
        let has = |word: &str| memchr::memmem::find(&small, word.as_bytes()).is_some();
        if WORDS.iter().any(|word| has(word)) && !has("cubot") { BOT } else { 0 }
    }

    proptest! {
        #[test]
        fn words_are_found_wherever_they_stand(
            mut agent in proptest::collection::vec(prop_oneof![9 => b'a'..=b'z', 1 => any::<u8>()], 0..600),
            at in any::<prop::sample::Index>(),
            word in prop_oneof![prop::sample::select(&WORDS[..]), Just("cubot"), Just("hTTp:/"), Just("Scan")],
            is_capital in any::<bool>(),
            cut in 0usize..3,
        ) {
            let word = if is_capital { word.to_ascii_uppercase() } else { word.to_owned() };
            let at = at.index(agent.len() + 1);
            agent.splice(at..at, word.bytes().skip(cut / 2));
            prop_assert_eq!(class_of(&agent), class_by_each_word(&agent));
            let alone = word.as_bytes();
            prop_assert_eq!(class_of(alone), class_by_each_word(alone));
        }

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
