/// \file
/// redactor: takes out of words what a client said or was told, and secrets.
#pragma once

#include "schemas/fault.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace perigee::journal {

/// Sets to 0 what the schemas mark as `$secret`, and as `$tokenIds`. Lists keep their
/// lengths.
///
/// Built once, from schemas. Immutable after that; any number of threads may use it.
class redactor {
public:
  enum class takes : std::uint8_t { secrets, token_ids_too };

  explicit redactor(std::span<const capnp::StructSchema> types,
                    takes what = takes::token_ids_too);
  ~redactor();

  /// `words`, a flat message that was built here or judged on arrival; or, if there is
  /// something to take out, a copy of them in `scratch` without it. Of a type that is
  /// not known here nothing is let through: no words come back.
  words_view redact(std::uint64_t type, words_view words,
                    std::vector<capnp::word>& scratch) const;

private:
  struct plan_book;
  std::unique_ptr<const plan_book> plans_;
};

} // namespace perigee::journal
