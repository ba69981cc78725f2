//! A job of Hadoop Streaming: a mapper and a reducer of one's own that read on standard input and write lines.
//!
//! From what is wanted to the arguments of the client, and the input format that we send along: Hadoop's own hands
//! lines over one by one, which takes most of the time of a job. The files are sent along too, and lie in the folder of
//! each task under their names. What fails in a mapper or reducer is told by its task.

use std::path::{Path, PathBuf};

/// The client's program.
pub const STREAMING: &str = "org.apache.hadoop.streaming.HadoopStreaming";

/// Our input format, which is sent along.
const BYTE_BLOCKS: &str = "boxscore.ByteBlocks";
const JAR: &[u8] = include_bytes!("byte_blocks/byte_blocks.jar");
/// Bytes of a split by our input format, unless a user asks for others: a task's start takes as long as reading some
/// hundred megabytes.
pub const SPLIT: u64 = 512 << 20;

/// How a mapper is given the files.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Lines, each behind its offset and a tab. A line ends at a line feed alone.
    Lines,
    /// Blocks of bytes, each behind its offset (`byte_blocks`).
    Blocks {
        /// The file that [`write_input_format`] wrote.
        jar: &'a Path,
        /// The endings of packed files, which come whole.
        packed: &'a [&'a str],
        /// Bytes of a split of a plain file; its last one may be a tenth larger.
        split: u64,
        /// Bytes of all inputs.
        bytes: u64,
    },
}

/// Writes our input format into a folder; the file.
pub fn write_input_format(folder: &Path) -> Result<PathBuf, sys::Error> {
    let file = folder.join("byte_blocks.jar");
    sys::files::atomic_write(&file, JAR, 0o644)?;
    Ok(file)
}

/// A mapper and a reducer, what they read, and where the result goes.
#[derive(Clone, Debug)]
pub struct Streaming<'a> {
    /// As lists of jobs show it.
    pub name: &'a str,
    /// Settings of the job, `key=value`.
    pub settings: Vec<String>,
    /// Files of this machine that each task needs, with their names there.
    pub files: Vec<(&'a Path, &'a str)>,
    pub inputs: Vec<&'a str>,
    /// A folder that is not there yet.
    pub output: &'a str,
    pub mapper: &'a str,
    /// One, so that the result is one file.
    pub reducer: &'a str,
    pub input: Input<'a>,
}

impl Streaming<'_> {
    /// The arguments of the client, those for every program of Hadoop's first.
    pub fn arguments(&self) -> Vec<String> {
        let mut settings = vec![
            format!("mapreduce.job.name={}", self.name),
            "mapreduce.job.reduces=1".to_owned(),
            // All of them stand in the environment of a task, where a long list of inputs has no room.
            "stream.jobconf.truncate.limit=20000".to_owned(),
        ];
        match &self.input {
            Input::Lines => settings.extend([
                "stream.map.input.ignoreKey=false".to_owned(),
                "textinputformat.record.delimiter=\n".to_owned(),
            ]),
            // A block of the file system's is no limit: a split has as many as it takes, or a part of one.
            Input::Blocks { packed, split, bytes, .. } => settings.extend([
                "stream.map.input=rawbytes".to_owned(),
                format!("mapreduce.input.fileinputformat.split.minsize={split}"),
                format!("mapreduce.job.maps={}", bytes.div_ceil(*split)),
                format!("boxscore.whole={}", packed.join(",")),
            ]),
        }
        settings.extend_from_slice(&self.settings);
        let mut all: Vec<String> = Vec::new();
        let mut pair = |flag: &str, value: &str| all.extend([flag.to_owned(), value.to_owned()]);
        settings.iter().for_each(|setting| pair("-D", setting));
        let files = self.files.iter().map(|(file, name)| format!("file://{}#{name}", file.display()));
        pair("-files", &files.collect::<Vec<_>>().join(","));
        if let Input::Blocks { jar, .. } = self.input {
            pair("-libjars", &format!("file://{}", jar.display()));
            pair("-inputformat", BYTE_BLOCKS);
        }
        self.inputs.iter().for_each(|input| pair("-input", input));
        for (flag, value) in [("-output", self.output), ("-mapper", self.mapper), ("-reducer", self.reducer)]
        {
            pair(flag, value);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_program_takes_stands_before_the_jobs_own() {
        let job = Streaming {
            name: "a job",
            settings: vec!["a.b=1".to_owned()],
            files: vec![(Path::new("/opt/x"), "x"), (Path::new("/tmp/o.json"), "order.json")],
            inputs: vec!["/logs/a.gz", "/logs/b.gz"],
            output: "out",
            mapper: "./x map",
            reducer: "./x reduce",
            input: Input::Blocks {
                jar: Path::new("/tmp/b.jar"),
                packed: &[".gz", ".zst"],
                split: 1 << 20,
                bytes: (5 << 20) + 1,
            },
        };
        let all = job.arguments().join(" ");
        let places = [
            "minsize=1048576",
            "-D mapreduce.job.maps=6",
            "-D boxscore.whole=.gz,.zst",
            "-D a.b=1",
            "-files file:///opt/x#x,file:///tmp/o.json#order.json",
            "-libjars file:///tmp/b.jar",
            "-inputformat boxscore.ByteBlocks",
            "-input /logs/b.gz",
            "-mapper",
        ]
        .map(|part| all.find(part).unwrap_or_else(|| panic!("no {part} in {all}")));
        assert!(places.is_sorted(), "{all}");
        let lines = Streaming { input: Input::Lines, ..job }.arguments().join(" ");
        assert!(!lines.contains("boxscore.") && lines.contains("delimiter=\n"), "{lines}");
    }

    #[test]
    fn the_input_format_is_made_of_its_source() {
        let source = include_bytes!("byte_blocks/boxscore/ByteBlocks.java");
        let holds = |bytes: &[u8]| JAR.windows(bytes.len()).any(|part| part == bytes);
        assert!(holds(source), "`cargo xtask jar LIB` makes it anew");
        assert!(holds(b"boxscore/ByteBlocks.class"));
    }
}
