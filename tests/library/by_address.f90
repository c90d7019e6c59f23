! Fortran gives functions the addresses of what they take, and how long texts are behind everything else.
module shapes
  implicit none
  type :: point
    integer :: x, y
    real(8) :: weight
  end type
contains
  function area(corner, number, copy) result(whole)
    type(point), intent(in) :: corner
    integer, intent(in) :: number
    integer, value :: copy
    real(8) :: whole
    whole = corner%x * corner%y * corner%weight + number + copy
  end function
end module

subroutine measure(text, length, factor)
  character(len=*) :: text
  integer :: length
  real :: factor
  length = length + len(text) * int(factor)
end subroutine

program by_address
  use shapes
  implicit none
  type(point) :: corner
  integer :: length
  corner = point(2, 3, 1.5d0)
  length = 5
  call measure('hello', length, 2.5)
  if (area(corner, 7, length) /= 31.0d0) error stop 1
end program
