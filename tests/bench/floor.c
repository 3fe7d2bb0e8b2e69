// What reading another process costs on this machine, and nothing else: process_vm_readv of BYTES at ADDRESS of PID, as
// fast as it goes for SECONDS. Prints the microseconds of CPU time of one call. usage: floor PID ADDRESS BYTES SECONDS

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

static double Seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: floor PID ADDRESS BYTES SECONDS\n");
    return 2;
  }
  const pid_t pid = atoi(argv[1]);
  const size_t bytes = strtoul(argv[3], NULL, 10);
  char* buffer = malloc(bytes);
  struct iovec local = {buffer, bytes};
  struct iovec remote = {(void*)strtoul(argv[2], NULL, 10), bytes};
  if (!buffer) return 1;
  memset(buffer, 0, bytes);  // faults its pages in

  const double end = Seconds(CLOCK_MONOTONIC) + atof(argv[4]);
  const double begin = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  long calls = 0;
  do {
    for (int i = 0; i < 100; ++i, ++calls) {
      if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)bytes) {
        perror("floor: process_vm_readv");
        return 1;
      }
    }
  } while (Seconds(CLOCK_MONOTONIC) < end);
  printf("%.4f\n", 1e6 * (Seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)calls);
  return 0;
}
