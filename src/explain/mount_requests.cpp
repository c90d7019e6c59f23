#include "explain/mount_requests.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "explain/text_search.h"

namespace tracer::explain {

namespace {

constexpr std::size_t max_open = 64;
constexpr std::size_t max_text = 4096;

void append(std::string& list, std::string_view separator, const std::string& text) {
  if (list.size() + text.size() < max_text) {
    list.append(list.empty() ? "" : separator).append(text);
  }
}

/// Returns the option that fsconfig(2) sets: `size=1M`, `ro`; empty if it sets none.
std::string option_of(const Call& call) {
  const std::string& key = call.argument("key").value.text;
  if (!to_text(call.argument("cmd").value).starts_with("FSCONFIG_SET_") || key.empty()) {
    return {};
  }
  const Value& value = call.argument("value").value;
  return value.kind == Value::Kind::text ? key + '=' + value.text : key;
}

void configure(MountRequest& request, const Call& call) {
  const std::string option = option_of(call);
  if (call.argument("key").value.text == "source") {
    request.source = call.argument("value").value.text;
  } else if (!option.empty()) {
    append(request.options, ",", option);
  }
}

/// Returns what read(2) of fsopen's descriptor gives, `e tmpfs: Unknown parameter 'x'`, without its severity.
std::string kernel_words(const Value& read) {
  std::string text = first_line(read.text) + (read.cut ? "…" : "");
  return text.size() > 2 && text[1] == ' ' && is_listed(text.substr(0, 1), "e w i") ? text.substr(2) : text;
}

}  // namespace

void MountRequests::keep(std::int64_t fd, MountRequest request) {
  if (open_.size() < max_open || open_.count(fd) != 0) {
    open_[fd] = {std::move(request), nullptr};
  }
}

void MountRequests::follow(const Call& call, const std::string& path) {
  const auto at = open_.find(call.descriptor());
  if (call.name == "fsopen") {
    MountRequest request;
    request.type = call.argument("fsname").value.text;
    keep(call.result, std::move(request));
  } else if (is_listed(call.name, "open_tree open_tree_attr fspick")) {
    MountRequest request;
    request.source = path;
    keep(call.result, std::move(request));
  } else if (at == open_.end()) {
    return;
  } else if (call.name == "fsconfig") {
    configure(at->second.request, call);
  } else if (call.name == "fsmount") {
    keep(call.result, at->second.request);
  } else if (call.name == "read" && at->second.failed) {
    append(at->second.failed->kernel_message, "; ", kernel_words(call.argument("buf").value));
  } else if (call.name == "close") {
    open_.erase(at);
  }
}

std::shared_ptr<const MountRequest> MountRequests::failed(const Call& call) {
  if (is_listed(call.name, "mount fsopen")) {
    const auto request = std::make_shared<MountRequest>();
    const auto text_of = [&](std::string_view name) {
      const Value& value = call.argument(name).value;
      return value.kind == Value::Kind::text ? value.text : std::string();
    };
    request->type = text_of(call.name == "mount" ? "filesystemtype" : "fsname");
    request->source = text_of("source");
    request->options = text_of("data");
    return request;
  }
  const bool is_step = is_listed(call.name, "fsconfig fsmount move_mount");
  const auto at = open_.find(call.descriptor(call.name == "move_mount" ? "from_dfd" : "fd"));
  if (!is_step || at == open_.end()) {
    return call.name == "move_mount" ? std::make_shared<MountRequest>() : nullptr;  // of paths only
  }
  Open& open = at->second;
  open.failed = std::make_shared<MountRequest>(open.request);
  open.failed->option = call.name == "fsconfig" ? option_of(call) : std::string();
  return open.failed;
}

}  // namespace tracer::explain
