//! How far each node has come on its way from the switch to its spec sheet. Times are seconds since the beginning.

model::words! {
    /// The last thing that was seen of a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Stage as word {
        Off = "off",
        /// It has power, and has asked for no address.
        Bios = "BIOS",
        /// It has its address.
        Dhcp = "DHCP",
        /// It has loaded the kernel and its initramfs.
        Kernel = "kernel",
        /// boxscore runs in it.
        Up = "agent up",
        /// Its spec sheet is here.
        Inspected = "inspected",
        /// An image is on its disk, which was read back.
        Written = "written",
        /// Its quick score is here.
        Scored = "scored",
    }
}

impl Stage {
    /// The sentence about a node that came no further.
    pub const fn stuck(self) -> &'static str {
        match self {
            Stage::Off => "it is not on",
            Stage::Bios => {
                "it is on and has asked for no address: does it boot from this network, from the card with this MAC address?"
            }
            Stage::Dhcp => "it has its address and has not loaded the kernel: its console tells more",
            Stage::Kernel => {
                "it has loaded the kernel, and boxscore has not started in it: its console tells more"
            }
            Stage::Up => "boxscore runs in it, and has sent no spec sheet",
            Stage::Inspected | Stage::Written | Stage::Scored => "it is done",
        }
    }
}

/// A node on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    pub name: String,
    pub stage: Stage,
    /// When each stage was seen first.
    pub seen: Vec<(Stage, f64)>,
    /// Why it is not waited for any more.
    pub failure: Option<String>,
}

impl Track {
    pub fn new(name: &str) -> Track {
        Track { name: name.to_owned(), stage: Stage::Off, seen: Vec::new(), failure: None }
    }

    /// Notes that a stage was seen. A node that begins anew does not fall back: what it reached before is known.
    pub fn reach(&mut self, stage: Stage, at: f64) -> bool {
        let is_new = stage > self.stage;
        if is_new {
            self.stage = stage;
            self.seen.push((stage, at));
        }
        is_new
    }

    /// Gives a node up; the first reason stays.
    pub fn fail(&mut self, why: impl Into<String>) {
        self.failure.get_or_insert_with(|| why.into());
    }

    /// True if it has come to this stage and was not given up.
    pub fn is_at(&self, stage: Stage) -> bool {
        self.failure.is_none() && self.stage >= stage
    }

    /// True while it has neither failed nor come to this stage.
    pub fn is_waited_for(&self, last: Stage) -> bool {
        self.failure.is_none() && self.stage < last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_goes_forward_and_is_given_up_once() {
        let mut track = Track::new("a");
        assert!(track.is_waited_for(Stage::Inspected));
        assert!(track.reach(Stage::Bios, 1.0) && track.reach(Stage::Kernel, 5.0));
        assert!(!track.reach(Stage::Dhcp, 6.0), "what is further on was seen already");
        assert_eq!((track.stage, track.seen.len()), (Stage::Kernel, 2));
        assert!(!track.is_waited_for(Stage::Kernel) && track.is_waited_for(Stage::Up));
        assert!(track.is_at(Stage::Kernel) && !track.is_at(Stage::Up));
        track.fail(track.stage.stuck());
        track.fail("another");
        assert!(!track.is_waited_for(Stage::Up) && !track.is_at(Stage::Kernel));
        assert!(track.failure.is_some_and(|why| why.contains("has not started")));
    }
}
