//! Loads that repeat a mix of requests: which files they ask for, and at which rate.
//!
//! The mix comes with the plan and not from a file, so that a run can be repeated wherever it is stored. A server of
//! ours serves files that stand for it; one of the user's is asked for the paths of the log where the mix has them,
//! else for paths called by their rank.

use std::sync::Arc;

use model::doc::MixDoc;
use model::url::Url;
use model::{Setup, Unfit};

use super::subject::{NONE, Offered};
use crate::load::Target;
use crate::workload::mix::{float, left_out, objects, spread};

/// The document of the mix that the parameters name, if any. Fails when the parameters ask for something impossible.
pub fn from_setup(setup: &Setup) -> Result<Option<Arc<MixDoc>>, Unfit> {
    let text = |name: &str| setup.params.get(name).unwrap_or(NONE);
    let name = text("mix");
    if name == NONE {
        return match text("arrivals") {
            "mix" => Err(Unfit::new(
                "arrivals=mix needs a mix: give --mix FILE, made by boxscore logs --profile-out",
            )),
            _ => Ok(None),
        };
    }
    let Some(mix) = setup.mix.clone() else {
        return Err(Unfit::new(format!(
            "mix={name}: the plan has no mix of this name; give its file with --mix"
        )));
    };
    mix.check().map_err(|why| Unfit::new(format!("mix={name}: {why}")))?;
    if text("url") == NONE && !["mix", "own"].contains(&text("content")) {
        return Err(Unfit::new(format!(
            "mix={name}: it is served as content=mix, or as files of yours with --content"
        )));
    }
    for (key, usual) in [("method", "GET"), ("weights", NONE), ("body", NONE)] {
        if let Some(other) = setup.params.get(key).filter(|value| *value != usual) {
            return Err(Unfit::new(format!("{key}={other}: the mix has its own")));
        }
    }
    Ok(Some(mix))
}

/// The rate of a load with the arrivals of the mix, where the parameters name none. Fails when the mix has no rate.
pub fn own_rate(mix: &MixDoc, offered: Offered, speed: f64) -> Result<Offered, Unfit> {
    let Offered::Closed = offered else { return Ok(offered) };
    match mix.arrivals.mean_rate.filter(|rate| rate.is_finite() && *rate > 0.0) {
        Some(rate) => Ok(Offered::Rate(rate * speed)),
        None => Err(Unfit::new(format!("arrivals=mix: {}; give arrivals=poisson and a rate", untold(mix)))),
    }
}

/// Why a mix tells no arrivals.
pub fn untold(mix: &MixDoc) -> &str {
    mix.arrivals.why.as_deref().unwrap_or("the mix tells no arrivals")
}

/// The requests of a mix to a server of the user's, and remarks on them.
pub fn theirs(mix: &MixDoc, url: &Url) -> (Vec<Target>, Vec<String>) {
    let target = |path: &str, weight: f64| Target {
        weight,
        ..Target::from(Url { path: path.to_owned(), ..url.clone() })
    };
    let known = &mix.popularity.top;
    if !mix.popularity.logged {
        let made = objects::objects(mix, u64::MAX).items;
        let plain = made.iter().map(|item| target(&item.path, f64::from(item.weight))).collect();
        return (plain, Vec::new());
    }
    let plain = known.iter().map(|one| target(&one.path, float(one.requests))).collect();
    let tail: u64 = mix.popularity.tail.iter().map(|one| one.requests).sum();
    let percent = 100.0 * float(tail) / float(mix.popularity.requests.max(1));
    let said = format!(
        "{percent:.2} % of the mix's requests are for paths beyond the first {}, whose names are not kept; those are \
         asked for instead",
        known.len()
    );
    (plain, if tail > 0 { vec![said] } else { Vec::new() })
}

/// The targets of a mix, with their methods and connections.
pub fn targets(plain: &[Target], mix: Option<&MixDoc>) -> Vec<Target> {
    mix.map_or_else(|| plain.to_vec(), |mix| spread(plain, mix))
}

/// A sentence on the parts of a mix that are not sent.
pub fn says(name: &str, mix: &MixDoc) -> String {
    let mut parts = vec![format!("{name}: {} requests of {}", mix.requests, mix.label)];
    parts.extend(left_out(mix));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;
    use crate::workload::mix::tests::planted;

    fn setup(params: &str, mix: Option<MixDoc>) -> Setup {
        let setup = Setup::bare(Params::parse(params).unwrap(), vec![0], ".");
        Setup { mix: mix.map(Arc::new), ..setup }
    }

    #[test]
    fn what_a_mix_cannot_be_is_said() {
        let broken = MixDoc { requests: 0, ..planted() };
        for (params, mix, says) in [
            ("arrivals=mix", None, "--mix FILE"),
            ("mix=a;content=mix", None, "no mix of this name"),
            ("mix=a;content=mix", Some(broken), "mix=a: requests: 0"),
            ("mix=a;content=gif", Some(planted()), "content=mix"),
            ("mix=a;content=mix;method=POST", Some(planted()), "method=POST"),
            ("mix=a;url=http://a/;weights=1", Some(planted()), "weights=1"),
        ] {
            let why = from_setup(&setup(params, mix)).unwrap_err().why;
            assert!(why.contains(says), "{params}: {why}");
        }
        assert!(from_setup(&setup("mix=a;content=mix;method=GET", Some(planted()))).unwrap().is_some());
        assert!(from_setup(&setup("arrivals=closed", None)).unwrap().is_none());
    }

    #[test]
    fn rates_are_those_of_the_mix_unless_given() {
        let mix = planted();
        assert_eq!(own_rate(&mix, Offered::Closed, 2.0), Ok(Offered::Rate(40.0)));
        assert_eq!(own_rate(&mix, Offered::Share(0.5), 1.0), Ok(Offered::Share(0.5)));
        let silent = MixDoc { arrivals: model::doc::mix::MixArrivals::default(), ..mix };
        assert!(own_rate(&silent, Offered::Closed, 1.0).unwrap_err().why.contains("no arrivals"));
    }

    #[test]
    fn a_server_of_theirs_is_asked_for_the_paths_of_the_log_or_of_their_rank() {
        let url = "http://h:81/x".parse().unwrap();
        let mut mix = planted();
        let (targets, said) = theirs(&mix, &url);
        assert_eq!((targets.len(), targets[0].url.to_string().as_str()), (1050, "http://h:81/m-000001"));
        assert!(said.is_empty());
        mix.popularity.logged = true;
        let (targets, said) = theirs(&mix, &url);
        assert_eq!(targets.len(), 50);
        assert!(said[0].contains("beyond the first 50"), "{said:?}");
    }
}
