// judges KIND: a program whose memory at its end is known by how it is written. With JUDGE_ASK it also asks the allocator
// to give back what it can, and prints its anonymous and resident KiB before and after.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))
enum { MIB = 1 << 20, MOST_KEPT = 400000 };
static char* kept[MOST_KEPT];
static int kept_count;
static uint64_t state = 88172645463325252ULL;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// So that no compiler leaves the writing out.
static void write_all(void* block, size_t bytes) {
    memset(block, 1, bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
}

SITE static char* load_row(size_t bytes) {
    char* block = malloc(bytes);
    write_all(block, bytes);
    return block;
}
SITE static void keep_entry(size_t bytes) {
    char* block = malloc(bytes);
    write_all(block, bytes);
    kept[kept_count++] = block;
}
SITE static char* load_aligned(size_t alignment, size_t bytes) {
    void* block = NULL;
    if (posix_memalign(&block, alignment, bytes) != 0) {
        exit(9);
    }
    write_all(block, bytes);
    return block;
}
SITE static void forget(size_t bytes) {
    char* block = malloc(bytes);
    write_all(block, bytes);
}
SITE static void fill_cache(size_t bytes) {
    char* block = malloc(bytes);
    write_all(block, bytes);
    kept[kept_count++] = block;
}

static void freed_rows(void) {
    enum { COUNT = 150000 };
    char** rows = malloc(COUNT * sizeof *rows);
    for (int i = 0; i < COUNT; ++i) {
        rows[i] = load_row(96);
    }
    for (int i = 0; i < COUNT; ++i) {
        free(rows[i]);
    }
    free(rows);
}

// No later block fits between two that are aligned, and a small one lies behind each pair.
static void aligned_buffers(void) {
    for (int i = 0; i < 80; ++i) {
        char* one = load_aligned(64, MIB / 2);
        char* other = load_aligned(64, MIB / 2);
        keep_entry(48);
        free(one);
        free(other);
    }
}

static void* query(void* unused) {
    enum { COUNT = 3000 };
    static __thread char* rows[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        rows[i] = load_row(3000);
    }
    char* last = load_row(700);
    for (int i = 0; i < COUNT; ++i) {
        free(rows[i]);
    }
    return unused == NULL ? last : unused;
}

// One after the other is made in an arena of its own while the others live.
static void thread_arenas(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) {
        pthread_create(&threads[i], NULL, query, NULL);
    }
    for (int i = 0; i < 4; ++i) {
        void* last = NULL;
        pthread_join(threads[i], &last);
        kept[kept_count++] = last;
    }
}

// An entry in each page of rows that are freed.
static void pinned_rows(void) {
    enum { COUNT = 120000 };
    char** rows = malloc(COUNT * sizeof *rows);
    for (int i = 0; i < COUNT; ++i) {
        rows[i] = load_row(176);
        if (i % 20 == 19) {
            keep_entry(40);
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        free(rows[i]);
    }
    free(rows);
}

// The same with sizes and distances by chance.
static void pinned_by_chance(void) {
    enum { COUNT = 100000 };
    char** rows = malloc(COUNT * sizeof *rows);
    for (int i = 0; i < COUNT; ++i) {
        rows[i] = load_row(140 + draw() % 150);
        if (draw() % 8 == 0) {
            keep_entry(24 + draw() % 40);
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        free(rows[i]);
    }
    free(rows);
}

// 96 bytes are lost every sixth time, among blocks that live for a moment.
static void lost_blocks(void) {
    char* last[64] = {0};
    for (int i = 0; i < 400000; ++i) {
        char** place = &last[draw() % 64];
        free(*place);
        *place = load_row(40 + draw() % 300);
        if (i % 6 == 0) {
            forget(96);
        }
    }
    for (int i = 0; i < 64; ++i) {
        free(last[i]);
    }
}

// The same, and each can be found again.
static void growing_cache(void) {
    char* last[64] = {0};
    for (int i = 0; i < 400000; ++i) {
        char** place = &last[draw() % 64];
        free(*place);
        *place = load_row(40 + draw() % 300);
        if (i % 6 == 0) {
            keep_entry(96);
        }
    }
    for (int i = 0; i < 64; ++i) {
        free(last[i]);
    }
}

// Filled at once, and then only read: no growth.
static void full_cache(void) {
    for (int i = 0; i < 20000; ++i) {
        fill_cache(900);
    }
}

static void large_blocks(void) {
    for (int i = 0; i < 12; ++i) {
        fill_cache(2 * MIB);
        kept[kept_count++] = malloc(2 * MIB);
    }
}

static int deep(int depth) {
    volatile char here[64 << 10];
    write_all((char*)here, sizeof here);
    return depth == 0 ? here[1] : deep(depth - 1) + here[7];
}
static void deep_stack(void) {
    kept_count = deep(110) > 0 ? 0 : 1;
}

static pthread_barrier_t at_work;
static void* wait_deep(void* unused) {
    char here[MIB];
    write_all(here, sizeof here);
    pthread_barrier_wait(&at_work);
    pause();
    return unused;
}
static void stacks_of_threads(void) {
    pthread_barrier_init(&at_work, NULL, 13);
    for (int i = 0; i < 12; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, wait_deep, NULL);
    }
    pthread_barrier_wait(&at_work);
}

static int scratch_file(size_t bytes) {
    char name[] = "./judge_XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    static char part[MIB];
    write_all(part, sizeof part);
    for (size_t i = 0; i < bytes; i += sizeof part) {
        if (write(file, part, sizeof part) != (ssize_t)sizeof part) {
            exit(9);
        }
    }
    return file;
}
static void mapped_file(void) {
    const char* data = mmap(NULL, 20 * MIB, PROT_READ, MAP_PRIVATE, scratch_file(20 * MIB), 0);
    for (int i = 0; i < 20 * MIB; i += 4096) {
        kept_count += ((volatile const char*)data)[i] == 3;
    }
}
static void shared_memory(void) {
    const int file = memfd_create("judge", 0);
    if (ftruncate(file, 9 * MIB) != 0) {
        exit(9);
    }
    write_all(mmap(NULL, 9 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), 9 * MIB);
    write_all(mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 8 * MIB);
}
static void own_pool(void) {
    char* pool = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    write_all(pool, 18 * MIB);
    madvise(pool, 2 * MIB, MADV_DONTNEED);
}
static void paged_blocks(void) {
    for (int i = 0; i < 2500; ++i) {
        kept[kept_count++] = load_aligned(4096, 4700);
    }
}
// One page in each MiB, which the kernel makes huge ones.
static void sparse_huge(void) {
    for (int i = 0; i < 4; ++i) {
        char* block = load_aligned(2 * MIB, 1);
        free(block);
        block = NULL;
        if (posix_memalign((void**)&block, 2 * MIB, 8 * MIB) != 0) {
            exit(9);
        }
        madvise(block, 8 * MIB, MADV_HUGEPAGE);
        for (int at = 0; at < 8 * MIB; at += MIB) {
            ((volatile char*)block)[at] = 1;
        }
        kept[kept_count++] = block;
    }
}
static char table[20 * MIB];
static void static_table(void) {
    write_all(table, sizeof table);
}
static void untouched(void) {
    for (int i = 0; i < 20; ++i) {
        kept[kept_count++] = malloc(3 * MIB);
    }
}
static void little(void) {
    keep_entry(1000);
}

static const struct {
    const char* name;
    void (*run)(void);
} kinds[] = {{"freed_rows", freed_rows},
             {"aligned_buffers", aligned_buffers},
             {"thread_arenas", thread_arenas},
             {"pinned_rows", pinned_rows},
             {"pinned_by_chance", pinned_by_chance},
             {"lost_blocks", lost_blocks},
             {"growing_cache", growing_cache},
             {"full_cache", full_cache},
             {"large_blocks", large_blocks},
             {"deep_stack", deep_stack},
             {"stacks_of_threads", stacks_of_threads},
             {"mapped_file", mapped_file},
             {"shared_memory", shared_memory},
             {"own_pool", own_pool},
             {"paged_blocks", paged_blocks},
             {"sparse_huge", sparse_huge},
             {"static_table", static_table},
             {"untouched", untouched},
             {"little", little}};

static void print_memory(const char* when) {
    static char text[8192];
    const int file = open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = 0;
    const char* anonymous = strstr(text, "\nAnonymous:");
    const char* resident = strstr(text, "\nRss:");
    char line[160];
    const int length =
        snprintf(line, sizeof line, "%s %ld %ld\n", when, resident == NULL ? -1 : strtol(resident + 5, NULL, 10),
                 anonymous == NULL ? -1 : strtol(anonymous + 11, NULL, 10));
    if (write(1, line, (size_t)length) != length) {
        exit(9);
    }
}

static void give_back(void) {
    int (*control)(const char*, void*, size_t*, void*, size_t) = dlsym(RTLD_DEFAULT, "mallctl");
    void (*collect)(int) = dlsym(RTLD_DEFAULT, "mi_collect");
    void (*release)(void) = dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
    if (control != NULL) {
        control("thread.tcache.flush", NULL, NULL, NULL, 0);
        control("arena.4096.purge", NULL, NULL, NULL, 0);
    } else if (collect != NULL) {
        collect(1);
    } else if (release != NULL) {
        release();
    } else {
        malloc_trim(0);
    }
}

int main(int count, char** words) {
    for (size_t i = 0; count > 1 && i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcmp(words[1], kinds[i].name) == 0) {
            kinds[i].run();
            __asm__ volatile("" : : "r"(kept) : "memory");
            if (getenv("JUDGE_ASK") != NULL) {
                print_memory("end");
                give_back();
                print_memory("asked");
            }
            exit(0);
        }
    }
    return 2;
}
