//! Ratios per price and per watt of a judged row.
//!
//! Only figures of the whole machine have them, and of targets the rate that they answer. Goodness is the ratio where
//! higher is better and its inverse where lower is. Hourly and purchase prices are never mixed unless a life in hours
//! turns the one into the other; currencies never are.

use model::data::Price;
use model::doc::{RowDoc, VerdictWord};
use model::{Better, Card, Params, Role, Scope, card};
use stats::Verdict;

use super::side::{CompareOptions, Side};

/// True of a figure that a price buys: one of the whole machine, and of a target the rate that it answers.
pub fn is_bought(card: &Card, metric: &str, params: &Params, of_targets: bool) -> bool {
    let is_rate = match card.role {
        Role::Load { rate } | Role::Search { rate, .. } => rate == metric,
        Role::Plain => false,
    };
    card.scope(metric, params) == Some(Scope::WholeMachine) || of_targets && is_rate
}

/// Fills in what a row is worth for its price and its power, if it is of the whole machine: that is what a price buys.
pub fn price(row: &mut RowDoc, arm: &Side<'_>, base: &Side<'_>, options: &CompareOptions) {
    let of_targets = arm.target().is_some() && base.target().is_some();
    let card = card::find(options.cards, &row.instrument);
    if !card.is_some_and(|card| is_bought(card, &row.metric, &row.params, of_targets)) {
        return;
    }
    let goodness = row.ratio.map(|ratio| if row.better == Better::Lower { 1.0 / ratio } else { ratio });
    let per = |cost: Option<f64>| Some(goodness? / cost?).filter(|value| value.is_finite());
    row.per_price = per(price_ratio(arm, base, options.life_hours).ok());
    row.per_watt = per(watt_ratio(arm, base));
}

/// Which way is good; of what has no direction, more.
pub const fn way(better: Better) -> stats::Better {
    match better {
        Better::Lower => stats::Better::Lower,
        Better::Higher | Better::Neither => stats::Better::Higher,
    }
}

/// The word of the documents.
pub const fn word(verdict: Verdict) -> VerdictWord {
    match verdict {
        Verdict::Better => VerdictWord::Better,
        Verdict::Worse => VerdictWord::Worse,
        Verdict::Tie => VerdictWord::Tie,
        Verdict::CannotTell(_) => VerdictWord::CannotTell,
        Verdict::Invalid => VerdictWord::Invalid,
    }
}

/// Price of the arm over that of the base, or why there is none.
pub fn price_ratio(arm: &Side<'_>, base: &Side<'_>, life_hours: Option<f64>) -> Result<f64, String> {
    let missing = |side: &Side<'_>| format!("the price of {} is unknown", side.name);
    let of_arm = arm.price.as_ref().ok_or_else(|| missing(arm))?;
    let of_base = base.price.as_ref().ok_or_else(|| missing(base))?;
    if of_arm.currency != of_base.currency {
        return Err(format!("prices are in {} and {}", of_arm.currency, of_base.currency));
    }
    if of_arm.hourly == of_base.hourly {
        return positive(of_arm.amount / of_base.amount);
    }
    let Some(hours) = life_hours.filter(|hours| *hours > 0.0 && hours.is_finite()) else {
        return Err(
            "one price is by the hour and the other a purchase: give --life to compare them".to_owned()
        );
    };
    let hourly = |price: &Price| if price.hourly { price.amount } else { price.amount / hours };
    positive(hourly(of_arm) / hourly(of_base))
}

fn positive(ratio: f64) -> Result<f64, String> {
    if ratio.is_finite() && ratio > 0.0 {
        Ok(ratio)
    } else {
        Err("a price is not a positive number".to_owned())
    }
}

fn watt_ratio(arm: &Side<'_>, base: &Side<'_>) -> Option<f64> {
    Some(arm.watts? / base.watts?).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}
