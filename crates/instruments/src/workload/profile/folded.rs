//! The output of `perf script -F comm,ip,sym,dso` as folded stacks: `program;caller;callee 12`, one stack a line.
//!
//! Counts are samples. Frames of the kernel (addresses in the upper half) end in `_[k]`; a frame without a symbol is
//! its file in brackets. Nothing is resolved here.

use std::collections::BTreeMap;

/// Frames of one stack that are kept, from its leaf.
const DEEPEST: usize = 128;
/// Bytes of one name.
const NAME: usize = 200;
const KERNEL: &str = "_[k]";
/// A name for the stacks that are left out.
const REST: &str = "(other stacks)";

/// Stacks with their samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    pub stacks: BTreeMap<String, u64>,
    /// Lines that are neither a sample's head nor a frame.
    pub unread: u64,
}

/// A sample that is being read: its program, and its frames from the leaf on.
#[derive(Default)]
struct Sample {
    program: String,
    frames: Vec<String>,
}

impl Folded {
    /// Reads the whole text.
    pub fn parse(bytes: &[u8]) -> Folded {
        let mut folded = Folded::default();
        let mut open: Option<Sample> = None;
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let is_frame = line.starts_with([' ', '\t']);
            match (line.trim().is_empty(), is_frame, &mut open) {
                (true, ..) => folded.close(open.take()),
                (false, false, _) => {
                    folded.close(open.take());
                    let program = clean(line.trim().trim_end_matches(':'));
                    open = Some(Sample { program, frames: Vec::new() });
                }
                (false, true, Some(sample)) => match frame(&line) {
                    Some(frame) if sample.frames.len() < DEEPEST => sample.frames.push(frame),
                    Some(_) => {}
                    None => folded.unread += 1,
                },
                (false, true, None) => folded.unread += 1,
            }
        }
        folded.close(open);
        folded
    }

    fn close(&mut self, sample: Option<Sample>) {
        let Some(Sample { program, frames }) = sample else { return };
        // The root of a stack that was cut is an address that is nothing.
        let known = frames.iter().rev().skip_while(|frame| *frame == UNKNOWN);
        let mut stack = program;
        for name in known {
            stack.push(';');
            stack.push_str(name);
        }
        if !stack.is_empty() {
            *self.stacks.entry(stack).or_default() += 1;
        }
    }

    pub fn samples(&self) -> u64 {
        self.stacks.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// One stack a line, in at most about `most` bytes: the stacks with the fewest samples are left out first, and
    /// counted together.
    pub fn text(&self, most: usize) -> String {
        let mut sorted: Vec<(&String, &u64)> = self.stacks.iter().collect();
        sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let (mut lines, mut bytes, mut rest) = (Vec::new(), 0, 0u64);
        for (stack, count) in sorted {
            let line = format!("{stack} {count}\n");
            if bytes + line.len() > most || rest > 0 {
                rest = rest.saturating_add(*count);
                continue;
            }
            bytes += line.len();
            lines.push(line);
        }
        lines.sort_unstable();
        if rest > 0 {
            lines.push(format!("{REST} {rest}\n"));
        }
        lines.concat()
    }
}

/// The name of a frame of which nothing is known.
const UNKNOWN: &str = "[unknown]";

/// `\t ffffffff81591287 filemap_read ([kernel.kallsyms])`.
fn frame(line: &str) -> Option<String> {
    let (address, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let address = u64::from_str_radix(address, 16).ok()?;
    let rest = rest.trim();
    let (symbol, file) = match rest.rsplit_once(" (").map(|(symbol, file)| (symbol, file.strip_suffix(')'))) {
        Some((symbol, Some(file))) => (symbol.trim(), file),
        _ => (rest, ""),
    };
    let symbol = symbol.split("+0x").next().unwrap_or_default();
    let is_kernel = address >> 63 == 1;
    let name = match (symbol, file.rsplit('/').next().unwrap_or_default()) {
        ("" | "[unknown]", "" | "[unknown]") => UNKNOWN.to_owned(),
        ("" | "[unknown]", file) => format!("[{}]", file.trim_matches(['[', ']'])),
        (symbol, _) => symbol.to_owned(),
    };
    let name = clean(&name);
    Some(if is_kernel && name != UNKNOWN { format!("{name}{KERNEL}") } else { name })
}

/// A name that a folded stack can hold.
fn clean(name: &str) -> String {
    let kept = name.chars().filter(|letter| !letter.is_control());
    let kept: String = kept.map(|letter| if letter == ';' { ':' } else { letter }).collect();
    let end =
        kept.char_indices().map(|(at, letter)| at + letter.len_utf8()).take_while(|end| *end <= NAME).last();
    kept.get(..end.unwrap_or(0)).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CAPTURED: &[u8] = include_bytes!("fixtures/perf-script.txt");

    #[test]
    fn a_capture_is_folded() {
        let folded = Folded::parse(CAPTURED);
        assert_eq!(folded.unread, 0);
        insta::assert_snapshot!(folded.text(1 << 20));
    }

    #[test]
    fn odd_lines_are_counted_and_frames_are_cleaned() {
        let text = "nginx: worker \n\t 55d0 a;b+0x12 (/usr/sbin/nginx)\n\tnonsense\n\t 0 [unknown] ([unknown])\n\n\
                    \t 12 lost (x)\nhttpd\n\n";
        let folded = Folded::parse(text.as_bytes());
        assert_eq!(folded.text(1 << 20), "httpd 1\nnginx: worker;a:b 1\n");
        assert_eq!((folded.unread, folded.samples()), (2, 2));
    }

    #[test]
    fn what_does_not_fit_is_counted_together() {
        let mut folded = Folded::default();
        for (stack, count) in [("a;b", 10), ("a;c", 5), ("a;d", 1), ("a;e", 2)] {
            folded.stacks.insert(stack.to_owned(), count);
        }
        assert_eq!(folded.text(14), "a;b 10\na;c 5\n(other stacks) 3\n");
        assert_eq!(folded.text(0), "(other stacks) 18\n");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, text in "[a-z;\t\n 0-9()\\[\\]+]*") {
            let _any = Folded::parse(&bytes);
            let folded = Folded::parse(text.as_bytes());
            // Every line ends in a count, and the counts add up.
            let sum: u64 = folded.text(1 << 20).lines()
                .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
            prop_assert_eq!(sum, folded.samples());
        }

        #[test]
        fn stacks_come_back(stacks in proptest::collection::vec(
            (proptest::collection::vec("[a-z_]{1,9}", 1..9), any::<bool>()), 0..20,
        )) {
            let mut text = String::new();
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for (names, is_kernel) in &stacks {
                text.push_str("prog \n");
                let mark = if *is_kernel { KERNEL } else { "" };
                let address = if *is_kernel { "ffffffff81000000" } else { "7f0000001000" };
                for name in names.iter().rev() {
                    text.push_str(&format!("\t{address} {name} (/lib/x.so)\n"));
                }
                text.push('\n');
                let stack: Vec<String> = names.iter().map(|name| format!("{name}{mark}")).collect();
                *expected.entry(format!("prog;{}", stack.join(";"))).or_default() += 1;
            }
            prop_assert_eq!(Folded::parse(text.as_bytes()).stacks, expected);
        }
    }
}
