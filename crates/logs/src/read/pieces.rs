//! The tasks that threads take: pieces of plain files, and whole streams.

use std::fs::File;
use std::sync::Arc;

use super::input::{Fault, Input};
use super::source::{self, Packed, Source};

/// Bytes of a piece: enough that starting one costs nothing.
const PIECE: u64 = 32 << 20;
/// Those at the end of a file become smaller, down to this and each at most this share of what is left, so that threads
/// end together.
const LEAST: u64 = 2 << 20;
const SHARE: u64 = 8;

/// One unit of work of a thread.
pub(super) enum Task {
    /// The lines that begin in this part of a plain file, which had `size` bytes when it was opened.
    Piece { input: usize, file: Arc<File>, start: u64, end: u64, size: u64 },
    /// A compressed file.
    Packed { input: usize, file: File },
    /// The stream of the input itself, which begins at this offset of its file.
    Stream { input: usize, start: u64 },
}

/// All tasks in the order of the inputs. A file that cannot be opened is a fault, an empty one has no task.
pub(super) fn plan(inputs: &[Input], piece: Option<u64>, faults: &mut Vec<Fault>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (input, Input { name, source, part, .. }) in inputs.iter().enumerate() {
        let Source::File(path) = source else {
            tasks.push(Task::Stream { input, start: part.as_ref().map_or(0, |part| part.start) });
            continue;
        };
        match source::open(path) {
            Err(what) => faults.push(Fault { file: name.clone(), what }),
            Ok((_, _, packed @ (Packed::Gzip | Packed::Zstd))) if part.is_some() => {
                faults.push(Fault { file: name.clone(), what: packed.has_no_parts() });
            }
            // A pipe has no size and no pieces.
            Ok((file, 0, Packed::Plain)) => tasks.push(Task::Packed { input, file }),
            Ok((file, size, Packed::Plain)) => {
                let file = Arc::new(file);
                let part = part.clone().unwrap_or(0..size);
                let (mut start, last) = (part.start, part.end.min(size));
                while start < last {
                    let length = piece.unwrap_or(((last - start) / SHARE).clamp(LEAST, PIECE)).max(1);
                    let end = start.saturating_add(length).min(last);
                    tasks.push(Task::Piece { input, file: Arc::clone(&file), start, end, size });
                    start = end;
                }
            }
            Ok((file, ..)) => tasks.push(Task::Packed { input, file }),
        }
    }
    tasks
}
