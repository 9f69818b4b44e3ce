#include "session/remote/wire.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "messages/metrics.h"
#include "session/remote/consistency.h"
#include "wire_fill.h"

namespace attnscope {
namespace {

ToServer read_back(const ToServer&, std::string_view bytes) {
  return read_to_server(bytes);
}
ToClient read_back(const ToClient&, std::string_view bytes) {
  return read_to_client(bytes);
}

// Every kind of packet, and in those that carry one every kind of command or event, some times over.
template <typename Packet, typename Message, typename Do>
void for_each_packet(int times, Do what) {
  Filler filler(1);
  for (int i = 0; i < times; ++i)
    for (std::size_t kind = 0; kind < std::variant_size_v<Packet>; ++kind)
      for (std::size_t within = 0; within < std::variant_size_v<Message>; ++within)
        what(filler.packet<Packet>(kind, within));
}

template <typename Do>
void for_each_packet(int times, Do what) {
  for_each_packet<ToServer, Command>(times, what);
  for_each_packet<ToClient, Event>(times, what);
}

TEST(Wire, EveryMessageComesBackAsItWas) {
  for_each_packet(20, [](const auto& packet) {
    const std::string bytes = wire_bytes(packet);
    const auto back = read_back(packet, bytes);
    ASSERT_EQ(back.index(), packet.index());
    ASSERT_EQ(wire_bytes(back), bytes);
  });
}

TEST(Wire, ValuesComeBack) {
  Snapshot seen;
  seen.request = (std::uint64_t{1} << 60) + 7;
  seen.source_text = "L'été\n";
  seen.model.num_heads = 4;
  seen.encoder = {{Matrix(2, 3)}};
  seen.encoder[0][0].at(1, 2) = 0.1F;
  seen.encoder[0][0].at(0, 0) = std::nanf("");
  seen.untouched = std::make_shared<Snapshot>(seen);
  const auto back = std::get<ProbeReply>(
      read_to_client(wire_bytes(ToClient(ProbeReply{std::make_shared<Snapshot>(seen), RunSide::b}))));
  ASSERT_TRUE(back.snapshot);
  EXPECT_EQ(back.side, RunSide::b);
  EXPECT_EQ(back.snapshot->request, seen.request);
  EXPECT_EQ(back.snapshot->source_text, seen.source_text);
  EXPECT_EQ(back.snapshot->model, seen.model);
  EXPECT_EQ(back.snapshot->untouched->encoder[0][0].at(1, 2), 0.1F);
  EXPECT_TRUE(std::isnan(back.snapshot->encoder[0][0].at(0, 0)));
}

TEST(Wire, WhatWasNotMeasuredStaysSo) {
  MetricPoint point;
  point.step = 12;
  point.set(metric("gradient_norm"), std::nan(""));
  const auto back = std::get<LoggedEvent>(read_to_client(wire_bytes(ToClient(LoggedEvent{3, point}))));
  const auto& read = std::get<MetricPoint>(back.event);
  EXPECT_EQ(back.number, 3U);
  EXPECT_EQ(read.step, 12);
  EXPECT_FALSE(read[metric("loss")]);
  EXPECT_TRUE(std::isnan(read[metric("gradient_norm")].value()));
}

// Changes a packet's bytes as errors or an attacker might.
std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1 + below(4), static_cast<char>(random()));
        break;
      default:
        bytes.erase(at, 1 + below(8));
        break;
    }
  }
  return bytes;
}

// Read without harm, as something that can be told again, or refused.
template <typename Packet>
void check_hostile(const Packet& kind, const std::string& bytes, int& refused) {
  try {
    wire_bytes(read_back(kind, bytes));
  } catch (const WireError&) {
    ++refused;
  }
}

// How many messages are mutated; ATTNSCOPE_WIRE_MESSAGES=1000000 is the long form.
int messages_to_mutate() {
  const char* wanted = std::getenv("ATTNSCOPE_WIRE_MESSAGES");
  return wanted != nullptr ? std::stoi(wanted) : 100'000;
}

TEST(Wire, MutatedMessagesAreReadOrRefused) {
  std::mt19937 random(7);
  const int wanted = messages_to_mutate();
  int tried = 0, refused = 0;
  while (tried < wanted) {
    for_each_packet(1, [&](const auto& packet) {
      const std::string bytes = wire_bytes(packet);
      for (int i = 0; i < 40; ++i, ++tried) check_hostile(packet, mutated(bytes, random), refused);
    });
  }
  EXPECT_GT(refused, tried / 4);
}

TEST(Wire, RandomBytesAreRefused) {
  std::mt19937 random(8);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    check_hostile(ToServer(), bytes, refused);
    check_hostile(ToClient(), bytes, refused);
  }
  EXPECT_GT(refused, 39'900);
}

TEST(Wire, WhatIsNestedWithoutEndIsRefused) {
  const std::string lists(std::size_t{1} << 20, '\x91');  // a list of one list of one list …
  EXPECT_THROW(read_to_server(lists), WireError);
  EXPECT_THROW(read_to_client(lists), WireError);
}

TEST(Wire, AListThatClaimsToBeLongTakesNoMemory) {
  EXPECT_THROW(read_to_server(std::string("\xdd\xff\xff\xff\xff", 5)), WireError);
  EXPECT_THROW(read_to_server(std::string("\xc6\xff\xff\xff\xff", 5)), WireError);
}

std::int64_t most_resident_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

// The most expensive contents of a packet of 64 MB: short items of large fields.
TEST(Wire, APacketCostsAtMostThreeTimesItsSize) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps what was freed";
#endif
  const auto filled = [](std::string head, const std::string& item) {
    std::string bytes = std::move(head) + std::string("\xdd\x01\x00\x00\x00", 5);  // a list of 16 777 216
    bytes.reserve(largest_news);
    while (bytes.size() + item.size() <= largest_news) bytes += item;
    return bytes;
  };
  // TransientEvent, of CorpusRead: examples, then warnings; and a tree of beam nodes.
  const std::string read = wire_bytes(ToClient(TransientEvent{CorpusRead{}}));
  const std::string before_lists = read.substr(0, read.size() - 2);
  for (const std::string& bytes :
       {filled(before_lists, std::string("\x92\xa0\xa0", 3)), filled(before_lists + '\x90', std::string("\xa0", 1))}) {
    const std::int64_t before = most_resident_megabytes();
    EXPECT_THROW(read_to_client(bytes), WireError);
    EXPECT_LE(most_resident_megabytes() - before, 130) << "beside the packet itself";
  }
  // Honest packets are read: numbers are copied once.
  Snapshot seen;
  seen.encoder = {{Matrix(3900, 3900)}};  // 61 MB
  const std::string honest = wire_bytes(ToClient(ProbeReply{std::make_shared<Snapshot>(seen)}));
  ASSERT_LE(honest.size(), largest_news);
  EXPECT_NO_THROW(read_to_client(honest));
}

// ---- parts that do not fit each other

std::shared_ptr<Snapshot> consistent_snapshot() {
  auto seen = std::make_shared<Snapshot>();
  seen->model.num_encoder_layers = seen->model.num_decoder_layers = 1;
  seen->model.num_heads = 2;
  seen->source.resize(3);
  seen->target_in.resize(2);
  seen->target_out.resize(2);
  seen->encoder = {{Matrix(3, 3), Matrix(3, 3)}};
  seen->decoder = {{Matrix(2, 2), Matrix(2, 2)}};
  seen->cross = {{Matrix(2, 3), Matrix(2, 3)}};
  seen->decoding.resize(2);
  for (DecodingStep& step : seen->decoding) step.candidates.resize(1);
  seen->positions = std::make_shared<const std::vector<PositionTable>>();
  return seen;
}

bool is_consistent(const std::function<void(Snapshot&)>& change) {
  const auto seen = consistent_snapshot();
  change(*seen);
  try {
    check_consistency(ToClient(ProbeReply{seen}));
    return true;
  } catch (const WireError&) {
    return false;
  }
}

TEST(Consistency, EveryPartOfASnapshotFitsTheOthers) {
  EXPECT_TRUE(is_consistent([](Snapshot&) {}));
  const std::vector<std::function<void(Snapshot&)>> changes = {
      [](Snapshot& seen) { seen.source.resize(4); },
      [](Snapshot& seen) { seen.target_in.resize(3); },
      [](Snapshot& seen) { seen.encoder[0].pop_back(), seen.encoder.push_back(seen.encoder[0]); },
      [](Snapshot& seen) { seen.decoder[0][1] = Matrix(2, 3); },
      [](Snapshot& seen) { seen.cross.push_back({Matrix(2, 3)}); },
      [](Snapshot& seen) { seen.decoding[1].chosen = 1; },
      [](Snapshot& seen) { seen.decoding[1].chosen = -1; },
      [](Snapshot& seen) { seen.decoding.resize(3); },
      [](Snapshot& seen) { seen.prefix = 1; },
      [](Snapshot& seen) { seen.forced = 3; },
      [](Snapshot& seen) { seen.unseen = {{.begin = 2, .end = 9, .text = "x", .nearest = {}}}; },
      [](Snapshot& seen) { seen.positions = nullptr; },
      [](Snapshot& seen) {
        seen.inside.emplace().place = {AttentionPart::encoder, 0, 7};
      },
      [](Snapshot& seen) { seen.sublayers.emplace_back().norm_in.resize(3); },
      [](Snapshot& seen) {
        seen.untouched = std::make_shared<Snapshot>(*consistent_snapshot()),
        const_cast<Snapshot&>(*seen.untouched).source.clear();
      },
      [](Snapshot& seen) {
        auto flow = std::make_shared<DataFlow>();
        flow->matrices.push_back(
            {.name = "x", .help = "", .letters = "", .values = Matrix(1, 1), .op = FlowOp::sum, .operands = {0, 0}});
        seen.data_flow = flow;
      },
      [](Snapshot& seen) {
        auto decodings = std::make_shared<Decodings>();
        decodings->tree.resize(2);
        decodings->tree[0].parent = 1;
        seen.decodings = decodings;
      },
      [](Snapshot& seen) {
        auto decodings = std::make_shared<Decodings>();
        decodings->ranked = {{}};
        seen.decodings = decodings;
      },
      [](Snapshot& seen) {
        auto result = std::make_shared<EmbeddingResult>();
        result->vocabulary = std::make_shared<Vocabulary>();
        result->problem = "none";
        result->chosen = 5;
        seen.embeddings = result;
      }};
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_FALSE(is_consistent(changes[i])) << "change " << i;
}

TEST(Consistency, EveryPartOfAResultFitsTheOthers) {
  const auto is_refused = [](const auto& answer) {
    try {
      check_consistency(
          ToClient(TransientEvent{StudyEnded{1, std::make_shared<const StudyResult>(StudyResult{1, 1, answer})}}));
      return false;
    } catch (const WireError&) {
      return true;
    }
  };
  EXPECT_TRUE(is_refused(HeadsResult{}));
  EXPECT_FALSE(is_refused(HeadsResult{.problem = "none"}));
  HeadsResult heads{.problem = "", .heads = {{{AttentionPart::encoder, 0, 0}}}, .pruning = {{1, 0.5}, {0, 0.9}}};
  EXPECT_FALSE(is_refused(heads));
  EXPECT_FALSE(is_refused(HeadsHistory{.problem = "", .points = {{1, heads}, {2, heads}}}));
  EXPECT_TRUE(is_refused(HeadsHistory{.problem = "", .points = {{1, heads}, {2, HeadsResult{.problem = "none"}}}}));
  heads.heads[0].place.head = 1;
  EXPECT_TRUE(is_refused(heads)) << "the first head is missing";
  heads.heads.push_back({{AttentionPart::encoder, 0, 0}});
  heads.pruning.push_back({0, 1.5});
  EXPECT_TRUE(is_refused(heads)) << "the first head comes second";
  EXPECT_TRUE(is_refused(TsneMap{.ids = {1, 2}, .points = Matrix(1, 2)}));
  EXPECT_TRUE(is_refused(CircuitResult{}));
  Circuit circuit;
  circuit.slots = {"a"};
  circuit.places = {{.layer = 0, .slots = {1}, .together = {}, .rest = {}, .each = {}}};
  EXPECT_TRUE(is_refused(CorpusCircuit{.question = {}, .found = circuit}));
  circuit.places[0].slots = {0};
  EXPECT_FALSE(is_refused(CorpusCircuit{.question = {}, .found = circuit}));
  EXPECT_TRUE(
      is_refused(Formation{.question = {}, .of = circuit, .points = {{.step = 1, .difference = 0, .moved = {}}}}));
  EXPECT_TRUE(is_refused(TensorsResult{.question = {}, .parameters = {TensorHistory{"w"}}}));
}

TEST(Wire, AMatrixHasItsSize) {
  Snapshot seen;
  seen.encoder = {{Matrix(2, 2)}};
  seen.encoder[0][0].rows = 3;
  EXPECT_THROW(read_to_client(wire_bytes(ToClient(ProbeReply{std::make_shared<Snapshot>(seen)}))), WireError);
}

TEST(Wire, AConfigurationIsChecked) {
  Config config;
  config.model.num_heads = 0;
  EXPECT_THROW(read_to_server(wire_bytes(ToServer(Command(Reset{config})))), WireError);
}

}  // namespace
}  // namespace attnscope
