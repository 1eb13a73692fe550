/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A C program that calls Go: the library named by its argument, or code linked in (-DLINKED). At each SIGUSR1
 * it starts 2,000 goroutines, ten at a time, and says so.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

extern int gotrace_work(int n);

int main(int argc, char **argv)
{
	int (*work)(int) = NULL, caught, sum;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
#ifdef LINKED
	(void)argc;
	(void)argv;
	work = gotrace_work;
#else
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (library)
		*(void **)&work = dlsym(library, "gotrace_work");
	if (!work)
		return 1;
#endif
	work(1);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (sigwait(&signals, &caught) == 0) {
		sum = 0;
		for (int i = 0; i < 200; i++) {
			sum += work(10);
			usleep(1000);
		}
		printf("done %d\n", sum);
		fflush(stdout);
	}
	return 0;
}
