//! Folded stacks (`caller;callee;leaf 12`, one stack a line), and their symbols by their own samples.
//!
//! Counts are samples. A frame that ends in `_[k]` is the kernel's, as the folding tools mark it. Lines that begin
//! with `#` are the title of what was profiled; lines that are no stack are counted. Nothing is resolved here.

use std::collections::BTreeMap;

use crate::NoteBody;

/// A profile of one title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    pub title: String,
    /// Folded stacks, each with its samples.
    stacks: BTreeMap<Vec<String>, u64>,
    /// Lines that are no stack.
    pub unread: u64,
    /// Of all that ran on the machine, not of a server alone.
    pub is_of_system: bool,
}

/// A function with the samples in it, and with those in what it called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    pub kernel: bool,
    pub own: u64,
    pub total: u64,
}

const KERNEL: &str = "_[k]";
/// Frames of one stack that are kept; what is deeper counts for the last of them.
pub const DEEPEST: usize = 256;

/// The program of the samples in which a CPU had nothing to do.
const IDLE: &str = "swapper";

/// The profiles among the notes of a run: of its servers, then of the whole system.
pub fn in_notes<'n>(notes: impl Iterator<Item = &'n NoteBody> + Clone) -> Vec<Profile> {
    let of_server = notes.clone().filter_map(|note| match note {
        NoteBody::Profile(text) => Some(text.as_str()),
        _ => None,
    });
    let of_system = notes.filter_map(|note| match note {
        NoteBody::SystemProfile(text) => Some(text.as_str()),
        _ => None,
    });
    let mut all = profiles(of_server);
    all.extend(profiles(of_system).into_iter().map(|one| Profile { is_of_system: true, ..one }));
    all
}

/// The profiles of some texts, those of one title together, in the order of meeting.
pub fn profiles<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<Profile> {
    let mut out: Vec<Profile> = Vec::new();
    for text in texts {
        let titles = text.lines().filter_map(|line| line.strip_prefix('#')).map(str::trim);
        let title = titles.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ");
        let at = out.iter().position(|known| known.title == title).unwrap_or_else(|| {
            out.push(Profile { title, ..Profile::default() });
            out.len() - 1
        });
        if let Some(profile) = out.get_mut(at) {
            text.lines().for_each(|line| profile.line(line));
        }
    }
    out.retain(|profile| profile.samples() > 0);
    out
}

impl Profile {
    fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let parsed =
            line.rsplit_once(' ').and_then(|(stack, count)| Some((stack, count.parse::<u64>().ok()?)));
        match parsed {
            Some((stack, count)) if !stack.trim().is_empty() => {
                let frames = stack.split(';').map(str::trim).filter(|name| !name.is_empty());
                let frames: Vec<String> = frames.take(DEEPEST).map(str::to_owned).collect();
                let samples = self.stacks.entry(frames).or_default();
                *samples = samples.saturating_add(count);
            }
            _ => self.unread += 1,
        }
    }

    pub fn samples(&self) -> u64 {
        self.stacks.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Samples whose leaf is the kernel's.
    pub fn kernel(&self) -> u64 {
        let leaf = |stack: &Vec<String>| stack.last().is_some_and(|name| name.ends_with(KERNEL));
        self.stacks.iter().filter(|(stack, _)| leaf(stack)).fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// The same without what the idle CPUs did.
    #[must_use]
    pub fn busy(&self) -> Profile {
        let is_busy = |stack: &Vec<String>| stack.first().is_none_or(|program| program != IDLE);
        let stacks = self.stacks.iter().filter(|(stack, _)| is_busy(stack));
        Profile { stacks: stacks.map(|(stack, n)| (stack.clone(), *n)).collect(), ..self.clone() }
    }

    /// Samples by program, the busiest first; those of idle CPUs are `idle`.
    pub fn programs(&self) -> Vec<(&str, u64)> {
        let mut of: BTreeMap<&str, u64> = BTreeMap::new();
        for (stack, count) in &self.stacks {
            let program = stack.first().map_or("", String::as_str);
            let samples = of.entry(if program == IDLE { "idle" } else { program }).or_default();
            *samples = samples.saturating_add(*count);
        }
        let mut all: Vec<(&str, u64)> = of.into_iter().collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all
    }

    /// Each stack from its root, with its samples; in the order of their frames.
    pub fn stacks(&self) -> impl Iterator<Item = (&[String], u64)> {
        self.stacks.iter().map(|(stack, count)| (stack.as_slice(), *count))
    }

    /// Every function, the one with the most samples of its own first.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut of: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (stack, count) in &self.stacks {
            let mut seen: Vec<&str> = Vec::new();
            for name in stack {
                // A function that calls itself has its samples once.
                if !seen.contains(&name.as_str()) {
                    seen.push(name);
                    let total = &mut of.entry(name).or_default().1;
                    *total = total.saturating_add(*count);
                }
            }
            if let Some(leaf) = stack.last() {
                let own = &mut of.entry(leaf).or_default().0;
                *own = own.saturating_add(*count);
            }
        }
        let symbol = |(name, (own, total)): (&str, (u64, u64))| {
            let (plain, kernel) = plain(name);
            Symbol { name: plain.to_owned(), kernel, own, total }
        };
        let mut symbols: Vec<Symbol> = of.into_iter().map(symbol).collect();
        symbols.sort_by(|a, b| b.own.cmp(&a.own).then(b.total.cmp(&a.total)).then(a.name.cmp(&b.name)));
        symbols
    }
}

/// The name without its mark, and whether it is the kernel's.
pub fn plain(name: &str) -> (&str, bool) {
    name.strip_suffix(KERNEL).map_or((name, false), |plain| (plain, true))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FOLDED: &str = "nginx;main;ngx_epoll;sys_read_[k];tcp_recv_[k] 30\nnginx;main;ngx_epoll 10\n\
                          nginx;main;ngx_epoll;sys_read_[k] 20\njunk\nnginx;main;main 5\n";

    #[test]
    fn stacks_become_symbols() {
        let all = profiles([FOLDED]);
        let [profile] = all.as_slice() else { panic!("one profile: {all:?}") };
        assert_eq!((profile.samples(), profile.kernel(), profile.unread), (65, 50, 1));
        let symbols = profile.symbols();
        let tops: Vec<(&str, bool, u64, u64)> =
            symbols.iter().map(|s| (s.name.as_str(), s.kernel, s.own, s.total)).collect();
        assert_eq!(
            tops[..3],
            [("tcp_recv", true, 30, 30), ("sys_read", true, 20, 50), ("ngx_epoll", false, 10, 60)]
        );
        assert!(tops.contains(&("main", false, 5, 65)), "recursion counts once: {tops:?}");
    }

    #[test]
    fn the_whole_system_is_told_by_program_and_its_idle_time_apart() {
        let system =
            "# gif\nswapper;cpu_idle_[k] 50\nnginx;main;tcp_ack_[k] 30\nksoftirqd/0;run_[k] 15\nperf;x 5\n";
        let notes = [NoteBody::SystemProfile(system.to_owned()), NoteBody::Profile(FOLDED.to_owned())];
        let all = in_notes(notes.iter());
        assert_eq!(all.iter().map(|one| one.is_of_system).collect::<Vec<_>>(), [false, true]);
        assert_eq!(all[1].programs(), [("idle", 50), ("nginx", 30), ("ksoftirqd/0", 15), ("perf", 5)]);
        let busy = all[1].busy();
        assert_eq!((busy.samples(), busy.kernel(), all[1].samples()), (50, 45, 100));
    }

    #[test]
    fn notes_of_one_title_are_one_profile() {
        let all = profiles(["# prefork\na 1\n", "# event\na 2\n", "# prefork\na 3\n", "# empty\n"]);
        let said: Vec<(&str, u64)> = all.iter().map(|one| (one.title.as_str(), one.samples())).collect();
        assert_eq!(said, [("prefork", 4), ("event", 2)]);
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_samples(text in "([ab;#_\\[k\\] 0-9]{0,12}\n){0,20}") {
            for profile in profiles([text.as_str()]) {
                let own = profile.symbols().iter().fold(0u64, |sum, symbol| sum.saturating_add(symbol.own));
                prop_assert!(own <= profile.samples());
            }
        }
    }

    #[test]
    fn a_stack_of_a_million_frames_is_cut() {
        let deep = format!("{} 3", vec!["f"; 1_000_000].join(";"));
        let all = profiles([deep.as_str()]);
        assert_eq!((all[0].samples(), all[0].symbols().len()), (3, 1));
    }
}
