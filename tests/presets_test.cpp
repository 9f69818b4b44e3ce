// Every preset can be used, and changes what it says and nothing of the corpus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "config/presets.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

TEST(Presets, AllAreUsableAndDifferent) {
  std::set<std::string> configurations;
  for (const Preset& known : presets()) {
    const Config config = with_preset(known, {});
    EXPECT_NO_THROW(check(config)) << known.name;
    EXPECT_FALSE(known.description.empty()) << known.name;
    std::string text;
    for (const ConfigField& field : config_fields()) {
      text += field_text(config, field) + ";";
      // A value that the configuration makes no use of would mislead whoever reads the preset.
      const bool set = field_text(config, field) != field_text(Config(), field);
      EXPECT_TRUE(!set || is_used(config, field)) << known.name << " sets " << field.key;
    }
    EXPECT_TRUE(configurations.insert(text).second) << known.name;
  }
  EXPECT_EQ(configurations.size(), 13U);
}

TEST(Presets, KeepTheCorpusAndStartFromTheDefaults) {
  CorpusConfig corpus;
  corpus.source = "/data/captions.tsv";
  corpus.seed = 7;
  const Config config = with_preset(preset("small"), corpus);
  EXPECT_EQ(config.corpus, corpus);
  EXPECT_EQ(config.model.d_model, 256);
  EXPECT_EQ(config.model.dropout, Config().model.dropout);
}

TEST(Presets, RevisitTinyPeaksAtItsPublishedRate) {
  const Config config = with_preset(preset("revisit-tiny"), {});
  const double peak = config.training.noam_factor / std::sqrt(static_cast<double>(config.model.d_model) *
                                                              static_cast<double>(config.training.warmup_steps));
  EXPECT_NEAR(peak, 5e-3, 1e-6);
}

TEST(Presets, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    preset("huge");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"huge\""));
    for (const Preset& known : presets()) EXPECT_THAT(error.what(), HasSubstr(std::string(known.name)));
  }
}

}  // namespace
}  // namespace attnscope
