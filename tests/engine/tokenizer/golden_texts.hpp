/// \file
/// What llama.cpp made of the corpus (golden/, by tools/golden/token_ids.py).
#pragma once

#include "engine/model_info.hpp"

#include <string>
#include <vector>

namespace perigee::engine::golden {

struct tokenized_text {
  std::string text;
  std::vector<token_id> plain;  ///< Control tokens not recognised.
  std::vector<token_id> parsed; ///< Control tokens recognised.
  std::string shown;            ///< What `parsed` says, control tokens spelled out.
  std::string decoded;          ///< What `plain` says, control tokens hidden.
};

/// With the vocabulary `name`. Fails the test if a file is missing or damaged.
std::vector<tokenized_text> read_tokenized_texts(const std::string& name);

/// The texts alone.
std::vector<std::string> read_corpus();

} // namespace perigee::engine::golden
