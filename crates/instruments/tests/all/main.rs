//! What holds for every instrument, and the inventory of known and of this machine.

mod inventory_tree;

mod cards;
mod every;
mod inventory;
mod inventory_fuzz;
mod inventory_live;
mod sheets;
