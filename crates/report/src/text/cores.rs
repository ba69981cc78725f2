//! How each core divided its time during a load, and what came from disks.
//!
//! Shares are of the takes' time, medians over the takes. `-` is what the system does not tell; steal has a column
//! where there was any.

use model::doc::{Binding, BottleneckDoc, CoreDoc, FilesDoc, RunDoc};
use model::format::{self, Kind};
use model::names::load::unusual;
use model::{Unit, card};

use super::fit::{Part, Rank};
use super::grid::{Align, Grid};
use super::web_table::firsts;
use super::{Look, hang};

/// Cores of a default screen; the others are counted.
const MOST: usize = 4;
/// Arms of a default screen.
const ARMS: usize = 2;
/// Bytes that a server had read from disks in a take, and a default screen tells.
const MUCH: f64 = 1e6;
/// Bottlenecks that are about cores.
const BOUND: [Binding; 7] = [
    Binding::Core,
    Binding::Cores,
    Binding::Shared,
    Binding::Others,
    Binding::Thread,
    Binding::Softirq,
    Binding::Steal,
];
/// A core that is idle for longer served nobody to speak of.
const IDLE: f64 = 0.95;
/// Less of a core's time than this is shown as none.
const SHOWN: f64 = 0.000_5;

/// A table of cores behind `title`; of many, where not all was asked for, those with the least idle time.
pub fn table(title: &str, all: &[CoreDoc], look: Look) -> String {
    let mut shown: Vec<&CoreDoc> = all.iter().collect();
    if !look.all && shown.len() > MOST {
        shown.sort_by(|a, b| a.idle.total_cmp(&b.idle));
        shown.truncate(MOST);
    }
    let Some(least) = shown.last().map(|core| core.idle) else { return String::new() };
    let has_steal = all.iter().any(|core| core.steal.is_some_and(|share| share > SHOWN));
    let heads = ["user", "system", "softirq", "steal", "idle"].map(|head| (head, Align::Right));
    let is_shown = |head: &str| has_steal || head != "steal";
    let mut columns = vec![(title, Align::Left), ("", Align::Left)];
    columns.extend(heads.iter().filter(|(head, _)| is_shown(head)).copied());
    let mut grid = Grid::new(&columns);
    for core in &shown {
        let parts = [core.user, core.system, core.softirq, core.steal, Some(core.idle)];
        let mut cells = vec![format!("cpu{}", core.cpu).into(), role(core).into()];
        let of_heads = heads.iter().zip(parts).filter(|((head, _), _)| is_shown(head));
        cells.extend(of_heads.map(|(_, share)| share.map_or("-".to_owned(), rounded).into()));
        grid.row(cells);
    }
    let mut out = grid.render(look.columns, look.paint);
    if shown.len() < all.len() {
        let more = format::count(all.len() - shown.len(), "more core");
        out.push_str(&hang("", &format!("and {more}, each at least {} idle", rounded(least)), look.columns));
    }
    out
}

/// An idle core is one that the server may use, and did not.
fn role(core: &CoreDoc) -> &str {
    if core.role == "server" && core.idle > IDLE { "may serve" } else { &core.role }
}

/// Whole percents: times come in ticks of a hundredth of a second.
fn rounded(share: f64) -> String {
    format!("{} %", format::fixed((share * 100.0).max(0.0), 0))
}

/// `files  12.0 MB read from disks a take (9.00 MB for the server), 2,000 pages read again, 47.0 MB cached`; MB = 10^6.
pub fn files(one: &FilesDoc, look: Look) -> String {
    let bytes = |value: f64| format::quantity(value, Kind::for_unit(Unit::Byte).decimal());
    let for_server =
        one.server_read.map_or_else(String::new, |read| format!(" ({} for the server)", bytes(read)));
    let read = match (one.disk_read, one.server_read) {
        (Some(read), _) => Some(format!("{} read from disks a take{for_server}", bytes(read))),
        (None, Some(read)) => Some(format!("{} read from disks for the server a take", bytes(read))),
        (None, None) => None,
    };
    let again =
        one.refaults.map(|pages| format!("{} pages of files read again a take", format::number(pages)));
    let cached = one.server_cache.map(|cache| format!("{} cached within the server's limit", bytes(cache)));
    let said: Vec<String> = [read, again, cached].into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { hang("files  ", &said.join(", "), look.columns) }
}

/// Of each arm, the load with the highest throughput: its cores, and its files where a memory limit or a disk was met.
/// Where all was asked for, each load has its own below.
pub fn of_run(run: &RunDoc, look: Look) -> Vec<Part> {
    let found = firsts(run);
    if look.all || found.len() > ARMS {
        return Vec::new();
    }
    found.into_iter().map(|one| of_load(one, &title(run, one), look)).collect()
}

/// The same, whose cores stay longer where the load is told to be bound by them.
pub fn of_load_bound(one: &BottleneckDoc, title: &str, look: Look) -> Part {
    if !BOUND.contains(&one.kind) || one.cores.is_empty() {
        return of_load(one, title, look);
    }
    Part::new(table(title, &one.cores, look) + &told_files(one, look)).or(Rank::Figure, "cores", "")
}

/// The cores of one load, and its files where a memory limit or a disk was met.
pub fn of_load(one: &BottleneckDoc, title: &str, look: Look) -> Part {
    let files = told_files(one, look);
    let whole = Part::new(table(title, &one.cores, look) + &files);
    whole.or(Rank::Evidence, "cores", files).or(Rank::Reason, "files", "")
}

/// The files of a load where a memory limit or a disk was met.
fn told_files(one: &BottleneckDoc, look: Look) -> String {
    let met = |files: &&FilesDoc| {
        let over = |value: Option<f64>, least: f64| value.is_some_and(|value| value > least);
        look.all || files.server_cache.is_some() || over(files.refaults, 0.0) || over(files.server_read, MUCH)
    };
    one.files.as_ref().filter(met).map(|one| files(one, look)).unwrap_or_default()
}

/// `cores`, with the arm and with what tells the load from others of the run.
fn title(run: &RunDoc, one: &BottleneckDoc) -> String {
    let several = run.bottlenecks.iter().filter(|other| other.arm == one.arm).count() > 1;
    let mut words: Vec<String> = Some(one.arm.clone()).filter(|arm| !arm.is_empty()).into_iter().collect();
    if several {
        words.extend(unusual(card::find(run.cards, &one.instrument), &one.params, &["connections"], &[]));
    }
    if words.is_empty() { "cores".to_owned() } else { format!("cores, {}", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(cpu: usize, idle: f64, steal: f64) -> CoreDoc {
        CoreDoc {
            cpu: cpu.to_string(),
            role: if cpu == 0 { "server" } else { "other" }.to_owned(),
            user: Some(0.194),
            system: Some(1.0 - 0.194 - idle - steal),
            softirq: None,
            steal: Some(steal),
            generator: None,
            idle,
        }
    }

    #[test]
    fn cores_have_a_line_each_and_of_many_the_busiest() {
        let two = [core(0, 0.02, 0.0), core(1, 0.5, 0.0)];
        let said = table("cores", &two, Look::plain());
        assert_eq!(
            said.lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>(),
            ["cores user system softirq idle", "cpu0 server 19 % 79 % - 2 %", "cpu1 other 19 % 31 % - 50 %"]
        );
        assert!(table("cores", &[core(0, 0.02, 0.1)], Look::plain()).contains("steal"));
        assert!(table("cores", &[core(0, 0.97, 0.0)], Look::plain()).contains("may serve"));
        let many: Vec<CoreDoc> = (0..64).map(|cpu| core(cpu, 0.9 - cpu as f64 / 100.0, 0.0)).collect();
        let said = table("cores", &many, Look::plain());
        assert!(said.contains("cpu63") && !said.contains("cpu1 "), "{said}");
        assert!(said.ends_with("and 60 more cores, each at least 30 % idle\n"), "{said}");
        assert_eq!(table("cores", &many, Look::plain().with_all(true)).lines().count(), 65);
        assert_eq!(table("cores", &[], Look::plain()), "");
    }

    #[test]
    fn files_say_only_what_was_read() {
        let none = FilesDoc::default();
        assert_eq!(files(&none, Look::plain()), "");
        let limited = FilesDoc {
            disk_read: Some(146e6),
            server_read: Some(140e6),
            refaults: Some(24_600.0),
            server_cache: Some(47e6),
        };
        assert_eq!(
            files(&limited, Look { columns: 200, ..Look::plain() }),
            "files  146 MB read from disks a take (140 MB for the server), 24,600 pages of files read again a take, \
             47.0 MB cached within the server's limit\n"
        );
        let theirs = FilesDoc { disk_read: Some(0.0), ..none };
        assert_eq!(files(&theirs, Look::plain()), "files  0 B read from disks a take\n");
    }
}
