//! One thread: takes tasks until none is left, and keeps an aggregate for each label.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::input::{Fault, Input, Options};
use super::pieces::Task;
use super::source::{self, Counted, Packed, Source};
use super::tally::{Tally, TallyWriter, Wants};
use super::watch::Watch;
use crate::aggregate::Settings;
use crate::aggregate::skips::Skips;
use crate::format::Format;
use crate::scan::lines::{Cutter, Line, Run, Took};
use crate::scan::{Keys, Record, Rows, Scanner, Skip, Taker};

/// State shared by all threads.
pub(super) struct Shared<'w> {
    inputs: Vec<Mutex<Input>>,
    labels: Vec<String>,
    /// By label, nothing in them: each thread fills one beside them.
    empty: BTreeMap<String, Tally>,
    tasks: Vec<Mutex<Option<Task>>>,
    next: AtomicUsize,
    /// The first task with a skipped line, where reading is strict; tasks behind it need not be done.
    failed: AtomicUsize,
    options: &'w Options,
    watch: &'w Watch,
}

impl<'w> Shared<'w> {
    pub(super) fn new(
        inputs: Vec<Input>,
        tasks: Vec<Task>,
        options: &'w Options,
        watch: &'w Watch,
    ) -> Shared<'w> {
        let labels: Vec<String> = inputs.iter().map(|input| input.label.clone()).collect();
        Shared {
            empty: labels.iter().map(|label| (label.clone(), Tally::new(options.wants))).collect(),
            labels,
            inputs: inputs.into_iter().map(Mutex::new).collect(),
            tasks: tasks.into_iter().map(|task| Mutex::new(Some(task))).collect(),
            next: AtomicUsize::new(0),
            failed: AtomicUsize::new(usize::MAX),
            options,
            watch,
        }
    }

    fn is_over(&self, task: usize) -> bool {
        self.watch.is_stopped() || task > self.failed.load(Ordering::Relaxed)
    }

    /// Breaks after a skipped line if reading is strict.
    fn go_on(&self, task: usize) -> ControlFlow<()> {
        if !self.options.strict {
            return ControlFlow::Continue(());
        }
        self.failed.fetch_min(task, Ordering::Relaxed);
        ControlFlow::Break(())
    }
}

/// The lines of one task; what it parsed is in the aggregates.
pub(super) struct Piece {
    pub task: usize,
    pub input: usize,
    pub lines: u64,
    pub skips: Skips,
    /// Where in the unpacked file it begins and ends.
    pub start: u64,
    pub end: u64,
}

/// The results of one thread.
#[derive(Default)]
pub(super) struct Work {
    pub tallies: BTreeMap<String, Tally>,
    pub pieces: Vec<Piece>,
    pub faults: Vec<Fault>,
}

/// Takes tasks until none is left.
pub(super) fn work(shared: &Shared<'_>) -> Work {
    let mut work = Work::default();
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = shared.tasks.get(number) else { return work };
        if shared.is_over(number) {
            return work;
        }
        if let Some(task) = lock(task).take() {
            work.one(number, task, shared);
        }
    }
}

/// A thread that panicked is passed on when it is joined, so its locks say nothing.
fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Work {
    fn one(&mut self, number: usize, task: Task, shared: &Shared<'_>) {
        let input = match &task {
            Task::Piece { input, .. } | Task::Packed { input, .. } | Task::Stream { input, .. } => *input,
        };
        let Some(of) = shared.inputs.get(input) else { return };
        let (format, name, stream) = {
            let mut of = lock(of);
            let stream = match &mut of.source {
                Source::Stream(stream) | Source::Keyed(stream) => {
                    Some(std::mem::replace(stream, Box::new(io::empty())))
                }
                Source::File(_) => None,
            };
            let keys = match &of.source {
                Source::Keyed(_) => Some(Keys::default()),
                Source::File(_) | Source::Stream(_) => None,
            };
            (of.format.clone(), of.name.clone(), stream.map(|stream| (stream, keys)))
        };
        let Options { settings, wants, .. } = shared.options;
        let label = shared.labels[input].clone();
        let Some(empty) = shared.empty.get(&label) else { return };
        let tally = self.tallies.entry(label).or_insert_with(|| empty.beside());
        let mut adder = Adder::new(&format, tally, settings, *wants);
        let (read, start, end) = match (task, stream) {
            (Task::Piece { file, start, end, size, .. }, _) => {
                (piece(&file, start..end, size, &mut adder, number, shared), start, end)
            }
            (Task::Packed { file, .. }, _) => {
                let (read, end) = whole(Box::new(file), 0, &mut adder, number, shared);
                (read, 0, end)
            }
            (Task::Stream { start, .. }, Some((stream, None))) => {
                let (read, end) = whole(stream, start, &mut adder, number, shared);
                (read, start, end)
            }
            (Task::Stream { .. }, Some((stream, Some(keys)))) => {
                adder.scanner = Scanner::keyed(&format, keys);
                keyed(stream, &mut adder, number, shared)
            }
            (Task::Stream { start, .. }, None) => (Ok(()), start, start),
        };
        let (lines, skips) = adder.done();
        self.pieces.push(Piece { task: number, input, lines, skips, start, end });
        if let Err(what) = read {
            self.faults.push(Fault { file: name, what });
        }
    }
}

/// Reads lines into an aggregate.
pub(super) struct Adder<'a> {
    scanner: Scanner<'a>,
    writer: TallyWriter<'a>,
    /// Lines that were given.
    lines: u64,
    pub skips: Skips,
}

impl<'a> Adder<'a> {
    pub(super) fn new(
        format: &'a Format,
        tally: &'a mut Tally,
        settings: &'a Settings,
        wants: Wants,
    ) -> Adder<'a> {
        let scanner = Scanner::new(format);
        let writer = tally.writer(settings, wants);
        Adder { scanner, writer, lines: 0, skips: Skips::default() }
    }

    /// Adds what was put off; how many lines were given, and those that were skipped.
    pub(super) fn done(self) -> (u64, Skips) {
        (self.lines, self.skips)
    }

    /// Reads the lines of a run that begin before `until`, as long as `go_on`, which is asked behind each line that was
    /// skipped, does not stop it.
    pub(super) fn run(&mut self, run: Run<'_>, until: u64, go_on: impl FnMut() -> ControlFlow<()>) -> Took {
        let Adder { scanner, writer, lines, skips } = self;
        let ends = run.text().map(|(_, length)| run.offset + length as u64);
        let takes_rows = ends.is_some_and(|end| end <= until) && writer.takes_rows();
        scanner.give(run, &mut Adding { writer, lines, skips, until, takes_rows, go_on })
    }
}

/// Adds the lines of one run.
struct Adding<'r, 'a, G> {
    writer: &'r mut TallyWriter<'a>,
    lines: &'r mut u64,
    skips: &'r mut Skips,
    until: u64,
    takes_rows: bool,
    go_on: G,
}

impl<'l, G: FnMut() -> ControlFlow<()>> Taker<'l> for Adding<'_, '_, G> {
    #[inline(always)]
    fn line(&mut self, line: Line<'l>, read: Result<&Record<'l>, Skip>) -> ControlFlow<()> {
        if line.offset >= self.until {
            return ControlFlow::Break(());
        }
        *self.lines += 1;
        match read {
            Ok(record) => {
                self.writer.add(record);
                ControlFlow::Continue(())
            }
            Err(skip) => {
                self.skips.add(skip, line.number, line.bytes.unwrap_or_default());
                (self.go_on)()
            }
        }
    }

    #[inline(always)]
    fn takes_rows(&self) -> bool {
        self.takes_rows
    }

    #[inline(always)]
    fn rows(&mut self, rows: &Rows<'_>) {
        *self.lines += rows.count() as u64;
        self.writer.add_rows(rows);
    }
}

/// The lines that begin in a part of a plain file.
fn piece(
    file: &File,
    part: std::ops::Range<u64>,
    size: u64,
    adder: &mut Adder<'_>,
    number: usize,
    shared: &Shared<'_>,
) -> Result<(), String> {
    // From one byte before, so that a line that begins exactly here is seen to.
    let inside = part.start > 0;
    let mut cutter = Cutter::new(part.start - u64::from(inside), inside);
    let mut each = |run: Run<'_>| adder.run(run, part.end, || shared.go_on(number));
    let (mut read, mut passed) = (Ok(()), false);
    let mut counted = part.start;
    while !shared.is_over(number) {
        let at = cutter.position();
        if at >= size || cutter.is_before_first() && at >= part.end {
            break;
        }
        let room = cutter.room();
        let most = room.len().min(usize::try_from(size - at).unwrap_or(usize::MAX));
        match file.read_at(&mut room[..most], at) {
            Ok(0) => {
                read = Err(format!("became shorter while it was read: {at} of {size} bytes"));
                break;
            }
            Ok(count) => {
                passed = cutter.took(count, &mut each).is_break();
                if passed {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                read = Err(Packed::Plain.fault(&error));
                break;
            }
        }
        let upto = cutter.position().min(part.end);
        shared.watch.add(usize::try_from(upto.saturating_sub(counted)).unwrap_or(0));
        counted = counted.max(upto);
    }
    if cutter.position() >= size && !passed && !shared.is_over(number) {
        // Nothing is left to be stopped.
        _ = cutter.finish(&mut each);
    }
    shared.watch.add(usize::try_from(part.end.saturating_sub(counted)).unwrap_or(0));
    read
}

/// All lines of a stream that have keys in front of them; and where they begin and end.
fn keyed(
    from: Box<dyn Read + Send + '_>,
    adder: &mut Adder<'_>,
    number: usize,
    shared: &Shared<'_>,
) -> (Result<(), String>, u64, u64) {
    let mut reader = Counted { inner: from, watch: shared.watch };
    let mut cutter = Cutter::keyed();
    let mut read = all_of(&mut reader, Packed::Plain, &mut cutter, adder, number, shared);
    let Some(keys) = adder.scanner.keys() else { return (read, 0, 0) };
    // A stream that failed, or was stopped, may end within a key.
    if let Some(fault) = keys.fault().filter(|_| read.is_ok() && !shared.is_over(number)) {
        read = Err(source::unread(fault));
    }
    (read, keys.start().unwrap_or(0), keys.end())
}

/// All lines of a stream, which may be packed and begins at an offset of its file; and where it ended.
fn whole(
    from: Box<dyn Read + Send + '_>,
    start: u64,
    adder: &mut Adder<'_>,
    number: usize,
    shared: &Shared<'_>,
) -> (Result<(), String>, u64) {
    let (mut reader, packed) = match source::unpacked(from, shared.watch) {
        Ok(opened) => opened,
        Err(error) => return (Err(Packed::Plain.fault(&error)), start),
    };
    let mut cutter = Cutter::new(start, false);
    let read = all_of(&mut reader, packed, &mut cutter, adder, number, shared);
    (read, cutter.position())
}

/// Cuts a stream into lines to its end, or until it is stopped.
fn all_of(
    reader: &mut impl Read,
    packed: Packed,
    cutter: &mut Cutter,
    adder: &mut Adder<'_>,
    number: usize,
    shared: &Shared<'_>,
) -> Result<(), String> {
    let mut each = |run: Run<'_>| adder.run(run, u64::MAX, || shared.go_on(number));
    let mut read = Ok(());
    while !shared.is_over(number) {
        match reader.read(cutter.room()) {
            Ok(0) => break,
            Ok(count) => {
                if cutter.took(count, &mut each).is_break() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                read = Err(packed.fault(&error));
                break;
            }
        }
    }
    // Only strict reading, or a wrong key, stops here, where nothing is left anyway.
    _ = cutter.finish(&mut each);
    read
}
