//! Figures per price and per watt of a judged row, and their ratios.
//!
//! Only figures of the whole machine and rates of servers have them. Goodness is the ratio where higher is better and
//! its inverse where lower is. Hourly and purchase prices are never mixed unless a life in hours turns the one into the
//! other; currencies never are.

use model::data::Price;
use model::doc::{RowDoc, VerdictWord, WorthDoc};
use model::{Better, card};
use stats::Verdict;

use super::side::{CompareOptions, Side};

/// Fills in what a row is worth for its price and its power, if it is one that a price buys: of the whole machine, or
/// the rate of a server.
pub fn price(row: &mut RowDoc, arm: &Side<'_>, base: &Side<'_>, options: &CompareOptions) {
    let card = card::find(options.cards, &row.instrument);
    if !card.is_some_and(|card| card.is_bought(&row.metric, &row.params)) {
        return;
    }
    let goodness = row.ratio.map(|ratio| if row.better == Better::Lower { 1.0 / ratio } else { ratio });
    let per = |cost: Option<f64>| Some(goodness? / cost?).filter(|value| value.is_finite());
    row.per_price = per(price_ratio(arm, base, options.life_hours).ok());
    row.per_watt = per(watt_ratio(arm, base));
    row.worth = worth(row, arm, base, options);
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
    let (of_arm, of_base, _) = prices(arm, base, life_hours)?;
    positive(of_arm / of_base)
}

/// The prices of both sides in one unit, and that unit; or why they do not mix.
fn prices(arm: &Side<'_>, base: &Side<'_>, life_hours: Option<f64>) -> Result<(f64, f64, String), String> {
    let missing = |side: &Side<'_>| format!("the price of {} is unknown", side.name);
    let of_arm = arm.price.as_ref().ok_or_else(|| missing(arm))?;
    let of_base = base.price.as_ref().ok_or_else(|| missing(base))?;
    if of_arm.currency != of_base.currency {
        return Err(format!("prices are in {} and {}", of_arm.currency, of_base.currency));
    }
    let currency = &of_arm.currency;
    match (of_arm.hourly, of_base.hourly) {
        (false, false) => return Ok((of_arm.amount, of_base.amount, currency.clone())),
        (true, true) => return Ok((of_arm.amount, of_base.amount, format!("{currency}/h"))),
        _ => {}
    }
    let Some(hours) = life_hours.filter(|hours| *hours > 0.0 && hours.is_finite()) else {
        return Err(
            "one price is by the hour and the other a purchase: give --life to compare them".to_owned()
        );
    };
    let hourly = |price: &Price| if price.hourly { price.amount } else { price.amount / hours };
    Ok((hourly(of_arm), hourly(of_base), format!("{currency}/h")))
}

/// The rates of both sides by their price and their power; a wait is no amount that can be bought.
fn worth(row: &RowDoc, arm: &Side<'_>, base: &Side<'_>, options: &CompareOptions) -> Option<WorthDoc> {
    if row.better != Better::Higher || row.ratio.is_none() {
        return None;
    }
    let per = |value: Option<f64>, cost: f64| Some(value? / cost).filter(|value| value.is_finite());
    let mut worth = WorthDoc::default();
    if let Ok((of_arm, of_base, unit)) = prices(arm, base, options.life_hours) {
        worth.arm_per_price = per(row.arm_value, of_arm);
        worth.base_per_price = per(row.base_value, of_base);
        worth.price = Some(unit);
    }
    if let (Some(of_arm), Some(of_base)) = (arm.watts, base.watts) {
        worth.arm_per_watt = per(row.arm_value, of_arm);
        worth.base_per_watt = per(row.base_value, of_base);
    }
    (worth != WorthDoc::default()).then_some(worth)
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
