//! From lines that mappers and reducers wrote to what was read, as if the logs had been read here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use logs::aggregate::Settings;
use logs::aggregate::file::Labels;
use logs::parts::{FileRead, Parts, Whole};
use logs::read::{is_packed, why};
use model::Finding;
use model::doc::FormatDoc;
use model::finding::{LogsRead, Subject};

use crate::access_logs::inputs::too_short;
use crate::error::CliError;

/// Bytes of a file by which it is told whether it holds parts.
const START: u64 = 64 << 10;

/// The parts of these files, `-` being standard input, put together; `None` where they are aggregates of `--out`.
pub fn whole(paths: &[PathBuf]) -> Result<Option<Whole>, CliError> {
    let mut of_parts = Vec::new();
    for path in paths {
        of_parts.push(holds_parts(path)?);
    }
    if !of_parts.contains(&true) {
        return Ok(None);
    }
    if let Some(other) = of_parts.iter().position(|holds| !holds) {
        let message = format!("--merge: {} holds no parts as others do", paths[other].display());
        return Err(
            CliError::usage(message).hint("give what --out wrote, or what `boxscore logs reduce` wrote")
        );
    }
    let mut parts = Parts::default();
    for path in paths {
        add(&mut parts, path)?;
    }
    parts.whole().map(Some).map_err(|error| CliError::data(format!("--merge: {error}")))
}

/// Takes in the lines of a file, `-` being standard input; how many there were.
pub fn add(parts: &mut Parts, path: &Path) -> Result<u64, CliError> {
    let wrong = |what: String| CliError::data(format!("{}: {what}", path.display()));
    let from: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(BufReader::new(File::open(path).map_err(|error| wrong(why(error)))?))
    };
    parts.read(from).map_err(|error| match error.is_told {
        true => CliError::data(error.what),
        false => wrong(error.to_string()),
    })
}

/// True if a file begins as parts do, or is packed: of aggregates nothing is. A pipe is read once, and holds parts.
fn holds_parts(path: &Path) -> Result<bool, CliError> {
    let is_pipe = |about: std::fs::Metadata| !about.is_file() && !about.is_dir();
    if path == Path::new("-") || std::fs::metadata(path).is_ok_and(is_pipe) {
        return Ok(true);
    }
    let wrong = |what: String| CliError::data(format!("{}: {what}", path.display()));
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    read.map_err(|error| wrong(why(error)))?;
    if start.is_empty() {
        return Err(wrong("it is empty: what was to write it has written nothing".to_owned()));
    }
    Ok(Parts::are_begun_by(&start) || is_packed(&start))
}

/// The rest of a reading: formats, units, and findings about the files.
#[derive(Default)]
pub struct Merged {
    pub formats: Vec<FormatDoc>,
    pub units: BTreeMap<String, u64>,
    pub findings: Vec<Finding>,
}

impl Merged {
    /// In the order in which the files are read where they are read here.
    pub fn new(files: &[FileRead]) -> Merged {
        let mut all = Merged::default();
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        for FileRead { label, name, format, how, unit_ns, step_ns, over } in files {
            if let Some(with) = first.get(name.as_str()) {
                let shared =
                    LogsRead::FileShared { name: name.clone(), other: None, with: (*with).to_owned() };
                all.findings.push(Finding::new(shared).about(Subject::label(label)));
            }
            first.entry(name).or_insert(label);
            let over = (usize::try_from(over.0).unwrap_or(0), usize::try_from(over.1).unwrap_or(0));
            all.findings.extend(too_short(label, name, format, over));
            let time_step = step_ns.map(|ns| ns as f64 / 1e9);
            let (file, format, how) = (name.clone(), format.clone(), how.clone());
            all.formats.push(FormatDoc { file, format, how, time_step });
            all.units.extend(unit_ns.map(|unit_ns| (label.clone(), unit_ns)));
        }
        all
    }
}

/// The labels with what these settings keep. Mappers keep all that could be wanted, since they do not know of each
/// other's labels.
pub fn labels(whole: &mut Whole, settings: &Settings) -> Labels {
    let mut labels = Labels::new(settings);
    labels.labels = std::mem::take(&mut whole.labels);
    let sides = whole.besides.values_mut().filter_map(|beside| beside.sides.as_mut());
    let sides = sides.flat_map(|sides| sides.iter_mut()).map(|side| &mut side.aggregate);
    for one in labels.labels.values_mut().chain(sides) {
        if !settings.folders {
            (one.folders, one.group_cells) = Default::default();
        }
        if settings.group_by.is_empty() {
            (one.groups, one.group_cells) = Default::default();
        }
        if !settings.mix {
            one.mix = None;
        }
    }
    labels
}
