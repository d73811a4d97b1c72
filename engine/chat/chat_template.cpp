#include "engine/chat/chat_template.hpp"

#include "engine/chat/form.hpp"

#include <algorithm>
#include <array>

namespace perigee::engine {

namespace {

struct form {
  std::string_view name;
  std::array<std::string_view, 2> markers; ///< All of them are in such a template.
  std::shared_ptr<const chat_template> (*make)(std::string_view source);
};

constexpr std::array forms{
  form{"chatml", {"<|im_start|>", "<|im_end|>"}, make_chatml},
  form{"llama3", {"<|start_header_id|>", "<|eot_id|>"}, make_llama3},
  form{"gemma", {"<start_of_turn>", "<end_of_turn>"}, make_gemma},
  form{"mistral", {"[INST]", "[/INST]"}, make_mistral},
};

constexpr std::array<std::string_view, forms.size()> names{
  forms[0].name, forms[1].name, forms[2].name, forms[3].name};

/// In templates that do what none of the forms does: drop thoughts from earlier
/// answers, part the name of a role from its message, wrap the system message in tags.
constexpr std::array<std::string_view, 5> marks_of_more{
  "<think>", "enable_thinking", "reasoning_content", "<|im_sep|>", "<<SYS>>"};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool looks_like(const form& one, std::string_view source) {
  return std::ranges::all_of(
    one.markers, [&](std::string_view marker) { return has(source, marker); });
}

/// The one form that `source` is; null if it is none, more than one, or more than that.
const form* recognise(std::string_view source) {
  if (std::ranges::any_of(marks_of_more,
                          [&](std::string_view mark) { return has(source, mark); }))
    return nullptr;
  const auto is_like = [&](const form& one) { return looks_like(one, source); };
  if (std::ranges::count_if(forms, is_like) != 1)
    return nullptr;
  return &*std::ranges::find_if(forms, is_like);
}

std::string list_of_names() {
  std::string list;
  for (const std::string_view name : names)
    list += (list.empty() ? "'" : ", '") + std::string{name} + "'";
  return list;
}

} // namespace

std::optional<role> role_of(std::string_view name) {
  if (name == "system" || name == "developer")
    return role::system;
  if (name == "user")
    return role::user;
  if (name == "assistant")
    return role::assistant;
  return std::nullopt;
}

std::vector<segment> segments_of(std::span<const prompt_part> parts) {
  std::vector<segment> segments;
  for (const prompt_part& part : parts)
    segments.push_back({part.text, part.means_structure, part.stands_apart});
  return segments;
}

result<std::vector<prompt_part>, bad_conversation>
chat_template::render(std::span<const message> conversation,
                      const end_texts& ends) const {
  if (conversation.empty())
    return failure(bad_conversation{0, "expected at least one message, found none"});
  if (conversation.size() > messages_max)
    return failure(bad_conversation{
      messages_max, "expected at most " + std::to_string(messages_max)
                      + " messages, found " + std::to_string(conversation.size())});
  if (auto fault = find_fault(conversation))
    return failure(std::move(*fault));
  return write(conversation, ends);
}

std::span<const std::string_view> chat_template_names() {
  return names;
}

result<std::shared_ptr<const chat_template>, no_template>
find_chat_template(std::optional<std::string_view> chosen,
                   std::optional<std::string_view> in_file) {
  const form* in_it = in_file ? recognise(*in_file) : nullptr;
  if (!chosen) {
    if (in_it)
      return in_it->make(*in_file);
    return failure(no_template{
      std::string{in_file ? "the model's chat template is none that is known"
                          : "the model has no chat template"}
      + "; set chat_template in the topology to one of " + list_of_names()});
  }
  const auto found = std::ranges::find(forms, *chosen, &form::name);
  if (found == forms.end())
    return failure(no_template{"chat_template is '" + std::string{*chosen}
                               + "'; expected one of " + list_of_names()});
  return found->make(in_it == &*found ? *in_file : std::string_view{});
}

} // namespace perigee::engine
