mod network;
mod overlays;
