// The blocks of this chapter's kernels with one thread per element.
#pragma once

constexpr unsigned kBlockSize = 256;
