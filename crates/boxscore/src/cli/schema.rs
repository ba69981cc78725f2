//! `boxscore schema VERB`: the JSON Schema of the document that a verb prints with `--json`.

use model::doc;
use schemars::{Schema, schema_for};

use crate::error::CliError;
use crate::out;

#[derive(Clone, Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  boxscore schema run\n  boxscore schema compare > compare.schema.json"
)]
pub struct SchemaArgs {
    /// A verb, `compare-matrix`, `lab-nodes`, `mix` or `error`
    #[arg(value_name = "VERB")]
    pub verb: String,
}

/// Every document with its schema, in the order of the documentation.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("inspect", schema_for!(doc::InspectDoc)),
        ("inspect-many", schema_for!(doc::InspectManyDoc)),
        ("list", schema_for!(doc::ListDoc)),
        ("run", schema_for!(doc::RunDoc)),
        ("show", schema_for!(doc::RunDoc)),
        ("resume", schema_for!(doc::RunDoc)),
        ("compare", schema_for!(doc::CompareDoc)),
        ("compare-matrix", schema_for!(doc::MatrixDoc)),
        ("compare-ratio", schema_for!(doc::RatioDoc)),
        ("decide", schema_for!(doc::DecideDoc)),
        ("aa", schema_for!(doc::AaDoc)),
        ("study", schema_for!(doc::StudyDoc)),
        ("studies", schema_for!(doc::StudiesDoc)),
        ("detect", schema_for!(doc::DetectDoc)),
        ("history", schema_for!(doc::HistoryDoc)),
        ("note", schema_for!(doc::DoneDoc)),
        ("remove", schema_for!(doc::RunsDoc)),
        ("hide", schema_for!(doc::RunsDoc)),
        ("import", schema_for!(doc::DoneDoc)),
        ("export", schema_for!(doc::DoneDoc)),
        ("report", schema_for!(doc::DoneDoc)),
        ("store-copy", schema_for!(doc::StoreCopyDoc)),
        ("load", schema_for!(doc::LoadDoc)),
        ("logs", schema_for!(doc::LogsDoc)),
        ("mix", schema_for!(doc::MixDoc)),
        ("logs-live", schema_for!(doc::LogsLiveDoc)),
        ("lab-nodes", schema_for!(doc::LabNodesDoc)),
        ("lab-import", schema_for!(doc::LabImportDoc)),
        ("lab-plan", schema_for!(doc::LabPlanDoc)),
        ("doctor", schema_for!(doc::DoctorDoc)),
        ("doctor-many", schema_for!(doc::DoctorManyDoc)),
        ("doctor-prove", schema_for!(doc::ProveDoc)),
        ("lab-check", schema_for!(doc::LabCheckDoc)),
        ("lab-run", schema_for!(doc::LabRunDoc)),
        ("lab-push", schema_for!(doc::LabCopyDoc)),
        ("lab-pull", schema_for!(doc::LabCopyDoc)),
        ("lab-odd", schema_for!(doc::LabOddDoc)),
        ("lab-boot", schema_for!(doc::LabBootDoc)),
        ("lab-power", schema_for!(doc::LabPowerDoc)),
        ("lab-bootdev", schema_for!(doc::LabBootdevDoc)),
        ("lab-sensors", schema_for!(doc::LabSensorsDoc)),
        ("lab-sel", schema_for!(doc::LabSelDoc)),
        ("hadoop-fetch", schema_for!(doc::HadoopFetchDoc)),
        ("hadoop-names", schema_for!(doc::HadoopNamesDoc)),
        ("hadoop-config", schema_for!(doc::HadoopConfigDoc)),
        ("error", schema_for!(doc::ErrorDoc)),
    ]
}

pub fn run(args: &SchemaArgs) -> Result<u8, CliError> {
    let all = all();
    let Some((_, schema)) = all.iter().find(|(verb, _)| *verb == args.verb) else {
        let known: Vec<&str> = all.iter().map(|(verb, _)| *verb).collect();
        let error = CliError::usage(format!("`{}` prints no document", args.verb)).hint(known.join(", "));
        return Err(error.did_you_mean(&args.verb, known));
    };
    out::json(schema);
    Ok(0)
}
