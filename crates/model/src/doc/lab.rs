//! The documents of `boxscore lab`: nodes of an expression, an imported inventory, and a plan of names and addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `boxscore lab nodes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabNodesDoc {
    pub schema: String,
    /// The inventory that was read; absent where there is none.
    pub inventory: Option<String>,
    pub count: u64,
    /// The shortest expression that gives the same names.
    pub folded: String,
    /// In the order of the expression.
    pub names: Vec<String>,
    /// The names that the inventory has, with what it says of them.
    pub nodes: Vec<LabNodeDoc>,
    /// Names that are no node of the inventory.
    pub unknown: Vec<String>,
    /// Remarks on how the expression was read.
    pub notes: Vec<String>,
}

/// A node of the inventory. Passwords are in no document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabNodeDoc {
    pub name: String,
    pub address: String,
    /// Absent where the user's ssh configuration says it, as for `port`.
    pub user: Option<String>,
    pub port: Option<u16>,
    /// `generator`, `server`.
    pub roles: Vec<String>,
    pub groups: Vec<String>,
    /// As it is written: `429`, `2000..2500`, `0.19/h`.
    pub price: Option<String>,
    pub currency: Option<String>,
    pub watts: Option<f64>,
    pub rack: Option<String>,
    pub position: Option<u64>,
    pub mac: Option<String>,
    pub bmc: Option<LabBmcDoc>,
}

/// The controller that switches a node on and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBmcDoc {
    /// `ipmi`, `redfish`.
    pub kind: String,
    pub address: String,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub mac: Option<String>,
}

/// `boxscore lab import`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabImportDoc {
    pub schema: String,
    /// The form that was read: `ansible-ini`, `ansible-yaml`, `ssh`, `hosts`, `csv`.
    pub form: String,
    pub count: u64,
    /// The text of the inventory.
    pub toml: String,
    /// Parts of the list that the inventory has not.
    pub notes: Vec<String>,
}

/// `boxscore lab plan`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabPlanDoc {
    pub schema: String,
    pub domain: Option<String>,
    pub subnets: Vec<LabSubnetDoc>,
    pub chassis: Vec<String>,
    pub ports: Vec<LabPortDoc>,
    pub rows: Vec<LabRowDoc>,
    pub notes: Vec<String>,
    /// Files that were written.
    pub paths: Vec<String>,
}

/// A subnet of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSubnetDoc {
    pub network: String,
    pub name: String,
    /// Addresses that it gives out, or that are in use in it already.
    pub addresses: u64,
    /// Addresses that are left.
    pub free: u64,
    /// True where others use it already, so that it gives out none.
    pub in_use: bool,
    pub usage: String,
}

/// Ports that are named alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabPortDoc {
    /// `host`, `nic`, `bmc` or `manager`.
    pub kind: String,
    /// The letters behind the name of the machine; empty for the first port of a host.
    pub suffix: String,
    pub subnet: String,
    /// Folded names in each chassis, in their order; last those that are in none.
    pub names: Vec<String>,
}

/// A name of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabRowDoc {
    pub name: String,
    pub address: String,
    pub kind: String,
    /// The host or the chassis that it belongs to.
    pub machine: String,
    pub chassis: Option<String>,
    pub slot: Option<u64>,
    pub mac: Option<String>,
    pub network: String,
}
