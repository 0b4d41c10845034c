//! The network: a TUN device in each namespace, and one process that carries packets between them.
//!
//! It delays and loses packets by a seed, and cuts pairs of computers off from each other, in one direction or both.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use tappers::{Interface, Tun};

use crate::seed::Seed;

/// The device in each namespace.
pub(crate) const DEVICE: &str = "gw0";

/// The address of a computer.
pub(crate) fn address(computer: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, computer as u8 + 1)
}

fn computer(address: &[u8]) -> Option<usize> {
    match address {
        [10, 77, 0, last] => usize::from(*last).checked_sub(1),
        _ => None,
    }
}

/// What happens to all packets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Weather {
    pub(crate) delay: Duration,
    /// The most by which the delay of a packet is longer.
    pub(crate) jitter: Duration,
    /// The part that is lost.
    pub(crate) loss: f64,
}

/// What the hub has carried.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Traffic {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) lost: u64,
    pub(crate) blocked: u64,
}

struct Rules {
    weather: Weather,
    /// How many partitions block packets from the one to the other.
    blocked: BTreeMap<(usize, usize), u32>,
    seed: Seed,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Delayed {
    at: Instant,
    number: u64,
    to: usize,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Counts {
    packets: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    blocked: AtomicU64,
}

struct Shared {
    devices: Vec<Tun>,
    rules: Mutex<Rules>,
    delayed: Mutex<BinaryHeap<Reverse<Delayed>>>,
    comes: Condvar,
    counts: Counts,
}

/// The network of a bed.
pub(crate) struct Hub(Arc<Shared>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device in a namespace: it is made by a thread that enters the namespace.
fn device(namespace: &Path) -> io::Result<Tun> {
    let file = File::open(namespace)?;
    let making = std::thread::spawn(move || {
        setns(file, CloneFlags::CLONE_NEWNET)?;
        Tun::new_named(Interface::new(DEVICE)?)
    });
    let made = making.join();
    made.unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace failed")))
}

impl Hub {
    /// Connects these namespaces. Its threads end with the process.
    pub(crate) fn new(namespaces: &[String], seed: u64) -> io::Result<Self> {
        let mut devices = Vec::new();
        for name in namespaces {
            devices.push(device(&Path::new("/var/run/netns").join(name))?);
        }
        let shared = Arc::new(Shared {
            devices,
            rules: Mutex::new(Rules {
                weather: Weather::default(),
                blocked: BTreeMap::new(),
                seed: Seed::new(seed),
            }),
            delayed: Mutex::default(),
            comes: Condvar::new(),
            counts: Counts::default(),
        });
        for from in 0..namespaces.len() {
            let shared = shared.clone();
            std::thread::spawn(move || shared.carry(from));
        }
        let late = shared.clone();
        std::thread::spawn(move || late.deliver_late());
        Ok(Self(shared))
    }

    pub(crate) fn set_weather(&self, weather: Weather) {
        locked(&self.0.rules).weather = weather;
    }

    /// Blocks all packets from the one to the other, until as many [`Hub::heal`] have come.
    pub(crate) fn cut(&self, pairs: &[(usize, usize)]) {
        let mut rules = locked(&self.0.rules);
        for pair in pairs {
            *rules.blocked.entry(*pair).or_default() += 1;
        }
    }

    pub(crate) fn heal(&self, pairs: &[(usize, usize)]) {
        let mut rules = locked(&self.0.rules);
        for pair in pairs {
            if let Some(count) = rules.blocked.get_mut(pair) {
                *count = count.saturating_sub(1);
            }
        }
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let counts = &self.0.counts;
        Traffic {
            packets: counts.packets.load(Relaxed),
            bytes: counts.bytes.load(Relaxed),
            lost: counts.lost.load(Relaxed),
            blocked: counts.blocked.load(Relaxed),
        }
    }
}

impl Shared {
    /// Takes the packets that one computer sends.
    fn carry(&self, from: usize) {
        let mut room = [0; 2048];
        let Some(device) = self.devices.get(from) else {
            return;
        };
        loop {
            let Ok(length) = device.recv(&mut room) else {
                // Before it is up, and when it goes down, a device gives errors.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            let Some(packet) = room.get(..length) else {
                continue;
            };
            let is_v4 = packet.first().is_some_and(|first| first >> 4 == 4);
            let to = packet.get(16..20).filter(|_| is_v4).and_then(computer);
            if let Some(to) = to.filter(|to| *to < self.devices.len()) {
                self.pass(from, to, packet);
            }
        }
    }

    fn pass(&self, from: usize, to: usize, packet: &[u8]) {
        let mut rules = locked(&self.rules);
        if rules
            .blocked
            .get(&(from, to))
            .is_some_and(|count| *count > 0)
        {
            self.counts.blocked.fetch_add(1, Relaxed);
            return;
        }
        let weather = rules.weather;
        if weather.loss > 0.0 && rules.seed.happens(weather.loss) {
            self.counts.lost.fetch_add(1, Relaxed);
            return;
        }
        let more = weather.jitter.as_secs_f64();
        let delay = weather.delay + Duration::from_secs_f64(rules.seed.between(0.0, more));
        drop(rules);
        let number = self.counts.packets.fetch_add(1, Relaxed);
        self.counts.bytes.fetch_add(packet.len() as u64, Relaxed);
        if delay.is_zero() {
            return self.deliver(to, packet);
        }
        let at = Instant::now() + delay;
        let bytes = packet.to_vec();
        let late = Delayed {
            at,
            number,
            to,
            bytes,
        };
        locked(&self.delayed).push(Reverse(late));
        self.comes.notify_one();
    }

    fn deliver(&self, to: usize, packet: &[u8]) {
        if let Some(device) = self.devices.get(to) {
            // The network drops what a computer does not take.
            let _ = device.send(packet);
        }
    }

    fn deliver_late(&self) {
        let mut delayed = locked(&self.delayed);
        loop {
            let now = Instant::now();
            let wait = match delayed.peek() {
                Some(Reverse(first)) if first.at <= now => {
                    if let Some(Reverse(first)) = delayed.pop() {
                        drop(delayed);
                        self.deliver(first.to, &first.bytes);
                        delayed = locked(&self.delayed);
                    }
                    continue;
                }
                Some(Reverse(first)) => first.at - now,
                None => Duration::from_secs(1),
            };
            let waited = self.comes.wait_timeout(delayed, wait);
            delayed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
