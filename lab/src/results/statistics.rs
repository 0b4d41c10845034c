//! Summaries of many numbers.

use serde::{Deserialize, Serialize};

/// The mean, some percentiles and the maximum of a set of numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Distribution {
    /// The distribution of these numbers; `None` if there are none.
    ///
    /// A percentile is the smallest of the numbers that so many of a hundred do not exceed.
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_unstable_by(f64::total_cmp);
        let &max = numbers.last()?;
        let rank = |percent: usize| {
            let rank = (numbers.len() * percent).div_ceil(100);
            numbers[rank.max(1) - 1]
        };
        Some(Self {
            mean: numbers.iter().sum::<f64>() / numbers.len() as f64,
            median: rank(50),
            p95: rank(95),
            p99: rank(99),
            max,
        })
    }
}

/// A mean over several runs, with its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean over the runs.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval; zero for a single run.
    pub ci95: f64,
}

/// Student's t for a confidence of 95 %, two-sided, for 1 to 30 degrees of freedom.
const T95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

impl Estimate {
    /// The estimate from one number per run; zero if there are none.
    pub fn of(numbers: &[f64]) -> Self {
        let n = numbers.len() as f64;
        if numbers.is_empty() {
            return Self {
                mean: 0.0,
                ci95: 0.0,
            };
        }
        let mean = numbers.iter().sum::<f64>() / n;
        let degrees = numbers.len() - 1;
        if degrees == 0 {
            return Self { mean, ci95: 0.0 };
        }
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        let deviation = (squares / degrees as f64).sqrt();
        // Beyond the table: the value for 31 degrees up to 60, then the value for 60. Both are on the safe side.
        let t = T95
            .get(degrees - 1)
            .copied()
            .unwrap_or(if degrees <= 60 { 2.040 } else { 2.0 });
        Self {
            mean,
            ci95: t * deviation / n.sqrt(),
        }
    }
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = f.precision().unwrap_or(2);
        write!(f, "{:.digits$}", self.mean)?;
        if self.ci95 > 0.0 {
            write!(f, " ± {:.digits$}", self.ci95)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_members() {
        let distribution = Distribution::of((1..=200).rev().map(f64::from).collect());
        let expected = Distribution {
            mean: 100.5,
            median: 100.0,
            p95: 190.0,
            p99: 198.0,
            max: 200.0,
        };
        assert_eq!(distribution, Some(expected));
        assert_eq!(Distribution::of(Vec::new()), None);
        let one = Distribution::of(vec![7.0]).unwrap();
        assert_eq!(
            (one.mean, one.median, one.p99, one.max),
            (7.0, 7.0, 7.0, 7.0)
        );
    }

    #[test]
    fn a_confidence_interval_follows_students_t() {
        // Mean 3, deviation sqrt(2.5), t = 2.776.
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(estimate.mean, 3.0);
        assert!((estimate.ci95 - 2.776 * 2.5_f64.sqrt() / 5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(
            Estimate::of(&[4.0]),
            Estimate {
                mean: 4.0,
                ci95: 0.0
            }
        );
        assert_eq!(format!("{estimate:.1}"), "3.0 ± 2.0");
        assert_eq!(format!("{:.1}", Estimate::of(&[4.0])), "4.0");
    }
}
