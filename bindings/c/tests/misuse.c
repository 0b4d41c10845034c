/* Every mistake that the library can tell is an error code. Exits with 1 at the first that is not. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <gridweave.h>

#define EXPECT(expected, call) expect(expected, call, #call)

static int failed;

static void expect(gw_status expected, gw_status status, const char *call) {
    if (status == expected) return;
    fprintf(stderr, "%s: %s, and not: %s\n", call, gw_status_text(status), gw_status_text(expected));
    failed = 1;
}

static gw_node in_callback;
static unsigned traces;

/* A node is busy while it tells something. */
static void again(void *context, const gw_trace *trace) {
    (void)trace;
    EXPECT(GW_BUSY, gw_node_cancel(in_callback, 0, 1));
    EXPECT(GW_BUSY, gw_node_free(in_callback));
    ++*(unsigned *)context;
}

/* Two threads with one object: a call works or is refused, and never waits. */
static void *hammer(void *context) {
    gw_availability plan = *(gw_availability *)context;
    for (unsigned at = 0; at < 20000; at++) {
        uint32_t free;
        gw_status status = gw_availability_free_at(plan, at, &free);
        if (status != GW_OK && status != GW_BUSY) EXPECT(GW_OK, status);
        if (status == GW_OK && free != 8) EXPECT(GW_OK, GW_ARGUMENT);
    }
    return NULL;
}

int main(void) {
    gw_availability plan, other, none = {0}, forged = {UINT64_C(0x0100000100000007)};
    gw_schedule schedule;
    gw_interval windows[2] = {{0, 10}, {10, 20}};
    uint32_t number;
    uint64_t time;
    size_t count;

    EXPECT(GW_NULL, gw_availability_new(8, 0, NULL));
    EXPECT(GW_ZERO_COUNT, gw_availability_new(0, 0, &plan));
    EXPECT(GW_OK, gw_availability_new(8, 0, &plan));
    EXPECT(GW_NULL, gw_availability_free_at(plan, 0, NULL));
    EXPECT(GW_MISALIGNED, gw_availability_free_at(plan, 0, (uint32_t *)((char *)&number + 1)));
    EXPECT(GW_BAD_INTERVAL, gw_availability_reserve(plan, 10, 10, 1));
    EXPECT(GW_TOO_LARGE, gw_availability_reserve(plan, 0, 10, 9));
    EXPECT(GW_NO_HANDLE, gw_availability_free(none));
    EXPECT(GW_NO_HANDLE, gw_availability_free(forged));
    EXPECT(GW_WRONG_KIND, gw_schedule_free((gw_schedule){plan.id}));
    EXPECT(GW_NO_ROOM, gw_availability_steps(plan, NULL, 0, &count));
    EXPECT(count == 1 ? GW_OK : GW_ARGUMENT, GW_OK);

    pthread_t threads[2];
    for (int at = 0; at < 2; at++) pthread_create(&threads[at], NULL, hammer, &plan);
    for (int at = 0; at < 2; at++) pthread_join(threads[at], NULL);

    EXPECT(GW_OK, gw_availability_clone(plan, &other));
    EXPECT(GW_OK, gw_availability_free(plan));
    EXPECT(GW_STALE_HANDLE, gw_availability_free(plan));
    EXPECT(GW_STALE_HANDLE, gw_availability_earliest_fit(plan, 0, 1, 1, &time));
    EXPECT(GW_OK, gw_availability_earliest_fit(other, 0, 1, 1, &time));
    EXPECT(GW_OK, gw_availability_free(other));

    EXPECT(GW_OK, gw_schedule_new(0, &schedule));
    EXPECT(GW_NOT_HELD, gw_schedule_commit(schedule, (gw_attempt){1, 0}));
    EXPECT(GW_OK, gw_schedule_reserve(schedule, (gw_attempt){1, 1}, windows[0]));
    EXPECT(GW_NOT_FREE, gw_schedule_reserve(schedule, (gw_attempt){2, 1}, windows[0]));
    EXPECT(GW_OLD_ATTEMPT, gw_schedule_reserve(schedule, (gw_attempt){1, 0}, windows[0]));

    gw_search search;
    EXPECT(GW_OK, gw_search_new(&search));
    EXPECT(GW_UNSORTED, gw_search_set(search, 0, windows, 2, GW_NEVER));
    EXPECT(GW_ARGUMENT, gw_search_set(search, 1, windows, 1, GW_NEVER));
    EXPECT(GW_NULL, gw_search_set(search, 0, NULL, 1, GW_NEVER));
    EXPECT(GW_FULL, gw_search_set(search, 0, windows, SIZE_MAX, GW_NEVER));
    EXPECT(GW_OK, gw_search_set_schedule(search, 0, schedule, 0));
    EXPECT(GW_ARGUMENT, gw_search_earliest(search, 0, 1, 1, 9, 0, &time, NULL));
    EXPECT(GW_TOO_LARGE, gw_search_earliest(search, 0, 1, 2, GW_PICK_IN_ORDER, 0, &time, NULL));
    EXPECT(GW_OK, gw_search_free(search));
    EXPECT(GW_OK, gw_schedule_free(schedule));

    gw_queue queue;
    gw_dimension cores = {"cores", GW_AMOUNT, 4};
    gw_waiting job = {.job = 1, .named = 1, .needs = {8}};
    EXPECT(GW_OK, gw_queue_new(&cores, 1, 10, GW_UNBOUNDED, &queue));
    EXPECT(GW_WRONG_SIZE, gw_queue_push(queue, &job, sizeof job - 1));
    EXPECT(GW_UNSUITABLE, gw_queue_push(queue, &job, sizeof job));
    job.named = 2;
    EXPECT(GW_DIMENSIONS, gw_queue_push(queue, &job, sizeof job));
    EXPECT(GW_BUSY, gw_queue_best_for(queue, queue, &job, sizeof job));
    EXPECT(GW_OK, gw_queue_free(queue));

    gw_setup setup;
    gw_effect effect;
    EXPECT(GW_WRONG_SIZE, gw_setup_init(&setup, sizeof setup + 8));
    EXPECT(GW_OK, gw_setup_init(&setup, sizeof setup));
    setup.scheduler = 77;
    EXPECT(GW_ARGUMENT, gw_node_new(&setup, sizeof setup, &in_callback));
    setup.scheduler = GW_ASAP;
    setup.slot = 0;
    EXPECT(GW_SETUP, gw_node_new(&setup, sizeof setup, &in_callback));
    char detail[200];
    gw_last_detail(detail, sizeof detail, NULL);
    EXPECT(strstr(detail, "slot") ? GW_OK : GW_ARGUMENT, GW_OK);
    EXPECT(GW_NO_ROOM, gw_last_detail(detail, 3, &count));
    setup.slot = GW_DEFAULT;
    EXPECT(GW_OK, gw_node_new(&setup, sizeof setup, &in_callback));
    EXPECT(GW_OK, gw_node_on_trace(in_callback, again, &traces));
    EXPECT(GW_NOT_STARTED, gw_node_fire(in_callback, 0));
    EXPECT(GW_NOT_DECODED, gw_node_restore(in_callback, (const uint8_t *)"?", 1));
    EXPECT(GW_OK, gw_node_start(in_callback, 1000000));
    EXPECT(GW_STARTED, gw_node_start(in_callback, 1000000));
    EXPECT(GW_TIME_WENT_BACK, gw_node_fire(in_callback, 999999));
    EXPECT(GW_NOT_DECODED, gw_node_message(in_callback, 1000000, 2, NULL, 0));
    EXPECT(GW_NO_TIMER, gw_node_ring(in_callback, 1000000, 4711));
    EXPECT(GW_WRONG_SIZE, gw_node_next(in_callback, &effect, 4));
    gw_job work = {.id = 1, .nodes = 1};
    EXPECT(GW_JOB, gw_node_submit(in_callback, 1000000, &work, sizeof work));
    work.estimate = 1000000;
    EXPECT(GW_OK, gw_node_submit(in_callback, 1000000, &work, sizeof work));
    while (gw_node_next(in_callback, &effect, sizeof effect) == GW_OK) {}
    EXPECT(traces ? GW_OK : GW_ARGUMENT, GW_OK);
    EXPECT(GW_OK, gw_node_free(in_callback));
    EXPECT(GW_STALE_HANDLE, gw_node_next(in_callback, &effect, sizeof effect));
    puts(failed ? "a mistake was not told" : "every mistake was told");
    return failed;
}
