//! From `LABEL=FILE` to files with a label and a format. Patterns (`*`, `?`, `[...]`) are expanded here too, since a
//! shell leaves those behind a label alone.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use logs::format::config::Config;
use logs::format::{Format, detect};
use logs::read::{Head, Input, Source, head};
use model::Finding;
use model::doc::FormatDoc;
use model::finding::{LogsRead, Subject};
use model::nearest::nearest;

use crate::error::CliError;

/// Files without a label are one group of this name.
pub const UNLABELLED: &str = "log";

/// The source of a log's format.
pub enum Formats {
    /// One for all, that the user gave or that was found before; and how.
    Known(Arc<Format>, String),
    /// By a server's configuration, and the name of the format in it where the user gave one.
    Configured { file: PathBuf, config: Config, name: Option<String> },
    /// By the lines of each file.
    Detected,
}

impl Formats {
    pub fn new(format: Option<&str>, config: Option<&Path>) -> Result<Formats, CliError> {
        if let Some(file) = config {
            let text = std::fs::read_to_string(file)
                .map_err(|error| CliError::data(format!("cannot read {}: {error}", file.display())))?;
            let (config, name) = (Config::read(&text), format.map(str::to_owned));
            return Ok(Formats::Configured { file: file.to_path_buf(), config, name });
        }
        let Some(text) = format else { return Ok(Formats::Detected) };
        let format = Format::parse(text).map_err(|error| CliError::usage(format!("--format: {error}")))?;
        Ok(Formats::Known(Arc::new(format), "given".to_owned()))
    }

    /// A format that was found before, by its text.
    pub fn known(text: &str, how: &str) -> Result<Formats, CliError> {
        let format = Format::parse(text).map_err(|error| CliError::data(format!("{text}: {error}")))?;
        Ok(Formats::Known(Arc::new(format), how.to_owned()))
    }

    /// The format of a file, and how it was found. Fails when none fits; the error does not name the file.
    pub(super) fn format_of(&self, name: &str, lines: &[Vec<u8>]) -> Result<(Arc<Format>, String), String> {
        match self {
            Formats::Known(format, how) => Ok((format.clone(), how.clone())),
            Formats::Configured { file, config, name: wanted } => {
                let format = config.format_of(name, wanted.as_deref());
                let format = format.map_err(|error| {
                    let known = config.names().join(", ");
                    let known = if known.is_empty() { known } else { format!(" (formats there: {known})") };
                    format!("{}: {error}{known}", file.display())
                })?;
                Ok((Arc::new(format), format!("configuration {}", file.display())))
            }
            Formats::Detected => {
                let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
                let found = detect::detect(&lines).map_err(|error| error.to_string())?;
                Ok((Arc::new(found.format), format!("detected: {}", found.why)))
            }
        }
    }
}

/// The logs to read, with what was found while opening them.
#[derive(Default)]
pub struct Chosen {
    pub inputs: Vec<Input>,
    pub formats: Vec<FormatDoc>,
    /// Bytes of the files; missing where one of them is a stream.
    pub bytes: Option<u64>,
    /// Files that cannot be read, with the reason: the others are read all the same.
    pub refused: Vec<String>,
    /// Labels in the order in which they were first given.
    pub labels: Vec<String>,
    /// Files that two labels read, and formats that do not fit.
    pub findings: Vec<Finding>,
}

/// Files that were given: by device and inode, whatever their names.
#[derive(Default)]
pub(super) struct Seen(BTreeMap<(u64, u64), Vec<Given>>);

/// A file as it was given.
#[derive(Clone, PartialEq, Eq)]
struct Given {
    label: String,
    name: String,
}

impl Seen {
    /// Notes a file of a label; a finding where another label has it too. Fails where the same label has it.
    pub fn shared(&mut self, label: &str, path: &Path) -> Result<Option<Finding>, CliError> {
        let finding = |before: Given| {
            let name = path.display().to_string();
            let other = Some(before.name).filter(|before| *before != name);
            let shared = LogsRead::FileShared { name, other, with: before.label };
            Finding::new(shared).about(Subject::label(label))
        };
        Ok(self.note(label, path)?.map(finding))
    }

    /// Notes a file of a label; the first label that was given it before, if another one was. Fails where it was given
    /// for the same label, by this name, another path or a link: each of its lines would count twice.
    fn note(&mut self, label: &str, path: &Path) -> Result<Option<Given>, CliError> {
        // What cannot be opened is said elsewhere; of a stream nothing comes twice.
        let Some(about) = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file) else {
            return Ok(None);
        };
        let given = Given { label: label.to_owned(), name: path.display().to_string() };
        let before = self.0.entry((about.dev(), about.ino())).or_default();
        if let Some(twice) = before.iter().find(|known| known.label == label) {
            let of = if label == UNLABELLED { String::new() } else { format!(" for {label}") };
            let same =
                if twice.name == given.name { String::new() } else { format!(", also as {}", twice.name) };
            let message =
                format!("{} is given twice{of}{same}: each of its lines would count twice", given.name);
            return Err(CliError::usage(message).hint("give each file once; one file may have two labels"));
        }
        let first = before.first().cloned();
        before.push(given);
        Ok(first)
    }
}

/// Every file that the arguments name, with its label and format: by labels as they were first given, then by names, as
/// processes that read some of them each are merged.
pub fn choose(given: &[String], formats: &Formats) -> Result<Chosen, CliError> {
    let mut chosen = Chosen { bytes: Some(0), ..Chosen::default() };
    let mut seen = Seen::default();
    for (label, path) in listed(given, &mut chosen.labels)? {
        let Some(path) = path else {
            chosen.bytes = None;
            chosen.add(label, "-", Source::Stream(Box::new(std::io::stdin())), formats);
            continue;
        };
        let size = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        chosen.bytes = chosen.bytes.zip(size.as_ref().map(|about| about.len())).map(|(all, one)| all + one);
        chosen.findings.extend(seen.shared(label, &path)?);
        chosen.add(label, &path.display().to_string(), Source::File(path), formats);
    }
    if chosen.inputs.is_empty() {
        return Err(CliError::data(chosen.refused.join("\n       ")));
    }
    Ok(chosen)
}

/// The files, each with its label, in the order of `choose`; `None` is standard input. Adds the labels as they are
/// first given.
fn listed<'g>(
    given: &'g [String],
    labels: &mut Vec<String>,
) -> Result<Vec<(&'g str, Option<PathBuf>)>, CliError> {
    let mut all = Vec::new();
    let mut seen = Seen::default();
    for text in given {
        let (label, place) = labelled(text)?;
        let at = labels.iter().position(|known| *known == label).unwrap_or_else(|| {
            labels.push(label.to_owned());
            labels.len() - 1
        });
        if place == "-" {
            all.push((at, place.to_owned(), (label, None)));
            continue;
        }
        for path in expanded(place)? {
            // A file that is given twice is refused by the names in the order of the arguments.
            let _finding = seen.shared(label, &path)?;
            all.push((at, path.display().to_string(), (label, Some(path))));
        }
    }
    all.sort_by(|(a, name, _), (b, other, _)| (a, name).cmp(&(b, other)));
    Ok(all.into_iter().map(|(_, _, file)| file).collect())
}

impl Chosen {
    fn add(&mut self, label: &str, name: &str, source: Source, formats: &Formats) {
        let opened = Opened::new(name, source, formats);
        match opened {
            Ok(Opened { format, how, over, source }) => {
                self.findings.extend(too_short(label, name, &format.text, over));
                self.formats.push(format_doc(name, &format, how));
                let (label, name) = (label.to_owned(), name.to_owned());
                self.inputs.push(Input { label, name, source, format, part: None });
            }
            Err(why) => self.refused.push(why),
        }
    }
}

/// A log whose first lines were looked at.
pub(super) struct Opened {
    pub format: Arc<Format>,
    /// How the format was found.
    pub how: String,
    /// Of the first lines, how many have more fields than the format that was given, and how many were looked at.
    pub over: (usize, usize),
    /// The log, with nothing taken from it.
    pub source: Source,
}

impl Opened {
    /// The error names the file.
    pub fn new(name: &str, source: Source, formats: &Formats) -> Result<Opened, String> {
        let open = || {
            let Head { lines, source } = head(source)?;
            let (format, how) = formats.format_of(name, &lines)?;
            let over = match formats {
                Formats::Detected => (0, 0),
                _ => (detect::overfull(&format, &lines), lines.len()),
            };
            Ok(Opened { format, how, over, source })
        };
        open().map_err(|why: String| {
            let near = near_name(Path::new(name)).filter(|_| name != "-");
            let meant = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("{name}: {why}{meant}")
        })
    }
}

/// A finding where lines have more fields than their format.
pub(super) fn too_short(
    label: &str,
    name: &str,
    format: &str,
    (over, of): (usize, usize),
) -> Option<Finding> {
    let (name, format) = (name.to_owned(), format.to_owned());
    let short = LogsRead::FormatShort { name, over, of, format };
    (over > 0).then(|| Finding::new(short).about(Subject::label(label)))
}

/// Names of a folder that are looked at.
const MOST_NAMES: usize = 10_000;

/// The file in its folder whose name is nearest to that of one that is not there.
pub(super) fn near_name(path: &Path) -> Option<String> {
    let typed = path.file_name().filter(|_| !path.exists())?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = entries
        .take(MOST_NAMES)
        .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_file())?.file_name().into_string().ok())
        .collect();
    let near = nearest(typed, names.iter().map(String::as_str))?;
    Some(folder.map_or(PathBuf::from(near), |folder| folder.join(near)).display().to_string())
}

/// The document of a file's format.
pub(super) fn format_doc(file: &str, format: &Format, how: String) -> FormatDoc {
    let time_step = format.step_ns.map(|ns| ns as f64 / 1e9);
    FormatDoc { file: file.to_owned(), format: format.text.clone(), how, time_step }
}

/// The label before the first `=`, unless that is part of a path.
pub(super) fn labelled(text: &str) -> Result<(&str, &str), CliError> {
    match text.split_once('=') {
        Some((label, place)) if !label.contains('/') && !Path::new(text).exists() => {
            if label.is_empty() || place.is_empty() {
                return Err(CliError::usage(format!("{text}: give LABEL=FILE, such as ssd=access.log")));
            }
            Ok((label, place))
        }
        _ => Ok((UNLABELLED, text)),
    }
}

/// The labels of the arguments, each once, sorted.
pub fn labels_of(files: &[String]) -> Result<Vec<String>, CliError> {
    let labels = files.iter().map(|text| labelled(text).map(|(label, _)| label.to_owned()));
    let mut labels = labels.collect::<Result<Vec<_>, _>>()?;
    labels.sort_unstable();
    labels.dedup();
    Ok(labels)
}

/// The files of a pattern in the order of their names; a name without one is itself, whether it is there or not.
pub(super) fn expanded(place: &str) -> Result<Vec<PathBuf>, CliError> {
    if !place.contains(['*', '?', '[']) || Path::new(place).exists() {
        return Ok(vec![PathBuf::from(place)]);
    }
    let wrong = |what: String| CliError::usage(format!("{place}: {what}"));
    let found = glob::glob(place).map_err(|error| wrong(error.to_string()))?;
    let files: Vec<PathBuf> = found.collect::<Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    if files.is_empty() {
        return Err(CliError::data(format!("{place}: no file matches")));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_before_the_first_equals_sign() {
        assert_eq!(labelled("ssd=a.log").unwrap(), ("ssd", "a.log"));
        assert_eq!(labelled("a=b=c").unwrap(), ("a", "b=c"));
        assert_eq!(labelled("a.log").unwrap(), ("log", "a.log"));
        assert_eq!(labelled("dir/x=y.log").unwrap(), ("log", "dir/x=y.log"));
        assert!(labelled("=a.log").is_err() && labelled("a=").is_err());
    }

    #[test]
    fn a_file_is_given_once_for_a_label() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a.log"), "").unwrap();
        std::fs::write(at("b.log"), "").unwrap();
        std::os::unix::fs::symlink(at("a.log"), at("link.log")).unwrap();
        std::fs::hard_link(at("a.log"), at("hard.log")).unwrap();
        let mut seen = Seen::default();
        let mut note = |label: &str, path: &Path| seen.note(label, path);
        assert!(note("ssd", &at("a.log")).is_ok_and(|before| before.is_none()));
        assert!(note("ssd", &at("b.log")).is_ok_and(|before| before.is_none()));
        for again in [at("a.log"), at("link.log"), at("hard.log"), dir.path().join("./a.log")] {
            let error = note("ssd", &again).err().expect("it is the same file").to_string();
            assert!(error.contains(again.to_str().unwrap()) && error.contains("twice for ssd"), "{error}");
        }
        let before = note("hdd", &at("link.log")).ok().flatten().expect("ssd has it");
        assert_eq!((before.label.as_str(), before.name), ("ssd", at("a.log").display().to_string()));
        assert!(note("ssd", &at("none.log")).is_ok_and(|before| before.is_none()));
    }

    #[test]
    fn a_mistyped_file_is_told_the_nearest_one_of_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["monday.log", "tuesday.log"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("mondy.log.d")).unwrap();
        let near = |name: &str| near_name(&dir.path().join(name));
        let monday = dir.path().join("monday.log").display().to_string();
        assert_eq!((near("mondy.log"), near("monday")), (Some(monday.clone()), Some(monday)));
        assert_eq!((near("monday.log"), near("errors"), near("no/monday.log")), (None, None, None));
        let given = [dir.path().join("mondy.log").display().to_string()];
        let refused = choose(&given, &Formats::Detected).err().unwrap().message;
        assert!(refused.contains("; did you mean `") && refused.ends_with("monday.log`?"), "{refused}");
    }

    #[test]
    fn patterns_are_expanded_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.log", "a.log", "c.txt"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let at = |name: &str| dir.path().join(name);
        let found = expanded(at("*.log").to_str().unwrap()).unwrap();
        assert_eq!(found, [at("a.log"), at("b.log")]);
        assert!(expanded(at("*.gz").to_str().unwrap()).is_err());
        assert_eq!(expanded("no/such").unwrap(), [PathBuf::from("no/such")]);
    }
}
