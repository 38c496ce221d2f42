/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into the slurmctld of a replay: days of a trace pass in minutes.
 * The replay sets the clock forward, so that backfill sees time limits and
 * their remainders as they would be, and tells backfill when to run, so that
 * two replays of one trace are alike. What is decided is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "replay_offers.h"
#include "replay_page.h"

#define EXPORTED __attribute__((visibility("default")))
#define NSEC_PER_SEC 1000000000L
#define TURN_POLL_NSEC 1000000L
#define SHORTEST_PAUSE_NSEC 900000000L	/* of backfill between two passes */

typedef int (*timedwait_t)(pthread_cond_t *, pthread_mutex_t *,
			   const struct timespec *);

static const replay_page_t no_page;
static const volatile replay_page_t *page = &no_page;
replay_offer_t *replay_offers;
static timedwait_t real_timedwait;

__attribute__((constructor)) static void _open_page(void)
{
	const char *path = getenv("ACRF_REPLAY_PAGE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	replay_file_t *mapped = MAP_FAILED;

	if (fd >= 0) {
		mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
		close(fd);
	}
	if (mapped != MAP_FAILED) {
		page = &mapped->page;
		replay_offers = mapped->offers;
	}
	/* The newer of x86-64's two; elsewhere there is one */
	real_timedwait = (timedwait_t) dlvsym(RTLD_NEXT,
					      "pthread_cond_timedwait",
					      "GLIBC_2.3.2");
	if (!real_timedwait)
		real_timedwait = (timedwait_t) dlsym(RTLD_NEXT,
						     "pthread_cond_timedwait");
}

static int _real_clock(clockid_t clock, struct timespec *now)
{
	return syscall(SYS_clock_gettime, clock, now);
}

/*
 * Time goes on within the second that was set, but never reaches the next: how
 * long this machine takes must not decide how backfill rounds.
 */
static void _replayed_clock(struct timespec *now)
{
	struct timespec real;
	double passed;

	_real_clock(CLOCK_MONOTONIC, &real);
	passed = (real.tv_sec * (double) NSEC_PER_SEC + real.tv_nsec -
		  page->set_ns) / NSEC_PER_SEC;
	if (passed < 0)
		passed = 0;
	now->tv_sec = page->now_s;
	now->tv_nsec = passed / (passed + 1) * (NSEC_PER_SEC - 1);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (page->now_s && ((clock == CLOCK_REALTIME) ||
			    (clock == CLOCK_REALTIME_COARSE))) {
		_replayed_clock(now);
		return 0;
	}
	return _real_clock(clock, now);
}

EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

EXPORTED time_t time(time_t *copy)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (copy)
		*copy = now.tv_sec;
	return now.tv_sec;
}

static int _is_backfill(void)
{
	static __thread int known;
	char name[16] = "";

	if (!known) {
		pthread_getname_np(pthread_self(), name, sizeof(name));
		known = strcmp(name, "bckfl") ? -1 : 1;
	}
	return known > 0;
}

static void _add_nsec(struct timespec *at, int64_t nsec)
{
	nsec += at->tv_nsec;
	at->tv_sec += nsec / NSEC_PER_SEC;
	at->tv_nsec = nsec % NSEC_PER_SEC;
}

/* Backfill's pause, which ends when its turn comes or it is told to stop */
static int _wait_for_turn(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	static int64_t seen;
	int rc = ETIMEDOUT;

	while ((page->backfill_turn == seen) && (rc == ETIMEDOUT)) {
		struct timespec until;

		_real_clock(CLOCK_REALTIME, &until);
		_add_nsec(&until, TURN_POLL_NSEC);
		rc = real_timedwait(cond, mutex, &until);
	}
	seen = page->backfill_turn;
	return rc;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *restrict cond,
				    pthread_mutex_t *restrict mutex,
				    const struct timespec *restrict until)
{
	struct timespec now, real;
	int64_t left;

	clock_gettime(CLOCK_REALTIME, &now);
	left = ((int64_t) (until->tv_sec - now.tv_sec) * NSEC_PER_SEC) +
	       (until->tv_nsec - now.tv_nsec);
	if ((page != &no_page) && (left > SHORTEST_PAUSE_NSEC) &&
	    _is_backfill())
		return _wait_for_turn(cond, mutex);
	_real_clock(CLOCK_REALTIME, &real);
	_add_nsec(&real, (left > 0) ? left : 0);
	return real_timedwait(cond, mutex, &real);
}
