//! Servers on hosts of their own, whose telemetry was recorded there.

use super::{PLAIN, docs, first, on_cores};
use crate::target_host::planted::with_host;
use model::doc::Binding;

/// As seen from the generator: its own cores, and nothing of the server.
fn remote(cores: &[[f64; 3]]) -> model::data::RunData {
    let figures: Vec<(&str, f64)> = PLAIN.iter().filter(|(name, _)| *name != "server-cpu").copied().collect();
    let run = on_cores(
        "url=http://10.0.0.2/;connections=50",
        &figures,
        &[("generator", [0.6, 0.2, 0.38, 0.02]), ("other", [0.05, 0.05, 0.0, 0.0])],
    );
    with_host(run, "a", cores)
}

#[test]
fn one_core_of_the_host_of_a_target() {
    let doc = first(&remote(&[[0.45, 0.5, 0.02], [0.1, 0.1, 0.0]]));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Core, "cpu0 of the host of a"));
    assert_eq!(
        doc.sentence,
        "bound by cpu0 of the host of a (97 % busy: user 45 %, system 50 %, softirq 2 %; the other core 80 % idle): \
         spread its work"
    );
    assert!(doc.counter_evidence.iter().any(|text| text.contains("all programs of that host count")));
}

#[test]
fn all_cores_of_the_host_of_a_target() {
    let doc = first(&remote(&[[0.4, 0.5, 0.08], [0.4, 0.5, 0.06]]));
    assert_eq!(doc.kind, Binding::Cores);
    assert_eq!(doc.sentence, "bound by the 2 cores of the host of a (97 % busy)");
}

#[test]
fn interrupts_on_one_core_of_it() {
    let doc = first(&remote(&[[0.1, 0.2, 0.66], [0.1, 0.1, 0.0]]));
    assert_eq!(doc.kind, Binding::Softirq);
    assert!(doc.sentence.ends_with("spread the NIC's interrupts"), "{}", doc.sentence);
}

#[test]
fn an_idle_host_binds_nothing() {
    let all = docs(&remote(&[[0.1, 0.1, 0.0], [0.1, 0.1, 0.0]]));
    assert!(all.iter().all(|doc| !matches!(doc.kind, Binding::Core | Binding::Cores | Binding::Softirq)));
    let seen = &all[0].resources;
    assert!(
        seen.iter().any(|one| one.resource == "cpu1 of the host of a" && one.share == Some(0.2)),
        "{seen:?}"
    );
}
