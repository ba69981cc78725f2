//! The load engine: schedule x connection x recorder.

pub mod connection;
pub mod failure;
pub mod http;
pub mod recorder;
pub mod schedule;
