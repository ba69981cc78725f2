//! A table with a drawing a row, each in per cent of the column's width: it reflows at any width and is its own data
//! table.

use maud::{Markup, html};

use super::{Caption, Left, Px};

/// The figure around a table; without one there is no data. Notes say which values are left out.
pub fn frame(caption: &Caption, table: Option<Markup>, left: &Left) -> Markup {
    html! {
        figure class="forest" {
            figcaption {
                @if !caption.title.is_empty() { strong { (super::tied(&caption.title)) } }
                @if !caption.subtitle.is_empty() { span { (caption.subtitle) } }
            }
            @if let Some(table) = table { (table) } @else { p class="nothing" { "No data" } }
            @for note in left.notes() { p class="note" { (note) } }
        }
    }
}

/// A coordinate or a length in per cent.
pub fn pc(value: f64) -> String {
    format!("{}%", Px(value))
}

/// An upright line through the whole row.
pub fn upright(class: &str, at: f64) -> Markup {
    html! { line class=(class) x1=(pc(at)) x2=(pc(at)) y2="100%" {} }
}
