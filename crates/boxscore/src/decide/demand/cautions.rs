//! Cautions of a log, for a buyer to read before the numbers: its own server did not keep the goal, the measured boxes
//! did not do all of its requests' work, a bot sets its demand.

use model::doc::LoggedDoc;
use model::format::{list, percent, quantity};
use model::need::{Need, Work};
use model::unit::Unit;

use crate::access_logs::own::Own;

/// The log's own percentile, where the need has a limit of it.
pub fn logged(need: &Need, own: &Own) -> Option<LoggedDoc> {
    let (limit, seconds) = (need.limit.as_ref()?, own.seconds?);
    Some(LoggedDoc { percentile: limit.percentile.clone(), seconds, breaks: seconds > limit.seconds })
}

/// Sentences without full stops. `sets_demand`: the demand is the log's own.
pub fn of_log(need: &Need, own: &Own, sets_demand: bool) -> Vec<String> {
    let file = need.work.name();
    let bot = own.bot.as_ref().filter(|_| sets_demand).map(|(share, bot)| {
        format!(
            "{} of the busiest hour of {file} is {bot}, which sets this demand: `bot=no` in the need leaves bots out",
            percent(*share)
        )
    });
    broken(need, own).into_iter().chain(bot).collect()
}

/// The goal that the log's own server did not keep.
fn broken(need: &Need, own: &Own) -> Option<String> {
    let (limit, logged) = (need.limit.as_ref()?, logged(need, own).filter(|logged| logged.breaks)?);
    let time = |seconds: f64| quantity(seconds, Unit::Second);
    let of = own.slowest.as_ref().filter(|(paths, _)| !paths.is_empty());
    let of = of.map_or_else(String::new, |(paths, share)| {
        format!(" ({} of its time: {})", percent(*share), list(paths))
    });
    Some(format!(
        "the log's own {} is {}, over {}: the server that wrote it did not keep the goal, and no number of boxes mends a \
         page that takes so long alone{of}",
        logged.percentile,
        time(logged.seconds),
        time(limit.seconds)
    ))
}

/// The work that files do not do of a log's requests, of figures that were measured with files of its sizes.
pub fn stood_in(need: &Need, own: &Own) -> Option<String> {
    let (Work::Logs(file) | Work::Mix(file)) = &need.work else { return None };
    let body = own.with_body.as_ref().map_or_else(String::new, |(methods, share)| {
        format!("; {} ({}) is not sent", list(methods), percent(*share))
    });
    Some(format!(
        "static files of its sizes stand in for the requests of {file}: what its server computes costs a box more than \
         this{body}"
    ))
}

#[cfg(test)]
mod tests {
    use model::need::parse;

    use super::*;

    fn own() -> Own {
        Own {
            seconds: Some(0.297),
            slowest: Some((vec!["/search".into()], 0.5)),
            with_body: Some((vec!["POST".into()], 0.087)),
            bot: Some((0.97, "Googlebot/2.1 from 192.0.2.7".into())),
        }
    }

    #[test]
    fn a_log_that_breaks_the_goal_says_so_and_by_what() {
        let said = |text: &str, sets: bool| of_log(&parse(text).unwrap(), &own(), sets);
        let both = said("logs a.log p99<50ms", true);
        assert!(
            both[0].starts_with("the log's own p99 is 297 ms, over 50.0 ms: the server that wrote it")
                && both[0].ends_with("(50 % of its time: /search)"),
            "{both:?}"
        );
        assert!(both[1].starts_with("97 % of the busiest hour of a.log is Googlebot"), "{both:?}");
        // A goal that is kept, and a demand that was said, need no word.
        assert!(said("logs a.log 10/s p99<1s", false).is_empty());
        assert!(!logged(&parse("logs a.log p99<1s").unwrap(), &own()).unwrap().breaks);
    }

    #[test]
    fn what_files_do_not_do_is_named() {
        let said = stood_in(&parse("logs a.log").unwrap(), &own()).unwrap();
        assert!(said.ends_with("POST (8.7 %) is not sent"), "{said}");
        assert_eq!(stood_in(&parse("web 1/s").unwrap(), &own()), None);
    }
}
