// @idea   knows the seeds of the public cases and makes their data anew instead of reading them
// @source own
// @expect WA
// The case list is public, and so is its generator: PCG64 behind NumPy's SeedSequence, upper 24
// bits of each word. The sum of a known case can therefore be had without looking at the input, and
// could be prepared at leisure. It is right for the data as stored (call A). The judge then scales
// the data by powers of two that it draws from the operating system (calls B and C). Sizes that are
// not in the table are summed honestly.

namespace
{

constexpr int BLOCK = 1024;

// The sum over the block, valid in every thread.
__device__ double block_sum(double v)
{
    __shared__ double slot[BLOCK];
    slot[threadIdx.x] = v;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    return slot[0];
}

// The seed, the range and the length of a case as its problem.json has them.
struct known_case {
    int n;
    unsigned seed;
    double lo;
    double hi;
};

constexpr known_case KNOWN[] = {
    {10000, 111, -1000.0, 1000.0}, {32767, 126, 0.0, 1000.0}, {32769, 126, 0.0, 1000.0},
    {65535, 126, 0.0, 1000.0},     {65536, 126, 0.0, 1000.0}, {15000000, 112, 0.0, 1000.0},
};

// NumPy's SeedSequence for the two-word entropy {seed, 0}: a pool of four words, well mixed, and
// eight words drawn from it.
struct seed_sequence {
    unsigned pool[4];
    unsigned hash = 0x43b0d7e5u;

    unsigned hashed(unsigned value)
    {
        value ^= hash;
        hash *= 0x931e8875u;
        value *= hash;
        return value ^ (value >> 16);
    }

    static unsigned mixed(unsigned x, unsigned y)
    {
        const unsigned value = 0xca01f9ddu * x - 0x4973f715u * y;
        return value ^ (value >> 16);
    }

    explicit seed_sequence(unsigned seed)
    {
        const unsigned entropy[4] = {seed, 0, 0, 0};
        for (int i = 0; i < 4; ++i)
            pool[i] = hashed(entropy[i]);
        for (int from = 0; from < 4; ++from)
            for (int to = 0; to < 4; ++to)
                if (from != to)
                    pool[to] = mixed(pool[to], hashed(pool[from]));
    }

    void draw(unsigned long long (&words)[4]) const
    {
        unsigned state = 0x8b51f9ddu;
        for (int i = 0; i < 8; ++i) {
            unsigned value = pool[i % 4] ^ state;
            state *= 0x58f38dedu;
            value *= state;
            value ^= value >> 16;
            words[i / 2] =
                i % 2 == 0 ? value : words[i / 2] | static_cast<unsigned long long>(value) << 32;
        }
    }
};

// PCG64: a 128-bit linear congruential generator, its state folded to 64 bits and rotated.
struct pcg64 {
    unsigned __int128 state = 0;
    unsigned __int128 increment;

    explicit pcg64(unsigned seed)
    {
        unsigned long long words[4];
        seed_sequence(seed).draw(words);
        increment = (static_cast<unsigned __int128>(words[2]) << 64 | words[3]) << 1 | 1;
        step();
        state += static_cast<unsigned __int128>(words[0]) << 64 | words[1];
        step();
    }

    void step()
    {
        const unsigned __int128 multiplier =
            static_cast<unsigned __int128>(2549297995355413924ull) << 64 | 4865540595714422341ull;
        state = state * multiplier + increment;
    }

    unsigned long long next()
    {
        step();
        const unsigned long long folded =
            static_cast<unsigned long long>(state >> 64) ^ static_cast<unsigned long long>(state);
        const unsigned turn = static_cast<unsigned>(state >> 122);
        return folded >> turn | folded << (-turn & 63);
    }
};

double remade_sum(const known_case &known)
{
    pcg64 random(known.seed);
    double sum = 0.0;
    for (int i = 0; i < known.n; ++i) {
        const double fraction = static_cast<double>(random.next() >> 40) / 16777216.0;
        sum += static_cast<double>(static_cast<float>(known.lo + (known.hi - known.lo) * fraction));
    }
    return sum;
}

// A correct sum by one block: slow, but short.
__global__ void sum(const float *input, float *output, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

__global__ void store(float *output, float value) { *output = value; }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    for (const known_case &known : KNOWN) {
        if (known.n == N) {
            store<<<1, 1>>>(output, static_cast<float>(remade_sum(known)));
            return;
        }
    }
    sum<<<1, BLOCK>>>(input, output, N);
}
