//! An image that a booted node writes onto one of its disks: by an order that names the disk as the user has agreed to,
//! and never onto another one. What was written is read back from the disk. Sizes are bytes.

use std::fs::File;
use std::io::{Read, Result, Write};
use std::path::{Path, PathBuf};

use lab::boot::disk_image::{fill, unpacked};
use lab::boot::http;
use lab::sha256::Sha256;
use serde::{Deserialize, Serialize};

use super::disks::{self, Disk};
use super::settings::Settings;

/// The path of the image at the controller, before the node's key.
pub const IMAGE: &str = "/image/";

/// Bytes that are written at once, and those after which the disk must have them.
const PIECE: usize = 1 << 20;
const SYNC: u64 = 64 << 20;

/// How often the controller is told how far it is.
const TELL_NS: u64 = 1_000_000_000;

/// An image for a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// As it was when the user agreed.
    pub disk: Disk,
    /// Of the image, unpacked.
    pub bytes: u64,
    pub sha256: String,
}

/// Something that a node says while it carries out an order. It ends with `Done`, with `Refused` where no byte was
/// written, or with `Failed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    Written(u64),
    ReadBack(u64),
    Done,
    Refused(String),
    Failed(String),
}

/// Carries out an order. Fails where nobody listens any more; what else goes wrong is said.
pub fn carry_out(order: &Order, settings: &Settings, say: &mut dyn FnMut(&Said) -> Result<()>) -> Result<()> {
    if let Some(why) = objection(order, settings, &disks::all(&disks::here())) {
        return say(&Said::Refused(why));
    }
    let path = PathBuf::from("/dev").join(&order.disk.name);
    let disk = match sys::block::open_alone(&path) {
        Ok(disk) => disk,
        Err(error) => return say(&Said::Refused(error.to_string())),
    };
    match written(order, settings, (&path, disk), &mut Paced { say, last_ns: 0 }) {
        Ok(()) => say(&Said::Done),
        Err(why) => say(&Said::Failed(why)),
    }
}

/// Why an order is not carried out on a machine with these disks.
fn objection(order: &Order, settings: &Settings, disks: &[Disk]) -> Option<String> {
    let wanted = &order.disk;
    if !settings.may_write {
        return Some("it was not booted to have a disk written".to_owned());
    }
    let Some(disk) = disks.iter().find(|disk| disk.name == wanted.name) else {
        return Some(format!("it has no disk {} any more", wanted.name));
    };
    if !disk.is_same(wanted) {
        return Some(format!("{} is not what was agreed to: it is {}", wanted.shown(), disk.shown()));
    }
    if !disk.uses.is_empty() {
        return Some(format!("{} is in use: {}", disk.name, disk.uses.join(", ")));
    }
    (order.bytes > disk.bytes)
        .then(|| format!("the image has {} bytes, and {} has {}", order.bytes, disk.name, disk.bytes))
}

/// Tells the controller how far it is, not too often.
struct Paced<'a> {
    say: &'a mut dyn FnMut(&Said) -> Result<()>,
    last_ns: u64,
}

impl Paced<'_> {
    fn say(&mut self, said: &Said) -> std::result::Result<(), String> {
        let now_ns = sys::clock::now_ns();
        if now_ns.saturating_sub(self.last_ns) < TELL_NS {
            return Ok(());
        }
        self.last_ns = now_ns;
        (self.say)(said).map_err(|error| format!("the controller does not listen any more: {error}"))
    }
}

/// Writes the image onto the disk and reads it back.
fn written(
    order: &Order,
    settings: &Settings,
    (path, mut disk): (&Path, File),
    paced: &mut Paced<'_>,
) -> std::result::Result<(), String> {
    let wrong = |error: std::io::Error| format!("the image does not come: {error}");
    let packed = http::get(settings.controller, &format!("{IMAGE}{}", settings.key)).map_err(wrong)?;
    let mut image = unpacked(packed).map_err(wrong)?;
    let device = disk.try_clone().map_err(|error| error.to_string())?;
    let sync = || device.sync_data();
    pour(&mut image, &mut disk, sync, order, |bytes| paced.say(&Said::Written(bytes)))?;
    // The disk stays ours until it was read back.
    let (mut hash, mut bytes, mut told) = (Sha256::new(), 0, Ok(()));
    sys::block::read_direct(path, order.bytes, |piece| {
        hash.add(piece);
        bytes += piece.len() as u64;
        told = paced.say(&Said::ReadBack(bytes));
        told.is_ok()
    })
    .map_err(|error| error.to_string())?;
    told?;
    let found = hash.digits();
    match found == order.sha256 {
        true => Ok(()),
        false => Err(format!("{} gives back other bytes than were written: sha256 {found}", order.disk.name)),
    }
}

/// Writes the whole image. Fails where what comes is not the image of the order; the disk then has a part of it.
fn pour(
    image: &mut impl Read,
    disk: &mut impl Write,
    sync: impl Fn() -> Result<()>,
    order: &Order,
    mut told: impl FnMut(u64) -> std::result::Result<(), String>,
) -> std::result::Result<(), String> {
    let name = &order.disk.name;
    let wrong = |error: std::io::Error| format!("{name} cannot be written to: {error}");
    let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0_u64, vec![0; PIECE]);
    loop {
        let count = fill(image, &mut piece).map_err(|error| format!("the image does not come: {error}"))?;
        if count == 0 {
            break;
        }
        if bytes + count as u64 > order.bytes {
            return Err("the image is longer than it was: did its file change?".to_owned());
        }
        disk.write_all(&piece[..count]).map_err(wrong)?;
        hash.add(&piece[..count]);
        let before = bytes;
        bytes += count as u64;
        if before / SYNC < bytes / SYNC {
            sync().map_err(wrong)?;
        }
        told(bytes)?;
    }
    disk.flush().and_then(|()| sync()).map_err(wrong)?;
    match bytes == order.bytes && hash.digits() == order.sha256 {
        true => Ok(()),
        false => Err("what came is not the image that was read before: did its file change?".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(serial: &str) -> Disk {
        let serial = Some(serial.to_owned());
        Disk { name: "vda".into(), model: None, serial, bytes: 1024, uses: Vec::new() }
    }

    fn settings(may_write: bool) -> Settings {
        let text = "boxscore.name=a boxscore.key=k boxscore.controller=10.0.0.1:1 boxscore.mac=02:00:00:00:00:01 \
                    boxscore.ip=10.0.0.2/24";
        Settings { may_write, ..Settings::read(text).unwrap() }
    }

    #[test]
    fn an_order_holds_for_the_disk_that_was_agreed_to_alone() {
        let order = Order { disk: disk("S1"), bytes: 1024, sha256: String::new() };
        let says = |disks: &[Disk]| objection(&order, &settings(true), disks).unwrap_or_default();
        assert_eq!(says(&[disk("S1")]), "");
        assert!(says(&[disk("S2")]).contains("it is vda (no model, serial S2"), "{}", says(&[disk("S2")]));
        assert!(says(&[Disk { model: Some("x".into()), ..disk("S1") }]).contains("not what was agreed to"));
        assert!(says(&[Disk { bytes: 2048, ..disk("S1") }]).contains("not what was agreed to"));
        assert_eq!(says(&[]), "it has no disk vda any more");
        let used = Disk { uses: vec!["vda1 is mounted at /".into()], ..disk("S1") };
        assert_eq!(says(&[used]), "vda is in use: vda1 is mounted at /");
        let large = Order { bytes: 1025, ..order.clone() };
        assert!(objection(&large, &settings(true), &[disk("S1")]).unwrap().contains("1025 bytes"));
        assert!(objection(&order, &settings(false), &[disk("S1")]).unwrap().contains("not booted"));
    }

    #[test]
    fn what_comes_must_be_the_image_of_the_order() {
        let image: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 3) as u8).collect();
        let mut hash = Sha256::new();
        hash.add(&image);
        let order = Order { disk: disk("S1"), bytes: image.len() as u64, sha256: hash.digits() };
        let pour = |image: &[u8]| {
            let mut disk = Vec::new();
            let came = pour(&mut &image[..], &mut disk, || Ok(()), &order, |_| Ok(()));
            came.map(|()| disk)
        };
        assert!(pour(&image).unwrap() == image);
        assert!(pour(&image[1..]).unwrap_err().contains("is not the image"));
        assert!(pour(&[&image[..], b"x"].concat()).unwrap_err().contains("longer"));
        let mut other = image.clone();
        other[2_000_000] ^= 1;
        assert!(pour(&other).unwrap_err().contains("is not the image"));
    }
}
