//! Flags of other load generators (wrk, wrk2, ab, hey, oha, bombardier) that `boxscore load` does not have, and what
//! does the same here.
//!
//! A flag that means something else here is not in the list: it is read as ours.

/// Flags, and what to do instead.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &["-k", "--keepalive", "--keep-alive"],
        "connections are kept anyway; --no-keepalive makes one for each request",
    ),
    (
        &["--latency", "-L", "-U", "--u_latency", "-l"],
        "every percentile is always printed; --json has the histogram",
    ),
    (
        &["-s", "--script", "--lua"],
        "there are no scripts: several URLs with --weight, --replay FILE, --body @FILE; a time limit is --timeout",
    ),
    (&["-T", "--content-type"], "-H 'Content-Type: application/json'"),
    (
        &["-p", "-u", "-D", "--body-file", "-f", "--form", "-F"],
        "--body @FILE, with --method PUT where it is no POST",
    ),
    (&["--data", "--post", "--post-data"], "--body TEXT, or --body @FILE"),
    (
        &["-A", "-a", "--auth", "--user", "--basic"],
        "-H 'Authorization: Basic ...' (printf 'user:password' | base64)",
    ),
    (&["-C", "--cookie"], "-H 'Cookie: name=value'"),
    (&["--host"], "-H 'Host: name'"),
    (&["-i", "--head"], "--method HEAD"),
    (
        &["-w", "-e", "-g", "-o", "-O", "-j", "--output", "--output-format", "--csv", "--format", "--print"],
        "--json prints one document; `boxscore export --format csv` writes all that is stored",
    ),
    (
        &["--no-tui", "-v", "-V", "-S", "--no-print", "--quiet", "--silent"],
        "nothing is drawn where stderr is no terminal; --json prints one document alone",
    ),
    (&["--http2", "--http1", "--http3", "--h2", "--http-version"], "HTTP/1.1 alone is spoken"),
    (
        &["--disable-redirects", "--redirect", "--follow"],
        "redirects are counted and never followed: give the URL they lead to",
    ),
    (
        &["--disable-compression", "--gzip"],
        "no coding is asked for unless you do: -H 'Accept-Encoding: gzip'",
    ),
    (&["-x", "--proxy", "-P"], "there are no proxies: give the URL of the server itself"),
    (
        &["--connect-to", "--unix-socket", "-B", "--interface"],
        "there is no such thing here: the address is that of the URL",
    ),
    (
        &["--cacert", "--cert", "--key", "-E", "-Z", "--skip-verify"],
        "--insecure takes any certificate; none can be shown to the server",
    ),
    (
        &["--warmup", "--warm-up"],
        "a load has none: load twice, or `boxscore run web --url URL`, which warms up",
    ),
    (&["--concurrency", "--workers", "--clients"], "--connections"),
    (&["--num", "--number", "--count"], "--requests"),
    (&["--qps", "--rps", "--query-per-second"], "--rate"),
];

/// The hint for an argument that `load` does not know; `None` if no other load generator has it either.
pub fn hint(argument: &str) -> Option<&'static str> {
    let flag = argument.split('=').next().unwrap_or(argument);
    KNOWN.iter().find(|(flags, _)| flags.contains(&flag)).map(|(_, says)| *says)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn no_flag_of_ours_is_called_foreign() {
        let all = Cli::command();
        let load = all.find_subcommand("load").unwrap();
        for arg in load.get_arguments() {
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
            let own = arg.get_all_short_aliases().unwrap_or_default();
            for short in shorts.into_iter().chain(own) {
                assert_eq!(hint(&format!("-{short}")), None, "-{short}");
            }
            let longs = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
            for long in longs {
                assert_eq!(hint(&format!("--{long}")), None, "--{long}");
            }
        }
    }

    #[test]
    fn each_is_unknown_to_the_parser_and_named_once() {
        let mut seen = std::collections::BTreeSet::new();
        for flag in KNOWN.iter().flat_map(|(flags, _)| *flags) {
            assert!(seen.insert(flag), "{flag}");
            let parsed = Cli::from_words(["boxscore", "load", "http://a/", flag, "1"]);
            assert!(parsed.is_err(), "{flag} is one of ours");
        }
        assert!(hint("--latency").unwrap().contains("percentile") && hint("--host=x").is_some());
        assert_eq!(hint("--nonsense"), None);
    }
}
