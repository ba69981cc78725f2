//! The place of a job's result: a folder of this machine where its tasks run here, else one of HDFS, from which it
//! is fetched.

use std::fs;
use std::path::PathBuf;

use super::cluster::{Cluster, JobError};

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
        let theirs = cluster.theirs.as_ref().filter(|_| !in_client);
        let far = theirs.map(|theirs| format!("{}/{name}", theirs.home));
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
        if let Some((far, theirs)) = self.far.as_ref().zip(cluster.theirs.as_ref()) {
            fs::create_dir_all(&self.local).map_err(|error| {
                JobError::Failed(format!("cannot make {}: {error}", self.local.display()))
            })?;
            let to = format!("file://{}", path.display());
            theirs.shell(&cluster.site, &["-get", "-f", &format!("{far}/{part}"), &to])?;
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
