// What the test kernel uses of Ascend C, for the host: enough to run its logic and to fail where
// a device would go wrong (out of bounds, a queue used in the wrong order, a move of odd size).
// It is written from the documented behaviour and proves nothing about the vendor's compiler.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#define __aicore__
#define __global__
#define __gm__
using GM_ADDR = uint8_t *;

inline void require(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "%s\n", what);
        std::exit(3);
    }
}

enum KernelType { KERNEL_TYPE_AIV_ONLY };
inline int kernelTypes = 0;
#define KERNEL_TASK_TYPE_DEFAULT(type) (void)(type), kernelTypes++

inline int64_t currentBlock = 0;
inline int64_t blocks = 1;
// Memory of the device: what lies outside of these is out of bounds.
struct Range {
    const uint8_t *begin;
    uint64_t size;
};
inline std::vector<Range> deviceMemory;
inline bool alive(const void *at, uint64_t size)
{
    const uint8_t *first = static_cast<const uint8_t *>(at);
    for (const Range &range : deviceMemory) {
        if (first >= range.begin && first + size <= range.begin + range.size) {
            return true;
        }
    }
    return false;
}

namespace AscendC {
// What a core has of local memory (Atlas A2: 192 KiB).
constexpr uint64_t LOCAL = 192 * 1024;

inline int64_t GetBlockIdx() { return currentBlock; }
inline int64_t GetBlockNum() { return blocks; }

enum class TPosition { GM, VECIN, VECOUT };

template <class T> class LocalTensor {
public:
    std::shared_ptr<std::vector<T>> data;
    // Whether what was moved or computed is there: a queue says when.
    std::shared_ptr<bool> ready = std::make_shared<bool>(false);
    uint32_t GetSize() const { return static_cast<uint32_t>(data->size()); }
};

template <class T> class GlobalTensor {
public:
    void SetGlobalBuffer(T *buffer, uint64_t count)
    {
        require(alive(buffer, count * sizeof(T)), "global buffer out of bounds");
        begin = buffer;
        size = count;
    }
    GlobalTensor operator[](uint64_t offset) const
    {
        require(offset <= size, "offset out of bounds");
        GlobalTensor rest;
        rest.begin = begin + offset;
        rest.size = size - offset;
        return rest;
    }
    T *begin = nullptr;
    uint64_t size = 0;
};

class Queue {
public:
    uint32_t depth = 0, bytes = 0, used = 0;
};

template <TPosition position, int depth_> class TQue : public Queue {
public:
    template <class T> LocalTensor<T> AllocTensor()
    {
        require(bytes != 0, "a queue without buffer");
        require(used < depth, "more tensors than buffers: a device waits for ever");
        used++;
        LocalTensor<T> tensor;
        tensor.data = std::make_shared<std::vector<T>>(bytes / sizeof(T), static_cast<T>(0x5a));
        return tensor;
    }
    template <class T> bool EnQue(const LocalTensor<T> &tensor)
    {
        waiting.push_back({tensor.data, tensor.ready});
        return true;
    }
    template <class T> LocalTensor<T> DeQue()
    {
        require(!waiting.empty(), "nothing is in the queue: a device waits for ever");
        LocalTensor<T> tensor;
        tensor.data = std::static_pointer_cast<std::vector<T>>(waiting.front().first);
        tensor.ready = waiting.front().second;
        *tensor.ready = true;
        waiting.pop_front();
        return tensor;
    }
    template <class T> void FreeTensor(LocalTensor<T> &tensor)
    {
        require(tensor.data != nullptr && used > 0, "a tensor that is not of this queue");
        used--;
        tensor.data = nullptr;
    }
    ~TQue() { require(used == 0 && waiting.empty(), "tensors are left in a queue"); }

private:
    std::deque<std::pair<std::shared_ptr<void>, std::shared_ptr<bool>>> waiting;
};

class TPipe {
public:
    template <class Q> bool InitBuffer(Q &queue, uint8_t number, uint32_t length)
    {
        require(length % 32 == 0, "a buffer that is no multiple of 32 bytes");
        total += static_cast<uint64_t>(number) * length;
        require(total <= LOCAL, "more than the local memory");
        queue.depth = number;
        queue.bytes = length;
        return true;
    }

private:
    uint64_t total = 0;
};

template <class T> void DataCopy(LocalTensor<T> &to, const GlobalTensor<T> &from, uint32_t count)
{
    require(count * sizeof(T) % 32 == 0, "a move that is no multiple of 32 bytes");
    require(count <= from.size && count <= to.GetSize(), "a move out of bounds");
    std::memcpy(to.data->data(), from.begin, count * sizeof(T));
}

template <class T> void DataCopy(const GlobalTensor<T> &to, const LocalTensor<T> &from, uint32_t count)
{
    require(count * sizeof(T) % 32 == 0, "a move that is no multiple of 32 bytes");
    require(count <= to.size && count <= from.GetSize(), "a move out of bounds");
    require(*from.ready, "moved out before the queue said that it is there");
    std::memcpy(to.begin, from.data->data(), count * sizeof(T));
}

template <class T>
void Add(LocalTensor<T> &out, const LocalTensor<T> &one, const LocalTensor<T> &other, uint32_t count)
{
    require(count <= out.GetSize() && count <= one.GetSize() && count <= other.GetSize(), "an addition out of bounds");
    require(*one.ready && *other.ready, "added before the queue said that it is there");
    for (uint32_t at = 0; at < count; at++) {
        // As the device does: without overflow.
        (*out.data)[at] = static_cast<T>(static_cast<uint32_t>((*one.data)[at]) + static_cast<uint32_t>((*other.data)[at]));
    }
}
} // namespace AscendC
