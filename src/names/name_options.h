// What to show of descriptors and process ids beside their numbers.
#pragma once

#include "format/constants.h"
#include "format/escape.h"

namespace tracer::names {

/// --decode-fds and --decode-pids.
struct NameOptions {
  bool paths = false;                                                 ///< path: the link of the descriptor in /proc
  bool sockets = false;                                               ///< socket: protocol and addresses
  bool devices = false;                                               ///< dev: `<char 1:3>`
  bool pidfds = false;                                                ///< pidfd: `pid:17391`
  bool eventfds = false;                                              ///< eventfd: count and id
  bool signalfds = false;                                             ///< signalfd: the mask
  bool commands = false;                                              ///< --decode-pids=comm, -Y
  bool pids_here = false;                                             ///< --decode-pids=pidns, --pidns-translation
  bool vcpus = false;                                                 ///< --kvm
  bool namespaces = false;                                            ///< --namespace
  format::HexStrings hex = format::HexStrings::none;                  ///< -x, -xx: how names are escaped
  format::ConstantForm constants = format::ConstantForm::abbreviate;  ///< -X

  [[nodiscard]] bool any_descriptors() const { return paths || sockets || devices || pidfds || eventfds || signalfds; }
};

}  // namespace tracer::names
