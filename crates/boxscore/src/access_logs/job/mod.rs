//! Logs as a job: mappers that make parts of aggregates, and what is made of the parts.

mod blocks;
pub mod hadoop;
pub mod mapper;
pub mod merged;
pub mod order;
pub mod streaming;
