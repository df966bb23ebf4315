// scryptROMix of RFC 7914. It fills a table with `rounds` rows, and then reads rows in an order that only the data say.
//
// The usual code keeps all rows. This one keeps every second row, and computes the others again from the row before:
// on average every second look needs one more row. The result is the same, the memory is half, and the work is a
// quarter more. An attacker always had this choice, so the strength of a passphrase does not change.
#include "CScrypt.h"

#include <errno.h>
#include <sys/mman.h>

// Four words of the sixteen of a Salsa20 block. The words lie in the order of the diagonals: word 4 * v + 5 * l, modulo
// 16, is lane l of vector v. So a quarter round works on four vectors without a single gather.
typedef uint32_t vector __attribute__((vector_size(16)));

typedef struct {
    vector part[4];
} salsa_block;

#define ROTATED(value, bits) (((value) << (bits)) | ((value) >> (32 - (bits))))
#define LANES(value, a, b, c, d) __builtin_shufflevector(value, value, a, b, c, d)

// Adds the block `other` to `sum` by exclusive or, and applies Salsa20/8 (RFC 7914, section 3).
static inline void salsa(salsa_block *sum, const salsa_block *other) {
    vector start[4];
    for (int index = 0; index < 4; index++) start[index] = sum->part[index] ^ other->part[index];
    vector a = start[0], b = start[1], c = start[2], d = start[3];
    for (int round = 0; round < 4; round++) {
        b ^= ROTATED(a + d, 7);
        c ^= ROTATED(b + a, 9);
        d ^= ROTATED(c + b, 13);
        a ^= ROTATED(d + c, 18);
        // The rows of the next half are the columns of this one.
        b = LANES(b, 3, 0, 1, 2);
        c = LANES(c, 2, 3, 0, 1);
        d = LANES(d, 1, 2, 3, 0);
        d ^= ROTATED(a + b, 7);
        c ^= ROTATED(d + a, 9);
        b ^= ROTATED(c + d, 13);
        a ^= ROTATED(b + c, 18);
        b = LANES(b, 1, 2, 3, 0);
        c = LANES(c, 2, 3, 0, 1);
        d = LANES(d, 3, 0, 1, 2);
    }
    sum->part[0] = start[0] + a;
    sum->part[1] = start[1] + b;
    sum->part[2] = start[2] + c;
    sum->part[3] = start[3] + d;
}

static inline void add(salsa_block *to, const salsa_block *from, size_t count) {
    for (size_t index = 0; index < count; index++)
        for (int part = 0; part < 4; part++) to[index].part[part] ^= from[index].part[part];
}

// scryptBlockMix (RFC 7914, section 4) of 2 * size Salsa20 blocks. The two rows do not overlap.
static void mix_row(const salsa_block *from, salsa_block *to, size_t size) {
    salsa_block sum = from[2 * size - 1];
    for (size_t index = 0; index < 2 * size; index++) {
        salsa(&sum, &from[index]);
        to[index / 2 + (index % 2) * size] = sum;
    }
}

static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void load(const uint8_t *bytes, salsa_block *row, size_t count) {
    for (size_t index = 0; index < count; index++)
        for (int part = 0; part < 4; part++)
            for (int lane = 0; lane < 4; lane++)
                row[index].part[part][lane] = word(bytes + 64 * index + 4 * ((4 * part + 5 * lane) % 16));
}

static void store(const salsa_block *row, uint8_t *bytes, size_t count) {
    for (size_t index = 0; index < count; index++)
        for (int part = 0; part < 4; part++)
            for (int lane = 0; lane < 4; lane++)
                for (int byte = 0; byte < 4; byte++)
                    bytes[64 * index + 4 * ((4 * part + 5 * lane) % 16) + byte] =
                        (uint8_t)(row[index].part[part][lane] >> (8 * byte));
}

// The number of the row to look at: the first words of the last Salsa20 block. Word 1 is lane 1 of the last vector.
static uint64_t next_row(const salsa_block *row, size_t count) {
    return (uint64_t)row[count - 1].part[3][1] << 32 | row[count - 1].part[0][0];
}

int cscrypt_mix(uint8_t *block, size_t size, uint64_t rounds) {
    size_t count = 2 * size;
    // Half of the rows, and three to work with. Pages that come from the system go back to it.
    size_t length = (rounds / 2 + 3) * count * sizeof(salsa_block);
    salsa_block *rows = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rows == MAP_FAILED) return errno;
    salsa_block *row = rows + rounds / 2 * count;
    salsa_block *other = row + count;
    salsa_block *missing = other + count;
    load(block, row, count);
    for (uint64_t round = 0; round < rounds; round += 2) {
        salsa_block *kept = rows + round / 2 * count;
        for (size_t index = 0; index < count; index++) kept[index] = row[index];
        mix_row(kept, other, size);
        mix_row(other, row, size);
    }
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t number = next_row(row, count) & (rounds - 1);
        const salsa_block *kept = rows + number / 2 * count;
        if (number % 2) {
            mix_row(kept, missing, size);
            kept = missing;
        }
        add(row, kept, count);
        mix_row(row, other, size);
        salsa_block *last = row;
        row = other;
        other = last;
    }
    store(row, block, count);
    munmap(rows, length);
    return 0;
}
