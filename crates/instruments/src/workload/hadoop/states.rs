//! States of HDFS and YARN, ready or not, as read off the answers of their daemons.

use serde_json::Value;

use super::rest::{number, text};

/// Fails, with what is missing, until HDFS takes writes.
pub(super) fn hdfs_state(answer: &Value, nodes: f64) -> Result<(), String> {
    let bean = answer.get("beans").and_then(|beans| beans.get(0));
    let bean = bean.ok_or("the NameNode does not tell its state yet")?;
    let live = number(bean, &["NumLiveDataNodes"]).unwrap_or(0.0);
    let state = text(bean, &["FSState"]).unwrap_or("unknown");
    match (live >= nodes, state) {
        (true, "Operational") => Ok(()),
        (true, "safeMode") => Err("the NameNode is in safe mode".to_owned()),
        (true, state) => Err(format!("the NameNode is in the state {state}")),
        (false, _) => Err(format!("{live} of {nodes} DataNodes are there")),
    }
}

/// Fails, with what is missing, until YARN has its nodes.
pub(super) fn yarn_state(answer: &Value, nodes: f64) -> Result<(), String> {
    let active = number(answer, &["clusterMetrics", "activeNodes"]).unwrap_or(0.0);
    match active >= nodes {
        true => Ok(()),
        false => Err(format!("{active} of {nodes} NodeManagers are there")),
    }
}

/// Fails, with its state, unless a ResourceManager takes jobs.
pub(super) fn manager_state(info: &Value) -> Result<(), String> {
    let of = |key: &str| text(info, &["clusterInfo", key]);
    match (of("state"), of("haState")) {
        (Some("STARTED"), None | Some("ACTIVE")) => Ok(()),
        (Some("STARTED"), Some(other)) => Err(format!("it is {}", other.to_lowercase())),
        (state, _) => Err(format!("its state is {}", state.unwrap_or("unknown"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_off_the_daemons_answers() {
        let hdfs = |live: u32, state: &str| {
            let text = format!(r#"{{"beans":[{{"NumLiveDataNodes":{live},"FSState":"{state}"}}]}}"#);
            hdfs_state(&serde_json::from_str(&text).unwrap(), 2.0)
        };
        assert_eq!(hdfs(2, "Operational"), Ok(()));
        assert_eq!(hdfs(1, "Operational").unwrap_err(), "1 of 2 DataNodes are there");
        assert!(hdfs(2, "safeMode").unwrap_err().contains("safe mode"));
        assert!(hdfs_state(&serde_json::json!({"beans": []}), 1.0).is_err());
        let yarn =
            |active: u32| yarn_state(&serde_json::json!({"clusterMetrics": {"activeNodes": active}}), 2.0);
        assert_eq!(yarn(2), Ok(()));
        assert_eq!(yarn(0).unwrap_err(), "0 of 2 NodeManagers are there");
        assert!(yarn_state(&serde_json::json!({}), 1.0).is_err());
    }

    #[test]
    fn a_manager_that_starts_or_stands_by_takes_no_jobs() {
        let of = |state: &str, role: &str| {
            manager_state(&serde_json::json!({"clusterInfo": {"state": state, "haState": role}}))
        };
        assert_eq!(of("STARTED", "ACTIVE"), Ok(()));
        assert_eq!(of("STARTED", "INITIALIZING").unwrap_err(), "it is initializing");
        assert_eq!(of("STARTED", "STANDBY").unwrap_err(), "it is standby");
        assert_eq!(of("INITED", "ACTIVE").unwrap_err(), "its state is INITED");
        assert_eq!(manager_state(&serde_json::json!({"clusterInfo": {"state": "STARTED"}})), Ok(()));
        assert!(manager_state(&serde_json::json!({})).is_err());
    }
}
