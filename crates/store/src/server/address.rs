//! Where a server is and who calls it: the URL, split into what may be shown and what may not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};

use crate::Result;
use crate::error::StoreError;
use crate::server::passfile::{self, Whose};
use crate::server::tls::{self, Check};

/// The secret and the folder that belong to the name of a store on a server: kept in memory alone, so that no message,
/// document or command line can show it.
#[derive(Clone, Default)]
struct Aside {
    password: Option<String>,
    side: Option<PathBuf>,
}

static ASIDE: Mutex<BTreeMap<PathBuf, Aside>> = Mutex::new(BTreeMap::new());

/// True for the name of a store on a server.
pub fn is_server(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.starts_with(b"postgres://") || text.starts_with(b"postgresql://")
}

/// The name of a store as it may be shown: of a server, its URL without the password, which this process remembers.
/// `side`: the folder for takes that the server refuses.
pub fn named(path: &Path, side: Option<&Path>) -> PathBuf {
    let Some(text) = path.to_str().filter(|_| is_server(path)) else { return path.to_path_buf() };
    let (shown, password) = split(text);
    let shown = PathBuf::from(shown);
    let mut all = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = all.entry(shown.clone()).or_default();
    known.password = password.or(known.password.take());
    known.side = side.map(Path::to_path_buf).or(known.side.take());
    shown
}

/// The URL without its password, and the password as it stands there.
fn split(text: &str) -> (String, Option<String>) {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let mut password = None;
    // A password may hold an unescaped `@` or `/`: the host begins after the last one that a host can follow.
    let shown = match place.rsplit_once('@') {
        Some((who, at)) => match who.split_once(':') {
            Some((user, secret)) => {
                password = Some(secret.to_owned());
                format!("postgres://{user}@{at}")
            }
            None => format!("postgres://{who}@{at}"),
        },
        None => format!("postgres://{place}"),
    };
    let mut kept = Vec::new();
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        match pair.split_once('=') {
            Some(("password", secret)) => password = Some(secret.to_owned()),
            _ => kept.push(pair),
        }
    }
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    (shown + &query, password.filter(|secret| !secret.is_empty()))
}

/// `%41` is `A`. What is no such code stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.filter(|_| first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A server, a database on it, and who calls.
#[derive(Clone)]
pub(crate) struct Address {
    pub shown: PathBuf,
    pub side: PathBuf,
    config: Config,
    check: Option<Check>,
    roots: Option<PathBuf>,
    host: String,
    /// Why a password file was not used.
    warning: Option<String>,
}

impl Address {
    pub(crate) fn parse(path: &Path) -> Result<Address> {
        let shown = named(path, None);
        let aside =
            ASIDE.lock().unwrap_or_else(PoisonError::into_inner).get(&shown).cloned().unwrap_or_default();
        let wrong = |what: String| StoreError::Address { path: shown.clone(), what };
        let text = shown.to_str().unwrap_or_default();
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut roots, mut kept) = ("prefer".to_owned(), None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", word)) => mode = word.to_owned(),
                Some(("sslrootcert", file)) => roots = Some(PathBuf::from(decoded(file))),
                _ => kept.push(pair),
            }
        }
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        let parsed = format!("{place}{query}").parse::<Config>();
        let mut config = parsed.map_err(|error| wrong(reason(&error)))?;
        let (tls, check) = match mode.as_str() {
            "disable" => (SslMode::Disable, None),
            "prefer" | "allow" => (SslMode::Prefer, Some(Check::Nobody)),
            "require" if roots.is_some() => (SslMode::Require, Some(Check::Authority)),
            "require" => (SslMode::Require, Some(Check::Nobody)),
            "verify-ca" => (SslMode::Require, Some(Check::Authority)),
            "verify-full" => (SslMode::Require, Some(Check::Name)),
            other => {
                let words = "disable, prefer, require, verify-ca or verify-full";
                return Err(wrong(format!("sslmode={other}: say {words}")));
            }
        };
        config.ssl_mode(tls);
        defaults(&mut config);
        let host = host(&config);
        let warning = log_in(&mut config, aside.password.as_deref().map(decoded), &host);
        let side = aside.side.unwrap_or_else(|| PathBuf::from("."));
        Ok(Address { side, config, check, roots, host, warning, shown })
    }

    /// A session. Fails with what the user can do.
    pub(crate) fn connect(&self, wait: Duration) -> Result<Client> {
        let mut config = self.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(wait);
        }
        let connected = match self.check {
            None => config.connect(NoTls),
            Some(check) => {
                let tls = tls::connector(check, self.roots.as_deref())
                    .map_err(|what| StoreError::Address { path: self.shown.clone(), what })?;
                config.connect(tls)
            }
        };
        connected.map_err(|error| self.unreached(&error))
    }

    fn unreached(&self, error: &postgres::Error) -> StoreError {
        let (host, user) = (&self.host, self.config.get_user().unwrap_or("this user"));
        let database = self.config.get_dbname().unwrap_or(user);
        let password = "set PGPASSWORD, or write it into ~/.pgpass (mode 600)";
        let (what, hint) = match error.code() {
            Some(&SqlState::INVALID_PASSWORD) => (
                format!("{host} refused the password of {user}"),
                self.warning.clone().unwrap_or_else(|| password.to_owned()),
            ),
            Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => (
                format!("{host} does not let {user} in: {}", reason(error)),
                format!("name another user in the URL, or ask for a line in pg_hba.conf of {host}"),
            ),
            Some(&SqlState::INVALID_CATALOG_NAME) => (
                format!("{host} has no database `{database}`"),
                format!("make it with `createdb {database}`, or name another one in the URL"),
            ),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => (
                format!("{host} does not let {user} use the database `{database}`"),
                format!("GRANT CONNECT ON DATABASE {database} TO {user}"),
            ),
            Some(_) => (format!("{host} refused: {}", reason(error)), format!("see the log of {host}")),
            None => self.unanswered(error, password),
        };
        StoreError::Server { path: self.shown.clone(), what, hint }
    }

    /// The server sent no refusal: there is none, it cannot be reached, or it broke off.
    fn unanswered(&self, error: &postgres::Error, password: &str) -> (String, String) {
        let host = &self.host;
        let text = reason(error);
        if text.contains("password missing") {
            let hint = self.warning.clone().unwrap_or_else(|| password.to_owned());
            return (format!("{host} asks for a password, and none is known"), hint);
        }
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let is_tls = text.contains("TLS") || text.contains("certificate");
        let hint = if is_tls {
            "see `sslmode` and `sslrootcert` in docs/guide/team.md".to_owned()
        } else {
            format!(
                "is a server running there, and does it listen on port {port}? `pg_isready -h {host} -p {port}`"
            )
        };
        (format!("{host}, port {port}, cannot be reached: {text}"), hint)
    }
}

/// Adds the settings that libpq takes from the environment, and how a dead connection is noticed.
fn defaults(config: &mut Config) {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if config.get_user().is_none()
        && let Some(user) = set("PGUSER")
    {
        config.user(&user);
    }
    if config.get_hosts().is_empty() {
        let usual = Path::new("/var/run/postgresql");
        match set("PGHOST") {
            Some(host) => config.host(&host),
            None if usual.is_dir() => config.host_path(usual),
            None => config.host("localhost"),
        };
    }
    if config.get_ports().is_empty()
        && let Some(port) = set("PGPORT").and_then(|port| port.parse().ok())
    {
        config.port(port);
    }
    if config.get_application_name().is_none() {
        config.application_name("boxscore");
    }
    config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(15));
}

/// The first host, as messages name it.
fn host(config: &Config) -> String {
    match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => "localhost".to_owned(),
    }
}

/// The password: of the URL, of the environment, or of the password file. Says why that file was not used.
fn log_in(config: &mut Config, given: Option<String>, host: &str) -> Option<String> {
    let set = || std::env::var("PGPASSWORD").ok().filter(|value| !value.is_empty());
    if let Some(password) = given.or_else(set) {
        config.password(password);
        return None;
    }
    let user =
        config.get_user().map(str::to_owned).or_else(|| std::env::var("USER").ok()).unwrap_or_default();
    let host = if host == "/var/run/postgresql" || host == "/tmp" { "localhost" } else { host };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().unwrap_or(&user).to_owned();
    let (found, warning) = passfile::find(&Whose { host, port, database: &database, user: &user });
    if let Some(password) = found {
        config.password(password);
    }
    warning
}

/// The innermost reason of an error, without the layers around it.
pub(crate) fn reason(error: &postgres::Error) -> String {
    if let Some(refusal) = error.as_db_error() {
        return refusal.message().to_owned();
    }
    let mut inner: &dyn std::error::Error = error;
    while let Some(cause) = inner.source() {
        inner = cause;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_no_part_of_the_name() {
        for (url, shown, password) in [
            ("postgres://ann:se%20cret@db/lab", "postgres://ann@db/lab", Some("se%20cret")),
            (
                "postgresql://ann:a@b/c@db:1/lab?sslmode=require",
                "postgres://ann@db:1/lab?sslmode=require",
                Some("a@b/c"),
            ),
            ("postgres://db/lab?password=x&sslmode=disable", "postgres://db/lab?sslmode=disable", Some("x")),
            ("postgres://ann@db/lab", "postgres://ann@db/lab", None),
            ("postgres:///lab", "postgres:///lab", None),
        ] {
            assert_eq!(split(url), (shown.to_owned(), password.map(str::to_owned)), "{url}");
        }
        assert_eq!(decoded("a%20b%zz%4"), "a b%zz%4");
    }

    #[test]
    fn a_wrong_address_is_told_without_its_password() {
        for url in [
            "postgres://u:hush@h:port/d",
            "postgres://u:hush@h/d?sslmode=never",
            "postgres://u:hush@h/d?what=1",
        ] {
            let Err(error) = Address::parse(Path::new(url)) else { panic!("{url} was taken") };
            let said = format!("{error} {:?} {error:?}", error.hint());
            assert!(error.kind() == "store-address" && !said.contains("hush"), "{said}");
        }
    }
}
