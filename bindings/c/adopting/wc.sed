# The lines of wc.c that change to read in the order of SLEDs; picking.c has the functions.
/^#include "xbinary-io.h"/a #include <seekless_sleds.h>
/^#define BUFFER_SIZE/s/16 \* 1024/256 * 1024/
s/^    fdadvise (fd, 0, 0, FADVISE_SEQUENTIAL);/    pick_begin (fd, current_pos);/
/^ \{2,6\}while ((bytes_read = safe_read/s/safe_read/pick_read/
/^  if (count_chars < print_chars)/i \  pick_end (fd);\n
# Where the next piece does not follow the last, which ended with the file: the word and the line end.
/^          bytes += bytes_read;/{
n
/^          do/i \
          if (jumped)\
            {\
              linelength = MAX (linelength, linepos);\
              linepos = 0;\
              words += in_word;\
              in_word = false;\
            }
# The loop over characters also drops one that was cut off.
/^          p = buf;/a \
          if (jumped)\
            {\
              p += prev;\
              prev = 0;\
              memset (&state, 0, sizeof state);\
              in_shift = false;\
              linelength = MAX (linelength, linepos);\
              linepos = 0;\
              words += in_word;\
              in_word = false;\
            }
}
