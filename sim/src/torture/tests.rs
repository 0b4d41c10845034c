use super::*;

#[test]
fn a_seed_is_a_function() {
    for seed in 0..8 {
        let request = Request::new(seed);
        let (one, two) = (run(&request), traced(&request));
        assert_eq!(one.digest, two.digest, "seed {seed}");
        assert!(one.trace.is_empty() && !two.trace.is_empty());
    }
}
