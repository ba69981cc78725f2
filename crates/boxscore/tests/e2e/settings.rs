//! Settings that differ between two runs: in front of a comparison, and on the screen of the later load.

use crate::common::{Bench, cannot, root, said};
use model::doc::{CompareDoc, LoadDoc, SettingDoc};

const ONE: &str =
    "connections=3;arrivals=closed;load=auto;content=gif;keepalive=on;generators=1;server=builtin";

fn texts(all: &[SettingDoc]) -> Vec<String> {
    all.iter().map(SettingDoc::text).collect()
}

#[test]
fn a_kernel_setting_that_was_changed_is_named_before_the_figures() {
    if !root() {
        return cannot("only root may have a network of its own");
    }
    let bench = Bench::new();
    for (label, most) in [("before", "8"), ("after", "4096")] {
        let script = format!("ip link set lo up && echo {most} >/proc/sys/net/core/somaxconn && exec \"$@\"");
        let within = ["unshare", "--net", "sh", "-c", &script, "sh"];
        let run = ["run", "web", "--no-report", "--takes", "1", "--set", ONE, "--label", label];
        said(&mut bench.behind(&within, &run)).expect(0, &[]);
    }
    let doc = bench.run(&["compare", "before", "after", "--json"]).expect(0, &[]).out;
    let doc: CompareDoc = serde_json::from_str(&doc).expect("a document");
    let first = &doc.settings[0].differ[0];
    assert_eq!(first.key.as_deref(), Some("sysctl.net.core.somaxconn"));
    assert_eq!(first.text(), "net.core.somaxconn (8 against 4096)");
    let shown = bench.run(&["compare", "before", "after"]).expect(0, &[]).out;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?} in {shown}"));
    assert!(
        at("settings that differ between before and after: net.core.somaxconn (8") < at(" verdict"),
        "{shown}"
    );
    bench.run(&["report", "before", "after", "-o", "both.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("both.html")).expect("a page");
    assert!(
        page.contains("id=\"settings\"") && page.contains("net.core.somaxconn (8 against 4096)"),
        "no settings"
    );
    // Of one run there is nothing that differs, and failures have a row.
    let failed = doc.rows.iter().filter(|row| row.metric == "error-rate").count();
    assert_eq!(failed, 1, "{shown}");
}

#[test]
fn a_load_names_what_differs_since_the_last_one_of_its_url() {
    let bench = Bench::new();
    let port = crate::web_shown::serve_forever();
    let url = format!("http://127.0.0.1:{port}/");
    let load = |more: &[&str]| -> LoadDoc {
        let out = bench.run(&[&["load", &url, "-n", "200", "--json"], more].concat()).expect(0, &[]).out;
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    };
    let first = load(&["-c", "2", "--label", "before"]);
    assert_eq!(first.since, None);
    let second = load(&["-c", "4", "-t", "1"]);
    let since = second.since.expect("connections differ");
    assert_eq!((&since.run, since.label.as_deref()), (&first.run, Some("before")));
    assert!(texts(&since.differ).contains(&"connections (2 against 4)".to_owned()), "{since:?}");
    // The same once more.
    assert_eq!(load(&["-c", "4", "-t", "1"]).since, None);
    let shown = bench.run(&["load", &url, "-n", "200", "-c", "8", "-t", "1"]).expect(0, &[]).out;
    assert!(shown.contains("settings    differ since the last load of it (run "), "{shown}");
}
