//! Lines of a log: whatever the bytes and however they come in blocks, each line is read or skipped, the same each
//! time.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use logs::aggregate::{Aggregate, Settings, Writer};
use logs::format::Format;
use logs::scan::{Record, Scanner, Skip};
use logs::scan::lines::{Cutter, Run};

const NAMES: [&str; 5] = ["combined+D", "vcombined", "nginx+time", "json", "%{%F %T}t.%{msec_frac}t %{%z}t %U%q %s %T"];

fuzz_target!(|bytes: &[u8]| {
    let [name, step, text @ ..] = bytes else { return };
    let Ok(format) = Format::parse(NAMES[usize::from(*name) % NAMES.len()]) else { return };
    let whole = read(&format, text, usize::MAX);
    let pieces = read(&format, text, usize::from(*step).max(1));
    assert_eq!(whole.0, pieces.0);
    assert_eq!(whole.1.parsed + whole.2, whole.0);
    assert_eq!(whole.1.totals(), pieces.1.totals());
    assert_eq!(whole.1.span, pieces.1.span);
});

/// Lines, what they amount to, and how many were skipped.
fn read(format: &Format, text: &[u8], step: usize) -> (u64, Aggregate, u64) {
    let (mut scanner, mut cutter) = (Scanner::new(format), Cutter::new(0, false));
    let (mut all, settings) = (Aggregate::default(), Settings::default());
    let mut writer = Writer::new(&mut all, &settings);
    let mut skipped = 0;
    let mut alone = Scanner::new(format);
    let mut each = |run: Run<'_>| {
        scanner.run(run, &mut |line, read| {
            assert_eq!(line.bytes.map_or(Err(Skip::TooLong), |bytes| alone.read(bytes)), read.map(|record| Record {
                offset: 0,
                ..*record
            }));
            match read {
                Ok(record) => _ = writer.add(record),
                Err(_) => skipped += 1,
            }
            ControlFlow::Continue(())
        })
    };
    let mut rest = text;
    while !rest.is_empty() {
        let room = cutter.room();
        let count = room.len().min(step).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        assert!(cutter.took(count, &mut each).is_continue());
    }
    assert!(cutter.finish(&mut each).is_continue());
    drop(writer);
    (cutter.lines(), all, skipped)
}
