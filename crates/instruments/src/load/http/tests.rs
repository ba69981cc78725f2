//! The parser against answers as servers send them, whole, cut anywhere, and mutated.

use proptest::prelude::*;

use super::response::{MAX_HEAD, RequestFlags, Seen, read_all};
use crate::load::failure::Failure;

type Read = (Vec<Seen>, Result<(), Failure>);

const BODY: RequestFlags = RequestFlags { head: false, checksum: false };

fn read(text: &str) -> Read {
    read_all(text.as_bytes(), BODY, &[])
}

fn bad(text: &str) {
    assert_eq!(read(text), (vec![], Err(Failure::BadResponse)), "{text:?}");
}

#[test]
fn bodies_end_as_the_head_says() {
    let one = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 3\r\n\r\nabc";
    assert_eq!(read(one), (vec![(200, 3, None, one.len())], Ok(())));
    assert_eq!(read(&one.repeat(3)).0.len(), 3);
    let none = "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n";
    assert_eq!(read(none), (vec![(304, 0, None, none.len())], Ok(())));
    let gone = "HTTP/1.1 204 No Content\r\n\r\n";
    assert_eq!(read(gone), (vec![(204, 0, None, gone.len())], Ok(())));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    assert_eq!(read(chunked), (vec![(200, 3, None, chunked.len())], Ok(())));
    let until_close = "HTTP/1.0 200 OK\r\n\r\nabcdef";
    assert_eq!(read(until_close), (vec![(200, 6, None, until_close.len())], Ok(())));
    let coded = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabcdef";
    assert_eq!(read(coded), (vec![(200, 6, None, coded.len())], Ok(())));
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
    assert_eq!(read(&format!("{interim}{one}")), (vec![(200, 3, None, interim.len() + one.len())], Ok(())));
    let bare = "HTTP/1.1 200 OK\nContent-Length: 1\n\na";
    assert_eq!(read(bare), (vec![(200, 1, None, bare.len())], Ok(())));
}

#[test]
fn an_answer_to_head_has_no_body() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
    let flags = RequestFlags { head: true, checksum: false };
    assert_eq!(read_all(head, flags, &[]), (vec![(200, 0, None, head.len())], Ok(())));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(read_all(chunked, flags, &[]), (vec![(200, 0, None, chunked.len())], Ok(())));
}

#[test]
fn the_checksum_is_of_the_body_alone() {
    let flags = RequestFlags { head: false, checksum: true };
    // The published check value of CRC-32C.
    let plain = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n5;x\r\n\
        56789\r\n0\r\nA: b\r\n\r\n";
    for bytes in [&plain[..], chunked] {
        assert_eq!(read_all(bytes, flags, &[]), (vec![(200, 9, Some(0xe306_9283), bytes.len())], Ok(())));
    }
}

#[test]
fn a_head_that_is_known_is_read_as_before() {
    let one = "HTTP/1.1 200 OK\r\nDate: 1\r\nContent-Length: 3\r\n\r\nabc";
    let other = "HTTP/1.1 200 OK\r\nDate: 1\r\nContent-Length: 30\r\n\r\n012345678901234567890123456789";
    let more = "HTTP/1.1 404 No\r\nDate: 1\r\nContent-Length: 3\r\n\r\nabc";
    let (answers, end) = read(&[one, one, other, one, more, one].concat());
    let seen: Vec<_> = answers.iter().map(|&(status, body, ..)| (status, body)).collect();
    assert_eq!(seen, [(200, 3), (200, 3), (200, 30), (200, 3), (404, 3), (200, 3)]);
    assert_eq!(end, Ok(()));
}

#[test]
fn what_ends_early_is_told_apart() {
    assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab").1, Err(Failure::ShortBody));
    assert_eq!(
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n").1,
        Err(Failure::ShortBody)
    );
    assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Le").1, Err(Failure::Closed));
}

#[test]
fn broken_answers_are_refused() {
    bad("SSH-2.0-OpenSSH_9.2\r\n");
    bad("HTTP/2.0 200 OK\r\n\r\n");
    bad("HTTP/1.1 2x0 OK\r\n\r\n");
    bad("HTTP/1.1 099 Low\r\n\r\n");
    bad("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    bad("\r\nHTTP/1.1 200 OK\r\n\r\n");
    bad("HTTP/1.1 200 OK\r\nno colon\r\n\r\n");
    bad("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd");
    bad("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    for length in ["-1", "+3", "3, 3", "0x3", "", "99999999999999999999", "3 4"] {
        bad(&format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nabc"));
    }
    bad("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
    bad(&format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(200)));
}

#[test]
fn an_endless_head_is_refused_at_its_bound() {
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(2 * MAX_HEAD));
    bad(&endless);
    let cuts: Vec<_> = (0..endless.len()).step_by(1000).collect();
    assert_eq!(read_all(endless.as_bytes(), BODY, &cuts).1, Err(Failure::BadResponse));
    let last_fits = |fill: usize| {
        let head = format!("HTTP/1.1 204 N\r\nX: {}\r\n\r\n", "x".repeat(fill));
        (head.len(), read(&head).1.is_ok(), read_all(head.as_bytes(), BODY, &[7, 60_000]).1.is_ok())
    };
    assert_eq!(last_fits(MAX_HEAD - 23), (MAX_HEAD, true, true));
    assert_eq!(last_fits(MAX_HEAD - 22), (MAX_HEAD + 1, false, false));
}

/// Streams of one to four answers of every framing, some broken.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let line_end = prop_oneof![4 => Just("\r\n"), 1 => Just("\n")];
    let headers = proptest::collection::vec(
        prop_oneof![
            Just("Server: nginx".to_owned()),
            Just("Connection: keep-alive, Upgrade".to_owned()),
            Just("connection: close".to_owned()),
            "[A-Za-z]{1,9}: [ -~]{0,20}",
        ],
        0..4,
    );
    let body = proptest::collection::vec(any::<u8>(), 0..80);
    let answer =
        (0u8..7, line_end, headers, body, 1usize..20).prop_map(|(kind, end, headers, body, piece)| {
            let headers: String = headers.iter().map(|header| format!("{header}{end}")).collect();
            let framed = |status: &str, framing: &str| {
                format!("HTTP/1.1 {status}{end}{headers}{framing}{end}").into_bytes()
            };
            let length = format!("Content-Length: {}{end}", body.len());
            match kind {
                0 | 1 => [framed("200 OK", &length), body].concat(),
                2 => {
                    let mut bytes = framed("200 OK", &format!("Transfer-Encoding: chunked{end}"));
                    for part in body.chunks(piece) {
                        bytes.extend_from_slice(format!("{:x};e\r\n", part.len()).as_bytes());
                        bytes.extend_from_slice(part);
                        bytes.extend_from_slice(b"\r\n");
                    }
                    bytes.extend_from_slice(b"0\r\nT: u\r\n\r\n");
                    bytes
                }
                3 => framed("204 No Content", ""),
                4 => framed("103 Early Hints", ""),
                5 => [framed("404 Not Found", &length), body].concat(),
                _ => [framed("200 OK", ""), body].concat(),
            }
        });
    proptest::collection::vec(answer, 1..5).prop_map(|answers| answers.concat())
}

fn flags() -> impl Strategy<Value = RequestFlags> {
    (any::<bool>(), any::<bool>()).prop_map(|(head, checksum)| RequestFlags { head, checksum })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn any_split_gives_the_same_parse(
        bytes in streams(),
        flags in flags(),
        mut cuts in proptest::collection::vec(0usize..600, 0..12),
    ) {
        cuts.sort_unstable();
        let whole = read_all(&bytes, flags, &[]);
        prop_assert_eq!(&read_all(&bytes, flags, &cuts), &whole);
        let each: Vec<_> = (0..bytes.len()).collect();
        prop_assert_eq!(&read_all(&bytes, flags, &each), &whole);
    }

    #[test]
    fn any_split_of_mutated_bytes_gives_the_same_parse(
        mut bytes in streams(),
        flags in flags(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let each: Vec<_> = (0..bytes.len()).collect();
        prop_assert_eq!(read_all(&bytes, flags, &each), read_all(&bytes, flags, &[]));
    }
}
