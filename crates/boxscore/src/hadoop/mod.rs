//! `boxscore hadoop`: Hadoop assembled by Maven, and its old names.

pub mod explain;
pub mod fetch;
mod maven;
