//! Loads that one URL and one rate do not describe: several URLs with weights, a rising rate, a replay.
//!
//! Rates are requests per second. A replay holds paths; server and port are those of the URL.

use std::time::Duration;

use model::Params;
use model::url::Url;

use super::replay;
use super::subject::NONE;
use crate::load::Target;
use crate::load::schedule::Schedule;

/// The URLs of a load, separated by blanks, and their weights. Fails when a URL or a weight is malformed.
pub fn targets(urls: &str, weights: &str) -> Result<Vec<Target>, String> {
    let mut targets: Vec<Target> = Vec::new();
    for text in urls.split_whitespace() {
        targets.push(text.parse::<Url>().map_err(|error| error.to_string())?.into());
    }
    if weights == NONE {
        return Ok(targets);
    }
    let given: Vec<&str> = weights.split_whitespace().collect();
    if given.len() != targets.len() {
        return Err(format!("{} weights for {} URLs; give each URL one", given.len(), targets.len()));
    }
    for (target, text) in targets.iter_mut().zip(given) {
        target.weight = text.parse().map_err(|_| format!("the weight {text} is not a number"))?;
    }
    Ok(targets)
}

/// A schedule, and what is to be said of how it was read.
type Course = (Schedule, Option<String>);

/// The schedule of `arrivals=ramp` and `arrivals=replay`; the replay brings its own targets. Fails when the ramp or
/// the file of the replay is malformed.
pub fn schedule(
    params: &Params,
    targets: &mut Vec<Target>,
    over: Option<Duration>,
    seed: u64,
) -> Result<Option<Course>, String> {
    let text = |name: &str| params.get(name).unwrap_or(NONE);
    match (text("arrivals"), text("ramp"), text("replay")) {
        ("ramp", ramp, NONE) => ramp_of(ramp, over).map(|ramp| Some((ramp, None))),
        ("replay", NONE, path) if path != NONE => {
            let speed =
                text("speed").parse().map_err(|_| format!("speed={}: not a number", text("speed")))?;
            let course = replay_of(path, targets, seed, speed)?;
            let own = targets.iter().any(|target| target.method.is_some());
            let given = [("method", "GET"), ("body", NONE)]
                .map(|(key, usual)| (key, params.get(key).unwrap_or(usual), usual));
            match given.iter().find(|(_, value, usual)| own && value != usual) {
                Some((key, value, _)) => {
                    Err(format!("{key}={value}: the log has methods of its own, and no bodies"))
                }
                None => Ok(Some(course)),
            }
        }
        ("replay", NONE, _) => Err("a replay needs its file: replay=PATH".to_owned()),
        (_, NONE, NONE) => Ok(None),
        _ => Err("ramp belongs to arrivals=ramp, and replay to arrivals=replay".to_owned()),
    }
}

fn ramp_of(text: &str, over: Option<Duration>) -> Result<Schedule, String> {
    let wrong = || {
        format!("ramp={text}: two rates such as 100:5000, requests per second at the start and at the end")
    };
    let (from, to) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
    let over = over.ok_or("a ramp needs a duration, not a number of requests")?;
    let over_ns = u64::try_from(over.as_nanos()).unwrap_or(u64::MAX);
    Ok(Schedule::Ramp { from: number(from)?, to: number(to)?, over_ns })
}

fn replay_of(path: &str, targets: &mut Vec<Target>, seed: u64, speed: f64) -> Result<Course, String> {
    let Some(Target { url, .. }) = targets.first().cloned() else {
        return Err("a replay needs a url, whose server it loads".to_owned());
    };
    let replay = replay::read(path, seed, speed).map_err(|why| format!("the replay {path}: {why}"))?;
    let target = |(path, method): (String, Option<&str>)| Target {
        method: method.map(str::to_owned),
        ..Target::from(Url { path, ..url.clone() })
    };
    *targets = replay.targets.into_iter().map(target).collect();
    let said = replay.said.map(|said| format!("{path}: {said}"));
    Ok((Schedule::Replay(replay.arrivals.into()), said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_weights() {
        let of = |urls: &str, weights: &str| targets(urls, weights);
        let two = of("http://a/x http://a/y", "3 0.5").unwrap();
        assert_eq!(
            two.iter().map(|one| (one.url.path.as_str(), one.weight)).collect::<Vec<_>>(),
            [("/x", 3.0), ("/y", 0.5)]
        );
        assert_eq!(of("http://a/x", NONE).unwrap().len(), 1);
        assert!(of("http://a/x http://a/y", "1").unwrap_err().contains("1 weights for 2 URLs"));
        assert!(of("http://a/x", "much").unwrap_err().contains("much"));
        assert!(of("http://a/x a", NONE).is_err());
    }

    #[test]
    fn ramps_and_replays_are_read_or_explained() {
        let of = |text: &str| {
            let mut targets = targets("http://h:81/", NONE).unwrap();
            let schedule = schedule(
                &Params::parse(&format!("speed=1;{text}")).unwrap(),
                &mut targets,
                Some(Duration::from_secs(2)),
                1,
            )?;
            Ok::<_, String>((schedule, targets))
        };
        let ramp = Schedule::Ramp { from: 10.0, to: 0.5, over_ns: 2_000_000_000 };
        assert_eq!(of("arrivals=ramp;ramp=10:0.5").unwrap().0, Some((ramp, None)));
        assert_eq!(of("arrivals=closed").unwrap().0, None);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "7.5 /b\n7 /a\n8 /b\n").unwrap();
        let (schedule, targets) = of(&format!("arrivals=replay;replay={}", file.path().display())).unwrap();
        let paths: Vec<String> = targets.iter().map(|one| one.url.to_string()).collect();
        assert_eq!(paths, ["http://h:81/b", "http://h:81/a"]);
        let Some((Schedule::Replay(arrivals), said)) = schedule else { panic!("{schedule:?}") };
        assert!(said.unwrap().contains("its times go back at line 2; "));
        let due: Vec<_> = arrivals.iter().map(|one| (one.at_ns, one.target)).collect();
        assert_eq!(due, [(0, Some(1)), (500_000_000, Some(0)), (1_000_000_000, Some(0))]);
        for (text, says) in [
            ("arrivals=ramp", "two rates"),
            ("arrivals=ramp;ramp=5", "two rates"),
            ("arrivals=ramp;ramp=a:5", "two rates"),
            ("arrivals=replay", "needs its file"),
            ("arrivals=replay;replay=/no/such", "/no/such"),
            ("arrivals=closed;ramp=1:2", "belongs to"),
        ] {
            let why = of(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
