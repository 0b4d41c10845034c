mod heirs;
mod network;
mod overlays;
mod shapes;
mod takeover;
mod units;
