//! Amounts inside sentences: three significant digits, sizes of memory in powers of 1024.
//!
//! Not for what is read back (`params::show_bytes`), and not for tables, whose columns share a scale.

/// Three significant digits, no exponent for ordinary sizes.
#[must_use]
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e15).contains(&size) {
        format!("{value:.2e}")
    } else if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.995 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// Memory in powers of 1024, with three significant digits as measured amounts have: `1.12 GiB`.
#[must_use]
pub fn memory(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    let steps = [(4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")].map(|(power, name)| (KIB.powi(power), name));
    match steps.into_iter().find(|(size, _)| bytes.abs() >= *size) {
        Some((size, name)) => format!("{} {name}", digits(bytes / size)),
        None => format!("{} B", digits(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_the_largest_unit_of_which_there_is_one() {
        for (bytes, text) in [
            (12.0, "12.0 B"),
            (2048.0, "2.00 KiB"),
            (1.12 * 1024f64.powi(3), "1.12 GiB"),
            (1024f64.powi(4) - 1.0, "1024 GiB"),
            (95.4 * 1024f64.powi(4), "95.4 TiB"),
        ] {
            assert_eq!(memory(bytes), text);
        }
    }
}
