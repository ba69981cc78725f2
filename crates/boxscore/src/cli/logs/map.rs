//! `boxscore logs map`: lines into parts of aggregates, by one process of many.

use std::ops::Range;
use std::path::PathBuf;

use logs::parts::{Made, failure};

use super::settings::{full, made, wants};
use crate::access_logs::job::mapper::{Form, Mapped, Mapper, Stdin};
use crate::access_logs::job::order::Order;
use crate::access_logs::job::streaming::{Reporter, Split};
use crate::access_logs::{Formats, UNLABELLED};
use crate::error::CliError;
use crate::out;

const AFTER: &str = "\
Examples:
  printf '%s\\0' *.gz | xargs -0 -n 8 -P 4 boxscore logs map --format combined+D | boxscore logs reduce > all.parts
  boxscore logs --merge all.parts                 the result, stored and compared as that of the logs
  seq 0 1000000000 \"$(stat -c %s big.log)\" | parallel boxscore logs map --format combined+D --part {}+1000000000 big.log
  boxscore logs map --label ssd --cut '2026-11-22 14:00' --name a.log < a.log
  hadoop jar hadoop-streaming.jar -D stream.map.input.ignoreKey=false -files boxscore -mapper \\
    './boxscore logs map --format combined+D --keyed' -reducer './boxscore logs reduce' -input /logs -output /out
One line for each label and side of a cut: KEY, a tab, the aggregate. Whatever the cuts and the order, merged they are
what `boxscore logs` makes of the same files, to the byte, where each mapper reads whole files or knows where its lines
stand: --part, --offset, --keyed, --blocks. Of lines without a place (parallel --pipe) the figures are the same, but names are
sampled as of a file of its own, and lines that are skipped have their numbers there.
Give all mappers the format (`boxscore logs format FILE` prints it); one file read in two is refused when parts meet.
How many requests a path had during an outage takes a second reading of the logs, which there is not: it is left out.
Exit codes: 0 done, skipped lines counted; 1 an input could not be read to its end, of which nothing is written; 2 usage.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct MapArgs {
    /// Logs, plain, gzip or zstd, with the group of servers that each belongs to; none, or -: stdin
    #[arg(value_name = "[LABEL=]FILE")]
    pub files: Vec<String>,
    /// The group of servers of files without one, and of stdin
    #[arg(long, value_name = "LABEL", default_value = UNLABELLED,
          value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub label: String,
    /// The place of these labels among all; the first is the base of comparisons [default: by name]
    #[arg(long, value_name = "N")]
    pub place: Option<u32>,
    /// The server's own format string, or a name, as of `boxscore logs`; detected where it is missing
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The server's configuration file, to take the format from; --format names one of several
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Groups, as of `boxscore logs`
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    pub by: Vec<String>,
    /// Only requests that fit, as of `boxscore logs`; repeatable
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// Keep what was served from this time on apart from what was served before
    #[arg(long, value_name = "TIME")]
    pub cut: Option<String>,
    /// Keep the mix too, for --profile-out
    #[arg(long, conflicts_with = "cut")]
    pub mix: bool,
    /// No other label will be merged with this one: leave out what labels are compared by, which costs time
    #[arg(long, conflicts_with = "cut")]
    pub one_label: bool,
    /// The lines that begin in these bytes of FILE: FROM+LENGTH, or FROM-TO
    #[arg(long, value_name = "BYTES", requires = "files")]
    pub part: Option<String>,
    /// The file that stdin is of [default: that of a task's split, else unknown]
    #[arg(long, value_name = "NAME", conflicts_with = "files")]
    pub name: Option<String>,
    /// Where the first line of stdin begins in its file, unpacked [default with --name: 0]
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["files", "keyed"],
          value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub offset: Option<u64>,
    /// Each line of stdin has its offset and a tab in front of it, as Hadoop gives keys of text
    #[arg(long, conflicts_with = "files")]
    pub keyed: bool,
    /// Stdin is blocks of bytes behind their offsets, as `logs --hadoop` has them by its own input format
    #[arg(long, conflicts_with_all = ["files", "keyed", "offset"])]
    pub blocks: bool,
    /// Threads that read
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), default_value = "1")]
    pub threads: u32,
    /// Count on stderr in Hadoop's form; in a task of Hadoop Streaming that is done anyhow
    #[arg(long)]
    pub hadoop_counters: bool,
    /// The order of a job, as `logs --hadoop` writes it, in place of the other options
    #[arg(long, value_name = "FILE", hide = true, exclusive = true)]
    pub order: Option<PathBuf>,
}

pub fn run(args: &MapArgs) -> Result<u8, CliError> {
    let reporter = Reporter::new(args.hadoop_counters);
    let mapped = match &args.order {
        // Hadoop would try it again, fail, and not say why.
        Some(order) => match Order::read(order).and_then(|order| ordered(&order, reporter)) {
            Err(error) => {
                out::print(&format!("{}\n", failure(&error.message)));
                // Hadoop takes a pipe that breaks for a failure of its own.
                _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                return Ok(0);
            }
            mapped => mapped,
        },
        None => asked(args, reporter),
    }?;
    mapped.report(reporter);
    for line in mapped.parts.lines().map_err(|error| CliError::data(error.to_string()))? {
        out::print_together(&format!("{line}\n"));
    }
    Ok(0)
}

/// Maps what the arguments say.
fn asked(args: &MapArgs, reporter: Reporter) -> Result<Mapped, CliError> {
    let part = args.part.as_deref().map(range).transpose()?;
    let made = made(&args.by, &args.conditions, args.cut.as_deref(), args.mix)?;
    let made = Made { one_label: args.one_label, ..made };
    let mapper = Mapper {
        settings: full(&made)?,
        wants: wants(&made)?,
        made,
        formats: Formats::new(args.format.as_deref(), args.config.as_deref())?,
        label: args.label.clone(),
        place: args.place.unwrap_or(u32::MAX),
        threads: args.threads as usize,
        reporter,
        split: Split::of_task(),
    };
    let reads_stdin = args.files.is_empty() || args.files == ["-"];
    if reads_stdin && part.is_some() {
        let error = CliError::usage("--part is of a file, and stdin is none");
        return Err(error.hint("--offset says where stdin begins in its file"));
    }
    if reads_stdin {
        let (name, offset) = (args.name.clone(), args.offset);
        let form = match (args.keyed, args.blocks) {
            (true, _) => Form::Keyed,
            (_, true) => Form::Blocks,
            _ => Form::Plain,
        };
        return mapper.stdin(Stdin { name, offset, form });
    }
    mapper.files(&args.files, part.as_ref())
}

/// Maps the split of a task as its job orders.
fn ordered(order: &Order, reporter: Reporter) -> Result<Mapped, CliError> {
    let no_task = || CliError::usage("--order: this is no task of Hadoop Streaming");
    let split = Split::of_task().ok_or_else(no_task)?;
    let file = order.file(&split.file)?;
    let mapper = Mapper {
        made: order.made.clone(),
        settings: full(&order.made)?,
        wants: wants(&order.made)?,
        formats: Formats::known(&file.format, &file.how)?,
        label: file.label.clone(),
        place: file.place,
        threads: 1,
        reporter,
        split: Some(split.clone()),
    };
    mapper.stdin(Stdin { name: Some(split.file), offset: None, form: Form::Blocks })
}

/// `FROM+LENGTH` or `FROM-TO` in bytes.
fn range(text: &str) -> Result<Range<u64>, CliError> {
    let both = |sign| {
        let (from, rest) = text.split_once(sign)?;
        Some((from.trim().parse::<u64>().ok()?, rest.trim().parse::<u64>().ok()?))
    };
    let range = match (both('+'), both('-')) {
        (Some((from, length)), _) => Some(from..from.saturating_add(length)),
        (None, Some((from, to))) => Some(from..to),
        (None, None) => None,
    };
    let wrong = || {
        CliError::usage(format!("--part {text}: give bytes as FROM+LENGTH or FROM-TO, such as 0+64000000"))
    };
    range.filter(|range| range.start < range.end).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_files_are_ranges_of_bytes() {
        assert_eq!(range("10+5").unwrap(), 10..15);
        assert_eq!(range("10-15").unwrap(), 10..15);
        for text in ["", "10", "a+5", "10+0", "15-10", "10-", "1+2-3"] {
            assert!(range(text).unwrap_err().message.contains("FROM+LENGTH or FROM-TO"), "{text}");
        }
    }
}
