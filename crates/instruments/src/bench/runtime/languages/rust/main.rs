//! The kernels of SciMark2 as one short-lived program: checks what a kernel computes, times it, or shows how it warms up.
//!
//! ```text
//! scimark KERNEL SIZE check
//! scimark KERNEL SIZE time MIN_SECONDS
//! scimark KERNEL SIZE warmup ITERATIONS CYCLES
//! ```
//!
//! Times are in nanoseconds: the CPU time of the thread, then wall time. Making and checking the data are not timed.
//! Exit code 2 is a wrong command line, 1 a failure; both say why on stderr.

mod check;
mod clock;
mod fft;
mod kernel;
mod lu;
mod memory;
mod monte_carlo;
mod random;
mod sor;
mod sparse;

use std::io::Write;
use std::process::ExitCode;

use check::Check;
use clock::Times;
use kernel::{Kernel, Size, SIZES};

/// A reason to end the program, with its exit code.
struct Failure(u8, String);

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self(1, message)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match obey(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(code, message)) => {
            eprintln!("scimark: {message}");
            ExitCode::from(code)
        }
    }
}

fn obey(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        [kernel, size, "check"] => print_check(kernel, size_named(size)?)?,
        [kernel, size, "time", seconds] => {
            let (size, seconds) = (size_named(size)?, seconds_of(seconds)?);
            print_check(kernel, size)?;
            time_batches(make(kernel, size)?, seconds)?;
        }
        [kernel, size, "warmup", iterations, cycles] => {
            let (iterations, cycles) = (count_of(iterations)?, count_of(cycles)?);
            warm_up(make(kernel, size_named(size)?)?, iterations, cycles)?;
        }
        _ => {
            let usage = "usage: scimark KERNEL SIZE check | time MIN_SECONDS | warmup ITERATIONS CYCLES";
            return Err(Failure(2, usage.into()));
        }
    }
    Ok(print(&["end".into()])?)
}

fn make(name: &str, size: &Size) -> Result<Box<dyn Kernel>, Failure> {
    Ok(match name {
        "fft" => Box::new(fft::Fft::new(size)?),
        "sor" => Box::new(sor::Sor::new(size)?),
        "monte-carlo" => Box::new(monte_carlo::MonteCarlo::default()),
        "sparse" => Box::new(sparse::Sparse::new(size)?),
        "lu" => Box::new(lu::Lu::new(size)?),
        _ => return Err(Failure(2, format!("no such kernel (fft, sor, monte-carlo, sparse, lu): {name}"))),
    })
}

fn print_check(kernel: &str, size: &Size) -> Result<(), Failure> {
    let mut check = Check::default();
    make(kernel, size)?.check(&mut check);
    Ok(print(&check.lines)?)
}

/// Doubles the cycles until a batch takes the least time; that one counts. The data carry on from batch to batch.
fn time_batches(mut kernel: Box<dyn Kernel>, min_seconds: f64) -> Result<(), Failure> {
    let mut lines = Vec::new();
    let mut cycles: u64 = 1;
    loop {
        let Times { cpu_ns, wall_ns, end_ns } = clock::timed(|| kernel.run(cycles))?;
        lines.push(format!("batch {cycles} {cpu_ns} {wall_ns} {end_ns}"));
        if cpu_ns as f64 >= min_seconds * 1e9 {
            break;
        }
        cycles = cycles.checked_mul(2).ok_or_else(|| "the least time is too long".to_string())?;
    }
    lines.push(format!("sum {}", check::hex(kernel.sum().to_bits())));
    Ok(print(&lines)?)
}

fn warm_up(mut kernel: Box<dyn Kernel>, iterations: u64, cycles: u64) -> Result<(), Failure> {
    let mut took = memory::vector(iterations as usize, Times::default())?;
    for times in &mut took {
        *times = clock::timed(|| kernel.run(cycles))?;
    }
    let mut lines: Vec<String> =
        took.iter().map(|times| format!("iteration {} {}", times.cpu_ns, times.wall_ns)).collect();
    lines.push(format!("sum {}", check::hex(kernel.sum().to_bits())));
    Ok(print(&lines)?)
}

fn print(lines: &[String]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "{line}"))
        .and_then(|()| out.flush())
        .map_err(|error| format!("the results cannot be written: {error}"))
}

fn size_named(name: &str) -> Result<&'static Size, Failure> {
    SIZES
        .iter()
        .find(|size| size.name == name)
        .ok_or_else(|| Failure(2, format!("no such size (tiny, small, large): {name}")))
}

fn seconds_of(text: &str) -> Result<f64, Failure> {
    text.parse()
        .ok()
        .filter(|seconds| (0.0..=3600.0).contains(seconds))
        .ok_or_else(|| Failure(2, format!("not a number of seconds from 0 to 3600: {text}")))
}

fn count_of(text: &str) -> Result<u64, Failure> {
    text.parse()
        .ok()
        .filter(|count| (1..=1_000_000).contains(count))
        .ok_or_else(|| Failure(2, format!("not a number from 1 to 1000000: {text}")))
}
