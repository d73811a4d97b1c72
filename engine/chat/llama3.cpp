#include "engine/chat/form.hpp"

namespace perigee::engine {

namespace {

// Later templates put these lines into every system message. Theirs say today's date if
// the renderer knows it, else this one; one that changed daily would spoil the cache.
constexpr std::string_view knowledge = "Cutting Knowledge Date: December 2023\n";
constexpr std::string_view dates
  = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";

class llama3 : public chat_template {
public:
  explicit llama3(std::string_view source) {
    for (const std::string& literal : literals_of(source))
      states_dates_ = states_dates_ || literal == knowledge;
  }

  std::string_view name() const override {
    return "llama3";
  }

private:
  std::optional<bad_conversation> find_fault(std::span<const message>) const override {
    return std::nullopt;
  }

  std::vector<prompt_part> write(std::span<const message> conversation,
                                 const end_texts& ends) const override {
    part_writer out;
    out.structure(ends.bos);
    if (states_dates_) {
      const bool has_system = conversation.front().who == role::system;
      out.structure(header_of(role::system) + std::string{dates});
      if (has_system)
        out.written_by_user(trimmed(conversation.front().text));
      out.structure("<|eot_id|>");
      conversation = conversation.subspan(has_system ? 1 : 0);
    }
    for (const message& one : conversation) {
      out.structure(header_of(one.who));
      if (one.who == role::assistant)
        out.written_by_assistant(trimmed(one.text));
      else
        out.written_by_user(trimmed(one.text));
      out.structure("<|eot_id|>");
    }
    out.structure(header_of(role::assistant));
    return out.take();
  }

  static std::string header_of(role who) {
    return "<|start_header_id|>" + std::string{name_of(who)} + "<|end_header_id|>\n\n";
  }

  bool states_dates_ = false;
};

} // namespace

std::shared_ptr<const chat_template> make_llama3(std::string_view source) {
  return std::make_shared<const llama3>(source);
}

} // namespace perigee::engine
