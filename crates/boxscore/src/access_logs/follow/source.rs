//! One log that is followed: a file by its name, or a stream until its end. Its format is detected once there are
//! enough lines.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use logs::format::Format;
use logs::read::follow::{Lines, Target};
use logs::read::rotate::{Event, Named};
use logs::read::{is_packed, whole_lines};
use model::doc::FormatDoc;

use crate::access_logs::Formats;
use crate::access_logs::inputs::format_doc;
use crate::error::CliError;

/// The format is detected once so many lines are there, or after [`PATIENT`] polls without more.
const ENOUGH: usize = 20;
const PATIENT: u32 = 8;
/// Blocks of a stream that wait to be counted.
const WAITING: usize = 64;
const BLOCK: usize = 64 << 10;

/// One log.
pub struct Source {
    pub label: String,
    pub name: String,
    from: From,
    /// Calls since the first line without a format.
    calls: u32,
    /// The current error, if any.
    pub trouble: Option<String>,
    ended: bool,
}

enum From {
    File(Named),
    Stream { blocks: Receiver<Result<Vec<u8>, String>>, held: Vec<u8>, lines: Option<Lines> },
}

/// Result of a poll.
#[derive(Debug, Default)]
pub struct Found {
    pub more: bool,
    pub events: Vec<String>,
    /// The format, once it is known.
    pub format: Option<(Arc<Format>, FormatDoc)>,
}

impl Source {
    /// A file, which may not be there yet.
    pub fn file(label: &str, name: &str, path: &Path) -> Result<Source, CliError> {
        let wrong = |what: String| CliError::data(format!("{name}: {what}"));
        let opened = logs::read::rotate::check(path).map_err(wrong)?;
        let is_file = |file: std::fs::File| file.metadata().is_ok_and(|about| about.is_file());
        if opened.is_some_and(|file| !is_file(file)) {
            let stream = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
            return Ok(Source::stream(label, name, Box::new(stream)));
        }
        Ok(Source::new(label, name, From::File(Named::new(name, path.to_owned(), None))))
    }

    /// A stream, read by a thread of its own, which ends with the program where the stream does not.
    pub fn stream(label: &str, name: &str, mut stream: Box<dyn Read + Send>) -> Source {
        let (give, blocks) = sync_channel(WAITING);
        std::thread::spawn(move || {
            let mut block = vec![0; BLOCK];
            loop {
                let read = match stream.read(&mut block) {
                    Ok(0) => return,
                    Ok(count) => Ok(block.get(..count).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => Err(error.to_string()),
                };
                let is_last = read.is_err();
                if give.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        Source::new(label, name, From::Stream { blocks, held: Vec::new(), lines: None })
    }

    fn new(label: &str, name: &str, from: From) -> Source {
        let (label, name) = (label.to_owned(), name.to_owned());
        Source { label, name, from, calls: 0, trouble: None, ended: false }
    }

    /// True at the end of a stream.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Reads what is new.
    pub fn poll(&mut self, formats: &Formats, target: &mut Target<'_>) -> Found {
        let mut found = Found::default();
        if self.ended {
            return found;
        }
        if let Err(what) = self.step(formats, target, &mut found) {
            // A stream gives its bytes once.
            self.ended = matches!(self.from, From::Stream { .. });
            if self.trouble.as_ref() != Some(&what) {
                found.events.push(format!("{}: {what}", self.name));
                self.trouble = Some(what);
            }
        }
        found
    }

    fn step(&mut self, formats: &Formats, target: &mut Target<'_>, found: &mut Found) -> Result<(), String> {
        match &mut self.from {
            From::File(named) => {
                if let Some(lines) = named.wants_format()?
                    && let Some((format, doc)) = told(formats, &self.name, &lines, &mut self.calls)?
                {
                    named.set_format(format.clone());
                    found.format = Some((format, doc));
                }
                let step = named.poll(target)?;
                found.more = step.more;
                found.events.extend(step.events.iter().map(|event| said(&self.name, *event)));
                self.trouble = None;
            }
            From::Stream { blocks, held, lines } => {
                self.ended = drained(blocks, held, lines.is_none(), found)?;
                if lines.is_none() {
                    let mut seen = whole_lines(held, self.ended);
                    seen.retain(|line| !line.is_empty());
                    let calls = if self.ended { &mut PATIENT.clone() } else { &mut self.calls };
                    if !seen.is_empty()
                        && let Some((format, doc)) = told(formats, &self.name, &seen, calls)?
                    {
                        *lines = Some(Lines::new(&self.name, format.clone()));
                        found.format = Some((format, doc));
                    }
                }
                if let Some(lines) = lines {
                    lines.feed(&std::mem::take(held), target);
                    if self.ended {
                        lines.finish(target);
                    }
                    self.trouble = None;
                }
            }
        }
        Ok(())
    }

    /// Ends it. Returns its error, if any, and a note about an unfinished last line.
    pub fn end(self, target: &mut Target<'_>) -> (Option<String>, Option<String>) {
        let Source { name, from, trouble, calls, .. } = self;
        let fault = |what: String| Some(format!("{name}: {what}"));
        if let Some(what) = trouble {
            return (fault(what), None);
        }
        let left = |bytes: u64| {
            (bytes > 0).then(|| format!("{name}: {bytes} bytes of a line without its end are not counted"))
        };
        match from {
            From::File(named) => {
                if !named.is_open() {
                    let what =
                        if calls > 0 { "too few lines to tell the format from" } else { "nothing came" };
                    return (fault(what.to_owned()), None);
                }
                match named.end(target) {
                    Ok(bytes) => (None, left(bytes)),
                    Err(what) => (fault(what), None),
                }
            }
            From::Stream { lines: None, .. } => (fault("no lines came".to_owned()), None),
            From::Stream { lines: Some(lines), .. } => (None, left(lines.pending())),
        }
    }
}

/// Takes what waits; true at the end of the stream.
fn drained(
    blocks: &Receiver<Result<Vec<u8>, String>>,
    held: &mut Vec<u8>,
    is_start: bool,
    found: &mut Found,
) -> Result<bool, String> {
    for _ in 0..WAITING {
        match blocks.try_recv() {
            Ok(Ok(block)) => {
                if is_start && held.is_empty() && is_packed(&block) {
                    return Err("packed: unpack it first, such as with zcat".to_owned());
                }
                held.extend(block);
            }
            Ok(Err(what)) => return Err(format!("cannot be read to its end: {what}")),
            Err(TryRecvError::Empty) => return Ok(false),
            Err(TryRecvError::Disconnected) => return Ok(true),
        }
    }
    found.more = true;
    Ok(false)
}

/// The format by these lines; none while there are few and more may come.
fn told(
    formats: &Formats,
    name: &str,
    lines: &[Vec<u8>],
    calls: &mut u32,
) -> Result<Option<(Arc<Format>, FormatDoc)>, String> {
    *calls += 1;
    if lines.len() < ENOUGH && *calls < PATIENT && matches!(formats, Formats::Detected) {
        return Ok(None);
    }
    let (format, how) = formats.format_of(name, lines)?;
    let doc = format_doc(name, &format, how);
    Ok(Some((format, doc)))
}

fn said(name: &str, event: Event) -> String {
    let what = match event {
        Event::Appeared => "is there now",
        Event::Rotated => "is a new file: the old one is read to its end",
        Event::Truncated => "was truncated: it is read from its start",
        Event::Gone => "is gone; waiting for it",
    };
    format!("{name} {what}")
}
