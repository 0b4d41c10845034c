//! Statistics for the figures of the papers.

use crate::results::{Distribution, Row};

/// A percentage; zero if the whole is zero.
pub(crate) fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        100.0 * part / whole
    } else {
        0.0
    }
}

/// The mean of some numbers; `None` if there are none.
pub(crate) fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Pearson's coefficient of correlation; `None` if one side does not vary.
pub(crate) fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean_x = pairs.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = pairs.iter().map(|(_, y)| y).sum::<f64>() / n;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Spearman's coefficient of rank correlation; equal numbers share their mean rank. `None` if one side does not vary.
pub(crate) fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let left = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let right = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let ranked: Vec<(f64, f64)> = left.into_iter().zip(right).collect();
    pearson(&ranked)
}

/// The rank of each number, from 1; equal numbers share their mean rank.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| numbers[a] == numbers[b]) {
        let last = first + equal.len();
        // They have ranks first + 1 to last.
        let shared = (first + 1 + last) as f64 / 2.0;
        for &index in equal {
            ranks[index] = shared;
        }
        first = last;
    }
    ranks
}

/// Values whose keys lie between a power of two and the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    /// The lower bound of keys, included.
    pub from: u64,
    /// The upper bound of keys, left out.
    pub until: u64,
    /// How many values there are.
    pub count: u64,
    /// The distribution of the values.
    pub values: Distribution,
}

/// Values in bins by the power of two below their key; empty bins and keys of zero are left out.
pub(crate) fn log_bins(pairs: impl IntoIterator<Item = (u64, f64)>) -> Vec<Bin> {
    let mut bins = vec![Vec::new(); 64];
    for (key, value) in pairs {
        if let Some(power) = key.checked_ilog2() {
            bins[power as usize].push(value);
        }
    }
    let bins = (0_u32..).zip(bins);
    bins.filter_map(|(power, values)| {
        Some(Bin {
            from: 1 << power,
            until: 1_u64.checked_shl(power + 1).unwrap_or(u64::MAX),
            count: values.len() as u64,
            values: Distribution::of(values)?,
        })
    })
    .collect()
}

/// The windows within the middle half of the time between the first and the last submission, all in seconds. An
/// overloaded grid is full in these windows, and stays full.
pub(crate) fn middle_half(series: &[Row], window: f64, first: f64, last: f64) -> &[Row] {
    let quarter = (last - first) / 4.0;
    let (from, until) = (first + quarter, last - quarter);
    let begin = series.partition_point(|row| row.time < from);
    let end = series.partition_point(|row| row.time + window <= until);
    series.get(begin..end).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_equal_numbers_are_shared() {
        assert_eq!(ranks(&[30.0, 10.0, 20.0, 10.0]), [4.0, 1.5, 3.0, 1.5]);
        assert_eq!(ranks(&[5.0; 3]), [2.0; 3]);
        assert!(ranks(&[]).is_empty());
    }

    #[test]
    fn spearman_of_a_textbook_case_with_ties() {
        // Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: covariance 4.5, variances 4.5 and 5.
        let pairs = [(1.0, 10.0), (2.0, 30.0), (2.0, 20.0), (9.0, 40.0)];
        let expected = 4.5 / (4.5_f64 * 5.0).sqrt();
        assert!((spearman(&pairs).unwrap() - expected).abs() < 1e-12);
        let falling: Vec<(f64, f64)> = (0..50).map(|n| (f64::from(n), f64::from(-n * n))).collect();
        assert_eq!(spearman(&falling), Some(-1.0));
        assert_eq!(spearman(&[]), None);
        assert_eq!(spearman(&[(1.0, 2.0)]), None);
    }

    #[test]
    fn bins_lie_between_powers_of_two() {
        let bins = log_bins([(1, 1.0), (4, 5.0), (7, 9.0), (8, 2.0), (0, 100.0)]);
        let short: Vec<(u64, u64, u64, f64)> = bins
            .iter()
            .map(|bin| (bin.from, bin.until, bin.count, bin.values.mean))
            .collect();
        assert_eq!(short, [(1, 2, 1, 1.0), (4, 8, 2, 7.0), (8, 16, 1, 2.0)]);
        assert_eq!(bins[1].values.median, 5.0);
        assert_eq!(log_bins([(u64::MAX, 1.0)])[0].until, u64::MAX);
    }

    #[test]
    fn a_grid_counts_as_full_in_the_middle_half_of_submissions() {
        let rows: Vec<Row> = (0..20)
            .map(|hour| Row {
                time: f64::from(hour) * 10.0,
                requested_utilization: 1.2,
                effective_utilization: 0.9,
                queue_length: 0,
                idle_nodes: 0,
                messages: 0,
            })
            .collect();
        let times = |first, last| {
            let rows = middle_half(&rows, 10.0, first, last);
            rows.iter().map(|row| row.time).collect::<Vec<f64>>()
        };
        assert_eq!(times(0.0, 80.0), [20.0, 30.0, 40.0, 50.0]);
        // Windows that are only partly in it are left out.
        assert_eq!(times(4.0, 84.0), [30.0, 40.0, 50.0]);
        assert_eq!(times(0.0, 10.0), Vec::<f64>::new());
        // The series ends before the middle half begins.
        assert_eq!(times(0.0, 1000.0), Vec::<f64>::new());
    }
}
