//! Formats of log lines: Apache's and nginx's own format strings, named formats, configuration files, JSON, and
//! formats detected from sample lines. All compile into one plan of fields that the scanner follows.
//!
//! A directive that says nothing of interest here is read over; where two say the same, the better one is used and the
//! other named in the notes.

pub mod apache;
pub mod config;
pub mod detect;
mod error;
pub mod keys;
pub mod named;
pub mod nginx;
pub mod plan;
mod strftime;

pub use error::FormatError;
pub use plan::{Escape, Field, TextPlan};

/// How lines are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    Text(TextPlan),
    Json,
}

/// A format, ready to read lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The name or the string it was made from.
    pub text: String,
    pub plan: Plan,
    /// Remarks for the reader of the figures.
    pub notes: Vec<String>,
    /// The last digit of its times, in ns: a server cuts the time of day at either end of a request to it, so that the
    /// difference is off by less than one step, either way. None where lines tell no time, or JSON's keys say it.
    pub step_ns: Option<u64>,
}

impl Format {
    /// A named format, `json`, or a format string of Apache (`%`) or nginx (`$`). Fails at the column of what cannot be
    /// followed.
    pub fn parse(text: &str) -> Result<Format, FormatError> {
        if let Some(named) = named::find(text) {
            return named;
        }
        if text.contains('%') && !text.contains('$') {
            return Format::apache(text);
        }
        if text.contains('$') && !text.contains('%') {
            return Format::nginx(text, Escape::Default);
        }
        if text.contains('%') {
            // A directive of Apache's is never followed by a variable of nginx's, so one of them is a literal.
            return Format::apache(text).or_else(|_| Format::nginx(text, Escape::Default));
        }
        let names: Vec<&str> = named::NAMES.iter().map(|(name, _)| *name).chain(["json"]).collect();
        Err(FormatError::whole(format!(
            "{text:?} is no format: give Apache's LogFormat string (with %), nginx's log_format string (with $), or one of {}",
            names.join(", ")
        )))
    }

    /// Apache's `LogFormat` string. Fails at the column of an unknown directive.
    pub fn apache(text: &str) -> Result<Format, FormatError> {
        let (plan, notes) = plan::build(text, apache::tokens(text)?, Escape::Default)?;
        // Apache writes whole numbers of the directive's unit.
        let format = Format { text: text.to_owned(), plan: Plan::Text(plan), notes, step_ns: None };
        Ok(Format { step_ns: format.unit_ns(), ..format })
    }

    /// nginx's `log_format` string, its pieces joined. Fails at the column of a `$` without a name.
    pub fn nginx(text: &str, escape: Escape) -> Result<Format, FormatError> {
        let (plan, notes) = plan::build(text, nginx::tokens(text)?, escape)?;
        let format = Format { text: text.to_owned(), plan: Plan::Text(plan), notes, step_ns: None };
        Ok(Format { step_ns: format.unit_ns().map(|_| nginx::STEP_NS), ..format })
    }

    /// One JSON object a line, by the names of its keys.
    pub fn json() -> Format {
        Format { text: "json".to_owned(), plan: Plan::Json, notes: Vec::new(), step_ns: None }
    }

    fn tells(&self, wanted: impl Fn(&Field) -> bool) -> bool {
        match &self.plan {
            Plan::Text(plan) => plan.parts.iter().any(|part| wanted(&part.field)),
            // The lines decide.
            Plan::Json => true,
        }
    }

    /// How many stretches a line has; none are counted in JSON.
    pub fn fields(&self) -> usize {
        match &self.plan {
            Plan::Text(plan) => plan.parts.len(),
            Plan::Json => 0,
        }
    }

    /// True if the lines have the time that a request took.
    pub fn has_time(&self) -> bool {
        self.tells(|field| matches!(field, Field::Duration { .. } | Field::Durations { .. }))
    }

    /// True if the lines have the bytes sent.
    pub fn has_bytes(&self) -> bool {
        self.tells(|field| *field == Field::Bytes)
    }

    /// True if the lines have the time of day.
    pub fn has_clock(&self) -> bool {
        self.tells(|field| matches!(field, Field::Clock(_)))
    }

    /// The unit in which times are written, in ns; none where the lines tell no time, or JSON's keys say it.
    pub fn unit_ns(&self) -> Option<u64> {
        match &self.plan {
            Plan::Text(plan) => plan.parts.iter().find_map(|part| match part.field {
                Field::Duration { unit_ns } | Field::Durations { unit_ns } => Some(unit_ns),
                _ => None,
            }),
            Plan::Json => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_says_itself_whose_it_is() {
        assert!(matches!(Format::parse("json").unwrap().plan, Plan::Json));
        let apache = Format::parse("%h %l %u %t \"%r\" %>s %B %D").unwrap();
        assert!(apache.has_time() && apache.has_bytes() && apache.has_clock());
        assert_eq!((apache.unit_ns(), apache.step_ns), (Some(1000), Some(1000)));
        let nginx = Format::parse("$remote_addr [$time_local] $status").unwrap();
        assert!(!nginx.has_time() && !nginx.has_bytes() && nginx.unit_ns().is_none());
        assert_eq!(nginx.step_ns, None);
        let timed = Format::parse("nginx+time").unwrap();
        assert_eq!((timed.unit_ns(), timed.step_ns), (Some(1_000_000_000), Some(1_000_000)));
        assert_eq!(Format::parse("%h %{ms}T %s").unwrap().step_ns, Some(1_000_000));
        assert_eq!(Format::parse("combined").unwrap().text, "combined");
        let error = Format::parse("combind").unwrap_err();
        assert!(error.to_string().contains("vcombined") && error.column == 0, "{error}");
    }

    #[test]
    fn errors_name_the_column() {
        let error = Format::parse("%h %Ä %>s").unwrap_err();
        assert_eq!((error.column, error.to_string().starts_with("column 4: ")), (4, true), "{error}");
        let error = Format::parse("é $ x").unwrap_err();
        assert_eq!(error.column, 3, "{error}");
    }
}
