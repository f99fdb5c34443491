// A stand-in for libamdhip64: it does nothing, and writes each call as a line to the file named by RECORDING_HIP.
// RECORDING_HIP_FAILS=call:code makes one call fail. Signatures are those of hip_runtime_api.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
int current = 0;

void record(const char *line) {
  if (const char *path = std::getenv("RECORDING_HIP"))
    if (FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s\n", line);
      std::fclose(file);
    }
}

int status(const char *call) {
  const char *fails = std::getenv("RECORDING_HIP_FAILS");
  const size_t length = std::strlen(call);
  if (fails && std::strncmp(fails, call, length) == 0 && fails[length] == ':')
    return std::atoi(fails + length + 1);
  return 0;
}

template <typename T> T field(const unsigned char *image, size_t offset) {
  T value;
  std::memcpy(&value, image + offset, sizeof value);
  return value;
}
} // namespace

extern "C" {
int hipGetDevice(int *device) {
  *device = current;
  return status("hipGetDevice");
}

int hipSetDevice(int device) {
  char line[64];
  std::snprintf(line, sizeof line, "set_device %d", device);
  record(line);
  current = device;
  return status("hipSetDevice");
}

// The size of an ELF file whose section headers come last, and the sum of its bytes.
int hipModuleLoadData(void **module, const void *data) {
  const auto *image = static_cast<const unsigned char *>(data);
  const size_t size = field<uint64_t>(image, 40) + size_t(field<uint16_t>(image, 58)) * field<uint16_t>(image, 60);
  uint64_t sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum += image[i];
  char line[128];
  std::snprintf(line, sizeof line, "load %d %zu %llu", current, size, static_cast<unsigned long long>(sum));
  record(line);
  *module = reinterpret_cast<void *>(0x1000);
  return status("hipModuleLoadData");
}

int hipModuleUnload(void *module) {
  char line[64];
  std::snprintf(line, sizeof line, "unload %p", module);
  record(line);
  return 0;
}

int hipModuleGetFunction(void **function, void *module, const char *name) {
  char line[256];
  std::snprintf(line, sizeof line, "function %p %s", module, name);
  record(line);
  *function = reinterpret_cast<void *>(0x2000);
  return status("hipModuleGetFunction");
}

int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra) {
  char line[4096];
  int at = std::snprintf(line, sizeof line, "launch %d %p %u,%u,%u %u,%u,%u %u %p %p ", current, function, gx, gy, gz,
                         bx, by, bz, shared, stream, static_cast<void *>(params));
  const bool ordered = extra && reinterpret_cast<uintptr_t>(extra[0]) == 1 &&
                       reinterpret_cast<uintptr_t>(extra[2]) == 2 && reinterpret_cast<uintptr_t>(extra[4]) == 3;
  if (ordered) {
    const auto *bytes = static_cast<const unsigned char *>(extra[1]);
    const size_t size = *static_cast<const size_t *>(extra[3]);
    for (size_t i = 0; i < size && at + 3 < int(sizeof line); ++i)
      at += std::snprintf(line + at, sizeof line - at, "%02x", bytes[i]);
  }
  record(line);
  return status("hipModuleLaunchKernel");
}

const char *hipGetErrorName(int code) { return code == 209 ? "hipErrorNoBinaryForGpu" : "hipErrorSomething"; }
const char *hipGetErrorString(int code) { return code == 209 ? "no kernel image" : "something"; }
}
