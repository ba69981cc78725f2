//! Profiles in a few lines: whose time it was, the kernel's share of it, and the functions with the most samples.
//!
//! Shares are of the samples: of the profiled processes' CPU time, or of all CPUs' where the whole system was sampled.

use model::doc::RunDoc;
use model::format::{self, percent};

use super::fit::{Part, Rank};
use super::{Look, hang};
use model::profile::{Profile, in_notes};

/// Functions and programs that are named.
const MOST: usize = 5;
/// Profiles of a default screen.
const PROFILES: usize = 2;
const HEAD: &str = "profile  ";

/// Of each profile that was taken a line, and one with the functions.
pub fn of_run(run: &RunDoc, look: Look) -> Part {
    let all = in_notes(run.notes.iter().map(|note| &note.body));
    let most = if look.all { all.len() } else { PROFILES };
    let shown = &all[..most.min(all.len())];
    let set = |form: fn(&Profile) -> Vec<String>| -> String {
        let lines = shown.iter().map(|one| block(one, form(one), all.len() > 1, look));
        let mut text: String = lines.collect();
        if shown.len() < all.len() {
            let more = format::count(all.len() - shown.len(), "more profile");
            text.push_str(&hang("", &format!("{more}: --all, or the report"), look.columns));
        }
        text
    };
    // It was asked for: its first line stays.
    Part::new(set(whole)).or(Rank::Reason, "profile", set(first))
}

/// The sentences of one profile behind a word; behind its title where there are several.
fn block(one: &Profile, sentences: Vec<String>, several: bool, look: Look) -> String {
    let mut out = String::new();
    let title = Some(one.title.clone()).filter(|title| several && !title.is_empty());
    for (at, text) in title.into_iter().chain(sentences).enumerate() {
        let head = if at == 0 { HEAD.to_owned() } else { " ".repeat(HEAD.len()) };
        out.push_str(&hang(&head, &text, look.columns));
    }
    out
}

fn whole(one: &Profile) -> Vec<String> {
    let mut texts = first(one);
    texts.extend(functions(one));
    texts
}

fn first(one: &Profile) -> Vec<String> {
    let samples = format::count(usize::try_from(one.samples()).unwrap_or(usize::MAX), "sample");
    match one.is_of_system {
        true => {
            let busy = one.busy();
            let kernel = percent(share(busy.kernel(), busy.samples()));
            vec![format!("{} ({samples}); kernel code took {kernel} of the busy time", programs(one))]
        }
        false => vec![format!("{} ({samples})", sentence(one))],
    }
}

/// `CPU time of the whole system: nginx 45 %, idle 30 %, boxscore 20 %, ksoftirqd/0 3 %, 4 more 2 %`.
pub fn programs(one: &Profile) -> String {
    let all = one.programs();
    let named =
        all.iter().take(MOST).map(|(name, n)| format!("{name} {}", percent(share(*n, one.samples()))));
    let others = all.get(MOST..).unwrap_or_default();
    let rest: u64 = others.iter().map(|(_, n)| n).sum();
    let rest = (rest > 0).then(|| format!("{} more {}", others.len(), percent(share(rest, one.samples()))));
    let said: Vec<String> = named.chain(rest).collect();
    format!("CPU time of the whole system: {}", said.join(", "))
}

/// `most in tcp_sendmsg 12 % (kernel), ngx_http_handler 9 %`: of the busy time.
fn functions(one: &Profile) -> Option<String> {
    let busy = one.busy();
    let all = busy.symbols();
    let named = all.iter().filter(|one| one.own > 0 && !lets_interrupts_in(&one.name)).take(MOST);
    let text = |one: &model::profile::Symbol| {
        let kernel = if one.kernel { " (kernel)" } else { "" };
        format!("{} {}{kernel}", one.name, percent(share(one.own, busy.samples())))
    };
    let said: Vec<String> = named.map(text).collect();
    (!said.is_empty()).then(|| format!("most in {}", said.join(", ")))
}

/// `Kernel code took 81 % of the CPU time of the server alone; tcp_sendmsg most, 12 %`
pub fn sentence(profile: &Profile) -> String {
    let busy = profile.busy();
    let kernel = busy.kernel();
    let (side, part) = if kernel * 2 >= busy.samples() {
        ("Kernel code", kernel)
    } else {
        ("User code", busy.samples().saturating_sub(kernel))
    };
    let top = busy.symbols().into_iter().find(|symbol| !lets_interrupts_in(&symbol.name));
    let top = top.map_or(String::new(), |top| {
        format!("; {} most, {}", top.name, percent(share(top.own, busy.samples())))
    });
    let whose = if profile.is_of_system { "all programs together" } else { "the server alone" };
    format!("{side} took {} of the CPU time of {whose}{top}", percent(share(part, busy.samples())))
}

/// Where the kernel allows interrupts again. The software clock ticks by an interrupt, so the time before, in
/// which they were off, counts there.
pub fn lets_interrupts_in(name: &str) -> bool {
    name.contains("irqrestore") || name.ends_with("unlock_irq") || name.contains("finish_task_switch")
}

fn share(samples: u64, all: u64) -> f64 {
    samples as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use model::NoteBody;

    use super::*;

    fn lines(note: NoteBody) -> Vec<String> {
        whole(&in_notes([note].iter())[0])
    }

    #[test]
    fn a_server_is_told_by_its_functions() {
        let folded = "# t\nnginx;main;tcp_ack_[k] 30\nnginx;main;parse 10\n\
                      nginx;main;_raw_spin_unlock_irqrestore_[k] 60\n";
        assert_eq!(
            lines(NoteBody::Profile(folded.to_owned())),
            [
                "Kernel code took 90 % of the CPU time of the server alone; tcp_ack most, 30 % (100 samples)",
                "most in tcp_ack 30 % (kernel), parse 10 %"
            ]
        );
    }

    #[test]
    fn the_whole_system_is_told_by_its_programs() {
        let programs = ["a", "b", "c", "d"].map(|name| format!("{name};f 1\n")).concat();
        let folded = format!("# t\nswapper;idle_[k] 50\nnginx;main;tcp_ack_[k] 46\n{programs}");
        assert_eq!(
            lines(NoteBody::SystemProfile(folded)),
            [
                "CPU time of the whole system: idle 50 %, nginx 46 %, a 1 %, b 1 %, c 1 %, 1 more 1 % (100 samples); \
                 kernel code took 92 % of the busy time",
                "most in tcp_ack 92 % (kernel), f 8 %"
            ]
        );
    }
}
