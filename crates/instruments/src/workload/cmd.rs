//! The user's own work: one run of a shell command a take, with its time, CPU time, memory, and numbers that it prints.
//!
//! Seconds and bytes. The time contains the start of `sh`. CPU time and memory are those of the shell and of every
//! process that was waited for within it, not of those left in the background. Memory is the largest process alone,
//! and never less than what boxscore itself held when it started the shell.

use std::time::Duration;

use model::metrics::command::{CPU, HIGHER, LOWER, MEMORY, VALUE, WALL};
use model::plan::Command;
use model::{
    Bytes, Cadence, Card, Count, Family, Fault, Label, Metric, Need, ParamKind, ParamSpec, Params, Probe,
    Record, RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Unfit, Variant,
};
use regex_lite::Regex;

use super::{guard, shell};
use crate::bench::kernel::int_param;

static CARD: Card = Card {
    name: model::names::instrument::CMD,
    family: Family::User,
    says: "your own command: time, CPU time, memory and numbers that it prints",
    source: "own: wait4 of the command",
    shown: Shown { tells: &[Tell::always("command"), Tell::always("metric")], place: 0, ..Shown::PLAIN },
    parts: &[
        ParamSpec::new("command", ParamKind::Text, "", "the command").label(Label::Quoted),
        ParamSpec::new("metric", ParamKind::Text, "", "name of a number that the command prints")
            .label(Label::Value),
    ],
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[ParamSpec::new(
        "timeout",
        ParamKind::Int { min: 1, max: 86_400 },
        "86400",
        "seconds after which a run is killed and its take fails",
    )],
    metrics: &[WALL.info(), CPU.info(), MEMORY.info(), VALUE.info(), HIGHER.info(), LOWER.info()],
    needs: &[Need::Command],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &["wall", "value"] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| work(setup).map(|_| ()));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    guard::available().map_err(Unfit::new)?;
    Ok(Box::new(work(setup)?))
}

/// A metric read from the output.
#[derive(Debug)]
struct Wanted {
    metric: &'static Metric<Count>,
    extra: Params,
    name: String,
    regex: Regex,
}

#[derive(Debug)]
struct Work {
    run: String,
    prepare: Option<String>,
    wanted: Vec<Wanted>,
    cpus: Vec<u32>,
    timeout: Duration,
    extra: Params,
}

fn work(setup: &Setup) -> Result<Work, Unfit> {
    let command =
        setup.command.as_ref().ok_or_else(|| Unfit::new("needs a command: run --cmd 'make -j8'"))?;
    check(command)?;
    let mut extra = Params::default();
    extra.set("command", &label(&command.run));
    let wanted = command.metrics.iter().map(|(name, regex)| wanted(name, regex, &extra));
    Ok(Work {
        run: command.run.clone(),
        prepare: command.prepare.clone(),
        wanted: wanted.collect::<Result<_, _>>()?,
        cpus: setup.cpus.clone(),
        timeout: Duration::from_secs(int_param(setup, "timeout")?),
        extra,
    })
}

/// `NAME`, `NAME:higher` or `NAME:lower`.
fn wanted(given: &str, regex: &str, extra: &Params) -> Result<Wanted, Unfit> {
    static DIRECTIONS: [(&str, Metric<Count>); 2] = [(":higher", HIGHER), (":lower", LOWER)];
    static PLAIN: Metric<Count> = VALUE;
    let direction =
        DIRECTIONS.iter().find_map(|(suffix, metric)| Some((given.strip_suffix(suffix)?, metric)));
    let (name, metric) = direction.unwrap_or((given, &PLAIN));
    if name.trim().is_empty() {
        return Err(Unfit::new(format!("the metric `{given}` has no name")));
    }
    let regex = Regex::new(regex).map_err(|error| {
        Unfit::new(format!("the expression `{regex}` of metric {name} is not valid: {error}"))
    })?;
    let mut extra = extra.clone();
    extra.set("metric", &label(name));
    Ok(Wanted { metric, extra, name: name.to_owned(), regex })
}

/// Text that can stand in a parameter: one line, without the signs that separate parameters, not too long. What had
/// to be changed for that ends with a hash of the whole text, so that different texts stay different.
fn label(text: &str) -> String {
    const MOST: usize = 80;
    let plain: String =
        text.chars().map(|c| if matches!(c, ';' | ',' | '=') || c.is_control() { ' ' } else { c }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain == text && plain.chars().count() <= MOST {
        return plain;
    }
    // FNV-1a, 32 bits: it must be the same in every build.
    let hash =
        text.bytes().fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let start: String = plain.chars().take(MOST - 9).collect();
    format!("{}~{hash:08x}", start.trim_end())
}

/// Fails when a command is wrong in a way that shows before it runs.
pub fn check(command: &Command) -> Result<(), Unfit> {
    if command.run.trim().is_empty() {
        return Err(Unfit::new("the command of --cmd is empty"));
    }
    let none = Params::default();
    for (name, regex) in &command.metrics {
        let one = wanted(name, regex, &none)?;
        if one.regex.captures_len() < 2 {
            let why = format!(
                "the expression `{regex}` of metric {} has no group: which part is the number?",
                one.name
            );
            return Err(Unfit::new(why));
        }
    }
    Ok(())
}

/// The number of the last match: its first group that took part, or all of it.
fn last_number(regex: &Regex, text: &str) -> Option<f64> {
    let found = regex.captures_iter(text).last()?;
    let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0))?;
    group.as_str().trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

impl Work {
    fn shell(&self, what: &str, text: &str) -> Result<shell::Ended, Fault> {
        let cpus: Vec<usize> = self.cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect();
        let ended = shell::run(text, &cpus, self.timeout)
            .map_err(|error| Fault::new(format!("{what} could not be run: {error}")))?;
        match ended.failure(self.timeout) {
            None => Ok(ended),
            Some(failure) => Err(Fault::new(format!("{what} {failure}"))),
        }
    }

    fn read(&self, ended: &shell::Ended, record: &mut dyn Record) -> Result<(), Fault> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let texts = [ended.stdout.text(), ended.stderr.text()];
        for wanted in &self.wanted {
            let found = texts.iter().find_map(|text| last_number(&wanted.regex, text));
            let number = found.ok_or_else(|| wanted.missed(ended))?;
            record.push_of(wanted.metric, &wanted.extra, Count(number));
        }
        if ended.stdout.dropped() > 0 {
            let kept = shell::STDOUT_BYTES >> 20;
            record.remark("output", &format!("only the last {kept} MiB of the output were searched"));
        }
        Ok(())
    }
}

impl Wanted {
    /// A take without one of its numbers is no take.
    fn missed(&self, ended: &shell::Ended) -> Fault {
        let said = match ended.stdout.last_lines(3) {
            said if said.is_empty() => ended.stderr.last_lines(3),
            said => said,
        };
        let said =
            if said.is_empty() { "it said nothing".to_owned() } else { format!("its last words: {said}") };
        Fault::new(format!("the output has no number that `{}` ({}) finds; {said}", self.regex, self.name))
    }
}

/// The whole command is one unit of work; finding that out must not run it.
impl Probe for Work {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        if let Some(prepare) = &self.prepare {
            self.shell("the command of --prepare", prepare)?;
        }
        let ended = self.shell("the command", &self.run)?;
        let usage = ended.exit.usage;
        record.push_of(&WALL, &self.extra, Seconds::from_ns(ended.wall_ns));
        let cpu_ns = usage.user_ns.saturating_add(usage.system_ns);
        record.push_of(&CPU, &self.extra, Seconds::from_ns(cpu_ns));
        let bytes = crate::telemetry::parse::float(usage.max_rss_bytes);
        record.push_of(&MEMORY, &self.extra, Bytes(bytes));
        self.read(&ended, record)
    }

    fn cpus(&self) -> Vec<u32> {
        self.cpus.clone()
    }
}

#[cfg(test)]
mod tests {
    use model::Better;

    use super::*;

    fn number(regex: &str, text: &str) -> Option<f64> {
        last_number(&Regex::new(regex).unwrap(), text)
    }

    #[test]
    fn the_last_match_counts() {
        assert_eq!(number(r"rate: ([\d.]+)", "rate: 1.5\nrate: 2.5e3\n"), Some(2.5));
        assert_eq!(number(r"rate: (\S+)", "rate: 1.5\nrate: 2.5e3\n"), Some(2500.0));
        assert_eq!(number(r"\d+", "a 7 b 8 c"), Some(8.0));
        assert_eq!(number(r"(a)|(\d+)", "12"), Some(12.0));
        for (regex, text) in [(r"x(\d)", "y1"), (r"(\S+)", "word"), (r"(\S+)", "inf"), (r"()", "1")] {
            assert_eq!(number(regex, text), None, "{regex} {text}");
        }
    }

    #[test]
    fn directions_and_bad_expressions() {
        let none = Params::default();
        assert_eq!(wanted("p99:lower", "x", &none).unwrap().metric.info().better, Better::Lower);
        assert_eq!(wanted("tps:higher", "x", &none).unwrap().name, "tps");
        assert_eq!(wanted("a:b", "x", &none).unwrap().metric.info().better, Better::Neither);
        let why = wanted("tps", "(", &none).unwrap_err().why;
        assert!(why.contains("`(`") && why.contains("tps"), "{why}");
        assert!(wanted(":lower", "x", &none).is_err());
    }

    #[test]
    fn different_commands_stay_different() {
        assert_eq!(label("make -j8"), "make -j8");
        let texts = ["a=1;b,c\n  d", "a=1;b;c d", "a 1 b c d", "a 1 b c  d", "sleep 0.01; echo \"x=5\""];
        let long = ["x".repeat(100), format!("{}y", "x".repeat(100))];
        let mut labels: Vec<String> =
            texts.iter().map(|t| label(t)).chain(long.iter().map(|t| label(t))).collect();
        for one in &labels {
            assert!(one.chars().count() <= 80 && !one.contains([';', ',', '=']), "{one}");
            let params = Params::parse(&format!("command={one}")).unwrap();
            assert_eq!(params.get("command"), Some(one.as_str()));
        }
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), texts.len() + long.len());
    }

    #[test]
    fn figures_are_called_by_the_command() {
        let name = |command: &str, metric: &str| {
            let params = Params::parse(&format!("command={command}")).unwrap();
            model::names::label(model::names::Key {
                card: Some(&CARD),
                instrument: CARD.name,
                metric,
                params: &params,
            })
        };
        assert_eq!(name("sleep 0.05", "wall"), "`sleep 0.05`: wall time");
        assert_eq!(name(&"x".repeat(60), "cpu"), format!("`{}…`: CPU time", "x".repeat(27)));
    }

    #[test]
    fn commands_are_checked_before_they_run() {
        let command = |run: &str, regex: &str| Command {
            run: run.to_owned(),
            metrics: [("tps".to_owned(), regex.to_owned())].into_iter().collect(),
            ..Command::default()
        };
        assert!(check(&command("true", r"(\d+)")).is_ok());
        for (run, regex, says) in
            [(" ", "(x)", "empty"), ("true", "x", "no group"), ("true", "(", "not valid")]
        {
            let why = check(&command(run, regex)).unwrap_err().why;
            assert!(why.contains(says), "{why}");
        }
    }
}
