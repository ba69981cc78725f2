//! `boxscore lab power`: which nodes are on, and actions that change it.

use lab::bmc::ipmi::Tool;
use lab::bmc::power::{Action, Waiting, carry_out};
use lab::bmc::{Access, Bmcs, Failure, Power, State, reached};
use lab::ranges::fold;
use model::doc::{LabPowerDoc, LabPowerNodeDoc};
use model::format::count;
use report::text::lab_bmc as text;

use super::bmc::{self, Nodes};
use super::reach;
use crate::cli::Global;
use crate::cli::lab::power::{IpmiTool, PowerAction, PowerArgs};
use crate::error::CliError;
use crate::out;

pub fn run(args: &PowerArgs, global: &Global) -> Result<u8, CliError> {
    let patience = reach::span("--wait", &args.wait)?;
    let action = action(args.action);
    let nodes = Nodes::select(&args.expressions, &args.select)?;
    let word = action.map_or("status", Action::word);
    let what = format!("power {word} of {}: {}", count(nodes.names.len(), "node"), nodes.folded());
    if !bmc::agreed(&what, action.is_some(), (args.dry_run, args.yes), global)? {
        return Ok(0);
    }
    let accesses = nodes.accesses();
    let stop = reach::stop()?;
    let bmcs = Bmcs::new(args.tool.map(tool), args.bmc.insecure, &stop);
    let states = reached(&accesses, |all| match action {
        None => bmcs.states(all),
        Some(action) => {
            let mut canvas = if global.json { None } else { out::Canvas::open() };
            let mut watch = |waiting: Waiting<'_>| draw(&mut canvas, all, waiting);
            let states = carry_out(&bmcs, action, all, patience, &stop, &mut watch);
            if let Some(canvas) = &mut canvas {
                canvas.clear();
            }
            states
        }
    });
    let document = document(word, &nodes.names, &states, stop.is_requested());
    bmc::tell(&document, &text::states(&document.states), &document.failures, global);
    Ok(reach::code(document.failures.is_empty(), document.interrupted))
}

const fn action(action: PowerAction) -> Option<Action> {
    Some(match action {
        PowerAction::Status => return None,
        PowerAction::On => Action::On,
        PowerAction::Off => Action::Off,
        PowerAction::Soft => Action::Soft,
        PowerAction::Cycle => Action::Cycle,
        PowerAction::Reset => Action::Reset,
    })
}

const fn tool(tool: IpmiTool) -> Tool {
    match tool {
        IpmiTool::Ipmipower => Tool::IpmiPower,
        IpmiTool::Ipmitool => Tool::IpmiTool,
    }
}

/// Says on a terminal who is waited for.
fn draw(canvas: &mut Option<out::Canvas>, all: &[&Access], waiting: Waiting<'_>) {
    let Some(canvas) = canvas else { return };
    let names = waiting.places.iter().filter_map(|at| all.get(*at)).map(|access| access.node.as_str());
    let line = format!(
        "{} of {} nodes are not {} yet: {}",
        waiting.places.len(),
        all.len(),
        waiting.wanted.word(),
        fold(names)
    );
    canvas.draw(&report::text::cut(&line, out::look_of_talk().columns.saturating_sub(1)));
}

fn document(word: &str, names: &[String], all: &[Result<State, Failure>], interrupted: bool) -> LabPowerDoc {
    let of = |(name, state): (&String, &Result<State, Failure>)| {
        let (failure, why) = bmc::failed(state.as_ref().err());
        let known = state.as_ref().ok().map(|state| state.word().to_owned());
        LabPowerNodeDoc { node: name.clone(), ok: state.is_ok(), state: known, failure, why }
    };
    LabPowerDoc {
        schema: "boxscore.lab-power/1".to_owned(),
        action: word.to_owned(),
        nodes: names.iter().zip(all).map(of).collect(),
        states: bmc::states(names, all, |state| (*state, state.word().to_owned())),
        failures: bmc::failures_of(names, all),
        interrupted,
    }
}
