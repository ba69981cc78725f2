//! Logs that lie in Hadoop's file system, read there by streaming jobs with this program as mapper and reducer.
//!
//! Plain files are split by Hadoop and come as lines with their offsets. Packed ones come whole, byte for byte, by a
//! job for each ending, and are unpacked by the mapper: it needs no library of the system for that, and can say which
//! file is cut off. Of each label one format is taken: the user's, or that of the first lines of its first file.

mod client;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use instruments::workload::hadoop::programs;
use instruments::workload::hadoop::streaming::{STREAMING, Streaming};
use logs::parts::{Made, Parts};
use logs::read::Source;

use super::order::{Order, OrderFile};
use super::streaming::path_of;
use crate::access_logs::inputs::{Formats, Opened, labelled};
use crate::error::CliError;
use crate::lookup::paths::Scratch;
use crate::out;
use client::{Client, Listed};

/// Endings of files that come as they lie there.
const PACKED: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];
/// Lines of a job that failed which are looked at for its reason.
const MOST_LINES: usize = 10_000;

/// The parts that the jobs made of the files that the arguments name.
pub fn read(given: &[String], formats: &Formats, made: &Made) -> Result<Parts, CliError> {
    let scratch = Scratch::new("hadoop")?;
    let client = Client::find(scratch.path())?;
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
                (labels, format_of(&client, formats, first)?)
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
    let file = scratch.path().join("order.json");
    sys::files::atomic_write(&file, &serde_json::to_vec(&order)?, 0o644)
        .map_err(|error| CliError::data(format!("{}: {error}", file.display())))?;
    let mut parts = Parts::default();
    for ending in [None].into_iter().chain(PACKED.map(Some)) {
        let of: Vec<&str> =
            inputs.iter().filter(|(_, own)| *own == ending).map(|(path, _)| path.as_str()).collect();
        if !of.is_empty() {
            Job { client: &client, inputs: of, ending, order: &file }.run(&mut parts)?;
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
    let child = client.cat(&file.path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| client.not_started(&error))?;
    let stdout = child.stdout.take();
    let opened = stdout.map(|stdout| Opened::new(&name, Source::Stream(Box::new(stdout)), formats));
    // The rest is not wanted.
    let ended = child.kill().and_then(|()| child.wait_with_output());
    let ended = ended.map_err(|error| CliError::data(format!("{name}: {error}")))?;
    let opened = opened.unwrap_or_else(|| Err(format!("{name}: nothing came")));
    let why = |error: String| match client::last_words(&ended.stderr) {
        Some(said) => CliError::data(format!("{error}; `hadoop fs -cat` says: {said}")),
        None => CliError::data(error),
    };
    let Opened { format, how, .. } = opened.map_err(why)?;
    out::say(&format!("{name}: {} ({how})", format.text));
    Ok((format.text.clone(), how))
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
    /// Runs it, and takes in what it wrote, which is removed.
    fn run(&self, into: &mut Parts) -> Result<(), CliError> {
        let output = format!("boxscore-{}-{}", std::process::id(), sys::clock::wall_ns());
        let done = self.work(&output).and_then(|()| self.collect(&output, into));
        let removed = self.client.remove(&output, self.folder());
        done.and(removed)
    }

    /// In which a job's client runs: its output is there, where the file system is that of this machine.
    fn folder(&self) -> &Path {
        self.order.parent().unwrap_or(self.order)
    }

    fn work(&self, output: &str) -> Result<(), CliError> {
        let program = std::env::current_exe().map_err(|error| CliError::data(error.to_string()))?;
        let job = Streaming {
            name: "boxscore logs",
            // A file that is read once more costs more than a slow node.
            settings: vec!["mapreduce.map.speculative=false".to_owned()],
            files: vec![(&program, "boxscore"), (self.order, "order.json")],
            inputs: self.inputs.clone(),
            output,
            mapper: "./boxscore logs map --order order.json",
            reducer: "./boxscore logs reduce --tells",
            whole: self.ending,
        };
        let mut command = self.client.command(STREAMING);
        command.args(job.arguments());
        // Where tasks run here, links to the files above are made in its folder.
        command.current_dir(self.folder());
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        watched(child.map_err(|error| self.client.not_started(&error))?)
    }

    fn collect(&self, output: &str, into: &mut Parts) -> Result<(), CliError> {
        let mut command = self.client.cat(&format!("{output}/part-*"));
        let child = command.current_dir(self.folder()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.client.not_started(&error))?;
        let wrong = |what: String| CliError::data(format!("{output}: {what}"));
        let stdout = child.stdout.take().ok_or_else(|| wrong("nothing came".to_owned()))?;
        let read = into.read(Box::new(stdout)).map_err(|error| match error.is_told {
            true => CliError::data(format!("--hadoop: {}", error.what)),
            false => wrong(error.to_string()),
        });
        let status = child.wait().map_err(|error| wrong(error.to_string()))?;
        read?;
        match status.success() {
            true => Ok(()),
            false => Err(wrong(format!("hadoop fs -cat: {status}"))),
        }
    }
}

/// Waits for a job, says how far it is and what it counted; an error has its reason.
fn watched(mut child: Child) -> Result<(), CliError> {
    let said = child.stderr.take().map(told);
    let status = child.wait().map_err(|error| CliError::data(format!("--hadoop: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let lines = said.unwrap_or_default();
    let why = programs::cause(&lines.join("\n")).or_else(|| lines.last().cloned());
    let why = why.unwrap_or_else(|| "it failed, and did not say why".to_owned());
    Err(CliError::data(format!("--hadoop: the job: {why}")))
}

/// Passes on what is of interest of a job's log, and keeps its last lines.
fn told(from: impl Read) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        let text = line.trim();
        let progress = text
            .split_once(": ")
            .map(|(_, text)| text.trim())
            .filter(|text| text.starts_with("map ") && text.ends_with('%'));
        if let Some(text) = progress.or_else(|| text.split("Submitted application ").nth(1).map(|_| text)) {
            out::say(text);
        }
        kept.push(text.to_owned());
        if kept.len() > MOST_LINES {
            kept.drain(..MOST_LINES / 2);
        }
    }
    let counters = kept.iter().skip_while(|line| *line != "boxscore").skip(1);
    counters.take_while(|line| line.contains('=')).for_each(|line| out::say(line));
    kept
}
