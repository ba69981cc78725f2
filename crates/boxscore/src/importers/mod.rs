//! Other formats read in: one file a format. Only boxscore's own for now; other tools' go beside it.

pub mod own;
