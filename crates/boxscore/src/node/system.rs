//! The parts of a booted node's system that boxscore sets up itself: file systems, drivers, the network card.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use lab::boot::modules::Modules;
use lab::inventory::Mac;

use super::settings::Settings;
use crate::error::CliError;

/// How long the card may take to appear once its driver is loaded.
const PATIENCE_NS: u64 = 20_000_000_000;
const PAUSE: Duration = Duration::from_millis(100);

pub fn mount() -> Result<(), CliError> {
    for (kind, at) in
        [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp"), ("tmpfs", "/run")]
    {
        sys::first::mount(kind, at)?;
    }
    std::fs::create_dir_all("/dev/shm").map_err(|error| CliError::data(format!("/dev/shm: {error}")))?;
    sys::first::mount("tmpfs", "/dev/shm")?;
    Ok(())
}

/// Loads what the devices of this machine want, until no new device appears. Gives back what could not be loaded.
pub fn load_modules(folder: &Path) -> Result<Vec<String>, CliError> {
    let text = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|error| CliError::data(format!("{}: {error}", path.display())))
    };
    let modules = Modules::read(&text("modules.dep")?, &text("modules.alias")?);
    let (mut done, mut failed) = (BTreeSet::new(), Vec::new());
    loop {
        let before = done.len();
        for alias in aliases() {
            for path in modules.wanted(&alias).flat_map(|name| modules.order(name)) {
                let file = folder.join(path);
                // Drivers that are of no use here were left out of the image.
                if !file.exists() || !done.insert(path.to_owned()) {
                    continue;
                }
                if let Err(why) = load(&file) {
                    failed.push(format!("{path}: {why}"));
                }
            }
        }
        if done.len() == before {
            return Ok(failed);
        }
    }
}

fn load(path: &Path) -> Result<(), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let is_compressed = path.extension().is_none_or(|end| end != "ko");
    sys::first::load_module(&file, is_compressed).map_err(|error| error.to_string())
}

/// The text by which each device of every bus names itself.
fn aliases() -> BTreeSet<String> {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let buses = folders(Path::new("/sys/bus")).map(|bus| bus.path().join("devices"));
    let devices = buses.flat_map(|bus| folders(&bus).map(|device| device.path()).collect::<Vec<_>>());
    devices
        .filter_map(|device| std::fs::read_to_string(device.join("modalias")).ok())
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

/// Gives the card with the node's MAC address its address, and the machine its name.
pub fn bring_up(settings: &Settings) -> Result<(), CliError> {
    sys::first::set_host_name(&settings.name)?;
    sys::first::bring_up("lo")?;
    sys::first::set_address("lo", Ipv4Addr::LOCALHOST, Ipv4Addr::new(255, 0, 0, 0))?;
    let until_ns = sys::clock::now_ns().saturating_add(PATIENCE_NS);
    let card = loop {
        match card(settings.mac) {
            Some(card) => break card,
            None if sys::clock::now_ns() < until_ns => std::thread::sleep(PAUSE),
            None => {
                let what =
                    format!("there is no network card {}: its driver is not in the image", settings.mac);
                return Err(CliError::data(what));
            }
        }
    };
    sys::first::set_address(&card, settings.address, settings.mask())?;
    sys::first::bring_up(&card)?;
    Ok(())
}

fn card(mac: Mac) -> Option<String> {
    let cards = std::fs::read_dir("/sys/class/net").ok()?.filter_map(Result::ok);
    let is_it = |path: &Path| {
        let text = std::fs::read_to_string(path.join("address")).unwrap_or_default();
        text.trim().parse() == Ok(mac)
    };
    cards.map(|card| card.path()).find(|path| is_it(path))?.file_name()?.to_str().map(str::to_owned)
}
