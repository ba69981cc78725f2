//! A value that many hold and few change, such as the plan of a study in the data of each of its runs.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A handle on a value: a clone of it costs a pointer, whatever the size of the value. Who changes the value gets a
/// copy of it first, unless nobody else holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shared<T>(Arc<T>);

impl<T: Clone> Shared<T> {
    /// The value; a copy of it where others hold it too.
    pub fn into_value(self) -> T {
        Arc::unwrap_or_clone(self.0)
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

/// In a document it is the value itself.
impl<T: JsonSchema> JsonSchema for Shared<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_by_nobody_else() {
        let one = Shared::from(vec![1]);
        let mut other = one.clone();
        assert!(Arc::ptr_eq(&one.0, &other.0));
        other.push(2);
        assert_eq!((one.as_slice(), other.as_slice()), ([1].as_slice(), [1, 2].as_slice()));
    }
}
