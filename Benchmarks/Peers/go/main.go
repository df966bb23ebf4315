// One measured process on Go: qos-bench-go go BENCHMARK CASE SECONDS.
//
// The cases, the seed and the output are those of qos-bench-peer. What arrives from outside comes from a goroutine that sleeps:
// Go's scheduler has no threads that are not its own.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A case as name,key=value,…
type benchCase struct {
	name   string
	values map[string]float64
}

func parse(text string) (benchCase, error) {
	parts := strings.Split(text, ",")
	parsed := benchCase{parts[0], map[string]float64{}}
	for _, part := range parts[1:] {
		key, text, _ := strings.Cut(part, "=")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return parsed, err
		}
		parsed.values[key] = value
	}
	return parsed, nil
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "error: "+message)
	os.Exit(64)
}

func main() {
	if len(os.Args) != 5 {
		fail("usage: qos-bench-go go BENCHMARK CASE SECONDS")
	}
	parsed, err := parse(os.Args[3])
	seconds, err2 := strconv.ParseFloat(os.Args[4], 64)
	if err != nil || err2 != nil {
		fail("a number cannot be read")
	}
	calibrate()
	var figures map[string]any
	switch os.Args[2] {
	case "B1":
		figures = foreground(parsed.values["rho"], int64(parsed.values["low"]*1e6), seconds)
	case "B3":
		figures = cost(parsed.name, seconds)
	}
	if figures == nil {
		fail("Go has no case " + os.Args[2] + " " + os.Args[3])
	}
	line, err := json.Marshal(figures)
	if err != nil {
		fail(err.Error())
	}
	fmt.Println(string(line))
}
