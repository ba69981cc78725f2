//! The other runs of a study.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// Runs of the other machines of a run's study. All runs of a study share one list: of 1,000 machines a list for each
/// would be as large as their figures.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Siblings {
    study: Arc<[String]>,
    own: String,
}

impl Siblings {
    /// All runs of `study` but `own`.
    pub fn new(study: &Arc<[String]>, own: &str) -> Siblings {
        Siblings { study: Arc::clone(study), own: own.to_owned() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.study.iter().map(String::as_str).filter(|run| *run != self.own)
    }
}

impl PartialEq for Siblings {
    fn eq(&self, other: &Siblings) -> bool {
        self.iter().eq(other.iter())
    }
}

impl From<Vec<String>> for Siblings {
    fn from(others: Vec<String>) -> Siblings {
        Siblings { study: others.into(), own: String::new() }
    }
}

impl Serialize for Siblings {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_no_sibling_of_its_own_and_the_list_reads_back() {
        let study: Arc<[String]> = ["a", "b", "c"].map(str::to_owned).into();
        let siblings = Siblings::new(&study, "b");
        let text = serde_json::to_string(&siblings).unwrap();
        assert_eq!(text, r#"["a","c"]"#);
        let back: Siblings = serde_json::from_str(&text).unwrap();
        assert_eq!(back, siblings);
        assert_eq!(back.iter().collect::<Vec<_>>(), ["a", "c"]);
    }
}
