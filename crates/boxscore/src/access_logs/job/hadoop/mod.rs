//! Logs that lie in Hadoop's file system, read there by a streaming job with this program as mapper and reducer.
//!
//! Files come as blocks of bytes by an input format of ours: plain ones in splits of whole lines, packed ones whole,
//! unpacked by the mapper. That needs no library of the system, and can say which file is cut off. Of each label one
//! format is taken: the user's, or that of the first lines of its first file.

mod client;

use std::time::Duration;

use instruments::workload::hadoop::programs;
use instruments::workload::hadoop::streaming::{Input, STREAMING, Streaming, write_input_format};
use logs::parts::{Made, Parts};
use logs::read::Source;
use model::params::show_bytes;

use super::order::{Order, OrderFile};
use super::streaming::path_of;
use crate::access_logs::inputs::{Formats, Opened, labelled};
use crate::error::CliError;
use crate::out;
use client::{Call, Client, Listed};

/// Mappers of a job: their list lies in the memory of its client and its ApplicationMaster.
const MOST_MAPPERS: u64 = 100_000;
/// Endings of files that come as they lie there.
const PACKED: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];

/// How a job reads.
pub struct Asked<'a> {
    pub formats: &'a Formats,
    pub made: &'a Made,
    /// Bytes of a split.
    pub split: u64,
    pub limit: Duration,
}

/// The parts that a job made of the files that the arguments name. What it leaves in Hadoop's file system is removed,
/// in whatever way this ends.
pub fn read(given: &[String], asked: &Asked<'_>) -> Result<Parts, CliError> {
    let client = Client::find(asked.limit)?;
    let parts = read_by(&client, given, asked);
    let left = if parts.is_ok() { client.leave() } else { false };
    if !left {
        client.abandon();
    }
    parts
}

fn read_by(client: &Client, given: &[String], asked: &Asked<'_>) -> Result<Parts, CliError> {
    let mut order = Order { made: asked.made.clone(), files: Vec::new() };
    let mut inputs: Vec<Listed> = Vec::new();
    for text in given {
        let (label, path) = labelled(text)?;
        let files = client.list(path)?;
        let known = order.files.iter().find(|file| file.label == label);
        let (place, (format, how)) = match known {
            Some(known) => (known.place, (known.format.clone(), known.how.clone())),
            None => {
                let labels = order.files.iter().map(|file| file.place + 1).max().unwrap_or(0);
                // Of an empty one no format is seen.
                let first = files.iter().find(|file| file.bytes > 0).unwrap_or(&files[0]);
                (labels, format_of(client, asked.formats, first)?)
            }
        };
        for file in files {
            let path = path_of(&file.path);
            if let Some(twice) = order.files.iter().find(|known| known.path == path) {
                return Err(CliError::usage(format!(
                    "{path} is given twice, for {} and {label}",
                    twice.label
                ))
                .hint("--hadoop takes each file once"));
            }
            // Of nothing there is no split.
            if file.bytes > 0 {
                is_plain(&file.path)?;
                inputs.push(file);
            }
            let (label, format, how) = (label.to_owned(), format.clone(), how.clone());
            order.files.push(OrderFile { path, label, place, format, how });
        }
    }
    let mut parts = Parts::default();
    if !inputs.is_empty() {
        Job { client, inputs, order: &order, split: asked.split }.run(&mut parts)?;
    }
    Ok(parts)
}

/// Refuses a file whose name the job would take for several files or a pattern.
fn is_plain(path: &str) -> Result<(), CliError> {
    match path.contains([',', '{', '}', '[', ']', '*', '?', '\\']) {
        false => Ok(()),
        true => {
            Err(CliError::data(format!("--hadoop: {path}: Hadoop takes this name for a pattern or a list"))
                .hint("rename the file: no , { } [ ] * ? or \\ in it"))
        }
    }
}

/// The format of a file's first lines, and how it was found.
fn format_of(client: &Client, formats: &Formats, file: &Listed) -> Result<(String, String), CliError> {
    if let Formats::Known(format, how) = formats {
        return Ok((format.text.clone(), how.clone()));
    }
    let name = path_of(&file.path);
    // The rest is not wanted.
    let call = Call { ends_after_reading: true, ..Call::QUIET };
    let ended = client.cat(&file.path, call, |from| {
        let opened = Opened::new(&name, Source::Stream(Box::new(from)), formats);
        opened.map(|Opened { format, how, .. }| (format.text.clone(), how))
    })?;
    let why = |error: String| match client::last_words(&ended.said) {
        Some(said) => CliError::data(format!("{error}; `hadoop fs -cat` says: {said}")),
        None => CliError::data(error),
    };
    let (format, how) = ended.out.map_err(why)?;
    out::say(&format!("{name}: {format} ({how})"));
    Ok((format, how))
}

/// A streaming job.
struct Job<'a> {
    client: &'a Client,
    inputs: Vec<Listed>,
    order: &'a Order,
    split: u64,
}

impl Job<'_> {
    /// Runs it, and takes in what it wrote.
    fn run(&self, into: &mut Parts) -> Result<(), CliError> {
        let output = self.client.folder("parts");
        self.work(&output)?;
        self.collect(&output, into)
    }

    /// Fails where there would be more mappers than Hadoop can hold.
    fn check(&self, bytes: u64) -> Result<(), CliError> {
        let mappers = bytes.div_ceil(self.split);
        if mappers <= MOST_MAPPERS {
            return Ok(());
        }
        let split = show_bytes(self.split);
        let error = CliError::usage(format!("--split {split}: {mappers} mappers; {MOST_MAPPERS} at most"));
        Err(error.hint(format!("give {} or more", show_bytes(bytes.div_ceil(MOST_MAPPERS)))))
    }

    fn work(&self, output: &str) -> Result<(), CliError> {
        let bytes = self.inputs.iter().map(|file| file.bytes).sum();
        self.check(bytes)?;
        let program = std::env::current_exe().map_err(|error| CliError::data(error.to_string()))?;
        let wrong = |error: sys::Error| CliError::data(format!("--hadoop: {error}"));
        let order = self.client.place().join("order.json");
        sys::files::atomic_write(&order, &serde_json::to_vec(self.order)?, 0o644).map_err(wrong)?;
        let jar = write_input_format(self.client.place()).map_err(wrong)?;
        // A file that is read once more costs more than a slow node.
        let once = "mapreduce.map.speculative=false".to_owned();
        let job = Streaming {
            name: "boxscore logs",
            settings: self.client.settings().iter().cloned().chain([once]).collect(),
            files: vec![(&program, "boxscore"), (&order, "order.json")],
            inputs: self.inputs.iter().map(|file| file.path.as_str()).collect(),
            output,
            mapper: "./boxscore logs map --order order.json",
            reducer: "./boxscore logs reduce --tells",
            input: Input::Blocks { jar: &jar, packed: &PACKED, split: self.split, bytes },
        };
        let words: Vec<String> = std::iter::once(STREAMING.to_owned()).chain(job.arguments()).collect();
        let call = Call { heard: tell, ends_after_reading: false };
        let ended =
            self.client.run(&words, call, |mut from| std::io::copy(&mut from, &mut std::io::sink()))?;
        counters(&ended.said).for_each(out::say);
        if ended.status.success() {
            return Ok(());
        }
        let why = programs::cause(&ended.said.join("\n")).or_else(|| ended.said.last().cloned());
        let why = why.unwrap_or_else(|| "it failed, and did not say why".to_owned());
        Err(CliError::data(format!("--hadoop: the job: {why}")))
    }

    fn collect(&self, output: &str, into: &mut Parts) -> Result<(), CliError> {
        let wrong = |what: &str| CliError::data(format!("--hadoop: the output of the job, {output}: {what}"));
        let path = format!("{output}/part-*");
        let ended = self.client.cat(&path, Call::QUIET, |from| into.read(Box::new(from)))?;
        ended.out.map_err(|error| match error.is_told {
            true => CliError::data(format!("--hadoop: {}", error.what)),
            false => wrong(&error.to_string()),
        })?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(wrong(client::last_words(&ended.said).unwrap_or("it could not be read"))),
        }
    }
}

/// Says what is of interest of a line of a job's log: the application, and how far it is.
fn tell(line: &str) {
    let progress = line
        .split_once(": ")
        .map(|(_, text)| text.trim())
        .filter(|text| text.starts_with("map ") && text.ends_with('%'));
    if let Some(text) = progress.or_else(|| line.split("Submitted application ").nth(1).map(|_| line)) {
        out::say(text);
    }
}

/// Our counters in a job's log.
fn counters(said: &[String]) -> impl Iterator<Item = &str> {
    let ours = said.iter().skip_while(|line| *line != "boxscore").skip(1);
    ours.take_while(|line| line.contains('=')).map(String::as_str)
}
