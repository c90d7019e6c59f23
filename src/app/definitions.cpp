#include "app/definitions.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bpf/btf_descriptions.h"
#include "functions/library/ltrace_conf.h"
#include "sysc/btf_names.h"
#include "sysc/builtin_sources.h"
#include "sysc/compile.h"

namespace tracer::app {

namespace {

constexpr std::string_view module_prefix = "btf:";
constexpr std::size_t most_errors = 20;  // more errors have one cause, such as a wrong directory

Result<spec::TableSet> compile(std::vector<sysc::Source> sources) {
  sysc::CompileOptions options;
  options.first_replaceable = sources.size();
  auto builtin = sysc::builtin_sources();
  sources.insert(sources.end(), std::make_move_iterator(builtin.begin()), std::make_move_iterator(builtin.end()));
  sysc::Diagnostics diagnostics;
  spec::TableSet set = sysc::compile(sources, diagnostics, options);
  if (diagnostics.has_errors()) {
    std::string lines = diagnostics.text(sources, most_errors);
    lines.resize(lines.find_last_not_of('\n') + 1);
    return Error{EINVAL, "--define: the descriptions have errors:\n" + lines};
  }
  return set;
}

constexpr std::size_t most_bytes = 8U << 20;

/// Returns the contents of a file; empty if it cannot be read.
std::optional<std::string> content(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  const auto size = std::filesystem::file_size(path, error);
  std::string text(error ? 0 : static_cast<std::size_t>(std::min<std::uintmax_t>(size, most_bytes)), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return file.bad() ? std::nullopt : std::optional(std::move(text));
}

/// A file of prototypes. One of a directory is for the module that its name says.
struct PrototypeFile {
  std::filesystem::path path;
  std::string module;  ///< empty: all modules
};

void list_directory(const std::filesystem::path& directory, std::vector<PrototypeFile>& into) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".conf") {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  for (const auto& path : found) {
    into.push_back({path, path.stem().string()});
  }
}

std::vector<PrototypeFile> usual_files() {
  std::vector<PrototypeFile> files;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::string home = variable("HOME");
  std::string own = variable("XDG_CONFIG_HOME");
  if (own.empty() && !home.empty()) {
    own = home + "/.config";
  }
  if (!home.empty()) {
    files.push_back({home + "/.ltrace.conf", {}});
    list_directory(home + "/.ltrace", files);
  }
  if (!own.empty()) {
    list_directory(own + "/ltrace", files);
  }
  std::string systems = variable("XDG_CONFIG_DIRS");
  for (std::string_view rest = systems; !rest.empty();) {
    const auto colon = rest.find(':');
    list_directory(std::string(rest.substr(0, colon)) + "/ltrace", files);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  files.push_back({"/etc/ltrace.conf", {}});
  list_directory("/usr/share/ltrace", files);
  return files;
}

/// Finds NAME.conf beside one of `files`.
std::optional<functions::library::LtraceConf::File> find_import(std::string_view name,
                                                                const std::vector<PrototypeFile>& files) {
  const std::string wanted = std::string(name) + ".conf";
  for (const auto& file : files) {
    if (file.path.filename() == wanted) {
      auto text = content(file.path);
      return text ? std::optional(functions::library::LtraceConf::File{file.path.string(), std::move(*text)})
                  : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<sysc::Source>> read_definitions(const std::vector<std::string>& given) {
  try {
    std::vector<std::string> files = given;
    const auto first_module = std::stable_partition(files.begin(), files.end(), [](const std::string& file) {
      return file.compare(0, module_prefix.size(), module_prefix) != 0;
    });
    const std::vector<std::string> modules(first_module, files.end());
    files.erase(first_module, files.end());
    auto sources = sysc::read_sources(files);
    const auto names = sysc::names_from_btf(sources);
    if (modules.size() > 1) {
      return Error{EINVAL, "--define: more than one module is given with btf:"};
    }
    if (modules.empty() && !names.empty()) {
      return Error{EINVAL, "--define: struct " + names.front() +
                               " is to come from the kernel's types: add "
                               "--define=btf:MODULE, or --define=btf:vmlinux for the kernel itself"};
    }
    if (!modules.empty()) {
      auto text = bpf::describe_from_btf(modules.front().substr(module_prefix.size()), names);
      if (!text) {
        return text.error();
      }
      sources.push_back({modules.front(), std::move(text).value()});
    }
    return sources;
  } catch (const std::exception& failure) {
    return Error{EINVAL, "--define: " + std::string(failure.what())};
  }
}

Result<spec::TableSet> compile_definitions(std::vector<sysc::Source> sources) {
  try {
    return compile(std::move(sources));
  } catch (const std::exception& failure) {
    return Error{EINVAL, "--define: " + std::string(failure.what())};
  }
}

Result<std::optional<spec::TableSet>> compile_prototypes(const std::vector<std::string>& given,
                                                         const std::function<void(const std::string&)>& complain,
                                                         std::string& errors) {
  std::vector<PrototypeFile> files;
  for (const std::string& list : given) {
    for (std::size_t start = 0; start <= list.size();) {
      const auto end = std::min(list.find(':', start), list.size());
      const std::filesystem::path path(list.substr(start, end - start));
      start = end + 1;
      std::error_code error;
      if (std::filesystem::is_directory(path, error)) {
        list_directory(path, files);
      } else if (std::filesystem::exists(path, error)) {
        files.push_back({path, {}});
      } else {
        complain("Couldn't stat " + path.string() + ": " + std::strerror(ENOENT));
      }
    }
  }
  const std::size_t asked = files.size();
  for (const PrototypeFile& file : usual_files()) {
    files.push_back(file);
  }
  functions::library::LtraceConf prototypes([&](std::string_view name) { return find_import(name, files); });
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = files[i].path.string();
    if (const auto text = content(files[i].path)) {
      prototypes.read(*text, path, files[i].module);
    } else if (i < asked) {
      return Error{EIO, "Can't read '" + path + "'"};
    }
  }
  for (const std::string& line : prototypes.errors()) {
    errors += line + '\n';
  }
  if (prototypes.empty()) {
    return std::optional<spec::TableSet>{};
  }
  // Prototypes use only these types of the built-in descriptions. Compiling all descriptions would take longer than
  // many programs run.
  const std::vector<sysc::Source> sources = {{"ltrace.conf", prototypes.descriptions()},
                                             {"types.sys", "type ptr = ulong as address\ntype str = *cstr\n"}};
  sysc::Diagnostics diagnostics;
  spec::TableSet set = sysc::compile(sources, diagnostics);
  if (diagnostics.has_errors()) {
    return Error{EINVAL, "the prototypes have errors:\n" + diagnostics.text(sources)};
  }
  return std::optional(std::move(set));
}

}  // namespace tracer::app
