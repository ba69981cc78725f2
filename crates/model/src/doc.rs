//! The documents that `--json` prints, and that every other output is drawn from.
//!
//! Units are base units; a missing value is `null` with a `why`. Additions keep a schema's version; a renamed or
//! removed field raises it.

mod aa;
mod answers;
mod ceiling;
mod commands;
pub mod decide;
mod detect;
mod doctor;
mod hadoop;
mod index;
mod jobs;
mod lab;
mod lab_bmc;
mod lab_boot;
mod lab_check;
mod lab_hosts;
mod lab_odd;
mod load;
mod logs;
mod matrix;
pub mod mix;
mod next;
mod nodes;
mod paragraph;
mod power;
mod ratio;
mod row;
mod scaling;
mod search;
mod settings;
mod siblings;
mod soak;
mod store;
mod study;
mod target_host;
mod value;
mod web;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::AnswerDoc;
use crate::card::{Card, Cards};
use crate::data::{Price, Status};
use crate::fact::Fact;
use crate::finding::{Finding, Validity};
use crate::metric::Better;
use crate::names;
use crate::note::Note;
use crate::older::Older;
use crate::params::Params;
use crate::reading::Samples;
use crate::subject::SubjectDoc;
use crate::unit::Unit;

pub use aa::{AaDoc, AaFigureDoc, AaPairDoc, PriorWord};
pub use answers::{
    AgentsDoc, AnswersDoc, AskedDoc, BotDoc, EpisodeDoc, FailedDoc, LogFormatDoc, MissingDoc, MostlyDoc,
    MostlyOf, NameDoc, NamesDoc, OutageDoc, OverTimeDoc, OverTimeRow, PeakDoc, ReferrersDoc, ServedDoc,
};
pub use ceiling::{CeilingDoc, CeilingFigureDoc, CeilingOf};
pub use commands::{CommandDoc, WithoutShellDoc};
pub use decide::{
    BoughtDoc, BoxesDoc, BreakEvenDoc, CandidateDoc, CapacityDoc, CostCurveDoc, CostDoc, CostPointDoc,
    DecideDoc, ExcludedDoc, FleetPointDoc, FleetScalingDoc, InputDoc, LoggedDoc, MixedDoc, MixedPartDoc,
    NeedDoc, RackBound, ScalingBasis, SettleDoc, SwingDoc,
};
pub use detect::{DetectArmsDoc, DetectDoc, DetectFigureDoc, DetectRunsDoc};
pub use doctor::{
    CheckDoc, CheckState, DoctorDoc, DoctorManyDoc, DoctorOfDoc, ProofDoc, ProofLineDoc, ProofState, ProveDoc,
};
pub use hadoop::{
    HadoopConfigDoc, HadoopDoubtDoc, HadoopFate, HadoopFetchDoc, HadoopFileDoc, HadoopJavaDoc, HadoopKind,
    HadoopLineDoc, HadoopNameDoc, HadoopNamesDoc,
};
pub use index::{IndexDoc, RankDoc, TieDoc};
pub use jobs::{
    FaultCostDoc, JobBoundDoc, JobDoc, JobTimelineDoc, NodePointDoc, NodeScalingDoc, NodeUsedDoc,
    NodeWorkDoc, PhasesDoc, SlowNodeDoc,
};
pub use lab::{
    LabBmcDoc, LabImportDoc, LabNodeDoc, LabNodesDoc, LabPlanDoc, LabPortDoc, LabRowDoc, LabSubnetDoc,
};
pub use lab_bmc::{
    LabBmcFailureDoc, LabBootdevDoc, LabBootdevNodeDoc, LabEventDoc, LabPowerDoc, LabPowerNodeDoc, LabSelDoc,
    LabSelNodeDoc, LabSensorDoc, LabSensorsDoc, LabSensorsNodeDoc, LabStateDoc,
};
pub use lab_boot::{LabBootDiskDoc, LabBootDoc, LabBootNodeDoc, LabStageDoc};
pub use lab_check::{LabCheckDoc, LabCheckGroupDoc, LabCheckedDoc, LabFaultDoc, LabResultDoc};
pub use lab_hosts::{LabCopiedDoc, LabCopyDoc, LabExitDoc, LabHostDoc, LabRunDoc, LabSentDoc, LabTextDoc};
pub use lab_odd::{LabOddDoc, OddEvidenceDoc, OddMissingDoc, OddNodeDoc};
pub use load::{BucketDoc, GeneratorDoc, LoadDoc, RequestsDoc, ServerUseDoc, StatusDoc, TimesDoc};
pub use logs::{
    BesideDoc, BesideRow, FormatDoc, LeftOutDoc, LogsCutDoc, LogsDoc, LogsLiveDoc, LogsLiveFigures,
    LogsLiveLabel, LogsSideDoc, PartDoc, PathDoc, SidesDoc, SizeDoc, SkippedDoc, TopDoc, TrafficDoc,
    largest_groups,
};
pub use matrix::{MatrixCellDoc, MatrixColumnDoc, MatrixDoc, MatrixTableDoc};
pub use mix::MixDoc;
pub use next::{Further, NextStep, PlacedDoc, Remedy};
pub use nodes::{NodeDoc, NodeFigureDoc, NodesDoc};
pub use paragraph::Paragraph;
pub use power::{PowerDoc, PowerLevelDoc};
pub use ratio::{BoundsDoc, Method, RatioDoc, RatioOfRatiosDoc, RatioRowDoc};
pub use row::{Noise, Replicate, RowDoc, VerdictWord, WorthDoc};
pub use scaling::{ScalingDoc, ScalingPointDoc, SideScalingDoc};
pub use search::{Proof, SearchDoc, SearchStepDoc, TriedDoc};
pub use settings::{SettingDoc, SettingsDoc, SinceDoc};
pub use siblings::Siblings;
pub use soak::{KneeDoc, SlopeDoc, SoakDoc};
pub use store::{NotCopiedDoc, StoreCopyDoc};
pub use study::{
    StudiesDoc, StudyCellDoc, StudyColumnDoc, StudyDoc, StudyMissingDoc, StudyOrderDoc, StudyRowDoc,
    StudyRunDoc, StudySummaryDoc, StudyTableDoc,
};
pub use target_host::{HostFigureDoc, TargetHostDoc};
pub use value::{Cost, ValueDoc, Worth};
pub use web::{
    Binding, BottleneckDoc, CoreDoc, CurveDoc, CurveMarkDoc, CurvePointDoc, EstimateDoc, FilesDoc,
    PercentileDoc, ResourceDoc,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineDoc {
    /// Stable identity; empty for a published machine.
    pub id: String,
    pub name: String,
}

impl MachineDoc {
    /// The identity of the box: nodes on one box have their names behind it.
    pub fn host(&self) -> &str {
        Some(crate::data::hardware_of(&self.id, &self.name)).filter(|id| !id.is_empty()).unwrap_or(&self.id)
    }
}

/// `boxscore inspect` of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InspectDoc {
    pub schema: String,
    pub machine: MachineDoc,
    pub facts: Vec<Fact>,
    /// Conclusions from the facts on figures of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineFacts {
    pub machine: MachineDoc,
    pub facts: Vec<Fact>,
    /// Conclusions from the facts on figures of the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// `boxscore inspect` of several machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InspectManyDoc {
    pub schema: String,
    pub machines: Vec<MachineFacts>,
}

/// One series of a run, summarised from its takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesDoc {
    /// The instrument's card, where it is known here; not printed.
    #[serde(skip)]
    pub card: Option<&'static Card>,
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub params: Params,
    pub definition: u32,
    pub arm: String,
    /// The target that was measured; absent where it is the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<SubjectDoc>,
    /// `server`, `generator`, or `box` where there is only one.
    pub role: String,
    pub headline: bool,
    /// The samples of the median; periods have no interval, no noise and no floor.
    #[serde(default)]
    pub samples: Samples,
    /// Measured takes, or periods; faulted ones are not among them.
    pub n: u64,
    pub faults: u64,
    pub blocks: u64,
    pub median: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The level that the interval reaches (0.95 asked).
    pub level: Option<f64>,
    pub method: String,
    /// Why there is no interval, where there is none.
    pub why: Option<String>,
    pub mean: Option<f64>,
    pub mean_low: Option<f64>,
    pub mean_high: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Where the figure of one further run on this machine falls in 95 of 100 cases, given this one. `low` and `high`
    /// are of the level within this run.
    #[serde(default)]
    pub again_low: Option<f64>,
    #[serde(default)]
    pub again_high: Option<f64>,
    /// A/A floor: the relative difference that two runs of this series show by noise alone.
    pub floor: Option<f64>,
    pub noise: Noise,
    /// The runs that the noise came from, this one last: the newest that have the figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_runs: Vec<String>,
    pub validity: Validity,
    pub reasons: Vec<String>,
    /// Measured values in time order, where asked for (`show --takes`, export).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<f64>,
    /// Hardware counters beside each of `takes`, by metric of `counters`; null where a take was not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Vec<Option<f64>>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoteDoc {
    pub kind: String,
    pub text: String,
}

impl From<&Note> for NoteDoc {
    fn from(note: &Note) -> NoteDoc {
        NoteDoc { kind: note.kind().to_owned(), text: note.text().into_owned() }
    }
}

/// Notes in a document: kind and text. What is read back are remarks.
mod note_docs {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::NoteDoc;
    use crate::note::{Note, NoteBody};

    pub fn serialize<S: Serializer>(notes: &[Note], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(notes.iter().map(NoteDoc::from))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Note>, D::Error> {
        let docs = Vec::<NoteDoc>::deserialize(from)?;
        Ok(docs.into_iter().map(|doc| Note::of_run(NoteBody::remark(&doc.kind, doc.text))).collect())
    }
}

/// `boxscore run`, `show`, `resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDoc {
    /// The cards by which the document was made; not printed.
    #[serde(skip)]
    pub cards: Cards,
    pub schema: String,
    pub run: String,
    pub study: String,
    pub status: Status,
    pub machine: MachineDoc,
    pub label: Option<String>,
    /// Planted by `--fake`: no measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planted: bool,
    /// Seconds since 1970.
    pub started: f64,
    pub level: String,
    /// The command that repeats the run.
    pub command: String,
    /// The user's own command that was measured (`run --cmd`); absent in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmd: Option<String>,
    /// The user's own commands, in the order of the arms; absent in other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandDoc>,
    /// Facts of the config class that are known.
    pub config: BTreeMap<String, String>,
    pub seconds: Option<f64>,
    /// Which rule ended it.
    pub ended_by: String,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    /// The answer to the question that the run was made for, in one sentence; absent where it has no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerDoc>,
    /// The same of all machines of its study together, with the figure of each; after a run of several machines that
    /// served loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<AnswerDoc>,
    pub series: Vec<SeriesDoc>,
    pub findings: Vec<Finding>,
    /// The bottleneck of each load, by falling throughput, but open loops that were served in full last; absent
    /// where nothing was loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bottlenecks: Vec<BottleneckDoc>,
    /// Hosts of targets during their takes; absent where nothing was recorded there (`--at`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_hosts: Vec<TargetHostDoc>,
    /// Loads as curves over connections, generators and offered load; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveDoc>,
    /// Searches for the largest load that holds, with their steps; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchDoc>,
    /// Power at levels of load, and the energy a request; absent where none was measured (`--power`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power: Vec<PowerDoc>,
    /// Figures by number of threads, with the law through them; absent where no sweep was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<ScalingDoc>,
    /// Jobs on a cluster by phase, node and container; absent in other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobDoc>,
    /// Rates of jobs by number of nodes; absent where no job was measured on several numbers of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_scaling: Vec<NodeScalingDoc>,
    /// The figures of `--soak` over its time; absent in other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub soak: Vec<SoakDoc>,
    #[serde(with = "note_docs")]
    #[schemars(with = "Vec<NoteDoc>")]
    pub notes: Vec<Note>,
    /// Faults by text.
    pub errors: BTreeMap<String, u64>,
    /// CPU time that boxscore itself used during the run, in seconds.
    pub own_cpu_seconds: Option<f64>,
    /// Runs of the other machines of the same study.
    #[schemars(with = "Vec<String>")]
    pub siblings: Siblings,
    /// The nodes of the study in order, where it measured three or more (`--on`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesDoc>,
    /// Of a log that was cut at a moment: the side that the run is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs_side: Option<LogsSideDoc>,
    /// Of logs: what the machine did while the requests came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideDoc>,
    /// Of logs: what was asked, how it was answered, and who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Box<AnswersDoc>>,
}

impl RunDoc {
    /// The figures that were asked for, by which everything is counted: headlines, or all where there are none.
    /// Details, and what has no take, are left out.
    pub fn headlines(&self) -> Vec<&SeriesDoc> {
        let any = self.series.iter().any(|series| series.headline);
        let mut heads: Vec<&SeriesDoc> = self.series.iter().filter(|one| one.headline || !any).collect();
        heads.retain(|one| one.n > 0 && !names::is_detail(one.card, &one.metric));
        heads.sort_by_cached_key(|one| names::order(names::Key::from(*one)));
        heads
    }

    /// Headline figures of one state.
    pub fn counted(&self, state: Validity) -> usize {
        self.headlines().iter().filter(|one| one.validity == state).count()
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmDoc {
    pub name: String,
    /// The machine that measured.
    pub machine: MachineDoc,
    /// The target that was measured; absent where it is the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<SubjectDoc>,
    pub runs: Vec<String>,
    /// Boxes that these runs were made on, where they are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boxes: Option<u64>,
    /// CPUs that its runs could use; absent where that is not known, or where the runs differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// True for a published machine: points without samples.
    pub published: bool,
    /// A run of it was planted by `--fake`: no measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planted: bool,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    /// Where the figures come from, for a published machine.
    pub source: Option<String>,
    /// True for a pasted line: points with intervals, without samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
}

/// `boxscore compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareDoc {
    /// The cards by which the document was made; not printed.
    #[serde(skip)]
    pub cards: Cards,
    pub schema: String,
    /// Wins with their size, ties, and open questions in a few sentences: ready to paste.
    #[schemars(with = "String")]
    pub paragraph: Paragraph,
    /// The answer: how much faster, and which gives more for its price. The beginning of the paragraph.
    #[serde(default)]
    pub answer: String,
    pub arms: Vec<ArmDoc>,
    /// The thing that is repeated: verdicts speak of boxes where it is `run`, of their types where it is `box`. Absent
    /// where nothing measured is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_of_replication: Option<Replicate>,
    pub rows: Vec<RowDoc>,
    /// Figure by figure, the best side first; a side whose figure was refused has none.
    pub ranks: Vec<RankDoc>,
    /// Neighbours in the order of the ranks.
    pub ties: Vec<TieDoc>,
    pub index: Vec<IndexDoc>,
    /// The performance of the whole machines for their prices and their power.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub value: Vec<ValueDoc>,
    /// The next step where figures could not be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<NextStep>,
    /// Sweeps over threads of each side that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<SideScalingDoc>,
    pub findings: Vec<Finding>,
    /// Of each side against the first: the settings in which their newest runs differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingsDoc>,
    /// Caveats, numbered as shown.
    pub footnotes: Vec<String>,
    /// Of logs: what the machines did while the requests came, by the names of the sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<BesideDoc>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRow {
    pub run: String,
    pub study: String,
    pub label: Option<String>,
    pub machine: String,
    pub status: Status,
    /// Seconds since 1970.
    pub started: f64,
    pub seconds: Option<f64>,
    pub level: String,
    /// The planned instruments, each once, in the plan's order; empty where only telemetry was planned.
    #[serde(default)]
    pub instruments: Vec<String>,
    /// The thing that was measured, in a few words: the command, the address of a load, the level, or the instruments,
    /// with parameters that are not the usual ones.
    #[serde(default)]
    pub what: String,
    /// The targets that were measured; empty where that is the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<SubjectDoc>,
    /// Hidden by `boxscore hide`: kept, and counted nowhere.
    #[serde(default)]
    pub hidden: bool,
    /// Planted by `--fake`: no measurement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planted: bool,
    pub takes: u64,
    pub faults: u64,
    /// A load that the user ended before its time.
    #[serde(default)]
    pub cut: Option<CutDoc>,
    /// Its instruments that were measured by an older definition than that of today.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub older: Vec<Older>,
}

/// How short a load came that the user ended. Seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CutDoc {
    pub lasted: Option<f64>,
    /// Null where a number of requests or a file was to end it.
    pub asked: Option<f64>,
    /// Where a number of requests was to end it.
    pub requests: Option<u64>,
    pub requests_asked: Option<u64>,
    /// Steps that a search had made, and those of a whole one.
    #[serde(default)]
    pub steps: Option<u64>,
    #[serde(default)]
    pub steps_asked: Option<u64>,
    /// The largest rate of its steps that held, and the smallest that broke.
    #[serde(default)]
    pub held: Option<f64>,
    #[serde(default)]
    pub broke: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryDoc {
    pub schema: String,
    pub runs: Vec<HistoryRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParamDoc {
    pub name: String,
    pub values: String,
    pub default: String,
    pub says: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricDoc {
    pub name: String,
    pub unit: Unit,
    pub better: Better,
    pub definition: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InstrumentDoc {
    pub name: String,
    pub family: String,
    pub says: String,
    pub source: String,
    pub definition: u32,
    pub params: Vec<ParamDoc>,
    pub metrics: Vec<MetricDoc>,
    pub needs: Vec<String>,
    pub runnable: bool,
    pub why: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListDoc {
    pub schema: String,
    pub instruments: Vec<InstrumentDoc>,
    /// Remarks on families as a whole: missing tools, or why one does not apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<RemarkDoc>,
}

/// A remark on a family of instruments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemarkDoc {
    pub family: String,
    pub about: String,
    pub says: String,
}

/// `note`, `import`, `export`, `report`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoneDoc {
    pub schema: String,
    pub ok: bool,
    pub paths: Vec<String>,
    pub run: Option<String>,
    /// `note`: why facts were refused where others were kept; `ok` is false then.
    #[serde(default)]
    pub refused: Vec<String>,
}

/// `remove`, `hide`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsDoc {
    pub schema: String,
    pub ok: bool,
    /// The store.
    pub paths: Vec<String>,
    /// Ids of the runs that were removed, hidden or shown again.
    pub runs: Vec<String>,
    /// The state that they have now; null where they are gone.
    pub hidden: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDoc {
    pub schema: String,
    pub kind: String,
    pub message: String,
    pub hint: Option<String>,
}
