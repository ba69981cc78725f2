//! The machine as far as a plan depends on it.

use std::sync::Arc;

use model::{Node, Setup};

use super::mixes::Named;
use super::trees::NamedTree;

/// The host that variants are spread over.
#[derive(Clone, Debug, Default)]
pub struct Host {
    pub cpus: u32,
    pub nodes: Vec<Node>,
    /// The web server that `server=auto` stands for.
    pub server: &'static str,
    /// The set-up of instruments on this machine; none if it is measured elsewhere.
    pub setup: Option<Setup>,
}

impl Host {
    /// As much of it as the listed CPUs leave, with the mix that is repeated and the files that are served.
    pub fn with(&self, listed: Option<&[u32]>, (mix, tree): (Option<&Named>, Option<&NamedTree>)) -> Host {
        let mut host = self.clone();
        if let Some(listed) = listed {
            let keep = |cpus: &mut Vec<u32>| cpus.retain(|cpu| listed.contains(cpu));
            host.nodes.iter_mut().for_each(|node| keep(&mut node.cpus));
            host.setup.iter_mut().for_each(|setup| keep(&mut setup.cpus));
            host.cpus = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        }
        if let (Some(setup), Some(named)) = (&mut host.setup, mix) {
            setup.mix = Some(Arc::new(named.mix.clone()));
        }
        if let (Some(setup), Some(named)) = (&mut host.setup, tree) {
            setup.tree = Some(Arc::new(named.tree.clone()));
        }
        host
    }
}
