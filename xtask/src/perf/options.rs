//! Options of `cargo xtask perf`.

use anyhow::{Context, Result, bail};

use crate::shell;

pub const HELP: &str = "\
  perf [--pairs N] [--cpu N] [--size MiB] [--dry]
       [--only crc32c,latency,bandwidth,stream,web,kv,logs,mapper,log-job,net,runtime,commands,
              decide,store,lab,bmc,nodes,limits]
       [--bw-mem PATH] [--lat-mem-rd PATH] [--stream PATH]... [--boxscore PATH]
       [--log-lines N] [--logs-peers mawk,duckdb,goaccess] [--servers nginx,httpd]
       [--hyperfine PATH]
                               our kernels beside others' (by path), our size and start-up; one JSON line
                               a commit in docs/perf/";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub pairs: usize,
    pub cpu: u32,
    /// MiB of each array of the bandwidth comparisons.
    pub size: Option<u64>,
    pub only: Vec<String>,
    /// Prints, keeps nothing.
    pub dry: bool,
    pub bw_mem: Option<String>,
    pub lat_mem_rd: Option<String>,
    pub stream: Vec<String>,
    pub boxscore: Option<String>,
    pub hyperfine: Option<String>,
    /// Lines of the access log that is read.
    pub log_lines: Option<u64>,
    /// Slow readers of logs to compare with.
    pub logs_peers: Vec<String>,
    /// Web servers to load; all when empty.
    pub servers: Vec<String>,
}

/// Fewer pairs give no useful interval.
const FEWEST: usize = 6;

impl Options {
    pub fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            pairs: 15,
            cpu: 0,
            size: None,
            only: Vec::new(),
            dry: false,
            bw_mem: None,
            lat_mem_rd: None,
            stream: Vec::new(),
            boxscore: None,
            hyperfine: None,
            log_lines: None,
            logs_peers: Vec::new(),
            servers: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            if ["help", "-h", "--help"].contains(&word) {
                bail!("the options are\n{HELP}");
            }
            if word == "--dry" {
                options.dry = true;
                continue;
            }
            let value = *words.next().with_context(|| format!("{word}: unknown, or its value is missing"))?;
            let number = || value.parse::<u64>().with_context(|| format!("{word} {value}: not a number"));
            match word {
                "--pairs" => options.pairs = usize::try_from(number()?)?,
                "--cpu" => options.cpu = u32::try_from(number()?)?,
                "--size" => options.size = Some(number()?),
                "--only" => options.only = value.split(',').map(str::to_owned).collect(),
                "--bw-mem" => options.bw_mem = Some(value.into()),
                "--lat-mem-rd" => options.lat_mem_rd = Some(value.into()),
                "--stream" => options.stream.push(value.into()),
                "--boxscore" => options.boxscore = Some(value.into()),
                "--hyperfine" => options.hyperfine = Some(value.into()),
                "--log-lines" => options.log_lines = Some(number()?),
                "--logs-peers" => options.logs_peers = value.split(',').map(str::to_owned).collect(),
                "--servers" => options.servers = value.split(',').map(str::to_owned).collect(),
                _ => bail!("unknown option {word}\n{HELP}"),
            }
        }
        if options.pairs < FEWEST {
            bail!("--pairs {}: at least {FEWEST}", options.pairs);
        }
        Ok(options)
    }

    /// The `boxscore` that is measured.
    pub fn product(&self) -> String {
        let built = || shell::root().join("target/release/boxscore").display().to_string();
        self.boxscore.clone().unwrap_or_else(built)
    }

    /// For a server beside a client on `cpu`.
    pub fn other_cpu(&self) -> u32 {
        u32::from(self.cpu == 0)
    }

    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let words = ["--pairs", "12", "--stream", "a", "--stream", "b", "--dry", "--only", "crc32c,latency"];
        let options = Options::parse(&words).unwrap();
        assert_eq!((options.pairs, options.dry, options.stream.len()), (12, true, 2));
        assert!(options.wants("latency") && !options.wants("limits"));
        for bad in [&["--pairs", "3"][..], &["--pairs"], &["--what", "1"], &["--cpu", "x"]] {
            assert!(Options::parse(bad).is_err(), "{bad:?}");
        }
    }
}
