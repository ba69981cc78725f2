//! Passwords as libpq finds them: the environment, then the password file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Whose password is looked for.
pub(super) struct Whose<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// `PGPASSFILE`, or `.pgpass` in the home directory.
fn place() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("PGPASSFILE").or_else(|| set("HOME").map(|home| home.join(".pgpass")))
}

/// The password of the file; `None` where it has none for this user. A file that others may read is left alone, as
/// libpq does; then the second value says so.
pub(super) fn find(whose: &Whose<'_>) -> (Option<String>, Option<String>) {
    let Some(path) = place() else { return (None, None) };
    let Ok(data) = fs::metadata(&path) else { return (None, None) };
    if data.permissions().mode() & 0o077 != 0 {
        return (None, Some(format!("{} was ignored, for others may read it: chmod 600 it", path.display())));
    }
    (read(&path, whose), None)
}

fn read(path: &Path, whose: &Whose<'_>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| password(line, whose))
}

/// The password of a line `host:port:database:user:password`, where it is for this user.
fn password(line: &str, whose: &Whose<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = &fields[..] else { return None };
    let port_is = whose.port.to_string();
    let pairs =
        [(host, whose.host), (port, port_is.as_str()), (database, whose.database), (user, whose.user)];
    pairs.iter().all(|(field, value)| *field == "*" || field.as_str() == *value).then(|| password.clone())
}

/// Parts between colons; a backslash keeps a colon or a backslash. The last part takes what is left.
fn fields(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = all.len() - 1;
        match letter {
            '\\' => all[last].extend(letters.next()),
            ':' if all.len() < 5 => all.push(String::new()),
            other => all[last].push(other),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_for_whom_it_names() {
        let whose = Whose { host: "db", port: 5432, database: "lab", user: "ann" };
        let of = |line: &str| password(line, &whose);
        assert_eq!(of("db:5432:lab:ann:se:cret"), Some("se:cret".into()));
        assert_eq!(of("*:*:*:ann:a\\:b\\\\c"), Some("a:b\\c".into()));
        for other in ["# db:5432:lab:ann:x", "db:5433:lab:ann:x", "db:5432:lab:bob:x", "db:5432:lab", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
