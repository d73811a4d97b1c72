#include "engine/chat/form.hpp"

#include <algorithm>

namespace perigee::engine {

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The first of `literals` that has `marker` in it, or `usual`.
std::string literal_with(const std::vector<std::string>& literals,
                         std::string_view marker, std::string_view usual) {
  const auto found = std::ranges::find_if(
    literals, [&](const std::string& literal) { return has(literal, marker); });
  return found == literals.end() ? std::string{usual} : *found;
}

/// Its templates differ in spaces, and in where the system message goes.
class mistral : public chat_template {
public:
  explicit mistral(std::string_view source) {
    if (source.empty())
      return;
    const std::vector<std::string> literals = literals_of(source);
    before_user_ = literal_with(literals, "[INST]", before_user_);
    after_user_ = literal_with(literals, "[/INST]", after_user_);
    if (std::ranges::find(literals, " ") == literals.end())
      before_answer_.clear();
    trims_answer_ = has(source, "|trim") || has(source, "| trim");
    system_is_last_ = has(source, "loop.last and system_message");
    if (has(source, "[SYSTEM_PROMPT]")) {
      before_system_ = literal_with(literals, "[SYSTEM_PROMPT]", "");
      after_system_ = literal_with(literals, "[/SYSTEM_PROMPT]", "");
    }
  }

  std::string_view name() const override {
    return "mistral";
  }

private:
  std::optional<bad_conversation>
  find_fault(std::span<const message> conversation) const override {
    return find_fault_in_turns(conversation);
  }

  std::vector<prompt_part> write(std::span<const message> conversation,
                                 const end_texts& ends) const override {
    part_writer out;
    out.structure(ends.bos);
    std::string system; // where it goes in front of what a user wrote
    if (conversation.front().who == role::system) {
      if (before_system_.empty()) {
        system = conversation.front().text + "\n\n";
      } else {
        out.structure(before_system_);
        out.written_by_user(conversation.front().text);
        out.structure(after_system_);
      }
      conversation = conversation.subspan(1);
    }
    for (std::size_t i = 0; i < conversation.size(); ++i) {
      if (conversation[i].who == role::assistant) {
        write_answer(conversation[i].text, ends, out);
        continue;
      }
      out.structure(before_user_);
      if (i == (system_is_last_ ? conversation.size() - 1 : 0))
        out.written_by_user(system + conversation[i].text);
      else
        out.written_by_user(conversation[i].text);
      out.structure(after_user_);
    }
    return out.take();
  }

  void write_answer(std::string_view text, const end_texts& ends,
                    part_writer& out) const {
    out.written_by_assistant(before_answer_
                             + std::string{trims_answer_ ? trimmed(text) : text});
    out.structure(ends.eos);
  }

  std::string before_system_;
  std::string after_system_;
  std::string before_user_ = "[INST] ";
  std::string after_user_ = "[/INST]";
  std::string before_answer_ = " ";
  bool trims_answer_ = true;
  bool system_is_last_ = false;
};

} // namespace

std::shared_ptr<const chat_template> make_mistral(std::string_view source) {
  return std::make_shared<const mistral>(source);
}

} // namespace perigee::engine
