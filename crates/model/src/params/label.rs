//! How a parameter's value is written in the name of a figure.

/// The form of a value in a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Label {
    /// `name=value`.
    #[default]
    Pair,
    /// The value alone: `read`, `4 KiB`.
    Value,
    /// A number of bytes: `64 B`, `4 KiB`.
    Bytes,
    /// The value in the place of `{}`: `depth 4` of `depth {}`.
    Form(&'static str),
    /// The word after one, and after any other number: `1 thread`, `4 threads`.
    Count(&'static str, &'static str),
    /// A word for `on`: `keep-alive`; `off` becomes `no keep-alive`.
    Switch(&'static str),
    /// The beginning of a text of the user's: `` `make -j8`: ``.
    Quoted,
    /// Words for some values; others stand alone.
    Words(&'static [(&'static str, &'static str)]),
}

impl Label {
    /// How the name of a figure says that the parameter `name` has this value; empty where nothing is to be said.
    pub fn show(self, name: &str, value: &str) -> String {
        match self {
            Label::Pair => format!("{name}={value}"),
            Label::Value => spaced(value),
            Label::Bytes if value.bytes().all(|b| b.is_ascii_digit()) => format!("{value} B"),
            Label::Bytes => spaced(value),
            Label::Form(form) => form.replace("{}", &spaced(value)),
            Label::Count(one, _) if value == "1" => format!("1 {one}"),
            Label::Count(_, many) => format!("{value} {many}"),
            Label::Switch(what) if value == "off" => format!("no {what}"),
            Label::Switch(what) => what.to_owned(),
            Label::Quoted => format!("`{}`:", beginning(value)),
            Label::Words(words) => {
                let word = words.iter().find(|(ours, _)| *ours == value);
                word.map_or_else(|| spaced(value), |(_, good)| (*good).to_owned())
            }
        }
    }
}

/// So much of a quoted text stands in a name.
pub const QUOTED: usize = 28;

/// A text, or its first characters with `…`.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some(_) => format!("{}…", text.chars().take(QUOTED - 1).collect::<String>().trim_end()),
        None => text.to_owned(),
    }
}

/// `4KiB` as `4 KiB`.
fn spaced(value: &str) -> String {
    let digits = value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match (value.get(..value.len() - digits), value.get(value.len() - digits..)) {
        (Some(number), Some(unit @ ("KiB" | "MiB" | "GiB"))) if !number.is_empty() => {
            format!("{number} {unit}")
        }
        _ => value.to_owned(),
    }
}
