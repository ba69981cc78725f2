//! Follows nodes while they boot: what dnsmasq logs, what they ask of us and send, until each is done or its time is
//! over.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use lab::bmc::boot::{self, Boot, Device};
use lab::bmc::{Access, Bmcs, Failure, State, reached};
use lab::boot::dnsmasq::{Dnsmasq, Event, Known};
use lab::boot::watch::{Stage, Track};
use lab::ranges::fold;
use lab::ssh::fold::by_text;
use lab::stop::Stop;
use model::doc::InspectDoc;
use store::MachineSheet;

use super::station::{Station, Told};
use crate::error::CliError;
use crate::lookup::paths;
use crate::out;

/// How often what happened is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The source of facts that booted nodes sent.
const SOURCE: &str = "lab boot";

/// Nodes on their way. The lists are in one order.
pub struct Follow<'a> {
    pub tracks: Vec<Track>,
    known: Vec<Known>,
    /// The stage at which a node is done.
    last: Stage,
    station: &'a Station,
    dnsmasq: Dnsmasq,
    store: PathBuf,
    begun_ns: u64,
    pub unknown: Vec<String>,
    pub notes: Vec<String>,
    /// False where a document is wanted in place of lines that change.
    is_drawn: bool,
    canvas: Option<out::Canvas>,
}

impl<'a> Follow<'a> {
    pub fn new(
        known: Vec<Known>,
        last: Stage,
        station: &'a Station,
        dnsmasq: Dnsmasq,
        store: PathBuf,
    ) -> Follow<'a> {
        Follow {
            tracks: known.iter().map(|node| Track::new(&node.name)).collect(),
            known,
            last,
            station,
            dnsmasq,
            store,
            begun_ns: sys::clock::now_ns(),
            unknown: Vec::new(),
            notes: Vec::new(),
            is_drawn: false,
            canvas: None,
        }
    }

    fn seconds(&self) -> f64 {
        sys::clock::now_ns().saturating_sub(self.begun_ns) as f64 / 1e9
    }

    /// Follows the nodes until each is done or failed, the time is over, or the user stops. `switched` is what came of
    /// their power. Fails where dnsmasq ends or the store cannot be written.
    pub fn until(
        &mut self,
        patience: Duration,
        stop: &Stop,
        json: bool,
        switched: &Receiver<Vec<Result<State, Failure>>>,
    ) -> Result<(), CliError> {
        self.is_drawn = !json;
        self.open_canvas();
        while !stop.is_requested() && self.tracks.iter().any(|track| track.is_waited_for(self.last)) {
            if let Ok(states) = switched.try_recv() {
                self.switched(states);
            }
            for event in self.dnsmasq.events()? {
                self.given(event);
            }
            for told in self.station.news() {
                self.told(told)?;
            }
            if self.seconds() > patience.as_secs_f64() {
                for track in self.tracks.iter_mut().filter(|track| track.is_waited_for(self.last)) {
                    track.fail(track.stage.stuck());
                }
            }
            self.draw(&self.waiting());
            std::thread::sleep(LOOK);
        }
        self.close_canvas();
        Ok(())
    }

    pub fn reach(&mut self, place: usize, stage: Stage) {
        let seconds = self.seconds();
        let Some(track) = self.tracks.get_mut(place) else { return };
        if track.reach(stage, seconds) {
            self.print(&format!("{:7.1} s  {}: {}", seconds, self.known[place].name, stage.word()));
        }
    }

    /// Gives a node up, and says why.
    pub fn fail(&mut self, place: usize, why: &str) {
        let Some(track) = self.tracks.get_mut(place) else { return };
        track.fail(why);
        let line = format!("{:7.1} s  {}: failed: {why}", self.seconds(), self.known[place].name);
        self.print(&line);
    }

    pub fn open_canvas(&mut self) {
        self.canvas = if self.is_drawn { out::Canvas::open() } else { None };
    }

    pub fn close_canvas(&mut self) {
        if let Some(mut canvas) = self.canvas.take() {
            canvas.clear();
        }
    }

    fn print(&mut self, line: &str) {
        if let Some(canvas) = &mut self.canvas {
            canvas.clear();
        }
        out::say(line);
    }

    /// A node whose BMC fails is not waited for, but one without a BMC may be turned on by hand.
    fn switched(&mut self, states: Vec<Result<State, Failure>>) {
        for (place, state) in states.into_iter().enumerate() {
            match state {
                Ok(State::On) => self.reach(place, Stage::Bios),
                Ok(State::Off) => {}
                Err(Failure::NoBmc) => {
                    let name = self.known.get(place).map(|node| node.name.clone()).unwrap_or_default();
                    self.print(&format!("{name} has no BMC: turn it on by hand"));
                }
                Err(failure) => {
                    if let Some(track) = self.tracks.get_mut(place).filter(|track| track.stage <= Stage::Bios)
                    {
                        track.fail(failure.to_string());
                    }
                }
            }
        }
    }

    fn given(&mut self, event: Event) {
        match event {
            Event::Given { mac, .. } => {
                if let Some(place) = self.known.iter().position(|node| node.mac == mac) {
                    self.reach(place, Stage::Dhcp);
                }
            }
            Event::Unknown { mac } => {
                let mac = mac.to_string();
                if !self.unknown.contains(&mac) {
                    self.print(&format!("{mac} asks for an address, and is of no node"));
                    self.unknown.push(mac);
                }
            }
            Event::Taken { address, by } => {
                let own = self.known.iter().find(|node| node.address == address);
                let name = own.map_or_else(String::new, |node| format!("{}: ", node.name));
                self.note(format!("{name}its address {address} was not given to it: {by} has a lease of it"));
            }
            Event::NoIpxe { mac, kind } => {
                if let Some(node) = self.known.iter().find(|node| node.mac == mac) {
                    self.note(format!("{}: there is no iPXE for its firmware (kind {kind})", node.name));
                }
            }
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn told(&mut self, told: Told) -> Result<(), CliError> {
        match told {
            Told::Reached { place, stage } => self.reach(place, stage),
            Told::Failed { place, why } => {
                if let Some(track) = self.tracks.get_mut(place) {
                    track.fail(why);
                }
            }
            Told::Sheet { place, body } => match serde_json::from_slice::<InspectDoc>(&body) {
                Ok(sheet) => {
                    self.keep(place, sheet)?;
                    self.reach(place, Stage::Inspected);
                }
                Err(error) => {
                    if let Some(track) = self.tracks.get_mut(place) {
                        track.fail(format!("what it sent is no spec sheet: {error}"));
                    }
                }
            },
        }
        Ok(())
    }

    /// Puts a spec sheet into the store, under the name of its node.
    fn keep(&self, place: usize, sheet: InspectDoc) -> Result<(), CliError> {
        let Some(node) = self.known.get(place) else { return Ok(()) };
        let mut store = paths::create(&self.store)?;
        let (id, name) = (format!("sheet {}", node.name), node.name.clone());
        let sheet = MachineSheet { id, name, source: SOURCE.to_owned(), facts: sheet.facts };
        store.import(&[], &[sheet])?;
        Ok(())
    }

    /// Sets what nodes that are done boot from back to what their own setup says.
    pub fn clear(&mut self, accesses: &[Result<Access, Failure>], insecure: bool) {
        let done = accesses.iter().zip(&self.tracks).filter(|(_, track)| track.stage >= self.last);
        let done: Vec<Result<Access, Failure>> = done.map(|(access, _)| access.clone()).collect();
        // Also after a stop: a node that boots from the network again would come here in vain.
        let Ok(stop) = Stop::new() else { return };
        let bmcs = Bmcs::new(None, insecure, &stop);
        let none = Boot { device: Device::None, persistent: false, efi: false };
        let set = reached(&done, |all| boot::set(&bmcs, none, all));
        let names = done.iter().map(|one| one.as_ref().map_or("", |access| access.node.as_str()));
        let failed = names.zip(&set).filter_map(|(name, set)| match set {
            Ok(_) | Err(Failure::NoBmc) => None,
            Err(failure) => Some((failure.to_string(), name)),
        });
        for (why, names) in by_text(failed) {
            let names = fold(names.into_iter().filter(|name| !name.is_empty()));
            self.notes.push(format!("{names}: the wish to boot from the network is not taken back: {why}"));
        }
    }

    /// How many nodes are at each stage.
    fn waiting(&self) -> String {
        let waiting = self.tracks.iter().filter(|track| track.is_waited_for(self.last));
        let groups = by_text(waiting.map(|track| (track.stage.word().to_owned(), track.name.as_str())));
        let part = |(stage, names): (String, Vec<&str>)| format!("{stage}: {}", fold(names));
        groups.into_iter().map(part).collect::<Vec<_>>().join("; ")
    }

    /// Draws a line in place of the last one, on a terminal.
    pub fn draw(&mut self, line: &str) {
        let Some(canvas) = &mut self.canvas else { return };
        canvas.draw(&report::text::cut(line, out::look_of_talk().columns.saturating_sub(1)));
    }
}
