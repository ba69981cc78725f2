//! How a managed server is set up: what an arm of a study may change.
//!
//! Nothing here is measured. What a kind of server cannot do it refuses, and never leaves out silently.

use std::path::PathBuf;

/// How httpd divides work among processes and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mpm {
    /// A process for each connection.
    Prefork,
    /// A thread for each connection.
    Worker,
    /// A thread for each request; idle connections wait together.
    #[default]
    Event,
}

impl Mpm {
    pub const NAMES: &[&str] = &["prefork", "worker", "event"];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mpm::Prefork => "prefork",
            Mpm::Worker => "worker",
            Mpm::Event => "event",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Mpm> {
        [Mpm::Prefork, Mpm::Worker, Mpm::Event].into_iter().find(|mpm| mpm.name() == name)
    }
}

/// What a server is asked to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The program, instead of the one that is installed.
    pub binary: Option<PathBuf>,
    /// httpd only; event when not given.
    pub mpm: Option<Mpm>,
    /// nginx: worker processes; builtin: threads; both one for each CPU when not given. httpd: how many requests are
    /// served at once, `connections` when not given.
    pub workers: Option<u32>,
    /// How many connections it must be able to hold at once.
    pub connections: u32,
    pub sendfile: bool,
    /// Into a file in its private folder, in the server's usual format.
    pub access_log: bool,
    /// nginx only: keep files open between requests.
    pub open_file_cache: bool,
    /// nginx only: bytes per second for each response.
    pub limit_rate: Option<u64>,
    /// Added to its niceness; below 0 needs root.
    pub nice: i32,
    /// The CPUs that it may use; empty is those of the thread that starts it.
    pub cpus: Vec<usize>,
    /// The ports to try, in order; empty is any free one.
    pub ports: Vec<u16>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            binary: None,
            mpm: None,
            workers: None,
            connections: 1024,
            sendfile: true,
            access_log: false,
            open_file_cache: false,
            limit_rate: None,
            nice: 0,
            cpus: Vec::new(),
            ports: Vec::new(),
        }
    }
}

impl Options {
    /// What no server could do, in words; the kinds refuse more.
    pub fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name}={value}: from {least} to {most} is possible")),
        };
        within("workers", u64::from(self.workers.unwrap_or(1)), 1, 20_000)?;
        within("connections", u64::from(self.connections), 1, 1_000_000)?;
        within("limit-rate", self.limit_rate.unwrap_or(1), 1, 1 << 40)?;
        if !(-20..=19).contains(&self.nice) {
            return Err(format!("nice={}: from -20 to 19 is possible", self.nice));
        }
        if self.ports.contains(&0) {
            return Err("port 0 is no port; give none to have a free one chosen".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpms_have_names() {
        for name in Mpm::NAMES {
            assert_eq!(Mpm::parse(name).map(Mpm::name), Some(*name));
        }
        assert_eq!(Mpm::parse("itk"), None);
    }

    #[test]
    fn impossible_options_are_named() {
        let good = Options::default();
        assert_eq!(good.check(), Ok(()));
        for (bad, says) in [
            (Options { workers: Some(0), ..good.clone() }, "workers=0"),
            (Options { connections: 0, ..good.clone() }, "connections=0"),
            (Options { limit_rate: Some(0), ..good.clone() }, "limit-rate=0"),
            (Options { nice: 20, ..good.clone() }, "nice=20"),
            (Options { nice: -21, ..good.clone() }, "nice=-21"),
            (Options { ports: vec![80, 0], ..good.clone() }, "port 0"),
        ] {
            let why = bad.check().unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
