//! Hashes of names (clients, paths) and of single requests: the same on every machine and in every version, since
//! stored sketches need that. Not for keeping anything secret, and no defence against chosen collisions.

use twox_hash::XxHash3_64;

/// The hash of a name: XXH3 without a seed.
#[inline]
pub fn name(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The halves of a 128-bit product, folded.
#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
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
