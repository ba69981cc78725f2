//! Simulated BMCs (ipmi_sim of OpenIPMI) on loopback addresses, and an inventory that names them. The power of each
//! node is in a file, which a script changes when its BMC is asked.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{PATIENCE, PROGRAM, Said};

/// The password of the user ADMIN, which nothing may show.
pub const PASSWORD: &str = "Kfz8-wachs_7";

/// Nodes n1, n2 ... with BMCs on 127.0.3.1, 127.0.3.2 ..., all on one port.
pub struct Bmcs {
    pub dir: TempDir,
    pub port: u16,
    sims: Vec<Child>,
    /// What the consoles of all nodes lead to.
    console: Option<SocketAddr>,
    /// They know DCMI, and read its power out of a file `dcmi` in watts.
    dcmi: bool,
}

/// Called with `get power boot ...` or `set power 1 ...`. With a file `deaf` nothing changes, with `late` some time
/// later.
const SCRIPT: &str = r#"#!/bin/sh
d=$1; op=$2; shift 2
change() {
    test -e $d/deaf && return
    test -e $d/late || { echo $1 > $d/power; return; }
    (sleep 1; echo $1 > $d/power) > /dev/null 2>&1 < /dev/null &
}
case $op in
get) for p; do case $p in
    power) echo "power:$(cat $d/power)";;
    boot) echo "boot:$(cat $d/boot)";;
    *) echo "$p:0";; esac; done;;
set) while [ $# -gt 1 ]; do
    echo "$1 $2" >> $d/log
    case $1 in power) change $2;; shutdown) change 0;; boot) echo $2 > $d/boot;; esac
    shift 2; done;;
esac
"#;

/// A temperature with thresholds at 112, 144 and 160 degrees, and the draw of power in steps of 4 W, both read from
/// files every second; the log has one entry.
const EMULATOR: &str = "mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
sensor_add 0x20 0 0 35 0x6f event-only
sensor_add 0x20 0 1 0x01 0x01 poll 1000 file \"FOLDER/temp\"
sensor_add 0x20 0 2 0x0b 0x01 poll 1000 file \"FOLDER/watt\"
sensor_set_threshold 0x20 0 1 settable 111000 0xa0 0x90 0x70 00 00 00
sensor_set_event_support 0x20 0 1 enable scanning per-state 000111111000000 000111111000000 000111111000000 000111111000000
sensor_set_event_support 0x20 0 2 enable scanning per-state 000000000000000 000000000000000 000000000000000 000000000000000
mc_enable 0x20
sel_add 0x20 0x02 0x00 0x00 0x00 0x00 0x20 0x00 0x04 0x01 0x01 0x09 0x90 0x90 0x90
";

/// A library for ipmi_sim: DCMI's reading of power (its only request of this group here), out of a file. The
/// functions of ipmi_sim are declared here, so that no header is needed; the arguments that it does not look into
/// are plain pointers.
const DCMI: &str = r#"#include <stdio.h>
#include <string.h>
void ipmi_emu_register_group_extension_handler(unsigned char group,
    void (*handler)(void *mc, void *msg, unsigned char *data, unsigned int *length, void *own), void *own);
static char path[512];
static void reading(void *mc, void *msg, unsigned char *data, unsigned int *length, void *own)
{
    unsigned watts = 0;
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%u", &watts) != 1) watts = 0;
        fclose(file);
    }
    memset(data, 0, 20);
    data[1] = 0xdc;
    for (int at = 2; at < 10; at += 2) {
        data[at] = watts;
        data[at + 1] = watts >> 8;
    }
    data[14] = 0xe8;
    data[15] = 0x03;
    data[18] = 0x40;
    *length = 19;
}
int ipmi_sim_module_print_version(void *sys, char *options) { return 0; }
int ipmi_sim_module_init(void *sys, const char *options)
{
    snprintf(path, sizeof path, "%s", options ? options : "");
    ipmi_emu_register_group_extension_handler(0xdc, reading, NULL);
    return 0;
}
"#;

/// A record of a sensor for `sdrcomp`.
fn record(number: u32, name: &str, kind: &str, unit: &str, factor: u32) -> String {
    format!(
        "sdr type 1\n sensor_owner_id 0x20\n sensor_owner_lun 0\n channel_number 0\n sensor_number {number}\n \
         entity_id system_board\n entity_instance 1\n sensor_type {kind}\n init_scanning true\n init_sensor_type true\n \
         default_sensor_scan_on true\n event_reading_type_code 1\n analog_data_format unsigned\n base_unit {unit}\n \
         linearization linear\n m {factor}\n sensor_direction input\n sensor_maximum 255\n sensor_minimum 0\n \
         id_string \"{name}\"\nendsdr\n\n"
    )
}

pub fn write_private(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, PermissionsExt::from_mode(0o600)).expect("its mode");
}

impl Bmcs {
    /// Starts so many; each node is off.
    pub fn start(count: usize) -> Bmcs {
        Bmcs::start_with(count, None)
    }

    /// The same, with DCMI.
    pub fn start_dcmi(count: usize) -> Bmcs {
        Bmcs::start_as(count, None, true)
    }

    /// The same, with consoles that lead to this server.
    pub fn start_with(count: usize, console: Option<SocketAddr>) -> Bmcs {
        Bmcs::start_as(count, console, false)
    }

    fn start_as(count: usize, console: Option<SocketAddr>, dcmi: bool) -> Bmcs {
        let dir = TempDir::new().expect("a temporary directory");
        let port = UdpSocket::bind("127.0.3.1:0").and_then(|one| one.local_addr()).expect("a port").port();
        let script = dir.path().join("chassis.sh");
        fs::write(&script, SCRIPT).expect("a script");
        fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("its mode");
        write_private(&dir.path().join("password"), &format!("{PASSWORD}\n"));
        let mut bmcs = Bmcs { dir, port, sims: Vec::new(), console, dcmi };
        bmcs.compile_sensors();
        if dcmi {
            bmcs.compile_dcmi();
        }
        for number in 1..=count {
            let sim = bmcs.sim(number);
            bmcs.sims.push(sim);
        }
        bmcs.inventory(&format!(
            "[[nodes]]\nname = \"n[1-{count}]\"\nbmc = {{ address = \"127.0.3.1+{count}\" }}\n"
        ));
        bmcs.settle();
        bmcs
    }

    /// An inventory of these nodes, with the kind, port, user and password of the BMCs as defaults.
    pub fn inventory(&self, nodes: &str) {
        let defaults = format!(
            "[defaults]\nbmc = {{ kind = \"ipmi\", port = {}, user = \"ADMIN\", password_file = \"password\" }}\n\n",
            self.port
        );
        fs::write(self.path("lab.toml"), defaults + nodes).expect("an inventory");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn compile_sensors(&self) {
        let text = record(1, "MBTemp", "Temperature", "degrees_C", 1)
            + &record(2, "Pwr Consumption", "Other_Units_Based_Sensor", "Watts", 4);
        fs::write(self.path("bmc.sdrs"), text).expect("sensors");
        let mut command = Command::new("sdrcomp");
        command.arg("-o").arg(self.path("main.sdrs")).arg(self.path("bmc.sdrs"));
        let made = command.output().expect("sdrcomp of openipmi");
        assert!(made.status.success(), "{made:?}");
    }

    fn compile_dcmi(&self) {
        fs::write(self.path("dcmi.c"), DCMI).expect("a library");
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-o"]).arg(self.path("dcmi.so")).arg(self.path("dcmi.c"));
        let made = command.output().expect("cc");
        assert!(made.status.success(), "{made:?}");
    }

    /// The file that DCMI reads, in watts.
    pub fn dcmi(&self, number: usize) -> PathBuf {
        self.folder(number).join("dcmi")
    }

    /// Sets a value that a sensor reads: `temp` in degrees, `watt` in steps of 4 W.
    pub fn measure(&self, number: usize, what: &str, value: u32) {
        fs::write(self.folder(number).join(what), format!("{value}\n")).expect("a value");
    }

    fn folder(&self, number: usize) -> PathBuf {
        self.path(&number.to_string())
    }

    fn sim(&self, number: usize) -> Child {
        let folder = self.folder(number);
        let state = folder.join(format!("state/ipmi_sim/n{number}"));
        fs::create_dir_all(&state).expect("a folder");
        fs::copy(self.path("main.sdrs"), state.join("sdr.20.main")).expect("its sensors");
        fs::write(folder.join("temp"), "45\n").expect("a temperature");
        fs::write(folder.join("watt"), "87\n").expect("a draw of power");
        fs::write(folder.join("power"), "0\n").expect("its power");
        fs::write(folder.join("boot"), "default\n").expect("what it boots");
        let config = format!(
            "name \"n{number}\"\nset_working_mc 0x20\n startlan 1\n addr 127.0.3.{number} {}\n priv_limit admin\n \
             allowed_auths_callback none md2 md5 straight\n allowed_auths_user none md2 md5 straight\n \
             allowed_auths_operator none md2 md5 straight\n allowed_auths_admin none md2 md5 straight\n \
             guid a123456789abcdefa123456789abcdef\n endlan\n chassis_control \"{} {}\"\n{} \
             user 1 true \"\" \"test\" user 10 none md2 md5 straight\n \
             user 2 true \"ADMIN\" \"{PASSWORD}\" admin 10 none md2 md5 straight\n",
            self.port,
            self.path("chassis.sh").display(),
            folder.display(),
            self.console.map_or(String::new(), |at| format!(" sol \"tcp:{at}\" 115200\n"))
        );
        let library =
            format!("loadlib \"{}\" \"{}\"\n", self.path("dcmi.so").display(), self.dcmi(number).display());
        let config = if self.dcmi { config + &library } else { config };
        fs::write(folder.join("lan.conf"), config).expect("a configuration");
        let emulator = EMULATOR.replace("FOLDER", &folder.display().to_string());
        fs::write(folder.join("bmc.emu"), emulator).expect("an emulator's commands");
        let mut command = Command::new("ipmi_sim");
        command.args(["-n", "-c"]).arg(folder.join("lan.conf")).arg("-f").arg(folder.join("bmc.emu"));
        command.arg("-s").arg(folder.join("state")).stdin(Stdio::null()).stderr(Stdio::null());
        command.stdout(fs::File::create(folder.join("out")).expect("a log"));
        command
            .spawn()
            .unwrap_or_else(|error| panic!("ipmi_sim: {error}; `sh xtask/setup.sh test` installs it"))
    }

    /// Waits until each answers.
    fn settle(&self) {
        let began = Instant::now();
        loop {
            let said = self.run(&["status", "@*"]);
            if said.code == Some(0) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{said:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Plants a file that changes what the node does: `deaf`, `late`.
    pub fn make(&self, number: usize, what: &str) {
        fs::write(self.folder(number).join(what), "").expect("a file");
    }

    pub fn is_on(&self, number: usize) -> bool {
        fs::read_to_string(self.folder(number).join("power")).expect("its power").trim() == "1"
    }

    /// The requests that the node got.
    pub fn requests(&self, number: usize) -> String {
        fs::read_to_string(self.folder(number).join("log")).unwrap_or_default()
    }

    /// `boxscore lab power` with these words.
    pub fn command(&self, words: &[&str]) -> Command {
        self.lab(&[&["power"], words].concat())
    }

    /// `boxscore lab` with these words.
    pub fn lab(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("lab").args(words).env("XDG_RUNTIME_DIR", self.dir.path());
        command.env("XDG_CONFIG_HOME", self.path("config")).env("BOXSCORE_STORE", self.path("s.db"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Said {
        self.command(words).output().expect("it starts").into()
    }
}

impl Drop for Bmcs {
    fn drop(&mut self) {
        for sim in &mut self.sims {
            // One that has ended needs no end.
            let _ended = sim.kill();
            let _reaped = sim.wait();
        }
    }
}

/// What a relay does with the packets for a BMC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Says that all sessions are taken, instead of opening one; so often.
    Busy(usize),
    /// Loses everything behind so many packets of a client, as a link that breaks.
    Break(usize),
}

/// A relay before a BMC, which makes faults that ipmi_sim cannot make.
pub struct Relay {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Of RMCP+: the kind of a packet that asks for a session, and of its answer.
const OPEN: u8 = 0x10;
const OPENED: u8 = 0x11;
/// Where the kind stands, and the first byte of what is in the packet.
const KIND: usize = 5;
const BODY: usize = 16;

impl Relay {
    /// A relay at `from` to the BMC at `to`.
    pub fn start(from: SocketAddr, to: SocketAddr, way: Way) -> Relay {
        let socket = UdpSocket::bind(from).expect("an address");
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let thread = std::thread::spawn(move || relay(&socket, to, way, &told));
        Relay { ends, thread: Some(thread) }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(joined.is_ok() || std::thread::panicking(), "the relay failed");
        }
    }
}

fn relay(socket: &UdpSocket, to: SocketAddr, way: Way, ends: &AtomicBool) {
    let back = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    back.connect(to).expect("a BMC");
    for one in [socket, &back] {
        one.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    }
    let (mut client, mut packets, mut refused) = (None, 0, 0);
    let mut packet = [0; 2048];
    while !ends.load(Ordering::SeqCst) {
        if let Ok((count, from)) = socket.recv_from(&mut packet) {
            // Each session comes from a port of its own.
            packets = if client == Some(from) { packets + 1 } else { 1 };
            client = Some(from);
            let asks = packet[4] == 6 && packet[KIND] & 0x3f == OPEN;
            match way {
                Way::Busy(times) if asks && refused < times => {
                    refused += 1;
                    // Status 1: no room for a further session.
                    let mut answer = packet[..BODY + 8].to_vec();
                    (answer[KIND], answer[14], answer[15], answer[BODY + 1]) = (OPENED, 8, 0, 1);
                    socket.send_to(&answer, from).expect("an answer");
                }
                Way::Break(after) if packets > after => {}
                _ => drop(back.send(&packet[..count])),
            }
        }
        if let (Some(client), Ok(count)) = (client, back.recv(&mut packet)) {
            socket.send_to(&packet[..count], client).expect("an answer");
        }
    }
}
