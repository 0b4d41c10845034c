/* When can three of five computers go down for maintenance together for two hours,
 * given what is booked? The slot is held on each of them and then committed. Bookings: "COMPUTER START END" in hours. */
#include <inttypes.h>
#include <stdio.h>
#include <gridweave.h>

#define HOUR UINT64_C(3600000000)
#define COMPUTERS 5
#define WANTED 3

static int fails(gw_status status, const char *what) {
    if (status == GW_OK) return 0;
    char why[128];
    gw_last_detail(why, sizeof why, NULL);
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

int main(void) {
    gw_schedule computers[COMPUTERS];
    gw_search search;
    for (int i = 0; i < COMPUTERS; i++)
        if (fails(gw_schedule_new(0, &computers[i]), "new")) return 1;
    unsigned computer;
    uint64_t from, to, job = 1;
    while (scanf("%u %" SCNu64 " %" SCNu64, &computer, &from, &to) == 3) {
        if (computer >= COMPUTERS) continue;
        gw_attempt attempt = {job++, 0};
        gw_interval time = {from * HOUR, to * HOUR};
        if (fails(gw_schedule_reserve(computers[computer], attempt, time), "booking")) continue;
    }
    if (fails(gw_search_new(&search), "search")) return 1;
    for (size_t i = 0; i < COMPUTERS; i++)
        if (fails(gw_search_set_schedule(search, i, computers[i], 0), "set")) return 1;
    uint64_t start;
    uint32_t chosen[WANTED];
    if (fails(gw_search_earliest(search, 0, 2 * HOUR, WANTED, GW_PICK_BEST_FIT, 0, &start, chosen), "earliest")) return 1;
    gw_attempt maintenance = {1000, 0};
    gw_interval slot = {start, start + 2 * HOUR};
    for (int i = 0; i < WANTED; i++)
        if (fails(gw_schedule_hold(computers[chosen[i]], maintenance, slot, start), "hold")) return 1;
    for (int i = 0; i < WANTED; i++) {
        if (fails(gw_schedule_commit(computers[chosen[i]], maintenance), "commit")) return 1;
        printf("computer %" PRIu32 " from hour %" PRIu64 "\n", chosen[i], start / HOUR);
    }
    for (int i = 0; i < COMPUTERS; i++) gw_schedule_free(computers[i]);
    gw_search_free(search);
    return 0;
}
