#include "replay/viewer/open_file.h"

#include <algorithm>
#include <iterator>

namespace tracer::replay::viewer {

namespace {

using Kind = DescriptorChange::Kind;
/// How many blocks before the row are searched for where its file was opened: a second's work.
constexpr std::size_t most_back = 64;
/// How many descriptors are followed: a program may give each of its children thousands.
constexpr std::size_t most_descriptors = std::size_t{1} << 16;

bool is_made_by(const DescriptorChange& change, const pipeline::views::Row& row, std::int32_t fd) {
  return (change.kind == Kind::opens || change.kind == Kind::duplicates) && change.tid == row.tid &&
         change.began == row.time.monotonic && change.fd == fd;
}

}  // namespace

OpenFile::OpenFile(Recording& recording, std::size_t block, const pipeline::views::Row& row, std::int32_t fd)
    : recording_(recording),
      changes_(recording.tables()),
      first_block_(block - std::min(block, most_back)),
      next_block_(first_block_) {
  Descriptor descriptor{row.tgid, fd};
  recording_.changes(next_block_, block + 1, changes_);
  next_block_ = block + 1;
  const auto& all = changes_.all();
  // Behind the change that makes the descriptor, if this row does, or before what the row changes.
  auto at =
      std::find_if(all.begin(), all.end(), [&](const DescriptorChange& change) { return is_made_by(change, row, fd); });
  if (at != all.end()) {
    ++at;
  } else {
    at = std::find_if(all.begin(), all.end(),
                      [&](const DescriptorChange& change) { return change.time >= row.time.monotonic; });
  }
  done_ = find_start(static_cast<std::size_t>(at - all.begin()), descriptor);
  const bool is_seen_opened =
      done_ != 0 && all[done_ - 1].kind == Kind::opens && all[done_ - 1].fd == descriptor.second;
  if (is_seen_opened) {
    opened_ = {all[done_ - 1].tid, all[done_ - 1].began};
  }
  add(descriptor, is_seen_opened ? Now{all[done_ - 1].time, all[done_ - 1].until_exec} : Now{});
}

std::size_t OpenFile::find_start(std::size_t at, Descriptor& descriptor) const {
  auto& [process, fd] = descriptor;
  for (; at != 0; --at) {
    const DescriptorChange& change = changes_.all()[at - 1];
    if (change.kind == Kind::forks && change.child == process) {
      process = change.tgid;
    }
    if (change.tgid != process) {
      continue;
    }
    const bool is_it = change.fd == fd;
    if (is_it && change.kind == Kind::opens) {
      return at;
    }
    if (is_it && change.kind == Kind::duplicates) {
      fd = change.from;
    }
    if (change.kind == Kind::closes && change.fd <= fd && fd <= change.last) {
      return at;  // what has opened it since was not seen: it came with a message, for example
    }
  }
  return 0;
}

void OpenFile::follow_to(std::size_t block) {
  if (block >= next_block_) {
    recording_.changes(next_block_, block + 1, changes_);
    next_block_ = block + 1;
  }
  for (; done_ < changes_.all().size(); ++done_) {
    apply(changes_.all()[done_]);
  }
}

void OpenFile::add(const Descriptor& descriptor, const Now& now) {
  if (now_.size() + before_.size() < most_descriptors || now_.contains(descriptor)) {
    now_.insert_or_assign(descriptor, now);
  }
}

void OpenFile::close(std::map<Descriptor, Now>::iterator which, Time time) {
  before_[which->first].push_back({which->second.since, time});
  now_.erase(which);
}

void OpenFile::apply(const DescriptorChange& change) {
  const Descriptor descriptor{change.tgid, change.fd};
  const auto found = now_.find(descriptor);
  const auto each_of = [&](auto visit) {
    for (auto one = now_.lower_bound({change.tgid, 0}); one != now_.end() && one->first.first == change.tgid;) {
      visit(one++);
    }
  };
  switch (change.kind) {
    case Kind::opens:
      if (found != now_.end()) {  // that it was closed was not seen
        close(found, change.began);
      }
      return;
    case Kind::duplicates:
      if (now_.contains({change.tgid, change.from})) {
        add(descriptor, {found == now_.end() ? change.time : found->second.since, change.until_exec});
      } else if (found != now_.end()) {
        close(found, change.time);
      }
      return;
    case Kind::closes:
      each_of([&](auto one) {
        if (one->first.second >= change.fd && one->first.second <= change.last) {
          close(one, change.time);
        }
      });
      return;
    case Kind::keeps:
      if (found != now_.end()) {
        found->second.until_exec = change.until_exec;
      }
      return;
    case Kind::forks: {
      std::vector<std::pair<Descriptor, Now>> inherited;
      each_of([&](auto one) {
        inherited.push_back({{change.child, one->first.second}, {change.time, one->second.until_exec}});
      });
      for (const auto& [inherits, now] : inherited) {
        if (!now_.contains(inherits)) {
          add(inherits, now);
        }
      }
      return;
    }
    case Kind::executes:
      each_of([&](auto one) {
        if (one->second.until_exec) {
          close(one, change.time);
        }
      });
      return;
    case Kind::exits:
      each_of([&](auto one) { close(one, change.time); });
      return;
  }
}

bool OpenFile::is_in(std::size_t block, const pipeline::views::Row& row) {
  follow_to(block);
  const Time begin = row.time.monotonic;
  if (row.kind == pipeline::views::Row::Kind::call && opened_ == std::pair(row.tid, begin)) {
    return true;
  }
  const Time end = begin + row.duration.value_or(Time(0));
  return std::any_of(row.fds.begin(), row.fds.end(), [&](std::int32_t fd) {
    const Descriptor descriptor{row.tgid, fd};
    if (const auto now = now_.find(descriptor); now != now_.end() && now->second.since <= end) {
      return true;
    }
    const auto known = before_.find(descriptor);
    return known != before_.end() && std::any_of(known->second.begin(), known->second.end(), [&](const Span& span) {
             return begin <= span.to && span.from <= end;
           });
  });
}

bool OpenFile::is_open_in(std::size_t block) {
  if (block < first_block_) {
    return false;
  }
  const bool is_new = block >= next_block_;
  const bool was_open = !now_.empty();
  follow_to(block);
  return !is_new || was_open || !now_.empty();
}

}  // namespace tracer::replay::viewer
