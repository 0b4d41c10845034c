//! Random calls of the ABI, made up from bytes: by a fuzzer, and by `calls.rs` from a seed.
//!
//! Pointers are valid, null or misaligned; handles are live, freed, of another kind, or never given out; numbers are small,
//! or at the ends of their range. What is checked: no call panics or breaks an object, a freed handle never works, and all
//! objects can be freed once, and once only. Whether memory is used rightly is for Valgrind and AddressSanitizer.

use std::collections::BTreeMap;
use std::ptr;

use gridweave_c::*;

/// How often each status was returned.
pub type Seen = BTreeMap<i32, u64>;

/// The most objects of each kind, live and freed.
const MOST: usize = 24;

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most.max(1)
    }

    /// A small number mostly.
    fn count(&mut self) -> u32 {
        match self.byte() {
            0 => 0,
            1 => u32::MAX,
            n => u32::from(n % 9),
        }
    }

    /// A time of the first seconds mostly.
    fn time(&mut self) -> u64 {
        match self.byte() {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX - 1,
            n => u64::from(n) * 50_000,
        }
    }
}

/// Handles of one kind, and whether each is live.
#[derive(Default)]
struct Handles(Vec<(u64, bool)>);

/// All that a program has.
#[derive(Default)]
struct Program {
    plans: Handles,
    schedules: Handles,
    searches: Handles,
    queues: Handles,
    nodes: Handles,
    frames: Vec<Vec<u8>>,
    records: Vec<Vec<u8>>,
    timers: Vec<u64>,
    now: u64,
    calls: u64,
}

/// Takes one of these handles: a live one mostly, but perhaps a freed one, or one of another kind.
fn pick(handles: &Handles, others: &Handles, input: &mut Input<'_>) -> (u64, bool) {
    match input.byte() {
        0 => (others.0.first().map_or(0, |(id, _)| *id), false),
        1 => (
            u64::from(input.byte()) << 56 | u64::from(input.byte()) << 32 | 1,
            false,
        ),
        n => {
            let live: Vec<u64> = handles
                .0
                .iter()
                .filter(|(_, is_live)| *is_live)
                .map(|(id, _)| *id)
                .collect();
            if n > 20 && !live.is_empty() {
                (live[input.below(live.len())], true)
            } else if handles.0.is_empty() {
                (0, false)
            } else {
                handles.0[input.below(handles.0.len())]
            }
        }
    }
}

impl Program {
    /// Judges what a call returned; `is_live` says whether its handle was.
    fn judge(&mut self, status: gw_status, is_live: bool, seen: &mut Seen) -> gw_status {
        self.calls += 1;
        *seen.entry(status as i32).or_default() += 1;
        match status {
            gw_status::GW_PANICKED | gw_status::GW_BROKEN | gw_status::GW_RULE_BROKEN => {
                let mut detail = [0; 256];
                // SAFETY: there is room for so many bytes, and no length is wanted.
                unsafe {
                    gw_last_detail(detail.as_mut_ptr().cast(), detail.len(), ptr::null_mut())
                };
                panic!("{status:?}: {}", String::from_utf8_lossy(&detail));
            }
            gw_status::GW_OK => {
                assert!(is_live, "a call with a handle that is not live has worked");
            }
            _ => {}
        }
        status
    }

    fn made(&mut self, kind: fn(&mut Self) -> &mut Handles, id: u64, status: gw_status) {
        if status == gw_status::GW_OK {
            assert_ne!(id, 0);
            let handles = kind(self);
            assert!(
                handles.0.iter().all(|(known, _)| *known != id),
                "a handle is given out twice"
            );
            handles.0.push((id, true));
        }
    }

    fn freed(&mut self, kind: fn(&mut Self) -> &mut Handles, id: u64, status: gw_status) {
        let handles = kind(self);
        let known = handles.0.iter_mut().find(|(known, _)| *known == id);
        match known {
            Some((_, is_live)) if *is_live => {
                assert_eq!(status, gw_status::GW_OK, "a live object is not freed");
                *is_live = false;
            }
            Some(_) => assert_eq!(status, gw_status::GW_STALE_HANDLE, "freed twice"),
            None => {}
        }
        if handles.0.len() >= MOST {
            handles.0.retain(|(_, is_live)| *is_live);
        }
    }
}

extern "C" fn count(context: *mut std::ffi::c_void, trace: *const gw_trace) {
    // SAFETY: it is the counter of the program, which outlives its nodes, and no reference to it exists during a call.
    unsafe { *context.cast::<u64>() += 1 };
    // SAFETY: the library says that the trace lasts until this returns.
    let trace = unsafe { &*trace };
    assert!(!trace.text.is_null());
}

/// Makes calls until the bytes are used up, frees all, and tells how many calls that were.
pub fn run(data: &[u8], seen: &mut Seen) -> u64 {
    let mut input = Input(data);
    let mut program = Program::default();
    // Its address is given to callbacks, so that it must stay.
    let mut count = Box::new(0_u64);
    let counter: *mut u64 = &raw mut *count;
    while !input.0.is_empty() {
        step(&mut program, &mut input, counter, seen);
    }
    type Kind = (fn(&mut Program) -> &mut Handles, fn(u64) -> gw_status);
    let kinds: [Kind; 5] = [
        (
            |all| &mut all.plans,
            |id| gw_availability_free(gw_availability { id }),
        ),
        (
            |all| &mut all.schedules,
            |id| gw_schedule_free(gw_schedule { id }),
        ),
        (
            |all| &mut all.searches,
            |id| gw_search_free(gw_search { id }),
        ),
        (|all| &mut all.queues, |id| gw_queue_free(gw_queue { id })),
        (|all| &mut all.nodes, |id| gw_node_free(gw_node { id })),
    ];
    for (kind, free) in kinds {
        for (id, is_live) in std::mem::take(&mut kind(&mut program).0) {
            let status = free(id);
            let expected = [gw_status::GW_STALE_HANDLE, gw_status::GW_OK][usize::from(is_live)];
            assert_eq!(status, expected);
            program.judge(status, is_live, seen);
        }
    }
    program.calls
}

/// One call, of any kind.
fn step(all: &mut Program, input: &mut Input<'_>, counter: *mut u64, seen: &mut Seen) {
    match input.byte() % 16 {
        0..=2 => availability(all, input, seen),
        3..=5 => schedule(all, input, seen),
        6 | 7 => search(all, input, seen),
        8..=10 => queue(all, input, seen),
        _ => node(all, input, counter, seen),
    }
}

fn availability(all: &mut Program, input: &mut Input<'_>, seen: &mut Seen) {
    let (id, is_live) = pick(&all.plans, &all.schedules, input);
    let plan = gw_availability { id };
    let (mut number, mut time) = (0_u32, 0_u64);
    let call = input.byte() % 12;
    let (start, end, count) = (input.time(), input.time(), input.count());
    let status = match call {
        0 if all.plans.0.len() < MOST => {
            let mut made = gw_availability { id: 0 };
            let out = if input.byte() == 0 {
                ptr::null_mut()
            } else {
                &raw mut made
            };
            // SAFETY: the pointer is null or that of a handle.
            let status = unsafe { gw_availability_new(count, input.below(40), out) };
            all.made(|all| &mut all.plans, made.id, status);
            all.judge(status, true, seen);
            return;
        }
        1 if all.plans.0.len() < MOST => {
            let mut made = gw_availability { id: 0 };
            // SAFETY: the pointer is that of a handle.
            let status = unsafe { gw_availability_clone(plan, &raw mut made) };
            all.made(|all| &mut all.plans, made.id, status);
            status
        }
        2 => {
            let status = gw_availability_free(plan);
            all.freed(|all| &mut all.plans, id, status);
            status
        }
        3 | 4 => gw_availability_reserve(plan, start, end, count),
        5 => gw_availability_release(plan, start, end, count),
        // SAFETY: the pointer is that of a time.
        6 => unsafe { gw_availability_earliest_fit(plan, start, count, end, &raw mut time) },
        // SAFETY: the pointer is that of a number.
        7 => unsafe { gw_availability_least_free(plan, start, end, &raw mut number) },
        // SAFETY: the pointer is that of a number, or misaligned, which is told.
        8 => unsafe {
            let odd = usize::from(input.byte() == 0);
            gw_availability_free_at(plan, start, (&raw mut number).byte_add(odd))
        },
        9 => gw_availability_advance(plan, start),
        10 => {
            let mut bookings = [gw_booking {
                start,
                end,
                count,
                reserved: 0,
            }; 3];
            let mut moved = 0;
            // SAFETY: there are so many bookings.
            unsafe {
                gw_availability_compress(
                    plan,
                    input.time(),
                    bookings.as_mut_ptr(),
                    input.below(4),
                    &raw mut moved,
                )
            }
        }
        _ => {
            let mut steps = [gw_step {
                time: 0,
                free: 0,
                reserved: 0,
            }; 8];
            let (mut count, room) = (0, input.below(9));
            // SAFETY: there is room for so many steps.
            unsafe { gw_availability_steps(plan, steps.as_mut_ptr(), room, &raw mut count) }
        }
    };
    all.judge(status, is_live, seen);
}

fn schedule(all: &mut Program, input: &mut Input<'_>, seen: &mut Seen) {
    let (id, is_live) = pick(&all.schedules, &all.queues, input);
    let schedule = gw_schedule { id };
    let call = input.byte() % 12;
    let attempt = gw_attempt {
        job: u64::from(input.byte() % 6),
        number: u64::from(input.byte() % 3),
    };
    let interval = gw_interval {
        start: input.time(),
        end: input.time(),
    };
    let (mut time, mut number, mut flag) = (0, 0, 0);
    let status = match call {
        0 if all.schedules.0.len() < MOST => {
            let mut made = gw_schedule { id: 0 };
            // SAFETY: the pointer is that of a handle.
            let status = unsafe { gw_schedule_new(input.below(9), &raw mut made) };
            all.made(|all| &mut all.schedules, made.id, status);
            all.judge(status, true, seen);
            return;
        }
        1 => {
            let status = gw_schedule_free(schedule);
            all.freed(|all| &mut all.schedules, id, status);
            status
        }
        2 => gw_schedule_reserve(schedule, attempt, interval),
        3 => gw_schedule_hold(schedule, attempt, interval, input.time()),
        4 => gw_schedule_commit(schedule, attempt),
        5 => gw_schedule_lengthen(schedule, attempt, interval.end),
        6 => gw_schedule_release(schedule, attempt),
        // SAFETY: the pointer is null, which it may be, or that of a number.
        7 => unsafe { gw_schedule_expire(schedule, interval.start, &raw mut number) },
        // SAFETY: a null pointer is allowed.
        8 => unsafe { gw_schedule_prune(schedule, interval.start, ptr::null_mut()) },
        // SAFETY: the pointer is that of a time.
        9 => unsafe {
            gw_schedule_earliest_fit(schedule, interval.start, interval.end, &raw mut time)
        },
        // SAFETY: the pointer is that of a number.
        10 => unsafe { gw_schedule_is_free(schedule, interval, &raw mut flag) },
        _ => {
            let empty = gw_reservation {
                attempt,
                interval,
                lease: 0,
                committed: 0,
                reserved: 0,
            };
            let (mut room, size) = ([empty; 4], input.below(5));
            // SAFETY: there is room for so many reservations.
            unsafe { gw_schedule_reservations(schedule, room.as_mut_ptr(), size, &raw mut number) }
        }
    };
    all.judge(status, is_live, seen);
}

fn search(all: &mut Program, input: &mut Input<'_>, seen: &mut Seen) {
    let (id, mut is_live) = pick(&all.searches, &all.plans, input);
    let search = gw_search { id };
    let status = match input.byte() % 7 {
        0 if all.searches.0.len() < MOST => {
            let mut made = gw_search { id: 0 };
            // SAFETY: the pointer is that of a handle.
            let status = unsafe { gw_search_new(&raw mut made) };
            all.made(|all| &mut all.searches, made.id, status);
            all.judge(status, true, seen);
            return;
        }
        1 => {
            let status = gw_search_free(search);
            all.freed(|all| &mut all.searches, id, status);
            status
        }
        2 | 3 => {
            let windows: Vec<gw_interval> = (0..4)
                .map(|_| gw_interval {
                    start: input.time(),
                    end: input.time(),
                })
                .collect();
            let (index, count) = (input.below(6), input.below(5));
            let at = if input.byte() == 0 {
                ptr::null()
            } else {
                windows.as_ptr()
            };
            // SAFETY: there are so many windows, or the pointer is null.
            unsafe { gw_search_set(search, index, at, count, input.time()) }
        }
        4 => {
            let (schedule, also) = pick(&all.schedules, &all.plans, input);
            is_live &= also;
            gw_search_set_schedule(
                search,
                input.below(6),
                gw_schedule { id: schedule },
                input.time(),
            )
        }
        5 => gw_search_truncate(search, input.below(6)),
        _ => {
            let (mut start, mut chosen) = (0, [0; 8]);
            let (count, pick) = (input.count().min(8), u32::from(input.byte() % 4));
            let (from, length, seed) = (input.time(), input.time(), input.time());
            // SAFETY: there is room for as many indices as are asked for.
            unsafe {
                gw_search_earliest(
                    search,
                    from,
                    length,
                    count,
                    pick,
                    seed,
                    &raw mut start,
                    chosen.as_mut_ptr(),
                )
            }
        }
    };
    all.judge(status, is_live, seen);
}

fn queue(all: &mut Program, input: &mut Input<'_>, seen: &mut Seen) {
    let (id, mut is_live) = pick(&all.queues, &all.nodes, input);
    let queue = gw_queue { id };
    let size = size_of::<gw_waiting>() + usize::from(input.byte() == 0);
    let mut job = gw_waiting {
        job: u64::from(input.byte() % 12),
        submitted: input.time(),
        passed: input.count() % 4,
        named: u32::from(input.byte() % 9),
        needs: [u64::from(input.count()); GW_MOST_DIMENSIONS],
    };
    let status = match input.byte() % 11 {
        0 if all.queues.0.len() < MOST => {
            let names = [c"cores", c"memory", c"", c"cores"];
            let dimension = |n: usize, input: &mut Input<'_>| gw_dimension {
                name: if input.byte() == 0 {
                    ptr::null()
                } else {
                    names[n].as_ptr()
                },
                kind: u32::from(input.byte() % 16).saturating_sub(12),
                has: u64::from(input.count()),
            };
            let dimensions: Vec<gw_dimension> = (0..4).map(|n| dimension(n, input)).collect();
            let count = [1, 2, 2, 2, 3, 4, 9][input.below(7)];
            let mut made = gw_queue { id: 0 };
            // SAFETY: there are four dimensions, and more than eight are refused before they are read.
            let status = unsafe {
                gw_queue_new(
                    dimensions.as_ptr(),
                    count,
                    input.below(20),
                    input.count(),
                    &raw mut made,
                )
            };
            all.made(|all| &mut all.queues, made.id, status);
            all.judge(status, true, seen);
            return;
        }
        1 => {
            let status = gw_queue_free(queue);
            all.freed(|all| &mut all.queues, id, status);
            status
        }
        // SAFETY: the pointer is that of a job.
        2 | 3 => unsafe { gw_queue_push(queue, &raw const job, size) },
        // SAFETY: the pointer is that of a job.
        4 => unsafe { gw_queue_start_migrant(queue, &raw const job, size) },
        // SAFETY: the pointer is null, which is told, or that of a job.
        5 => unsafe {
            let at = if input.byte() == 0 {
                ptr::null()
            } else {
                &raw const job
            };
            gw_queue_resume(queue, at, size)
        },
        // SAFETY: the pointer is that of a number.
        6 => unsafe { gw_queue_start_next(queue, u32::from(input.byte() % 3), &raw mut job.job) },
        7 => gw_queue_finish(queue, job.job),
        // SAFETY: the pointer is that of a job.
        8 => unsafe { gw_queue_remove(queue, job.job, &raw mut job, size) },
        9 => {
            let (target, also) = pick(&all.queues, &all.nodes, input);
            is_live &= also;
            // SAFETY: the pointer is that of a job.
            unsafe { gw_queue_best_for(queue, gw_queue { id: target }, &raw mut job, size) }
        }
        _ => {
            let (mut jobs, mut count) = ([job; 4], 0);
            // SAFETY: there is room for four jobs.
            unsafe {
                gw_queue_waiting(
                    queue,
                    jobs.as_mut_ptr(),
                    size,
                    input.below(5),
                    &raw mut count,
                )
            }
        }
    };
    all.judge(status, is_live, seen);
}

fn new_node(all: &mut Program, input: &mut Input<'_>, seen: &mut Seen) {
    let size = size_of::<gw_setup>();
    let mut setup = std::mem::MaybeUninit::<gw_setup>::uninit();
    // SAFETY: there is room for a setup.
    let filled = unsafe { gw_setup_init(setup.as_mut_ptr(), size) };
    assert_eq!(all.judge(filled, true, seen), gw_status::GW_OK);
    // SAFETY: it was filled.
    let mut setup = unsafe { setup.assume_init() };
    let peers: Vec<u64> = (0..5).map(|_| u64::from(input.byte() % 4)).collect();
    setup.scheduler = u32::from(input.byte() % 5);
    setup.distance = u32::from(input.byte() == 0) * 2 + u32::from(input.byte() % 2);
    setup.me = u64::from(input.byte() % 4);
    setup.seed = u64::from(input.byte());
    setup.introducers = peers.as_ptr();
    setup.introducer_count = [0, 1, 2, 5][input.below(4)];
    setup.admission = u32::from(input.byte() % 32).saturating_sub(27);
    setup.organisations = [1, 2].as_ptr();
    setup.organisation_count = input.below(3);
    setup.cores = input.count() % 9;
    setup.memory = input.time();
    if input.byte() < 30 {
        setup.slot = input.time();
        setup.lead = input.time();
        setup.lease = input.time();
        setup.silence = input.time();
    }
    let mut made = gw_node { id: 0 };
    let wrong = usize::from(input.byte() == 0);
    // SAFETY: there are as many introducers and organisations as the setup says.
    let status = unsafe { gw_node_new(&raw const setup, size + wrong, &raw mut made) };
    all.made(|all| &mut all.nodes, made.id, status);
    all.judge(status, true, seen);
}

/// Some bytes that may be a frame or a record: kept ones, perhaps with a change, or any.
fn bytes(kept: &[Vec<u8>], input: &mut Input<'_>) -> Vec<u8> {
    if kept.is_empty() || input.byte() < 20 {
        return (0..input.byte() % 32).map(|_| input.byte()).collect();
    }
    let mut bytes = kept[input.below(kept.len())].clone();
    if input.byte() < 60 && !bytes.is_empty() {
        let at = (input.below(256) * 257 + input.below(256)) % bytes.len();
        bytes[at] = input.byte();
    }
    bytes
}

fn keep(kept: &mut Vec<Vec<u8>>, bytes: gw_bytes, at: usize) {
    // SAFETY: the library says that so many bytes are there until the next effect is taken out.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.at, bytes.length) };
    if kept.len() < 32 {
        kept.push(bytes.to_vec());
    } else {
        kept[at % 32] = bytes.to_vec();
    }
}

fn node(all: &mut Program, input: &mut Input<'_>, counter: *mut u64, seen: &mut Seen) {
    let (id, is_live) = pick(&all.nodes, &all.searches, input);
    let node = gw_node { id };
    let call = input.byte() % 32;
    match input.byte() {
        0 => all.now = all.now.saturating_sub(100_000),
        1 => all.now = all.now.saturating_add(3_600_000_000),
        n => all.now = all.now.saturating_add(u64::from(n) * 5_000),
    }
    let now = all.now;
    let (job, attempt) = (u64::from(input.byte() % 6), u64::from(input.byte() % 3));
    let (mut number, mut flag, mut time) = (0, 0, 0);
    let status = match call {
        0 if all.nodes.0.len() < MOST => return new_node(all, input, seen),
        1 if input.byte() < 64 => {
            let status = gw_node_free(node);
            all.freed(|all| &mut all.nodes, id, status);
            status
        }
        2 => {
            let callback: gw_trace_callback = Some(count);
            // SAFETY: the counter outlives all nodes, and the callback does not keep what it gets.
            unsafe { gw_node_on_trace(node, callback, counter.cast()) }
        }
        3 => {
            let record = bytes(&all.records, input);
            // SAFETY: there are so many bytes.
            unsafe { gw_node_restore(node, record.as_ptr(), record.len()) }
        }
        4 => gw_node_survived(
            node,
            job,
            attempt,
            u32::from(input.byte() % 5),
            input.time(),
        ),
        5..=7 => gw_node_start(node, now),
        8..=11 => {
            let frame = bytes(&all.frames, input);
            // SAFETY: there are so many bytes.
            unsafe { gw_node_message(node, now, attempt, frame.as_ptr(), frame.len()) }
        }
        12 => gw_node_unreachable(node, now, attempt),
        13..=15 => {
            let payload = [7; 16];
            let job = gw_job {
                id: job,
                user: 1,
                organisation: u32::from(input.byte() % 3),
                nodes: input.count() % 5,
                cores: input.count() % 5,
                memory: 0,
                accelerators: 0,
                estimate: input.time(),
                deadline: if input.byte() == 0 { input.time() } else { 0 },
                criterion: u32::from(input.byte() % 64).saturating_sub(60),
                scope: u32::from(input.byte() % 64).saturating_sub(60),
                retry: u32::from(input.byte() % 4),
                times: u32::from(input.byte()) * u32::from(input.byte() % 4) / 2,
                payload: gw_bytes {
                    at: payload.as_ptr(),
                    length: input.below(17),
                },
            };
            // SAFETY: the pointer is that of a job, and its payload has so many bytes.
            unsafe { gw_node_submit(node, now, &raw const job, size_of::<gw_job>()) }
        }
        16 => gw_node_cancel(node, now, job),
        17 => gw_node_ended(node, now, job, attempt, u32::from(input.byte() % 4)),
        18 if input.byte() < 64 => gw_node_tell(node, now, u32::from(input.byte() % 4)),
        19 => gw_node_meet(node, now, attempt),
        // SAFETY: the pointer is that of a time.
        20 => unsafe { gw_node_next_timer(node, &raw mut time) },
        21 | 22 => gw_node_fire(node, now),
        23 => {
            let timer = all.timers.get(input.below(all.timers.len())).copied();
            gw_node_ring(node, now, timer.unwrap_or(0))
        }
        // SAFETY: the pointers are those of two numbers.
        24 => unsafe { gw_node_group_records(node, &raw mut number, &raw mut number) },
        // SAFETY: the pointers are those of two numbers.
        25 => unsafe { gw_node_state(node, &raw mut number, &raw mut flag) },
        // SAFETY: the pointer is that of a number.
        26 => unsafe { gw_node_most_bytes(node, &raw mut number) },
        27 => gw_node_check(node),
        _ => {
            let mut effect = std::mem::MaybeUninit::<gw_effect>::uninit();
            let size = size_of::<gw_effect>() - usize::from(input.byte() == 0);
            // SAFETY: there is room for an effect.
            let status = unsafe { gw_node_next(node, effect.as_mut_ptr(), size) };
            if status == gw_status::GW_OK {
                // SAFETY: the call has written it.
                let effect = unsafe { effect.assume_init() };
                match effect.kind {
                    GW_SEND => keep(&mut all.frames, effect.bytes, all.calls as usize),
                    GW_PERSIST => keep(&mut all.records, effect.bytes, all.calls as usize),
                    GW_WAKE if all.timers.len() < 64 => all.timers.push(effect.timer),
                    GW_WAKE => all.timers[(effect.timer % 64) as usize] = effect.timer,
                    GW_NOTIFY => assert!(!effect.text.is_null()),
                    GW_FORGET | GW_CANCEL_TIMER => {}
                    other => panic!("an effect of kind {other}"),
                }
                for at in 0..effect.node_count {
                    // SAFETY: the library says that so many nodes are there.
                    let _ = unsafe { *effect.nodes.add(at) };
                }
            }
            status
        }
    };
    all.judge(status, is_live, seen);
}
