/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A C++ program to be traced: `cxxtarget MODE [-seconds N]`. Threads of
 * std::thread pass items on through a template of a queue, and throw and
 * catch (queue), or wait for good in known stacks (parked).
 */
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define FRAME          __attribute__((noinline, noclone, noipa))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

namespace shop
{

template <typename Item, int Limit> class Queue
{
      public:
	FRAME void put(Item item)
	{
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [this] { return items.size() < Limit; });
		items.push_back(std::move(item));
		changed.notify_all();
	}

	FRAME Item take()
	{
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [this] { return !items.empty(); });
		Item item = std::move(items.front());
		items.pop_front();
		changed.notify_all();
		return item;
	}

      private:
	std::mutex lock;
	std::condition_variable changed;
	std::deque<Item> items;
};

struct Order {
	std::string text;
	int number;
};

static Queue<Order, 4> orders;

FRAME void check(const Order &order)
{
	if (order.number % 10 == 0)
		throw std::runtime_error("no such order: " + order.text);
}

FRAME bool work(const Order &order)
{
	try {
		check(order);
	} catch (const std::exception &) {
		return false;
	}
	return true;
}

FRAME void cook()
{
	for (;;) {
		work(orders.take());
		NO_TAIL_CALL();
	}
}

FRAME void waiter(int first)
{
	for (int number = first;; number += 2) {
		orders.put(Order{"soup", number});
		std::this_thread::sleep_for(std::chrono::microseconds(300));
	}
}

/* --- parked --- */

struct Guest {
	virtual ~Guest() = default;
	virtual void wait(int depth) = 0;
};

template <typename Clock> struct Patient : Guest {
	FRAME void wait(int depth) override
	{
		if (depth > 0)
			wait(depth - 1);
		else
			std::this_thread::sleep_for(typename Clock::duration(std::chrono::hours(1)));
		NO_TAIL_CALL();
	}
};

struct Hungry : Guest {
	FRAME void wait(int depth) override
	{
		std::function<void()> order = [this, depth] {
			if (depth > 0)
				wait(depth - 1);
			else
				orders.take();
			NO_TAIL_CALL();
		};
		order();
		NO_TAIL_CALL();
	}
};

/* Waits where an exception is under way: in a destructor, called by the unwinder. */
struct Leaving {
	FRAME ~Leaving()
	{
		std::this_thread::sleep_for(std::chrono::hours(1));
		NO_TAIL_CALL();
	}
};

FRAME void storm_out()
{
	Leaving leaving;
	throw std::runtime_error("too late");
}

FRAME void angry(int depth)
{
	try {
		if (depth > 0)
			angry(depth - 1);
		else
			storm_out();
	} catch (const std::logic_error &) {
		std::puts("never");
	}
	NO_TAIL_CALL();
}

FRAME void sit(Guest &guest, int depth)
{
	guest.wait(depth);
	NO_TAIL_CALL();
}

} // namespace shop

static void queue_mode()
{
	std::thread(shop::cook).detach();
	std::thread(shop::cook).detach();
	std::thread(shop::waiter, 0).detach();
	std::thread(shop::waiter, 1).detach();
}

static void parked_mode()
{
	static shop::Patient<std::chrono::steady_clock> steady;
	static shop::Patient<std::chrono::system_clock> system;
	static shop::Hungry hungry;

	std::thread([] { shop::sit(steady, 3); }).detach();
	std::thread([] { shop::sit(system, 9); }).detach();
	std::thread([] { shop::sit(hungry, 4); }).detach();
	std::thread([] {
		try {
			shop::angry(5);
		} catch (const std::runtime_error &) {
		}
	}).detach();
}

static void on_end(int)
{
	_exit(0);
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	std::signal(SIGALRM, on_end);
	alarm(argc == 4 && !std::strcmp(argv[2], "-seconds") ? unsigned(std::atoi(argv[3])) : 60);
	if (argc >= 2 && !std::strcmp(argv[1], "queue")) {
		queue_mode();
	} else if (argc >= 2 && !std::strcmp(argv[1], "parked")) {
		parked_mode();
	} else {
		std::fprintf(stderr, "usage: cxxtarget queue|parked [-seconds N]\n");
		return 2;
	}
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	std::puts("ready");
	std::fflush(stdout);
	for (;;)
		pause();
}
