//! Metrics of power at a level of load. What the watts are of depends on the meter, a parameter of each figure.

use crate::{Better, Joules, Metric, PerSec, Seconds, Topic, Watts};

pub const WATTS: Metric<Watts> = Metric::new(
    "watts",
    Better::Lower,
    "mean power while the level was held, after it had settled: of RAPL the energy over the time, of a command the mean \
     of its readings, else the one reading that was typed; RAPL is the processor's own estimate of itself and its \
     memory, on servers about half of the power at the plug",
)
.topic(Topic::Uses("power"));
pub const SAMPLE: Metric<Watts> =
    Metric::neither("watts-sample", "each reading of a take, in the order of time; as it was read");
pub const SAMPLE_AT: Metric<Seconds> =
    Metric::neither("watts-sample-at", "when each reading was read, from the start of the measured time");
pub const JOULES_PER_REQUEST: Metric<Joules> = Metric::new(
    "joules-per-request",
    Better::Lower,
    "energy of the whole machine, as the meter has it, for each good answer: watts divided by throughput of the same \
     take; what the machine draws when idle is in it; none at idle",
)
.label("energy a request")
.topic(Topic::Uses("energy a request"));
pub const JOULES_PER_JOB: Metric<Joules> = Metric::new(
    "joules-per-job",
    Better::Lower,
    "energy of the whole machine, as the meter has it, for each unit of work: watts divided by the job rate of the same \
     take; what the machine draws when idle is in it; none at idle",
)
.label("energy a job")
.topic(Topic::Uses("energy a job"));
pub const RATE: Metric<PerSec> = Metric::neither(
    "level-rate",
    "good answers, or finished units of work, per second while the level was held; at levels below 100 % as many as were \
     asked for, since saturation is shared out",
);
pub const SATURATION: Metric<PerSec> = Metric::neither(
    "saturation",
    "units of work per second of all CPUs without a pause, the most of several bursts before the takes; of which the \
     levels are shares",
)
.per("job");
