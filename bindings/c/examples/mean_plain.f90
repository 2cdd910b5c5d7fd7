! The mean of a file of 4-byte numbers after a header, before the program adopts SLEDs:
! `mean_plain FILE HEADER_BYTES`. The differences to mean_sleds.f90 are what adopting them takes.
program mean
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
    implicit none
    integer, parameter :: buffer_elements = 65536
    real(real32), allocatable :: values(:)
    real(real64) :: total = 0
    integer(int64) :: header, file_bytes, elements, first, count
    integer :: unit, status
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
    allocate(values(buffer_elements))
    do first = 0, elements - 1, buffer_elements
        count = min(int(buffer_elements, int64), elements - first)
        read(unit, pos=header + first * 4 + 1) values(1:count)
        total = total + sum(real(values(1:count), real64))
    end do
    close(unit)
    print '(i0, 1x, f0.6)', elements, total / real(max(elements, 1_int64), real64)
end program
