//! Where the processor's time went, by a profile: a flame graph, and the functions with the most samples of their own.
//!
//! Samples come as folded stacks in notes. A sample stands for the time of its clock, so shares are of the CPU time of
//! the profiled processes, or of that of all CPUs where the whole system was sampled.

use maud::{Markup, html};
use model::format::{count, fixed, percent};

use crate::page::{self, Column};
use crate::plot::{Caption, Flame};
use crate::profile::tree;
use crate::section::{ReportInput, Section};
use crate::text;
use crate::text::profile::lets_interrupts_in;
use model::profile::{self, Profile, Symbol};

pub static SECTION: Section = Section::by_run(44, draw);

/// Functions of each side in the table.
const MOST: usize = 12;
/// Flame graphs of one run.
const GRAPHS: usize = 4;

fn draw(input: &ReportInput) -> Option<Markup> {
    let mut title = None;
    let mut body: Vec<Markup> = Vec::new();
    for (run, (_, data)) in input.runs.iter().enumerate().take(input.drawn().end) {
        let profiles = profile::in_notes(data.notes.iter().map(|note| &note.body));
        let several = input.runs.len() > 1 || profiles.len() > 1;
        for profile in profiles.iter().take(GRAPHS) {
            let said = text::profile::sentence(profile);
            let name = [input.name(run), profile.title.clone()];
            let name = name.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ");
            title = title.or_else(|| Some(said.clone()));
            body.push(of_one(profile, if several { &name } else { "" }, &said));
        }
        if profiles.len() > GRAPHS {
            body.push(
                html! { p class="note" { (profiles.len() - GRAPHS) " more profiles are in the export" } },
            );
        }
    }
    Some(page::section("profile", &title?, &html! { @for part in &body { (part) } }))
}

/// How the kernel is entered: all its calls are below these, which tells nothing.
fn is_entry(name: &str) -> bool {
    ["entry_SYSCALL", "do_syscall", "x64_sys_call", "el0", "invoke_syscall", "do_el0"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn share(samples: u64, all: u64) -> String {
    percent(samples as f64 / all.max(1) as f64)
}

fn of_one(profile: &Profile, name: &str, said: &str) -> Markup {
    let samples = count(usize::try_from(profile.samples()).unwrap_or(usize::MAX), "sample");
    let subtitle = format!("{samples}; the root is below, each box as wide as its share of the samples");
    let symbols = profile.symbols();
    let title = inclusive(&symbols, profile.samples()).unwrap_or_else(|| said.to_owned());
    let flame = Flame { caption: Caption::new(title).subtitle(subtitle), root: tree(profile) };
    let side = |kernel: bool| -> Vec<&Symbol> {
        symbols.iter().filter(|symbol| symbol.kernel == kernel && symbol.own > 0).take(MOST).collect()
    };
    html! {
        @if !name.is_empty() { h3 { (name) } }
        @if profile.is_of_system { p { (text::profile::programs(profile)) } }
        (page::grid(&[flame.render()]))
        div class="grid" {
            @for (what, rows) in [("kernel", side(true)), ("user", side(false))] { @if !rows.is_empty() {
                (table(what, &rows, profile.samples()))
            } }
        }
        @if side(true).iter().any(|symbol| lets_interrupts_in(&symbol.name)) {
            p class="note" {
                "the clock of the samples does not tick while interrupts are off: that time counts where the kernel \
                 lets them in again, such as " code { "_raw_spin_unlock_irqrestore" }
            }
        }
        @if profile.unread > 0 {
            p class="note" { (fixed(profile.unread as f64, 0)) " lines of the profile are no stack and were left out" }
        }
    }
}

/// `tcp_sendmsg took 52 % with what it calls`: the widest function that is not below nearly everything, and does
/// more than to enter the kernel.
fn inclusive(symbols: &[Symbol], all: u64) -> Option<String> {
    const NEARLY_ALL: f64 = 0.75;
    let part = |symbol: &&Symbol| (symbol.total as f64) < NEARLY_ALL * all as f64 && !is_entry(&symbol.name);
    let widest = symbols.iter().filter(part).max_by_key(|symbol| symbol.total)?;
    Some(format!("{} took {} with what it calls", widest.name, share(widest.total, all)))
}

/// `own`: samples in the function itself; `with calls`: also in what it called.
fn table(side: &str, symbols: &[&Symbol], all: u64) -> Markup {
    let title = format!("function, {side}");
    let head = [(title.as_str(), Column::Text), ("own", Column::Number), ("with calls", Column::Number)];
    let row = |symbol: &&Symbol| {
        vec![
            html! { code { (symbol.name) } },
            html! { (share(symbol.own, all)) },
            html! { (share(symbol.total, all)) },
        ]
    };
    page::table(&head, &symbols.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_name_what_works_and_not_how_it_was_reached() {
        let symbol = |name: &str, own, total| Symbol { name: name.to_owned(), kernel: true, own, total };
        let symbols = [
            symbol("entry_SYSCALL_64_after_hwframe", 0, 70),
            symbol("do_syscall_64", 2, 69),
            symbol("tcp_sendmsg", 1, 52),
        ];
        assert_eq!(inclusive(&symbols, 100).as_deref(), Some("tcp_sendmsg took 52 % with what it calls"));
        assert_eq!(inclusive(&symbols[..2], 100), None);
    }

    #[test]
    fn time_without_interrupts_is_not_called_work() {
        let folded = "# t\nmain;_raw_spin_unlock_irqrestore_[k] 9\nmain;tcp_ack_[k] 3\n";
        let all = profile::profiles([folded]);
        let said = text::profile::sentence(&all[0]);
        assert_eq!(said, "Kernel code took 100 % of the CPU time of the server alone; tcp_ack most, 25 %");
        let page = of_one(&all[0], "", "").into_string();
        assert!(page.contains("does not tick while interrupts are off"), "{page}");
    }
}
