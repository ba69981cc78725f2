//! Lines of parts from a file or a stream; plain, gzip or zstd, told by its first bytes.

use std::io::{BufRead, BufReader, Read};

use super::{LONGEST, PartError, Parts, line};
use crate::read::unpacked;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 20;

/// A line that cannot be used, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct LineError {
    /// From 1.
    pub line: u64,
    pub what: String,
    /// True if the line says why there is no part.
    pub is_told: bool,
}

impl Parts {
    /// True if a file that begins so has lines of parts in it.
    pub fn are_begun_by(start: &[u8]) -> bool {
        line::is_begun_by(start)
    }

    /// Takes in all lines of a stream, and says how many. Fails at the first that cannot be used.
    pub fn read(&mut self, from: Box<dyn Read + Send>) -> Result<u64, LineError> {
        let watch = crate::read::Watch::default();
        let at = |line: u64, what: String| LineError { line, what, is_told: false };
        let (reader, packed) = unpacked(from, &watch).map_err(|error| at(1, error.to_string()))?;
        let mut reader = BufReader::with_capacity(BUFFER, reader);
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            let most = LONGEST as u64 + 1;
            let read = reader.by_ref().take(most).read_until(b'\n', &mut line);
            if read.map_err(|error| at(number + 1, packed.cause(&error)))? == 0 {
                return Ok(number);
            }
            number += 1;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if text.len() > LONGEST {
                let what = PartError::TooLarge(format!("over {} MiB in one line", LONGEST >> 20));
                return Err(at(number, what.to_string()));
            }
            self.add_line(text).map_err(|error| LineError {
                is_told: matches!(error, PartError::Failed(_)),
                ..at(number, error.to_string())
            })?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;
    use crate::parts::{Key, Of, Part};

    fn text() -> Vec<u8> {
        let line = |label| line::write(&Key::new(label, Of::Whole), &Part::default()).unwrap();
        format!("{}\n{}\n", line("a"), line("b")).into_bytes()
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<String>, String> {
        let mut parts = Parts::default();
        parts.read(Box::new(Cursor::new(bytes))).map_err(|error| error.to_string())?;
        Ok(parts.lines().unwrap().collect())
    }

    #[test]
    fn lines_come_plain_and_packed() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text()).unwrap();
        let plain = read(text()).unwrap();
        assert_eq!(plain.len(), 2);
        assert_eq!(read(gzip.finish().unwrap()).unwrap(), plain);
        assert_eq!(read(zstd::bulk::compress(&text(), 1).unwrap()).unwrap(), plain);
        assert_eq!(read(Vec::new()).unwrap(), Vec::<String>::new());
        assert_eq!(read(text()[..text().len() - 1].to_vec()).unwrap(), plain);
        assert!(Parts::are_begun_by(&text()[..40]) && !Parts::are_begun_by(b"BXLOGAGG\tx"));
    }

    #[test]
    fn the_line_at_fault_is_told() {
        let cut = text()[..text().len() - 9].to_vec();
        assert!(read(cut).unwrap_err().starts_with("line 2: damaged: "));
        let error = read([&text()[..], b"\n"].concat()).unwrap_err();
        assert!(error.starts_with("line 3: no line of `boxscore logs map`"), "{error}");
    }
}
