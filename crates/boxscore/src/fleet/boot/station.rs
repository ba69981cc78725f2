//! Requests of nodes that boot, over HTTP: only a node's own address gets its script, and only
//! its key lets it report.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lab::boot::dnsmasq::Known;
use lab::boot::http::{Answer, Request};
use lab::boot::image::Image;
use lab::boot::watch::Stage;

use crate::error::CliError;
use crate::node::settings::Settings;
use crate::node::write::IMAGE;

/// The path of iPXE's script.
pub const SCRIPT: &str = "/boot.ipxe";

/// Something that a node did. Its place is that in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Reached {
        place: usize,
        stage: Stage,
    },
    /// Its spec sheet, as it sent it.
    Sheet {
        place: usize,
        body: Vec<u8>,
    },
    /// It could not make one.
    Failed {
        place: usize,
        why: String,
    },
}

/// Nodes and what they are served.
pub struct Station {
    nodes: Vec<(Known, String)>,
    prefix: u8,
    kernel: Arc<Vec<u8>>,
    initrd: Arc<Vec<u8>>,
    command_line: String,
    reports: bool,
    /// The file that nodes may write to a disk.
    disk_image: Option<PathBuf>,
    /// Where it serves, once that is known.
    pub at: OnceLock<SocketAddr>,
    told: Mutex<Vec<Told>>,
}

/// A key that nobody guesses.
fn key() -> Result<String, CliError> {
    use std::io::Read;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|error| CliError::data(format!("/dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Station {
    pub fn new(
        nodes: &[Known],
        prefix: u8,
        image: Image,
        disk_image: Option<PathBuf>,
    ) -> Result<Station, CliError> {
        let nodes = nodes.iter().map(|node| Ok((node.clone(), key()?)));
        Ok(Station {
            nodes: nodes.collect::<Result<_, CliError>>()?,
            prefix,
            kernel: Arc::new(image.kernel),
            initrd: Arc::new(image.initrd),
            command_line: image.command_line,
            reports: image.reports,
            disk_image,
            at: OnceLock::new(),
            told: Mutex::default(),
        })
    }

    /// The settings of the node at this place; `None` until the address of the server is known.
    pub fn settings(&self, place: usize) -> Option<Settings> {
        let (known, key) = self.nodes.get(place)?;
        Some(Settings {
            name: known.name.clone(),
            key: key.clone(),
            controller: *self.at.get()?,
            mac: known.mac,
            address: known.address,
            prefix: self.prefix,
            may_write: self.disk_image.is_some(),
        })
    }

    fn script(&self, place: usize) -> Option<String> {
        let at = self.at.get()?;
        let words = match self.reports {
            true => format!(" {}", self.settings(place)?.words()),
            false => String::new(),
        };
        Some(format!(
            "#!ipxe\nkernel http://{at}/vmlinuz initrd=initrd {}{words}\ninitrd --name initrd http://{at}/initrd\nboot\n",
            self.command_line
        ))
    }

    fn tell(&self, told: Told) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }

    /// The news since the last call.
    pub fn news(&self) -> Vec<Told> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn place(&self, from: IpAddr) -> Option<usize> {
        self.nodes.iter().position(|(known, _)| from == IpAddr::V4(known.address))
    }

    pub fn answer(&self, request: &Request) -> Answer {
        let Some(place) = self.place(request.from) else { return Answer::NotFound };
        if request.is_post {
            return self.posted(place, request);
        }
        match request.path.as_str() {
            SCRIPT => match self.script(place) {
                Some(script) => Answer::Ok(Arc::new(script.into_bytes())),
                None => Answer::NotFound,
            },
            "/vmlinuz" => Answer::Ok(Arc::clone(&self.kernel)),
            "/initrd" => Answer::Ok(Arc::clone(&self.initrd)),
            path => match (path.strip_prefix(IMAGE), &self.disk_image) {
                (Some(key), Some(file)) if self.is_key(place, key) => Answer::File(file.clone()),
                (Some(_), Some(_)) => Answer::Refused,
                _ => Answer::NotFound,
            },
        }
    }

    fn is_key(&self, place: usize, key: &str) -> bool {
        self.nodes.get(place).is_some_and(|(_, own)| own == key)
    }

    fn posted(&self, place: usize, request: &Request) -> Answer {
        let mut parts = request.path.split('/').skip(1);
        let (what, key) = (parts.next(), parts.next());
        if !key.is_some_and(|key| self.is_key(place, key)) {
            return Answer::Refused;
        }
        match what {
            Some("up") => {
                self.tell(Told::Reached { place, stage: Stage::Up });
                Answer::Ok(Arc::new(sys::clock::wall_ns().to_string().into_bytes()))
            }
            Some("inspected") => {
                self.tell(Told::Sheet { place, body: request.body.clone() });
                Answer::Ok(Arc::default())
            }
            Some("failed") => {
                let said = String::from_utf8_lossy(&request.body).trim().escape_debug().to_string();
                self.tell(Told::Failed { place, why: format!("its spec sheet cannot be made: {said}") });
                Answer::Ok(Arc::default())
            }
            _ => Answer::NotFound,
        }
    }

    /// An answer was given whole.
    pub fn sent(&self, request: &Request) {
        if let Some(place) =
            self.place(request.from).filter(|_| !request.is_post && request.path == "/initrd")
        {
            self.tell(Told::Reached { place, stage: Stage::Kernel });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(reports: bool) -> Station {
        let known = |last: u8| Known {
            name: format!("a{last}"),
            mac: format!("52:54:00:00:00:0{last}").parse().unwrap(),
            address: [10, 0, 0, last].into(),
        };
        let image = Image { kernel: vec![1], initrd: vec![2], command_line: "quiet".into(), reports };
        let station =
            Station::new(&[known(1), known(2)], 24, image, reports.then(|| "disk.raw".into())).unwrap();
        station.at.set("10.0.0.9:4000".parse().unwrap()).unwrap();
        station
    }

    fn request(last: u8, is_post: bool, path: &str) -> Request {
        Request { from: IpAddr::from([10, 0, 0, last]), is_post, path: path.into(), body: b"b".to_vec() }
    }

    fn ask(station: &Station, last: u8, is_post: bool, path: &str) -> Option<String> {
        let request = request(last, is_post, path);
        match station.answer(&request) {
            Answer::Ok(body) => {
                station.sent(&request);
                Some(String::from_utf8_lossy(&body).into_owned())
            }
            _ => None,
        }
    }

    #[test]
    fn each_node_gets_its_own_script_and_reports_by_its_own_key() {
        let station = station(true);
        let script = ask(&station, 1, false, SCRIPT).unwrap();
        assert!(
            script.contains("kernel http://10.0.0.9:4000/vmlinuz initrd=initrd quiet boxscore.name=a1 "),
            "{script}"
        );
        assert!(ask(&station, 3, false, SCRIPT).is_none(), "of no node");
        assert!(ask(&station, 1, false, "/../etc/passwd").is_none());
        let key = Settings::read(&script.replace('\n', " ")).unwrap().key;
        assert!(ask(&station, 2, true, &format!("/up/{key}")).is_none(), "of another node");
        assert!(ask(&station, 1, true, "/up/").is_none() && station.news().is_empty());
        ask(&station, 2, false, "/initrd").unwrap();
        ask(&station, 1, true, &format!("/up/{key}")).unwrap().parse::<u64>().unwrap();
        ask(&station, 1, true, &format!("/inspected/{key}")).unwrap();
        let told = [
            Told::Reached { place: 1, stage: Stage::Kernel },
            Told::Reached { place: 0, stage: Stage::Up },
            Told::Sheet { place: 0, body: b"b".to_vec() },
        ];
        assert_eq!(station.news(), told);
        let image = |last: u8, key: &str| station.answer(&request(last, false, &format!("/image/{key}")));
        assert!(matches!(image(1, &key), Answer::File(path) if path.ends_with("disk.raw")));
        assert!(matches!((image(2, &key), image(1, "")), (Answer::Refused, Answer::Refused)));
        let own = self::station(false);
        assert!(!ask(&own, 1, false, SCRIPT).unwrap().contains("boxscore."));
        assert!(matches!(own.answer(&request(1, false, &format!("/image/{key}"))), Answer::NotFound));
    }
}
