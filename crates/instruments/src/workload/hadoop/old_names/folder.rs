//! A folder with the configuration of a Hadoop, in the names of Hadoop 3.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use model::doc::{HadoopConfigDoc, HadoopDoubtDoc, HadoopFileDoc, HadoopKind, HadoopLineDoc, HadoopNameDoc};

use super::config::{self, Entry, MOST_BYTES, Wrong};
use super::doubts;

const SETTINGS: [&str; 6] = [
    "hadoop-site.xml",
    "core-site.xml",
    "hdfs-site.xml",
    "mapred-site.xml",
    "yarn-site.xml",
    "capacity-scheduler.xml",
];
pub(super) const HOSTS: [&str; 3] = ["masters", "slaves", "workers"];
const VARIABLES: [&str; 3] = ["hadoop-env.sh", "yarn-env.sh", "mapred-env.sh"];
/// Files that are named, and not read.
const OTHERS: [&str; 6] = [
    "taskcontroller.cfg",
    "hadoop-metrics.properties",
    "mapred-queue-acls.xml",
    "mapred-queues.xml",
    "fair-scheduler.xml",
    "hadoop-policy.xml",
];
/// Where releases keep it.
const INNER: [&str; 2] = ["conf", "etc/hadoop"];
/// Unknown names for which near ones are looked for.
const GUESSED: usize = 50;

/// Reads a folder, the folder `conf` or `etc/hadoop` in it, or one file. Fails where there is no such configuration,
/// and where no file of it can be read; else the document names what cannot.
pub fn read(path: &Path) -> Result<HadoopConfigDoc, String> {
    let (folder, mut names) = files(path)?;
    let mut document = HadoopConfigDoc {
        schema: "boxscore.hadoop-config/1".to_owned(),
        folder: folder.display().to_string(),
        files: Vec::new(),
        lines: Vec::new(),
        missing: Vec::new(),
        unread: Vec::new(),
    };
    names.retain(|name| match told(&folder, name) {
        Ok(lines) => {
            document.lines.extend(lines);
            true
        }
        Err(why) => {
            document.unread.push(why);
            false
        }
    });
    if !document.unread.is_empty() && names.iter().all(|name| OTHERS.contains(name)) {
        return Err(document.unread.join("; "));
    }
    document.files = names.iter().filter_map(|name| file(name)).collect();
    guess(&mut document.lines);
    doubts::judge(&mut document);
    if path.is_file() || !document.unread.is_empty() {
        // It may be in the files that were not read.
        document.missing.clear();
    }
    Ok(document)
}

/// The folder, and the files in it that are known, in the order in which they are told.
fn files(path: &Path) -> Result<(PathBuf, Vec<&'static str>), String> {
    let all = || SETTINGS.into_iter().chain(HOSTS).chain(VARIABLES).chain(OTHERS);
    if path.is_file() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let known = all().find(|known| *known == name);
        let known = known
            .ok_or_else(|| format!("{}: no file of Hadoop's configuration has this name", path.display()))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok((parent.to_path_buf(), vec![known]));
    }
    let here = |folder: &Path| all().filter(|name| folder.join(name).is_file()).collect::<Vec<_>>();
    let folders = [path.to_path_buf()].into_iter().chain(INNER.iter().map(|inner| path.join(inner)));
    let found = folders.map(|folder| (here(&folder), folder)).find(|(names, _)| !names.is_empty());
    let (names, folder) = found.ok_or_else(|| {
        let known = all().take(5).collect::<Vec<_>>().join(", ");
        format!("{}: no configuration of Hadoop is in it (none of {known}, ...)", path.display())
    })?;
    Ok((folder, names))
}

fn file(name: &str) -> Option<HadoopFileDoc> {
    Some(HadoopFileDoc { name: name.to_owned(), today: today_of(name)? })
}

fn today_of(name: &str) -> Option<HadoopNameDoc> {
    super::told(|one| one.kind == HadoopKind::File && one.name == name).or_else(|| env_file(name))
}

/// Files of Hadoop 2 and later, which no old guide has.
fn env_file(name: &str) -> Option<HadoopNameDoc> {
    let fate = model::doc::HadoopFate::Same;
    let known = [&SETTINGS[..], &HOSTS, &VARIABLES].concat().contains(&name);
    known.then(|| HadoopNameDoc {
        name: name.to_owned(),
        kind: HadoopKind::File,
        fate,
        today: Vec::new(),
        place: Vec::new(),
        why: None,
    })
}

fn text(path: &Path) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(failed(&format!("longer than {} MiB, which no configuration is", MOST_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(good).filter(|byte| **byte == b'\n').count() + 1;
        format!("{}:{line}: not UTF-8", path.display())
    })
}

/// The lines of a file of the folder. Fails at the first thing that cannot be read, with its line.
fn told(folder: &Path, name: &str) -> Result<Vec<HadoopLineDoc>, String> {
    if OTHERS.contains(&name) {
        return Ok(Vec::new());
    }
    let path = folder.join(name);
    let wrong = |wrong: Wrong| format!("{}:{}: {}", path.display(), wrong.line, wrong.says);
    lines(name, &text(&path)?).map_err(wrong)
}

/// The lines of a file that say something.
fn lines(file: &str, text: &str) -> Result<Vec<HadoopLineDoc>, Wrong> {
    if SETTINGS.contains(&file) {
        return Ok(config::settings(text)?.into_iter().map(|entry| setting(file, entry)).collect());
    }
    if HOSTS.contains(&file) {
        let today = today_of(file);
        let host = |entry| Some(line(file, entry, today.clone()?));
        return Ok(config::hosts(text).into_iter().filter_map(host).collect());
    }
    if VARIABLES.contains(&file) {
        let known = |entry: Entry| {
            let found = super::told(|one| one.kind == HadoopKind::Variable && one.name == entry.name)?;
            Some(line(file, entry, found))
        };
        return Ok(config::variables(text).into_iter().filter_map(known).collect());
    }
    Ok(Vec::new())
}

fn line(file: &str, entry: Entry, today: HadoopNameDoc) -> HadoopLineDoc {
    HadoopLineDoc {
        file: file.to_owned(),
        line: entry.line,
        name: entry.name,
        value: entry.value,
        today,
        doubts: Vec::new(),
    }
}

fn setting(file: &str, entry: Entry) -> HadoopLineDoc {
    let today = super::property(&entry.name).unwrap_or_else(|| super::unknown(&entry.name, None));
    let blanks = entry.blanks;
    let mut line = line(file, entry, today);
    if blanks {
        line.doubts.push(HadoopDoubtDoc {
            rule: "blanks".to_owned(),
            says: "the blanks around the value are part of it for many settings: remove them".to_owned(),
        });
    }
    line
}

/// Names that are near to unknown ones.
fn guess(lines: &mut [HadoopLineDoc]) {
    let unknown = lines.iter_mut().filter(|line| line.today.fate == model::doc::HadoopFate::Unknown);
    for line in unknown.take(GUESSED) {
        line.today = super::unknown(&line.name, super::near(&line.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, name: &str, text: &[u8]) {
        std::fs::create_dir_all(folder).unwrap();
        sys::files::atomic_write(&folder.join(name), text, 0o644).unwrap();
    }

    #[test]
    fn the_folder_of_a_release_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let why = read(dir.path()).unwrap_err();
        assert!(why.contains("no configuration of Hadoop") && why.contains("core-site.xml"), "{why}");
        let conf = dir.path().join("conf");
        put(&conf, "slaves", b"node1\nnode2\n");
        put(&conf, "hadoop-env.sh", b"export HADOOP_HEAPSIZE=1000\nexport MINE=1\n");
        let document = read(dir.path()).unwrap();
        assert_eq!(document.folder, conf.display().to_string());
        let shown: Vec<(&str, u64, &str, &str)> = document
            .lines
            .iter()
            .map(|line| (line.file.as_str(), line.line, line.name.as_str(), line.value.as_str()))
            .collect();
        let expected = [
            ("slaves", 1, "", "node1"),
            ("slaves", 2, "", "node2"),
            ("hadoop-env.sh", 1, "HADOOP_HEAPSIZE", "1000"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(read(&conf.join("slaves")).unwrap().lines.len(), 2);
        put(&conf, "letter.txt", b"");
        assert!(read(&conf.join("letter.txt")).unwrap_err().contains("no file of Hadoop's configuration"));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "core-site.xml", b"<configuration>\n<property>\n</configuration>\n");
        let path = dir.path().join("core-site.xml");
        assert!(read(dir.path()).unwrap_err().starts_with(&format!("{}:3: no XML", path.display())));
        put(dir.path(), "core-site.xml", b"<configuration>\n\xff\n</configuration>\n");
        assert_eq!(read(dir.path()).unwrap_err(), format!("{}:2: not UTF-8", path.display()));
        put(dir.path(), "core-site.xml", &vec![b'\n'; 5 << 20]);
        assert!(read(dir.path()).unwrap_err().contains("longer than 4 MiB"));
        put(dir.path(), "slaves", b"node1\n");
        let document = read(dir.path()).unwrap();
        assert_eq!((document.lines.len(), document.unread.len()), (1, 1));
        assert!(document.unread[0].contains("longer than 4 MiB"), "{:?}", document.unread);
        assert!(document.missing.is_empty() && document.files.len() == 1, "{document:?}");
        // A file that is only named.
        put(dir.path(), "hadoop-metrics.properties", b"\xff");
        assert_eq!(read(dir.path()).unwrap().unread.len(), 1);
    }

    #[test]
    fn files_of_today_are_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "yarn-site.xml", b"<configuration/>");
        put(dir.path(), "workers", b"node1\n");
        let document = read(dir.path()).unwrap();
        let is_same = |one: &HadoopNameDoc| one.fate == model::doc::HadoopFate::Same;
        assert!(document.files.len() == 2 && document.files.iter().all(|file| is_same(&file.today)));
        assert!(document.lines.len() == 1 && is_same(&document.lines[0].today), "{document:?}");
    }
}
