//! A table of machines in CSV: the first line names the columns as `lab.toml` names its keys, with `bmc_` before those
//! of the BMC. Several values of a cell are separated by semicolons.

use model::nearest::nearest;
use model::toml_file::{FileError, quoted};

use super::draft::{Draft, Drafts, group_name};

/// A column: the names that it may have, and the key that it is.
const COLUMNS: &[(&[&str], Column)] = &[
    (&["name", "host", "hostname", "node"], Column::Name),
    (&["address", "ip", "ip_address"], Column::Text("address")),
    (&["user", "login"], Column::Text("user")),
    (&["port"], Column::Text("port")),
    (&["roles", "role"], Column::List("roles")),
    (&["groups", "group"], Column::Groups),
    (&["price"], Column::Text("price")),
    (&["watts"], Column::Text("watts")),
    (&["rack"], Column::Text("rack")),
    (&["position", "slot"], Column::Text("position")),
    (&["mac", "mac_address"], Column::Text("mac")),
    (&["bmc_kind"], Column::Bmc("kind")),
    (&["bmc_address", "bmc", "bmc_ip"], Column::Bmc("address")),
    (&["bmc_port"], Column::Bmc("port")),
    (&["bmc_user"], Column::Bmc("user")),
    (&["bmc_mac"], Column::Bmc("mac")),
    (&["bmc_password_file"], Column::Bmc("password_file")),
    (&["bmc_password_env"], Column::Bmc("password_env")),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Name,
    Text(&'static str),
    List(&'static str),
    Groups,
    Bmc(&'static str),
    /// Not taken.
    Other,
}

pub fn read(text: &str) -> Result<Drafts, FileError> {
    let mut drafts = Drafts::default();
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let wrong = |error: &csv::Error| {
        let line = error.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
        FileError::new(line.max(1), "this is no CSV", "the first line names the columns: name,address,user")
    };
    let heads = reader.headers().map_err(|error| wrong(&error))?.clone();
    let columns: Vec<Column> = heads.iter().map(|head| column(head, &mut drafts)).collect();
    if !columns.contains(&Column::Name) {
        let known: Vec<&str> = COLUMNS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        let hint = format!("the columns are {}", known.join(", "));
        return Err(FileError::new(1, "no column is called `name`", hint));
    }
    for record in reader.records() {
        let record = record.map_err(|error| wrong(&error))?;
        let line = record.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
        row(&columns, &record, line, &mut drafts);
    }
    Ok(drafts)
}

fn column(head: &str, drafts: &mut Drafts) -> Column {
    let head = head.trim_start_matches('\u{feff}').trim().to_ascii_lowercase().replace([' ', '-'], "_");
    if let Some((_, column)) = COLUMNS.iter().find(|(names, _)| names.contains(&head.as_str())) {
        return *column;
    }
    let known = COLUMNS.iter().flat_map(|(names, _)| names.iter().copied());
    let near = nearest(&head, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    drafts.note(1, format!("left out: the column `{}`{near}", head.escape_debug()));
    Column::Other
}

fn row(columns: &[Column], record: &csv::StringRecord, line: usize, drafts: &mut Drafts) {
    let name = columns.iter().zip(record).find(|(column, _)| **column == Column::Name).map(|(_, cell)| cell);
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        if record.iter().any(|cell| !cell.is_empty()) {
            drafts.note(line, "left out: no name");
        }
        return;
    };
    let Some(name) = drafts.named(line, name) else { return };
    let mut draft = Draft::new(line, name);
    for (column, cell) in columns.iter().zip(record).filter(|(_, cell)| !cell.is_empty()) {
        let parts = cell.split([';', '|']).map(str::trim).filter(|part| !part.is_empty());
        match column {
            Column::Text(key) => draft.set(key, cell),
            Column::List(key) => {
                let all: Vec<String> = parts.map(quoted).collect();
                draft.values.push((*key, format!("[{}]", all.join(", "))));
            }
            Column::Groups => draft.groups.extend(parts.filter_map(group_name)),
            Column::Bmc(key) => draft.bmc.push((*key, quoted(cell))),
            Column::Name | Column::Other => {}
        }
    }
    let has = |key: &str| draft.bmc.iter().any(|(own, _)| *own == key);
    if has("address") && !has("kind") {
        draft.bmc.push(("kind", quoted("ipmi")));
    }
    drafts.nodes.push(draft);
}
