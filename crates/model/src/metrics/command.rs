//! Metrics of the user's own command.

use crate::{Better, Bytes, Count, Metric, Seconds, Topic};

pub const WALL: Metric<Seconds> =
    Metric::new("wall", Better::Lower, "Time from starting the shell until it has ended")
        .label("wall time")
        .topic(Topic::Work)
        .per("run");
pub const CPU: Metric<Seconds> = Metric::new(
    "cpu",
    Better::Lower,
    "User and system time of the shell and of all processes waited for within it (wait4)",
)
.label("CPU time")
.per("run");
pub const USER: Metric<Seconds> = Metric::new(
    "user",
    Better::Lower,
    "User time of the shell and of all processes waited for within it (wait4)",
)
.label("user time")
.detail()
.per("run");
pub const SYSTEM: Metric<Seconds> = Metric::new(
    "system",
    Better::Lower,
    "System time of the shell and of all processes waited for within it (wait4)",
)
.label("system time")
.detail()
.per("run");
pub const SHELL: Metric<Seconds> = Metric::new(
    "shell",
    Better::Lower,
    "Wall time of an empty command in the same shell (median of 11 at the start of the sitting): a part of `wall`, which is \
     not subtracted. JSON has `commands[].without_shell` beside it",
)
.label("start of the shell")
.detail()
.per("run");
pub const SHELL_LOW: Metric<Seconds> = Metric::new(
    "shell-low",
    Better::Neither,
    "Second smallest of those 11 times of an empty command (smallest of 3 in a container)",
)
.label("start of the shell, low")
.detail()
.per("run");
pub const SHELL_HIGH: Metric<Seconds> = Metric::new(
    "shell-high",
    Better::Neither,
    "Second largest of those 11 times of an empty command (largest of 3 in a container)",
)
.label("start of the shell, high")
.detail()
.per("run");
pub const MEMORY: Metric<Bytes> = Metric::new(
    "peak-memory",
    Better::Lower,
    "Largest resident set of any one process of the command (wait4), at least that of boxscore when it started it",
)
.label("peak memory")
.binary();
pub const VALUE: Metric<Count> = Metric::neither(
    "value",
    "A number that the command prints: the last match of the user's expression; no direction was given",
);
pub const HIGHER: Metric<Count> = Metric::new(
    "value-higher",
    Better::Higher,
    "A number that the command prints, named NAME:higher: the last match of the user's expression",
);
pub const LOWER: Metric<Count> = Metric::new(
    "value-lower",
    Better::Lower,
    "A number that the command prints, named NAME:lower: the last match of the user's expression",
);
