//! A simulated BMC that speaks Redfish over HTTPS (sushy-emulator with its fake driver), on a loopback address. Its
//! system changes its state some seconds after it was asked.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::ipmi::PASSWORD;
use super::{PATIENCE, PROGRAM, Said};

/// What bcrypt makes of the password.
const HASH: &str = "$2b$05$cc1EoL2fSq3oK30fTJ4sYusJt2X6kN5HZfmldlJQnRZ1K0pCI1APC";

/// The emulator, and a folder for an inventory.
pub struct Emulator {
    pub dir: TempDir,
    pub port: u16,
    child: Child,
}

/// Answers with the pages of a file, over HTTPS. A value `{"$file": PATH}` is the number that is in that file then. A
/// page may have the `$status` of its answer, and how many bytes of it come (`$cut`) before the connection ends.
const PAGES: &str = r#"import http.server, json, ssl, sys
address, port, pages, certificate, key = sys.argv[1:]
pages = json.load(open(pages))
def filled(value):
    if isinstance(value, list):
        return [filled(one) for one in value]
    if isinstance(value, dict):
        if "$file" in value:
            return float(open(value["$file"]).read())
        return {name: filled(one) for name, one in value.items()}
    return value
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        page = dict(pages.get(self.path, {"$status": 404}))
        status, cut = page.pop("$status", 200), page.pop("$cut", None)
        body = json.dumps(filled(page)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer((address, int(port)), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"#;

/// The address of its BMC.
pub const ADDRESS: &str = "127.0.5.1";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Emulator {
    pub fn start() -> Emulator {
        let dir = TempDir::new().expect("a temporary directory");
        let port = TcpListener::bind((ADDRESS, 0)).and_then(|one| one.local_addr()).expect("a port").port();
        super::ipmi::write_private(&dir.path().join("password"), &format!("{PASSWORD}\n"));
        fs::write(dir.path().join("htpasswd"), format!("ADMIN:{HASH}\n")).expect("a file");
        fs::create_dir(dir.path().join("state")).expect("a folder");
        let at = |name: &str| dir.path().join(name).display().to_string();
        let config = format!(
            "SUSHY_EMULATOR_FAKE_DRIVER = True\nSUSHY_EMULATOR_STATE_DIR = '{}'\nSUSHY_EMULATOR_AUTH_FILE = '{}'\n\
             SUSHY_EMULATOR_FAKE_SYSTEMS = [{{'uuid': '3048a930-e907-580f-ba60-4f75355836e0', 'name': 'r1', \
             'power_state': 'Off', 'external_notifier': False, 'nics': [{{'mac': '52:54:00:00:00:01', 'ip': '192.168.5.1'}}]}}]\n",
            at("state"),
            at("htpasswd")
        );
        fs::write(dir.path().join("sushy.conf"), config).expect("a configuration");
        let program = repository().join("target/sushy/bin/sushy-emulator");
        let tests = repository().join("crates/instruments/src/load/tests");
        let log = fs::File::create(dir.path().join("log")).expect("a log");
        let mut command = Command::new(&program);
        command.args(["-i", ADDRESS, "-p", &port.to_string(), "--config"]).arg(dir.path().join("sushy.conf"));
        command.arg("--ssl-certificate").arg(tests.join("localhost.pem"));
        command.arg("--ssl-key").arg(tests.join("localhost.key"));
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        let child = command.spawn();
        let child = child.unwrap_or_else(|error| {
            panic!("{}: {error}; `sh xtask/setup.sh test` installs it", program.display())
        });
        let mut emulator = Emulator { dir, port, child };
        emulator.wait();
        emulator
    }

    /// A BMC with these resources, by their paths, which do not change but for numbers out of files.
    pub fn of_pages(pages: &str) -> Emulator {
        let dir = TempDir::new().expect("a temporary directory");
        let port = TcpListener::bind((ADDRESS, 0)).and_then(|one| one.local_addr()).expect("a port").port();
        super::ipmi::write_private(&dir.path().join("password"), &format!("{PASSWORD}\n"));
        fs::write(dir.path().join("pages"), pages).expect("pages");
        let log = fs::File::create(dir.path().join("log")).expect("a log");
        let tests = repository().join("crates/instruments/src/load/tests");
        let mut command = Command::new(repository().join("target/sushy/bin/python3"));
        command.args(["-c", PAGES, ADDRESS, &port.to_string()]).arg(dir.path().join("pages"));
        command.arg(tests.join("localhost.pem")).arg(tests.join("localhost.key"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("python3 of `sh xtask/setup.sh test`");
        let mut emulator = Emulator { dir, port, child };
        emulator.wait();
        emulator
    }

    /// What an inventory says of its BMC but for the password: with the fingerprint of its certificate.
    pub fn access(&self, fingerprint: &str) -> String {
        format!(
            "kind = \"redfish\", address = \"{ADDRESS}\", port = {}, user = \"ADMIN\", fingerprint = \"{fingerprint}\"",
            self.port
        )
    }

    fn wait(&mut self) {
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect((ADDRESS, self.port)).is_err() {
            let ended = self.child.try_wait().expect("it can be waited for");
            assert!(ended.is_none() && Instant::now() < end, "{:?}", fs::read_to_string(self.path("log")));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// An inventory of `r1` with more keys of its BMC, and more nodes.
    pub fn inventory(&self, bmc: &str, nodes: &str) {
        let text = format!(
            "[[nodes]]\nname = \"r1\"\nbmc = {{ kind = \"redfish\", address = \"{ADDRESS}\", port = {}, user = \"ADMIN\", \
             password_file = \"password\"{bmc} }}\n{nodes}",
            self.port
        );
        fs::write(self.path("lab.toml"), text).expect("an inventory");
    }

    /// `boxscore lab` with these words.
    pub fn lab(&self, words: &[&str]) -> Said {
        let mut command = Command::new(PROGRAM);
        command.arg("lab").args(words).env("XDG_RUNTIME_DIR", self.dir.path()).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", self.path("config")).current_dir(self.dir.path());
        command.output().expect("it starts").into()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // One that has ended needs no end.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
