//! `--wait-idle`: before anything is measured, wait until other processes leave this machine alone, and say who is
//! busy.
//!
//! Quiet is below a tenth of one CPU in each of three seconds in a row. Where it does not come in the given time, it is
//! said so and measured all the same: what others disturb is doubted. Only this machine is looked at.

use std::time::Duration;

use instruments::bench::machine::watch::quiet::{MOST, Others, SPANS, Watcher};
use model::format;
use model::note::Disturber;
use model::params::parse_span;

use super::stop_signal::StopSignal;
use crate::error::CliError;
use crate::out;
use crate::out::Canvas;

const LOOK: Duration = Duration::from_secs(1);
/// The signal is looked for so often.
const STEPS: u32 = 10;
/// Without a terminal it is said so often who is busy, in seconds.
const SAID: u32 = 30;

/// How long to wait for quiet.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WaitIdle {
    /// First wait until others use less than 0.1 CPU, at most this long (10m); then measure all the same
    #[arg(long, value_name = "DURATION")]
    pub wait_idle: Option<String>,
}

impl WaitIdle {
    /// The longest wait in seconds. Fails when it is no time.
    pub fn seconds(&self) -> Result<Option<f64>, CliError> {
        let seconds = |text: &String| {
            parse_span(text).ok_or_else(|| {
                CliError::usage(format!("--wait-idle {text}: not a time")).hint("write 90s, 10m or 1h")
            })
        };
        self.wait_idle.as_ref().map(seconds).transpose()
    }

    /// Waits, and warns where it did not become quiet in time. Fails when the user ends it.
    pub fn wait(&self, stop: &StopSignal, is_document: bool) -> Result<(), CliError> {
        let Some(most) = self.seconds()? else { return Ok(()) };
        let mut watcher = Watcher::open().map_err(CliError::data)?;
        let mut canvas = if is_document { None } else { Canvas::open() };
        let begun_ns = sys::clock::now_ns();
        for nth in 0.. {
            for _ in 0..STEPS {
                std::thread::sleep(LOOK / STEPS);
                if stop.is_requested() {
                    clear(canvas);
                    return Err(CliError::interrupted("interrupted while it waited for quiet"));
                }
            }
            let others = watcher.look().map_err(CliError::data)?;
            let waited = (sys::clock::now_ns() - begun_ns) as f64 / 1e9;
            if watcher.is_quiet() {
                clear(canvas);
                if nth >= SPANS {
                    out::say(&format!("quiet after {}", format::duration(waited.round())));
                }
                return Ok(());
            }
            if waited >= most {
                clear(canvas);
                out::say(&never(most, &others));
                return Ok(());
            }
            let line = line(&others, waited, most);
            match &mut canvas {
                Some(canvas) => canvas.draw(&report::text::cut(&line, out::look_of_talk().columns - 1)),
                None if nth % SAID == 0 && others.cpus >= MOST => out::say(&line),
                None => {}
            }
        }
        Ok(())
    }
}

fn clear(canvas: Option<Canvas>) {
    if let Some(mut canvas) = canvas {
        canvas.clear();
    }
}

/// `waiting for quiet, 3 s of 10 min: others use 0.75 CPUs: ramcloud (pid 123) 0.44 of a CPU`.
fn line(others: &Others, waited: f64, most: f64) -> String {
    format!(
        "waiting for quiet, {} of {}: {}",
        format::duration(waited.round()),
        format::duration(most),
        busy(others)
    )
}

fn busy(others: &Others) -> String {
    let named = Disturber::list(&others.by[..others.by.len().min(Disturber::NAMED)]);
    let named = named.map_or_else(String::new, |named| format!(": {named}"));
    format!("others use {} CPUs{named}", format::number(others.cpus))
}

fn never(most: f64, others: &Others) -> String {
    format!(
        "warning: it did not become quiet in {}: {}; what they disturb is doubted",
        format::duration(most),
        busy(others)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_busy_is_said() {
        let by = vec![Disturber { pid: 123, name: "ramcloud".to_owned(), cpus: 0.44, kernel: false }];
        let others = Others { cpus: 0.75, by };
        assert_eq!(
            line(&others, 3.2, 600.0),
            "waiting for quiet, 3 s of 10 min: others use 0.750 CPUs: ramcloud (pid 123) 0.440 of a CPU"
        );
        assert_eq!(
            never(90.0, &Others { cpus: 0.2, by: Vec::new() }),
            "warning: it did not become quiet in 1 min 30 s: others use 0.200 CPUs; what they disturb is doubted"
        );
    }

    #[test]
    fn a_wait_is_a_time() {
        let of = |text: &str| WaitIdle { wait_idle: Some(text.to_owned()) }.seconds();
        assert_eq!(of("10m"), Ok(Some(600.0)));
        assert_eq!(of("soon").unwrap_err().kind.exit_code(), 2);
        assert_eq!(WaitIdle::default().seconds(), Ok(None));
    }
}
