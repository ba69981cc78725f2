//! Tables of a study with the figures of this machine beside those of others: as text and as a Markdown page.
//!
//! The cells of both are made in `cells`, so that they say the same. Widths are characters.

mod cells;
mod page;
mod plan;
mod screen;

pub use page::page;
pub use plan::{expected, list, schedule};
pub use screen::screen;

#[cfg(test)]
mod tests;
