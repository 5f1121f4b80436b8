/* SPDX-License-Identifier: Apache-2.0
 * Tries to get out. Its one handler takes {"act": NAME, "path": PATH, "number": NUMBER}, does it, and
 * completes with the name of the errno that stopped it, or with "done". */
#include "escape-kernel.h"

BG_NOTE("abi=1.0;id=test.escape;runtime=c");

static const struct act {
  const char *name;
  int (*function)(const char *path, long number);
} acts[] = {
#define NAME(function) { #function, function }
  NAME(read_file), NAME(list_folder), NAME(write_file), NAME(climb), NAME(process_memory),
  NAME(process_environment), NAME(process_descriptors), NAME(own_program), NAME(change_mode),
  NAME(change_attribute), NAME(change_times), NAME(cut_off), NAME(mount_memory), NAME(change_root),
  NAME(unix_socket), NAME(unix_datagram), NAME(udp), NAME(raw), NAME(packet), NAME(netlink),
  NAME(vsock), NAME(socket_pair), NAME(tcp), NAME(trace), NAME(read_memory), NAME(signal_process),
  NAME(signal_thread), NAME(take_descriptor), NAME(limit_process), NAME(slow_process),
  NAME(owned_by_process), NAME(start_process), NAME(sibling), NAME(start_program), NAME(load_program),
  NAME(become_program), NAME(namespaces), NAME(user_namespace), NAME(enter_namespace),
  NAME(memory_file), NAME(shared_memory), NAME(io_uring), NAME(bpf), NAME(page_faults),
  NAME(keyring), NAME(persona), NAME(host_name), NAME(become_root), NAME(writable_code),
  NAME(code_of_data), NAME(code_of_file), NAME(call_of_32_bits), NAME(call_of_x32), NAME(own_signal), NAME(own_thread),
  NAME(set_id_chmod), NAME(set_id_fchmod), NAME(set_id_fchmodat), NAME(set_id_fchmodat2),
  NAME(set_id_creat), NAME(set_id_open), NAME(set_id_unnamed), NAME(set_id_in_memory),
  NAME(set_id_folder), NAME(set_capability), NAME(preallocate), NAME(shared_pages),
  NAME(shared_device), NAME(set_id_node), NAME(set_id_fifo), NAME(file_handle), NAME(lease),
  NAME(huge_pages), NAME(secret_memory), NAME(semaphores), NAME(messages), NAME(message_queue),
  NAME(pipe_size), NAME(lent_pages), NAME(own_memory), NAME(terminal), NAME(add_key),
  NAME(performance), NAME(watch_mounts), NAME(unshared_table), NAME(thread_of_own_table),
  NAME(ask_socket), NAME(ask_from_child), NAME(ask_from_orphan),
};

static void parameter(bg_run run, const char *pointer, char *value, size_t size) {
  size_t need = 0;
  bg_str name = { pointer, strlen(pointer) };
  value[0] = 0;
  if (host->param(host, run, name, value, size - 1, &need) == BG_OK) value[need] = 0;
}

HANDLER(try_act) {
  char act[64], path[1024], number[32];
  (void)plugin;
  parameter(info->run, "/act", act, sizeof act);
  parameter(info->run, "/path", path, sizeof path);
  parameter(info->run, "/number", number, sizeof number);
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    if (strcmp(acts[i].name, act) != 0) continue;
    int         error = acts[i].function(path, atol(number));
    const char *name = error ? strerrorname_np(error) : "done";
    finish(info->run, BG_OK, (bg_str){ name, strlen(name) }, NOTHING);
    return BG_PENDING;
  }
  finish(info->run, BG_E_FAILED, TEXT("no such act"), NOTHING);
  return BG_PENDING;
}

static const bg_task task = {
  sizeof task, BG_TASK_MAY_BLOCK, BG_LIT("try"), { 0, 0 }, try_act, 0, 0,
};
static const bg_task *const tasks[] = { &task };
static const bg_plugin plugin_table = {
  sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.escape"), BG_LIT("1.0.0"), BG_LIT("Fixtures"),
  0, 1, tasks, 0, 0, 0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin_table;
}
