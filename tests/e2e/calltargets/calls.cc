/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* As calls.c, in C++: exceptions, overloads, templates, virtual functions. Names have no spaces. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define FRAME __attribute__((noinline, noclone, noipa))

static std::map<std::string, long> counts;
static volatile long sink;

namespace shop {

FRAME long price(int x)
{
	return x * 7 + sink % 3;
}

FRAME long price(const std::string &name)
{
	sink = sink + 1;
	return static_cast<long>(name.size()) * 3;
}

template <typename T> struct Box {
	std::vector<T> things;

	FRAME void put(T thing)
	{
		things.push_back(thing);
		std::sort(things.begin(), things.end());
	}
};

struct Till {
	virtual ~Till() = default;
	virtual long pay(long amount) = 0;
};

struct Cash final : Till {
	FRAME long pay(long amount) override
	{
		sink = sink + amount;
		return amount;
	}
};

struct Guard {
	FRAME ~Guard()
	{
		sink = sink + 1;
	}
};

FRAME void refuse(int depth)
{
	Guard guard;

	sink = sink + depth;
	if (depth == 0)
		throw std::runtime_error("refused");
	counts["shop::refuse"]++;
	refuse(depth - 1);
	sink = sink + 1;
}

FRAME void attempt(int depth)
{
	try {
		counts["shop::refuse"]++;
		refuse(depth);
	} catch (const std::exception &) {
		sink = sink + 1;
	}
}

} // namespace shop

static void make_round(shop::Till *till, int turns)
{
	shop::Box<int> box;

	for (int i = 0; i < turns; i++) {
		counts["shop::price(int)"]++;
		sink = sink + shop::price(i);
		counts["shop::price(std::string)"]++;
		sink = sink + shop::price(std::string("apple"));
		counts["shop::Box<int>::put"]++;
		box.put(i);
		counts["shop::Cash::pay"]++;
		sink = sink + till->pay(i);
		counts["shop::attempt"]++;
		shop::attempt(i % 3);
		counts["shop::Guard::~Guard"] += i % 3 + 1;
	}
}

int main(int argc, char **argv)
{
	int turns = argc > 2 ? std::atoi(argv[2]) : 40; // -rounds N
	shop::Cash cash;
	char line[64];

	alarm(100);
	std::puts("ready");
	std::fflush(stdout);
	while (std::fgets(line, sizeof(line), stdin)) {
		counts.clear();
		sink = 0;
		std::thread(make_round, &cash, turns).join();
		for (const auto &one : counts)
			std::printf("%s %ld -1\n", one.first.c_str(), one.second);
		std::printf("sum %ld\n", sink);
		std::puts("done");
		std::fflush(stdout);
	}
	return 0;
}
