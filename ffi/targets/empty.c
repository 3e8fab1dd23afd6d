/* Firmware that does nothing: for what is linked along with it. */
int main(void);
int main(void) {
    return 0;
}
