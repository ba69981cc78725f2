//! The work that a server's CPU time goes to: its own program or the kernel, and answers that it compresses.
//!
//! Said of dear requests alone; CPU time in s, parts of it 0 to 1.

use model::doc::{Binding, BottleneckDoc};
use model::finding::generator_bound::Filled;
use model::metrics::load;
use model::{NoteBody, Unit};

use super::view::View;
use model::format;

/// A request of so much CPU time is dear.
const DEAR_S: f64 = 1e-3;
/// The part of the time from which a program, or the kernel, is where it goes.
const MOST: f64 = 0.7;

/// `12.4 ms of CPU a request, 92 % of it in the program itself: …`; nothing where requests are cheap.
pub fn spent(view: &View<'_, '_>) -> Option<String> {
    let cpu = view.load.median(&load::SERVER_CPU).filter(|cpu| *cpu >= DEAR_S)?;
    let user = view.load.median(&load::SERVER_USER)?;
    let (part, where_) = match user {
        user if user >= MOST => {
            let tls = if is_encrypted(view) { ", TLS" } else { "" };
            let does = format!("what it computes for each answer (compression, templates{tls})");
            (user, format!("in the program itself: {does}"))
        }
        user if user <= 1.0 - MOST => {
            (1.0 - user, "in the kernel for it: files, sockets, new processes".to_owned())
        }
        _ => return None,
    };
    let cpu = format::quantity(cpu, Unit::Second);
    Some(format!("{cpu} of CPU a request, {} of it {where_}", format::percent(part)))
}

fn is_encrypted(view: &View<'_, '_>) -> bool {
    view.load.given("url").is_some_and(|url| url.starts_with("https:")) || view.load.given("tls").is_some()
}

/// The coding of the answers, where it is one.
fn coding(view: &View<'_, '_>) -> Option<String> {
    view.load.notes(view.index.run).into_iter().find_map(|note| match note {
        NoteBody::ContentEncoding { coding } if coding != "identity" => Some(coding.clone()),
        _ => None,
    })
}

/// The server's own limits where something else binds it, as far as they were measured: with that gone, these would be
/// left.
pub fn also(view: &View<'_, '_>, found: &BottleneckDoc) -> Vec<String> {
    let is_own = !matches!(
        found.kind,
        Binding::Others
            | Binding::Shared
            | Binding::Steal
            | Binding::Generator
            | Binding::RunQueue
            | Binding::Quota
    );
    if is_own {
        return Vec::new();
    }
    let coding = coding(view).map(|coding| format!("its answers are compressed ({coding})"));
    let threads = match view.load.filled() {
        Some(Filled::Threads(threads)) => Some(format!(
            "its work is done by {}, which can fill {threads} of its {}",
            format::count(threads, "thread"),
            format::count(view.server_cores.len(), "CPU")
        )),
        Some(Filled::Cores(_)) | None => None,
    };
    coding.into_iter().chain(threads).collect()
}

/// Advice on answers that the server compresses because the requests ask for it.
pub fn compressed(view: &View<'_, '_>) -> Option<String> {
    let asked = view.load.given("headers")?.to_ascii_lowercase().contains("accept-encoding");
    coding(view).filter(|_| asked).map(|coding| {
        format!(
            "the answers are compressed ({coding}), it seems anew for each request: files can be compressed beforehand \
             (nginx: gzip_static), or at a lower level; a load without the header `Accept-Encoding` shows the gain"
        )
    })
}
