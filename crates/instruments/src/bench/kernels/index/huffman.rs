//! Huffman coding of bytes: count, build the tree, encode, decode bit by bit along the tree.

use crate::bench::kernels::wipe;

/// No child, or no parent yet.
const NONE: u16 = u16::MAX;

#[derive(Clone, Copy)]
struct Node {
    weight: u32,
    parent: u16,
    zero: u16,
    one: u16,
}

/// Buffers that are used again for each message.
pub struct Coder {
    /// 256 leaves, then inner nodes; the last is the root.
    nodes: Vec<Node>,
    heap: Vec<u16>,
    codes: Vec<(u64, u32)>,
    bits: Vec<u64>,
    length: usize,
    symbols: usize,
    plain: Vec<u8>,
}

impl Coder {
    pub fn new(bytes: usize) -> Coder {
        Coder {
            nodes: Vec::with_capacity(511),
            heap: Vec::with_capacity(256),
            codes: vec![(0, 0); 256],
            bits: vec![0; bytes + 1],
            length: 0,
            symbols: 0,
            plain: Vec::with_capacity(bytes),
        }
    }

    /// Encodes `plain`, at most as many bytes as the coder was made for; how many bits that took.
    pub fn encode(&mut self, plain: &[u8]) -> usize {
        self.nodes.clear();
        self.nodes.resize(256, Node { weight: 0, parent: NONE, zero: NONE, one: NONE });
        for byte in plain {
            self.nodes[usize::from(*byte)].weight += 1;
        }
        self.build();
        self.assign();
        wipe(&mut self.bits, 0);
        self.length = 0;
        self.symbols = plain.len();
        for byte in plain {
            let (code, length) = self.codes[usize::from(*byte)];
            let (word, shift) = (self.length / 64, self.length % 64);
            self.bits[word] |= code << shift;
            if shift > 0 && shift + length as usize > 64 {
                self.bits[word + 1] |= code >> (64 - shift);
            }
            self.length += length as usize;
        }
        self.length
    }

    /// Joins the two lightest nodes until one is left.
    fn build(&mut self) {
        self.heap.clear();
        for leaf in 0..256u16 {
            if self.nodes[usize::from(leaf)].weight > 0 {
                self.heap.push(leaf);
            }
        }
        for at in (0..self.heap.len() / 2).rev() {
            self.sink(at);
        }
        while let Some(zero) = self.lightest() {
            let Some(one) = self.lightest() else { break };
            let Ok(parent) = u16::try_from(self.nodes.len()) else { break };
            let weight = self.nodes[usize::from(zero)].weight + self.nodes[usize::from(one)].weight;
            self.nodes[usize::from(zero)].parent = parent;
            self.nodes[usize::from(one)].parent = parent;
            self.nodes.push(Node { weight, parent: NONE, zero, one });
            self.heap.push(parent);
            self.rise(self.heap.len() - 1);
        }
    }

    fn lighter(&self, a: usize, b: usize) -> bool {
        let key = |at: usize| (self.nodes[usize::from(self.heap[at])].weight, self.heap[at]);
        key(a) < key(b)
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.lighter(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.lighter(at, (at - 1) / 2) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn lightest(&mut self) -> Option<u16> {
        let last = self.heap.len().checked_sub(1)?;
        self.heap.swap(0, last);
        let lightest = self.heap.pop();
        self.sink(0);
        lightest
    }

    /// A leaf's code is its path from the root, first step in the lowest bit. Paths stay below 64 steps for
    /// messages of less than 2^40 bytes: weights grow at least like Fibonacci numbers with the depth.
    fn assign(&mut self) {
        for leaf in 0..256usize {
            let (mut code, mut length) = (0u64, 0u32);
            let mut at = leaf;
            while self.nodes[at].parent != NONE {
                let parent = usize::from(self.nodes[at].parent);
                code = code << 1 | u64::from(usize::from(self.nodes[parent].one) == at);
                length += 1;
                at = parent;
            }
            self.codes[leaf] = (code, length);
        }
    }

    /// The message that was encoded last.
    pub fn decode(&mut self) -> &[u8] {
        self.plain.clear();
        let root = self.nodes.len() - 1;
        let mut at = root;
        for bit in 0..self.length {
            let one = self.bits[bit / 64] >> (bit % 64) & 1 == 1;
            at = usize::from(if one { self.nodes[at].one } else { self.nodes[at].zero });
            if let Ok(byte) = u8::try_from(at) {
                self.plain.push(byte);
                at = root;
            }
        }
        // A message of one symbol only has codes of no bits.
        if self.length == 0
            && let Some(only) = (0..=u8::MAX).find(|byte| self.nodes[usize::from(*byte)].weight > 0)
        {
            self.plain.resize(self.symbols, only);
        }
        &self.plain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_come_back(plain: Vec<u8>) {
            let mut coder = Coder::new(plain.len());
            coder.encode(&plain);
            prop_assert_eq!(coder.decode(), &plain[..]);
        }

        #[test]
        fn skewed_messages_come_back_shorter(plain in proptest::collection::vec(0u8..5, 100..2000)) {
            let mut coder = Coder::new(plain.len());
            prop_assert!(coder.encode(&plain) <= 4 * plain.len());
            prop_assert_eq!(coder.decode(), &plain[..]);
        }
    }

    #[test]
    fn a_message_of_one_symbol() {
        let mut coder = Coder::new(9);
        coder.encode(b"aaaaaaaaa");
        assert_eq!(coder.decode(), b"aaaaaaaaa");
    }

    /// Fibonacci weights make the deepest tree.
    #[test]
    fn deep_trees_hold() {
        let mut plain = Vec::new();
        let (mut a, mut b) = (1usize, 1usize);
        for symbol in 0..18u8 {
            plain.extend(std::iter::repeat_n(symbol, a));
            (a, b) = (b, a + b);
        }
        let mut coder = Coder::new(plain.len());
        coder.encode(&plain);
        assert_eq!(coder.decode(), &plain[..]);
    }
}
