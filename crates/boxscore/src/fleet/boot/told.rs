//! The end of `lab boot`: its document, and its text.

use lab::boot::watch::{Stage, Track};
use lab::ranges::fold;
use lab::ssh::fold::by_text;
use model::doc::{LabBootDiskDoc, LabBootDoc, LabBootNodeDoc, LabStageDoc};
use model::format::{count, duration};

/// Things that nodes have beyond their stage, each list in the order of the nodes; one may be empty.
#[derive(Debug, Default)]
pub struct Made {
    /// How each that is up is measured.
    pub ways: Vec<String>,
    /// The disks that were to be written.
    pub disks: Vec<Option<LabBootDiskDoc>>,
    /// The runs of their scores.
    pub runs: Vec<Option<String>>,
}

/// The document of nodes in this order.
pub fn document(interface: &str, tracks: &[Track], last: Stage, made: &Made) -> LabBootDoc {
    let node = |(place, track): (usize, &Track)| LabBootNodeDoc {
        node: track.name.clone(),
        ok: track.is_at(last),
        stage: track.stage.word().to_owned(),
        seen: track
            .seen
            .iter()
            .map(|(stage, seconds)| LabStageDoc { stage: stage.word().to_owned(), seconds: *seconds })
            .collect(),
        why: track.failure.clone(),
        via: made.ways.get(place).filter(|_| track.stage >= Stage::Up).cloned(),
        disk: made.disks.get(place).cloned().flatten(),
        run: made.runs.get(place).cloned().flatten(),
    };
    LabBootDoc {
        schema: "boxscore.lab-boot/1".to_owned(),
        interface: interface.to_owned(),
        nodes: tracks.iter().enumerate().map(node).collect(),
        unknown: Vec::new(),
        notes: Vec::new(),
        interrupted: false,
    }
}

/// Nodes that are done, with the longest time, and those that are not, by the reason.
pub fn text(document: &LabBootDoc) -> String {
    let names = |group: &[&LabBootNodeDoc]| fold(group.iter().map(|one| one.node.as_str()));
    let done = by_text(document.nodes.iter().filter(|one| one.ok).map(|one| (one.stage.clone(), one)));
    let mut out = String::new();
    for (stage, group) in done {
        let last =
            group.iter().filter_map(|one| one.seen.last()).map(|seen| seen.seconds).fold(0.0, f64::max);
        let (how_many, within) = (count(group.len(), "node"), duration(last));
        out.push_str(&format!("{stage}: {how_many}: {} (within {within})\n", names(&group)));
    }
    out
}

/// Failures with their nodes, notes, and the command that measures the nodes.
pub fn talk(document: &LabBootDoc) -> String {
    let mut out = String::new();
    let failed = document.nodes.iter().filter(|one| !one.ok);
    let failed =
        by_text(failed.map(|one| (one.why.clone().unwrap_or_else(|| "interrupted".to_owned()), one)));
    for (why, group) in failed {
        let names = fold(group.iter().map(|one| one.node.as_str()));
        out.push_str(&format!("failed: {}: {names}: {why}\n", count(group.len(), "node")));
    }
    for note in &document.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    if !document.unknown.is_empty() {
        out.push_str(&format!("asked for an address, and of no node: {}\n", document.unknown.join(", ")));
    }
    out + &next(document)
}

/// The command that a user would type next: of scores, of disks that were written, else of nodes that can be measured.
fn next(document: &LabBootDoc) -> String {
    let names = |is: fn(&LabBootNodeDoc) -> bool| {
        let all = document.nodes.iter().filter(|one| is(one)).map(|one| one.node.as_str());
        all.collect::<Vec<_>>()
    };
    match names(|one| one.ok && one.run.is_some()).as_slice() {
        [] => {}
        [one] => return format!("score: boxscore show {one}\n"),
        [first, second, ..] => return format!("scores: boxscore compare {first} {second}\n"),
    }
    let written = names(|one| one.disk.as_ref().is_some_and(|disk| disk.verified.is_some()));
    if !written.is_empty() {
        let names = model::shell::word(&fold(written));
        return format!("from the disk: boxscore lab power cycle {names}\n");
    }
    let ways = document.nodes.iter().filter_map(|one| Some(format!("{}={}", one.node, one.via.as_ref()?)));
    let ways: Vec<String> = ways.map(|way| format!(" --via {}", model::shell::word(&way))).collect();
    if ways.is_empty() { String::new() } else { format!("measure: boxscore run --quick{}\n", ways.concat()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_are_done_share_a_line_and_others_have_their_reason() {
        let mut tracks = ["a1", "a2", "a3"].map(Track::new);
        for (track, at) in tracks[..2].iter_mut().zip([20.0, 31.0]) {
            track.reach(Stage::Inspected, at);
        }
        tracks[2].reach(Stage::Bios, 1.0);
        tracks[2].fail(tracks[2].stage.stuck());
        let ways = (0..3).map(|place| format!("boxscore dial /run/{place}")).collect();
        let mut made = Made { ways, ..Made::default() };
        let mut document = document("br0", &tracks, Stage::Inspected, &made);
        document.unknown.push("52:54:00:00:00:09".into());
        assert_eq!(text(&document), "inspected: 2 nodes: a[1-2] (within 31 s)\n");
        let said = talk(&document);
        assert!(said.starts_with("failed: 1 node: a3: it is on and has asked for no address"), "{said}");
        assert!(said.contains("of no node: 52:54:00:00:00:09\n"), "{said}");
        assert!(
            said.ends_with("run --quick --via 'a1=boxscore dial /run/0' --via 'a2=boxscore dial /run/1'\n"),
            "{said}"
        );
        assert!(document.nodes[2].via.is_none());
        made.runs = vec![Some("r1".into()), None, None];
        for track in &mut tracks[..2] {
            track.reach(Stage::Scored, 90.0);
        }
        document = super::document("br0", &tracks, Stage::Scored, &made);
        assert!(talk(&document).ends_with("score: boxscore show a1\n"), "{}", talk(&document));
        made.runs[1] = Some("r2".into());
        document = super::document("br0", &tracks, Stage::Scored, &made);
        assert!(talk(&document).ends_with("scores: boxscore compare a1 a2\n"));
        let disk = |verified: Option<u64>| {
            let (name, serial) = ("sda".to_owned(), "S1".to_owned());
            Some(LabBootDiskDoc { name, model: None, serial, bytes: 512, verified })
        };
        let made = Made { disks: vec![disk(Some(512)), disk(None), None], ..Made::default() };
        document = super::document("br0", &tracks, Stage::Written, &made);
        assert!(talk(&document).ends_with("from the disk: boxscore lab power cycle a1\n"));
        assert!(document.nodes[0].ok && !document.nodes[2].ok);
    }
}
