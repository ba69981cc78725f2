//! Figures that the load generator, not the server, set: lower bounds of what the server could do.

use stats::Verdict;

use super::prepared::{Prepared, SideValue};

/// Sides whose figures are lower bounds: what is above them is not known.
pub struct Bound {
    arm: bool,
    base: bool,
    /// Their names.
    pub sides: Vec<String>,
}

impl Bound {
    pub fn between(
        arm: (&Prepared<'_>, &SideValue<'_, '_>),
        base: (&Prepared<'_>, &SideValue<'_, '_>),
    ) -> Option<Bound> {
        let is_bound = |said: &SideValue<'_, '_>| matches!(said, SideValue::Measured(row) if row.is_bound());
        let sides = [base, arm].into_iter().filter(|(_, said)| is_bound(said));
        let sides: Vec<String> = sides.map(|(side, _)| side.side.name.clone()).collect();
        (!sides.is_empty()).then(|| Bound { arm: is_bound(arm.1), base: is_bound(base.1), sides })
    }

    /// Without the bound the difference would only be larger.
    pub fn understates(&self, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::Better => self.arm && !self.base,
            Verdict::Worse => self.base && !self.arm,
            _ => false,
        }
    }
}
