//! Checks of every instrument, and of the inventory of known machines and of this one.

mod inventory_tree;

mod cards;
mod every;
mod inventory;
mod inventory_fuzz;
mod inventory_live;
mod sheets;
