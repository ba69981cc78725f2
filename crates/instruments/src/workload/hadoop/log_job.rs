//! A log as a job: this program as mapper and reducer of a streaming job over a log in HDFS, and alone beside it.
//!
//! The log is made before the first take, the same bytes each time, and lies in HDFS as one file that is split by its
//! blocks. After each job one process with one thread reads the same log from a file of this machine (out of the page
//! cache, as HDFS does), and the two results must be the same to the byte. Its time contains its start, and neither
//! making the log nor that reading is in a figure of the job.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::metrics::hadoop::ALONE;
use model::{BytesPerSec, Record, RecordExt};
use sys::process::Start;

use super::cluster::{Cluster, JobError, Made};
use super::job::{self, Order};
use super::log_lines::{self, FORMAT};
use super::probe::{HadoopJobs, Ran};
use super::programs::SHELL;
use super::results::Results;
use super::streaming::{Input, STREAMING, Streaming};
use crate::progress;
use crate::workload::{guard, shell};

/// The name of the log, here and in HDFS, by which its parts know it.
const LOG: &str = "access.log";
/// This program, as it is sent along.
const PROGRAM: &str = "boxscore";
const MAP: &str = "logs map --format";
const REDUCE: &str = "logs reduce";

impl HadoopJobs {
    /// The folder of HDFS with the log, which is made where it is not there yet.
    pub(super) fn log(&self, cluster: &mut Cluster) -> Result<Made, JobError> {
        let folder = format!("{}/log-{}-x{}", cluster.home(), self.ask.data, self.ask.replication);
        if let Some(made) = cluster.made.iter().find(|made| made.folder == folder) {
            return Ok(made.clone());
        }
        progress::current().report("writing the log that is to be read");
        let here = self.log_here(cluster);
        let made = make(&here, self.ask.data);
        made.map_err(|error| format!("cannot make {}: {error}", here.display()))?;
        let program = cluster.site.folder.join(PROGRAM);
        if !program.exists() {
            let own = guard::program().ok_or_else(|| "this program does not know itself".to_owned())?;
            // A part of it would be sent along by later jobs.
            let part = program.with_extension("part");
            let copied = fs::copy(own, &part).and_then(|_| fs::rename(&part, &program));
            copied.map_err(|error| format!("cannot make {}: {error}", program.display()))?;
        }
        for words in [
            vec!["-mkdir".to_owned(), "-p".to_owned(), folder.clone()],
            vec!["-put".to_owned(), "-f".to_owned(), here.display().to_string(), format!("{folder}/{LOG}")],
        ] {
            let settings = self.settings(cluster);
            let timeout = self.ask.timeout;
            job::run(cluster, &Order { class: SHELL, program: None, settings, arguments: words, timeout })?;
        }
        let made = Made { folder, checksum: String::new() };
        cluster.made.push(made.clone());
        Ok(made)
    }

    /// The log on this machine.
    fn log_here(&self, cluster: &Cluster) -> PathBuf {
        cluster.site.folder.join(format!("log-{}", self.ask.data)).join(LOG)
    }

    /// One job, with its figures.
    pub(super) fn logs(&self, cluster: &mut Cluster, record: &mut dyn Record) -> Result<(), JobError> {
        let log = self.log(cluster)?;
        let here = self.log_here(cluster);
        let bytes = fs::metadata(&here).map_err(|error| format!("{}: {error}", here.display()))?.len();
        let out = Results::new(cluster, "read", false)?;
        let (input, output) = (format!("{}/{LOG}", log.folder), out.uri());
        // A file that is read in pieces has one name.
        let mapper = format!("./{PROGRAM} {MAP} {FORMAT} --name {LOG} --keyed");
        let program = cluster.site.folder.join(PROGRAM);
        let arguments = Streaming {
            name: "boxscore logs",
            settings: Vec::new(),
            files: vec![(&program, PROGRAM)],
            inputs: vec![&input],
            output: &output,
            mapper: &mapper,
            reducer: &format!("./{PROGRAM} {REDUCE}"),
            input: Input::Lines,
        };
        let order = Order {
            class: STREAMING,
            program: None,
            settings: self.settings(cluster),
            arguments: arguments.arguments(),
            timeout: self.ask.timeout,
        };
        let (done, job) = job::run_known(cluster, &order)?;
        job::rest(cluster)?;
        let seconds = self.alone(&program, &here)?;
        same(&out.file(cluster, "part-00000")?, &here.with_file_name("reduced"))?;
        record.push(&ALONE, BytesPerSec(bytes as f64 / seconds));
        self.tell_job(record, cluster, Ran { bytes: Some(bytes), ..self.ran(&done, &job) });
        Ok(())
    }

    /// Reads the log with one process, beside it; how many seconds that takes.
    fn alone(&self, program: &Path, log: &Path) -> Result<f64, JobError> {
        let run = |words: &str, input: &str, output: &str| -> Result<f64, JobError> {
            let mut command = Command::new(program);
            let folder = log.parent().unwrap_or(log);
            command.args(words.split(' ')).arg(input).current_dir(folder).stdin(Stdio::null());
            let failed = |what: &dyn std::fmt::Display| JobError::Failed(format!("`{words}` here: {what}"));
            let to = writable(&folder.join(output)).map_err(|error| failed(&error))?;
            let cpus = sys::affinity::allowed().map_err(|error| failed(&error))?;
            let limit = self.ask.timeout;
            let ended = shell::run_as_given(command, Some(to.into()), Start::default(), &cpus, limit)?;
            match ended.failure(limit) {
                None => Ok(ended.wall_ns as f64 / 1e9),
                Some(why) => Err(failed(&why)),
            }
        };
        let seconds = run(&format!("{MAP} {FORMAT}"), LOG, "mapped")?;
        Ok(seconds + run(REDUCE, "mapped", "reduced")?)
    }
}

/// Makes a log of so many bytes.
fn make(path: &Path, bytes: u64) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut to = BufWriter::with_capacity(1 << 20, writable(path)?);
    log_lines::write(bytes, &mut to)?;
    to.flush()
}

/// A file that is written from its start.
fn writable(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create(true).truncate(true).open(path)
}

/// Fails unless the result of a job is that of one process, and is one at all.
fn same(job: &Path, alone: &Path) -> Result<(), JobError> {
    let read = |path: &Path| {
        fs::read(path).map_err(|error| JobError::Failed(format!("no result in {}: {error}", path.display())))
    };
    let (job, alone) = (read(job)?, read(alone)?);
    match (alone.is_empty(), job == alone) {
        (false, true) => Ok(()),
        (true, _) => Err(JobError::Failed("one process read the log and found nothing in it".to_owned())),
        (false, false) => Err(JobError::Failed(format!(
            "the job's result ({} bytes) is not what one process makes of the same log ({} bytes)",
            job.len(),
            alone.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_another_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (one, two, none) = (file("a", "key\t1\n"), file("b", "key\t2\n"), file("c", ""));
        assert!(same(&one, &one).is_ok());
        assert!(same(&two, &one).unwrap_err().why().contains("not what one process makes"));
        assert!(same(&none, &none).unwrap_err().why().contains("found nothing"));
        assert!(same(&dir.path().join("d"), &one).unwrap_err().why().contains("no result in"));
    }
}
