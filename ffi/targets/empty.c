/* Firmware that does nothing, to be linked with code that is measured. */
int main(void);
int main(void) {
    return 0;
}
