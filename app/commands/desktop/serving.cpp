#include "commands/desktop/serving.h"

#include <chrono>
#include <exception>
#include <utility>

namespace attnscope {
namespace {

bool is_ready(const auto& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

Serving::~Serving() {
  if (beginning_.valid()) beginning_.wait();
}

void Serving::begin(const WantedService& wanted) {
  if (beginning_.valid()) return;
  beginning_ = std::async(std::launch::async, [&session = session_, wanted] {
    StationOptions options = guarded_station(wanted.address, wanted.control);
    return Begun{std::make_unique<Station>(options, session), options.token};
  });
}

void Serving::end() {
  service_.reset();
  if (station_)
    endings_.push_back(std::async(std::launch::async, [station = std::move(station_)]() mutable { station.reset(); }));
}

void Serving::hear(const std::vector<Event>& events) {
  for (const Event& event : events) recap_.hear(event);
  if (station_) station_->tell(events);
}

std::string Serving::look() {
  std::erase_if(endings_, [](const auto& ending) { return is_ready(ending); });
  if (station_) service_->watchers = station_->watchers();
  if (!beginning_.valid() || !is_ready(beginning_)) return "";
  try {
    Begun begun = beginning_.get();
    end();  // one before it
    station_ = std::move(begun.station);
    service_ = Service{address_text(station_->address()), std::move(begun.token), 0};
    station_->tell(recap_.events());
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace attnscope
