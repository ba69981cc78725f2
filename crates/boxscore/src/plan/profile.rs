//! Which loads `--profile` samples the server in.

use model::plan::{PROFILE, Profiled};
use model::{Arm, Cell, card};

use crate::error::CliError;

/// Connections of a load that is profiled, where there are several.
const TYPICAL: f64 = 50.0;
/// Profiles of one arm: each takes some seconds.
const MOST_PROFILES: usize = 4;
/// The option of the cards whose server can be sampled.
pub const FLAG: &str = "profile";

/// Chooses the cells that are profiled, those that show most of what is served: of each content and way of connecting
/// the closed loop whose connections are nearest to [`TYPICAL`]. Fails when no server can be sampled.
pub fn choose(cells: &[Cell], arms: &mut [Arm], what: Profiled) -> Result<(), CliError> {
    let number = |cell: &Cell| cell.params.get("connections").and_then(|text| text.parse::<f64>().ok());
    let far = |cell: &Cell| {
        let open = if cell.params.get("arrivals") == Some("closed") { 0.0 } else { 100.0 };
        open + number(cell).map_or(50.0, |connections| (connections / TYPICAL).ln().abs())
    };
    let kind =
        |cell: &Cell| ["url", "content", "keepalive"].map(|key| cell.params.get(key).map(str::to_owned));
    let has_profile = |cell: &Cell| {
        card::find(instruments::cards(), &cell.instrument).is_some_and(|card| card.flag(FLAG).is_some())
    };
    let mut best: Vec<(u32, &Cell)> = Vec::new();
    for (index, cell) in (0u32..).zip(cells).filter(|(_, cell)| has_profile(cell)) {
        match best.iter_mut().find(|(_, other)| kind(other) == kind(cell)) {
            Some(known) if far(cell) < far(known.1) => *known = (index, cell),
            Some(_) => {}
            None => best.push((index, cell)),
        }
    }
    if best.is_empty() {
        return Err(CliError::usage("--profile samples a web server: this run has none")
            .hint("boxscore run web --profile"));
    }
    let numbers: Vec<u32> = best.iter().take(MOST_PROFILES).map(|(index, _)| *index).collect();
    arms.iter_mut().for_each(|arm| arm.set.set(PROFILE, &what.cells(&numbers)));
    Ok(())
}
