/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads that wait for each other. */
#include <stddef.h>

#include "target.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t turned;
	int turn;
} table = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static FRAME void wait_turn(int mine)
{
	while (table.turn != mine)
		pthread_cond_wait(&table.turned, &table.lock);
	NO_TAIL_CALL();
}

static FRAME void pass_turn(int other)
{
	table.turn = other;
	pthread_cond_signal(&table.turned);
	NO_TAIL_CALL();
}

static FRAME void play(int mine)
{
	for (;;) {
		pthread_mutex_lock(&table.lock);
		wait_turn(mine);
		pass_turn(!mine);
		pthread_mutex_unlock(&table.lock);
		spin_us(20);
	}
}

static FRAME void *ping_player(void *arg)
{
	play(0);
	NO_TAIL_CALL();
	return arg;
}

static FRAME void *pong_player(void *arg)
{
	play(1);
	NO_TAIL_CALL();
	return arg;
}

void mode_pingpong(void)
{
	start_thread("ping", ping_player, NULL);
	start_thread("pong", pong_player, NULL);
}

/* The same without a pause, and counted. */
static FRAME void *full_player(void *arg)
{
	const int mine = arg != NULL;

	for (;;) {
		pthread_mutex_lock(&table.lock);
		wait_turn(mine);
		pass_turn(!mine);
		pthread_mutex_unlock(&table.lock);
		if (mine)
			*turns += 1;
	}
	return arg;
}

void mode_full(void)
{
	start_thread("ping", full_player, NULL);
	start_thread("pong", full_player, &table);
}

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

static FRAME void hold_door(void)
{
	pthread_mutex_lock(&door);
	pause_us(300);
	pthread_mutex_unlock(&door);
	NO_TAIL_CALL();
}

static FRAME void *door_user(void *arg)
{
	for (;;) {
		hold_door();
		spin_us(50);
	}
	return arg;
}

void mode_lock(void)
{
	for (int i = 0; i < 3; i++)
		start_thread("door", door_user, NULL);
}
