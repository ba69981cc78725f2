//! `boxscore lab boot`: nodes booted from the network, each watched from its switch to its spec sheet; then an image on
//! its disk, or a quick score of it, where that is wanted.
//!
//! dnsmasq, the HTTP server and their files are this command's own, and end with it. What the nodes run stays in their
//! memory.

mod follow;
mod program;
mod score;
mod station;
mod told;
mod write;

use std::fs::DirBuilder;
use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lab::bmc::boot::{self, Boot, Device};
use lab::bmc::power::{Action, carry_out};
use lab::bmc::{Access, Bmcs, Failure, State, reached};
use lab::boot::dnsmasq::{Dnsmasq, DnsmasqError, Known};
use lab::boot::http::Server;
use lab::boot::image::{BadImage, Image, architecture};
use lab::boot::interface::{BadInterface, Interface};
use lab::boot::watch::Stage;
use lab::private::PrivateFolder;
use lab::ranges::fold;
use lab::stop::Stop;
use model::format::count;

use self::follow::Follow;
use self::station::{SCRIPT, Station};
use self::write::Wish;
use super::bmc::{self, Nodes};
use super::reach;
use crate::cli::Global;
use crate::cli::lab::boot::BootArgs;
use crate::error::CliError;
use crate::lookup::paths;
use crate::node::settings::Settings;
use crate::{node, out};

/// The kernel's command line of the discovery image. A machine that panics restarts.
const COMMAND_LINE: &str = "console=tty0 console=ttyS0,115200 quiet panic=30";

impl From<BadInterface> for CliError {
    fn from(error: BadInterface) -> CliError {
        CliError::data(error.to_string())
    }
}

impl From<BadImage> for CliError {
    fn from(error: BadImage) -> CliError {
        CliError::data(error.to_string())
    }
}

impl From<DnsmasqError> for CliError {
    fn from(error: DnsmasqError) -> CliError {
        CliError::data(error.to_string())
    }
}

pub fn run(args: &BootArgs, global: &Global) -> Result<u8, CliError> {
    let patience = reach::span("--wait", &args.wait)?;
    let stop = reach::stop()?;
    let nodes = Nodes::select(&args.expressions, &args.select)?;
    let interface = interface(args, &stop)?;
    let known = known(&nodes, &interface)?;
    let score = score::Score::read(args, global)?;
    let wish = Wish::read(&args.write, &stop, global.json)?;
    if !bmc::agreed(&what(args, &nodes, &interface, wish.as_ref()), true, (args.dry_run, args.yes), global)? {
        return Ok(0);
    }
    if sys::files::effective_ids().0 != 0 {
        return Err(CliError::data("DHCP and TFTP need root").hint("sudo boxscore lab boot ..."));
    }
    let disk_image = wish.as_ref().map(|wish| wish.image.path.clone());
    let station = Arc::new(Station::new(&known, interface.prefix, image(args)?, disk_image)?);
    let folder = folder(&interface.name)?;
    let server = serve(&interface, &station)?;
    let script = format!("http://{}{SCRIPT}", server.address);
    let dnsmasq = Dnsmasq::start(&interface, &known, &script, &folder, &stop)?;
    let last = if args.image.is_some() { Stage::Kernel } else { Stage::Inspected };
    let accesses = if args.no_power { Vec::new() } else { nodes.accesses() };
    let mut follow = Follow::new(known, last, &station, dnsmasq, paths::store(global)?);
    watch(&mut follow, &accesses, args, patience, (&stop, global))?;
    follow.clear(&accesses, args.bmc.insecure);
    let settings: Vec<Option<Settings>> =
        (0..follow.tracks.len()).map(|place| station.settings(place)).collect();
    let ways = if args.image.is_some() { Vec::new() } else { ways(&settings, &folder)? };
    let disks = match &wish {
        Some(wish) => {
            let agree = |what: &str| bmc::agreed(what, true, (false, args.yes), global);
            write::carry_out(wish, &mut follow, &settings, agree, &stop)?
        }
        None => Vec::new(),
    };
    drop(server);
    let runs =
        score.as_ref().map_or_else(|| Ok(Vec::new()), |score| score.take(&mut follow, &ways, &stop))?;
    let last = if wish.is_some() {
        Stage::Written
    } else if score.is_some() {
        Stage::Scored
    } else {
        last
    };
    let made = told::Made { ways, disks, runs };
    let mut document = told::document(&interface.name, &follow.tracks, last, &made);
    (document.unknown, document.notes) = (follow.unknown, follow.notes);
    document.interrupted = stop.is_requested();
    match global.json {
        true => out::json(&document),
        false => {
            out::print(&told::text(&document));
            out::say_all(&told::talk(&document));
        }
    }
    Ok(reach::code(document.nodes.iter().all(|one| one.ok), document.interrupted))
}

/// The deed that is to be agreed to, in words.
fn what(args: &BootArgs, nodes: &Nodes, interface: &Interface, wish: Option<&Wish>) -> String {
    let Interface { name, address, prefix, .. } = interface;
    let power = if args.no_power { "to be turned on by hand" } else { "turned on, or off and on" };
    let wish = wish.map(|wish| format!(", then {}", wish.shown())).unwrap_or_default();
    let (how_many, nodes) = (count(nodes.names.len(), "node"), nodes.folded());
    format!("boot from {name} ({address}/{prefix}), {power}{wish}: {how_many}: {nodes}")
}

/// Serves the nodes on an interface.
fn serve(interface: &Interface, station: &Arc<Station>) -> Result<Server, CliError> {
    let (answers, sent) = (Arc::clone(station), Arc::clone(station));
    let server =
        Server::start(interface.address, move |asked| answers.answer(asked), move |asked| sent.sent(asked))
            .map_err(|error| CliError::data(format!("{}: no HTTP server: {error}", interface.address)))?;
    // Nobody else sets it.
    let _first = station.at.set(server.address);
    if !interface.has_ipv6 {
        out::say(&format!(
            "note: {} has no global IPv6 address, so iPXE waits 13 s for a router: ip addr add fd88::1/64 dev {0}",
            interface.name
        ));
    }
    Ok(server)
}

/// Switches the nodes on and follows them.
fn watch(
    follow: &mut Follow<'_>,
    accesses: &[Result<Access, Failure>],
    args: &BootArgs,
    patience: Duration,
    (stop, global): (&Stop, &Global),
) -> Result<(), CliError> {
    let pxe = Boot { device: Device::Pxe, persistent: false, efi: args.efi };
    std::thread::scope(|scope| {
        let (give, switched) = std::sync::mpsc::channel();
        let insecure = args.bmc.insecure;
        scope.spawn(move || give.send(switch(accesses, pxe, insecure, patience, stop)));
        let went = follow.until(patience, stop, global.json, &switched);
        if went.is_err() {
            stop.request();
        }
        went
    })
}

/// The interface of the arguments. Fails where another DHCP server is on its network, unless that is agreed to.
fn interface(args: &BootArgs, stop: &Stop) -> Result<Interface, CliError> {
    let interface = Interface::find(&args.interface, stop)?;
    if interface.is_leased && !args.beside_dhcp {
        let what = format!(
            "another DHCP server gave {} its address, and would answer these nodes too",
            interface.name
        );
        return Err(CliError::data(what).hint("use an interface of its own, or --beside-dhcp"));
    }
    Ok(interface)
}

/// The nodes as DHCP knows them. Fails with the names of those that cannot be served.
fn known(nodes: &Nodes, interface: &Interface) -> Result<Vec<Known>, CliError> {
    let (mut known, mut bad) = (Vec::new(), Vec::new());
    for node in nodes.nodes() {
        let address = node.address.parse::<Ipv4Addr>().ok().filter(|address| interface.may_serve(*address));
        match (node.mac, address) {
            (Some(mac), Some(address)) => known.push(Known { name: node.name.clone(), mac, address }),
            (None, _) => bad.push(("no `mac`".to_owned(), node.name.as_str())),
            (_, None) => {
                let network = format!("{}/{}", interface.network(), interface.prefix);
                bad.push((format!("no address of {network}"), node.name.as_str()));
            }
        }
    }
    let twice = |one: &Known| known.iter().filter(|other| other.mac == one.mac).count() > 1;
    bad.extend(
        known
            .iter()
            .filter(|one| twice(one))
            .map(|one| (format!("all have the MAC {}", one.mac), one.name.as_str())),
    );
    if bad.is_empty() {
        return Ok(known);
    }
    let groups = lab::ssh::fold::by_text(bad);
    let says = |(why, names): &(String, Vec<&str>)| format!("{}: {why}", fold(names.iter().copied()));
    let all: Vec<String> = groups.iter().map(says).collect();
    Err(CliError::data(format!("these nodes cannot be booted: {}", all.join("; ")))
        .hint("`boxscore lab plan --macs` writes both into lab.toml"))
}

/// The image that is served: the user's, or a kernel with boxscore.
fn image(args: &BootArgs) -> Result<Image, CliError> {
    if let Some(folder) = &args.image {
        return Ok(Image::of_folder(folder)?);
    }
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_err(|error| CliError::data(format!("/proc/sys/kernel/osrelease: {error}")))?;
    let release = release.trim();
    let kernel = args.kernel.clone().unwrap_or_else(|| PathBuf::from(format!("/boot/vmlinuz-{release}")));
    let modules = args.modules.clone().unwrap_or_else(|| PathBuf::from(format!("/lib/modules/{release}")));
    let append = args.append.as_deref().map(|words| format!(" {words}")).unwrap_or_default();
    if append.contains(['\n', '\0']) {
        return Err(CliError::usage("--append: a command line of a kernel is one line"));
    }
    let hint = "--kernel FILE --modules DIR name those of an unpacked kernel package";
    let found = std::fs::read(&kernel)
        .map_err(|error| CliError::data(format!("{}: {error}", kernel.display())).hint(hint))?;
    let program = program::files(architecture(&found), args.binaries.as_deref())?;
    Image::discovery(found, &modules, &program, &format!("{COMMAND_LINE}{append}"))
        .map_err(|error| CliError::from(error).hint(hint))
}

/// A folder for the files of this boot, which nobody else may enter. Those of an earlier one on this interface go.
fn folder(interface: &str) -> Result<PathBuf, CliError> {
    let folder = PrivateFolder::open()?.path().join(format!("boot-{interface}"));
    let wrong = |error: std::io::Error| CliError::data(format!("{}: {error}", folder.display()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(wrong)?;
    }
    DirBuilder::new().mode(0o700).create(&folder).map_err(wrong)?;
    Ok(folder)
}

/// Sets the nodes to boot from the network once, and turns each on, or off and on.
fn switch(
    accesses: &[Result<Access, Failure>],
    pxe: Boot,
    insecure: bool,
    patience: Duration,
    stop: &Stop,
) -> Vec<Result<State, Failure>> {
    let bmcs = Bmcs::new(None, insecure, stop);
    reached(accesses, |all| {
        let set = boot::set(&bmcs, pxe, all);
        let ready: Vec<&Access> =
            all.iter().zip(&set).filter(|(_, set)| set.is_ok()).map(|(access, _)| *access).collect();
        let mut states = carry_out(&bmcs, Action::Cycle, &ready, patience, stop, &mut |_| {}).into_iter();
        let state =
            |set: Result<Boot, Failure>| set.and_then(|_| states.next().unwrap_or(Err(Failure::Interrupted)));
        set.into_iter().map(state).collect()
    })
}

/// Writes how the agent of each node is reached, and gives back the commands of `--via`.
fn ways(settings: &[Option<Settings>], folder: &Path) -> Result<Vec<String>, CliError> {
    let exe = std::env::current_exe().map_err(|error| CliError::data(format!("/proc/self/exe: {error}")))?;
    let way = |settings: &Option<Settings>| {
        let Some(settings) = settings else { return Ok(String::new()) };
        let path = folder.join(format!("{}.way", settings.name));
        paths::write(&path, node::way(settings).as_bytes())?;
        let word = |path: &Path| model::shell::word(&path.to_string_lossy());
        Ok(format!("{} dial {}", word(&exe), word(&path)))
    };
    settings.iter().map(way).collect()
}
