//! The requests of one file one after the other, for who needs each and not what they amount to.

use std::ops::ControlFlow;
use std::path::Path;

use super::source::{open, unpacked};
use super::watch::Watch;
use crate::format::Format;
use crate::scan::Scanner;
use crate::scan::lines::{Cutter, Run};

/// Gives every line that is read to `each`, which says whether to go on; how many lines could not be read. Fails if the
/// file cannot be opened or read.
pub fn records(
    path: &Path,
    format: &Format,
    each: &mut dyn FnMut(&crate::scan::Record<'_>) -> bool,
) -> Result<u64, String> {
    let (file, _, packed) = open(path)?;
    let watch = Watch::default();
    let (mut reader, _) = unpacked(Box::new(file), &watch).map_err(|error| packed.fault(&error))?;
    let (mut cutter, mut scanner, mut skipped) = (Cutter::new(0, false), Scanner::new(format), 0);
    let mut run = |run: Run<'_>| {
        scanner.run(run, &mut |_, read| match read {
            Ok(record) if !each(record) => ControlFlow::Break(()),
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => {
                skipped += 1;
                ControlFlow::Continue(())
            }
        })
    };
    loop {
        match reader.read(cutter.room()) {
            Ok(0) => break,
            Ok(count) => {
                if cutter.took(count, &mut run).is_break() {
                    return Ok(skipped);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(packed.fault(&error)),
        }
    }
    // Nothing is left to be stopped.
    _ = cutter.finish(&mut run);
    Ok(skipped)
}
