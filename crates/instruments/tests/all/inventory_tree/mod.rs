//! Unfolds a machine's `.tree` file into a directory; see `tests/fixtures/machines/README.md` for the form.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use instruments::system_files::Root;
use instruments::system_files::text::cpu_list;

/// A machine's files in a directory that goes away with it.
pub struct Machine {
    dir: tempfile::TempDir,
    only: &'static str,
}

/// Where the machines are kept.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/machines")
}

/// Names of all machines, in order.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            Some(entry.unwrap().file_name().to_str().unwrap().strip_suffix(".tree")?.to_owned())
        })
        .collect();
    names.sort();
    names
}

impl Machine {
    /// The files whose path begins with `only`; all, when that is empty.
    pub fn with(name: &str, only: &'static str) -> Machine {
        let text = fs::read_to_string(folder().join(format!("{name}.tree"))).unwrap();
        // Thousands of small files are quicker in memory, where there is such a place.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let machine = Machine { dir, only };
        machine.unfold(&text);
        machine
    }

    pub fn root(&self) -> Root {
        Root::at(self.dir.path())
    }

    fn unfold(&self, text: &str) {
        let mut body: Option<(String, Vec<u32>, String)> = None;
        let mut tables = Vec::new();
        for line in text.lines() {
            let (mark, rest) = line.split_at_checked(2).unwrap_or((line, ""));
            if !matches!(mark, "# " | "~ " | "> " | "! " | "% " | "= " | "* ") {
                if let Some((_, _, content)) = &mut body {
                    content.push_str(line);
                    content.push('\n');
                }
                continue;
            }
            self.flush(body.take());
            match mark {
                "~ " => {
                    let (path, value) = rest.split_once(' ').unwrap_or((rest, ""));
                    expand(path).iter().for_each(|path| self.write(path, &format!("{value}\n"), false));
                }
                "> " => {
                    let (path, target) = rest.split_once(' ').unwrap();
                    let path = self.parent(path);
                    symlink(target, path).unwrap();
                }
                "! " => fs::create_dir_all(self.dir.path().join(rest)).unwrap(),
                "% " => tables.extend(structure(rest)),
                "= " => body = Some((rest.to_owned(), vec![0], String::new())),
                "* " => {
                    let (list, path) = rest.split_once(' ').unwrap();
                    let numbers = cpu_list(list).into_iter().collect();
                    body = Some((format!("{path}+"), numbers, String::new()));
                }
                _ => {}
            }
        }
        self.flush(body);
        if !tables.is_empty() {
            fs::write(self.parent("sys/firmware/dmi/tables/DMI"), tables).unwrap();
        }
    }

    fn flush(&self, body: Option<(String, Vec<u32>, String)>) {
        let Some((path, numbers, content)) = body else { return };
        for number in numbers {
            let path_only = path.trim_end_matches('+');
            self.write(path_only, &content.replace("{n}", &number.to_string()), path.ends_with('+'));
        }
    }

    fn parent(&self, path: &str) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn write(&self, path: &str, content: &str, append: bool) {
        if !path.starts_with(self.only) {
            return;
        }
        let path = self.parent(path);
        let before = if append { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        fs::write(path, before + content).unwrap();
    }
}

/// `cpu[0-1]/x` as `cpu0/x` and `cpu1/x`.
fn expand(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('[') else { return vec![path.to_owned()] };
    let (list, after) = rest.split_once(']').unwrap();
    cpu_list(list).iter().map(|number| format!("{before}{number}{after}")).collect()
}

/// An SMBIOS structure: its bytes in hexadecimal, then its strings.
fn structure(text: &str) -> Vec<u8> {
    let mut parts = text.split(" | ");
    let hex = parts.next().unwrap().trim();
    let pairs = (0..hex.len()).step_by(2);
    let mut bytes: Vec<u8> = pairs.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    let before = bytes.len();
    for string in parts.filter(|string| !string.is_empty()) {
        bytes.extend(string.as_bytes());
        bytes.push(0);
    }
    if bytes.len() == before {
        bytes.push(0);
    }
    bytes.push(0);
    bytes
}
