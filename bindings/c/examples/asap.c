/* A grid of five nodes of the scheduler `asap` that talk over UDP. They find three of themselves for a job, run it on all
 * three at once, and tell when it is done. Each node has a socket, a clock, and a folder for its records.
 *
 *   cc asap.c $(pkg-config --cflags --libs gridweave) -o asap && ./asap FOLDER [explain]
 *
 * The nodes are in one process to make the example small: none of them uses anything of another but its port. Run it
 * again with the same folder, and the nodes come up with their records. With PACE=10 in the environment time goes ten
 * times slower for them, as a debugger may need.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gridweave.h>

#define NODES 5
#define WANTED 3
#define MILLISECONDS UINT64_C(1000)
#define RUN_TIME (500 * MILLISECONDS)
#define LIMIT (120000 * MILLISECONDS)

/* A program that runs, so to say: an alarm. */
struct program {
    uint64_t job, attempt, done;
};

struct agent {
    gw_node node;
    uint64_t id;
    int socket;
    uint16_t port;
    char folder[512];
    struct program program; /* Nodes of `asap` run one job at a time; `done` is 0 if none runs. */
};

static struct agent agents[NODES];
static unsigned started, finished;
static uint64_t pace = 1;
static uint64_t submit; /* When the job is submitted; 0 if it is already. */

#define CHECK(call) check(call, #call)

static void check(gw_status status, const char *call) {
    char detail[200] = "";
    if (status == GW_OK) return;
    gw_last_detail(detail, sizeof detail, NULL);
    fprintf(stderr, "%s: %s\n", call, detail);
    exit(1);
}

static void system_check(int failed, const char *what) {
    if (!failed) return;
    perror(what);
    exit(1);
}

/* The time of the grid: microseconds since 1970, which do not go back when the clock of the computer does. */
static uint64_t now(void) {
    static uint64_t latest, first;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t micros = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    if (!first) first = micros;
    if (micros > first) micros = first + (micros - first) / pace;
    return latest = micros > latest ? micros : latest;
}

/* The file of a record: its key in hexadecimal. */
static void file_of(const struct agent *agent, gw_bytes key, char *path, size_t room) {
    int used = snprintf(path, room, "%s/", agent->folder);
    for (size_t at = 0; at < key.length && (size_t)used + 3 < room; at++)
        used += snprintf(path + used, room - (size_t)used, "%02x", key.at[at]);
}

/* When this returns, the record outlives the process and the computer: it gets its name when it is whole. */
static void persist(const struct agent *agent, const gw_effect *effect) {
    char path[1024], draft[1040];
    file_of(agent, effect->key, path, sizeof path);
    snprintf(draft, sizeof draft, "%s.draft", path);
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    system_check(file < 0, draft);
    system_check(write(file, effect->bytes.at, effect->bytes.length) != (ssize_t)effect->bytes.length, draft);
    system_check(fsync(file) != 0 || close(file) != 0 || rename(draft, path) != 0, path);
    int folder = open(agent->folder, O_RDONLY | O_DIRECTORY);
    system_check(folder < 0 || fsync(folder) != 0 || close(folder) != 0, agent->folder);
}

static void forget(const struct agent *agent, const gw_effect *effect) {
    char path[1024];
    file_of(agent, effect->key, path, sizeof path);
    system_check(unlink(path) != 0 && errno != ENOENT, path);
}

static void restore(const struct agent *agent) {
    static uint8_t record[1 << 24]; /* No record is longer. */
    DIR *folder = opendir(agent->folder);
    system_check(!folder, agent->folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strchr(entry->d_name, '.')) continue; /* A draft, or the folder itself. */
        int file = openat(dirfd(folder), entry->d_name, O_RDONLY);
        ssize_t length = file < 0 ? -1 : read(file, record, sizeof record);
        system_check(length < 0 || close(file) != 0, entry->d_name);
        CHECK(gw_node_restore(agent->node, record, (size_t)length));
    }
    closedir(folder);
}

/* News of a job. */
static void hear(struct agent *agent, const gw_effect *effect) {
    printf("node %" PRIu64 " %s\n", agent->id, effect->text);
    switch (effect->news) {
    case GW_NEWS_STARTED:
        /* Here a program would begin, with effect->bytes as its command line. It must end at effect->time. */
        agent->program = (struct program){effect->job, effect->attempt, now() + RUN_TIME};
        started++;
        break;
    case GW_NEWS_STOPPED:
        if (agent->program.job == effect->job && agent->program.attempt == effect->attempt) agent->program.done = 0;
        break;
    case GW_NEWS_FINISHED:
        finished++;
        break;
    case GW_NEWS_FAILED: /* Not enough nodes may be known yet: it tries again. */
        submit = effect->failure == GW_FAILURE_REFUSED ? now() + 1000 * MILLISECONDS : 0;
        if (!submit) exit(1);
    }
}

/* Carries out all effects of a node, in order. */
static void carry_out(struct agent *agent) {
    gw_effect effect;
    gw_status status;
    while ((status = gw_node_next(agent->node, &effect, sizeof effect)) == GW_OK) {
        if (effect.kind == GW_PERSIST) persist(agent, &effect);
        else if (effect.kind == GW_FORGET) forget(agent, &effect);
        else if (effect.kind == GW_NOTIFY) hear(agent, &effect);
        else if (effect.kind == GW_SEND && effect.node < NODES) {
            struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = agents[effect.node].port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
            /* A message that cannot be sent is lost: networks lose messages. */
            if (sendto(agent->socket, effect.bytes.at, effect.bytes.length, 0, (struct sockaddr *)&to, sizeof to) < 0) continue;
        }
        /* The library keeps the timers. */
    }
    if (status != GW_NONE) check(status, "gw_node_next");
}

static void listen_at(struct agent *agent) {
    static uint8_t frame[65536];
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    ssize_t length = recvfrom(agent->socket, frame, sizeof frame, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    for (uint64_t peer = 0; length >= 0 && peer < NODES; peer++) {
        if (agents[peer].port != from.sin_port) continue; /* Other senders are ignored; addresses can be forged. */
        gw_status status = gw_node_message(agent->node, now(), peer, frame, (size_t)length);
        if (status != GW_NOT_DECODED) check(status, "gw_node_message");
    }
}

static void explain(void *context, const gw_trace *trace) {
    const struct agent *agent = context;
    printf("    node %" PRIu64 ": %s\n", agent->id, trace->text);
}

static void set_up(struct agent *agent, uint64_t id, const char *folder, int is_explained) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    agent->id = id;
    agent->socket = socket(AF_INET, SOCK_DGRAM, 0);
    system_check(agent->socket < 0 || bind(agent->socket, (struct sockaddr *)&own, size) != 0, "bind");
    system_check(getsockname(agent->socket, (struct sockaddr *)&own, &size) != 0, "getsockname");
    agent->port = own.sin_port;
    snprintf(agent->folder, sizeof agent->folder, "%.400s/%" PRIu64, folder, id);
    system_check(mkdir(agent->folder, 0700) != 0 && errno != EEXIST, agent->folder);

    static const uint64_t introducers[] = {0};
    gw_setup setup;
    CHECK(gw_setup_init(&setup, sizeof setup));
    setup.me = id;
    setup.introducers = introducers;
    setup.introducer_count = id == 0 ? 0 : 1;
    setup.slot = 100 * MILLISECONDS;
    setup.lead = 600 * MILLISECONDS;
    setup.commit_lead = 300 * MILLISECONDS;
    system_check(getrandom(&setup.seed, sizeof setup.seed, 0) != sizeof setup.seed, "getrandom");
    CHECK(gw_node_new(&setup, sizeof setup, &agent->node));
    if (is_explained) CHECK(gw_node_on_trace(agent->node, explain, agent));
    restore(agent);
}

int main(int argc, char **argv) {
    if (argc < 2 || gw_abi() != GW_ABI) return fprintf(stderr, "usage: asap FOLDER [explain], with the library of its header\n"), 2;
    system_check(mkdir(argv[1], 0700) != 0 && errno != EEXIST, argv[1]);
    if (getenv("PACE") && atoi(getenv("PACE")) > 0) pace = (uint64_t)atoi(getenv("PACE"));
    for (uint64_t id = 0; id < NODES; id++) set_up(&agents[id], id, argv[1], argc > 2);
    uint64_t begin = now();
    submit = begin + 3000 * MILLISECONDS; /* By then the nodes know each other. */
    for (unsigned at = 0; at < NODES; at++) {
        CHECK(gw_node_start(agents[at].node, now()));
        carry_out(&agents[at]);
    }
    /* A little longer than the job runs, so that all nodes of it say that it is over. */
    for (uint64_t until = begin + LIMIT; now() < until;) {
        struct pollfd sockets[NODES];
        uint64_t next = now() + 20 * MILLISECONDS;
        if (finished && until == begin + LIMIT) until = now() + 500 * MILLISECONDS;
        if (submit && now() >= submit) {
            static const char payload[] = "hello --rank $RANK";
            gw_job job = {.id = begin, .nodes = WANTED, .estimate = 2000 * MILLISECONDS};
            job.retry = GW_RETRY_NODE_LOSS; /* A node that is slow for seconds counts as lost. */
            job.times = 3;
            job.payload = (gw_bytes){(const uint8_t *)payload, sizeof payload - 1};
            CHECK(gw_node_submit(agents[0].node, now(), &job, sizeof job));
            submit = 0;
        }
        for (unsigned at = 0; at < NODES; at++) {
            struct agent *agent = &agents[at];
            uint64_t due, time;
            /* Ends of jobs come before timers that are due at the same time. */
            if (agent->program.done && agent->program.done <= now()) {
                agent->program.done = 0;
                CHECK(gw_node_ended(agent->node, now(), agent->program.job, agent->program.attempt, GW_DONE));
            }
            /* What is due at one time, and no more: a slow computer must come to its messages, too. */
            for (time = now(); gw_node_fire(agent->node, time) == GW_OK;) carry_out(agent);
            carry_out(agent);
            if (gw_node_next_timer(agent->node, &due) == GW_OK && due < next) next = due;
            sockets[at] = (struct pollfd){.fd = agent->socket, .events = POLLIN};
        }
        uint64_t wait = next > now() ? (next - now()) * pace / MILLISECONDS : 0;
        poll(sockets, NODES, (int)wait);
        for (unsigned at = 0; at < NODES; at++)
            if (sockets[at].revents) listen_at(&agents[at]), carry_out(&agents[at]);
    }
    for (unsigned at = 0; at < NODES; at++) {
        CHECK(gw_node_check(agents[at].node));
        CHECK(gw_node_free(agents[at].node));
        close(agents[at].socket);
    }
    printf("the job was started %u times and is %sdone\n", started, finished ? "" : "not ");
    return finished == 1 && started >= WANTED ? 0 : 1;
}
