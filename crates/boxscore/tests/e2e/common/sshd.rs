//! Real ssh servers on loopback addresses, with keys and a client configuration of their own; they end with the test.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::host::Namespace;
use super::{PATIENCE, PROGRAM, Said};

const SSHD: &str = "/usr/sbin/sshd";

/// Servers `node1`, `node2` ... on 127.0.2.1, 127.0.2.2 ..., all on one port.
pub struct Fleet {
    pub dir: TempDir,
    pub port: u16,
    /// A network namespace of each, which have a network of their own.
    wires: Option<Wires>,
    servers: Vec<Child>,
}

/// Keys for each server, the first of which the client knows.
const HOST_KEYS: [&str; 2] = ["hostkey", "otherkey"];

fn done(output: std::io::Result<Output>, what: &str) -> String {
    let output =
        output.unwrap_or_else(|error| panic!("{what}: {error}; `sh xtask/setup.sh test` installs it"));
    assert!(output.status.success(), "{what}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Fleet {
    /// Starts so many servers; each gets the lines of `config` for its number, from 1 on.
    pub fn start(count: usize, config: impl Fn(usize) -> String) -> Fleet {
        Fleet::start_on(count, None, config)
    }

    /// The same, each in a network namespace.
    pub fn start_on(count: usize, wires: Option<Wires>, config: impl Fn(usize) -> String) -> Fleet {
        let dir = TempDir::new().expect("a temporary directory");
        let port = TcpListener::bind("127.0.2.1:0").and_then(|one| one.local_addr()).expect("a port").port();
        for key in ["id"].iter().chain(&HOST_KEYS) {
            let path = dir.path().join(key);
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).output();
            done(made, "ssh-keygen");
        }
        fs::copy(dir.path().join("id.pub"), dir.path().join("authorized")).expect("a copy");
        if super::root() {
            fs::create_dir_all("/run/sshd").expect("/run/sshd");
        }
        let mut fleet = Fleet { dir, port, wires, servers: Vec::new() };
        fleet.configure(count);
        for number in 1..=count {
            let server = fleet.server(number, &config(number));
            fleet.servers.push(server);
        }
        let all = fleet.servers.len();
        (1..=all).for_each(|number| fleet.wait_for(number));
        fleet
    }

    /// `127.0.2.` with the network of loopback addresses.
    fn net(&self) -> &'static str {
        if self.wires.is_some() { WIRED } else { "127.0.2." }
    }

    /// `boxscore` where it reaches servers in namespaces, for verbs with `--on`.
    pub fn on_wires(&self, words: &[&str]) -> Command {
        let wrapper = self.wires.as_ref().map(Wires::wrapper).unwrap_or_default();
        self.on_behind(&wrapper.iter().map(String::as_str).collect::<Vec<_>>(), words)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The client's configuration: every `node*`, and `alias*`, which all lead to the first one.
    fn configure(&self, count: usize) {
        let path = |name: &str| self.path(name).display().to_string();
        let key = fs::read_to_string(self.path("hostkey.pub")).expect("a key");
        let port = self.port;
        let names: Vec<String> =
            (1..=count).map(|number| format!("[{}{number}]:{port}", self.net())).collect();
        fs::write(self.path("known_hosts"), format!("{} {key}", names.join(","))).expect("known_hosts");
        let user = done(Command::new("id").arg("-un").output(), "id");
        let mut text = String::new();
        for number in 1..=count {
            text.push_str(&format!("Host node{number}\n HostName {}{number}\n", self.net()));
        }
        text.push_str(&format!(
            "Host alias*\n HostName 127.0.2.1\nHost *\n Port {port}\n User {}\n IdentityFile {}\n IdentitiesOnly yes\n \
             UserKnownHostsFile {}\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n \
             KexAlgorithms curve25519-sha256\n",
            user.trim(),
            path("id"),
            path("known_hosts")
        ));
        fs::write(self.path("ssh_config"), text).expect("ssh_config");
    }

    /// Writes an inventory of `rack[1-N]`, which the client's configuration does not name, in groups by parity.
    pub fn inventory(&self) {
        let count = self.servers.len();
        let of = |rest: usize| -> Vec<String> {
            (1..=count).filter(|n| n % 2 == rest).map(|n| format!("rack{n}")).collect()
        };
        let text = format!(
            "[groups]\neven = \"{}\"\nodd = \"{}\"\n\n[[nodes]]\nname = \"rack[1-{count}]\"\n\
             address = \"{}1+{count}\"\nport = {}\n",
            of(0).join(","),
            of(1).join(","),
            self.net(),
            self.port
        );
        fs::write(self.path("lab.toml"), text).expect("an inventory");
    }

    /// Adds lines before the client's configuration.
    pub fn prepend(&self, lines: &str) {
        let file = self.path("ssh_config");
        let rest = fs::read_to_string(&file).expect("ssh_config");
        fs::write(file, format!("{lines}\n{rest}")).expect("ssh_config");
    }

    fn server(&self, number: usize, more: &str) -> Child {
        let path = |name: &str| self.path(name).display().to_string();
        let more = more.replace("KEYS", &self.dir.path().display().to_string());
        // The first value of an option counts; of keys all do.
        let own =
            if more.contains("HostKey ") { String::new() } else { format!("HostKey {}\n", path("hostkey")) };
        let config = format!(
            "{more}\nPort {}\nListenAddress {}{number}\n{own}AuthorizedKeysFile {}\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             SetEnv FLEET_NAME=node{number}\n",
            self.port,
            self.net(),
            path("authorized")
        );
        let file = self.path(&format!("sshd{number}.conf"));
        fs::write(&file, config).expect("a configuration");
        let log = fs::File::create(self.path(&format!("sshd{number}.log"))).expect("a log");
        let mut command =
            self.wires.as_ref().map_or_else(|| Command::new(SSHD), |wires| wires.command(number));
        command
            .arg("-D")
            .arg("-e")
            .arg("-f")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        command
            .spawn()
            .unwrap_or_else(|error| panic!("{SSHD}: {error}; `sh xtask/setup.sh test` installs it"))
    }

    fn wait_for(&mut self, number: usize) {
        let end = Instant::now() + PATIENCE;
        let log = self.path(&format!("sshd{number}.log"));
        while !fs::read_to_string(&log).unwrap_or_default().contains("Server listening") {
            let ended = self.servers[number - 1].try_wait().expect("it can be waited for");
            assert!(ended.is_none() && Instant::now() < end, "sshd: {:?}", fs::read_to_string(&log));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The process of a server.
    pub fn pid(&self, number: usize) -> u32 {
        self.servers[number - 1].id()
    }

    /// Ends a server; its connections stay.
    pub fn end(&mut self, number: usize) {
        let server = &mut self.servers[number - 1];
        server.kill().and_then(|()| server.wait()).expect("it ends");
    }

    /// Starts a server that was ended once more.
    pub fn start_again(&mut self, number: usize, more: &str) {
        self.servers[number - 1] = self.server(number, more);
        self.wait_for(number);
    }

    /// Ends the connections of a server, from the inside.
    pub fn cut(&self, number: usize) {
        super::children(self.pid(number)).into_iter().for_each(|pid| super::signal(pid, "KILL"));
    }

    /// A folder of the program for nodes, `--binaries`, without what only a debugger needs.
    pub fn binaries(&self) -> String {
        let folder = self.path("binaries");
        fs::create_dir_all(&folder).expect("a folder");
        let to = folder.join(format!("boxscore-{}", std::env::consts::ARCH));
        let stripped = Command::new("strip").arg("-o").arg(&to).arg(PROGRAM).status();
        if !stripped.is_ok_and(|status| status.success()) {
            fs::copy(PROGRAM, &to).expect("a copy");
        }
        text(&folder)
    }

    /// `boxscore lab` with these words; options of ssh come last, unless words stand behind `--`.
    pub fn command(&self, words: &[&str], options: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        self.fill(&mut command, words, options);
        command
    }

    /// `boxscore` with these words.
    pub fn plain(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words);
        self.settle(&mut command);
        command
    }

    /// `boxscore` with the client's configuration behind another program, for verbs with `--on`.
    pub fn on_behind(&self, wrapper: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(PROGRAM).args(words);
        command.arg("--ssh-config").arg(self.path("ssh_config"));
        self.settle(&mut command);
        command
    }

    /// The same with the client's configuration, for verbs with `--on`.
    pub fn on(&self, words: &[&str]) -> Command {
        let mut command = self.plain(words);
        command.arg("--ssh-config").arg(self.path("ssh_config"));
        command
    }

    /// The same behind another program.
    pub fn behind(&self, wrapper: &[&str], words: &[&str], options: &[&str]) -> Command {
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(PROGRAM);
        self.fill(&mut command, words, options);
        command
    }

    fn fill(&self, command: &mut Command, words: &[&str], options: &[&str]) {
        let place = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        command.arg("lab").args(&words[..place]).arg("--ssh-config").arg(self.path("ssh_config"));
        command.args(options).args(&words[place..]);
        self.settle(command);
    }

    fn settle(&self, command: &mut Command) {
        command.env("XDG_RUNTIME_DIR", self.dir.path()).env("BOXSCORE_STORE", self.path("s.db"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
    }

    /// Runs it; connections are closed behind it.
    pub fn run(&self, words: &[&str]) -> Said {
        self.run_with(words, &["--keep", "0"])
    }

    pub fn run_with(&self, words: &[&str], options: &[&str]) -> Said {
        self.command(words, options).output().expect("it starts").into()
    }

    /// Sockets of connections that are open.
    pub fn sockets(&self) -> Vec<PathBuf> {
        let Ok(found) = fs::read_dir(self.path("boxscore")) else { return Vec::new() };
        found.map(|entry| entry.expect("an entry").path()).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // One that was stopped is ended by SIGKILL too; one that has ended needs none.
            let _ended = server.kill();
            let _reaped = server.wait();
        }
    }
}

/// The network of namespaces.
const WIRED: &str = "10.254.77.";

/// A bridge in a namespace of its own, where the controller is, and a namespace for each server; they go with it.
pub struct Wires {
    hub: Namespace,
    nodes: Vec<Namespace>,
}

impl Wires {
    pub fn new(count: usize) -> Result<Wires, String> {
        let hub = Namespace::new("hub")?;
        hub.ip("link add bxtbr type bridge")?;
        hub.ip(&format!("address add {WIRED}254/24 dev bxtbr"))?;
        hub.ip("link set bxtbr up")?;
        hub.ip("link set lo up")?;
        let mut wires = Wires { hub, nodes: Vec::new() };
        for number in 1..=count {
            let node = Namespace::new(&format!("node{number}"))?;
            let port = format!("bxtn{number}");
            wires.hub.ip(&format!("link add {port} type veth peer name eth0 netns {}", node.0))?;
            wires.hub.ip(&format!("link set {port} master bxtbr up"))?;
            node.ip(&format!("address add {WIRED}{number}/24 dev eth0"))?;
            node.ip("link set lo up")?;
            node.ip("link set eth0 up")?;
            wires.nodes.push(node);
        }
        Ok(wires)
    }

    /// The words before a command of the controller.
    pub fn wrapper(&self) -> Vec<String> {
        within(&self.hub)
    }

    fn command(&self, number: usize) -> Command {
        let words = within(&self.nodes[number - 1]);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(SSHD);
        command
    }
}

/// `ip netns exec` would hide control groups.
fn within(space: &Namespace) -> Vec<String> {
    vec!["nsenter".to_owned(), format!("--net=/run/netns/{}", space.0), "--".to_owned()]
}

/// The lines by which a node has this cache folder.
pub fn cache_at(number: usize, folder: &str) -> String {
    format!("SetEnv FLEET_NAME=node{number} \"XDG_CACHE_HOME={folder}\"")
}

/// A path as text.
pub fn text(path: &Path) -> String {
    path.display().to_string()
}
