//! SHA-256 of bytes that come in pieces, as small hexadecimal digits.

use ring::digest::{Context, SHA256};

/// A hash that grows.
#[derive(Clone)]
pub struct Sha256(Context);

impl Sha256 {
    #[expect(clippy::new_without_default, reason = "a hash of nothing is no default of anything")]
    pub fn new() -> Sha256 {
        Sha256(Context::new(&SHA256))
    }

    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn digits(self) -> String {
        self.0.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_hash_of_the_whole() {
        let mut hash = Sha256::new();
        [&b"a"[..], b"", b"bc"].iter().for_each(|piece| hash.add(piece));
        assert_eq!(hash.digits(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
