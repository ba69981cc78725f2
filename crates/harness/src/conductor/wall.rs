//! The power of machines as the program reads it by their BMCs: telemetry of their runs, and the answers to takes whose
//! meter it is. Watts; moments of readings are those of this program's clock, counted from the start of the run.

use model::frame::{Frame, Segment};
use model::metrics::telemetry::WALL_POWER;
use model::{NoteBody, Unit};

use super::{Conductor, SinkError, WallPower, WallReading};

/// The name of the telemetry.
const SOURCE: &str = "bmc";

impl<'a> Conductor<'a> {
    /// Reads the power of machines from here.
    #[must_use]
    pub fn with_wall_power(mut self, reader: Option<&'a mut dyn WallPower>) -> Conductor<'a> {
        self.wall.reader = reader;
        self
    }
}

impl Conductor<'_> {
    /// A child asks for the next reading of its BMC, or needs none any more.
    pub(super) fn ask_wall(&mut self, machine: usize, id: u64, asks: bool) -> Result<(), SinkError> {
        self.wall.open = asks.then(|| (machine, id, sys::clock::now_ns()));
        let is_read = self.wall.reader.as_ref().is_some_and(|reader| reader.has(machine));
        if !asks || is_read {
            return Ok(());
        }
        self.wall.open = None;
        self.note_wall(machine, "nothing reads the power of this machine from here".to_owned())?;
        self.tell(machine, &Frame::Reading { id, watts: None })
    }

    /// Keeps the readings that came as telemetry, and answers with them.
    pub(super) fn hear_wall(&mut self) -> Result<(), SinkError> {
        let readings = self.wall.reader.as_mut().map(|reader| reader.readings()).unwrap_or_default();
        for WallReading { machine, at_ns, watts } in readings {
            let Some(state) = self.machines.get(machine).filter(|state| state.lost.is_none()) else {
                continue;
            };
            if let Some(zero_ns) = state.zero_ns.filter(|_| state.greeted) {
                let segment = Segment {
                    source: SOURCE.to_owned(),
                    columns: vec![(WALL_POWER.name().to_owned(), Unit::Watt.symbol().to_owned())],
                    at_ns: vec![at_ns.saturating_sub(zero_ns)],
                    rows: vec![vec![watts.as_ref().ok().copied()]],
                };
                self.telemetry(machine, segment)?;
                if let Err(why) = &watts {
                    self.note_wall(machine, format!("a reading of its BMC is missing: {why}"))?;
                }
            }
            // A reading from before the question is not of its moment.
            if let Some((_, id, _)) =
                self.wall.open.filter(|(of, _, since_ns)| *of == machine && at_ns >= *since_ns)
            {
                self.wall.open = None;
                self.tell(machine, &Frame::Reading { id, watts: watts.ok() })?;
            }
        }
        Ok(())
    }

    /// Notes a reason once.
    fn note_wall(&mut self, machine: usize, why: String) -> Result<(), SinkError> {
        match self.wall.noted.insert((machine, why.clone())) {
            true => self.sink.note(machine, NoteBody::remark("wall-power", why)),
            false => Ok(()),
        }
    }
}
