package main

import "runtime"

// B3: cost per operation. The numbers of goroutines and operations are those of the Swift cases; nil for a case that Go does not
// have.
func cost(name string, seconds float64) map[string]any {
	switch name {
	case "yield":
		return measure(seconds, 50_000, yields)
	case "group":
		return measure(seconds, 20_000, group)
	case "detached":
		return measure(seconds, 20_000, detached)
	}
	return nil
}

// Runs a batch to warm up, then batches until the time is up.
func measure(seconds float64, operations int, batch func()) map[string]any {
	batch()
	start, used := now(), clock(processClock)
	batches := 0
	for batches == 0 || now() < start+int64(seconds*1e9) {
		batch()
		batches++
	}
	count := float64(batches * operations)
	return map[string]any{
		"ns_per_op":     float64(now()-start) / count,
		"cpu_ns_per_op": float64(clock(processClock)-used) / count,
	}
}

func yields() {
	ended := make(chan struct{})
	for i := 0; i < 100; i++ {
		go func() {
			for i := 0; i < 500; i++ {
				runtime.Gosched()
			}
			ended <- struct{}{}
		}()
	}
	for i := 0; i < 100; i++ {
		<-ended
	}
}

func group() {
	results := make(chan int, 64)
	for number := 0; number < 20_000; number++ {
		if number >= 64 {
			<-results
		}
		number := number
		go func() { results <- number }()
	}
	for i := 0; i < 64; i++ {
		<-results
	}
}

func detached() {
	for number := 0; number < 20_000; number++ {
		result := make(chan int, 1)
		number := number
		go func() { result <- number }()
		<-result
	}
}
