//! What a child does for the child that measures: it carries out a load, or is the far end of tests of the network.
//!
//! Errands are bytes on their way. Bytes that come from elsewhere are read or refused, whatever they are.

use model::generate::Loaded;
use serde::{Deserialize, Serialize};

use crate::load::{self, Load};
use crate::net::far;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Errand {
    Load(Box<Load>),
    Listen(far::Wanted),
}

impl Errand {
    pub fn pack(&self) -> Result<Vec<u8>, String> {
        postcard::to_stdvec(self).map_err(|error| format!("cannot be written as a frame: {error}"))
    }
}

/// Does what these bytes ask for. `start` names the time of the start once everything stands.
pub fn serve(bytes: &[u8], start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let errand: Errand =
        postcard::from_bytes(bytes).map_err(|error| format!("neither a load nor a far end: {error}"))?;
    match errand {
        Errand::Load(load) => load::serve(*load, start),
        Errand::Listen(wanted) => far::serve(&wanted, start),
    }
}
