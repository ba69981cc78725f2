//! Ansible's inventory in YAML: `all` with `hosts`, `vars` and `children`.
//!
//! Of YAML itself as much as inventories use: nested maps by indentation, maps and lists in one line, quoted texts,
//! comments. Lists and texts of several lines are read over. Anchors and aliases are refused.

use model::toml_file::FileError;

use super::ansible::{Groups, Host, Vars};

/// How deep maps may stand in each other.
const DEEPEST: usize = 48;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Yaml {
    Map(Vec<Entry>),
    Text(String),
    /// Nothing, or what is read over: a list, a text of several lines, something encrypted.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    line: usize,
    key: String,
    value: Yaml,
}

pub fn inventory(text: &str) -> Result<Groups, FileError> {
    let lines = lines(text)?;
    let mut reader = Reader { lines: &lines, at: 0 };
    let top = reader.map(0, 0)?;
    if let Some(line) = reader.lines.get(reader.at) {
        return Err(FileError::new(line.number, "this line stands too far left", HINT));
    }
    let mut groups = Groups::default();
    for entry in &top {
        group(&mut groups, &entry.key, &entry.value, entry.line)?;
    }
    Ok(groups)
}

const HINT: &str = "Ansible writes all: with hosts: and children: below it, each indented by blanks";

fn group(groups: &mut Groups, name: &str, value: &Yaml, line: usize) -> Result<(), FileError> {
    groups.group(name);
    let entries = match value {
        Yaml::Map(entries) => entries,
        Yaml::Other => return Ok(()),
        Yaml::Text(_) => {
            return Err(FileError::new(line, format!("`{}` is no group", name.escape_debug()), HINT));
        }
    };
    for Entry { line, key, value } in entries {
        let Yaml::Map(inner) = value else { continue };
        match key.as_str() {
            "hosts" => {
                let host = |entry: &Entry| Host {
                    line: entry.line,
                    name: entry.key.clone(),
                    vars: vars(&entry.value),
                };
                groups.group(name).hosts.extend(inner.iter().map(host));
            }
            "vars" => groups.group(name).vars.extend(vars(value)),
            "children" => {
                for child in inner {
                    groups.group(name).children.push(child.key.clone());
                    group(groups, &child.key, &child.value, child.line)?;
                }
            }
            other => {
                let what = format!("`{}` is none of hosts, vars and children", other.escape_debug());
                return Err(FileError::new(*line, what, HINT));
            }
        }
    }
    Ok(())
}

fn vars(value: &Yaml) -> Vars {
    let Yaml::Map(entries) = value else { return Vars::new() };
    let text = |entry: &Entry| match &entry.value {
        Yaml::Text(text) => Some((entry.key.clone(), text.clone())),
        Yaml::Map(_) => None,
        // Its key is told, its value is not known.
        Yaml::Other => Some((entry.key.clone(), String::new())),
    };
    entries.iter().filter_map(text).collect()
}

/// A line that says something: its number, its indentation, and its text without comment.
struct Line {
    number: usize,
    indent: usize,
    text: String,
}

fn lines(text: &str) -> Result<Vec<Line>, FileError> {
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let indent = line.len() - line.trim_start_matches(' ').len();
        let said = without_comment(line.get(indent..).unwrap_or_default()).trim_end().to_owned();
        if said.is_empty() || (indent == 0 && (said == "---" || said == "..." || said.starts_with('%'))) {
            continue;
        }
        if said.starts_with('\t') {
            return Err(FileError::new(number, "a tab at the beginning of a line", "indent by blanks"));
        }
        lines.push(Line { number, indent, text: said });
    }
    Ok(lines)
}

/// The text up to a `#` that stands outside of quotation marks, behind a blank or at the beginning.
fn without_comment(text: &str) -> &str {
    let (mut mark, mut before) = (None, ' ');
    for (at, c) in text.char_indices() {
        match mark {
            Some(open) if c == open => mark = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return &text[..at],
            None if (c == '"' || c == '\'') && !before.is_alphanumeric() => mark = Some(c),
            None => {}
        }
        before = c;
    }
    text
}

struct Reader<'l> {
    lines: &'l [Line],
    at: usize,
}

impl Reader<'_> {
    /// The map whose keys stand at this indentation.
    fn map(&mut self, indent: usize, depth: usize) -> Result<Vec<Entry>, FileError> {
        let mut entries = Vec::new();
        while let Some(Line { number, indent: own, text }) = self.lines.get(self.at) {
            let line = *number;
            if depth > DEEPEST {
                return Err(FileError::new(line, format!("more than {DEEPEST} maps in each other"), HINT));
            }
            if *own < indent {
                break;
            }
            if *own > indent {
                return Err(FileError::new(line, "this line stands too far right", HINT));
            }
            let (key, rest) = key(text, line)?;
            self.at += 1;
            let value = self.value(rest, indent, line, depth)?;
            entries.push(Entry { line, key, value });
        }
        Ok(entries)
    }

    /// The value behind a key, or below it.
    fn value(&mut self, rest: &str, indent: usize, line: usize, depth: usize) -> Result<Yaml, FileError> {
        if rest.starts_with(['&', '*']) {
            return Err(FileError::new(line, "anchors and aliases are not read", "write the values out"));
        }
        if rest.starts_with(['|', '>', '!']) {
            self.skip(indent);
            return Ok(Yaml::Other);
        }
        if !rest.is_empty() {
            return inline(rest, line, depth);
        }
        match self.lines.get(self.at) {
            // A list may stand as far left as its key.
            Some(next) if next.text.starts_with("- ") || next.text == "-" => {
                while self.lines.get(self.at).is_some_and(|next| {
                    next.indent > indent || (next.indent == indent && next.text.starts_with('-'))
                }) {
                    self.at += 1;
                }
                Ok(Yaml::Other)
            }
            Some(next) if next.indent > indent => Ok(Yaml::Map(self.map(next.indent, depth + 1)?)),
            _ => Ok(Yaml::Other),
        }
    }

    /// Reads over the lines that stand further right.
    fn skip(&mut self, indent: usize) {
        while self.lines.get(self.at).is_some_and(|next| next.indent > indent) {
            self.at += 1;
        }
    }
}

/// A key and what stands behind its colon.
fn key(text: &str, line: usize) -> Result<(String, &str), FileError> {
    let wrong = || FileError::new(line, "no key with a colon", HINT);
    if let Some(mark) = text.chars().next().filter(|c| *c == '"' || *c == '\'') {
        let (key, rest) = text.get(1..).and_then(|text| text.split_once(mark)).ok_or_else(wrong)?;
        let rest = rest.trim_start().strip_prefix(':').ok_or_else(wrong)?;
        return Ok((key.to_owned(), rest.trim()));
    }
    // Hosts may be ranges with colons: a key ends at a colon before a blank, or at the end.
    let end = text.char_indices().find(|(at, c)| {
        *c == ':'
            && text.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    });
    let (end, _) = end.ok_or_else(wrong)?;
    let key = text.get(..end).unwrap_or_default().trim();
    if key.is_empty() || key.starts_with(['-', '[', '{', '&', '*', '!', '?']) {
        return Err(wrong());
    }
    Ok((key.to_owned(), text.get(end + 1..).unwrap_or_default().trim()))
}

/// A value in one line.
fn inline(text: &str, line: usize, depth: usize) -> Result<Yaml, FileError> {
    if text.starts_with('[') || text == "~" || text == "null" {
        return Ok(Yaml::Other);
    }
    let Some(inside) = text.strip_prefix('{') else { return Ok(Yaml::Text(unquoted(text))) };
    let wrong = || FileError::new(line, "the brace is not closed", "write { key: value, key: value }");
    if depth > DEEPEST {
        return Err(FileError::new(line, format!("more than {DEEPEST} maps in each other"), HINT));
    }
    let inside = inside.strip_suffix('}').ok_or_else(wrong)?;
    let mut entries = Vec::new();
    for part in parts(inside) {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        let (key, rest) = match key(part, line) {
            Ok(found) => found,
            Err(_) => (part.to_owned(), ""),
        };
        let value = if rest.is_empty() { Yaml::Other } else { inline(rest, line, depth + 1)? };
        entries.push(Entry { line, key, value });
    }
    Ok(Yaml::Map(entries))
}

/// The parts between commas that stand in no inner brace, bracket or quotation mark.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut mark) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match mark {
            Some(open) if c == open => mark = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => mark = Some(c),
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    parts.push(&text[start..at]);
                    start = at + 1;
                }
                _ => {}
            },
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unquoted(text: &str) -> String {
    if let Some(inner) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => text.to_owned(),
    }
}
