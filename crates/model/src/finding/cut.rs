//! `cut`: the user ended a load before its time.

use super::{Conclusion, Evidence, Validity, known};
use crate::doc::CutDoc;
use crate::format::{count, quantity};
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    pub short: CutDoc,
    /// The file that was sent again, where one was.
    pub replay: Option<String>,
}

impl Conclusion for Cut {
    fn kind(&self) -> &str {
        "cut"
    }

    fn state(&self) -> Validity {
        Validity::Doubtful
    }

    fn one(&self) -> String {
        let short = &self.short;
        if let Some(steps) = short.steps {
            let steps = count(usize::try_from(steps).unwrap_or(usize::MAX), "step");
            return format!("its figures are of a part of the search: ended by the user after {steps}");
        }
        let seconds = |seconds: f64| quantity(seconds, Unit::Second);
        let lasted = short.lasted.map_or_else(|| "an unknown time".to_owned(), seconds);
        let how = match (short.asked, short.requests.zip(short.requests_asked)) {
            (Some(asked), _) => format!("of the {asked} s asked for"),
            (None, Some((sent, asked))) => format!("with {sent} of the {asked} requests asked for"),
            (None, None) => {
                let file = self.replay.as_deref().unwrap_or("its file");
                format!("before the end of {file}")
            }
        };
        format!("its figures are of a part of the load: ended by the user after {lasted} {how}")
    }

    fn evidence(&self) -> Evidence {
        known([
            ("lasted", self.short.lasted),
            ("asked", self.short.asked),
            ("requests", self.short.requests.map(|count| count as f64)),
            ("steps", self.short.steps.map(|count| count as f64)),
            ("requests_asked", self.short.requests_asked.map(|count| count as f64)),
        ])
    }
}
