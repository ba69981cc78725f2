//! `cut`: the user ended a load before its time.

use super::{Conclusion, Evidence, Validity, known};
use crate::doc::CutDoc;
use crate::format::{count, number, quantity};
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
            return format!(
                "its figures are of a part of the search: ended by the user {}",
                searched(steps, short)
            );
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
            ("steps_asked", self.short.steps_asked.map(|count| count as f64)),
            ("held", self.short.held),
            ("broke", self.short.broke),
        ])
    }
}

/// How far a search came, and what its steps say: `after 7 of 16 steps; the largest rate that held: 150 requests/s, the
/// smallest that broke: 180`.
fn searched(steps: u64, short: &CutDoc) -> String {
    let whole = |steps: u64| count(usize::try_from(steps).unwrap_or(usize::MAX), "step");
    let came = match short.steps_asked {
        Some(asked) if steps < asked => format!("after {steps} of {}", whole(asked)),
        Some(asked) => format!("after its {}, while the rate found was checked", whole(asked)),
        None => format!("after {}", whole(steps)),
    };
    let held = short.held.map(|rate| format!("the largest rate that held: {} requests/s", number(rate)));
    let broke = short.broke.map(|rate| format!("the smallest that broke: {}", number(rate)));
    let known: Vec<String> = held.into_iter().chain(broke).collect();
    if known.is_empty() { came } else { format!("{came}; {}", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_search_came_is_said_with_what_is_known() {
        let mut short = CutDoc { steps: Some(7), steps_asked: Some(16), ..CutDoc::default() };
        let text = |short: &CutDoc| Cut { short: short.clone(), replay: None }.one();
        assert!(text(&short).ends_with("ended by the user after 7 of 16 steps"));
        (short.held, short.broke) = (Some(150.0), Some(180.0));
        assert_eq!(
            text(&short),
            "its figures are of a part of the search: ended by the user after 7 of 16 steps; the largest rate that held: \
             150 requests/s, the smallest that broke: 180"
        );
        short.steps = Some(16);
        assert!(text(&short).contains("after its 16 steps, while the rate found was checked; the largest"));
    }
}
