//! Screens of `boxscore hadoop`: a Hadoop that was fetched, old names in a table, and a configuration line by line.

use model::doc::{
    HadoopConfigDoc, HadoopDoubtDoc, HadoopFate, HadoopFetchDoc, HadoopKind, HadoopLineDoc, HadoopNameDoc,
};
use model::format::{count, duration, quantity};
use model::unit::Unit;

use super::{Look, Tone, hang, hang_painted, width, wrap};

/// Columns of old names; longer ones stand on a line of their own.
const NAMES: usize = 33;
/// Before what belongs to a line of a configuration.
const BELOW: &str = "    ";

/// One sentence, then what to run next. `folder` is the folder as people write it.
pub fn fetched(doc: &HadoopFetchDoc, folder: &str, look: Look) -> String {
    let jars = count(usize::try_from(doc.jars).unwrap_or(usize::MAX), "jar");
    let size = quantity(doc.bytes as f64, Unit::Byte);
    let how = match doc.fetched {
        true => format!("assembled and verified in {}", duration(doc.seconds)),
        false => format!("there already, verified in {}", duration(doc.seconds)),
    };
    let sentence = format!("Hadoop {} is in {folder}: {jars}, {size}, {how}.", doc.version);
    let java = format!("It runs on Java {} in {}.", doc.java.version, doc.java.home);
    format!("{}{}", hang("", &sentence, look.columns), hang("", &java, look.columns))
}

/// The names of guides by kind; `all` says that every renamed property is among them.
pub fn names(names: &[HadoopNameDoc], all: bool, look: Look) -> String {
    let heads = [
        (HadoopKind::Program, "Programs"),
        (HadoopKind::File, "Files"),
        (HadoopKind::Command, "Commands"),
        (HadoopKind::Port, "Ports"),
        (HadoopKind::Variable, "Variables of hadoop-env.sh and the environment"),
        (HadoopKind::Property, "Properties"),
    ];
    let mut out = hang(
        "",
        "Names of old guides, and those of Hadoop 3. A name marked * does nothing any more; the others still work.",
        look.columns,
    );
    for (kind, head) in heads {
        let own: Vec<&HadoopNameDoc> =
            names.iter().filter(|one| one.kind == kind && one.fate != HadoopFate::Same).collect();
        if own.is_empty() {
            continue;
        }
        out.push_str(&format!("\n{}\n", Tone::Bold.paint(head, look.paint)));
        own.iter().for_each(|one| out.push_str(&row(one, look)));
        let same: Vec<&str> = names
            .iter()
            .filter(|one| one.kind == kind && one.fate == HadoopFate::Same)
            .map(|one| one.name.as_str())
            .collect();
        if !same.is_empty() {
            out.push_str(&hang("  as they were: ", &same.join(", "), look.columns));
        }
    }
    if !all {
        let more = "--all has every property that was renamed; with a NAME there is a remark on it.";
        out.push_str(&format!("\n{}", hang("", more, look.columns)));
    }
    out
}

/// `  old  new` and nothing else: remarks are for one name.
fn row(one: &HadoopNameDoc, look: Look) -> String {
    let mark = if does_nothing(one.fate) { "*" } else { " " };
    let today = if one.today.is_empty() { "gone".to_owned() } else { one.today.join(", ") };
    let head = format!("{mark} {}", one.name);
    if width(&head) > NAMES {
        let indent = " ".repeat(NAMES + 2);
        return format!("{head}\n{}", hang(&indent, &today, look.columns));
    }
    hang(&format!("{head:<NAMES$}  "), &today, look.columns)
}

const fn does_nothing(fate: HadoopFate) -> bool {
    matches!(fate, HadoopFate::Gone | HadoopFate::Replaced)
}

/// One name in a sentence or two.
pub fn name(one: &HadoopNameDoc, look: Look) -> String {
    let mut out = hang("", &sentence(one), look.columns);
    if let Some(why) = &one.why {
        out.push_str(&hang("  ", why, look.columns));
    }
    out
}

fn sentence(one: &HadoopNameDoc) -> String {
    let kind = one.kind.word();
    let name = &one.name;
    let today = placed(one);
    match (one.fate, one.kind) {
        (HadoopFate::Same, HadoopKind::Property) => {
            format!("{name} has the same name in Hadoop 3, in {today}.")
        }
        (HadoopFate::Same, HadoopKind::Port) => {
            format!("{name} is no port of Hadoop's own, but one of {today}.")
        }
        (HadoopFate::Same, _) => format!("{name} is a {kind} of Hadoop 3 too."),
        (HadoopFate::Renamed, _) => {
            format!("{name} is {today} in Hadoop 3. The old name still works.")
        }
        (HadoopFate::Replaced, HadoopKind::Port) => format!("{name} is {today} in Hadoop 3."),
        (HadoopFate::Replaced, HadoopKind::Property | HadoopKind::Variable) => {
            format!("{name} does nothing in Hadoop 3. In its place: {today}.")
        }
        (HadoopFate::Replaced, _) => format!("{name} is gone in Hadoop 3. In its place: {today}."),
        (HadoopFate::Gone, _) => format!("{name} does nothing in Hadoop 3, and nothing takes its place."),
        (HadoopFate::Unknown, _) => format!("{name} is no {kind} that is known here."),
    }
}

/// The names of today with their places: `fs.defaultFS (core-site.xml)`.
fn placed(one: &HadoopNameDoc) -> String {
    let place = |at: usize| one.place.get(at).or(if one.place.len() == 1 { one.place.first() } else { None });
    if one.today.is_empty() {
        return one.place.join(", ");
    }
    if one.place.len() == 1 {
        return format!("{} ({})", one.today.join(", "), one.place.join(", "));
    }
    let with = |(at, today): (usize, &String)| match place(at) {
        Some(place) => format!("{today} ({place})"),
        None => today.clone(),
    };
    one.today.iter().enumerate().map(with).collect::<Vec<_>>().join(", ")
}

/// A configuration: how much of it is as it was, then each line with its name of today and its doubts.
pub fn configuration(doc: &HadoopConfigDoc, look: Look) -> String {
    let mut out = hang("", &summary(doc), look.columns);
    for file in &doc.files {
        let lines: Vec<&HadoopLineDoc> = doc.lines.iter().filter(|line| line.file == file.name).collect();
        let went = went(&file.today);
        if lines.is_empty() && went.is_none() {
            continue;
        }
        out.push('\n');
        if let Some(went) = went {
            out.push_str(&below(&format!("{}: {went}", file.name), look.columns));
        }
        lines.iter().for_each(|line| out.push_str(&told(line, look)));
    }
    if !doc.unread.is_empty() {
        out.push_str("\nNot read:\n");
        doc.unread.iter().for_each(|one| out.push_str(&below(one, look.columns)));
    }
    if !doc.missing.is_empty() {
        out.push_str("\nFor Hadoop 3 is missing:\n");
        doc.missing.iter().for_each(|one| out.push_str(&doubt(one, look)));
    }
    out
}

/// `conf in Hadoop 3: of 14 lines 6 under a new name, 2 without effect; 3 doubts below, marked !.`
fn summary(doc: &HadoopConfigDoc) -> String {
    let nothing = doc.count(HadoopFate::Gone) + doc.count(HadoopFate::Replaced);
    let counts = [
        (doc.count(HadoopFate::Same), "as before"),
        (doc.count(HadoopFate::Renamed), "under a new name"),
        (nothing, "without effect"),
        (doc.count(HadoopFate::Unknown), "unknown"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    let doubts = match doc.doubts() {
        0 => "nothing looks wrong".to_owned(),
        number => format!("{} below, marked !", count(number, "doubt")),
    };
    let unread = match doc.unread.len() {
        0 => String::new(),
        number => format!("; {} not read", count(number, "file")),
    };
    match parts.is_empty() {
        true => format!("{} sets nothing; {doubts}{unread}.", doc.folder),
        false => {
            let lines = count(doc.lines.len(), "line");
            format!("{} in Hadoop 3: of {lines} {}; {doubts}{unread}.", doc.folder, parts.join(", "))
        }
    }
}

/// Where a file went; `None` of one that is as it was.
fn went(file: &HadoopNameDoc) -> Option<String> {
    let went = match file.fate {
        HadoopFate::Same | HadoopFate::Unknown => return None,
        HadoopFate::Renamed => format!("now {}", placed(file)),
        HadoopFate::Replaced => format!("nothing reads it; in its place {}", placed(file)),
        HadoopFate::Gone => "nothing reads it".to_owned(),
    };
    Some(with_remark(went, file))
}

fn with_remark(text: String, one: &HadoopNameDoc) -> String {
    match &one.why {
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}

fn told(line: &HadoopLineDoc, look: Look) -> String {
    let said = match (line.name.as_str(), line.value.as_str()) {
        ("", host) => host.to_owned(),
        (name, value) => format!("{name} = {value}"),
    };
    let mut out = below(&format!("{}:{}  {}", line.file, line.line, said.trim_end()), look.columns);
    if !line.name.is_empty() {
        let meaning = match line.today.fate {
            HadoopFate::Same => "as it was".to_owned(),
            HadoopFate::Renamed => format!("now {}", elsewhere(line)),
            HadoopFate::Replaced => format!("does nothing; in its place {}", elsewhere(line)),
            HadoopFate::Gone => "does nothing".to_owned(),
            HadoopFate::Unknown => "unknown".to_owned(),
        };
        out.push_str(&hang(BELOW, &with_remark(meaning, &line.today), look.columns));
    }
    line.doubts.iter().for_each(|one| out.push_str(&doubt(one, look)));
    out
}

/// The names of today, with their places unless all of them are in the file of the line.
fn elsewhere(line: &HadoopLineDoc) -> String {
    match line.today.place.iter().all(|place| *place == line.file) {
        true => line.today.today.join(", "),
        false => placed(&line.today),
    }
}

fn doubt(one: &HadoopDoubtDoc, look: Look) -> String {
    let mark = Tone::Warn.paint("!", look.paint);
    hang_painted(&format!("  {mark} "), width(BELOW), &one.says, look.columns)
}

/// A text whose further lines are indented.
fn below(text: &str, columns: usize) -> String {
    let lines = wrap(text, columns.saturating_sub(width(BELOW)));
    let line =
        |(at, line): (usize, &String)| if at == 0 { format!("{line}\n") } else { format!("{BELOW}{line}\n") };
    lines.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use model::doc::{HadoopFileDoc, HadoopJavaDoc};

    use super::*;

    fn one(kind: HadoopKind, name: &str, fate: HadoopFate, today: &[&str], place: &[&str]) -> HadoopNameDoc {
        let own = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        HadoopNameDoc { name: name.into(), kind, fate, today: own(today), place: own(place), why: None }
    }

    fn renamed() -> HadoopNameDoc {
        let why = Some("hdfs://HOST:PORT of the NameNode".to_owned());
        let plain = one(
            HadoopKind::Property,
            "fs.default.name",
            HadoopFate::Renamed,
            &["fs.defaultFS"],
            &["core-site.xml"],
        );
        HadoopNameDoc { why, ..plain }
    }

    #[test]
    fn a_name_is_told_in_a_sentence() {
        let tracker = one(
            HadoopKind::Property,
            "mapred.job.tracker",
            HadoopFate::Replaced,
            &["mapreduce.framework.name", "yarn.resourcemanager.hostname"],
            &["mapred-site.xml", "yarn-site.xml"],
        );
        let all = [
            renamed(),
            tracker,
            one(HadoopKind::Program, "NameNode", HadoopFate::Same, &[], &[]),
            one(HadoopKind::Property, "dfs.replication", HadoopFate::Same, &[], &["hdfs-site.xml"]),
            one(HadoopKind::Port, "50070", HadoopFate::Replaced, &["9870"], &["dfs.namenode.http-address"]),
            one(HadoopKind::Property, "dfs.support.append", HadoopFate::Gone, &[], &[]),
        ];
        let text: String = all.iter().map(|one| name(one, Look::plain())).collect();
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| width(line) <= 80));
    }

    #[test]
    fn a_configuration_fits_in_80_columns_with_its_doubts() {
        let file = |name: &str, today| HadoopFileDoc { name: name.to_owned(), today };
        let line = |file: &str, line, name: &str, value: &str, today: &HadoopNameDoc| HadoopLineDoc {
            file: file.to_owned(),
            line,
            name: name.to_owned(),
            value: value.to_owned(),
            today: today.clone(),
            doubts: Vec::new(),
        };
        let doubt = |says: &str| HadoopDoubtDoc { rule: "localhost".to_owned(), says: says.to_owned() };
        let core = one(HadoopKind::File, "core-site.xml", HadoopFate::Same, &[], &[]);
        let slaves = one(HadoopKind::File, "slaves", HadoopFate::Renamed, &["workers"], &[]);
        let append = one(HadoopKind::Property, "dfs.support.append", HadoopFate::Gone, &[], &[]);
        let mut first = line("core-site.xml", 7, "fs.default.name", "hdfs://localhost:9000", &renamed());
        first.doubts = vec![doubt(
            "each of the 4 other hosts in slaves would look for the NameNode on itself: name the master's host",
        )];
        let long = "/disks/one/hadoop/mapred,/disks/two/hadoop/mapred,/disks/three/hadoop/mapred,/disks/four";
        let doc = HadoopConfigDoc {
            schema: String::new(),
            folder: "conf".to_owned(),
            files: vec![file("core-site.xml", core), file("slaves", slaves.clone())],
            lines: vec![
                first,
                line("core-site.xml", 12, "dfs.support.append", "true", &append),
                line("core-site.xml", 16, "fs.default.name", long, &renamed()),
                line("slaves", 1, "", "node1", &slaves),
            ],
            missing: vec![doubt("jobs run in the client alone: set mapreduce.framework.name to yarn")],
            unread: vec!["/etc/hadoop/hdfs-site.xml:3: no XML: unexpected end of stream".to_owned()],
        };
        insta::assert_snapshot!(configuration(&doc, Look::plain()));
    }

    #[test]
    fn what_was_fetched_is_told_first() {
        let doc = HadoopFetchDoc {
            schema: String::new(),
            version: "3.4.2".to_owned(),
            folder: "/home/a/.local/share/boxscore/hadoop/3.4.2".to_owned(),
            jars: 181,
            bytes: 95_000_000,
            fetched: true,
            seconds: 32.0,
            java: HadoopJavaDoc { version: 17, home: "/usr/lib/jvm/java-17-openjdk-amd64".to_owned() },
        };
        let text = fetched(&doc, "~/.local/share/boxscore/hadoop/3.4.2", Look::plain());
        insta::assert_snapshot!(text);
        let there = fetched(&HadoopFetchDoc { fetched: false, ..doc }, "x", Look::plain());
        assert!(there.contains("there already"), "{there}");
    }
}
