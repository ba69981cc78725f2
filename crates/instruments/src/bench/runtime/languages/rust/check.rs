//! The results of a kernel, in lines `check NAME VALUE`. This program does not know the right values.
//!
//! Doubles are printed as the 16 hexadecimal digits of their IEEE bits. A digest of many doubles is their sum, the root
//! of the sum of their squares, and FNV-1a (64 bits) over their bytes, lowest first, in the order of memory.

use std::fmt::Display;

#[derive(Default)]
pub struct Check {
    pub lines: Vec<String>,
}

impl Check {
    pub fn digest<'a>(&mut self, name: &str, rows: impl IntoIterator<Item = &'a [f64]>) {
        let (mut sum, mut squares, mut fnv) = (0.0, 0.0, 0xcbf2_9ce4_8422_2325_u64);
        for value in rows.into_iter().flatten() {
            sum += value;
            squares += value * value;
            for byte in value.to_bits().to_le_bytes() {
                fnv = (fnv ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        self.real(&format!("{name}.sum"), sum);
        self.real(&format!("{name}.l2"), f64::sqrt(squares));
        self.line(&format!("{name}.fnv"), hex(fnv));
    }

    pub fn real(&mut self, name: &str, value: f64) {
        self.line(name, hex(value.to_bits()));
    }

    pub fn whole(&mut self, name: &str, value: u64) {
        self.line(name, value);
    }

    fn line(&mut self, name: &str, value: impl Display) {
        self.lines.push(format!("check {name} {value}"));
    }
}

pub fn hex(bits: u64) -> String {
    format!("x{bits:016x}")
}
