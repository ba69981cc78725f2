//! The question to the user that stands while a take is under way.

use std::fmt;

use crate::ports::Typist;

/// Who is asked, and the question that stands: its machine and its number there.
#[derive(Default)]
pub(crate) struct Questions<'a> {
    pub(crate) typist: Option<&'a mut dyn Typist>,
    pub(crate) open: Option<(usize, u64)>,
}

impl fmt::Debug for Questions<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Questions").field("open", &self.open).finish_non_exhaustive()
    }
}
