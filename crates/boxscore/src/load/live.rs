//! The live screen of a load on stderr. Nothing is drawn if stderr is not a terminal or the output is a document.
//!
//! Redrawn about once a second, when the child reports its progress.

use harness::conductor::Show;
use model::progress::PREPARING;
use report::text::Look;
use report::text::load::live::{Live, live};

use crate::out;
use crate::out::Canvas;
use crate::study::display::{Doing, Screen};

/// Number of rates that are kept for drawing.
const MOST_RATES: usize = 120;

pub struct LiveScreen {
    canvas: Option<Canvas>,
    look: Look,
    load: Live,
    /// Good answers and seconds at the last report.
    last: (u64, f64),
    /// Slow work beside the load, such as starting a generator.
    told: Doing,
}

impl LiveScreen {
    pub fn new(load: Live, quiet: bool) -> LiveScreen {
        let canvas = if quiet { None } else { Canvas::open() };
        LiveScreen { canvas, look: out::look_of_talk(), load, last: (0, 0.0), told: Doing::default() }
    }

    pub fn is_drawn(&self) -> bool {
        self.canvas.is_some()
    }

    /// Shows slow work beside the load itself. Where nothing is drawn this is an occasional line.
    fn doing(&mut self, text: &str) {
        if self.canvas.is_some() {
            self.load.doing = Some(text.to_owned());
            return self.draw();
        }
        self.told.say(text);
    }

    fn heard(&mut self, now: &model::frame::Live) {
        let elapsed = now.elapsed_ns as f64 / 1e9;
        let (good, since) = self.last;
        if elapsed > since {
            self.load.rates.push(now.good.saturating_sub(good) as f64 / (elapsed - since));
            let surplus = self.load.rates.len().saturating_sub(MOST_RATES);
            self.load.rates.drain(..surplus);
        }
        self.last = (now.good, elapsed);
        self.load.elapsed = elapsed;
        self.load.doing = None;
        self.load.good = now.good;
        self.load.failed = now.failed;
        self.load.body_bytes = now.body_bytes;
        if let Some(response) = &now.response {
            self.load.response = Some(response.clone());
        }
        self.draw();
    }

    fn draw(&mut self) {
        if let Some(canvas) = &mut self.canvas {
            canvas.draw(&live(&self.load, self.look));
        }
    }
}

impl Screen for LiveScreen {
    fn show(&mut self, show: &Show<'_>) {
        match show {
            Show::Live { live, .. } => self.heard(live),
            Show::Starting { .. } => self.draw(),
            Show::Stopping => {
                self.load.ending = true;
                match &self.canvas {
                    Some(_) => self.draw(),
                    None => out::say(
                        "ending the load: no more requests are sent; once more ends without a result",
                    ),
                }
            }
            Show::Lost { why, hint, .. } => {
                self.end();
                out::say(&format!("the measuring child: lost: {why}"));
                hint.iter().for_each(|hint| out::say(&format!(" hint: {hint}")));
            }
            // That a load is prepared is told by its first screen.
            Show::Doing { text, .. } if !text.starts_with(PREPARING) => self.doing(text),
            // Why it cannot run, and how it went, is said at the end.
            Show::Doing { .. }
            | Show::Taken { .. }
            | Show::Left { .. }
            | Show::Unfit { .. }
            | Show::Turn { .. }
            | Show::NotBegun { .. }
            | Show::Question { .. }
            | Show::NoReading { .. }
            | Show::QuestionOver { .. }
            | Show::HelperLost { .. } => {}
        }
    }

    fn end(&mut self) {
        if let Some(mut canvas) = self.canvas.take() {
            canvas.clear();
        }
    }
}
