/// \file
/// complaint_book: what is wrong with a topology, each where it was written.
#pragma once

#include "actors/cluster/bad_input.hpp"

#include <map>
#include <string>
#include <vector>

namespace perigee::cluster {

/// Collects complaints while a topology is read, up to a limit. It is told where every
/// setting stands, so that what is found later can be complained of there. Pure.
///
/// A path is that of a setting in the file, such as "node[0].cache_shard.dram".
class complaint_book {
public:
  static constexpr std::size_t complaints_max = 20;

  explicit complaint_book(std::string file) : file_(std::move(file)) {}

  /// What is at `path` stands in this line.
  void stands(const std::string& path, unsigned line) {
    lines_[path] = line;
  }

  /// What is at `path` was set, last, `from` outside the file.
  void comes_from(const std::string& path, const std::string& from) {
    outside_[path] = from;
  }

  /// Nothing may stand at `path`; `names` may stand beside it.
  void refuse_key(const std::string& path, unsigned line,
                  const std::vector<std::string>& names);

  /// The same of a key that was given `from` outside.
  void refuse_key_from(const std::string& from, const std::string& path,
                       const std::vector<std::string>& names);

  /// Of a value, or of a setting beside others.
  struct finding {
    std::string found;
    std::string expected;
    std::string nearest = {};
  };

  void refuse_value(const std::string& path, unsigned line, finding what);
  void refuse_value_from(const std::string& from, const std::string& path,
                         finding what);

  /// What was set at `path`, be it in the file or from outside, contradicts something.
  /// A person calls it `key`.
  void contradict(const std::string& path, const std::string& key, finding what);

  bool empty() const {
    return wrong_.empty();
  }

  /// All of them, in the order of the lines.
  complaints take();

private:
  void add(bad_input wrong);
  unsigned line_near(std::string path) const;

  std::string file_;
  complaints wrong_;
  std::map<std::string, unsigned> lines_;
  std::map<std::string, std::string> outside_;
};

} // namespace perigee::cluster
