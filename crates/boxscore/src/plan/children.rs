//! The other children of a study: machines given with --via, generators of load given with --from, and the far end of
//! tests of the network given with --far.

use std::path::PathBuf;

use model::Card;
use model::plan::{FAR, NodeAccess, Via};

use super::host::Host;
use super::targets;
use crate::cli::run::RunArgs;
use crate::error::CliError;
use crate::fleet::reach::span;

/// `NAME=COMMAND` each; none: this machine.
pub fn machines(via: &[String]) -> Result<Vec<Via>, CliError> {
    if via.is_empty() {
        return Ok(vec![Via { name: String::new(), command: None }]);
    }
    let mut machines: Vec<Via> = Vec::new();
    for text in via {
        let Some((name, command)) = text.split_once('=').map(|(n, c)| (n.trim(), c.trim())) else {
            return Err(CliError::usage(format!("--via {text}: not of the form NAME=COMMAND"))
                .hint("for example --via box2='ssh box2 ./boxscore'"));
        };
        if name.is_empty() || command.is_empty() {
            return Err(CliError::usage(format!("--via {text}: the name and the command must not be empty")));
        }
        if machines.iter().any(|machine| machine.name == name) {
            return Err(CliError::usage(format!("--via: `{name}` is given twice")));
        }
        machines.push(Via { name: name.to_owned(), command: Some(command.to_owned()) });
    }
    Ok(machines)
}

/// A node that is silent for longer hangs, where the user says nothing else.
const HANG_SECONDS: f64 = 60.0;

/// How the nodes of `--on` are reached again. Fails where a path is none.
pub fn nodes(args: &RunArgs) -> Result<Option<NodeAccess>, CliError> {
    let lab = &args.lab;
    if lab.on.is_empty() {
        return Ok(None);
    }
    let hang = args.hang_after.as_deref().map(|text| span("--hang-after", text)).transpose()?;
    let whole = |path: &Option<PathBuf>| {
        let Some(path) = path else { return Ok(None) };
        match std::path::absolute(path) {
            Ok(path) => Ok(Some(path.display().to_string())),
            Err(error) => Err(CliError::data(format!("{}: {error}", path.display()))),
        }
    };
    Ok(Some(NodeAccess {
        names: lab.names.as_slice().into(),
        inventory: whole(&lab.inventory)?,
        ssh_config: whole(&lab.ssh_config)?,
        binaries: whole(&lab.put.binaries)?,
        login: lab.login.clone(),
        hang_seconds: hang.map_or(HANG_SECONDS, |span| span.as_secs_f64()),
        is_removed: lab.put.remove,
    }))
}

/// The host that the variants of a card are spread over: those of load generators go up to the number of generators.
pub fn spread(card: &Card, host: &Host, generators: usize) -> Host {
    match u32::try_from(generators) {
        // They are half of what there is, a server having the other half.
        Ok(count) if count > 0 && card.param(GENERATORS).is_some() => {
            Host { cpus: count.saturating_mul(2), ..host.clone() }
        }
        _ => host.clone(),
    }
}

/// The parameter of instruments that generators can serve.
const GENERATORS: &str = "generators";

/// `NAME=COMMAND` each, or the command alone.
pub fn generators(from: &[String], chosen: &[&Card]) -> Result<Vec<Via>, CliError> {
    if !from.is_empty() && !chosen.iter().any(|card| card.param(GENERATORS).is_some()) {
        return Err(CliError::usage("--from: nothing in this run sends load")
            .hint("generators serve `boxscore run web`"));
    }
    let mut generators: Vec<Via> = Vec::new();
    for (index, text) in from.iter().enumerate() {
        let one = child("--from", text, format!("gen{}", index + 1))?;
        if generators.iter().any(|other| other.name == one.name) {
            return Err(CliError::usage(format!("--from: `{}` is given twice", one.name)));
        }
        generators.push(one);
    }
    Ok(generators)
}

/// `NAME=COMMAND`, or the command alone.
pub fn child(flag: &str, text: &str, unnamed: String) -> Result<Via, CliError> {
    let (name, command) = targets::split(text);
    let name = name.map_or(unnamed, str::to_owned);
    if command.is_empty() {
        return Err(CliError::usage(format!("{flag} {text}: the command must not be empty"))
            .hint(format!("for example {flag} 'ssh box2 ./boxscore'")));
    }
    Ok(Via { name, command: Some(command.to_owned()) })
}

/// The far end of tests of the network, where one is to be started.
pub fn far(args: &RunArgs) -> Result<Option<Via>, CliError> {
    args.given.value(FAR).map(|text| child("--far", text, FAR.to_owned())).transpose()
}

/// The children that are no machines: generators, a far end, or the other nodes of a cluster.
pub fn others(args: &RunArgs, chosen: &[&Card]) -> Result<Vec<Via>, CliError> {
    if let (Some(together), None) = (&args.lab.together, args.from.first()) {
        return together.children.iter().map(|text| child("--on", text, String::new())).collect();
    }
    let Some(far) = far(args)? else { return generators(&args.from, chosen) };
    if let Some(card) = chosen.iter().find(|card| card.param(GENERATORS).is_some()) {
        return Err(CliError::usage(format!("--far: {} would take it for a generator of load", card.name))
            .hint("measure it in a run of its own"));
    }
    Ok(vec![far])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web() -> Vec<&'static Card> {
        instruments::all().iter().map(|one| one.card()).filter(|card| card.name == "web").collect()
    }

    #[test]
    fn generators_have_names_of_their_own_or_numbers() {
        let given = ["ssh gen ./boxscore", "b=sh cap.sh", "ssh -o A=b gen ./boxscore"].map(str::to_owned);
        let all = generators(&given, &web()).unwrap();
        let all: Vec<(&str, &str)> =
            all.iter().map(|one| (one.name.as_str(), one.command.as_deref().unwrap())).collect();
        assert_eq!(
            all,
            [("gen1", "ssh gen ./boxscore"), ("b", "sh cap.sh"), ("gen3", "ssh -o A=b gen ./boxscore")]
        );
        assert_eq!(generators(&[], &[]), Ok(Vec::new()));
    }

    #[test]
    fn wrong_generators_are_explained() {
        for (given, says) in [
            (vec!["a="], "must not be empty"),
            (vec![" "], "must not be empty"),
            (vec!["a=x", "a=y"], "`a` is given twice"),
            (vec!["x", "gen1=y"], "`gen1` is given twice"),
        ] {
            let given: Vec<String> = given.into_iter().map(str::to_owned).collect();
            let error = generators(&given, &web()).unwrap_err();
            assert!(error.message.contains(says), "{error}");
        }
        let error = generators(&["x".to_owned()], &[]).unwrap_err();
        assert!(error.message.contains("nothing in this run sends load"), "{error}");
    }
}
