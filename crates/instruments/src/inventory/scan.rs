//! An inventory instrument: a card and a scan; its one take pushes the facts of one topic.
//!
//! It yields facts only, no readings, and therefore declares no metrics.

use model::{Cadence, Card, Fact, Family, Fault, Instrument, Probe, Record, Setup, Unfit};

use crate::system_files::Root;

/// An instrument that scans one topic once.
pub struct Scan {
    pub card: Card,
    pub scan: fn(&Root) -> Vec<Fact>,
}

impl Scan {
    pub const fn new(name: &'static str, says: &'static str, scan: fn(&Root) -> Vec<Fact>) -> Scan {
        let card = Card {
            name,
            family: Family::Inventory,
            says,
            source: "own",
            cadence: Cadence::Once,
            definition: 1,
            ..Card::DEFAULT
        };
        Scan { card, scan }
    }
}

impl Instrument for &'static Scan {
    fn card(&self) -> &'static Card {
        &self.card
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        Ok(Box::new(Once { scan: self.scan, root: Root::live().with_dir(&setup.dir) }))
    }
}

struct Once {
    scan: fn(&Root) -> Vec<Fact>,
    root: Root,
}

impl Probe for Once {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        for fact in (self.scan)(&self.root) {
            record.fact(fact);
        }
        Ok(())
    }
}
