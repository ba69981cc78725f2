//! Readings of power while a level of load is held: RAPL, a command and a BMC once a second, a typed reading once a
//! take.
//!
//! Watts and seconds from the start of the measured time. A reading that did not come is missing. One that is not power
//! fails the take: a meter that tells nonsense once is not believed the next time either.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use model::metrics::power::{SAMPLE, SAMPLE_AT, WATTS};
use model::power::{METER, Meter, Prompt, of_output};
use model::{Fault, Params, Record, RecordExt, Seconds, Setup, Unfit, Watts};
use sys::clock;
use sys::process::Start;

use super::rapl::{Counted, Rapl};
use crate::workload::shell;

/// Between two readings, and from the start to the first one of a command.
const EACH: Duration = Duration::from_secs(1);
const FIRST: Duration = Duration::from_millis(500);
/// How long a command may take for one reading.
const MOST: Duration = Duration::from_secs(5);
/// How often a waiting thread looks if it shall end.
const LOOK: Duration = Duration::from_millis(20);

/// The meter that the power is read by.
pub enum Source {
    Rapl(Rapl),
    Command {
        text: String,
        cpus: Vec<usize>,
    },
    Typed {
        prompt: Arc<dyn Prompt>,
        question: String,
    },
    /// The program asks it.
    Bmc {
        prompt: Arc<dyn Prompt>,
    },
}

/// The readings of a take, in the order of time, and their mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    samples: Vec<(f64, f64)>,
    watts: Option<f64>,
    /// A remark on them, where there is one to make.
    remark: Option<String>,
}

impl Readings {
    pub fn watts(&self) -> Option<f64> {
        self.watts
    }

    /// Each with its moment.
    pub fn samples(&self) -> &[(f64, f64)] {
        &self.samples
    }

    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// Pushes them; says where there are none, or fewer than one a second.
    pub fn push(&self, record: &mut dyn Record) {
        self.push_of(&Params::default(), record);
    }

    /// The same with parameters that are the take's own.
    pub fn push_of(&self, extra: &Params, record: &mut dyn Record) {
        for (at, watts) in &self.samples {
            record.push_of(&SAMPLE_AT, extra, Seconds(*at));
            record.push_of(&SAMPLE, extra, Watts(*watts));
        }
        record.push_of_if(&WATTS, extra, self.watts.map(Watts));
        if let Some(remark) = &self.remark {
            record.remark("watts", remark);
        }
    }

    fn mean_of(samples: Vec<(f64, f64)>) -> Readings {
        let sum: f64 = samples.iter().map(|(_, watts)| watts).sum();
        let watts = (!samples.is_empty()).then(|| sum / samples.len() as f64);
        Readings { samples, watts, remark: None }
    }
}

/// The measured time of a take: known before, or as long as something is done.
#[derive(Clone, Copy)]
enum Long {
    For(Duration),
    /// Until it is done, about so long.
    About(Duration),
}

struct Window<'a> {
    from_ns: u64,
    long: Long,
    stop: &'a AtomicBool,
}

impl Window<'_> {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(clock::now_ns().saturating_sub(self.from_ns))
    }

    /// Its end, as far as it is known before.
    fn end(&self) -> Duration {
        match self.long {
            Long::For(long) => long,
            Long::About(_) => Duration::MAX,
        }
    }

    fn about(&self) -> Duration {
        let (Long::For(long) | Long::About(long)) = self.long;
        long
    }

    /// How long it was, once it is over.
    fn lasted(&self) -> Duration {
        self.elapsed().min(self.end())
    }

    fn is_over(&self) -> bool {
        self.elapsed() >= self.end() || self.stop.load(Ordering::Relaxed)
    }

    /// Waits until a moment of it; false where it is over before.
    fn wait(&self, until: Duration) -> bool {
        while self.elapsed() < until.min(self.end()) && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK.min(until.saturating_sub(self.elapsed())));
        }
        !self.stop.load(Ordering::Relaxed) && until <= self.end()
    }

    /// Holds a reading that was finished at this moment.
    fn holds(&self, at: Duration) -> bool {
        match self.long {
            Long::For(long) => at <= long,
            Long::About(_) => !self.stop.load(Ordering::Relaxed),
        }
    }
}

impl Source {
    /// Finds what a setup asks for; `what` names the load in a question. Fails when it cannot be read here.
    pub fn open(setup: &Setup, what: &str) -> Result<Source, Unfit> {
        let meter = setup.params.get(METER).and_then(Meter::parse);
        match meter.ok_or_else(|| Unfit::new("no such meter"))? {
            Meter::Rapl => Rapl::open().map(Source::Rapl),
            Meter::Command => {
                let text = setup.watts_command.clone();
                let text =
                    text.ok_or_else(|| Unfit::new("meter=command needs --watts-cmd with a command"))?;
                let cpus = setup.cpus.iter().map(|&cpu| cpu as usize).collect();
                let source = Source::Command { text, cpus };
                // What is wrong with it is said before anything is loaded.
                source.ask_command().map_err(Unfit::new)?;
                Ok(source)
            }
            Meter::Bmc => {
                let prompt = setup.prompt.clone();
                let prompt =
                    prompt.ok_or_else(|| Unfit::new("meter=bmc needs a program that asks the BMC"))?;
                Ok(Source::Bmc { prompt })
            }
            Meter::Typed => {
                let prompt = setup.prompt.clone();
                let prompt = prompt.ok_or_else(|| Unfit::new("nobody can be asked for a reading here"))?;
                let of = if setup.arm.is_empty() { String::new() } else { format!(" of {}", setup.arm) };
                Ok(Source::Typed { prompt, question: format!("{what}{of}") })
            }
        }
    }

    /// Reads while something is done. The readings end with the measured time, or where the work fails.
    pub fn during<T>(
        &mut self,
        long: Duration,
        work: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<(T, Readings), Fault> {
        self.within(Long::For(long), work)
    }

    /// Reads as long as something is done, which takes about so long.
    pub fn while_working<T>(
        &mut self,
        about: Duration,
        work: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<(T, Readings), Fault> {
        self.within(Long::About(about), work)
    }

    fn within<T>(
        &mut self,
        long: Long,
        work: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<(T, Readings), Fault> {
        let stop = AtomicBool::new(false);
        let window = Window { from_ns: clock::now_ns(), long, stop: &stop };
        thread::scope(|scope| {
            let named = thread::Builder::new().name("watts".to_owned());
            let reading = named
                .spawn_scoped(scope, || self.read(&window))
                .map_err(|error| Fault::new(format!("cannot start a thread: {error}")))?;
            let done = work();
            if done.is_err() || matches!(long, Long::About(_)) {
                stop.store(true, Ordering::Relaxed);
            }
            let read =
                reading.join().unwrap_or_else(|_| Err("the thread that reads the power failed".to_owned()));
            // That the load failed explains what the meter lacks.
            let done = done?;
            Ok((done, read.map_err(Fault::new)?))
        })
    }

    fn read(&mut self, window: &Window<'_>) -> Result<Readings, String> {
        match self {
            Source::Rapl(rapl) => count(rapl, window),
            Source::Command { .. } => self.read_command(window),
            Source::Typed { prompt, question } => Ok(ask(prompt.as_ref(), question, window)),
            Source::Bmc { prompt } => Ok(ask_each_second(prompt.as_ref(), window)),
        }
    }

    /// One reading of the command. Fails when it fails, is too slow or prints no watts.
    fn ask_command(&self) -> Result<f64, String> {
        let Source::Command { text, cpus } = self else { return Err("no command".to_owned()) };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        let wrong = |why: String| format!("--watts-cmd {text}: {why}");
        let ended = shell::run_command(command, Start::default(), cpus, MOST).map_err(wrong)?;
        if let Some(failure) = ended.failure(MOST) {
            return Err(wrong(failure));
        }
        of_output(&ended.stdout.text()).map_err(wrong)
    }

    fn read_command(&self, window: &Window<'_>) -> Result<Readings, String> {
        let first = FIRST.min(window.about() / 2);
        let (mut samples, mut next, mut slowest) = (Vec::new(), first, Duration::ZERO);
        while window.wait(next) {
            let from = window.elapsed();
            let watts = self.ask_command()?;
            let to = window.elapsed();
            slowest = slowest.max(to.saturating_sub(from));
            if window.holds(to) {
                samples.push((to.as_secs_f64(), watts));
            }
            while next <= to {
                next += EACH;
            }
        }
        let long = window.lasted().as_secs_f64();
        let took = format!("the command of --watts-cmd took {:.1} s", slowest.as_secs_f64());
        let mut readings = Readings::mean_of(samples);
        let count = readings.samples.len();
        if count == 0 {
            let long = model::format::number(long);
            let hint = match window.long {
                Long::For(_) => "raise --set duration",
                Long::About(_) => {
                    "leave out --prepare, --conclude and --cold: its runs are then repeated for as long as --set duration \
                     says"
                }
            };
            return Err(format!("no reading in the {long} s of the take: {took}; {hint}"));
        }
        if (count as f64) < (long / 2.0).floor() {
            let readings_of = model::format::count(count, "reading");
            let long = model::format::number(long);
            readings.remark = Some(format!("a take of {long} s has {readings_of}, since {took}"));
        }
        Ok(readings)
    }
}

/// RAPL's counters each second; the mean is the energy of all of it over its time.
fn count(rapl: &mut Rapl, window: &Window<'_>) -> Result<Readings, String> {
    let lost = || "RAPL's energy counters cannot be read any more".to_owned();
    let first = rapl.count().ok_or_else(lost)?;
    let (mut before, mut samples): (Counted, Vec<(f64, f64)>) = (first, Vec::new());
    let (mut energy, mut time, mut next) = (0.0, 0.0, EACH.min(window.end()));
    loop {
        let goes_on = window.wait(next);
        let now = rapl.count().ok_or_else(lost)?;
        if let Some((joules, seconds)) = rapl.between(&before, &now) {
            samples.push((window.elapsed().as_secs_f64(), joules / seconds));
            (energy, time) = (energy + joules, time + seconds);
        }
        before = now;
        if !goes_on || next >= window.end() {
            break;
        }
        next = (next + EACH).min(window.end());
    }
    Ok(Readings { samples, watts: (time > 0.0).then(|| energy / time), remark: None })
}

/// Asks once, in the middle.
fn ask(prompt: &dyn Prompt, question: &str, window: &Window<'_>) -> Readings {
    const NONE: &str = "no reading was typed for a take: it has no watts";
    let none = || Readings { remark: Some(NONE.to_owned()), ..Readings::default() };
    if !window.wait(window.about() / 2) {
        return none();
    }
    prompt.ask(question);
    while !window.is_over() {
        match prompt.answer() {
            Some(Some(watts)) => return Readings::mean_of(vec![(window.elapsed().as_secs_f64(), watts)]),
            Some(None) => return none(),
            None => thread::sleep(LOOK),
        }
    }
    prompt.withdraw();
    none()
}

/// Asks once a second, for as long as the answers take. One that does not come is missing.
fn ask_each_second(prompt: &dyn Prompt, window: &Window<'_>) -> Readings {
    let (mut samples, mut next) = (Vec::new(), FIRST.min(window.about() / 2));
    while window.wait(next) {
        prompt.ask("the power that the BMC reads");
        let answer = loop {
            if let Some(answer) = prompt.answer() {
                break answer;
            }
            if window.is_over() {
                prompt.withdraw();
                break None;
            }
            thread::sleep(LOOK);
        };
        let at = window.elapsed();
        if let Some(watts) = answer.filter(|_| window.holds(at)) {
            samples.push((at.as_secs_f64(), watts));
        }
        next = (next + EACH).max(at);
    }
    let mut readings = Readings::mean_of(samples);
    if readings.samples.is_empty() {
        readings.remark = Some("the BMC gave no reading within a take: it has no watts".to_owned());
    }
    readings
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use model::Params;

    use super::*;

    fn slept(source: &mut Source, seconds: f64) -> Result<Readings, Fault> {
        let long = Duration::from_secs_f64(seconds);
        source
            .during(long, || {
                thread::sleep(long);
                Ok(())
            })
            .map(|((), readings)| readings)
    }

    /// Answers from a list; an empty one answers nothing.
    #[derive(Debug, Default)]
    struct Someone {
        says: Option<Option<f64>>,
        heard: Mutex<Vec<String>>,
    }

    impl Prompt for Someone {
        fn ask(&self, question: &str) {
            self.heard.lock().unwrap().push(question.to_owned());
        }
        fn answer(&self) -> Option<Option<f64>> {
            self.says
        }
        fn withdraw(&self) {
            self.heard.lock().unwrap().push("over".to_owned());
        }
    }

    #[test]
    fn somebody_is_asked_once_and_without_an_answer_there_are_no_watts() {
        for (says, watts, heard) in [
            (Some(Some(41.5)), Some(41.5), vec!["web at 50 %"]),
            (Some(None), None, vec!["web at 50 %"]),
            (None, None, vec!["web at 50 %", "over"]),
        ] {
            let someone = Arc::new(Someone { says, ..Someone::default() });
            let prompt = Arc::clone(&someone) as Arc<dyn Prompt>;
            let mut source = Source::Typed { prompt, question: "web at 50 %".to_owned() };
            let readings = slept(&mut source, 0.2).unwrap();
            assert_eq!(readings.watts(), watts);
            assert_eq!(readings.remark.is_some(), watts.is_none());
            assert_eq!(*someone.heard.lock().unwrap(), heard);
        }
    }

    #[test]
    fn a_bmc_is_asked_each_second_and_what_does_not_come_is_missing() {
        for (says, watts) in [(Some(Some(344.0)), Some(344.0)), (Some(None), None), (None, None)] {
            let someone = Arc::new(Someone { says, ..Someone::default() });
            let prompt = Arc::clone(&someone) as Arc<dyn Prompt>;
            let readings = slept(&mut Source::Bmc { prompt }, 1.8).unwrap();
            assert_eq!(readings.watts(), watts);
            let count = if watts.is_some() { 2 } else { 0 };
            assert_eq!((readings.samples().len(), readings.remark().is_some()), (count, count == 0));
        }
    }

    #[test]
    fn work_is_measured_until_it_is_done() {
        let someone = Arc::new(Someone { says: Some(Some(41.5)), ..Someone::default() });
        let prompt = Arc::clone(&someone) as Arc<dyn Prompt>;
        let mut source = Source::Typed { prompt, question: "make".to_owned() };
        let about = Duration::from_secs(3600);
        let begun = clock::now_ns();
        let none = source.while_working(about, || Ok(())).map(|((), readings)| readings.watts()).unwrap();
        assert_eq!(none, None, "nobody was asked before it was done");
        let long = Duration::from_millis(200);
        let work = || {
            thread::sleep(long);
            Ok(())
        };
        let read = source.while_working(long / 2, work).map(|((), readings)| readings.watts()).unwrap();
        assert_eq!(read, Some(41.5));
        assert!(clock::now_ns() - begun < 60_000_000_000, "nobody waits for what it was about to take");
    }

    #[test]
    fn a_meter_that_is_not_there_says_what_it_needs() {
        let of = |text: &str| {
            let setup = Setup::bare(Params::parse(text).unwrap(), vec![0], std::env::temp_dir());
            Source::open(&setup, "web").err().map_or_else(String::new, |unfit| unfit.why)
        };
        assert!(of("meter=command").contains("--watts-cmd"));
        assert!(of("meter=typed").contains("nobody can be asked"));
        assert_eq!(of("meter=guess"), "no such meter");
    }
}
