// Input between two slow frames arrives complete, in order and at its position.
#include <gtest/gtest.h>

#include <string>

#include "window/input_queue.h"

namespace attnscope {
namespace {

// GLFW's numbers.
constexpr int press = 1;
constexpr int release = 0;
constexpr int left_control = 341;
constexpr int backspace = 259;
constexpr int enter = 257;
constexpr int control = 2;

class InputQueueTest : public testing::Test {
 protected:
  void key(int code, int action, int mods = 0) { queue.push({.key = InputQueue::Key{code, 0, action, mods}}); }
  void stroke(int code, int mods = 0) {
    key(code, press, mods);
    key(code, release, mods);
  }
  void type(const std::string& text) {
    for (const char letter : text) {
      const int code = letter >= 'a' ? letter - 'a' + 'A' : letter;
      key(code, press);
      queue.push({.character = static_cast<unsigned>(letter)});
      key(code, release);
    }
  }
  void button(bool down) { queue.push({.button = InputQueue::Button{0, down, 12, 34}}); }

  static std::string text(const InputQueue::Frame& frame) { return {frame.characters.begin(), frame.characters.end()}; }

  InputQueue queue;
};

TEST_F(InputQueueTest, AllLettersOfAFieldComeInOneFrameWithoutTheirKeys) {
  type("how are you");
  const InputQueue::Frame frame = queue.take(true);
  EXPECT_EQ(text(frame), "how are you");
  EXPECT_TRUE(frame.keys.empty()) << "none can be taken for a command";
  EXPECT_TRUE(queue.empty());
}

TEST_F(InputQueueTest, AClickDoesNotOvertakeLetters) {
  type("abc");
  button(true);
  button(false);
  type(" ");
  InputQueue::Frame frame = queue.take(true);
  EXPECT_EQ(text(frame), "abc");
  EXPECT_FALSE(frame.button);
  frame = queue.take(true);
  ASSERT_TRUE(frame.button);
  EXPECT_TRUE(frame.button->down);
  EXPECT_EQ(frame.button->x, 12);
  EXPECT_TRUE(text(frame).empty());
  EXPECT_FALSE(queue.take(true).button->down);
  EXPECT_EQ(text(queue.take(true)), " ");
}

TEST_F(InputQueueTest, EditingKeysAreTakenInTheirOrder) {
  type("ab");
  stroke(backspace);
  type("c");
  const InputQueue::Frame first = queue.take(true);
  EXPECT_EQ(text(first), "ab");
  ASSERT_EQ(first.keys.size(), 1U);
  EXPECT_EQ(first.keys[0].key, backspace);
  EXPECT_EQ(text(queue.take(true)), "c");
}

TEST_F(InputQueueTest, WhatIsTypedAfterAShortcutWaitsUntilTheKeyboardIsThere) {
  key(left_control, press);
  stroke('T', control);
  key(left_control, release);
  type("hello");
  EXPECT_EQ(queue.take(false).keys.size(), 2U);
  std::string typed;
  int frames = 0;
  for (; typed.empty() && frames < 10; ++frames) typed = text(queue.take(frames >= 1));
  EXPECT_EQ(typed, "hello");
  EXPECT_EQ(frames, 3);
  EXPECT_TRUE(queue.empty());
}

TEST_F(InputQueueTest, AKeyAfterEnterIsNoLetterOfTheFieldThatWasLeft) {
  type("ab");
  stroke(enter);
  type(" ");
  EXPECT_EQ(text(queue.take(true)), "ab");
  bool space = false;
  for (int frame = 0; frame < 8; ++frame) {
    // The field says for a frame or two that it is still there.
    for (const InputQueue::Key& key : queue.take(frame < 2).keys)
      space = space || (key.key == ' ' && key.action == press);
  }
  EXPECT_TRUE(space);
}

TEST_F(InputQueueTest, AKeyPressedAndReleasedBetweenTwoFramesIsSeen) {
  type(" ");
  type(" ");
  int presses = 0;
  for (int frame = 0; frame < 6; ++frame)
    for (const InputQueue::Key& key : queue.take(false).keys) presses += key.action == press ? 1 : 0;
  EXPECT_EQ(presses, 2);
}

TEST_F(InputQueueTest, AKeyThatWentDownBeforeTheFieldWasThereGoesUp) {
  key('A', press);
  EXPECT_EQ(queue.take(false).keys.size(), 1U);
  key('A', release);
  const InputQueue::Frame frame = queue.take(true);
  ASSERT_EQ(frame.keys.size(), 1U);
  EXPECT_EQ(frame.keys[0].action, release);
}

}  // namespace
}  // namespace attnscope
