#ifndef CCOMPAT_H
#define CCOMPAT_H

// Runs the main function that the program brought along, with its arguments. Returns its status, or does not return.
int qos_compat_original_main(void);

#endif
