// The head of a model file, at random. The seeds are small files that gguf_writer made.

#include "engine/gguf/gguf.hpp"

#include <cstdint>
#include <cstdlib>

using namespace perigee::engine::gguf;

namespace {

std::size_t sum_of(std::span<const std::byte> raw) {
  std::size_t sum = 0;
  for (auto one : raw)
    sum += static_cast<std::size_t>(one);
  return sum;
}

// Everything that a reader of models might ask for.
std::size_t ask_all(const contents& it) {
  std::size_t sum = 0;
  for (const auto& [key, value] : it.values()) {
    sum += sum_of(value.raw);
    sum += it.number(key).has_value() + it.real(key).has_value()
           + it.text(key).has_value() + it.numbers(key).has_value()
           + it.reals(key).has_value() + it.flag(key, false).has_value();
    if (auto texts = it.texts(key))
      for (auto text : *texts)
        sum += sum_of(std::as_bytes(std::span(text)));
  }
  for (const auto& tensor : it.tensors())
    sum += sum_of(tensor.data) + it.get(tensor.name, 4, 4).has_value();
  return sum + it.number("general.architecture").has_value();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto got = contents::read(std::as_bytes(std::span(data, size)), "fuzz");
  if (got)
    ask_all(*got);
  else if (got.error().where.empty() || got.error().expected.empty())
    std::abort(); // an error says where, and what was expected
  return 0;
}
