//! Parses the output of the languages' programs: lines of words and numbers.
//!
//! Pure. Times are ns: CPU time of the thread, then wall time. A line outside the protocol is an error that quotes it,
//! so that no number comes from junk. Only the form is checked here; `reference` knows the right results.

/// No program prints more lines.
const MOST_LINES: usize = 400_000;

/// Something that a kernel computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The IEEE bits of a double, or a hash.
    Bits(u64),
    Whole(i64),
}

/// One batch of cycles, timed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    pub cycles: u64,
    pub cpu_ns: u64,
    pub wall_ns: u64,
    /// Its end, by the monotonic clock of the machine.
    pub end_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub cpu_ns: u64,
    pub wall_ns: u64,
}

/// The compilers of a runtime, as they were during its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compilers {
    /// They had rested for so long in the end that no further code is to be expected.
    pub are_quiet: bool,
    /// Iterations that were done when they last worked.
    pub worked: u64,
}

/// All that a program printed, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub checks: Vec<(String, Found)>,
    pub batches: Vec<Batch>,
    pub iterations: Vec<Iteration>,
    /// `None` where the program did not say.
    pub compilers: Option<Compilers>,
}

impl Output {
    /// The batch that is scored: the last one.
    pub fn scored(&self) -> Option<Batch> {
        self.batches.last().copied()
    }
}

/// Parses a whole output. Fails when a line is malformed or the final `end` is missing.
pub fn read(text: &str) -> Result<Output, String> {
    let mut output = Output::default();
    let mut is_over = false;
    for (at, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}: `{}`", at + 1, shown(line));
        if is_over {
            return Err(wrong("something after `end`"));
        }
        if at >= MOST_LINES {
            return Err(wrong("far more lines than a program prints"));
        }
        is_over = output.line(line).map_err(|what| wrong(&what))?;
    }
    if is_over { Ok(output) } else { Err("it does not end with the line `end`".to_owned()) }
}

impl Output {
    /// Takes one line in; `true` where it is the last one.
    fn line(&mut self, line: &str) -> Result<bool, String> {
        let mut words = line.split(' ');
        let kind = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        match (kind, words.as_slice()) {
            ("check", [name, value]) => {
                let known = self.checks.iter().any(|(other, _)| other == name);
                if known || name.is_empty() {
                    return Err("a check without a name of its own".to_owned());
                }
                self.checks.push(((*name).to_owned(), found(value).ok_or("no value")?));
            }
            ("batch", [cycles, cpu, wall, end]) => {
                let [cycles, cpu_ns, wall_ns, end_ns] = numbers([cycles, cpu, wall, end])?;
                let due = self.batches.last().map_or(Some(1), |last| last.cycles.checked_mul(2));
                if due != Some(cycles) {
                    return Err("not twice the cycles of the batch before".to_owned());
                }
                self.batches.push(Batch { cycles, cpu_ns, wall_ns, end_ns });
            }
            ("iteration", [cpu, wall]) => {
                let [cpu_ns, wall_ns] = numbers([cpu, wall])?;
                self.iterations.push(Iteration { cpu_ns, wall_ns });
            }
            ("compilers", [state @ ("quiet" | "busy"), worked]) => {
                let [worked] = numbers([worked])?;
                if worked > self.iterations.len() as u64 {
                    return Err("more iterations than there were".to_owned());
                }
                self.compilers = Some(Compilers { are_quiet: *state == "quiet", worked });
            }
            // It is there so that no compiler leaves the work out; what it is depends on the cycles.
            ("sum", [value]) => drop(found(value).ok_or("no value")?),
            ("end", []) => return Ok(true),
            _ => return Err("no line of a kernel's program".to_owned()),
        }
        Ok(false)
    }
}

fn numbers<const N: usize>(words: [&&str; N]) -> Result<[u64; N], String> {
    let mut all = [0; N];
    for (place, word) in all.iter_mut().zip(words) {
        // Digits alone: a sign would be read too.
        let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
        *place = word.parse().ok().filter(|_| is_plain).ok_or("a whole number was expected")?;
    }
    Ok(all)
}

/// `x` and 16 hexadecimal digits, or a whole number.
fn found(word: &str) -> Option<Found> {
    match word.strip_prefix('x') {
        Some(digits) => {
            let is_hex = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            u64::from_str_radix(digits, 16).ok().filter(|_| is_hex).map(Found::Bits)
        }
        None => word.parse().ok().map(Found::Whole),
    }
}

fn shown(line: &str) -> String {
    line.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use model::mutate::{Dice, mutate};

    use super::*;
    use crate::load::http::fuzz::rounds;

    const TIMED: &str = "check hits.1000 790\ncheck y.sum x40929a96d0ec4d1f\nbatch 1 1200 1300 90001300\n\
                         batch 2 2400 2600 90003900\nsum x3ff0000000000000\nend\n";
    const WARMING: &str = "iteration 1257000 1300000\niteration 565000 570000\ncompilers quiet 1\n\
                           sum x0000000000000000\nend\n";

    #[test]
    fn every_line_is_kept_in_its_order() {
        let output = read(TIMED).unwrap();
        let checks = [
            ("hits.1000".to_owned(), Found::Whole(790)),
            ("y.sum".to_owned(), Found::Bits(0x4092_9a96_d0ec_4d1f)),
        ];
        assert_eq!(output.checks, checks);
        let scored = Batch { cycles: 2, cpu_ns: 2400, wall_ns: 2600, end_ns: 90_003_900 };
        assert_eq!((output.batches.len(), output.scored()), (2, Some(scored)));
        let output = read(WARMING).unwrap();
        assert_eq!(output.iterations.len(), 2);
        assert_eq!(output.iterations[1], Iteration { cpu_ns: 565_000, wall_ns: 570_000 });
        assert_eq!(output.compilers, Some(Compilers { are_quiet: true, worked: 1 }));
        assert_eq!(output.scored(), None);
        let busy = read(&WARMING.replace("quiet", "busy")).unwrap();
        assert_eq!(busy.compilers, Some(Compilers { are_quiet: false, worked: 1 }));
        for (to, says) in
            [("quiet 3", "more iterations"), ("idle 1", "no line"), ("quiet x", "a whole number")]
        {
            let why = read(&WARMING.replace("quiet 1", to)).unwrap_err();
            assert!(why.contains("line 3") && why.contains(says), "{to}: {why}");
        }
    }

    #[test]
    fn junk_is_refused_with_its_line() {
        for (from, to, says) in [
            ("end\n", "", "does not end"),
            ("end\n", "end\nmore\n", "line 7: something after `end`: `more`"),
            ("batch 2", "batch 3", "line 4: not twice the cycles"),
            ("batch 1", "batch 2", "line 3: not twice"),
            ("2400", "-2400", "line 4: a whole number"),
            ("2400", "+2400", "line 4: a whole number"),
            ("2400", "2.4", "line 4: a whole number"),
            ("2400", "99999999999999999999999", "line 4: a whole number"),
            (" 90003900", "", "line 4: no line of a kernel's program"),
            ("x4092", "x409", "line 2: no value"),
            ("x4092", "x+092", "line 2: no value"),
            ("790", "many", "line 1: no value"),
            ("y.sum", "hits.1000", "line 2: a check without a name of its own"),
            ("check hits", "Picked up JAVA_OPTIONS\ncheck hits", "line 1: no line"),
            ("sum x3", "sum y3", "line 5: no value"),
        ] {
            let why = read(&TIMED.replacen(from, to, 1)).unwrap_err();
            assert!(why.contains(says), "{says}: {why}");
        }
        assert!(read("").is_err());
        assert!(read(&"iteration 1 1\n".repeat(MOST_LINES + 1)).unwrap_err().contains("far more lines"));
    }

    /// Outputs with bytes changed, cut, repeated and planted: nothing panics, and what is read is sound. Seeded; a
    /// third of a second, or `BOXSCORE_FUZZ_SECONDS`.
    #[test]
    fn fuzz_output_of_kernels() {
        let mut dice = Dice::new(20_121_001);
        let (mut all, mut good) = (0u64, 0u64);
        let plants: [&[u8]; 6] =
            [b"\n", b" ", b"end\n", b"batch ", b"x3ff0000000000000", b"18446744073709551616"];
        rounds(|| {
            all += 1;
            let seed = dice.pick(&[TIMED, WARMING]).expect("there are seeds");
            let bytes = mutate(seed.as_bytes(), &plants, &mut dice);
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(output) = read(&text) {
                good += 1;
                let lines = text.lines().count();
                assert!(
                    output.checks.len() + output.batches.len() + output.iterations.len() < lines,
                    "{text:?}"
                );
                let doubles = output.batches.windows(2).all(|pair| pair[1].cycles == 2 * pair[0].cycles);
                assert!(doubles && text.lines().last() == Some("end"), "{text:?}");
            }
        });
        assert!(good > 0 && good < all, "{good} of {all} were read");
    }
}
