/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* bombs KIND FILE: changes a program so that it runs as before, and is hard to read (tests/unit/bomb.h). */
#include <stdio.h>

#include "bomb.h"

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: bombs KIND FILE\n");
		return 2;
	}
	return bomb_make(argv[1], argv[2]) ? 1 : 0;
}
