//! The configuration by which a client finds a cluster of the user's: the folder, and the settings in its files.
//!
//! Read as Hadoop's clients do: later files and lines win, and `${name}` stands for another setting. Nothing that a
//! file includes is followed, and no variable of the environment or of Java is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::old_names::config::{self, MOST_BYTES};

const FILES: [&str; 4] = ["core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"];
/// As deep as Hadoop follows settings within settings.
const MOST_DEEP: usize = 20;

/// The folder with the user's configuration, an absolute path: that of HADOOP_CONF_DIR, else `etc/hadoop` of
/// HADOOP_HOME. Fails where there is none.
fn folder() -> Result<PathBuf, String> {
    named_folder().and_then(|folder| std::path::absolute(folder).map_err(|error| error.to_string()))
}

fn named_folder() -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = named("HADOOP_CONF_DIR") {
        return match folder.is_dir() {
            true => Ok(folder),
            false => Err(format!("HADOOP_CONF_DIR is {}: there is no such folder", folder.display())),
        };
    }
    let own = named("HADOOP_HOME").map(|home| home.join("etc/hadoop")).filter(|folder| folder.is_dir());
    own.ok_or_else(|| {
        "no configuration says which cluster: set HADOOP_CONF_DIR to the folder with its core-site.xml"
            .to_owned()
    })
}

/// The settings of a cluster of the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Absolute.
    pub folder: PathBuf,
    settings: BTreeMap<String, String>,
}

impl Configuration {
    /// Reads the user's. Fails where there is none, or a file of it cannot be read.
    pub fn find() -> Result<Configuration, String> {
        Configuration::read(&folder()?)
    }

    fn read(folder: &Path) -> Result<Configuration, String> {
        let mut settings = BTreeMap::new();
        for name in FILES {
            let path = folder.join(name);
            let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
            match std::fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && name != FILES[0] => continue,
                Err(error) => return Err(failed(&error)),
                Ok(meta) if meta.len() > MOST_BYTES => return Err(failed(&"it is too large")),
                Ok(_) => {}
            }
            let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
            let all = config::settings(&text);
            let all = all.map_err(|wrong| failed(&format!("line {}: {}", wrong.line, wrong.says)))?;
            settings.extend(all.into_iter().map(|entry| (entry.name, entry.value)));
        }
        Ok(Configuration { folder: folder.to_owned(), settings })
    }

    /// A setting, with what it refers to in its place; `None` where it is not set, or is empty.
    pub fn get(&self, name: &str) -> Option<String> {
        let mut value = self.settings.get(name)?.clone();
        for _ in 0..MOST_DEEP {
            let Some((at, inner)) = self.reference(&value) else { break };
            value.replace_range(at, &inner);
        }
        Some(value).filter(|value| !value.is_empty())
    }

    /// The first `${name}` of a text that is a setting: its place, and the setting's own text.
    fn reference(&self, text: &str) -> Option<(std::ops::Range<usize>, String)> {
        let starts = text.match_indices("${").map(|(at, _)| at);
        starts.into_iter().find_map(|from| {
            let end = from + text[from..].find('}')?;
            Some((from..end + 1, self.settings.get(&text[from + 2..end])?.clone()))
        })
    }

    /// A number of MiB, above 0.
    pub fn mib(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok().filter(|mib| *mib > 0)
    }

    /// The endings of the names that begin so, with what they are set to: `.ns.nn1` of `prefix.ns.nn1`.
    pub fn endings(&self, prefix: &str) -> Vec<(String, String)> {
        let of = |name: &String| Some((name.strip_prefix(prefix)?.to_owned(), self.get(name)?));
        self.settings.keys().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<Configuration, String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            sys::files::atomic_write(&dir.path().join(name), text.as_bytes(), 0o644).unwrap();
        }
        Configuration::read(dir.path())
    }

    #[test]
    fn settings_are_read_with_what_they_refer_to() {
        let core = "<configuration><property><name>fs.defaultFS</name><value>hdfs://m:8020</value></property>\
                    </configuration>";
        let yarn = "<configuration><property><name>yarn.resourcemanager.hostname</name><value>m</value></property>\
                    <property><name>yarn.resourcemanager.webapp.address</name>\
                    <value>${yarn.resourcemanager.hostname}:8088</value></property>\
                    <property><name>a</name><value>${b}</value></property><property><name>b</name><value>${a}</value>\
                    </property><property><name>x.ns.1</name><value>${user.name}</value></property></configuration>";
        let all = read(&[("core-site.xml", core), ("yarn-site.xml", yarn)]).unwrap();
        assert_eq!(all.get("yarn.resourcemanager.webapp.address").as_deref(), Some("m:8088"));
        assert_eq!(all.get("none"), None);
        // One that refers to itself ends, and what is no setting stays.
        assert!(all.get("a").is_some());
        assert_eq!(all.endings("x."), [("ns.1".to_owned(), "${user.name}".to_owned())]);
    }

    #[test]
    fn a_folder_that_is_no_configuration_is_told_so() {
        assert!(read(&[]).unwrap_err().contains("core-site.xml"));
        let broken = read(&[("core-site.xml", "<configuration>\n<property>")]).unwrap_err();
        assert!(broken.contains("core-site.xml: line"), "{broken}");
    }
}
