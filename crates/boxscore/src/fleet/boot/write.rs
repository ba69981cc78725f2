//! `lab boot --write`: an image on a disk of each node that is up. Nodes say which disks they have, the user agrees to
//! the list of those that will be lost, and each node writes, reads back and says how far it is. A node that fails is
//! its own fault; the others go on. Sizes are bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use lab::boot::disk_image::DiskImage;
use lab::boot::watch::Stage;
use lab::fan_out;
use lab::ranges::fold;
use lab::stop::Stop;
use model::Unit;
use model::doc::LabBootDiskDoc;
use model::format::quantity;

use super::follow::Follow;
use crate::error::{CliError, Kind};
use crate::fleet::reach;
use crate::node::disks::Disk;
use crate::node::settings::Settings;
use crate::node::write::{Order, Said};
use crate::node::{DISKS, WRITE, connect};
use crate::out;

/// Nodes that are written at once, and asked at once.
const WIDTH: usize = 32;
/// How often a node that says nothing is looked at, and how long it may say nothing.
const LOOK: Duration = Duration::from_millis(200);
const SILENCE_NS: u64 = 300_000_000_000;
/// Bytes of a line that a node says.
const LONGEST: usize = 1 << 20;

/// An image, and the disk of each node that it is for.
pub struct Wish {
    pub image: DiskImage,
    /// Its name (`sda`) or its serial number.
    disk: String,
}

impl Wish {
    /// Reads the image, so that its size and hash are known. `None` without the two words of `--write`.
    pub fn read(words: &[String], stop: &Stop, json: bool) -> Result<Option<Wish>, CliError> {
        let [disk, path] = words else { return Ok(None) };
        let mut canvas = if json { None } else { out::Canvas::open() };
        let mut shown = 0;
        let image = DiskImage::read(path.as_ref(), stop, |bytes| {
            let Some(canvas) = &mut canvas else { return };
            if bytes - shown > 64 << 20 {
                shown = bytes;
                canvas.draw(&format!("reading {path}: {}", size(bytes)));
            }
        });
        if let Some(canvas) = &mut canvas {
            canvas.clear();
        }
        let disk = disk.strip_prefix("/dev/").unwrap_or(disk).to_owned();
        match image {
            Ok(image) => Ok(Some(Wish { image, disk })),
            Err(_) if stop.is_requested() => Err(CliError::interrupted("interrupted; nothing was done")),
            Err(error) => Err(CliError::data(format!("--write: {error}"))),
        }
    }

    /// The wish in words.
    pub fn shown(&self) -> String {
        let DiskImage { path, bytes, sha256 } = &self.image;
        let hash = sha256.get(..16).unwrap_or_default();
        format!("write {} ({}, sha256 {hash}...) onto {}", path.display(), size(*bytes), self.disk)
    }

    /// The one disk of a node that is meant. The error says why there is none.
    fn choose(&self, disks: &[Disk]) -> Result<Disk, String> {
        let is_it = |disk: &&Disk| disk.name == self.disk || disk.serial.as_ref() == Some(&self.disk);
        let found: Vec<&Disk> = disks.iter().filter(is_it).collect();
        let shown = |disks: &[&Disk]| disks.iter().map(|disk| disk.shown()).collect::<Vec<_>>().join(", ");
        let disk = match found.as_slice() {
            [one] => *one,
            [] if disks.is_empty() => return Err("it has no disk".to_owned()),
            [] => {
                let all: Vec<&Disk> = disks.iter().collect();
                return Err(format!("it has no disk `{}`; it has {}", self.disk.escape_debug(), shown(&all)));
            }
            several => {
                return Err(format!(
                    "`{}` is more than one disk: {}",
                    self.disk.escape_debug(),
                    shown(several)
                ));
            }
        };
        if disk.serial.is_none() {
            return Err(format!(
                "{} has no serial number, by which it could be told from another",
                disk.name
            ));
        }
        if !disk.uses.is_empty() {
            return Err(format!("{} is in use: {}", disk.name, disk.uses.join(", ")));
        }
        if self.image.bytes > disk.bytes {
            let (image, room) = (self.image.bytes, disk.bytes);
            return Err(format!("the image has {image} bytes, and {} has {room}", disk.shown()));
        }
        Ok(disk.clone())
    }
}

fn size(bytes: u64) -> String {
    quantity(bytes as f64, Unit::Byte)
}

/// A node with its chosen disk.
struct Target {
    place: usize,
    settings: Settings,
    order: Order,
}

/// Writes the image on each node that is up, once `agree` has agreed to the list. Gives the disk of each node. Fails
/// where that is not agreed to, or no thread can be started.
pub fn carry_out(
    wish: &Wish,
    follow: &mut Follow<'_>,
    settings: &[Option<Settings>],
    agree: impl FnOnce(&str) -> Result<bool, CliError>,
    stop: &Stop,
) -> Result<Vec<Option<LabBootDiskDoc>>, CliError> {
    let mut disks: Vec<Option<LabBootDiskDoc>> = vec![None; settings.len()];
    let targets = targets(wish, follow, settings)?;
    if targets.is_empty() || stop.is_requested() {
        return Ok(disks);
    }
    out::say_all(&list(&targets));
    let on_them = match targets.len() {
        1 => "it".to_owned(),
        several => format!("these {several} disks"),
    };
    let what = format!("{}, and lose all that is on {on_them}", wish.shown());
    agree(&what).map_err(|error| match error.kind {
        Kind::Data => CliError::data("nothing was written; the nodes are up").hint("answer y to write"),
        _ => error,
    })?;
    for Target { place, order, .. } in &targets {
        let Disk { name, model, serial, bytes, .. } = order.disk.clone();
        disks[*place] =
            Some(LabBootDiskDoc { name, model, serial: serial.unwrap_or_default(), bytes, verified: None });
    }
    for place in write_all(&targets, follow, stop)? {
        if let Some(disk) = disks.get_mut(place).and_then(Option::as_mut) {
            disk.verified = Some(wish.image.bytes);
        }
    }
    Ok(disks)
}

/// Asks every node that is up for its disks, and chooses one. Nodes without one fail.
fn targets(
    wish: &Wish,
    follow: &mut Follow<'_>,
    settings: &[Option<Settings>],
) -> Result<Vec<Target>, CliError> {
    let is_up = |place: usize| follow.tracks.get(place).is_some_and(|track| track.is_at(Stage::Inspected));
    let ready = settings.iter().enumerate().filter(|(place, _)| is_up(*place));
    let ready: Vec<(usize, &Settings)> =
        ready.filter_map(|(place, one)| Some((place, one.as_ref()?))).collect();
    let ask = |_: usize, (place, settings): &(usize, &Settings)| {
        (*place, disks_of(settings).and_then(|disks| wish.choose(&disks)))
    };
    let mut targets = Vec::new();
    fan_out::each(&ready, WIDTH, ask, |(place, chosen)| match (chosen, settings.get(place)) {
        (Ok(disk), Some(Some(settings))) => {
            let (bytes, sha256) = (wish.image.bytes, wish.image.sha256.clone());
            targets.push(Target { place, settings: settings.clone(), order: Order { disk, bytes, sha256 } });
        }
        (Ok(_), _) => {}
        (Err(why), _) => follow.fail(place, &format!("nothing was written: {why}")),
    })
    .map_err(reach::no_thread)?;
    targets.sort_by_key(|target| target.place);
    Ok(targets)
}

/// The disks that a node says it has.
fn disks_of(settings: &Settings) -> Result<Vec<Disk>, String> {
    let wrong = |error: std::io::Error| format!("it does not say which disks it has: {error}");
    let stream = connect(settings, DISKS).map_err(wrong)?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(wrong)?;
    let mut text = Vec::new();
    stream.take(LONGEST as u64).read_to_end(&mut text).map_err(wrong)?;
    serde_json::from_slice(&text).map_err(|error| wrong(error.into()))
}

/// A line for each node with its disk.
fn list(targets: &[Target]) -> String {
    let widest = targets.iter().map(|target| target.settings.name.len()).max().unwrap_or(0);
    let line =
        |target: &Target| format!("  {:widest$}  {}\n", target.settings.name, target.order.disk.shown());
    targets.iter().map(line).collect()
}

/// Something that a node said, by its number among the targets.
enum News {
    Said(usize, Said),
    Ended(usize, Result<(), String>),
}

/// Writes on all nodes at once, and gives the places of those that are done.
fn write_all(targets: &[Target], follow: &mut Follow<'_>, stop: &Stop) -> Result<Vec<usize>, CliError> {
    let (give, news) = channel();
    let mut at: Vec<Option<Said>> = vec![None; targets.len()];
    let mut done = Vec::new();
    follow.open_canvas();
    std::thread::scope(|scope| {
        let work = move |number: usize, target: &Target| {
            let result = write_one(target, number, &give, stop);
            // The other end lives until all are done.
            let _heard = give.send(News::Ended(number, result));
        };
        let all = scope.spawn(|| fan_out::each(targets, WIDTH, work, |()| {}));
        loop {
            match news.recv_timeout(LOOK) {
                Ok(News::Said(number, said)) => at[number] = Some(said),
                Ok(News::Ended(number, result)) => {
                    at[number] = None;
                    let place = targets[number].place;
                    match result {
                        Ok(()) => {
                            follow.reach(place, Stage::Written);
                            done.push(place);
                        }
                        Err(why) => follow.fail(place, &why),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            follow.draw(&progress(targets, &at));
        }
        match all.join() {
            Ok(ended) => ended.map_err(reach::no_thread),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    follow.close_canvas();
    Ok(done)
}

/// How far nodes are: `writing 12 to 40 %: a[1-3]; reading back 50 %: a4`.
fn progress(targets: &[Target], at: &[Option<Said>]) -> String {
    let both = targets.iter().zip(at);
    let part = |doing: &str, bytes: fn(&Said) -> Option<u64>| {
        let far = both.clone().filter_map(|(target, said)| {
            let share = bytes(said.as_ref()?)? as f64 / target.order.bytes as f64;
            Some((target.settings.name.as_str(), (share * 100.0) as u64))
        });
        let (least, most) = (far.clone().map(|one| one.1).min()?, far.clone().map(|one| one.1).max()?);
        let percent = if least == most { format!("{least} %") } else { format!("{least} to {most} %") };
        Some(format!("{doing} {percent}: {}", fold(far.map(|one| one.0))))
    };
    let parts = [
        part("writing", |said| if let Said::Written(bytes) = said { Some(*bytes) } else { None }),
        part("reading back", |said| if let Said::ReadBack(bytes) = said { Some(*bytes) } else { None }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Has one node write. The error says whether its disk was touched.
fn write_one(target: &Target, number: usize, give: &Sender<News>, stop: &Stop) -> Result<(), String> {
    let name = &target.order.disk.name;
    let untouched = |error: std::io::Error| format!("nothing was written: {error}");
    let mut order = serde_json::to_vec(&target.order).map_err(|error| untouched(error.into()))?;
    order.push(b'\n');
    let mut stream = connect(&target.settings, WRITE).map_err(untouched)?;
    stream.set_read_timeout(Some(LOOK)).and_then(|()| stream.write_all(&order)).map_err(untouched)?;
    let mut lines = Lines { stream, bytes: Vec::new() };
    loop {
        match lines.next(stop).map_err(|why| format!("{name} may have a part of the image: {why}"))? {
            Said::Done => return Ok(()),
            Said::Refused(why) => return Err(format!("nothing was written: {why}")),
            Said::Failed(why) => return Err(format!("{name} may have a part of the image: {why}")),
            said => give.send(News::Said(number, said)).map_err(|error| error.to_string())?,
        }
    }
}

/// The lines of a node.
struct Lines {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Lines {
    fn next(&mut self, stop: &Stop) -> Result<Said, String> {
        let since_ns = sys::clock::now_ns();
        let mut chunk = [0; 4096];
        loop {
            if let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return serde_json::from_slice(&line)
                    .map_err(|error| format!("what it says is unknown: {error}"));
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err("it ended the connection".to_owned()),
                Ok(count) if self.bytes.len() < LONGEST => self.bytes.extend_from_slice(&chunk[..count]),
                Ok(_) => return Err("it talks without end".to_owned()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if stop.is_requested() {
                        return Err("interrupted".to_owned());
                    }
                    if sys::clock::now_ns().saturating_sub(since_ns) > SILENCE_NS {
                        return Err("it has said nothing for 5 min".to_owned());
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(name: &str, serial: Option<&str>) -> Disk {
        let serial = serial.map(str::to_owned);
        Disk { name: name.into(), model: None, serial, bytes: 1024, uses: Vec::new() }
    }

    #[test]
    fn a_disk_is_chosen_by_its_name_or_its_serial_number_and_for_a_reason_not() {
        let image = DiskImage { path: "i.raw".into(), bytes: 1024, sha256: "0123456789abcdef0".into() };
        let wish = |disk: &str| Wish { image: image.clone(), disk: disk.to_owned() };
        let disks =
            [disk("sda", Some("S1")), disk("sdb", Some("S2")), disk("sdc", None), disk("sdd", Some("S1"))];
        let says = |wanted: &str| wish(wanted).choose(&disks).map_or_else(|why| why, |disk| disk.name);
        assert_eq!((says("sdb"), says("S2")), ("sdb".into(), "sdb".into()));
        assert!(
            says("sdx").starts_with("it has no disk `sdx`; it has sda (no model, serial S1, 1.00 KiB), sdb")
        );
        assert!(says("S1").starts_with("`S1` is more than one disk: sda"));
        assert!(says("sdc").contains("no serial number"));
        assert_eq!(wish("sda").choose(&[]), Err("it has no disk".to_owned()));
        let used = Disk { uses: vec!["sda1 is mounted at /".into()], ..disk("sda", Some("S1")) };
        assert_eq!(wish("sda").choose(&[used]), Err("sda is in use: sda1 is mounted at /".to_owned()));
        let small = Disk { bytes: 512, ..disk("sda", Some("S1")) };
        assert!(wish("sda").choose(&[small]).unwrap_err().contains("has 1024 bytes"));
        assert_eq!(wish("sda").shown(), "write i.raw (1.00 KiB, sha256 0123456789abcdef...) onto sda");
    }

    #[test]
    fn progress_names_nodes_by_the_step_they_are_at() {
        let target = |place: usize| Target {
            place,
            settings: Settings::read(&format!(
                "boxscore.name=a{place} boxscore.key=k boxscore.controller=10.0.0.1:1 \
                 boxscore.mac=02:00:00:00:00:01 boxscore.ip=10.0.0.2/24"
            ))
            .unwrap(),
            order: Order { disk: disk("vda", Some("S")), bytes: 200, sha256: String::new() },
        };
        let targets = [target(1), target(2), target(3), target(4)];
        let at = [Some(Said::Written(20)), Some(Said::Written(50)), Some(Said::ReadBack(100)), None];
        assert_eq!(progress(&targets, &at), "writing 10 to 25 %: a[1-2]; reading back 50 %: a3");
        assert_eq!(list(&targets[..1]), "  a1  vda (no model, serial S, 1.00 KiB)\n");
    }
}
