//! Hashes of names (clients, paths) and of single requests: the same on every machine and in every version, since
//! stored sketches need that. Not for keeping anything secret, and no defence against chosen collisions.

use twox_hash::XxHash3_64;

/// The hash of a name: XXH3 without a seed. Most names have 9 to 64 bytes; of those it is made here, in line.
#[inline(always)]
pub fn name(bytes: &[u8]) -> u64 {
    match bytes.len() {
        9..=16 => short(bytes),
        17..=64 => middle(bytes),
        _ => other(bytes),
    }
}

/// Called, so that only what is done with usual names is compiled into where they are.
#[inline(never)]
fn other(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The first eight words of XXH3's own secret, and its first prime.
const SECRET: [u64; 8] = [
    0xbe4b_a423_396c_feb8,
    0x1cad_21f7_2c81_017c,
    0xdb97_9083_e96d_d4de,
    0x1f67_b3b7_a4a4_4072,
    0x78e5_c0cc_4ee6_79cb,
    0x2172_ffcc_7dd0_5a82,
    0x8e24_43f7_7446_08b8,
    0x4c26_3a81_e690_35e0,
];
const PRIME: u64 = 0x9e37_79b1_85eb_ca87;

#[inline(always)]
fn short(bytes: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else { return other(bytes) };
    let low = u64::from_le_bytes(*first) ^ SECRET[3] ^ SECRET[4];
    let high = u64::from_le_bytes(*last) ^ SECRET[5] ^ SECRET[6];
    let sum = (bytes.len() as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
    finished(sum.wrapping_add(folded(low, high)))
}

#[inline(always)]
fn middle(bytes: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else { return other(bytes) };
    let mut sum = (bytes.len() as u64).wrapping_mul(PRIME);
    sum =
        sum.wrapping_add(mixed(first, SECRET[0], SECRET[1])).wrapping_add(mixed(last, SECRET[2], SECRET[3]));
    if bytes.len() > 32
        && let Some(second) = bytes[16..].first_chunk()
        && let Some(before) = bytes[..bytes.len() - 16].last_chunk()
    {
        sum = sum.wrapping_add(mixed(second, SECRET[4], SECRET[5]));
        sum = sum.wrapping_add(mixed(before, SECRET[6], SECRET[7]));
    }
    finished(sum)
}

#[inline(always)]
fn mixed(bytes: &[u8; 16], low: u64, high: u64) -> u64 {
    let words = u128::from_le_bytes(*bytes);
    folded(words as u64 ^ low, (words >> 64) as u64 ^ high)
}

/// The halves of a 128-bit product, folded.
#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline(always)]
fn finished(sum: u64) -> u64 {
    let sum = (sum ^ (sum >> 37)).wrapping_mul(0x1656_6791_9e37_79f9);
    sum ^ (sum >> 32)
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
const ODDER: u64 = 0xd1b5_4a32_d192_ed03;

/// Mixes two words into one: the halves of their 128-bit product, folded.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    folded(a ^ ODD, b ^ ODDER)
}

/// The hash of one request: of its path, and of what tells it from the others of that path.
#[inline]
pub fn request(path: u64, offset: u64, bytes: u64, time_ns: u64) -> u64 {
    let own = mix(offset ^ bytes.rotate_left(40), time_ns);
    mix(path ^ own, ODDER.wrapping_add(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_never_change() {
        // Stored sketches hold these: another value would make old aggregates meaningless.
        assert_eq!(name(b""), 0x2d06_8005_38d3_94c2);
        let mut all = 0u64;
        for length in 0..300 {
            for start in 0..7u64 {
                let bytes: Vec<u8> = (0..length).map(|n| (mix(start, n) >> 9) as u8).collect();
                assert_eq!(name(&bytes), XxHash3_64::oneshot(&bytes), "{length} bytes");
                all = all.rotate_left(5) ^ name(&bytes);
            }
        }
        assert_eq!(all, 0x7880_f0a0_4752_9678);
        assert_eq!(mix(1, 2), mix(1, 2));
        assert_ne!(mix(1, 2), mix(2, 1));
    }

    #[test]
    fn requests_of_one_path_are_spread_evenly() {
        let path = name(b"/a");
        let mut slots = [0u32; 16];
        for line in 0..16_000u64 {
            slots[(request(path, line * 200, 4096, 1_000_000) >> 60) as usize] += 1;
        }
        // 1000 each, standard deviation 31.
        assert!(slots.iter().all(|&n| (850..1150).contains(&n)), "{slots:?}");
    }
}
