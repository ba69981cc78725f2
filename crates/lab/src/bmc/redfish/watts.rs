//! The power of a node by Redfish: `EnvironmentMetrics`, else `Power`, of its chassis; else what the power supplies of
//! `PowerSubsystem` take in, where each of them says it.

use serde_json::Value;

use super::{Redfish, Service, link, members};
use crate::bmc::watts::{WallWatts, power};
use crate::bmc::{Access, Failure};

impl WallWatts for Redfish<'_> {
    fn watts(&self, of: &[&Access]) -> Vec<Result<f64, Failure>> {
        self.each(of, |service| service.watts())
    }
}

impl Service<'_> {
    fn watts(&self) -> Result<f64, Failure> {
        let system = self.system()?;
        let own: Vec<String> =
            system["Links"]["Chassis"].as_array().into_iter().flatten().filter_map(link).collect();
        let is_named = !own.is_empty();
        let chassis = if is_named { own } else { members(&self.get("/redfish/v1/Chassis")?) };
        let mut found = Vec::new();
        for path in &chassis {
            found.extend(self.watts_of(path)?);
        }
        match found.as_slice() {
            [] => Err(Failure::Missing {
                path: "reading of its power (EnvironmentMetrics, Power, PowerSubsystem)".to_owned(),
            }),
            [one] => power(*one),
            [first, ..] if is_named => power(*first),
            several => Err(Failure::Other {
                said: format!(
                    "its BMC tells the power of {} chassis, and not which is the node's",
                    several.len()
                ),
            }),
        }
    }

    fn watts_of(&self, chassis: &str) -> Result<Option<f64>, Failure> {
        let metrics = self.find(&format!("{chassis}/EnvironmentMetrics"))?.unwrap_or_default();
        if let Some(watts) = of_metrics(&metrics) {
            return Ok(Some(watts));
        }
        if let Some(watts) = of_power(&self.find(&format!("{chassis}/Power"))?.unwrap_or_default()) {
            return Ok(Some(watts));
        }
        self.of_supplies(chassis)
    }

    /// The input of all supplies; without that of one of them there is no sum.
    fn of_supplies(&self, chassis: &str) -> Result<Option<f64>, Failure> {
        let subsystem = self.find(&format!("{chassis}/PowerSubsystem"))?.unwrap_or_default();
        let Some(path) = link(&subsystem["PowerSupplies"]) else { return Ok(None) };
        let mut all = Vec::new();
        for path in members(&self.get(&path)?) {
            let Some(metrics) = link(&self.get(&path)?["Metrics"]) else { return Ok(None) };
            all.push(of_supply(&self.get(&metrics)?));
        }
        let all: Option<Vec<f64>> = all.into_iter().collect();
        Ok(all.filter(|all| !all.is_empty()).map(|all| all.iter().sum()))
    }
}

fn of_metrics(metrics: &Value) -> Option<f64> {
    metrics["PowerWatts"]["Reading"].as_f64()
}

/// The first of its power controls is the one of the whole.
fn of_power(power: &Value) -> Option<f64> {
    power["PowerControl"][0]["PowerConsumedWatts"].as_f64()
}

fn of_supply(metrics: &Value) -> Option<f64> {
    metrics["InputPowerWatts"]["Reading"].as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_is_not_there_is_missing() {
        assert_eq!(of_metrics(&serde_json::json!({"PowerWatts": {"Reading": 374.0}})), Some(374.0));
        assert_eq!(
            of_power(&serde_json::json!({"PowerControl": [{"PowerConsumedWatts": 344}]})),
            Some(344.0)
        );
        assert_eq!(of_supply(&serde_json::json!({"InputPowerWatts": {"Reading": 170.5}})), Some(170.5));
        assert_eq!(of_supply(&serde_json::json!({"OutputPowerWatts": {"Reading": 160}})), None);
        for none in
            [serde_json::json!({}), serde_json::json!({"PowerControl": [{"PowerConsumedWatts": null}]})]
        {
            assert_eq!((of_metrics(&none), of_power(&none)), (None, None));
        }
    }
}
