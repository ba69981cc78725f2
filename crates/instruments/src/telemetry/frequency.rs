//! The clock that the kernel reports for each allowed CPU, and their mean.
//!
//! Hertz, from cpufreq. On some drivers it is a request or an estimate, and virtual machines seldom have it; the true
//! clock is measured around each take. Not read on machines with more than 64 CPUs, since each read may wake the CPU
//! that it asks about.

use model::metrics::telemetry::CLOCK;
use model::{Cadence, Card, Family, Fault, Hertz, Params, Probe, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::{float, lone};
use super::read::Kept;
use super::since::extra;

const MOST_CPUS: usize = 64;

static CARD: Card = Card {
    name: "frequency",
    family: Family::Telemetry,
    says: "clock of each CPU as the kernel reports it",
    source: "cpufreq in /sys",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[CLOCK.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let open = |cpu: &u32| {
        let file = Kept::open(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"))?;
        Some((extra("cpu", &cpu.to_string()), file))
    };
    let files: Vec<(Params, Kept)> = setup.cpus.iter().take(MOST_CPUS).filter_map(open).collect();
    if files.is_empty() {
        return Err(Unfit::new("the kernel reports no clock here, as in most virtual machines"));
    }
    Ok(Box::new(Clocks { files }))
}

struct Clocks {
    files: Vec<(Params, Kept)>,
}

impl Probe for Clocks {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (name, file) in &mut self.files {
            if let Some(khz) = file.parse(lone).flatten().filter(|khz| *khz > 0) {
                let hertz = float(khz) * 1000.0;
                record.push_of(&CLOCK, name, Hertz(hertz));
                sum += hertz;
                count += 1.0;
            }
        }
        if count > 0.0 {
            record.push(&CLOCK, Hertz(sum / count));
        }
        Ok(())
    }
}
