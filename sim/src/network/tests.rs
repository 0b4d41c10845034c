use super::*;

fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn constant() -> NetworkConfig {
    NetworkConfig {
        delay: Delay::Constant(millis(10)),
        ..NetworkConfig::default()
    }
}

fn arrivals(network: &mut Network, sent: u64) -> Vec<Vec<u64>> {
    (0..sent)
        .map(|_| {
            network
                .transmit(Time::ZERO, 0, 1)
                .map(Time::as_micros)
                .collect()
        })
        .collect()
}

#[test]
fn a_default_network_takes_no_time_and_loses_nothing() {
    let mut network = Network::new(&NetworkConfig::default(), 1).unwrap();
    assert_eq!(arrivals(&mut network, 3), [[0], [0], [0]]);
    assert_eq!(network.mishaps(), Mishaps::default());
    assert_eq!(network.bounce(Time::ZERO, 0, 1), None);
}

#[test]
fn uniform_delays_fill_their_bounds() {
    let delay = Delay::Uniform {
        min: millis(1),
        max: millis(2),
    };
    let config = NetworkConfig {
        delay,
        ..NetworkConfig::default()
    };
    let mut network = Network::new(&config, 1).unwrap();
    let all: Vec<u64> = arrivals(&mut network, 1000).concat();
    assert!(all.iter().all(|micros| (1000..=2000).contains(micros)));
    assert!(*all.iter().min().unwrap() < 1010 && *all.iter().max().unwrap() > 1990);
}

#[test]
fn mishaps_happen_about_as_often_as_they_should_and_are_counted() {
    let config = NetworkConfig {
        loss: 0.1,
        duplication: 0.2,
        reordering: 0.5,
        held_up: millis(5),
        ..constant()
    };
    let mut network = Network::new(&config, 7).unwrap();
    let all = arrivals(&mut network, 10_000);
    let lost = all.iter().filter(|arrivals| arrivals.is_empty()).count() as u64;
    let twice = all.iter().filter(|arrivals| arrivals.len() == 2).count() as u64;
    let late = all
        .iter()
        .flatten()
        .filter(|&&micros| micros > 10_000)
        .count() as u64;
    let mishaps = network.mishaps();
    assert_eq!((mishaps.lost, mishaps.duplicated), (lost, twice));
    assert!((900..1100).contains(&lost), "{lost}");
    assert!((1650..1950).contains(&twice), "{twice}");
    // A message may be held up by nothing, so not all that are held up are late.
    assert!(late <= mishaps.held_up && late > 5000, "{late} {mishaps:?}");
    assert!(all.iter().flatten().all(|&micros| micros <= 15_000));
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let config = NetworkConfig {
        loss: 0.5,
        ..constant()
    };
    let run = |seed| arrivals(&mut Network::new(&config, seed).unwrap(), 100);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_partition_cuts_both_ways_while_it_lasts() {
    let config = NetworkConfig {
        partitions: vec![Partition {
            from: Time::from_secs(10),
            until: Time::from_secs(20),
            nodes: vec![[0, 1], [5, 5]],
        }],
        ..constant()
    };
    let mut network = Network::new(&config, 1).unwrap();
    let mut passes = |at, from, to| network.transmit(Time::from_secs(at), from, to).count() == 1;
    assert!(passes(9, 0, 2) && passes(20, 0, 2));
    assert!(!passes(10, 0, 2) && !passes(10, 2, 1) && !passes(19, 5, 3));
    assert!(passes(10, 0, 5) && passes(10, 3, 4));
    assert_eq!(network.mishaps().cut, 3);
}

#[test]
fn trouble_stops_what_it_should_and_ends() {
    let secs = Time::from_secs;
    let cut = |from, until, passage| Cut {
        from: secs(from),
        until: secs(until),
        nodes: vec![0, 1],
        passage,
    };
    let config = NetworkConfig {
        loss: 1.0,
        ..constant()
    };
    let trouble = Trouble {
        until: secs(100),
        ..Trouble::default()
    };
    let lossy = Network::new(&config, 1).unwrap();
    let mut lossy = lossy.troubled(trouble.clone()).unwrap();
    assert_eq!(lossy.transmit(secs(99), 0, 1).count(), 0);
    assert_eq!(lossy.transmit(secs(100), 0, 1).count(), 1, "calm");

    let trouble = Trouble {
        late: 1.0,
        late_by: Span::from_secs(20),
        cuts: vec![
            cut(10, 20, Passage::None),
            cut(30, 40, Passage::In),
            cut(50, 60, Passage::Out),
        ],
        slow: vec![(5, Span::from_secs(3))],
        ..trouble
    };
    let network = Network::new(&constant(), 1).unwrap();
    let mut network = network.troubled(trouble).unwrap();
    let mut passes = |at, from, to| network.transmit(secs(at), from, to).count() == 1;
    assert!(passes(9, 0, 2) && passes(20, 2, 0) && passes(15, 0, 1) && passes(15, 2, 3));
    assert!(!passes(10, 0, 2) && !passes(19, 2, 1));
    assert!(!passes(30, 0, 2) && passes(30, 2, 0));
    assert!(passes(50, 0, 2) && !passes(50, 2, 0));
    let slow: Vec<Time> = network.transmit(secs(70), 5, 4).collect();
    assert!(slow[0] >= secs(73) && slow[0] <= secs(94), "{slow:?}");
    let met = network.trouble_met();
    assert_eq!((met.cut, met.cut_one_way, met.slowed), (2, 2, 1));
    assert!(met.late > 5);
}

#[test]
fn coordinates_come_from_lines_or_from_oversims_xml() {
    let lines = Plane::parse("# x y\n0 0\n3 4\n\n-3.0 -4\n").unwrap();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines.distance(0, 1), Span::from_millis(5));
    assert_eq!(lines.distance(1, 2), Span::from_millis(10));
    // The fourth node is the first again.
    assert_eq!(lines.distance(3, 1), Span::from_millis(5));
    let xml = "<nodelist dimensions=\"2\"><node>\n<coord> 0 </coord>\n<coord> 1.5 </coord></node>\
        <node><coord>0</coord><coord>0</coord></node></nodelist>";
    let xml = Plane::parse(xml).unwrap();
    assert_eq!(xml.distance(0, 1), Span::from_micros(1500));
    for wrong in [
        "",
        "1 2 3",
        "1 x",
        "1e300 0",
        "nan 0",
        "<coord>1</coord>",
        "<a>",
    ] {
        assert!(Plane::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_matrix_is_a_square_of_round_trips() {
    let matrix = RoundTrips::parse("0 10.5\n10.5\t0\n").unwrap();
    assert_eq!(matrix.len(), 2);
    assert_eq!(matrix.one_way(0, 1), Span::from_micros(5250));
    assert_eq!(matrix.one_way(2, 3), Span::from_micros(5250));
    assert_eq!(matrix.one_way(1, 1), Span::ZERO);
    for wrong in ["", "1 2", "1 2\n3", "1 2\n3 -4", "1 2\n3 x"] {
        assert!(RoundTrips::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn bad_networks_are_refused_by_name() {
    let refused = |config: NetworkConfig| Network::new(&config, 1).unwrap_err().to_string();
    let wrong = NetworkConfig {
        loss: 1.5,
        ..constant()
    };
    assert!(refused(wrong).contains("network.loss is 1.5"));
    let wrong = NetworkConfig {
        duplication: f64::NAN,
        ..constant()
    };
    assert!(refused(wrong).contains("network.duplication"));
    let delay = Delay::Uniform {
        min: millis(2),
        max: millis(1),
    };
    let wrong = NetworkConfig {
        delay,
        ..constant()
    };
    assert!(refused(wrong).contains("max 0.001000s below min 0.002000s"));
    let wrong = NetworkConfig {
        partitions: vec![Partition {
            from: Time::from_millis(1),
            until: Time::from_millis(2),
            nodes: vec![[0, 1], [5, 1]],
        }],
        ..constant()
    };
    assert!(refused(wrong).contains("[5, 1]; swap them"));
}

#[test]
fn messages_are_not_held_up_for_no_time() {
    let config = NetworkConfig {
        reordering: 0.5,
        ..constant()
    };
    let error = Network::new(&config, 1).unwrap_err().to_string();
    assert!(error.contains("network.held_up"), "{error}");
}
