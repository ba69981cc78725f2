//! Encryption and hashing of messages as TLS does it: bytes per second, all threads together.
//!
//! Each thread seals one buffer in place again and again (or hashes it, the digest going into the next
//! message); the first message of every take has a known result. By default 16 KiB, a full TLS record. The
//! library is the one that the program was built with; its version is a parameter. Not counted: key set-up.

use std::hint::black_box;

use model::{
    Better, By, Bytes, BytesPerSec, Cadence, Card, Code, Family, Fault, Label, Metric, ParamKind, ParamSpec,
    Probe, RecordExt, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};
use ring::digest::{SHA256, digest};

use crate::bench::kernel::{Kernel, KernelProbe, THREADS, bytes_param, float, footprint, word_param};
use crate::bench::kernels::buffer::Buffer;
use crate::bench::kernels::copy;

const THROUGHPUT: Metric<BytesPerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "bytes of messages sealed (or hashed) per second by all threads; tags and nonces are not counted",
);

const LIBRARY: &str = "ring-0.17.14";

static CARD: Card = Card {
    name: "cipher",
    family: Family::Cpu,
    says: "sealing or hashing of TLS-sized messages",
    source: "own; ring as shipped",
    shown: Shown {
        label: "cipher",
        main: "throughput",
        tells: &[Tell::always("algorithm"), Tell::unusual("size")],
        sorted: &[By::Param("size"), By::Param("threads")],
        place: 2,
        topic: Topic::Compute,
        codes: &[
            Code::new("aes", "throughput", "algorithm=aes-128-gcm;size=16KiB;threads=1"),
            Code::new("aes-all", "throughput", "algorithm=aes-128-gcm;size=16KiB;threads=all"),
        ],
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "algorithm",
            ParamKind::Choice(&["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "sha-256"]),
            "aes-128-gcm",
            "what is done to a message",
        )
        .label(Label::Words(&[
            ("aes-128-gcm", "AES-128-GCM"),
            ("aes-256-gcm", "AES-256-GCM"),
            ("chacha20-poly1305", "ChaCha20"),
            ("sha-256", "SHA-256"),
        ])),
        ParamSpec::new("size", ParamKind::Bytes { min: 32, max: 16 << 20 }, "16KiB", "bytes in a message")
            .label(Label::Bytes),
        ParamSpec::new("library", ParamKind::Choice(&[LIBRARY]), LIBRARY, "the library built in"),
        THREADS,
    ],
    metrics: &[THROUGHPUT.info()],
    variants: &[
        Variant {
            tier: Tier::Quick,
            set: "algorithm=aes-128-gcm;threads=1",
            headline: &[THROUGHPUT.info().name],
        },
        Variant {
            tier: Tier::Quick,
            set: "algorithm=aes-128-gcm;threads=all",
            headline: &[THROUGHPUT.info().name],
        },
        Variant { tier: Tier::Default, set: "algorithm=chacha20-poly1305|sha-256;threads=1", headline: &[] },
        Variant {
            tier: Tier::Full,
            set: "algorithm=aes-128-gcm|aes-256-gcm|chacha20-poly1305|sha-256;threads=sweep",
            headline: &[],
        },
        Variant {
            tier: Tier::Soak,
            set: "algorithm=aes-128-gcm;threads=all",
            headline: &[THROUGHPUT.info().name],
        },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let size = bytes_param(setup, "size")?;
    let algorithm = word_param(setup, "algorithm")?.to_owned();
    let make = move |_| Messages::new(Work::named(&algorithm)?, size);
    let memory = footprint(2 * size, setup.threads()?);
    KernelProbe::boxed(setup, memory, make, move |tally, record| {
        record.push(&THROUGHPUT, Bytes(tally.units() * float(size)) / tally.time());
        Ok(())
    })
}

/// Keys and messages are the same everywhere; nothing secret is ever sealed here.
const KEY: [u8; 32] = [0x42; 32];
const SEED: u64 = 1;

enum Work {
    Seal(Box<LessSafeKey>),
    Hash,
}

impl Work {
    fn named(algorithm: &str) -> Result<Work, Unfit> {
        let aead = match algorithm {
            "aes-256-gcm" => &AES_256_GCM,
            "chacha20-poly1305" => &CHACHA20_POLY1305,
            "sha-256" => return Ok(Work::Hash),
            _ => &AES_128_GCM,
        };
        let key = KEY.get(..aead.key_len()).unwrap_or_default();
        let key =
            UnboundKey::new(aead, key).map_err(|_| Unfit::new(format!("{algorithm} refused its key")))?;
        Ok(Work::Seal(Box::new(LessSafeKey::new(key))))
    }

    /// Does one message; the first bytes of its tag or digest.
    #[inline]
    fn message(&self, number: u64, data: &mut [u8]) -> Result<u64, Fault> {
        match self {
            Work::Seal(key) => {
                let mut nonce = [0; NONCE_LEN];
                if let Some(end) = nonce.last_chunk_mut::<8>() {
                    *end = number.to_be_bytes();
                }
                let nonce = Nonce::assume_unique_for_key(nonce);
                let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), black_box(data));
                first_word(tag.map_err(|_| Fault::new("sealing failed"))?.as_ref())
            }
            Work::Hash => {
                let digest = digest(&SHA256, black_box(data));
                for (to, from) in data.iter_mut().zip(digest.as_ref()) {
                    *to = *from;
                }
                first_word(digest.as_ref())
            }
        }
    }
}

fn first_word(bytes: &[u8]) -> Result<u64, Fault> {
    bytes
        .first_chunk()
        .map(|word| u64::from_be_bytes(*word))
        .ok_or_else(|| Fault::new("the tag is too short"))
}

struct Messages {
    work: Work,
    start: Buffer,
    data: Buffer,
    /// The tag of the first message of a take.
    expected: u64,
}

impl Messages {
    fn new(work: Work, size: usize) -> Result<Messages, Unfit> {
        let start = Buffer::random(size, SEED);
        let mut data = Buffer::random(size, SEED);
        let expected = work.message(0, &mut data).map_err(|fault| Unfit::new(fault.text))?;
        Ok(Messages { work, start, data, expected })
    }
}

impl Kernel for Messages {
    type Out = u64;

    fn run(&mut self, repeats: u64) -> Result<u64, Fault> {
        copy(&mut self.data, &self.start);
        let mut last = self.work.message(0, &mut self.data)?;
        if last != self.expected {
            return Err(Fault::new(format!("tag {last:016x} instead of {:016x}", self.expected)));
        }
        for number in 1..repeats {
            last = self.work.message(number, &mut self.data)?;
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stated library is the one in the lock file.
    #[test]
    fn the_stated_library_is_the_one_built_in() {
        let lock = include_str!("../../../../../Cargo.lock");
        let (name, version) = LIBRARY.split_once('-').unwrap();
        assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")));
    }

    /// FIPS 180-4: `abc`, and the digest goes into the message.
    #[test]
    fn hashing_gives_the_known_answer() {
        let mut data = *b"abc";
        assert_eq!(Work::Hash.message(0, &mut data).unwrap(), 0xba78_16bf_8f01_cfea);
        assert_eq!(data, [0xba, 0x78, 0x16]);
    }

    #[test]
    fn sealing_can_be_opened() {
        for name in ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"] {
            let work = Work::named(name).unwrap();
            let mut data = *b"sixteen bytes ok";
            let first = work.message(5, &mut data).unwrap();
            assert_ne!(&data, b"sixteen bytes ok");
            let Work::Seal(key) = work else { panic!("{name} does not seal") };
            let nonce = || Nonce::assume_unique_for_key([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
            let mut again = *b"sixteen bytes ok";
            let tag = key.seal_in_place_separate_tag(nonce(), Aad::empty(), &mut again).unwrap();
            assert_eq!((again, first_word(tag.as_ref()).unwrap()), (data, first));
            let mut sealed: Vec<u8> = data.iter().chain(tag.as_ref()).copied().collect();
            let opened = key.open_in_place(nonce(), Aad::empty(), &mut sealed).unwrap();
            assert_eq!(opened, b"sixteen bytes ok");
        }
    }

    #[test]
    fn a_wrong_tag_is_a_fault() {
        let mut messages = Messages::new(Work::Hash, 64).unwrap();
        assert!(messages.run(3).is_ok());
        messages.expected ^= 1;
        assert!(messages.run(3).is_err());
    }
}
