//! A child of this program that is told on its standard input what to do, and says one line once it does it.
//!
//! It ends with this program, whatever way that ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use sys::process::Start;

use super::guard::{self, Guarded};

/// No line of a child is longer.
const MOST_LINE: u64 = 4096;

/// Starts this program with these arguments and returns its first line, empty if it ended. Fails when it cannot be
/// started.
pub fn start(arguments: &[&str], order: &str) -> Result<(Guarded, String), String> {
    guard::available()?;
    let program = guard::program().ok_or("this program cannot start itself")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Guarded::spawn(command, Start::default())?;
    let io = |error: std::io::Error| format!("boxscore {} did not start: {error}", arguments.join(" "));
    let mut input = child.child().stdin.take().ok_or("a child has no stdin")?;
    input.write_all(order.as_bytes()).map_err(io)?;
    drop(input);
    let output = child.child().stdout.take().ok_or("a child has no stdout")?;
    let mut line = String::new();
    BufReader::new(output.take(MOST_LINE)).read_line(&mut line).map_err(io)?;
    Ok((child, line.trim_end().to_owned()))
}
