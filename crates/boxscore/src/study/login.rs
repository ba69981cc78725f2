//! User name and password for a key-value store of the user's, from the environment or from the URL of a load.
//!
//! They leave this process only over the pipes of children, and only if a plan names such a store. They are removed
//! from a URL before anything else uses it.

use std::sync::OnceLock;

use model::Plan;
use model::login::{Login, PASSWORD, REMEDY, USER};
use model::url::{Scheme, split_user};

use crate::error::CliError;

/// The login from the URL of this command.
static OF_URL: OnceLock<Login> = OnceLock::new();

/// The login that a plan's children get; `None` if no store of the user's is asked. Fails when the environment has half
/// of one.
pub fn for_plan(plan: &Plan) -> Result<Option<Login>, CliError> {
    if plan.fake.is_some() || !asks_users_store(plan) {
        return Ok(None);
    }
    match OF_URL.get() {
        Some(login) => Ok(Some(login.clone())),
        None => of_environment(|name| std::env::var_os(name)),
    }
}

fn of_environment(get: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<Option<Login>, CliError> {
    let text = |name: &str| {
        // An empty variable counts as unset.
        let value = get(name).filter(|value| !value.is_empty());
        let text = value.map(std::ffi::OsString::into_string).transpose();
        text.map_err(|_| CliError::usage(format!("{name} is not UTF-8")))
    };
    match (text(USER)?, text(PASSWORD)?) {
        (user, Some(password)) => Ok(Some(Login { user, password })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(CliError::usage(format!("{USER} is set, and {PASSWORD} is not"))),
    }
}

/// True if a cell or an arm uses a store of the user's.
fn asks_users_store(plan: &Plan) -> bool {
    let params = plan.cells.iter().map(|cell| &cell.params).chain(plan.arms.iter().map(|arm| &arm.set));
    let is_users = |kv: &str| kv.contains(':') && !kv.starts_with("ramcloud:");
    let mut all = params;
    all.any(|params| {
        params.get("kv").is_some_and(is_users)
            || params.get("url").is_some_and(|url| Scheme::of_store_url(url).is_some())
    })
}

/// The URLs of a load without the user name and password of a store, which are kept for its children.
pub fn take_off(urls: &[String]) -> Result<Vec<String>, CliError> {
    urls.iter().map(|url| taken_off(url)).collect()
}

fn taken_off(url: &str) -> Result<String, CliError> {
    let (Some(scheme), Some((head, info, rest))) = (Scheme::of_store_url(url), split_user(url)) else {
        return Ok(url.to_owned());
    };
    if scheme != Scheme::Redis {
        let error = CliError::usage("memcached takes no password: its text protocol has none");
        return Err(error.hint(format!("{head}{rest}")));
    }
    let login = login(info).map_err(|why| CliError::usage(format!("{head}...@{rest}: {why}")))?;
    match OF_URL.get_or_init(|| login.clone()) == &login {
        true => Ok(format!("{head}{rest}")),
        false => Err(CliError::usage("two logins in one command: a load on a store takes one URL")),
    }
}

/// `USER:PASSWORD` or `:PASSWORD`, with %XX for what a URL cannot hold.
fn login(info: &str) -> Result<Login, String> {
    let (user, password) = info.split_once(':').ok_or("a user name without a password (USER:PASSWORD@)")?;
    let (user, password) = (plain(user)?, plain(password)?);
    match password.is_empty() {
        true => Err("its password is empty".to_owned()),
        false => Ok(Login { user: Some(user).filter(|user| !user.is_empty()), password }),
    }
}

fn plain(text: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.filter(|two| two.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = byte.and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.ok_or("behind a % stand two digits of base 16 (%25 is the % itself)")?);
        rest = after.get(2..).unwrap_or_default();
    }
    String::from_utf8(bytes).map_err(|_| "its user name or password is not UTF-8".to_owned())
}

/// Refuses settings with a login in them, which would be stored with the plan.
pub fn refuse<'a>(words: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), CliError> {
    let holds = |(key, value): (&str, &str)| {
        key == "kv" && value.contains('@')
            || key == "url" && Scheme::of_store_url(value).is_some() && split_user(value).is_some()
    };
    let mut words = words;
    match words.any(holds) {
        false => Ok(()),
        true => Err(CliError::usage(
            "refused: the URL has a user name or a password, which would be stored with the run",
        )
        .hint(REMEDY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_read_from_urls() {
        let of = |info: &str| login(info).map(|login| (login.user, login.password));
        let named = |user: &str, password: &str| Ok((Some(user.to_owned()), password.to_owned()));
        assert_eq!(of("a:b:c"), named("a", "b:c"));
        assert_eq!(of(":b%40%25"), Ok((None, "b@%".to_owned())));
        assert!(of("a").unwrap_err().contains("without a password"));
        assert!(of("a:").unwrap_err().contains("empty"));
        for bad in ["a:%4", "a:%", "a:%+1", "a:%ff"] {
            assert!(of(bad).is_err(), "{bad}");
        }
        let same = |url: &str| assert_eq!(taken_off(url).as_deref(), Ok(url));
        same("redis://h:1");
        same("http://a:b@h/");
        let error = taken_off("memcached://a:secret@h").unwrap_err().to_string();
        assert!(error.contains("takes no password") && !error.contains("secret"), "{error}");
        let error = taken_off("redis://a:secret%@h").unwrap_err().to_string();
        assert!(error.contains("redis://...@h") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn logins_are_read_from_the_environment() {
        let of = |user: &str, password: &str| {
            of_environment(|name| Some(if name == USER { user } else { password }.into()))
        };
        assert_eq!(of("", ""), Ok(None));
        assert_eq!(of("", "p"), Ok(Some(Login { user: None, password: "p".to_owned() })));
        assert_eq!(of("u", "p").unwrap().unwrap().user.as_deref(), Some("u"));
        assert!(of("u", "").unwrap_err().message.contains("BOXSCORE_KV_PASSWORD is not"));
    }

    #[test]
    fn what_would_be_stored_is_refused() {
        let refused = |key, value| refuse(std::iter::once((key, value))).is_err();
        assert!(refused("kv", "u:p@h:1") && refused("url", "redis://:p@h"));
        assert!(!refused("kv", "h:1") && !refused("url", "http://a/@b") && !refused("url", "redis://h"));
    }
}
