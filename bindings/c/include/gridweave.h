/*
 * Gridweave for programs in C. Made from bindings/c by cbindgen: do not edit.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Objects. A program has objects by handles: structures with one number, which are copied freely and never point to
 * memory. A function that ends in _new or _clone makes an object, and the one that ends in _free frees it. A handle that
 * was freed, was never given out, or belongs to another kind of object is refused; "those of handles" in a list of
 * errors means GW_NO_HANDLE, GW_WRONG_KIND, GW_STALE_HANDLE, GW_BUSY and GW_BROKEN.
 *
 * Threads. Every function may be called on every thread. An object is used by one call at a time: a second call with it
 * returns GW_BUSY and does nothing. It never waits. Two objects never share anything.
 *
 * Errors. Every function that can fail returns a gw_status. After any other than GW_OK, nothing has changed and no result
 * was written, unless the function says otherwise. Every function may return GW_PANICKED, which would be a mistake in the
 * library. gw_last_detail has the words. If memory runs out, the process ends, as by abort().
 *
 * Pointers. A pointer to a result must have room for it, and a pointer to a list, so many items as the count says: that
 * cannot be checked. What can be told is told: null (GW_NULL), alignment (GW_MISALIGNED), a structure of another size
 * (GW_WRONG_SIZE). An empty list may be null. Memory that is read must not change during the call, nor overlap with
 * memory that is written. The library copies what it is given and keeps no pointer of yours, but for the context of a
 * trace callback. What it gives to you is a copy, too, but for what a gw_effect and a gw_trace point to.
 *
 * Time. All times and lengths are microseconds, times since an instant that all nodes of a grid agree on, such as 1970 in
 * UTC. GW_NEVER is a time that never comes. An interval has its start and not its end.
 *
 * Changes. Functions, constants and structures stay as they are while GW_ABI does, and symbols have versions. New ones may
 * come: ignore kinds of effects and of news that you do not know.
 */


#ifndef GRIDWEAVE_H
#define GRIDWEAVE_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of the ABI that this header is for. It grows when a function or a structure changes its meaning.
 */
#define GW_ABI 1

/**
 * The job did its work.
 */
#define GW_DONE 0

/**
 * The job stopped with an error.
 */
#define GW_BROKE 1

/**
 * The job still ran when its time was over, and was stopped.
 */
#define GW_OVERRAN 2

/**
 * The job still runs: only for `gw_node_survived`.
 */
#define GW_RUNS 3

/**
 * Take no new jobs until GW_RESUME, also after a restart.
 */
#define GW_DRAIN 0

/**
 * Take jobs again after GW_DRAIN.
 */
#define GW_RESUME 1

/**
 * Take no new jobs, and leave the grid when none is left.
 */
#define GW_LEAVE 2

/**
 * Make `bytes` durable under `key`, replacing what is there, before you carry out the next effect.
 */
#define GW_PERSIST 1

/**
 * The record under `key` is no longer needed.
 */
#define GW_FORGET 2

/**
 * Send `bytes` to `node`. It may be lost, doubled or late. A node may send to itself: give `bytes` to `gw_node_message`, which
 * may be done at once. Its effects come behind those that are left.
 * `nodes` are those that the message mentions: send along their addresses, if the receiver may not know them.
 */
#define GW_SEND 3

/**
 * The timer with the number `timer` rings at `time`; it replaces the same number. A node has as many timers as it has jobs and
 * links, and some more. The library keeps them, too: a program that calls `gw_node_fire` ignores this.
 */
#define GW_WAKE 4

/**
 * The timer with the number `timer` is no longer needed; 0 if it was never set.
 */
#define GW_CANCEL_TIMER 5

/**
 * News of `job`: `news` says which.
 */
#define GW_NOTIFY 6

/**
 * It will run: `attempt`, `nodes` in the order of ranks, from `start` to `time` (GW_NEVER if that is not known).
 */
#define GW_NEWS_ACCEPTED 1

/**
 * It will run elsewhere or at another time than told before: as GW_NEWS_ACCEPTED.
 */
#define GW_NEWS_MOVED 2

/**
 * It is to run here: as GW_NEWS_ACCEPTED, with the payload in `bytes`. What it needs can be fetched.
 */
#define GW_NEWS_ASSIGNED 3

/**
 * It will not run here, although it was assigned. It had not begun.
 */
#define GW_NEWS_RELEASED 4

/**
 * Begin `attempt` here, and end it at `time`, even if this program is down then. `nodes` in the order of ranks, the
 * payload in `bytes`. When it ends by itself, call `gw_node_ended`.
 */
#define GW_NEWS_STARTED 5

/**
 * `attempt` may run here until `time`.
 */
#define GW_NEWS_EXTENDED 6

/**
 * End `attempt` here.
 */
#define GW_NEWS_STOPPED 7

/**
 * This node had it, no longer hears from the node where it was submitted, and has dropped it.
 */
#define GW_NEWS_ORPHANED 8

/**
 * It is done. The last news of a job.
 */
#define GW_NEWS_FINISHED 9

/**
 * It will not be done: `failure` says why. The last news of a job, unless it was refused because it is known.
 */
#define GW_NEWS_FAILED 10

/**
 * It was cancelled. The last news of a job.
 */
#define GW_NEWS_CANCELLED 11

/**
 * It waits, and can start at `start` as far as is known.
 */
#define GW_NEWS_EXPECTED 12

/**
 * Other news: `text` says what.
 */
#define GW_NEWS_OTHER 255

/**
 * It was never accepted: `text` says why.
 */
#define GW_FAILURE_REFUSED 1

/**
 * A node that ran it, or was about to, was lost.
 */
#define GW_FAILURE_NODE_LOST 2

/**
 * It still ran when its time was over.
 */
#define GW_FAILURE_OVERRAN 3

/**
 * It broke while it ran.
 */
#define GW_FAILURE_BROKE 4

/**
 * Another failure: `text` says which.
 */
#define GW_FAILURE_OTHER 255

/**
 * The earliest start.
 */
#define GW_SOONEST 0

/**
 * Nodes close to each other: only `criteria`.
 */
#define GW_CLOSEST 1

/**
 * Nodes far from each other: only `criteria`.
 */
#define GW_FARTHEST 2

/**
 * Nodes of every organisation that admits the job.
 */
#define GW_GRID 0

/**
 * Nodes of the submitter's organisation.
 */
#define GW_ORGANISATION 1

/**
 * The node at which it is submitted: only `aria`.
 */
#define GW_HERE 2

/**
 * The job does not run again.
 */
#define GW_RETRY_NEVER 0

/**
 * It runs again after a node was lost, at most `times` times.
 */
#define GW_RETRY_NODE_LOSS 1

/**
 * It runs again after a node was lost, or the job broke or overran, at most `times` times.
 */
#define GW_RETRY_ALWAYS 2

/**
 * Several whole nodes at once, as soon as possible.
 */
#define GW_ASAP 1

/**
 * Several whole nodes at once, near each other or soon.
 */
#define GW_CRITERIA 2

/**
 * Cores of one node, of which each has a queue of its own.
 */
#define GW_ARIA 3

/**
 * Cores of one desktop that has what the job needs.
 */
#define GW_DESKTOP 4

/**
 * A local network.
 */
#define GW_LAN 0

/**
 * A wide-area network.
 */
#define GW_WAN 1

/**
 * Jobs of all organisations run here.
 */
#define GW_ADMIT_ALL 0

/**
 * Jobs of the node's own organisation run here.
 */
#define GW_ADMIT_OWN 1

/**
 * Jobs of the named organisations run here.
 */
#define GW_ADMIT_ONLY 2

/**
 * Jobs of all but the named organisations run here.
 */
#define GW_ADMIT_EXCEPT 3

/**
 * The value that the network has: see `gw_setup`.
 */
#define GW_DEFAULT UINT64_MAX

/**
 * A time that never comes.
 */
#define GW_NEVER UINT64_MAX

/**
 * The most dimensions.
 */
#define GW_MOST_DIMENSIONS 8

/**
 * A machine has at least as much, and a running job uses it up: cores, memory.
 */
#define GW_AMOUNT 0

/**
 * A machine has at least as much, and jobs share it: speed, a version.
 */
#define GW_LEVEL 1

/**
 * A machine has exactly this: an architecture, an operating system.
 */
#define GW_CATEGORY 2

/**
 * Only the first waiting job may start, when it fits.
 */
#define GW_HEAD_ONLY 0

/**
 * The first waiting job starts when it fits, else the one that fills what is free best, of those that may pass it.
 */
#define GW_BACKFILL 1

/**
 * Any job may pass any other, however often that one was passed.
 */
#define GW_UNBOUNDED UINT32_MAX

/**
 * Takes the first schedules that are free, by index.
 */
#define GW_PICK_IN_ORDER 0

/**
 * Takes some of the schedules that are free, by the seed.
 */
#define GW_PICK_SEEDED 1

/**
 * Takes the schedules in whose free windows the slot leaves the least.
 */
#define GW_PICK_BEST_FIT 2

/**
 * What became of a call. Numbers stay what they are in later versions, and new ones may come.
 */
enum gw_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The call did what it says.
   */
  GW_OK = 0,
  /**
   * There is nothing of the kind: no effect is left, no timer is set, no job can start. No error.
   */
  GW_NONE = 1,
  /**
   * A pointer is null that must not be.
   */
  GW_NULL = 2,
  /**
   * A pointer is not aligned for its type.
   */
  GW_MISALIGNED = 3,
  /**
   * The size of a structure is not that of this library: it was built with another header. Or a count is too large.
   */
  GW_WRONG_SIZE = 4,
  /**
   * No object ever had this handle.
   */
  GW_NO_HANDLE = 5,
  /**
   * The handle is that of another kind of object.
   */
  GW_WRONG_KIND = 6,
  /**
   * The object was freed already.
   */
  GW_STALE_HANDLE = 7,
  /**
   * Another call works with the object just now: on another thread, or on this one, from inside a callback.
   */
  GW_BUSY = 8,
  /**
   * An earlier call with this object failed with GW_PANICKED. It can only be freed.
   */
  GW_BROKEN = 9,
  /**
   * A mistake in the library. The objects of the call can only be freed.
   */
  GW_PANICKED = 10,
  /**
   * There are as many objects as there may be.
   */
  GW_TOO_MANY = 11,
  /**
   * The given room is too small. The needed size is told, and nothing else has changed.
   */
  GW_NO_ROOM = 12,
  /**
   * A value is not one of the constants, or out of its range.
   */
  GW_ARGUMENT = 13,
  /**
   * The time is before that of an earlier call with this node.
   */
  GW_TIME_WENT_BACK = 14,
  /**
   * The node must be started first.
   */
  GW_NOT_STARTED = 15,
  /**
   * The node is started already: this comes before the start.
   */
  GW_STARTED = 16,
  /**
   * A rule of the library does not hold: a mistake in the library, which only `gw_node_check` tells.
   */
  GW_RULE_BROKEN = 17,
  /**
   * No processors, or no schedules, were asked for.
   */
  GW_ZERO_COUNT = 32,
  /**
   * No time was asked for.
   */
  GW_ZERO_LENGTH = 33,
  /**
   * The machine has fewer processors, or there are fewer schedules.
   */
  GW_TOO_LARGE = 34,
  /**
   * The interval begins before what is remembered.
   */
  GW_BEFORE_ORIGIN = 35,
  /**
   * Some of the time is not free.
   */
  GW_NOT_FREE = 36,
  /**
   * Somewhere in the interval fewer processors are reserved.
   */
  GW_NOT_RESERVED = 37,
  /**
   * There is no room for another one: the limit is reached.
   */
  GW_FULL = 38,
  /**
   * There is none before the end of time, or before the horizons of schedules.
   */
  GW_BEYOND_TIME = 39,
  /**
   * The interval does not end after it starts.
   */
  GW_BAD_INTERVAL = 40,
  /**
   * A newer attempt at the job is known.
   */
  GW_OLD_ATTEMPT = 41,
  /**
   * This attempt has reserved other time.
   */
  GW_OTHER_INTERVAL = 42,
  /**
   * This attempt holds nothing, or has nothing committed.
   */
  GW_NOT_HELD = 43,
  /**
   * Windows are not sorted with a gap between any two, or reach beyond the horizon.
   */
  GW_UNSORTED = 44,
  /**
   * The job is known already.
   */
  GW_KNOWN = 45,
  /**
   * The machine could not run the job even if it were idle.
   */
  GW_UNSUITABLE = 46,
  /**
   * There is no such job.
   */
  GW_NO_JOB = 47,
  /**
   * The head of the queue was passed more often than the job.
   */
  GW_HEAD_PASSED_MORE = 48,
  /**
   * Dimensions are too many, have one name, or a name that is empty or too long.
   */
  GW_DIMENSIONS = 49,
  /**
   * The setup of a node does not fit together: the detail says which field, and its bound.
   */
  GW_SETUP = 50,
  /**
   * The bytes are no message or no record of this scheduler: the detail says why and where. A peer may send such
   * bytes: drop them.
   */
  GW_NOT_DECODED = 51,
  /**
   * A message or a record is too long to be encoded. A message counts as lost; after a record, stop the node.
   */
  GW_NOT_ENCODED = 52,
  /**
   * The job cannot be made: its estimate is zero, or its payload too long.
   */
  GW_JOB = 53,
  /**
   * No such timer is set.
   */
  GW_NO_TIMER = 54,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_status gw_status;
#else
typedef int32_t gw_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The free processors of a machine over time: a plan for backfilling. `id` is 0 for none.
 */
typedef struct gw_availability {
  /**
   * The library's number for the object.
   */
  uint64_t id;
} gw_availability;

/**
 * Processors that are reserved from `start` on, before `end`.
 */
typedef struct gw_booking {
  /**
   * When it begins.
   */
  uint64_t start;
  /**
   * The first instant after it.
   */
  uint64_t end;
  /**
   * How many processors it has.
   */
  uint32_t count;
  /**
   * Zero.
   */
  uint32_t reserved;
} gw_booking;

/**
 * An instant of a plan, and how many processors are free from then until the next one.
 */
typedef struct gw_step {
  /**
   * When it begins.
   */
  uint64_t time;
  /**
   * How many processors are free.
   */
  uint32_t free;
  /**
   * Zero.
   */
  uint32_t reserved;
} gw_step;

/**
 * What a node is built from. Let `gw_setup_init` fill it, then change fields. All nodes of a grid have the same
 * scheduler, distance, times and `most`. Times are in microseconds; GW_DEFAULT is the value for the distance.
 */
typedef struct gw_setup {
  /**
   * GW_ASAP, GW_CRITERIA, GW_ARIA or GW_DESKTOP.
   */
  uint32_t scheduler;
  /**
   * GW_LAN or GW_WAN.
   */
  uint32_t distance;
  /**
   * The id of the node: 64 random bits, or any number that is unique in the grid. A node that lost its records comes
   * back with another one.
   */
  uint64_t me;
  /**
   * The seed of its random choices: 64 random bits.
   */
  uint64_t seed;
  /**
   * Nodes through which it joins, at most 4. Null with a count of 0 for the first node of a grid.
   */
  const uint64_t *introducers;
  /**
   * How many introducers there are.
   */
  size_t introducer_count;
  /**
   * The organisation of the node.
   */
  uint32_t organisation;
  /**
   * Whose jobs run here: one of the GW_ADMIT constants; under GW_DESKTOP only GW_ADMIT_ALL.
   */
  uint32_t admission;
  /**
   * For GW_ADMIT_ONLY and GW_ADMIT_EXCEPT, at most 16.
   */
  const uint32_t *organisations;
  /**
   * How many organisations there are.
   */
  size_t organisation_count;
  /**
   * Its cores, at least 1.
   */
  uint32_t cores;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * Its gigabytes of memory.
   */
  uint64_t memory;
  /**
   * Its accelerators.
   */
  uint64_t accelerators;
  /**
   * For GW_DESKTOP: the most cores, gigabytes and accelerators that any node of the grid has.
   */
  uint64_t most[3];
  /**
   * Jobs start at multiples of this, and get multiples of it.
   */
  uint64_t slot;
  /**
   * From a search to the start of a job.
   */
  uint64_t lead;
  /**
   * From the commit of a job to its start.
   */
  uint64_t commit_lead;
  /**
   * How much longer a job may run than it says.
   */
  uint64_t margin;
  /**
   * For how long a job runs on without a word of the node where it was submitted.
   */
  uint64_t lease;
  /**
   * How long a node may be silent before it counts as lost.
   */
  uint64_t silence;
  /**
   * The largest difference of two clocks.
   */
  uint64_t max_skew;
  /**
   * How often a waiting job is searched for again.
   */
  uint64_t improve;
} gw_setup;

/**
 * A node of a grid: a machine that your program hosts. `id` is 0 for none.
 */
typedef struct gw_node {
  /**
   * The library's number for the object.
   */
  uint64_t id;
} gw_node;

/**
 * What a node says of a step, and why.
 */
typedef struct gw_trace {
  /**
   * The step in words, in English.
   */
  const char *text;
  /**
   * The job, if `has_job` is 1.
   */
  uint64_t job;
  /**
   * The other node, if `has_peer` is 1.
   */
  uint64_t peer;
  /**
   * Whether the step is about a job.
   */
  uint32_t has_job;
  /**
   * Whether another node is part of it.
   */
  uint32_t has_peer;
} gw_trace;

/**
 * Takes what a node says. `trace` lasts until it returns. It must return: no `longjmp`, no C++ exception. A call with
 * the same node from inside it returns GW_BUSY.
 */
typedef void (*gw_trace_callback)(void *context, const struct gw_trace *trace);

/**
 * Bytes of the library or of your program.
 */
typedef struct gw_bytes {
  /**
   * The first one. It may be null if there are none.
   */
  const uint8_t *at;
  /**
   * How many there are.
   */
  size_t length;
} gw_bytes;

/**
 * A job. Begin with one that is all zeros (`gw_job job = {0}`), and set `id`, `nodes` and `estimate`.
 */
typedef struct gw_job {
  /**
   * Its name: 64 random bits, or any number that is unique in the grid.
   */
  uint64_t id;
  /**
   * The user that submits it.
   */
  uint32_t user;
  /**
   * The organisation of the user.
   */
  uint32_t organisation;
  /**
   * How many whole nodes `asap` and `criteria` take, at least 1. `aria` and `desktop` take 1 node.
   */
  uint32_t nodes;
  /**
   * How many cores it takes of a node: 0 for all of them with `asap` and `criteria`, and for one with the others.
   */
  uint32_t cores;
  /**
   * How many gigabytes of memory each node must have.
   */
  uint64_t memory;
  /**
   * How many accelerators each node must have.
   */
  uint64_t accelerators;
  /**
   * How long it is expected to run, in microseconds; not 0.
   */
  uint64_t estimate;
  /**
   * When it should be done; 0 for none. Only `aria` takes deadlines.
   */
  uint64_t deadline;
  /**
   * GW_SOONEST, GW_CLOSEST or GW_FARTHEST.
   */
  uint32_t criterion;
  /**
   * GW_GRID, GW_ORGANISATION or GW_HERE.
   */
  uint32_t scope;
  /**
   * GW_RETRY_NEVER, GW_RETRY_NODE_LOSS or GW_RETRY_ALWAYS.
   */
  uint32_t retry;
  /**
   * How often it may run again, at most 255.
   */
  uint32_t times;
  /**
   * What the programs that run it are told, at most 4,096 bytes.
   */
  struct gw_bytes payload;
} gw_job;

/**
 * What a node wants done. Fields that its kind does not name are 0.
 */
typedef struct gw_effect {
  /**
   * GW_PERSIST, GW_FORGET, GW_SEND, GW_WAKE, GW_CANCEL_TIMER or GW_NOTIFY. Ignore others.
   */
  uint32_t kind;
  /**
   * Of GW_NOTIFY: one of the GW_NEWS constants.
   */
  uint32_t news;
  /**
   * Of GW_NEWS_FAILED: one of the GW_FAILURE constants.
   */
  uint32_t failure;
  /**
   * Zero.
   */
  uint32_t reserved;
  /**
   * Of GW_SEND: the receiver.
   */
  uint64_t node;
  /**
   * Of GW_WAKE and GW_CANCEL_TIMER: the number of the timer.
   */
  uint64_t timer;
  /**
   * When the timer rings, or when the attempt ends.
   */
  uint64_t time;
  /**
   * When the attempt is planned to start.
   */
  uint64_t start;
  /**
   * Of GW_NOTIFY: the job.
   */
  uint64_t job;
  /**
   * Of GW_NOTIFY: the attempt at the job.
   */
  uint64_t attempt;
  /**
   * Of GW_PERSIST and GW_FORGET: under what the record is kept.
   */
  struct gw_bytes key;
  /**
   * The record, the message or the payload.
   */
  struct gw_bytes bytes;
  /**
   * The nodes of the attempt, or those that the message mentions.
   */
  const uint64_t *nodes;
  /**
   * How many nodes there are.
   */
  size_t node_count;
  /**
   * Of GW_NOTIFY: what this node does about the job, in English, such as "says that it is done"; else null.
   */
  const char *text;
} gw_effect;

/**
 * Something that machines have and jobs need.
 */
typedef struct gw_dimension {
  /**
   * What people call it: 1 to 24 bytes and a zero byte. It is copied.
   */
  const char *name;
  /**
   * GW_AMOUNT, GW_LEVEL or GW_CATEGORY.
   */
  uint32_t kind;
  /**
   * How much of it the machine has.
   */
  uint64_t has;
} gw_dimension;

/**
 * A queue with backfilling. It needs no run times. `id` is 0 for none.
 */
typedef struct gw_queue {
  /**
   * The library's number for the object.
   */
  uint64_t id;
} gw_queue;

/**
 * A job that waits.
 */
typedef struct gw_waiting {
  /**
   * The job.
   */
  uint64_t job;
  /**
   * When it came. Jobs wait in this order; of equals, the first to be pushed is first.
   */
  uint64_t submitted;
  /**
   * How often it was passed: 0 for a new job.
   */
  uint32_t passed;
  /**
   * In which dimensions it needs something: bit n is set for dimension n.
   */
  uint32_t named;
  /**
   * How much it needs in each of these.
   */
  uint64_t needs[GW_MOST_DIMENSIONS];
} gw_waiting;

/**
 * The reservations of one node, which never overlap. `id` is 0 for none.
 */
typedef struct gw_schedule {
  /**
   * The library's number for the object.
   */
  uint64_t id;
} gw_schedule;

/**
 * One try to run a job. A later attempt at the same job has a higher number.
 */
typedef struct gw_attempt {
  /**
   * The job.
   */
  uint64_t job;
  /**
   * The number of the attempt.
   */
  uint64_t number;
} gw_attempt;

/**
 * A stretch of time, from `start` on and before `end`.
 */
typedef struct gw_interval {
  /**
   * When it begins.
   */
  uint64_t start;
  /**
   * The first instant after it.
   */
  uint64_t end;
} gw_interval;

/**
 * Time of a node that belongs to one attempt.
 */
typedef struct gw_reservation {
  /**
   * The attempt.
   */
  struct gw_attempt attempt;
  /**
   * The time.
   */
  struct gw_interval interval;
  /**
   * When the hold ends by itself; GW_NEVER if it is committed.
   */
  uint64_t lease;
  /**
   * 1 if it is committed, 0 if it is held.
   */
  uint32_t committed;
  /**
   * Zero.
   */
  uint32_t reserved;
} gw_reservation;

/**
 * Schedules to search, and the memory of searches. `id` is 0 for none.
 */
typedef struct gw_search {
  /**
   * The library's number for the object.
   */
  uint64_t id;
} gw_search;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the ABI of the library: a program compares it with GW_ABI when it starts.
 */
uint32_t gw_abi(void);

/**
 * The version of the library, such as "0.1.0". The text is the library's, and lasts as long as it is loaded.
 */
const char *gw_version(void);

/**
 * Makes the plan of a machine with so many processors, all free from time 0 on. Free it with `gw_availability_free`.
 *
 * It has at most `limit` steps (0: 1,048,576, which take some 12 MiB); a reservation adds two at most.
 *
 * Errors: GW_ZERO_COUNT, GW_NULL, GW_TOO_MANY.
 */
gw_status gw_availability_new(uint32_t processors, size_t limit, struct gw_availability *availability);

/**
 * Makes a copy that changes independently. Free it with `gw_availability_free`.
 *
 * Errors: those of handles, GW_NULL, GW_TOO_MANY.
 */
gw_status gw_availability_clone(struct gw_availability availability, struct gw_availability *copy);

/**
 * Frees it. A later call with its handle returns GW_STALE_HANDLE.
 *
 * Errors: those of handles.
 */
gw_status gw_availability_free(struct gw_availability availability);

/**
 * Reserves `count` processors from `start` on, before `end`.
 *
 * Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_ZERO_COUNT, GW_TOO_LARGE, GW_BEFORE_ORIGIN,
 * GW_NOT_FREE, GW_FULL, those of handles.
 */
gw_status gw_availability_reserve(struct gw_availability availability, uint64_t start, uint64_t end, uint32_t count);

/**
 * Gives `count` processors back from `start` on, before `end`: when a job has ended early, the rest of its time.
 *
 * Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_ZERO_COUNT, GW_BEFORE_ORIGIN, GW_NOT_RESERVED, GW_FULL,
 * those of handles.
 */
gw_status gw_availability_release(struct gw_availability availability, uint64_t start, uint64_t end, uint32_t count);

/**
 * Tells the earliest time, at or after `from`, from which `count` processors are free for `length`.
 *
 * Errors: GW_ZERO_COUNT, GW_ZERO_LENGTH, GW_TOO_LARGE, GW_BEYOND_TIME, GW_NULL, those of handles.
 */
gw_status gw_availability_earliest_fit(struct gw_availability availability,
                                       uint64_t from,
                                       uint32_t count,
                                       uint64_t length,
                                       uint64_t *start);

/**
 * Tells how many processors are free throughout an interval; none if it begins before what is remembered.
 *
 * Errors: GW_BAD_INTERVAL, GW_NULL, those of handles.
 */
gw_status gw_availability_least_free(struct gw_availability availability,
                                     uint64_t start,
                                     uint64_t end,
                                     uint32_t *count);

/**
 * Tells how many processors are free at an instant; none before what is remembered.
 *
 * Errors: GW_NULL, those of handles.
 */
gw_status gw_availability_free_at(struct gw_availability availability, uint64_t at, uint32_t *count);

/**
 * Forgets everything before `now`. Call it as time goes on, so that the plan stays small.
 *
 * Errors: those of handles.
 */
gw_status gw_availability_advance(struct gw_availability availability, uint64_t now);

/**
 * Moves each booking, in the given order, to the earliest time at or after `from` at which it fits, and tells how many
 * moved. Call it when processors became free earlier than planned, with the bookings in the order of the queue. A
 * booking that is not reserved, or began before `from`, stays as it is.
 *
 * Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_NULL, those of handles.
 */
gw_status gw_availability_compress(struct gw_availability availability,
                                   uint64_t from,
                                   struct gw_booking *bookings,
                                   size_t count,
                                   size_t *moved);

/**
 * Copies the steps of the plan, in order, and tells how many there are. With GW_NO_ROOM only their number is told; a
 * `size` of 0 asks for it, and `steps` may be null then.
 *
 * Errors: GW_NO_ROOM, GW_NULL, those of handles.
 */
gw_status gw_availability_steps(struct gw_availability availability, struct gw_step *steps, size_t size, size_t *count);

/**
 * Builds a node. It does nothing before `gw_node_start`. `size` is `sizeof(gw_setup)`. The setup is copied. Free the
 * node with `gw_node_free`: for the grid that is a crash, after which the node can be built anew with its records.
 *
 * Errors: GW_SETUP and GW_ARGUMENT, with a detail; GW_WRONG_SIZE, GW_NULL, GW_TOO_MANY.
 */
gw_status gw_node_new(const struct gw_setup *setup, size_t size, struct gw_node *node);

/**
 * Frees it. A later call with its handle returns GW_STALE_HANDLE, and bytes of its last effect are gone.
 *
 * Errors: those of handles.
 */
gw_status gw_node_free(struct gw_node node);

/**
 * Sets the function that is told what the node does and why, or none. It is called during calls that take a time, on
 * their thread. `context` is handed to it; both must last until the node is freed or another one is set.
 *
 * Errors: those of handles.
 */
gw_status gw_node_on_trace(struct gw_node node, gw_trace_callback callback, void *context);

/**
 * Gives the node a record of its earlier life: the `bytes` of a GW_PERSIST. Call it for all of them, in any order,
 * before the start.
 *
 * Errors: GW_NOT_DECODED, GW_STARTED, GW_NULL, those of handles.
 */
gw_status gw_node_restore(struct gw_node node, const uint8_t *record, size_t length);

/**
 * Says what became of an attempt that an earlier life of the node had started: GW_RUNS with `until`, the time that the
 * program was told last, or GW_DONE, GW_BROKE, GW_OVERRAN. Call it before the start; attempts of which nothing is said
 * count as lost.
 *
 * Errors: GW_ARGUMENT, GW_STARTED, those of handles.
 */
gw_status gw_node_survived(struct gw_node node, uint64_t job, uint64_t attempt, uint32_t outcome, uint64_t until);

/**
 * Starts the node. Then carry out its effects (`gw_node_next`), as after all that follows.
 *
 * Errors: GW_STARTED, those of handles.
 */
gw_status gw_node_start(struct gw_node node, uint64_t now);

/**
 * Gives the node a message: the bytes of a GW_SEND of the node `from`. The transport, not the message, says which node
 * sent it.
 *
 * Errors, after which nothing has changed: GW_NOT_DECODED for bytes that are no message of this scheduler; drop them.
 * GW_NOT_STARTED, GW_TIME_WENT_BACK, GW_NULL, those of handles.
 */
gw_status gw_node_message(struct gw_node node, uint64_t now, uint64_t from, const uint8_t *frame, size_t length);

/**
 * Says that a message to a node could not be delivered. Optional: it shortens some waits.
 *
 * Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_unreachable(struct gw_node node, uint64_t now, uint64_t to);

/**
 * Submits a job. What becomes of it is told by effects of kind GW_NOTIFY. `size` is `sizeof(gw_job)`. The job and its
 * payload are copied.
 *
 * A node that has just started knows no other node, and refuses what takes more than itself, with the news
 * GW_NEWS_FAILED: wait until `gw_node_state` tells of neighbours.
 *
 * Errors, after which nothing has changed: GW_JOB, GW_ARGUMENT, GW_WRONG_SIZE, GW_NOT_STARTED, GW_TIME_WENT_BACK,
 * GW_NULL, those of handles.
 */
gw_status gw_node_submit(struct gw_node node, uint64_t now, const struct gw_job *job, size_t size);

/**
 * Stops a job that was submitted here, wherever it waits or runs.
 *
 * Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_cancel(struct gw_node node, uint64_t now, uint64_t job);

/**
 * Says that an attempt, told by GW_NEWS_STARTED, has ended by itself: GW_DONE, GW_BROKE or GW_OVERRAN. Of all that is
 * due at one instant, say this first.
 *
 * Errors: GW_ARGUMENT, GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_ended(struct gw_node node, uint64_t now, uint64_t job, uint64_t attempt, uint32_t outcome);

/**
 * Tells the node GW_DRAIN, GW_RESUME or GW_LEAVE.
 *
 * Errors: GW_ARGUMENT, GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_tell(struct gw_node node, uint64_t now, uint32_t what);

/**
 * Has the node look for others through this one, too: for a program that knows more of the grid than the node.
 *
 * Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_meet(struct gw_node node, uint64_t now, uint64_t peer);

/**
 * Tells when the next timer is due; GW_NONE if none is set. For a program that leaves timers to the library: it sleeps
 * until then or until a message comes, and calls `gw_node_fire`.
 *
 * Errors: GW_NULL, those of handles.
 */
gw_status gw_node_next_timer(struct gw_node node, uint64_t *due);

/**
 * Rings the next timer that is due by `now`; GW_NONE if none is. Call it until it returns that, and carry out the effects
 * each time.
 *
 * Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_fire(struct gw_node node,
                       uint64_t now);

/**
 * Rings one timer, by the number of its GW_WAKE: for a program that keeps timers itself, and does not call
 * `gw_node_fire`.
 *
 * Errors: GW_NO_TIMER if it is not set any more, GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
 */
gw_status gw_node_ring(struct gw_node node, uint64_t now, uint64_t timer);

/**
 * Takes out the next effect; GW_NONE if all are carried out. `size` is `sizeof(gw_effect)`.
 *
 * What the effect points to is the library's, and lasts until the next `gw_node_next` or `gw_node_free` with this node.
 * Carry effects out in order: a GW_PERSIST must be durable before the next effect.
 *
 * Errors: GW_NOT_ENCODED: the effect is taken out, and its `kind` says whether it was a message, which counts as lost, or
 * a record, after which the node must be stopped. GW_WRONG_SIZE, GW_NULL, those of handles.
 */
gw_status gw_node_next(struct gw_node node,
                       struct gw_effect *effect,
                       size_t size);

/**
 * Puts the records of the next group of effects first, for a program that makes many records durable at once, and tells
 * how many they are, and how many other effects follow. Take the records out, make them durable together, then carry
 * out the others. Then comes the next group, until both numbers are 0.
 *
 * Errors: GW_NULL, those of handles.
 */
gw_status gw_node_group_records(struct gw_node node, size_t *records, size_t *others);

/**
 * Tells how many neighbours the node has, and whether it is drained: nothing runs or is to run there. Each may be null.
 *
 * Errors: those of handles.
 */
gw_status gw_node_state(struct gw_node node, size_t *neighbours, uint32_t *drained);

/**
 * Tells the most bytes of a message of this node: how long a datagram or a buffer must be.
 *
 * Errors: GW_NULL, those of handles.
 */
gw_status gw_node_most_bytes(struct gw_node node, size_t *most);

/**
 * Looks whether the state of the node keeps its rules, reading all of it: for tests. GW_RULE_BROKEN if not, with the
 * rule as the detail.
 *
 * Errors: those of handles.
 */
gw_status gw_node_check(struct gw_node node);

/**
 * Fills a setup: `asap` on a local network, the first node of its grid, with one core, open to all. Set `me` and `seed`,
 * which are 0. `size` is `sizeof(gw_setup)`.
 *
 * Errors: GW_WRONG_SIZE, GW_NULL.
 */
gw_status gw_setup_init(struct gw_setup *setup,
                        size_t size);

/**
 * Makes an idle queue for a machine that has these dimensions, and for at most `limit` jobs, waiting and running. No
 * job is passed more often than `passing` says (GW_UNBOUNDED: as often as may be). Free it with `gw_queue_free`.
 *
 * Errors: GW_DIMENSIONS, GW_ARGUMENT for a kind, GW_NULL, GW_TOO_MANY.
 */
gw_status gw_queue_new(const struct gw_dimension *dimensions,
                       size_t count,
                       size_t limit,
                       uint32_t passing,
                       struct gw_queue *queue);

/**
 * Frees it. A later call with its handle returns GW_STALE_HANDLE.
 *
 * Errors: those of handles.
 */
gw_status gw_queue_free(struct gw_queue queue);

/**
 * Lets a job wait. `size` is `sizeof(gw_waiting)`.
 *
 * Errors, after which nothing has changed: GW_KNOWN, GW_UNSUITABLE, GW_FULL, GW_DIMENSIONS, GW_WRONG_SIZE, GW_NULL,
 * those of handles.
 */
gw_status gw_queue_push(struct gw_queue queue, const struct gw_waiting *job, size_t size);

/**
 * Starts a job that waited elsewhere, if it can start here at once and may pass those that wait.
 *
 * Errors, after which nothing has changed: GW_HEAD_PASSED_MORE, GW_NOT_FREE, GW_KNOWN, GW_FULL, GW_DIMENSIONS,
 * GW_WRONG_SIZE, GW_NULL, those of handles.
 */
gw_status gw_queue_start_migrant(struct gw_queue queue, const struct gw_waiting *job, size_t size);

/**
 * Takes a job that runs already: it went on while the program restarted. It passes no job.
 *
 * Errors, after which nothing has changed: GW_NOT_FREE, GW_KNOWN, GW_FULL, GW_DIMENSIONS, GW_WRONG_SIZE, GW_NULL, those
 * of handles.
 */
gw_status gw_queue_resume(struct gw_queue queue, const struct gw_waiting *job, size_t size);

/**
 * Starts one waiting job, if one may start now, and tells which. Call it until it returns GW_NONE. `discipline` is
 * GW_HEAD_ONLY or GW_BACKFILL.
 *
 * Errors: GW_ARGUMENT for the discipline, GW_NULL, those of handles.
 */
gw_status gw_queue_start_next(struct gw_queue queue, uint32_t discipline, uint64_t *job);

/**
 * Frees what an ended job used.
 *
 * Errors: GW_NO_JOB if it does not run here, those of handles.
 */
gw_status gw_queue_finish(struct gw_queue queue, uint64_t job);

/**
 * Takes a waiting job out, to wait elsewhere or never to run. `waiting` gets it, with its counter, if it is not null;
 * `size` is `sizeof(gw_waiting)`.
 *
 * Errors, after which nothing has changed: GW_NO_JOB if it does not wait here, GW_WRONG_SIZE, those of handles.
 */
gw_status gw_queue_remove(struct gw_queue queue, uint64_t job, struct gw_waiting *waiting, size_t size);

/**
 * Tells which waiting job to offer to another machine, `target`: the job that fills it best, of those that could start
 * there at once and may pass its head. It stays here until `gw_queue_remove`. GW_NONE if there is none. `size` is
 * `sizeof(gw_waiting)`.
 *
 * Errors: GW_WRONG_SIZE, GW_NULL, those of both handles; GW_BUSY if both are the same.
 */
gw_status gw_queue_best_for(struct gw_queue queue, struct gw_queue target, struct gw_waiting *waiting, size_t size);

/**
 * Copies the waiting jobs, in order, and tells how many there are. `size` is `sizeof(gw_waiting)`, and `room` how many
 * fit. With GW_NO_ROOM only their number is told; a `room` of 0 asks for it, and `jobs` may be null then.
 *
 * Errors: GW_NO_ROOM, GW_WRONG_SIZE, GW_NULL, those of handles.
 */
gw_status gw_queue_waiting(struct gw_queue queue, struct gw_waiting *jobs, size_t size, size_t room, size_t *count);

/**
 * Makes an empty schedule for at most `limit` reservations (0: 1,024). Free it with `gw_schedule_free`.
 *
 * Errors: GW_NULL, GW_TOO_MANY.
 */
gw_status gw_schedule_new(size_t limit, struct gw_schedule *schedule);

/**
 * Frees it. A later call with its handle returns GW_STALE_HANDLE.
 *
 * Errors: those of handles.
 */
gw_status gw_schedule_free(struct gw_schedule schedule);

/**
 * Reserves time for good.
 *
 * Errors, after which nothing has changed: GW_BAD_INTERVAL; GW_NOT_FREE if another job has some of that time;
 * GW_OLD_ATTEMPT, GW_OTHER_INTERVAL, GW_FULL, those of handles.
 */
gw_status gw_schedule_reserve(struct gw_schedule schedule, struct gw_attempt attempt, struct gw_interval interval);

/**
 * Holds time until `lease`, to be committed before. A newer attempt may hold time that overlaps that of an older
 * attempt at the same job. Holding the same again changes nothing.
 *
 * Errors, after which nothing has changed: those of `gw_schedule_reserve`.
 */
gw_status gw_schedule_hold(struct gw_schedule schedule,
                           struct gw_attempt attempt,
                           struct gw_interval interval,
                           uint64_t lease);

/**
 * Makes a hold last, and drops an older reservation of the job. Committing again changes nothing. Call
 * `gw_schedule_expire` before: a lease that is over counts until then.
 *
 * Errors, after which nothing has changed: GW_OLD_ATTEMPT, GW_NOT_HELD, those of handles.
 */
gw_status gw_schedule_commit(struct gw_schedule schedule, struct gw_attempt attempt);

/**
 * Makes a committed reservation last until `end`, for a job that overruns. One that lasts as long stays as it is.
 *
 * Errors, after which nothing has changed: GW_NOT_FREE, GW_NOT_HELD, those of handles.
 */
gw_status gw_schedule_lengthen(struct gw_schedule schedule, struct gw_attempt attempt, uint64_t end);

/**
 * Gives time back, held or committed.
 *
 * Errors: GW_NOT_HELD, those of handles.
 */
gw_status gw_schedule_release(struct gw_schedule schedule, struct gw_attempt attempt);

/**
 * Drops the holds whose lease is over by `now`, and tells how many. `count` may be null.
 *
 * Errors: those of handles.
 */
gw_status gw_schedule_expire(struct gw_schedule schedule, uint64_t now, size_t *count);

/**
 * Drops the reservations that are over by `now`, and tells how many. `count` may be null.
 *
 * Errors: those of handles.
 */
gw_status gw_schedule_prune(struct gw_schedule schedule, uint64_t now, size_t *count);

/**
 * Tells the earliest start, at or after `from`, of a free interval of this length.
 *
 * Errors: GW_BAD_INTERVAL for a length of zero, GW_BEYOND_TIME, GW_NULL, those of handles.
 */
gw_status gw_schedule_earliest_fit(struct gw_schedule schedule, uint64_t from, uint64_t length, uint64_t *start);

/**
 * Tells whether no reservation overlaps an interval: 1 if it is free, else 0.
 *
 * Errors: GW_BAD_INTERVAL, GW_NULL, those of handles.
 */
gw_status gw_schedule_is_free(struct gw_schedule schedule, struct gw_interval interval, uint32_t *free);

/**
 * Copies all reservations, and tells how many there are: first those that do not overlap, by time; then holds over an
 * older one of the same job. With GW_NO_ROOM only their number is told; a `size` of 0 asks for it, and `reservations`
 * may be null then.
 *
 * Errors: GW_NO_ROOM, GW_NULL, those of handles.
 */
gw_status gw_schedule_reservations(struct gw_schedule schedule,
                                   struct gw_reservation *reservations,
                                   size_t size,
                                   size_t *count);

/**
 * Makes a search without schedules. Free it with `gw_search_free`.
 *
 * Errors: GW_NULL, GW_TOO_MANY.
 */
gw_status gw_search_new(struct gw_search *search);

/**
 * Frees it. A later call with its handle returns GW_STALE_HANDLE.
 *
 * Errors: those of handles.
 */
gw_status gw_search_free(struct gw_search search);

/**
 * Tells the search when a schedule is busy. The windows are copied. They are sorted, have a gap between any two, and
 * end by `horizon`, from which on nothing is known and the schedule counts as busy (GW_NEVER: all is known). There are
 * at most 512.
 *
 * `index` is that of a schedule to replace, or the number of schedules, to add one.
 *
 * Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_UNSORTED, GW_FULL for too many windows, GW_ARGUMENT for
 * the index, GW_NULL, those of handles.
 */
gw_status gw_search_set(struct gw_search search,
                        size_t index,
                        const struct gw_interval *windows,
                        size_t count,
                        uint64_t horizon);

/**
 * The same from a schedule as it is now, from `from` on: its first 512 busy windows, and busy after them. Later changes
 * of the schedule are not seen.
 *
 * Errors, after which nothing has changed: GW_ARGUMENT for the index, those of both handles.
 */
gw_status gw_search_set_schedule(struct gw_search search, size_t index, struct gw_schedule schedule, uint64_t from);

/**
 * Forgets all schedules from `count` on. The memory is kept for the next ones.
 *
 * Errors: those of handles.
 */
gw_status gw_search_truncate(struct gw_search search, size_t count);

/**
 * Tells the earliest time, at or after `from`, when `count` of the schedules are free for `length`, and which ones:
 * `chosen` gets `count` distinct indices. `pick` is one of GW_PICK_IN_ORDER, GW_PICK_SEEDED (which uses `seed`) and
 * GW_PICK_BEST_FIT. `chosen` may be null.
 *
 * Errors: GW_ZERO_COUNT, GW_ZERO_LENGTH, GW_TOO_LARGE if there are fewer schedules, GW_BEYOND_TIME, GW_ARGUMENT for the
 * pick, GW_NULL, those of handles.
 */
gw_status gw_search_earliest(struct gw_search search,
                             uint64_t from,
                             uint64_t length,
                             uint32_t count,
                             uint32_t pick,
                             uint64_t seed,
                             uint64_t *start,
                             uint32_t *chosen);

/**
 * The words for a status, in English. They are the library's and last as long as it is loaded.
 */
const char *gw_status_text(int32_t status);

/**
 * What the last call on this thread that failed has to say: the words of its status, or more, such as the field of a
 * setup and its bound. It ends with a zero byte.
 *
 * `length` gets its length without that byte, if it is not null. A `size` of 0 only asks for the length; `room` may be
 * null then.
 *
 * Errors: GW_NO_ROOM, GW_NULL. They do not become the detail.
 */
gw_status gw_last_detail(char *room, size_t size, size_t *length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GRIDWEAVE_H */
