//! `redirects`: answers that point elsewhere, which nobody followed.

use std::collections::BTreeMap;

use super::{Conclusion, Evidence, Validity};
use crate::format::percent;

/// The status of content that the client has already: it leads nowhere.
const NOT_MODIFIED: &str = "304";

#[derive(Clone, Debug, PartialEq)]
pub struct Redirects {
    /// Answers by status, over all measured takes of a load.
    pub statuses: BTreeMap<String, f64>,
    /// Of its good answers, where those were counted.
    pub share: Option<f64>,
    /// Where the first one points, as far as it was noted.
    pub to: Option<String>,
}

impl Conclusion for Redirects {
    fn kind(&self) -> &str {
        "redirects"
    }

    fn state(&self) -> Validity {
        Validity::Doubtful
    }

    fn one(&self) -> String {
        let all: f64 = self.statuses.values().sum();
        let count = self.share.map_or_else(|| format!("{all:.0}"), percent);
        if self.statuses.keys().all(|status| status == NOT_MODIFIED) {
            return format!(
                "the figures are of answers without content: {count} of the answers were 304 (not modified); leave out the \
                 headers that ask so"
            );
        }
        let names: Vec<&str> = self.statuses.keys().map(String::as_str).collect();
        let (to, what) = match &self.to {
            Some(to) => (format!(", to {to}"), "that"),
            None => (String::new(), "the page behind them"),
        };
        format!(
            "the figures are of the redirects: {count} of the answers were redirects ({}), which are not followed{to}; \
             load {what} itself",
            names.join(", ")
        )
    }

    fn evidence(&self) -> Evidence {
        self.statuses.clone()
    }
}
