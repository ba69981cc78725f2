//! Names of runs: an id in short, and several runs told apart.
//!
//! Ids are UUIDv7 in hexadecimal; their first 12 digits are the millisecond of their making.

/// Digits of the short form.
pub const SHORT: usize = 12;

/// The short form that people read and type.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// The short forms of several ids, long enough to tell them apart.
pub fn told_apart<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    let different: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    let longest = ids.iter().map(|id| id.len()).max().unwrap_or(SHORT);
    let cut = |id: &'a str, digits: usize| id.get(..digits).unwrap_or(id);
    let are_apart = |digits: &usize| {
        let cut: std::collections::BTreeSet<&str> =
            different.iter().map(|id| id.get(..*digits).unwrap_or(id)).collect();
        cut.len() == different.len()
    };
    let digits = (SHORT..longest).find(are_apart).unwrap_or(longest);
    ids.iter().map(|id| cut(id, digits)).collect()
}

/// Generator of run names.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    pub label: Option<&'a str>,
    pub machine: &'a str,
    pub id: &'a str,
}

/// One name for each run: its label or its machine, whichever tells it from the others; else with as much of its id as
/// does.
pub fn apart(runs: &[Called<'_>]) -> Vec<String> {
    let plain = |run: &Called<'_>| run.label.unwrap_or(run.machine).to_owned();
    let machine = |run: &Called<'_>| run.machine.to_owned();
    let both = |run: &Called<'_>| format!("{} {}", plain(run), short(run.id));
    let whole = |run: &Called<'_>| format!("{} {}", plain(run), run.id);
    let all = |name: &dyn Fn(&Called<'_>) -> String| -> Vec<String> { runs.iter().map(name).collect() };
    let differ = |names: &[String]| {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    [all(&plain), all(&machine), all(&both)]
        .into_iter()
        .find(|names| differ(names))
        .unwrap_or_else(|| all(&whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_are_told_apart() {
        let ids = ["01a213438d8d7fff", "01a213438d8d7f00"];
        assert_eq!(told_apart(&ids), ["01a213438d8d7ff", "01a213438d8d7f0"]);
        assert_eq!(told_apart(&[ids[0], ids[0]]), ["01a213438d8d"; 2]);
        assert_eq!(told_apart(&["01a213438d8d7fff", "01a213438d8e7fff"]), ["01a213438d8d", "01a213438d8e"]);
        assert_eq!(told_apart(&["a"]), ["a"]);
    }

    #[test]
    fn runs_called_alike_are_told_apart() {
        let named = |runs: &[(Option<&str>, &str, &str)]| {
            let runs: Vec<Called<'_>> =
                runs.iter().map(|&(label, machine, id)| Called { label, machine, id }).collect();
            apart(&runs)
        };
        assert_eq!(
            named(&[(None, "vm", "01a1ffc3e136773b"), (None, "box", "01a1ffc3e1367fff")]),
            ["vm", "box"]
        );
        assert_eq!(named(&[(Some("old"), "vm", "01a1ffc3e136773b"), (None, "vm", "01a1")]), ["old", "vm"]);
        // Machines of one study share its label.
        assert_eq!(
            named(&[(Some("L"), "big", "01a1ffc3e136773b"), (Some("L"), "small", "01a1ffc3e1367fff")]),
            ["big", "small"]
        );
        // Made within a second of each other, and within a millisecond.
        assert_eq!(
            named(&[(None, "vm", "01a1ffc3e136773b"), (None, "vm", "01a1ffc3e1f9773b")]),
            ["vm 01a1ffc3e136", "vm 01a1ffc3e1f9"]
        );
        assert_eq!(
            named(&[(None, "vm", "01a1ffc3e136773b"), (None, "vm", "01a1ffc3e1367fff")]),
            ["vm 01a1ffc3e136773b", "vm 01a1ffc3e1367fff"]
        );
    }
}
