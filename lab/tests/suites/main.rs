//! The program from outside, and its centralised schedulers.

mod central;
mod desk;
mod papers;
mod program;
mod sweeps;
