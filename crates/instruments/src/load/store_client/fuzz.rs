//! Answers of stores with bytes changed, cut, repeated and planted: nothing panics, and pieces change nothing.
//!
//! Seeded, so that a failure repeats. A third of a second; `BOXSCORE_FUZZ_SECONDS` sets another time.

use model::mutate::{Dice, mutate};

use super::{Dialect, RequestKind, read_all};
use crate::load::http::fuzz::rounds;
use crate::store_protocol::memcached::Memcached;
use crate::store_protocol::resp::Resp;

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

fn pieces_change_nothing<D: Dialect>(bytes: &[u8], dice: &mut Dice) {
    let asked = [RequestKind::Read, RequestKind::Write, RequestKind::Delete][dice.below(3)];
    let mut cuts: Vec<_> = (0..dice.below(8)).map(|_| dice.place(bytes.len())).collect();
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
    let mut dice = Dice::new(20_261_122);
    rounds(|| {
        let seed = dice.pick(&ANSWERS).expect("there are seeds");
        let bytes = mutate(seed, &PLANTS, &mut dice);
        pieces_change_nothing::<Resp>(&bytes, &mut dice);
        pieces_change_nothing::<Memcached>(&bytes, &mut dice);
    });
}
