//! Commands that print watts, while something is measured.

use std::time::Duration;

use instruments::workload::levels::meter::{Readings, Source};
use model::Fault;
use sys::clock;

fn command(text: &str) -> Source {
    let cpus = sys::affinity::allowed().unwrap();
    Source::Command { text: text.to_owned(), cpus }
}

fn slept(source: &mut Source, seconds: f64) -> Result<Readings, Fault> {
    let long = Duration::from_secs_f64(seconds);
    let work = || {
        std::thread::sleep(long);
        Ok(())
    };
    source.during(long, work).map(|((), readings)| readings)
}

pub fn a_command_is_read_each_second_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("n").display().to_string();
    let counting = format!("n=$(cat {file} 2>/dev/null || echo 40); echo $((n + 1)) > {file}; echo \"$n W\"");
    let readings = slept(&mut command(&counting), 4.4).unwrap();
    let watts: Vec<f64> = readings.samples().iter().map(|(_, watts)| *watts).collect();
    // One that a busy machine held up is missing.
    assert!((2..=4).contains(&watts.len()) && watts[..2] == [40.0, 41.0], "{readings:?}");
    let mean = watts.iter().sum::<f64>() / watts.len() as f64;
    assert_eq!(readings.watts(), Some(mean));
    assert!(readings.samples().windows(2).all(|pair| pair[0].0 < pair[1].0));
}

pub fn a_command_without_watts_fails_the_take() {
    for (text, says) in [
        ("echo no sensor >&2; exit 3", "no sensor"),
        ("echo much", "no number of watts in its output: much"),
        ("echo 45000000", "over 100 kW"),
        ("/no/such/meter", "not found"),
    ] {
        let why = slept(&mut command(text), 0.3).unwrap_err().text;
        assert!(why.starts_with(&format!("--watts-cmd {text}: ")) && why.contains(says), "{why}");
    }
    let slow = slept(&mut command("sleep 1; echo 3"), 0.4).unwrap_err().text;
    assert!(slow.starts_with("no reading in the 0.") && slow.contains(" took "), "{slow}");
    let hung = slept(&mut command("sleep 100"), 0.4).unwrap_err().text;
    assert!(hung.contains("did not end within 5 s"), "{hung}");
}

pub fn a_slow_command_has_fewer_readings() {
    let readings = slept(&mut command("sleep 2.6; echo 3"), 5.0).unwrap();
    assert_eq!(readings.samples().len(), 1, "{readings:?}");
    let remark = readings.remark().unwrap();
    assert!(
        remark.starts_with("a take of 5.") && remark.contains(" s has 1 reading, since the command"),
        "{remark}"
    );
}

pub fn what_fails_in_the_take_ends_its_readings() {
    let from_ns = clock::now_ns();
    let failed = command("echo 3").during::<()>(Duration::from_secs(60), || Err(Fault::new("gone")));
    assert_eq!(failed.unwrap_err().text, "gone");
    assert!(clock::now_ns() - from_ns < 30_000_000_000);
}
