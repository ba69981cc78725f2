//! Ansible's inventory in INI: `[group]`, `[group:vars]`, `[group:children]`, and hosts with variables behind them.

use model::toml_file::FileError;

use super::ansible::{Groups, Host, Vars};

enum Section {
    Hosts(String),
    Vars(String),
    Children(String),
}

pub fn read(text: &str) -> Result<Groups, FileError> {
    let mut groups = Groups::default();
    let mut section = Section::Hosts("ungrouped".to_owned());
    for (at, line) in text.lines().enumerate() {
        let line_number = at + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(head) = line.strip_prefix('[') {
            // A host does not begin with a bracket.
            section = section_of(head, line_number)?;
            let (Section::Hosts(name) | Section::Vars(name) | Section::Children(name)) = &section;
            groups.group(name);
            continue;
        }
        match &section {
            Section::Hosts(group) => {
                let host = host(line, line_number)?;
                groups.group(group).hosts.push(host);
            }
            Section::Vars(group) => {
                if let Some((key, value)) = line.split_once('=') {
                    groups.group(group).vars.insert(key.trim().to_owned(), unquoted(value.trim()));
                }
            }
            Section::Children(group) => {
                let child = line.split('#').next().unwrap_or_default().trim().to_owned();
                groups.group(&child);
                groups.group(group).children.push(child);
            }
        }
    }
    Ok(groups)
}

fn section_of(head: &str, line: usize) -> Result<Section, FileError> {
    let wrong =
        |what: &str| FileError::new(line, what, "Ansible writes [group], [group:vars] or [group:children]");
    let name = head
        .split_once(']')
        .map(|(name, _)| name.trim())
        .ok_or_else(|| wrong("the bracket is not closed"))?;
    match name.split_once(':') {
        None if name.is_empty() => Err(wrong("a group without a name")),
        None => Ok(Section::Hosts(name.to_owned())),
        Some((group, "vars")) => Ok(Section::Vars(group.to_owned())),
        Some((group, "children")) => Ok(Section::Children(group.to_owned())),
        Some(_) => Err(wrong("no kind of section")),
    }
}

/// A host and its variables: `web1:2222 ansible_user=root note="a b"`.
fn host(line: &str, number: usize) -> Result<Host, FileError> {
    let words = words(line).ok_or_else(|| {
        FileError::new(number, "a quotation mark is not closed", "close it, or leave it out")
    })?;
    let mut words = words.into_iter();
    let mut name = words.next().unwrap_or_default();
    let mut vars = Vars::new();
    // Behind a range, colons are its own.
    let tail = name.rfind(']').map_or(0, |at| at + 1);
    if let Some((_, port)) = name.get(tail..).and_then(|tail| tail.rsplit_once(':'))
        && port.bytes().all(|byte| byte.is_ascii_digit())
    {
        let port = port.to_owned();
        name.truncate(name.len() - port.len() - 1);
        vars.insert("ansible_port".to_owned(), port);
    }
    for word in words {
        if let Some((key, value)) = word.split_once('=') {
            vars.insert(key.to_owned(), value.to_owned());
        }
    }
    Ok(Host { line: number, name, vars })
}

/// Words between blanks, without their quotation marks, up to a comment; `None` where a mark is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut mark) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match mark {
            Some(open) if c == open => mark = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                word.get_or_insert_default();
                mark = Some(c);
            }
            None if c == '#' && word.is_none() => break,
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    mark.is_none().then_some(words)
}

fn unquoted(text: &str) -> String {
    let inner = |mark: char| text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
    inner('"').or_else(|| inner('\'')).unwrap_or(text).to_owned()
}
