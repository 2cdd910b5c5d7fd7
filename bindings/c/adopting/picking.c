/* Reads a file in the order of its SLEDs, in whole lines. What has no order (a pipe, or a file that
 * is not read from its start) is read as before.  */
static bool picking;
/* Where the last read ended, and whether the next one begins elsewhere.  */
static int64_t picked_to;
static bool jumped;

static void
pick_begin (int fd, off_t current_pos)
{
  picking = current_pos == 0 && sleds_pick_init (fd, BUFFER_SIZE, '\n') > 0;
  if (! picking)
    fdadvise (fd, 0, 0, FADVISE_SEQUENTIAL);
  picked_to = 0;
  jumped = false;
}

static size_t
pick_read (int fd, void *buf, size_t size)
{
  int64_t offset;
  size_t length;
  if (! picking)
    return safe_read (fd, buf, size);
  int more = sleds_pick_next_read (fd, size, 0, &offset, &length);
  if (more <= 0)
    return more < 0 ? SAFE_READ_ERROR : 0;
  ssize_t got = sleds_pick_read (fd, buf, length, offset);
  if (got != (ssize_t) length)
    {
      errno = got < 0 ? errno : ESTALE;
      return SAFE_READ_ERROR;
    }
  jumped = offset != picked_to;
  picked_to = offset + got;
  return got;
}

static void
pick_end (int fd)
{
  if (picking)
    sleds_pick_finish (fd);
  picking = false;
}

