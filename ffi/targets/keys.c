/* Firmware that prints the keys of the vectors in hexadecimal, a line for each. */
#include "podrank.h"
#include "semihosting.h"

void podrank_vector_keys(void (*put)(const uint8_t *key));
int main(void);

static void print_key(const uint8_t *key) {
    static const char digits[] = "0123456789abcdef";
    char line[2 * PODRANK_KEY_LEN + 2];
    size_t i;

    for (i = 0; i < PODRANK_KEY_LEN; i++) {
        line[2 * i] = digits[key[i] >> 4];
        line[2 * i + 1] = digits[key[i] & 15];
    }
    line[2 * i] = '\n';
    line[2 * i + 1] = '\0';
    semihosting_write(line);
}

int main(void) {
    podrank_vector_keys(print_key);
    return 0;
}
