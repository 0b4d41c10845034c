mod network;
mod overlays;
mod units;
