// What a thread waits for that finds the same again and again: the word, what it holds, and who has changed it.
#pragma once

#include <string>

#include "kernel/thread.hpp"

namespace simt {

/// What the thread has polled last, as far as it is recorded; empty if it is not. For the host's stack.
std::string polled_word_text(const Thread& t);

}  // namespace simt
