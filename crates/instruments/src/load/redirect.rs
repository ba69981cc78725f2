//! Redirects (answers with 3xx): a count per status, and the target of the first one.
//!
//! They count as good answers, since the server gave them. They are not followed.

use serde::{Deserialize, Serialize};

/// The statuses that are counted separately; other 3xx count as the first.
const FIRST: u16 = 300;
const KINDS: usize = 9;
/// Longest stored target, in bytes.
const MOST: usize = 256;

/// Counts per status, and the first target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirects {
    counts: [u64; KINDS],
    pub to: Option<String>,
}

/// The target of a redirect as text. Unprintable bytes are escaped, and a long target is cut.
pub fn place(bytes: &[u8]) -> String {
    let mut text = bytes.trim_ascii().escape_ascii().to_string();
    text.truncate(MOST);
    text
}

/// True if `text` can come from [`place`].
pub fn is_place(text: &str) -> bool {
    text.len() <= MOST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

impl Redirects {
    /// Counts an answer with a status in 300..400.
    #[inline]
    pub fn add(&mut self, status: u16) {
        let at = usize::from(status.wrapping_sub(FIRST));
        self.counts[if at < KINDS { at } else { 0 }] += 1;
    }

    pub fn merge(&mut self, other: &Redirects) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
        if self.to.is_none() {
            self.to.clone_from(&other.to);
        }
    }

    /// The statuses that occurred, with their counts.
    pub fn seen(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        (FIRST..).zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// Fails when the counts are impossible.
    pub fn check(&self) -> Result<(), &'static str> {
        let known = self.counts.iter().all(|count| *count <= 1 << 50);
        let known = known && self.to.iter().all(|to| is_place(to));
        known.then_some(()).ok_or("redirects that no server gave")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_counted_and_the_first_place_stays() {
        let (mut one, mut other) = (Redirects::default(), Redirects::default());
        [302, 302, 308, 399, 300].into_iter().for_each(|status| one.add(status));
        other.add(301);
        other.to = Some(place(b" /login "));
        one.merge(&other);
        other.to = Some("/late".to_owned());
        one.merge(&other);
        assert_eq!(one.seen().collect::<Vec<_>>(), [(300, 2), (301, 2), (302, 2), (308, 1)]);
        assert_eq!((one.to.as_deref(), one.check()), (Some("/login"), Ok(())));
    }

    #[test]
    fn a_place_is_printable_whatever_a_server_sends() {
        for bytes in [&b"/a\x1b[31m\n"[..], &[0xff; 999], b""] {
            let to = Some(place(bytes));
            assert_eq!(Redirects { to, ..Redirects::default() }.check(), Ok(()), "{bytes:?}");
        }
        let to = Some("\u{1b}[31m".to_owned());
        assert!(Redirects { to, ..Redirects::default() }.check().is_err());
    }
}
