// Values that no table can say: the functions behind `custom NAME` of the descriptions.
#pragma once

#include <span>

#include "decode/custom.h"

namespace tracer::decoders {

/// Every custom decoder by its name.
std::span<const decode::Custom> all();

using decode::CustomContext;

// signals.cpp
bool sigset(CustomContext& context);
bool sigreturn(CustomContext& context);
bool interrupted_call(CustomContext& context);
// vcpu.cpp
bool kvm_exit(CustomContext& context);
// rings.cpp
bool submissions(CustomContext& context);
// namespaces.cpp
bool new_namespaces(CustomContext& context);
// siginfo.cpp
bool siginfo(CustomContext& context);
// waiting.cpp
bool fd_set(CustomContext& context);
bool select_result(CustomContext& context);
bool poll_result(CustomContext& context);
bool futex_wake_op(CustomContext& context);
// processes.cpp
bool wait_status(CustomContext& context);
bool cpuset(CustomContext& context);
bool ioprio(CustomContext& context);
bool fd_behind(CustomContext& context);
bool fd_of_first(CustomContext& context);
bool fd_of_second(CustomContext& context);
bool ptracer(CustomContext& context);
// sockets.cpp
bool htons(CustomContext& context);
bool htobs(CustomContext& context);
bool aio_priority(CustomContext& context);
bool input_bits(CustomContext& context);
bool missing(CustomContext& context);
bool sve_length(CustomContext& context);
bool named_number(CustomContext& context);
bool restriction(CustomContext& context);
bool htonl(CustomContext& context);
bool bare_bytes(CustomContext& context);
// amateur_radio.cpp
bool sockaddr_ax25(CustomContext& context);
// sockets.cpp
bool sun_path(CustomContext& context);
bool in6_scope(CustomContext& context);
bool hex8(CustomContext& context);
bool hex2(CustomContext& context);
bool idiag_ext(CustomContext& context);
bool negative_errno(CustomContext& context);
bool octets(CustomContext& context);
bool terminated_text(CustomContext& context);
bool sk_meminfo(CustomContext& context);
bool btrfs_dev_stats(CustomContext& context);
bool both_ways(CustomContext& context);
bool text_to_nul(CustomContext& context);
bool recvmmsg_result(CustomContext& context);
bool with_name(CustomContext& context);
bool icmp_filter(CustomContext& context);
// netlink.cpp
bool generic_family(CustomContext& context);
bool ipv4_devconf(CustomContext& context);
bool ipv6_devconf(CustomContext& context);
bool ring_workers(CustomContext& context);
bool icmp6_statistics(CustomContext& context);
bool inet_diag_sockopt(CustomContext& context);
bool netfilter_type(CustomContext& context);
// times.cpp
bool dated(CustomContext& context);
bool utime_spec(CustomContext& context);
bool second_of_time(CustomContext& context);
// numbers.cpp
bool clone_flags_and_signal(CustomContext& context);
bool tagged_address(CustomContext& context);
bool swap_priority(CustomContext& context);
bool high_low(CustomContext& context);
bool ipc_call(CustomContext& context);
bool shmat_result(CustomContext& context);
bool quota_command(CustomContext& context);
bool kernel_version(CustomContext& context);
bool limit(CustomContext& context);
bool node_or_error(CustomContext& context);
bool ifreq_count(CustomContext& context);
// memory.cpp
bool nodemask(CustomContext& context);
bool page_residence(CustomContext& context);
// devices.cpp
bool termios_flags(CustomContext& context);
bool termios_cc(CustomContext& context);
bool dm_version(CustomContext& context);
bool dm_data_in(CustomContext& context);
bool dm_data_out(CustomContext& context);
bool hwaddr_data(CustomContext& context);
bool uuid(CustomContext& context);
bool character(CustomContext& context);
bool fourcc(CustomContext& context);
bool fraction(CustomContext& context);
bool left_behind(CustomContext& context);
bool request_elements(CustomContext& context);
bool per_mille(CustomContext& context);
bool btrfs_feature_use(CustomContext& context);
bool sound(CustomContext& context);
bool tone(CustomContext& context);
// keyboard.cpp
bool kb_table(CustomContext& context);
bool kb_value(CustomContext& context);
bool kb_function(CustomContext& context);
// perf.cpp
bool perf_bits(CustomContext& context);
bool perf_hw_cache(CustomContext& context);
bool perf_hw_event(CustomContext& context);
// registers.cpp
bool call_number(CustomContext& context);
bool filtered_call(CustomContext& context);
bool user_area(CustomContext& context);
bool user_desc(CustomContext& context);
bool thread_area_entry(CustomContext& context);
// bpf_program.cpp
bool bpf_code(CustomContext& context);
bool bpf_program(CustomContext& context);
bool bpf_registers(CustomContext& context);
bool seccomp_program(CustomContext& context);

// capabilities.cpp
bool capabilities(CustomContext& context);
// wide_text.cpp
bool wide_text(CustomContext& context);
// flags_and_mode.cpp
bool flags_and_mode(CustomContext& context);

}  // namespace tracer::decoders
