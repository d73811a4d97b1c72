#include "actors/gateway/api_error.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <sstream>

namespace perigee::gateway {

TEST_CASE("an error has the shape of the OpenAI API's") {
  api_error why{api_code::invalid_value, "`n` must be \"small\"", "n", {}};
  CHECK(why.status() == 400);
  CHECK(
    to_json(why)
    == R"({"error":{"message":"`n` must be \"small\"","type":"invalid_request_error",)"
       R"("param":"n","code":"invalid_value"}})");
  why.param.clear();
  CHECK(to_json(why).find(R"("param":null)") != std::string::npos);
}

TEST_CASE("every code has its own text, and stands in the README as it is") {
  std::ifstream file{PERIGEE_SOURCE_DIR "/actors/gateway/README.md"};
  std::stringstream readme;
  readme << file.rdbuf();
  std::set<std::string_view> texts;
  for (const auto& one : api_codes()) {
    std::stringstream row;
    row << "| `" << one.text << "` | " << one.status << " | " << one.type << " | "
        << one.meaning << " |";
    INFO(row.str());
    CHECK(readme.str().find(row.str()) != std::string::npos);
    CHECK(texts.insert(one.text).second);
    CHECK(&info_of(one.code) == &one);
  }
}

} // namespace perigee::gateway
