//! TDD cells and the cells of a layout with their UEs, from RLC to RLC.

mod multicell;
mod tdd;
