//! A summary of a few sentences, of which the first may stand alone as a title. JSON has it as one text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A summary that is ready to paste: its lead, and the rest with whatever stands between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Paragraph {
    /// The first sentence or clause. A paragraph that was read from JSON is all lead.
    pub lead: String,
    /// Begins with the space, line break or `;` behind the lead.
    pub rest: String,
}

impl Paragraph {
    /// Lines of sentences: the first sentence is the lead.
    pub fn of_lines(lines: &[Vec<String>]) -> Paragraph {
        let lead = lines.first().and_then(|line| line.first()).cloned().unwrap_or_default();
        let lines: Vec<String> = lines.iter().map(|line| line.join(" ")).collect();
        let rest = lines.join("\n").split_off(lead.len());
        Paragraph { lead, rest }
    }

    pub fn is_empty(&self) -> bool {
        self.lead.is_empty() && self.rest.is_empty()
    }
}

impl fmt::Display for Paragraph {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}{}", self.lead, self.rest)
    }
}

impl From<String> for Paragraph {
    fn from(lead: String) -> Paragraph {
        Paragraph { lead, rest: String::new() }
    }
}

impl From<Paragraph> for String {
    fn from(paragraph: Paragraph) -> String {
        paragraph.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sentences_are_one_text_with_a_lead() {
        let lines = [&["A wins.", "They tie."][..], &["B wins."]];
        let lines = lines.map(|line| line.iter().map(|sentence| (*sentence).to_owned()).collect::<Vec<_>>());
        let paragraph = Paragraph::of_lines(&lines);
        assert_eq!((paragraph.lead.as_str(), paragraph.rest.as_str()), ("A wins.", " They tie.\nB wins."));
        assert_eq!(serde_json::to_string(&paragraph).unwrap(), r#""A wins. They tie.\nB wins.""#);
        assert_eq!(serde_json::from_str::<Paragraph>(r#""A. B.""#).unwrap().to_string(), "A. B.");
        assert!(Paragraph::of_lines(&[]).is_empty());
    }
}
