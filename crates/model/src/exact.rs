//! Floats with every bit in JSON, for `#[serde(with = "exact")]`.
//!
//! JSON has no word for NaN and the infinities: in human-readable formats they stand as their bits,
//! `{"bits": "7ff8000000000000"}`. Finite numbers stand as they are, as all numbers do in binary formats.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type that holds floats: one float, or an option, a list or a map of them.
pub trait Exact: Serialize + DeserializeOwned {
    /// The form in text.
    type Text: Serialize + DeserializeOwned;

    fn to_text(&self) -> Self::Text;

    /// Fails when the bits are not hexadecimal.
    fn from_text(text: Self::Text) -> Result<Self, String>;
}

/// A float in text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    Number(f64),
    Bits { bits: String },
}

impl Exact for f64 {
    type Text = Text;

    fn to_text(&self) -> Text {
        match self.is_finite() {
            true => Text::Number(*self),
            false => Text::Bits { bits: format!("{:016x}", self.to_bits()) },
        }
    }

    fn from_text(text: Text) -> Result<f64, String> {
        match text {
            Text::Number(number) => Ok(number),
            Text::Bits { bits } => u64::from_str_radix(&bits, 16)
                .map(f64::from_bits)
                .map_err(|_| format!("`{bits}` are not the bits of a number")),
        }
    }
}

impl<T: Exact> Exact for Option<T> {
    type Text = Option<T::Text>;

    fn to_text(&self) -> Self::Text {
        self.as_ref().map(T::to_text)
    }

    fn from_text(text: Self::Text) -> Result<Self, String> {
        text.map(T::from_text).transpose()
    }
}

impl<T: Exact> Exact for Vec<T> {
    type Text = Vec<T::Text>;

    fn to_text(&self) -> Self::Text {
        self.iter().map(T::to_text).collect()
    }

    fn from_text(text: Self::Text) -> Result<Self, String> {
        text.into_iter().map(T::from_text).collect()
    }
}

impl<T: Exact> Exact for [T; 3] {
    type Text = [T::Text; 3];

    fn to_text(&self) -> Self::Text {
        self.each_ref().map(T::to_text)
    }

    fn from_text([a, b, c]: Self::Text) -> Result<Self, String> {
        Ok([T::from_text(a)?, T::from_text(b)?, T::from_text(c)?])
    }
}

impl<T: Exact> Exact for BTreeMap<String, T> {
    type Text = BTreeMap<String, T::Text>;

    fn to_text(&self) -> Self::Text {
        self.iter().map(|(name, value)| (name.clone(), value.to_text())).collect()
    }

    fn from_text(text: Self::Text) -> Result<Self, String> {
        text.into_iter().map(|(name, value)| Ok((name, T::from_text(value)?))).collect()
    }
}

/// # Errors
/// Those of the format.
pub fn serialize<T: Exact, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    if to.is_human_readable() { value.to_text().serialize(to) } else { value.serialize(to) }
}

/// # Errors
/// Those of the format, and bits that are not hexadecimal.
pub fn deserialize<'de, T: Exact, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    if from.is_human_readable() {
        T::from_text(T::Text::deserialize(from)?).map_err(D::Error::custom)
    } else {
        T::deserialize(from)
    }
}

/// Implements serde for an enum that is its content alone in text, and is tagged in binary formats. `$text` and
/// `$binary` are its remote derives for the two.
macro_rules! untagged_in_text {
    ($type:ty, $text:ty, $binary:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                if to.is_human_readable() {
                    <$text>::serialize(self, to)
                } else {
                    <$binary>::serialize(self, to)
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                if from.is_human_readable() {
                    <$text>::deserialize(from)
                } else {
                    <$binary>::deserialize(from)
                }
            }
        }
    };
}
pub(crate) use untagged_in_text;
