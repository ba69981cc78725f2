//! Decodes chunked transfer coding (RFC 9112, section 7.1), byte by byte or in whole pieces.
//!
//! Extensions and trailers are skipped. Line ends are CR LF only; anything but a size is an error.

use crate::load::failure::Failure;

/// The longest line of a size with its extension, and of a trailer; and the most lines of a trailer.
const MAX_LINE: u16 = 4096;
const MAX_TRAILERS: u8 = 100;

/// Position in the coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In the digits; `digits` so far.
    Size {
        digits: u8,
    },
    /// After the digits: blanks or an extension.
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    /// At the start of a line after the last chunk.
    Trailer,
    TrailerLine,
    TrailerLineEnd,
    End,
}

/// The state between two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunked {
    at: At,
    left: u64,
    line: u16,
    trailers: u8,
}

impl Default for Chunked {
    fn default() -> Chunked {
        Chunked { at: At::Size { digits: 0 }, left: 0, line: 0, trailers: 0 }
    }
}

impl Chunked {
    /// Decodes the next bytes and passes the data on. Returns the position of the end of the body, if it was reached.
    /// Fails when the coding is malformed.
    pub fn feed(&mut self, bytes: &[u8], mut data: impl FnMut(&[u8])) -> Result<Option<usize>, Failure> {
        let mut at = 0;
        while at < bytes.len() {
            if self.at == At::Data {
                let rest = &bytes[at..];
                let take = usize::try_from(self.left).map_or(rest.len(), |left| left.min(rest.len()));
                data(&rest[..take]);
                self.left -= take as u64;
                at += take;
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                continue;
            }
            if self.byte(bytes[at])? {
                return Ok(Some(at + 1));
            }
            at += 1;
        }
        Ok(None)
    }

    /// One byte of the coding itself; true at the end of the body.
    fn byte(&mut self, byte: u8) -> Result<bool, Failure> {
        self.at = match (self.at, byte) {
            (At::Size { digits }, _) => self.size(digits, byte)?,
            (At::Extension, b'\r') => At::SizeEnd,
            (At::Extension, byte) => self.skip(byte, At::Extension)?,
            (At::SizeEnd, b'\n') => {
                self.line = 0;
                if self.left == 0 { At::Trailer } else { At::Data }
            }
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => At::Size { digits: 0 },
            (At::Trailer, b'\r') => At::End,
            (At::Trailer, byte) if self.trailers < MAX_TRAILERS => {
                self.trailers += 1;
                self.line = 0;
                self.skip(byte, At::TrailerLine)?
            }
            (At::TrailerLine, b'\r') => At::TrailerLineEnd,
            (At::TrailerLine, byte) => self.skip(byte, At::TrailerLine)?,
            (At::TrailerLineEnd, b'\n') => At::Trailer,
            (At::End, b'\n') => return Ok(true),
            _ => return Err(Failure::BadResponse),
        };
        Ok(false)
    }

    fn size(&mut self, digits: u8, byte: u8) -> Result<At, Failure> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            if digits == 16 {
                return Err(Failure::BadResponse);
            }
            let before = if digits == 0 { 0 } else { self.left };
            self.left = before << 4 | u64::from(digit);
            return Ok(At::Size { digits: digits + 1 });
        }
        match byte {
            _ if digits == 0 => Err(Failure::BadResponse),
            b'\r' => Ok(At::SizeEnd),
            b';' | b' ' | b'\t' => Ok(At::Extension),
            _ => Err(Failure::BadResponse),
        }
    }

    /// A byte of a line that means nothing here.
    fn skip(&mut self, byte: u8, next: At) -> Result<At, Failure> {
        self.line += 1;
        if byte == b'\n' || self.line > MAX_LINE { Err(Failure::BadResponse) } else { Ok(next) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undo(bytes: &[u8]) -> Result<(Vec<u8>, Option<usize>), Failure> {
        let mut body = Vec::new();
        let end = Chunked::default().feed(bytes, |data| body.extend_from_slice(data))?;
        Ok((body, end))
    }

    #[test]
    fn bodies_end_where_they_should() {
        let coded =
            b"4;name=\"v\"\r\nWiki\r\n00006\r\npedia \r\nE \r\nin \r\n\r\nchunks.\r\n0\r\nA: b\r\nC: d\r\n\r\n+++";
        let (body, end) = undo(coded).unwrap();
        assert_eq!(body, b"Wikipedia in \r\n\r\nchunks.");
        assert_eq!(end, Some(coded.len() - 3));
        assert_eq!(undo(b"0\r\n\r\n").unwrap(), (vec![], Some(5)));
        assert_eq!(undo(b"5\r\nabc").unwrap(), (b"abc".to_vec(), None));
    }

    #[test]
    fn junk_is_refused() {
        for coded in [
            &b"\r\n"[..],
            b"x\r\n",
            b"5x\r\n",
            b"-5\r\n",
            b"5\nabcde",
            b"3\r\nabcd\r\n",
            b"3\r\nabc\n",
            b"10000000000000000\r\n",
            b"0\r\nA: b\n\r\n",
            b"0\r\n\rx",
        ] {
            assert_eq!(undo(coded), Err(Failure::BadResponse), "{}", String::from_utf8_lossy(coded));
        }
        let long = [b"1;".to_vec(), vec![b'x'; 5000]].concat();
        assert_eq!(undo(&long), Err(Failure::BadResponse));
        let trailers = [b"0\r\n".to_vec(), b"A: b\r\n".repeat(101)].concat();
        assert_eq!(undo(&trailers), Err(Failure::BadResponse));
    }
}
