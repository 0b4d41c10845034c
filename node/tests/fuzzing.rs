//! The fuzz targets of the node, on their seeds and on seeded changes of these.

#![allow(missing_docs, unused_crate_dependencies)]

use std::fs;
use std::path::Path;

use gridweave_node::fuzzing::TARGETS;

/// How many changes of each seed are tried.
const CHANGES: usize = 60;

struct Choices(u64);

impl Choices {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % most.max(1)
    }
}

#[test]
fn no_bytes_make_a_node_panic_and_the_seeds_are_understood() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    for (name, target) in TARGETS {
        let (mut understood, mut refused) = (0, 0);
        let mut files: Vec<_> = fs::read_dir(seeds.join(name)).unwrap().collect();
        files.sort_by_key(|file| file.as_ref().unwrap().path());
        for file in files {
            let seed = fs::read(file.unwrap().path()).unwrap();
            let mut choices = Choices(seed.len() as u64);
            understood += usize::from(target(&seed));
            for _ in 0..CHANGES {
                let mut bytes = seed.clone();
                for _ in 0..=choices.below(3) {
                    let at = choices.below(bytes.len() + 1);
                    match choices.below(3) {
                        0 => bytes.truncate(at),
                        1 => bytes.insert(at, choices.below(256) as u8),
                        _ if at < bytes.len() => bytes[at] = choices.below(256) as u8,
                        _ => {}
                    }
                }
                refused += usize::from(!target(&bytes));
            }
        }
        assert!(
            understood > 0 && refused > 0,
            "{name}: {understood} and {refused}"
        );
    }
}
