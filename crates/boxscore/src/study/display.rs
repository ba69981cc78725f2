//! Progress of a run on stderr: a live line on a terminal, of several machines a table below it; plain lines elsewhere.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use harness::conductor::{Finished, Show};
use indicatif::{ProgressBar, ProgressStyle};
use model::progress::{PREPARING, REMARK};
use model::ranges::fold;
use model::reading::Take;
use model::{Cell, Plan, names};
use report::text::machines_live::Room;

use super::machines::Machines;
use super::readings;
use crate::lookup::what;
use crate::out;

/// Draws progress while a study runs.
pub trait Screen {
    fn show(&mut self, show: &Show<'_>);
    /// Knows takes of earlier attempts at the study.
    fn had(&mut self, _: &[Finished]) {}
    /// Writes the last lines and removes the live one.
    fn end(&mut self);
}

/// Draws nothing, for callers that read the run themselves; keeps why a child was lost, which no run tells of one that
/// never began.
#[derive(Debug, Default)]
pub struct Silent {
    pub lost: Option<String>,
}

impl Screen for Silent {
    fn show(&mut self, show: &Show<'_>) {
        if let Show::Lost { why, .. } | Show::HelperLost { why, .. } = show {
            self.lost = Some((*why).to_owned());
        }
    }

    fn end(&mut self) {}
}

/// Draws what the conductor shows.
pub struct Display {
    plan: Plan,
    bar: Option<ProgressBar>,
    /// A question stands where the live line would be drawn.
    hides_bar: bool,
    doing: String,
    left: Option<f64>,
    /// The last estimate of each machine, cell and arm, shown while its next take runs.
    estimates: HashMap<(usize, u32, u32), Estimate>,
    machines: Machines,
    /// Time and block of the last plain line.
    last_line: Option<(u64, u32)>,
    told: Doing,
    says_takes: bool,
    /// Cells that cannot run, by machine, arm and reason, in order of appearance; each reason is printed once.
    unfit: Vec<((usize, u32, String), Vec<u32>)>,
    /// Faults that were printed, by machine. Each text is printed once; the run's notes count them.
    faults: HashSet<(usize, String)>,
    /// Those that were printed.
    remarks: HashSet<String>,
    alike: Alike,
}

/// The estimate of a figure after a take.
#[derive(Clone, Debug, Default)]
struct Estimate {
    /// `take 3`, `warm-up`.
    take: String,
    /// `36.4 k/s ± 2 %`; empty where there is none yet.
    value: String,
}

impl Estimate {
    fn line(&self) -> String {
        let parts = [self.take.as_str(), self.value.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }
}

/// Plain lines are for logs: at most one per block, and one in this time.
const PLAIN_LINE_NS: u64 = 5_000_000_000;
/// Columns of a plain line, wherever it goes.
const PLAIN_COLUMNS: usize = 80;

/// Losses and faults that are not told yet: those that are alike within a moment are one line, of whatever machines.
#[derive(Debug, Default)]
struct Alike {
    since_ns: Option<u64>,
    groups: Vec<Group>,
}

/// A text that was told of some machines.
#[derive(Debug)]
struct Group {
    /// The words before the names.
    kind: &'static str,
    text: String,
    hint: Option<String>,
    names: Vec<String>,
}

impl Alike {
    const MOMENT_NS: u64 = 1_000_000_000;
    const FAULT: &'static str = "fault: ";

    fn lost(&mut self, who: &str, why: &str, hint: Option<&str>, now_ns: u64) {
        self.take("", who, format!("lost: {why}"), hint, now_ns);
    }

    fn fault(&mut self, who: &str, text: String, now_ns: u64) {
        self.take(Self::FAULT, who, text, None, now_ns);
    }

    fn take(&mut self, kind: &'static str, who: &str, text: String, hint: Option<&str>, now_ns: u64) {
        self.since_ns.get_or_insert(now_ns);
        let is =
            |group: &&mut Group| group.kind == kind && group.text == text && group.hint.as_deref() == hint;
        match self.groups.iter_mut().find(is) {
            Some(group) => group.names.push(who.to_owned()),
            None => {
                let (hint, names) = (hint.map(str::to_owned), vec![who.to_owned()]);
                self.groups.push(Group { kind, text, hint, names });
            }
        }
    }

    fn are_due(&self, now_ns: u64) -> bool {
        self.since_ns.is_some_and(|since_ns| now_ns.saturating_sub(since_ns) >= Self::MOMENT_NS)
    }

    /// The lines, and nothing is left.
    fn told(&mut self) -> Vec<String> {
        let Alike { groups, .. } = std::mem::take(self);
        let lines = |group: Group| {
            let hint = group.hint.map(|hint| format!(" hint: {hint}"));
            std::iter::once(format!("{}{}", group.kind, said_of(&group.names, &group.text))).chain(hint)
        };
        groups.into_iter().flat_map(lines).collect()
    }
}

/// `atom[001-132]: text`; of a machine without a name the text alone.
fn said_of(names: &[String], text: &str) -> String {
    match fold(names.iter().filter(|name| !name.is_empty()).map(String::as_str), |_| true).as_str() {
        "" => text.to_owned(),
        who => format!("{who}: {text}"),
    }
}

/// Plain lines about the progress of slow work.
#[derive(Debug, Default)]
pub struct Doing {
    said_ns: Option<u64>,
}

impl Doing {
    /// Prints the line unless another one was printed a moment ago.
    pub fn say(&mut self, line: &str) {
        let now_ns = sys::clock::now_ns();
        if self.said_ns.is_none_or(|said_ns| now_ns.saturating_sub(said_ns) >= PLAIN_LINE_NS) {
            self.said_ns = Some(now_ns);
            out::say(line);
        }
    }
}

impl Screen for Display {
    fn had(&mut self, finished: &[Finished]) {
        self.machines.had(finished);
    }

    fn show(&mut self, show: &Show<'_>) {
        self.follow(show);
        if self.alike.are_due(sys::clock::now_ns()) {
            self.tell_alike();
        }
        match show {
            Show::Doing { machine, text } => self.told(&format!("{}{text}", self.on(*machine)), text),
            Show::Starting { machine, cell, arm, block, warm_up } => {
                if !warm_up {
                    self.tell_unfit();
                }
                self.doing = format!("{}{}", self.on(*machine), self.title(*cell, *arm));
                self.block(*block, *warm_up);
                let known = self.estimates.get(&(*machine, *cell, *arm)).map(Estimate::line);
                self.refresh(known.as_deref().unwrap_or_default());
            }
            Show::Taken { machine, take, .. } => self.taken(*machine, take),
            Show::Left { seconds } => self.left = *seconds,
            Show::Unfit { cell, arm, why, machine } => {
                let key = (*machine, *arm, (*why).to_owned());
                match self.unfit.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, cells)) => cells.push(*cell),
                    None => self.unfit.push((key, vec![*cell])),
                }
            }
            Show::Lost { machine, why, hint } => {
                let via = self.plan.machines.get(*machine).filter(|via| !via.name.is_empty());
                let who = via.map_or_else(|| "the measuring child".to_owned(), model::plan::Via::called);
                self.lost(&who, why, *hint);
            }
            Show::HelperLost { called, why, hint } => {
                self.lost(called, why, *hint);
            }
            // Takes of a run are short; `load` draws them.
            Show::Live { .. } => {}
            Show::Turn { begun, waiting } => self.talk(&format!(
                "note: the time does not suffice for all: {begun} of {} are finished first, and the others begin if there \
                 is time left",
                model::format::count(begun + waiting, "figure"),
            )),
            Show::NotBegun { cells } => {
                let first = cells.first().map(|cell| self.title(*cell, 0)).unwrap_or_default();
                let (not, all) = (cells.len(), self.plan.cells.len());
                self.talk(&format!(
                    "note: {not} of {} were not measured for want of time, such as {first}: give it more with --for, or \
                     name fewer",
                    model::format::count(all, "figure"),
                ));
            }
            Show::Question { machine, text, take, of } => {
                let of = of.map_or_else(String::new, |of| format!(" of {of}"));
                self.ask(&format!("{}Watts on the meter now [take {take}{of}, {text}]:", self.on(*machine)));
            }
            Show::NoReading { why } => self.ask(&format!("{why}; watts, or nothing:")),
            Show::QuestionOver { answered } => self.question_over(*answered),
            Show::Stopping => {
                self.talk("stopping after the take in flight; once more ends at once");
            }
        }
    }

    fn end(&mut self) {
        self.tell_alike();
        self.tell_unfit();
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// The live line, or the first line of several.
fn spinner(are_several: bool) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    // Of several lines each is as long as there is room for.
    let template = if are_several { "{spinner} {msg}" } else { "{spinner} {wide_msg}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

impl Display {
    pub fn new(plan: &Plan, quiet: bool, says_takes: bool) -> Display {
        let machines = Machines::new(plan);
        let is_drawn = !quiet && out::drawn_study().is_some();
        Display {
            plan: plan.clone(),
            bar: is_drawn.then(|| spinner(machines.are_several())),
            machines,
            hides_bar: false,
            doing: String::new(),
            left: None,
            estimates: HashMap::new(),
            last_line: None,
            told: Doing::default(),
            says_takes,
            unfit: Vec::new(),
            faults: HashSet::new(),
            remarks: HashSet::new(),
            alike: Alike::default(),
        }
    }

    /// The display of machines of which some cannot be reached now.
    pub fn without(mut self, absent: &[String]) -> Display {
        self.machines.absent(absent);
        self
    }

    /// Takes in what each machine does.
    fn follow(&mut self, show: &Show<'_>) {
        let (key, figure) = match show {
            Show::Starting { machine, cell, arm, .. } => ((*machine, *cell, *arm), self.title(*cell, *arm)),
            Show::Taken { machine, take, median, width, n } => {
                let key = (*machine, take.cell, take.arm);
                self.estimates.insert(key, self.estimate(take, (*median, *width, *n)));
                (key, String::new())
            }
            _ => (Default::default(), String::new()),
        };
        let value = self.estimates.get(&key).map(|known| known.value.clone()).unwrap_or_default();
        self.machines.take(show, &figure, &value);
    }

    fn estimate(&self, take: &Take, (median, width, n): (Option<f64>, Option<f64>, usize)) -> Estimate {
        let value = match (median, width) {
            (Some(median), Some(width)) => {
                format!("{} ± {}", self.quantity(take, median), model::format::percent(width))
            }
            (Some(median), None) => self.quantity(take, median),
            (None, _) => String::new(),
        };
        let take = match median {
            Some(_) => format!("take {n}"),
            None if take.phase == model::Phase::WarmUp => "warm-up".to_owned(),
            None => format!("take {}", (take.block + 1).saturating_sub(self.plan.warm_up)),
        };
        Estimate { take, value }
    }

    /// Shows a stored take: the estimate of its figure so far, or its fault.
    fn taken(&mut self, machine: usize, take: &Take) {
        if self.says_takes {
            self.talk(&format!("{}stored take {}", self.on(machine), take.seq));
        }
        let known = self.estimates.get(&(machine, take.cell, take.arm));
        let estimate = known.map(Estimate::line).unwrap_or_default();
        match &take.fault {
            Some(fault) if self.faults.insert((machine, fault.text.clone())) => {
                let who = self.plan.machines.get(machine).map(|via| via.name.clone()).unwrap_or_default();
                let text = format!("{}: {fault}", self.title(take.cell, take.arm));
                self.alike.fault(&who, text, sys::clock::now_ns());
                self.tell_one();
            }
            Some(_) => self.refresh("fault"),
            None => self.refresh(&estimate),
        }
    }

    /// Shows a question, behind which somebody types: nothing is drawn there until it is over.
    fn ask(&mut self, question: &str) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            self.hides_bar = true;
        }
        if readings::has_terminal() { out::ask(question) } else { out::say(question) }
    }

    fn question_over(&mut self, answered: bool) {
        if !answered {
            let start = if readings::has_terminal() { "\n" } else { "" };
            out::say(&format!("{start}no reading: this take has no watts"));
        }
        if std::mem::take(&mut self.hides_bar) {
            self.bar = Some(spinner(self.machines.are_several()));
        }
    }

    /// Prints the cells that cannot run: one line per reason, behind the machines that it is true of.
    fn tell_unfit(&mut self) {
        let mut lines: Vec<(String, Vec<String>)> = Vec::new();
        for ((machine, arm, why), cells) in std::mem::take(&mut self.unfit) {
            let first = cells.first().map(|cell| self.title(*cell, arm)).unwrap_or_default();
            let more = match cells.len() {
                0 | 1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            let text = format!("{first}{more} cannot run: {why}");
            let name = self.plan.machines.get(machine).map(|via| via.name.clone()).unwrap_or_default();
            match lines.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(name),
                None => lines.push((text, vec![name])),
            }
        }
        for (text, names) in lines {
            self.talk(&said_of(&names, &text));
        }
    }

    fn quantity(&self, take: &Take, value: f64) -> String {
        let headline = self.plan.cells.get(take.cell as usize).and_then(|cell| cell.headline.first());
        let reading =
            (take.readings.iter()).find(|reading| headline.is_none_or(|name| *name == reading.key.metric));
        match reading {
            Some(reading) => model::format::quantity(value, model::format::Kind::for_unit(reading.key.unit)),
            None => model::format::number(value),
        }
    }

    fn on(&self, machine: usize) -> String {
        match self.plan.machines.get(machine) {
            Some(via) if !via.name.is_empty() => format!("{}: ", via.name),
            _ => String::new(),
        }
    }

    fn title(&self, cell: u32, arm: u32) -> String {
        let arm = Some(self.plan.arm_name(cell, arm)).filter(|name| !name.is_empty());
        let name =
            self.plan.cells.get(cell as usize).map(|cell| title_in(&self.plan, cell)).unwrap_or_default();
        // Headers are lines.
        let name = name.replace('\n', ", ");
        match arm {
            Some(arm) => format!("{name} [{arm}]"),
            None => name,
        }
    }

    /// Prints one plain line per block, if there is no terminal.
    fn block(&mut self, block: u32, warm_up: bool) {
        let now_ns = sys::clock::now_ns();
        let soon = self
            .last_line
            .is_some_and(|(said_ns, said)| said == block || now_ns.saturating_sub(said_ns) < PLAIN_LINE_NS);
        if self.bar.is_some() || soon {
            return;
        }
        self.last_line = Some((now_ns, block));
        let what =
            if warm_up { "warm-up".to_owned() } else { format!("take {}", block + 1 - self.plan.warm_up) };
        let left = self.left();
        let comma = if left.is_empty() { "" } else { ", " };
        let figures = match self.plan.cells.as_slice() {
            [one] => title_in(&self.plan, one).replace('\n', ", "),
            many => format!("each of {} figures", many.len()),
        };
        let line = |figures: &str| format!("{what} of {figures}{comma}{left}");
        let whole = line(&figures);
        // Its parameters are said by the plan and by the end.
        let instrument = self.plan.cells.first().map(|cell| cell.instrument.as_str()).unwrap_or_default();
        out::say(&if report::text::width(&whole) > PLAIN_COLUMNS { line(instrument) } else { whole });
    }

    /// Time left in whole seconds; as long as that is not known, the time that the plan has; empty if it has none.
    fn left(&self) -> String {
        let span = |seconds: f64| model::format::duration(seconds.ceil());
        let left = self.left.map(|left| format!("at most {} left", span(left)));
        let planned = || self.plan.budget_seconds.map(|all| format!("at most {} in all", span(all)));
        left.or_else(planned).unwrap_or_default()
    }

    /// Draws what the study does: of several machines a row each below one line.
    fn refresh(&self, estimate: &str) {
        let Some(bar) = &self.bar else { return };
        let (left, head) = (self.left(), self.machines.head());
        let parts = match self.machines.are_several() {
            true => [head.as_str(), left.as_str(), ""],
            false => [self.doing.as_str(), estimate, left.as_str()],
        };
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let line = parts.join(" · ");
        let room = out::drawn_study().filter(|_| self.machines.are_several());
        bar.set_message(match room {
            // The spinner stands before the first line.
            Some((columns, lines)) => {
                let room = Room { columns, lines: lines.saturating_sub(1) };
                format!(
                    "{}\n{}",
                    report::text::cut(&line, columns.saturating_sub(2)),
                    self.machines.table(room)
                )
            }
            None => line,
        });
    }

    /// Shows work before a take. Without a terminal only slow work with a progress count is shown.
    fn told(&mut self, line: &str, text: &str) {
        if text.starts_with(REMARK) {
            if self.remarks.insert(line.to_owned()) {
                self.talk(line);
            }
            return;
        }
        match &self.bar {
            Some(_) if self.machines.are_several() => return self.refresh(""),
            Some(bar) => return bar.set_message(line.to_owned()),
            None => {}
        }
        if !text.starts_with(PREPARING) {
            self.told.say(line);
        }
    }

    fn lost(&mut self, who: &str, why: &str, hint: Option<&str>) {
        self.alike.lost(who, why, hint, sys::clock::now_ns());
        self.tell_one();
    }

    /// Of one machine it is told at once; of several, what happens to them together is one line.
    fn tell_one(&mut self) {
        if !self.machines.are_several() {
            self.tell_alike();
        }
    }

    fn tell_alike(&mut self) {
        self.alike.told().iter().for_each(|line| self.talk(line));
    }

    fn talk(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| out::say(text)),
            None => out::say(text),
        }
    }
}

/// Title of a cell of a plan: the user's own command is its own title.
pub fn title_in(plan: &Plan, cell: &Cell) -> String {
    match cell.instrument == names::instrument::CMD && !plan.commands.is_empty() {
        // The arm behind it is the name of one of several.
        true if plan.arms.len() > 1 => "command".to_owned(),
        true => what::what(plan, instruments::cards()),
        false => title(cell),
    }
}

/// Title of a cell: its instrument and the parameters that differ from their defaults.
pub fn title(cell: &Cell) -> String {
    let card = instruments::all().iter().map(|one| one.card()).find(|card| card.name == cell.instrument);
    let usual = |name: &str| card.and_then(|card| card.param(name)).map(|spec| spec.default);
    let mut params = cell.params.clone();
    params.retain(|name, value| usual(name) != Some(value));
    format!("{} {params}", cell.instrument).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_that_are_lost_for_one_reason_are_one_line() {
        let mut alike = Alike::default();
        for at in 1..=132 {
            alike.lost(&format!("atom{at:03}"), "the pipe was closed", None, 5);
        }
        alike.lost("head", "it hangs", Some("cycle it"), 5);
        assert!(!alike.are_due(5) && alike.are_due(5 + Alike::MOMENT_NS));
        let told = ["atom[001-132]: lost: the pipe was closed", "head: lost: it hangs", " hint: cycle it"];
        assert_eq!(alike.told(), told);
        assert!(alike.told().is_empty() && !alike.are_due(u64::MAX));
        alike.lost("box2 (ssh box2 ./boxscore)", "closed", None, 9);
        assert_eq!(alike.told(), ["box2 (ssh box2 ./boxscore): lost: closed"]);
    }

    #[test]
    fn machines_that_failed_alike_are_one_line() {
        let mut alike = Alike::default();
        for at in 3..=7 {
            alike.fault(&format!("atom{at:03}"), "crc32c: no memory".to_owned(), 5);
            alike.lost(&format!("atom{at:03}"), "no memory", None, 5);
        }
        alike.fault("atom009", "crc32c: no room".to_owned(), 5);
        let told = [
            "fault: atom[003-007]: crc32c: no memory",
            "atom[003-007]: lost: no memory",
            "fault: atom009: crc32c: no room",
        ];
        assert_eq!(alike.told(), told);
        alike.fault("", "crc32c: no memory".to_owned(), 9);
        assert_eq!(alike.told(), ["fault: crc32c: no memory"]);
    }
}
