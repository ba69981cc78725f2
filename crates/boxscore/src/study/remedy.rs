//! Hints for loads that had no good answer, by the kind of their failures.

use instruments::load::failure::Failure;
use instruments::load::store_client::data::meaning;
use model::{Fault, FaultKind};

use crate::error::CliError;

/// The error of a load without a good answer, with a hint.
pub fn failed(fault: &Fault) -> CliError {
    CliError::data(&fault.text).maybe_hint(hint(&fault.kind))
}

/// The hint for a fault: for its most frequent kind of failure, unless its text says enough.
pub fn hint(fault: &FaultKind) -> Option<&'static str> {
    match fault {
        FaultKind::Other => None,
        FaultKind::Tls => Some(
            "certificate=any (load: --insecure) takes any certificate; http:// is for a server without TLS",
        ),
        FaultKind::NoGoodAnswer(failed) => {
            let most = failed.iter().max_by_key(|failed| failed.count)?;
            meaning(most.failure).or_else(|| remedy(most.failure))
        }
    }
}

/// The hint for a kind of failure of web requests; failures of stores are explained by [`meaning`].
fn remedy(failure: Failure) -> Option<&'static str> {
    Some(match failure {
        Failure::Refused => "the store refuses the requests: its log says why",
        Failure::Status4xx => {
            "the server refuses the request: check path and headers; `curl -i URL` shows its answer"
        }
        Failure::Status5xx => "the server fails at the request: its error log says why",
        Failure::Cut => "no answer came until the load was ended: is it the right port?",
        Failure::Connect => {
            "no connection could be made: is the server still running, and are ports and files left?"
        }
        Failure::Tls => "--insecure takes any certificate; http:// is for a server without TLS",
        Failure::Timeout => "no answer came in time: is it the right port? --timeout waits longer",
        Failure::Reset | Failure::Closed => {
            "the server closes connections without an answer: try https:// or --no-keepalive; see its error log"
        }
        Failure::BadResponse => {
            "what answers there does not speak HTTP/1.1: check the port, and https:// for http://"
        }
        Failure::ShortBody | Failure::WrongBody => "its answers are not whole: see the server's error log",
        Failure::Unsent => "nothing could be sent in time: lower --rate, or raise --connections",
        Failure::Auth
        | Failure::Moved
        | Failure::Loading
        | Failure::OutOfMemory
        | Failure::TooLarge
        | Failure::ReadOnly
        | Failure::Missing => return None,
    })
}

/// The status of a load whose answers were all whole and all had this status of 4xx or 5xx.
pub fn only_status(fault: &FaultKind) -> Option<u16> {
    match fault.failed() {
        [only] => only.status,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::fault::FailedRequests;

    #[test]
    fn the_most_frequent_failure_has_a_hint() {
        let failed = |failure, status, count| FailedRequests { failure, status, count };
        let both = vec![failed(Failure::Status4xx, Some(404), 10), failed(Failure::Reset, None, 2)];
        let advice = hint(&FaultKind::NoGoodAnswer(both)).unwrap();
        assert!(advice.contains("path"), "{advice}");
        assert!(hint(&FaultKind::Tls).unwrap().contains("--insecure"));
        assert_eq!(hint(&FaultKind::Other), None);
        for kind in Failure::ALL {
            assert!(hint(&FaultKind::NoGoodAnswer(vec![failed(kind, None, 1)])).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn the_status_of_a_load_is_known_where_it_had_no_other() {
        let failed = |status, count| FailedRequests { failure: Failure::Status4xx, status, count };
        let of = |failed| only_status(&FaultKind::NoGoodAnswer(failed));
        assert_eq!(of(vec![failed(Some(404), 2)]), Some(404));
        assert_eq!(of(vec![failed(Some(404), 2), failed(Some(410), 1)]), None);
        assert_eq!(of(vec![FailedRequests { failure: Failure::Timeout, status: None, count: 1 }]), None);
        assert_eq!(only_status(&FaultKind::Other), None);
    }
}
