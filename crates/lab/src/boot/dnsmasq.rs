//! A dnsmasq of our own: addresses for known MAC addresses, and iPXE by TFTP. Its files are in a private folder.
//!
//! Its log says who asked and what was given; that is how a node is seen before it runs anything of ours.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sys::process::{ProcessGroup, Start};

use super::interface::Interface;
use crate::child;
use crate::inventory::Mac;
use crate::stop::{Limit, Stop};

/// How long a check of the configuration may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// iPXE, of the package `ipxe`, by the kinds of firmware that ask for it (option 93 of DHCP, as RFC 4578 and IANA list
/// them). A BIOS need not say what it is.
struct Ipxe {
    file: &'static str,
    tag: &'static str,
    kinds: &'static [u16],
    /// Not in every release of the package.
    may_lack: bool,
}

const BIOS: &str = "undionly.kpxe";
const IPXE: [Ipxe; 3] = [
    Ipxe { file: BIOS, tag: "bios", kinds: &[0], may_lack: false },
    Ipxe { file: "ipxe.efi", tag: "efi64", kinds: &[7, 9], may_lack: false },
    Ipxe { file: "ipxe-arm64.efi", tag: "arm64", kinds: &[11], may_lack: true },
];
/// Kinds that would not run what a BIOS runs: other processors, 32-bit EFI, and those that want HTTP in place of TFTP.
const OTHERS: [u16; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 15, 16, 17, 18, 19, 20];
const IPXE_FOLDERS: [&str; 3] = ["/usr/lib/ipxe", "/usr/share/ipxe", "/boot"];

/// A node as DHCP knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    pub mac: Mac,
    pub address: Ipv4Addr,
}

/// Why it does not serve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnsmasqError {
    #[error("dnsmasq is not installed (package dnsmasq-base): {0}")]
    Missing(String),
    #[error("there is no {0} (package ipxe)")]
    NoIpxe(&'static str),
    #[error("dnsmasq refuses its configuration: {0}")]
    Refused(String),
    #[error("dnsmasq has ended: {0}")]
    Ended(String),
    #[error("{0}")]
    Files(String),
}

/// The text of its configuration: no DNS, and nothing of the system's.
fn configuration(interface: &Interface, nodes: &[Known], script: &str, folder: &Path) -> String {
    let (name, path) = (&interface.name, folder.display());
    let mut out = format!(
        "port=0\ninterface={name}\nexcept-interface=lo\nbind-interfaces\nuser=root\ngroup=root\n\
         pid-file={path}/dnsmasq.pid\ndhcp-leasefile={path}/leases\nlog-facility={path}/dnsmasq.log\nlog-dhcp\n\
         dhcp-authoritative\ndhcp-range={},static,{},1h\ndhcp-option=option:router\n",
        interface.network(),
        interface.mask()
    );
    for node in nodes {
        let _ = writeln!(out, "dhcp-host={},{},{}", node.mac, node.address, node.name);
    }
    let _ = write!(out, "enable-tftp\ntftp-root={path}/tftp\ndhcp-match=set:ipxe,175\n");
    for kind in OTHERS {
        let _ = writeln!(out, "dhcp-match=set:other,option:client-arch,{kind}");
    }
    for Ipxe { tag, kinds, .. } in &IPXE {
        for kind in *kinds {
            let _ = writeln!(out, "dhcp-match=set:{tag},option:client-arch,{kind}");
        }
    }
    let _ = writeln!(out, "dhcp-boot=tag:ipxe,{script}");
    let mut no_other = String::from("tag:!ipxe,tag:!other");
    for Ipxe { file, tag, .. } in IPXE.iter().filter(|one| one.file != BIOS) {
        let _ = write!(no_other, ",tag:!{tag}");
        let _ = writeln!(out, "dhcp-boot=tag:!ipxe,tag:{tag},{file}");
    }
    let _ = writeln!(out, "dhcp-boot={no_other},{BIOS}");
    if interface.has_ipv6 {
        // iPXE waits 13 s for an advertisement. This one makes nobody a router.
        let _ =
            writeln!(out, "enable-ra\nra-param={name},10,0\ndhcp-range=::,constructor:{name},ra-only,64,1h");
    }
    out
}

/// A dnsmasq that serves; it ends with this value and with this process.
#[derive(Debug)]
pub struct Dnsmasq {
    child: ProcessGroup,
    /// Its stderr.
    said: File,
    log: Log,
}

impl Dnsmasq {
    /// Starts it with files in `folder`. iPXE is told to load `script`, a URL. Call it from a thread that lasts.
    pub fn start(
        interface: &Interface,
        nodes: &[Known],
        script: &str,
        folder: &Path,
        stop: &Stop,
    ) -> Result<Dnsmasq, DnsmasqError> {
        let files = |error: std::io::Error| DnsmasqError::Files(format!("{}: {error}", folder.display()));
        let tftp = folder.join("tftp");
        std::fs::create_dir_all(&tftp).map_err(files)?;
        for Ipxe { file, may_lack, .. } in &IPXE {
            let mut places = IPXE_FOLDERS.iter().map(|folder| Path::new(folder).join(file));
            match places.find(|path| path.exists()) {
                Some(found) => drop(std::fs::copy(found, tftp.join(file)).map_err(files)?),
                None if *may_lack => {}
                None => return Err(DnsmasqError::NoIpxe(file)),
            }
        }
        let config = folder.join("dnsmasq.conf");
        let text = configuration(interface, nodes, script, folder);
        sys::files::atomic_write(&config, text.as_bytes(), 0o600)
            .map_err(|error| DnsmasqError::Files(error.to_string()))?;
        let command = || {
            let mut command = Command::new("dnsmasq");
            command.arg("-C").arg(&config);
            command
        };
        let mut test = command();
        test.arg("--test");
        let tested = child::run(test, b"", Limit::from_now(stop, Some(PATIENCE)))
            .map_err(|error| DnsmasqError::Missing(format!("{error:?}")))?;
        if !tested.status.success() {
            return Err(DnsmasqError::Refused(tested.stderr.trim().escape_debug().to_string()));
        }
        let mut serve = command();
        let said = child::in_memory(b"").map_err(files)?;
        let stderr = said.try_clone().map_err(files)?;
        serve.arg("-k").stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let child = ProcessGroup::spawn(serve, Start { die_with_parent: true, ..Start::default() })
            .map_err(|error| DnsmasqError::Missing(error.to_string()))?;
        let log = Log { path: folder.join("dnsmasq.log"), at: 0, rest: String::new(), firmware: None };
        Ok(Dnsmasq { child, said, log })
    }

    /// Its log since the last call. Fails if it has ended.
    pub fn events(&mut self) -> Result<Vec<Event>, DnsmasqError> {
        let events = self.log.events();
        match self.child.try_wait() {
            Ok(None) => Ok(events),
            Ok(Some(exit)) => {
                let mut said = String::new();
                let read = self.said.rewind().and_then(|()| self.said.read_to_string(&mut said));
                let said = read.map_or_else(|error| error.to_string(), |_| said.trim().to_owned());
                Err(DnsmasqError::Ended(format!("{}: {}", exit.status, said.escape_debug())))
            }
            Err(error) => Err(DnsmasqError::Ended(error.to_string())),
        }
    }
}

/// Something that its log tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A MAC address got its address.
    Given { mac: Mac, address: Ipv4Addr },
    /// A MAC address asked that no node has.
    Unknown { mac: Mac },
    /// The planned address was not given, since another MAC address holds it.
    Taken { address: Ipv4Addr, by: Mac },
    /// A MAC address asked whose firmware is of a kind that gets no iPXE.
    NoIpxe { mac: Mac, kind: u16 },
}

/// A log that grows.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    at: u64,
    /// The beginning of a line whose end has not come.
    rest: String,
    /// The request whose firmware was named last, by dnsmasq's number of it, with the kind.
    firmware: Option<(String, u16)>,
}

impl Log {
    fn events(&mut self) -> Vec<Event> {
        let mut bytes = Vec::new();
        // The file comes with the first line.
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.at))?;
            file.read_to_end(&mut bytes)
        });
        self.at += read.unwrap_or(0) as u64;
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        let whole = self.rest.rfind('\n').map_or(0, |end| end + 1);
        let lines: String = self.rest.drain(..whole).collect();
        lines.lines().flat_map(|line| self.firmware(line).into_iter().chain(event(line))).collect()
    }

    /// A line names the firmware (`7 vendor class: PXEClient:Arch:00006:UNDI:003000`) before the one of the request.
    fn firmware(&mut self, line: &str) -> Option<Event> {
        let text = line.split_once("]: ")?.1;
        let (number, text) = text.split_once(' ')?;
        if let Some((_, rest)) = text.split_once("vendor class: PXEClient:Arch:") {
            let kind = rest.get(..5).and_then(|digits| digits.parse().ok())?;
            self.firmware = Some((number.to_owned(), kind));
            return None;
        }
        let (of, kind) = self.firmware.as_ref()?;
        let is_asked = text.starts_with("DHCPDISCOVER(") && of == number && OTHERS.contains(kind);
        let mac = text.split_whitespace().find_map(|word| word.parse().ok())?;
        is_asked.then_some(Event::NoIpxe { mac, kind: *kind })
    }
}

fn event(line: &str) -> Option<Event> {
    if let Some((_, rest)) = line.split_once("not using configured address ") {
        let (address, by) = rest.split_once(" because it is leased to ")?;
        return Some(Event::Taken { address: address.parse().ok()?, by: by.trim().parse().ok()? });
    }
    let mut words = line.split_whitespace();
    let kind = words.find(|word| word.starts_with("DHCP"))?;
    let rest: Vec<&str> = words.collect();
    if kind.starts_with("DHCPACK(") {
        let (address, mac) = (rest.first()?.parse().ok()?, rest.get(1)?.parse().ok()?);
        return Some(Event::Given { mac, address });
    }
    if kind.starts_with("DHCPDISCOVER(") && line.contains("no address available") {
        return Some(Event::Unknown { mac: rest.iter().find_map(|word| word.parse().ok())? });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
Nov 20 10:00:00 dnsmasq-dhcp[7]: 1 available DHCP subnet: 10.88.0.0/255.255.255.0
Nov 20 10:00:00 dnsmasq-dhcp[7]: 1 DHCPDISCOVER(br0) 52:54:00:88:00:01
Nov 20 10:00:00 dnsmasq-dhcp[7]: 1 DHCPACK(br0) 10.88.0.101 52:54:00:88:00:01 atom001
Nov 20 10:00:01 dnsmasq-dhcp[7]: 2 DHCPDISCOVER(br0) 52:54:00:88:00:09 no address available
Nov 20 10:00:02 dnsmasq-dhcp[7]: not using configured address 10.88.0.102 because it is leased to 52:54:00:88:00:03
Nov 20 10:00:02 dnsmasq-tftp[7]: sent /x/undionly.kpxe to 10.88.0.101
Nov 20 10:00:03 dnsmasq-dhcp[7]: 3 vendor class: PXEClient:Arch:00006:UNDI:003016
Nov 20 10:00:03 dnsmasq-dhcp[7]: 3 DHCPDISCOVER(br0) 52:54:00:88:00:04
Nov 20 10:00:03 dnsmasq-dhcp[7]: 4 vendor class: PXEClient:Arch:00007:UNDI:003016
Nov 20 10:00:03 dnsmasq-dhcp[7]: 4 DHCPDISCOVER(br0) 52:54:00:88:00:05
";

    #[test]
    fn a_log_is_read_as_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = Log { path: path.clone(), at: 0, rest: String::new(), firmware: None };
        assert!(log.events().is_empty());
        let half = LOG.len() / 2;
        std::fs::write(&path, &LOG[..half]).unwrap();
        let mut events = log.events();
        std::fs::write(&path, LOG).unwrap();
        events.extend(log.events());
        let mac = |last: u8| Mac([0x52, 0x54, 0, 0x88, 0, last]);
        let address = |last: u8| Ipv4Addr::new(10, 88, 0, last);
        let wanted = [
            Event::Given { mac: mac(1), address: address(101) },
            Event::Unknown { mac: mac(9) },
            Event::Taken { address: address(102), by: mac(3) },
            Event::NoIpxe { mac: mac(4), kind: 6 },
        ];
        assert_eq!(events, wanted);
        assert!(log.events().is_empty());
    }

    #[test]
    fn dnsmasq_takes_the_configuration() {
        let interface = Interface {
            name: "lo".into(),
            address: Ipv4Addr::new(10, 88, 0, 1),
            prefix: 24,
            is_leased: false,
            has_ipv6: true,
        };
        let node =
            Known { name: "a1".into(), mac: Mac([2, 0, 0, 0, 0, 1]), address: Ipv4Addr::new(10, 88, 0, 5) };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("conf");
        let text = configuration(&interface, &[node], "http://10.88.0.1:1/boot.ipxe", dir.path());
        std::fs::create_dir(dir.path().join("tftp")).unwrap();
        std::fs::write(&path, &text).unwrap();
        let done = Command::new("dnsmasq").arg("--test").arg("-C").arg(&path).output();
        let done =
            done.unwrap_or_else(|error| panic!("dnsmasq: {error}; `sh xtask/setup.sh test` installs it"));
        assert!(done.status.success(), "{done:?}\n{text}");
    }
}
