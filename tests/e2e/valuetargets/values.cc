// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Methods, references and strings of C++, as values.c has them of C.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

namespace shop {

struct Named {
	int id;
};

struct Order : Named {
	std::string customer;
	long total;
};

class Till {
public:
	Till(long start) : sum(start) {}
	APART long pay(const Order &order, const std::string &note, int count);
	APART long take(const std::string *by_pointer, bool last);

private:
	long sum;
};

long Till::pay(const Order &order, const std::string &note, int count)
{
	std::printf("shop::Till::pay order.id=%d order.customer=\"%s\" note=\"%s\" count=%d\n", order.id,
		    order.customer.c_str(), note.c_str(), count);
	sum += order.total;
	return sum;
}

long Till::take(const std::string *, bool last)
{
	std::printf("shop::Till::take this->sum=%ld last=%s\n", sum, last ? "true" : "false");
	return ++sum;
}

} // namespace shop

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 5;
	shop::Till till(n);

	usleep(300000);
	for (int i = 0; i < n; i++) {
		shop::Order order;

		order.id = -i;
		order.customer = "customer " + std::to_string(i);
		order.total = i;
		till.pay(order, std::string(i % 60, 'n'), i);
		till.take(&order.customer, i % 2);
	}
	usleep(100000);
	return 0;
}
