#include "window/system_theme.h"

#include <systemd/sd-bus.h>

#include <cstdint>
#include <memory>

namespace attnscope {
namespace {

constexpr std::uint64_t longest_wait_us = 500'000;

struct BusDeleter {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
};
struct MessageDeleter {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Bus = std::unique_ptr<sd_bus, BusDeleter>;
using BusMessage = std::unique_ptr<sd_bus_message, MessageDeleter>;

Bus session_bus() {
  sd_bus* bus = nullptr;
  return Bus(sd_bus_open_user(&bus) < 0 ? nullptr : bus);
}

BusMessage answer_of_portal(sd_bus& bus) {
  sd_bus_message* call = nullptr;
  if (sd_bus_message_new_method_call(&bus, &call, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop",
                                     "org.freedesktop.portal.Settings", "Read") < 0)
    return nullptr;
  const BusMessage question(call);
  if (sd_bus_message_append(call, "ss", "org.freedesktop.appearance", "color-scheme") < 0) return nullptr;
  sd_bus_message* answer = nullptr;
  return BusMessage(sd_bus_call(&bus, call, longest_wait_us, nullptr, &answer) < 0 ? nullptr : answer);
}

}  // namespace

std::optional<ThemeName> system_theme() {
  const Bus bus = session_bus();
  if (!bus) return std::nullopt;
  const BusMessage answer = answer_of_portal(*bus);
  std::uint32_t scheme = 0;  // 1 prefers dark, 2 light; a variant within a variant
  if (!answer || sd_bus_message_enter_container(answer.get(), 'v', "v") < 0 ||
      sd_bus_message_read(answer.get(), "v", "u", &scheme) < 0)
    return std::nullopt;
  if (scheme == 1) return ThemeName::dark;
  if (scheme == 2) return ThemeName::light;
  return std::nullopt;
}

}  // namespace attnscope
