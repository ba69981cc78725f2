//! `name value` lines, as in /proc/vmstat and the cgroup files: the values of a few names.

use super::{lines, number, words};

/// The values of `names`, in their order; missing ones stay missing.
pub fn pick<const N: usize>(bytes: &[u8], names: [&str; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    for line in lines(bytes) {
        let mut fields = words(line);
        let Some(name) = fields.next() else { continue };
        let wanted = names.iter().position(|wanted| wanted.as_bytes() == name);
        if let Some(slot) = wanted.and_then(|at| found.get_mut(at)) {
            *slot = fields.next().and_then(number);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_by_name() {
        let text = include_bytes!("fixtures/vmstat");
        assert_eq!(
            pick(text, ["pswpin", "pswpout", "pgmajfault", "nothing"]),
            [Some(3), Some(5), Some(1234), None]
        );
        assert_eq!(pick(b"a x\nb\n", ["a", "b"]), [None, None]);
    }
}
