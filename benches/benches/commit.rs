//! The table of `docs/reference/commit.md`: `cargo bench -p gridweave-benches --bench commit`. It counts and does not
//! time, so it is the same on every machine.

use gridweave_benches::commit::measure;

fn main() {
    println!(
        "\n| nodes | messages until placed | until all may start | bytes in all | round trips until placed |"
    );
    println!("|---|---|---|---|---|");
    for nodes in [1, 8, 64, 256] {
        let cost = measure(nodes);
        println!(
            "| {nodes} | {} | {} | {} | {} |",
            cost.to_placed, cost.to_permitted, cost.bytes, cost.round_trips
        );
    }
}
