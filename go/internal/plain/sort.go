package plain

import (
	"math/bits"
	"slices"
)

// A head is a number of 192 bits. The lowest 32 bits are the index of a pod. The other bits are values by which pods
// are sorted.
type head struct{ first, second, third uint64 }

func (h *head) index() uint32 { return uint32(h.third) }

// isBefore is 1 if a is the smaller number, and 0 if not. It has no branch, because no processor could predict it.
func isBefore(a, b *head) uint64 {
	_, borrow := bits.Sub64(a.third, b.third, 0)
	_, borrow = bits.Sub64(a.second, b.second, borrow)
	_, borrow = bits.Sub64(a.first, b.first, borrow)
	return borrow
}

// compareHeads is isBefore for the standard library.
func compareHeads(a, b head) int { return int(isBefore(&b, &a)) - int(isBefore(&a, &b)) }

// ties reports whether two heads differ in their indices at most.
func ties(a, b *head) bool {
	return a.first == b.first && a.second == b.second && a.third>>32 == b.third>>32
}

const (
	// insertionMax is the length up to which an insertion sort is faster.
	insertionMax = 10
	// A cut is uneven if less than this part of a list is on one side.
	unevenPart = 8
)

// sortAll sorts a list.
func sortAll(list []head) { sortRange(list, 0, len(list), patience(list)) }

// patience is how many uneven cuts sortRange accepts: with more of them, it could take a time that is quadratic.
func patience(list []head) int { return 2 * bits.Len(uint(len(list))) }

// sortRange puts the heads into a list's positions from start to end that a sort of the whole list would put there.
// Smaller heads are before them then, and larger ones after them. It is a quicksort that leaves out what is outside
// the range. After too many uneven cuts, the standard library sorts the rest.
func sortRange(list []head, start, end, patience int) {
	for len(list) > insertionMax {
		if patience == 0 {
			slices.SortFunc(list, compareHeads)
			return
		}
		pivot := partition(list)
		if min(pivot, len(list)-pivot) < len(list)/unevenPart {
			patience--
		}
		if start < pivot {
			sortRange(list[:pivot], start, min(end, pivot), patience)
		}
		list, start, end = list[pivot+1:], max(start-pivot-1, 0), end-pivot-1
		if end <= 0 {
			return
		}
	}
	insertionSort(list)
}

// partition moves what is smaller than the median of three heads before it, and the rest after it. It returns the
// median's position.
func partition(list []head) (pivot int) {
	low, middle, high := &list[0], &list[len(list)/2], &list[len(list)-1]
	for _, pair := range [...][2]*head{{low, middle}, {low, high}, {high, middle}} {
		if isBefore(pair[1], pair[0]) != 0 {
			*pair[0], *pair[1] = *pair[1], *pair[0]
		}
	}
	median := *high
	for i := range list[:len(list)-1] {
		item := list[i]
		list[i] = list[pivot]
		list[pivot] = item
		pivot += int(isBefore(&item, &median))
	}
	list[pivot], list[len(list)-1] = median, list[pivot]
	return pivot
}

func insertionSort(list []head) {
	for end := 1; end < len(list); end++ {
		item, at := list[end], end
		for ; at > 0 && isBefore(&item, &list[at-1]) != 0; at-- {
			list[at] = list[at-1]
		}
		list[at] = item
	}
}

// eachRun calls do with each run of equal items of a list, and with the run's number.
func eachRun[T any](list []T, equal func(a, b *T) bool, do func(number int, run []T)) {
	for number := 0; len(list) > 0; number++ {
		end := 1
		for end < len(list) && equal(&list[0], &list[end]) {
			end++
		}
		do(number, list[:end])
		list = list[end:]
	}
}
