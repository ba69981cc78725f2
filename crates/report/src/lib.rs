//! Documents to text, HTML, Markdown and CSV: data in, text out.
//!
//! Nothing here reads a file, a clock or a terminal, prints, or computes an interval or a verdict: those come with the
//! documents. Readings that are no rows are drawn as their medians. Values come in base units and are scaled by
//! `model::format` only.

pub mod csv;
pub mod decide;
pub mod html;
mod many;
pub mod markdown;
pub mod page;
pub mod plot;
pub mod profile;
pub mod scale;
pub mod section;
pub mod sections;
pub mod study;
pub mod text;
pub mod theme;
pub mod web_loads;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
