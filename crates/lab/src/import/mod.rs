//! Lists of machines that others keep, as an inventory: Ansible's (INI and YAML), an OpenSSH configuration, CSV, and
//! `/etc/hosts`.
//!
//! Each reader makes drafts of nodes, with the line that each came from. `draft` writes them as `lab.toml` and reads
//! that, so that every value is checked as in an inventory. Passwords are never taken.

mod ansible;
mod csv;
mod draft;
mod hosts;
mod ini;
mod ssh;
mod yaml;

use std::path::Path;

use model::toml_file::FileError;

pub use draft::{ImportNote, Imported};

model::words! {
    /// The form of a list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Form as word {
        AnsibleIni = "ansible-ini",
        AnsibleYaml = "ansible-yaml",
        Ssh = "ssh",
        Hosts = "hosts",
        Csv = "csv",
    }
}

impl Form {
    /// The form by the name of the file, else by its first line that says something.
    pub fn guess(name: &str, text: &str) -> Option<Form> {
        let path = Path::new(name);
        let end = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        match (end.as_str(), file.as_ref()) {
            ("yml" | "yaml", _) => return Some(Form::AnsibleYaml),
            ("ini", _) => return Some(Form::AnsibleIni),
            ("csv", _) => return Some(Form::Csv),
            (_, "hosts") if path.parent() == Some(Path::new("/etc")) => return Some(Form::Hosts),
            (_, "ssh_config") => return Some(Form::Ssh),
            _ => {}
        }
        let mut lines = text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']))?;
        let word = first.split_whitespace().next().unwrap_or_default();
        let is_ssh = ["host", "match", "include"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
        if word.parse::<core::net::IpAddr>().is_ok() {
            Some(Form::Hosts)
        } else if is_ssh && first.contains(char::is_whitespace) {
            Some(Form::Ssh)
        } else if first == "---" || first.ends_with(':') {
            Some(Form::AnsibleYaml)
        } else if first.contains(',') {
            Some(Form::Csv)
        } else {
            // Hosts of no group may stand before the first one.
            let is_ini = |line: &str| line.starts_with('[') || line.contains(" ansible_");
            text.lines().map(str::trim).any(is_ini).then_some(Form::AnsibleIni)
        }
    }
}

/// Reads a list. The error is the first thing in it that no inventory can have.
pub fn import(text: &str, form: Form) -> Result<Imported, FileError> {
    let drafts = match form {
        Form::AnsibleIni => ansible::drafts(ini::read(text)?)?,
        Form::AnsibleYaml => ansible::drafts(yaml::inventory(text)?)?,
        Form::Ssh => ssh::read(text),
        Form::Hosts => hosts::read(text),
        Form::Csv => csv::read(text)?,
    };
    drafts.finish()
}

#[cfg(test)]
mod tests;
