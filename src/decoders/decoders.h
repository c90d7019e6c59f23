// Decoders for values that tables cannot describe: the functions behind `custom NAME` of the descriptions.
#pragma once

#include <span>

#include "decode/custom.h"

namespace tracer::decoders {

/// Returns every custom decoder with its name.
std::span<const decode::Custom> all();

using decode::CustomContext;

// amateur_radio.cpp
bool sockaddr_ax25(decode::CustomContext& context);
// bpf_program.cpp
bool bpf_code(decode::CustomContext& context);
bool bpf_program(decode::CustomContext& context);
bool seccomp_program(decode::CustomContext& context);
// btrfs.cpp
bool btrfs_dev_stats(decode::CustomContext& context);
bool btrfs_paths(decode::CustomContext& context);
// capabilities.cpp
bool capabilities(decode::CustomContext& context);
// devices.cpp
bool termios_flags(decode::CustomContext& context);
bool request_bytes(decode::CustomContext& context);
bool dm_data(decode::CustomContext& context);
bool hwaddr_data(decode::CustomContext& context);
bool character(decode::CustomContext& context);
bool control_id(decode::CustomContext& context);
bool fourcc(decode::CustomContext& context);
bool request_elements(decode::CustomContext& context);
bool left_behind(decode::CustomContext& context);
// flags_and_mode.cpp
bool flags_and_mode(decode::CustomContext& context);
// io_uring.cpp
bool submissions(decode::CustomContext& context);
// keyboard.cpp
bool kb_value(decode::CustomContext& context);
bool input_bits(decode::CustomContext& context);
// memory.cpp
bool nodemask(decode::CustomContext& context);
bool page_residence(decode::CustomContext& context);
// namespaces.cpp
bool new_namespaces(decode::CustomContext& context);
bool mounted_text(decode::CustomContext& context);
bool mounted_texts(decode::CustomContext& context);
// netlink.cpp
bool milliseconds(decode::CustomContext& context);
bool generic_family(decode::CustomContext& context);
bool netfilter_type(decode::CustomContext& context);
// numbers.cpp
bool restriction(decode::CustomContext& context);
bool high_low(decode::CustomContext& context);
bool handle_bytes(decode::CustomContext& context);
bool semctl_set(decode::CustomContext& context);
bool shmat_result(decode::CustomContext& context);
bool ifreq_count(decode::CustomContext& context);
// processes.cpp
bool wait_status(decode::CustomContext& context);
bool cpuset(decode::CustomContext& context);
bool pkey_in(decode::CustomContext& context);
bool pkey_out(decode::CustomContext& context);
bool as_it_is(decode::CustomContext& context);
bool lsm_contexts(decode::CustomContext& context);
// registers.cpp
bool user_area(decode::CustomContext& context);
bool filtered_call(decode::CustomContext& context);
bool ldt_result(decode::CustomContext& context);
bool user_desc(decode::CustomContext& context);
bool thread_area_entry(decode::CustomContext& context);
// select_poll_futex.cpp
bool fd_set(decode::CustomContext& context);
bool select_result(decode::CustomContext& context);
bool poll_result(decode::CustomContext& context);
bool futex_wake_op(decode::CustomContext& context);
// siginfo.cpp
bool siginfo(decode::CustomContext& context);
// signals.cpp
bool sigset(decode::CustomContext& context);
bool sigreturn(decode::CustomContext& context);
bool interrupted_call(decode::CustomContext& context);
// sockets.cpp
bool bare_bytes(decode::CustomContext& context);
bool sun_path(decode::CustomContext& context);
bool recvmmsg_result(decode::CustomContext& context);
bool icmp_filter(decode::CustomContext& context);
// lenses.cpp
bool hidden(decode::CustomContext& context);
bool set_bits(decode::CustomContext& context);
// times.cpp
bool dated(decode::CustomContext& context);
bool utime_spec(decode::CustomContext& context);
bool second_of_time(decode::CustomContext& context);
// vcpu.cpp
bool kvm_exit(decode::CustomContext& context);
// wide_text.cpp
bool wide_text(decode::CustomContext& context);
bool wide_array(decode::CustomContext& context);

}  // namespace tracer::decoders
