//! Where nodes are: points in a plane, or rows of a measured matrix.

use gridweave_core::rand_core::Rng;
use gridweave_core::time::Span;

use super::below;

/// Milliseconds as text to whole microseconds, if it is a number of a sensible size.
fn micros(text: &str) -> Option<i64> {
    let millis: f64 = text.parse().ok()?;
    let micros = (millis * 1000.0).round();
    (micros.abs() < 1e12).then_some(micros as i64)
}

/// Points in a plane, in microseconds of delay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plane {
    points: Vec<[i64; 2]>,
}

impl Plane {
    /// Points drawn evenly from a square with this side.
    pub fn generate(nodes: u32, side: Span, rng: &mut impl Rng) -> Self {
        // An hour of delay is far enough, and keeps squares of distances within 64 bits.
        let side = side.as_micros().min(3_600_000_000);
        let mut coordinate = || below(rng, side.saturating_add(1)) as i64;
        let points = (0..nodes.max(1))
            .map(|_| [coordinate(), coordinate()])
            .collect();
        Self { points }
    }

    /// Points around sites. The sites are drawn evenly from a square with this side; a point is at most `around` away
    /// from its site in each direction.
    pub fn around_sites(
        nodes: u32,
        sites: u32,
        side: Span,
        around: Span,
        rng: &mut impl Rng,
    ) -> Self {
        let sites = Self::generate(sites, side, rng).points;
        let around = around.as_micros().min(3_600_000_000);
        let points = (0..nodes.max(1)).map(|_| {
            let [x, y] = sites[below(rng, sites.len() as u64) as usize];
            let mut aside = || below(rng, 2 * around + 1) as i64 - around as i64;
            [x + aside(), y + aside()]
        });
        Self {
            points: points.collect(),
        }
    }

    /// Where a node is, in microseconds; nodes beyond the last point begin again with the first.
    pub fn point(&self, node: u32) -> [i64; 2] {
        self.points[node as usize % self.points.len()]
    }

    /// Points from a text: OverSim's XML, or two numbers on each line, in milliseconds.
    pub fn parse(text: &str) -> Result<Self, String> {
        let xml = text.trim_start().starts_with('<');
        let mut numbers = Vec::new();
        if xml {
            for part in text.split("<coord>").skip(1) {
                let number = part.split('<').next().unwrap_or_default().trim();
                numbers.push(
                    micros(number)
                        .ok_or_else(|| format!("'{}' is no coordinate", short(number)))?,
                );
            }
        } else {
            for (line, content) in text.lines().enumerate() {
                if content.trim().is_empty() || content.starts_with('#') {
                    continue;
                }
                let pair: Option<Vec<i64>> = content.split_whitespace().map(micros).collect();
                match pair.as_deref() {
                    Some(&[x, y]) => numbers.extend([x, y]),
                    _ => {
                        return Err(format!(
                            "line {} does not hold two numbers; give 'x y' in milliseconds",
                            line + 1
                        ));
                    }
                }
            }
        }
        let (points, []) = numbers.as_chunks::<2>() else {
            return Err("an odd number of coordinates; only two dimensions are understood".into());
        };
        if points.is_empty() {
            return Err("no coordinates in it; give 'x y' on each line, or OverSim's XML".into());
        }
        Ok(Self {
            points: points.to_vec(),
        })
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none; never so.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The delay between two nodes: an integer square root, so that it is the same on every machine.
    pub fn distance(&self, from: u32, to: u32) -> Span {
        let ([ax, ay], [bx, by]) = (self.point(from), self.point(to));
        let square = |a: i64, b: i64| u128::from(a.abs_diff(b)).pow(2);
        let square = square(ax, bx) + square(ay, by);
        // A root of 64 bits takes a fifth of the time of one of 128, and there is one for each message.
        let root = u64::try_from(square).map_or_else(|_| square.isqrt() as u64, u64::isqrt);
        Span::from_micros(root)
    }
}

/// A measured matrix, as one-way delays in microseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoundTrips {
    size: usize,
    one_way: Vec<u32>,
}

impl RoundTrips {
    /// A square of round-trip times in milliseconds.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut one_way = Vec::new();
        let (mut size, mut rows) = (0, 0);
        for (line, content) in text.lines().enumerate() {
            let before = one_way.len();
            for number in content.split_whitespace() {
                let round_trip = micros(number)
                    .and_then(|micros| u64::try_from(micros).ok())
                    .and_then(|micros| u32::try_from(micros / 2).ok());
                one_way.push(round_trip.ok_or_else(|| {
                    format!(
                        "line {}: '{}' is no round-trip time; give milliseconds with spaces in between",
                        line + 1,
                        short(number)
                    )
                })?);
            }
            let columns = one_way.len() - before;
            if columns == 0 {
                continue;
            }
            if rows == 0 {
                size = columns;
            } else if columns != size {
                return Err(format!(
                    "line {} has {columns} numbers, and the first has {size}; give as many in each",
                    line + 1
                ));
            }
            rows += 1;
        }
        if rows == 0 || rows != size {
            return Err(format!(
                "{rows} rows of {size} numbers; a square of round-trip times is wanted"
            ));
        }
        Ok(Self { size, one_way })
    }

    /// How many places were measured.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether there are none; never so.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The delay between two nodes.
    pub fn one_way(&self, from: u32, to: u32) -> Span {
        let (row, column) = (from as usize % self.size, to as usize % self.size);
        Span::from_micros(u64::from(self.one_way[row * self.size + column]))
    }
}

fn short(text: &str) -> String {
    text.chars().take(30).collect()
}
