//! The cost of a node that fails in the midst of a job: how soon it is found, and how much longer the job takes than
//! the same one undisturbed.
//!
//! Seconds, medians over takes. Undisturbed is the job with `fault=none`, whose cluster is set and asked alike. With
//! Hadoop's own patience the time is computed, not measured: the node is found lost that much later, and a job that
//! cannot go on without it ends as much later; one that finds out by itself is quicker.

use model::data::RunData;
use model::doc::{FaultCostDoc, JobDoc};
use model::format::quantity;
use model::job_tasks::{PATIENCE_HADOOPS_S, PATIENCE_OURS_S};
use model::metrics::hadoop;
use model::{Params, Unit};

use crate::jobs;

/// The parameter with the fault.
const FAULT: &str = "fault";
const NONE: &str = "none";

/// `None` of a job without a fault.
pub fn of_job(run: &RunData, job: &JobDoc, others: &[JobDoc]) -> Option<FaultCostDoc> {
    let fault = job.params.get(FAULT).filter(|fault| !fault.is_empty() && *fault != NONE)?;
    let of = |job: &JobDoc, metric: &str| jobs::median(run, job, metric);
    let base = others.iter().find(|other| {
        let is_alike = other.instrument == job.instrument && alike(&other.params) == alike(&job.params);
        is_alike && other.params.get(FAULT) == Some(NONE)
    });
    let seconds = of(job, hadoop::WALL.name());
    let undisturbed = base.and_then(|base| of(base, hadoop::WALL.name()));
    let later = (PATIENCE_HADOOPS_S - PATIENCE_OURS_S) as f64;
    let mut doc = FaultCostDoc {
        fault: fault.to_owned(),
        lost: of(job, hadoop::NODE_LOST.name()),
        dead: of(job, hadoop::DATA_NODE_DEAD.name()),
        after: of(job, hadoop::AFTER_FAULT.name()),
        seconds,
        undisturbed,
        more: seconds.zip(undisturbed).map(|(own, base)| own - base),
        by_default: seconds.map(|own| own + later),
        sentence: String::new(),
    };
    doc.sentence = sentence(&doc);
    Some(doc)
}

fn alike(params: &Params) -> Params {
    let mut params = params.clone();
    params.remove(FAULT);
    params
}

fn sentence(doc: &FaultCostDoc) -> String {
    let time = |seconds: f64| quantity(seconds, Unit::Second);
    let lost = doc.lost.map(|s| format!("the node is found lost after {}", time(s)));
    let dead = doc.dead.map(|s| format!("its DataNode dead after {}", time(s)));
    let after = doc.after.map(|s| format!("the job ends {} after the fault", time(s)));
    let cost = doc.more.zip(doc.undisturbed).map(|(more, base)| {
        let word = if more < 0.0 { "less" } else { "more" };
        format!("{} {word} than the {} undisturbed", time(more.abs()), time(base))
    });
    let whole = doc.seconds.map(|s| format!("in {}", time(s)));
    let whole: Vec<String> = whole.into_iter().chain(cost).collect();
    let by_default = doc.by_default.map(|s| {
        format!(
            "as Hadoop comes it is found lost after {PATIENCE_HADOOPS_S} s: up to about {} (computed)",
            time(s)
        )
    });
    let whole = (!whole.is_empty()).then(|| whole.join(", "));
    let found: Vec<String> = lost.into_iter().chain(dead).collect();
    let found = (!found.is_empty()).then(|| found.join(", "));
    let ended: Vec<String> = after.into_iter().chain(whole).collect();
    let ended = (!ended.is_empty()).then(|| ended.join(", "));
    found.into_iter().chain(ended).chain(by_default).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use model::Value;

    use super::*;
    use crate::loads::planted::{empty, params, series, takes};

    fn job(given: &str) -> JobDoc {
        JobDoc { instrument: "hadoop-terasort".to_owned(), params: params(given), ..JobDoc::default() }
    }

    #[test]
    fn the_cost_is_held_against_the_same_job_undisturbed() {
        let jobs = [job("fault=none;nodes=3"), job("fault=kill-am@40%;nodes=3"), job("fault=none;nodes=2")];
        let mut run = empty();
        for (job, metric, value) in [
            (&jobs[0], "wall", 60.0),
            (&jobs[2], "wall", 99.0),
            (&jobs[1], "wall", 95.0),
            (&jobs[1], "node-lost", 11.0),
            (&jobs[1], "datanode-dead", 14.0),
            (&jobs[1], "after-fault", 50.0),
        ] {
            let points: Vec<(u64, Value)> =
                takes(&mut run, 0).into_iter().map(|seq| (seq, Value::Number(value))).collect();
            series(&mut run, &job.instrument, metric, job.params.clone(), "", &points);
        }
        let told = of_job(&run, &jobs[1], &jobs).unwrap();
        assert_eq!((told.more, told.by_default), (Some(35.0), Some(685.0)));
        assert_eq!(
            told.sentence,
            "the node is found lost after 11.0 s, its DataNode dead after 14.0 s; the job ends 50.0 s after the fault, in \
             95.0 s, 35.0 s more than the 60.0 s undisturbed; as Hadoop comes it is found lost after 600 s: up to about \
             685 s (computed)"
        );
        assert_eq!(of_job(&run, &jobs[0], &jobs), None);
        // Without an undisturbed one there is no cost.
        assert_eq!(of_job(&run, &jobs[1], &jobs[1..]).unwrap().more, None);
    }
}
