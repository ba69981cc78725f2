//! A tree of files of the user's that servers of ours serve: names, sizes in bytes and hashes, and where it lies.
//!
//! It stands in a plan, so that the machine that serves it can tell whether it has the same files. Pure: no file is
//! looked at here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most files of a tree: each of them is a target of the load.
pub const MOST_FILES: usize = 10_000;
/// The longest path of a file in a URL, within what servers take of a request.
pub const MOST_PATH: usize = 4000;
/// The most folders above a file.
pub const DEPTH: usize = 32;

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedFile {
    /// Its path within the tree, with `/` between the parts.
    pub name: String,
    pub bytes: u64,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// A tree of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedTree {
    /// Its folder on the machines that serve it; `~/` is the home of the login there.
    pub folder: String,
    /// Its folder where the plan was made.
    pub source: String,
    /// In the order of their names.
    pub files: Vec<ServedFile>,
}

impl ServedTree {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// Fails for what cannot be served, such as a name that leads out of the tree.
    pub fn check(&self) -> Result<(), String> {
        match self.files.len() {
            0 => return Err("no file is in it".to_owned()),
            count if count > MOST_FILES => {
                return Err(format!(
                    "{count} files, and at most {MOST_FILES} are served: name a folder of it"
                ));
            }
            _ => {}
        }
        self.files.iter().try_for_each(|file| checked(&file.name))
    }
}

fn checked(name: &str) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("{}: {why}", name.escape_debug()));
    let mut depth = 0;
    for part in name.split('/') {
        if part.is_empty() || part == "." || part == ".." {
            return wrong("it is no path within the tree");
        }
        depth += 1;
    }
    if name.contains('\0') {
        return wrong("no file has such a name");
    }
    if depth > DEPTH {
        return wrong(&format!("it lies more than {DEPTH} folders deep"));
    }
    match url_path(name).len() > MOST_PATH {
        true => wrong(&format!("its path is longer than {MOST_PATH} bytes in a URL")),
        false => Ok(()),
    }
}

/// The path of a file in a URL, from the root on: what has a meaning in URLs, or none, is percent-encoded.
pub fn url_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len() + 1);
    path.push('/');
    for byte in name.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => path.push(char::from(byte)),
            byte => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

/// The name of the file that a URL's path stands for: without the `/` in front and what follows a `?`, and of a folder
/// its `index.html`. `None` where the path is none.
pub fn named(path: &str) -> Option<String> {
    let path = path.split('?').next().unwrap_or_default().strip_prefix('/')?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(16 * digit(rest.next())? + digit(rest.next())?).ok()?,
            byte => byte,
        });
    }
    let name = String::from_utf8(bytes).ok()?;
    Some(if name.is_empty() || name.ends_with('/') { format!("{name}index.html") } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[&str]) -> ServedTree {
        let file = |name: &&str| ServedFile { name: (*name).to_owned(), bytes: 3, sha256: String::new() };
        let files = names.iter().map(file).collect();
        ServedTree { folder: "/srv".to_owned(), source: "/srv".to_owned(), files }
    }

    #[test]
    fn no_name_leads_out_of_the_tree() {
        assert_eq!(tree(&["a", "b/c", "..d", ".e/f g?"]).check(), Ok(()));
        assert_eq!(tree(&["a", "b"]).bytes(), 6);
        for bad in ["", "/etc/passwd", "../x", "a/../x", "a//b", "a/", "./a", "a\0b"] {
            assert!(tree(&["a", bad]).check().is_err(), "{bad:?}");
        }
        let deep = format!("{}x", "d/".repeat(DEPTH));
        assert!(tree(&[&deep]).check().unwrap_err().contains("folders deep"));
        assert!(tree(&[&"%".repeat(MOST_PATH / 3 + 1)]).check().unwrap_err().contains("longer than"));
        assert!(tree(&[]).check().unwrap_err().contains("no file"));
        assert!(tree(&["a"; MOST_FILES + 1]).check().unwrap_err().contains("10001 files"));
    }

    #[test]
    fn names_become_paths_and_come_back() {
        for (name, path) in [
            ("a.html", "/a.html"),
            ("b c/d?e#f.txt", "/b%20c/d%3Fe%23f.txt"),
            ("100%.gif", "/100%25.gif"),
            ("\u{e9}t\u{e9}", "/%C3%A9t%C3%A9"),
        ] {
            assert_eq!(url_path(name), path);
            assert_eq!(named(path).as_deref(), Some(name));
        }
        assert_eq!(named("/"), Some("index.html".to_owned()));
        assert_eq!(named("/x/?q=1"), Some("x/index.html".to_owned()));
        for none in ["x", "", "/%", "/%4", "/%zz", "/%ff"] {
            assert_eq!(named(none), None, "{none}");
        }
    }
}
