//! The frame of a report: one HTML file that needs no network and no script.
//!
//! Holds no figures and no findings; sections hand in markup. The only script copies the command, and
//! its button stays hidden where scripts do not run: the command is selectable text either way.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::theme;

/// The strip at the top.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// `mini-1`
    pub machine: String,
    /// `quick`, `2026-11-21`, `1 run`, `noise: assumed`
    pub facts: Vec<String>,
    /// The command that makes this report again.
    pub command: String,
}

const COPY: &str = "for(const b of document.querySelectorAll('.cmd button')){b.hidden=!navigator.clipboard;\
b.onclick=()=>navigator.clipboard.writeText(b.parentNode.querySelector('code').textContent)\
.then(()=>{b.textContent='copied'})}";

/// A whole HTML document.
pub fn page(title: &str, head: &Head, body: &Markup) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="generator" content="boxscore";
                title { (title) }
                style { (PreEscaped(theme::CSS)) }
            }
            body {
                header class="bar" { div class="strip" {
                    b { "BOXSCORE" }
                    strong { (head.machine) }
                    @if !head.facts.is_empty() { span class="meta" { @for fact in &head.facts { span { (fact) } } } }
                    @if !head.command.is_empty() { (command(&head.command)) }
                } }
                main { (body) }
                script { (PreEscaped(COPY)) }
            }
        }
    }
    .into_string()
}

/// A sentence as it is written for a terminal: what stands between backticks is code, numbers keep to their `%`, and
/// arrows are arrows. Code is left as it is, so that it can be copied; a backtick without another is one.
pub fn prose(text: &str) -> Markup {
    let said = |text: &str| crate::plot::tied(&text.replace(" -> ", " → "));
    let mut parts: Vec<Markup> = Vec::new();
    let mut rest = text;
    while let Some((before, (inside, after))) =
        rest.split_once('`').and_then(|(before, after)| Some((before, after.split_once('`')?)))
    {
        parts.push(match inside {
            "" => html! { (said(before)) "``" },
            inside => html! { (said(before)) code { (inside) } },
        });
        rest = after;
    }
    html! { @for part in &parts { (part) } (said(rest)) }
}

/// A command as selectable text with a button to copy it.
pub fn command(text: &str) -> Markup {
    html! { span class="cmd" { code { (text) } button type="button" hidden { "copy" } } }
}

/// Text whose names with a hyphen, such as `box-b` and `--fake`, are not broken at it; longer ones may be.
pub fn unbroken(text: &str) -> Markup {
    const LONGEST: usize = 24;
    let is_name = |word: &str| word.contains('-') && word != "-" && word.len() <= LONGEST;
    if text.contains('`') || !text.split(' ').any(is_name) {
        return prose(text);
    }
    let text = text.replace(" -> ", " → ");
    let words = text.split(' ').map(|word| (word, is_name(word)));
    let parts = words.enumerate().map(|(place, (word, is_name))| {
        html! {
            @if place > 0 { " " }
            @if is_name { span class="n" { (word) } } @else { (word) }
        }
    });
    let html: String = parts.map(maud::Markup::into_string).collect();
    maud::PreEscaped(crate::plot::tied(&html))
}

/// The first screen: the findings in words, the tally, then two columns (one on a narrow screen).
pub fn first_screen(lead: &Markup, tally: &Markup, left: &Markup, right: &Markup) -> Markup {
    html! {
        h1 { (lead) }
        div class="tally" { (tally) }
        div class="first" { div { (left) } div { (right) } }
    }
}

/// A section with a heading that says the finding.
pub fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! { section id=(id) { h2 { (prose(title)) } (body) } }
}

/// A box with a small heading.
pub fn card(title: &str, body: &Markup) -> Markup {
    html! { div class="card" { @if !title.is_empty() { h3 { (title) } } (body) } }
}

/// Figures side by side, as many as fit.
pub fn grid(figures: &[Markup]) -> Markup {
    html! { @if !figures.is_empty() { div class="grid" { @for figure in figures { (figure) } } } }
}

/// Boxes of unlike height, in as many columns as fit: each is as high as what it holds.
pub fn cards(all: &[Markup]) -> Markup {
    html! { @if !all.is_empty() { div class="cards" { @for one in all { (one) } } } }
}

/// Something that few readers need; left out in print.
pub fn more(summary: &str, body: &Markup) -> Markup {
    html! { details { summary { (summary) } (body) } }
}

/// How a column of a table is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Text,
    Number,
}

/// A table: first column the row's name, numbers to the right, scrolls sideways where it must.
pub fn table(head: &[(&str, Column)], rows: &[Vec<Markup>]) -> Markup {
    let class = |i: usize| match head.get(i) {
        Some((_, Column::Text)) => Some("l"),
        _ => None,
    };
    html! {
        div class="scroll" { table {
            thead { tr { @for (i, (name, _)) in head.iter().enumerate() { th scope="col" class=[class(i)] { (name) } } } }
            tbody { @for row in rows { tr {
                @for (i, cell) in row.iter().enumerate() {
                    @if i == 0 { th scope="row" { (cell) } } @else { td class=[class(i)] { (cell) } }
                }
            } } }
        } }
    }
}

/// Words that stay on one line.
pub fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_headline_are_not_broken() {
        let html = unbroken("4 % of box-b (12 EUR) and a-very-long-name-that-has-to-be-broken").into_string();
        let said =
            "4\u{a0}% of <span class=\"n\">box-b</span> (12 EUR) and a-very-long-name-that-has-to-be-broken";
        assert_eq!(html, said);
        assert_eq!(unbroken("see `a-b`").into_string(), "see <code>a-b</code>");
        assert_eq!(unbroken("<a-b> & c").into_string(), "<span class=\"n\">&lt;a-b&gt;</span> &amp; c");
    }

    #[test]
    fn a_page_stands_alone_and_escapes_what_it_is_given() {
        let head =
            Head { machine: "<b>&\"".into(), facts: vec!["quick".into()], command: "run --set 'a<b'".into() };
        let text = page("a <title>", &head, &html! { p { "<script>" } });
        assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("src=\""));
        assert!(text.contains("&lt;b&gt;&amp;&quot;") && text.contains("a &lt;title&gt;"));
        assert_eq!(text.matches("<script>").count(), 1);
        crate::plot::check::balanced(&text);
    }

    #[test]
    fn what_stands_between_backticks_is_code() {
        for (text, wanted) in [
            ("", ""),
            ("plain & 5 % -> 6 %", "plain &amp; 5\u{a0}% → 6\u{a0}%"),
            ("`boxscore doctor` names them", "<code>boxscore doctor</code> names them"),
            (
                "it says `<b>&\"`: `a | b` mends 5 %",
                "it says <code>&lt;b&gt;&amp;&quot;</code>: <code>a | b</code> mends 5\u{a0}%",
            ),
            ("`sed 's/ -> / %/'`", "<code>sed 's/ -&gt; / %/'</code>"),
            ("a ` alone <i>", "a ` alone &lt;i&gt;"),
            ("`a` and ` alone", "<code>a</code> and ` alone"),
            ("``a``", "``a``"),
        ] {
            assert_eq!(prose(text).into_string(), wanted, "{text}");
        }
    }

    #[test]
    fn columns_are_set_by_kind() {
        let cells = vec![html! { "name" }, html! { "1" }, html! { "word" }];
        let text = table(&[("", Column::Text), ("n", Column::Number), ("verdict", Column::Text)], &[cells])
            .into_string();
        assert!(text.contains("<td>1</td><td class=\"l\">word</td>"), "{text}");
    }
}
