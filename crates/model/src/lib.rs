//! The words of boxscore: units, metrics, cards, instruments, plans, readings, frames and documents.
//!
//! Nothing here does I/O, reads a clock or prints; every other crate speaks these types.

pub mod agents;
pub mod answer;
pub mod backend;
mod basis;
pub mod card;
pub mod command;
pub mod data;
pub mod decision;
pub mod derived;
pub mod doc;
pub mod drops;
pub mod exact;
pub mod fact;
pub mod failure;
pub mod fake;
pub mod fault;
pub mod finding;
pub mod flags;
pub mod format;
pub mod frame;
pub mod generate;
pub mod histogram;
pub mod id;
pub mod instrument;
pub mod ladder;
pub mod log_linear;
pub mod login;
pub mod metric;
pub mod metrics;
pub mod mutate;
pub mod names;
pub mod nearest;
pub mod need;
pub mod note;
pub mod params;
pub mod plan;
pub mod power;
pub mod price;
pub mod printed;
pub mod progress;
pub mod reading;
pub mod scope;
pub mod shell;
pub mod shown;
pub mod study_file;
pub mod subject;
pub mod toml_file;
pub mod traffic;
pub mod unit;
pub mod url;
pub mod why;
mod words;

pub use basis::Basis;
pub use card::{Cadence, Card, Cards, Family, Host, Need, Node, Tier, Variant};
pub use derived::{Conditions, Derived};
pub use fact::{Fact, FactValue};
pub use fault::{Fault, FaultKind};
pub use finding::{Finding, Subject, Validity};
pub use flags::{Example, Flag, Means, TestName};
pub use generate::Relay;
pub use histogram::Histogram;
pub use instrument::{Instrument, Probe, Record, RecordExt, Setup, Simple, Size, Unfit};
pub use metric::{Better, Metric, MetricInfo};
pub use note::{Note, NoteBody};
pub use params::{Label, Match, Matched, ParamKind, ParamSpec, Params, Part};
pub use plan::{Arm, Cell, Plan};
pub use progress::ProgressHandle;
pub use reading::{Phase, Reading, Samples, SeriesKey, Value};
pub use scope::Scope;
pub use shown::{By, Code, Role, Shown, Tell, Topic};
pub use subject::{SubjectDoc, SubjectKind};
pub use unit::{
    Bytes, BytesPerSec, Celsius, Count, Hertz, Joules, PerSec, Quantity, Ratio, Seconds, Unit, Watts,
};
