/* EASY backfilling of a trace in the Standard Workload Format, as a plan for free processors has it: the first job that
 * waits has a reservation, and others start before it if they do not delay it. Users' requested times are limits.
 *
 *   cc easy.c $(pkg-config --cflags --libs gridweave) -o easy && ./easy KTH-SP2-1996-2.1-cln.swf
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gridweave.h>

#define SECOND UINT64_C(1000000)

/* Ends the program if a call failed. */
#define CHECK(call) check(call, #call)

static unsigned long long calls;

static void check(gw_status status, const char *call) {
    char detail[200] = "";
    calls++;
    if (status == GW_OK) return;
    gw_last_detail(detail, sizeof detail, NULL);
    fprintf(stderr, "%s: %s\n", call, detail);
    exit(1);
}

struct job {
    uint64_t submitted, takes, estimate, start;
    uint32_t count;
};

/* The running jobs: a heap, the first to end on top. */
struct running {
    uint64_t end, planned;
    uint32_t count;
};

static struct job *jobs;
static size_t job_count;
static struct running *heap;
static size_t running;

static void push(struct running job) {
    size_t at = running++;
    for (; at > 0 && heap[(at - 1) / 2].end > job.end; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = job;
}

static struct running pop(void) {
    struct running first = heap[0], last = heap[--running];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < running) {
        if (child + 1 < running && heap[child + 1].end < heap[child].end) child++;
        if (heap[child].end >= last.end) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

/* Reads the jobs that ran, and tells the number of processors. */
static uint32_t read_trace(FILE *file) {
    char line[1024];
    uint32_t processors = 0;
    size_t room = 0;
    while (fgets(line, sizeof line, file)) {
        double submit, run, allocated, requested, limit;
        if (line[0] == ';') {
            sscanf(line, "; MaxProcs: %" SCNu32, &processors);
            continue;
        }
        if (sscanf(line, "%*f %lf %*f %lf %lf %*f %*f %lf %lf", &submit, &run, &allocated, &requested, &limit) != 5) continue;
        if (submit < 0 || run <= 0 || (requested <= 0 && allocated <= 0)) continue;
        if (job_count == room) {
            room = room ? 2 * room : 1024;
            jobs = realloc(jobs, room * sizeof *jobs);
            if (!jobs) abort();
        }
        struct job *job = &jobs[job_count++];
        job->submitted = (uint64_t)submit * SECOND;
        job->estimate = (uint64_t)(limit > 0 ? limit : run) * SECOND;
        job->takes = (uint64_t)run * SECOND;
        if (job->takes > job->estimate) job->takes = job->estimate;
        job->count = (uint32_t)(requested > 0 ? requested : allocated);
    }
    return processors;
}

static void start(gw_availability plan, struct job *job, uint64_t now) {
    CHECK(gw_availability_reserve(plan, now, now + job->estimate, job->count));
    push((struct running){now + job->takes, now + job->estimate, job->count});
    job->start = now;
}

/* Starts what may start now of the `waiting` jobs, and tells how many still wait. */
static size_t pass(gw_availability plan, struct job **queue, size_t waiting, uint64_t now) {
    size_t still = 0;
    uint64_t reserved = 0;
    for (size_t at = 0; at < waiting; at++) {
        struct job *job = queue[at];
        uint32_t least;
        CHECK(gw_availability_least_free(plan, now, now + job->estimate, &least));
        if (least >= job->count) {
            start(plan, job, now);
            continue;
        }
        if (still == 0) { /* The first that waits: its reservation is in the plan for this pass only. */
            CHECK(gw_availability_earliest_fit(plan, now, job->count, job->estimate, &reserved));
            CHECK(gw_availability_reserve(plan, reserved, reserved + job->estimate, job->count));
        }
        queue[still++] = job;
    }
    if (still) CHECK(gw_availability_release(plan, reserved, reserved + queue[0]->estimate, queue[0]->count));
    return still;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file || gw_abi() != GW_ABI) return fprintf(stderr, "usage: easy TRACE.swf, with the library of its header\n"), 2;
    uint32_t processors = read_trace(file);
    fclose(file);
    struct job **queue = malloc((job_count + 1) * sizeof *queue);
    heap = malloc((job_count + 1) * sizeof *heap);
    gw_availability plan;
    if (!queue || !heap) abort();
    CHECK(gw_availability_new(processors, 0, &plan));
    size_t next = 0, waiting = 0;
    while (next < job_count || running) {
        uint64_t now = UINT64_MAX;
        if (next < job_count) now = jobs[next].submitted;
        if (running && heap[0].end < now) now = heap[0].end;
        CHECK(gw_availability_advance(plan, now));
        while (running && heap[0].end == now) { /* All ends come before all arrivals. */
            struct running over = pop();
            if (over.planned > now) CHECK(gw_availability_release(plan, now, over.planned, over.count));
        }
        for (; next < job_count && jobs[next].submitted <= now; next++)
            if (jobs[next].count <= processors) queue[waiting++] = &jobs[next];
        waiting = pass(plan, queue, waiting, now);
    }
    CHECK(gw_availability_free(plan));
    uint64_t sum = 0, ran = 0;
    for (size_t at = 0; at < job_count; at++)
        if (jobs[at].count <= processors) sum += (jobs[at].start - jobs[at].submitted) / SECOND, ran++;
    printf("%" PRIu64 " jobs on %" PRIu32 " processors: mean wait %.3f s, %llu calls\n", ran, processors, (double)sum / (double)ran, calls);
    return free(jobs), free(queue), free(heap), 0;
}
