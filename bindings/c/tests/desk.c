/* One `aria` node in virtual time, whose timers the program keeps itself. It gets four jobs of two cores each on four
 * cores, and runs them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <gridweave.h>

#define SECOND UINT64_C(1000000)
struct alarm { uint64_t number, at; } timers[64];
struct run { uint64_t job, attempt, at; } runs[8];
static uint64_t now = 1;
static int finished;
static gw_node node;

static void need(gw_status status) {
    if (status == GW_OK) return;
    char why[200];
    gw_last_detail(why, sizeof why, NULL);
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void set(uint64_t number, uint64_t at) {
    struct alarm *free_one = NULL;
    for (int i = 0; i < 64; i++) {
        if (timers[i].number == number) { timers[i].at = at; if (!at) timers[i].number = 0; return; }
        if (!timers[i].number) free_one = &timers[i];
    }
    if (at && free_one) *free_one = (struct alarm){number, at};
}

static void effects(void) {
    gw_effect e;
    while (gw_node_next(node, &e, sizeof e) == GW_OK) switch (e.kind) {
        case GW_WAKE: if (e.time != GW_NEVER) set(e.timer, e.time); break;
        case GW_CANCEL_TIMER: set(e.timer, 0); break;
        case GW_SEND: {
            /* To itself: what it points to lasts only until the next gw_node_next, and gw_node_message copies. */
            need(gw_node_message(node, now, 7, e.bytes.at, e.bytes.length));
            break;
        }
        case GW_NOTIFY:
            printf("%6.1f s job %" PRIu64 " %s\n", (double)now / 1e6, e.job, e.text);
            if (e.news == GW_NEWS_STARTED)
                for (int i = 0; i < 8; i++) if (!runs[i].job) { runs[i] = (struct run){e.job, e.attempt, now + 30 * SECOND}; break; }
            if (e.news == GW_NEWS_FINISHED) finished++;
            break;
    }
}

int main(void) {
    gw_setup s;
    need(gw_setup_init(&s, sizeof s));
    s.scheduler = GW_ARIA; s.me = 7; s.seed = 42; s.cores = 4; s.memory = 8;
    need(gw_node_new(&s, sizeof s, &node));
    need(gw_node_start(node, now));
    effects();
    for (uint64_t id = 1; id <= 4; id++) {
        gw_job job = {.id = id, .nodes = 1, .cores = 2, .memory = 1, .estimate = 60 * SECOND};
        need(gw_node_submit(node, now, &job, sizeof job));
        effects();
    }
    while (finished < 4 && now < 3600 * SECOND) {
        uint64_t next = GW_NEVER;
        for (int i = 0; i < 8; i++) if (runs[i].job && runs[i].at < next) next = runs[i].at;
        for (int i = 0; i < 64; i++) if (timers[i].number && timers[i].at < next) next = timers[i].at;
        if (next == GW_NEVER) break;
        if (next > now) now = next;
        for (int i = 0; i < 8; i++) if (runs[i].job && runs[i].at <= now) {
            struct run r = runs[i];
            runs[i].job = 0;
            need(gw_node_ended(node, now, r.job, r.attempt, GW_DONE));
            effects();
        }
        for (int i = 0; i < 64; i++) if (timers[i].number && timers[i].at <= now) {
            uint64_t number = timers[i].number;
            timers[i].number = 0;
            need(gw_node_ring(node, now, number));
            effects();
        }
    }
    need(gw_node_check(node));
    need(gw_node_free(node));
    printf("%d jobs are done\n", finished);
    return finished == 4 ? 0 : 1;
}
