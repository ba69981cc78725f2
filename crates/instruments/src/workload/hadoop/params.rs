//! The parameters of jobs on a Hadoop cluster, and what they ask for.

use model::flags::Flag;
pub use model::plan::MEMBERS;
use model::{By, Label, Matched, Means, ParamKind, ParamSpec, Part, Setup, Shown, Tell, Unfit};

use super::fault::{self, Fault, Kind};
use super::network;
use super::settings::{self, Compiler};
use super::sizing::{Cut, Sizes, sort_buffer, task_heap};
use super::theirs::address;
use crate::bench::kernel::{int_param, word_param};

pub const AUTO: &str = "auto";
const MIB: u64 = 1 << 20;

/// The number of nodes of a cluster of the user's.
pub const ALL: &str = "all";

const NODES: ParamSpec = ParamSpec::new(
    "nodes",
    ParamKind::Or(ALL, &ParamKind::Int { min: 1, max: network::MOST_NODES as u64 }),
    "1",
    "nodes with data and containers: on this machine 1 on the loopback, more in a network namespace each (root); of --on \
     the first so many, all unless said; all: those of a cluster of yours",
)
.label(Label::Count("node", "nodes"))
.flag(Flag::new(
    "nodes",
    "N",
    "Nodes of the cluster, on this machine or the first of --on; several values (1..3, or 1,2,3) are measured beside each \
     other",
    Means::Each("nodes"),
));
const ON_NODES: ParamSpec = ParamSpec::new(
    MEMBERS,
    ParamKind::Text,
    "",
    "nodes of a lab on which the cluster is, NAME@ADDRESS each with blanks between them, the master first; --on fills it \
     in; empty: this machine",
)
.part(Part::Address { ours: &[""] })
.matched(Matched::Address);
const CLUSTER: ParamSpec = ParamSpec::new(
    "cluster",
    ParamKind::Text,
    "",
    "a cluster of yours, by the address of its HDFS (hdfs://HOST:PORT), with the configuration of HADOOP_CONF_DIR; without \
     it one is started for the run",
)
.label(Label::Form("on {}"))
.part(Part::Address { ours: &[""] })
.matched(Matched::Address)
.implies("nodes", ALL, "those of a cluster that runs")
.flag(
    Flag::new(
        "cluster",
        "HDFS-URI",
        "A cluster of yours that runs, hdfs://HOST:PORT, by the configuration of HADOOP_CONF_DIR: it is measured and left \
         as found",
        Means::Read(address),
    )
    .conflicts(&["nodes", "fault"]),
);
const DATA: ParamSpec = ParamSpec::new(
    "data",
    ParamKind::Bytes { min: 100, max: 1 << 50 },
    "256MiB",
    "data that a job is about, once",
)
.label(Label::Bytes)
.flag(Flag::new("data", "SIZE", "Data that a job is about: 256MiB, 1GB", Means::Param("data")));
const REPLICATION: ParamSpec = ParamSpec::new(
    "replication",
    ParamKind::Int { min: 1, max: 16 },
    "1",
    "copies of each block of data in HDFS, of input and of output",
)
.label(Label::Count("copy", "copies"))
.flag(Flag::new("replication", "R", "Copies of each block of data in HDFS", Means::Param("replication")));
const JVM: ParamSpec = ParamSpec::new(
    "jvm",
    ParamKind::Choice(&[AUTO, "hotspot", ZERO]),
    AUTO,
    "the virtual machine of tasks and of the process that directs them: hotspot is the usual one, zero OpenJDK's without \
     a compiler; auto: the usual one, without its slower compiler for jobs of less than 128 MiB, whose tasks live for \
     seconds; of a cluster of yours as it is configured",
)
.label(Label::Form("jvm {}"));
/// OpenJDK's virtual machine without a compiler.
const ZERO: &str = "zero";
/// Data of a job whose tasks end before the slower compiler pays.
const LITTLE: u64 = 128 * MIB;
const CONTAINER: ParamSpec = ParamSpec::new(
    "container",
    ParamKind::Or(AUTO, &ParamKind::Int { min: 128, max: 1 << 20 }),
    AUTO,
    "MiB of memory of a task's container; auto: by the memory of the machine",
)
.label(Label::Form("containers of {} MiB"));
const HEAP: ParamSpec = ParamSpec::new(
    "heap",
    ParamKind::Or(AUTO, &ParamKind::Int { min: 32, max: 1 << 20 }),
    AUTO,
    "MiB of a task's heap; auto: most of its container",
)
.label(Label::Form("heaps of {} MiB"));
const SPECULATIVE: ParamSpec = ParamSpec::new(
    "speculative",
    ParamKind::Choice(&["on", "off"]),
    "on",
    "whether a slow task gets a second attempt elsewhere, as is usual",
)
.label(Label::Switch("speculative execution"));
const TIMEOUT: ParamSpec = ParamSpec::new(
    "timeout",
    ParamKind::Int { min: 10, max: 86_400 },
    "1800",
    "seconds after which a job is given up and its cluster ended",
)
.matched(Matched::Extent);

/// Of every job.
pub const OF_ALL: &[ParamSpec] = &[NODES, CLUSTER, ON_NODES, JVM, CONTAINER, HEAP, SPECULATIVE, TIMEOUT];
/// Of jobs that read or write data.
pub const OF_DATA: &[ParamSpec] =
    &[NODES, CLUSTER, ON_NODES, DATA, REPLICATION, JVM, CONTAINER, HEAP, SPECULATIVE, TIMEOUT];
/// Of jobs that also move data from maps to reduces.
pub const OF_SORT: &[ParamSpec] =
    &model::joined::<_, { OF_DATA.len() + 2 }>(&[OF_DATA, &[COMPRESSION, FAULT]]);

const COMPRESSION: ParamSpec = ParamSpec::new(
    "compression",
    ParamKind::Choice(&["none", "deflate", "snappy"]),
    "none",
    "how the output of maps is compressed on its way to the reduces",
)
.label(Label::Form("maps compress by {}"));
const FAULT: ParamSpec = ParamSpec::new(
    "fault",
    ParamKind::Or("", &ParamKind::Or(fault::NONE, &ParamKind::AtPercent(fault::KINDS, 40))),
    "",
    "what befalls a node at a percent of the job's progress; none: nothing, on a cluster that is set and asked alike",
)
.label(Label::Form("fault {}"))
.flag(Flag::new(
    "fault",
    "FAULT",
    "A node that fails in the midst of a sort: kill-node@40%, kill-am (the one that directs the job), none, or link-down \
     (not with --on)",
    Means::Param("fault"),
));

/// The parameters in the names of figures: those of the data, and those of every job.
const TELLS_DATA: &[Tell] = &[Tell::always("nodes"), Tell::always("data"), Tell::unusual("replication")];
const TELLS_TASKS: &[Tell] =
    &[Tell::unusual("jvm"), Tell::unusual("container"), Tell::unusual("heap"), Tell::unusual("speculative")];
const TELLS_PLACE: &[Tell] = &[Tell::unusual("cluster")];
const TELLS: &[Tell] = &model::joined::<_, 8>(&[TELLS_DATA, TELLS_TASKS, TELLS_PLACE]);
/// The same of a job with reduces.
const TELLS_SORT: &[Tell] = &model::joined::<_, 10>(&[
    TELLS_DATA,
    &[Tell::unusual("compression"), Tell::unusual("fault")],
    TELLS_TASKS,
    TELLS_PLACE,
]);
/// The same of two jobs, each a step.
const TELLS_STEPS: &[Tell] = &model::joined::<_, 9>(&[TELLS, &[Tell::always("step")]]);
/// The same of a job without data.
const TELLS_PI: &[Tell] = &model::joined::<_, 8>(&[
    &[Tell::always("nodes"), Tell::unusual("maps"), Tell::unusual("samples")],
    TELLS_TASKS,
    TELLS_PLACE,
]);

/// How figures of a job are shown.
pub const fn shown(label: &'static str, main: &'static str, place: u16) -> Shown {
    const SORTED: &[By] = &[By::Param("nodes"), By::Param("data"), By::Param("replication"), By::Metric];
    Shown { label, main, tells: TELLS, sorted: SORTED, place, ..Shown::PLAIN }
}

pub const fn shown_sort(label: &'static str, main: &'static str, place: u16) -> Shown {
    Shown { tells: TELLS_SORT, ..shown(label, main, place) }
}

pub const fn shown_steps(label: &'static str, main: &'static str, place: u16) -> Shown {
    Shown { tells: TELLS_STEPS, ..shown(label, main, place) }
}

pub const fn shown_pi(label: &'static str, main: &'static str, place: u16) -> Shown {
    Shown {
        tells: TELLS_PI,
        sorted: &[By::Param("nodes"), By::Param("samples"), By::Metric],
        ..shown(label, main, place)
    }
}

/// The wishes of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// 0 of a cluster of the user's.
    pub nodes: u32,
    /// The address of a cluster of the user's.
    pub cluster: Option<String>,
    /// Bytes; 0 of a job without data.
    pub data: u64,
    pub replication: u32,
    jvm: String,
    container: Option<u64>,
    heap: Option<u64>,
    speculative: bool,
    compression: String,
    /// `None` of a cluster that no fault is asked of.
    pub fault: Option<Fault>,
    pub timeout: std::time::Duration,
}

impl Ask {
    /// Fails where the parameters cannot be together.
    pub fn from_setup(setup: &Setup) -> Result<Ask, Unfit> {
        let number = |name: &str, without: u64| match setup.params.get(name) {
            None => Ok(without),
            Some(AUTO | ALL) => Ok(0),
            Some(_) => int_param(setup, name),
        };
        let some = |number: u64| Some(number).filter(|number| *number > 0);
        let data = setup.params.get("data").map_or(Some(0), model::params::parse_bytes);
        let ask = Ask {
            nodes: u32::try_from(number("nodes", 1)?).unwrap_or(u32::MAX),
            cluster: setup.params.get("cluster").filter(|uri| !uri.is_empty()).map(str::to_owned),
            data: data.ok_or_else(|| Unfit::new("data= is no size"))?,
            replication: u32::try_from(number("replication", 1)?).unwrap_or(u32::MAX),
            jvm: word_param(setup, "jvm")?.to_owned(),
            container: some(number("container", 0)?),
            heap: some(number("heap", 0)?),
            speculative: word_param(setup, "speculative")? == "on",
            compression: setup.params.get("compression").unwrap_or("none").to_owned(),
            fault: fault::parse(setup.params.get("fault").unwrap_or_default()),
            timeout: std::time::Duration::from_secs(number("timeout", 1800)?),
        };
        ask.is_of_one_cluster()?;
        if ask.nodes > 0 && ask.replication > ask.nodes {
            return Err(Unfit::new(format!(
                "replication={}: there are as many copies as nodes at most, and nodes={}",
                ask.replication, ask.nodes
            )));
        }
        if let Some(fault) = ask.fault {
            fault.fits(ask.nodes, ask.replication)?;
            let is_of_lab = !setup.params.get(MEMBERS).unwrap_or_default().is_empty();
            if is_of_lab && matches!(fault, Fault::At(Kind::LinkDown, _)) {
                return Err(Unfit::new(
                    "fault=link-down: boxscore would be cut off from a node of --on with it: kill-node and kill-am are for \
                     these, and --nodes without --on has nodes on one machine with links of their own",
                ));
            }
        }
        if let Some((heap, container)) =
            ask.heap.zip(ask.container).filter(|(heap, container)| heap >= container)
        {
            return Err(Unfit::new(format!("heap={heap} does not fit container={container}")));
        }
        Ok(ask)
    }

    /// Fails where what only a cluster of ours can have is asked of one of the user's, or the other way round.
    fn is_of_one_cluster(&self) -> Result<(), Unfit> {
        let refused = |what: String| Err(Unfit::new(what));
        match (&self.cluster, self.nodes, self.container, self.fault) {
            (None, 0, ..) => refused(format!("nodes={ALL} is of a cluster of yours (--cluster)")),
            (None, ..) => Ok(()),
            (Some(_), 1.., ..) => refused(format!(
                "nodes={}: a cluster of yours (--cluster) is measured with the nodes that it has",
                self.nodes
            )),
            (Some(_), _, Some(container), _) => refused(format!(
                "container={container}: on a cluster of yours (--cluster) containers are as its configuration has them"
            )),
            (Some(_), _, _, Some(_)) => {
                refused("fault: no node of a cluster of yours (--cluster) is made to fail".to_owned())
            }
            (Some(_), 0, None, None) => Ok(()),
        }
    }

    /// Fails where a container has no room on a node beside the process that directs the job.
    pub fn fits(&self, sizes: &Sizes) -> Result<(), Unfit> {
        let container = self.container.unwrap_or(sizes.container);
        let room = sizes.node_memory.saturating_sub(sizes.container);
        if container > room {
            return Err(Unfit::new(format!(
                "container={container}: a node gives {} MiB to containers, and {} of them to the process that directs the \
                 job",
                sizes.node_memory, sizes.container
            )));
        }
        if let Some(heap) = self.heap.filter(|heap| *heap >= container) {
            return Err(Unfit::new(format!("heap={heap} does not fit a container of {container} MiB")));
        }
        Ok(())
    }

    /// Tasks that can run at once.
    pub fn room(&self, sizes: &Sizes) -> u32 {
        sizes.room(self.container.unwrap_or(sizes.container))
    }

    /// The settings of a job, as arguments of its client. Pure.
    pub fn settings(&self, sizes: &Sizes, cut: Cut, opens: bool) -> Vec<String> {
        let container = self.container.unwrap_or(sizes.container);
        let heap = self.heap.unwrap_or_else(|| task_heap(container));
        let sort = sort_buffer(heap);
        let task = settings::task_options(heap, self.compiler());
        // It lives for a moment, as the daemons' programs do.
        let quick = if self.jvm == ZERO { Compiler::None } else { Compiler::Quick };
        let director = settings::director_options(task_heap(sizes.container), quick, opens);
        let codec = self.codec();
        let mut all = vec![
            format!("-Ddfs.replication={}", self.replication),
            format!("-Ddfs.blocksize={}", cut.block),
            format!("-Dmapreduce.map.memory.mb={container}"),
            format!("-Dmapreduce.reduce.memory.mb={container}"),
            format!("-Dmapreduce.map.java.opts={task}"),
            format!("-Dmapreduce.reduce.java.opts={task}"),
            format!("-Dyarn.app.mapreduce.am.command-opts={director}"),
            format!("-Dmapreduce.task.io.sort.mb={sort}"),
            format!("-Dmapreduce.map.speculative={}", self.speculative),
            format!("-Dmapreduce.reduce.speculative={}", self.speculative),
            format!("-Dmapreduce.map.output.compress={}", codec.is_some()),
        ];
        all.extend(codec.map(|codec| format!("-Dmapreduce.map.output.compress.codec={codec}")));
        all
    }

    /// The compiler of tasks on a cluster of ours.
    fn compiler(&self) -> Compiler {
        match self.jvm.as_str() {
            ZERO => Compiler::None,
            AUTO if (1..LITTLE).contains(&self.data) => Compiler::Quick,
            _ => Compiler::Usual,
        }
    }

    /// The same on a cluster of the user's, whose tasks have so much memory in MiB: only what differs from its
    /// configuration. Pure.
    pub fn settings_of_theirs(&self, container: u64) -> Vec<String> {
        let mut all = vec![format!("-Ddfs.replication={}", self.replication)];
        if self.heap.is_some() || self.jvm == ZERO {
            let heap = self.heap.unwrap_or_else(|| task_heap(container));
            let compiler = if self.jvm == ZERO { Compiler::None } else { Compiler::Usual };
            let task = settings::task_options(heap, compiler);
            all.extend(["map", "reduce"].map(|kind| format!("-Dmapreduce.{kind}.java.opts={task}")));
            all.push(format!("-Dmapreduce.task.io.sort.mb={}", sort_buffer(heap)));
        }
        if !self.speculative {
            all.extend(["map", "reduce"].map(|kind| format!("-Dmapreduce.{kind}.speculative=false")));
        }
        if let Some(codec) = self.codec() {
            all.push("-Dmapreduce.map.output.compress=true".to_owned());
            all.push(format!("-Dmapreduce.map.output.compress.codec={codec}"));
        }
        all
    }

    /// The class that compresses the output of maps.
    fn codec(&self) -> Option<&'static str> {
        match self.compression.as_str() {
            "deflate" => Some("org.apache.hadoop.io.compress.DefaultCodec"),
            "snappy" => Some("org.apache.hadoop.io.compress.SnappyCodec"),
            _ => None,
        }
    }

    /// Rows of TeraGen's: 100 bytes each.
    pub fn rows(&self) -> u64 {
        (self.data / ROW).max(1)
    }

    /// A name for data of this kind in HDFS, below our folder there.
    pub fn called(&self, home: &str, what: &str) -> String {
        format!("{home}/{what}-{}-x{}", self.rows(), self.replication)
    }

    /// MiB of each of so many files that make up the data.
    pub fn mib_of_file(&self, files: u32) -> u64 {
        (self.data / MIB / u64::from(files.max(1))).max(1)
    }
}

pub const ROW: u64 = 100;

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;
    use crate::workload::hadoop::sizing::{Facts, cut, sizes};

    fn ask(pairs: &str) -> Result<Ask, String> {
        let mut params = Params::default();
        for spec in OF_SORT {
            params.set(spec.name, spec.default);
        }
        let given = Params::parse(pairs).unwrap();
        let setup = Setup::bare(params.with(&given), vec![0, 1], std::env::temp_dir());
        Ask::from_setup(&setup).map_err(|unfit| unfit.why)
    }

    #[test]
    fn what_cannot_be_together_is_refused() {
        assert!(ask("nodes=3;replication=3").is_ok());
        assert!(ask("nodes=2;replication=3").unwrap_err().contains("as many copies as nodes"));
        assert!(ask("nodes=2;replication=2;fault=kill-node@40%").is_ok());
        assert!(ask("nodes=2;fault=none").is_ok());
        let of_lab =
            |fault: &str| ask(&format!("nodes=2;replication=2;fault={fault};members=a@10.0.0.1 b@10.0.0.2"));
        assert!(of_lab("none").is_ok() && of_lab("kill-am@40%").is_ok());
        assert!(of_lab("link-down@40%").unwrap_err().contains("cut off from a node of --on"));
        assert!(ask("fault=none").unwrap_err().contains("--nodes 2"));
        assert!(ask("nodes=2;fault=link-down@40%").unwrap_err().contains("--replication 2"));
        assert!(ask("heap=512;container=512").unwrap_err().contains("does not fit"));
        let two = sizes(&Facts { memory: 24 << 30, cores: 2, disk_free: 1 << 40 }, 1).unwrap();
        assert!(ask("container=2048").unwrap().fits(&two).is_ok());
        assert!(ask("container=2049").unwrap().fits(&two).unwrap_err().why.contains("a node gives 3072 MiB"));
        assert!(ask("heap=1024").unwrap().fits(&two).unwrap_err().why.contains("does not fit"));
    }

    #[test]
    fn a_cluster_of_the_users_has_its_own_nodes_and_containers() {
        let theirs = "cluster=hdfs://m:8020;nodes=all";
        assert_eq!(ask(theirs).unwrap().cluster.as_deref(), Some("hdfs://m:8020"));
        assert!(ask("nodes=all").unwrap_err().contains("--cluster"));
        for (more, says) in [
            ("nodes=2", "the nodes that it has"),
            ("nodes=all;container=512", "as its configuration has them"),
            ("nodes=all;fault=none", "made to fail"),
        ] {
            let why = ask(&format!("cluster=hdfs://m:8020;{more}")).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let all = |more: &str| ask(&format!("{theirs}{more}")).unwrap().settings_of_theirs(1024);
        assert_eq!(all(""), ["-Ddfs.replication=1"]);
        let some = all(";heap=300;speculative=off;compression=snappy;replication=3").join("\n");
        for part in [
            "replication=3",
            "map.java.opts=-Xmx300m",
            "io.sort.mb=120",
            "reduce.speculative=false",
            "Snappy",
        ] {
            assert!(some.contains(part), "{part}: {some}");
        }
    }

    #[test]
    fn settings_of_a_job_follow_what_is_asked() {
        let two = sizes(&Facts { memory: 24 << 30, cores: 2, disk_free: 1 << 40 }, 1).unwrap();
        let of = |pairs: &str| {
            let ask = ask(pairs).unwrap();
            ask.settings(&two, cut(&two, ask.data), true).join("\n")
        };
        let usual = of("");
        assert!(usual.contains("map.output.compress=false") && !usual.contains("codec"), "{usual}");
        assert!(usual.contains("-Dmapreduce.map.java.opts=-Xmx716m -XX:+UseSerialGC"), "{usual}");
        let quick = "-Dmapreduce.map.java.opts=-XX:TieredStopAtLevel=1 -Xmx716m";
        assert!(of("data=127MiB").contains(quick) && !of("data=128MiB").contains(quick));
        assert!(!of("data=127MiB;jvm=hotspot").contains(quick));
        let other = of("compression=snappy;jvm=zero;container=512;heap=200;speculative=off");
        for part in [
            "SnappyCodec",
            "map.java.opts=-zero -Xmx200m",
            "map.memory.mb=512",
            "io.sort.mb=80",
            "map.speculative=false",
        ] {
            assert!(other.contains(part), "{part}: {other}");
        }
    }

    #[test]
    fn data_is_whole_rows_and_whole_files() {
        let some = ask("data=1000").unwrap();
        assert_eq!((some.rows(), some.called("/b", "in").as_str()), (10, "/b/in-10-x1"));
        assert_eq!(ask("data=100").unwrap().mib_of_file(4), 1);
        assert_eq!(ask("data=256MiB").unwrap().mib_of_file(2), 128);
    }
}
