//! Management controllers (BMC) of nodes: what they say of the power, and what they are asked to do with it.
//!
//! `access` says how the BMC of each node is reached, `ipmi` and `redfish` speak with them, `power` asks for a state
//! and looks until it is there. A state is what a BMC says when asked, never what it was told to become. A password
//! reaches a tool on its stdin, or a BMC over TLS: no command line, file, log or error holds one.

mod access;
mod all;
pub mod boot;
pub mod cards;
mod failure;
pub mod health;
pub mod ipmi;
pub mod power;
pub mod redfish;
pub mod watts;

pub use access::{Access, accesses, reached};
pub use all::Bmcs;
pub use failure::Failure;

model::words! {
    /// The power of a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum State as word {
        On = "on",
        Off = "off",
    }
}

/// One request to a BMC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    On,
    /// At once, as the switch does.
    Off,
    /// The operating system is asked to end.
    Soft,
    Reset,
}

/// A way to speak with many BMCs at once. Results are in the order of the BMCs.
pub trait Power {
    fn states(&self, of: &[&Access]) -> Vec<Result<State, Failure>>;
    /// Makes a request of each. That it was taken says nothing of the state.
    fn ask(&self, request: Request, of: &[&Access]) -> Vec<Result<(), Failure>>;
}
