#include "actors/gateway/json_text.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::gateway {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

template <class Number>
std::string written(Number value) {
  std::string out;
  append_json_number(out, value);
  return out;
}

} // namespace

TEST_CASE("text is escaped where JSON asks for it, and nowhere else") {
  CHECK(quoted("") == R"("")");
  CHECK(quoted("a\"b\\c/") == R"("a\"b\\c/")");
  CHECK(quoted("\n\r\t") == R"("\n\r\t")");
  CHECK(quoted(std::string_view{"\0\x1f", 2}) == R"("\u0000\u001f")");
  CHECK(quoted("é漢😀") == "\"é漢😀\"");
}

TEST_CASE("bytes that are no UTF-8 become a replacement character each") {
  CHECK(quoted("a\xff"
               "b")
        == "\"a\xef\xbf\xbd"
           "b\"");
  CHECK(quoted("\xe2\x82") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  CHECK(utf8_length("\xc0\x80") == 0);         // overlong
  CHECK(utf8_length("\xe0\x80\x80") == 0);     // overlong
  CHECK(utf8_length("\xed\xa0\x80") == 0);     // a surrogate
  CHECK(utf8_length("\xf4\x90\x80\x80") == 0); // past the last
  CHECK(utf8_length("\xf4\x8f\xbf\xbf") == 4);
  CHECK(utf8_length("\xed\x9f\xbf") == 3);
  CHECK(utf8_length("") == 0);
}

TEST_CASE("numbers are as short as they can be, and always JSON") {
  CHECK(written(0.1) == "0.1");
  CHECK(written(-0.25f) == "-0.25");
  CHECK(written(1234567u) == "1234567");
  CHECK(written(-std::numeric_limits<float>::infinity()) == "-9999");
  CHECK(written(std::numeric_limits<double>::infinity()) == "9999");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "-9999");
}

} // namespace perigee::gateway
