//! Doubts of the rules about the sides of a comparison: each once, under the side that it is about.
//!
//! A doubt about an arm belongs to that arm alone; one about a whole run that several sides share is said once, under
//! none of them.

use std::collections::{BTreeMap, BTreeSet};

use model::data::RunData;
use model::finding::Subject;
use model::id::short;
use model::{Finding, Validity};

use super::doubt::Doubt;
use super::prepared::Prepared;
use crate::ruling::Ruling;

/// The grave rulings of a run that are about this arm, or about no arm.
pub fn of_arm<'r>(run: &'r RunData, arm: &'r str, rulings: &'r [Ruling]) -> impl Iterator<Item = Doubt> + 'r {
    let grave = rulings.iter().filter(|ruling| ruling.finding.state >= Validity::Doubtful);
    let doubts = grave.map(move |ruling| Doubt {
        finding: ruling.finding.clone(),
        run: run.head.id.clone(),
        arm: about(run, ruling),
    });
    doubts.filter(move |doubt| doubt.arm.as_ref().is_none_or(|about| about == arm))
}

/// The one arm that a ruling is about, where the run has several.
fn about(run: &RunData, ruling: &Ruling) -> Option<String> {
    if run.plan.arms.len() < 2 {
        return None;
    }
    let mut arms = ruling.reach.iter().filter_map(|at| run.series.get(*at)).map(|series| &series.key.arm);
    if let Some(first) = arms.next() {
        return arms.all(|other| other == first).then(|| first.clone());
    }
    let named = ruling.finding.subject.arm();
    run.plan.arms.iter().any(|arm| arm.name == named).then(|| named.to_owned())
}

/// Takes the doubts of all sides as findings, in the order of the sides.
pub fn findings(prepared: &mut [Prepared<'_>]) -> Vec<Finding> {
    let mut sides: BTreeMap<&str, usize> = BTreeMap::new();
    for side in prepared.iter().map(|side| side.side) {
        let runs: BTreeSet<&str> = side.runs.iter().map(|run| run.head.id.as_str()).collect();
        runs.into_iter().for_each(|run| *sides.entry(run).or_default() += 1);
    }
    let mut all: Vec<Finding> = Vec::new();
    // The places of those under each side, and of those under none: findings of two sides differ in their side.
    let mut places: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for side in prepared {
        for doubt in std::mem::take(&mut side.doubts) {
            let is_shared =
                doubt.arm.is_none() && sides.get(doubt.run.as_str()).is_some_and(|count| *count > 1);
            let name = (!is_shared).then_some(side.side.name.as_str());
            let subject = match name {
                None => doubt.finding.subject,
                Some(name) => named(name, doubt.finding.subject, doubt.arm.as_deref()),
            };
            // A figure is doubtful in one run of several.
            let is_of_one = side.side.runs.len() > 1 && subject.figure().is_some();
            let subject = if is_of_one { subject.of_run(short(&doubt.run)) } else { subject };
            let finding = Finding { subject, ..doubt.finding };
            let said = places.entry(name).or_default();
            if said.iter().all(|at| all[*at] != finding) {
                said.push(all.len());
                all.push(finding);
            }
        }
    }
    all
}

/// `SIDE: SUBJECT`; the arm is not said again where the side has its name.
fn named(side: &str, subject: Subject, arm: Option<&str>) -> Subject {
    let is_side = arm == Some(side) && subject.arm() == side;
    let subject = if is_side { subject.without_arm() } else { subject };
    subject.of_side(side)
}

#[cfg(test)]
mod tests {
    use model::doc::MachineDoc;
    use model::finding::{About, FigureName};
    use model::plan::Takes;
    use model::{Arm, Params, Plan};

    use super::super::side::Side;
    use super::*;
    use crate::loads::planted::{empty, load_in};

    fn run() -> RunData {
        let mut run = empty();
        let arm = |name: &str| Arm { name: name.to_owned(), set: Params::default() };
        run.plan =
            Plan { arms: vec![arm("a=1"), arm("a=2")], ..Plan::bare(Vec::new(), Takes::Fixed(8)) }.into();
        load_in(&mut run, (0, "a=1"), "connections=1", &[("throughput", 1.0)]);
        load_in(&mut run, (1, "a=2"), "connections=1", &[("throughput", 2.0)]);
        run
    }

    fn of(arm: &str) -> Subject {
        let figure = FigureName {
            instrument: "web".into(),
            metric: "throughput".into(),
            params: Params::default(),
            arm: arm.to_owned(),
        };
        About::Figure(figure).into()
    }

    fn ruling(subject: Subject, reach: &[usize]) -> Ruling {
        let finding = Finding::foreign("k", Validity::Doubtful, "doubtful").about(subject);
        Ruling { finding, reach: reach.to_vec() }
    }

    #[test]
    fn a_doubt_belongs_to_its_arm_and_that_of_the_run_to_none() {
        let run = run();
        let rulings = [
            ruling(of("a=1"), &[0]),
            ruling(of("a=2"), &[1]),
            ruling(Subject::label("the run"), &[0, 1]),
            ruling(of("a=2"), &[]),
            Ruling { finding: Finding::foreign("k", Validity::Ok, "fine"), reach: vec![0] },
        ];
        let subjects = |arm: &str| {
            of_arm(&run, arm, &rulings).map(|doubt| doubt.finding.subject.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(subjects("a=1"), ["web throughput [a=1]", "the run"]);
        assert_eq!(subjects("a=2"), ["web throughput [a=2]", "the run", "web throughput [a=2]"]);
        assert_eq!(about(&run, &rulings[2]), None);
    }

    /// The subjects of the findings of these sides, each a name, its arm and its runs; every run has one doubt about
    /// the whole run and one about its first arm.
    fn told(sides: &[(&str, Option<&str>, Vec<&RunData>)]) -> Vec<String> {
        let doubt = |run: &RunData, arm: Option<&str>| Doubt {
            finding: Finding::foreign("k", Validity::Doubtful, "doubtful")
                .about(arm.map_or(Subject::RUN, of)),
            run: run.head.id.clone(),
            arm: arm.map(str::to_owned),
        };
        let given: Vec<Side<'_>> = sides
            .iter()
            .map(|(name, arm, runs)| Side {
                arm: arm.map(str::to_owned),
                runs: runs.clone(),
                ..Side::new(name, MachineDoc { id: String::new(), name: (*name).to_owned() })
            })
            .collect();
        let ready = |side| {
            let mut prepared = Prepared::new(side);
            for run in &side.runs {
                prepared.doubts.extend([doubt(run, None), doubt(run, Some("a=1"))]);
            }
            prepared
        };
        let mut prepared: Vec<Prepared<'_>> = given.iter().map(ready).collect();
        findings(&mut prepared).into_iter().map(|finding| finding.subject.to_string()).collect()
    }

    #[test]
    fn what_sides_share_is_said_under_none_and_nothing_twice() {
        let (mut one, mut other) = (run(), run());
        (one.head.id, other.head.id) = ("1".to_owned(), "2".to_owned());
        let apart = told(&[("x", None, vec![&one]), ("y", None, vec![&other])]);
        assert_eq!(apart, ["x", "x: web throughput [a=1]", "y", "y: web throughput [a=1]"]);
        let arms = told(&[("a=1", Some("a=1"), vec![&one]), ("a=2", Some("a=2"), vec![&one])]);
        assert_eq!(arms, ["", "a=1: web throughput", "a=2: web throughput [a=1]"]);
        // A file may have a run twice: no other side has it.
        assert_eq!(told(&[("x", None, vec![&one, &one])])[0], "x");
    }

    #[test]
    fn an_arm_that_names_its_side_is_said_once() {
        let text = |side: &str, subject, arm| named(side, subject, arm).to_string();
        assert_eq!(text("a=1", of("a=1"), Some("a=1")), "a=1: web throughput");
        assert_eq!(text("before", of("a=1"), Some("a=1")), "before: web throughput [a=1]");
        assert_eq!(text("mini", Subject::RUN, None), "mini");
    }
}
