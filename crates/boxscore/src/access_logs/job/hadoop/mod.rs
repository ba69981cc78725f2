//! Logs that lie in Hadoop's file system, read there by streaming jobs with this program as mapper and reducer.
//!
//! Plain files are split by Hadoop and come as lines with their offsets. Packed ones come whole, byte for byte, by a
//! job for each ending, and are unpacked by the mapper: it needs no library of the system for that, and can say which
//! file is cut off. Of each label one format is taken: the user's, or that of the first lines of its first file.

mod client;

use std::path::Path;
use std::time::Duration;

use instruments::workload::hadoop::programs;
use instruments::workload::hadoop::streaming::{STREAMING, Streaming};
use logs::parts::{Made, Parts};
use logs::read::Source;

use super::order::{Order, OrderFile};
use super::streaming::path_of;
use crate::access_logs::inputs::{Formats, Opened, labelled};
use crate::error::CliError;
use crate::out;
use client::{Call, Client, Listed};

/// Endings of files that come as they lie there.
const PACKED: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];

/// The parts that the jobs made of the files that the arguments name. What they leave in Hadoop's file system is
/// removed, in whatever way this ends.
pub fn read(given: &[String], formats: &Formats, made: &Made, limit: Duration) -> Result<Parts, CliError> {
    let client = Client::find(limit)?;
    let parts = read_by(&client, given, formats, made);
    let left = if parts.is_ok() { client.leave() } else { false };
    if !left {
        client.abandon();
    }
    parts
}

fn read_by(client: &Client, given: &[String], formats: &Formats, made: &Made) -> Result<Parts, CliError> {
    let mut order = Order { made: made.clone(), files: Vec::new() };
    let mut inputs: Vec<(String, Option<&str>)> = Vec::new();
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
                (labels, format_of(client, formats, first)?)
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
            let ending = PACKED.into_iter().find(|end| path.ends_with(end));
            // Of nothing there is no split.
            if file.bytes > 0 {
                is_plain(&file.path)?;
                inputs.push((file.path, ending));
            }
            let (label, format, how) = (label.to_owned(), format.clone(), how.clone());
            order.files.push(OrderFile { path, label, place, format, how, is_packed: ending.is_some() });
        }
    }
    let file = client.place().join("order.json");
    sys::files::atomic_write(&file, &serde_json::to_vec(&order)?, 0o644)
        .map_err(|error| CliError::data(format!("{}: {error}", file.display())))?;
    let mut parts = Parts::default();
    for ending in [None].into_iter().chain(PACKED.map(Some)) {
        let of: Vec<&str> =
            inputs.iter().filter(|(_, own)| *own == ending).map(|(path, _)| path.as_str()).collect();
        if !of.is_empty() {
            Job { client, inputs: of, ending, order: &file }.run(&mut parts)?;
        }
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
    inputs: Vec<&'a str>,
    /// The ending of files that come as they lie there.
    ending: Option<&'a str>,
    order: &'a Path,
}

impl Job<'_> {
    /// Runs it, and takes in what it wrote.
    fn run(&self, into: &mut Parts) -> Result<(), CliError> {
        let output = self.client.folder(self.ending.map_or("lines", |ending| &ending[1..]));
        self.work(&output)?;
        self.collect(&output, into)
    }

    fn work(&self, output: &str) -> Result<(), CliError> {
        let program = std::env::current_exe().map_err(|error| CliError::data(error.to_string()))?;
        // A file that is read once more costs more than a slow node.
        let once = "mapreduce.map.speculative=false".to_owned();
        let job = Streaming {
            name: "boxscore logs",
            settings: self.client.settings().iter().cloned().chain([once]).collect(),
            files: vec![(&program, "boxscore"), (self.order, "order.json")],
            inputs: self.inputs.clone(),
            output,
            mapper: "./boxscore logs map --order order.json",
            reducer: "./boxscore logs reduce --tells",
            whole: self.ending,
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
