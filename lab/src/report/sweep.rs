//! A sweep, as points of charts.

use serde::Serialize;
use serde_json::Value;

use super::CostCurve;

/// A sweep, for one chart per key that it varies.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Sweep {
    /// The varied keys.
    pub keys: Vec<String>,
    /// The names of the figures of each run.
    pub figures: Vec<String>,
    /// The runs.
    pub points: Vec<SweepPoint>,
    /// How many runs are missing because the sweep was stopped.
    pub missing: usize,
    /// The cost of runs by the number of nodes; empty unless it was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostCurve>,
}

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct SweepPoint {
    /// Its folder.
    pub folder: String,
    /// Its value of each key, as text.
    pub values: Vec<String>,
    /// Its figures.
    pub figures: Vec<Value>,
    /// Its digest.
    pub digest: String,
}
