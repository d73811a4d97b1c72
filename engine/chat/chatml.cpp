#include "engine/chat/form.hpp"

namespace perigee::engine {

namespace {

/// What a template puts where a conversation has no system message of its own.
std::optional<std::string> default_system_of(std::string_view source) {
  constexpr std::string_view before = "<|im_start|>system\n";
  for (const std::string& literal : literals_of(source)) {
    const std::size_t end = literal.find("<|im_end|>");
    if (literal.starts_with(before) && end != std::string::npos)
      return literal.substr(before.size(), end - before.size());
  }
  return std::nullopt;
}

class chatml : public chat_template {
public:
  explicit chatml(std::string_view source)
    : default_system_(default_system_of(source)),
      begins_with_bos_(source.find("bos_token") != std::string_view::npos) {}

  std::string_view name() const override {
    return "chatml";
  }

private:
  std::optional<bad_conversation> find_fault(std::span<const message>) const override {
    return std::nullopt;
  }

  std::vector<prompt_part> write(std::span<const message> conversation,
                                 const end_texts& ends) const override {
    part_writer out;
    if (begins_with_bos_)
      out.structure(ends.bos);
    if (default_system_ && conversation.front().who != role::system)
      out.structure("<|im_start|>system\n" + *default_system_ + "<|im_end|>\n");
    for (const message& one : conversation) {
      out.structure("<|im_start|>" + std::string{name_of(one.who)} + "\n");
      if (one.who == role::assistant)
        out.written_by_assistant(one.text);
      else
        out.written_by_user(one.text);
      out.structure("<|im_end|>\n");
    }
    out.structure("<|im_start|>assistant\n");
    return out.take();
  }

  std::optional<std::string> default_system_;
  bool begins_with_bos_;
};

} // namespace

std::shared_ptr<const chat_template> make_chatml(std::string_view source) {
  return std::make_shared<const chatml>(source);
}

} // namespace perigee::engine
