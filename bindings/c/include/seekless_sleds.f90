! The calls of seekless_sleds.h for Fortran 2003 and later, by iso_c_binding. Compile this file with
! the program that uses it.
module seekless_sleds
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int), parameter :: sleds_linear = 0, sleds_best = 1
    integer(c_int), parameter :: sleds_hole = 0, sleds_memory = 1, sleds_device = 2, sleds_network = 3, &
        sleds_archive = 4, sleds_unknown = 5
    integer(c_int), parameter :: sleds_no_records = -1

    interface
        function sleds_total_delivery_time(fd, attack_plan) bind(c) result(seconds)
            import :: c_int, c_double
            integer(c_int), value :: fd, attack_plan
            real(c_double) :: seconds
        end function

        function sleds_pick_init(fd, preferred_buffer_bytes, record) bind(c) result(buffer_bytes)
            import :: c_int, c_size_t, c_int64_t
            integer(c_int), value :: fd, record
            integer(c_size_t), value :: preferred_buffer_bytes
            integer(c_int64_t) :: buffer_bytes
        end function

        function sleds_pick_next_read(fd, buffer_bytes, whole_records, offset, length) bind(c) result(more)
            import :: c_int, c_size_t, c_int64_t
            integer(c_int), value :: fd, whole_records
            integer(c_size_t), value :: buffer_bytes
            integer(c_int64_t), intent(out) :: offset
            integer(c_size_t), intent(out) :: length
            integer(c_int) :: more
        end function

        function sleds_pick_read(fd, buffer, bytes, offset) bind(c) result(got)
            import :: c_int, c_size_t, c_int64_t, c_ptr
            integer(c_int), value :: fd
            type(c_ptr), value :: buffer
            integer(c_size_t), value :: bytes
            integer(c_int64_t), value :: offset
            integer(c_size_t) :: got
        end function

        function sleds_pick_hold(fd, bytes) bind(c) result(held)
            import :: c_int, c_size_t
            integer(c_int), value :: fd
            integer(c_size_t), value :: bytes
            integer(c_size_t) :: held
        end function

        function sleds_pick_finish(fd) bind(c) result(status)
            import :: c_int
            integer(c_int), value :: fd
            integer(c_int) :: status
        end function

        function ff_sleds_pick_init(fd, preferred_buffer_elements, origin, element_bytes, elements) bind(c) &
                result(buffer_elements)
            import :: c_int, c_int64_t
            integer(c_int), value :: fd
            integer(c_int64_t), value :: preferred_buffer_elements, origin, element_bytes, elements
            integer(c_int64_t) :: buffer_elements
        end function

        function ff_sleds_pick_next_read(fd, buffer_elements, first, count) bind(c) result(more)
            import :: c_int, c_int64_t
            integer(c_int), value :: fd
            integer(c_int64_t), value :: buffer_elements
            integer(c_int64_t), intent(out) :: first, count
            integer(c_int) :: more
        end function

        function ff_sleds_pick_read(fd, buffer, elements, first) bind(c) result(got)
            import :: c_int, c_int64_t, c_ptr
            integer(c_int), value :: fd
            type(c_ptr), value :: buffer
            integer(c_int64_t), value :: elements, first
            integer(c_int64_t) :: got
        end function

        function ff_sleds_pick_refresh(fd) bind(c) result(status)
            import :: c_int
            integer(c_int), value :: fd
            integer(c_int) :: status
        end function

        function ff_sleds_pick_finish(fd) bind(c) result(status)
            import :: c_int
            integer(c_int), value :: fd
            integer(c_int) :: status
        end function

        function ff_sleds_total_delivery_time(fd, attack_plan) bind(c) result(seconds)
            import :: c_int, c_double
            integer(c_int), value :: fd, attack_plan
            real(c_double) :: seconds
        end function

        function sleds_error_text() bind(c, name="sleds_error") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_string_length(text) bind(c, name="strlen") result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

contains

    ! Why the last failed call failed.
    function sleds_error() result(words)
        character(len=:), allocatable :: words
        character(kind=c_char), pointer :: bytes(:)
        type(c_ptr) :: text
        integer(c_size_t) :: at, length
        text = sleds_error_text()
        length = c_string_length(text)
        call c_f_pointer(text, bytes, [length])
        allocate(character(len=length) :: words)
        do at = 1, length
            words(at:at) = bytes(at)
        end do
    end function
end module
