package main

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const job = 300_000

// Arrivals in nanoseconds from the start: the generator of RandomArrivals, with its seed.
func arrivals(load, seconds float64) []int64 {
	meanGap := job / (load * float64(runtime.NumCPU()))
	state, moment := uint64(1), 0.0
	var all []int64
	for moment < seconds*1e9 {
		state += 0x9E3779B97F4A7C15
		mixed := state
		mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9
		mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
		mixed ^= mixed >> 31
		moment -= meanGap * math.Log((float64(mixed>>11)+0.5)/(1<<53))
		all = append(all, int64(moment))
	}
	return all
}

// B1: jobs of 300 µs that arrive at random, beside 24 goroutines that work and yield.
func foreground(load float64, piece int64, seconds float64) map[string]any {
	times := arrivals(load, seconds)
	length := times[len(times)-1]
	sojourns, lateness := make([]int64, len(times)), make([]int64, len(times))
	var used atomic.Int64
	var isOver atomic.Bool
	if piece > 0 {
		for i := 0; i < 24; i++ {
			go func() {
				for !isOver.Load() {
					used.Add(work(piece))
					runtime.Gosched()
				}
			}()
		}
	}
	var finished sync.WaitGroup
	finished.Add(len(times))
	start := now() + 100_000_000
	time.Sleep(100 * time.Millisecond)
	before := used.Load()
	for number, arrival := range times {
		number, intended := number, start+arrival
		if wait := intended - now(); wait > 0 {
			time.Sleep(time.Duration(wait))
		}
		lateness[number] = now() - intended
		go func() {
			work(job)
			sojourns[number] = now() - intended
			finished.Done()
		}()
	}
	residual := used.Load() - before
	isOver.Store(true)
	finished.Wait()
	figures := map[string]any{"sojourn": sojourns, "arrival": lateness}
	if piece > 0 {
		left := float64(runtime.NumCPU()) * (1 - load) * float64(length)
		figures["residual_fraction"] = float64(residual) / left
	}
	return figures
}
