/* A shim for redis-server: it moves the wall clock and makes the disk slow, as
 * the two numbers say that stand in the file CHAOS_SHIM. Built by the program
 * beside it, and preloaded into the Redis of a chaos run alone. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct knobs {
	volatile int64_t clock_ms; /* added to the wall clock */
	volatile int64_t disk_ms;  /* how long each sync takes longer */
};

static struct knobs *knobs;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CHAOS_SHIM");
	int fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0)
		return;
	void *at = mmap(NULL, sizeof(struct knobs), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		knobs = at;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	long rc = syscall(SYS_clock_gettime, id, t);
	if (rc == 0 && knobs && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
		int64_t ms = knobs->clock_ms;
		t->tv_sec += ms / 1000;
	}
	return (int)rc;
}

int gettimeofday(struct timeval *restrict v, void *restrict zone)
{
	struct timespec t;
	(void)zone;
	int rc = clock_gettime(CLOCK_REALTIME, &t);
	if (rc == 0) {
		v->tv_sec = t.tv_sec;
		v->tv_usec = t.tv_nsec / 1000;
	}
	return rc;
}

time_t time(time_t *out)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}

static void drag(void)
{
	int64_t ms = knobs ? knobs->disk_ms : 0;
	if (ms > 0)
		usleep((useconds_t)ms * 1000);
}

int fdatasync(int fd)
{
	drag();
	return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	drag();
	return (int)syscall(SYS_fsync, fd);
}
