//! Quotas of the server's control group, and waiting for cores.

use super::*;

const GROUP: [(&str, f64); 5] = [
    ("server-groups", 2.0),
    ("group-quota;group=cpu:/cold3", 0.4),
    ("group-periods;group=cpu:/cold3", 50.0),
    ("window", 5.0),
    ("cpu-pressure", 0.84),
];

/// Two workers on cores that are 36 % busy at most.
fn held(given: &str, more: &[(&str, f64)]) -> RunData {
    let cores = [("server", [0.2, 0.1, 0.1, 0.0]), ("both", [0.36, 0.1, 0.2, 0.0])];
    on_cores(given, &[PLAIN, &GROUP, more].concat(), &cores)
}

#[test]
fn a_quota_of_the_server_is_named_with_its_size() {
    let stopped = [
        ("group-throttled;group=cpu:/cold3", 50.0),
        ("group-throttled-time;group=cpu:/cold3", 9.1),
        ("server-cores", 0.398),
        ("server-workers", 2.0),
    ];
    for given in ["connections=50", "connections=50;keepalive=off"] {
        let doc = first(&held(given, &stopped));
        assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Quota, "cpu:/cold3"));
        let says = "bound by the CPU quota of the control group of the server: 0.400 CPUs (cpu:/cold3), stopped in \
                    400 of 400 periods, for 72.8 s of the 80.0 s of its 2 CPUs; raise it";
        assert_eq!(doc.sentence, says);
        assert_eq!(doc.evidence, ["it used 0.398 CPUs; at 14.0 us of CPU a request 0.400 CPUs do 28.6 k/s"]);
        assert!(doc.advice[0].contains("cpu.cfs_quota_us; docker --cpus, systemd CPUQuota="), "{doc:?}");
        assert!(!doc.advice.iter().any(|text| text.contains("affinity")), "{doc:?}");
    }
}

#[test]
fn a_quota_binds_where_it_is_used_up() {
    let of = |throttled: f64, used: f64| {
        let more = [("group-throttled;group=cpu:/cold3", throttled), ("server-cores", used)];
        let doc = first(&held("connections=50", &more));
        let seen = doc.resources.iter().any(|one| one.kind == Binding::Quota);
        (doc.kind == Binding::Quota, seen)
    };
    assert_eq!(of(30.0, 0.1), (true, true), "stopped in most periods");
    assert_eq!(of(3.0, 0.39), (true, true), "used up");
    assert_eq!(of(3.0, 0.1), (false, true), "seldom");
    assert_eq!(of(0.0, 0.4), (false, true), "never");
}

#[test]
fn a_load_that_is_served_names_the_quota_where_that_is_nearest() {
    let of = |used: f64| {
        let more = [
            ("offered-load", 20e3),
            ("throughput", 20e3),
            ("response-time", 1e-4),
            ("group-throttled;group=cpu:/cold3", 0.0),
            ("server-cores", used),
        ];
        first(&on_cores(
            "arrivals=poisson;load=50%",
            &[&GROUP[..], &more].concat(),
            &[("server", [0.3, 0.1, 0.1, 0.0])],
        ))
        .sentence
    };
    let nearest = |used| of(used).split_once("nearest its ceiling: ").map(|(_, text)| text.to_owned());
    assert_eq!(
        nearest(0.38).as_deref(),
        Some("the server's CPU quota of 0.400 CPUs (cpu:/cold3), 95 % used")
    );
    assert_eq!(nearest(0.04).as_deref(), Some("cpu0 30 % busy"));
}

#[test]
fn full_cores_would_not_help_a_server_whose_quota_is_used_up() {
    let cores = [("server", [1.0, 0.8, 0.2, 0.0]), ("both", [1.0, 0.8, 0.2, 0.0])];
    let more = [("group-throttled;group=cpu:/cold3", 45.0), ("server-cores", 0.39)];
    let shares = [("core-generator;cpu=1;role=both", 0.3)];
    let doc = first(&on_cores("connections=50", &[PLAIN, &GROUP[..], &more, &shares].concat(), &cores));
    assert_eq!(doc.kind, Binding::Quota, "{doc:?}");
    assert!(doc.counter_evidence.iter().any(|text| text.starts_with("also: ")), "{doc:?}");
}

#[test]
fn who_waits_for_cores_is_said_and_why_not_what_was_read() {
    let waiting = |figures: &[(&str, f64)], cores: &[(&str, [f64; 4])]| {
        first(&on_cores("connections=50", &[PLAIN, figures].concat(), cores))
    };
    let all = [("server", [0.2, 0.1, 0.1, 0.0]), ("both", [0.36, 0.1, 0.2, 0.0])];
    let own = [("server-waiting", 1.2), ("server-cores", 0.4), ("server-groups", 2.0), ("cpu-pressure", 0.9)];
    let doc = waiting(&own, &all);
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::RunQueue, "waiting for cores"));
    let says = "the server's threads waited for a core 75 % of the time that they had work: 1.20 s a second, and ran \
                0.400";
    assert!(doc.sentence.contains(says), "{}", doc.sentence);
    assert!(
        !doc.sentence.contains("CPU set") && doc.sentence.contains("that cannot be seen here"),
        "{doc:?}"
    );
    // The machine's threads wait, but not the server's.
    let others = [("server-waiting", 0.01), ("server-cores", 0.4), ("cpu-pressure", 0.9)];
    assert_ne!(waiting(&others, &all).kind, Binding::RunQueue);
    let some = [("server", [0.2, 0.1, 0.1, 0.0]), ("other", [0.1, 0.1, 0.0, 0.0])];
    let doc = waiting(&[("cpu-pressure", 0.9)], &some);
    assert!(
        doc.sentence.contains("some thread of any program waited for a core 90 % of the time"),
        "{doc:?}"
    );
    assert!(doc.sentence.contains("CPU set") && doc.sentence.contains("which were not read"), "{doc:?}");
}

#[test]
fn a_memory_limit_that_was_reached_is_evidence() {
    let more = [
        ("memory-pressure", 0.4),
        ("group-memory-limit;group=/web", 536_870_912.0),
        ("group-memory-hits;group=/web", 34.0),
    ];
    let cores = [("server", [0.3, 0.1, 0.1, 0.1])];
    let doc = first(&on_cores("connections=50", &[PLAIN, &more[..]].concat(), &cores));
    assert_eq!(doc.kind, Binding::Memory);
    assert_eq!(doc.evidence[0], "the limit of 512 MiB of its control group (/web) was reached 272 times");
}
