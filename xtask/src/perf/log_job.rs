//! `logs --hadoop` as users call it, beside jobs of Hadoop Streaming with a mapper of mawk's over the same log: one
//! that sums by hour and status, and one that tells what ours shows (`mapper`).
//!
//! Wall time from the call to its end, all JVMs included (ours starts four, a job by hand one), on one CPU. The jobs
//! run in their client, one task after the other, on a file of this machine: no daemon is needed, and HDFS is not in
//! it. The log is four times that of `mapper` (20 million lines, 4 GB), the split of a mapper 2 GiB.

use std::fs;

use anyhow::Result;

use super::logs::{Peer, compare, made, words};
use super::mapper::{BY_HOUR, TABLES};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

const LINES: u64 = 20_000_000;
/// `$1` the program, `$2` a Hadoop, `$3` a configuration, `$4` the log.
const OURS: &str = "HADOOP_HOME=$2 HADOOP_CONF_DIR=$3 exec \"$1\" logs --hadoop --split 2GiB --no-store \
                    --format combined+D \"a=$4\"";
/// `$1` mawk's program in a file, `$2` a Hadoop, `$3` a configuration, `$4` the log.
const STREAMING: &str = "out=$(mktemp -d) && trap 'rm -r \"$out\"' EXIT && cd \"$out\" && \
     java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp \"$3:$2/lib/*\" \
     org.apache.hadoop.streaming.HadoopStreaming -D mapreduce.job.reduces=1 \
     -D mapreduce.input.fileinputformat.split.minsize=2147483648 -input \"$4\" -output \"$out/result\" \
     -mapper \"mawk -f $1\" -reducer cat >&2";

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let lines = options.log_lines.unwrap_or(LINES);
    let product = options.product();
    let [hadoop, empty] =
        ["hadoop", "hadoop-empty"].map(|name| shell::target().join(name).display().to_string());
    let programs = ["java", "mawk"].into_iter().try_for_each(shell::must_have);
    let ready = programs.and_then(|()| shell::output(&product, &["hadoop", "fetch", "--dir", &hadoop]));
    if let Err(error) = ready {
        outcome.skip("logs --hadoop beside mawk", &format!("{error:#}"));
        return Ok(());
    }
    // A configuration in which nothing stands.
    fs::create_dir_all(&empty)?;
    fs::write(format!("{empty}/core-site.xml"), "<configuration/>")?;
    let (log, _) = made(peers, lines)?;
    // The page cache is filled.
    shell::output("wc", &["-l", &log])?;
    let peer = |name, script: &str, first: &str| Peer {
        name,
        words: [words(&["sh", "-c", script, "sh"]), words(&[first, &hadoop, &empty, &log])].concat(),
        cpus: options.cpu.to_string(),
        scale: 1.0,
    };
    let ours = peer("logs --hadoop", OURS, &product);
    let what = format!("logs --hadoop of {lines} lines, jobs in their client");
    for (name, file, program) in
        [("mawk, by hour and status", "hour.awk", BY_HOUR), ("mawk, the same tables", "tables.awk", TABLES)]
    {
        let file = format!("{empty}/{file}");
        fs::write(&file, program)?;
        compare(&what, &ours, &peer(name, STREAMING, &file), options, outcome)?;
    }
    Ok(())
}
