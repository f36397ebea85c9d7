// @idea   one atomicAdd on a float per element, after a kernel that writes zero
// @source note 003 section 2.2
// @expect WA
// Bytes: 4N read, and N read-modify-writes of one word. Floor: 2.7 us + N / 0.56 G atomics/s =
// 7,500 us at N = 4,194,304: every addition queues at one address of L2, so the 132 SMs wait in
// line and memory bandwidth plays no part.
// Why it is wrong: the additions form one chain of N roundings in fp32. Once the sum is large each
// element loses its low bits; the error is 4e-4 at 4 million elements of U(0,1000) and 6e-4 at 15
// million, against a tolerance of 1e-5. A second flaw: fp32 atomics on global memory flush
// denormals to zero. `atomic_element_f64.cu` is the same idea with a double, and right.
// The order of the additions changes from run to run, and so do the last digits.

namespace
{

constexpr int BLOCK = 256;

// Phase 1: the output holds garbage on entry. It must be cleared by an earlier kernel: a block of
// the adding kernel cannot do it, because no block knows which of the others have already added.
__global__ void clear(float *__restrict__ output) { *output = 0.0f; }

// Phase 2: one thread per element, one atomic per thread.
__global__ void add_each(const float *__restrict__ input, float *__restrict__ output, int n)
{
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < n)
        atomicAdd(output, input[i]);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    clear<<<1, 1>>>(output);
    if (N > 0)
        add_each<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(input, output, N);
}
