//! The configurations of overlays.

use gridweave_core::overlay::{blatant, can, cyclon, vicinity, vivaldi};

use super::{Span, accepts, micros, millis, refuses, seconds};

#[test]
fn cyclon_refuses_what_is_out_of_bounds() {
    for config in [
        cyclon::Config::DEFAULT,
        cyclon::Config::LAN,
        cyclon::Config::WAN,
    ] {
        assert_eq!(config.checked::<20, 8>(), Ok(config));
    }
    accepts(
        cyclon::Config::DEFAULT,
        cyclon::Config::checked::<20, 8>,
        &[
            |c| (c.view, c.shuffle) = (1, 1),
            |c| c.view = 8,
            |c| c.shuffle = 1,
            |c| (c.period, c.timeout) = (micros(256), micros(255)),
            |c| c.period = Span::MAX,
            |c| c.timeout = micros(1),
            |c| c.timeout = micros(9_999_999),
            |c| c.walk = 0,
            |c| c.walk = u8::MAX,
            |c| c.patience = 1,
            |c| c.patience = u8::MAX,
            |c| c.remember = 1,
            |c| c.remember = u16::MAX,
            |c| c.samples = cyclon::MOST_SAMPLES as u8,
        ],
    );
    refuses(
        cyclon::Config::DEFAULT,
        cyclon::Config::checked::<20, 8>,
        &[
            (
                |c| c.view = 0,
                "view is 0; at least 1, or the node has no links",
            ),
            (
                |c| c.view = 21,
                "view is 21; at most 20, the parameter C of Cyclon<C, L>",
            ),
            (
                |c| c.shuffle = 0,
                "shuffle is 0; at least 1, or nothing is exchanged",
            ),
            (|c| c.view = 7, "shuffle is 8; at most 7, view"),
            (
                |c| c.shuffle = 9,
                "shuffle is 9; at most 8, the parameter L of Cyclon<C, L>",
            ),
            (
                |c| c.period = micros(255),
                "period is 0.000255s; at least 0.000256s, or all nodes begin at once",
            ),
            (
                |c| c.timeout = Span::ZERO,
                "timeout is 0s; more than 0s, or no answer arrives in time",
            ),
            (
                |c| c.timeout = seconds(10),
                "timeout is 10s; less than 10s, period",
            ),
            (
                |c| c.patience = 0,
                "patience is 0; at least 1, or a node asks for links before it can have any",
            ),
            (
                |c| c.remember = 0,
                "remember is 0; at least 1, or contacts are written all the time",
            ),
            (
                |c| c.samples = cyclon::MOST_SAMPLES as u8 + 1,
                "samples is 33; at most 32, MOST_SAMPLES",
            ),
        ],
    );
}

#[test]
fn vicinity_refuses_what_is_out_of_bounds() {
    for config in [
        vicinity::Config::DEFAULT,
        vicinity::Config::LAN,
        vicinity::Config::WAN,
    ] {
        assert_eq!(config.checked::<20, 10>(), Ok(config));
    }
    accepts(
        vicinity::Config::DEFAULT,
        vicinity::Config::checked::<20, 10>,
        &[
            |c| c.links = 1,
            |c| c.gossip = 1,
            |c| (c.period, c.timeout) = (micros(256), micros(255)),
            |c| c.period = Span::MAX,
            |c| c.timeout = micros(1),
            |c| c.timeout = micros(9_999_999),
            |c| c.max_age = 1,
            |c| c.max_age = u16::MAX,
        ],
    );
    refuses(
        vicinity::Config::DEFAULT,
        vicinity::Config::checked::<20, 10>,
        &[
            (
                |c| c.links = 0,
                "links is 0; at least 1, or the node has no links",
            ),
            (
                |c| c.links = 21,
                "links is 21; at most 20, the parameter V of Vicinity<P, D, V, G, R>",
            ),
            (
                |c| c.gossip = 0,
                "gossip is 0; at least 1, the node's own descriptor",
            ),
            (
                |c| c.gossip = 11,
                "gossip is 11; at most 10, the parameter G of Vicinity<P, D, V, G, R>",
            ),
            (
                |c| c.period = micros(255),
                "period is 0.000255s; at least 0.000256s, or all nodes begin at once",
            ),
            (
                |c| c.timeout = Span::ZERO,
                "timeout is 0s; more than 0s, or no answer arrives in time",
            ),
            (
                |c| c.timeout = seconds(10),
                "timeout is 10s; less than 10s, period",
            ),
            (
                |c| c.max_age = 0,
                "max_age is 0; at least 1, or every descriptor is too old",
            ),
        ],
    );
}

#[test]
fn can_refuses_what_is_out_of_bounds() {
    for config in [can::Config::DEFAULT, can::Config::LAN, can::Config::WAN] {
        assert_eq!(config.checked::<2>(), Ok(config));
    }
    accepts(
        can::Config::DEFAULT,
        can::Config::checked::<2>,
        &[
            |c| c.virtual_dimensions = 0,
            |c| c.virtual_dimensions = 2,
            |c| c.period = micros(256),
            |c| c.period = Span::MAX,
            |c| c.patience = 1,
            |c| (c.patience, c.memory) = (u8::MAX - 1, u8::MAX),
            |c| c.grace = Span::ZERO,
            |c| c.spread = Span::ZERO,
            |c| c.confirmation = micros(1),
            |c| c.memory = 4,
            |c| c.timeout = micros(1),
            |c| c.hops = 1,
            |c| c.listed = 0,
            |c| c.farewell = 0,
        ],
    );
    refuses(
        can::Config::DEFAULT,
        can::Config::checked::<2>,
        &[
            (
                |c| c.virtual_dimensions = 3,
                "virtual_dimensions is 3; at most 2, the parameter D of Can<D>",
            ),
            (
                |c| c.period = micros(255),
                "period is 0.000255s; at least 0.000256s, or all nodes begin at once",
            ),
            (
                |c| c.patience = 0,
                "patience is 0; at least 1, or every neighbour is missed",
            ),
            (
                |c| c.confirmation = Span::ZERO,
                "confirmation is 0s; more than 0s, or no peer can object",
            ),
            (
                |c| c.memory = 3,
                "memory is 3; more than 3, patience: or a gone peer is forgotten before it is missed",
            ),
            (
                |c| c.timeout = Span::ZERO,
                "timeout is 0s; more than 0s, or no zone arrives in time",
            ),
            (
                |c| c.hops = 0,
                "hops is 0; at least 1, or no request reaches another node",
            ),
        ],
    );
}

#[test]
fn blatant_refuses_what_is_out_of_bounds() {
    for config in [
        blatant::Config::DEFAULT,
        blatant::Config::LAN,
        blatant::Config::WAN,
    ] {
        assert_eq!(config.checked(), Ok(config));
    }
    accepts(
        blatant::Config::DEFAULT,
        blatant::Config::checked,
        &[
            |c| (c.diameter, c.detour) = (2, 2),
            |c| c.diameter = u8::MAX,
            |c| c.detour = 2,
            |c| c.detour = 8,
            |c| (c.links, c.optimising) = (2, 0),
            |c| c.links = blatant::MOST_LINKS as u8,
            |c| c.optimising = 8,
            |c| c.lifespan = 1,
            |c| c.memory = 1,
            |c| c.memory = blatant::MOST_RECORDS as u8,
            |c| c.birth = 0,
            |c| c.birth = 1000,
            |c| c.decay = 0,
            |c| c.decay = 999,
            |c| c.faint = 1,
            |c| c.faint = 999,
            |c| c.patience = 1,
            |c| c.period = micros(256),
            |c| c.timeout = micros(1),
            |c| c.remember = 1,
        ],
    );
    refuses(
        blatant::Config::DEFAULT,
        blatant::Config::checked,
        &[
            (
                |c| c.diameter = 1,
                "diameter is 1; at least 2, or all nodes are linked to all others",
            ),
            (
                |c| c.detour = 1,
                "detour is 1; at least 2, the shortest way around a link",
            ),
            (
                |c| c.detour = 9,
                "detour is 9; less than 9, 2 diameter - 1: or links come and go for ever",
            ),
            (
                |c| c.links = 1,
                "links is 1; at least 2, or the overlay falls apart",
            ),
            (|c| c.links = 17, "links is 17; at most 16, MOST_LINKS"),
            (|c| c.optimising = 9, "optimising is 9; at most 8, links"),
            (
                |c| c.lifespan = 0,
                "lifespan is 0; at least 1, or ants do not walk",
            ),
            (
                |c| c.memory = 0,
                "memory is 0; at least 1, or ants bring nothing",
            ),
            (|c| c.memory = 33, "memory is 33; at most 32, MOST_RECORDS"),
            (
                |c| c.birth = 1001,
                "birth is 1001; at most 1000, thousandths of one",
            ),
            (
                |c| c.decay = 1000,
                "decay is 1000; less than 1000, thousandths of one: or no pheromone fades",
            ),
            (
                |c| c.faint = 0,
                "faint is 0; at least 1, or no neighbour is pinged",
            ),
            (
                |c| c.faint = 1000,
                "faint is 1000; less than 1000, thousandths of one: or every neighbour is pinged all the time",
            ),
            (
                |c| c.patience = 0,
                "patience is 0; at least 1, or a neighbour is lost before it can answer",
            ),
            (
                |c| c.period = micros(255),
                "period is 0.000255s; at least 0.000256s, or all nodes begin at once",
            ),
            (
                |c| c.timeout = Span::ZERO,
                "timeout is 0s; more than 0s, or no answer arrives in time",
            ),
            (
                |c| c.remember = 0,
                "remember is 0; at least 1, or contacts are written all the time",
            ),
        ],
    );
}

#[test]
fn vivaldi_refuses_what_is_out_of_bounds() {
    assert_eq!(
        vivaldi::Config::DEFAULT.checked(),
        Ok(vivaldi::Config::DEFAULT)
    );
    accepts(
        vivaldi::Config::STEADY,
        vivaldi::Config::checked,
        &[
            |c| c.gain = 0,
            |c| (c.gain, c.haste) = (1000, 1000),
            |c| c.haste = 1000,
            |c| c.learning = 0,
            |c| c.learning = 1000,
            |c| c.floor = micros(1),
            |c| c.floor = vivaldi::MAX_ROUND_TRIP,
            |c| c.step = Span::ZERO,
            |c| c.step = vivaldi::MAX_ROUND_TRIP,
        ],
    );
    refuses(
        vivaldi::Config::STEADY,
        vivaldi::Config::checked,
        &[
            (
                |c| c.gain = 1001,
                "gain is 1001; at most 1000, thousandths of one",
            ),
            (|c| c.haste = 249, "haste is 249; at least 250, gain"),
            (
                |c| c.haste = 1001,
                "haste is 1001; at most 1000, thousandths of one",
            ),
            (
                |c| c.learning = 1001,
                "learning is 1001; at most 1000, thousandths of one",
            ),
            (
                |c| c.floor = Span::ZERO,
                "floor is 0s; more than 0s, or two nodes may be at one place",
            ),
            (
                |c| c.floor = vivaldi::MAX_ROUND_TRIP + millis(500),
                "floor is 10.500000s; at most 10s, MAX_ROUND_TRIP",
            ),
            (
                |c| c.step = vivaldi::MAX_ROUND_TRIP + millis(500),
                "step is 10.500000s; at most 10s, MAX_ROUND_TRIP",
            ),
        ],
    );
}
