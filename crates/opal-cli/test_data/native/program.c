// The native program of opal's own tests: it speaks the protocol, and tries what it must not do.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char line[1 << 20];

static void say(const char *text) {
    if (write(3, text, strlen(text)) < 0) _exit(3);
}

static void answer(long id, const char *value) {
    static char out[4096];
    snprintf(out, sizeof out, "{\"id\":%ld,\"ok\":{\"value\":\"\\\"%s\\\"\"}}\n", id, value);
    say(out);
}

// What an attempt came to: `done`, or the name of the error.
static const char *came(long result) {
    if (result >= 0) return "done";
    return strerrorname_np(errno);
}

static long opened(int fd) {
    if (fd >= 0) close(fd);
    return fd;
}

static long others(void) {
    for (int fd = 4; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) >= 0) return 0;
    errno = EBADF;
    return -1;
}

static const char *attempt(const char *name) {
    char byte;
    struct iovec own = {&byte, 1}, other = {(void *)0x400000, 1};
    char *none[] = {NULL};
#define IS(word) (strcmp(name, word) == 0)
    if (IS("hello")) return "hello";
    if (IS("ptrace")) return came(ptrace(PTRACE_ATTACH, getppid(), 0, 0));
    if (IS("process_vm")) return came(process_vm_readv(getppid(), &own, 1, &other, 1, 0));
    if (IS("pidfd")) return came(syscall(SYS_pidfd_open, getppid(), 0));
    if (IS("io_uring")) return came(syscall(SYS_io_uring_setup, 1, 0));
    if (IS("new_call")) return came(syscall(463, AT_FDCWD, DATA "/in", 0, "user.x", NULL, 0));
    if (IS("x_call")) return came(syscall(0x40000000 | SYS_getpid));
    if (IS("namespace")) return came(unshare(0x10000000));
    if (IS("kill_parent")) return came(kill(getppid(), 0));
    if (IS("kill_all")) return came(kill(-1, 0));
    if (IS("kill_own")) return came(kill(getpid(), 0));
    if (IS("unix_socket")) return came(socket(AF_UNIX, SOCK_STREAM, 0));
    if (IS("internet_socket")) return came(socket(AF_INET, SOCK_STREAM, 0));
    if (IS("socket_pair")) return came(socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0, 0}));
    if (IS("exec")) return came(execve("/bin/true", none, none));
    if (IS("exec_by_descriptor")) {
        int fd = open("/bin/true", O_RDONLY);
        return came(syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH));
    }
    if (IS("fork")) return came(fork());
    if (IS("session")) return came(setsid());
    if (IS("agent")) return getenv("SSH_AUTH_SOCK") ? "done" : "no variable";
    if (IS("variables")) return environ && environ[0] ? "done" : "no variables";
    if (IS("descriptors")) return came(others());
    if (IS("read_outside")) return came(opened(open("/etc/passwd", O_RDONLY)));
    if (IS("read_process")) return came(opened(open("/proc/1/environ", O_RDONLY)));
    if (IS("write_outside")) return came(opened(open(OUTSIDE "/new", O_CREAT | O_WRONLY, 0600)));
    if (IS("empty_outside")) return came(opened(open(DATA "/in", O_RDONLY | O_TRUNC)));
    if (IS("mode_outside")) return came(chmod(OUTSIDE, 0777));
    if (IS("read_granted")) return came(opened(open(DATA "/in", O_RDONLY)));
    if (IS("raise_limit")) return came(syscall(SYS_prlimit64, 0, 2, &(long[2]){1L << 40, 1L << 40}, 0));
    if (IS("memory")) {
        for (int n = 0; n < 1024; n++) {
            char *more = malloc(1 << 20);
            if (more == NULL) return "no memory";
            memset(more, 1, 1 << 20);
        }
        return "done";
    }
    if (IS("crash")) abort();
    if (IS("hang")) for (;;) signal(SIGTERM, SIG_IGN), pause();
    if (IS("bad_message")) say("nonsense\n");
    if (IS("unknown_call")) say("{\"id\":7,\"for\":99,\"call\":\"probe.now\",\"params\":{}}\n");
    if (IS("endless_line")) for (;;) say("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    if (IS("linger")) {
        if (fork() == 0) {
            prctl(PR_SET_NAME, MARK);
            signal(SIGTERM, SIG_IGN);
            for (;;) pause();
        }
        for (;;) pause();
    }
    if (IS("bomb")) {
        for (int n = 0; n < 200; n++)
            if (fork() == 0) {
                prctl(PR_SET_NAME, MARK);
                for (int m = 0; m < 2; m++) fork();
                for (;;) pause();
            }
        for (;;) pause();
    }
    if (IS("many")) {
        for (int n = 0; n < 20; n++)
            if (fork() == 0) {
                prctl(PR_SET_NAME, MARK);
                setsid();
                setpgid(0, 0);
                signal(SIGTERM, SIG_IGN);
                for (;;) pause();
            }
        return "many";
    }
    return "unknown";
}

int main(void) {
    FILE *in = fdopen(3, "r");
    close(open(OUTSIDE "/started", O_CREAT | O_WRONLY, 0600));
    while (fgets(line, sizeof line, in)) {
        char *found = strstr(line, "\"id\":");
        if (strstr(line, "\"cancel\"") || !found) continue;
        long id = strtol(found + 5, NULL, 10);
        if (strstr(line, "\"call\":\"hello\"")) {
            char out[128];
            snprintf(out, sizeof out, "{\"id\":%ld,\"ok\":{\"exports\":[\"value\"]}}\n", id);
            say(out);
            continue;
        }
        char name[64] = "";
        char *subject = strstr(line, "subject\\\":\\\"");
        if (subject) sscanf(subject + 12, "%63[a-z_]", name);
        answer(id, attempt(name));
    }
    return 0;
}
