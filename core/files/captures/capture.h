// Captures: attention and tokens that any program recorded, in one safetensors file (assets/manual/captures.md).
//
// Metadata: "format" is "attnscope-capture", "version" is "1". "sentences" is a JSON list of objects: text, source and
// target (lists of tokens), output (the token of each row of cross-attention; default: target, or with logits the next
// target token and at the end the most probable candidate), output_text, sentence_b
// (first token of sentence B), forced (number of leading target tokens that were given: a prompt), labels, grid ([rows,
// columns] of image patches, the last source tokens), candidates (tokens of the columns of logits), predictions
// ({"entropy", "candidates": [[token, probability], …]} of each output, most probable first), steps (any of the token
// lists, output_text and predictions again, for one step). Optional: "signed"
// ("true": the values are not weights), "loss" ({"STEP": number, …}) and "circuit" (read by interactive pages, page.h).
//
// Tensors SENTENCE/STEP/WHAT, float32, float16 or bfloat16. encoder, decoder, cross: layers × heads × queries × keys;
// hidden: layers + 1 × tokens × d_model; logits: target tokens × candidates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/series.h"
#include "config/config.h"
#include "messages/metric_point.h"
#include "messages/pinned_sentence.h"
#include "messages/snapshot.h"

namespace attnscope {

inline constexpr std::string_view capture_extension = ".safetensors";

// By the name: a capture, or an interactive page, which contains one.
bool is_capture_name(std::string_view path);

struct CaptureContents {
  ModelConfig model;                      // of the first sentence
  std::vector<PinnedSentence> sentences;  // named by text; equal texts are distinguished by their labels
  std::vector<MetricPoint> losses;        // ascending by step
  // Hidden states of each sentence by step: tokens × d_model of each layer.
  std::vector<std::map<std::int64_t, std::vector<Matrix>>> hidden = {};
};

// Its frames get `run`, the run's number in this process. Throws FileError, and SafetensorsError naming the file, the
// sentence, the tensor and both numbers if anything does not fit.
CaptureContents load_capture(const std::filesystem::path& file, std::uint64_t run);

// What a capture says besides its sentences.
struct CaptureFacts {
  std::vector<Label> labels = {};  // of every sentence, before its own
  Series losses = {};  // by step
  std::string circuit = {};  // JSON; empty: none
};

// Returns the bytes of a capture with these frames: tokens, attention, steps and the candidates of every output, but no
// model and no hidden states.
std::string capture_bytes(std::span<const PinnedSentence> sentences, const CaptureFacts& facts = {});

}  // namespace attnscope
