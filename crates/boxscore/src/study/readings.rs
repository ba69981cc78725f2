//! Readings of a meter that somebody types, or that stand in a file or come over a pipe, one a line.
//!
//! On a terminal what was typed before a question is dropped: it was read off the meter at another time. Of a file or a
//! pipe each question gets the next line, and one that came too late for its question is dropped.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use harness::conductor::Typist;
use model::power::{METER, Meter, TYPED_FLAG, typed};
use model::{Cell, Plan};

use crate::error::CliError;
use crate::out;

/// The name of standard input.
const STDIN: &str = "-";

/// A source of readings, read by a thread of its own.
pub struct Readings {
    lines: Receiver<Option<String>>,
    /// Asks for the next line; `None` on a terminal, where lines come by themselves.
    wanted: Option<Sender<()>>,
    /// Lines that were asked for by questions that are over.
    late: usize,
    is_open: bool,
    has_ended: bool,
}

/// True if somebody must read a meter for a plan.
fn is_typed(plan: &Plan) -> bool {
    let is = |cell: &Cell| cell.params.get(METER) == Some(Meter::Typed.word());
    plan.fake.is_none() && plan.cells.iter().any(is)
}

/// True where somebody can be asked.
pub fn has_terminal() -> bool {
    std::io::stdin().is_terminal() && out::talks_to_a_person()
}

/// The readings that a plan needs: of a file, of standard input (`-`), else of the terminal; `None` where it needs
/// none. Says so where there is nobody to ask. Fails when the file cannot be read.
pub fn for_plan(plan: &Plan, from: Option<&str>) -> Result<Option<Readings>, CliError> {
    if !is_typed(plan) {
        return Ok(None);
    }
    match from {
        Some(STDIN) if std::io::stdin().is_terminal() => Readings::start(std::io::stdin(), true).map(Some),
        Some(STDIN) => Readings::start(std::io::stdin(), false).map(Some),
        Some(path) => {
            let file = File::open(path)
                .map_err(|error| CliError::data(format!("--{TYPED_FLAG} {path}: {error}")))?;
            Readings::start(file, false).map(Some)
        }
        None if has_terminal() => Readings::start(std::io::stdin(), true).map(Some),
        None => {
            out::say("warning: nobody can be asked what the meter shows: takes from now on have no watts");
            Ok(None)
        }
    }
}

impl Readings {
    fn start(from: impl Read + Send + 'static, is_terminal: bool) -> Result<Readings, CliError> {
        let (give, lines) = channel();
        let (want, wanted) = channel::<()>();
        let body = move || {
            let mut from = BufReader::new(from);
            while is_terminal || wanted.recv().is_ok() {
                let mut line = String::new();
                // What cannot be read is the end of it.
                let has_line = from.read_line(&mut line).is_ok_and(|count| count > 0);
                if give.send(has_line.then_some(line)).is_err() || !has_line {
                    return;
                }
            }
        };
        let started = thread::Builder::new().name("readings".to_owned()).spawn(body);
        started.map_err(|error| CliError::data(format!("cannot start a thread: {error}")))?;
        let wanted = (!is_terminal).then_some(want);
        Ok(Readings { lines, wanted, late: 0, is_open: false, has_ended: false })
    }

    fn want(&mut self) {
        if let Some(wanted) = &self.wanted {
            // Where the thread has ended, so have the lines.
            self.has_ended |= wanted.send(()).is_err();
        }
    }
}

impl Typist for Readings {
    fn ask(&mut self) {
        if self.wanted.is_none() {
            while let Ok(line) = self.lines.try_recv() {
                self.has_ended |= line.is_none();
            }
        }
        self.is_open = true;
        self.want();
    }

    fn answer(&mut self) -> Option<Result<Option<f64>, String>> {
        if self.has_ended {
            return Some(Ok(None));
        }
        loop {
            let line = match self.lines.try_recv() {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.has_ended = true;
                    out::say("warning: the readings have ended: takes from now on have no watts");
                    return Some(Ok(None));
                }
                Err(_) => return None,
            };
            if self.late > 0 {
                self.late -= 1;
                continue;
            }
            let reading = typed(&line);
            match reading.is_err() {
                true => self.want(),
                false => self.is_open = false,
            }
            return Some(reading);
        }
    }

    fn withdraw(&mut self) {
        if std::mem::take(&mut self.is_open) && self.wanted.is_some() {
            self.late += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn answered(readings: &mut Readings) -> Result<Option<f64>, String> {
        for _ in 0..500 {
            if let Some(answer) = readings.answer() {
                return answer;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("no answer");
    }

    #[test]
    fn each_question_has_the_next_line() {
        let mut readings = Readings::start(&b"41.3\n\nabc\n42 W\n"[..], false).unwrap();
        let mut next = || {
            readings.ask();
            let answer = answered(&mut readings);
            let again = answer.is_err().then(|| answered(&mut readings));
            readings.withdraw();
            (answer.ok(), again)
        };
        assert_eq!(next(), (Some(Some(41.3)), None));
        assert_eq!(next(), (Some(None), None), "an empty line is no reading");
        assert_eq!(next(), (None, Some(Ok(Some(42.0)))), "what is no reading leaves the question open");
        assert_eq!(next(), (Some(None), None), "the end");
        assert_eq!(next(), (Some(None), None));
    }

    #[test]
    fn a_line_that_is_too_late_is_for_no_later_question() {
        let (mut reader, mut writer) = std::io::pipe().map(|(r, w)| (Some(r), w)).unwrap();
        let mut readings = Readings::start(reader.take().unwrap(), false).unwrap();
        readings.ask();
        assert_eq!(readings.answer(), None);
        readings.withdraw();
        readings.ask();
        std::io::Write::write_all(&mut writer, b"1\n2\n").unwrap();
        assert_eq!(answered(&mut readings), Ok(Some(2.0)));
    }
}
