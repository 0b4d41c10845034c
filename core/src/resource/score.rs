use core::cmp::Ordering;

/// The fixed point of a utilisation: 32 binary places.
const ONE: u64 = 1 << 32;

/// How well a job would fill a node: the product of balance and fullness measure, smaller is better (PROTOCOLS 5).
///
/// With `u_k` the utilisation of resource `k` were the job running, and K resources in all:
/// `avg = (1/K)·Σ u_k`, `BM = max u_k / avg` (1 is perfectly balanced, K the worst), `FM = 1 - avg` (0 is full).
///
/// Edge cases: nothing used at all (or no resource configured) has `BM = 1`; an exactly full node has `FM = 0` and so
/// the best product, 0. Order: smaller product, then smaller BM. Callers break remaining ties by arrival.
///
/// Utilisations are rounded down to 32 binary places, and everything after that is exact: the order does not depend on
/// the platform nor on the order of the dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Score {
    resources: u64,
    max: u64,
    sum: u64,
}

impl Score {
    /// The score of a node whose resources would be used this much, each as (used, total).
    ///
    /// Used is cut to total, and a resource of which there is nothing counts as unused.
    pub fn of(utilisations: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut score = Self {
            resources: 0,
            max: 0,
            sum: 0,
        };
        for (used, total) in utilisations.into_iter().take(super::MAX_DIMENSIONS) {
            let part = match u128::from(used.min(total)) << 32_u32 {
                0 => 0,
                scaled => scaled.checked_div(u128::from(total)).unwrap_or(0) as u64,
            };
            score.resources = score.resources.saturating_add(1);
            score.max = score.max.max(part);
            score.sum = score.sum.saturating_add(part);
        }
        score
    }

    /// BM: the highest utilisation over the average.
    pub fn balance(&self) -> f64 {
        let (max, sum) = self.balance_fraction();
        max as f64 / sum as f64
    }

    /// FM: one less the average utilisation.
    pub fn fullness(&self) -> f64 {
        match self.resources {
            0 => 1.0,
            resources => 1.0 - self.sum as f64 / (resources.saturating_mul(ONE)) as f64,
        }
    }

    /// BM·FM, which is `max·(K - sum)/sum`.
    pub fn product(&self) -> f64 {
        let (numerator, denominator) = self.product_fraction();
        numerator as f64 / denominator as f64 / ONE as f64
    }

    /// The product times 2^32: at most 2^67 over at most 2^35, so that two of them multiply crosswise within 128 bits.
    fn product_fraction(&self) -> (u128, u128) {
        if self.sum == 0 {
            return (u128::from(ONE), 1);
        }
        let left = self.resources.saturating_mul(ONE).saturating_sub(self.sum);
        (
            u128::from(self.max).saturating_mul(u128::from(left)),
            u128::from(self.sum),
        )
    }

    fn balance_fraction(&self) -> (u128, u128) {
        if self.sum == 0 {
            return (1, 1);
        }
        let max = u128::from(self.max).saturating_mul(u128::from(self.resources));
        (max, u128::from(self.sum))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.product_fraction(), other.product_fraction())
            .then_with(|| compare(self.balance_fraction(), other.balance_fraction()))
            // Equal so far means equal altogether, unless the two have different numbers of resources.
            .then_with(|| self.resources.cmp(&other.resources))
            .then_with(|| (self.max, self.sum).cmp(&(other.max, other.sum)))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare(a: (u128, u128), b: (u128, u128)) -> Ordering {
    a.0.saturating_mul(b.1).cmp(&b.0.saturating_mul(a.1))
}
