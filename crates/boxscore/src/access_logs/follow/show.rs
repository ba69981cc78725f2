//! Output while logs are followed: a table that is redrawn on a terminal, plain lines elsewhere, with `--json` one
//! document a line.

use model::doc::LogsLiveDoc;
use report::text::logs_live::{Live, line, screen};

use crate::out;
use crate::out::Canvas;

/// Most events (files that appear, rotate or go) that stay on the screen, newest last.
const MOST_EVENTS: usize = 4;

pub struct Show {
    json: bool,
    canvas: Option<Canvas>,
    files: usize,
    events: Vec<String>,
}

impl Show {
    pub fn open(json: bool, files: usize) -> Show {
        let canvas = if json { None } else { Canvas::open() };
        Show { json, canvas, files, events: Vec::new() }
    }

    pub fn is_drawn(&self) -> bool {
        self.canvas.is_some()
    }

    /// One interval, so many seconds after the start.
    pub fn show(&mut self, doc: &LogsLiveDoc, elapsed: f64, ending: bool) {
        if self.json {
            out::json_line(doc);
            return;
        }
        let Some(canvas) = &mut self.canvas else {
            doc.events.iter().for_each(|event| out::say(event));
            out::say(&line(doc));
            return;
        };
        self.events.extend(doc.events.iter().cloned());
        self.events.drain(..self.events.len().saturating_sub(MOST_EVENTS));
        let live = Live { doc, elapsed, files: self.files, events: &self.events, ending };
        canvas.draw(&screen(&live, out::look_of_talk()));
    }

    /// Removes the table; the events stay.
    pub fn end(&mut self) {
        if let Some(mut canvas) = self.canvas.take() {
            canvas.clear();
            self.events.iter().for_each(|event| out::say(event));
        }
    }
}
