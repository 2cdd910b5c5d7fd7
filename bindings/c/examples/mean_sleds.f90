! The mean of a file of 4-byte numbers after a header, the cheapest bytes first:
! `mean_sleds FILE HEADER_BYTES`. The differences to mean_plain.f90 are what adopting SLEDs takes.
! `fnum` is gfortran's; other compilers have getfd or the like.
program mean
    use seekless_sleds
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
    implicit none
    real(real32), allocatable, target :: values(:)
    real(real64) :: total = 0
    integer(int64) :: header, file_bytes, elements, first, count, buffer_elements
    integer :: unit, fd, more, status
    character(len=4096) :: path, word

    call get_command_argument(1, path)
    call get_command_argument(2, word)
    read(word, *) header
    open(newunit=unit, file=trim(path), access='stream', form='unformatted', status='old', action='read', &
        iostat=status)
    if (status /= 0) then
        write(error_unit, '(2a)') trim(path), ': cannot be opened'
        stop 1
    end if
    inquire(unit=unit, size=file_bytes)
    elements = (file_bytes - header) / 4
    fd = fnum(unit)
    buffer_elements = ff_sleds_pick_init(fd, 65536_int64, header, 4_int64, elements)
    allocate(values(max(buffer_elements, 0_int64)))
    do
        more = ff_sleds_pick_next_read(fd, buffer_elements, first, count)
        if (more /= 1) exit
        if (ff_sleds_pick_read(fd, c_loc(values), count, first) /= count) &
            error stop 'mean: not all could be read'
        total = total + sum(real(values(1:count), real64))
    end do
    if (more < 0) then
        write(error_unit, '(3a)') trim(path), ': ', sleds_error()
        stop 1
    end if
    status = ff_sleds_pick_finish(fd)
    close(unit)
    print '(i0, 1x, f0.6)', elements, total / real(max(elements, 1_int64), real64)
end program
