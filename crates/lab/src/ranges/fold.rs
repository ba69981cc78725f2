//! Names into a short expression that gives the same names: `model::ranges`, with the names that the grammar reads as
//! ranges where they stand alone.

use super::element::{Form, Part, read};

/// The expression of these names; equal names count once. Empty where there is none.
pub fn fold<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    model::ranges::fold(names, is_read_as_itself)
}

/// True where a name alone is no range.
fn is_read_as_itself(name: &str) -> bool {
    match read(name, 1) {
        Ok(Form::Pattern(parts)) => matches!(parts.as_slice(), [Part::Text(_)]),
        Ok(Form::Octets { subnet, .. }) => subnet.is_some() && !name.contains(['-', '+']),
        Ok(Form::Bare(_)) | Err(_) => false,
    }
}
