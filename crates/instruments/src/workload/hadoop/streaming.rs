//! A job of Hadoop Streaming: a mapper and a reducer of one's own that read lines on standard input and write lines.
//!
//! Pure: from what is wanted to the arguments of the client. The files are sent along, and lie in the folder of each
//! task under their names. What fails in a mapper or reducer is told by its task.

use std::path::Path;

/// The client's program.
pub const STREAMING: &str = "org.apache.hadoop.streaming.HadoopStreaming";

/// A mapper and a reducer, the lines that they are about, and where the result goes.
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
    /// The ending of inputs that come whole, byte for byte; others are split into lines.
    pub whole: Option<&'a str>,
}

impl Streaming<'_> {
    /// The arguments of the client, those for every program of Hadoop's first. Each line comes with its offset in its
    /// file and a tab before it, and ends at a line feed alone.
    pub fn arguments(&self) -> Vec<String> {
        let mut settings = vec![
            format!("mapreduce.job.name={}", self.name),
            "mapreduce.job.reduces=1".to_owned(),
            "stream.map.input.ignoreKey=false".to_owned(),
            "textinputformat.record.delimiter=\n".to_owned(),
        ];
        if let Some(ending) = self.whole {
            // A codec that changes nothing stands for the ending's own; what has a codec is not split.
            settings.push("io.compression.codecs=org.apache.hadoop.io.compress.PassthroughCodec".to_owned());
            settings.push(format!("io.compress.passthrough.extension={ending}"));
        }
        settings.extend_from_slice(&self.settings);
        let mut all: Vec<String> = Vec::new();
        let mut pair = |flag: &str, value: &str| all.extend([flag.to_owned(), value.to_owned()]);
        settings.iter().for_each(|setting| pair("-D", setting));
        let files = self.files.iter().map(|(file, name)| format!("file://{}#{name}", file.display()));
        pair("-files", &files.collect::<Vec<_>>().join(","));
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
            whole: Some(".gz"),
        };
        let all = job.arguments().join(" ");
        let places = [
            "-D a.b=1",
            "-files file:///opt/x#x,file:///tmp/o.json#order.json",
            "-input /logs/b.gz",
            "-mapper",
        ]
        .map(|part| all.find(part).unwrap_or_else(|| panic!("no {part} in {all}")));
        assert!(places.is_sorted(), "{all}");
        assert!(all.contains("passthrough.extension=.gz"), "{all}");
        assert!(!Streaming { whole: None, ..job }.arguments().join(" ").contains("Passthrough"));
    }
}
