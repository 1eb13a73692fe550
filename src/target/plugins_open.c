/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Opens plugins of a live process, and plans their probes. */
#include "target/plugins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/alloc.h"
#include "target/maps.h"
#include "target/memory.h"
#include "target/private.h"
#include "target/remote.h"
#include "target/sites.h"

static int read_word(void *ctx, uint64_t address, uint64_t *word)
{
	const struct target *target = ctx;

	return memory_read(target->pid, address, word, sizeof(*word));
}

/* Finds the file that is mapped at the address. Returns a descriptor or a negative errno. */
static int plugin_open_mapped(const struct target *target, uint64_t address, char *path, size_t size,
			      struct error *err)
{
	struct proc_mapping mapping;
	struct maps maps;
	size_t at = 0;
	int fd = -ENOENT, rc = maps_read(target->pid, &maps, err);

	if (rc)
		return rc;
	while (maps_next(maps.text, maps.len, &at, &mapping)) {
		if (address < mapping.start || address >= mapping.end)
			continue;
		snprintf(path, size, "%.*s", (int)mapping.path_len, mapping.path);
		fd = mapping.executable && mapping.inode ? maps_open_file(target->pid, &mapping) : -ENOENT;
		break;
	}
	maps_free(&maps);
	if (fd < 0)
		error_set(err, -fd, "cannot open its file: %s", strerror(-fd));
	return fd;
}

static const struct {
	const char *name, *but; /* as for copies_find_code() */
} copied[PLUGIN_COPIES] = {
	[PLUGIN_GOPARK] = {"runtime.gopark", NULL},
	[PLUGIN_CHANRECV] = {"runtime.chanrecv", NULL},
	[PLUGIN_CHANSEND] = {"runtime.chansend", NULL},
	[PLUGIN_SEMACQUIRE] = {"runtime.semacquire1", NULL},
	[PLUGIN_NOTIFY_WAIT] = {"sync.runtime_notifyListWait", NULL},
	[PLUGIN_CACHE_SPAN] = {"runtime.(*mcentral).cacheSpan", NULL},
	[PLUGIN_RECLAIM_CHUNK] = {"runtime.(*mheap).reclaimChunk", NULL},
	[PLUGIN_DEDUCT] = {"runtime.deductSweepCredit", "runtime.(*mcentral).cacheSpan"},
};

static void plugin_find_places(const struct target *plugin, struct plugin_places *places)
{
	*places = (struct plugin_places){.text = {0}};
	functab_range(plugin->functab, &places->text.begin, &places->text.end);
	for (unsigned i = 0; i < PLUGIN_COPIES; i++) {
		struct place_range *range = &places->copies[i];

		if (copies_find_code(plugin, copied[i].name, copied[i].but, &range->begin, &range->end))
			*range = (struct place_range){.begin = 0};
	}
}

/* Takes from the program what is the same in all its modules. */
static void plugins_open_inherit(const struct target *target, struct target *plugin)
{
	plugin->pid = target->pid;
	plugin->go_minor = target->go_minor;
	plugin->go_patch = target->go_patch;
	memcpy(plugin->go_version, target->go_version, sizeof(plugin->go_version));
	plugin->cgo = target->cgo;
	plugin->layout = target->layout;
	plugin->alloc = target->alloc;
	plugin->image->release = target->image->release;
	plugin->image->is_plugin = true;
	memcpy(plugin->image->comm, target->image->comm, sizeof(plugin->image->comm));
}

static int read_plugin(struct target *plugin, uint64_t address, uint64_t text, struct error *err)
{
	struct target_image *image = plugin->image;
	int rc = image_parse(&image->elf, image->file.data, image->file.size, err);

	if (rc == 0) {
		image_relocate(&image->elf, image->file.data, false);
		rc = target_find_module(image, err);
	}
	if (rc)
		return rc;
	plugin->bias = text - image->module.text;
	if (image->module.address + plugin->bias != address)
		return error_set(err, EBADMSG, "its memory does not match its file");
	rc = target_compare_memory(plugin, err);
	if (rc == 0)
		rc = target_build_functab(plugin, err);
	if (rc == 0)
		rc = target_find_copies(plugin, err);
	return rc;
}

/* Opens the plugin whose moduledata is at this address in the process. */
static int open_plugin(const struct target *target, struct target *plugin, uint64_t address,
		       struct error *err)
{
	uint64_t text;
	struct stat st;
	int fd, rc;

	plugins_open_inherit(target, plugin);
	snprintf(plugin->image->path, sizeof(plugin->image->path), "a plugin");
	rc = read_word(plugin, address + target->image->release->layout.runtime.module_text, &text);
	if (rc)
		return error_set(err, -rc, "cannot read its memory: %s", strerror(-rc));
	fd = plugin_open_mapped(target, text, plugin->image->path, sizeof(plugin->image->path), err);
	if (fd < 0)
		return fd;
	rc = load_file(fd, &plugin->image->file, err);
	if (rc == 0 && fstat(fd, &st) == 0) {
		plugin->device = st.st_dev;
		plugin->inode = st.st_ino;
	}
	close(fd);
	return rc ? rc : read_plugin(plugin, address, text, err);
}

/* Messages begin with the file's name, as the last part of a path. */
static void name_plugin(struct target *plugin)
{
	struct target_image *image = plugin->image;
	const char *slash = strrchr(image->path, '/');

	snprintf(image->label, sizeof(image->label), "%.63s", slash ? slash + 1 : image->path);
}

static int plugin_add_at(struct target *target, uint64_t address, struct error *err)
{
	struct plugins *plugins = &target->image->plugins;
	struct target *plugin = calloc(1, sizeof(*plugin));
	struct error *why = &plugins->errors[plugins->n], inner = {""};
	int rc;

	if (plugin)
		plugin->image = calloc(1, sizeof(*plugin->image));
	if (!plugin || !plugin->image) {
		free(plugin);
		return error_set(err, ENOMEM, "out of memory");
	}
	plugin->image->file.fd = -1;
	rc = open_plugin(target, plugin, address, &inner);
	name_plugin(plugin);
	if (rc)
		error_set(why, -rc, "%s: %s", plugin->image->label, inner.text);
	else
		plugin_find_places(plugin, &plugins->places[plugins->n]);
	plugins->all[plugins->n++] = plugin;
	plugins->last = address;
	return rc == -ESRCH ? error_set(err, ESRCH, "%s is gone", target->image->label) : 0;
}

bool target_may_have_plugins(const struct target *target)
{
	uint64_t entry, end;

	if (target->remote)
		return target->remote->may_have_plugins(target);
	return !target->image->elf.arm64 &&
	       target->image->release->layout.runtime.module_next != LAYOUT_ABSENT &&
	       target_find_function(target, PLUGIN_OPENED, &entry, &end) == 0;
}

int target_plugins(struct target *target, struct error *err)
{
	struct plugins *plugins;
	uint64_t found[MAX_PLUGINS], from;
	bool more;
	int n;

	if (target->remote)
		return target->remote->plugins(target, err);
	if (!target_may_have_plugins(target) || !target->pid)
		return 0;
	plugins = &target->image->plugins;
	from = plugins->last ? plugins->last : target->image->module.address + target->bias;
	n = plugins_list(from, target->image->release->layout.runtime.module_next, read_word, target, found,
			 MAX_PLUGINS - plugins->n);
	if ((n > 0 || n == -E2BIG) && target->go_minor < FIRST_PLUGINS)
		return error_set(err, ENOTSUP, "%s: plugins are traced from Go 1.%d on", target->image->label,
				 FIRST_PLUGINS);
	more = n == -E2BIG;
	if (more)
		n = (int)(MAX_PLUGINS - plugins->n);
	if (n < 0)
		return error_set(err, -n, "%s: cannot read its list of plugins: %s", target->image->label,
				 strerror(-n));
	for (int i = 0; i < n; i++) {
		int rc = plugin_add_at(target, found[i], err);

		if (rc)
			return rc;
	}
	if (more)
		return error_set(err, E2BIG, "%s: it has more than %d plugins", target->image->label,
				 MAX_PLUGINS);
	return (int)plugins->n;
}

/* What the programs have as constants must be the same in the plugin as in the executable. */
static int plan_plugin(const struct target *target, const struct target *plugin,
		       const struct probe_plan *plan, struct probe_plan *own, struct error *err)
{
	struct alloc_layout places = target->alloc_layout;
	uint64_t entry, end;
	int rc = target_plan(plugin, own, err);

	if (rc == 0 && target->alloc &&
	    target_find_function(plugin, "runtime.stackalloc", &entry, &end) == 0 &&
	    (target_find_stack_places(plugin, &places) ||
	     memcmp(&places, &target->alloc_layout, sizeof(places)) != 0))
		rc = error_set(err, ENOTSUP,
			       "%s: --alloc: its copy of runtime.stackalloc differs from the executable's",
			       plugin->image->label);
	if (rc)
		return rc;
	if (own->task_key_type != plan->task_key_type || own->task_type != plan->task_type ||
	    own->region_flag_register != plan->region_flag_register) {
		target_plan_drop(own, SITE_REGION_START);
		target_plan_drop(own, SITE_REGION_STOP);
	}
	return 0;
}

int target_plugin_read(struct target *target, unsigned i, const struct probe_plan *plan,
		       struct target_plugin *plugin, struct error *err)
{
	struct plugins *plugins;
	struct target *own;
	int rc;

	if (target->remote)
		return target->remote->plugin(target, i, plan, plugin, err);
	*plugin = (struct target_plugin){.fd = -1};
	plugins = &target->image->plugins;
	if (i >= plugins->n)
		return error_set(err, EINVAL, "there is no such plugin");
	if (plugins->errors[i].text[0]) {
		*err = plugins->errors[i];
		return -ENOTSUP;
	}
	own = plugins->all[i];
	snprintf(plugin->name, sizeof(plugin->name), "%s", own->image->label);
	plugin->places = plugins->places[i];
	rc = plan_plugin(target, own, plan, &plugin->plan, err);
	if (rc == 0) {
		plugin->fd = fcntl(own->image->file.fd, F_DUPFD_CLOEXEC, 0);
		rc = plugin->fd < 0 ? error_set(err, errno, "%s: %s", own->image->label, strerror(errno)) : 0;
	}
	return rc;
}

int target_plugin_functab(struct target *target, unsigned i, struct log_record *record, struct error *err)
{
	struct plugins *plugins;
	int rc;

	if (target->remote)
		return target->remote->plugin_functab(target, i, record, err);
	plugins = &target->image->plugins;
	if (i >= plugins->n || !plugins->all[i]->functab)
		return error_set(err, ENOENT, "the plugin has no function table");
	rc = target_functab(plugins->all[i], record, err);
	record->type = LOG_PLUGIN_FUNCTAB;
	return rc;
}
