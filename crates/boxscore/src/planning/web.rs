//! What loads of web servers need beside their card: which server `auto` is, what an MPM implies, a goal, and how many
//! cells a quick run has time for.

use model::plan::{PROFILE, Takes};
use model::{Arm, Card, Cell, Need, Params};

use super::Host;
use super::mixes::Named;
use super::words::Word;
use crate::cli::run::Args;
use crate::error::CliError;

/// Connections of a load that is profiled, where there are several.
const TYPICAL: f64 = 50.0;
/// Profiles of one arm: each takes some seconds.
const MOST_PROFILES: usize = 4;
const URL: &str = "url";
pub const SERVER: &str = "server";
const MPM: &str = "mpm";
const NONE: &str = "none";
const AUTO: &str = "auto";
/// What a take costs beside its own time, in seconds.
const AROUND: f64 = 0.25;
/// Takes without which a figure has no interval.
const LEAST_TAKES: f64 = 6.0;
/// Bytes per second that a disk surely delivers, and a loopback device as a rule.
const DISK: f64 = 1e8;
const LOOPBACK: f64 = 4e9;
/// Bytes of the content whose size is not said.
const LARGE: f64 = 5e8;
const MIX: f64 = 64.0 * 1024.0 * 1024.0;
const COLD: &str = "cold";
/// What starting servers and making their content takes, in seconds.
const SETTING_UP: f64 = 20.0;

/// The parameters that `--url`, `--mix` and `--slo` stand for.
pub fn flags(args: &Args, mix: Option<&Named>) -> Result<Vec<Word>, CliError> {
    let mut words = Vec::new();
    if let (Some(path), Some(Named { name, .. })) = (&args.mix, mix) {
        let flag = format!("--mix {}", path.display());
        words.push(Word::new(&flag, None, "mix", name));
        if args.url.is_none() {
            words.push(Word::new(&flag, None, "content", "mix"));
        }
    }
    if let Some(url) = &args.url {
        words.push(Word::new(&format!("--url {url}"), None, URL, url));
    }
    if let Some(text) = &args.slo {
        let (percentile, limit) = objective(text)?;
        let flag = format!("--slo {text}");
        for (_, search) in SEARCHES.iter().filter(|(load, search)| is_named(args, &[load, search])) {
            words.push(Word::new(&flag, Some(search), "percentile", percentile));
            words.push(Word::new(&flag, Some(search), "limit", &limit));
        }
    }
    Ok(words)
}

/// `p99=10ms` as the two parameters, in the spelling of the card.
fn objective(text: &str) -> Result<(&str, String), CliError> {
    let wrong =
        |what: &str| CliError::usage(format!("--slo {text}: {what}")).hint("for example --slo p99=10ms");
    let (percentile, limit) = text.split_once('=').ok_or_else(|| wrong("not of the form PERCENTILE=TIME"))?;
    let (percentile, limit) = (percentile.trim(), limit.trim());
    let seconds = super::parse_span(limit);
    let seconds = seconds.ok_or_else(|| wrong("the limit is not a time"))?;
    let limit = model::params::show_time(seconds).ok_or_else(|| wrong("the limit must be from 1us to 1h"))?;
    Ok((percentile, limit))
}

/// A closed loop has no rate: whatever else the words say, and on whatever machine.
pub fn agree(words: &[Word], arms: usize) -> Result<(), CliError> {
    for arm in 0..arms.max(1) {
        let mine = |word: &&Word| word.arm.is_none_or(|of| of == arm);
        let of = |key: &str| words.iter().filter(mine).find(|word| word.key == key && word.value != AUTO);
        let closed = of("arrivals").filter(|word| word.value == "closed");
        if let (Some(closed), Some(rate)) = (closed, of("rate").or_else(|| of("load"))) {
            let text =
                format!("{} and {} cannot go together: a closed loop has no rate", closed.flag, rate.flag);
            return Err(CliError::usage(text).hint("arrivals=constant or arrivals=poisson have one"));
        }
    }
    Ok(())
}

/// Loads, and the searches of a goal for each.
const SEARCHES: [(&str, &str); 2] = [("web", "web-slo"), ("kv-load", "kv-slo")];

fn is_named(args: &Args, names: &[&str]) -> bool {
    args.names.iter().any(|name| names.contains(&name.as_str()))
}

/// The names to measure: with a goal, a load is the search for it.
pub fn names(args: &Args) -> Result<Vec<String>, CliError> {
    let of_web = ["web", "web-slo"].as_slice();
    let of_all = ["web", "web-slo", "kv-load", "kv-slo"].as_slice();
    for (flag, given, names, of) in [
        ("--url", args.url.is_some(), of_all, "web or the load kv-load"),
        ("--slo", args.slo.is_some(), of_all, "web or the load kv-load"),
        ("--mix", args.mix.is_some(), of_web, "web"),
    ] {
        if given && !is_named(args, names) {
            let hint = format!("boxscore run web {flag} ...");
            return Err(CliError::usage(format!("{flag} belongs to the family {of}")).hint(hint));
        }
    }
    let searched = |name: &String| {
        let search = SEARCHES.iter().find(|(load, _)| load == name);
        search.map_or_else(|| name.clone(), |(_, search)| (*search).to_owned())
    };
    Ok(match args.slo {
        Some(_) => args.names.iter().map(searched).collect(),
        None => args.names.clone(),
    })
}

/// Measured without being named: whatever needs no goal.
#[must_use]
pub fn is_usual(card: &Card) -> bool {
    !card.needs.contains(&Need::Objective)
}

/// Names the server that `auto` is here, so that results of different servers are never taken for the same.
/// A server that is not ours has one content only. With what follows from the user's words and is to be said.
pub fn settle(
    cells: Vec<Cell>,
    host: &Host,
    cards: &[&'static Card],
    words: &[Word],
) -> (Vec<Cell>, Vec<String>) {
    let mut kept = Vec::new();
    let mut said = Vec::new();
    for mut cell in cells {
        let card = cards.iter().find(|card| card.name == cell.instrument);
        let (Some(card), Some(url)) = (card, cell.params.get(URL)) else {
            kept.push(cell);
            continue;
        };
        let is_ours = url == NONE || url.is_empty();
        if let Some(store) = stored(url) {
            cell.params.set(SERVER, store);
            kept.push(cell);
            continue;
        }
        let usual = |name: &str| card.param(name).map(|spec| spec.default);
        if !is_ours && cell.params.get("content") != usual("content") {
            continue;
        }
        if is_ours && cell.params.get(SERVER) == Some(AUTO) {
            let implied = implied(&cell.params);
            if let (Some(server), Some(word)) = (implied, words.iter().find(|word| word.key == MPM)) {
                said.push(format!("{} is taken as server={server}, which alone has MPMs", word.flag));
            }
            cell.params.set(SERVER, implied.unwrap_or(host.server));
        }
        kept.push(cell);
    }
    said.dedup();
    (kept, said)
}

/// The kind of store that a URL names, as far as it does: RESP is spoken by others than Redis too.
#[must_use]
pub fn stored(url: &str) -> Option<&'static str> {
    model::url::Scheme::of_url(url).filter(|scheme| scheme.is_store()).map(model::url::Scheme::name)
}

/// The server that an arm's parameters imply: only one has MPMs.
#[must_use]
pub fn implied(set: &Params) -> Option<&'static str> {
    let names_mpm = set.get(MPM).is_some_and(|mpm| mpm != AUTO);
    (names_mpm && set.get(SERVER).is_none_or(|server| server == AUTO)).then_some("httpd")
}

/// What one take of a load costs, in seconds, as far as its parameters tell: the requests, the answers that are under
/// way when they end, and all the loads of a search. `None` for what is no load.
fn seconds(cell: &Cell) -> Option<f64> {
    let of = |name: &str| cell.params.get(name).unwrap_or_default();
    let number = |name: &str| of(name).parse::<f64>().ok();
    let take = number("duration").filter(|_| cell.params.get(URL).is_some())?;
    let size = model::params::parse_bytes(of("content-size"));
    #[expect(clippy::cast_precision_loss, reason = "a size in bytes")]
    let bytes = |usual: f64| size.map_or(usual, |bytes| bytes as f64);
    let under_way = match (of(URL), of("content")) {
        (NONE, "large") if of("cache") == COLD => bytes(LARGE) / DISK,
        (NONE, "large") => bytes(LARGE) / LOOPBACK * number("connections").unwrap_or(1.0),
        (NONE, "mix") if of("cache") == COLD => bytes(MIX) / DISK,
        _ => 0.0,
    };
    // What is slower than its time limit fails.
    let each = take + under_way.min(number("timeout").unwrap_or(f64::INFINITY)) + AROUND;
    let is_search = SEARCHES.iter().any(|(_, search)| *search == cell.instrument);
    Some(if is_search { each * f64::from(instruments::workload::web_slo::USUAL_STEPS) } else { each })
}

/// Says so where a budget has no time for as many takes as a figure with an interval needs.
#[must_use]
pub fn short_of_time(
    cells: &[Cell],
    arms: usize,
    takes: &Takes,
    warm_up: u32,
    budget: f64,
) -> Option<String> {
    let takes = match takes {
        Takes::Fixed(count) => f64::from(*count),
        Takes::Adaptive { .. } => LEAST_TAKES,
    };
    let known: Vec<f64> = cells.iter().filter_map(seconds).collect();
    let needed = known.iter().sum::<f64>() * (takes + f64::from(warm_up)) * arms.max(1) as f64;
    let span = |seconds: f64| report::number::duration(seconds.ceil());
    (needed > budget).then(|| {
        format!(
            "{} of {} need about {} with the warm-up, and there are {}: expect fewer takes and wider intervals, or \
             give it more with --for",
            if takes > 1.0 { format!("{takes} takes") } else { "one take".to_owned() },
            report::text::count(known.len() * arms.max(1), "load"),
            span(needed),
            span(budget)
        )
    })
}

/// The cells that a budget has time for with the fewest takes that give an interval, and what to say of the others; the
/// last ones go first.
pub fn within(mut cells: Vec<Cell>, arms: usize, budget: Option<f64>) -> (Vec<Cell>, Option<String>) {
    let Some(budget) = budget else { return (cells, None) };
    let all = cells.len();
    // What has no duration of its own is left as it is.
    let known: Vec<f64> = cells.iter().filter_map(seconds).collect();
    let mut total = known.iter().sum::<f64>() * LEAST_TAKES * arms.max(1) as f64 + SETTING_UP;
    while total > budget && cells.len() > 1 {
        let Some(last) = cells.iter().rposition(|cell| seconds(cell).is_some()) else { break };
        let cell = cells.remove(last);
        total -= seconds(&cell).unwrap_or(0.0) * LEAST_TAKES * arms.max(1) as f64;
    }
    let gone = all - cells.len();
    let said = (gone > 0).then(|| {
        format!(
            "{gone} of {} are left out for want of time: give it more with --for, or leave out --quick",
            report::text::count(all, "load")
        )
    });
    (cells, said)
}

/// Warm-up takes: a quick run of loads alone has none, since each server is loaded for a moment before.
#[must_use]
pub fn warm_up(args: &Args, cells: &[Cell]) -> u32 {
    let is_load = |cell: &Cell| cell.params.get(URL).is_some();
    u32::from(!(args.quick && !cells.is_empty() && cells.iter().all(is_load)))
}

/// Has the cells profiled that show most of what is served: of each content and way of connecting the closed loop
/// whose connections are nearest to [`TYPICAL`].
pub fn profile(cells: &[Cell], arms: &mut [Arm]) -> Result<(), CliError> {
    let number = |cell: &Cell| cell.params.get("connections").and_then(|text| text.parse::<f64>().ok());
    let far = |cell: &Cell| {
        let open = if cell.params.get("arrivals") == Some("closed") { 0.0 } else { 100.0 };
        open + number(cell).map_or(50.0, |connections| (connections / TYPICAL).ln().abs())
    };
    let kind =
        |cell: &Cell| ["url", "content", "keepalive"].map(|key| cell.params.get(key).map(str::to_owned));
    let mut best: Vec<(u32, &Cell)> = Vec::new();
    for (index, cell) in (0u32..).zip(cells).filter(|(_, cell)| cell.instrument == "web") {
        match best.iter_mut().find(|(_, other)| kind(other) == kind(cell)) {
            Some(known) if far(cell) < far(known.1) => *known = (index, cell),
            Some(_) => {}
            None => best.push((index, cell)),
        }
    }
    if best.is_empty() {
        return Err(CliError::usage("--profile samples a web server: this run has none")
            .hint("boxscore run web --profile"));
    }
    let list: Vec<String> = best.iter().take(MOST_PROFILES).map(|(index, _)| index.to_string()).collect();
    arms.iter_mut().for_each(|arm| arm.set.set(PROFILE, &list.join(",")));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(given: &Args, cpus: u32) -> Vec<Cell> {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        super::super::plan(given, &cards, &Host { cpus, nodes: Vec::new(), server: "nginx", setup: None }, 1)
            .unwrap()
            .0
            .cells
    }

    fn named(names: &[&str]) -> Args {
        Args { names: names.iter().map(|name| (*name).to_owned()).collect(), ..Args::default() }
    }

    fn of(cells: &[Cell], key: &str) -> Vec<String> {
        let mut all: Vec<String> =
            cells.iter().map(|cell| cell.params.get(key).unwrap_or_default().to_owned()).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn the_sweep_has_every_part() {
        let sweep = cells(&named(&["web"]), 4);
        assert!(sweep.iter().all(|cell| cell.instrument == "web"));
        assert_eq!(of(&sweep, "connections"), ["1", "10", "100", "1000", "2", "20", "4", "400", "50"]);
        assert_eq!(of(&sweep, "load"), ["10%", "100%", "110%", "25%", "50%", "75%", "90%", "auto"]);
        assert_eq!(of(&sweep, "generators"), ["1", "2"]);
        assert_eq!(of(&sweep, "content"), ["gif", "large"]);
        assert_eq!(of(&sweep, "keepalive"), ["off", "on"]);
        assert_eq!(of(&sweep, "server"), ["nginx"]);
        let from = Args { from: ["a", "b", "c"].map(str::to_owned).to_vec(), ..named(&["web"]) };
        assert_eq!(of(&cells(&from, 2), "generators"), ["1", "2", "3"]);
        assert_eq!(of(&cells(&named(&["web"]), 2), "generators"), ["1"]);
    }

    #[test]
    fn a_quick_run_has_the_headline_and_a_quick_sweep_what_fits() {
        let quick = cells(&Args { quick: true, ..Args::default() }, 2);
        let web: Vec<&Cell> = quick.iter().filter(|cell| cell.instrument.starts_with("web")).collect();
        assert_eq!(web.len(), 1);
        assert_eq!(
            (web[0].params.get("connections"), web[0].params.get("content")),
            (Some("50"), Some("gif"))
        );
        assert_eq!(web[0].headline, ["throughput"]);
        let sweep = cells(&Args { quick: true, ..named(&["web"]) }, 64);
        let all = cells(&named(&["web"]), 64);
        assert!(sweep.len() < all.len() && all.starts_with(&sweep), "{} {}", sweep.len(), all.len());
        assert_eq!(of(&sweep, "load").len(), 8);
        let small = Args { quick: true, ..named(&["web"]) };
        assert_eq!(cells(&small, 2), cells(&named(&["web"]), 2));
    }

    #[test]
    fn a_closed_loop_with_a_rate_is_refused_on_any_machine() {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        let plan = |sets: &[&str], arms: &[&str]| {
            let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            let args = Args { sets: list(sets), arms: list(arms), ..named(&["web"]) };
            super::super::plan(&args, &cards, &Host { cpus: 2, server: "nginx", ..Host::default() }, 1)
        };
        for (sets, arms) in [
            (vec!["arrivals=closed", "rate=100"], vec![]),
            (vec!["arrivals=closed"], vec!["load=50%"]),
            (vec![], vec!["connections=1", "arrivals=closed,rate=100"]),
        ] {
            let error = plan(&sets, &arms).unwrap_err();
            assert!(error.message.ends_with("cannot go together: a closed loop has no rate"), "{error}");
        }
        assert!(plan(&[], &["arrivals=closed", "arrivals=constant,rate=5"]).is_ok());
    }

    #[test]
    fn a_url_is_loaded_without_our_content() {
        let args = Args { url: Some("http://a/?b=1;c".to_owned()), ..named(&["web"]) };
        let sweep = cells(&args, 2);
        assert_eq!(of(&sweep, "url"), ["http://a/?b=1;c"]);
        assert_eq!((of(&sweep, "content"), of(&sweep, "server")), (vec!["gif".into()], vec!["auto".into()]));
        let refused = names(&Args { url: Some("http://a/".to_owned()), ..named(&["cpu"]) });
        assert!(refused.unwrap_err().to_string().contains("family web"));
    }

    #[test]
    fn an_mpm_names_its_server_in_every_arm() {
        let arms = ["mpm=prefork", "mpm=event,sendfile=off"].map(str::to_owned).to_vec();
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        let host = Host { cpus: 2, nodes: Vec::new(), server: "nginx", setup: None };
        let plan = super::super::plan(&Args { arms, ..named(&["web"]) }, &cards, &host, 1).unwrap().0;
        assert_eq!(
            plan.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(),
            ["mpm=prefork", "mpm=event;sendfile=off"]
        );
        assert!(plan.arms.iter().all(|arm| arm.set.get("server") == Some("httpd")));
        assert_eq!(plan.cells.len(), 1);
    }

    #[test]
    fn the_time_of_searches_and_of_large_content_is_counted() {
        let of = |text: &str| {
            let name = if text.contains("limit") { "web-slo" } else { "web" };
            let all = instruments::all();
            let card = all.iter().map(|one| one.card()).find(|card| card.name == name).unwrap();
            let params = card.resolve(&Params::parse(text).unwrap()).unwrap();
            seconds(&Cell { instrument: name.to_owned(), params, headline: Vec::new() }).unwrap()
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(of("duration=2.5"), 2.75);
        near(of("limit=10ms;duration=2"), 22.5);
        near(of("content=large;connections=4"), 1.75);
        near(of("content=large;content-size=100MB;cache=cold"), 2.25);
        near(of("content=large;cache=cold;timeout=3"), 4.25);
        near(of("url=http://a/;content=large"), 1.25);
    }

    #[test]
    fn too_little_time_is_said() {
        let slo = |span: Option<&str>, set: &str| {
            let args = Args {
                slo: Some("p99=10ms".to_owned()),
                span: span.map(str::to_owned),
                sets: vec![set.to_owned()],
                ..named(&["web"])
            };
            let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
            let host = Host { cpus: 2, server: "nginx", ..Host::default() };
            super::super::plan(&args, &cards, &host, 1).unwrap().1
        };
        assert_eq!(slo(None, "duration=1"), [""; 0]);
        let said = slo(Some("60s"), "duration=5");
        assert!(said.len() == 1 && said[0].starts_with("6 takes of 1 load need about "), "{said:?}");
        assert!(said[0].contains("--for"), "{said:?}");
    }

    #[test]
    fn a_goal_is_searched_for_and_nothing_else() {
        let args = Args { slo: Some("p99.9 = 1500us".to_owned()), ..named(&["web"]) };
        let search = cells(&args, 2);
        assert_eq!(search.len(), 1);
        assert_eq!(search[0].instrument, "web-slo");
        assert_eq!(
            (of(&search, "percentile"), of(&search, "limit")),
            (vec!["p99.9".into()], vec!["1500us".into()])
        );
        for (text, says) in
            [("p99", "PERCENTILE=TIME"), ("p99=fast", "not a time"), ("p99=-1ms", "not a time")]
        {
            let why = objective(text).unwrap_err().to_string();
            assert!(why.contains(says), "{text}: {why}");
        }
        for (given, spelled) in [("10ms", "10ms"), ("0.01", "10ms"), ("2s", "2s"), ("500us", "500us")] {
            assert_eq!(objective(&format!("p50={given}")).unwrap().1, spelled);
        }
    }

    #[test]
    fn stores_are_swept_and_searched_too() {
        let sweep = cells(&named(&["kv-load"]), 4);
        assert_eq!(of(&sweep, "connections"), ["1", "10", "100", "400", "50"]);
        assert!(sweep.iter().all(|cell| cell.params.get(SERVER) == Some("redis")));
        let search = cells(&Args { slo: Some("p99=1ms".to_owned()), ..named(&["kv-load"]) }, 4);
        assert_eq!((search.len(), search[0].instrument.as_str()), (1, "kv-slo"));
        let url = Some("memcached://10.0.0.7".to_owned());
        let theirs = cells(&Args { url, ..named(&["kv-load"]) }, 4);
        assert!(!theirs.is_empty() && theirs.iter().all(|cell| cell.params.get(SERVER) == Some("memcached")));
        let nothing = Args { slo: Some("p99=1ms".to_owned()), ..named(&["crc32c"]) };
        assert!(names(&nothing).unwrap_err().message.contains("kv-load"));
    }

    #[test]
    fn typical_closed_loops_are_profiled_in_every_arm() {
        let sweep = cells(&named(&["web"]), 2);
        let arm = || Arm { name: String::new(), set: Params::default() };
        let mut arms = vec![arm(), arm()];
        profile(&sweep, &mut arms).unwrap();
        let listed: Vec<usize> =
            arms[1].set.get(PROFILE).unwrap().split(',').map(|text| text.parse().unwrap()).collect();
        assert_eq!(arms[0].set, arms[1].set);
        let of = |index: usize, key: &str| sweep[index].params.get(key).unwrap_or_default();
        let first =
            listed.iter().find(|&&index| of(index, "content") == "gif" && of(index, "keepalive") == "on");
        let first = *first.unwrap();
        assert_eq!((of(first, "arrivals"), of(first, "connections")), ("closed", "50"));
        assert!(listed.len() <= MOST_PROFILES && listed.iter().any(|&index| of(index, "content") == "large"));
        let refused = profile(&cells(&named(&["cpu"]), 2), &mut arms).unwrap_err();
        assert!(refused.to_string().contains("run web --profile"));
    }
}
