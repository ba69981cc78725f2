//! Whatever the bytes and however they are cut, the same is read of them: for the fuzz targets and the tests.

use super::wire::{Course, KvRequest, Wire};
use crate::store_protocol::memcached::{self, Memcached};
use crate::store_protocol::resp::{self, Resp};
use crate::store_protocol::{MOST_VALUE, Scan};

/// Longer inputs show nothing that shorter ones do not.
const MOST: usize = 4096;

/// Panics where pieces of RESP are not within the bytes, or cuts change what is read.
pub fn resp(bytes: &[u8]) {
    let bytes = bytes.get(..bytes.len().min(MOST)).unwrap_or_default();
    let mut from = 0;
    while let Ok(Scan::Whole { item, used }) = resp::scan(bytes, from) {
        assert!(used > from && used <= bytes.len(), "{from} {used}");
        if let resp::Piece::Bulk(Some((at, value))) = item {
            assert_eq!(bytes.get(at..at + value.len()), Some(value));
            assert!(value.len() as u64 <= MOST_VALUE);
        }
        from = used;
    }
    let more = [KvRequest::SetWait(1), KvRequest::Wait(1)];
    ASKED.iter().chain(&more).for_each(|asked| cut(&Resp, *asked, bytes));
}

/// The same of memcached's text protocol.
pub fn memcached(bytes: &[u8]) {
    let bytes = bytes.get(..bytes.len().min(MOST)).unwrap_or_default();
    let mut from = 0;
    while let Ok(Scan::Whole { item, used }) = memcached::scan(bytes, from) {
        assert!(used > from && used <= bytes.len(), "{from} {used}");
        if let memcached::Piece::Value(at, value) = item {
            assert_eq!(bytes.get(at..at + value.len()), Some(value));
        }
        from = used;
    }
    ASKED.iter().for_each(|asked| cut(&Memcached, *asked, bytes));
}

const ASKED: [KvRequest; 5] =
    [KvRequest::Get(1), KvRequest::Get(3), KvRequest::Set(2), KvRequest::Delete(2), KvRequest::Text];

/// An answer in one piece is what it is when it comes byte by byte.
fn cut(wire: &dyn Wire, asked: KvRequest, bytes: &[u8]) {
    let mut once = Course::default();
    let whole = wire.read(asked, bytes, &mut once);
    let mut course = Course::default();
    for end in 0..=bytes.len() {
        match wire.read(asked, bytes.get(..end).unwrap_or_default(), &mut course) {
            Ok(Some(least)) => assert!(least > end, "{asked:?}: {least} of {end}"),
            // What comes after an answer belongs to none.
            Ok(None) if end < bytes.len() => return assert!(whole.is_err(), "{asked:?}: {whole:?}"),
            Ok(None) => {
                assert_eq!((&whole, once), (&Ok(None), course), "{asked:?}");
                return;
            }
            Err(_) => return assert!(whole.is_err(), "{asked:?}: {whole:?}"),
        }
    }
    assert!(matches!(whole, Ok(Some(_))), "{asked:?}: {whole:?}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Answers of servers, cut up and put together at random.
    fn said() -> impl Strategy<Value = Vec<u8>> {
        let words: Vec<&'static [u8]> = vec![
            b"+OK\r\n",
            b"$5\r\nhello\r\n",
            b"$-1\r\n",
            b":1\r\n",
            b"*3\r\n",
            b"-ERR no\r\n",
            b"$70000000\r\n",
            b"VALUE a 0 5\r\n",
            b"hello\r\n",
            b"END\r\n",
            b"STORED\r\n",
            b"STAT a 1\r\n",
            b"DELETED\r\n",
            b"SERVER_ERROR out of memory\r\n",
            b"HTTP/1.1 400 Bad Request\r\n",
            b"\r\n",
            b"\n",
            b"$",
            b"1",
            b"\xff",
        ];
        proptest::collection::vec(proptest::sample::select(words), 0..8).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            resp(&bytes);
            memcached(&bytes);
        }

        #[test]
        fn words_of_servers_are_read_however_they_are_cut(bytes in said()) {
            resp(&bytes);
            memcached(&bytes);
        }

        #[test]
        fn values_come_back(value in proptest::collection::vec(any::<u8>(), 0..300)) {
            let whole = |wire: &dyn Wire, answer: Vec<u8>| {
                let mut course = Course::default();
                assert_eq!(wire.read(KvRequest::Get(1), &answer, &mut course), Ok(None));
                let (from, to) = course.answer.last;
                assert_eq!(answer.get(from..to), Some(&value[..]));
                assert_eq!((course.answer.count, course.answer.bytes), (1, value.len() as u64));
            };
            let length = value.len();
            whole(&Resp, [format!("${length}\r\n").as_bytes(), &value, b"\r\n"].concat());
            let head = format!("VALUE key 0 {length}\r\n");
            whole(&Memcached, [head.as_bytes(), &value, b"\r\nEND\r\n"].concat());
        }
    }
}
