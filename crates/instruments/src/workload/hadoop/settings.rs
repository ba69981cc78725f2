//! The configuration of a cluster of ours: one folder of files for each node, as text.
//!
//! Pure but for `write`. Every daemon, client and container of a node reads that node's folder (`HADOOP_CONF_DIR`).
//! What depends on a job alone (block size, copies, compression) is given with the job. Memory is in MiB.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::lab::member::{JARS, TOOL_OPTIONS};
use super::liveness;
use super::sizing::{CONTAINER_STEP, Sizes, sort_buffer, task_heap};

/// Ports of the daemons. On the loopback the kernel chose them; a node with a network of its own has the usual ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    pub name_node: u16,
    pub name_node_http: u16,
    pub data_node: u16,
    pub data_node_http: u16,
    pub data_node_ipc: u16,
    pub scheduler: u16,
    pub tracker: u16,
    pub resource_manager: u16,
    pub admin: u16,
    pub resource_manager_http: u16,
    pub node_manager: u16,
    pub localizer: u16,
    pub node_manager_http: u16,
    pub shuffle: u16,
    pub history: u16,
    pub history_http: u16,
    pub history_admin: u16,
}

impl Ports {
    pub const USUAL: Ports = Ports {
        name_node: 8020,
        name_node_http: 9870,
        data_node: 9866,
        data_node_http: 9864,
        data_node_ipc: 9867,
        scheduler: 8030,
        tracker: 8031,
        resource_manager: 8032,
        admin: 8033,
        resource_manager_http: 8088,
        node_manager: 8041,
        localizer: 8040,
        node_manager_http: 8042,
        shuffle: 13_562,
        history: 10_020,
        history_http: 19_888,
        history_admin: 10_033,
    };
    /// How many there are.
    pub const COUNT: usize = 17;

    /// From as many numbers as there are ports.
    pub const fn from_numbers(all: [u16; Ports::COUNT]) -> Ports {
        let [
            name_node,
            name_node_http,
            data_node,
            data_node_http,
            data_node_ipc,
            scheduler,
            tracker,
            resource_manager,
            admin,
            resource_manager_http,
            node_manager,
            localizer,
            node_manager_http,
            shuffle,
            history,
            history_http,
            history_admin,
        ] = all;
        Ports {
            name_node,
            name_node_http,
            data_node,
            data_node_http,
            data_node_ipc,
            scheduler,
            tracker,
            resource_manager,
            admin,
            resource_manager_http,
            node_manager,
            localizer,
            node_manager_http,
            shuffle,
            history,
            history_http,
            history_admin,
        }
    }
}

/// A node, as its files describe it.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// Its host name, and that of the node with the daemons that a cluster has once.
    pub name: &'a str,
    pub master: &'a str,
    /// The address that its daemons listen on.
    pub listen: &'a str,
    pub ports: Ports,
    /// Its folder, with `conf`, `logs` and the rest in it.
    pub folder: &'a Path,
    pub sizes: &'a Sizes,
    /// Copies of a block that a job has where it says nothing else.
    pub replication: u32,
    /// Entries of the class path.
    pub class_path: &'a [String],
    /// Daemons, tasks and clients soon give up on a node that does not answer.
    pub is_quick: bool,
    /// The Java needs its inner packages opened (from 9 on).
    pub opens: bool,
}

/// The variable by which the processes of a cluster are known as ours: its value is the cluster's folder.
pub const MARK: &str = crate::workload::guard::MARK;

/// A JVM that is killed leaves no file of its counters in /tmp, whatever its temporary folder is.
pub const NO_PERF_DATA: &str = "-XX:-UsePerfData";

/// For Hadoop 3 on a Java from 9 on.
pub const OPENS: &str = "--add-opens=java.base/java.lang=ALL-UNNAMED";

/// A file of a node's configuration: its path within `conf`, and its text.
pub type ConfFile = (&'static str, String);

type Pairs = Vec<(&'static str, String)>;

/// The files of a node.
pub fn files(node: &Node<'_>) -> Vec<ConfFile> {
    let with = |mut pairs: Pairs, quick: &[liveness::Pair]| {
        let quick = quick.iter().filter(|_| node.is_quick);
        pairs.extend(quick.map(|(name, value)| (*name, value.to_string())));
        xml(&pairs)
    };
    let mut all = vec![
        ("core-site.xml", xml(&core(node))),
        ("hdfs-site.xml", with(hdfs(node), liveness::HDFS)),
        ("yarn-site.xml", with(yarn(node), liveness::YARN)),
        ("mapred-site.xml", with(mapred(node), liveness::MAPRED)),
        ("capacity-scheduler.xml", xml(&scheduler())),
        ("log4j.properties", LOG4J.to_owned()),
    ];
    // The jars of Maven have no pages of HDFS: an empty web application is enough for its daemons to start.
    const WEB_APPS: [&str; 3] = [
        "webapps/hdfs/WEB-INF/web.xml",
        "webapps/datanode/WEB-INF/web.xml",
        "webapps/secondary/WEB-INF/web.xml",
    ];
    all.extend(WEB_APPS.map(|path| (path, WEB_XML.to_owned())));
    all.push(("webapps/static/empty", String::new()));
    all
}

/// Makes a node's folder and writes its files.
pub fn write(node: &Node<'_>) -> Result<(), String> {
    let folder = node.folder;
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", folder.display());
    for part in ["conf", "logs", "tmp", "nm-local", "nm-logs"] {
        std::fs::create_dir_all(folder.join(part)).map_err(failed)?;
    }
    for (path, text) in files(node) {
        let path = folder.join("conf").join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        sys::files::atomic_write(&path, text.as_bytes(), 0o600).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// How a JVM compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// First quickly, then slowly and well.
    Usual,
    /// Quickly alone: better for a process that lives for seconds.
    Quick,
    /// Not at all.
    None,
}

/// The options of the JVM of a task with this heap.
pub fn task_options(heap: u64, compiler: Compiler) -> String {
    let compiler = match compiler {
        Compiler::Usual => "",
        Compiler::Quick => "-XX:TieredStopAtLevel=1 ",
        Compiler::None => "-zero ",
    };
    format!("{compiler}-Xmx{heap}m -XX:+UseSerialGC -Djava.net.preferIPv4Stack=true {NO_PERF_DATA}")
}

/// The same of the process that directs a job.
pub fn director_options(heap: u64, compiler: Compiler, opens: bool) -> String {
    let opens = if opens { format!(" {OPENS}") } else { String::new() };
    format!("{}{opens}", task_options(heap, compiler))
}

fn core(node: &Node<'_>) -> Pairs {
    vec![
        ("fs.defaultFS", format!("hdfs://{}:{}", node.master, node.ports.name_node)),
        ("hadoop.tmp.dir", in_folder(node, "tmp")),
        ("hadoop.security.authorization", "false".to_owned()),
        ("ipc.client.connect.max.retries", "5".to_owned()),
        ("ipc.client.connect.max.retries.on.timeouts", "3".to_owned()),
        ("ipc.client.connect.timeout", "5000".to_owned()),
    ]
}

fn hdfs(node: &Node<'_>) -> Pairs {
    let Node { master, listen, ports, .. } = node;
    vec![
        ("dfs.replication", node.replication.to_string()),
        ("dfs.namenode.name.dir", format!("file://{}", in_folder(node, "nn"))),
        ("dfs.datanode.data.dir", format!("file://{}", in_folder(node, "dn"))),
        ("dfs.permissions.enabled", "false".to_owned()),
        ("dfs.namenode.rpc-bind-host", (*listen).to_owned()),
        ("dfs.namenode.http-address", format!("{master}:{}", ports.name_node_http)),
        ("dfs.namenode.http-bind-host", (*listen).to_owned()),
        ("dfs.namenode.secondary.http-address", format!("{master}:0")),
        ("dfs.namenode.safemode.extension", "0".to_owned()),
        // Names come from files of ours, or there is the loopback alone.
        ("dfs.namenode.datanode.registration.ip-hostname-check", "false".to_owned()),
        ("dfs.datanode.hostname", node.name.to_owned()),
        ("dfs.datanode.address", format!("{listen}:{}", ports.data_node)),
        ("dfs.datanode.http.address", format!("{listen}:{}", ports.data_node_http)),
        ("dfs.datanode.ipc.address", format!("{listen}:{}", ports.data_node_ipc)),
        ("dfs.datanode.du.reserved", "1048576".to_owned()),
        // A pipeline of few DataNodes cannot replace one that fails.
        ("dfs.client.block.write.replace-datanode-on-failure.policy", "NEVER".to_owned()),
        ("dfs.namenode.fs-limits.min-block-size", "1048576".to_owned()),
    ]
}

fn yarn(node: &Node<'_>) -> Pairs {
    let Node { name, master, listen, ports, sizes, .. } = node;
    let of_master = |port: u16| format!("{master}:{port}");
    let of_node = |port: u16| format!("{name}:{port}");
    vec![
        ("yarn.resourcemanager.hostname", (*master).to_owned()),
        ("yarn.resourcemanager.bind-host", (*listen).to_owned()),
        ("yarn.resourcemanager.scheduler.address", of_master(ports.scheduler)),
        ("yarn.resourcemanager.resource-tracker.address", of_master(ports.tracker)),
        ("yarn.resourcemanager.address", of_master(ports.resource_manager)),
        ("yarn.resourcemanager.admin.address", of_master(ports.admin)),
        ("yarn.resourcemanager.webapp.address", of_master(ports.resource_manager_http)),
        ("yarn.resourcemanager.connect.retry-interval.ms", "1000".to_owned()),
        ("yarn.resourcemanager.am.max-attempts", "2".to_owned()),
        ("yarn.nodemanager.hostname", (*name).to_owned()),
        ("yarn.nodemanager.bind-host", (*listen).to_owned()),
        ("yarn.nodemanager.address", of_node(ports.node_manager)),
        ("yarn.nodemanager.localizer.address", of_node(ports.localizer)),
        ("yarn.nodemanager.webapp.address", of_node(ports.node_manager_http)),
        ("yarn.nodemanager.aux-services", "mapreduce_shuffle".to_owned()),
        (
            "yarn.nodemanager.aux-services.mapreduce_shuffle.class",
            "org.apache.hadoop.mapred.ShuffleHandler".to_owned(),
        ),
        ("yarn.nodemanager.local-dirs", in_folder(node, "nm-local")),
        ("yarn.nodemanager.log-dirs", in_folder(node, "nm-logs")),
        ("yarn.nodemanager.resource.memory-mb", sizes.node_memory.to_string()),
        ("yarn.nodemanager.resource.cpu-vcores", sizes.node_vcores.to_string()),
        // A task maps far more than it uses.
        ("yarn.nodemanager.vmem-check-enabled", "false".to_owned()),
        ("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99".to_owned()),
        (
            "yarn.nodemanager.env-whitelist",
            format!("JAVA_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,{TOOL_OPTIONS},{JARS},{MARK}"),
        ),
        ("yarn.nodemanager.recovery.enabled", "false".to_owned()),
        // It would be in /tmp, and stay.
        ("yarn.node-attribute.fs-store.root-dir", format!("file://{}", in_folder(node, "node-attribute"))),
        ("yarn.scheduler.minimum-allocation-mb", CONTAINER_STEP.to_string()),
        ("yarn.scheduler.maximum-allocation-mb", sizes.node_memory.to_string()),
        ("yarn.application.classpath", format!("$HADOOP_CONF_DIR,{}", node.class_path.join(","))),
        ("yarn.log-aggregation-enable", "false".to_owned()),
    ]
}

fn mapred(node: &Node<'_>) -> Pairs {
    let Node { master, listen, ports, sizes, .. } = node;
    let container = sizes.container;
    let heap = task_heap(container);
    let task = task_options(heap, Compiler::Usual);
    vec![
        ("mapreduce.framework.name", "yarn".to_owned()),
        ("mapreduce.application.classpath", node.class_path.join(",")),
        ("mapreduce.map.memory.mb", container.to_string()),
        ("mapreduce.reduce.memory.mb", container.to_string()),
        ("mapreduce.map.java.opts", task.clone()),
        ("mapreduce.reduce.java.opts", task),
        ("yarn.app.mapreduce.am.resource.mb", container.to_string()),
        ("yarn.app.mapreduce.am.command-opts", director_options(heap, Compiler::Quick, node.opens)),
        ("mapreduce.task.io.sort.mb", sort_buffer(heap).to_string()),
        ("mapreduce.job.reduce.slowstart.completedmaps", "0.8".to_owned()),
        ("mapreduce.shuffle.port", ports.shuffle.to_string()),
        ("mapreduce.jobhistory.address", format!("{master}:{}", ports.history)),
        ("mapreduce.jobhistory.webapp.address", format!("{master}:{}", ports.history_http)),
        ("mapreduce.jobhistory.admin.address", format!("{master}:{}", ports.history_admin)),
        ("mapreduce.jobhistory.bind-host", (*listen).to_owned()),
        ("mapreduce.jobhistory.move.interval-ms", "1000".to_owned()),
        ("yarn.app.mapreduce.am.staging-dir", "/tmp/hadoop-yarn/staging".to_owned()),
        // Of a job in its client alone, which leaves it there.
        ("mapreduce.jobtracker.staging.root.dir", in_folder(node, "staging")),
        ("mapreduce.client.progressmonitor.pollinterval", "500".to_owned()),
        ("mapreduce.client.completion.pollinterval", "500".to_owned()),
    ]
}

/// One queue in which the process that directs a job always finds room.
fn scheduler() -> Pairs {
    const QUEUE: &str = "yarn.scheduler.capacity.root.default.maximum-am-resource-percent";
    vec![
        ("yarn.scheduler.capacity.root.queues", "default".to_owned()),
        ("yarn.scheduler.capacity.root.default.capacity", "100".to_owned()),
        (QUEUE, "0.8".to_owned()),
        ("yarn.scheduler.capacity.maximum-am-resource-percent", "0.8".to_owned()),
        ("yarn.scheduler.capacity.node-locality-delay", "2".to_owned()),
        (
            "yarn.scheduler.capacity.resource-calculator",
            "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator".to_owned(),
        ),
    ]
}

fn in_folder(node: &Node<'_>, name: &str) -> String {
    node.folder.join(name).display().to_string()
}

fn xml(pairs: &Pairs) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<configuration>\n".to_owned();
    for (name, value) in pairs {
        let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // A text takes every write.
        let _ = writeln!(text, "<property><name>{name}</name><value>{value}</value></property>");
    }
    text.push_str("</configuration>\n");
    text
}

const WEB_XML: &str = "<web-app version=\"2.4\" xmlns=\"http://java.sun.com/xml/ns/j2ee\"></web-app>\n";

/// Where programs of Hadoop's log to. Some of its jars have such a file of their own, by which that is standard output.
pub const LOG4J: &str = "\
hadoop.root.logger=INFO,console
hadoop.log.dir=.
hadoop.log.file=hadoop.log
log4j.rootLogger=${hadoop.root.logger}
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.appender.RFA=org.apache.log4j.RollingFileAppender
log4j.appender.RFA.File=${hadoop.log.dir}/${hadoop.log.file}
log4j.appender.RFA.MaxFileSize=64MB
log4j.appender.RFA.MaxBackupIndex=2
log4j.appender.RFA.layout=org.apache.log4j.PatternLayout
log4j.appender.RFA.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n
";

/// Fails where the path of a folder has letters that files of configuration, class paths or URIs read as more than
/// themselves.
pub fn check_folder(path: &Path) -> Result<(), String> {
    let text = path.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@=".contains(letter);
    match text.chars().find(|letter| !is_plain(*letter)) {
        None => Ok(()),
        Some(letter) => Err(format!(
            "Hadoop cannot work in {text}: `{letter}` means something else in its class paths and URIs; name another folder \
             with --dir"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::hadoop::sizing::{Facts, sizes};

    fn text(of: &str) -> String {
        let sizes = sizes(&Facts { memory: 24 << 30, cores: 2, disk_free: 1 << 40 }, 1).unwrap();
        let path = ["/opt/a&b/*".to_owned()];
        let node = Node {
            name: "w1",
            master: "m",
            listen: "0.0.0.0",
            ports: Ports::USUAL,
            folder: Path::new("/work/w1"),
            sizes: &sizes,
            replication: 2,
            class_path: &path,
            is_quick: of == "yarn-site.xml",
            opens: true,
        };
        files(&node).into_iter().find(|(name, _)| *name == of).unwrap().1
    }

    #[test]
    fn a_node_has_its_own_folders_and_the_masters_address() {
        let hdfs = text("hdfs-site.xml");
        assert!(hdfs.contains("<value>file:///work/w1/dn</value>"), "{hdfs}");
        assert!(text("core-site.xml").contains("<value>hdfs://m:8020</value>"));
        let yarn = text("yarn-site.xml");
        assert!(yarn.contains("<name>yarn.nodemanager.address</name><value>w1:8041</value>"), "{yarn}");
        assert!(yarn.contains("<value>$HADOOP_CONF_DIR,/opt/a&amp;b/*</value>"), "{yarn}");
        assert!(yarn.contains(MARK));
        assert!(yarn.contains("expiry-interval-ms</name><value>10000<"), "{yarn}");
        assert!(!hdfs.contains("recheck-interval"), "{hdfs}");
        assert!(text("mapred-site.xml").contains("add-opens"));
        assert!(text("webapps/hdfs/WEB-INF/web.xml").starts_with("<web-app"));
    }

    #[test]
    fn ports_are_different_and_in_their_places() {
        let mut next = 0;
        let numbers: [u16; Ports::COUNT] = std::array::from_fn(|_| {
            next += 1;
            next
        });
        let ports = Ports::from_numbers(numbers);
        assert_eq!((ports.name_node, ports.history_admin), (1, 17));
    }

    #[test]
    fn options_of_a_task_name_the_machine() {
        assert!(task_options(100, Compiler::None).starts_with("-zero -Xmx100m"));
        assert!(task_options(100, Compiler::Usual).starts_with("-Xmx100m"));
        assert!(!director_options(100, Compiler::Quick, false).contains("add-opens"));
    }

    #[test]
    fn odd_folders_are_refused() {
        assert_eq!(check_folder(Path::new("/var/tmp/.boxscore-server-1-2")), Ok(()));
        for odd in ["/a b", "/a:b", "/ä", "/a,b", "/a%20b"] {
            assert!(check_folder(Path::new(odd)).unwrap_err().contains("--dir"), "{odd}");
        }
    }
}
