//! Copies of large answers between a server's memory and the kernel, as the profile of the server tells them.
//!
//! Shares are of the samples of the server's processes; bytes are of one answer.

use std::collections::BTreeMap;

use model::metrics::load;
use model::profile::{Profile, profiles};
use model::workers::USUAL;
use model::{NoteBody, Unit, format};

use super::view::View;

/// Parts of the names of functions by which the kernel copies from and to a program's memory.
const COPIES: [&str; 5] = ["copy_from_iter", "copy_to_iter", "copy_user", "copy_page_", "rep_movs"];
/// Answers of so many bytes are large.
const LARGE: f64 = 10e3;
/// A smaller share of the samples is not worth a change.
const LEAST: f64 = 0.05;
/// Of so many samples at least.
const SAMPLES: u64 = 100;

/// Advice where copying takes more of the server's CPU time than any other function does, and answers are large.
pub fn advice(view: &View<'_, '_>) -> Option<String> {
    let bytes = view.load.median(&load::BANDWIDTH)? / view.load.throughput()?;
    // Profiles are read only where they may matter.
    if bytes < LARGE {
        return None;
    }
    let notes = view.index.run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::Profile(text) => Some(text.as_str()),
        _ => None,
    });
    let (share, name) = copying(notes)?;
    let settings: Vec<String> =
        USUAL.iter().filter_map(|one| Some(format!("`{}` in {}", one.sendfile?, one.says))).collect();
    Some(format!(
        "of the server's CPU time {} is copying between its memory and the kernel ({name} most), of answers of {}: \
         where it reads files to send them, the kernel may send them itself: try {}",
        format::percent(share),
        format::quantity(bytes, Unit::Byte),
        settings.join(", ")
    ))
}

/// The share of all samples in which the kernel copies, with the function that has most of them; `None` where another
/// function has more, or there are few samples.
fn copying<'t>(notes: impl Iterator<Item = &'t str>) -> Option<(f64, String)> {
    let profiles = profiles(notes);
    let all = profiles.iter().fold(0u64, |sum, one| sum.saturating_add(one.samples()));
    let mut own: BTreeMap<(String, bool), u64> = BTreeMap::new();
    for symbol in profiles.iter().flat_map(Profile::symbols) {
        let samples = own.entry((symbol.name, symbol.kernel)).or_default();
        *samples = samples.saturating_add(symbol.own);
    }
    let is_copy = |((name, kernel), _): &(&(String, bool), &u64)| {
        *kernel && COPIES.iter().any(|part| name.contains(part))
    };
    let (copies, others): (Vec<_>, Vec<_>) = own.iter().partition(is_copy);
    let copied = copies.iter().fold(0u64, |sum, (_, samples)| sum.saturating_add(**samples));
    // A clock that does not tick without interrupts counts them where they are let in again.
    let other =
        others.iter().filter(|((name, _), _)| !name.contains("irq")).map(|(_, samples)| **samples).max();
    let ((name, _), _) = copies.iter().max_by_key(|(_, samples)| **samples)?;
    let share = copied as f64 / all.max(1) as f64;
    (all >= SAMPLES && share >= LEAST && copied > other.unwrap_or(0)).then(|| (share, name.clone()))
}

#[cfg(test)]
mod tests {
    use super::copying;

    #[test]
    fn copying_counts_together_and_against_the_busiest_other_function() {
        let of = |text: &'static str| copying([text].into_iter());
        let text = "# url=http://a/\nnginx;write_[k];_copy_from_iter_[k] 13\nnginx;read_[k];copy_page_to_iter_[k] 10\n\
                    nginx;write_[k];tcp_ack_[k] 20\nnginx;x_[k];_raw_spin_unlock_irqrestore_[k] 40\nnginx;main 17\n";
        assert_eq!(of(text), Some((0.23, "_copy_from_iter".to_owned())));
        // Another function has more, a program's own is no copy of the kernel's, and few samples tell nothing.
        assert_eq!(of("n;_copy_from_iter_[k] 20\nn;tcp_ack_[k] 80\n"), None);
        assert_eq!(of("n;_copy_from_iter 200\n"), None);
        assert_eq!(of("n;_copy_from_iter_[k] 20\n"), None);
    }
}
