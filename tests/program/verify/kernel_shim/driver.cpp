// Runs one of several kernels block by block, in an odd order, over memory with guards. The test
// writes `kernels.inc`, which includes each of them in a namespace of its own and lists them.
// Exit 0 if all is right, 1 if a number is wrong, 2 if a guard was changed, 3 if the shim saw a
// wrong use, 4 otherwise.
#include "kernel_operator.h"

#include "kernels.inc"

int main(int, char **arguments)
{
    const Candidate kernel = candidates[std::atoi(arguments[1])];
    constexpr uint64_t guard = 1024;
    blocks = 5;
    const uint64_t count = kernel.stripe * blocks;
    std::vector<int32_t> one(count), other(count), out(count + 2 * guard, 0x5a5a5a5a);
    uint64_t state = 1;
    for (uint64_t at = 0; at < count; at++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        one[at] = static_cast<int32_t>(state >> 34);
        other[at] = static_cast<int32_t>(state >> 13 & 0x1fffffff);
    }
    auto bytes = [](std::vector<int32_t> &data) { return reinterpret_cast<uint8_t *>(data.data()); };
    uint8_t *result = bytes(out) + guard * sizeof(int32_t);
    deviceMemory = {{bytes(one), count * 4}, {bytes(other), count * 4}, {result, count * 4}};
    for (int64_t block : {3, 0, 4, 2, 1}) {
        currentBlock = block;
        kernel.entry(bytes(one), bytes(other), result);
    }
    if (kernelTypes != blocks) {
        return 4;
    }
    for (uint64_t at = 0; at < guard; at++) {
        if (out[at] != 0x5a5a5a5a || out[guard + count + at] != 0x5a5a5a5a) {
            return 2;
        }
    }
    for (uint64_t at = 0; at < count; at++) {
        const uint32_t sum = static_cast<uint32_t>(one[at]) + static_cast<uint32_t>(other[at]);
        if (out[guard + at] != static_cast<int32_t>(sum)) {
            return 1;
        }
    }
    return 0;
}
