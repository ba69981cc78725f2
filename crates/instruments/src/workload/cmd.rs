//! The user's own work: one run of a shell command a take, with its time, CPU time, memory, and numbers that it prints.
//!
//! Seconds and bytes. Before each take a program that does nothing is started a few times, so that the CPU's caches are
//! as in a row of starts and not as our readings leave them; not with `--cold`. The time contains the start of the
//! shell, where there is one. CPU time and memory are those of the shell and of every process that was waited for
//! within it, not of those left in the background. Memory is the largest process alone, and never less than what
//! boxscore itself held when it started the shell.

use std::path::Path;
use std::time::Duration;

use model::command::{ANY_FAILURE, COMMAND, Output, Shell, label};
use model::metrics::command::{
    CPU, HIGHER, LOWER, MEMORY, SHELL, SHELL_HIGH, SHELL_LOW, SYSTEM, USER, VALUE, WALL,
};
use model::plan::Command;
use model::{
    Bytes, Cadence, Card, Count, Family, Fault, Label, Metric, Need, NoteBody, ParamKind, ParamSpec, Params,
    Probe, Record, RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Unfit, Variant,
};
use regex_lite::Regex;

use super::command_way::{self, Empty, Way};
use super::container::Container;
use super::orphans::Orphans;
use super::{guard, shell, working_tree};
use crate::bench::kernel::int_param;

pub(super) const TIMEOUT: ParamSpec = ParamSpec::new(
    "timeout",
    ParamKind::Int { min: 1, max: 86_400 },
    "86400",
    "seconds after which a run is killed and its take fails",
);
/// The command in the names of figures.
pub(super) const CALLED: ParamSpec =
    ParamSpec::new("command", ParamKind::Text, "", "the command").label(Label::Quoted);

static CARD: Card = Card {
    name: model::names::instrument::CMD,
    family: Family::User,
    says: "your own command: time, CPU time, memory and numbers that it prints",
    source: "own: wait4 of the command",
    shown: Shown { tells: &[Tell::always("command"), Tell::always("metric")], place: 0, ..Shown::PLAIN },
    parts: &[
        CALLED,
        ParamSpec::new("metric", ParamKind::Text, "", "name of a number that the command prints")
            .label(Label::Value),
    ],
    cadence: Cadence::Repeat,
    definition: 3,
    params: &[TIMEOUT],
    metrics: &[
        WALL.info(),
        CPU.info(),
        USER.info(),
        SYSTEM.info(),
        MEMORY.info(),
        SHELL.info(),
        SHELL_LOW.info(),
        SHELL_HIGH.info(),
        VALUE.info(),
        HIGHER.info(),
        LOWER.info(),
    ],
    needs: &[Need::Command],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &["wall", "value"] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| work(setup).map(|_| ()));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    guard::available().map_err(Unfit::new)?;
    let mut work = work(setup)?;
    work.set_up().map_err(|fault| Unfit::new(fault.to_string()))?;
    Ok(Box::new(work))
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
pub(super) struct Work {
    command: Command,
    way: Way,
    wanted: Vec<Wanted>,
    expect: Option<Regex>,
    cpus: Vec<u32>,
    timeout: Duration,
    /// `the command`, with its name in a study.
    called: String,
    extra: Params,
    /// Times of an empty command in its shell.
    empty: Option<Empty>,
    /// State of the working tree that it was given, before its first take.
    tree: Option<String>,
    /// A sentence on the link of this sitting, before its first take.
    relinked: Option<String>,
    /// The container that it runs in, before its first take.
    container: Option<String>,
    is_set_up: bool,
}

pub(super) fn work(setup: &Setup) -> Result<Work, Unfit> {
    let command =
        setup.command.as_ref().ok_or_else(|| Unfit::new("needs a command: run --cmd 'make -j8'"))?;
    check(command)?;
    let mut extra = Params::default();
    extra.set(COMMAND, &label(&command.run));
    let wanted = command.metrics.iter().map(|(name, regex)| wanted(name, regex, &extra));
    let timeout = Duration::from_secs(int_param(setup, "timeout")?);
    let called = match setup.arm.as_str() {
        "" => "the command".to_owned(),
        arm => format!("the command `{arm}`"),
    };
    let way = Way::new(command, setup, timeout)?;
    Ok(Work {
        container: way.container().map_err(Unfit::new)?,
        wanted: wanted.collect::<Result<_, _>>()?,
        expect: command.expect.as_deref().map(expected).transpose()?,
        cpus: setup.cpus.clone(),
        way,
        command: command.clone(),
        timeout,
        called,
        extra,
        empty: None,
        tree: None,
        relinked: None,
        is_set_up: false,
    })
}

fn expected(regex: &str) -> Result<Regex, Unfit> {
    Regex::new(regex).map_err(|error| Unfit::new(format!("--expect {regex} is not valid: {error}")))
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

/// Fails when a command is wrong in a way that shows before it runs.
pub fn check(command: &Command) -> Result<(), Unfit> {
    if command.run.trim().is_empty() {
        return Err(Unfit::new("the command of --cmd is empty"));
    }
    if command.shell == Shell::None && shlex::split(&command.run).is_none_or(|words| words.is_empty()) {
        return Err(Unfit::new(format!("--shell none: `{}` cannot be split into words", command.run)));
    }
    command.expect.as_deref().map(expected).transpose()?;
    command.inside.as_deref().map(Container::parse).transpose().map_err(Unfit::new)?;
    let reads = [(!command.metrics.is_empty(), "--metric"), (command.expect.is_some(), "--expect")];
    if let Some((_, flag)) = reads.iter().find(|(reads, _)| *reads && command.output != Output::Pipe) {
        return Err(Unfit::new(format!(
            "{flag} reads the output, which --output {} does not keep",
            command.output.word()
        )));
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
    /// Once before the takes: what the shell costs, `--setup`, and the state of the working tree.
    pub(super) fn set_up(&mut self) -> Result<(), Fault> {
        let failed = |why| Fault::new(format!("{} could not be run: {why}", self.called));
        self.empty = self.way.empty().map_err(failed)?;
        if let Some(build) = &self.command.relink {
            self.relinked = Some(self.relink(build)?);
        }
        if let Some(setup) = &self.command.setup {
            self.beside("--setup", setup)?;
        }
        self.is_set_up = true;
        self.tree = working_tree::state(Path::new(self.dir()));
        Ok(())
    }

    /// The parameters by which its figures are called.
    pub(super) fn extra(&self) -> &Params {
        &self.extra
    }

    /// True if nothing is to be done between two of its runs.
    pub(super) fn is_seamless(&self) -> bool {
        self.command.prepare.is_none() && self.command.conclude.is_none() && !self.command.cold
    }

    /// Does the work before a run that the user asked for.
    pub(super) fn before(&self) -> Result<(), Fault> {
        self.command.prepare.as_ref().map_or(Ok(()), |prepare| self.beside("--prepare", prepare))
    }

    /// Does the work behind it.
    pub(super) fn after(&self) -> Result<(), Fault> {
        self.command.conclude.as_ref().map_or(Ok(()), |conclude| self.beside("--conclude", conclude))
    }

    /// Where it runs: in its directory, or in that of this program.
    fn dir(&self) -> &str {
        self.command.dir.as_deref().unwrap_or(".")
    }

    /// Builds the command with another order of its object files; says what was linked.
    fn relink(&self, build: &str) -> Result<String, Fault> {
        let objects =
            self.way.relink(build).map_err(|why| Fault::new(format!("--build of {} {why}", self.called)))?;
        let called = &self.called;
        Ok(match objects {
            0 | 1 => format!("{called} was linked of one object file, whose order cannot change"),
            objects => format!(
                "{called} was linked anew in each sitting, with its {objects} object files in another order"
            ),
        })
    }

    /// Runs what belongs to the command.
    fn beside(&self, flag: &str, text: &str) -> Result<(), Fault> {
        let what = format!("the command of {flag}{}", self.called.trim_start_matches("the command"));
        let ended = self
            .way
            .run_beside(text)
            .map_err(|error| Fault::new(format!("{what} could not be run: {error}")))?;
        match ended.failure(self.timeout) {
            None => Ok(()),
            Some(failure) => Err(Fault::new(format!("{what} {failure}"))),
        }
    }

    /// Caches before a take: those of files dropped for `--cold`, else those of the CPU as after other starts.
    fn caches(&self, record: &mut dyn Record) {
        let said = if self.command.cold {
            command_way::drop_page_cache()
                .map_err(|why| format!("the page cache was not dropped, so that files may be in it: {why}"))
        } else {
            self.way.warm_starts().map_err(|why| {
                format!(
                    "takes begin with the CPU's caches cold, which can add a tenth of a millisecond: no \
                     program was started before them: {why}"
                )
            })
        };
        if let Err(text) = said {
            record.note(NoteBody::Command(text));
        }
    }

    /// Runs the command itself, with the caches as they are before a take.
    pub(super) fn run(&self, record: &mut dyn Record) -> Result<shell::Ended, Fault> {
        let orphans = self.adopt()?;
        self.caches(record);
        self.run_over(orphans, record)
    }

    /// Runs it once more, right behind a run.
    pub(super) fn run_again(&self, record: &mut dyn Record) -> Result<shell::Ended, Fault> {
        self.run_over(self.adopt()?, record)
    }

    fn failed(&self, error: &str) -> Fault {
        Fault::new(format!("{} could not be run: {error}", self.called))
    }

    fn adopt(&self) -> Result<Option<Orphans>, Fault> {
        self.way.adopt().map_err(|error| self.failed(&error))
    }

    fn run_over(&self, orphans: Option<Orphans>, record: &mut dyn Record) -> Result<shell::Ended, Fault> {
        let called = &self.called;
        let failed = |error: String| self.failed(&error);
        let mut ended = self.way.run(&self.command.run).map_err(failed)?;
        if let Some(orphans) = orphans {
            ended.left_behind |= orphans.end().map_err(failed)?;
        }
        if let Some(failure) = ended.failure(self.timeout) {
            let code = ended.exit.status.code().filter(|_| !ended.timed_out);
            let allowed = self.command.ignore_failure.as_deref();
            let Some(code) = code.filter(|code| allowed.is_some_and(|allowed| is_allowed(allowed, *code)))
            else {
                return Err(Fault::new(format!("{called} {failure}")));
            };
            record.note(NoteBody::Command(format!(
                "{called} ended with exit status {code}, which --ignore-failure allows"
            )));
        }
        if let Some(expect) = &self.expect
            && !expect.is_match(&ended.stdout.text())
        {
            let said = last_words(&ended);
            return Err(Fault::new(format!("{called}: its output does not match `{expect}`; {said}")));
        }
        if ended.left_behind {
            record.note(NoteBody::Command(format!("{called} left processes behind, which were ended")));
        }
        Ok(ended)
    }

    fn usage(&self, ended: &shell::Ended, record: &mut dyn Record) {
        let usage = ended.exit.usage;
        let cpu_ns = usage.user_ns.saturating_add(usage.system_ns);
        record.push_of(&CPU, &self.extra, Seconds::from_ns(cpu_ns));
        record.push_of(&USER, &self.extra, Seconds::from_ns(usage.user_ns));
        record.push_of(&SYSTEM, &self.extra, Seconds::from_ns(usage.system_ns));
        let bytes = crate::telemetry::parse::float(usage.max_rss_bytes);
        record.push_of(&MEMORY, &self.extra, Bytes(bytes));
    }

    /// Remarks that each sitting makes once: the same text is kept once a run.
    fn remarks(&mut self, record: &mut dyn Record) {
        if let Some(Empty { median, low, high }) = self.empty {
            for (metric, ns) in [(&SHELL, median), (&SHELL_LOW, low), (&SHELL_HIGH, high)] {
                record.push_of(metric, &self.extra, Seconds::from_ns(ns));
            }
        }
        if let Some(relinked) = self.relinked.take() {
            record.note(NoteBody::Command(relinked));
        }
        if let Some(container) = self.container.take() {
            let usage = match self.way.knows_usage() {
                true => "",
                false => {
                    "; its CPU time and memory are not known: it is no child of the client that starts it"
                }
            };
            record
                .note(NoteBody::Command(format!("{} runs in a container: {container}{usage}", self.called)));
        }
        let Some(before) = self.tree.take() else { return };
        let dir = self.dir();
        match working_tree::state(Path::new(dir)) {
            Some(after) if after != before => {
                let text = format!(
                    "{} changes its working tree {dir}: later takes may find other work than the first \
                     (--prepare 'git checkout .' makes them alike)",
                    self.called
                );
                record.note(NoteBody::Command(text));
            }
            _ => {}
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

/// The end of what a command printed, as a clause.
fn last_words(ended: &shell::Ended) -> String {
    let said = match ended.stdout.last_lines(3) {
        said if said.is_empty() => ended.stderr.last_lines(3),
        said => said,
    };
    if said.is_empty() { "it said nothing".to_owned() } else { format!("its last words: {said}") }
}

/// True for an exit status that `--ignore-failure` names: any, or one of a list.
fn is_allowed(allowed: &str, code: i32) -> bool {
    allowed == ANY_FAILURE || allowed.split(',').any(|one| one.trim().parse() == Ok(code))
}

impl Wanted {
    /// A take without one of its numbers is no take.
    fn missed(&self, ended: &shell::Ended) -> Fault {
        let said = last_words(ended);
        Fault::new(format!("the output has no number that `{}` ({}) finds; {said}", self.regex, self.name))
    }
}

/// The whole command is one unit of work; finding that out must not run it.
impl Probe for Work {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.before()?;
        let ended = self.run(record)?;
        record.push_of(&WALL, &self.extra, Seconds::from_ns(ended.wall_ns));
        if self.way.knows_usage() {
            self.usage(&ended, record);
        }
        self.read(&ended, record)?;
        self.after()?;
        self.remarks(record);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let cleanup = self.command.cleanup.take().filter(|_| self.is_set_up);
        cleanup.map_or(Ok(()), |cleanup| self.beside("--cleanup", &cleanup))
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
