//! Reports.

pub mod number;
pub mod page;
pub mod plot;
pub mod scale;
pub mod theme;
