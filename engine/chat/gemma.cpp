#include "engine/chat/form.hpp"

namespace perigee::engine {

namespace {

class gemma : public chat_template {
public:
  explicit gemma(std::string_view source)
    : refuses_system_(source.find("System role not supported")
                      != std::string_view::npos) {}

  std::string_view name() const override {
    return "gemma";
  }

private:
  std::optional<bad_conversation>
  find_fault(std::span<const message> conversation) const override {
    if (refuses_system_ && conversation.front().who == role::system)
      return bad_conversation{0, "expected no system message: this model has none"};
    return find_fault_in_turns(conversation);
  }

  std::vector<prompt_part> write(std::span<const message> conversation,
                                 const end_texts& ends) const override {
    part_writer out;
    out.structure(ends.bos);
    std::string system;
    if (conversation.front().who == role::system) {
      system = conversation.front().text + "\n\n";
      conversation = conversation.subspan(1);
    }
    for (const message& one : conversation) {
      if (one.who == role::assistant) {
        out.structure("<start_of_turn>model\n");
        out.written_by_assistant(trimmed(one.text));
      } else {
        out.structure("<start_of_turn>user\n");
        out.written_by_user(system + std::string{trimmed(one.text)});
        system.clear();
      }
      out.structure("<end_of_turn>\n");
    }
    out.structure("<start_of_turn>model\n");
    return out.take();
  }

  bool refuses_system_;
};

} // namespace

std::shared_ptr<const chat_template> make_gemma(std::string_view source) {
  return std::make_shared<const gemma>(source);
}

} // namespace perigee::engine
