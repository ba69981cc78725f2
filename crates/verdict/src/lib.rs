//! From stored runs to conclusions: which figures hold, which machine is better, what would spoil a measurement.
//!
//! Pure: data in, findings out. Nothing here reads a file, a clock or the environment, and nothing is stored: every
//! figure is recomputed from the takes. Not done here: choosing which runs belong together (the caller does), and
//! drawing (the report does).
//!
//! | question | where |
//! | --- | --- |
//! | what did this run measure, and may it be believed | [`run_doc()`], [`findings()`] |
//! | what is the answer in one sentence | [`answer()`] |
//! | what did one load give, and what does that mean | [`load_doc()`] |
//! | how did the requests of each load of a run end | [`requests()`] |
//! | which settings differ between two runs | [`settings::differing`] |
//! | did the user end it before its time | [`cut_short()`] |
//! | what binds a load, and what would raise it | [`bottlenecks()`] |
//! | which figures of a run are ceilings of loads | [`ceilings`] |
//! | throughput and times over the load, with knee and peak | [`curves()`] |
//! | which of these machines or arms is better | [`compare()`], [`paragraph()`] |
//! | what could runs of this machine tell, and do they differ | [`aa()`] |
//! | which nodes of a group are not like the others | [`odd::of_group()`] |
//! | in which order are the nodes of a study | [`nodes::of_group()`] |
//! | what would it cost to tell a difference | [`detect()`] |
//! | what stands in the tables of a study file | [`study_tables::table()`] |
//! | which group of served requests is faster, and is that fair | [`traffic::judge()`] |
//! | what about its memory spoils a machine as a server of files | [`low_memory()`] |
//! | what about this host would spoil a measurement | [`doctor()`] |

pub mod aa;
pub mod answer;
pub mod bottleneck;
pub mod ceiling_figure;
pub mod ceilings;
mod commands;
pub mod compare;
pub mod curve;
pub mod decide;
pub mod detect;
pub mod doctor;
mod facts;
pub mod headline;
mod job_bound;
mod job_fault;
mod jobs;
mod judged;
mod load_doc;
pub mod loads;
pub mod matrix;
mod node_scaling;
pub mod nodes;
pub mod noise;
pub mod odd;
pub mod paragraph;
pub mod place;
pub mod power;
pub mod prove;
pub mod quantiles;
mod requests;
pub mod rules;
pub mod ruling;
pub mod run;
pub mod run_index;
pub mod scaling;
pub mod searches;
pub mod settings;
pub mod soak;
pub mod study_tables;
pub mod target_host;
pub mod traffic;

pub use aa::aa;
pub use answer::{answer, together};
pub use bottleneck::bottlenecks;
pub use compare::{CompareOptions, Side, compare};

pub use curve::curves;
pub use detect::detect;
pub use doctor::{Live, doctor, own_cost};
pub use judged::{Judged, JudgedSide};
pub use load_doc::load_doc;
pub use paragraph::paragraph;
pub use requests::requests;
pub use rules::cut::of_run as cut_short;
pub use rules::low_memory::of_facts as low_memory;
pub use rules::{findings, rulings};
pub use ruling::Ruling;
pub use run::run_doc;
pub use run_index::{RunContext, RunIndex};
