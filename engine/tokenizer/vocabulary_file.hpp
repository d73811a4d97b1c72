/// \file
/// Reads a vocabulary from a model file.
#pragma once

#include "engine/gguf/gguf.hpp"
#include "engine/tokenizer/tokenizer.hpp"
#include "engine/tokenizer/vocabulary.hpp"

#include <memory>

namespace perigee::engine {

/// What the keys `tokenizer.ggml.*` say. Refuses those that are missing or of the wrong
/// type; what tokenizer::make() finds out by itself is left to it.
gguf::found<vocabulary> read_vocabulary(const gguf::contents& file);

/// The tokenizer of a model file.
gguf::found<std::shared_ptr<const tokenizer>>
read_tokenizer(const gguf::contents& file);

} // namespace perigee::engine
