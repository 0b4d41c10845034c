//! The network, as a part of a configuration.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use gridweave_core::time::Span;
pub use gridweave_sim::network::Partition;
use gridweave_sim::network::{self, Delay, Network, Plane, RoundTrips};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::setting::{keys, kinds, record};
use crate::unreadable::advice;

/// The settings of a network; delays may come from files or from the seed.
pub type NetworkConfig = network::NetworkConfig<DelayConfig>;

keys!(NetworkConfig {
    delay,
    loss,
    duplication,
    reordering,
    held_up,
    report_unreachable,
    partitions,
});

record!(Partition { from, until, nodes });

/// How long messages travel between nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum DelayConfig {
    /// No time at all, as some papers assume. Messages of one instant still arrive one after the other.
    #[default]
    Zero,
    /// The same time for all messages.
    Constant {
        /// The time.
        delay: Span,
    },
    /// A random time between two bounds, drawn for each message.
    Uniform {
        /// The shortest time.
        min: Span,
        /// The longest time.
        max: Span,
    },
    /// The distance between the points of the two nodes; the seed draws the points in a square.
    Plane {
        /// The side of the square.
        side: Span,
    },
    /// The distance between the points of the two nodes, in milliseconds. Points come from a file: `x y` on each line,
    /// or OverSim's XML. Nodes beyond the last point begin again with the first.
    Coordinates {
        /// The file; may be compressed with gzip.
        file: PathBuf,
    },
    /// Half of a measured round-trip time, from a file with a square matrix of milliseconds. Nodes beyond its size
    /// begin again with the first row.
    Matrix {
        /// The file; may be compressed with gzip.
        file: PathBuf,
    },
}

kinds!(DelayConfig by "kind" {
    Zero {} = "zero",
    Constant { delay } = "constant",
    Uniform { min, max } = "uniform",
    Plane { side } = "plane",
    Coordinates { file } = "coordinates",
    Matrix { file } = "matrix",
});

impl DelayConfig {
    /// The file that delays are read from, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Coordinates { file } | Self::Matrix { file } => Some(file),
            _ => None,
        }
    }

    /// The same, mutable.
    pub(crate) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Coordinates { file } | Self::Matrix { file } => Some(file),
            _ => None,
        }
    }

    /// Reads the points or the matrix from the file, or draws the points.
    fn delay(&self, nodes: u32, rng: &mut Xoshiro256PlusPlus) -> Result<Delay, NetworkError> {
        Ok(match self {
            Self::Zero => Delay::Constant(Span::ZERO),
            Self::Constant { delay } => Delay::Constant(*delay),
            Self::Uniform { min, max } => Delay::Uniform {
                min: *min,
                max: *max,
            },
            Self::Plane { side } => Delay::Plane(Arc::new(Plane::generate(nodes, *side, rng))),
            Self::Coordinates { file } => Delay::Plane(Arc::new(read_plane(file)?)),
            Self::Matrix { file } => Delay::Matrix(Arc::new(read_round_trips(file)?)),
        })
    }
}

/// Why a network is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The settings contradict each other.
    #[error(transparent)]
    Refused(#[from] network::NetworkError),
    /// A file cannot be read.
    #[error("{}: cannot be read ({error}); {}", file.display(), advice(error, "check the path and that the file is whole"))]
    Unreadable {
        /// The file that cannot be read.
        file: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A file does not hold points or a matrix.
    #[error("{}: {what}", file.display())]
    Malformed {
        /// The malformed file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

/// Refuses settings that are wrong for any files and any number of nodes.
pub(crate) fn check(config: &NetworkConfig) -> Result<(), network::NetworkError> {
    let delay = match config.delay {
        DelayConfig::Uniform { min, max } => Delay::Uniform { min, max },
        _ => Delay::default(),
    };
    config.with_delay(delay).check()
}

/// A network for so many nodes. The seed decides what is random. Reads the files that the settings name.
pub(crate) fn connect(
    config: &NetworkConfig,
    nodes: u32,
    seed: u64,
) -> Result<Network, NetworkError> {
    check(config)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let config = config.with_delay(config.delay.delay(nodes, &mut rng)?);
    Ok(Network::drawing(&config, rng)?)
}

/// Reads points from a file.
pub(crate) fn read_plane(file: &Path) -> Result<Plane, NetworkError> {
    read_with(file, Plane::parse)
}

/// Reads a matrix of round-trip times from a file.
pub(crate) fn read_round_trips(file: &Path) -> Result<RoundTrips, NetworkError> {
    read_with(file, RoundTrips::parse)
}

fn read_with<T>(file: &Path, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, NetworkError> {
    let malformed = |what| NetworkError::Malformed {
        file: file.into(),
        what,
    };
    parse(&read_text(file)?).map_err(malformed)
}

/// The most bytes of a file of points, after unpacking; a larger file is refused.
const MOST_BYTES: u64 = 256 << 20;

fn read_text(file: &Path) -> Result<String, NetworkError> {
    let unreadable = |error| NetworkError::Unreadable {
        file: file.into(),
        error,
    };
    let is_stream = |data: std::fs::Metadata| !data.is_file() && !data.is_dir();
    if std::fs::metadata(file).is_ok_and(is_stream) {
        return Err(NetworkError::Malformed {
            file: file.into(),
            what: "is a pipe or a device, and is read more than once; save it to a file first"
                .into(),
        });
    }
    let mut bytes = BufReader::new(File::open(file).map_err(unreadable)?);
    let packed = bytes
        .fill_buf()
        .map_err(unreadable)?
        .starts_with(&[0x1f, 0x8b]);
    let text = if packed {
        limited(MultiGzDecoder::new(bytes))
    } else {
        limited(bytes)
    };
    text.map_err(unreadable)?
        .ok_or_else(|| NetworkError::Malformed {
            file: file.into(),
            what: "is larger than 256 MiB; give fewer places".into(),
        })
}

/// Reads all text, or returns `None` if it is too large.
fn limited(from: impl Read) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    from.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    Ok(Some(text).filter(|text| text.len() as u64 <= MOST_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridweave_core::time::Time;

    #[test]
    fn missing_files_and_devices_are_refused_by_name() {
        let refused = |delay| {
            let config = NetworkConfig {
                delay,
                ..NetworkConfig::default()
            };
            connect(&config, 2, 1).unwrap_err().to_string()
        };
        let file = "no/such/file".into();
        assert!(refused(DelayConfig::Matrix { file }).contains("no/such/file"));
        let file = "/dev/zero".into();
        #[cfg(unix)]
        assert!(refused(DelayConfig::Matrix { file }).contains("/dev/zero: is a pipe or a device"));
    }

    #[test]
    fn the_same_seed_gives_the_same_places() {
        let config = NetworkConfig {
            delay: DelayConfig::Plane {
                side: Span::from_millis(100),
            },
            loss: 0.5,
            ..NetworkConfig::default()
        };
        let arrivals = |seed| -> Vec<Vec<Time>> {
            let mut network = connect(&config, 2, seed).unwrap();
            let sent = (0..100).map(|_| network.transmit(Time::ZERO, 0, 1).collect());
            sent.collect()
        };
        assert_eq!(arrivals(1), arrivals(1));
        assert_ne!(arrivals(1), arrivals(2));
    }
}
