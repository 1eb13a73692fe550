/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Opens a process or an executable, and collects everything about it that tracing needs. */
#include "target/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/debuginfo.h"
#include "target/mapped_go.h"
#include "target/maps.h"
#include "target/memory.h"
#include "target/nearest.h"
#include "target/process.h"
#include "target/prove.h"
#include "target/remote.h"
#include "util/files.h"
#include "util/machine.h"
#include "util/window.h"

static struct target *target_new(const struct layout_table *given)
{
	struct target *target = calloc(1, sizeof(*target));

	if (target)
		target->image = calloc(1, sizeof(*target->image));
	if (target && !target->image) {
		free(target);
		return NULL;
	}
	if (target)
		target->image->given = given;
	return target;
}

void target_free(struct target *target)
{
	if (!target)
		return;
	if (target->remote) {
		target->remote->free(target);
		return;
	}
	for (unsigned i = 0; i < target->image->plugins.n; i++)
		target_free(target->image->plugins.all[i]);
	functab_free(target->functab);
	copies_free(&target->image->copies);
	free(target->image->names);
	release_free(&target->image->own);
	load_free(&target->image->file);
	free(target->image);
	free(target);
}

/* Prefixes a lower level's message with "PID 123 (server): " or similar. */
static int complain(const struct target *target, int rc, const struct error *inner, struct error *err)
{
	return error_set(err, -rc, "%s %s", target->image->label, inner->text);
}

static void read_link(const char *link, char *path, size_t size)
{
	ssize_t n = window_readlink(link, path, size - 1);

	path[n > 0 ? n : 0] = '\0';
}

/* Reports why /proc/PID/exe cannot be opened. */
static int target_refuse_exe(const struct target *target, int code, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)target->pid);
	if (code == ESRCH || access(path, F_OK))
		return error_set(err, ESRCH, "no process has PID %d", (int)target->pid);
	if (code == EACCES || code == EPERM)
		return error_set(err, EPERM, "%s: permission denied: %s", target->image->label,
				 memory_how_to_be_allowed());
	if (code == ENOENT)
		return error_set(
			err, ENOEXEC,
			"%s is not a Go program: it has no executable (a kernel thread, or it has ended)",
			target->image->label);
	return error_set(err, code, "%s: cannot open its executable: %s", target->image->label,
			 strerror(code));
}

/* First release whose arm64 code is supported. */
#define ARM64_FIRST 22u

static int target_read_version(struct target *target, struct error *err)
{
	struct go_version version;
	int rc = buildinfo_version(&target->image->elf, &version, err);

	if (rc)
		return rc;
	target->go_minor = version.minor;
	target->go_patch = version.patch;
	memcpy(target->go_version, version.text, sizeof(target->go_version));
	if (version.minor < release_first())
		return error_set(err, ENOTSUP, "was built by %s: gotrace supports releases from 1.%u on",
				 version.text, release_first());
	if (target->image->elf.arm64 && version.minor < ARM64_FIRST)
		return error_set(err, ENOTSUP,
				 "was built by %s for arm64: there gotrace supports releases from 1.%u on",
				 version.text, ARM64_FIRST);
	if (!version.development)
		target->image->release = release_find(version.minor);
	return 0;
}

/*
 * Gets the layout of a release that is not in the table from the program's own DWARF. Without DWARF, tries
 * the given layout, or those of the nearest releases, on the process.
 */
static int read_own_release(struct target *target, int fd, struct error *err)
{
	struct target_image *image = target->image;
	struct error inner = {.text = ""};
	int rc = 0;

	image->own.minor = target->go_minor;
	image->own.patch = target->go_patch;
	if (debuginfo_release(fd, &image->elf, &image->own, &inner) == 0)
		image->release = &image->own;
	else
		rc = nearest_adopt(target, err);
	/* Rules for places and ids follow the newest known release. */
	if (target->go_minor > release_last())
		target->go_minor = release_last();
	return rc;
}

int target_build_functab(struct target *target, struct error *err)
{
	const struct target_image *image = target->image;
	const struct module *module = &image->module;
	struct functab_source bytes = {
		.pclntab = image_bytes(&image->elf, module->pclntab, module->pclntab_size),
		.gofunc_address = module->gofunc + target->bias,
		.bias = target->bias,
	};

	bytes.gofunc = image_rest(&image->elf, module->gofunc, &bytes.gofunc_size);
	return target_read_functab(target, &bytes, err);
}

/* Whether runtime/cgo is linked in: only it defines crosscall2 (runtime/cgo/asm_amd64.s). */
static bool has_cgo(const struct target *target)
{
	struct code code;

	return target_code(target, "crosscall2", &code) == 0;
}

/*
 * Constants have a segment of their own, except with old linkers, which put them in the code segment. So this
 * also searches the code if necessary.
 */
int target_find_module(struct target_image *image, struct error *err)
{
	int rc = module_find(&image->elf, image->release, &image->module, err);

	if (rc == 0 || load_all_code(&image->file))
		return rc;
	image_relocate(&image->elf, image->file.data, true);
	return module_find(&image->elf, image->release, &image->module, err);
}

/* Uses the row of another patch of the release if the code proves that. */
static bool take_other_patch(struct target *target)
{
	const struct release *row;

	for (unsigned n = 1; (row = release_patch(target->go_minor, n)); n++) {
		if (prove_code(target, row, NULL) == 0) {
			target->image->release = row;
			return true;
		}
	}
	return false;
}

/*
 * Proves the layout of a known release by the code. If the program contradicts it, it was built by a changed
 * toolchain: the layout comes from its own DWARF, or from the user or a release nearby, and the process
 * decides.
 */
static int prove_known_release(struct target *target, int fd, struct error *err)
{
	struct target_image *image = target->image;
	struct error inner = {.text = ""};
	int rc = target_find_copies(target, err);

	if (rc || prove_code(target, image->release, &inner) == 0 || take_other_patch(target))
		return rc;
	error_set(&image->changed, EBADMSG, "whose structs are other ones: %s", inner.text);
	image->own.minor = target->go_minor;
	image->own.patch = target->go_patch;
	if (debuginfo_release(fd, &image->elf, &image->own, &inner) == 0) {
		image->release = &image->own;
		return 0;
	}
	rc = nearest_adopt(target, err);
	return rc ? rc : target_build_functab(target, err);
}

/* Reads everything from the file, at link-time addresses until the bias is known. */
static int read_image(struct target *target, int fd, struct error *err)
{
	struct target_image *image = target->image;
	int rc = load_file(fd, &image->file, err);

	if (rc == 0)
		rc = image_parse(&image->elf, image->file.data, image->file.size, err);
	if (rc == 0)
		image_relocate(&image->elf, image->file.data, false);
	if (rc == 0)
		rc = target_read_version(target, err);
	if (rc == 0 && !image->release)
		rc = read_own_release(target, fd, err);
	if (rc == 0 && !target->nearest)
		rc = target_find_module(image, err);
	if (rc == 0)
		rc = target_build_functab(target, err);
	if (rc == 0 && image->release == release_find(target->go_minor))
		rc = prove_known_release(target, fd, err);
	if (rc)
		return rc;
	target_take_layout(target);
	target->pie = image->elf.pie;
	if (target->file != GO_EXECUTABLE && image->elf.has_interpreter)
		target->file = GO_PROGRAM;
	target->stripped = !image->elf.has_symbols;
	target->cgo = has_cgo(target);
	/*
	 * With cgo, g is not always in its register (runtime/tls_arm64.s), and callbacks on arm64 have not
	 * been investigated.
	 */
	if (target->cgo && image->elf.arm64)
		return error_set(err, ENOTSUP,
				 "was built with cgo for arm64: trace it as threads (--as c), or build it "
				 "without cgo (CGO_ENABLED=0)");
	return 0;
}

/* Probes must go into the file that was read, even if its path leads elsewhere later. */
static void name_opened(struct target *target)
{
	snprintf(target->exe, sizeof(target->exe), "/proc/self/fd/%d", target->image->file.fd);
}

static int target_read_exe(struct target *target, int fd, struct error *err)
{
	struct error inner = {.text = ""};
	struct stat st;
	int rc = fstat(fd, &st) ? -errno : read_image(target, fd, &inner);

	if (rc)
		return complain(target, rc, &inner, err);
	target->device = st.st_dev;
	target->inode = st.st_ino;
	name_opened(target);
	/* With a nearest layout, the variables are found once the process has confirmed it. */
	return target->nearest ? 0 : target_find_variables(target, err);
}

int target_compare_memory(const struct target *target, struct error *err)
{
	const struct target_image *image = target->image;
	/*
	 * All of the header except textStart, which the dynamic linker changes in a PIE from 1.18 to 1.25. Up
	 * to 1.15 there is only the first part.
	 */
	static const struct {
		unsigned since;
		uint32_t offset, size;
	} parts[] = {{0, 0, 0x10}, {16, 0x10, 8}, {16, 0x20, 0x20}, {18, 0x40, 8}};
	uint8_t live[64];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t address = image->module.pclntab + parts[i].offset;
		const uint8_t *bytes = image_bytes(&image->elf, address, parts[i].size);
		int rc;

		if (image->release->minor < parts[i].since)
			break;
		rc = memory_read(target->pid, address + target->bias, live, parts[i].size);
		if (rc == -ESRCH)
			return error_set(err, ESRCH, "%s is gone", image->label);
		if (rc == -EPERM)
			return error_set(err, EPERM, "%s: may not read its memory: %s", image->label,
					 memory_how_to_be_allowed());
		if (rc || !bytes || memcmp(live, bytes, parts[i].size))
			return error_set(err, EBADMSG, "%s: its memory does not match its executable",
					 image->label);
	}
	return 0;
}

static int find_bias(struct target *target, struct error *err)
{
	const struct target_image *image = target->image;
	struct maps maps;
	int rc = maps_read(target->pid, &maps, err);

	if (rc)
		return rc;
	if (maps.len == 0) { /* an exiting process releases its memory first */
		maps_free(&maps);
		return error_set(err, ESRCH, "%s is gone", image->label);
	}
	rc = maps_bias(&maps, &image->elf, target->device, target->inode, image->path, &target->bias);
	maps_free(&maps);
	if (rc || (!image->elf.pie && target->bias))
		return error_set(err, EBADMSG, "%s: its executable is not mapped where it should be",
				 image->label);
	return 0;
}

/*
 * The process must agree with the layout that the code has proven, or that is from its DWARF. It reads memory
 * that a process may have lost, or not have written yet: only what contradicts the layout counts.
 */
static int prove_process(struct target *target, struct error *err)
{
	struct error inner = {.text = ""};
	int rc = target_prove(target, true, &inner);

	if (rc == -ESRCH || rc == -EPERM || rc == -ENOMEM) {
		*err = inner;
		return rc;
	}
	/* -EAGAIN: its list of goroutines grows too fast to be read */
	if (rc == 0 || rc == -EAGAIN)
		return 0;
	return error_set(
		err, ENOTSUP,
		"%s was built by %s, and its memory does not agree with the layout of that: %s. Trace "
		"it as threads (--as c)",
		target->image->label, target->go_version, inner.text);
}

/* Moves all addresses from link-time values to those of the process. */
static int relocate(struct target *target, struct error *err)
{
	struct error inner = {.text = ""};
	int rc = find_bias(target, err);

	if (rc == 0)
		rc = target_compare_memory(target, err);
	if (rc)
		return rc;
	target->image->placed = true;
	rc = target_build_functab(target, &inner);
	if (rc)
		return complain(target, rc, &inner, err);
	if (target->nearest)
		return nearest_prove(target, err);
	rc = target_find_variables(target, err);
	return rc ? rc : prove_process(target, err);
}

static void name_process(struct target *target, pid_t pid)
{
	struct target_image *image = target->image;
	char link[64];

	target->pid = pid;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	process_comm(pid, image->comm);
	read_link(link, image->path, sizeof(image->path));
	snprintf(image->label, sizeof(image->label), "PID %d (%s)", (int)pid, image->comm);
}

/*
 * Code of another processor runs on this machine only in an emulator, and then the emulator is the program.
 */
static int check_machine(const struct target *target, struct error *err)
{
	if (target->image->elf.arm64 == (OWN_MACHINE == EM_AARCH64))
		return 0;
	return error_set(err, ENOTSUP, "%s is a program for an architecture other than " OWN_MACHINE_NAME,
			 target->image->label);
}

/* After the executable, with this inode, was found not to be Go. Leaves the error as it is if nothing else
 * is. */
static int target_open_mapped(struct target *target, uint64_t inode, struct error *err)
{
	struct target_image *image = target->image;
	char path[sizeof(image->path)];
	int fd = mapped_go_open(target->pid, &inode, 1, path, sizeof(path)), rc;
	const char *slash;

	if (fd < 0)
		return -ENOEXEC;
	load_free(&image->file);
	target->file = GO_LIBRARY; /* until its header is read */
	memcpy(image->path, path, sizeof(path));
	slash = strrchr(path, '/');
	snprintf(image->label, sizeof(image->label), "PID %d (%s, %.24s)", (int)target->pid, image->comm,
		 slash ? slash + 1 : path);
	rc = target_read_exe(target, fd, err);
	close(fd);
	/* The process as such is no Go program, whatever is wrong with its library. */
	return rc && target->file == GO_LIBRARY ? -ENOEXEC : rc;
}

static int open_process(struct target *target, struct error *err)
{
	int fd = maps_open_exe(target->pid), rc;
	uint64_t inode;
	struct stat st;

	if (fd < 0)
		return target_refuse_exe(target, -fd, err);
	inode = fstat(fd, &st) ? 0 : st.st_ino;
	rc = target_read_exe(target, fd, err);
	close(fd);
	if (rc == -ENOEXEC)
		rc = target_open_mapped(target, inode, err);
	if (rc == 0)
		rc = check_machine(target, err);
	return rc ? rc : relocate(target, err);
}

int target_open(pid_t pid, const struct layout_table *given, struct target **out, struct error *err)
{
	struct target *target = target_new(given);
	int rc;

	if (!target)
		return error_set(err, ENOMEM, "out of memory");
	name_process(target, pid);
	rc = open_process(target, err);
	if (rc)
		target_free(target);
	else
		*out = target;
	return rc;
}

static void name_file(struct target *target, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct target_image *image = target->image;

	snprintf(image->path, sizeof(image->path), "%s", path);
	snprintf(image->comm, sizeof(image->comm), "%s", slash ? slash + 1 : path);
	snprintf(image->label, sizeof(image->label), "%s", path);
}

int target_read_file(int fd, const char *path, const struct layout_table *given, struct target **out,
		     struct error *err)
{
	struct target *target = target_new(given);
	int rc;

	if (!target)
		return error_set(err, ENOMEM, "out of memory");
	name_file(target, path);
	rc = target_read_exe(target, fd, err);
	if (rc)
		target_free(target);
	else
		*out = target;
	return rc;
}

int target_open_file(const char *path, const struct layout_table *given, struct target **out,
		     struct error *err)
{
	struct target *target = NULL;
	int fd = file_open(path), rc;

	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	rc = target_read_file(fd, path, given, &target, err);
	close(fd);
	/* A changed toolchain: if nothing can fit, say at once which field is elsewhere. */
	if (rc == 0 && target->nearest && target->image->changed.text[0])
		rc = nearest_check_code(target, err);
	if (rc == 0)
		*out = target;
	else if (target)
		target_free(target);
	return rc;
}

/* Duplicates the descriptor: an unprivileged process may not be allowed to open the path. */
int target_open_exe(const struct target *target)
{
	int fd = target->image ? fcntl(target->image->file.fd, F_DUPFD_CLOEXEC, 0)
			       : open(target->exe, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int target_bind(struct target *target, pid_t pid, struct error *err)
{
	char link[64];
	struct stat st;

	if (target->remote)
		return target->remote->bind(target, pid, err);
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	if (window_stat(link, &st))
		return error_set(err, errno == ENOENT ? ESRCH : errno, "PID %d: %s", (int)pid,
				 strerror(errno));
	if (st.st_dev != target->device || st.st_ino != target->inode)
		return error_set(err, EBADMSG, "PID %d does not run %s", (int)pid, target->image->path);
	name_process(target, pid);
	return relocate(target, err);
}
