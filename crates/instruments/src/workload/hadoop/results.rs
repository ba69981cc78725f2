//! The place of a job's result: a folder of this machine where its tasks run here, else one of HDFS, from which it
//! is fetched.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::cluster::{Cluster, JobError};
use super::job::{self, Order};
use super::programs::SHELL;

/// Time limit of fetching a file.
const FETCHED: Duration = Duration::from_secs(120);

/// A folder for the result of a job, which is not there yet.
pub(super) struct Results {
    local: PathBuf,
    /// Where tasks run on other machines, and write to HDFS.
    far: Option<String>,
}

impl Results {
    /// A folder of this name, of a job in containers or within its client.
    pub(super) fn new(cluster: &Cluster, name: &str, in_client: bool) -> Result<Results, JobError> {
        let local = cluster.site.folder.join(name);
        match fs::remove_dir_all(&local) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(JobError::Failed(format!("cannot remove {}: {error}", local.display())));
            }
        }
        let is_far = !in_client && (cluster.theirs.is_some() || cluster.lab().is_some());
        let far = is_far.then(|| format!("{}/{name}", cluster.home()));
        if let Some(far) = &far {
            cluster.remove(far)?;
        }
        Ok(Results { local, far })
    }

    /// As the job is told it.
    pub(super) fn uri(&self) -> String {
        self.far.clone().unwrap_or_else(|| format!("file://{}", self.local.display()))
    }

    /// A file of it, on this machine. Fails where it cannot be fetched.
    pub(super) fn file(&self, cluster: &Cluster, part: &str) -> Result<PathBuf, JobError> {
        let path = self.local.join(part);
        if let Some(far) = &self.far {
            fs::create_dir_all(&self.local).map_err(|error| {
                JobError::Failed(format!("cannot make {}: {error}", self.local.display()))
            })?;
            let (from, to) = (format!("{far}/{part}"), format!("file://{}", path.display()));
            fetch(cluster, &["-get", "-f", &from, &to])?;
        }
        Ok(path)
    }

    /// The text of a file of it.
    pub(super) fn text(&self, cluster: &Cluster, part: &str) -> Result<String, JobError> {
        let path = self.file(cluster, part)?;
        fs::read_to_string(&path)
            .map_err(|error| JobError::Failed(format!("no result in {}: {error}", path.display())))
    }
}

/// Runs a command of Hadoop's for files.
fn fetch(cluster: &Cluster, words: &[&str]) -> Result<(), JobError> {
    if let Some(theirs) = &cluster.theirs {
        return Ok(theirs.shell(&cluster.site, words).map(drop)?);
    }
    let arguments = words.iter().map(|word| (*word).to_owned()).collect();
    let order = Order { class: SHELL, arguments, timeout: FETCHED, ..Order::default() };
    job::run(cluster, &order).map(drop)
}
