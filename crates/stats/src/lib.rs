//! Statistics of measurements over plain `f64` slices.
//!
//! Knows no metric, unit, file, clock or thread: numbers in, numbers and reasons out. Values keep
//! their time order, ratios are handled as natural logarithms, and whatever cannot be computed is
//! `None` or an [`Unfit`] with its reason, never a zero.
//!
//! | question | where |
//! | --- | --- |
//! | what did one run measure | [`summary_of_sittings()`], [`summary()`], [`drift()`], [`takes`] |
//! | are two arms of one study different | [`paired_sittings()`], [`paired()`] |
//! | are two machines different, run against run | [`between()`] |
//! | what may be said about it | [`holm()`], [`verdict()`], [`needed`], [`ranks()`] |
//! | which of many that should be equal stand apart | [`odd::odd()`] |
//! | in which order are members of a group, and which are told apart | [`standing::standings()`] |
//! | does one setup of a run reach more | [`more_p()`] |
//! | how far do sittings differ beyond takes | [`spread()`] |
//! | is it enough | [`stop`] |
//! | since when is a level another one | [`change()`] |
//! | what lasts, and how much more do more threads do | [`falls()`], [`trend()`], [`usl()`] |
//! | combined figures | [`index()`], [`ratio`] |
//!
//! ```
//! use stats::{Basis, Better, Margin, Verdict, holm, log_ratios, paired, verdict};
//! let base = [10.0, 10.2, 9.9, 10.1, 10.0, 10.3, 9.8, 10.1, 10.0, 10.2];
//! let arm = base.map(|v| v * 1.12);
//! let row = paired(&log_ratios(&arm, &base)?, 1)?;
//! let p = holm(&[Some(row.p)])[0];
//! let basis = Basis::Blocks { n: row.n };
//! assert_eq!(verdict(row.interval, p, Margin::ARMS, Better::Higher, basis), Verdict::Better);
//! # Ok::<(), stats::Unfit>(())
//! ```

pub mod apart;
pub mod autocorrelation;
pub mod between;
pub mod bootstrap;
pub mod change;
pub mod describe;
pub mod distributions;
pub mod drift;
pub mod effect;
pub mod failed;
pub mod fisher;
pub mod hodges_lehmann;
pub mod holm;
pub mod index;
pub mod knee;
pub mod ks;
pub mod more;
pub mod needed;
pub mod odd;
pub mod paired;
pub mod ranks;
pub mod ratio;
pub mod rng;
pub mod signed_rank;
pub mod sittings;
pub mod spearman;
pub mod spread;
pub mod standing;
pub mod stop;
pub mod stratified;
pub mod summary;
pub mod takes;
pub mod trend;
pub mod unfit;
pub mod usl;
pub mod verdict;

pub use apart::{Part, apart};
pub use between::{Between, Learnt, Noise, NoiseKind, Prior, Run, Seen, aa_floor, between, learn, noise};
pub use bootstrap::{Bootstrap, bca, percentile};
pub use change::{Chance, Change, change};
pub use describe::{geometric_mean, mean, median, quantile, standard_deviation};
pub use distributions::{normal_cdf, normal_quantile, student_cdf, student_quantile};
pub use drift::{Drift, drift};
pub use effect::{Effect, Interval};
pub use failed::failed_apart;
pub use fisher::fisher_exact;
pub use holm::holm;
pub use index::{Dependence, Index, IndexError, index};
pub use knee::{Knee, falls};
pub use ks::{ks_distance, ks_distance_counts};
pub use more::more_p;
pub use needed::{least_told, needed_runs, needed_takes, runs_to_tell, sittings_to_tell};
pub use paired::{Paired, Test, log_ratios, pair_blocks, paired};
pub use ranks::{Matrix, Rank, ranks, tie_groups};
pub use ratio::{ratio_of_ratios, ratio_of_ratios_by_block};
pub use rng::Rng;
pub use signed_rank::{SignedRank, min_p, signed_rank};
pub use sittings::{MIN_SITTINGS, paired_sittings, sitting_spread, summary_of_sittings};
pub use spearman::{Spearman, spearman};
pub use spread::{Spread, spread};
pub use stop::{Decision, Ended, StopRule};
pub use stratified::{Halves, Stratified, Stratum, Sums, stratified};
pub use summary::{Doubt, Summary, summary};
pub use takes::{Shares, Take, paired_quantiles, quantile_over_takes, resample_takes, share_p, shares_apart};
pub use trend::{Trend, trend};
pub use unfit::Unfit;
pub use usl::{Usl, usl};
pub use verdict::{Basis, Better, Held, Margin, Verdict, verdict};

/// Level of every interval unless its own `level` says that another one was reached.
pub const LEVEL: f64 = 0.95;
/// Share of false rows that a family of comparisons may have.
pub const ALPHA: f64 = 1.0 - LEVEL;
/// Fewest independent values that give a 95 % interval without assuming a distribution.
pub const MIN_N: usize = 6;
