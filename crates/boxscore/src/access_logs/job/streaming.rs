//! A task of Hadoop Streaming: what it says of its split in the environment, and what it is told on stderr.

use std::env;

use crate::out;

/// The group of our counters.
const GROUP: &str = "boxscore";

/// Tells Hadoop of the progress of a task, where it is one.
#[derive(Clone, Copy, Debug)]
pub struct Reporter {
    is_on: bool,
}

impl Reporter {
    /// On where it is asked for, and in a task.
    pub fn new(is_asked: bool) -> Reporter {
        Reporter { is_on: is_asked || env::var_os("mapreduce_job_id").is_some() }
    }

    pub fn is_on(self) -> bool {
        self.is_on
    }

    /// Adds to a counter of the job.
    pub fn count(self, name: &str, more: u64) {
        if self.is_on && more > 0 {
            out::say(&format!("reporter:counter:{GROUP},{name},{more}"));
        }
    }

    pub fn status(self, text: &str) {
        if self.is_on {
            out::say(&format!("reporter:status:{text}"));
        }
    }
}

/// The split of a mapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The path of its file, without the file system.
    pub file: String,
    /// The bytes of it as they lie there.
    pub range: Option<(u64, u64)>,
}

impl Split {
    /// `None` outside of a task.
    pub fn of_task() -> Option<Split> {
        let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let start = number("mapreduce_map_input_start");
        let end =
            start.zip(number("mapreduce_map_input_length")).and_then(|(from, many)| from.checked_add(many));
        let file = path_of(&env::var("mapreduce_map_input_file").ok()?);
        Some(Split { file, range: start.zip(end) })
    }
}

impl std::fmt::Display for Split {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.range {
            Some((from, end)) => write!(to, "{} (split from byte {from} to {end})", self.file),
            None => to.write_str(&self.file),
        }
    }
}

/// `/logs/a.log` of `hdfs://host:8020/logs/a.log` and of `file:/logs/a.log`.
pub fn path_of(uri: &str) -> String {
    let is_scheme =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let Some((_, rest)) = uri.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return uri.to_owned();
    };
    let Some(authority) = rest.strip_prefix("//") else { return rest.to_owned() };
    authority.find('/').map_or_else(String::new, |at| authority[at..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_without_its_file_system() {
        for (uri, path) in [
            ("hdfs://m:8020/logs/a.log", "/logs/a.log"),
            ("file:/logs/a b.log", "/logs/a b.log"),
            ("file:///logs/a.log", "/logs/a.log"),
            ("s3a://bucket/x:y.gz", "/x:y.gz"),
            ("/logs/12:00.log", "/logs/12:00.log"),
            ("a.log", "a.log"),
        ] {
            assert_eq!(path_of(uri), path);
        }
        let split = Split { file: "/a.log".into(), range: Some((5, 9)) };
        assert_eq!(split.to_string(), "/a.log (split from byte 5 to 9)");
    }
}
