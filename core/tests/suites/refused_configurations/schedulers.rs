//! The configurations of whole schedulers, and what a node is built from beside them.

use gridweave_core::commit::{Everyone, Overrun, Permission};
use gridweave_core::config::ConfigError;
use gridweave_core::id::NodeId;
use gridweave_core::overlay::{blatant, cyclon, vivaldi};
use gridweave_core::profile::Profile;
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Kind, Speed};
use gridweave_core::scheduler::{Bootstrap, aria, asap, criteria, desktop};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Span, accepts, micros, refuses, seconds};

const ME: NodeId = NodeId::new(3);
const PEER: NodeId = NodeId::new(4);

// What fits is known when it is compiled.
const _: () = assert!(asap::Config::DEFAULT.checked::<20, 8>().is_ok());
const _: () = assert!(asap::Config::DEFAULT.checked::<4, 2>().is_err());
const _: () = assert!(criteria::Config::DEFAULT.checked::<20, 8, 10>().is_ok());
const _: () = assert!(aria::Config::DEFAULT.checked().is_ok());

#[test]
fn asap_refuses_what_is_out_of_bounds() {
    use asap::{Config, Exchange};
    for config in [Config::DEFAULT, Config::LAN, Config::WAN, Config::PAPER] {
        assert_eq!(config.checked::<20, 8>(), Ok(config));
    }
    accepts(
        Config::DEFAULT,
        Config::checked::<20, 8>,
        &[
            |c| c.forward = 1,
            |c| c.max_hops = 1,
            |c| c.breadth = 1,
            |c| c.width = 1,
            |c| c.slot = micros(1),
            |c| c.lead = seconds(5),
            |c| c.lead = Span::MAX,
            |c| c.horizon = Span::ZERO,
            |c| c.rounds = 1,
            |c| c.improve = Some(c.timeout),
            |c| c.patience = Span::MAX,
            |c| c.margin = Span::from_secs(86_400),
            |c| (c.improve, c.patience) = (None, Span::ZERO),
            |c| c.timeout = micros(1),
            |c| (c.timeout, c.search_limit) = (seconds(10), seconds(10)),
            |c| c.exchange = Exchange::Push { lease: seconds(6) },
            |c| c.exchange = Exchange::Push { lease: Span::MAX },
            |c| c.exchange = Exchange::Poll { period: micros(1) },
            |c| c.exchange = Exchange::Pull,
            |c| {
                c.commit.overrun = Overrun::Extend {
                    by: seconds(120),
                    times: 1,
                }
            },
            |c| (c.windows, c.subscribers) = (1, 1),
            |c| (c.searches, c.candidates) = (1, 1),
        ],
    );
    refuses(
        Config::DEFAULT,
        Config::checked::<20, 8>,
        &[
            (
                |c| c.overlay.view = 21,
                "overlay.view is 21; at most 20, the parameter C of Asap<C, L>",
            ),
            (
                |c| c.overlay.shuffle = 9,
                "overlay.shuffle is 9; at most 8, the parameter L of Asap<C, L>",
            ),
            (
                |c| c.commit.grace = Span::ZERO,
                "commit.grace is 0s; more than 5s, lease: or a job is given up while its time is voted on",
            ),
            (
                |c| c.forward = 0,
                "forward is 0; at least 1, or no node searches",
            ),
            (
                |c| c.max_hops = 0,
                "max_hops is 0; at least 1, or there are no candidates",
            ),
            (
                |c| c.breadth = 0,
                "breadth is 0; at least 1, or there are no candidates",
            ),
            (
                |c| c.width = 0,
                "width is 0; at least 1, or no node is asked",
            ),
            (
                |c| c.slot = Span::ZERO,
                "slot is 0s; more than 0s, or jobs have no length",
            ),
            (
                |c| c.lead = micros(4_999_999),
                "lead is 4.999999s; at least 5s, commit.lead: or a placement is found too late to be confirmed",
            ),
            (
                |c| c.rounds = 0,
                "rounds is 0; at least 1, or no search begins",
            ),
            (
                |c| c.improve = Some(micros(1_999_999)),
                "improve is 1.999999s; at least 2s, timeout: or searches follow each other without end",
            ),
            (
                |c| c.margin = micros(86_400_000_001),
                "margin is 86400.000001s; at most 86400s, a day: no start is later than that",
            ),
            (
                |c| c.improve = None,
                "patience is 86400s; at most 0s, improve is None: no search would find it a place later",
            ),
            (
                |c| c.timeout = Span::ZERO,
                "timeout is 0s; more than 0s, or no answer arrives in time",
            ),
            (
                |c| c.search_limit = micros(1_999_999),
                "search_limit is 1.999999s; at least 2s, timeout: or a search ends before its first answer",
            ),
            (
                |c| {
                    c.exchange = Exchange::Push {
                        lease: micros(5_999_999),
                    }
                },
                "exchange.lease is 5.999999s; at least 6s, three times timeout: or it ends before it is renewed",
            ),
            (
                |c| c.exchange = Exchange::Poll { period: Span::ZERO },
                "exchange.period is 0s; more than 0s, or neighbours are asked without a pause",
            ),
            (
                |c| {
                    c.commit.overrun = Overrun::Extend {
                        by: micros(1_500_000),
                        times: 1,
                    }
                },
                "commit.overrun.by is 1.500000s; a multiple of 1s, slot",
            ),
            (
                |c| c.windows = 0,
                "windows is 0; at least 1, or every node counts as busy for ever",
            ),
            (
                |c| c.subscribers = 0,
                "subscribers is 0; at least 1, or no node is told of changes",
            ),
            (
                |c| c.searches = 0,
                "searches is 0; at least 1, or no node searches",
            ),
            (
                |c| c.candidates = 0,
                "candidates is 0; at least 1, or no search can succeed",
            ),
        ],
    );
}

#[test]
fn a_small_asap_says_which_parameter_the_default_configuration_does_not_fit() {
    let built = |config| {
        let node = asap::Asap::<4, 2>::new(ME, config, Bootstrap::Alone, Everyone);
        node.map(|_| ()).map_err(|error| error.to_string())
    };
    let mut config = asap::Config::DEFAULT;
    let text = "overlay.view is 20; at most 4, the parameter C of Asap<C, L>";
    assert_eq!(built(config), Err(text.into()));
    config.overlay.view = 4;
    config.overlay.shuffle = 4;
    let text = "overlay.shuffle is 4; at most 2, the parameter L of Asap<C, L>";
    assert_eq!(built(config), Err(text.into()));
    config.overlay.shuffle = 2;
    assert_eq!(built(config), Ok(()));
}

#[test]
fn criteria_refuses_what_is_out_of_bounds() {
    use criteria::{Config, Coordinates};
    for config in [Config::DEFAULT, Config::LAN, Config::WAN] {
        assert_eq!(config.checked::<20, 8, 10>(), Ok(config));
    }
    accepts(
        Config::DEFAULT,
        Config::checked::<20, 8, 10>,
        &[
            |c| c.alpha = 100,
            |c| c.alpha = u16::MAX,
            |c| c.iterations = 1,
            |c| c.parallel = 1,
            |c| c.pause = Span::ZERO,
            |c| c.width = 1,
            |c| c.slot = micros(1),
            |c| c.lead = seconds(5),
            |c| c.horizon = Span::ZERO,
            |c| c.rounds = 1,
            |c| (c.breadth, c.reach) = (0, 0),
            |c| c.improve = Some(c.timeout),
            |c| c.patience = Span::MAX,
            |c| (c.improve, c.patience) = (None, Span::ZERO),
            |c| c.margin = Span::from_secs(86_400),
            |c| c.timeout = micros(1),
            |c| (c.windows, c.candidates) = (1, 1),
            |c| c.coordinates = Coordinates::Learned(vivaldi::Config::DEFAULT),
            // Without helpers their configuration does not matter.
            |c| (c.helpers, c.helper.links) = ([None; 4], 0),
        ],
    );
    refuses(
        Config::DEFAULT,
        Config::checked::<20, 8, 10>,
        &[
            (
                |c| c.overlay.view = 21,
                "overlay.view is 21; at most 20, the parameter C of Criteria<C, L, G>",
            ),
            (
                |c| c.overlay.shuffle = 9,
                "overlay.shuffle is 9; at most 8, the parameter L of Criteria<C, L, G>",
            ),
            (
                |c| c.helper.links = 21,
                "helper.links is 21; at most 20, the parameter C of Criteria<C, L, G>",
            ),
            (
                |c| c.helper.gossip = 11,
                "helper.gossip is 11; at most 10, the parameter G of Criteria<C, L, G>",
            ),
            (
                |c| c.helper.period = seconds(11),
                "helper.period is 11s; only 10s, overlay.period: ages count the cycles of both",
            ),
            (
                |c| c.commit.permission = Permission::Renewed(seconds(8)),
                "commit.permission is 8s; at least 9s, three times twice max_delay and max_skew: or it ends before it is renewed",
            ),
            (
                |c| c.select.population = 1,
                "select.population is 1; at least 2, the parents of a set",
            ),
            (
                |c| {
                    let gain = 1001;
                    let config = vivaldi::Config {
                        gain,
                        ..vivaldi::Config::DEFAULT
                    };
                    c.coordinates = Coordinates::Learned(config);
                },
                "coordinates.gain is 1001; at most 1000, thousandths of one",
            ),
            (
                |c| c.alpha = 99,
                "alpha is 99; at least 100, hundredths of one: or fewer nodes are found than wanted",
            ),
            (
                |c| c.iterations = 0,
                "iterations is 0; at least 1, or no search begins",
            ),
            (
                |c| c.parallel = 0,
                "parallel is 0; at least 1, or no search begins",
            ),
            (
                |c| c.width = 0,
                "width is 0; at least 1, or no node is asked",
            ),
            (
                |c| c.slot = Span::ZERO,
                "slot is 0s; more than 0s, or jobs have no length",
            ),
            (
                |c| c.lead = seconds(4),
                "lead is 4s; at least 5s, commit.lead: or a placement is found too late to be confirmed",
            ),
            (
                |c| c.rounds = 0,
                "rounds is 0; at least 1, or no search begins",
            ),
            (
                |c| c.improve = Some(micros(1_999_999)),
                "improve is 1.999999s; at least 2s, timeout: or iterations follow each other without end",
            ),
            (
                |c| c.improve = None,
                "patience is 86400s; at most 0s, improve is None: no iteration would find it a place later",
            ),
            (
                |c| c.margin = micros(86_400_000_001),
                "margin is 86400.000001s; at most 86400s, a day: no start is later than that",
            ),
            (
                |c| c.timeout = Span::ZERO,
                "timeout is 0s; more than 0s, or no answer arrives in time",
            ),
            (
                |c| c.windows = 0,
                "windows is 0; at least 1, or every node counts as busy for ever",
            ),
            (
                |c| c.candidates = 0,
                "candidates is 0; at least 1, or no search can succeed",
            ),
        ],
    );
}

#[test]
fn aria_refuses_what_is_out_of_bounds() {
    use aria::{Config, Overlay, Rescheduling};
    for config in [Config::DEFAULT, Config::LAN, Config::WAN] {
        assert_eq!(config.checked(), Ok(config));
    }
    accepts(
        Config::DEFAULT,
        Config::checked,
        &[
            // A site that asks no other.
            |c| (c.request.ttl, c.inform.ttl) = (0, 0),
            |c| (c.request.fan_out, c.inform.fan_out) = (0, 0),
            |c| c.window = micros(4_500_000),
            |c| c.max_delay = Span::ZERO,
            |c| c.rounds = 1,
            |c| c.pause = Span::ZERO,
            |c| c.rescheduling = None,
            |c| {
                let (period, jobs, threshold) = (micros(5_000_001), 1, Span::ZERO);
                c.rescheduling = Some(Rescheduling {
                    period,
                    jobs,
                    adverts: aria::Adverts::Promising,
                    threshold,
                });
            },
            |c| c.lease = seconds(27),
            |c| c.max_skew = seconds(200),
            |c| c.retry = micros(1),
            |c| c.retention = seconds(3),
            |c| (c.tasks, c.held) = (0, 0),
            |c| c.floods = 1,
            // A flood of one hop does not come back.
            |c| (c.request.ttl, c.inform.ttl, c.floods) = (1, 1, 0),
            |c| c.overlay = Overlay::Fixed,
            |c| c.overlay = Overlay::Cyclon(cyclon::Config::LAN),
        ],
    );
    refuses(
        Config::DEFAULT,
        Config::checked,
        &[
            (
                |c| {
                    let links = 1;
                    c.overlay = Overlay::Blatant(blatant::Config {
                        links,
                        ..blatant::Config::DEFAULT
                    });
                },
                "overlay.links is 1; at least 2, or the overlay falls apart",
            ),
            (
                |c| {
                    let view = 21;
                    c.overlay = Overlay::Cyclon(cyclon::Config {
                        view,
                        ..cyclon::Config::DEFAULT
                    });
                },
                "overlay.view is 21; at most 20, the most links of a site over Cyclon",
            ),
            (
                |c| (c.window, c.max_delay) = (Span::ZERO, Span::ZERO),
                "window is 0s; more than 0s, or no offer arrives in time",
            ),
            (
                |c| c.window = micros(4_499_999),
                "window is 4.499999s; at least 4.500000s, twice the hops of a flood times max_delay: or the farthest offers come too late",
            ),
            (
                |c| {
                    c.rescheduling = Some(Rescheduling {
                        period: seconds(5),
                        ..Rescheduling::PAPER
                    });
                },
                "rescheduling.period is 5s; more than 5s, window: or a job is advertised again while offers come",
            ),
            (
                |c| {
                    c.rescheduling = Some(Rescheduling {
                        jobs: 0,
                        ..Rescheduling::PAPER
                    });
                },
                "rescheduling.jobs is 0; at least 1, or no job is advertised",
            ),
            (
                |c| c.floods = 0,
                "floods is 0; at least 1, or a node passes a flood on whenever it comes back",
            ),
            (
                |c| c.rounds = 0,
                "rounds is 0; at least 1, or no node is searched for",
            ),
            (
                |c| c.lease = seconds(26),
                "lease is 26s; at least 27s, nine times retry: or a lease ends while it is renewed",
            ),
            (
                |c| c.max_skew = Span::MAX,
                "max_skew is 18446744073709.551615s; at most 200s, a third of lease: or a lease is over before it is renewed",
            ),
            (
                |c| c.retry = Span::ZERO,
                "retry is 0s; more than 0s, or messages are repeated without a pause",
            ),
            (
                |c| c.retention = seconds(2),
                "retention is 2s; at least 3s, retry: or an end is forgotten before its home can answer",
            ),
        ],
    );
}

/// Sixteen cores and 64 GB are the most.
fn most() -> Capability {
    dimensions()
        .capability(&[16, 64])
        .expect("two values for two dimensions")
}

fn dimensions() -> Dimensions {
    let names = [("cores", Kind::Amount), ("memory", Kind::Amount)];
    Dimensions::new(&names).expect("two dimensions are not too many")
}

#[test]
fn desktop_refuses_what_is_out_of_bounds() {
    use desktop::{Config, Residues};
    for config in [
        Config::new(most()),
        Config::lan(most()),
        Config::wan(most()),
    ] {
        assert_eq!(config.checked::<3>(), Ok(config));
    }
    accepts(
        Config::new(most()),
        Config::checked::<3>,
        &[
            |c| c.can.virtual_dimensions = 0,
            |c| c.stopping = 1,
            |c| c.probes = 0,
            |c| c.searches_again = 0,
            |c| c.pull_hops = 0,
            |c| c.round = micros(1),
            |c| c.queue = 1,
            |c| c.hops = 1,
            |c| c.resend = None,
            |c| c.resend = Some(micros(1)),
            |c| c.searches = 1,
            // Without a second space its configuration does not matter.
            |c| c.residue_can.hops = 0,
        ],
    );
    refuses(
        Config::new(most()),
        Config::checked::<3>,
        &[
            (
                |c| c.can.virtual_dimensions = 4,
                "can.virtual_dimensions is 4; at most 3, the parameter D of Desktop<D>",
            ),
            (
                |c| (c.residues, c.residue_can.hops) = (Residues::DualCan, 0),
                "residue_can.hops is 0; at least 1, or no request reaches another node",
            ),
            (
                |c| c.owners.rounds = 0,
                "owners.rounds is 0; at least 1, or no node is searched for",
            ),
            (
                |c| c.runs.lease = seconds(26),
                "runs.lease is 26s; at least 27s, nine times retry: or a lease ends while it is renewed",
            ),
            (
                |c| c.stopping = 0,
                "stopping is 0; at least 1, or searches never stop",
            ),
            (
                |c| c.searches = 0,
                "searches is 0; at least 1, or a node passes each flood on again and again",
            ),
            (
                |c| c.round = Span::ZERO,
                "round is 0s; more than 0s, or a node looks at its queue without a pause",
            ),
            (
                |c| c.owners.bounded = true,
                "owners.bounded is true; only false, a submitter has no home of its own",
            ),
            (
                |c| c.runs.bounded = false,
                "runs.bounded is false; only true, an owner grants no longer than it was granted itself",
            ),
            (|c| c.queue = 0, "queue is 0; at least 1, or no job can run"),
            (
                |c| c.hops = 0,
                "hops is 0; at least 1, or no message reaches another node",
            ),
            (
                |c| c.resend = Some(Span::ZERO),
                "resend is 0s; more than 0s, or errands are repeated without a pause",
            ),
        ],
    );
}

/// A change of a desktop before it is built.
type Outfit = fn(&mut desktop::Config, &mut desktop::Equipment);

/// The error of a desktop with this equipment, or none.
fn built(bootstrap: desktop::Bootstrap<3>, change: Outfit) -> Result<(), String> {
    let dimensions = dimensions();
    let mut equipment = desktop::Equipment {
        cores: dimensions.named("cores").expect("it is there"),
        capability: most(),
        speed: Speed::BASELINE,
        dimensions,
    };
    let mut config = desktop::Config::new(most());
    change(&mut config, &mut equipment);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let node = desktop::Desktop::new(ME, config, bootstrap, equipment, &mut rng);
    node.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn desktop_refuses_equipment_that_has_no_point_in_its_space() {
    let built = |change| built(desktop::Bootstrap::Alone, change);
    assert_eq!(built(|_, _| {}), Ok(()));
    let cases: [(Outfit, &str); 5] = [
        (
            |config, _| config.can.virtual_dimensions = 2,
            "equipment.dimensions is 2; at most 1, the parameter D of Desktop<D> less can.virtual_dimensions",
        ),
        (
            |_, node| {
                let names = [("cores", Kind::Amount), ("system", Kind::Category)];
                node.dimensions = Dimensions::new(&names).expect("two are not too many");
            },
            "equipment.dimensions[1] is a category; only an amount or a level, or it is no axis of a space",
        ),
        (
            |_, node| {
                let names = [("cores", Kind::Level), ("memory", Kind::Amount)];
                node.dimensions = Dimensions::new(&names).expect("two are not too many");
            },
            "equipment.cores is no amount of the dimensions; only an amount, or jobs do not use cores up",
        ),
        (
            |_, node| node.capability = dimensions().capability(&[16, 65]).expect("two values"),
            "equipment.capability[1] is 65; at most 64, the value in Config::most",
        ),
        (
            |_, node| node.capability = dimensions().capability(&[0, 1]).expect("two values"),
            "equipment.capability(cores) is 0; at least 1, or no job can run",
        ),
    ];
    for (change, text) in cases {
        assert_eq!(built(change), Err(text.into()));
    }
}

#[test]
fn no_node_joins_itself() {
    type Built = fn(Bootstrap) -> Result<(), ConfigError>;
    let builders: [Built; 3] = [
        |bootstrap| {
            asap::Asap::<20, 8>::new(ME, asap::Config::DEFAULT, bootstrap, Everyone).map(|_| ())
        },
        |bootstrap| {
            let config = criteria::Config::DEFAULT;
            let profile = Profile::default();
            let node = criteria::Criteria::<20, 8, 10>::new(
                ME,
                config,
                bootstrap,
                profile,
                criteria::OnlyStandard,
                Everyone,
            );
            node.map(|_| ())
        },
        |bootstrap| {
            let site = aria::Site {
                dimensions: Dimensions::new(&[]).expect("none is not too many"),
                capability: Capability::none(),
                membership: aria::Membership::default(),
                local: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 9),
            };
            aria::Aria::new(ME, aria::Config::DEFAULT, bootstrap, site).map(|_| ())
        },
    ];
    let itself = "bootstrap is n3; only another node, this is the node itself";
    let among = "bootstrap[1] is n3; only another node, this is the node itself";
    for build in builders {
        assert_eq!(build(Bootstrap::Join(PEER.into())), Ok(()));
        assert_eq!(build(Bootstrap::Join([ME, PEER].into())), Ok(()));
        assert_eq!(build(Bootstrap::Meet(vec![PEER])), Ok(()));
        let text = |bootstrap| build(bootstrap).unwrap_err().to_string();
        assert_eq!(text(Bootstrap::Join(ME.into())), itself);
        assert_eq!(text(Bootstrap::Meet(vec![PEER, ME])), among);
    }
    assert_eq!(
        built(desktop::Bootstrap::Join(PEER.into()), |_, _| {}),
        Ok(())
    );
    assert_eq!(
        built(desktop::Bootstrap::Join(ME.into()), |_, _| {}),
        Err(itself.into())
    );
}

#[test]
fn no_node_joins_an_overlay_that_is_laid_out_by_hand() {
    let config = asap::Config {
        links: asap::Links::Static,
        ..asap::Config::DEFAULT
    };
    let built = |bootstrap| asap::Asap::<20, 8>::new(ME, config, bootstrap, Everyone).map(|_| ());
    assert_eq!(built(Bootstrap::Meet(vec![PEER])), Ok(()));
    let text = built(Bootstrap::Join(PEER.into())).unwrap_err().to_string();
    let expected = "bootstrap is Join; only Alone or Meet, links is Static: no node can join an overlay that is laid out by hand";
    assert_eq!(text, expected);
}
