//! `boxscore logs`: serving speed, times and mix of what access logs say, label beside label. What a job of many
//! processes does of it is a file each.

mod format;
mod map;
mod merged;
mod reduce;
mod settings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use logs::aggregate::Settings;
use logs::aggregate::file::Labels;
use logs::read::tally::Wants;
use logs::read::{Besides, Fault, Options, Outcome, Watch};
use model::doc::{BesideDoc, FormatDoc, LogsDoc};
use model::{Finding, Note, NoteBody};
use report::text::logs::View;
use stats::Margin;
use store::Store;

use self::settings::{each_once, kept};
use crate::access_logs::beside::Recorded;
use crate::access_logs::cut::{Cut, Parted};
use crate::access_logs::follow::{Ask, Followed};
use crate::access_logs::{Asked, Chosen, Formats, Named, Outages};
use crate::cli::Global;
use crate::cli::lab::on::OnArgs;
use crate::error::CliError;
use crate::fleet::logs::Read;
use crate::lookup::ids::{Ids, short};
use crate::lookup::{labels, paths};
use crate::{access_logs, out, plan};

const AFTER: &str = "\
Examples:
  boxscore logs access.log                        format detected, and said
  boxscore logs ssd=a.log hdd=b.log               two groups of servers: which is faster, and is that fair?
  boxscore logs ssd='logs/a/*.gz' hdd='logs/b/*.gz' --by day
  boxscore logs access.log --format '%h %l %u %t \"%r\" %>s %B %D'
  boxscore logs access.log --config /etc/apache2/apache2.conf
  boxscore logs access.log --by prefix,status --where method=GET
  boxscore logs access.log --where 'at>=2026-11-17T14:00' --where 'at<2026-11-17T14:30'         zoom in
  zcat old.gz | boxscore logs -                   from stdin
  boxscore logs a.log --out a.agg; boxscore logs --merge a.agg b.agg
  ls *.log | xargs -n 8 -P 4 boxscore logs map --format combined+D | boxscore logs reduce > all.parts
  boxscore logs --merge all.parts                 logs read by many processes (see logs map --help)
  boxscore logs --hadoop ssd=/logs/a hdd=/logs/b  logs that lie in Hadoop's file system, read there
  boxscore logs access.log --follow               as it grows, rotated or not, until Ctrl-C
  boxscore logs access.log --cut '2026-11-22 14:00'             before and after a change
  boxscore logs access.log --telemetry latest     load, CPU, disks and memory beside the requests
  boxscore logs /var/log/nginx/access.log --on @web             each node reads its own, merged here
  boxscore logs a.log --profile-out mix.json      its mix, for boxscore run web --mix mix.json
A condition of --where is a property, a comparison and a value; all conditions must hold.
  status, bytes, time    = != < <= > >=; bytes in B, k, M or G
                         time (how long a request took): 200ms, 2s, 50us; a bare 2 is 2s
  at                     the same; a time of day, by the log's own clock where it has no zone: at>=2026-11-17T14:00
  client, vhost, path, prefix, prefix:N, query, method, protocol, referer, agent, bot (yes or no), cache, status-class,
  size-class, minute, hour, day, hour-of-day
                         = != ^= (begins with) ~ !~ (regular expression)
  prefix: the first folder: /search/ of /search, /search/ and /search?q=a, / of /index.html
Speed is bytes sent over time taken (%B over %D). The verdict compares requests of one class of size and of status in
one quarter of an hour (logs that follow each other: at one time of the day), so that neither the balancer's weights nor the mix decides; 5xx are judged by how many they are.
The first label is the base. 1 MB/s is 1 B/us.
Exit codes: 0 done, 1 nothing could be read, 2 usage, 3 lines were skipped or files could not be read.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LogsArgs {
    #[command(subcommand)]
    pub verb: Option<LogsVerb>,
    /// Logs, plain, gzip or zstd, with the group of servers that each belongs to; - is stdin
    #[arg(value_name = "[LABEL=]FILE", required_unless_present = "merge")]
    pub files: Vec<String>,
    /// The server's own format string, or common, combined, vcombined, combined+D, nginx, nginx+time, json
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The server's configuration file, to take the format from; --format names one of several
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Tables by day, hour, minute, hour-of-day, vhost, prefix, prefix:N, path, method, status, status-class,
    /// size-class, client, agent, bot, referer, cache; names by requests, most first
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub by: Vec<String>,
    /// Only requests that fit: 'status<500', method!=POST, path~/img/, 'time>2s', 'at>=2026-11-17T14:00'; repeatable
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// Names in each list (paths, clients, programs, referrers), and groups of --by [default: 3, 10 with --all and in
    /// --json; of groups 20 where they are names, else all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub top: Option<u32>,
    /// Show everything: every list, code and day, of each label
    #[arg(long)]
    pub all: bool,
    /// The relative difference that you would not act on [default: 5%]
    #[arg(long, value_name = "PERCENT")]
    pub margin: Option<String>,
    /// Threads that read
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Stop at the first line that cannot be read
    #[arg(long)]
    pub strict: bool,
    /// Write the aggregates, to be merged with others later
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Aggregates that --out wrote, merged exactly with each other and with the logs; or the output of `logs map` and
    /// `logs reduce` (- is stdin), which stands for the logs themselves
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub merge: Vec<PathBuf>,
    /// The files are paths of Hadoop's (HADOOP_CONF_DIR), read there by a streaming job, with folders for their files
    #[arg(long, conflicts_with_all = ["merge", "follow", "telemetry", "config", "strict", "threads"])]
    pub hadoop: bool,
    /// End the job of --hadoop after this time, such as 2h [default: 24h]
    #[arg(long, value_name = "DURATION", requires = "hadoop")]
    pub timeout: Option<String>,
    /// Bytes of a plain file that a mapper of --hadoop reads; each starts a JVM [default: 512MiB]
    #[arg(long, value_name = "SIZE", requires = "hadoop")]
    pub split: Option<String>,
    /// Write the mix of one label (sizes, methods, keep-alive, arrivals, popularity), which run web --mix and
    /// load --replay repeat
    #[arg(long, value_name = "FILE")]
    pub profile_out: Option<PathBuf>,
    /// Keep the log's own paths in --profile-out, which else calls them by their rank: /m/000001
    #[arg(long, requires = "profile_out")]
    pub paths: bool,
    /// Read on as the logs grow, until Ctrl-C or --for; then the result. With --json a document a line
    #[arg(long, conflicts_with_all = ["merge", "strict", "cut"])]
    pub follow: bool,
    /// End following after this time, such as 10m
    #[arg(long = "for", value_name = "DURATION", requires = "follow")]
    pub span: Option<String>,
    /// Say the figures so often while following [default: 1s on a terminal, else 10s]
    #[arg(long, value_name = "DURATION", requires = "follow")]
    pub every: Option<String>,
    /// Compare what was served from this time on with what was served before; in the log's own zone where it has none
    #[arg(long, value_name = "TIME", conflicts_with_all = ["merge", "out", "profile_out"])]
    pub cut: Option<String>,
    /// A stored run of `run telemetry`, to stand beside the requests of a label; repeatable
    #[arg(long, value_name = "[LABEL=]RUN", conflicts_with = "merge")]
    pub telemetry: Vec<String>,
    /// Label of the stored runs
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// Store nothing
    #[arg(long)]
    pub no_store: bool,
    #[command(flatten)]
    pub lab: OnArgs,
}

/// A verb of a job of many processes.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum LogsVerb {
    /// Read lines, and write what they add up to as lines that `logs reduce` and `logs --merge` take
    Map(Box<map::MapArgs>),
    /// Merge lines of `logs map` into one for each label and side of a cut
    Reduce(reduce::ReduceArgs),
    /// Print the format of logs, for --format of other commands
    Format(format::FormatArgs),
}

/// Everything that was read from logs and from aggregates.
#[derive(Default)]
struct Gathered {
    labels: Labels,
    besides: BTreeMap<String, Besides>,
    /// The labels in the order in which they were given.
    order: Vec<String>,
    formats: Vec<FormatDoc>,
    units: BTreeMap<String, u64>,
    findings: Vec<Finding>,
    faults: Vec<String>,
    /// Where runs are kept.
    store: Option<Store>,
    /// How the logs were read, where all of them are files that can be read again.
    again: Option<Options>,
}

impl Gathered {
    fn named(&self) -> Vec<Named<'_>> {
        let mut named: Vec<Named<'_>> = Vec::new();
        for label in &self.order {
            let known = named.iter().any(|(known, _)| known == label);
            if let Some(one) = self.labels.labels.get(label).filter(|_| !known) {
                named.push((label, one));
            }
        }
        named
    }
}

/// The margin of `--margin`, or the default.
fn margin(args: &LogsArgs) -> Result<Margin, CliError> {
    let asked = args.margin.as_deref().map(|text| plan::share("--margin", text)).transpose()?;
    Ok(asked.and_then(Margin::new).unwrap_or(Margin::MACHINES))
}

pub fn run(args: &LogsArgs, global: &Global) -> Result<u8, CliError> {
    match &args.verb {
        Some(LogsVerb::Map(args)) => return map::run(args),
        Some(LogsVerb::Reduce(args)) => return reduce::run(args),
        Some(LogsVerb::Format(args)) => return format::run(args),
        None => {}
    }
    // Beside logs a format is theirs; what is merged was read before.
    if args.files.is_empty() && (args.format.is_some() || args.config.is_some()) {
        let flag = if args.format.is_some() { "--format" } else { "--config" };
        let error = CliError::usage(format!("{flag}: --merge reads no log, and none is given"));
        return Err(error.hint("`logs map` takes it, or name logs beside --merge"));
    }
    if !args.lab.is_given()? {
        return here(args, global);
    }
    let there = Read::on_nodes(args)?;
    let merge = args.merge.iter().chain(&there.files).cloned().collect();
    let merged = LogsArgs { files: Vec::new(), merge, lab: OnArgs::default(), ..args.clone() };
    Ok(there.code(here(&merged, global)?))
}

fn here(args: &LogsArgs, global: &Global) -> Result<u8, CliError> {
    labels::check_label(args.label.as_deref())?;
    match merged::Parts::read(args)? {
        Some(parts) => told(&parts.adopted_by(args)?, Some(parts), global),
        None => told(args, None, global),
    }
}

/// Says what the logs tell, or what was read of them.
fn told(args: &LogsArgs, parts: Option<merged::Parts>, global: &Global) -> Result<u8, CliError> {
    let labels = match &parts {
        Some(parts) => parts.labels().to_vec(),
        None => access_logs::labels_of(&args.files)?,
    };
    let settings = settings(args, &labels)?;
    let margin = margin(args)?;
    let cut = args.cut.as_deref().map(Cut::parse).transpose()?;
    check(args, &labels, cut.as_ref())?;
    let recorded = Recorded::load(&args.telemetry, &args.files, global)?;
    let timeline = cut.is_some() || !recorded.is_empty();
    let wants = Wants { cut: cut.as_ref().map(|cut| cut.moment), timeline };
    let filters = settings.filters.clone();
    let mut gathered = match parts {
        Some(parts) => parts.gathered(&settings, opened(args, global)?),
        None => gather(args, settings, wants, global)?,
    };
    gathered.faults.iter().for_each(|fault| out::say(&format!("error: {fault}")));
    let besides = std::mem::take(&mut gathered.besides);
    // Of requests that no condition lets through nothing can be cut.
    let halves = besides.values().filter_map(|one| one.sides.as_deref()).flatten();
    let read = halves.map(|side| ("", &side.aggregate)).chain(gathered.named()).collect::<Vec<_>>();
    fits(args, &read, &access_logs::absent(&read, &filters))?;
    let parted = match cut {
        Some(cut) => Some(access_logs::cut::part(&cut, &mut gathered.labels, &mut gathered.order, &besides)?),
        None => None,
    };
    let beside = recorded.beside(&besides, parted.as_ref());
    let machines: Vec<&BesideDoc> = beside.docs.iter().collect();
    gathered.findings.extend(verdict::traffic::beside::findings(&machines));
    write_asked(args, &gathered)?;
    let (mut store, formats) = (gathered.store.take(), std::mem::take(&mut gathered.formats));
    let named = gathered.named();
    let mut judged = match &parted {
        Some(parted) => parted.judge(margin),
        None => verdict::traffic::judge(&access_logs::groups(&named), margin, verdict::traffic::SEED),
    };
    let own = access_logs::findings(&named, &gathered.units);
    let absent = access_logs::absent(&named, &filters);
    judged.findings.splice(0..0, gathered.findings.iter().cloned().chain(absent).chain(own));
    let conditions = each_once(&args.conditions)?;
    let most = view(args, global.json).most;
    let outages = outages(args, &named, parted.as_ref(), gathered.again.as_ref())?;
    let asked = Asked {
        by: &args.by,
        conditions: &conditions,
        filters: &filters,
        parted: parted.as_ref(),
        most,
        margin,
        outages: &outages,
    };
    let mut document = access_logs::document(&named, &asked, formats, judged);
    document.beside = beside.docs;
    if let Some(store) = &mut store {
        document.run = keep(args, &named, (parted.as_ref(), &outages), &document, store)?;
    }
    if let Some(parted) = parted {
        parted.finish(&mut document);
    }
    show(&document, args, global);
    let skipped = document.skipped.iter().any(|kind| kind.lines > 0);
    Ok(if skipped || beside.is_apart || !gathered.faults.is_empty() { 3 } else { 0 })
}

/// The requests of paths while the server failed them, of logs that can be read again.
fn outages(
    args: &LogsArgs,
    named: &[Named<'_>],
    parted: Option<&Parted>,
    again: Option<&Options>,
) -> Result<Outages, CliError> {
    let Some(options) = again else {
        for path in access_logs::outage::paths(named, parted) {
            out::say(&format!(
                "note: how many requests {path} had while it failed is not counted: that takes a second reading of the \
                 logs, and of standard input, of aggregates and while following there is none"
            ));
        }
        return Ok(Outages::default());
    };
    let formats = Formats::new(args.format.as_deref(), args.config.as_deref())?;
    let inputs = || access_logs::choose(&args.files, &formats).map(|chosen| chosen.inputs);
    access_logs::outage::find(named, parted, options, inputs)
}

/// Refuses first the flags that can be refused without reading a line.
fn check(args: &LogsArgs, labels: &[String], cut: Option<&Cut>) -> Result<(), CliError> {
    if let Some(cut) = cut {
        cut.check_labels(labels)?;
    }
    if args.profile_out.is_some() && labels.len() > 1 {
        return Err(CliError::usage(format!(
            "--profile-out: a mix is of one label, and there are {}: {}",
            labels.len(),
            labels.join(", ")
        ))
        .hint("give the logs of one label; a mix of each takes a call of each"));
    }
    for (flag, path) in [("--out", &args.out), ("--profile-out", &args.profile_out)] {
        let Some(path) = path else { continue };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(CliError::data(format!("{flag}: {}: there is no such folder", path.display())));
        }
        if path.is_dir() {
            return Err(CliError::data(format!("{flag}: {}: that is a folder", path.display())));
        }
    }
    Ok(())
}

/// True if something is compared with these labels: labels beside each other, the sides of a cut, or what is kept in a
/// file with what comes.
fn compares(args: &LogsArgs, labels: &[String]) -> bool {
    labels.len() > 1 || args.cut.is_some() || args.out.is_some()
}

fn settings(args: &LogsArgs, labels: &[String]) -> Result<Settings, CliError> {
    let several = labels.len() > 1 || args.cut.is_some();
    // Days are kept anyhow, but not what of them could be compared.
    let apart = several || args.by.iter().any(|key| key != "day");
    let all = kept(&args.by, &args.conditions)?;
    let group_by = if apart { all.group_by } else { Vec::new() };
    let folders = compares(args, labels);
    Ok(Settings { group_by, filters: all.filters, mix: args.profile_out.is_some(), folders })
}

/// Fails where the filter leaves out every request.
fn fits(args: &LogsArgs, named: &[Named<'_>], absent: &[Finding]) -> Result<(), CliError> {
    let requests: u64 = named.iter().map(|(_, one)| one.totals().requests).sum();
    let filtered: u64 = named.iter().map(|(_, one)| one.filtered).sum();
    if requests > 0 || filtered == 0 {
        return Ok(());
    }
    let all = model::format::fixed(filtered as f64, 0);
    let what = format!(
        "--where {}: none of the {all} requests fits",
        each_once(&args.conditions)?.join(" --where ")
    );
    let lists = || "`boxscore logs FILE --by PROPERTY` lists the values of a property".to_owned();
    Err(CliError::data(what).hint(absent.first().map_or_else(lists, Finding::text)))
}

fn gather(args: &LogsArgs, settings: Settings, wants: Wants, global: &Global) -> Result<Gathered, CliError> {
    let (mut labels, mut order) = (Labels::new(&settings), Vec::new());
    for path in &args.merge {
        let wrong = |what: String| CliError::data(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let read = Labels::from_bytes(&bytes).map_err(|error| wrong(error.to_string()))?;
        order.extend(read.labels.keys().cloned());
        labels.merge(&read).map_err(|error| wrong(error.to_string()))?;
    }
    if args.files.is_empty() {
        let store = opened(args, global)?;
        return Ok(Gathered { labels, order, store, ..Gathered::default() });
    }
    let formats = Formats::new(args.format.as_deref(), args.config.as_deref())?;
    if args.follow {
        return followed(args, &formats, &settings, wants, global);
    }
    let chosen = access_logs::choose(&args.files, &formats)?;
    // What is wrong with the store is said before an hour of reading, not after.
    let store = opened(args, global)?;
    let unit = |input: &logs::read::Input| Some((input.label.clone(), input.format.unit_ns()?));
    let units = chosen.inputs.iter().filter_map(unit).collect();
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or(available, |threads| threads as usize);
    let options = Options { settings, threads, strict: args.strict, piece: None, wants };
    let outcome = watched(chosen.inputs, &options, chosen.bytes);
    if let Some((skip, sample)) = outcome.first_skipped.as_ref().filter(|_| args.strict) {
        return Err(CliError::data(format!("{}:{}: {}", sample.file, sample.line, skip.says()))
            .hint("without --strict such lines are counted and skipped"));
    }
    labels.merge(&outcome.labels).map_err(|error| CliError::data(format!("--merge: {error}")))?;
    let told = |fault: &Fault| format!("{}: {}", fault.file, fault.what);
    let faults = chosen.refused.into_iter().chain(outcome.faults.iter().map(told)).collect();
    order.splice(0..0, chosen.labels);
    let Chosen { formats, findings, .. } = chosen;
    let besides = outcome.besides;
    let again = (chosen.bytes.is_some() && args.merge.is_empty()).then_some(options);
    Ok(Gathered { labels, besides, order, formats, units, findings, faults, store, again })
}

/// Follows the logs until the user or `--for` ends it, and returns what was read.
fn followed(
    args: &LogsArgs,
    formats: &Formats,
    settings: &Settings,
    wants: Wants,
    global: &Global,
) -> Result<Gathered, CliError> {
    let ask = Ask::parse(args.span.as_deref(), args.every.as_deref(), global.json)?;
    let sources = access_logs::follow::sources(&args.files)?;
    let store = opened(args, global)?;
    let found = access_logs::follow::follow(sources, formats, settings, wants, ask)?;
    let (labels, besides) = logs::read::apart(found.tallies, settings);
    let Followed { order, formats, units, faults, .. } = found;
    Ok(Gathered { labels, besides, order, formats, units, faults, store, ..Gathered::default() })
}

/// The store, where something is to be kept.
fn opened(args: &LogsArgs, global: &Global) -> Result<Option<Store>, CliError> {
    if args.no_store {
        return Ok(None);
    }
    paths::create(&paths::store(global)?).map(Some)
}

/// Reads while a bar shows how far it is, where somebody looks.
fn watched(inputs: Vec<logs::read::Input>, options: &Options, bytes: Option<u64>) -> Outcome {
    let watch = Watch::default();
    if !out::talks_to_a_person() {
        return logs::read::read(inputs, options, &watch);
    }
    let bar = bytes.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let shape = if bytes.is_some() {
        "{bytes} of {total_bytes}  {bytes_per_sec}  {eta} left {wide_bar}"
    } else {
        "{bytes}  {bytes_per_sec}"
    };
    if let Ok(style) = ProgressStyle::with_template(shape) {
        bar.set_style(style);
    }
    let outcome = std::thread::scope(|scope| {
        let reading = scope.spawn(|| logs::read::read(inputs, options, &watch));
        while !reading.is_finished() {
            bar.set_position(watch.bytes());
            std::thread::sleep(Duration::from_millis(50));
        }
        match reading.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    bar.finish_and_clear();
    outcome
}

/// Writes the files that are asked for.
fn write_asked(args: &LogsArgs, gathered: &Gathered) -> Result<(), CliError> {
    if let Some(path) = &args.out {
        let bytes = gathered.labels.to_bytes();
        let bytes = bytes.map_err(|error| CliError::data(format!("--out {}: {error}", path.display())))?;
        write("--out", path, &bytes)?;
    }
    match &args.profile_out {
        Some(path) => profile(path, gathered, args.paths),
        None => Ok(()),
    }
}

/// The whole file or none.
fn write(flag: &str, path: &std::path::Path, bytes: &[u8]) -> Result<(), CliError> {
    sys::files::atomic_write(path, bytes, 0o644).map_err(|error| CliError::data(format!("{flag}: {error}")))
}

/// Writes the mix, and says what of the log is in it.
fn profile(path: &std::path::Path, gathered: &Gathered, logged: bool) -> Result<(), CliError> {
    let mix = access_logs::mix::document(&gathered.labels, &gathered.formats, logged);
    let mix = mix.map_err(|why| CliError::data(format!("--profile-out {}: {why}", path.display())))?;
    let text = serde_json::to_string_pretty(&mix)?;
    write("--profile-out", path, format!("{text}\n").as_bytes())?;
    let paths = match logged {
        true => "with the paths of the log",
        false => "paths are called by their rank (--paths keeps those of the log)",
    };
    out::say(&format!("{}: the mix of {} requests, {paths}", path.display(), mix.requests));
    Ok(())
}

/// Files of one format in one line.
fn formats_said(formats: &[FormatDoc]) -> String {
    let mut files: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    formats.iter().for_each(|one| files.entry((&one.format, &one.how)).or_default().push(&one.file));
    let line =
        |((format, how), files): ((&str, &str), Vec<&str>)| format!("{}: {format} ({how})", files.join(", "));
    files.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Puts the runs into the store, unless it has them; the id of the first label.
fn keep(
    args: &LogsArgs,
    named: &[Named<'_>],
    (parted, outages): (Option<&Parted>, &Outages),
    document: &LogsDoc,
    store: &mut Store,
) -> Result<Option<String>, CliError> {
    let text = formats_said(&document.formats);
    let notes = [Note::of_run(NoteBody::remark("logs", text))];
    let besides = access_logs::Besides {
        parted,
        machines: &document.beside,
        conditions: &document.conditions,
        outages: Some(outages),
    };
    let runs = access_logs::keep(named, besides, args.label.as_deref(), &notes, &mut Ids::new(None));
    if runs.is_empty() {
        out::say("note: nothing is stored: no request with a time of day was read");
        return Ok(None);
    }
    let known = access_logs::stored(store, &runs)?;
    if known.is_none() {
        store.import(&runs, &[])?;
    }
    Ok(known.or_else(|| runs.first().map(|run| run.head.id.clone())))
}

/// How much is shown.
fn view(args: &LogsArgs, json: bool) -> View {
    const MOST: usize = 10;
    let most = if args.all || json { MOST } else { View::SHORT.most };
    let days = args.by.iter().any(|key| key == "day");
    let top = args.top.map(|top| top as usize);
    let groups = match top {
        Some(top) => top,
        // Hours, statuses and the like are few, and have an order of their own.
        None if args.all || !access_logs::has_names(&args.by) => usize::MAX,
        None => View::SHORT.groups,
    };
    View { all: args.all, most: top.unwrap_or(most), days, groups }
}

fn show(document: &LogsDoc, args: &LogsArgs, global: &Global) {
    if global.json && args.follow {
        out::json_line(document);
        return;
    }
    if global.json {
        out::json(document);
        return;
    }
    let store = global.store.as_ref().map_or_else(String::new, |path| {
        format!(" --store {}", model::shell::word(&path.display().to_string()))
    });
    let next = document.run.as_ref().map(|run| match document.labels.as_slice() {
        [_] => format!("boxscore report {}{store}", short(run)),
        several => {
            let besides = access_logs::Besides { conditions: &document.conditions, ..Default::default() };
            let names: Vec<String> =
                several.iter().map(|one| model::shell::word(&besides.machine(&one.label))).collect();
            format!("boxscore report {}{store}", names.join(" "))
        }
    });
    out::print(&report::text::logs::screen(document, next.as_deref(), view(args, false), out::look()));
    if let Some(option) = report::text::logs::since_then(document).filter(|_| can_be_read_again(args)) {
        out::say(&format!("try: {} {option}", command(args)));
    }
}

/// True for logs in files, which the same command reads a second time.
fn can_be_read_again(args: &LogsArgs) -> bool {
    let is_file = |file: &String| !matches!(file.rsplit('=').next(), Some("-"));
    !args.follow && args.merge.is_empty() && !args.files.is_empty() && args.files.iter().all(is_file)
}

/// The command that reads these requests.
fn command(args: &LogsArgs) -> String {
    let word = |text: &str| model::shell::word(text);
    let mut all = vec!["boxscore logs".to_owned()];
    all.extend(args.files.iter().map(|file| word(file)));
    all.extend(args.hadoop.then(|| "--hadoop".to_owned()));
    all.extend(args.format.iter().map(|format| format!("--format {}", word(format))));
    all.extend(args.config.iter().map(|path| format!("--config {}", word(&path.display().to_string()))));
    all.extend(args.conditions.iter().map(|condition| format!("--where {}", word(condition))));
    all.join(" ")
}
