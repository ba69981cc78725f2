//! Metrics of a language runtime as it warms up. Seconds and counts.

use crate::{Better, Count, Metric, Seconds};

pub const ITERATION: Metric<Seconds> =
    Metric::neither("iteration", "CPU time of one iteration, numbered from 01 on by `iteration`");
pub const FIRST: Metric<Seconds> = Metric::new("first", Better::Lower, "CPU time of the first iteration");
pub const STEADY: Metric<Seconds> = Metric::new(
    "steady",
    Better::Lower,
    "Median CPU time of the last quarter of the iterations, where those are steady: medians of five in a row within 10 % \
     of it",
);
pub const STEADY_FROM: Metric<Count> = Metric::neither(
    "steady-from",
    "Iterations before the steady part: from there on every median of five in a row is within 10 % of `steady`",
);
