//! Groups of equal nodes, and groups of which one is slower: how often a healthy node is called odd, and how often the
//! sick one is. Seeded; `docs/statistics.md` has the table.

use std::fmt::Write as _;

use stats::Rng;
use stats::odd::{OddRule, odd};

/// How the figures of healthy nodes spread.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    draw: fn(&mut Rng) -> f64,
    /// Spread of what all figures of a node share.
    shared: f64,
}

/// With a spread of 3 %.
const WORLDS: [World; 6] = [
    World { name: "normal, 3 %", draw: |rng| 0.03 * rng.normal(), shared: 0.0 },
    World { name: "normal, 0.5 %", draw: |rng| 0.005 * rng.normal(), shared: 0.0 },
    World { name: "2 % of each node, 2 % of each figure", draw: |rng| 0.02 * rng.normal(), shared: 0.02 },
    World { name: "skewed (exponential)", draw: |rng| -0.03 * rng.exponential(), shared: 0.0 },
    World { name: "heavy tails (Student, 5)", draw: |rng| 0.03 * rng.student(5.0) / 1.29, shared: 0.0 },
    World {
        name: "disturbed: one in 20 by 10 %",
        draw: |rng| 0.03 * rng.normal() - if rng.below(20) == 0 { 0.1 } else { 0.0 },
        shared: 0.0,
    },
];

const SIZES: [usize; 5] = [5, 8, 16, 44, 132];
const FIGURES: usize = 14;

/// Shares of healthy nodes that are called odd, and of sick ones, of which each group has one, slower by `sick`.
fn named(world: World, nodes: usize, sick: f64, groups: usize, seed: u64) -> (f64, f64) {
    let mut rng = Rng::new(seed);
    let (mut healthy, mut told) = (0, 0);
    for _ in 0..groups {
        let shared: Vec<f64> = (0..nodes).map(|_| world.shared * rng.normal()).collect();
        let slower = |node: usize| if node == 0 { sick } else { 0.0 };
        let figures: Vec<Vec<Option<f64>>> = (0..FIGURES)
            .map(|_| {
                (0..nodes).map(|node| Some(shared[node] + (world.draw)(&mut rng) + slower(node))).collect()
            })
            .collect();
        let found = odd(&figures, OddRule::NODES);
        let mut names: Vec<usize> = found.apart.iter().map(|one| one.node).collect();
        names.dedup();
        told += usize::from(names.contains(&0));
        healthy += names.iter().filter(|node| **node != 0).count();
    }
    (healthy as f64 / (groups * (nodes - 1)) as f64, told as f64 / groups as f64)
}

fn groups(nodes: usize) -> usize {
    (12_000 / nodes).max(200)
}

#[test]
fn at_most_one_healthy_node_in_a_hundred_is_called_odd() {
    for (seed, world) in (300..).zip(WORLDS) {
        for nodes in SIZES {
            let (healthy, _) = named(world, nodes, 0.0, groups(nodes), seed);
            // Room for chance: three standard deviations of 12,000 nodes at 1 %.
            assert!(healthy <= 0.013, "{}, {nodes} nodes: {healthy}", world.name);
        }
    }
}

#[test]
fn a_node_that_is_much_slower_is_told_and_its_neighbours_are_not() {
    for (nodes, sick, least) in [(8, -0.7, 0.99), (16, -0.3, 0.99), (44, -0.3, 0.99), (132, -0.3, 0.99)] {
        let (healthy, told) = named(WORLDS[0], nodes, sick, groups(nodes), 310);
        assert!(told >= least && healthy <= 0.01, "{nodes} nodes: {told}, {healthy}");
    }
}

/// The table of `docs/statistics.md`, see `worlds::tables`.
pub(crate) fn table(out: &mut String) {
    let _ = writeln!(
        out,
        "\n| healthy nodes called odd, % | {} |",
        SIZES.map(|n| format!("{n} nodes")).join(" | ")
    );
    let _ = writeln!(out, "| --- |{}", " ---: |".repeat(SIZES.len()));
    for (seed, world) in (300..).zip(WORLDS) {
        let cells =
            SIZES.map(|nodes| format!("{:.2}", 100.0 * named(world, nodes, 0.0, 4 * groups(nodes), seed).0));
        let _ = writeln!(out, "| {} | {} |", world.name, cells.join(" | "));
    }
    for (share, sick) in [("10 %", -0.105), ("20 %", -0.223), ("half", -0.693)] {
        let cells =
            SIZES.map(|nodes| format!("{:.0}", 100.0 * named(WORLDS[0], nodes, sick, groups(nodes), 320).1));
        let _ = writeln!(out, "| slower by {share}: told | {} |", cells.join(" | "));
    }
}
