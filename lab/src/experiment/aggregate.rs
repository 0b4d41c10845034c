//! Joins the summaries of several runs.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::results::{Estimate, Summary};

/// What `summary.json` has of so many wanted runs: the summary of one run as it is; of several, means with confidence
/// intervals and the number of runs.
pub fn join(summaries: &[&Summary], wanted: u32) -> serde_json::Result<Value> {
    let values = summaries
        .iter()
        .map(serde_json::to_value)
        .collect::<Result<Vec<Value>, _>>()?;
    if let (1, [one]) = (wanted, values.as_slice()) {
        return Ok(one.clone());
    }
    let mut joined = aggregate(&values);
    joined["partial"] = json!(is_partial(summaries, wanted));
    joined["runs"] = json!({ "wanted": wanted, "made": summaries.len() });
    Ok(joined)
}

/// Whether a run is missing or was stopped.
pub fn is_partial(summaries: &[&Summary], wanted: u32) -> bool {
    summaries.len() < wanted as usize || summaries.iter().any(|summary| summary.partial)
}

/// Joins the summaries of several runs. Each number becomes its mean and the half-width of its 95 % confidence
/// interval. Equal values stay; other values become a list. Runs without a figure are left out of its mean.
pub fn aggregate(summaries: &[Value]) -> Value {
    let Some(first) = summaries.iter().find(|summary| !summary.is_null()) else {
        return Value::Null;
    };
    match first {
        Value::Object(_) => {
            let joined = names(summaries).into_iter().map(|key| {
                let values: Vec<Value> = summaries
                    .iter()
                    .map(|summary| summary.get(key).cloned().unwrap_or(Value::Null))
                    .collect();
                // Seeds and digests identify runs; a mean of them says nothing.
                let value = match key.as_str() {
                    "seed" | "digest" => Value::Array(values),
                    "reasons" => tally(&values),
                    _ => aggregate(&values),
                };
                (key.clone(), value)
            });
            Value::Object(joined.collect::<Map<_, _>>())
        }
        Value::Number(_) => {
            let numbers: Vec<f64> = summaries.iter().filter_map(Value::as_f64).collect();
            let Estimate { mean, ci95 } = Estimate::of(&numbers);
            json!({ "mean": mean, "ci95": ci95 })
        }
        _ if summaries.iter().all(|summary| summary == first) => first.clone(),
        _ => Value::Array(summaries.to_vec()),
    }
}

/// The names that any of some objects has.
fn names(objects: &[Value]) -> BTreeSet<&String> {
    let fields = objects.iter().filter_map(Value::as_object);
    fields.flat_map(Map::keys).collect()
}

/// Joins counts by name. A run that does not have a name has counted none of it.
fn tally(runs: &[Value]) -> Value {
    let joined = names(runs).into_iter().map(|name| {
        let count = |run: &Value| run.get(name).cloned().unwrap_or_else(|| json!(0));
        let counts: Vec<Value> = runs.iter().map(count).collect();
        (name.clone(), aggregate(&counts))
    });
    Value::Object(joined.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_estimates_and_the_rest_stays() {
        let runs =
            [1, 3].map(|n| json!({ "name": "a", "seed": n, "x": { "y": n }, "flag": n == 1 }));
        let joined = aggregate(&runs);
        assert_eq!(joined["name"], "a");
        assert_eq!(joined["seed"], json!([1, 3]));
        assert_eq!(joined["x"]["y"]["mean"], 2.0);
        assert!((joined["x"]["y"]["ci95"].as_f64().unwrap() - 12.706).abs() < 1e-9);
        assert_eq!(joined["flag"], json!([true, false]));
        let no_job_ran = [json!({ "wait": null }), json!({ "wait": { "mean": 4.0 } })];
        assert_eq!(aggregate(&no_job_ran)["wait"]["mean"]["mean"], 4.0);
        assert_eq!(aggregate(&no_job_ran[..1])["wait"], Value::Null);
        let of_one_size = [json!({ "2": { "n": 1 } }), json!({ "4": { "n": 3 } })];
        assert_eq!(aggregate(&of_one_size)["4"]["n"]["mean"], 3.0);
        let reasons = [
            json!({ "reasons": {} }),
            json!({ "reasons": { "NoStart": 4 } }),
        ];
        assert_eq!(aggregate(&reasons)["reasons"]["NoStart"]["mean"], 2.0);
    }
}
