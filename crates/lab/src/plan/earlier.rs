//! Known before a plan: the addresses of an earlier one, from the CSV that it was written as, and MAC addresses.

use core::net::Ipv4Addr;
use std::collections::{BTreeMap, HashMap};

use model::toml_file::FileError;

use crate::inventory::Mac;

/// The addresses and MAC addresses of an earlier plan by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    addresses: BTreeMap<String, Ipv4Addr>,
    macs: Macs,
}

impl Earlier {
    pub fn get(&self, name: &str) -> Option<Ipv4Addr> {
        self.addresses.get(name).copied()
    }

    pub fn mac(&self, name: &str) -> Option<Mac> {
        self.macs.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.addresses.keys().map(String::as_str)
    }
}

/// MAC addresses by name, with the lines that say them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Macs(BTreeMap<String, (usize, Mac)>);

impl Macs {
    pub fn get(&self, name: &str) -> Option<Mac> {
        self.0.get(name).map(|(_, mac)| *mac)
    }

    /// All of them with their names.
    pub fn each(&self) -> impl Iterator<Item = (&str, Mac)> {
        self.0.iter().map(|(name, (_, mac))| (name.as_str(), *mac))
    }

    /// The first line whose name is none of those that `is_known` accepts.
    pub fn first_unknown(&self, is_known: impl Fn(&str) -> bool) -> Option<(usize, &str)> {
        let unknown = self.0.iter().filter(|(name, _)| !is_known(name));
        unknown.map(|(name, (line, _))| (*line, name.as_str())).min()
    }
}

/// Reads the CSV of an earlier plan: columns `name` and `address`, and `mac` where it has one.
pub fn earlier(text: &str) -> Result<Earlier, FileError> {
    let mut by_address: HashMap<Ipv4Addr, usize> = HashMap::new();
    let mut found = BTreeMap::new();
    for Pair { line, name, value } in pairs(text, "address")? {
        let wrong = || FileError::new(line, format!("`{}` is no IPv4 address", value.escape_debug()), CSV);
        let address: Ipv4Addr = value.parse().map_err(|_| wrong())?;
        if let Some(first) = by_address.insert(address, line) {
            return Err(FileError::new(
                line,
                format!("{address} stands there twice: lines {first} and {line}"),
                CSV,
            ));
        }
        found.insert(name, address);
    }
    let has_macs = place(&headers(&mut reader(text))?, "mac").is_some();
    Ok(Earlier { addresses: found, macs: if has_macs { macs(text)? } else { Macs::default() } })
}

/// Reads MAC addresses: a CSV with the columns `name` and `mac`.
pub fn macs(text: &str) -> Result<Macs, FileError> {
    let mut by_mac: HashMap<Mac, usize> = HashMap::new();
    let mut found = BTreeMap::new();
    for Pair { line, name, value } in pairs(text, "mac")? {
        let wrong = |why: &str| FileError::new(line, format!("`{}`: {why}", value.escape_debug()), CSV);
        let mac: Mac = value.parse().map_err(wrong)?;
        if let Some(first) = by_mac.insert(mac, line) {
            let what = format!("the MAC address {mac} stands there twice: lines {first} and {line}");
            return Err(FileError::new(line, what, "a card has one name"));
        }
        found.insert(name, (line, mac));
    }
    Ok(Macs(found))
}

const CSV: &str = "the columns are name,address in an earlier plan, and name,mac in a list of MAC addresses";

struct Pair {
    line: usize,
    name: String,
    value: String,
}

fn reader(text: &str) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes())
}

fn no_csv(error: &csv::Error) -> FileError {
    let line = error.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
    FileError::new(line.max(1), "this is no CSV", CSV)
}

fn headers(of: &mut csv::Reader<&[u8]>) -> Result<csv::StringRecord, FileError> {
    of.headers().cloned().map_err(|error| no_csv(&error))
}

/// Where the column stands that is called so.
fn place(heads: &csv::StringRecord, wanted: &str) -> Option<usize> {
    heads.iter().position(|head| head.eq_ignore_ascii_case(wanted))
}

/// The cells of `name` and of another column; lines without the latter are left out.
fn pairs(text: &str, column: &str) -> Result<Vec<Pair>, FileError> {
    let mut reader = reader(text);
    let heads = headers(&mut reader)?;
    let needed = |wanted: &str| {
        let missing = || FileError::new(1, format!("no column is called `{wanted}`"), CSV);
        place(&heads, wanted).ok_or_else(missing)
    };
    let (name_at, value_at) = (needed("name")?, needed(column)?);
    let mut pairs: Vec<Pair> = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| no_csv(&error))?;
        let line = record.position().map_or(1, |at| usize::try_from(at.line()).unwrap_or(1));
        let (Some(name), Some(value)) = (record.get(name_at), record.get(value_at)) else { continue };
        if name.is_empty() || value.is_empty() {
            continue;
        }
        let name = name.to_ascii_lowercase();
        if let Some(first) = lines.insert(name.clone(), line) {
            let what = format!("`{}` stands there twice: lines {first} and {line}", name.escape_debug());
            return Err(FileError::new(line, what, CSV));
        }
        pairs.push(Pair { line, name, value: value.to_owned() });
    }
    Ok(pairs)
}
