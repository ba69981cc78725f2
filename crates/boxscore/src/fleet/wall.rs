//! The power of nodes during a run, read by their BMCs: a thread for each node that has one.
//!
//! Few nodes are read once a second. Of many each is read less often, since a reading costs this machine some CPU time;
//! the one whose take needs it is read once a second all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use harness::conductor::{WallPower, WallReading};
use lab::bmc::watts::WallWatts as _;
use lab::bmc::{Access, Bmcs, Failure, accesses};
use lab::inventory::Node;
use lab::stop::Stop;
use model::plan::Plan;

use crate::error::CliError;
use crate::lookup::inventory;

/// Between two readings of a node: at least so long, and so long for each node that is read.
const EACH: Duration = Duration::from_secs(1);
const FOR_EACH_NODE: Duration = Duration::from_millis(100);

/// After a reading that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// How often a waiting thread looks if it shall read or end.
const LOOK: Duration = Duration::from_millis(50);

/// No machine is followed.
const NONE: usize = usize::MAX;

/// Threads that read, until this ends.
pub struct Wall {
    machines: Vec<usize>,
    readings: Receiver<WallReading>,
    stop: Arc<Stop>,
    followed: Arc<AtomicUsize>,
}

impl Wall {
    /// Reads the nodes of a plan that have a BMC; `None` where none has. Fails where the inventory cannot be read.
    pub fn start(plan: &Plan) -> Result<Option<Wall>, CliError> {
        let path = plan.nodes.as_ref().and_then(|nodes| nodes.inventory.as_ref());
        let (Some(path), None) = (path, &plan.fake) else { return Ok(None) };
        let Some(found) = inventory::find(Some(path.as_ref()))? else { return Ok(None) };
        let with_bmc = |(at, name): (usize, &String)| {
            let node = found.inventory.find(name).filter(|node| node.bmc.is_some())?;
            Some((at, node))
        };
        let names: Vec<String> = plan.machines.iter().map(|via| via.name.clone()).collect();
        let (machines, nodes): (Vec<usize>, Vec<&Node>) =
            names.iter().enumerate().filter_map(with_bmc).unzip();
        if nodes.is_empty() {
            return Ok(None);
        }
        let failed = |error: std::io::Error| CliError::data(format!("power of nodes: {error}"));
        let stop = Arc::new(Stop::new().map_err(failed)?);
        let followed = Arc::new(AtomicUsize::new(NONE));
        let (give, readings) = channel();
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        let each = EACH.max(FOR_EACH_NODE.saturating_mul(count));
        for (machine, access) in machines.iter().zip(accesses(&nodes, found.folder())) {
            let reader = Reader {
                machine: *machine,
                access,
                each,
                give: give.clone(),
                stop: Arc::clone(&stop),
                followed: Arc::clone(&followed),
            };
            let thread = std::thread::Builder::new().name("wall-power".to_owned());
            thread.spawn(move || reader.read()).map_err(failed)?;
        }
        Ok(Some(Wall { machines, readings, stop, followed }))
    }
}

impl WallPower for Wall {
    fn has(&self, machine: usize) -> bool {
        self.machines.contains(&machine)
    }

    fn follow(&mut self, machine: Option<usize>) {
        self.followed.store(machine.unwrap_or(NONE), Ordering::Relaxed);
    }

    fn readings(&mut self) -> Vec<WallReading> {
        self.readings.try_iter().collect()
    }
}

impl Drop for Wall {
    fn drop(&mut self) {
        self.stop.request();
    }
}

/// The thread of one node.
struct Reader {
    machine: usize,
    access: Result<Access, Failure>,
    each: Duration,
    give: Sender<WallReading>,
    stop: Arc<Stop>,
    followed: Arc<AtomicUsize>,
}

impl Reader {
    fn read(self) {
        let bmcs = Bmcs::new(None, false, &self.stop);
        while !self.stop.is_requested() {
            let from_ns = sys::clock::now_ns();
            let watts = match &self.access {
                Ok(access) => bmcs.watts(&[access]).pop().unwrap_or(Err(Failure::Interrupted)),
                Err(failure) => Err(failure.clone()),
            };
            // It is of the moment at which it was asked for, give or take the way.
            let at_ns = sys::clock::now_ns();
            let has_failed = watts.is_err();
            let watts = watts.map_err(|failure| failure.to_string());
            if self.stop.is_requested()
                || self.give.send(WallReading { machine: self.machine, at_ns, watts }).is_err()
            {
                return;
            }
            // How the BMC is reached does not change while it runs.
            if self.access.is_err() {
                return;
            }
            self.wait(from_ns, has_failed);
        }
    }

    /// Waits for the next reading.
    fn wait(&self, from_ns: u64, has_failed: bool) {
        let since = || Duration::from_nanos(sys::clock::now_ns().saturating_sub(from_ns));
        loop {
            let is_followed = self.followed.load(Ordering::Relaxed) == self.machine;
            let each = match (has_failed, is_followed) {
                (true, _) => PAUSE.max(self.each),
                (false, true) => EACH,
                (false, false) => self.each,
            };
            if since() >= each || self.stop.is_requested() {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}
