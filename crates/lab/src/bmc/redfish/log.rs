//! The system event log by Redfish: the entries of a log service of the system, or of its manager.

use serde_json::Value;

use super::{Service, link, members};
use crate::bmc::Failure;
use crate::bmc::health::Event;
use crate::ssh::printable;

/// Pages of a log that are read.
const PAGES: usize = 50;

impl Service<'_> {
    /// The last entries, the oldest first. Fails where it keeps no log.
    pub(super) fn events(&self, last: u32) -> Result<Vec<Event>, Failure> {
        let last = usize::try_from(last).unwrap_or(usize::MAX);
        let services = self.log_services()?;
        if services.is_empty() {
            return Err(Failure::Missing {
                path: "system event log that Redfish can read (LogServices)".to_owned(),
            });
        }
        let mut all = Vec::new();
        for service in &services {
            if let Some(entries) = link(&service["Entries"]) {
                all.extend(self.entries(&entries, last)?);
            }
        }
        // By the clock of the BMC; of one moment, and without a clock, in their order there.
        all.sort_by(|a, b| text(a, "Created").cmp(&text(b, "Created")));
        let from = all.len().saturating_sub(last);
        Ok(all.iter().skip(from).map(event).collect())
    }

    /// The log services that keep the system event log; where none says that it does, all of them.
    fn log_services(&self) -> Result<Vec<Value>, Failure> {
        let mut owners = vec![self.system()?];
        for manager in self.find("/redfish/v1/Managers")?.iter().flat_map(members) {
            owners.extend(self.find(&manager)?);
        }
        let mut all = Vec::new();
        for path in owners.iter().filter_map(|owner| link(&owner["LogServices"])) {
            for service in self.find(&path)?.iter().flat_map(members) {
                all.extend(self.find(&service)?);
            }
        }
        let is_sel = |service: &Value| {
            text(service, "LogEntryType") == Some("SEL")
                || ["Id", "Name"]
                    .iter()
                    .any(|key| text(service, key).is_some_and(|name| name.contains("SEL")))
        };
        if all.iter().any(is_sel) {
            all.retain(is_sel);
        }
        Ok(all)
    }

    /// The entries of a log, page by page; where a page has names alone, the last ones are asked for.
    fn entries(&self, path: &str, last: usize) -> Result<Vec<Value>, Failure> {
        let (mut all, mut next) = (Vec::new(), Some(path.to_owned()));
        for _ in 0..PAGES {
            let Some(page) = next.take() else { break };
            let page = self.get(&page)?;
            all.extend(page["Members"].as_array().cloned().unwrap_or_default());
            next = page["Members@odata.nextLink"].as_str().and_then(|to| super::own_path(to).ok());
        }
        let is_name = |entry: &Value| entry.as_object().is_some_and(|entry| entry.len() == 1);
        if !all.iter().any(is_name) {
            return Ok(all);
        }
        let from = all.len().saturating_sub(last);
        all.iter()
            .skip(from)
            .map(|entry| link(entry).map_or_else(|| Ok(entry.clone()), |path| self.get(&path)))
            .collect()
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value[key].as_str()
}

fn event(entry: &Value) -> Event {
    let shown =
        |key: &str| text(entry, key).map(|text| printable(text.as_bytes())).filter(|text| !text.is_empty());
    Event {
        id: shown("Id").unwrap_or_default(),
        time: text(entry, "Created").and_then(time),
        sensor: shown("SensorType").or_else(|| shown("Name")).unwrap_or_default(),
        event: shown("Message").or_else(|| shown("MessageId")).unwrap_or_default(),
        begins: match text(entry, "EntryCode") {
            Some("Assert") => Some(true),
            Some("Deassert") => Some(false),
            _ => None,
        },
        detail: shown("Severity").filter(|severity| severity != "OK"),
    }
}

/// `2026-11-26T11:00:00+00:00` as `2026-11-26 11:00:00`; `None` before the clock was set.
fn time(created: &str) -> Option<String> {
    let (date, clock) = created.get(..19)?.split_once('T')?;
    let is_set = !date.starts_with("1970") && !date.starts_with("0000");
    let is_time = created.get(..19)?.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T'));
    (is_set && is_time).then(|| format!("{date} {clock}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_an_event() {
        let entry = serde_json::json!({
            "Id": "7", "Created": "2026-11-26T11:00:00+01:00", "SensorType": "Temperature", "EntryCode": "Assert",
            "Message": "Upper \u{1b} critical", "Severity": "Critical",
        });
        let one = event(&entry);
        assert_eq!((one.id.as_str(), one.time.as_deref()), ("7", Some("2026-11-26 11:00:00")));
        assert_eq!((one.sensor.as_str(), one.event.as_str()), ("Temperature", "Upper \\u{1b} critical"));
        assert_eq!((one.begins, one.detail.as_deref()), (Some(true), Some("Critical")));
        let bare = event(&serde_json::json!({"Created": "1970-01-01T00:00:09Z", "Severity": "OK"}));
        assert_eq!((bare.time, bare.begins, bare.detail), (None, None, None));
        for bad in
            ["", "yesterday", "2026-11-26", "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}"]
        {
            assert_eq!(time(bad), None, "{bad}");
        }
    }
}
