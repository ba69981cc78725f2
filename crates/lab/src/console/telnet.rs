//! The telnet protocol (RFC 854, 855) on the connection of a console: bytes of the console told from commands, and an
//! answer to each wish of the other side.
//!
//! Agreed to are: the other side echoes (RFC 857), neither waits for a go-ahead (858), bytes of eight bits (856). All
//! else is declined. Nothing is asked for from here. A wish for what is so already gets no answer, so none goes round.

use std::collections::BTreeSet;

const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const BEGIN: u8 = 250;
const END: u8 = 240;

const BINARY: u8 = 0;
const ECHO: u8 = 1;
const NO_GO_AHEAD: u8 = 3;

/// Options that the other side may have, and those that we have on request.
const THEIRS: [u8; 3] = [BINARY, ECHO, NO_GO_AHEAD];
const OURS: [u8; 2] = [BINARY, NO_GO_AHEAD];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Data,
    /// Behind a carriage return.
    Return,
    Command,
    /// Behind WILL, WONT, DO or DONT.
    Wish(u8),
    /// Within the parameters of an option, and behind an IAC in them.
    Parameters,
    ParametersCommand,
}

/// One connection.
#[derive(Clone, Debug, Default)]
pub struct Telnet {
    state: State,
    /// Options that are on, there and here.
    theirs: BTreeSet<u8>,
    ours: BTreeSet<u8>,
}

impl Telnet {
    /// The bytes of the console among what came, and what is to be answered.
    pub fn came(&mut self, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut shown, mut answer) = (Vec::with_capacity(bytes.len()), Vec::new());
        for byte in bytes {
            self.state = match (self.state, *byte) {
                (State::Data | State::Return, IAC) => State::Command,
                // A carriage return alone is sent with a NUL behind it.
                (State::Return, 0) => State::Data,
                (State::Data | State::Return, byte) => {
                    shown.push(byte);
                    if byte == b'\r' && !self.theirs.contains(&BINARY) { State::Return } else { State::Data }
                }
                (State::Command, IAC) => {
                    shown.push(IAC);
                    State::Data
                }
                (State::Command, wish @ (WILL | WONT | DO | DONT)) => State::Wish(wish),
                (State::Command, BEGIN) => State::Parameters,
                (State::Command, _) => State::Data,
                (State::Wish(wish), option) => {
                    answer.extend(self.wish(wish, option).into_iter().flatten());
                    State::Data
                }
                (State::Parameters, IAC) => State::ParametersCommand,
                (State::ParametersCommand, END) => State::Data,
                (State::Parameters | State::ParametersCommand, _) => State::Parameters,
            };
        }
        (shown, answer)
    }

    /// The answer to a wish, if it needs one.
    fn wish(&mut self, wish: u8, option: u8) -> Option<[u8; 3]> {
        let (mine, is_wanted) = (matches!(wish, DO | DONT), matches!(wish, WILL | DO));
        let (on, may_be, yes, no) = match mine {
            true => (&mut self.ours, OURS.contains(&option), WILL, WONT),
            false => (&mut self.theirs, THEIRS.contains(&option), DO, DONT),
        };
        let is_new = match (is_wanted, may_be) {
            (true, true) => on.insert(option),
            (true, false) => true,
            (false, _) => on.remove(&option),
        };
        let verb = if is_wanted && may_be { yes } else { no };
        is_new.then_some([IAC, verb, option])
    }

    /// Typed bytes as they are sent.
    pub fn sent(&self, typed: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(typed.len());
        for (at, byte) in typed.iter().enumerate() {
            out.push(*byte);
            match byte {
                &IAC => out.push(IAC),
                b'\r' if !self.ours.contains(&BINARY) && typed.get(at + 1) != Some(&b'\n') => out.push(0),
                _ => {}
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wishes_are_answered_once_and_what_is_not_known_is_declined() {
        let mut telnet = Telnet::default();
        let came = telnet.came(&[b'a', IAC, WILL, ECHO, b'b', IAC, WILL, NO_GO_AHEAD, IAC, DO, 31, b'c']);
        assert_eq!(came.0, b"abc");
        assert_eq!(came.1, [IAC, DO, ECHO, IAC, DO, NO_GO_AHEAD, IAC, WONT, 31]);
        let again = telnet.came(&[IAC, WILL, ECHO, IAC, WONT, 6, IAC, DONT, 31, IAC, WILL, 34]);
        assert_eq!(again, (vec![], vec![IAC, DONT, 34]));
        assert_eq!(telnet.came(&[IAC, WONT, ECHO]).1, [IAC, DONT, ECHO]);
        // In pieces, with parameters and commands between.
        let pieces: [&[u8]; 5] =
            [&[b'x', IAC], &[BEGIN, 24, 1, IAC], &[IAC, IAC, END, b'y'], &[IAC, 241], b"z"];
        let shown: Vec<u8> = pieces.iter().flat_map(|piece| telnet.came(piece).0).collect();
        assert_eq!(shown, b"xyz");
    }

    #[test]
    fn a_carriage_return_is_sent_with_a_nul_until_bytes_of_eight_bits_are_agreed() {
        let mut telnet = Telnet::default();
        assert_eq!(telnet.sent(b"ls\r"), b"ls\r\0");
        assert_eq!(telnet.sent(b"a\r\nb"), b"a\r\nb");
        assert_eq!(telnet.came(b"a\r\0b\r\nc\r").0, b"a\rb\r\nc\r");
        assert_eq!(telnet.came(b"\0d").0, b"d");
        assert_eq!(
            telnet.came(&[IAC, DO, BINARY, IAC, WILL, BINARY]).1,
            [IAC, WILL, BINARY, IAC, DO, BINARY]
        );
        assert_eq!(telnet.sent(b"ls\r\xff"), b"ls\r\xff\xff");
        assert_eq!(telnet.came(b"\r\0").0, b"\r\0");
    }

    proptest! {
        #[test]
        fn two_ends_agree_on_every_byte(bytes: Vec<u8>, cut: usize) {
            let (mut here, there) = (Telnet::default(), Telnet::default());
            let sent = there.sent(&bytes);
            let (first, second) = sent.split_at(cut % (sent.len() + 1));
            let got = [here.came(first).0, here.came(second).0].concat();
            prop_assert_eq!(got, bytes);
        }

        #[test]
        fn no_answer_goes_round(bytes: Vec<u8>) {
            let (mut here, mut there) = (Telnet::default(), Telnet::default());
            let mut answer = here.came(&bytes).1;
            for _ in 0..4 {
                let back = there.came(&answer).1;
                answer = here.came(&back).1;
            }
            prop_assert!(answer.is_empty());
        }
    }
}
