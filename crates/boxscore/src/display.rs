//! Progress of a run on stderr: one living line on a terminal, plain lines elsewhere.

use std::time::Duration;

use harness::conductor::Show;
use indicatif::{ProgressBar, ProgressStyle};
use model::Plan;

use crate::out;

/// Draws what the conductor shows.
pub struct Display {
    plan: Plan,
    bar: Option<ProgressBar>,
    doing: String,
    left: Option<f64>,
    last_block: Option<u32>,
    takes: u64,
}

impl Display {
    #[must_use]
    pub fn new(plan: &Plan, quiet: bool) -> Display {
        let bar = (out::talks_to_a_person() && !quiet).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Display { plan: plan.clone(), bar, doing: String::new(), left: None, last_block: None, takes: 0 }
    }

    pub fn show(&mut self, show: &Show<'_>) {
        match show {
            Show::Doing { machine, text } => self.line(&format!("{}{text}", self.on(*machine))),
            Show::Starting { machine, cell, arm, block, warm_up } => {
                self.doing = format!("{}{}", self.on(*machine), self.title(*cell, *arm));
                self.block(*block, *warm_up);
                self.refresh("");
            }
            Show::Taken { take, median, width, n, .. } => {
                self.takes += 1;
                let estimate = match (median, width) {
                    (Some(median), Some(width)) => {
                        format!(
                            "take {n} · {} ± {}",
                            self.quantity(take, *median),
                            report::number::percent(*width)
                        )
                    }
                    (Some(median), None) => format!("take {n} · {}", self.quantity(take, *median)),
                    _ => "warm-up".to_owned(),
                };
                match &take.fault {
                    Some(fault) => self.talk(&format!("fault: {}: {fault}", self.doing)),
                    None => self.refresh(&estimate),
                }
            }
            Show::Left { seconds } => self.left = *seconds,
            Show::Unfit { cell, why, machine } => {
                self.talk(&format!("{}{} cannot run: {why}", self.on(*machine), self.title(*cell, 0)));
            }
            Show::Lost { machine, why } => self.talk(&format!("{}lost: {why}", self.on(*machine))),
            Show::Reading(_) => {}
        }
    }

    /// Takes the living line away.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn quantity(&self, take: &model::reading::Take, value: f64) -> String {
        let headline = self.plan.cells.get(take.cell as usize).and_then(|cell| cell.headline.first());
        let reading =
            (take.readings.iter()).find(|reading| headline.is_none_or(|name| *name == reading.key.metric));
        match reading {
            Some(reading) => report::number::quantity(value, report::number::Kind::of(reading.key.unit)),
            None => report::number::number(value),
        }
    }

    fn on(&self, machine: usize) -> String {
        match self.plan.machines.get(machine) {
            Some(via) if !via.name.is_empty() => format!("{}: ", via.name),
            _ => String::new(),
        }
    }

    fn title(&self, cell: u32, arm: u32) -> String {
        let cell = self.plan.cells.get(cell as usize);
        let arm =
            self.plan.arms.get(arm as usize).map(|arm| arm.name.as_str()).filter(|name| !name.is_empty());
        let name = cell.map_or_else(String::new, |cell| format!("{} {}", cell.instrument, cell.params));
        match arm {
            Some(arm) => format!("{name} [{arm}]"),
            None => name,
        }
    }

    /// One plain line a block, where there is no terminal.
    fn block(&mut self, block: u32, warm_up: bool) {
        if self.bar.is_some() || self.last_block == Some(block) {
            return;
        }
        self.last_block = Some(block);
        let what =
            if warm_up { "warm-up".to_owned() } else { format!("take {}", block + 1 - self.plan.warm_up) };
        let left = self.left.map(|left| format!(", at most {} left", report::number::duration(left)));
        out::say(&format!("{what} of each of {} figures{}", self.plan.cells.len(), left.unwrap_or_default()));
    }

    fn refresh(&self, estimate: &str) {
        let left = self.left.map(|left| format!("at most {} left", report::number::duration(left)));
        let parts = [self.doing.as_str(), estimate, left.as_deref().unwrap_or_default()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if let Some(bar) = &self.bar {
            bar.set_message(parts.join(" · "));
        }
    }

    fn line(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }

    /// A line that stays.
    fn talk(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| out::say(text)),
            None => out::say(text),
        }
    }
}
