//! The flags of `load` that only a load on a key-value store has, and those that it lacks.

use model::Params;
use model::url::{Scheme, Url};

use super::value::value;
use crate::cli::load::LoadArgs;
use crate::error::CliError;

/// True if the load is on a store.
pub fn is_store(args: &LoadArgs) -> bool {
    args.urls.iter().any(|url| url.parse::<Url>().is_ok_and(|url| url.scheme.is_store()))
}

/// A flag, its parameter, and the value that was given.
type Flag = (&'static str, &'static str, fn(&LoadArgs) -> Option<&String>);

/// Flags of a load on a store alone.
const OF_STORE: [Flag; 5] = [
    ("--keys", "keys", |args| args.keys.as_ref()),
    ("--key-size", "key-size", |args| args.key_size.as_ref()),
    ("--value-size", "value-size", |args| args.value_size.as_ref()),
    ("--popularity", "popularity", |args| args.popularity.as_ref()),
    ("--ratio", "ratio", |args| args.ratio.as_ref()),
];

/// Sets the parameters that only `kv-load` has: which keys are read and written. Fails when a flag of web loads is
/// given.
pub fn params(args: &LoadArgs, params: &mut Params) -> Result<(), CliError> {
    let of_web = [
        ("--weight", !args.weights.is_empty()),
        ("--header", !args.headers.is_empty()),
        ("--method", args.method.is_some()),
        ("--body", args.body.is_some()),
        ("--no-keepalive", args.no_keepalive),
        ("--insecure", args.insecure),
        ("--replay", args.replay.is_some()),
    ];
    if let Some((flag, _)) = of_web.iter().find(|(_, given)| *given) {
        let error = CliError::usage(format!("{flag} belongs to a load on a web server, and not on a store"));
        return Err(error.hint("--keys, --value-size, --popularity and --ratio say what is read and written"));
    }
    if args.urls.len() > 1 {
        return Err(CliError::usage(format!("{} URLs: a load on a store takes one", args.urls.len())));
    }
    if let Some(store) = args.urls.first().and_then(|url| Scheme::of_store_url(url)) {
        params.set("server", store.name());
    }
    for (flag, key, given) in OF_STORE {
        if let Some(text) = given(args) {
            params.set(key, &value(flag, key, text)?);
        }
    }
    Ok(())
}

/// Refuses the flags of a load on a store, for a load on a web server.
pub fn none(args: &LoadArgs) -> Result<(), CliError> {
    match OF_STORE.iter().find(|(.., given)| given(args).is_some()) {
        Some((flag, ..)) => {
            Err(CliError::usage(format!("{flag} belongs to a load on redis:// or memcached://")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::super::tests::{URL, planned};

    #[test]
    fn stores_have_flags_of_their_own() {
        let store = "memcached://127.0.0.1:1";
        let params = planned(&[store, "--keys", "1k", "--data-size", "9", "--ratio", "0:1"]).unwrap();
        let wanted =
            Params::parse("server=memcached;keys=1000;value-size=9;ratio=0:1;connections=50").unwrap();
        assert!(params.contains(&wanted), "{params}");
        for (given, says) in [
            (&[store, "-m", "PUT"], "--method belongs to a load on a web server"),
            (&[URL, "--keys", "5"], "--keys belongs to a load on redis://"),
        ] {
            assert!(planned(given).unwrap_err().message.contains(says), "{given:?}");
        }
    }
}
