//! One load after another on a server, watched.

use std::sync::Arc;
use std::time::Duration;

use model::format::number;
use model::plan::{PROFILE, Profiled};
use model::{Fault, NoteBody, PerSec, Probe, Record, RecordExt, Seconds, Setup, Unfit};

use super::around::Around;
use super::behind::{self, Behind};
use super::cold::Cold;
use super::metrics;
use super::params::Ask;
use super::pool::{self, Key};
use super::served::Served;
use super::subject::{Offered, Subject};
use super::watch::Look;
use super::{around, capacity, limits, mixed, own, warm, words};
use crate::bench::file::cold;
use crate::load::schedule::Schedule;
use crate::load::watched::{Event, watched};
use crate::load::{Control, Load, Outcome};
use crate::workload::mix::objects::objects;
use crate::workload::profile::{self, Sampled};
use crate::workload::server::content::Item;
use model::metrics::load::{CAPACITY, OFFERED};

/// An open loop in which fewer requests are due is a matter of luck.
const FEW: f64 = 10.0;
/// Requests of a load at a share of the capacity: it is made longer until it has so many, within [`LONGEST_S`].
const ENOUGH: f64 = 50.0;
const LONGEST_S: f64 = 10.0;
/// How long a server of ours is loaded before its first take.
const WARM: Duration = Duration::from_millis(200);

/// A prepared load.
pub struct Loads {
    ask: Ask,
    served: Arc<Served>,
    /// Names its capacity among others.
    key: String,
    told: bool,
    /// A note on content that could not be brought into the cache, until it is given.
    unread: Option<String>,
    /// How many were made.
    loads: u64,
    /// How long a load lasts, as it was asked for.
    asked: Option<Duration>,
    /// Sample the server once, before the first take; then what came of it, until it is noted.
    profile: Option<Sampling>,
}

enum Sampling {
    Wanted { what: Profiled, title: String, cpus: Vec<usize> },
    Done(Result<NoteBody, String>),
}

impl Loads {
    /// Finds or starts the server. Fails when it cannot be reached or started.
    pub fn prepare(setup: &Setup, mut ask: Ask) -> Result<Loads, Unfit> {
        let most = match &ask.subject {
            Subject::Managed { limits, .. } => Some(limits.mix_bytes),
            Subject::Url(_) => None,
        };
        let made = most.map(|most| items(&mut ask, most)).transpose()?.flatten();
        let served = match &ask.subject {
            Subject::Url(url) => Served::theirs(url),
            Subject::Managed { kind, options, set, limits } => {
                let key = Key {
                    items: made.map(Arc::new),
                    tree: ask.tree.clone(),
                    kind: *kind,
                    options: (**options).clone(),
                    set: *set,
                    limits: *limits,
                    seed: setup.seed,
                    dir: setup.dir.clone(),
                };
                Served::ours(pool::get(key).map_err(|error| Unfit::new(error.to_string()))?)
            }
        };
        if let (true, Served::Ours(hosted)) = (ask.is_cold, &*served) {
            cold::possible(hosted.content().root()).map_err(Unfit::new)?;
        }
        let place = format!("{:?} {}", setup.cpus, setup.dir.display());
        let profiled = setup.params.get(PROFILE).and_then(Profiled::parse);
        let profile = profiled.map(|what| Sampling::Wanted {
            what,
            title: title(&setup.params),
            cpus: setup.cpus.iter().map(|&cpu| cpu as usize).collect(),
        });
        let key = capacity::key(&setup.params, &place);
        let asked = ask.load.duration;
        Ok(Loads { ask, served, key, told: false, unread: None, loads: 0, asked, profile })
    }

    /// Makes the loads from now on last so many seconds; `None`: as long as was asked for. One of so many requests has
    /// no duration.
    pub fn last_for(&mut self, seconds: Option<f64>) {
        let given = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        self.ask.load.duration = self.asked.map(|asked| given.unwrap_or(asked));
    }

    /// How long a load waits for its last answers at most.
    pub fn drain_s(&self) -> f64 {
        self.ask.load.drain.as_secs_f64()
    }

    /// The load at this rate; starts a server of ours anew where it has ended. With what is to be noted.
    fn at(&self, rate: f64) -> Result<(Load, Option<String>), Fault> {
        let mut load = self.ask.at(rate);
        // Takes of one block ask for the same files at the same times in every arm, those of another block
        // for others at others.
        load.seed = load.seed.wrapping_add(self.loads);
        if let Schedule::Poisson { seed, .. } | Schedule::Shaped { seed, .. } = &mut load.schedule {
            *seed = load.seed;
        }
        let mut ended = None;
        if let Served::Ours(hosted) = &*self.served {
            ended = hosted.ensure().map_err(|error| Fault::new(error.to_string()))?;
            load.targets = mixed::targets(&hosted.targets().map_err(Fault::new)?, self.ask.mix.as_deref());
        }
        Ok((load, ended))
    }

    /// Requests per second that the server answers in a closed loop. Fails when that load fails.
    pub fn capacity(&self) -> Result<f64, Fault> {
        match capacity::known(&self.key) {
            Some(rate) => Ok(rate),
            None => {
                let cold = || match &*self.served {
                    Served::Ours(hosted) if self.ask.is_cold => {
                        Cold::before(hosted).map(drop).map_err(|fault| fault.text)
                    }
                    _ => Ok(()),
                };
                let bursts = capacity::Bursts {
                    before: &cold,
                    run: &|load| self.ask.run(load, &Control::default()),
                    rate: &|outcome| metrics::rate(outcome, self.ask.is_large()),
                };
                capacity::measure(&self.key, &self.at(0.0)?.0, &bursts).map_err(Fault::new)
            }
        }
    }

    /// Makes a load of which nothing is recorded. Fails when the generators cannot work.
    pub fn unmeasured(&mut self, rate: f64) -> Result<(), Fault> {
        let load = self.at(rate)?.0;
        self.loads += 1;
        self.ask.run(&load, &Control::default()).map(drop).map_err(Fault::from)
    }

    /// Good answers per second.
    pub fn rate_of(&self, outcome: &Outcome) -> Option<f64> {
        metrics::rate(outcome, self.ask.is_large())
    }

    /// The rate of an open loop, and the capacity that it is a share of.
    fn rate(&self) -> Result<(Option<f64>, Option<f64>), Fault> {
        Ok(match self.ask.offered {
            Offered::Closed => (None, None),
            Offered::Rate(rate) => (Some(rate), None),
            Offered::Share(share) => {
                let capacity = self.capacity()?;
                (Some(share * capacity), Some(capacity))
            }
        })
    }

    /// One load at this rate, watched. Fails when a server of ours ended during it.
    pub fn one(&mut self, rate: f64, record: &mut dyn Record) -> Result<Watched, Fault> {
        let (load, ended) = self.at(rate)?;
        if let Some(ended) = ended {
            record.remark("server-restarted", &ended);
        }
        self.loads += 1;
        self.tell(&load, record);
        let around = around::Before::look(&self.ask, &self.served)?;
        let before = Look::before(|| self.served.usage());
        let mut silence = None;
        let (mut behind, mut looks) = (None, 0);
        let mut happens = |event: Event| match event {
            Event::Silent => silence = Some(Look::after(|| self.served.usage())),
            Event::Answers => silence = None,
            // Few requests are at the application at times only.
            Event::Runs { ns } if behind.is_none() && looks < behind::LOOKS => {
                if ns >= behind::AFTER_NS.saturating_mul(looks + 1) {
                    looks += 1;
                    behind = Behind::look(&self.served);
                }
            }
            Event::Runs { .. } => {}
        };
        let ran = watched(load.threads, record, &mut happens, |control| self.ask.run(&load, control));
        let after = Look::after(|| self.served.usage());
        if let Some(behind) = behind {
            behind.note(record);
        }
        let around = around.end(&self.served);
        if let Served::Ours(hosted) = &*self.served {
            hosted.check().map_err(|why| Fault::new(format!("during the load {why}")))?;
        }
        let sent = ran.map_err(Fault::from)?;
        if let Some(together) = &sent.together {
            record.remark("generators", &together.to_string());
        }
        Ok(Watched { outcome: sent.outcome, looks: (before, after), silence, around })
    }

    /// Pushes what the machine did during a load.
    pub fn push_machine(&self, watched: &Watched, record: &mut dyn Record) {
        let sent = watched.outcome.record.sent();
        // Of generators in other processes it is not known here which of them work on this machine.
        let here = self.ask.remote.is_none().then_some(watched.outcome.generator.threads.as_slice());
        let made = (here.unwrap_or_default(), sent);
        watched.looks.1.push(&watched.looks.0, &self.ask.cores, made, record);
        if let Some(silence) = &watched.silence {
            watched.looks.1.push_silence(silence, record);
        }
        watched.around.push(&self.served, &watched.outcome, record);
    }

    /// The CPUs of the server and of the generators.
    pub fn busy_cpus(&self) -> Vec<u32> {
        let mut cpus = [self.ask.cores.server.as_slice(), self.ask.cores.generators.as_slice()].concat();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Samples the server in a load of its own, which is in no figure.
    fn sample(&mut self, load: &Load) {
        let Some(Sampling::Wanted { what, title, cpus }) = &self.profile else { return };
        let load = Load { duration: Some(profile::LOAD), requests: None, ..load.clone() };
        let pids = match what {
            Profiled::Server => self.served.pids(),
            Profiled::System => Ok(Vec::new()),
        };
        let sampled = match pids {
            Err(why) => Err(why),
            Ok(pids) => std::thread::scope(|scope| {
                let sampled = match what {
                    Profiled::Server => Sampled::Processes(&pids),
                    Profiled::System => Sampled::System,
                };
                let sampling = scope.spawn(move || profile::record(title, sampled, cpus));
                let ran = self.ask.run(&load, &Control::default());
                let sampled = sampling.join();
                match (ran, sampled) {
                    (Err(error), _) => Err(format!("the load to profile failed: {error}")),
                    (Ok(_), Err(_)) => Err("the thread that profiles failed".to_owned()),
                    (Ok(_), Ok(sampled)) => sampled,
                }
            }),
        };
        let note = match what {
            Profiled::Server => NoteBody::Profile,
            Profiled::System => NoteBody::SystemProfile,
        };
        self.profile = Some(Sampling::Done(sampled.map(note)));
    }

    fn note_profile(&mut self, record: &mut dyn Record) {
        if let Some(Sampling::Done(sampled)) = self.profile.take_if(|one| matches!(one, Sampling::Done(_))) {
            match sampled {
                Ok(note) => record.note(note),
                Err(why) => record.note(NoteBody::NoProfile(why)),
            }
        }
    }

    /// Says once what runs where.
    fn tell(&mut self, load: &Load, record: &mut dyn Record) {
        if let Some(unread) = self.unread.take() {
            record.remark("not-warm", &unread);
        }
        if self.told {
            return;
        }
        self.ask.notes.iter().for_each(|note| record.note(note.clone()));
        self.told = true;
        limits::tell(&self.served, load, record);
        let Ask { cores, remote, server, .. } = &self.ask;
        let setup = words::setup(&self.served, load, cores, remote.as_ref(), server.as_ref());
        record.note(NoteBody::WebSetup(setup));
        if let Served::Ours(hosted) = &*self.served
            && hosted.describe_now()
        {
            hosted.with(|server| record.note(NoteBody::ServerBuild(words::build(server))));
        }
    }
}

/// The files of which content is that no seed makes, with a note on how they are asked for.
fn items(ask: &mut Ask, most: u64) -> Result<Option<Vec<Item>>, Unfit> {
    let (items, note) = match (ask.tree.as_deref(), ask.mix.as_deref()) {
        (Some(tree), mix) => {
            let (items, said) = own::items(tree, mix).map_err(Unfit::new)?;
            (items, NoteBody::remark("content", said))
        }
        (None, Some(mix)) => {
            let made = objects(mix, most);
            let said = made.says();
            (made.items, NoteBody::remark("mix", said))
        }
        (None, None) => return Ok(None),
    };
    ask.notes.push(note);
    Ok(Some(items))
}

/// Why an open loop came to nothing, with its figures, and what to do.
fn advised(fault: &Fault, rate: f64, capacity: Option<f64>, load: &Load) -> Fault {
    let seconds = load.duration.unwrap_or_default().as_secs_f64();
    let asked = match capacity {
        Some(capacity) => format!(
            "{} requests per second were due, {:.0} % of the capacity of {}",
            number(rate),
            100.0 * rate / capacity,
            number(capacity)
        ),
        None => format!("{} requests per second were due", number(rate)),
    };
    let due = rate * seconds;
    let what = match due {
        due if due < FEW => {
            format!("so {} in {seconds} s: raise duration to {} or more", number(due), (FEW / rate).ceil())
        }
        _ => format!(
            "for {seconds} s, and none had its answer within the timeout of {} s: lower load or rate, or raise duration",
            load.timeout.as_secs_f64()
        ),
    };
    Fault { kind: fault.kind.clone(), text: format!("{}; {asked}, {what}", fault.text) }
}

/// Seconds of a load at a share of the capacity that has enough requests for a rate; `None` where it has.
fn enough(rate: f64, asked: Option<Duration>) -> Option<f64> {
    let asked = asked?.as_secs_f64();
    // A take that is a fraction of a second is meant to be one.
    let needed = (ENOUGH / rate).ceil().min(LONGEST_S);
    (asked >= 1.0 && needed > asked).then_some(needed)
}

/// The title of a profile, in few words: the server and the shape of the load.
fn title(params: &model::Params) -> String {
    let known = ["url", "server", "mpm", "content", "arrivals", "connections", "keepalive"];
    let given = |name: &str| params.get(name).filter(|value| !matches!(*value, "none" | "auto"));
    // A server of the user's has its own content.
    let is_ours = |name: &&&str| **name != "content" || given("url").is_none();
    let pair = |name: &&str| Some(format!("{name}={}", given(name)?));
    known.iter().filter(is_ours).filter_map(pair).collect::<Vec<_>>().join(" ")
}

/// One load, and what was read before and after it.
pub struct Watched {
    pub outcome: Outcome,
    looks: (Look, Look),
    /// A second after the last answer, where none came until the end.
    silence: Option<Look>,
    around: Around,
}

impl Probe for Loads {
    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        if !self.ask.is_cold {
            self.unread = warm::read_once(&self.served, &self.at(0.0)?.0)?;
        }
        if matches!(self.ask.offered, Offered::Share(_)) {
            self.capacity()?;
        } else if let Served::Ours(_) = &*self.served {
            let load = self.at(0.0)?.0;
            let warm = Load { schedule: Schedule::Closed, duration: Some(WARM), requests: None, ..load };
            self.ask.run(&warm, &Control::default()).map_err(Fault::from)?;
        }
        if self.profile.is_some() {
            let load = self.at(self.rate()?.0.unwrap_or_default())?.0;
            self.sample(&load);
        }
        Ok(1)
    }

    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let (rate, capacity) = self.rate()?;
        self.note_profile(record);
        self.last_for(capacity.and(rate).and_then(|rate| enough(rate, self.asked)));
        let watched = self.one(rate.unwrap_or_default(), record)?;
        let is_closed = matches!(self.ask.load.schedule, Schedule::Closed);
        let manner = metrics::Manner { are_large: self.ask.is_large(), is_closed };
        if let Err(fault) = metrics::push(&watched.outcome, manner, record) {
            return Err(match rate {
                // Who was answered, though not well, offered what can be answered.
                Some(rate) if watched.outcome.record.statuses.total() == 0 => {
                    advised(&fault, rate, capacity, &self.ask.load)
                }
                _ => fault,
            });
        }
        if let Some(rate) = rate.or_else(|| self.ask.course.as_ref()?.mean_rate(self.ask.load.duration)) {
            record.push(&OFFERED, PerSec(rate));
        }
        record.push_if(&CAPACITY, capacity.map(PerSec));
        self.push_machine(&watched, record);
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.busy_cpus()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_of_a_users_server_names_no_content_of_ours() {
        let of = |text: &str| title(&model::Params::parse(text).unwrap());
        assert_eq!(of("content=gif;server=nginx;url=auto"), "server=nginx content=gif");
        assert_eq!(of("content=gif;url=http://a/"), "url=http://a/");
    }

    #[test]
    fn an_open_loop_without_an_answer_says_what_to_do() {
        let load = |seconds| Load {
            duration: Some(Duration::from_secs(seconds)),
            ..Load::new("http://a/".parse().unwrap())
        };
        let of = |rate, capacity, seconds| {
            advised(&Fault::new("no good answer"), rate, capacity, &load(seconds)).text
        };
        assert_eq!(
            of(6.0, Some(4.0), 1),
            "no good answer; 6.00 requests per second were due, 150 % of the capacity of 4.00, so 6.00 in 1 s: raise \
             duration to 2 or more"
        );
        assert_eq!(
            of(3000.0, None, 2),
            "no good answer; 3,000 requests per second were due, for 2 s, and none had its answer within the timeout \
             of 10 s: lower load or rate, or raise duration"
        );
    }
}
