//! The cost of runs by the number of nodes.

use serde::Serialize;

use super::rounded;

/// The cost of one run. Figures that the operating system does not give are missing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Measured {
    /// How many nodes there were.
    pub nodes: u64,
    /// Seconds of processor time.
    pub cpu_s: Option<f64>,
    /// The most memory that it had, in bytes.
    pub peak_rss_bytes: Option<f64>,
    /// Messages per node and hour.
    pub messages: Option<f64>,
    /// How many events there were.
    pub events: Option<f64>,
}

/// One figure against the number of nodes, on logarithmic axes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct CostCurve {
    /// The name of the figure.
    pub figure: &'static str,
    /// What these runs have in common.
    pub name: String,
    /// Nodes and figure of each run, by the number of nodes. Only positive values fit on a logarithmic axis.
    pub points: Vec<(u64, f64)>,
    /// The slope of the best fit on these axes: the figure grows with this power of the number of nodes.
    pub exponent: Option<f64>,
}

/// The name of a figure, and how to get it from a run.
type Figure = (&'static str, fn(&Measured) -> Option<f64>);

const FIGURES: [Figure; 4] = [
    ("cpu_s", |run| run.cpu_s),
    ("peak_rss_bytes", |run| run.peak_rss_bytes),
    ("messages_per_node_hour", |run| run.messages),
    ("events", |run| run.events),
];

impl CostCurve {
    /// All figures of these runs. Runs with the same name are on the same curve.
    pub(crate) fn of(runs: &[(String, Measured)]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in runs {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let figures = FIGURES.into_iter();
        let each = figures.flat_map(|figure| names.iter().map(move |name| (figure, *name)));
        let curves = each.map(|((figure, value), name)| {
            let own = runs.iter().filter(|(other, _)| other == name);
            let points = own.filter_map(|(_, run)| Some((run.nodes, value(run)?)));
            let mut points: Vec<(u64, f64)> = points
                .filter(|(nodes, value)| *nodes > 0 && *value > 0.0)
                .collect();
            points.sort_by_key(|(nodes, _)| *nodes);
            Self {
                figure,
                name: name.to_owned(),
                exponent: exponent(&points),
                points,
            }
        });
        curves.collect()
    }
}

/// The slope of the least-squares line on logarithmic axes; `None` for fewer than three points.
fn exponent(points: &[(u64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let logs = || points.iter().map(|(x, y)| ((*x as f64).ln(), y.ln()));
    let count = points.len() as f64;
    let mean_x = logs().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs().map(|(_, y)| y).sum::<f64>() / count;
    let both: f64 = logs().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let across: f64 = logs().map(|(x, _)| (x - mean_x).powi(2)).sum();
    // If all runs have the same number of nodes, there is no slope. Adding zero turns -0.00 into 0.00.
    (across > 1e-9).then(|| rounded(both / across, 2) + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_power_law_give_its_exponent() {
        for power in [-0.5, 0.0, 1.0, 1.25, 2.0] {
            let at = |nodes: u64| (nodes, 7.0 * (nodes as f64).powf(power));
            assert_eq!(exponent(&[at(10), at(300), at(5000)]), Some(power));
        }
        let hardly_falling = [(1, 1.0), (10, 0.999), (100, 0.998)];
        assert_eq!(format!("{:.2?}", exponent(&hardly_falling)), "Some(0.00)");
        // The best fit goes through none of these points; its slope is that from the first to the last.
        let around = [(1, 1.0), (10, 20.0), (100, 100.0)];
        assert_eq!(exponent(&around), Some(1.0));
    }

    #[test]
    fn few_points_and_equal_sizes_give_no_exponent() {
        assert_eq!(exponent(&[(10, 1.0), (100, 10.0)]), None);
        assert_eq!(exponent(&[(10, 1.0), (10, 2.0), (10, 3.0)]), None);
    }

    #[test]
    fn each_line_has_its_own_points_in_order_without_what_is_missing() {
        let run = |name: &str, nodes: u64, cpu_s: Option<f64>| {
            let measured = Measured {
                nodes,
                cpu_s,
                messages: Some(0.0),
                ..Measured::default()
            };
            (name.to_owned(), measured)
        };
        let curves = CostCurve::of(&[
            run("asap", 100, Some(4.0)),
            run("aria", 10, Some(1.0)),
            run("asap", 10, Some(2.0)),
            run("asap", 1000, None),
        ]);
        assert_eq!(curves.len(), 8);
        let [asap, aria] = &curves[..2] else {
            panic!("{curves:?}");
        };
        assert_eq!((asap.figure, asap.name.as_str()), ("cpu_s", "asap"));
        assert_eq!(asap.points, [(10, 2.0), (100, 4.0)]);
        assert_eq!(aria.points, [(10, 1.0)]);
        assert!(curves[2..].iter().all(|curve| curve.points.is_empty()));
    }
}
