//! The files of a tree that a host had not got, as they were sent.

model::words! {
    /// How files were sent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Way as word {
        Rsync = "rsync",
        Tar = "tar",
    }
}

/// The files that were sent to a host, since it had not got them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    pub files: usize,
    pub bytes: u64,
    /// `None` where nothing was to be sent.
    pub way: Option<Way>,
    /// Files there that the tree does not have.
    pub others: usize,
}
