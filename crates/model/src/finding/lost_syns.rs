//! `lost-syns`: requests that waited for a connection whose first packet was dropped and sent again.

use super::{Conclusion, Evidence, Several, Validity};
use crate::format::{count, list};

/// Requests by the seconds that they waited: 1, 3 (1 + 2) or 7 (1 + 2 + 4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LostSyns {
    pub waits: Vec<(u32, u64)>,
}

impl LostSyns {
    pub fn requests(&self) -> u64 {
        self.waits.iter().map(|(_, requests)| requests).sum()
    }

    /// `18 requests waited 1 s, 3 s or 7 s for a connection`.
    fn waited(&self) -> String {
        let seconds: Vec<String> = self.waits.iter().map(|(seconds, _)| format!("{seconds} s")).collect();
        let seconds = list(&seconds).replace(" and ", " or ");
        let requests = usize::try_from(self.requests()).unwrap_or(usize::MAX);
        format!("{} waited {seconds} for a connection", count(requests, "request"))
    }
}

impl Conclusion for LostSyns {
    fn kind(&self) -> &str {
        "lost-syns"
    }

    fn state(&self) -> Validity {
        Validity::Doubtful
    }

    fn one(&self) -> String {
        format!(
            "its slowest times are of TCP, not of the server's work: {}: their SYN was dropped, TCP sends it again after 1, \
             2, 4 s; see whose queue of connections was full, or what drops packets",
            self.waited()
        )
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (_, most, _) = all.worst(|one| Some(one.requests() as f64))?;
        Some(format!("{}: their SYN was dropped and sent again", most.waited()))
    }

    fn evidence(&self) -> Evidence {
        let each =
            self.waits.iter().map(|(seconds, requests)| (format!("waited_{seconds}_s"), *requests as f64));
        each.chain([("requests".to_owned(), self.requests() as f64)]).collect()
    }
}
