//! Aggregates as bytes, so that hosts and files can share the work: a head, the aggregates by label, a checksum.
//!
//! Equal aggregates are equal bytes. Another version, damage, and other settings are refused, with the reason.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bounded::Merge;
use super::{Aggregate, Settings};
use crate::hash;

const MAGIC: &[u8; 8] = b"BXLOGAGG";
/// Raised whenever the bytes or their meaning change.
pub const VERSION: u16 = 8;
const HEAD: usize = MAGIC.len() + 2;
const TAIL: usize = 8;

/// Bytes that are not aggregates that can be used here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("not a file of log aggregates (made by --out)")]
    Foreign,
    #[error(
        "made by another version (its aggregates are version {0}, these are {VERSION}): make it again from the logs"
    )]
    Version(u16),
    #[error("damaged: {0}; make it again from the logs")]
    Damaged(String),
    #[error("made with other settings ({theirs}) than the others ({ours}): only equal ones can be merged")]
    Settings { ours: String, theirs: String },
}

/// Aggregates by label, with the settings they were made with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Labels {
    /// The properties of the groups and the conditions, as they are written, and whether the mix is kept.
    settings: (Vec<String>, Vec<String>, bool),
    pub labels: BTreeMap<String, Aggregate>,
}

impl Labels {
    pub fn new(settings: &Settings) -> Labels {
        let groups = settings.group_by.iter().map(ToString::to_string).collect();
        let mut filters: Vec<String> =
            settings.filters.iter().map(|filter| filter.text().to_owned()).collect();
        filters.sort_unstable();
        Labels { settings: (groups, filters, settings.mix), labels: BTreeMap::new() }
    }

    /// Takes in others; labels of both are merged. Fails if the settings differ.
    pub fn merge(&mut self, other: &Labels) -> Result<(), FileError> {
        if self.settings != other.settings {
            return Err(FileError::Settings { ours: self.settings(), theirs: other.settings() });
        }
        for (label, theirs) in &other.labels {
            self.labels.entry(label.clone()).or_default().merge(theirs);
        }
        Ok(())
    }

    /// The settings in words.
    pub fn settings(&self) -> String {
        let list = |of: &[String]| if of.is_empty() { "none".to_owned() } else { of.join(", ") };
        let mix = if self.settings.2 { "; with the mix" } else { "" };
        format!("groups by: {}; conditions: {}{mix}", list(&self.settings.0), list(&self.settings.1))
    }

    /// The conditions, as they are written.
    pub fn conditions(&self) -> &[String] {
        &self.settings.1
    }

    /// The aggregates as bytes, with a checksum. Fails if they cannot be encoded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        let mut bytes =
            postcard::to_extend(self, bytes).map_err(|error| FileError::Damaged(error.to_string()))?;
        let sum = hash::name(&bytes);
        bytes.extend(sum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads the bytes of [`Labels::to_bytes`]. Fails for other, damaged or impossible contents.
    pub fn from_bytes(bytes: &[u8]) -> Result<Labels, FileError> {
        let damaged = |what: &str| FileError::Damaged(what.to_owned());
        if !bytes.starts_with(MAGIC) {
            return Err(FileError::Foreign);
        }
        let version = bytes.get(MAGIC.len()..HEAD).ok_or_else(|| damaged("it ends in its head"))?;
        let version = u16::from_le_bytes([version[0], version[1]]);
        if version != VERSION {
            return Err(FileError::Version(version));
        }
        let (body, sum) = match bytes.len().checked_sub(TAIL) {
            Some(end) if end >= HEAD => bytes.split_at(end),
            _ => return Err(damaged("it ends too early")),
        };
        if hash::name(body).to_le_bytes() != sum {
            return Err(damaged("its checksum is another one"));
        }
        let (labels, rest) = postcard::take_from_bytes::<Labels>(&body[HEAD..])
            .map_err(|error| FileError::Damaged(error.to_string()))?;
        if !rest.is_empty() {
            return Err(damaged("bytes behind the end"));
        }
        labels.check()?;
        Ok(labels)
    }

    /// Fails for numbers that no counting can give.
    fn check(&self) -> Result<(), FileError> {
        for (label, aggregate) in &self.labels {
            if !aggregate.is_sound() {
                return Err(FileError::Damaged(format!("the lines of {label:?} do not add up")));
            }
        }
        Ok(())
    }
}
