// In the place of the engine where the build machine has no clang or no libbpf.
#include "bpf/btf_descriptions.h"
#include "bpf/engine.h"

namespace tracer::bpf {

// The parameters are those of the real functions.
// NOLINTBEGIN(performance-unnecessary-value-param)

Result<std::unique_ptr<trace::Engine>> make_counting_engine(process::EngineOptions,
                                                            std::function<void(const std::string&)>) {
  return Error{0, "this build was made without the BPF engine, for which clang and libbpf have to be there"};
}

Result<std::unique_ptr<trace::Engine>> make_tracing_engine(process::EngineOptions options, const spec::Tables&,
                                                           const TracingOptions&,
                                                           std::function<void(const std::string&)> complain) {
  return make_counting_engine(std::move(options), std::move(complain));
}

Result<std::string> describe_from_btf(const std::string& module, const std::vector<std::string>&) {
  return Error{0, "--define=btf:" + module + ": this build was made without libbpf, which reads the kernel's types"};
}

Result<std::shared_ptr<trace::FunctionCounter>> make_function_counter(
    std::function<void(const std::string&)> complain) {
  return make_counting_engine({}, std::move(complain)).error();
}

Result<std::shared_ptr<trace::FunctionRecorder>> make_function_recorder(RecordingOptions) {
  return make_counting_engine({}, {}).error();
}

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace tracer::bpf
