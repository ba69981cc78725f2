//! The Java runtime that runs a Hadoop: where it is and how old it is.

use std::path::PathBuf;

/// A Java that was started and told its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    /// For JAVA_HOME; [`Java::program`] is in it.
    pub home: PathBuf,
    /// 8, 11, 17: the number that people call a Java by.
    pub version: u32,
}

impl Java {
    pub fn program(&self) -> PathBuf {
        self.home.join("bin/java")
    }
}
