//! `gridweave torture`.

use crate::desk::{Desk, json};

#[test]
fn torture_says_what_it_ran_and_replays_a_seed() {
    let desk = Desk::new();
    let text = desk.good("torture --seeds 0..4");
    for word in ["4 runs", "jobs taken", "nothing broke", "job: finished"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let replay = "torture --seed 2 --without loss,liars --nodes 5 --jobs 3 --trace";
    let trace = desk.good(replay);
    for word in ["is told Submit", "digest", "3 taken"] {
        assert!(trace.contains(word), "{word}: {trace}");
    }
    assert_eq!(trace, desk.good(replay));
    let told = json(&desk.good("torture --seeds 0..2 --json"));
    assert_eq!(told["runs"], 2);
    assert_eq!(told["failing_seeds"], serde_json::json!([]));
    let last = "18446744073709551613..18446744073709551615";
    let text = desk.good(&format!("torture --seeds {last}"));
    assert!(text.contains("2 runs"), "{text}");
    for (name, wrong) in [
        ("random", "random cannot be tortured"),
        ("asp", "there is no scheduler 'asp'"),
    ] {
        let line = desk.bad(&format!("torture --scheduler {name}"));
        let all = format!("{wrong}; choose one of asap, criteria, aria, desktop");
        assert!(line.contains(&all), "{line}");
    }
    let line = desk.bad("torture --seeds 5..5");
    assert!(line.contains("5..5 names no seed"), "{line}");
    let help = desk.good("torture --help");
    for word in [
        "far-clocks",
        "one-execution",
        "keeps state, bounded, outcome",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
