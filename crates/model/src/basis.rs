//! How a published figure came about: measured by a test, or not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::words! {
    /// How a published figure came about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Basis as word {
        #[default]
        Measured = "measured",
        /// Seen in daily work, not in a test.
        Production = "production",
        /// Told without saying how it was measured.
        Stated = "stated",
        /// Estimated from other figures.
        Estimate = "estimate",
    }
}

impl Basis {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(crate) fn is_measured(&self) -> bool {
        *self == Basis::Measured
    }

    /// The words of warning about a figure that no test measured; `None` of one that a test did.
    pub const fn caveat(self) -> Option<&'static str> {
        match self {
            Basis::Measured => None,
            Basis::Production => Some("seen in production, not measured by a test"),
            Basis::Stated => Some("stated without the conditions of its measurement"),
            Basis::Estimate => Some("an estimate, not a measurement"),
        }
    }
}
