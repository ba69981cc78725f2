//! Metrics of a language runtime as it warms up. Seconds and counts.

use crate::{Better, Count, Metric, Seconds};

pub const ITERATION: Metric<Seconds> = Metric::neither(
    "iteration",
    "CPU time of one iteration, numbered from 1 on by `iteration`: of each of the first ones, then at steps of a quarter",
);
pub const FIRST: Metric<Seconds> = Metric::new("first", Better::Lower, "CPU time of the first iteration");
pub const STEADY: Metric<Seconds> = Metric::new(
    "steady",
    Better::Lower,
    "Median CPU time of the iterations after the runtime's compilers last worked: by their own counter and the CPU time \
     of the other threads, for 0.25 s and 1,000 iterations or more (20 where there is no compiler). Refused (`not-steady`) \
     where they still worked in the end; doubtful where the iterations before and after some quarter of these differ by \
     over 10 %",
);
pub const STEADY_FROM: Metric<Count> = Metric::neither(
    "steady-from",
    "Iterations before the steady part: from there on medians of stretches, of five iterations at first and then ever \
     longer ones, are within 10 % of `steady`",
);
