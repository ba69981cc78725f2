//! Answers, URLs and replays with bytes changed, cut, repeated and planted: nothing panics, and pieces change nothing.
//!
//! Seeded, so that a failure repeats. A third of a second; `BOXSCORE_FUZZ_SECONDS` sets another time.

use std::time::{Duration, Instant};

use model::mutate::{Dice, mutate};
use model::url::Url;

use super::response::{RequestFlags, read_all};
use crate::load::schedule::{Schedule, read_replay};

const ANSWERS: [&[u8]; 6] = [
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 20:00:00 GMT\r\nContent-Type: image/gif\r\n\
      Content-Length: 43\r\nLast-Modified: Sat, 21 Nov 2026 19:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"5\"\r\n\
      Accept-Ranges: bytes\r\n\r\nGIF89a012345678901234567890123456789012345;",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1a;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n3\r\nabc\r\n\
      0\r\nT: u\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    b"HTTP/1.0 200 OK\nServer: old\n\nuntil the end",
    b"HTTP/1.1 304 Not Modified\r\nETag: \"5\"\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
];
const PLANTS: [&[u8]; 12] = [
    b"\r\n",
    b"\n",
    b"\r\n\r\n",
    b"\r",
    b"\0",
    b"\xff",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"ffffffffffffffff",
    b"HTTP/1.1 200 OK\r\n",
    b":",
];
const OTHERS: [&str; 4] = [
    "https://[2001:db8::1]:8443/a/b?c=d#e",
    "http://user@example.org:80/%20",
    "10.000000001 /a\n# note\n11 /b?x=1\n",
    "1700000000.5 /a b\n",
];

/// Calls `once` 500 times at least, and for as long as there is time.
pub(crate) fn rounds(mut once: impl FnMut()) {
    let seconds = std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs_f64(seconds.unwrap_or(1.0 / 3.0));
    let mut count = 0u64;
    while count < 500 || Instant::now() < end {
        once();
        count += 1;
    }
}

#[test]
fn fuzz_what_is_read_from_outside() {
    let mut dice = Dice::new(20_261_121);
    rounds(|| {
        let seed = dice.pick(&ANSWERS).expect("there are seeds");
        let bytes = mutate(seed, &PLANTS, &mut dice);
        let flags = RequestFlags { head: dice.below(4) == 0, checksum: dice.below(2) == 0 };
        let mut cuts: Vec<_> = (0..dice.below(8)).map(|_| dice.place(bytes.len())).collect();
        cuts.sort_unstable();
        let expected = read_all(&bytes, flags, &[]);
        assert_eq!(
            read_all(&bytes, flags, &cuts),
            expected,
            "{flags:?} {cuts:?} {:?}",
            bytes.escape_ascii().to_string()
        );
        let each: Vec<_> = (0..bytes.len()).collect();
        assert_eq!(
            read_all(&bytes, flags, &each),
            expected,
            "{flags:?} {:?}",
            bytes.escape_ascii().to_string()
        );
        let other = dice.pick(&OTHERS).expect("there are seeds");
        let text = String::from_utf8_lossy(&mutate(other.as_bytes(), &PLANTS, &mut dice)).into_owned();
        if let Ok(url) = text.parse::<Url>() {
            assert_eq!(url.to_string().parse::<Url>().as_ref(), Ok(&url));
        }
        if let Ok(replay) = read_replay(&text) {
            assert_eq!(Schedule::Replay(replay.arrivals).check(), Ok(()));
        }
    });
}
