//! Copies of large answers between a server's memory and the kernel, as the profile of the server tells them.
//!
//! Shares are of the samples of the server's processes; bytes are of one answer.

use std::collections::BTreeMap;

use model::metrics::load;
use model::workers::USUAL;
use model::{NoteBody, Unit};

use super::view::View;
use model::format;

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
    let notes = view.index.run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::Profile(text) => Some(text.as_str()),
        _ => None,
    });
    let (share, name) = copying(notes)?;
    let settings: Vec<String> =
        USUAL.iter().filter_map(|one| Some(format!("`{}` in {}", one.sendfile?, one.says))).collect();
    (bytes >= LARGE).then(|| {
        format!(
            "of the server's CPU time {} is copying between its memory and the kernel ({name} most), of answers of {}: \
             where it reads files to send them, the kernel may send them itself: try {}",
            format::percent(share),
            format::quantity(bytes, Unit::Byte),
            settings.join(", ")
        )
    })
}

/// The share of all samples in which the kernel copies, with the function that has most of them; `None` where another
/// function has more, or there are few samples.
fn copying<'t>(profiles: impl Iterator<Item = &'t str>) -> Option<(f64, &'t str)> {
    let mut own: BTreeMap<&str, u64> = BTreeMap::new();
    let lines = profiles.flat_map(str::lines).filter(|line| !line.starts_with('#'));
    for (stack, samples) in lines.filter_map(|line| line.trim_end().rsplit_once(' ')) {
        let Ok(samples) = samples.parse::<u64>() else { continue };
        let leaf = stack.rsplit(';').next().unwrap_or(stack).trim();
        let of_leaf = own.entry(leaf).or_default();
        *of_leaf = of_leaf.saturating_add(samples);
    }
    let is_copy = |leaf: &str| leaf.ends_with("_[k]") && COPIES.iter().any(|part| leaf.contains(part));
    let all = own.values().fold(0u64, |sum, one| sum.saturating_add(*one));
    let copies: u64 = own.iter().filter(|(leaf, _)| is_copy(leaf)).map(|(_, samples)| samples).sum();
    // A clock that does not tick without interrupts counts them where they are let in again.
    let other =
        own.iter().filter(|(leaf, _)| !is_copy(leaf) && !leaf.contains("irq")).map(|(_, one)| *one).max();
    let (name, _) = own.iter().filter(|(leaf, _)| is_copy(leaf)).max_by_key(|(_, samples)| **samples)?;
    let share = copies as f64 / all.max(1) as f64;
    (all >= SAMPLES && share >= LEAST && copies > other.unwrap_or(0))
        .then(|| (share, name.trim_end_matches("_[k]")))
}

#[cfg(test)]
mod tests {
    use super::copying;

    #[test]
    fn copying_counts_together_and_against_the_busiest_other_function() {
        let of = |text: &'static str| copying([text].into_iter());
        let text = "# url=http://a/\nnginx;write_[k];_copy_from_iter_[k] 13\nnginx;read_[k];copy_page_to_iter_[k] 10\n\
                    nginx;write_[k];tcp_ack_[k] 20\nnginx;x_[k];_raw_spin_unlock_irqrestore_[k] 40\nnginx;main 17\n";
        assert_eq!(of(text), Some((0.23, "_copy_from_iter")));
        // Another function has more, a program's own is no copy of the kernel's, and few samples tell nothing.
        assert_eq!(of("n;_copy_from_iter_[k] 20\nn;tcp_ack_[k] 80\n"), None);
        assert_eq!(of("n;_copy_from_iter 200\n"), None);
        assert_eq!(of("n;_copy_from_iter_[k] 20\n"), None);
    }
}
