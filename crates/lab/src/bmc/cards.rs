//! MAC addresses that BMCs tell: their own, and by Redfish those of the node's network cards. IPMI has no standard
//! request for the cards of a node.

use super::{Access, Failure};
use crate::inventory::Mac;

/// The MAC addresses of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cards {
    /// Of the BMC itself.
    pub bmc: Option<Mac>,
    /// Of the node, in the order in which the BMC numbers its ports; empty where it does not tell.
    pub ports: Vec<Mac>,
}

/// A way to read them. Results are in the order of the BMCs.
pub trait TellsCards {
    fn cards(&self, of: &[&Access]) -> Vec<Result<Cards, Failure>>;
}
