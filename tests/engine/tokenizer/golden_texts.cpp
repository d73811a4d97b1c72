#include "tests/engine/tokenizer/golden_texts.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace perigee::engine::golden {

namespace {

const std::string folder = PERIGEE_SOURCE_DIR "/tests/engine/tokenizer/golden/";

std::vector<std::string> read_lines(const std::string& name) {
  std::ifstream file{folder + name};
  INFO(folder + name);
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

std::string bytes_of(std::string_view hex) {
  REQUIRE(hex.size() % 2 == 0);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    REQUIRE(std::from_chars(&hex[i], &hex[i] + 2, byte, 16).ptr == &hex[i] + 2);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::vector<token_id> ids_of(const std::string& field) {
  std::istringstream in{field};
  std::vector<token_id> ids;
  for (token_id id = 0; in >> id;)
    ids.push_back(id);
  REQUIRE(in.eof());
  return ids;
}

tokenized_text parse(const std::string& line, const std::string& text) {
  std::array<std::string, 4> fields;
  std::istringstream in{line};
  for (std::string& field : fields)
    std::getline(in, field, '\t');
  const auto text_of
    = [&](const std::string& field) { return field == "=" ? text : bytes_of(field); };
  tokenized_text read{
    text, ids_of(fields[0]), {}, text_of(fields[2]), text_of(fields[3])};
  read.parsed = fields[1] == "=" ? read.plain : ids_of(fields[1]);
  return read;
}

} // namespace

std::vector<std::string> read_corpus() {
  std::vector<std::string> texts;
  for (const std::string& line : read_lines("corpus.hex"))
    texts.push_back(bytes_of(line));
  return texts;
}

std::vector<tokenized_text> read_tokenized_texts(const std::string& name) {
  const std::vector<std::string> texts = read_corpus();
  const std::vector<std::string> lines = read_lines(name + ".tokens");
  REQUIRE(lines.size() == texts.size());
  std::vector<tokenized_text> read;
  for (std::size_t i = 0; i < lines.size(); ++i)
    read.push_back(parse(lines[i], texts[i]));
  return read;
}

} // namespace perigee::engine::golden
