package main

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	processClock = 2 // CLOCK_PROCESS_CPUTIME_ID of clock_gettime(2)
	threadClock  = 3 // CLOCK_THREAD_CPUTIME_ID
)

var (
	started             = time.Now()
	roundsPerNanosecond = 1.0
	sink                uint64
)

// Monotonic nanoseconds.
func now() int64 { return int64(time.Since(started)) }

// A processor clock. Raw: the thread keeps its place in the scheduler.
func clock(id uintptr) int64 {
	var value syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&value)), 0)
	return value.Nano()
}

func rounds(value, count uint64) uint64 {
	for ; count > 0; count-- {
		value = value*6364136223846793005 + 1442695040888963407
	}
	return value
}

// Finds how many rounds take a nanosecond of thread time.
func calibrate() {
	best := 0.0
	for attempt := 0; attempt < 20; attempt++ {
		start := clock(threadClock)
		sink += rounds(1, 200_000)
		if rate := 200_000 / float64(clock(threadClock)-start); rate > best && clock(threadClock) > start {
			best = rate
		}
	}
	roundsPerNanosecond = best
}

// Uses that much thread time, in pieces of 20 µs with a look at the clock after each.
//
// A goroutine may go on on another thread, whose clock has another reading: a piece whose length makes no sense counts as long as
// it was meant to be.
func work(nanoseconds int64) int64 {
	const piece = 20_000
	var used int64
	value, last := uint64(1), clock(threadClock)
	for used < nanoseconds {
		wanted := nanoseconds - used
		if wanted > piece {
			wanted = piece
		}
		value = rounds(value, uint64(float64(wanted)*roundsPerNanosecond)+1)
		reading := clock(threadClock)
		if length := reading - last; length >= wanted/2 && length <= 4*wanted+10_000 {
			used += length
		} else {
			used += wanted
		}
		last = reading
	}
	if value == 0 {
		sink++
	}
	return used
}
