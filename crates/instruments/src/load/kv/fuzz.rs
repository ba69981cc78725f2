//! Answers of stores with bytes changed, cut, repeated and planted: nothing panics, and pieces change nothing.
//!
//! Seeded, so that a failure repeats. A third of a second; `BOXSCORE_FUZZ_SECONDS` sets another time.

use super::memcached::Memcached;
use super::resp::Resp;
use super::{Asked, Dialect, Random, read_all};
use crate::load::http::fuzz::{mutate, rounds};

const ANSWERS: [&[u8]; 8] = [
    b"$12\r\nabcdefghijkl\r\n",
    b"$-1\r\n+OK\r\n",
    b"-MOVED 866 127.0.0.1:7001\r\n",
    b":1\r\n",
    b"VALUE boxscore:1:000000001 0 12\r\nabcdefghijkl\r\nEND\r\n",
    b"END\r\nSTORED\r\n",
    b"SERVER_ERROR out of memory storing object\r\n",
    b"DELETED\r\nERROR\r\n",
];
const PLANTS: [&[u8]; 8] = [b"\r\n", b"\n", b"\r", b"\0", b"$", b"VALUE ", b"18446744073709551615", b"-1"];

fn pieces_change_nothing<D: Dialect>(bytes: &[u8], random: &mut Random) {
    let asked = [Asked::Read, Asked::Write, Asked::Delete][random.below(3) as usize];
    let mut cuts: Vec<_> =
        (0..random.below(8)).map(|_| random.below(bytes.len() as u64 + 1) as usize).collect();
    cuts.sort_unstable();
    let expected = read_all::<D>(bytes, &[], asked, 12);
    let each: Vec<_> = (0..bytes.len()).collect();
    for cuts in [cuts, each] {
        let read = read_all::<D>(bytes, &cuts, asked, 12);
        assert_eq!(read, expected, "{asked:?} {cuts:?} {:?}", bytes.escape_ascii().to_string());
    }
}

#[test]
fn fuzz_what_stores_answer() {
    let mut random = Random::new(20_261_122);
    rounds(|| {
        let seed = ANSWERS[random.below(ANSWERS.len() as u64) as usize];
        let bytes = mutate(seed, &PLANTS, &mut random);
        pieces_change_nothing::<Resp>(&bytes, &mut random);
        pieces_change_nothing::<Memcached>(&bytes, &mut random);
    });
}
