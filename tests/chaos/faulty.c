/* Calls of the C library that fail, stop short or kill, at a chosen number.

   cc -shared -fPIC -O2 -o faulty.so faulty.c -ldl; then LD_PRELOAD=faulty.so.
   Only calls on files below one folder are counted and touched (`arm`), in
   memory that forked processes share, so that the parent reads what happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPEN, WRITE, READ, FSYNC, RENAME, UNLINK, MKDIR, KINDS };
enum { COUNT, FAIL, SHORT, KILL, CLOCK };

struct shared {
  long counts[KINDS];
  long hits;
  char where[512];
};

static struct shared *told;
static int action, kind, number, sticky, nth;
static long jump;
static char below[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
  told = mmap(0, sizeof *told, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

struct shared *what_was(void) { return told; }

/* From now on: `what` is done at the `at`-th call of kind `which` on files
   below `folder` (and at all later ones, if `stays`). `value` is an errno, a
   signal or the seconds of a jump of the clock. */
void arm(const char *folder, int what, int which, int at, long value,
         int stays) {
  memset(told, 0, sizeof *told);
  snprintf(below, sizeof below, "%s/", folder);
  kind = which, nth = at, number = value, jump = value, sticky = stays;
  action = what;
}

#define NEXT(name, ...)                                   \
  static typeof(name) *next;                              \
  if (!next) next = (typeof(name) *)dlsym(RTLD_NEXT, #name)

static int of_path(int at, const char *path, char *out) {
  ssize_t n = 0;
  char link[64];
  if (!below[0] || !path) return 0;
  if (path[0] != '/') {
    if (at == AT_FDCWD) {
      if (!getcwd(out, PATH_MAX - 1)) return 0;
      n = strlen(out);
    } else {
      snprintf(link, sizeof link, "/proc/self/fd/%d", at);
      if ((n = readlink(link, out, PATH_MAX - 1)) < 0) return 0;
    }
    out[n++] = '/';
  }
  snprintf(out + n, PATH_MAX - n, "%s", path);
  return !strncmp(out, below, strlen(below));
}

static int of_file(int file, char *out) {
  char link[64];
  if (!below[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t n = readlink(link, out, PATH_MAX - 1);
  if (n < 0) return 0;
  out[n] = 0;
  return !strncmp(out, below, strlen(below));
}

/* Whether this call is the one; a kill does not come back. */
static int met(int which, const char *path) {
  long count = __sync_add_and_fetch(&told->counts[which], 1);
  if (action == COUNT || which != kind) return 0;
  if (count != nth && !(sticky && count > nth)) return 0;
  if (!__sync_fetch_and_add(&told->hits, 1))
    snprintf(told->where, sizeof told->where, "%s", path);
  if (action == KILL && count == nth) kill(getpid(), number);
  if (action == FAIL) errno = number;
  return action == FAIL || action == SHORT;
}

#define IF_MET(which, found, failed)                  \
  int kept = errno;                                   \
  char path_[PATH_MAX];                               \
  int hit = (found) && met(which, path_);             \
  if (hit && action == FAIL) return failed;           \
  errno = kept

#define OPENS(name)                                                        \
  int name(const char *path, int flags, ...) {                             \
    NEXT(name);                                                            \
    va_list more;                                                          \
    va_start(more, flags);                                                 \
    int mode = va_arg(more, int);                                          \
    va_end(more);                                                          \
    IF_MET(OPEN, of_path(AT_FDCWD, path, path_), -1);                      \
    return next(path, flags, mode);                                        \
  }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name)                                                     \
  int name(int at, const char *path, int flags, ...) {                     \
    NEXT(name);                                                            \
    va_list more;                                                          \
    va_start(more, flags);                                                 \
    int mode = va_arg(more, int);                                          \
    va_end(more);                                                          \
    IF_MET(OPEN, of_path(at, path, path_), -1);                            \
    return next(at, path, flags, mode);                                    \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

/* One of a short call's bytes is left out at least, and one is written. */
static size_t part(int hit, size_t size) {
  return hit && action == SHORT && size > 1 ? size / 2 : size;
}

ssize_t write(int file, const void *data, size_t size) {
  NEXT(write);
  IF_MET(WRITE, of_file(file, path_), -1);
  return next(file, data, part(hit, size));
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  NEXT(pwrite);
  IF_MET(WRITE, of_file(file, path_), -1);
  return next(file, data, part(hit, size), at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
  NEXT(pwrite64);
  IF_MET(WRITE, of_file(file, path_), -1);
  return next(file, data, part(hit, size), at);
}
ssize_t writev(int file, const struct iovec *parts, int n) {
  NEXT(writev);
  IF_MET(WRITE, of_file(file, path_), -1);
  return next(file, parts, hit && action == SHORT && n > 1 ? n / 2 : n);
}
ssize_t read(int file, void *data, size_t size) {
  NEXT(read);
  IF_MET(READ, of_file(file, path_), -1);
  return next(file, data, part(hit, size));
}
ssize_t pread64(int file, void *data, size_t size, off64_t at) {
  NEXT(pread64);
  IF_MET(READ, of_file(file, path_), -1);
  return next(file, data, part(hit, size), at);
}
ssize_t pread(int file, void *data, size_t size, off_t at) {
  NEXT(pread);
  IF_MET(READ, of_file(file, path_), -1);
  return next(file, data, part(hit, size), at);
}
int fsync(int file) {
  NEXT(fsync);
  IF_MET(FSYNC, of_file(file, path_), -1);
  return next(file);
}
int fdatasync(int file) {
  NEXT(fdatasync);
  IF_MET(FSYNC, of_file(file, path_), -1);
  return next(file);
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  IF_MET(RENAME, of_path(AT_FDCWD, to, path_), -1);
  return next(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
  NEXT(renameat);
  IF_MET(RENAME, of_path(b, to, path_), -1);
  return next(a, from, b, to);
}
int unlink(const char *path) {
  NEXT(unlink);
  IF_MET(UNLINK, of_path(AT_FDCWD, path, path_), -1);
  return next(path);
}
int unlinkat(int at, const char *path, int flags) {
  NEXT(unlinkat);
  IF_MET(UNLINK, of_path(at, path, path_), -1);
  return next(at, path, flags);
}
int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  IF_MET(MKDIR, of_path(AT_FDCWD, path, path_), -1);
  return next(path, mode);
}

/* The clock on the wall jumps once the chosen call was met. */
static long jumped(void) { return action == CLOCK && told->hits ? jump : 0; }
int clock_gettime(clockid_t which, struct timespec *at) {
  NEXT(clock_gettime);
  int code = next(which, at);
  if (which == CLOCK_REALTIME && !code) at->tv_sec += jumped();
  return code;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  NEXT(gettimeofday);
  int code = next(at, zone);
  if (!code) at->tv_sec += jumped();
  return code;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
