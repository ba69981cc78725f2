//! AES-128 encryption of single blocks: by the processor's instruction, else by table.
//!
//! For the MAC benchmark only. The table form leaks its key through the cache; never use it for secrets.

const ROUNDS: usize = 10;
type Keys = [[u8; 16]; ROUNDS + 1];

static SBOX: [u8; 256] = sbox();

const fn double(x: u8) -> u8 {
    (x << 1) ^ (0x1b & 0u8.wrapping_sub(x >> 7))
}

/// Inverses in GF(2^8), found by walking the powers of a generator and of its inverse, and the affine map.
const fn sbox() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut power = 1u8;
    let mut inverse = 1u8;
    loop {
        power ^= double(power);
        // Division by the generator 3.
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        if inverse & 0x80 != 0 {
            inverse ^= 0x09;
        }
        let spread = inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4);
        table[power as usize] = spread ^ 0x63;
        if power == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
}

/// An expanded key.
#[derive(Clone)]
pub struct Aes128 {
    keys: Keys,
    by_instruction: bool,
}

impl Aes128 {
    pub fn new(key: &[u8; 16]) -> Aes128 {
        Aes128 { keys: expand(key), by_instruction: arch::available() }
    }

    /// The same key by table, whatever the processor has.
    pub fn by_table(key: &[u8; 16]) -> Aes128 {
        Aes128 { keys: expand(key), by_instruction: false }
    }

    #[inline]
    pub fn encrypt(&self, block: [u8; 16]) -> [u8; 16] {
        if self.by_instruction { arch::encrypt(&self.keys, block) } else { by_table(&self.keys, block) }
    }
}

fn expand(key: &[u8; 16]) -> Keys {
    let mut keys = [[0; 16]; ROUNDS + 1];
    keys[0] = *key;
    let mut constant = 1u8;
    for round in 1..=ROUNDS {
        let before = keys[round - 1];
        let [.., a, b, c, d] = before;
        let mut word = [b, c, d, a].map(|byte| SBOX[usize::from(byte)]);
        word[0] ^= constant;
        constant = double(constant);
        for (index, byte) in keys[round].iter_mut().enumerate() {
            word[index % 4] ^= before[index];
            *byte = word[index % 4];
        }
    }
    keys
}

fn by_table(keys: &Keys, mut block: [u8; 16]) -> [u8; 16] {
    xor(&mut block, &keys[0]);
    for (round, key) in keys.iter().enumerate().skip(1) {
        let mut next = [0; 16];
        for (index, byte) in next.iter_mut().enumerate() {
            // Row r of the state moves r columns.
            *byte = SBOX[usize::from(block[(index + 4 * (index % 4)) % 16])];
        }
        if round < ROUNDS {
            for column in next.as_chunks_mut::<4>().0 {
                mix(column);
            }
        }
        block = next;
        xor(&mut block, key);
    }
    block
}

fn xor(block: &mut [u8; 16], key: &[u8; 16]) {
    for (byte, key) in block.iter_mut().zip(key) {
        *byte ^= key;
    }
}

fn mix(column: &mut [u8; 4]) {
    let [a, b, c, d] = *column;
    let all = a ^ b ^ c ^ d;
    *column =
        [a ^ all ^ double(a ^ b), b ^ all ^ double(b ^ c), c ^ all ^ double(c ^ d), d ^ all ^ double(d ^ a)];
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod arch {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::*;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::*;

    use super::{Keys, ROUNDS};

    pub fn available() -> bool {
        is_x86_feature_detected!("aes") && is_x86_feature_detected!("sse2")
    }

    #[expect(unsafe_code, reason = "the processor's features are asked at run time")]
    pub fn encrypt(keys: &Keys, block: [u8; 16]) -> [u8; 16] {
        // SAFETY: called only where `available` said so.
        unsafe { by_instruction(keys, block) }
    }

    #[target_feature(enable = "aes,sse2")]
    #[expect(unsafe_code, reason = "vector loads and a store")]
    fn by_instruction(keys: &Keys, block: [u8; 16]) -> [u8; 16] {
        let mut out = [0; 16];
        // SAFETY: each array has the 16 bytes that are read or written; any alignment will do.
        unsafe {
            let key = |round: usize| _mm_loadu_si128(keys[round].as_ptr().cast());
            let mut state = _mm_xor_si128(_mm_loadu_si128(block.as_ptr().cast()), key(0));
            for round in 1..ROUNDS {
                state = _mm_aesenc_si128(state, key(round));
            }
            _mm_storeu_si128(out.as_mut_ptr().cast(), _mm_aesenclast_si128(state, key(ROUNDS)));
        }
        out
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use std::arch::aarch64::*;
    use std::arch::is_aarch64_feature_detected;

    use super::{Keys, ROUNDS};

    pub fn available() -> bool {
        is_aarch64_feature_detected!("aes") && is_aarch64_feature_detected!("neon")
    }

    #[expect(unsafe_code, reason = "the processor's features are asked at run time")]
    pub fn encrypt(keys: &Keys, block: [u8; 16]) -> [u8; 16] {
        // SAFETY: called only where `available` said so.
        unsafe { by_instruction(keys, block) }
    }

    #[target_feature(enable = "aes,neon")]
    #[expect(unsafe_code, reason = "vector loads and a store")]
    fn by_instruction(keys: &Keys, block: [u8; 16]) -> [u8; 16] {
        let mut out = [0; 16];
        // SAFETY: each array has the 16 bytes that are read or written; any alignment will do.
        unsafe {
            let key = |round: usize| vld1q_u8(keys[round].as_ptr());
            let mut state = vld1q_u8(block.as_ptr());
            for round in 0..ROUNDS - 1 {
                state = vaesmcq_u8(vaeseq_u8(state, key(round)));
            }
            state = veorq_u8(vaeseq_u8(state, key(ROUNDS - 1)), key(ROUNDS));
            vst1q_u8(out.as_mut_ptr(), state);
        }
        out
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
mod arch {
    pub fn available() -> bool {
        false
    }

    pub fn encrypt(keys: &super::Keys, block: [u8; 16]) -> [u8; 16] {
        super::by_table(keys, block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// FIPS 197, appendices B and C.1.
    #[test]
    fn known_answers() {
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        let plain = 0x3243_f6a8_885a_308d_3131_98a2_e037_0734_u128.to_be_bytes();
        let cipher = 0x3925_841d_02dc_09fb_dc11_8597_196a_0b32_u128.to_be_bytes();
        assert_eq!(Aes128::new(&key).encrypt(plain), cipher);
        assert_eq!(Aes128::by_table(&key).encrypt(plain), cipher);
        let key = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f_u128.to_be_bytes();
        let plain = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();
        let cipher = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
        assert_eq!(Aes128::by_table(&key).encrypt(plain), cipher);
    }

    proptest! {
        #[test]
        fn instruction_and_table_agree(key: [u8; 16], block: [u8; 16]) {
            prop_assert_eq!(Aes128::new(&key).encrypt(block), Aes128::by_table(&key).encrypt(block));
        }
    }
}
