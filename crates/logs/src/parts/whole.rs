//! Labels made of all their parts: what one reader of all the files would have made.

use std::collections::BTreeMap;

use super::{Made, Of, Part, PartError, Parts};
use crate::aggregate::Aggregate;
use crate::aggregate::skips::Skips;
use crate::read::Besides;
use crate::read::tally::Side;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    pub label: String,
    pub name: String,
    pub format: String,
    pub how: String,
    pub unit_ns: Option<u64>,
    pub step_ns: Option<u64>,
    /// Of the first lines, how many have more fields than the format, and how many were looked at.
    pub over: (u64, u64),
}

/// All labels.
#[derive(Debug, Default)]
pub struct Whole {
    pub made: Made,
    /// The labels in the order of their places, then of their names.
    pub order: Vec<String>,
    pub labels: BTreeMap<String, Aggregate>,
    pub besides: BTreeMap<String, Besides>,
    /// By label in their order, then by name.
    pub files: Vec<FileRead>,
}

/// The parts of one label.
#[derive(Default)]
struct Sides {
    whole: Option<Part>,
    before: Option<Part>,
    after: Option<Part>,
}

impl Parts {
    /// The labels of all parts. Fails where parts are missing, or were made in different ways.
    pub fn whole(self) -> Result<Whole, PartError> {
        let mut labels: BTreeMap<String, Sides> = BTreeMap::new();
        let mut made: Option<Made> = None;
        for part in self.each()? {
            let (key, part) = part?;
            let known = made.get_or_insert_with(|| part.made.clone());
            if *known != part.made {
                let (ours, theirs) = (known.to_string(), part.made.to_string());
                return Err(PartError::Settings { ours, theirs });
            }
            let sides = labels.entry(key.label).or_default();
            match key.of {
                Of::Whole => sides.whole = Some(part),
                Of::Before => sides.before = Some(part),
                Of::After => sides.after = Some(part),
            }
        }
        let mut all = Whole { made: made.unwrap_or_default(), ..Whole::default() };
        let mut places: Vec<(u32, String)> = Vec::new();
        let mut files = BTreeMap::new();
        for (label, sides) in labels {
            let (whole, sides) = sides.of(&label, all.made.cut.is_some())?;
            places.push((whole.place, label.clone()));
            files.insert(label.clone(), read_of(&label, &whole));
            let Side { mut aggregate, timeline } = whole.side;
            aggregate.add_skips(&skips_of(&label, &whole.files, &aggregate, sides.as_deref())?);
            all.labels.insert(label.clone(), aggregate);
            all.besides.insert(label, Besides { timeline, sides });
        }
        places.sort_unstable();
        all.order = places.into_iter().map(|(_, label)| label).collect();
        if all.made.one_label && all.order.len() > 1 {
            return Err(PartError::Labels(all.order));
        }
        all.files = all.order.iter().filter_map(|label| files.remove(label)).flatten().collect();
        Ok(all)
    }
}

/// Before a moment, and from it on.
type Two = Box<[Side; 2]>;

impl Sides {
    /// The whole, and the sides where there is a cut.
    fn of(self, label: &str, is_cut: bool) -> Result<(Part, Option<Two>), PartError> {
        let torn = |what: String| PartError::Torn { label: label.to_owned(), what };
        let whole = self.whole.ok_or_else(|| torn(format!("{label}/whole is missing")))?;
        match (self.before, self.after) {
            (None, None) if !is_cut => Ok((whole, None)),
            (Some(before), Some(after)) if is_cut => Ok((whole, Some(Box::new([before.side, after.side])))),
            (Some(_), None) => Err(torn(format!("{label}/after is missing"))),
            (None, Some(_)) => Err(torn(format!("{label}/before is missing"))),
            (None, None) => Err(torn(format!("{label}/before and {label}/after are missing"))),
            (Some(_), Some(_)) => Err(torn("it has sides of a cut that there is none of".to_owned())),
        }
    }
}

fn read_of(label: &str, whole: &Part) -> Vec<FileRead> {
    let file = |(name, file): (&String, &super::files::File)| FileRead {
        label: label.to_owned(),
        name: name.clone(),
        format: file.format.clone(),
        how: file.found.how.clone(),
        unit_ns: file.unit_ns,
        step_ns: file.step_ns,
        over: file.found.over,
    };
    whole.files.0.iter().map(file).collect()
}

/// All lines that were skipped. Fails where lines are missing or there twice.
fn skips_of(
    label: &str,
    files: &super::Files,
    whole: &Aggregate,
    sides: Option<&[Side; 2]>,
) -> Result<Skips, PartError> {
    let mut skips = Skips::default();
    for (name, file) in &files.0 {
        skips.merge(&file.skips(name)?);
    }
    let counted = sides.into_iter().flatten().map(|side| side.aggregate.lines);
    let counted = counted.fold(whole.lines.saturating_add(skips.total()), u64::saturating_add);
    match files.lines() {
        read if read == counted => Ok(skips),
        read => {
            let what = format!("{read} lines were read and {counted} counted");
            Err(PartError::Torn { label: label.to_owned(), what })
        }
    }
}
